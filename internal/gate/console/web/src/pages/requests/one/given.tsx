// given is what somebody has answered to a task, by the labels of its form.
import { t } from '../../../app/text';
import { AnswerFiles } from '../../../parts/fileanswer';
import { filesOf, written, type FormField } from '../../../ui/answer';
import { words } from '../../../ui/bits';

const said = (v: unknown) => v !== null && v !== undefined && v !== '' && !(typeof v === 'object' && Object.keys(v).length === 0); // an empty list or object says nothing

const valueOf = (v: unknown) => (filesOf(v).length > 0 ? <AnswerFiles ids={filesOf(v)} /> : typeof v === 'boolean' ? (v ? t('Yes') : t('No')) : written(v));

export function Given({ values, form }: { values: unknown; form?: unknown }) {
  const fields = (form as { fields?: FormField[] } | null | undefined)?.fields ?? [];
  const list = Object.entries((values ?? {}) as Record<string, unknown>).filter(([, v]) => said(v));
  if (list.length === 0) return null;
  return (
    <dl className="given">
      {list.map(([k, v]) => <div key={k} className="contents"><dt dir="auto">{fields.find((f) => f.key === k)?.label || words(k)}</dt><dd dir="auto">{valueOf(v)}</dd></div>)}
    </dl>
  );
}
