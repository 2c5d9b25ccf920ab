// branch says in which branch of a block something happens.
import { t } from '../app/text';

// BranchOf is a branch, with those around it from the outermost.
export const BranchOf = ({ path }: { path: string }) => <span className="branch-of"><span className="hidden">{t('Branch {name}', { name: path })}:</span><span dir="auto" aria-hidden>{path}</span></span>;
