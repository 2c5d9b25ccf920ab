import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { FileRequest, OfferingForm } from '../../gen/documents';
import type { OfferingFormQuery, RequestPriority } from '../../gen/types';
import { lasting } from '../../ui/bits';
import { toSend, type Answers, type FormField } from '../../ui/answer';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { FormFields } from '../../ui/formfields';
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
      title={o?.name ?? 'File a request'} narrow intro={o?.description} above={<Link to="/app/catalogue">← Catalogue</Link>}
    >
      <Loaded read={read}>{({ offering }) => (offering ? <Form offering={offering} /> : <NotFound what="offering" />)}</Loaded>
    </Page>
  );
}


function Form({ offering: o }: { offering: Offering }) {
  const fields = (o.form as { fields?: FormField[] } | null)?.fields ?? [];
  const [draft, set, forget, base] = useDraft(`file ${o.id}`, { title: '', description: '', priority: 'MEDIUM', fields: {} as Answers });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(FileRequest, true);
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => { if (fault) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(); }, [fault]);
  const send = async () => {
    const answers = toSend(fields, draft.fields);
    const { data, fault: f } = await run({ input: {
      serviceId: o.serviceId, offeringId: o.id, title: draft.title, priority: draft.priority as RequestPriority,
      ...(draft.description ? { description: draft.description } : {}), ...(Object.keys(answers).length > 0 ? { fields: answers } : {}),
    } });
    setFault(f);
    if (!data) return;
    forget();
    toast({ text: `Filed “${data.createRequest.request.title}”.` });
    void navigate({ to: '/app/requests/$id', params: { id: data.createRequest.request.id } });
  };
  const closed = o.status !== 'active' ? 'This offering takes no requests at the moment.' : o.service && o.service.status !== 'active' ? 'This service takes no requests at the moment.' : '';
  return (
    <form className="card stack" ref={form} noValidate onSubmit={(e) => { e.preventDefault(); if (!closed) void send(); }}>
      {closed && <p className="notice" id="closed">{closed}</p>}
      <Field label="Title" hint="What it is about, in a line." fault={faultAt(fault, 'title')}>
        <input value={draft.title} aria-required maxLength={300} onChange={(e) => { set({ ...draft, title: e.target.value }); }} />
      </Field>
      <FormFields fields={fields} answers={draft.fields} set={(a) => { set({ ...draft, fields: a }); }} fault={fault} offering={o.id} />
      <Field label="Description" optional fault={faultAt(fault, 'description')}>
        <textarea value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} />
      </Field>
      <Field label="Priority" fault={faultAt(fault, 'priority')}>
        <select value={draft.priority} onChange={(e) => { set({ ...draft, priority: e.target.value }); }}>
          <option value="LOW">Low: it can wait</option><option value="MEDIUM">Medium</option><option value="HIGH">High</option><option value="URGENT">Urgent: now</option>
        </select>
      </Field>
      <Rest base={base} fault={fault} fields={['title', 'description', 'priority', ...fields.map((f) => `fields.${f.key}`)]} />
      <footer>
        {o.sla?.responseMinutes && <span className="soft small-text promise">Somebody answers within {lasting(o.sla.responseMinutes)}{o.sla.resolutionMinutes ? `, and it is done within ${lasting(o.sla.resolutionMinutes)}` : ''}.</span>}
        <button type="submit" disabled={busy || closed !== ''} aria-describedby={closed ? 'closed' : undefined}>File</button>
      </footer>
    </form>
  );
}
