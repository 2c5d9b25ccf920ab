// filters show by what a list or a report is filtered, each filter as a chip that can be changed or taken away, and offer what else can
// be asked for. The filters stand in the address, by the API's names and values.
import { ListFilter, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { rows } from '../app/data';
import { finds } from '../app/fold';
import { useViewer } from '../app/session';
import { t } from '../app/text';
import * as enums from '../gen/enums';
import { words } from '../ui/bits';
import { Check } from '../ui/field';
import { Menu, Panel } from '../ui/menu';
import { useOfferingChoices, useOrganizationChoices, usePersonChoices, useServiceChoices, useTeamChoices } from './choices';

export type Option = [value: string, says: string];
type Search = Record<string, string | undefined>;

// fieldLabels are the fields of requests that are filtered by what the company has.
export const fieldLabels = {
  priority: t('Priority'), assigneeId: t('Assignee'), teamId: t('Team'), requesterId: t('Requester'), serviceId: t('Service'), offeringId: t('Offering'), organizationId: t('Organization'), createdBy: t('Submitted by'),
};

// valueOf is what stands in the address under a name, valuesOf are the values in it.
const valueOf = (search: object, name: string) => (search as Search)[name] ?? '';
export const valuesOf = (search: object, name: string) => valueOf(search, name).split(',').filter(Boolean);

// useFieldOptions are the values that such a field is filtered by. Rows are read once somebody asks for them, or once one stands in the
// address.
export function useFieldOptions(search: object, asked: string): (name: string) => Option[] {
  const viewer = useViewer();
  const needs = (...names: (keyof typeof fieldLabels)[]) => names.some((n) => asked === n || valueOf(search, n));
  const people = usePersonChoices(!needs('assigneeId', 'requesterId', 'createdBy'));
  const teams = useTeamChoices(!needs('teamId'));
  const services = useServiceChoices(!needs('serviceId'));
  const offerings = useOfferingChoices(!needs('offeringId'));
  const organizations = useOrganizationChoices(!needs('organizationId'));
  const named = (list: { id: string; name: string }[]): Option[] => list.map((x) => [x.id, x.name]);
  const persons = (): Option[] => [[viewer.id, t('Me')], ...named(people.filter((p) => p.id !== viewer.id))];
  return (name) => ({
    priority: () => enums.RequestPriority.toReversed().map((p): Option => [p, words(p)]),
    assigneeId: (): Option[] => [persons()[0] as Option, ['none', t('Nobody')], ...persons().slice(1)],
    requesterId: persons, createdBy: persons,
    teamId: (): Option[] => [['none', t('No team')], ...named(teams)],
    serviceId: () => named(services),
    offeringId: () => offerings.flatMap((s) => rows(s.offerings).map((o): Option => [o.id, `${s.name} › ${o.name}`])),
    organizationId: () => named(organizations),
  } as Record<string, () => Option[]>)[name]?.() ?? [];
}

// Opened is the filter that somebody chooses values of at the moment.
export interface Opened { name: string; at: HTMLElement }

interface ChipsProps<S> {
  search: S; set: (s: S) => void; on: string[]; offered: string[]; label: (name: string) => string; says: (name: string, value: string) => string;
  open: Opened | null; setOpen: (to: Opened | null) => void; clears?: string[]; children: (name: string) => ReactNode;
}

const less = <S extends object>(search: S, names: string[]): S => Object.fromEntries(Object.entries(search).filter(([k]) => !names.includes(k))) as S;

// Chips are the filters that are on, between the menu of all that are offered and the button that clears them. Its child is what a
// filter is chosen in.
export function Chips<S extends object>({ search, set, on, offered, label, says, open, setOpen, clears = [], children }: ChipsProps<S>) {
  return (
    <>
      <Menu
        label={t('Filter')} className="plain small filter-button" end={false}
        items={() => offered.map((n) => ({ label: label(n), run: () => { setOpen({ name: n, at: globalThis.document.querySelector<HTMLElement>('.filter-button') as HTMLElement }); } }))} // not said
      ><ListFilter size={14} aria-hidden /> {t('Filter')}</Menu>
      {on.map((name) => (
        <span key={name} className="filter-chip">
          <button type="button" aria-haspopup="dialog" aria-expanded={open?.name === name} onClick={(e) => { const at = e.currentTarget; setOpen(open?.at === at ? null : { name, at }); }} dir="auto"><span className="soft">{label(name)}:</span> {says(name, valueOf(search, name))}</button>
          <button type="button" aria-label={t('Remove the filter {name}', { name: label(name) })} onClick={() => { set(less(search, [name])); }}><X size={13} aria-hidden /></button>
        </span>
      ))}
      {on.length > 0 && <button type="button" className="quiet small" onClick={() => { set(less(search, [...on, ...clears])); }}>{t('Clear')}</button>}
      {open && <Panel label={label(open.name)} at={open.at} close={() => { setOpen(null); }}>{children(open.name)}</Panel>}
    </>
  );
}

// chipSays is what a chip says of the values of a filter. Rows that are not read yet have no name.
export const chipSays = (options: Option[], value: string) =>
  value.split(',').map((v) => options.find(([x]) => x === v)?.[1] ?? (/^\w{2,4}_/.test(v) ? '…' : words(v))).join(', ');

interface ValuesProps<S> { label: string | undefined; name: string; options: Option[]; search: S; set: (s: S) => void }

// Values are chosen, several of them; a long list is searched.
export function Values<S extends object>({ label, name, options, search, set }: ValuesProps<S>) {
  const [find, setFind] = useState('');
  const now = valuesOf(search, name);
  const found = options.filter(([, says]) => finds(says, find));
  const choose = (value: string, on: boolean) => { set({ ...search, [name]: (on ? [...now, value] : now.filter((v) => v !== value)).join(',') }); };
  return (
    <>
      {options.length > 9 && <input className="find" type="search" dir="auto" aria-label={t('Search')} placeholder={t('Search')} value={find} onChange={(e) => { setFind(e.target.value); }} />}
      <div className="options" role="group" aria-label={label}>
        {found.map(([value, says]) => <Check key={value} label={says} checked={now.includes(value)} set={(on) => { choose(value, on); }} />)}
        {found.length === 0 && <p className="soft small-text">{t('Nothing matches.')}</p>}
      </div>
    </>
  );
}
