// Package inline is what generated code answers objects and lists by: one field, and one element, after the other.
//
// gqlgen's own makes a goroutine for each element of a list, and keeps account of @defer for each object. Here edges are
// read for all rows of a list at once, so that goroutines would only wait for the first, and nothing is deferred.
package inline

import (
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"
)

// Slice marshals the elements of a list. It stands for graphql.MarshalSliceConcurrently and takes the same arguments;
// those that bound goroutines mean nothing here.
func Slice(ctx context.Context, length int, _ int64, _ bool, element func(ctx context.Context, i int) graphql.Marshaler) graphql.Array {
	out := make(graphql.Array, length)
	for i := range length {
		out[i] = element(graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &i}), i)
	}
	return out
}

// Fields are the fields of one object. It stands for graphql.FieldSet.
type Fields struct {
	fields   []graphql.CollectedField
	Values   []graphql.Marshaler
	Invalids uint32
}

// NewFields returns room for the fields' values.
func NewFields(fields []graphql.CollectedField) *Fields {
	return &Fields{fields: fields, Values: make([]graphql.Marshaler, len(fields))}
}

// Dispatch does nothing: the values are there.
func (f *Fields) Dispatch(context.Context) {}

// MarshalGQL writes the object. Fields that were selected twice have been collected into one.
func (f *Fields) MarshalGQL(w io.Writer) {
	sep := "{"
	for i, field := range f.fields {
		_, _ = io.WriteString(w, sep+`"`+field.Alias+`":`) // into the answer's buffer, which takes all; a name needs no escapes
		f.Values[i].MarshalGQL(w)
		sep = ","
	}
	if sep == "{" {
		_, _ = io.WriteString(w, sep)
	}
	_, _ = io.WriteString(w, "}")
}
