// copies names the copies of a workflow.
import { t } from '../../app/text';

export const mostCopies = 50; // that are tried before it is refused

// copyOf is what the n-th copy is called. The slug is made of the workflow's own: of a long name it would end before the number.
export const copyOf = ({ name, slug }: { name: string; slug: string }, n: number): { name: string; slug: string } => ({
  name: n === 1 ? t('{name} (copy)', { name }) : t('{name} (copy {n})', { name, n }),
  slug: `${slug.slice(0, 50).replace(/-+$/, '')}-copy${n === 1 ? '' : `-${n}`}`,
});
