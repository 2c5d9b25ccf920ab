// spoken is one comment of a conversation.
import { Lock, Mail } from 'lucide-react';
import { useViewer } from '../../../app/session';
import { t } from '../../../app/text';
import { Attached } from '../../../parts/files';
import { Mentions, Prose } from '../../../parts/markdown';
import { nameOf } from '../../../parts/who';
import { Time } from '../../../ui/bits';
import type { FullRequest } from '../detail';
import { pieces } from '../links';
import { Own } from './own';

export type Comment = NonNullable<FullRequest['comments']>['edges'][number]['node'];

// Spoken stands in an item of a timeline; `mine` is whether the requester said it.
export function Spoken({ comment: c, mine }: { comment: Comment; mine: boolean }) {
  const name = nameOf(useViewer(), c.authorId, c.author) ?? t('Somebody');
  const internal = c.visibility === 'internal';
  const letters = name.split(/[\s._@-]+/).filter(Boolean).slice(0, 2).map((p) => p[0]?.toUpperCase()).join('');
  return (
    <>
      <span className="avatar" aria-hidden>{letters}</span>
      <article
        className={`card comment${internal ? ' internal' : mine ? ' asker' : ''}`} // not said
      >
        <header><strong dir="auto">{name}</strong>{mine && <span>{t('person|Requester')}</span>}<Time at={c.createdAt} />{c.via === 'mail' && <span className="line"><Mail size={12} aria-hidden /> {t('by mail')}</span>}{internal && <span className="line"><Lock size={12} aria-hidden /> {t('Internal: only staff see it')}</span>}<Own comment={c} /></header>
        <Prose content={c.content}>{c.authorId.startsWith('agt_') ? c.body : <Linked text={c.body} />}</Prose>
        {c.quoted && <details className="quoted"><summary>{t('Show quoted text')}</summary><p className="prose" dir="auto">{c.quoted}</p></details>}
        <Attached files={c.attachments} />
      </article>
    </>
  );
}

// Linked is what a person wrote, with the addresses of web pages as links. What agents write stays text: others may have put it there.
function Linked({ text }: { text: string }) {
  return <>{pieces(text).map((p, i) => (p.href ? <a key={i} href={p.href} target="_blank" rel="noopener noreferrer nofollow">{p.text}</a> : <Mentions key={i} text={p.text} />))}</>;
}
