import { Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { plural, t } from '../../app/text';
import { changeOf, counted, measures, said, type Change, type Figures, type List, type Measure } from './report';

interface TilesProps { now: Figures; before: Figures; list: List }

// Tiles are what one looks at first: each figure beside what it was in the time before, and a way to the requests that it is of.
export function Tiles({ now, before, list }: TilesProps) {
  const more: Record<string, ReactNode> = {
    sla: now.slaMissed > 0 && <Link to="/app/requests" search={{ ...list, slaState: 'BREACHED' } as never}>{t('{n} missed', { n: now.slaMissed })}</Link>, // not said
    satisfaction: now.ratings > 0 && plural(now.ratings, '{n} rating', '{n} ratings'),
  };
  return <ul className="totals">{Object.entries(measures).map(([key, m]) => <Tile key={key} of={m} now={now} before={before} list={list} more={more[key]} />)}</ul>;
}

function Tile({ of: m, now, before, list, more }: TilesProps & { of: Measure; more: ReactNode }) {
  const n = m.of(now);
  const value = said(m.kind, n);
  return (
    <li className="card total">
      <span className="soft">{m.name}</span>
      <strong>{m.list && counted(m, n) ? <Link to="/app/requests" search={m.list(list) as never} aria-label={t('{name}: {value}, show the requests', { name: m.name, value })}>{value}</Link> : value}</strong>
      {(n !== null || m.of(before) !== null) && <Compared change={changeOf(m, now, before)} was={said(m.kind, m.of(before))} />}
      <span className="small-text soft">{more}</span>
    </li>
  );
}

// Compared says how a figure differs from the time before: by an arrow for those who see it, in words for those who hear it.
function Compared({ change, was }: { change: Change | null; was: string }) {
  const Arrow = change && change.up < 0 ? ArrowDown : ArrowUp;
  const heard = change && (change.up > 0 ? t('{by} more than before', { by: change.says }) : change.up < 0 ? t('{by} less than before', { by: change.says }) : t('as before'));
  return (
    <span className="small-text soft">
      {change && <span className="hidden">{heard}, </span>}
      {change && change.up !== 0 && <span className={`change ${change.tone}`} aria-hidden><Arrow size={13} strokeWidth={2.5} />{change.says}</span>} {t('before: {value}', { value: was })}
    </span>
  );
}
