// rows are the lists of a phase's form.
import type { ReactNode } from 'react';
import { t } from '../../../app/text';
import { RowList, type RowListProps } from '../../../ui/rowlist';
import { usePhase } from './context';
import { useEntries, twice, type Entry } from './entries';
import { Field } from '../../../ui/field';
import type { Json } from './shape';

// Rows is a list of rows of a phase's form.
export const Rows = <T,>(props: Omit<RowListProps<T>, 'readOnly'>) => <RowList {...props} readOnly={usePhase().readOnly} />;

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
