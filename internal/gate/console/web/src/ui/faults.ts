// faults finds what of a refusal belongs to a field.
import type { Fault } from '../app/fault';

// settled are the faults that somebody has answered, by keeping what was written or by throwing it away: they are said no more.
export const settled = new WeakSet<Fault>();

// faultAt is what the server said of a field. faultBelow is what it said of one and of what is in it, such as of one of many tags, and
// of which.
export function faultAt(fault: Fault | null | undefined, ...names: string[]): string | undefined {
  if (!fault || settled.has(fault)) return undefined;
  return fault.details.filter((d) => names.includes(d.field)).map((d) => d.message).join(' ') || undefined;
}

export function faultBelow(fault: Fault | null | undefined, name: string): string | undefined {
  if (!fault || settled.has(fault)) return undefined;
  const of = (field: string) => field.slice(name.length).replace(/^\./, '');
  const inside = new Set(below(fault, name));
  return fault.details.filter((d) => inside.has(d.field)).map((d) => (of(d.field) ? `${of(d.field)}: ${d.message}` : d.message)).join(' ') || undefined;
}

// below are the fields at fault of a name: it and what is in it.
export const below = (fault: Fault | null | undefined, name: string): string[] =>
  [...new Set(fault?.details.map((d) => d.field).filter((f) => f === name || f.startsWith(`${name}.`) || f.startsWith(`${name}[`)) ?? [])];
