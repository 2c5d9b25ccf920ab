// actions are what can be done to a request: the next step as a button, the rest in a menu.
import { Check, RotateCcw } from 'lucide-react';
import { useAsked } from '../../../app/asked';
import { config } from '../../../app/config';
import { can, useViewer, type Viewer } from '../../../app/session';
import { t } from '../../../app/text';
import { useKeys } from '../../../keys/registry';
import { Confirm } from '../../../ui/dialog';
import { Menu, type Item } from '../../../ui/menu';
import { toast } from '../../../ui/toast';
import { Ask, open, useBulk, type Asking } from '../bulk';
import type { FullRequest } from '../detail';
import { Move } from '../move';
import { asleep, reopenable } from '../search';
import { Decline, Reopen, useAccept, useChange, useComplete } from '../verbs';
import { Snooze } from './edit';
import { Merge } from './links';

// mayOf is what somebody may do with a request as it stands.
export function mayOf(viewer: Viewer, r: FullRequest) {
  const has = (verb: string) => can(viewer, verb, r);
  return {
    accept: r.status === 'PENDING' && has('request.accept'), decline: r.status === 'PENDING' && has('request.cancel') && has('request.accept'),
    complete: r.status === 'IN_PROGRESS' && has('request.complete'), update: open(r) && has('request.update'), cancel: open(r) && has('request.cancel'),
    reopen: r.status === 'COMPLETED' && has('request.reopen') && (has('request.accept') || reopenable(r)),
    move: r.status === 'PENDING' && has('request.update') && can(viewer, 'request.create'),
  };
}

// copied puts a text where one pastes from, and says so.
export async function copied(text: string, says: string) {
  try {
    await navigator.clipboard.writeText(text); // which a page without TLS does not have
    toast({ text: says });
  } catch {
    toast({ text: t('Your browser does not allow copying. Copy this line yourself: {line}', { line: text }), bad: true });
  }
}

type What = 'decline' | 'reopen' | 'cancel' | 'merge' | 'move' | 'snooze' | Asking;

// Actions stand in the header. The keys for them work on the page of the request, not beside a list, which has its own.
export function Actions({ request: r, peek = false }: { request: FullRequest; peek?: boolean }) {
  const viewer = useViewer();
  const [ask, setAsk] = useAsked<What>('verb', '');
  const accept = useAccept();
  const change = useChange();
  const complete = useComplete();
  const bulk = useBulk();
  const close = () => { setAsk(''); };
  const may = mayOf(viewer, r);
  const until = r.status === 'PENDING' && asleep(r);
  useKeys([
    { name: 'assign', keys: 'a', does: t('Assign the request'), group: t('Request'), run: () => { if (may.update) setAsk('assignee'); } },
    { name: 'priority', keys: 'p', does: t('Set the priority'), group: t('Request'), run: () => { if (may.update) setAsk('priority'); } },
    { name: 'status', keys: 's', does: t('Set the status'), group: t('Request'), run: () => { if (may.accept || may.complete || may.cancel) setAsk('status'); else if (may.reopen) setAsk('reopen'); } },
    { name: 'accept', keys: 'e', does: t('Accept the request'), group: t('Request'), run: () => { if (may.accept) void accept(r); } },
  ], !peek && (may.update || may.accept || may.reopen));
  const items: (Item | false)[] = [
    may.update && r.status === 'IN_PROGRESS' && (r.waiting
      ? { label: t('Resume the clock'), run: () => { void change(r, { waiting: false }, t('The service level clock runs again.')); } }
      : { label: t('Wait for an answer'), run: () => { void change(r, { waiting: true }, t('The service level clock stops until the requester answers.')); } }),
    may.update && r.status === 'PENDING' && (until
      ? { label: t('End the snooze'), run: () => { void change(r, { snoozedUntil: null }, t('It is in the inbox again.')); } }
      : { label: t('Snooze'), run: () => { setAsk('snooze'); } }),
    may.move && { label: t('Move'), run: () => { setAsk('move'); } },
    { label: t('Copy the link'), run: () => { void copied(`${config.baseUrl}/app/requests/${r.id}`, t('The link was copied.')); } },
    { label: t('Copy as curl'), run: () => { void copied(`curl ${config.baseUrl}/v1/requests/${r.id} -H "x-api-key: $KEY"`, t('The curl line was copied.')); } },
    may.decline && { label: t('Decline'), bad: true, run: () => { setAsk('decline'); } },
    may.update && may.cancel && { label: t('Merge into…'), bad: true, run: () => { setAsk('merge'); } },
    may.cancel && { label: t('Cancel request'), bad: true, run: () => { setAsk('cancel'); } },
  ];
  return (
    <>
      {may.accept && <button type="button" onClick={() => { void accept(r); }}><Check size={15} aria-hidden /> {t('Accept')}</button>}
      {may.complete && <button type="button" onClick={() => { void complete(r); }}><Check size={15} aria-hidden /> {t('Complete')}</button>}
      {may.reopen && <button type="button" onClick={() => { setAsk('reopen'); }}><RotateCcw size={15} aria-hidden /> {t('Reopen')}</button>}
      <Menu label={t('More actions')} hint={t('More actions')} className="icon menu-opener" items={() => items.filter((i) => i !== false)} />
      {ask === 'snooze' && <Snooze request={r} close={close} />}
      {ask === 'move' && <Move request={r} close={close} />}
      {ask === 'reopen' && may.reopen && <Reopen request={r} close={close} />}
      {ask === 'decline' && <Decline request={r} close={close} />}
      {(ask === 'assignee' || ask === 'priority' || ask === 'status') && <Ask what={ask} list={[r]} close={close} act={(of, to) => { void bulk.change(of, to); }} />}
      {ask === 'merge' && <Merge request={r} close={close} />}
      {ask === 'cancel' && <Cancel request={r} close={close} />}
    </>
  );
}

// Cancel asks once more, for a cancellation has no way back.
export function Cancel({ request: r, close }: { request: FullRequest; close: () => void }) {
  const change = useChange();
  return (
    <Confirm title={t('Cancel “{title}”?', { title: r.title })} verb={t('Cancel request')} keep={t('Keep it')} close={close} act={async () => { await change(r, { status: 'CANCELLED' }, t('The request was cancelled.')); close(); }}>
      <p>{t('This is final: what its workflow still waits for ends with it.')}</p>
    </Confirm>
  );
}
