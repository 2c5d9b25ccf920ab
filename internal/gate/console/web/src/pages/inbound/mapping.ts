// mapping is what a request of an inbound webhook is made of: an expression by each name, those of questions as fields.KEY.
export type Mapping = Readonly<Record<string, string>>;

// flat reads a mapping of the API.
export function flat(stored: unknown): Mapping {
  const out: Record<string, string> = {};
  if (!stored || typeof stored !== 'object') return out;
  for (const [name, value] of Object.entries(stored)) {
    if (name !== 'fields') out[name] = String(value);
    else for (const [key, x] of Object.entries((value ?? {}) as Record<string, unknown>)) out[`fields.${key}`] = String(x);
  }
  return out;
}

// nested writes it for the API; null when nothing is said.
export function nested(m: Mapping): Record<string, unknown> | null {
  const said = Object.entries(m).filter(([, x]) => x.trim() !== '');
  if (said.length === 0) return null;
  const fields = said.filter(([name]) => name.startsWith('fields.')).map(([name, x]) => [name.slice(7), x]);
  return { ...Object.fromEntries(said.filter(([name]) => !name.startsWith('fields.'))), ...(fields.length > 0 ? { fields: Object.fromEntries(fields) as unknown } : {}) };
}

// said is a value as people read it.
export function said(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return value.map(said).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}
