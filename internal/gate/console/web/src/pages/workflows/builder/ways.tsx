// ways are the ways out of a phase: what each is called, and where it leads. Those of a task are its outcomes, which people name.
import { Plus, X } from 'lucide-react';
import { useMemo } from 'react';
import { t } from '../../../app/text';
import { Field } from '../../../ui/field';
import { focusSoon } from '../../../ui/focus';
import { opens } from '../../../parts/blocks';
import { mayLead } from './blocks';
import { allExits, outsOf, type Definition, type Exit, type Phase } from './definition';
import { called, exitName, outcomeOf, wayName } from './kinds';
import { NameField } from './namefield';
import type { Acts } from './use';

interface Props { definition: Definition; phase: Phase; acts: Acts; ask: (at: Exit) => void; readOnly: boolean }

const fresh = '+'; // no id of a phase

// nameAt finds the field with the name of an outcome; the last one where it is none of them.
export const nameAt = (i: number) => () => { const all = globalThis.document.querySelectorAll<HTMLInputElement>('.of-phase .way-row .way-name'); return all[i] ?? all[all.length - 1] ?? null; };

export function Ways({ definition: d, phase: p, acts, ask, readOnly }: Props) {
  const all = allExits(d, p);
  const { free } = outsOf(p);
  const [at, leads] = [all[0], new Set(all.map((e) => e.to))];
  const targets = d.phases.filter((x) => leads.has(x.id) || (at && mayLead(d, at, x.id))).map((x) => [x.id, called(d, x.id)]); // all ways out of a phase may lead to the same ones
  const key = JSON.stringify(targets);
  const options = useMemo(() => (JSON.parse(key) as [string, string][]).map(([id, name]) => <option key={id} value={id}>{name}</option>), [key]); // once for all of them
  if (p.type === 'END' || opens(p)) return null;
  const add = () => {
    const c = outcomeOf(d, p);
    if (c && acts.run(c, t('The outcome “{way}” was added.', { way: c.at.name }))) focusSoon(() => { const field = nameAt(all.length)(); field?.select(); return field; });
  };
  const remove = (exit: Exit) => { acts.run({ do: 'disconnect', at: exit }, t('The outcome “{way}” was removed.', { way: wayName(exit.name) })); focusSoon(nameAt(all.findIndex((x) => x.name === exit.name))); };
  const rename = (exit: Exit, name: string) => (acts.run({ do: 'call', at: exit, name }, t('The outcome is called “{way}” now.', { way: name })) ? '' : t('Another outcome has this name.'));
  return (
    <fieldset className="ways stack">
      <legend>{t('Outcomes')}</legend>
      {free && <p className="hint">{t('The person who completes the task chooses one of these outcomes.')}</p>}
      {all.map((exit, i) => (
        <div key={i} className="way-row">
          {free && exit.to !== undefined && <NameField label={t('Outcome')} value={exit.name === 'next' ? t('Done') : exit.name} take={(name) => rename(exit, name)} input={{ className: 'way-name', dir: 'auto', maxLength: 100 }} />}
          <Field label={free ? t('Leads to') : t('“{way}” leads to', { way: exitName(p, exit.name) })}>
            <select value={exit.to ?? ''} onChange={(e) => { if (e.target.value === fresh) ask({ from: exit.from, name: exit.name }); else acts.run({ do: 'connect', at: { from: exit.from, name: exit.name }, to: e.target.value }, t('“{way}” leads to “{phase}” now.', { way: exitName(p, exit.name), phase: called(d, e.target.value) })); }}>
              {exit.to === undefined && <option value="">{t('nowhere yet')}</option>}
              {options}
              <option value={fresh}>{t('New phase…')}</option>
            </select>
          </Field>
          {free && all.length > 1 && !readOnly && <button type="button" className="icon" aria-label={t('Remove the outcome {way}', { way: wayName(exit.name) })} onClick={() => { remove(exit); }}><X size={14} aria-hidden /></button>}
        </div>
      ))}
      {free && !readOnly && <div><button type="button" className="plain small" onClick={add}><Plus size={14} aria-hidden /> {t('Add outcome')}</button></div>}
    </fieldset>
  );
}
