// panel tries the workflow as it stands: it shows each step, and asks for the answers for want of which the trial stops.
import { RotateCcw, X } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { uncached } from '../../../../app/client';
import { faultOf } from '../../../../app/fault';
import { t } from '../../../../app/text';
import { TryWorkflow } from '../../../../gen/documents';
import { Dialog } from '../../../../ui/dialog';
import { Rest } from '../../../../ui/field';
import { focusSoon } from '../../../../ui/focus';
import { phaseOf, write, type Definition } from '../definition';
import { foundOf, type Refused } from '../found';
import { called } from '../kinds';
import { inputNames } from '../known';
import { fitting } from './answers';
import type { Kept } from './kept';
import { TriedOn } from './sample';
import { useTried } from './tried';
import { Steps } from './steps';
import { endSaid } from './words';
import './try.css';

// Props are those of the builder. keep keeps what was tried; select shows a phase in outline and picture, and open opens its form at what
// is at fault.
export interface Props { workflow: string; definition: Definition; narrow: boolean; selected: string; kept: Kept; keep: (to: Kept) => void; select: (id: string) => void; open: (id: string) => void; close: () => void }

const title = () => globalThis.document.querySelector<HTMLElement>('.builder-side.try h2'); // not said
// next is what is asked for now, or else how the trial ended.
const next = () => globalThis.document.querySelector<HTMLElement>('.try .try-give :is(input, select, textarea, button)') ?? globalThis.document.querySelector<HTMLElement>('.try .try-end'); // not said

export default function Try(props: Props) {
  const { narrow, close } = props;
  useEffect(() => { if (!narrow) focusSoon(title); }, [narrow]); // a dialog has the focus itself
  if (narrow) return <Dialog title={t('Try')} side close={close}><div className="stack try"><Content {...props} /><footer><button type="button" className="plain" onClick={close}>{t('Back to the phases')}</button></footer></div></Dialog>;
  const keys = (e: KeyboardEvent) => {
    if (e.key !== 'Escape' || e.defaultPrevented || (e.target as HTMLElement).closest('dialog, .layer')) return; // not said
    e.preventDefault();
    close();
  };
  return (
    <section className="card builder-side try" aria-label={t('Try')} onKeyDown={keys}>
      <header><h2 className="grow">{t('Try')}</h2><button type="button" className="icon" aria-label={t('Close')} onClick={close}><X size={16} aria-hidden /></button></header>
      <Content {...props} />
    </section>
  );
}

function Content({ workflow, definition: d, selected, kept, keep, select, open }: Props) {
  const tried = useTried(workflow);
  const [busy, setBusy] = useState(false);
  const [changing, setChanging] = useState(''); // the question whose answer is given anew
  const runs = useRef(0);
  const leads = useRef(false); // to what is asked next
  const now = useMemo(() => write(d), [d]);
  const reads = useMemo(() => inputNames(d), [d]);
  const run = async (to: Kept, lead = false) => {
    const mine = ++runs.current;
    setBusy(true);
    const given = fitting(to.given, d);
    const r = await uncached.query(TryWorkflow, { id: workflow || null, definition: d, ...tried.sent(to.on), answers: given }).toPromise();
    if (mine !== runs.current) return;
    const [fault, trial] = [faultOf(r.error), r.data?.tryWorkflow];
    setBusy(false);
    if (fault || !trial) { keep({ ...kept, on: to.on, refused: fault && { fault, sent: d } }); return; }
    setChanging('');
    keep({ on: to.on, given, trial, of: now, refused: null });
    select(trial.stopped?.phaseId ?? trial.steps.at(-1)?.phaseId ?? '');
    leads.current = lead;
  };
  const begun = useRef(kept.trial !== null);
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    void run(kept);
  });
  const { trial, refused } = kept;
  useEffect(() => { // once it is drawn: what was answered is gone then
    if (leads.current) focusSoon(next);
    leads.current = false;
  }, [trial]);
  const stale = trial !== null && kept.of !== now;
  return (
    <>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void run(kept); }}>
        <TriedOn on={kept.on} tried={tried} reads={reads} fault={refused?.fault ?? null} change={(on, at) => { if (at === 'once') void run({ ...kept, on }); else keep({ ...kept, on }); }} />
        <p className="line">
          <button type="submit" className={`${stale ? '' : 'plain '}small`} disabled={busy}>{t('Try again')}</button>
          {Object.keys(kept.given).length > 0 && <button type="button" className="plain small" disabled={busy} onClick={() => { void run({ ...kept, given: {} }, true); }}><RotateCcw size={14} aria-hidden /> {t('Without my answers')}</button>}
        </p>
      </form>
      <p className={`try-end${stale ? ' soft' : ''}`} role="status" tabIndex={-1}>
        {busy && !trial ? t('Trying…') : trial ? [endSaid(trial, d), stale ? t('The workflow was changed since.') : ''].filter(Boolean).join(' ') : ''}
      </p>
      {refused && <Refusal refused={refused} definition={d} open={open} />}
      {trial && <Steps trial={trial} definition={d} workflow={workflow} stale={stale} selected={selected} select={select} fields={kept.on.fields} fault={refused?.fault ?? null} busy={busy} changing={changing} change={setChanging} give={(answer) => { void run({ ...kept, given: answer(kept.given) }, true); }} />}
    </>
  );
}

interface RefusalProps { refused: Refused; definition: Definition; open: (id: string) => void }

// Refusal says what is wrong in the definition, with a way to the phase. What is wrong in an answer is said there as well.
function Refusal({ refused, definition: d, open }: RefusalProps) {
  const { fault, sent } = refused;
  if (fault.details.length === 0) return <form><Rest fault={fault} fields={[]} /></form>;
  const faults = foundOf({ sent, fault: { ...fault, details: fault.details.filter((x) => x.field.startsWith('definition')) } }, d);
  const others = fault.details.filter((x) => !x.field.startsWith('definition'));
  if (faults.length + others.length === 0) return null; // it was mended since
  return (
    <div className="alert try-faults" role="alert">
      <p>{faults.length > 0 ? t('Fix this to try the workflow:') : t('These answers do not fit:')}</p>
      <ul>
        {faults.map((f) => <li key={f.id + f.path + f.message}>{phaseOf(d, f.id) ? <button type="button" onClick={() => { open(f.id); }}>{called(d, f.id)}: {f.message}</button> : f.message}</li>)}
        {others.map((x) => <li key={x.field + x.message}>{placeIn(d, x.field)}: {x.message}</li>)}
      </ul>
    </div>
  );
}

// placeIn is where an answer is: at which phase, or in which field.
function placeIn(d: Definition, field: string): string {
  const [, id] = /^answers\.([A-Za-z0-9_]+)/.exec(field) ?? [];
  return id ? called(d, id) : field.replace(/^fields\./, '');
}
