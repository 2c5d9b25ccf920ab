// filters show what stands in the address of a list, each as a chip that can be changed or taken away, and offer what else can be asked for.
import { ListFilter, X } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { rows } from '../../app/data';
import { useViewer } from '../../app/session';
import { t } from '../../app/text';
import * as enums from '../../gen/enums';
import { Choices, useOfferingChoices, usePersonChoices, useServiceChoices, useTeamChoices } from '../../parts/choices';
import { date, words } from '../../ui/bits';
import { Check, Field } from '../../ui/field';
import { Menu, Panel } from '../../ui/menu';
import { dayOf, startOf } from '../../ui/zone';
import { slaWord } from './row';
import { filtered, moments, without, type RequestSearch } from './search';

type Name = keyof RequestSearch;
type Option = [value: string, says: string];

const hours: Option[] = [['0h', t('Overdue')], ['4h', t('Within 4 hours')], ['24h', t('Within 24 hours')], ['7d', t('Within 7 days')]];
const since: Option[] = [['1h', t('In the last hour')], ['24h', t('In the last 24 hours')], ['7d', t('In the last 7 days')], ['30d', t('In the last 30 days')]];

const labels: Record<string, string> = {
  status: t('Status'), priority: t('Priority'), dueBefore: t('Due'), slaState: t('SLA'), assigneeId: t('Assignee'), teamId: t('Team'), requesterId: t('Requester'), watching: t('Watching'),
  serviceId: t('Service'), offeringId: t('Offering'), hasAttachments: t('Files'), tag: t('Tags'), updatedAfter: t('Changed since'), createdAfter: t('Submitted since'), createdBefore: t('Submitted before'), createdBy: t('Submitted by'),
};
const offered = Object.keys(labels).filter((n) => n !== 'createdBefore' && n !== 'createdBy'); // which links alone ask for

// useOptions are the values that a filter is chosen from. Rows are read once somebody asks for them, or once one stands in the address.
function useOptions(search: RequestSearch, asked: string): (name: string) => Option[] {
  const viewer = useViewer();
  const needs = (...names: Name[]) => names.some((n) => asked === n || search[n]);
  const people = usePersonChoices(!needs('assigneeId', 'requesterId', 'createdBy'));
  const teams = useTeamChoices(!needs('teamId'));
  const services = useServiceChoices(!needs('serviceId'));
  const offerings = useOfferingChoices(!needs('offeringId'));
  const named = (list: { id: string; name: string }[]): Option[] => list.map((x) => [x.id, x.name]);
  const persons = (): Option[] => [[viewer.id, t('Me')], ...named(people.filter((p) => p.id !== viewer.id))];
  return (name) => ({
    status: () => enums.RequestStatus.map((s): Option => [s, words(s)]),
    priority: () => enums.RequestPriority.toReversed().map((p): Option => [p, words(p)]),
    slaState: () => enums.SLAState.map((s): Option => [s, slaWord(s)]),
    watching: (): Option[] => [['me', t('What I watch')]],
    hasAttachments: (): Option[] => [['true', t('With files')], ['false', t('Without files')]],
    assigneeId: (): Option[] => [persons()[0] as Option, ['none', t('Nobody')], ...persons().slice(1)],
    requesterId: persons, createdBy: persons,
    teamId: (): Option[] => [['none', t('No team')], ...named(teams)],
    serviceId: () => named(services),
    offeringId: () => services.length + offerings.length > 0 ? offerings.flatMap((s) => rows(s.offerings).map((o): Option => [o.id, `${s.name} › ${o.name}`])) : [],
    dueBefore: () => hours, updatedAfter: () => since, createdAfter: () => since,
  } as Record<string, () => Option[]>)[name]?.() ?? [];
}

interface FiltersProps { search: RequestSearch; set: (s: RequestSearch) => void; fixed?: Name[]; children?: ReactNode }

