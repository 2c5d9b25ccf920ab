// tabs are links between pages that belong together, or between parts of one, which leave the page where it is. How many rows stand behind each is said beside it.
import { Link } from '@tanstack/react-router';

interface Tab { label: string; to: string; search?: object; count?: number | undefined; current?: boolean; shown?: boolean }

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const shown = tabs.filter((t) => t.shown !== false);
  if (shown.length < 2 && !shown.some((t) => 'count' in t)) return null; // counts come later: their line is there from the first
  return (
    <nav className="tabs" aria-label={label}>
      {shown.map((t) => (
        <Link
          key={`${t.to} ${t.label}`} to={t.to} search={(t.search ?? {}) as never} replace={t.current !== undefined} resetScroll={t.current === undefined}
          activeOptions={{ exact: true, includeSearch: t.current !== undefined }} {...(t.current ? { 'aria-current': 'page' as const } : {})}
        >
          {t.label}{'count' in t && <span className="count"> {t.count}</span>}
        </Link>
      ))}
    </nav>
  );
}
