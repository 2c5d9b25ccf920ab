// rowlist is what every list of a form has: a verb to add, and for each row those to move and to remove it.
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../app/text';
import { focusSoon } from './focus';
import { moved, replaced, without } from './lists';

export interface RowListProps<T> { label: string; all: T[]; change: (to: T[]) => void; fresh: () => T; add: string; most?: number; least?: number; ordered?: boolean; hint?: ReactNode; problem?: string | undefined; readOnly: boolean; row: (one: T, set: (to: T) => void, i: number) => ReactNode }

// RowList is a list of rows. What can be done with one is named by its number.
export function RowList<T>({ label, all, change, fresh, add, most = 100, least = 0, ordered = false, hint, problem, readOnly, row }: RowListProps<T>) {
  const go = (list: HTMLElement | null, i: number) => { focusSoon(() => list?.children[i]?.querySelector<HTMLElement>('input, select, textarea, [role=textbox]') ?? list?.parentElement?.querySelector<HTMLElement>('.add-row')); }; // not said
  return (
    <fieldset className="rows-field">
      <legend>{label}</legend>
      {hint && <p className="hint">{hint}</p>}
      {problem && <p className="fault" role="alert">{problem}</p>}
      {readOnly && all.length === 0 && <p className="soft">{t('None')}</p>}
      <ol>
        {all.map((one, i) => (
          <li key={i} className="rows-row">
            <div className="rows-body" role="group" aria-label={t('Row {n}', { n: i + 1 })}>{row(one, (to) => { change(replaced(all, i, to)); }, i)}</div>
            {!readOnly && (
              <span className="rows-verbs">
                {ordered && <button type="button" className="icon" aria-label={t('Move row {n} up', { n: i + 1 })} disabled={i === 0} onClick={() => { change(moved(all, i, -1)); }}><ArrowUp size={15} aria-hidden /></button>}
                {ordered && <button type="button" className="icon" aria-label={t('Move row {n} down', { n: i + 1 })} disabled={i === all.length - 1} onClick={() => { change(moved(all, i, 1)); }}><ArrowDown size={15} aria-hidden /></button>}
                {all.length > least && <button type="button" className="icon" aria-label={t('Remove row {n}', { n: i + 1 })} onClick={(e) => { go(e.currentTarget.closest('ol'), Math.max(0, i - 1)); change(without(all, i)); }}><Trash2 size={15} aria-hidden /></button>}
              </span>
            )}
          </li>
        ))}
      </ol>
      {!readOnly && <button type="button" className="plain small add-row" disabled={all.length >= most} onClick={(e) => { go(e.currentTarget.parentElement?.querySelector('ol') ?? null, all.length); change([...all, fresh()]); }}><Plus size={14} aria-hidden /> {add}</button>}
    </fieldset>
  );
}
