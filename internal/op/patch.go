package op

import (
	"reflect"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
)

// Patch is a field of a PATCH: absent (IsSet is false), null (set, Value is nil) or a value. It is gqlgen's type, so
// that REST and GraphQL fill the same structs. Give it `json:"name,omitzero"`, and `nullable:"true"` where null clears.
type Patch[T any] = graphql.Omittable[*T]

// Given returns the value of a patch that sets one; false when the field is absent or null.
func Given[T any](p Patch[T]) (T, bool) {
	if v, ok := p.ValueOK(); ok && v != nil {
		return *v, true
	}
	var zero T
	return zero, false
}

// Cleared reports whether the patch sets the field to null.
func Cleared[T any](p Patch[T]) bool {
	v, ok := p.ValueOK()
	return ok && v == nil
}

// SetTo returns a patch that sets the field to v.
func SetTo[T any](v T) Patch[T] { return graphql.OmittableOf(&v) }

// Clear returns a patch that sets the field to null.
func Clear[T any]() Patch[T] { return graphql.OmittableOf[*T](nil) }

// After returns a field that may be null as it is after a patch of a row that has before.
func After[T any](p Patch[T], before *T) *T {
	if p.IsSet() {
		return p.Value()
	}
	return before
}

// Or returns what p points at, or the default when it is nil.
func Or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// Set calls set when the patch names a value.
func Set[T, U any](p Patch[T], set func(T) U) {
	if v, ok := Given(p); ok {
		set(v)
	}
}

// SetOrClear calls set when the patch names a value and clear when it is null.
func SetOrClear[T, U any](p Patch[T], set func(T) U, unset func() U) {
	if v, ok := Given(p); ok {
		set(v)
	} else if Cleared(p) {
		unset()
	}
}

// Sets reports whether a PATCH's input sets any body field other than besides, which lists JSON names. Operations whose
// rights depend on what changes use it, so that no field is forgotten.
func Sets(in any, besides ...string) bool {
	v := reflect.ValueOf(in)
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" || slices.Contains(besides, name) {
			continue
		}
		field := v.FieldByIndex(f.Index)
		if patch, ok := field.Interface().(interface{ IsSet() bool }); ok && patch.IsSet() || !ok && !field.IsZero() {
			return true
		}
	}
	return false
}
