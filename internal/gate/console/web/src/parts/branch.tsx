// branch says in which branch of a block something happens.
import { t } from '../app/text';
import { words } from '../ui/bits';
import { opens } from './blocks';

// branchSaid is what a branch is called: “Branch Laptop”, but no “Branch Branch 1”.
export const branchSaid = (name: string): string => (name.startsWith(t('Branch {n}', { n: '' }).trim()) ? name : t('Branch {name}', { name }));

// BranchOf is a branch, with those around it from the outermost.
export const BranchOf = ({ path }: { path: string }) => <span className="branch-of"><span className="hidden">{branchSaid(path)}:</span><span dir="auto" aria-hidden>{path}</span></span>;

// waySaid is the way out by which a visit has left its phase; '' where it has simply gone on.
export const waySaid = ({ type, transition: way }: { type: string; transition?: string | null | undefined }): string =>
  (!way || way === 'next' || opens({ type }) ? '' : type === 'JOIN' ? t('Given up') : words(way));
