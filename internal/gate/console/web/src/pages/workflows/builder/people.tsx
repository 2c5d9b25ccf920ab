// people are who takes part in a phase or decides in it, chosen by name.
import { ArrowDown, ArrowUp, Bot, User, UserSearch, Users, X } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { useRead } from '../../../app/data';
import { t } from '../../../app/text';
import { NameOf } from '../../../gen/documents';
import { moved, replaced, without } from '../../../ui/lists';
import { useAsked, usePhase, type Sort } from './context';
import { asks, decides, freeRules, isRule, questionsOf, ruleSaid, rules, taskQuestions, type Rule } from './rules';
import { below, merged, text, type Json } from './shape';

const icons = { user: User, team: Users, agent: Bot };
const headings: Record<Sort, string> = { user: t('People'), team: t('Teams'), agent: t('AI agents') };
const unknown: Record<Sort, string> = { user: t('Unknown person'), team: t('Unknown team'), agent: t('Unknown AI agent') };

interface PickedProps { label: string; hint?: ReactNode; none: string; all: Json[]; paths: string[]; sorts: Sort[]; rules: Rule[]; change: (to: Json[]) => void; make: (who: Json) => Json; ordered?: boolean; problem?: string | undefined }

// Picked is a list of people, teams and agents, and of rules that find them. paths are where each stands in the phase, for what is said of it.
export function Picked({ label, hint, none, all, paths, sorts, rules, change, make, ordered, problem }: PickedProps) {
  const id = useId();
  const { workflow, definition, id: here, people: choices, problems, readOnly, values } = usePhase();
  const questions = [...questionsOf(useAsked(workflow).flatMap((a) => a.fields)), ...taskQuestions(definition, values('plain').labels).filter((q) => q.phase !== here)];
  const said = [problem, ...paths.map((p) => below(problems, p))].filter(Boolean).join(' ') || undefined;
  const free = sorts.map((sort) => ({ sort, list: choices[sort].filter((c) => !all.some((p) => p['type'] === sort && p['id'] === c.id)) })).filter((g) => g.list.length > 0);
  const found = freeRules(rules, questions).filter((r) => !all.some((p) => p['type'] === r['type'] && text(p['answer']) === text(r['answer']) && text(p['phaseId']) === text(r['phaseId'])));
  const nameOf = (p: Json) => ruleSaid(p, questions) || choices[sortOf(p)].find((c) => c.id === p['id'])?.name;
  return (
    <div className={`field${said ? ' faulty' : ''}`} role="group" aria-labelledby={`${id}l`}>
      <div className="label-row"><span className="template-label" id={`${id}l`}>{label}</span></div>
      {all.length > 0 && (
        <ol className="picked">
          {all.map((p, i) => {
            const [sort, name, byRule] = [sortOf(p), nameOf(p), isRule(p['type'])];
            const Icon = byRule ? UserSearch : icons[sort];
            return (
              <li key={`${text(p['type'])} ${text(p['id'])} ${i}`} className={below(problems, paths[i] ?? '') ? 'faulty' : undefined}>
                {ordered && <span className="soft">{i + 1}.</span>}<Icon size={14} aria-label={byRule ? t('From the request') : headings[sort]} />
                {p['type'] === 'answer' && !text(p['phaseId']) && !questions.some((q) => asks(q, p))
                  ? <label className="grow line">{t('Person in the answer')} <input className="mono grow" spellCheck={false} autoCapitalize="off" maxLength={64} placeholder={'manager'} disabled={readOnly} value={text(p['answer'])} onChange={(e) => { change(replaced(all, i, { ...p, answer: e.target.value.trim() })); }} /></label>
                  : <span className="grow" dir="auto">{name ?? <Named id={text(p['id'])} none={unknown[sort]} />}</span>}
                {!readOnly && ordered && <button type="button" className="icon" aria-label={t('Move row {n} up', { n: i + 1 })} disabled={i === 0} onClick={() => { change(moved(all, i, -1)); }}><ArrowUp size={14} aria-hidden /></button>}
                {!readOnly && ordered && <button type="button" className="icon" aria-label={t('Move row {n} down', { n: i + 1 })} disabled={i === all.length - 1} onClick={() => { change(moved(all, i, 1)); }}><ArrowDown size={14} aria-hidden /></button>}
                {!readOnly && <button type="button" className="icon" aria-label={t('Remove {name}', { name: name ?? unknown[sort] })} onClick={() => { change(without(all, i)); }}><X size={14} aria-hidden /></button>}
              </li>
            );
          })}
        </ol>
      )}
      {all.some((p) => p['type'] === 'answer' && !text(p['phaseId']) && !questions.some((q) => asks(q, p))) && <p className="hint">{t('The key of a question in the offering’s form whose answer is a person or an e-mail address.')}</p>}
      {all.length === 0 && readOnly && <p className="soft">{t('Nobody')}</p>}
      {!readOnly && (
        <select
          aria-label={t('Add to “{label}”', { label })} aria-invalid={said ? true : undefined} aria-describedby={[hint ? `${id}h` : '', said ? `${id}f` : ''].filter(Boolean).join(' ') || undefined} value=""
          onChange={(e) => { const [type, ...rest] = e.target.value.split(' '); change([...all, make(whoOf(text(type), text(rest[0]), text(rest[1])))]); }}
        >
          <option value="" disabled>{all.length > 0 ? t('Add somebody…') : none}</option>
          {found.length > 0 && <optgroup label={t('From the request')}>{found.map((r) => <option key={codeOf(r)} value={codeOf(r)}>{r['answer'] === '' ? t('Person in an answer…') : ruleSaid(r, questions)}</option>)}</optgroup>}
          {free.map(({ sort, list }) => <optgroup key={sort} label={headings[sort]}>{list.map((c) => <option key={c.id} value={`${sort} ${c.id}`}>{c.name}</option>)}</optgroup>)}
        </select>
      )}
      {hint && <p className="hint" id={`${id}h`}>{hint}</p>}
      {said && <p className="fault" id={`${id}f`}>{said}</p>}
    </div>
  );
}

