// invitees reads a list of people as others write it down: a line each, a row of a spreadsheet, or the addresses of a mail.
import { t } from '../../app/text';
import type { Role } from '../../gen/types';

export const most = 100; // invitations at once

// Invitee is what was understood of a piece of a text; fault says why it can be no invitation.
export interface Invitee { text: string; line: number; email: string; name: string; role: Role; fault?: string }

const address = /^[^\s<>@,;"]+@[^\s<>@,;".]+(\.[^\s<>@,;".]+)+$/;

// Roles are those of a company: by what word each is called, which of them the reader may give, and which one is meant where a line says none.
export interface Roles { words: Record<Role, string>; may: (r: Role) => boolean; usual: Role }
type Known = Map<string, Role>; // by the API's name, the reader's word, and the English word

const columns: [RegExp, 'email' | 'name' | 'first' | 'last' | 'role'][] = [
  [/^(e-?mail|mail)( ?-?(address|adresse))?$|^address$|^adresse$/i, 'email'], [/^(first|given) ?name$|^vorname$/i, 'first'], [/^(last|family) ?name$|^sur ?name$|^nachname$/i, 'last'],
  [/^(full |display )?name$/i, 'name'], [/^(role|rolle)$/i, 'role'],
];

const bare = (s: string) => s.trim().replace(/^"(.*)"$/s, '$1').replaceAll('""', '"').trim();

// cells parts a line at commas, semicolons and tabs, but for those inside of quotes.
function cells(line: string): string[] {
  const out = [''];
  let quoted = false;
  for (const c of line) {
    if (c === '"') quoted = !quoted;
    if (!quoted && /[,;\t]/.test(c)) out.push('');
    else out[out.length - 1] += c;
  }
  return out.map((c) => c.trim());
}

type Found = Pick<Invitee, 'email' | 'name'> & { role?: Role; odd?: string };

// byWords finds the people of a line whose cells are named by nothing but what they look like.
function byWords(line: string, roles: Known): Found[] {
  const out: Found[] = [];
  const named = new Set<Found>(); // whose name stands beside the address itself
  let name: string[] = []; // what came before an address
  let role: Role | undefined;
  for (const cell of cells(line)) {
    const both = /^(.*?)\s*<\s*(?:mailto:)?([^<>]*?)\s*>$/s.exec(cell);
    const said = bare(both ? both[1] ?? '' : cell);
    const email = both ? both[2] ?? '' : said.replace(/^mailto:/i, '');
    const last = out.at(-1);
    if (both || email.includes('@')) {
      const one: Found = { email, name: [both ? said : '', ...name].filter(Boolean).join(' '), ...(role ? { role } : {}) };
      if (one.name) named.add(one);
      out.push(one);
      [name, role] = [[], undefined];
    } else if (roles.has(said.toLowerCase())) {
      if (last && !last.role) last.role = roles.get(said.toLowerCase()) as Role;
      else role = roles.get(said.toLowerCase());
    } else if (said && last && out.length === 1 && (named.has(last) || /^\p{Ll}+$/u.test(said))) last.odd = said; // no name, and no role either
    else if (said && last && out.length === 1 && !last.name) last.name = said;
    else if (said) name.push(said);
  }
  return out.length > 0 || name.length === 0 ? out : [{ email: '', name: name.join(' ') }];
}

// byColumns finds the one of a row below a heading.
function byColumns(line: string, heads: (string | undefined)[], roles: Known): Found[] {
  const at = (of: string) => bare(cells(line)[heads.indexOf(of)] ?? '');
  const role = at('role');
  const known = roles.get(role.toLowerCase());
  return [{ email: at('email').replace(/^mailto:/i, ''), name: at('name') || [at('first'), at('last')].filter(Boolean).join(' '), ...(known ? { role: known } : role ? { odd: role } : {}) }];
}

// invitees are the people of a text, in its order.
export function invitees(text: string, { words, may, usual }: Roles): Invitee[] {
  const roles: Known = new Map([['staff', 'agent'], ...(Object.entries(words) as [Role, string][]).flatMap(([r, word]): [string, Role][] => [[r, r], [word.toLowerCase(), r]])]);
  const out: Invitee[] = [];
  const known = new Set<string>();
  let heads: (string | undefined)[] | null = null;
  text.split(/\r?\n/).forEach((line, n) => {
    if (!line.replace(/[,;\s]/g, '')) return;
    const named = cells(line).map((c) => columns.find(([of]) => of.test(bare(c)))?.[1]);
    if (out.length === 0 && !heads && !line.includes('@') && named.includes('email')) {
      heads = named;
      return;
    }
    for (const f of heads ? byColumns(line, heads, roles) : byWords(line, roles)) {
      const email = f.email.toLowerCase();
      const one: Invitee = { text: line.trim(), line: n + 1, email, name: f.name, role: f.role ?? usual };
      const fault = !email ? t('There is no e-mail address.') : !address.test(email) ? t('“{email}” is not an e-mail address.', { email: f.email }) : known.has(email) ? t('This address appears twice.')
        : f.odd ? t('“{role}” is not a role.', { role: f.odd }) : !may(one.role) ? t('You may not invite anybody as {role}.', { role: words[one.role] }) : '';
      known.add(email);
      out.push(fault ? { ...one, fault } : one);
    }
  });
  return out;
}

// written is an invitee as a line of such a text.
export const written = (i: Pick<Invitee, 'email' | 'name' | 'role'>): string => `${i.name ? `${/[,;"<>]/.test(i.name) ? `"${i.name.replaceAll('"', '""')}"` : i.name} <${i.email}>` : i.email}, ${i.role}`;
