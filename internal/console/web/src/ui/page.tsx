// page is the frame of every page: its title, its actions, its one main.
import { useEffect, type ReactNode } from 'react';
import { atLeast, useViewer, type Rank } from '../app/session';
import { Failed, Refused, Skeleton } from './states';
import type { Read } from '../app/data';

interface PageProps { title: string; intro?: ReactNode; actions?: ReactNode; children: ReactNode; role?: Rank; narrow?: boolean; above?: ReactNode }

export function Page({ title, intro, actions, children, role = 'member', narrow, above }: PageProps) {
  const viewer = useViewer();
  useEffect(() => { globalThis.document.title = `${title} · Atrium`; }, [title]);
  const may = atLeast(viewer, role);
  return (
    <main className={narrow ? 'page narrow' : 'page'} id="main" tabIndex={-1}>
      <header className="page-head">
        <div>
          {above && <div className="above">{above}</div>}
          <h1>{title}</h1>
          {intro && <p className="intro">{intro}</p>}
        </div>
        {may && actions && <div className="actions">{actions}</div>}
      </header>
      {may ? children : <Refused reason={`the role ${viewer.role}: you may not, as this takes the role ${role}`} />}
    </main>
  );
}

// Loaded shows a skeleton, a refusal or what was read.
export function Loaded<D>({ read, children, skeleton = 6 }: { read: Read<D>; children: (data: D) => ReactNode; skeleton?: number }) {
  if (read.data && !(read.fault && Object.values(read.data as object).every((v) => v === null))) return <>{children(read.data)}</>;
  if (read.fault) return <Failed fault={read.fault} again={read.again} />;
  return <Skeleton rows={skeleton} />;
}

export function Section({ title, actions, children, intro }: { title: string; actions?: ReactNode; children: ReactNode; intro?: ReactNode }) {
  return (
    <section className="section">
      <header><h2>{title}</h2>{actions && <div className="actions">{actions}</div>}</header>
      {intro && <p className="intro">{intro}</p>}
      {children}
    </section>
  );
}
