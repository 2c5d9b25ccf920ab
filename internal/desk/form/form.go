package form

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/internal/platform/apperr"
)

// maxUnknown is how many unknown keys get a detail of their own.
const maxUnknown = 200

// Form is a compiled definition: immutable, and safe for concurrent use.
type Form struct {
	fields []field
	byKey  map[string]int
	order  []int // indexes of fields, each after the fields that its visibility depends on

	patternCost float64 // of the longest values, in instructions × characters
}

// Lookups return which of the given ids exist for the caller, as keys that map to true, and what is known of files. Validate calls each at most once, with
// all ids of its kind, without duplicates and in form order; it calls none without ids. A lookup may be nil if no value of its
// kind occurs.
type Lookups struct {
	Users func(ctx context.Context, ids []string) (existing map[string]bool, err error)
	Teams func(ctx context.Context, ids []string) (existing map[string]bool, err error)
	Files FileLookup
}

// Compile prepares a definition for any number of calls of Validate. It returns validation_error with Check's details if the
// definition is faulty. Later changes of d do not affect the form.
func Compile(d Definition) (*Form, error) {
	form, faults := prepare(d)
	if len(faults) > 0 {
		return nil, apperr.Invalid(faults...)
	}
	return form, nil
}

// Validate checks a request's fields and returns a detail for each field that it refuses, or nil. Values are as encoding/json
// decodes them, with or without UseNumber; int, int64 and []string are accepted too. They are not changed.
//
// Details are named fields.<key> and come in form order, followed by unknown keys in order of their bytes (the first 200, then
// one detail named "fields" for the rest). A field has at most one detail: the first of not shown, missing, wrong type or shape,
// out of range, not of the pattern, no such user or team. A list of files has one for each file that is refused, named fields.<key>[i].
// Messages never repeat a value.
//
// A required field is missing if it is null, absent, empty, a text or textarea of blanks (text.Blank), or an empty list; false and
// 0 are answers. An optional field accepts null and the empty value of its own type: a number or boolean field refuses "", and all
// but multiselect and file refuse [].
//
// A field whose visibleWhen does not hold is not required. A value for it is refused rather than dropped, because dropping would
// file something else than was sent; null and the empty value of its type pass. A condition on a field that has no value, or is
// itself hidden, does not hold, whatever value it names, even false. A condition on a field that has a detail, or that depends on
// one that has, stays open: no detail is made from it.
//
// Once the patterns together cost more than maxCallCost, that field and all fields with patterns after it are refused.
//
// An error means that a lookup failed, that a lookup was needed and nil, or that ctx ended; there are no details then.
func (form *Form) Validate(ctx context.Context, values map[string]any, lookups Lookups) ([]apperr.Detail, error) {
	found, err := form.lookUp(ctx, values, lookups)
	if err != nil {
		return nil, err
	}
	verdicts := make([]verdict, len(form.fields))
	cost := 0
	for _, i := range form.order {
		f := &form.fields[i]
		if err := ctx.Err(); err != nil { // patterns over long texts take their time
			return nil, fmt.Errorf("check the form: %w", err)
		}
		visible := form.visibility(i, values, verdicts)
		v := verdict{refused, "Is too long for the pattern of this field."}
		one := f.cost(values[f.key])
		if cost += one; one == 0 || cost <= maxCallCost {
			v = f.judge(values[f.key], visible)
		}
		switch {
		case v.state != given:
		case f.kind == User && !found.users[values[f.key].(string)]:
			v = verdict{refused, "There is no such user."}
		case f.kind == Team && !found.teams[values[f.key].(string)]:
			v = verdict{refused, "There is no such team."}
		case visible == undetermined:
			v.state = conditional
		}
		verdicts[i] = v
	}

	var out details
	known := 0
	for i, v := range verdicts {
		if _, ok := values[form.fields[i].key]; ok {
			known++
		}
		if v.message != "" {
			out.add(form.fields[i].name, "%s", v.message)
		} else if form.fields[i].kind == File && v.state != absent {
			form.fields[i].refuseFiles(&out, values[form.fields[i].key], found.files)
		}
	}
	if known < len(values) {
		form.refuseUnknown(&out, values)
	}
	return out.list, nil
}

// maxCallCost bounds the cost of the patterns of one call, in instructions × characters: about 50 ms of the most expensive ones.
const maxCallCost = 4_000_000

// Cost returns the highest cost of matching the values with the form's patterns, at most maxCallCost, in instructions ×
// characters. About 100,000 take a millisecond.
func (form *Form) Cost(values map[string]any) int {
	sum := 0
	for i := range form.fields {
		sum += form.fields[i].cost(values[form.fields[i].key])
	}
	return min(sum, maxCallCost)
}

// verdict is the result of one field.
type verdict struct {
	state   state
	message string // of its detail; "" when there is none
}

type state int8

const (
	absent      state = iota // no value for conditions to read: not answered, or hidden
	given                    // a valid value
	conditional              // a valid value, if the field is shown at all
	refused                  // a faulty value, or a missing one
)

// judge decides on one value. It does not check whether users and teams exist.
func (f *field) judge(v any, visible visibility) verdict {
	switch {
	case visible == hidden && f.blank(v):
		return verdict{state: absent}
	case visible == hidden:
		return verdict{absent, "Is not shown with these answers, and so takes no value."}
	case visible == shown && f.required && f.unanswered(v):
		return verdict{refused, "Is required."}
	case f.blank(v):
		return verdict{state: absent}
	}
	if message := f.fault(v); message != "" {
		return verdict{refused, message}
	}
	return verdict{state: given}
}

// found is what the lookups know.
type found struct {
	users, teams map[string]bool
	files        map[string]Attached
}

// lookUp asks which of the users, teams and files among the values exist. It runs before visibility is known, because visibility may
// depend on the result. So ids in hidden fields are looked up as well.
func (form *Form) lookUp(ctx context.Context, values map[string]any, lookups Lookups) (out found, err error) {
	var users, teams, files []string
	for i := range form.fields {
		f := &form.fields[i]
		for _, file := range f.fileIDs(values[f.key]) {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
		if f.kind != User && f.kind != Team {
			continue
		}
		s, ok := values[f.key].(string)
		switch {
		case !ok || f.fault(s) != "":
		case f.kind == User && !slices.Contains(users, s):
			users = append(users, s)
		case f.kind == Team && !slices.Contains(teams, s):
			teams = append(teams, s)
		}
	}
	if out.users, err = ask(ctx, "users", lookups.Users, users); err != nil {
		return out, err
	}
	if out.teams, err = ask(ctx, "teams", lookups.Teams, teams); err != nil {
		return out, err
	}
	out.files, err = ask(ctx, "files", lookups.Files, files)
	return out, err
}

func ask[V any](ctx context.Context, what string, lookup func(context.Context, []string) (map[string]V, error), ids []string) (map[string]V, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if lookup == nil {
		return nil, fmt.Errorf("check the form: it names %s, and there is no lookup for them", what)
	}
	existing, err := lookup(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up the %s a form names: %w", what, err)
	}
	return existing, nil
}

func (form *Form) refuseUnknown(out *details, values map[string]any) {
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if _, ok := form.byKey[key]; !ok {
			unknown = append(unknown, key)
		}
	}
	for _, key := range unknown[:min(len(unknown), maxUnknown)] {
		out.add("fields."+shortKey(key), "The form has no such field.")
	}
	if more := len(unknown) - maxUnknown; more > 0 {
		out.add("fields", "There are %d more fields that the form does not have.", more)
	}
}
