// parallel are the forms of the phases that open a block, and of the one that ends it.
import { numberOf } from '../../../app/digits';
import { t } from '../../../app/text';
import { branchesOf } from '../../../parts/blocks';
import { keyOf } from '../../../parts/formkeys';
import { Field } from '../../../ui/field';
import { blockOf, phaseOf, shaped, wayAt, type Phase } from './definition';
import { mayLead, mostBranches } from './blocks';
import type { Does, FormProps } from './common';
import { usePhase } from './context';
import { titled } from './known';
import { NameField } from './namefield';
import { Rows } from './rows';
import { at, put, text, type Json } from './shape';
import { variable } from './value';
import { ValueField } from './valuefield';

export function ParallelForm({ phase, change, does }: FormProps) {
  const { problems, definition } = usePhase();
  const all = branchesOf(phase);
  const name = (id: unknown) => { const d = shaped(definition); const p = d && phaseOf(d, text(id)); return p && id !== phase['end'] ? titled(p) : ''; };
  const set = (to: Json[]) => { if (to.length > all.length) does.branch(); else change(put(phase, 'branches', to)); };
  const call = (i: number, b: Json) => (to: string) => {
    if (all.some((x, n) => n !== i && x['name'] === to)) return t('Another branch has this name.');
    set(all.map((x, n) => (n === i ? put(b, 'name', to) : x)));
    return '';
  };
  return (
    <>
      <Rows<Json>
        label={t('Branches')} hint={t('All begin at once. Removing one removes the phases in it, too.')} all={all} ordered most={mostBranches} least={2} add={t('Add branch')} problem={at(problems, 'branches')}
        change={set} fresh={() => ({})}
        row={(b, _set, i) => (
          <NameField
            label={t('Name of branch {n}', { n: i + 1 })} value={text(b['name'])} take={call(i, b)} problem={at(problems, `branches[${i}].name`, `branches[${i}].start`, `branches[${i}]`)}
            hint={name(b['start']) ? t('Begins with “{phase}”.', { phase: name(b['start']) }) : ''} input={{ dir: 'auto', maxLength: 60 }}
          />
        )}
      />
      <Done phase={phase} change={change} most={all.length} all={t('all branches are done')} any={t('the first branch is done')} some={t('some of the branches are done')} />
      <Fails phase={phase} change={change} does={does} />
    </>
  );
}

export function ForEachForm({ phase, change, does }: FormProps) {
  const { problems } = usePhase();
  const call = (written: string) => {
    const to = variable.test(written) ? written : keyOf(written);
    if (to === 'index') return t('The number of the entry has this name.');
    if (!variable.test(to)) return t('Use letters, digits and _ only, not starting with a digit.');
    change(put(phase, 'as', to));
    return '';
  };
  return (
    <>
      <ValueField label={t('List')} hint={t('What is in the block is done for each of its entries, of which there are 100 at most.')} value={text(phase['in'])} change={(to) => { change(put(phase, 'in', to)); }} wants={['list']} only={['known', 'code']} problem={at(problems, 'in')} />
      <NameField label={t('What one entry is called')} hint={t('The phases of the block know it by this name.')} value={text(phase['as'])} take={call} problem={at(problems, 'as')} input={{ autoCapitalize: 'off', spellCheck: false, maxLength: 60 }} />
      <Field label={t('How many at once')} hint={t('Up to 10; without a number it is 5.')} optional fault={at(problems, 'maxParallel')}>
        <input type="number" min={1} max={10} value={text(phase['maxParallel'])} onChange={(e) => { change(put(phase, 'maxParallel', numberOf(e.target.value))); }} />
      </Field>
      {at(problems, 'start') && <p className="fault" role="alert">{at(problems, 'start')}</p>}
      <Done phase={phase} change={change} most={100} all={t('all entries are done')} any={t('the first entry is done')} some={t('some of the entries are done')} />
      <Fails phase={phase} change={change} does={does} />
    </>
  );
}

interface DoneProps { phase: Json; change: (p: Json) => void; most: number; all: string; any: string; some: string }

// Done says how much must be done before it goes on.
function Done({ phase, change, most, all, any, some }: DoneProps) {
  const { problems } = usePhase();
  const join = phase['join'];
  const mode = join === undefined || join === 'all' ? 'all' : join === 'any' ? 'any' : 'some';
  const turn = (to: string) => { change(put(phase, 'join', to === 'some' ? Math.min(2, most) : to)); };
  return (
    <div className={mode === 'some' ? 'pair' : undefined}>
      <Field label={t('Continues when')} hint={mode === 'all' ? undefined : t('The open work of the others is cancelled then.')} fault={mode === 'some' ? undefined : at(problems, 'join')}>
        <select value={mode} onChange={(e) => { turn(e.target.value); }}><option value="all">{all}</option><option value="any">{any}</option><option value="some">{some}</option></select>
      </Field>
      {mode === 'some' && <Field label={t('How many')} fault={at(problems, 'join')}><input type="number" min={1} max={most} value={text(join)} onChange={(e) => { change(put(phase, 'join', numberOf(e.target.value) ?? '')); }} /></Field>}
    </div>
  );
}

// Fails says what is done when something in the block cannot go on, and where it goes on once it was given up.
function Fails({ phase, change, does }: { phase: Json; change: (p: Json) => void; does: Does }) {
  const { problems, definition } = usePhase();
  const d = shaped(definition);
  const failed = { from: text(phase['end']), name: 'failed' };
  const [given, to] = [phase['onFault'] === 'cancel', d && wayAt(d, failed)?.to];
  const targets = d && given ? d.phases.filter((p) => p.id === to || mayLead(d, failed, p.id)) : [];
  return (
    <>
      <Field label={t('When one of them fails')} fault={at(problems, 'onFault')}>
        <select value={given ? 'cancel' : 'wait'} onChange={(e) => { change(put(phase, 'onFault', e.target.value)); }}>
          <option value="wait">{t('Wait until somebody has looked at it')}</option><option value="cancel">{t('Give the block up')}</option>
        </select>
      </Field>
      {given && (
        <Field label={t('When given up, go to')} hint={t('The open work of the block is cancelled then.')} fault={d && to === undefined ? t('Choose a phase.') : undefined}>
          <select value={to ?? ''} onChange={(e) => { does.lead(failed, e.target.value); }}>
            {to === undefined && <option value="">{t('nowhere yet')}</option>}
            {targets.map((p) => <option key={p.id} value={p.id}>{titled(p)}</option>)}
          </select>
        </Field>
      )}
    </>
  );
}

// JoinForm says what the end of a block waits for.
export function JoinForm({ phase }: FormProps) {
  const d = shaped(usePhase().definition);
  const block = d && blockOf(d, text(phase['id']));
  return block ? <p className="soft">{waitsFor(block)}</p> : null;
}

function waitsFor(block: Phase): string {
  const [name, join] = [titled(block), text(block['join']) || 'all'];
  const entries = block.type === 'FOR_EACH';
  switch (join) {
    case 'all': return entries ? t('The workflow continues here once all entries of “{name}” are done.', { name }) : t('The workflow continues here once all branches of “{name}” are done.', { name });
    case 'any': return entries ? t('The workflow continues here once the first entry of “{name}” is done.', { name }) : t('The workflow continues here once the first branch of “{name}” is done.', { name });
    default: return entries ? t('The workflow continues here once {n} entries of “{name}” are done.', { n: join, name }) : t('The workflow continues here once {n} of {all} branches of “{name}” are done.', { n: join, all: branchesOf(block).length, name });
  }
}
