// condition is where people say when something applies: in rows, or as CEL where rows cannot say it.
import { Plus } from 'lucide-react';
import { memo, useEffect, useId, useMemo, useRef, useState, type ReactNode } from 'react';
import { useRead } from '../app/data';
import { useSettled } from '../app/settled';
import { plural, t } from '../app/text';
import { CheckExpression, ConditionFields } from '../gen/documents';
import type { ConditionPlace } from '../gen/types';
import { CelArea } from './celarea';
import { celOf, isGroup, isValue, isWhole, rowsOf, type ConditionField, type Group, type Row } from './conditions';
import { ConditionRows } from './conditionrows';
import { named } from './conditionwords';

export interface ConditionProps {
  scope: ConditionPlace;
  id?: string | undefined; // of the workflow or the webhook
  phaseId?: string | undefined;
  definition?: unknown; // of the workflow as it is being written
  value: string;
  onChange: (cel: string) => void;
  label: string;
  hint?: ReactNode;
  optional?: boolean | undefined;
  problem?: string | undefined;
  readOnly?: boolean | undefined;
  live?: boolean; // in no form: what is wrong is said at once
}

const none: Group = { join: 'all', parts: [] };
const blank: Group = { join: 'all', parts: [{ what: '', op: 'is', values: [] }] };

// Condition shows a condition as rows where it can, else as text. What it gives to onChange is CEL; rows that are not finished are left
// out of it, and the form around it is not sent while there are some.
export const Condition = memo(function Condition({ scope, id, phaseId, definition, value, onChange, label, hint, optional, problem, readOnly, live = false }: ConditionProps) {
  const at = useId();
  const lacks = (scope === 'INBOUND' || scope === 'INBOUND_WHEN' || scope === 'FORM') && !id;
  const drawn = useSettled(definition, 400);
  const read = useRead(ConditionFields, { for: scope, id: id ?? null, phaseId: phaseId ?? null, definition: drawn ?? null }, lacks);
  const fields = useMemo<ConditionField[]>(() => (read.data?.conditionFields ?? []).map(named), [read.data]);
  const [state, setState] = useState<{ rows: Group; wrote: string } | null>(null);
  const [asText, setAsText] = useState(false);
  // What the rows last wrote stands for them; any other value is read anew.
  const opened = useMemo(() => (fields.length > 0 ? rowsOf(value, fields) : null), [value, fields]);
  const rows = state?.wrote === value ? state.rows : opened;
  const written = asText || (rows === null && !read.data && !read.fault && !lacks ? undefined : rows === null);
  const checked = useCheck({ scope, id, definition: drawn, value }, lacks);
  const unfinished = written ? [] : (rows?.parts ?? []).flatMap((p) => (isGroup(p) ? p.parts : [p])).filter((r): r is Row => !isGroup(r) && !isWhole(r, fields));
  const { box, refused } = useUnfinished(unfinished.length > 0);
  const odd = unfinished.filter((r) => fields.find((f) => f.expression === r.what)?.type === 'NUMBER').flatMap((r) => r.values).find((v) => v !== '' && !isValue('NUMBER', v));
  const set = (to: Group) => {
    const cel = celOf(to, fields);
    setState({ rows: to, wrote: cel });
    onChange(cel);
  };
  const fault = problem ?? (checked?.fault ? checked.fault.message : undefined);
  return (
    <fieldset ref={box} className={`condition${fault ? ' faulty' : ''}`} aria-describedby={[hint ? `${at}h` : '', fault ? `${at}f` : ''].filter(Boolean).join(' ') || undefined}>
      <legend>{label}{optional && <span className="soft small-text" aria-hidden>{t('Optional')}</span>}</legend>
      {written === undefined ? <p className="soft">{t('Loading…')}</p> : written
        ? <CelArea className="mono" rows={3} aria-label={t('{label}, as text', { label })} aria-invalid={fault ? true : undefined} readOnly={readOnly} value={value} change={onChange} words={() => fields.map((f) => ({ code: f.expression, label: f.label }))} />
        : <ConditionRows group={rows && rows.parts.length > 0 ? rows : optional || readOnly ? none : blank} fields={fields} set={set} readOnly={readOnly ?? false} />}
      {written && !problem && checked?.fault && <Where text={value} fault={checked.fault} />}
      {fault && <p className="fault" id={`${at}f`}>{fault}</p>}
      {hint && <p className="hint" id={`${at}h`}>{hint}</p>}
      {(scope === 'DECISION' || scope === 'DATA') && !readOnly && fields.length > 0 && !fields.some((f) => f.expression.startsWith('request.fields')) && <p className="hint">{t('The questions of a form can be chosen here once an offering uses this workflow.')}</p>}
      <p className="line small-text" role="status">
        {odd !== undefined && <span className="fault">{t('“{value}” is not a number. Write it like 1000 or 10.5.', { value: odd })}</span>}
        {odd === undefined && unfinished.length > 0 && (refused || value !== '') && <span className={refused || live ? 'fault' : 'soft'}>{t('Finish each condition or remove it: those that are not finished do not count.')}</span>}
        {checked?.matches !== undefined && checked.matches !== null && typeof checked.examined === 'number' && checked.examined > 0 && (
          <span className="soft">{plural(checked.examined, '{matches} of the last request would match.', '{matches} of the last {n} requests would match.', { matches: checked.matches })}</span>
        )}
      </p>
      {!readOnly && written !== undefined && fields.length > 0 && (
        <p className="line small-text">
          {!written && <button type="button" className="quiet small" onClick={() => { setAsText(true); }}>{t('Write as text')}</button>}
          {written && opened && <button type="button" className="quiet small" onClick={() => { setState(null); setAsText(false); }}>{t('Show as rows')}</button>}
          {written && !opened && value.trim() !== '' && <span className="soft">{t('Rows cannot show this condition, so it stays text.')}</span>}
        </p>
      )}
      {written && !readOnly && fields.length > 0 && <Known fields={fields} take={(x) => { onChange(value.trim() ? `${value.trimEnd()} ${x}` : x); }} />}
    </fieldset>
  );
});

