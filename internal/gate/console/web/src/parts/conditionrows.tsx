// conditionrows are the rows of a condition: what, how, and with what it is compared.
import { Plus, Trash2 } from 'lucide-react';
import { useId, type ReactElement } from 'react';
import { t } from '../app/text';
import { fieldOf, instantOf } from '../ui/zone';
import { focusSoon } from '../ui/focus';
import { useOfferingChoices, usePersonChoices, useServiceChoices, useTeamChoices } from './choices';
import { isGroup, isValue, opsOf, takes, type ConditionField, type Group, type Op, type Row } from './conditions';
import { opWords } from './conditionwords';

interface RowsProps { group: Group; fields: ConditionField[]; set: (g: Group) => void; readOnly: boolean; inner?: boolean; plain?: boolean }

const fresh = (): Row => ({ what: '', op: 'is', values: [] });

// ConditionRows are those of a group, with the groups in it. Plain ones all hold, and say alone what an answer is.
export function ConditionRows({ group: g, fields, set, readOnly, inner = false, plain = false }: RowsProps) {
  const id = useId();
  const put = (i: number, ...to: Group['parts']) => { set({ ...g, parts: g.parts.toSpliced(i, 1, ...to) }); };
  const add = (part: Row | Group) => {
    set({ ...g, parts: [...g.parts, part] });
    focusSoon(() => document.querySelector<HTMLElement>(`[data-rows="${id}"] > .parts > :last-child select`)); // not said
  };
  const several = g.parts.length > 1;
  return (
    <div className="condition-rows" data-rows={id} role={inner ? 'group' : undefined} aria-label={inner ? t('Group of conditions') : undefined}>
      {(several || inner) && !plain && (
        <select className="joins" aria-label={t('How many of these must be true')} value={g.join} disabled={readOnly} onChange={(e) => { set({ ...g, join: e.target.value as Group['join'] }); }}>
          <option value="all">{t('All of these are true')}</option><option value="any">{t('Any of these is true')}</option>
        </select>
      )}
      <div className="parts">
        {g.parts.map((p, i) => (isGroup(p)
          ? <ConditionRows key={i} inner group={p} fields={fields} readOnly={readOnly} set={(to) => { put(i, ...(to.parts.length > 0 ? [to] : [])); }} />
          : <RowEditor key={i} n={i + 1} row={p} plain={plain} fields={plain ? fields.filter((f) => f.expression === p.what || !g.parts.some((x) => !isGroup(x) && x.what === f.expression)) : fields} readOnly={readOnly} set={(to) => { put(i, to); }} remove={() => { put(i); }} />))}
      </div>
      {!readOnly && (
        <p className="line">
          <button type="button" className="plain small" onClick={() => { add(fresh()); }}><Plus size={14} aria-hidden /> {t('Add condition')}</button>
          {!inner && !plain && <button type="button" className="quiet small" onClick={() => { add({ join: g.join === 'all' ? 'any' : 'all', parts: [fresh(), fresh()] }); }}><Plus size={14} aria-hidden /> {t('Add group')}</button>}
        </p>
      )}
    </div>
  );
}

interface RowProps { n: number; row: Row; plain: boolean; fields: ConditionField[]; set: (r: Row) => void; remove: () => void; readOnly: boolean }

function RowEditor({ n, row: r, plain, fields, set, remove, readOnly }: RowProps) {
  const f = fields.find((x) => x.expression === r.what);
  const offered = (x: ConditionField): Op[] => (plain ? ['is', 'oneOf'] : opsOf(x));
  const groups = new Map<string, ConditionField[]>();
  for (const x of fields) groups.set(x.group, [...groups.get(x.group) ?? [], x]);
  const choose = (what: string) => {
    const to = fields.find((x) => x.expression === what);
    const ops = to ? offered(to) : [];
    set({ what, op: ops.includes(r.op) ? r.op : ops[0] ?? 'is', values: to && f && to.type === f.type && to.values.length + f.values.length === 0 ? r.values : [] });
  };
  const how = (op: Op) => { set({ what: r.what, op, values: takes(op) === 0 ? [] : takes(op) === 1 ? r.values.slice(0, 1) : r.values }); };
  return (
    <div className="condition-row" role="group" aria-label={t('Condition {n}', { n })}>
      <select aria-label={t('What')} value={r.what} disabled={readOnly} onChange={(e) => { choose(e.target.value); }}>
        <option value="">{t('Choose…')}</option>
        {r.what && !f && <option value={r.what}>{r.what}</option>}
        {[...groups].map(([label, list]) => {
          const options = list.map((x) => <option key={x.expression} value={x.expression}>{x.label}</option>);
          return label ? <optgroup key={label} label={label}>{options}</optgroup> : options;
        })}
      </select>
      {f && <select aria-label={t('How it is compared')} value={r.op} disabled={readOnly} onChange={(e) => { how(e.target.value as Op); }}>{offered(f).map((op) => <option key={op} value={op}>{opWords[op]}</option>)}</select>}
      {f && takes(r.op) !== 0 && <Value field={f} row={r} readOnly={readOnly} set={(values) => { set({ what: r.what, op: r.op, values }); }} />}
      {!readOnly && <button type="button" className="icon" aria-label={t('Remove condition {n}', { n })} onClick={remove}><Trash2 size={15} aria-hidden /></button>}
    </div>
  );
}

