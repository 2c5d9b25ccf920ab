// page is the frame of every page: its title, its actions, its one main.
import { useEffect, useLayoutEffect, useRef, type ReactNode } from 'react';
import { can, inSandbox, roleWord, useViewer } from '../app/session';
import { t } from '../app/text';
import { fromTheTop } from './order';
import { useRows } from './rows';
import { Failed, Refused, Skeleton } from './states';
import type { Read } from '../app/data';

interface PageProps { title: string; intro?: ReactNode; actions?: ReactNode; children: ReactNode; verb?: string; narrow?: boolean; wide?: boolean; dense?: boolean; above?: ReactNode; heading?: ReactNode; tabs?: ReactNode; live?: string }

// Page takes the right without which there is nothing to see; the page then says so instead. `live` is what of it is changed in the live
// company alone, `heading` what stands for the plain h1 of the title. A wide page takes all the room that there is, and has its tabs
// beside its title; what stands on a dense one stands close together.
export function Page({ title, intro, actions, children, verb, narrow, wide, dense, above, heading, tabs, live }: PageProps) {
  const viewer = useViewer();
  useRows();
  const main = useRef<HTMLElement>(null);
  useLayoutEffect(() => (main.current ? fromTheTop(main.current) : undefined), []);
  useEffect(() => { globalThis.document.title = `${title} · Atrium`; }, [title]);
  const may = !verb || can(viewer, verb);
  return (
    <main ref={main} className={`page${narrow ? ' narrow' : ''}${wide ? ' wide' : ''}${dense ? ' dense' : ''}`} id="main" tabIndex={-1}>
      <header className="page-head">
        <div>
          {above && <div className="above">{above}</div>}
          {heading ?? <h1 dir="auto">{title}</h1>}
          {intro && <p className="intro" dir="auto">{intro}</p>}
        </div>
        {may && wide && tabs}
        {may && actions && <div className="actions">{actions}</div>}
      </header>
      {may && !wide && tabs}
      {live && inSandbox(viewer) && <p className="notice">{t('{what} can only be changed in the live company.', { what: live })}</p>}
      {may ? children : <Refused says={t('Your role, {role}, has no access to this page.', { role: roleWord[viewer.role] })} />}
    </main>
  );
}

// Loaded shows a skeleton, a refusal or what was read, and is busy while that is behind what is asked for now.
export function Loaded<D>({ read, children, skeleton = 6, lines }: { read: Read<D>; children: (data: D) => ReactNode; skeleton?: number; lines?: boolean }) {
  if (read.data && !(read.fault && Object.values(read.data as object).every((v) => v === null))) return <div className="contents" aria-busy={read.behind}>{children(read.data)}</div>;
  if (read.fault) return <Failed fault={read.fault} again={read.again} />;
  return <Skeleton rows={skeleton} lines={lines} />;
}

export function Section({ title, actions, children, intro }: { title: string; actions?: ReactNode; children: ReactNode; intro?: ReactNode | undefined }) {
  return (
    <section className="section">
      <header><h2 dir="auto">{title}</h2>{actions && <div className="actions">{actions}</div>}</header>
      {intro && <p className="intro">{intro}</p>}
      {children}
    </section>
  );
}
