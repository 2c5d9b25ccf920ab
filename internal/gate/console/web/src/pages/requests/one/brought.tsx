// brought is what the steps of a workflow have left behind: what one who does the next one has to know.
import { t } from '../../../app/text';
import { AnswerFiles } from '../../../parts/fileanswer';
import { filesOf, written, type FormField } from '../../../ui/answer';
import { holds } from '../../../parts/blocks';
import { phaseName, words } from '../../../ui/bits';
import type { FullRequest } from '../detail';

const said = (v: unknown) => v !== null && v !== undefined && v !== '' && !(typeof v === 'object' && Object.keys(v).length === 0); // an empty list or object says nothing

const valueOf = (v: unknown) => (filesOf(v).length > 0 ? <AnswerFiles ids={filesOf(v)} /> : typeof v === 'boolean' ? (v ? t('Yes') : t('No')) : written(v));

// Given are values by the labels of the form that asked for them.
export function Given({ values, form, under }: { values: unknown; form?: unknown; under?: string }) {
  const fields = (form as { fields?: FormField[] } | null | undefined)?.fields ?? [];
  const list = Object.entries((values ?? {}) as Record<string, unknown>).filter(([, v]) => said(v));
  if (list.length === 0) return null;
  return (
    <dl className="given">
      {list.map(([k, v]) => <div key={k} className="contents"><dt dir="auto">{under && <span>{under}: </span>}{fields.find((f) => f.key === k)?.label || words(k)}</dt><dd dir="auto">{valueOf(v)}</dd></div>)}
    </dl>
  );
}

const checks = ['valid', 'errors']; // whether what was checked holds: if not, a task says so

// Brought shows what the last visit of each finished phase left behind, in each branch that it stands in. Blocks themselves only gather that.
export function Brought({ request: r }: { request: FullRequest }) {
  const e = r.execution;
  const done = (e?.phases ?? []).filter((p) => p.status === 'COMPLETED' && !holds(p));
  const last = new Map(done.map((p) => [`${p.phaseId} ${p.branch ?? ''}`, p]));
  const list = [...last].map(([key, p]) => [key, p, (p.output ?? {}) as Record<string, unknown>] as const).map(([key, p, out]) => [key, p, Object.fromEntries(Object.entries(out).filter(([k, v]) => said(v) && !checks.includes(k)))] as const).filter(([, , out]) => Object.keys(out).length > 0);
  if (!e || list.length === 0) return null;
  return (
    <details className="brought" open={list.length <= 3}>
      <summary>{t('From earlier steps')}</summary>
      {list.map(([key, p, out]) => <Given key={key} values={out} under={[p.branch, phaseName(e, p.phaseId)].filter(Boolean).join(' · ')} />)}
    </details>
  );
}
