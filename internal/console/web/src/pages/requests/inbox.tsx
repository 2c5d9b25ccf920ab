import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useArrivals } from '../../app/live';
import { rows, useRead } from '../../app/data';
import { useViewer } from '../../app/session';
import { Requests } from '../../gen/documents';
import type { RequestRowFragment } from '../../gen/types';
import { useKeys } from '../../keys/registry';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { useMarking } from './marking';
import { Row } from './row';
import { inboxVariables } from './search';
import { Decline, useAccept, useChange } from './verbs';

// Inbox is where staff take requests in: what nobody has accepted or put off.
export default function Inbox() {
  const [variables, setVariables] = useState(inboxVariables);
  const read = useRead(Requests, variables);
  const viewer = useViewer();
  const [arrived, seen] = useArrivals((r) => r.status === 'PENDING');
  const [shown, setShown] = useState<RequestRowFragment[]>([]);
  const [declining, setDeclining] = useState<RequestRowFragment | null>(null);
  const { list, marked, step } = useMarking('Inbox');
  const accept = useAccept();
  const change = useChange();

  const known = rows(read.data?.requests);
  const all = [...shown.filter((r) => !known.some((k) => k.id === r.id)), ...known]
    .filter((r) => r.status === 'PENDING' && !(r.snoozedUntil && new Date(r.snoozedUntil).getTime() > Date.now()));
  const news = arrived.filter((a) => !all.some((r) => r.id === a.id));
  const take = (r: RequestRowFragment) => { step(r.id); void accept(r); };
  const current = () => all.find((r) => r.id === marked());
  useKeys([
    { keys: 'a', does: 'Accept the request', group: 'Inbox', run: () => { const r = current(); if (r) take(r); } },
    { keys: 'd', does: 'Decline the request', group: 'Inbox', run: () => { setDeclining(current() ?? null); } },
    { keys: 'm', does: 'Assign the request to me', group: 'Inbox', run: () => { const r = current(); if (r) void change(r, { assigneeId: viewer.id }, `“${r.title}” is yours.`); } },
  ]);
  const more = read.data?.requests?.pageInfo;
  return (
    <Page title="Inbox" role="agent" intro="What nobody has accepted yet, the newest first.">
      <div aria-live="polite">
        {news.length > 0 && <button type="button" className="plain small pill" onClick={() => { setShown((was) => [...news, ...was]); seen(); }}>{news.length} new</button>}
      </div>
      <Loaded read={read}>
        {() => (all.length === 0
          ? <Empty title="Nothing waits"><p>Every request has been taken in. New ones appear here by themselves.</p><p><Link to="/app/requests" className="button plain">See all requests</Link></p></Empty>
          : (
            <>
              <ul className="rows" ref={(e) => { list.current = e; }} aria-label="Requests that wait">
                {all.map((r) => (
                  <Row
                    key={r.id} request={r}
                    verbs={<>
                      <button type="button" className="plain small" aria-keyshortcuts="a" title="Accept (a)" onClick={() => { take(r); }}>Accept<span className="hidden"> {r.title}</span></button>
                      <button type="button" className="quiet small" aria-keyshortcuts="d" title="Decline (d)" onClick={() => { setDeclining(r); }}>Decline<span className="hidden"> {r.title}</span></button>
                    </>}
                  />
                ))}
              </ul>
              <div className="table-foot">
                <span>{all.length} waiting</span>
                {more?.hasNextPage && <button type="button" className="plain small" onClick={() => { setVariables({ ...inboxVariables, after: more.endCursor ?? null }); }}>Show more</button>}
              </div>
            </>
          ))}
      </Loaded>
      {declining && <Decline request={declining} close={() => { setDeclining(null); }} done={() => { step(declining.id); }} />}
    </Page>
  );
}
