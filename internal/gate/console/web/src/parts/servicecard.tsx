// servicecard is a service with what can be asked of it, in the catalogue and on the home page.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Sign } from './sign';

interface Offer { id: string; name: string; description?: string | null }
export interface CardService { id: string; name: string; description?: string | null; tags?: unknown }

// categoryOf is the group that a service stands in: the one of its tags that is called so.
export const categoryOf = (s: CardService): string => (s.tags as Record<string, string> | null | undefined)?.['category']?.trim() ?? '';

// byName orders what can be asked for: people look for a word.
export const byName = <O extends { name: string }>(offers: O[]): O[] => offers.toSorted((a, b) => a.name.localeCompare(b.name));

interface Props { service: CardService; offers: Offer[]; level?: 2 | 3; brief?: boolean; children?: ReactNode }

export function ServiceCard({ service: s, offers, level = 2, brief, children }: Props) {
  const Heading = `h${level}` as const;
  return (
    <section className="card service-card" aria-labelledby={s.id}>
      <header>
        <Sign name={s.name} category={categoryOf(s)} />
        <div><Heading id={s.id} dir="auto">{s.name}</Heading>{s.description && <p dir="auto">{s.description}</p>}</div>
      </header>
      <ul className="offers">
        {offers.map((o) => (
          <li key={o.id}><Link to="/app/catalogue/$id" params={{ id: o.id }}><bdi>{o.name}</bdi>{!brief && o.description && <span className="sub" dir="auto">{o.description}</span>}</Link></li>
        ))}
      </ul>
      {children}
    </section>
  );
}