interface ValueProps { field: ConditionField; row: Row; set: (values: string[]) => void; readOnly: boolean }

// Value is what the field is compared with, by its type.
function Value(p: ValueProps) {
  switch (p.field.type) {
    case 'USER': return <Person {...p} />;
    case 'TEAM': return <Team {...p} />;
    case 'SERVICE': return <Service {...p} />;
    case 'OFFERING': return <Offering {...p} />;
    default: return written(p);
  }
}

function Person(p: ValueProps) { return <Named {...p} of={usePersonChoices()} />; }
function Team(p: ValueProps) { return <Named {...p} of={useTeamChoices()} />; }
function Service(p: ValueProps) { return <Named {...p} of={useServiceChoices()} />; }
function Offering(p: ValueProps) {
  const services = useOfferingChoices();
  return <Named {...p} of={services.flatMap((s) => (s.offerings?.edges ?? []).map(({ node }) => ({ id: node.id, name: `${node.name} (${s.name})` })))} />;
}

function Named({ of, ...p }: ValueProps & { of: { id: string; name: string }[] }) {
  return of.length > 0 ? choice(p, of.map((x) => ({ value: x.id, label: x.name }))) : written(p);
}

// choice is one value of a list, or several; also one that is there no more.
function choice({ row: r, set, readOnly }: ValueProps, of: { value: string; label: string }[]): ReactElement {
  const all = [...of, ...r.values.filter((v) => v !== '' && !of.some((x) => x.value === v)).map((value) => ({ value, label: value }))];
  const options = all.map((x) => <option key={x.value} value={x.value}>{x.label}</option>);
  if (takes(r.op) < 0) return <select multiple aria-label={t('Values')} size={Math.min(5, all.length)} value={r.values} disabled={readOnly} onChange={(e) => { set([...e.target.selectedOptions].map((o) => o.value)); }}>{options}</select>;
  return <select aria-label={t('Value')} value={r.values[0] ?? ''} disabled={readOnly} onChange={(e) => { set(e.target.value ? [e.target.value] : []); }}><option value="">{t('Choose…')}</option>{options}</select>;
}

const inputs: Record<string, string> = { DATE: 'date', DATETIME: 'datetime-local', TIME: 'datetime-local' };

function written(p: ValueProps): ReactElement {
  const { field: f, row: r, set, readOnly } = p;
  if (f.type === 'BOOLEAN') return choice(p, [{ value: 'true', label: t('Yes') }, { value: 'false', label: t('No') }]);
  if (f.values.length > 0) return choice(p, f.values);
  if (takes(r.op) < 0) return <textarea aria-label={t('Values, one a line')} placeholder={t('One per line.')} rows={2} dir="auto" readOnly={readOnly} value={r.values.join('\n')} onChange={(e) => { set(e.target.value === '' ? [] : e.target.value.split('\n')); }} />;
  const [v = ''] = r.values;
  const moment = inputs[f.type] === 'datetime-local';
  const take = (text: string) => {
    const at = moment ? instantOf(text) : null;
    set(text === '' ? [] : [at && !Number.isNaN(at.getTime()) ? at.toISOString() : text]);
  };
  const wrong = v !== '' && !isValue(f.type, v);
  return (
    <input
      type={inputs[f.type] ?? 'text'} inputMode={f.type === 'NUMBER' ? 'decimal' : undefined} dir={f.type === 'TEXT' ? 'auto' : undefined} aria-label={t('Value')} aria-invalid={wrong || undefined}
      readOnly={readOnly} value={moment && v ? fieldOf(new Date(v)) : v} onChange={(e) => { take(e.target.value); }}
    />
  );
}
