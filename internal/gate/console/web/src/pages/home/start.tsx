import { Link } from '@tanstack/react-router';
import { Circle, CircleCheck } from 'lucide-react';
import { rows } from '../../app/data';
import { useViewer, type Viewer } from '../../app/session';
import { t } from '../../app/text';
import type { HomeQuery } from '../../gen/types';

// or is another way to do the step.
interface Step { title: string; says: string; to: string; search?: object; done: boolean; or?: { says: string; to: string } }

const some = (c: { totalCount: number } | null | undefined, more = 0) => (c?.totalCount ?? 0) > more;

// stepsOf are what sets a company up. Each is done once what it asks for is there.
const stepsOf = (viewer: Viewer, d: HomeQuery): Step[] => [
  { title: t('Invite people'), says: t('Paste a list of names and addresses, or a CSV file.'), to: '/app/people', search: { invite: 'list' }, done: some(d.users, 1) },
  { title: t('Create a team'), says: t('Requests and tasks can be given to a team.'), to: '/app/people', done: some(d.teams) },
  { title: t('Create a service with an offering'), says: t('It is what people find in the catalogue and ask for.'), to: '/app/services', done: rows(d.services).some((s) => some(s.offerings)), or: { says: t('Start from a pack'), to: '/app/services/packs' } },
  { title: t('Add a mailbox'), says: t('Mail to it becomes requests and comments.'), to: '/app/mailboxes', done: some(d.mailboxes) },
  { title: t('Require a second factor'), says: t('Everybody sets one up at their next sign-in.'), to: '/app/settings', done: viewer.company?.mfaRequired ?? false },
  { title: t('Create an API key'), says: t('Programs use it to submit and read requests.'), to: '/app/keys', done: some(d.apiKeys) },
  { title: t('Add a webhook'), says: t('Tell other systems at once what happens here.'), to: '/app/webhooks', done: some(d.webhookSubscriptions) },
  { title: t('Submit a first request'), says: t('See how it arrives in the inbox and is completed.'), to: '/app/catalogue', done: some(d.filed) },
];

const few = 10; // requests: a company that has more is at work, and needs no list of what to begin with

// started reports whether a company needs the list no more.
export const started = (viewer: Viewer, d: HomeQuery): boolean => some(d.filed, few) || stepsOf(viewer, d).every((s) => s.done);

// Start is the list of what sets a new company up. Its steps tick themselves off, and it goes with the last.
export function Start({ of, hide }: { of: HomeQuery; hide: () => void }) {
  const viewer = useViewer();
  const steps = stepsOf(viewer, of);
  const done = steps.filter((s) => s.done).length;
  const next = steps.find((s) => !s.done);
  return (
    <section className="card start" aria-labelledby="start">
      <header>
        <div><h2 id="start" dir="auto">{t('Set up {name}', { name: viewer.company?.name ?? '' })}</h2><p className="soft">{t('{done} of {total} done', { done, total: steps.length })}</p></div>
        <button type="button" className="quiet small" onClick={hide}>{t('Hide this list')}</button>
      </header>
      <progress max={steps.length} value={done} aria-label={t('{done} of {total} done', { done, total: steps.length })} />
      <ol>
        {steps.map((s) => (
          <li key={s.title} className={`row${s.done ? ' done' : ''}`}>
            <span className="line">
              {s.done ? <CircleCheck size={20} aria-hidden /> : <Circle size={20} aria-hidden />}
              <span><Link className="name" to={s.to as never} search={(s.search ?? {}) as never}>{s.title}</Link>{s.done ? <span className="hidden">{t('Done')}</span> : <span className="soft small-text">{s.says}{s.or && <> <Link to={s.or.to as never}>{s.or.says}</Link></>}</span>}</span>
            </span>
            {s === next && <Link className="button small" tabIndex={-1} aria-hidden to={s.to as never} search={(s.search ?? {}) as never}>{t('verb|Start')}</Link>}
          </li>
        ))}
      </ol>
    </section>
  );
}
