package op

import (
	"reflect"
	"strings"
	"sync"
)

// leanness is which columns of an entity are read always, and which only when somebody asks for them: texts without a
// bound, and whatever has to be decoded, moments included.
type leanness struct {
	columns []string // read always
	left    []string // the others, by the API's names
}

var leannesses sync.Map // reflect.Type → leanness

func leannessOf(t reflect.Type) leanness {
	if known, ok := leannesses.Load(t); ok {
		return known.(leanness) //nolint:forcetypeassert // only those are stored
	}
	var out leanness
	for f := range t.Fields() {
		column, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported(), f.Anonymous, f.Name == "Edges", column == "-":
		case column == "description", column != "created_at" && heavy(f.Type): // lists are ordered by created_at
			out.left = append(out.left, camel(column))
		default:
			out.columns = append(out.columns, column)
		}
	}
	leannesses.Store(t, out)
	return out
}

func heavy(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Map, reflect.Slice, reflect.Struct:
		return true
	}
	return false
}

// Lean narrows a query for rows of E to the columns that are read always, when lean says so. There are no other
// selections of columns: databases keep statements prepared, and each selection would be one more.
func Lean[E any, Q interface{ Select(columns ...string) S }, S any](q Q, lean bool) Q {
	if lean {
		q.Select(leannessOf(reflect.TypeFor[E]()).columns...)
	}
	return q
}

// LeftOut returns what Lean leaves out of rows of E, by the API's names.
func LeftOut[E any]() []string { return leannessOf(reflect.TypeFor[E]()).left }
