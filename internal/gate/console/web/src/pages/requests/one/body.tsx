// body is a request as people read it and work on it: what it is about, what it waits for, and what was said.
import { useAsked } from '../../../app/asked';
import { useTold } from '../../../app/live';
import { useCan, useViewer } from '../../../app/session';
import { t } from '../../../app/text';
import { ExecutionMoved } from '../../../gen/documents';
import { Answers } from '../../../parts/answers';
import { Attached } from '../../../parts/files';
import { Prose } from '../../../parts/markdown';
import { Runs } from '../../../parts/runs';
import { filesOf } from '../../../ui/answer';
import { Section } from '../../../ui/page';
import { open } from '../bulk';
import type { FullRequest } from '../detail';
import { Actions, mayOf } from './actions';
import { Conversation } from './conversation';
import { Edit } from './edit';
import { Facts, useNarrow } from './facts';
import { Heading } from './heading';
import { Duplicate } from './links';
import { Rate } from './rate';
import { Steps } from './steps';
import { Todo } from './todo';

interface Props { request: FullRequest; peek: boolean; again: () => void }

export default function Body({ request: r, peek, again }: Props) {
  const folded = useNarrow() || peek;
  useTold(ExecutionMoved, { id: r.executionId ?? '' }, again, !useCan('execution.read') || !r.executionId || !open(r));
  const main = (
    <div className="request-main">
      <Duplicate request={r} />
      <Rate request={r} />
      <About request={r} />
      <Todo request={r} />
      <Runs requestId={r.id} open={open(r)} />
      {folded && <Steps request={r} />}
      <Section title={t('Conversation')}><Conversation request={r} /></Section>
    </div>
  );
  if (!folded) return <div className="split">{main}<div className="request-side"><Facts request={r} folded={false} peek={false} /><Steps request={r} /></div></div>;
  return (
    <>
      {peek && <header className="peek-head"><Heading request={r} as="h3" /><div className="actions"><Actions request={r} peek /></div></header>}
      <Facts request={r} folded peek={peek} />
      {main}
    </>
  );
}

// About is what somebody asks for: in their own words, and by the answers to the form.
function About({ request: r }: { request: FullRequest }) {
  const may = mayOf(useViewer(), r).update;
  const [editing, edit] = useAsked('edit', false);
  const answered = Object.keys(r.fields ?? {}).length > 0;
  const named = Object.values((r.fields ?? {}) as Record<string, unknown>).flatMap(filesOf); // these stand at the answers
  return (
    <div className="about">
      <h2 className="hidden">{t('Description')}</h2>
      {may && <button type="button" className="plain small" onClick={() => { edit(true); }}>{t('Edit')}</button>}
      {r.description ? <div className="description"><Prose content={r.content}>{r.description}</Prose></div> : !answered && <p className="soft">{t('No description.')}</p>}
      <Answers request={r} />
      <Attached files={r.attachments?.filter((f) => !f.commentId && !named.includes(f.id))} />
      {editing && <Edit request={r} close={() => { edit(false); }} />}
    </div>
  );
}
