// columns knows what a column of a table may be, and what it is taken for by its heading. The server knows the same names and words, in
// internal/desk/requestimport: a test compares them.
import { t } from '../../app/text';
import type { Row, Table } from './csv';

// fields are what a column may be, by the API's names. What begins with "fields." is an answer to the form of the offering.
export const fields: Record<string, string> = {
  key: t('ID in the other system'), title: t('Title'), description: t('Description'), status: t('Status'), priority: t('Priority'),
  service: t('Service'), offering: t('Offering'), tags: t('Tags'), fields: t('Answers as JSON'),
  requester: t('Requester'), assignee: t('Assignee'), team: t('Team'),
  createdAt: t('Created'), acceptedAt: t('Accepted'), completedAt: t('Completed'), cancelledAt: t('Cancelled'),
};

export const answerPrefix = 'fields.';

// names are what other systems call a field, in small letters and without anything else.
export const names: Record<string, string> = {
  key: 'key issuekey number id issueid ticketid ticketnumber nummer', title: 'title summary subject shortdescription titel betreff', // not said
  description: 'description details body beschreibung', status: 'status state', priority: 'priority priorität', // not said
  service: 'service', offering: 'offering requesttype angebot', tags: 'tags labels', fields: 'fields', // not said
  requester: 'requester reporter requesteremail customer openedby melder', assignee: 'assignee assignedto owner agent bearbeiter', // not said
  team: 'team group assignmentgroup gruppe', createdAt: 'createdat created opened openedat erstellt', acceptedAt: 'acceptedat', // not said
  completedAt: 'completedat resolved resolvedat solvedat closed closedat gelöst', cancelledAt: 'cancelledat', // not said
};

// words are what other systems call a status and a priority.
export const words: Record<'status' | 'priority', Record<string, string>> = {
  status: {
    PENDING: 'pending new open todo submitted backlog offen neu', IN_PROGRESS: 'inprogress accepted active working waiting onhold inbearbeitung', // not said
    COMPLETED: 'completed complete done closed resolved solved fixed erledigt geschlossen gelöst', // not said
    CANCELLED: 'cancelled canceled declined rejected withdrawn wontdo wontfix duplicate abgebrochen abgelehnt', // not said
  },
  priority: {
    LOW: 'low lowest minor trivial planning niedrig', MEDIUM: 'medium normal moderate mittel', HIGH: 'high major hoch', // not said
    URGENT: 'urgent critical highest blocker dringend kritisch', // not said
  },
};

const letters = (s: string) => s.replace(/\P{L}/gu, '').toLowerCase();
const byName = new Map(Object.entries(names).flatMap(([field, all]) => all.split(' ').map((n) => [n, field] as const)));

// FormField is a question of the offering's form.
export interface FormField { key: string; label?: string | null }

// Columns are what each heading stands for: a field, or '' for what is left out.
export type Columns = Record<string, string>;

// guess says what the headings stand for by their names: the first of each name counts, as on the server. What the server knows by no
// name is held against the questions of the form.
export function guess(headings: string[], form: FormField[] = []): Columns {
  const out: Columns = {};
  const taken = new Set<string>();
  const labels = new Map(form.flatMap((f) => [[letters(f.key), f.key], [letters(f.label ?? ''), f.key]] as const).filter(([l]) => l));
  for (const h of headings) {
    if (h in out) continue;
    const asked = labels.get(letters(h));
    const field = h.startsWith(answerPrefix) && h.length > answerPrefix.length ? h : byName.get(letters(h)) ?? (asked ? answerPrefix + asked : '');
    out[h] = taken.has(field) ? '' : field;
    if (field) taken.add(field);
  }
  return out;
}

// Said are the headings that a person gave a field, the last one at the end.
export type Said = readonly (readonly [heading: string, field: string])[];

// chosen are the columns with what a person said of some of them. No two are one field: what was said last counts, and what was guessed
// comes back once nobody else has it, so that somebody can go through what there is by the keys.
export function chosen(guessed: Columns, said: Said): Columns {
  const taken = new Set<string>();
  const take = (field: string) => {
    const free = !taken.has(field);
    if (field) taken.add(field);
    return free ? field : '';
  };
  const own = Object.fromEntries(said.toReversed().map(([h, field]) => [h, take(field)]));
  return Object.fromEntries(Object.entries(guessed).map(([h, field]) => [h, own[h] ?? take(field)]));
}

// say gives a heading a field.
export const say = (said: Said, heading: string, field: string): Said => [...said.filter(([h]) => h !== heading), [heading, field]];

// cellOf is a cell as the server reads it: without the blanks around it, and the apostrophe that keeps spreadsheets from taking it for a formula.
export function cellOf(row: Row, at: number): string {
  const s = (row.cells[at] ?? '').trim();
  return /^'[=+\-@]/.test(s) ? s.slice(1) : s;
}

// headingOf is the place of the column that stands for a field; -1 for none.
export const placeOf = (table: Table, columns: Columns, field: string): number => table.headings.findIndex((h, i) => columns[h] === field && table.headings.indexOf(h) === i);

// unknown are the words of the column of statuses or priorities that stand for none, the most frequent first, each with how many rows have it.
export function unknown(table: Table, columns: Columns, of: 'status' | 'priority'): [word: string, rows: number][] {
  const at = placeOf(table, columns, of);
  if (at < 0) return [];
  const known = new Set(Object.values(words[of]).flatMap((all) => all.split(' ')));
  const out = new Map<string, number>();
  for (const row of table.rows) {
    const word = cellOf(row, at);
    if (word && !known.has(letters(word))) out.set(word, (out.get(word) ?? 0) + 1);
  }
  return [...out].sort(([, a], [, b]) => b - a);
}

// samples are the first values of a column that say something.
export function samples(table: Table, at: number, most = 3): string[] {
  const out = new Set<string>();
  for (const row of table.rows) {
    const s = cellOf(row, at);
    if (s) out.add(s.length > 60 ? `${s.slice(0, 60)}…` : s);
    if (out.size === most) break;
  }
  return [...out];
}

// sourceOf is what the other system is called, as far as the headings tell.
export const sourceOf = (headings: string[]) => (headings.some((h) => /^issue (key|id)$/i.test(h)) ? 'jira' : 'csv');
