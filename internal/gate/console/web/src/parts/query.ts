// queryOf is the query of an address. A comma within a value is no separator of values.
export const queryOf = (values: Record<string, unknown>): string => Object.entries(values).map(([k, v]) => `${k}=${[v].flat().map((x) => encodeURIComponent(String(x))).join(',')}`).join('&');
