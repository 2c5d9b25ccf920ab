import { useEffect, useState } from 'react';
import { t } from '../../app/text';
import * as enums from '../../gen/enums';
import { usePersonChoices, useServiceChoices, useTeamChoices } from '../../parts/choices';
import { words } from '../../ui/bits';
import { Field } from '../../ui/field';
import type { RequestSearch } from './search';

// Filters show what stands in the address, and change it.
export function Filters({ search, set }: { search: RequestSearch; set: (s: RequestSearch) => void }) {
  const [services, people, teams] = [useServiceChoices(), usePersonChoices(), useTeamChoices()];
  const [q, setQ] = useState(search.q ?? '');
  useEffect(() => { setQ(search.q ?? ''); }, [search.q]);
  useEffect(() => {
    if (q === (search.q ?? '')) return undefined;
    const timer = setTimeout(() => { set({ ...search, q }); }, 300);
    return () => { clearTimeout(timer); };
  });
  const choice = (name: keyof RequestSearch, label: string, options: [string, string][]) => (
    <Field label={label} key={name}>
      <select value={search[name] ?? ''} onChange={(e) => { set({ ...search, [name]: e.target.value }); }}>
        <option value="">{t('Any')}</option>
        {search[name] && !options.some(([v]) => v === search[name]) && <option value={search[name]}>{search[name]?.split(',').map(words).join(', ')}</option>}
        {options.map(([v, says]) => <option key={v} value={v}>{says}</option>)}
      </select>
    </Field>
  );
  const some = Object.entries(search).some(([k, v]) => v && !['view', 'peek', 'sort', 'saved'].includes(k));
  return (
    <search className="filters">
      <div className="field wide">
        <div className="label-row"><label htmlFor="filter-q">{t('Title or number')}</label></div>
        <input id="filter-q" type="search" dir="auto" value={q} onChange={(e) => { setQ(e.target.value); }} />
      </div>
      {choice('status', t('Status'), enums.RequestStatus.map((s) => [s, words(s)]))}
      {choice('priority', t('Priority'), enums.RequestPriority.toReversed().map((p) => [p, words(p)]))}
      {choice('serviceId', t('Service'), services.map((s) => [s.id, s.name]))}
      {choice('assigneeId', t('Assignee'), [['none', t('Nobody')], ...people.map((u) => [u.id, u.name] as [string, string])])}
      {choice('teamId', t('Team'), [['none', t('No team')], ...teams.map((team) => [team.id, team.name] as [string, string])])}
      {choice('slaState', t('SLA'), enums.SLAState.map((s) => [s, words(s)]))}
      {some && <button type="button" className="quiet" onClick={() => { set({ view: search.view ?? '', sort: search.sort ?? '' }); }}>{t('Clear')}</button>}
    </search>
  );
}
