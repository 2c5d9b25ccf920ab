// choices are the lists that people choose from, and by which rows are named of which the id alone is known: whole, by their names,
// and empty where the role may not read them.
import type { TypedDocumentNode } from 'urql';
import { rows, useAll, useRest, type Read } from '../app/data';
import { useCan } from '../app/session';
import { AccountChoices, AgentChoices, CalendarChoices, Catalogue, MoreOfferings, OrganizationChoices, PersonChoices, ServiceChoices, TeamChoices, WorkflowChoices } from '../gen/documents';
import type { UserFilter } from '../gen/types';

export const useTeamChoices = (pause = false) => rows(useAll(TeamChoices, {}, !useCan('team.read') || pause).data?.teams);
export const useOrganizationChoices = (pause = false) => rows(useAll(OrganizationChoices, {}, !useCan('organization.read') || pause).data?.organizations);
export const usePersonChoices = (pause = false, filter: UserFilter = { status: ['active'] }) => rows(useAll(PersonChoices, { filter }, !useCan('user.read') || pause).data?.users);
export const useAccountChoices = (pause = false) => rows(useAll(AccountChoices, {}, !useCan('serviceaccount.read') || pause).data?.serviceAccounts);
export const useAgentChoices = (pause = false) => rows(useAll(AgentChoices, {}, !useCan('agent.read') || pause).data?.agents);
export const useServiceChoices = (pause = false) => rows(useAll(ServiceChoices, {}, !useCan('service.read') || pause).data?.services);
export const useWorkflowChoices = (pause = false) => rows(useAll(WorkflowChoices, {}, !useCan('workflow.read') || pause).data?.workflows);
export const useCalendarChoices = (pause = false) => rows(useAll(CalendarChoices, {}, !useCan('calendar.read') || pause).data?.calendars);

// useOwners are the people and the service accounts by their ids, as far as the role may read them. It is null until they are here: rows
// that say whose they are come with the names, and do not grow smaller then.
export function useOwners() {
  const [sees, seesAccounts] = [useCan('user.read'), useCan('serviceaccount.read')];
  const [people, accounts] = [useAll(PersonChoices, { filter: {} }, !sees), useAll(AccountChoices, {}, !seesAccounts)];
  const comes = (r: Read<unknown>) => !r.data && !r.fault;
  return (sees && comes(people)) || (seesAccounts && comes(accounts)) ? null : new Map([...rows(people.data?.users), ...rows(accounts.data?.serviceAccounts)].map((o) => [o.id, o]));
}

// useOfferingChoices are the services of the catalogue, each with all its offerings.
export const useOfferingChoices = (pause = false) => useWithOfferings(MoreOfferings, rows(useAll(Catalogue, {}, pause).data?.services));

interface Offers { id: string; offerings: { pageInfo: { hasNextPage: boolean; endCursor: string | null } } | null }

// useWithOfferings reads the offerings of services on, of which a list of services brings the first page. doc reads the next page of one.
export function useWithOfferings<D, S extends Offers>(doc: TypedDocumentNode<D, { id: string; after?: string | null }>, services: S[]): S[] {
  const cut = services.find((s) => s.offerings?.pageInfo.hasNextPage);
  useRest(doc, { id: cut?.id ?? '' }, cut?.offerings?.pageInfo);
  return services;
}

interface Choice { id: string; name: string }

// Choices are what can be chosen, and what was chosen before it could not be any more.
export function Choices({ of, now }: { of: Choice[]; now: Choice | string | null | undefined }) {
  const was = typeof now === 'string' ? { id: now, name: now } : now;
  return <>{was?.id && !of.some((c) => c.id === was.id) && <option value={was.id}>{was.name}</option>}{of.map((c) => <option key={c.id} value={c.id}>{c.name}</option>)}</>;
}

// OfferingOptions are offerings to choose from, each below its service.
export function OfferingOptions({ of }: { of: ReturnType<typeof useOfferingChoices> }) {
  return <>{of.map((s) => <optgroup key={s.id} label={s.name}>{rows(s.offerings).map((o) => <option key={o.id} value={o.id}>{`${s.name} › ${o.name}`}</option>)}</optgroup>)}</>;
}
