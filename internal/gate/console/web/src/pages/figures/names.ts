import { rows } from '../../app/data';
import { words } from '../../ui/bits';
import type { ReportBy } from '../../gen/types';
import { useOfferingChoices, useOrganizationChoices, usePersonChoices, useServiceChoices, useTeamChoices } from '../../parts/choices';
import { groups } from './report';

const everybody = {}; // also those who have left

// useNames are the names of the groups of one kind. Those that have not been read yet, or may not be, have their id.
export function useNames(by: ReportBy): (key: string | null) => string {
  const services = useServiceChoices(by !== 'service');
  const offerings = useOfferingChoices(by !== 'offering');
  const teams = useTeamChoices(by !== 'team');
  const people = usePersonChoices(by !== 'assignee', everybody);
  const organizations = useOrganizationChoices(by !== 'organization');
  const all: Partial<Record<ReportBy, { id: string; name: string }[]>> = {
    service: services, offering: offerings.flatMap((s) => rows(s.offerings).map((o) => ({ id: o.id, name: `${s.name} › ${o.name}` }))), team: teams, assignee: people, organization: organizations,
  };
  const names = new Map(all[by]?.map((x) => [x.id, x.name]));
  return (key) => (key === null ? groups[by].none : by === 'priority' ? words(key) : names.get(key) ?? (names.size === 0 ? '…' : key));
}
