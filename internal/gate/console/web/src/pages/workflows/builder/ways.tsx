// ways are the ways out of a phase: what each is called, and where it leads.
import { X } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { allExits, outsOf, wayAt, type Phase } from './definition';
import { called, wayName } from './kinds';
import type { Builder } from './use';

export function Ways({ builder: b, phase: p }: { builder: Builder; phase: Phase }) {
  const all = allExits(b.definition, p);
  const { free } = outsOf(p);
  const targets = b.definition.phases.filter((x) => x.type !== 'START');
  const first = targets.find((x) => x.type === 'END') ?? targets[0];
  const fresh = () => { for (let n = all.length + 1; ; n++) { const name = t('Outcome {n}', { n }); if (!wayAt(b.definition, { from: p.id, name })) return name; } };
  if (p.type === 'END') return null;
  return (
    <fieldset className="ways stack">
      <legend>{t('Ways out')}</legend>
      {all.map((exit) => (
        <div key={exit.name} className="way-row">
          {free && <Name key={exit.name} name={exit.name} change={(name) => b.run({ do: 'call', at: exit, name })} />}
          <Field label={free ? t('Leads to') : t('“{way}” leads to', { way: wayName(exit.name) })}>
            <select value={exit.to ?? ''} onChange={(e) => { b.run({ do: 'connect', at: { from: exit.from, name: exit.name }, to: e.target.value }); }}>
              {exit.to === undefined && <option value="">{t('nowhere yet')}</option>}
              {targets.map((x) => <option key={x.id} value={x.id}>{called(b.definition, x.id)}</option>)}
            </select>
          </Field>
          {free && all.length > 1 && <button type="button" className="icon" aria-label={t('Remove the outcome {way}', { way: wayName(exit.name) })} onClick={() => { b.run({ do: 'disconnect', at: exit }); }}><X size={14} aria-hidden /></button>}
        </div>
      ))}
      {free && first && <div><button type="button" className="plain small" onClick={() => { b.run({ do: 'connect', at: { from: p.id, name: fresh() }, to: first.id }); }}>{t('Add outcome')}</button></div>}
    </fieldset>
  );
}

// Name counts once it is left: every letter of it would be another way.
function Name({ name, change }: { name: string; change: (to: string) => boolean }) {
  const [text, set] = useState(name === 'next' ? t('Done') : name);
  const take = () => { if (text.trim() !== '' && text !== (name === 'next' ? t('Done') : name) && !change(text.trim())) set(name); };
  return <Field label={t('Outcome')}><input dir="auto" maxLength={100} value={text} onChange={(e) => { set(e.target.value); }} onBlur={take} /></Field>;
}