// Filters is the bar above a list. What is `fixed` the page itself filters by. What stands at its end changes how the list is shown.
export function Filters({ search, set, fixed = [], children }: FiltersProps) {
  const [q, setQ] = useState(search.q ?? '');
  const [open, setOpen] = useState<{ name: string; at: HTMLElement } | null>(null);
  const options = useOptions(search, open?.name ?? '');
  useEffect(() => { setQ(search.q ?? ''); }, [search.q]);
  useEffect(() => {
    if (q === (search.q ?? '')) return undefined;
    const timer = setTimeout(() => { set({ ...search, q }); }, 300);
    return () => { clearTimeout(timer); };
  });
  const on = filtered(search).filter((n) => n !== 'q' && !fixed.includes(n));
  const says = (name: Name) => {
    const value = search[name] ?? '';
    const one = (v: string) => options(name).find(([x]) => x === v)?.[1] ?? (moments.includes(name as 'dueBefore') && !Number.isNaN(Date.parse(v)) ? date(v) : name.startsWith('tag.') ? v : /^\w{2,4}_/.test(v) ? '…' : words(v));
    return value.split(',').map(one).join(', ');
  };
  const label = (name: string) => (name.startsWith('tag.') ? name.slice(4) : labels[name] ?? name);
  const toggle = (name: string, at: HTMLElement) => { setOpen(open?.at === at ? null : { name, at }); };
  return (
    <search className="filter-bar">
      <input id="filter-q" type="search" dir="auto" aria-label={t('Words or number')} placeholder={t('Words or number')} value={q} onChange={(e) => { setQ(e.target.value); }} />
      <Menu
        label={t('Filter')} className="plain small filter-button" end={false}
        items={() => offered.filter((n) => !fixed.includes(n as Name)).map((n) => ({ label: labels[n] ?? n, run: () => { setOpen({ name: n, at: globalThis.document.querySelector<HTMLElement>('.filter-button') as HTMLElement }); } }))} // not said
      ><ListFilter size={14} aria-hidden /> {t('Filter')}</Menu>
      {on.map((name) => (
        <span key={name} className="filter-chip">
          <button type="button" aria-haspopup="dialog" aria-expanded={open?.name === name} onClick={(e) => { toggle(name, e.currentTarget); }} dir="auto"><span className="soft">{label(name)}:</span> {says(name)}</button>
          <button type="button" aria-label={t('Remove the filter {name}', { name: label(name) })} onClick={() => { set(without(search, name)); }}><X size={13} aria-hidden /></button>
        </span>
      ))}
      {on.length > 0 && <button type="button" className="quiet small" onClick={() => { set(without(search, ...on, 'q', 'saved')); }}>{t('Clear')}</button>}
      {children}
      {open && (
        <Panel label={label(open.name)} at={open.at} close={() => { setOpen(null); }}>
          {open.name === 'tag' || open.name.startsWith('tag.') ? <Tag search={search} name={open.name.slice(4)} set={set} close={() => { setOpen(null); }} />
            : (moments as readonly string[]).includes(open.name) ? <Moment name={open.name as 'dueBefore'} options={options(open.name)} search={search} set={set} />
              : <Values name={open.name as Name} options={options(open.name)} search={search} set={set} />}
        </Panel>
      )}
    </search>
  );
}

interface ChoiceProps { search: RequestSearch; set: (s: RequestSearch) => void }

// Values are chosen, several of them; a long list is searched.
function Values({ name, options, search, set }: ChoiceProps & { name: Name; options: Option[] }) {
  const [find, setFind] = useState('');
  const now = search[name]?.split(',').filter(Boolean) ?? [];
  const found = options.filter(([, says]) => says.toLowerCase().includes(find.toLowerCase()));
  const choose = (value: string, on: boolean) => { set({ ...search, [name]: (on ? [...now, value] : now.filter((v) => v !== value)).join(',') }); };
  return (
    <>
      {options.length > 9 && <input className="find" type="search" dir="auto" aria-label={t('Search')} placeholder={t('Search')} value={find} onChange={(e) => { setFind(e.target.value); }} />}
      <div className="options" role="group" aria-label={labels[name]}>
        {found.map(([value, says]) => <Check key={value} label={says} checked={now.includes(value)} set={(on) => { choose(value, on); }} />)}
        {found.length === 0 && <p className="soft small-text">{t('Nothing matches.')}</p>}
      </div>
    </>
  );
}

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
