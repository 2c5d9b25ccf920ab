// sendonce makes the call of a phase now, with what the workflow is tried on and the answers that were given there.
import { Send } from 'lucide-react';
import { createContext, useCallback, useContext, useMemo, useState } from 'react';
import { useWrite } from '../../../app/data';
import { sentence, type Fault } from '../../../app/fault';
import { useCan } from '../../../app/session';
import { t } from '../../../app/text';
import { SendWorkflowCall } from '../../../gen/documents';
import type { SendWorkflowCallMutation } from '../../../gen/types';
import type { Definition } from './definition';
import { called } from './kinds';
import { object, text, type Json } from './shape';
import { fitting } from './try/answers';
import type { Kept } from './try/kept';
import { useTried } from './try/tried';

type Call = NonNullable<SendWorkflowCallMutation['sendWorkflowCall']>['call'];

// Came is what became of a call of a phase: it was made, or it was refused.
interface Came { call?: Call; fault?: Fault }

// Sender is what calls are made with: the workflow as it is written, and what it is tried on. It keeps what came of the last call of each phase.
interface Sender { workflow: string; definition: Definition; kept: Kept; came: Record<string, Came>; note: (phaseId: string, of: Came) => void }

const SenderContext = createContext<Sender | null>(null);
export const SenderProvider = SenderContext.Provider;

export function useSender(workflow: string, definition: Definition, kept: Kept): Sender {
  const [came, set] = useState<Record<string, Came>>({});
  const note = useCallback((phaseId: string, of: Came) => { set((was) => ({ ...was, [phaseId]: of })); }, []);
  return useMemo(() => ({ workflow, definition, kept, came, note }), [workflow, definition, kept, came, note]);
}

// useExample is the body that came back last from the call of a phase, as text; empty for none.
export function useExample(phaseId: string): string {
  const body = object(useContext(SenderContext)?.came[phaseId]?.call?.answer)['body'];
  return body === undefined || body === null ? '' : written(body);
}

// written is a body as somebody would write it.
export const written = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body, null, 1));

interface Props { phaseId: string; take?: (answer: Json) => void }

// SendOnce is the button, with what came of it. take gets what came back, if anything did.
export function SendOnce(props: Props) {
  const sender = useContext(SenderContext);
  const may = useCan('workflow.send_call');
  return sender && may ? <Sending {...props} sender={sender} /> : null;
}

function Sending({ phaseId, take, sender: { workflow, definition, kept, came, note } }: Props & { sender: Sender }) {
  const tried = useTried(workflow);
  const [write, busy] = useWrite(SendWorkflowCall, true);
  const of = came[phaseId];
  const press = async () => {
    const o = await write({ input: { id: workflow, phaseId, definition, ...tried.sent(kept.on), answers: fitting(kept.given, definition) } });
    const call = o.data?.sendWorkflowCall?.call;
    note(phaseId, { ...(call ? { call } : {}), ...(o.fault ? { fault: o.fault } : {}) });
    const answer = object(call?.answer);
    if (answer['status'] !== undefined) take?.(answer); // a failure leaves what was written
  };
  return (
    <div className="stack send-once">
      <p className="line">
        <button type="button" className="plain small" disabled={busy} onClick={() => { void press(); }}><Send size={14} aria-hidden /> {t('Send once')}</button>
        <span className="soft small-text grow">{t('Makes this call now, with the values and answers of Try.')}</span>
      </p>
      <div role="status">{of?.call && <Answer of={of.call} />}{of?.fault && <p className="fault">{refusal(of.fault, definition)}</p>}</div>
    </div>
  );
}

function Answer({ of: { answer, sent, unreadable, durationMs } }: { of: Call }) {
  const { status, body, failure } = object(answer);
  return (
    <>
      <p>{typeof failure === 'string' ? failure : t('Answered with {status} after {ms} ms.', { status: text(status), ms: durationMs })}</p>
      {unreadable && <p className="soft">{unreadable}</p>}
      {body !== undefined && body !== null && <details open><summary>{t('Response')}</summary><pre tabIndex={0}>{written(body).slice(0, 20_000)}</pre></details>}
      <details><summary>{t('What was sent')}</summary><pre tabIndex={0}>{JSON.stringify(sent, null, 1)}</pre></details>
    </>
  );
}

// refusal says why a call was not made. An answer that is missing is given in Try.
function refusal(fault: Fault, d: Definition): string {
  const [, id] = fault.details.map((x) => /^answers\.([A-Za-z0-9_]+)/.exec(x.field)).find((m) => m) ?? [];
  return id ? t('Answer “{name}” in Try first: the workflow asks for it before this call.', { name: called(d, id) }) : sentence(fault);
}
