import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { can, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { FileRequest, OfferingForm } from '../../gen/documents';
import type { OfferingFormQuery, RequestPriority } from '../../gen/types';
import { Choices, usePersonChoices } from '../../parts/choices';
import { Attach, Attaching, useFiles } from '../../parts/files';
import { Writer } from '../../parts/writer';
import { lasting } from '../../ui/bits';
import { toSend, type Answers, type FormField } from '../../ui/answer';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { FormFields, asked } from '../../ui/formfields';
import { Loaded, Page } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';

type Offering = NonNullable<OfferingFormQuery['offering']>;

// File is the form of an offering, by which a request is filed.
export default function File() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = useRead(OfferingForm, { id });
  const o = read.data?.offering;
  return (
    <Page
      title={o?.name ?? t('New request')} narrow intro={o?.description} above={<Link to="/app/catalogue">{t('Catalogue')}</Link>}
    >
      <Loaded read={read}>{({ offering }) => (offering ? <Form offering={offering} /> : <NotFound says={t('This offering was not found')} />)}</Loaded>
    </Page>
  );
}


function Form({ offering: o }: { offering: Offering }) {
  const fields = (o.form as { fields?: FormField[] } | null)?.fields ?? [];
  const [draft, set, forget, base] = useDraft(`file ${o.id}`, { title: '', requesterId: '', description: '', priority: 'MEDIUM', fields: {} as Answers });
  const [fault, setFault] = useState<Fault | null>(null);
  const [sending, setSending] = useState(false);
  const [run, busy] = useWrite(FileRequest, true);
  const viewer = useViewer();
  const staff = can(viewer, 'request.update');
  const people = usePersonChoices(!staff);
  const files = useFiles();
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => { if (fault) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(); }, [fault]);
  const send = async () => {
    const answers = toSend(fields, draft.fields);
    const { data, fault: f } = await run({ input: {
      serviceId: o.serviceId, offeringId: o.id, title: draft.title, priority: draft.priority as RequestPriority,
      ...(draft.description ? { description: draft.description, format: 'markdown' as const } : {}), ...(files.ids.length > 0 ? { attachmentIds: files.ids } : {}), ...(draft.requesterId ? { requesterId: draft.requesterId } : {}), ...(Object.keys(answers).length > 0 ? { fields: answers } : {}),
    } });
    setFault(f);
    if (!data) return;
    forget();
    toast({ text: t('Submitted “{title}”.', { title: data.createRequest.request.title }) });
    void navigate({ to: '/app/requests/$id', params: { id: data.createRequest.request.id } });
  };
  const closed = o.status !== 'active' ? t('This offering takes no requests at the moment.') : o.service && o.service.status !== 'active' ? t('This service takes no requests at the moment.') : '';
  return (
    <form className="card stack" ref={form} {...files.on} noValidate onSubmit={(e) => { e.preventDefault(); if (!closed) void send(); }}>
      {closed && <p className="notice" id="closed">{closed}</p>}
      <Field label={t('Title')} hint={t('What it is about, in one line.')} fault={faultAt(fault, 'title')}>
        <input dir="auto" value={draft.title} aria-required maxLength={300} onChange={(e) => { set({ ...draft, title: e.target.value }); }} />
      </Field>
      {staff && (
        <Field label={t('Requester')} hint={t('The person it is for. They are notified and can reply.')} fault={faultAt(fault, 'requesterId')}>
          <select value={draft.requesterId} onChange={(e) => { set({ ...draft, requesterId: e.target.value }); }}>
            <option value="">{t('Yourself')}</option>
            <Choices of={people.filter((p) => p.id !== viewer.id)} now={draft.requesterId} />
          </select>
        </Field>
      )}
      <FormFields fields={fields} answers={draft.fields} set={(a) => { set({ ...draft, fields: a }); }} fault={fault} offering={o.id} sending={setSending} />
      <Writer label={t('Description')} optional fault={faultAt(fault, 'description')} value={draft.description} set={(description) => { set({ ...draft, description }); }} />
      <div><Attaching files={files} /><Attach files={files} /></div>
      <Field label={t('Priority')} fault={faultAt(fault, 'priority')}>
        <select value={draft.priority} onChange={(e) => { set({ ...draft, priority: e.target.value }); }}>
          <option value="LOW">{t('Low: it can wait')}</option><option value="MEDIUM">{t('Medium')}</option><option value="HIGH">{t('High')}</option><option value="URGENT">{t('Urgent: now')}</option>
        </select>
      </Field>
      <Rest base={base} fault={fault} fields={['title', 'requesterId', 'description', 'priority', ...asked(fault, fields)]} />
      <footer>
        {o.sla?.responseMinutes && <span className="soft small-text promise">{o.sla.resolutionMinutes ? t('First response within {response}, resolution within {resolution}.', { response: lasting(o.sla.responseMinutes), resolution: lasting(o.sla.resolutionMinutes) }) : t('First response within {response}.', { response: lasting(o.sla.responseMinutes) })}</span>}
        <button type="submit" disabled={busy || sending || closed !== '' || !files.ready} aria-describedby={closed ? 'closed' : undefined}>{t('Submit request')}</button>
      </footer>
    </form>
  );
}
