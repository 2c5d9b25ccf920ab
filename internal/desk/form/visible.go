package form

import (
	"fmt"
	"maps"
	"slices"
)

// condition holds while the field at index on has one of the values; for a multiselect, while it includes one.
type condition struct {
	on     int
	values map[any]struct{} // in their canonical form
}

// visibility reports whether a field is shown with the answers given; see the diagram in doc.go.
type visibility int8

const (
	shown visibility = iota
	hidden
	undetermined
)

// addConditions checks and compiles the visibleWhen of field i, in the order of its keys.
func (form *Form) addConditions(out *details, i int, when map[string]any) {
	at := fmt.Sprintf("form.fields[%d].visibleWhen", i)
	if len(when) > len(form.fields) {
		out.add(at, "Names more fields than the form has.")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(when)) {
		here := at + "." + shortKey(key)
		on, known := form.byKey[key]
		switch {
		case !known:
			out.add(here, "No field of this form has this key.")
		case key == form.fields[i].key:
			out.add(here, "A field cannot depend on itself.")
		case form.fields[on].kind == File:
			out.add(here, "Names a field for files, which has no values to compare with.")
		default:
			c := condition{on: on}
			if other := &form.fields[on]; !other.faulty {
				var fault string
				if c.values, fault = other.expected(when[key]); fault != "" {
					out.add(here, "%s", fault)
				}
			}
			form.fields[i].when = append(form.fields[i].when, c)
		}
	}
}

// expected compiles the value or values that a condition on f names, or returns the message of a fault.
func (f *field) expected(given any) (map[any]struct{}, string) {
	values, isList := list(given)
	if !isList {
		values = []any{given}
	}
	if len(values) == 0 || len(values) > MaxOptions {
		return nil, fmt.Sprintf("Must be a value or a list of 1 to %d values.", MaxOptions)
	}
	out := make(map[any]struct{}, len(values))
	for _, v := range values {
		_, nested := list(v)
		if nested || missing(v) || f.elementFault(v) != "" {
			return nil, "Must be a value that the field it names can have, or a list of such values."
		}
		out[f.canonical(v)] = struct{}{}
	}
	return out, ""
}

// sortFields computes the order in which fields are validated, each after the fields that it depends on. It adds a detail at the
// first field of each cycle.
func (form *Form) sortFields(out []details) {
	const (
		fresh = iota
		open
		done
	)
	marks := make([]int, len(form.fields))
	reported := map[int]bool{}
	var path []int
	var visit func(i int)
	visit = func(i int) {
		marks[i] = open
		path = append(path, i)
		for _, c := range form.fields[i].when {
			switch marks[c.on] {
			case fresh:
				visit(c.on)
			case open:
				if first := slices.Min(path[slices.Index(path, c.on):]); !reported[first] {
					reported[first] = true
					out[first].add(fmt.Sprintf("form.fields[%d].visibleWhen", first), "Depends on itself by way of other fields.")
				}
			}
		}
		path = path[:len(path)-1]
		marks[i] = done
		form.order = append(form.order, i)
	}
	for i := range form.fields {
		if marks[i] == fresh {
			visit(i)
		}
	}
}

// visibility decides whether field i is shown, from the verdicts on the fields that it depends on.
func (form *Form) visibility(i int, values map[string]any, verdicts []verdict) visibility {
	out := shown
	for _, c := range form.fields[i].when {
		other := &form.fields[c.on]
		switch on := verdicts[c.on].state; {
		case on == refused:
			out = undetermined
		case on == absent || !c.holds(other, values[other.key]):
			return hidden
		case on == conditional:
			out = undetermined
		}
	}
	return out
}

// holds reports whether a value that the field accepted meets the condition.
func (c condition) holds(f *field, value any) bool {
	if f.kind != MultiSelect {
		_, ok := c.values[f.canonical(value)]
		return ok
	}
	chosen, _ := list(value)
	return slices.ContainsFunc(chosen, func(v any) bool {
		_, ok := c.values[v]
		return ok
	})
}
