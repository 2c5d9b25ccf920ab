package schema_test

import (
	"context"
	"reflect"
	"strings"

	"atrium/ent"
)

// statement is one kind of statement on the row with an id; it returns how many rows it reached. Not found is zero.
type statement struct {
	name string
	edge bool // follows an edge of the row: what it reaches are other rows
	run  func(ctx context.Context, client reflect.Value, id, row any) (int, error)
}

// reads are every kind of query that an entity's client offers, with those along its edges.
func reads(client reflect.Value) []statement {
	query := func(c reflect.Value) reflect.Value { return call(c, "Query")[0] }
	one := func(method string) func(context.Context, reflect.Value, any, any) (int, error) {
		return func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			return found(call(whereID(query(c), id), method, ctx)[1])
		}
	}
	length := func(out []reflect.Value) (int, error) { return out[0].Len(), asError(out[1]) }
	list := []statement{
		{name: "All", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			return length(call(whereID(query(c), id), "All", ctx))
		}},
		{name: "All without Where", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			out := call(query(c), "All", ctx)
			n := 0
			for i := range out[0].Len() {
				if reflect.DeepEqual(out[0].Index(i).Elem().FieldByName("ID").Interface(), id) {
					n++
				}
			}
			return n, asError(out[1])
		}},
		{name: "First", run: one("First")},
		{name: "FirstID", run: one("FirstID")},
		{name: "Only", run: one("Only")},
		{name: "OnlyID", run: one("OnlyID")},
		{name: "IDs", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			return length(call(whereID(query(c), id), "IDs", ctx))
		}},
		{name: "Count", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			out := call(whereID(query(c), id), "Count", ctx)
			return int(out[0].Int()), asError(out[1])
		}},
		{name: "Exist", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			out := call(whereID(query(c), id), "Exist", ctx)
			if out[0].Bool() {
				return 1, asError(out[1])
			}
			return 0, asError(out[1])
		}},
		{name: "Get", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			return found(call(c, "Get", ctx, id)[1])
		}},
		{name: "Clone", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			return length(call(call(whereID(query(c), id), "Clone")[0], "All", ctx))
		}},
		{name: "Aggregate", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			out := call(call(whereID(query(c), id), "Aggregate", ent.Count())[0], "Int", ctx)
			return int(out[0].Int()), asError(out[1])
		}},
		{name: "Select", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			var v []struct{ ID any }
			err := asError(call(call(whereID(query(c), id), "Select", "id")[0], "Scan", ctx, &v)[0])
			return len(v), err
		}},
		{name: "GroupBy", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			var v []struct {
				ID    any
				Count int
			}
			g := call(call(whereID(query(c), id), "GroupBy", "id")[0], "Aggregate", ent.Count())[0]
			err := asError(call(g, "Scan", ctx, &v)[0])
			return len(v), err
		}},
	}
	return append(list, edgeReads(client)...)
}

// edgeReads are the queries along the entity's edges, from a query and from a row, and eager loading.
func edgeReads(client reflect.Value) []statement {
	var list []statement
	q := call(client, "Query")[0]
	count := func(ctx context.Context, q reflect.Value) (int, error) {
		out := call(q, "Count", ctx)
		return int(out[0].Int()), asError(out[1])
	}
	for m := range q.Type().Methods() {
		name := m.Name
		switch {
		case strings.HasPrefix(name, "Query") && m.Type.NumIn() == 1:
			list = append(list,
				statement{name: name, edge: true, run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
					return count(ctx, call(whereID(call(c, "Query")[0], id), name)[0])
				}},
				statement{name: name + " of the row", edge: true, run: func(ctx context.Context, c reflect.Value, _, row any) (int, error) {
					return count(ctx, call(c, name, row)[0])
				}})
		case strings.HasPrefix(name, "With") && m.Type.IsVariadic():
			list = append(list, statement{name: name, run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
				out := call(call(whereID(call(c, "Query")[0], id), name)[0], "All", ctx)
				return out[0].Len(), asError(out[1])
			}})
		}
	}
	return list
}

// writes are every kind of update and delete.
func writes() []statement {
	number := func(out []reflect.Value) (int, error) { return int(out[0].Int()), asError(out[1]) }
	return []statement{
		{name: "Update", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			return number(call(whereID(touch(call(c, "Update")[0]), id), "Save", ctx))
		}},
		{name: "UpdateOneID", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			return found(call(touch(call(c, "UpdateOneID", id)[0]), "Save", ctx)[1])
		}},
		{name: "UpdateOne", run: func(ctx context.Context, c reflect.Value, _, row any) (int, error) {
			return found(call(touch(call(c, "UpdateOne", row)[0]), "Save", ctx)[1])
		}},
		{name: "Delete", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			return number(call(whereID(call(c, "Delete")[0], id), "Exec", ctx))
		}},
		{name: "DeleteOneID", run: func(ctx context.Context, c reflect.Value, id, _ any) (int, error) {
			return found(call(call(c, "DeleteOneID", id)[0], "Exec", ctx)[0])
		}},
		{name: "DeleteOne", run: func(ctx context.Context, c reflect.Value, _, row any) (int, error) {
			return found(call(call(c, "DeleteOne", row)[0], "Exec", ctx)[0])
		}},
	}
}

// sweeps are writes without a condition: they may reach the caller's own rows and nobody else's.
func sweeps() []statement {
	return []statement{
		{name: "Update everything", run: func(ctx context.Context, c reflect.Value, _, _ any) (int, error) {
			return 0, asError(call(touch(call(c, "Update")[0]), "Save", ctx)[1])
		}},
		{name: "Delete everything", run: func(ctx context.Context, c reflect.Value, _, _ any) (int, error) {
			return 0, asError(call(call(c, "Delete")[0], "Exec", ctx)[1])
		}},
	}
}

// found is 1 without an error and 0 for Ent's not found.
func found(v reflect.Value) (int, error) {
	err := asError(v)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return 1, nil
}
