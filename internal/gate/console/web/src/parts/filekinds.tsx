// filekinds is what a question for files takes: which kinds, and how many.
import { numberOf } from '../app/digits';
import type { Fault } from '../app/fault';
import { t } from '../app/text';
import { presetOf, presets } from '../ui/accept';
import type { FormField } from '../ui/answer';
import { Field, below, faultAt } from '../ui/field';

interface Props { field: FormField; at: string; change: (f: Partial<FormField>) => void; fault: Fault | null }

export function FileKinds({ field: f, at, change, fault }: Props) {
  const preset = presetOf(f.accept);
  return (
    <>
      <div className="pair">
        <Field label={t('Accepted files')}>
          <select value={preset} onChange={(e) => { change({ accept: e.target.value === 'own' ? [] : presets[e.target.value]?.accept ?? null }); }}>
            {Object.entries(presets).map(([key, p]) => <option key={key} value={key}>{p.says}</option>)}
            <option value="own">{t('Other kinds…')}</option>
          </select>
        </Field>
        <Field label={t('How many')} hint={t('1 to 20.')} fault={faultAt(fault, `${at}.maxFiles`)}>
          <input type="number" min={1} max={20} step={1} value={f.maxFiles?.toString() ?? '1'} onChange={(e) => { change({ maxFiles: numberOf(e.target.value) ?? null }); }} />
        </Field>
      </div>
      {preset === 'own' && (
        <Field label={t('Endings or media types')} hint={t('One per line, such as .dwg, image/* or application/pdf.')} fault={faultAt(fault, ...below(fault, `${at}.accept`))}>
          <textarea rows={3} className="mono" spellCheck={false} value={(f.accept ?? []).join('\n')} onChange={(e) => { change({ accept: e.target.value.split('\n') }); }} onBlur={() => { change({ accept: (f.accept ?? []).map((x) => x.trim()).filter(Boolean) }); }} />
        </Field>
      )}
    </>
  );
}
