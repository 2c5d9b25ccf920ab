// valuefield is one value: a known one, a fixed one, or an expression that somebody writes.
import { X } from 'lucide-react';
import { useId, useRef, useState, type ReactNode } from 'react';
import { t } from '../../../app/text';
import { CelArea } from '../../../parts/celarea';
import { Insert, useWords } from './codefield';
import { ConditionField } from './conditionfield';
import { usePhase } from './context';
import { kindName, kindOf, named, type Kind, type Place } from './known';
import { Picker } from './picker';
import { readValue, writeValue, type Value } from './value';

type Mode = Value['is'] | 'condition';
const modes: Record<Mode, string> = { known: t('Known value'), text: t('Fixed text'), number: t('Number'), boolean: t('Yes or no'), condition: t('Condition'), code: t('Expression') };
const begun: Record<Mode, Value | null> = { condition: null, known: null, text: { is: 'text', text: '' }, number: { is: 'number', text: '0' }, boolean: { is: 'boolean', yes: true }, code: null };

interface Props { label: string; hint?: ReactNode; problem?: string | undefined; value: string; change: (to: string) => void; place?: Place; wants?: Kind[]; only?: Mode[]; bare?: boolean }

// ValueField takes an expression. wants are the types that fit in its place: a known value of another one is marked.
export function ValueField({ label, hint, problem, value, change, place = 'plain', wants, only = ['known', 'text', 'number', 'boolean', 'code'], bare }: Props) {
  const id = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const { values } = usePhase();
  const { tree, labels } = values(place);
  const words = useWords(place);
  const [chosen, choose] = useState<{ mode: Mode; value: string } | null>(null);
  const read = readValue(value, (code) => named(code, labels) !== null);
  const guess = read.is === 'code' && kindOf(value) === 'boolean' ? 'condition' : read.is;
  const mode = chosen?.value === value ? chosen.mode : value === '' ? 'known' : only.includes(guess) ? guess : 'code';
  const take = (to: string, as: Mode) => { choose({ mode: as, value: to }); change(to); };
  const known = labels.get(value);
  const odd = mode === 'known' && known && wants && known.kind !== 'any' && !wants.includes(known.kind) ? t('This is of the type “{type}”, which does not fit here.', { type: kindName(known.kind) }) : undefined;
  const said = problem ?? odd;
  const aria = { id: `${id}c`, 'aria-invalid': said ? true : undefined, 'aria-describedby': [hint ? `${id}h` : '', said ? `${id}f` : ''].filter(Boolean).join(' ') || undefined };
  return (
    <div className={`field${said ? ' faulty' : ''}`}>
      <div className={bare ? 'hidden' : 'label-row'}><label htmlFor={`${id}c`}>{label}</label></div>
      <div className="value-line">
        <select
          aria-label={t('Kind of “{label}”', { label })} value={mode}
          onChange={(e) => { const to = e.target.value as Mode; const v = begun[to]; take(v ? writeValue(v) : to === 'code' || (to === 'condition' && kindOf(value) === 'boolean') ? value : '', to); }}
        >
          {only.map((m) => <option key={m} value={m}>{modes[m]}</option>)}
        </select>
        {control()}
      </div>
      {hint && <p className="hint" id={`${id}h`}>{hint}</p>}
      {said && <p className="fault" id={`${id}f`}>{said}</p>}
    </div>
  );

  function control() {
    switch (mode) {
      case 'known':
        return (
          <span className="line">
            {value && <span className="value-chip" title={value}>{named(value, labels) ?? value}<button type="button" aria-label={t('Remove the value of “{label}”', { label })} onClick={() => { take('', 'known'); }}><X size={12} aria-hidden /></button></span>}
            <Picker tree={tree} wants={wants} label={value ? t('Change') : t('Choose a value')} pick={(k) => { take(k.code, 'known'); }} />
          </span>
        );
      case 'text': return <input {...aria} dir="auto" value={read.is === 'text' ? read.text : ''} onChange={(e) => { take(writeValue({ is: 'text', text: e.target.value }), 'text'); }} />;
      case 'number': return <input {...aria} inputMode="decimal" value={value} onChange={(e) => { take(e.target.value.replace(',', '.').trim(), 'number'); }} />;
      case 'boolean': return <select {...aria} value={value} onChange={(e) => { take(e.target.value, 'boolean'); }}><option value="true">{t('Yes')}</option><option value="false">{t('No')}</option></select>;
      case 'condition': return <div className="grow"><ConditionField scope={'DATA'} label={t('Yes if')} value={value} onChange={(to) => { take(to, 'condition'); }} /></div>;
      default:
        return (
          <span className="grow">
            <CelArea {...aria} ref={box} className="mono" rows={2} value={value} change={(to) => { take(to, 'code'); }} words={words} />
            <Insert at={box} change={(to) => { take(to, 'code'); }} place={place} wants={wants} />
          </span>
        );
    }
  }
}
