package form

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/internal/apperr"
)

// maxUnknown is how many unknown keys are listed one by one.
const maxUnknown = 200

// Form is a compiled definition: immutable, and safe for concurrent use.
type Form struct {
	fields []field
	byKey  map[string]int
	order  []int // indexes of fields, each after those that its visibility depends on

	patternCost float64 // of the longest values, in instructions × characters
}

// Lookups tell which of the given ids exist for the caller, as keys that map to true. Validate calls each at most
// once, with every id of its kind, each once, in form order; never with none. A lookup may be nil where no value of
// its kind occurs.
type Lookups struct {
	Users func(ctx context.Context, ids []string) (existing map[string]bool, err error)
	Teams func(ctx context.Context, ids []string) (existing map[string]bool, err error)
}

// Compile prepares a definition for any number of calls of Validate. It returns validation_error with Check's rows if
// the definition is faulty. Later changes of d do not reach the form.
func Compile(d Definition) (*Form, error) {
	form, faults := prepare(d)
	if len(faults) > 0 {
		return nil, apperr.Invalid(faults...)
	}
	return form, nil
}

// Validate judges a request's fields and returns a row for each field it refuses, or nil. Values are as encoding/json
// decodes them, with or without UseNumber; int, int64 and []string are understood too. They are not changed.
//
// Rows are named fields.<key> and come in form order, followed by unknown keys in order of their bytes (the first 200,
// then one row named "fields" for the rest). A field has at most one row: the first of not shown, missing, wrong type
// or shape, out of range, not of the pattern, no such user or team. Messages never repeat a value.
//
// Missing, for a required field, is null, absent, an empty text or an empty list; false and 0 are answers. An optional
// field takes null and the empty value of its own shape: a number or boolean field refuses "", all but multiselect
// refuse [].
//
// A field whose visibleWhen does not hold is not required, and a value for it is refused rather than dropped: dropping
// would file something else than was sent. null and the empty value of its shape pass. A condition on a field that has
// no value, or is itself hidden, does not hold, whatever value it names; false is no exception. A condition on a field
// that has a row, or that depends on one that has, is left open: no row is made from it.
//
// Texts whose patterns would take more than maxCallCost together are refused from the one on that goes beyond it.
//
// An error means that a lookup failed, was needed and nil, or that ctx ended; there are no rows then.
func (form *Form) Validate(ctx context.Context, values map[string]any, lookups Lookups) ([]apperr.Detail, error) {
	users, teams, err := form.lookUp(ctx, values, lookups)
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
		if cost += f.cost(values[f.key]); cost <= maxCallCost {
			v = f.judge(values[f.key], visible)
		}
		switch {
		case v.state != given:
		case f.kind == User && !users[values[f.key].(string)]:
			v = verdict{refused, "There is no such user."}
		case f.kind == Team && !teams[values[f.key].(string)]:
			v = verdict{refused, "There is no such team."}
		case visible == unsure:
			v.state = doubtful
		}
		verdicts[i] = v
	}

	var out rows
	known := 0
	for i, v := range verdicts {
		if _, ok := values[form.fields[i].key]; ok {
			known++
		}
		if v.message != "" {
			out.add(form.fields[i].name, "%s", v.message)
		}
	}
	if known < len(values) {
		form.refuseUnknown(&out, values)
	}
	return out.list, nil
}

// maxCallCost bounds what the patterns of one call may cost, in instructions × characters: about 50 ms of the worst ones.
const maxCallCost = 4_000_000

// Cost is what matching the values with the form's patterns takes at most, in instructions × characters. Some 100,000
// take a millisecond.
func (form *Form) Cost(values map[string]any) int {
	sum := 0
	for i := range form.fields {
		sum += form.fields[i].cost(values[form.fields[i].key])
	}
	return min(sum, maxCallCost)
}

// verdict is what came of one field.
type verdict struct {
	state   state
	message string // of its row; "" when there is none
}

type state int8

const (
	absent   state = iota // no value that conditions could look at: not answered, or hidden
	given                 // a value that is fine
	doubtful              // a value that is fine, if the field is shown at all
	refused               // a value, or the lack of one, that is a fault
)

// judge decides on one value, existence of users and teams aside.
func (f *field) judge(v any, visible visibility) verdict {
	switch {
	case visible == hidden && f.blank(v):
		return verdict{state: absent}
	case visible == hidden:
		return verdict{absent, "Is not shown with these answers, and so takes no value."}
	case visible == shown && f.required && missing(v):
		return verdict{refused, "Is required."}
	case f.blank(v):
		return verdict{state: absent}
	}
	if message := f.fault(v); message != "" {
		return verdict{refused, message}
	}
	return verdict{state: given}
}

// lookUp asks which of the users and teams among the values exist. It comes before visibility is known, because
// visibility may depend on the answer; the price is that ids in hidden fields are asked for as well.
func (form *Form) lookUp(ctx context.Context, values map[string]any, lookups Lookups) (users, teams map[string]bool, err error) {
	var userIDs, teamIDs []string
	for i := range form.fields {
		f := &form.fields[i]
		if f.kind != User && f.kind != Team {
			continue
		}
		s, ok := values[f.key].(string)
		switch {
		case !ok || f.fault(s) != "":
		case f.kind == User && !slices.Contains(userIDs, s):
			userIDs = append(userIDs, s)
		case f.kind == Team && !slices.Contains(teamIDs, s):
			teamIDs = append(teamIDs, s)
		}
	}
	if users, err = ask(ctx, "users", lookups.Users, userIDs); err != nil {
		return nil, nil, err
	}
	teams, err = ask(ctx, "teams", lookups.Teams, teamIDs)
	return users, teams, err
}

func ask(ctx context.Context, what string, lookup func(context.Context, []string) (map[string]bool, error), ids []string) (map[string]bool, error) {
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

func (form *Form) refuseUnknown(out *rows, values map[string]any) {
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if _, ok := form.byKey[key]; !ok {
			unknown = append(unknown, key)
		}
	}
	for _, key := range unknown[:min(len(unknown), maxUnknown)] {
		out.add("fields."+clip(key), "The form has no such field.")
	}
	if more := len(unknown) - maxUnknown; more > 0 {
		out.add("fields", "There are %d more fields that the form does not have.", more)
	}
}
