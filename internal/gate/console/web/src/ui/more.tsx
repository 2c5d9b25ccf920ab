import type { ReactNode } from 'react';

interface MoreProps { shown: number; total: number | undefined; page: { hasNextPage: boolean; endCursor?: string | null | undefined } | undefined; next: (after: string | null) => void; children?: ReactNode }

// More stands below a list: how much of it is shown, and the way on.
export function More({ shown, total, page, next, children }: MoreProps) {
  return (
    <div className="table-foot">
      <span>{shown} of {total ?? shown}</span>
      {children}
      {page?.hasNextPage && <button type="button" className="plain small" onClick={() => { next(page.endCursor ?? null); }}>Show more</button>}
    </div>
  );
}
