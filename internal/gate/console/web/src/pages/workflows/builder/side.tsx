// side is the selected phase: its form and its ways out, beside the outline or, where there is no room, as a sheet above it.
import { Copy, Trash2, X } from 'lucide-react';
import { t } from '../../../app/text';
import { phaseType } from '../../../ui/bits';
import { Dialog } from '../../../ui/dialog';
import { toast } from '../../../ui/toast';
import { blockOf, type Exit, type Phase } from './definition';
import { branchIn } from './kinds';
import { titled } from './known';
import { PhaseForm } from './phase';
import type { Found } from './problems';
import type { Builder } from './use';
import { Ways } from './ways';

// Props are those of a phase; coming is whether its form is yet to be drawn.
interface Props { builder: Builder; ask: (at: Exit) => void; phase: Phase; coming: boolean; problems: Found[]; readOnly: boolean; close: () => void }

export function Side({ close, ...props }: Props) {
  return (
    <section className="card builder-side of-phase" aria-label={t('Selected phase')}>
      <header>
        <div className="grow"><h2 dir="auto">{titled(props.phase)}</h2><span className="soft small-text">{phaseType(props.phase.type)}</span></div>
        <Verbs {...props} close={close} />
        <button type="button" className="icon" aria-label={t('Close')} onClick={close}><X size={16} aria-hidden /></button>
      </header>
      <Content {...props} />
    </section>
  );
}

export function Sheet({ close, ...props }: Props) {
  return (
    <Dialog title={titled(props.phase)} side close={close}>
      <div className="stack of-phase">
        <p className="line"><span className="soft grow">{phaseType(props.phase.type)}</span><Verbs {...props} close={close} /></p>
        <Content {...props} />
        <footer><button type="button" className="plain" onClick={close}>{t('Back to the phases')}</button></footer>
      </div>
    </Dialog>
  );
}

function Verbs({ builder: { acts, definition }, phase: p, readOnly, close }: Props) {
  if (readOnly) return null;
  const copy = () => { void navigator.clipboard.writeText(acts.copy(p.id)).then(() => { toast({ text: t('“{name}” was copied.', { name: titled(p) }) }); }, () => undefined); };
  return (
    <>
      <button type="button" className="icon" aria-label={t('Copy the phase')} title={t('Copy the phase')} onClick={copy}><Copy size={15} aria-hidden /></button>
      {p.type !== 'START' && !(p.type === 'JOIN' && blockOf(definition, p.id)) && <button type="button" className="icon" aria-label={t('Remove the phase')} title={t('Remove the phase')} onClick={() => { close(); acts.remove(p.id); }}><Trash2 size={15} aria-hidden /></button>}
    </>
  );
}

function Content({ builder: { acts, definition, renamed }, ask, phase: p, coming, problems, readOnly }: Omit<Props, 'close'>) {
  if (coming) return null;
  const own = problems.filter((x) => x.path !== '').map(({ path, message }) => ({ path, message }));
  return (
    <PhaseForm
      definition={definition} id={p.id} problems={own} readOnly={readOnly} change={(phase) => { acts.run({ do: 'set', phase: phase as Phase }); }} rename={(to) => acts.rename(p.id, to)} renamed={renamed}
      does={{ lead: (from, to) => { acts.run({ do: 'connect', at: from, to }); }, branch: () => { const c = branchIn(definition, p); if (c) acts.run(c, t('The branch “{name}” was added.', { name: c.name })); } }} // the form stays where it is
      ways={<Ways definition={definition} phase={p} acts={acts} ask={ask} readOnly={readOnly} />}
    />
  );
}
