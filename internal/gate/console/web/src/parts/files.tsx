// files are what people attach to what they write, and the list of it where it is read.
import { Paperclip, X } from 'lucide-react';
import { useEffect, useRef, useState, type ClipboardEvent, type DragEvent, type MouseEvent, type ReactNode } from 'react';
import { useWrite } from '../app/data';
import { sentence } from '../app/fault';
import { can, useViewer } from '../app/session';
import { plural, t } from '../app/text';
import { contentOf, previewOf, upload } from '../app/upload';
import { AddFile, DropFile } from '../gen/documents';
import type { FileFragment } from '../gen/types';
import { kindsOf, taken } from '../ui/accept';
import { Confirm, Dialog } from '../ui/dialog';
import { sizeOf } from '../ui/size';
import { toast } from '../ui/toast';

const most = 20; // files of a request, as the server has it
const atOnce = 2; // the server takes four of a caller, in all tabs

interface Sent { key: number; file: File; id: string; share: number; fault: string; stop: AbortController }

let next = 1;

// Rules are what may be attached. `took` takes a file that is there, which the list then has no more.
interface Rules { room?: number; accept?: string[] | null | undefined; took?: (id: string, file: File) => void }

// useFiles holds the files of what is being written: drafts of the caller's, which are named with it. `ready` is whether all are there.
export function useFiles({ room = most, accept, took }: Rules = {}) {
  const [list, set] = useState<Sent[]>([]);
  const [create] = useWrite(AddFile, true);
  const [remove] = useWrite(DropFile, true);
  const line = useRef<Promise<unknown>[]>(Array.from({ length: atOnce }, () => Promise.resolve()));
  const latest = useRef(list);
  latest.current = list;
  useEffect(() => () => { latest.current.forEach((s) => { s.stop.abort(); }); }, []);
  const change = (key: number, to: Partial<Sent>) => { set((was) => was.map((s) => (s.key === key ? { ...s, ...to } : s))); };
  const send = async (s: Sent) => {
    if (s.stop.signal.aborted) return;
    const o = await create({ input: { draft: true, name: s.file.name, size: s.file.size } });
    const id = o.data?.createAttachment.attachment.id;
    if (!id) return change(s.key, { fault: o.fault ? o.fault.details[0]?.message ?? sentence(o.fault) : t('The server did not accept the file.') });
    const fault = await upload(id, s.file, (share) => { change(s.key, { share }); }, s.stop.signal);
    if (s.stop.signal.aborted || fault) void remove({ input: { id } });
    if (fault || !took) return change(s.key, fault ? { fault } : { id, share: 1 });
    set((was) => was.filter((x) => x.key !== s.key));
    return took(id, s.file);
  };
  const add = (files: Iterable<File>) => {
    const fit = [...files].filter((file) => taken(accept, file));
    if (accept && fit.length < [...files].length) toast({ text: t('Only these files can be attached: {kinds}.', { kinds: kindsOf(accept) }), bad: true });
    const more = fit.map((file): Sent => ({ key: next++, file, id: '', share: 0, fault: '', stop: new AbortController() }));
    const some = more.slice(0, Math.max(0, room - latest.current.filter((s) => !s.fault).length));
    if (some.length < more.length) toast({ text: room > 0 ? plural(room, 'At most {n} file can be attached.', 'At most {n} files can be attached.') : t('No more files can be attached here.'), bad: true });
    set((was) => [...was, ...some]);
    some.forEach((s, i) => { line.current[i % atOnce] = (line.current[i % atOnce] ?? Promise.resolve()).then(() => send(s)); });
  };
  const drop = (s: Sent) => {
    s.stop.abort();
    set((was) => was.filter((x) => x.key !== s.key));
    if (s.id) void remove({ input: { id: s.id } });
  };
  // What is dropped or pasted is attached; text goes into the text.
  const on = {
    onDragOver: (e: DragEvent) => { if (e.dataTransfer.types.includes('Files')) e.preventDefault(); }, // not said
    onDrop: (e: DragEvent) => { if (e.dataTransfer.files.length > 0) { e.preventDefault(); add(e.dataTransfer.files); } },
    onPaste: (e: ClipboardEvent) => { if (e.clipboardData.files.length > 0) { e.preventDefault(); add(e.clipboardData.files); } },
  };
  const ids = list.flatMap((s) => (s.id ? [s.id] : []));
  return { list, add, drop, on, ids, ready: list.every((s) => s.id || s.fault), clear: () => { set([]); } };
}

