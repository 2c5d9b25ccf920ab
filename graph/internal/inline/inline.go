package inline

import (
	"context"
	"io"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
)

// Slice marshals the elements of a list. It replaces graphql.MarshalSliceConcurrently and takes the same arguments; it ignores
// those that limit goroutines.
func Slice(ctx context.Context, length int, _ int64, _ bool, element func(ctx context.Context, i int) graphql.Marshaler) graphql.Array {
	out := make(graphql.Array, length)
	for i := range length {
		out[i] = element(graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &i}), i)
	}
	return out
}

// Fields are the fields of one object. It replaces graphql.FieldSet.
type Fields struct {
	fields   []graphql.CollectedField
	Values   []graphql.Marshaler
	Invalids uint32
}

// NewFields returns Fields with room for the values.
func NewFields(fields []graphql.CollectedField) *Fields {
	return &Fields{fields: fields, Values: make([]graphql.Marshaler, len(fields))}
}

// Dispatch does nothing, because the values are computed already.
func (f *Fields) Dispatch(context.Context) {}

// MarshalGQL writes the object. Fields that were selected twice have been merged into one.
func (f *Fields) MarshalGQL(w io.Writer) {
	sep := "{"
	for i, field := range f.fields {
		_, _ = io.WriteString(w, sep+`"`+field.Alias+`":`) // writing to the answer's buffer never fails; a name needs no escapes
		f.Values[i].MarshalGQL(w)
		sep = ","
	}
	if sep == "{" {
		_, _ = io.WriteString(w, sep)
	}
	_, _ = io.WriteString(w, "}")
}

// OfKind returns what introspection says of a type; nil, which is null, if types of its kind do not have it.
func OfKind(t *introspection.Type, value any, kinds ...string) any {
	if !slices.Contains(kinds, t.Kind()) {
		return nil
	}
	return value
}
