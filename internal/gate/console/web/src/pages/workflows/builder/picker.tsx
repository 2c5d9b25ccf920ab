// picker is the tree of known values to choose from, by label and with the type of each.
import { Braces, ChevronRight } from 'lucide-react';
import { useRef, useState } from 'react';
import { fold } from '../../../app/fold';
import { t } from '../../../app/text';
import { Panel } from '../../../ui/menu';
import { kindName, type Kind, type Known } from './known';

interface PickerProps { tree: Known[]; pick: (k: Known) => void; wants?: Kind[] | undefined; label?: string; disabled?: boolean }

// Picker is a button that opens the tree. wants are the types that fit: others are still there, after these and paler.
export function Picker({ tree, pick, wants, label = t('Insert a value'), disabled }: PickerProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, set] = useState(false);
  const [q, setQ] = useState('');
  const close = () => { set(false); setQ(''); };
  const chosen = (k: Known) => { button.current?.focus(); close(); pick(k); };
  const found = q.trim() ? matching(tree, fold(q.trim())) : tree;
  return (
    <>
      <button ref={button} type="button" className="plain small" disabled={disabled} aria-haspopup="dialog" aria-expanded={open} onClick={() => { set(!open); }}><Braces size={14} aria-hidden /> {label}</button>
      {open && button.current && (
        <Panel label={label} at={button.current} close={close}>
          <input className="find" type="search" aria-label={t('Find a value')} placeholder={t('Find a value')} value={q} onChange={(e) => { setQ(e.target.value); }} />
          {found.length === 0 ? <p className="soft small-text">{t('No value has this name')}</p> : <ul className="value-tree">{found.map((k, i) => <Branch key={k.code + k.label} of={k} pick={chosen} wants={wants} open={q.trim() !== '' || i === 0} all={q.trim() !== ''} />)}</ul>}
        </Panel>
      )}
    </>
  );
}

// matching is the tree with the values alone whose label has the text, or that stand in a group whose label has it.
export function matching(tree: Known[], q: string): Known[] {
  return tree.flatMap((k) => {
    if (fold(k.label).includes(q)) return [k];
    const children = matching(k.children ?? [], q);
    return children.length > 0 ? [{ ...k, code: '', children }] : [];
  });
}

function Branch({ of, pick, wants, open, all }: { of: Known; pick: (k: Known) => void; wants: Kind[] | undefined; open: boolean; all: boolean }) {
  const fits = !wants || of.kind === 'any' || wants.includes(of.kind);
  const leaf = of.code && (
    <button type="button" className={`value${fits ? '' : ' odd'}`} onClick={() => { pick(of); }}><span dir="auto">{of.label}</span><span className="soft">{kindName(of.kind)}</span></button>
  );
  if (!of.children) return <li>{leaf}</li>;
  return (
    <li>
      <details open={open || undefined}>
        <summary><ChevronRight size={13} aria-hidden /> <span dir="auto">{of.label}</span></summary>
        {of.code && <div className="whole">{leaf}</div>}
        <ul>{of.children.map((k) => <Branch key={k.code + k.label} of={k} pick={pick} wants={wants} open={all} all={all} />)}</ul>
      </details>
    </li>
  );
}
