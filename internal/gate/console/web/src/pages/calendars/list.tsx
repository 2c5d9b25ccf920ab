import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { plural, t } from '../../app/text';
import { Calendars, CreateCalendar, DeleteCalendar, MorePromises, Promises, UpdateCalendar } from '../../gen/documents';
import type { CalendarRowFragment } from '../../gen/types';
import { useCalendarChoices, useWithOfferings } from '../../parts/choices';
import { words } from '../../ui/bits';
import { dayName, days, type Day } from '../../ui/days';
import { Confirm, Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Check, Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { spansOf, textOf } from './hours';

// hoursOf says the hours of a week.
function hoursOf(c: CalendarRowFragment): string {
  if (!c.workingHours) return t('24 × 7');
  return days.filter((d) => (c.workingHours?.[d] ?? []).length > 0).map((d) => `${dayName(d, 'short')} ${textOf(c.workingHours?.[d])}`).join(' · ') || t('No weekly hours');
}

// CalendarList is when work is done, by which service levels and timers count, and what is promised by them.
export default function CalendarList() {
  const read = usePages(Calendars, { first: 50 });
  const [creates, updates, removes] = [useCan('calendar.create'), useCan('calendar.update'), useCan('calendar.delete')];
  const [gone, setGone] = useAsked<CalendarRowFragment | null>('gone', null);
  const [remove] = useWrite(DeleteCalendar);
  const list = rows(read.data?.calendars);
  const [edit, setEdit] = useOpened(list);
  return (
    <Page title={t('Calendars')} verb="calendar.read" intro={t('Working hours and holidays for service levels and timers.')} actions={creates && <button type="button" onClick={() => { setEdit('new'); }}>{t('New calendar')}</button>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('There are no calendars')}><p>{t('Without a calendar, service levels count every hour of every day.')}</p></Empty> : (
          <><ul className="rows">
            {list.map((c) => (
              <li key={c.id} className="row">
                <div>
                  <Name row={c} may={updates} />
                  <div className="meta"><span>{c.timeZone}</span><span>{hoursOf(c)}</span>{c.exceptions.length > 0 && <span>{plural(c.exceptions.length, '{n} exception', '{n} exceptions')}</span>}{c.holidays.length > 0 && <span>{plural(c.holidays.length, '{n} holiday', '{n} holidays')}</span>}</div>
                </div>
                <div className="verbs">
                  {updates && <button type="button" className="plain small" aria-label={t('Edit {name}', { name: c.name })} onClick={() => { setEdit(c); }}>{t('Edit')}</button>}
                  {removes && <button type="button" className="danger-plain small" aria-label={t('Delete {name}', { name: c.name })} onClick={() => { setGone(c); }}>{t('Delete')}</button>}
                </div>
              </li>
            ))}
          </ul>
          <More shown={list.length} total={read.data?.calendars?.totalCount} page={read.data?.calendars?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      <Levels />
      {edit && <Editor calendar={edit === 'new' ? null : edit} close={() => { setEdit(null); }} saved={read.again} />}
      {gone && <Confirm title={t('Delete “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id } }); if (!o.fault) toast({ text: t('The calendar was deleted.') }); setGone(null); read.again(); }}><p>{t('A calendar that an offering, a workflow or a schedule uses cannot be deleted.')}</p></Confirm>}
    </Page>
  );
}

// Levels are what is promised for each offering.
function Levels() {
  const calendars = useCalendarChoices();
  const read = usePages(Promises, {});
  const list = useWithOfferings(MorePromises, rows(read.data?.services)).flatMap((s) => rows(s.offerings).map((o) => ({ ...o, service: s.name }))).filter((o) => o.sla?.responseMinutes || o.sla?.resolutionMinutes);
  const time = (m: number | null | undefined) => (m ? (m % 1440 === 0 ? t('{n} d', { n: m / 1440 }) : m % 60 === 0 ? t('{n} h', { n: m / 60 }) : t('{n} min', { n: m })) : '–');
  return (
    <Section title={t('Service levels')} intro={t('What is promised for each offering. Service levels are set on the offering itself.')}>
      <Loaded read={read} skeleton={2}>
        {({ services }) => <>{list.length === 0 ? <Empty title={t('There are no service levels yet')}><p>{t('Set the times for first response and resolution on an offering.')}</p></Empty> : (
          <div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">{t('Offering')}</th><th scope="col">{t('First response')}</th><th scope="col">{t('Resolution')}</th><th scope="col">{t('Calendar')}</th><th scope="col">{t('Escalations')}</th></tr></thead>
              <tbody>{list.map((o) => <tr key={o.id}><td><Link className="name" dir="auto" to="/app/services/$id" params={{ id: o.serviceId }}>{o.name}</Link><span className="sub">{o.service}</span></td><td className="tight" data-label={t('First response')}>{time(o.sla?.responseMinutes)}</td><td className="tight" data-label={t('Resolution')}>{time(o.sla?.resolutionMinutes)}</td><td className="tight" data-label={t('Calendar')}>{calendars.find((c) => c.id === o.sla?.calendarId)?.name ?? t('24 × 7')}</td><td data-label={t('Escalations')}>{(o.sla?.escalations ?? []).map((e) => t('{action} after {time}', { action: words(e.do), time: time(e.afterMinutes) })).join(', ') || <span className="soft">–</span>}</td></tr>)}</tbody>
            </table>
          </div>
        )}
        {services?.pageInfo.hasNextPage && <More shown={rows(services).length} total={services.totalCount} page={services.pageInfo} next={read.next}>{t('services')}</More>}</>}
      </Loaded>
    </Section>
  );
}

function Editor({ calendar: c, close, saved }: { calendar: CalendarRowFragment | null; close: () => void; saved: () => void }) {
  const [draft, set, forget, base] = useDraft(`calendar ${c?.id ?? 'new'}`, {
    name: c?.name ?? '', timeZone: c?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, holidays: c?.holidays.join('\n') ?? '',
    always: c !== null && !c.workingHours,
    hours: Object.fromEntries(days.map((d) => [d, c?.workingHours ? textOf(c.workingHours[d]) : ['sat', 'sun'].includes(d) ? '' : '09:00-17:00'])) as Record<Day, string>,
  }, c?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(CreateCalendar, true);
  const [update, saving] = useWrite(UpdateCalendar, true);
  const send = async () => {
    const fields = {
      name: draft.name, timeZone: draft.timeZone, holidays: draft.holidays.split(/[\s,]+/).filter(Boolean),
      workingHours: draft.always ? null : Object.fromEntries(days.map((d) => [d, spansOf(draft.hours[d])])),
    };
    const o = c ? await update({ input: { id: c.id, ...base.match, ...fields } }) : await create({ input: fields });
    setFault(o.fault);
    if (o.fault) return;
    forget();
    close();
    saved();
    toast({ text: c ? t('The calendar was saved.') : t('The calendar was created.') });
  };
  const at = (prefix: string) => fault?.details.filter((d) => d.field.startsWith(prefix)).map((d) => d.message).join(' ') || undefined;
  return (
    <Dialog title={c ? t('Calendar “{name}”', { name: c.name }) : t('New calendar')} close={close} wide>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <div className="pair">
          <Field label={t('Name')} fault={faultAt(fault, 'name')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
          <Field label={t('Time zone')} fault={faultAt(fault, 'timeZone')}><input value={draft.timeZone} placeholder={'Europe/Berlin'} onChange={(e) => { set({ ...draft, timeZone: e.target.value }); }} /></Field>
        </div>
        <fieldset>
          <legend>{t('Working hours')}</legend>
          <div className="stack">
            <Check label={t('24 × 7')} hint={t('Every hour counts, except on holidays.')} checked={draft.always} set={(always) => { set({ ...draft, always }); }} />
            {!draft.always && (
              <>
                <p className="hint">{t('Such as 09:00-12:00, 13:00-17:30. Leave a day off empty.')}{c && c.exceptions.length > 0 && <> {t('If all days are empty, only the exceptions have hours.')}</>}</p>
                <div className="pair">{days.map((d) => <Field key={d} label={dayName(d)} fault={at(`workingHours.${d}`)}><input value={draft.hours[d]} onChange={(e) => { set({ ...draft, hours: { ...draft.hours, [d]: e.target.value } }); }} /></Field>)}</div>
              </>
            )}
          </div>
        </fieldset>
        <Field label={t('Holidays')} optional hint={t('Dates as YYYY-MM-DD, one per line.')} fault={at('holidays')}><textarea value={draft.holidays} onChange={(e) => { set({ ...draft, holidays: e.target.value }); }} /></Field>
        <Rest base={base} fault={fault} fields={['name', 'timeZone', ...(fault?.details.map((d) => d.field).filter((f) => /^(workingHours\.|holidays)/.test(f)) ?? [])]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{c ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
