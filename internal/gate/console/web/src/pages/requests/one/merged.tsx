// merged is what was said about the requests that were closed as duplicates of this one, to whoever may read those.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { rows, usePages } from '../../../app/data';
import { placed, t } from '../../../app/text';
import { RequestComments } from '../../../gen/documents';
import { Prose } from '../../../parts/markdown';
import { Loaded } from '../../../ui/page';
import type { FullRequest } from '../detail';
import { Spoken } from './spoken';

const most = 10; // of them; the others are among the links

// Merged is a fold for each of them, read once it is opened.
export function Merged({ request: r }: { request: FullRequest }) {
  const list = (r.links ?? []).flatMap((l) => (l.type === 'duplicates' && l.toId === r.id && l.from?.status === 'CANCELLED' ? [l.from] : []));
  return <>{list.slice(0, most).map((from) => <Fold key={from.id} from={from} />)}</>;
}

function Fold({ from }: { from: { id: string; number: number; title: string } }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="card merged" onToggle={(e) => { setOpen(e.currentTarget.open); }}>
      <summary>{placed(t('Merged: {request}'), { request: <bdi>#{from.number} {from.title}</bdi> })}</summary>
      {open && <Said id={from.id} />}
    </details>
  );
}

function Said({ id }: { id: string }) {
  const read = usePages(RequestComments, { id });
  return (
    <Loaded read={read} skeleton={2}>
      {({ request: from }) => {
        if (!from) return <p className="soft">{t('This request was not found')}</p>;
        const page = from.comments?.pageInfo;
        return (
          <>
            <p><Link to="/app/requests/$id" params={{ id }}>{t('Open this request')}</Link></p>
            {from.description && <Prose content={from.content}>{from.description}</Prose>}
            {page?.hasNextPage && <p><button type="button" className="quiet small" onClick={() => { read.next(page.endCursor ?? null); }}>{t('Show earlier comments')}</button></p>}
            <ol className="timeline">{rows(from.comments).toReversed().map((c) => <li key={c.id} className="spoken"><Spoken comment={c} mine={c.authorId === from.requesterId} /></li>)}</ol>
            {rows(from.comments).length === 0 && <p className="soft">{t('Nobody has commented on it.')}</p>}
          </>
        );
      }}
    </Loaded>
  );
}
