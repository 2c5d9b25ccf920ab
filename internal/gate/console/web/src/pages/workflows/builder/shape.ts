// shape reads the parts of a phase that somebody may have written by hand, and changes one without touching the others.
import { isNumeric } from '../../../app/digits';

export type Json = Record<string, unknown>;
export interface Problem { path: string; message: string }

export const isObject = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v) && Object.getPrototypeOf(v) === Object.prototype;
export const object = (v: unknown): Json => (isObject(v) ? v : {});
export const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
export const objects = (v: unknown): Json[] => list(v).map(object);
export const text = (v: unknown): string => (typeof v === 'string' || typeof v === 'boolean' || isNumeric(v) ? String(v) : '');

// put sets a key where it stands, or takes it away.
export function put<T extends object>(o: T, key: string, value: unknown): T {
  if (value === undefined) return Object.fromEntries(Object.entries(o).filter(([k]) => k !== key)) as T;
  return Object.hasOwn(o, key) ? Object.fromEntries(Object.entries(o).map(([k, v]) => [k, k === key ? value : v])) as T : { ...o, [key]: value };
}

// at is what is said of a place, below also what is said of what is in it.
export const at = (problems: Problem[], ...paths: string[]): string | undefined => problems.filter((p) => paths.includes(p.path)).map((p) => p.message).join(' ') || undefined;
export const within = (path: string, place: string) => path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
export const below = (problems: Problem[], place: string): string | undefined => problems.filter((p) => within(p.path, place)).map((p) => p.message).join(' ') || undefined;

// merged puts those of one role back among the others: in the places of the role, and what is more behind the last.
export function merged(all: Json[], role: string, list: Json[]): Json[] {
  const rest = [...list];
  const to = all.flatMap((p) => (p['role'] === role ? rest.splice(0, 1) : [p]));
  return [...to, ...rest];
}
