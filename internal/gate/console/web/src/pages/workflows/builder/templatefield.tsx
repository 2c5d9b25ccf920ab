// templatefield is a text with values in it. Each value is a chip with its label; behind it stands the expression.
import { useEffect, useId, useLayoutEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { t } from '../../../app/text';
import { CelArea } from '../../../parts/celarea';
import { useWords } from './codefield';
import { usePhase } from './context';
import { named, type Known, type Place } from './known';
import { Picker } from './picker';
import { join, split, type Piece } from './template';

interface Props { label: string; hint?: ReactNode; problem?: string | undefined; optional?: boolean; value: string; change: (to: string) => void; place?: Place; lines?: boolean; bare?: boolean; placeholder?: string }

// TemplateField takes a template. bare leaves out its label, for rows that have headings.
export function TemplateField({ label, hint, problem, optional, value, change, place = 'plain', lines = false, bare = false, placeholder }: Props) {
  const id = useId();
  const { readOnly, values } = usePhase();
  const { tree, labels } = values(place);
  const words = useWords(place);
  const [raw, setRaw] = useState(false);
  const editor = useRef<HTMLDivElement>(null);
  const insert = useRef<(code: string) => void>(() => undefined);
  const typed = useRef<string | null>(null); // here: an expression in it may not be whole yet
  const broken = split(value) === null && typed.current !== value;
  const described = [hint ? `${id}h` : '', problem ? `${id}f` : ''].filter(Boolean).join(' ');
  const aria = { 'aria-invalid': problem ? true : undefined, 'aria-describedby': described || undefined };
  const pick = (k: Known) => { if (raw || broken) change(`${value}\${${k.code}}`); else insert.current(k.code); };
  return (
    <div className={`field${problem ? ' faulty' : ''}`}>
      <div className={bare ? 'hidden' : 'label-row'}><span className="template-label" id={`${id}l`} onClick={() => { editor.current?.focus(); }}>{label}</span>{optional && <span className="soft small-text" aria-hidden>{t('Optional')}</span>}</div>
      {raw || broken
        ? <CelArea className="mono" rows={lines ? 4 : 2} aria-labelledby={`${id}l`} {...aria} value={value} change={(to) => { change(lines ? to : to.replaceAll('\n', ' ')); }} words={words} template />
        : <Editor at={editor} insert={insert} value={value} change={(to) => { typed.current = to; change(to); }} torn={() => { setRaw(true); }} labels={labels} lines={lines} readOnly={readOnly} placeholder={placeholder} aria={{ ...aria, 'aria-labelledby': `${id}l` }} />}
      {!readOnly && (
        <div className="line template-verbs">
          <Picker tree={tree} pick={pick} />
          <button type="button" className="quiet small" aria-pressed={raw} onClick={() => { setRaw(!raw); }}>{t('As text')}</button>
        </div>
      )}
      {hint && <p className="hint" id={`${id}h`}>{hint}</p>}
      {problem && <p className="fault" id={`${id}f`}>{problem}</p>}
    </div>
  );
}

// editable is how a browser edits plain text; older ones know no better than rich text, which is read back as plain.
const editable = (() => {
  const box = globalThis.document.createElement('div');
  try { box.contentEditable = 'plaintext-only'; } catch { /* unknown */ }
  return box.contentEditable === 'plaintext-only' ? 'plaintext-only' : true;
})();

const edge = '\u200b'; // stands beside a chip, so that the caret has a place there

interface EditorProps {
  at: RefObject<HTMLDivElement | null>; insert: RefObject<(code: string) => void>; value: string; change: (to: string) => void; torn: () => void; labels: Map<string, Known>; lines: boolean; readOnly: boolean; placeholder: string | undefined;
  aria: Record<string, string | boolean | undefined>;
}

// Editor keeps its own elements: the browser edits them, and React draws them anew only for a value that was not written here.
function Editor({ at, insert, value, change, torn, labels, lines, readOnly, placeholder, aria }: EditorProps) {
  const written = useRef<string | null>(null);
  const caret = useRef<Range | null>(null);
  useLayoutEffect(() => {
    if (at.current && written.current !== value) at.current.replaceChildren(...nodesOf(split(value) ?? [], labels));
    written.current = value;
  }, [at, value, labels]);
  useEffect(() => { at.current?.querySelectorAll<HTMLElement>('[data-code]').forEach((chip) => { dress(chip, labels); }); }, [at, labels]);
  const write = () => {
    const to = join(piecesOf(at.current));
    if (to === written.current) return;
    written.current = to;
    change(to);
  };
  insert.current = (code) => {
    const box = at.current;
    if (!box) return;
    box.focus();
    const chip = nodeOf({ code }, labels);
    const after = globalThis.document.createTextNode(edge);
    if (caret.current && box.contains(caret.current.startContainer)) {
      caret.current.deleteContents();
      caret.current.insertNode(after);
      caret.current.insertNode(chip);
    } else {
      box.append(chip, after);
    }
    globalThis.getSelection()?.collapse(after, after.length);
    write();
  };
  const remember = () => {
    const s = globalThis.getSelection();
    if (s && s.rangeCount > 0 && at.current?.contains(s.anchorNode)) caret.current = s.getRangeAt(0).cloneRange();
  };
  // What was typed as ${…} becomes a chip once the field is left; what never ends is mended as text.
  const settle = () => {
    const box = at.current;
    const pieces = split(written.current ?? '');
    if (!pieces) torn();
    if (box && pieces && pieces.filter((p) => 'code' in p).length !== box.querySelectorAll('[data-code]').length) box.replaceChildren(...nodesOf(pieces, labels));
  };
  return (
    <div
      ref={at} className={`template-box${lines ? ' lines' : ''}`} role="textbox" tabIndex={0} dir="auto" suppressContentEditableWarning contentEditable={readOnly ? false : editable}
      aria-multiline={lines} aria-readonly={readOnly || undefined} {...aria} data-placeholder={value === '' ? placeholder : undefined}
      onInput={write} onSelect={remember} onKeyUp={remember} onMouseUp={remember} onBlur={settle}
      onKeyDown={(e) => { if (e.key === 'Enter' && !lines) e.preventDefault(); }} // not said
      onPaste={(e) => { e.preventDefault(); const pasted = e.clipboardData.getData('text/plain'); globalThis.document.execCommand('insertText', false, lines ? pasted : pasted.replace(/\s*\n\s*/g, ' ')); }}
    />
  );
}

// nodesOf are the elements of a template, with a place for the caret ahead of the first and behind the last chip.
function nodesOf(pieces: Piece[], labels: Map<string, Known>): Node[] {
  const ends = (p: Piece | undefined) => (p && 'code' in p ? [globalThis.document.createTextNode(edge)] : []);
  return [...ends(pieces[0]), ...pieces.map((p) => nodeOf(p, labels)), ...ends(pieces.at(-1))];
}

function nodeOf(p: Piece, labels: Map<string, Known>): Node {
  if (!('code' in p)) return globalThis.document.createTextNode(p.text);
  const chip = globalThis.document.createElement('span');
  chip.dataset['code'] = p.code;
  chip.contentEditable = 'false';
  dress(chip, labels);
  return chip;
}

// dress says what a chip stands for. An expression that is no known value is shown as it is.
function dress(chip: HTMLElement, labels: Map<string, Known>) {
  const code = chip.dataset['code'] ?? '';
  const known = named(code.trim(), labels);
  chip.className = 'value-chip';
  chip.classList.toggle('mono', !known);
  chip.title = code;
  chip.textContent = known ?? code;
}

// piecesOf reads the elements back.
function piecesOf(box: Node | null): Piece[] {
  return [...(box?.childNodes ?? [])].flatMap((n): Piece[] => {
    if (n instanceof HTMLElement && n.dataset['code'] !== undefined) return [{ code: n.dataset['code'] }];
    if (n instanceof HTMLElement && n.tagName === 'BR') return n.nextSibling ? [{ text: '\n' }] : []; // not said
    if (n instanceof HTMLElement) return n.tagName === 'DIV' ? [{ text: '\n' }, ...piecesOf(n)] : piecesOf(n); // not said
    const text = (n.textContent ?? '').replaceAll(edge, '');
    return text ? [{ text }] : [];
  });
}
