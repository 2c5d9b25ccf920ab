// lists are what is done with the rows of a form: one is moved, replaced or left out.
export function moved<T>(all: T[], i: number, by: number): T[] {
  const to = [...all];
  const [one] = to.splice(i, 1);
  if (one !== undefined) to.splice(i + by, 0, one);
  return to;
}
export const replaced = <T>(all: T[], i: number, one: T): T[] => all.map((x, n) => (n === i ? one : x));
export const without = <T>(all: T[], i: number): T[] => all.filter((_x, n) => n !== i);