// useUnfinished keeps the form around a condition from being sent while rows are not finished: they would be lost without a word.
function useUnfinished(open: boolean) {
  const box = useRef<HTMLFieldSetElement>(null);
  const [refused, refuse] = useState(false);
  useEffect(() => {
    const form = box.current?.closest('form');
    if (!open || !form) { refuse(false); return; }
    const stop = (e: Event) => {
      e.preventDefault();
      e.stopPropagation();
      refuse(true);
      box.current?.querySelector<HTMLElement>('[aria-invalid=true], .condition-row select, .condition-row input')?.focus(); // not said
    };
    form.addEventListener('submit', stop);
    return () => { form.removeEventListener('submit', stop); };
  }, [open]);
  return { box, refused: refused && open };
}

// Known lists what an expression can read.
function Known({ fields, take }: { fields: ConditionField[]; take: (expression: string) => void }) {
  return (
    <details className="small-text">
      <summary>{t('What is known here')}</summary>
      <ul className="known">{fields.map((f) => <li key={f.expression}><button type="button" className="quiet small" aria-label={t('Insert {name}', { name: f.label })} onClick={() => { take(f.expression); }}><Plus size={13} aria-hidden /> <code>{f.expression}</code></button> <span className="soft">{f.group} · {f.label}</span></li>)}</ul>
    </details>
  );
}

interface Found { message: string; line?: number | null | undefined; column?: number | null | undefined }

// Where marks the place of a fault in its line.
function Where({ text, fault }: { text: string; fault: Found }) {
  const line = fault.line ? [...text.split('\n')[fault.line - 1] ?? ''] : [];
  if (!fault.column || line.length === 0) return null;
  const at = Math.min(fault.column - 1, line.length);
  const i = line[at] === '.' ? at + 1 : at; // of a name that is not known, the server names the point before it
  const end = i + Math.max(1, /^\w*/.exec(line.slice(i).join(''))?.[0].length ?? 1);
  return <p className="where" aria-hidden><code>{line.slice(0, i).join('')}<mark>{line.slice(i, end).join('') || '\u00A0'}</mark>{line.slice(end).join('')}</code></p>;
}

interface Asked { scope: ConditionPlace; id: string | undefined; definition: unknown; value: string }

// useCheck is what the server says of an expression; undefined until it has said something of this one.
function useCheck({ scope, id, definition, value }: Asked, pause: boolean) {
  const expression = useSettled(value.trim(), 400);
  const read = useRead(CheckExpression, { for: scope, id: id ?? null, definition: definition ?? null, expression }, pause || expression === '');
  const current = expression !== '' && expression === value.trim() && !read.behind;
  return current ? read.data?.checkExpression ?? undefined : undefined;
}
