package audit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"atrium/internal/platform/text"
)

// Change is one changed field of an entry.
type Change struct {
	From any `json:"from"`
	To   any `json:"to"`
}

// maxChange limits one side of a change, in bytes of JSON; a longer one is replaced by its length.
const maxChange = 2048

// diffField is one column of an entity as the audit log shows it.
type diffField struct {
	index  int
	name   string
	masked bool
}

var diffPlans sync.Map // reflect.Type → []diffField

// planFor lists the columns of an Ent entity, and masks those that Ent marks sensitive. It leaves out keys, the times
// that every row has, and columns that the schema tags with audit:"-".
func planFor(t reflect.Type) []diffField {
	if p, ok := diffPlans.Load(t); ok {
		return p.([]diffField) // only plans are stored
	}
	var plan []diffField
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Name == "Edges" || f.Anonymous || f.Tag.Get("audit") == "-" {
			continue
		}
		switch name {
		case "id", "company_id", "created_at", "updated_at":
			continue
		case "-":
			if f.Name == "Previous" {
				continue // a secret's values before: the entry tells that its value changed
			}
			plan = append(plan, diffField{index: f.Index[0], name: secretName(f.Name), masked: true})
		default:
			plan = append(plan, diffField{index: f.Index[0], name: text.Camel(name)})
		}
	}
	diffPlans.Store(t, plan)
	return plan
}

// secretName returns the API's name of a masked field: a sealed value is called value.
func secretName(field string) string {
	if field == "Sealed" {
		return "value"
	}
	return strings.ToLower(field[:1]) + field[1:]
}

// Diff returns the fields in which two entities of one type differ, by their API names, with secrets masked. Either
// side may be nil: a create shows the fields that were set, a delete those that were lost.
func Diff(before, after any) map[string]Change {
	b, a := entity(before), entity(after)
	out := map[string]Change{}
	if !b.IsValid() && !a.IsValid() {
		return out
	}
	typ := b
	if !typ.IsValid() {
		typ = a
	}
	for _, f := range planFor(typ.Type()) {
		from, to := fieldOf(b, f), fieldOf(a, f)
		if reflect.DeepEqual(from, to) {
			continue
		}
		if f.masked {
			from, to = mask(from), mask(to)
		}
		out[f.name] = Change{From: bounded(from), To: bounded(to)}
	}
	return out
}

// entity returns the struct that an entity points to, or the zero Value for nil.
func entity(v any) reflect.Value {
	rv := reflect.ValueOf(v)
	if !rv.IsValid() || rv.Kind() == reflect.Pointer && rv.IsNil() {
		return reflect.Value{}
	}
	return reflect.Indirect(rv)
}

// fieldOf returns a field's value; nil if there is no entity or the value is empty.
func fieldOf(v reflect.Value, f diffField) any {
	if !v.IsValid() {
		return nil
	}
	fv := v.Field(f.index)
	if fv.Kind() == reflect.Pointer {
		if fv.IsNil() {
			return nil
		}
		fv = fv.Elem()
	}
	switch fv.Kind() {
	case reflect.Map, reflect.Slice:
		if fv.Len() == 0 {
			return nil
		}
	case reflect.String:
		if fv.Len() == 0 {
			return nil
		}
	}
	return fv.Interface()
}

func mask(v any) any {
	if v == nil {
		return nil
	}
	return "***"
}

// bounded replaces a value with long JSON by its length.
func bounded(v any) any {
	switch v := v.(type) {
	case nil, bool, int, int8, int64, float64:
		return v
	case json.RawMessage:
		if len(v) > maxChange { // to write a mebibyte anew takes 10 ms of the transaction
			return fmt.Sprintf("(%d bytes)", len(v))
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "(not representable)"
	}
	if len(b) > maxChange {
		return fmt.Sprintf("(%d bytes)", len(b))
	}
	return json.RawMessage(b)
}
