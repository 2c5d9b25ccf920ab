// cache.mjs derives from the schema and the pages' documents what the cache must know: which types have no row of their own, which
// fields are read page by page, and which fields a mutation makes stale. It throws for what no rule covers.
import { getNamedType, isInterfaceType, isLeafType, Kind, TypeInfo, visit, visitWithTypeInfo } from 'graphql';

// An operation says by @refetch(fields: "tasks Workflow.versions") what it changes beside the row that it returns: fields of Query, and
// of the row that its input names. The directive is for gen.mjs alone.
const refetch = 'refetch';

export const plain = (doc) => visit(doc, { Directive: (d) => (d.name.value === refetch ? null : undefined) });

const nounOf = (field) => field.replace(/^[a-z]+/, '');
const low = (name) => name[0].toLowerCase() + name.slice(1);

// isRow reports whether a type is a row of its own. One that says beside its id of what type the row is names another's.
function isRow(type) {
  const { id, type: named } = type.getFields();
  return type.getInterfaces().some((i) => i.name === 'Node') || (id !== undefined && String(id.type) === 'ID!' && named === undefined);
}

// asksForId reports whether a selection has the id, directly or in one of its fragments.
const asksForId = (selection, fragments) => selection.selections.some((s) => (s.kind === Kind.FIELD
  ? s.name.value === 'id' && !s.alias
  : asksForId(s.kind === Kind.FRAGMENT_SPREAD ? fragments.get(s.name.value).selectionSet : s.selectionSet, fragments)));

// cacheOf returns the lists. A stale field of Query is its name; one of a row is Type.key.field, where the input's field `key` is the row's id.
export function cacheOf(schema, all) {
  const fragments = new Map(all.definitions.filter((d) => d.kind === Kind.FRAGMENT_DEFINITION).map((d) => [d.name.value, d]));
  const embedded = new Set();
  const read = new Map(); // Type.field → the type of its rows, or none
  const paged = new Set();
  const info = new TypeInfo(schema);
  visit(all, visitWithTypeInfo(info, { Field(node) {
    const parent = info.getParentType();
    const type = getNamedType(info.getType());
    const of = `${parent.name}.${node.name.value}`;
    if (isLeafType(type)) {
      read.set(of, undefined);
      return;
    }
    const edges = type.getFields().pageInfo && type.getFields().edges;
    read.set(of, edges && getNamedType(getNamedType(edges.type).getFields().node.type).name);
    if (edges && node.arguments.some((a) => a.name.value === 'after')) paged.add(of);
    if (edges || /Edge$|^PageInfo$/.test(type.name) || ['Mutation', 'Subscription'].includes(parent.name)) return; // the cache knows these
    if (!isInterfaceType(type) && !isRow(type)) embedded.add(type.name);
    else if (!asksForId(node.selectionSet, fragments)) throw new Error(`${of} is a row, and is read without its id`);
  } }));

  // fieldOf is a field as one operation makes it stale. The input names the row by ‘requestId’, or by its id.
  const fieldOf = (name, root) => {
    const [type, field] = name.includes('.') ? name.split('.') : ['Query', name];
    if (!read.has(`${type}.${field}`)) throw new Error(`${root.name} makes ${name} stale, which no document reads`);
    if (type === 'Query') return field;
    const input = getNamedType(root.args.find((a) => a.name === 'input').type).getFields();
    const key = [`${low(type)}Id`, 'id'].find((k) => k in input);
    if (!key) throw new Error(`${root.name} does not say of which ${type} it makes ${name} stale`);
    return `${type}.${key}.${field}`;
  };

  // byRule is what a mutation makes stale by its name: of one that creates or deletes, the lists of its noun; of another one nothing,
  // if it returns the row that its noun names.
  const byRule = (root, node) => {
    const noun = nounOf(root.name);
    if (!/^(create|delete)/.test(root.name)) {
      const own = node.selectionSet?.selections.some((s) => s.kind === Kind.FIELD && getNamedType(getNamedType(root.type).getFields()[s.name.value].type).name === noun);
      return own ? [] : undefined;
    }
    const lists = [...read].filter(([, rows]) => rows === noun).map(([of]) => of.replace(/^Query\./, ''));
    const shown = root.name.startsWith('create') ? lists : lists.filter((l) => !l.includes('.')); // the row's parent is not in the input
    return shown.length > 0 ? shown : undefined;
  };

  const stale = { Mutation: {}, Subscription: {} };
  for (const o of all.definitions.filter((d) => d.kind === Kind.OPERATION_DEFINITION && d.operation !== 'query')) {
    const type = o.operation === 'mutation' ? schema.getMutationType() : schema.getSubscriptionType();
    const line = o.directives.find((d) => d.name.value === refetch)?.arguments[0].value.value.split(' ').filter(Boolean);
    for (const node of o.selectionSet.selections) {
      const root = type.getFields()[node.name.value];
      const ruled = o.operation === 'mutation' ? byRule(root, node) : [];
      if (!ruled && !line) throw new Error(`${o.name.value}: what does ${root.name} make stale? Say it by @${refetch}, with fields: "" for nothing`);
      stale[type.name][root.name] = [...new Set([...stale[type.name][root.name] ?? [], ...[...ruled ?? [], ...line ?? []].map((f) => fieldOf(f, root))])];
    }
  }
  const byType = {};
  for (const of of [...paged].sort()) (byType[of.split('.')[0]] ??= []).push(of.split('.')[1]);
  return { embedded: [...embedded].sort(), paged: byType, stale };
}
