// context is what every field of a phase's form needs: what is said of it, whether it can be changed, and which values are known there.
import { createContext, useContext, useMemo, useRef } from 'react';
import { rows, useAll, useRead } from '../../../app/data';
import { useCan } from '../../../app/session';
import { LastCalls, MoreWorkflowForms, SampleCalls, SecretChoices, WorkflowForms, WorkflowWebhooks } from '../../../gen/documents';
import { useAgentChoices, useCalendarChoices, usePersonChoices, useTeamChoices, useWithOfferings } from '../../../parts/choices';
import { knownAt, labelsOf, type Asked, type Known, type Place } from './known';
import { lastCallOf, type Call } from './lastcall';
import { holds } from '../../../parts/blocks';
import { object, objects, type Json, type Problem } from './shape';

export interface Values { tree: Known[]; labels: Map<string, Known> }
interface Choice { id: string; name: string }
export type Sort = 'user' | 'team' | 'agent';

// Choices are what a phase can name, read once for all of its fields and for the next phase.
interface Choices { people: Record<Sort, Choice[]>; calendars: Choice[]; secrets: string[] }
interface Phase extends Choices { workflow: string; definition: unknown; id: string; problems: Problem[]; readOnly: boolean; values: (place: Place) => Values }

export const PhaseContext = createContext<Phase>({
  workflow: '', definition: {}, id: '', problems: [], readOnly: true, values: () => ({ tree: [], labels: new Map() }), people: { user: [], team: [], agent: [] }, calendars: [], secrets: [],
});
export const usePhase = () => useContext(PhaseContext);

export function useChoices(): Choices {
  const [user, team, agent, calendars] = [usePersonChoices(), useTeamChoices(), useAgentChoices(), useCalendarChoices()];
  const secrets = rows(useAll(SecretChoices, {}, !useCan('secret.read')).data?.secrets).map((s) => s.name);
  return { people: { user, team, agent }, calendars, secrets };
}

// useOthers is a definition in which one phase says nothing: the same object until something else in it is another.
export function useOthers(definition: unknown, id: string): Json {
  const { phases, transitions } = object(definition);
  const [all, kept] = [objects(phases), useRef<{ id: string; all: Json[]; transitions: unknown; of: Json }>(null)];
  const was = kept.current;
  if (was?.id === id && was.transitions === transitions && was.all.length === all.length && all.every((p, i) => p === was.all[i] || (p['id'] === id && was.all[i]?.['id'] === id))) return was.of;
  kept.current = { id, all, transitions, of: { transitions, phases: all.map((p) => (p['id'] === id && !holds(p) ? { id, type: p['type'] } : p)) } };
  return kept.current.of;
}

// useValues are the values that the phase's expressions can name. A change of the phase itself leaves them as they are.
export function useValues(workflow: string, definition: unknown, id: string, secrets: string[]): (place: Place) => Values {
  const [asked, call] = [useAsked(workflow), useLastCall(workflow)];
  const others = useOthers(definition, id);
  const latest = useRef(definition);
  latest.current = definition;
  const from = JSON.stringify([asked, call, secrets]);
  return useMemo(() => {
    const made = new Map<Place, Values>();
    return (place) => {
      const tree = made.get(place)?.tree ?? knownAt({ definition: latest.current, id, asked, call, secrets }, place);
      const values = made.get(place) ?? { tree, labels: labelsOf(tree) };
      made.set(place, values);
      return values;
    };
  }, [id, others, from]); // of what these are made, as text: each reading has lists of its own
}

// useAsked are the offerings that run through the workflow, with the questions of their forms.
export function useAsked(workflow: string): Asked[] {
  const services = useWithOfferings(MoreWorkflowForms, rows(useAll(WorkflowForms, {}, !useCan('service.read') || !workflow).data?.services));
  return services.flatMap((s) => rows(s.offerings)).filter((o) => o.workflowId === workflow || o.reopenWorkflowId === workflow)
    .map((o) => ({ name: o.name, fields: objects(object(o.form)['fields']) }));
}

// useLastCall is what an inbound webhook of the workflow was called with last, or would be by its sender.
export function useLastCall(workflow: string): Call | null {
  const reads = useCan('inboundwebhook.read');
  const webhook = rows(useAll(WorkflowWebhooks, {}, !reads || !workflow).data?.inboundWebhooks).find((w) => w.workflowId === workflow);
  const calls = useRead(LastCalls, { webhookId: webhook?.id ?? '' }, !webhook).data;
  const samples = useRead(SampleCalls, {}, !webhook?.preset).data?.inboundPresets;
  return lastCallOf(rows(calls?.accepted)[0], rows(calls?.ignored)[0], webhook?.preset ? samples?.find((p) => p.key === webhook.preset) : undefined);
}
