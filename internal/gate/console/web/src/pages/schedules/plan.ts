// plan is a schedule as its form has it: what people chose, whichever of it counts in the end.
import type { CreateScheduleInput, RequestPriority, ScheduleEveryInput, ScheduleMissed, ScheduleOnClosed, ScheduleRowFragment, ScheduleTimesQueryVariables, ScheduleUnit } from '../../gen/types';
import { toSend, type Answers, type FormField } from '../../ui/answer';
import { days } from '../../ui/days';
import { tagsOf, textOf } from '../../ui/tags';
import { here } from '../../ui/zone';

// Template is what a schedule files. What other programs wrote into it beside these stays.
export interface Template { title?: string; description?: string; priority?: RequestPriority; requesterId?: string; tags?: Record<string, string>; fields?: Answers; [other: string]: unknown }

export interface Plan {
  name: string;
  byCron: boolean; cron: string; unit: ScheduleUnit; at: string; weekdays: string[]; day: number;
  timeZone: string; calendarId: string; onClosed: ScheduleOnClosed; missed: ScheduleMissed;
  does: 'request' | 'workflow'; workflowId: string; offeringId: string;
  title: string; description: string; requesterId: string; priority: RequestPriority; tags: string; fields: Answers;
}

type Row = Pick<ScheduleRowFragment, 'name' | 'workflowId' | 'offeringId' | 'request' | 'cron' | 'every' | 'timeZone' | 'calendarId' | 'onClosed' | 'missed'>;

export const templateOf = (s: Pick<Row, 'request'> | null | undefined): Template => (s?.request ?? {}) as Template;

// planOf is a schedule in its form; without one, what most begin with.
export function planOf(s: Row | null): Plan {
  const request = templateOf(s);
  return {
    name: s?.name ?? '', byCron: Boolean(s?.cron), cron: s?.cron ?? '', unit: s?.every?.unit ?? 'WEEK', at: s?.every?.at ?? '09:00', weekdays: s?.every?.weekdays ?? ['mon'], day: s?.every?.day ?? 1,
    timeZone: s?.timeZone ?? here, calendarId: s?.calendarId ?? '', onClosed: s?.onClosed ?? 'NEXT_WORKING_DAY', missed: s?.missed ?? 'ONCE',
    does: s?.workflowId ? 'workflow' : 'request', workflowId: s?.workflowId ?? '', offeringId: s?.offeringId ?? '',
    title: request.title ?? '', description: request.description ?? '', requesterId: request.requesterId ?? '', priority: request.priority ?? 'MEDIUM', tags: textOf(request.tags ?? {}), fields: request.fields ?? {},
  };
}

// everyOf is how often, with what counts for its unit alone.
export function everyOf(p: Pick<Plan, 'unit' | 'at' | 'weekdays' | 'day'>): ScheduleEveryInput {
  return {
    unit: p.unit, at: p.unit === 'HOUR' ? `00:${p.at.slice(3) || '00'}` : p.at,
    ...(p.unit === 'WEEK' ? { weekdays: days.filter((d) => p.weekdays.includes(d)) } : {}), ...(p.unit === 'MONTH' ? { day: p.day } : {}),
  };
}

type Repeats = Pick<Plan, 'byCron' | 'cron' | 'unit' | 'at' | 'weekdays' | 'day'>;
const repeats = (p: Repeats) => (p.byCron ? { cron: p.cron.trim() } : { every: everyOf(p) });

// timesOf asks for the next times of a plan; null while it has none yet.
export function timesOf(p: Plan): ScheduleTimesQueryVariables | null {
  if (p.byCron ? p.cron.trim() === '' : p.at === '' || (p.unit === 'WEEK' && p.weekdays.length === 0)) return null;
  return { ...repeats(p), timeZone: p.timeZone, ...(p.calendarId ? { calendarId: p.calendarId, onClosed: p.onClosed } : {}) };
}

// askedOf asks for the next times of a schedule that is there.
export const askedOf = (s: Row): ScheduleTimesQueryVariables => timesOf(planOf(s)) ?? { timeZone: s.timeZone };

// written is the text of a value, and nothing for an empty one.
const written = <K extends string>(key: K, text: string) => (text.trim() === '' ? {} : { [key]: text.trim() } as Record<K, string>);

// requestOf is what a plan files. form is the offering's, null where it is not known: answers stay as they were then.
export function requestOf(p: Plan, form: FormField[] | null, was: Template = {}): Template {
  const { title: _t, description: _d, requesterId: _r, tags: _g, fields: _f, ...others } = was;
  const tags = tagsOf(p.tags, was.tags ?? {});
  const fields = form ? toSend(form, p.fields, was.fields ?? {}) : p.fields;
  return {
    ...others, title: p.title.trim(), priority: p.priority, ...written('description', p.description), ...written('requesterId', p.requesterId),
    ...(Object.keys(tags).length > 0 ? { tags } : {}), ...(Object.keys(fields).length > 0 ? { fields } : {}),
  };
}

// inputOf is what is sent of a plan. called is its name where nobody has written one.
export function inputOf(p: Plan, form: FormField[] | null, called: string, was: Template = {}): CreateScheduleInput {
  return {
    name: p.name.trim() || called, ...repeats(p), timeZone: p.timeZone, calendarId: p.calendarId || null, onClosed: p.onClosed, missed: p.missed,
    ...(p.does === 'workflow' ? { workflowId: p.workflowId } : { offeringId: p.offeringId, request: requestOf(p, form, was) }),
  };
}
