package op

import (
	"reflect"
	"slices"
	"strings"
)

// Sets tells whether a PATCH's input names any field of its body besides those given, by their JSON names. Rights that
// depend on what changes are derived by it, so that no field is forgotten.
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
