// codefield is an expression, or JSON with expressions in it, as text. A value that is picked comes where the caret is.
import { useRef, type ReactNode } from 'react';
import { CelArea } from '../../../parts/celarea';
import type { Word } from '../../../parts/celwords';
import { Field } from '../../../ui/field';
import { usePhase } from './context';
import type { Kind, Place } from './known';
import { Picker } from './picker';

interface Props { label: string; hint?: ReactNode; problem?: string | undefined; value: string; change: (to: string) => void; place?: Place; wants?: Kind[] | undefined; rows?: number; wrap?: (code: string) => string }

export function CodeField({ label, hint, problem, value, change, place = 'plain', wants, rows = 2, wrap = (code) => code }: Props) {
  const box = useRef<HTMLTextAreaElement>(null);
  const words = useWords(place);
  return (
    <div className="code-field">
      <Field label={label} hint={hint} fault={problem}><CelArea ref={box} className="mono" rows={rows} value={value} change={change} words={words} template={wrap('') !== ''} /></Field>
      <Insert at={box} change={change} place={place} wants={wants} wrap={wrap} />
    </div>
  );
}

// useWords are the values that can be written at a place.
export function useWords(place: Place): () => Word[] {
  const { values } = usePhase();
  return () => [...values(place).labels].map(([code, k]) => ({ code, label: k.label }));
}

interface InsertProps { at: { current: HTMLTextAreaElement | null }; change: (to: string) => void; place: Place; wants?: Kind[] | undefined; wrap?: (code: string) => string }

// Insert is the button that puts a value into a field.
export function Insert({ at, change, place, wants, wrap = (code) => code }: InsertProps) {
  const { readOnly, values } = usePhase();
  if (readOnly) return null;
  const pick = (code: string) => {
    const box = at.current;
    if (!box) return;
    box.focus();
    box.setRangeText(wrap(code), box.selectionStart, box.selectionEnd, 'end');
    change(box.value);
  };
  return <div className="template-verbs"><Picker tree={values(place).tree} wants={wants} pick={(k) => { pick(k.code); }} /></div>;
}
