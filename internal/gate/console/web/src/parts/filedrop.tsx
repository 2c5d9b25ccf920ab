// filedrop takes one file: by a button, or dropped on it.
import { Upload } from 'lucide-react';
import { useRef, useState, type DragEvent, type ReactNode } from 'react';

// Props are those of the place. id is the button's, verb what stands on it, and plain that it is not the page's first one. take takes a
// file and returns what is wrong with it, or ''. children say what is wanted, or what was taken.
interface Props { id?: string; label: string; verb: string; plain?: boolean; accept: string; busy: boolean; take: (file: File) => Promise<string>; children: ReactNode }

export function FileDrop({ id, label, verb, plain, accept, busy, take, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState('');
  const [over, setOver] = useState(false);
  const choose = async (file: File | undefined) => { if (file) setFault(await take(file)); };
  const on = {
    onDragOver: (e: DragEvent) => { if (!busy && e.dataTransfer.types.includes('Files')) { e.preventDefault(); setOver(true); } }, // not said
    onDragLeave: () => { setOver(false); },
    onDrop: (e: DragEvent) => { e.preventDefault(); setOver(false); if (!busy) void choose(e.dataTransfer.files[0]); },
  };
  const look = `card pad file-drop${over ? ' over' : ''}`; // not said
  return (
    <div className={look} {...on}>
      {children}
      <button id={id} type="button" className={plain ? 'plain' : ''} disabled={busy} onClick={() => { input.current?.click(); }}><Upload size={15} aria-hidden /> {verb}</button>
      <input ref={input} type="file" hidden aria-label={label} accept={accept} onChange={(e) => { void choose(e.target.files?.[0]); e.target.value = ''; }} />
      <div role="alert">{fault && <p className="fault">{fault}</p>}</div>
    </div>
  );
}
