import { Badge, Time, moment, slaWord } from '../../ui/bits';
import { responseDue, type MayRow } from './search';

export const Sla = ({ state, dueAt }: { state: string; dueAt?: string | null | undefined }) => (
  <Badge value={state}>{slaWord(state)}{dueAt && state !== 'MET' && <> · <Time at={dueAt} /></>}</Badge>
);

// dueOf is when something has to be done about a request next: respond to it, or finish it.
export const dueOf = (r: MayRow) => responseDue(r) ?? r.sla?.resolutionDueAt ?? null;

// Due says when that is, in a word or two; what is late, or soon will be, stands out.
export function Due({ request: r }: { request: MayRow }) {
  if (!r.sla || r.status === 'CANCELLED') return <span className="soft">–</span>;
  const at = dueOf(r);
  const running = r.status === 'PENDING' || r.status === 'IN_PROGRESS';
  if (!running || !at) return <span className="soft">{slaWord(running ? r.sla.state : r.sla.state === 'BREACHED' ? 'BREACHED' : 'MET')}</span>;
  const tone = { WARNING: 'soon', BREACHED: 'late' }[r.sla.state as string];
  return (
    <span className={tone ? `due ${tone}` : 'due'} title={`${slaWord(r.sla.state)}: ${moment(at)}`}>
      {tone && <span className="hidden">{slaWord(r.sla.state)} </span>}<Time at={at} />
    </span>
  );
}