const sortOf = (p: Json): Sort => (Object.hasOwn(icons, text(p['type'])) ? p['type'] : 'user') as Sort;

// whoOf is the entry of somebody who was chosen: by a rule, or by id.
const whoOf = (type: string, of: string, phaseId: string): Json => (type === 'answer' ? { type, answer: of, ...(phaseId ? { phaseId } : {}) } : isRule(type) ? { type } : { type, id: of });
const codeOf = (rule: Json): string => [rule['type'], rule['answer'], rule['phaseId']].map(text).join(' ').trim();

// Named is somebody who cannot be chosen any more, as a person who has left.
function Named({ id, none }: { id: string; none: string }) {
  const found = useRead(NameOf, { id }, id === '').data?.node;
  return <>{found && 'name' in found ? found.name : none}</>;
}

interface Role { role: string; label: string; hint: string; none: string; sorts: Sort[]; rules: Rule[] }

// rolesOf are the roles that have an effect in a phase. works is whether somebody has a task in it.
function rolesOf(works: boolean, signed: boolean): Role[] {
  return [
    ...(works ? [{ role: 'responsible', label: t('Responsible'), hint: t('Gets the task: the first of them who is available.'), none: t('Nobody yet: choose somebody…'), sorts: ['user', 'team', 'agent'] as Sort[], rules }] : []),
    { role: 'accountable', label: t('Accountable'), hint: signed ? t('Signs off the outcome and is notified of missed service levels.') : t('Is notified of missed service levels and workflow errors.'), none: t('Nobody: add somebody…'), sorts: ['user', 'team'], rules: decides },
    { role: 'consulted', label: t('Consulted'), hint: t('Is asked for advice; the workflow does not wait for it.'), none: t('Nobody: add somebody…'), sorts: works ? ['user', 'team', 'agent'] : ['user', 'team'], rules },
    { role: 'informed', label: t('Informed'), hint: t('Is notified when the phase is done.'), none: t('Nobody: add somebody…'), sorts: ['user', 'team'], rules },
  ];
}

interface ParticipantsProps { all: Json[]; change: (to: Json[]) => void; works: boolean; signed: boolean; only?: 'responsible' | 'others' }

// Participants are those of one phase by their roles. Each stands at its own place in the definition's one list.
export function Participants({ all, change, works, signed, only }: ParticipantsProps) {
  const shown = rolesOf(works, signed);
  const gone = all.some((p) => p['role'] === 'responsible') && !works ? [{ role: 'responsible', label: t('Responsible'), hint: t('Only a task has somebody responsible: remove them.'), none: '', sorts: [] as Sort[], rules: [] as Rule[] }] : [];
  return (
    <>
      {[...gone, ...shown].filter((r) => !only || (r.role === 'responsible') === (only === 'responsible')).map((r) => {
        const places = all.flatMap((p, i) => (p['role'] === r.role ? [i] : []));
        const put = (list: Json[]) => { change(merged(all, r.role, list)); };
        return (
          <Picked
            key={r.role} label={r.label} hint={r.hint} none={r.none} sorts={r.sorts} rules={r.rules} ordered={r.role === 'responsible' && places.length > 1}
            all={places.map((i) => all[i] ?? {})} paths={places.map((i) => `participants[${i}]`)} change={put} make={(who) => ({ role: r.role, ...who })}
          />
        );
      })}
    </>
  );
}
