// fileanswer answers questions with files, and shows such answers.
import { Paperclip, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useRead, useWrite } from '../app/data';
import { t } from '../app/text';
import { previewOf } from '../app/upload';
import { DropFile, FileOf } from '../gen/documents';
import type { FileFragment } from '../gen/types';
import type { FormField } from '../ui/answer';
import { sizeOf } from '../ui/size';
import { Attaching, FileLine, useFiles } from './files';

interface Props {
  field: FormField; value: unknown; set: (ids: string[]) => void;
  wrong: (string | undefined)[]; // what the server said of each file
  sending: (on: boolean) => void; // whether bytes are on their way
}

// FileAnswer takes files by a button, by dropping and by pasting, and sends them at once: the answer is their ids. A question for one
// file has it replaced. The other properties are those that Field gives to its control.
export function FileAnswer({ field: f, value, set, wrong, sending, ...rest }: Props) {
  const ids = Array.isArray(value) ? value.map(String) : [];
  const most = Number(f.maxFiles ?? 1);
  const now = useRef({ ids, set, sending });
  now.current = { ids, set, sending };
  const [mine, setMine] = useState<Record<string, File>>({}); // those that were sent here
  const [remove] = useWrite(DropFile, true);
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const keep = (to: string[]) => {
    now.current.ids = to; // two files may come before the page is drawn again
    now.current.set(to);
  };
  const drop = (id: string, draft: boolean) => {
    keep(now.current.ids.filter((x) => x !== id));
    if (draft) void remove({ input: { id } });
  };
  const files = useFiles({
    room: most === 1 ? 1 : most - ids.length, accept: f.accept,
    // The form is drawn at once: what somebody writes at that moment would be put beside the answer as it was before.
    took: (id, file) => {
      flushSync(() => {
        setMine((was) => ({ ...was, [id]: file }));
        keep(most === 1 ? [id] : [...now.current.ids, id]);
      });
    },
  });
  useEffect(() => { now.current.sending(!files.ready); }, [files.ready]);
  useEffect(() => () => { now.current.sending(false); }, []);
  const label = f.label || f.key;
  const verb = most > 1 ? t('Attach files') : ids.length > 0 ? t('Replace the file') : t('Attach a file');
  return (
    <div
      className={`file-answer${over ? ' over' : ''}`} // not said
      onDragOver={(e) => { files.on.onDragOver(e); setOver(e.dataTransfer.types.includes('Files')); }} // not said
      onDragLeave={() => { setOver(false); }}
      onDrop={(e) => { setOver(false); e.stopPropagation(); files.on.onDrop(e); }}
      onPaste={(e) => { e.stopPropagation(); files.on.onPaste(e); }}
    >
      {ids.length > 0 && (
        <ul className="files" aria-label={t('Files of {question}', { question: label })}>
          {ids.map((id, i) => <Kept key={id} id={id} sent={mine[id]} fault={wrong[i]} drop={(draft) => { drop(id, draft); button.current?.focus(); }} />)}
        </ul>
      )}
      <Attaching files={files} />
      <button type="button" className="plain small" {...rest} ref={button} aria-label={`${verb}: ${label}`} onClick={() => { input.current?.click(); }}><Paperclip size={14} aria-hidden /> {verb}</button>
      <span className="soft small-text">{most > 1 ? t('or drop or paste them here') : t('or drop or paste it here')}</span>
      <input ref={input} type="file" hidden multiple={most > 1} accept={f.accept?.join(',')} onChange={(e) => { files.add(e.target.files ?? []); e.target.value = ''; }} />
    </div>
  );
}

interface KeptProps { id: string; sent: File | undefined; fault: string | undefined; drop: (draft: boolean) => void }

// Kept is a file of the answer: one that was sent here, before the page was loaded again, or with the request.
function Kept({ id, sent, fault, drop }: KeptProps) {
  const { data } = useRead(FileOf, { id }, Boolean(sent));
  const row = data?.node && 'name' in data.node ? data.node : null;
  const name = sent?.name ?? row?.name ?? (data ? t('A file that was removed') : '…');
  const size = sent?.size ?? row?.size;
  const picture = /^image\/(png|jpeg|gif|webp)$/.test(sent?.type ?? row?.mediaType ?? '');
  return (
    <li className="line">
      {picture && <img src={previewOf(id, 320)} alt="" />}
      <span className="grow"><bdi>{name}</bdi> {size !== undefined && <span className="soft small-text">{sizeOf(size)}</span>}{fault && <span className="fault block">{fault}</span>}</span>
      <button type="button" className="icon small" aria-label={t('Remove {name}', { name })} title={t('Remove {name}', { name })} onClick={() => { drop(Boolean(sent) || row?.requestId === null); }}><X size={14} aria-hidden /></button>
    </li>
  );
}

// AnswerFiles are the files of an answer. Those that are not known already are read one by one.
export function AnswerFiles({ ids, files }: { ids: string[]; files?: FileFragment[] | null | undefined }) {
  return <ul className="files" aria-label={t('Files')}>{ids.map((id) => <Answer key={id} id={id} known={files?.find((f) => f.id === id)} />)}</ul>;
}

function Answer({ id, known }: { id: string; known: FileFragment | undefined }) {
  const { data, fault } = useRead(FileOf, { id }, Boolean(known));
  const file = known ?? (data?.node && 'name' in data.node ? data.node : null);
  if (file) return <FileLine file={file} />;
  return <li className="soft">{data || fault ? t('A file that was removed') : '…'}</li>;
}
