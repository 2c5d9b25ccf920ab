// rows are what every list of a form has: a verb to add, and for each row those to move and to remove it.
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../../../app/text';
import { focusSoon } from '../../../ui/focus';
import { moved, replaced, without } from '../../../ui/lists';
import { usePhase } from './context';
import { useEntries, twice, type Entry } from './entries';
import { Field } from '../../../ui/field';
import type { Json } from './shape';

interface RowsProps<T> { label: string; all: T[]; change: (to: T[]) => void; fresh: () => T; add: string; most?: number; least?: number; ordered?: boolean; hint?: ReactNode; problem?: string | undefined; row: (one: T, set: (to: T) => void, i: number) => ReactNode }

// Rows is a list of rows. What can be done with one is named by its number.
export function Rows<T>({ label, all, change, fresh, add, most = 100, least = 0, ordered = false, hint, problem, row }: RowsProps<T>) {
  const { readOnly } = usePhase();
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

interface EntriesProps { label: string; of: Json; change: (to: Json) => void; name: string; placeholder?: string; pattern: RegExp; says: string; tidy?: (name: string) => string; add: string; fresh: unknown; hint?: ReactNode; problem?: string | undefined; problemOf: (name: string) => string | undefined; value: (e: Entry, set: (v: unknown) => void, problem: string | undefined) => ReactNode }

// Entries is an object as rows of a name and a value. pattern is what a name looks like, and says names it; tidy makes one of what was typed.
export function Entries({ label, of, change, name, placeholder, pattern, says, tidy, add, fresh, hint, problem, problemOf, value }: EntriesProps) {
  const [rows, set] = useEntries(of, change);
  const wrong = (e: Entry, i: number) => (twice(rows, i) ? t('Another row has this name.') : e.name !== '' && !pattern.test(e.name) ? says : undefined);
  return (
    <Rows
      label={label} all={rows} change={set} fresh={() => ({ name: '', value: fresh })} add={add} hint={hint} problem={problem}
      row={(e, to, i) => (
        <div className="entry">
          <Field label={name} fault={wrong(e, i)}><input className="mono" spellCheck={false} autoCapitalize="off" placeholder={placeholder} value={e.name} onChange={(x) => { to({ ...e, name: tidy ? x.target.value : x.target.value.trim() }); }} onBlur={() => { if (tidy && e.name !== '' && !pattern.test(e.name)) to({ ...e, name: tidy(e.name) }); }} /></Field>
          {value(e, (v) => { to({ ...e, value: v }); }, e.name === '' || wrong(e, i) ? undefined : problemOf(e.name))}
        </div>
      )}
    />
  );
}
