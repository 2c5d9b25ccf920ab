package resolve

import (
	"context"
	"reflect"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/internal/platform/text"
)

// columns returns the columns of T for Ent to select: those that the selection of the context's field needs, below a path of
// fields. Returns nil, which selects all, when something is selected that is neither a column nor an edge along one. An entity
// has up to twenty columns, some of them documents, and clients ask for a few.
func columns[T any](ctx context.Context, path ...string) []string {
	known := map[string]string{"__typename": "id"} // by the names of fields and edges
	for f := range reflect.TypeFor[T]().Fields() {
		column, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && column != "-" {
			name := text.Camel(column)
			known[name], known[strings.TrimSuffix(name, "Id")] = column, column
		}
	}
	if column, ok := known["createdBy"]; ok {
		known["creator"] = column
	}
	out := []string{"id"}
	for _, name := range selected(ctx, reflect.TypeFor[T]().Name(), path) {
		column, ok := known[name]
		if !ok {
			return nil
		}
		out = append(out, column)
	}
	return out
}

// selected returns the names of the fields that are selected on a type, below a path of the context's field.
func selected(ctx context.Context, of string, path []string) []string {
	fields := []graphql.CollectedField{graphql.GetFieldContext(ctx).Field}
	for _, name := range append([]string{fields[0].Name}, path...) {
		var below []graphql.CollectedField
		for _, f := range fields {
			if f.Name == name {
				satisfied := []string{of, f.Definition.Type.Name(), "Node", "Actor"}
				below = append(below, graphql.CollectFields(graphql.GetOperationContext(ctx), f.Selections, satisfied)...)
			}
		}
		fields = below
	}
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}
