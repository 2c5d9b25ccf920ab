// edit is the page on which a schedule is planned: a new one, a copy of another one, or one that is there.
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { placed, t } from '../../app/text';
import { CreateSchedule, OfferingForm, ScheduleOne, UpdateSchedule } from '../../gen/documents';
import type { ScheduleRowFragment } from '../../gen/types';
import { useWorkflowChoices } from '../../parts/choices';
import type { FormField } from '../../ui/answer';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { focusSoon } from '../../ui/focus';
import { Loaded, Page, Section } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { Does, doesFields, type Problems } from './does';
import { inputOf, planOf, templateOf, timesOf, type Plan } from './plan';
import { useTimes, type Next } from './times';
import { saidOf, When, whenFields } from './when';
import './schedules.css';

interface Search { from?: string; workflow?: string; offering?: string }

export default function ScheduleEdit() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const { from, workflow, offering } = useSearch({ strict: false }) as Search;
  const of = id ?? from;
  const read = useRead(ScheduleOne, { id: of ?? '' }, !of);
  const was = read.data?.schedule ?? null;
  const title = !id ? t('New schedule') : was ? t('Edit “{title}”', { title: was.name }) : t('Schedule');
  const gone = <NotFound says={t('This schedule was not found')} />;
  return (
    <Page title={title} verb={id ? 'schedule.update' : 'schedule.create'} above={id ? <Link to="/app/schedules/$id" params={{ id }}>{was?.name ?? t('Schedule')}</Link> : <Link to="/app/schedules">{t('Schedules')}</Link>}>
      {!of ? <Form key="new" was={null} begin={{ ...(workflow ? { does: 'workflow', workflowId: workflow } : {}), ...(offering ? { offeringId: offering } : {}) }} />
        : <Loaded read={read}>{({ schedule }) => (!schedule ? gone : id ? <Form key={id} was={schedule} edits begin={{}} /> : <Form key={schedule.id} was={schedule} begin={{ name: t('{name} (copy)', { name: schedule.name }) }} />)}</Loaded>}
    </Page>
  );
}

// problemsOf are what has to be said before the server is asked.
const problemsOf = (p: Plan): Problems => (p.does === 'workflow' ? { workflow: p.workflowId ? undefined : t('Choose a workflow.') }
  : { offering: p.offeringId ? undefined : t('Choose an offering.'), title: p.title.trim() ? undefined : t('Is required.') });

const first = () => globalThis.document.querySelector<HTMLElement>('#main [aria-invalid=true]'); // not said

// saidOn is a refusal of what was sent, without what was put right since, and with what the next times cannot be told for.
function saidOn(sent: Fault | null, next: Next): Fault | null {
  const asked = next.fault?.code === 'validation_error' ? next.fault : null;
  if (!sent) return asked;
  const details = sent.details.filter((d) => !(next.list && whenFields.includes(d.field)));
  return { ...sent, details: [...details, ...(asked?.details ?? []).filter((d) => !details.some((s) => s.field === d.field))] };
}

interface FormProps { was: ScheduleRowFragment | null; edits?: boolean; begin: Partial<Plan> }

function Form({ was, edits = false, begin }: FormProps) {
  const [plan, write, forget, base] = useDraft(`schedule ${edits ? was?.id : ['new', was?.id ?? begin.workflowId ?? begin.offeringId].join(' ')}`, { ...planOf(was), ...begin }, edits ? was?.etag : '');
  const set = (changed: Partial<Plan>) => { write((now) => ({ ...now, ...changed })); };
  const [fault, setFault] = useState<Fault | null>(null);
  const [asked, setAsked] = useState(false); // whether what is missing is said
  const [create, making] = useWrite(CreateSchedule, true);
  const [update, saving] = useWrite(UpdateSchedule, true);
  const navigate = useNavigate();
  const next = useTimes(timesOf(plan));
  const offering = useRead(OfferingForm, { id: plan.offeringId }, !plan.offeringId).data?.offering;
  const form = offering?.id === plan.offeringId ? (offering.form as { fields?: FormField[] } | null)?.fields ?? [] : null;
  const flow = useWorkflowChoices().find((w) => w.id === plan.workflowId)?.name ?? (was?.workflowId === plan.workflowId ? was.workflow?.name : undefined);
  const called = (plan.does === 'workflow' ? flow : plan.title.trim()) ?? '';
  const problems = asked ? problemsOf(plan) : {};
  const said = saidOn(fault, next);
  const send = async () => {
    setAsked(true);
    if (Object.values(problemsOf(plan)).some(Boolean)) { focusSoon(first); return; }
    const input = inputOf(plan, form, called, templateOf(was));
    const o = edits && was ? await update({ input: { id: was.id, ...base.match, ...input } }) : await create({ input });
    setFault(o.fault);
    if (o.fault) focusSoon(first);
    if (!o.data) return;
    const { schedule } = 'updateSchedule' in o.data ? o.data.updateSchedule : o.data.createSchedule;
    forget();
    toast({ text: edits ? t('The schedule was saved.') : t('The schedule was created.') });
    void navigate({ to: '/app/schedules/$id', params: { id: schedule.id }, replace: edits });
  };
  return (
    <form className="schedule-form" noValidate autoComplete="off" onSubmit={(e) => { e.preventDefault(); void send(); }}>
      <Section title={t('When')}><When plan={plan} set={set} fault={said} next={next} /></Section>
      <Section title={t('What it does')}><Does plan={plan} set={set} fault={said} form={form} problems={problems} was={was ?? {}} /></Section>
      <Section title={t('Summary')}>
        <div className="card pad stack">
          <p><Sums plan={plan} flow={flow} offering={offering?.name} /></p>
          <Field label={t('Name')} hint={t('What people call the schedule.')} optional={called !== ''} fault={faultAt(said, 'name')}><input dir="auto" maxLength={200} placeholder={called} value={plan.name} onChange={(e) => { set({ name: e.target.value }); }} /></Field>
          <Rest base={base} fault={fault} fields={['name', ...whenFields, ...doesFields(plan, fault, form)]} />
          <footer>
            {edits && was ? <Link className="button plain" to="/app/schedules/$id" params={{ id: was.id }} onClick={forget}>{t('Cancel')}</Link> : <Link className="button plain" to="/app/schedules" onClick={forget}>{t('Cancel')}</Link>}
            <button type="submit" disabled={making || saving}>{edits ? t('Save') : t('Create')}</button>
          </footer>
        </div>
      </Section>
    </form>
  );
}

// Sums says in a sentence what a plan comes to, as soon as it says what it does.
function Sums({ plan: p, flow, offering }: { plan: Plan; flow: string | undefined; offering: string | undefined }) {
  const when = saidOf(p);
  const open = <span className="soft">{t('Say above what is to be done, and when.')}</span>;
  if (!timesOf(p)) return open;
  if (p.does === 'workflow') return flow ? <>{placed(t('{when}, the workflow {name} starts.'), { when, name: <bdi>{t('“{name}”', { name: flow })}</bdi> })}</> : open;
  return offering && p.title.trim() ? <>{placed(t('{when}, {title} is submitted for {offering}.'), { when, title: <bdi>{t('“{name}”', { name: p.title.trim() })}</bdi>, offering: <bdi>{offering}</bdi> })}</> : open;
}
