import { Check, X } from 'lucide-react';
import { useRef, useState, type FormEvent } from 'react';
import { uncached } from '../../app/client';
import { faultOf, sentence, unproven } from '../../app/fault';
import { givesRole, roleWord, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { InviteUser } from '../../gen/documents';
import type { Role } from '../../gen/types';
import { useDraft } from '../../ui/draft';
import { Field, Rest } from '../../ui/field';
import { toast } from '../../ui/toast';
import { invitees, most, written, type Invitee } from './invitees';
import { roles } from './roles';

const largest = 1_000_000; // characters of a file that is read

// Many invites the people of a list. What it has understood of each line stands below the list before anything is sent; what was sent
// leaves the list, and what was refused stays in it with the reason.
export function Many({ close, done }: { close: () => void; done: () => void }) {
  const viewer = useViewer();
  const [draft, set, forget, base] = useDraft('invitees', { text: '', role: 'member' as Role });
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map()); // by address: what the server said
  const [sent, setSent] = useState({ now: 0, of: 0, all: 0 });
  const picker = useRef<HTMLInputElement>(null);
  const may = (r: Role) => givesRole(viewer, r);
  const list = invitees(draft.text, { words: roleWord, may, usual: draft.role });
  const good = list.filter((i) => !i.fault);
  const next = good.slice(0, most);
  const fresh = good.filter((i) => !refused.has(i.email)).length;
  const faulty = list.length - good.length;
  const busy = sent.of > 0;
  const read = async (file: File | undefined) => {
    if (!file) return;
    const text = (await file.text()).replace(/^\uFEFF/, '').slice(0, largest);
    set((was) => ({ ...was, text: [was.text.trim(), text].filter(Boolean).join('\n') }));
  };
  const send = async (e: FormEvent) => {
    e.preventDefault();
    const kept: Invitee[] = [];
    const said = new Map<string, string>();
    let proof = true;
    for (const [n, one] of next.entries()) {
      if (proof) setSent((was) => ({ ...was, now: n, of: next.length }));
      const fault = proof ? faultOf((await uncached.mutation(InviteUser, { input: { email: one.email, role: one.role, ...(one.name ? { name: one.name } : {}) } }).toPromise()).error) : null;
      if (fault && unproven(fault)) proof = false; // a dialog asks for it: the list waits until one is back
      if (fault || !proof) kept.push(one);
      if (fault && proof) said.set(one.email, sentence(fault));
    }
    const ok = next.length - kept.length;
    const rest = [...kept, ...good.slice(most)].map(written).concat(list.filter((i) => i.fault).map((i) => i.text));
    setSent((was) => ({ now: 0, of: 0, all: was.all + ok }));
    setRefused(said);
    if (ok > 0) {
      done();
      toast({ text: plural(ok, '{n} invitation was sent.', '{n} invitations were sent.') });
    }
    if (rest.length > 0) {
      set((was) => ({ ...was, text: [...new Set(rest)].join('\n') }));
      return;
    }
    forget();
    close();
  };
  return (
    <form className="stack" noValidate onSubmit={(e) => { void send(e); }}>
      <Field label={t('Names and addresses')} hint={t('One per line, such as “Ada Lovelace <ada@example.com>” or “ada@example.com, staff”; a CSV table with a heading; or the recipients of a mail. At most {most} at once.', { most })}>
        <textarea rows={6} dir="auto" spellCheck={false} value={draft.text} readOnly={busy} onChange={(e) => { set({ ...draft, text: e.target.value }); }} />
      </Field>
      <div className="line">
        <input ref={picker} type="file" hidden accept=".csv,.txt,text/csv,text/plain" onChange={(e) => { void read(e.target.files?.[0]); e.target.value = ''; }} />
        <button type="button" className="plain small" disabled={busy} onClick={() => { picker.current?.click(); }}>{t('Choose a CSV file')}</button>
      </div>
      <Field label={t('Role, where a line says none')}>
        <select value={draft.role} disabled={busy} onChange={(e) => { set({ ...draft, role: e.target.value as Role }); }}>{roles.filter(may).map((r) => <option key={r} value={r}>{roleWord[r]}</option>)}</select>
      </Field>
      {list.length > 0 && (
        <div>
          <p className="understood" role="status">
            {busy ? t('Sending {now} of {of}…', { now: sent.now + 1, of: sent.of }) : [
              sent.all > 0 && plural(sent.all, '{n} invitation was sent.', '{n} invitations were sent.'), fresh > 0 && plural(fresh, '{n} person can be invited.', '{n} people can be invited.'), good.length > fresh && plural(good.length - fresh, '{n} was refused.', '{n} were refused.'),
              faulty > 0 && plural(faulty, '{n} line cannot be sent.', '{n} lines cannot be sent.'), good.length > most && t('The first {most} are sent now, the others stay here.', { most }),
            ].filter(Boolean).join(' ')}
          </p>
          <ul className="invitees" tabIndex={0} aria-label={t('Recognized people')}>{list.slice(0, 500).map((i, n) => <Understood key={n} of={i} said={refused.get(i.email)} />)}</ul>
        </div>
      )}
      <Rest base={base} fault={null} fields={[]} />
      <footer><button type="button" className="plain" disabled={busy} onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || next.length === 0}>{next.length === 0 ? t('Send invitations') : plural(next.length, 'Send {n} invitation', 'Send {n} invitations')}</button></footer>
    </form>
  );
}

function Understood({ of: i, said }: { of: Invitee; said: string | undefined }) {
  const fault = i.fault ?? said;
  return (
    <li className={fault ? 'faulty' : ''}>
      {fault ? <X size={16} aria-hidden /> : <Check size={16} aria-hidden />}
      <span>
        <span dir="auto">{i.fault ? i.text : i.name || i.email}</span> {!i.fault && <span className="soft small-text">{[i.name && i.email, roleWord[i.role]].filter(Boolean).join(' · ')}</span>}
        {fault && <span className="fault">{t('Line {line}: {fault}', { line: i.line, fault })}</span>}
      </span>
    </li>
  );
}
