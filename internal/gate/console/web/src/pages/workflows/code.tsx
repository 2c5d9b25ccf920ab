// code is a workflow's definition as JSON, with the picture that it gives.
import type { ReactNode } from 'react';
import { parse } from '../../app/digits';
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import { drawable, ofPhase, phaseAt, PhaseList, Picture, placeOf, type Definition } from '../../parts/picture';
import type { Base } from '../../ui/draft';
import { Field, Rest } from '../../ui/field';
import { Section } from '../../ui/page';

export interface Parsed { sent: unknown; definition: Definition; error: string }

// readText reads what somebody writes; what cannot be read shows what was there before.
export function readText(text: string, before: unknown): Parsed {
  try {
    const sent = parse(text);
    return { sent, definition: drawable(sent), error: '' };
  } catch (e) {
    return { sent: null, definition: drawable(before), error: (e as Error).message };
  }
}

interface Props { text: string; change: (text: string) => void; edits: boolean; parsed: Parsed; fault: Fault | null; base: Base | undefined; away: ReactNode; busy: boolean; store: () => void }

export function Code({ text, change, edits, parsed, fault, base, away, busy, store }: Props) {
  const faults = new Map<string, string[]>();
  for (const d of fault?.details ?? []) {
    const phase = phaseAt(parsed.sent, d.field);
    if (parsed.definition.phases?.some((p) => p.id === phase)) faults.set(phase, [...(faults.get(phase) ?? []), ofPhase(d)]);
  }
  const listed = fault && fault.details.length > 0;
  return (
    <>
      <Picture definition={parsed.definition} faulty={new Set(faults.keys())} />
      <Section title={t('Phases')}><PhaseList definition={parsed.definition} faults={faults} /></Section>
      <Section title={t('Draft')}>
        <form className="card stack" onSubmit={(e) => { e.preventDefault(); store(); }}>
          <Field label={t('Definition')} hint={t('Phases and transitions as JSON. The picture is updated as you type.')} fault={parsed.error || (listed ? t('The definition has errors, see the list below.') : undefined)}>
            <textarea className="mono" rows={20} spellCheck={false} readOnly={!edits} value={text} onChange={(e) => { change(e.target.value); }} />
          </Field>
          <Rest base={base} fault={listed ? null : fault} fields={[]} />
          {listed && <ul className="fault" role="alert">{fault.details.map((d) => <li key={d.field + d.message}>{placeOf(parsed.definition, d.field)}: {d.message}</li>)}</ul>}
          {edits && <footer>{away}<button type="submit" disabled={busy || parsed.error !== ''}>{t('Save')}</button></footer>}
        </form>
      </Section>
    </>
  );
}
