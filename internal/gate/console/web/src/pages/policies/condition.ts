// condition is a policy's condition as the builder and the text field show it.
import { isNumeric, parse } from '../../app/digits';

export interface Line { path: string; op: string; value: string }
export const operators = ['eq', 'ne', 'in', 'nin', 'lt', 'lte', 'gt', 'gte', 'prefix', 'glob', 'exists'];
const read = (s: string): unknown => { try { return parse(s); } catch { return s; } };

// shown is a value as the builder has it: texts as they are, those that would be read as something else in quotes.
const shown = (v: unknown) => (typeof v === 'string' && v !== '' && v.trim() === v && read(v) === v ? v : JSON.stringify(v));

// linesOf are a condition as the builder shows it; null for one that takes JSON.
export function linesOf(condition: Record<string, unknown>): Line[] | null {
  const lines = Object.entries(condition).map(([path, v]): Line | null => {
    const [[op, value] = ['', ''], ...more] = Array.isArray(v) ? [['in', v] as const] : v !== null && typeof v === 'object' && !isNumeric(v) ? Object.entries(v) as [string, unknown][] : [['eq', v] as const];
    if (more.length > 0 || !operators.includes(op)) return null;
    if (op !== 'in' && op !== 'nin') return { path, op, value: shown(value) };
    return Array.isArray(value) && !value.some((x) => shown(x).includes(',')) ? { path, op, value: value.map(shown).join(', ') } : null;
  });
  return lines.includes(null) ? null : lines as Line[];
}

export function conditionOf(lines: Line[]): Record<string, unknown> {
  return Object.fromEntries(lines.filter((l) => l.path.trim()).map((l) => {
    const list = () => l.value.split(',').map((v) => v.trim()).filter(Boolean).map(read);
    const value = l.op === 'eq' ? read(l.value) : l.op === 'in' ? list() : { [l.op]: l.op === 'nin' ? list() : read(l.value) };
    return [l.path.trim(), value];
  }));
}

export const textOf = (condition: unknown) => JSON.stringify(condition, null, 2);

// objectOf reads a condition that was written as JSON; null for what is none.
export function objectOf(text: string): Record<string, unknown> | null {
  const v = text.trim() ? read(text) : {};
  return v !== null && typeof v === 'object' && !isNumeric(v) && !Array.isArray(v) ? v as Record<string, unknown> : null;
}
