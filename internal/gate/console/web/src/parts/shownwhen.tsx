import { useState } from 'react';
import type { Fault } from '../app/fault';
import { t } from '../app/text';
import type { FormField } from '../ui/answer';
import { faultAt } from '../ui/field';
import { ConditionRows } from './conditionrows';
import type { Group } from './conditions';
import { askedOf, whenOf, whenRows } from './visiblewhen';

interface Props { index: number; path: string; all: FormField[]; set: (w: Record<string, unknown> | null) => void; fault: Fault | null }

// ShownWhen says when a question is shown: while each of the other ones that its rows name has the value, or one of the values. path is
// where faults name it: form.fields[0].visibleWhen.
export function ShownWhen({ index, path, all, set, fault }: Props) {
  const when = all[index]?.visibleWhen ?? null;
  const [state, setState] = useState<{ rows: Group; wrote: string } | null>(null);
  const asked = askedOf(all, index);
  const now = JSON.stringify(when);
  const rows = state?.wrote === now ? state.rows : whenRows(when);
  const change = (to: Group) => {
    const written = whenOf(to, asked);
    setState({ rows: to, wrote: JSON.stringify(written) });
    set(written);
  };
  const says = faultAt(fault, path, ...Object.keys(when ?? {}).map((key) => `${path}.${key}`));
  if (asked.length === 0 && rows.parts.length === 0) return null;
  return (
    <fieldset className="condition">
      <legend>{t('Shown when')}</legend>
      {rows.parts.length === 0 && <p className="soft small-text">{t('Always')}</p>}
      <ConditionRows group={rows} fields={asked} set={change} readOnly={false} plain />
      {says && <p className="fault" role="alert">{says}</p>}
    </fieldset>
  );
}
