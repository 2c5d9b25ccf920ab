// filters are the bar above a list of requests: its filters stand in the address.
import { useEffect, useState, type ReactNode } from 'react';
import { t } from '../../app/text';
import * as enums from '../../gen/enums';
import { Choices } from '../../parts/choices';
import { Chips, Values, chipSays, fieldLabels, useFieldOptions, type Opened, type Option } from '../../parts/filters';
import { date, slaWord, words } from '../../ui/bits';
import { Field } from '../../ui/field';
import { dayOf, startOf } from '../../ui/zone';
import { filtered, moments, offered, without, type RequestSearch } from './search';

type Name = keyof RequestSearch;

const hours: Option[] = [['0h', t('Overdue')], ['4h', t('Within 4 hours')], ['24h', t('Within 24 hours')], ['7d', t('Within 7 days')]];
const since: Option[] = [['1h', t('In the last hour')], ['24h', t('In the last 24 hours')], ['7d', t('In the last 7 days')], ['30d', t('In the last 30 days')]];

const labels: Record<string, string> = {
  ...fieldLabels, status: t('Status'), dueBefore: t('Due'), slaState: t('SLA'), watching: t('Watching'), hasAttachments: t('Files'), tag: t('Tags'), satisfaction: t('Satisfaction'),
  updatedAfter: t('Changed since'), createdAfter: t('Submitted since'), createdBefore: t('Submitted before'), reopened: t('Reopened'),
  completedAfter: t('Completed since'), completedBefore: t('Completed before'), cancelledAfter: t('Cancelled since'), cancelledBefore: t('Cancelled before'),
};

const own: Record<string, () => Option[]> = {
  status: () => enums.RequestStatus.map((s) => [s, words(s)]),
  slaState: () => enums.SLAState.map((s) => [s, slaWord(s)]),
  watching: () => [['me', t('What I watch')]],
  hasAttachments: () => [['true', t('With files')], ['false', t('Without files')]],
  satisfaction: () => ['5', '4', '3', '2', '1'].map((n) => [n, t('{n} of 5', { n })]),
  reopened: () => [['true', t('At least once')], ['false', t('Never')]],
  dueBefore: () => hours, updatedAfter: () => since, createdAfter: () => since, completedAfter: () => since,
};

interface FiltersProps { search: RequestSearch; set: (s: RequestSearch) => void; fixed?: Name[]; children?: ReactNode }

// Filters is the bar above a list. What is `fixed` the page itself filters by. What stands at its end changes how the list is shown.
export function Filters({ search, set, fixed = [], children }: FiltersProps) {
  const [q, setQ] = useState(search.q ?? '');
  const [open, setOpen] = useState<Opened | null>(null);
  const fields = useFieldOptions(search, open?.name ?? '');
  const options = (name: string) => own[name]?.() ?? fields(name);
  useEffect(() => { setQ(search.q ?? ''); }, [search.q]);
  useEffect(() => {
    if (q === (search.q ?? '')) return undefined;
    const timer = setTimeout(() => { set({ ...search, q }); }, 300);
    return () => { clearTimeout(timer); };
  });
  const says = (name: string, value: string) => {
    if (name.startsWith('tag.')) return value.replaceAll(',', ', ');
    return isMoment(name) && !options(name).some(([v]) => v === value) && !Number.isNaN(Date.parse(value)) ? date(value) : chipSays(options(name), value);
  };
  const label = (name: string) => (name.startsWith('tag.') ? name.slice(4) : labels[name] ?? name);
  return (
    <search className="filter-bar">
      <input id="filter-q" type="search" dir="auto" aria-label={t('Words or number')} placeholder={t('Words or number')} value={q} onChange={(e) => { setQ(e.target.value); }} />
      <Chips
        search={search} set={set} on={filtered(search).filter((n) => n !== 'q' && !fixed.includes(n))} offered={offered.filter((n) => !fixed.includes(n as Name))}
        label={label} says={says} open={open} setOpen={setOpen} clears={['q', 'saved']}
      >
        {(name) => (name === 'tag' || name.startsWith('tag.') ? <Tag search={search} name={name.slice(4)} set={set} close={() => { setOpen(null); }} />
          : isMoment(name) ? <Moment name={name} options={options(name)} search={search} set={set} />
            : <Values label={labels[name]} name={name} options={options(name)} search={search} set={set} />)}
      </Chips>
      {children}
    </search>
  );
}

const isMoment = (name: string): name is (typeof moments)[number] => (moments as readonly string[]).includes(name);

interface ChoiceProps { search: RequestSearch; set: (s: RequestSearch) => void }

// Moment is a time: so far from now, or a day.
function Moment({ name, options, search, set }: ChoiceProps & { name: (typeof moments)[number]; options: Option[] }) {
  const now = search[name] ?? '';
  const day = /^\d{4}-/.test(now) ? dayOf(new Date(now)) : '';
  return (
    <div className="stack">
      <div className="options" role="radiogroup" aria-label={labels[name]}>
        {options.map(([value, says]) => (
          <label key={value} className="check"><input type="radio" name={name} checked={now === value} onChange={() => { set({ ...search, [name]: value }); }} /><span>{says}</span></label>
        ))}
      </div>
      <Field label={name === 'dueBefore' ? t('Before the day') : t('Since the day')}><input type="date" value={day} onChange={(e) => { set({ ...search, [name]: e.target.value ? startOf(e.target.value).toISOString() : '' }); }} /></Field>
    </div>
  );
}

// Tag is a tag and the values of it, any of which may stand there.
function Tag({ search, name, set, close }: ChoiceProps & { name: string; close: () => void }) {
  const [key, setKey] = useState(name);
  const [values, setValues] = useState(name ? search[`tag.${name}`] ?? '' : '');
  const send = () => {
    const list = values.split(',').map((v) => v.trim()).filter(Boolean).join(',');
    set({ ...(name ? without(search, `tag.${name}`) : search), [`tag.${key.trim()}`]: list } as RequestSearch);
    close();
  };
  return (
    <form className="stack" onSubmit={(e) => { e.preventDefault(); send(); }}>
      <Field label={t('Tag')}><input required dir="auto" maxLength={64} value={key} onChange={(e) => { setKey(e.target.value); }} /></Field>
      <Field label={t('Value')} hint={t('Several are separated by commas.')}><input required dir="auto" maxLength={256} value={values} onChange={(e) => { setValues(e.target.value); }} /></Field>
      <footer><button type="submit" className="small">{t('Filter')}</button></footer>
    </form>
  );
}

interface SortProps { now: string; options: Option[]; set: (to: string) => void }

// Sort is the order of a list.
export function Sort({ now, options, set }: SortProps) {
  return (
    <select aria-label={t('Sort by')} value={now} onChange={(e) => { set(e.target.value); }}>
      <Choices of={options.map(([id, name]) => ({ id, name }))} now={{ id: now, name: words(now.replace(/^-/, '')) }} />
    </select>
  );
}
