// opened keeps in the address which row of a list is open in a dialog. So the name of a row is a link: for j, k and Enter, and to send on.
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, type ReactNode } from 'react';
import { useAsked } from '../app/asked';

interface Row { id: string; name: string }
type Search = Record<string, string>;

// useOpened is the row of a list, which has a name where a page has several, that is open, as it is by now, or 'new' for one that is being made, and what opens and closes.
export function useOpened<R extends Row>(list: R[], name = 'row'): [R | 'new' | null, (to: R | 'new' | null) => void] {
  const { open, ...others } = useSearch({ strict: false }) as Search;
  const to = useLocation({ select: (l) => l.pathname });
  const navigate = useNavigate();
  const [making, make] = useAsked(`new ${name}`, false);
  const last = useRef<R | null>(null); // a row that leaves the list stays open: somebody may be writing
  const row = open ? list.find((r) => r.id === open) ?? (last.current?.id === open ? last.current : null) : null;
  last.current = row;
  const set = (next: R | 'new' | null) => {
    make(next === 'new');
    const id = next === null || next === 'new' ? undefined : next.id;
    if (id !== open) void navigate({ to: to as never, search: (id ? { ...others, open: id } : others) as never, replace: true, resetScroll: false });
  };
  return [making ? 'new' : row, set];
}

// Name is the name of a row, by which it is opened, or the name alone for those who may not open it.
export function Name({ row, may = true, children }: { row: Row; may?: boolean; children?: ReactNode }) {
  const search = useSearch({ strict: false }) as Search;
  const to = useLocation({ select: (l) => l.pathname });
  if (!may) return <strong>{children ?? row.name}</strong>;
  return <Link className="name" to={to as never} search={{ ...search, open: row.id } as never} replace resetScroll={false}>{children ?? row.name}</Link>;
}
