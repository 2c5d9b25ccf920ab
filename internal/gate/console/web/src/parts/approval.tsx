// approval is how a decision of a workflow is made, wherever it stands.
import { useState } from 'react';
import { useRead, useWrite } from '../app/data';
import type { Fault } from '../app/fault';
import { can, useViewer, type Viewer } from '../app/session';
import { placed, plural, t } from '../app/text';
import { DecideApproval, DecidedRequest, DelegateApproval } from '../gen/documents';
import type { ApprovalVerdict, ApprovalRowFragment } from '../gen/types';
import { Time } from '../ui/bits';
import { Dialog } from '../ui/dialog';
import { Field, Rest, faultAt } from '../ui/field';
import { toast } from '../ui/toast';
import { Answers } from './answers';
import { EarlierOfApproval } from './shown';
import { usePersonChoices } from './choices';

// mayDelegate reports whether somebody may put another person into their place.
export const mayDelegate = (viewer: Viewer, a: ApprovalRowFragment) => can(viewer, 'approval.delegate') && can(viewer, 'user.read') && a.approvers.some((p) => p.id === viewer.id);

// decided says how many have decided, of how many that must.
export const decided = (a: ApprovalRowFragment) =>
  plural(a.decisions.length, '{n} of {total} decided', '{n} of {total} decided', { total: (a.mode === 'quorum' ? a.quorum : a.mode === 'all' ? a.approvers.length : 1) ?? 1 });

// useDecide decides, and says so. It returns what the server refused.
export function useDecide(): [(a: { id: string }, decision: ApprovalVerdict, comment: string) => Promise<Fault | null>, boolean] {
  const [run, busy] = useWrite(DecideApproval, true);
  return [async (a, decision, comment) => {
    const { fault } = await run({ input: { id: a.id, decision, ...(comment ? { comment } : {}) } });
    if (!fault) toast({ text: decision === 'REJECT' ? t('Rejected.') : t('Approved.') });
    return fault;
  }, busy];
}

export interface Asked { id: string; title: string; request?: { id: string; title: string } | null; decision: ApprovalVerdict }

// Decide asks for the decision in a dialog, beside what it is about.
export function Decide({ approval: a, close }: { approval: Asked; close: () => void }) {
  const about = useRead(DecidedRequest, { id: a.request?.id ?? '' }, !a.request).data?.request;
  const [comment, set] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [decide, busy] = useDecide();
  const rejects = a.decision === 'REJECT';
  const title = a.request?.title ?? a.title;
  const send = async () => {
    const refused = await decide(a, a.decision, comment);
    setFault(refused);
    if (!refused) close();
  };
  return (
    <Dialog title={rejects ? t('Reject “{title}”?', { title }) : t('Approve “{title}”?', { title })} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        {a.request && <p dir="auto"><strong>{a.title}</strong>{about && <span className="soft"> {placed(t('{offering}, submitted {when}'), { offering: `${about.service?.name} › ${about.offering?.name}`, when: <Time at={about.createdAt} /> })}</span>}</p>}
        {about?.description && <p className="prose description" dir="auto">{about.description}</p>}
        {about && <Answers request={about} />}
        <EarlierOfApproval id={a.id} />
        <Field label={t('Comment')} optional fault={faultAt(fault, 'comment')}><textarea dir="auto" value={comment} onChange={(e) => { set(e.target.value); }} /></Field>
        <Rest fault={fault} fields={['comment']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy}>{rejects ? t('Reject') : t('Approve')}</button></footer>
      </form>
    </Dialog>
  );
}

// Delegate puts somebody else into the person's place.
export function Delegate({ approval: a, close, done }: { approval: { id: string; title: string }; close: () => void; done: () => void }) {
  const people = usePersonChoices();
  const viewer = useViewer();
  const [who, set] = useState('');
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(DelegateApproval, true);
  const send = async () => {
    const o = await run({ input: { id: a.id, userId: who } });
    setFault(o.fault);
    if (o.fault) return;
    close();
    done();
    toast({ text: t('The decision was delegated.') });
  };
  return (
    <Dialog title={t('Delegate “{title}”', { title: a.title })} close={close}>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Who decides in your place')} fault={faultAt(fault, 'userId')}><select value={who} onChange={(e) => { set(e.target.value); }}><option value="">{t('Choose…')}</option>{people.filter((u) => u.id !== viewer.id).map((u) => <option key={u.id} value={u.id}>{u.name}</option>)}</select></Field>
        <Rest fault={fault} fields={['userId']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || !who}>{t('Delegate')}</button></footer>
      </form>
    </Dialog>
  );
}