type Files = ReturnType<typeof useFiles>;

// Attach is the button that chooses files, and the list of those that are there or on their way.
export function Attach({ files }: { files: Files }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className="quiet small" onClick={() => { input.current?.click(); }}><Paperclip size={14} aria-hidden /> {t('Attach files')}</button>
      <input ref={input} type="file" multiple hidden aria-label={t('Attach files')} onChange={(e) => { files.add(e.target.files ?? []); e.target.value = ''; }} />
    </>
  );
}

export function Attaching({ files }: { files: Files }) {
  if (files.list.length === 0) return null;
  return (
    <ul className="files" aria-live="polite">
      {files.list.map((s) => (
        <li key={s.key} className="line">
          <span className="grow"><bdi>{s.file.name}</bdi> <span className="soft small-text">{sizeOf(s.file.size)}</span>{s.fault && <span className="fault block">{t('{name} was not attached: {message}', { name: s.file.name, message: s.fault })}</span>}</span>
          {!s.id && !s.fault && <progress max={1} value={s.share} aria-label={t('Sending {name}', { name: s.file.name })} />}
          <button type="button" className="icon small" aria-label={t('Remove {name}', { name: s.file.name })} title={t('Remove {name}', { name: s.file.name })} onClick={() => { files.drop(s); }}><X size={14} aria-hidden /></button>
        </li>
      ))}
    </ul>
  );
}

// pictured says whether there is a preview: the server measures the pictures that it draws small.
const pictured = (f: FileFragment) => f.status === 'READY' && f.width !== null && /^image\/(png|jpeg|gif|webp)$/.test(f.mediaType ?? '') && (f.scan === 'CLEAN' || f.scan === 'SKIPPED');

const says: Record<string, string> = { PENDING: t('Being checked for viruses'), INFECTED: t('Contains a virus: nobody can open it') };

// Picture is a picture where it is read: small, and larger on top of the page.
function Picture({ file: f }: { file: FileFragment }) {
  const [large, setLarge] = useState(false);
  const enlarge = (e: MouseEvent) => {
    if (e.metaKey || e.ctrlKey || e.shiftKey) return; // to a tab of its own
    e.preventDefault();
    setLarge(true);
  };
  return (
    <>
      <a href={contentOf(f.id)} onClick={enlarge}><img src={previewOf(f.id, 320)} alt={f.name} /></a>
      {large && (
        <Dialog title={f.name} close={() => { setLarge(false); }} wide>
          <img src={previewOf(f.id, 1024)} alt={f.name} className="large" />
          <footer><a href={contentOf(f.id)} download={f.name}>{t('Download {name}', { name: f.name })}</a></footer>
        </Dialog>
      )}
    </>
  );
}

// FileLine is a file where it is read: what it is, and what gives its bytes.
export function FileLine({ file: f, children }: { file: FileFragment; children?: ReactNode }) {
  return (
    <li className="line">
      {pictured(f) && <Picture file={f} />}
      <span className="grow">{f.scan === 'INFECTED' ? <bdi>{f.name}</bdi> : <a href={contentOf(f.id)} download={f.name}><bdi>{f.name}</bdi></a>} <span className="soft small-text">{sizeOf(f.size)}</span>{says[f.scan] && <span className="soft small-text block">{says[f.scan]}</span>}</span>
      {children}
    </li>
  );
}

// Attached are the files of a request or a comment. Whoever added one, and staff, remove it.
export function Attached({ files }: { files: FileFragment[] | null | undefined }) {
  const viewer = useViewer();
  const [gone, setGone] = useState<FileFragment | null>(null);
  const [remove] = useWrite(DropFile);
  const list = (files ?? []).filter((f) => f.status === 'READY');
  if (list.length === 0) return null;
  return (
    <ul className="files" aria-label={t('Files')}>
      {list.map((f) => (
        <FileLine key={f.id} file={f}>
          {can(viewer, 'attachment.delete') && (f.createdBy === viewer.id || can(viewer, 'request.update')) && <button type="button" className="icon small" aria-label={t('Remove {name}', { name: f.name })} title={t('Remove {name}', { name: f.name })} onClick={() => { setGone(f); }}><X size={14} aria-hidden /></button>}
        </FileLine>
      ))}
      {gone && <Confirm title={t('Remove “{name}”?', { name: gone.name })} verb={t('Remove')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id } }); if (!o.fault) toast({ text: t('The file was removed.') }); setGone(null); }}><p>{t('It cannot be brought back.')}</p></Confirm>}
    </ul>
  );
}
