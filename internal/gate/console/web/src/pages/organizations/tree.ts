// treeOf orders organizations as a tree, each with how deep it stands.
export function treeOf<T extends { id: string; parentId?: string | null }>(list: T[], parent: string | null = null, depth = 0): (T & { depth: number })[] {
  if (depth > list.length) return [];
  const known = new Set(list.map((o) => o.id));
  return list.filter((o) => (o.parentId && known.has(o.parentId) ? o.parentId : null) === parent).flatMap((o) => [{ ...o, depth }, ...treeOf(list, o.id, depth + 1)]);
}
