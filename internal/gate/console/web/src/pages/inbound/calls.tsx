// calls are what has come to an inbound webhook, and what became of it.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { rows, usePages, useWrite } from '../../app/data';
import { useCan } from '../../app/session';
import { plural, t } from '../../app/text';
import { InboundCalls, ReplayCall } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { CallFragment } from '../../gen/types';
import { Badge, moment, Time, words } from '../../ui/bits';
import { More } from '../../ui/more';
import { Loaded, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { why } from './signing';

export function Calls({ id }: { id: string }) {
  const { outcome = '' } = useSearch({ strict: false }) as { outcome?: string };
  const navigate = useNavigate();
  const read = usePages(InboundCalls, { webhookId: id, first: 50, ...(outcome ? { outcome: [outcome as 'ACCEPTED'] } : {}) });
  const list = rows(read.data?.inboundCalls);
  return (
    <Section title={t('Calls')} intro={t('The calls of the last 30 days.')} actions={<>
      {['', ...enums.InboundOutcome].map((o) => <button key={o} type="button" className="plain small" aria-pressed={outcome === o} onClick={() => { void navigate({ to: '/app/inbound-webhooks/$id', params: { id }, search: { outcome: o } as never, replace: true, resetScroll: false }); }}>{o ? words(o) : t('All')}</button>)}
      <button type="button" className="quiet small" onClick={read.again}>{t('Refresh')}</button>
    </>}>
      <Loaded read={read} skeleton={3}>{() => (list.length === 0 ? <Empty title={outcome ? t('No matching calls') : t('There are no calls yet')} /> : <><ul className="rows" aria-label={t('Calls')}>{list.map((c) => <One key={c.id} call={c} again={read.again} />)}</ul><More shown={list.length} total={read.data?.inboundCalls?.totalCount} page={read.data?.inboundCalls?.pageInfo} next={read.next} /></>)}</Loaded>
    </Section>
  );
}

const tones = { ACCEPTED: 'active', DUPLICATE: 'off', REJECTED: 'denied', IGNORED: 'off' };

function One({ call: c, again }: { call: CallFragment; again: () => void }) {
  const may = useCan('inboundcall.replay');
  const [replay] = useWrite(ReplayCall);
  const resend = async () => {
    const o = await replay({ input: { id: c.id } });
    if (o.fault) return;
    const now = o.data?.replayInboundCall.inboundCall;
    toast({ text: now?.outcome === 'IGNORED' ? t('The call was ignored again.') : t('The call was processed again.') });
    again();
  };
  return (
    <li className="row">
      <div>
        <span className="line"><Badge value={tones[c.outcome]}>{words(c.outcome)}</Badge><Time at={c.at} full /></span>
        <div className="meta">{c.reason && <span dir="auto">{why(c.reason)}</span>}<Became call={c} /><span>{plural(c.bodyBytes, '{n} byte', '{n} bytes')}</span>{c.replayOf && <span>{t('resent manually')}</span>}</div>
        <details><summary>{t('Headers and body')}</summary><pre>{Object.entries((c.headers ?? {}) as Record<string, string>).map(([k, v]) => `${k}: ${v}`).join('\n')}{'\n\n'}{c.body}</pre></details>
      </div>
      {may && <div className="verbs"><button type="button" className="plain small" aria-label={t('Resend the call of {when}', { when: moment(c.at) })} onClick={() => { void resend(); }}>{t('Resend')}</button></div>}
    </li>
  );
}

// Became is where what a call has started stands by now: the execution with its fault, and the request.
function Became({ call: { executionId, execution: e } }: { call: CallFragment }) {
  if (!executionId) return null;
  return (
    <>
      <Link to="/app/executions/$id" params={{ id: executionId }}>{t('Execution')}</Link>
      {e && <Badge value={e.status} />}
      {e?.error && <span className="fault" dir="auto">{e.error.message}</span>}
      {e?.request && <Link to="/app/requests/$id" params={{ id: e.request.id }} dir="auto">{e.request.title}</Link>}
    </>
  );
}
