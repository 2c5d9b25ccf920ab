import type { ReactNode } from 'react';
import { t } from '../app/text';

interface MoreProps { shown: number; total: number | undefined; page: { hasNextPage: boolean; endCursor?: string | null | undefined } | undefined; next: (after: string | null) => void; children?: ReactNode }

// More stands below a list: how much of it is shown, and the way on.
export function More({ shown, total, page, next, children }: MoreProps) {
  return (
    <div className="table-foot">
      <span>{t('{shown} of {total}', { shown, total: total ?? shown })}</span>
      {children}
      {page?.hasNextPage && <button type="button" className="plain small" onClick={() => { next(page.endCursor ?? null); }}>{t('Show more')}</button>}
    </div>
  );
}
