package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"atrium/ent"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
	"atrium/internal/workflow/execution"
)

// The decisions of an approval or a sign-off.
const (
	approve = "APPROVE"
	reject  = "REJECT"
	expire  = "EXPIRE" // the deadline passes first
)

// answer is what a phase is answered once.
type answer struct {
	path   string // of the answer in the input
	source string
	shown  map[string]any

	outcome   string // of a task
	variables map[string]any
	signOff   string // empty: none

	decision  string            // of every approver; empty: see decisions
	decisions map[string]string // by the approver's id

	call    *engine.Answer // nil: none arrives
	failure string

	phases map[string]any // that a called workflow leaves behind, unless it fails
}

// answers are what phases are answered, by their ids.
type answers struct {
	given map[string][]answer
	lists map[string]bool // the phase has an answer for each time that it asks, not one for all
	none  map[string]bool // the trial stops where the phase asks
	last  map[string]answer

	used  map[string]int // how many of a list
	asked map[int]bool   // the visits that were answered, by number
}

// asks reports whether a phase waits for an answer.
func asks(p *definition.Phase) bool {
	return p.Process != nil || p.Approval != nil || calls(p) || p.Calls != nil && p.Calls.Wait || p.Data != nil && p.Data.OnInvalid == definition.Ask
}

func calls(p *definition.Phase) bool { return p.APICall != nil || p.Callout != nil }

// readAnswers reads the answers of an input. Every fault names its answer.
func readAnswers(ctx context.Context, tx *op.Tx, d *definition.Definition, r *ent.Request, sample bool, in Input) (*answers, error) {
	a := &answers{given: map[string][]answer{}, lists: map[string]bool{}, none: map[string]bool{}, used: map[string]int{}, asked: map[int]bool{}}
	all := reader{path: "answers"}
	if sample {
		r = nil // no offering's form says what its fields may be
	}
	for _, id := range sorted(in.Answers) {
		p := d.Phase(id)
		switch {
		case p == nil:
			all.fault(id, "is no phase of the definition")
			continue
		case !asks(p):
			all.fault(id, "must not be given: the phase asks nobody")
			continue
		case in.Answers[id] == nil:
			a.none[id] = true
			continue
		}
		list, isList := in.Answers[id].([]any)
		if a.lists[id] = isList; !isList {
			list = []any{in.Answers[id]}
		}
		for i, one := range list {
			path := "answers." + id
			if isList {
				path = fmt.Sprintf("%s[%d]", path, i)
			}
			of := reader{path: path}
			var ok bool
			if of.given, ok = one.(map[string]any); !ok {
				of.fault("", "must be an object")
			} else if err := a.read(ctx, tx, p, r, &of); err != nil {
				return nil, err
			}
			all.faults = append(all.faults, of.faults...)
		}
	}
	return a, all.err()
}

// read reads one answer of a phase.
func (a *answers) read(ctx context.Context, tx *op.Tx, p *definition.Phase, r *ent.Request, of *reader) (err error) {
	one := answer{path: of.path, source: Given, shown: of.given}
	var faults []apperr.Detail
	switch {
	case p.Process != nil:
		if one.readTask(p, of); len(of.faults) == 0 {
			faults, err = execution.TaskFaults(ctx, tx, p, one.outcome, one.variables, form.AnyFiles())
		}
	case p.Data != nil:
		of.keys("variables")
		if one.variables = of.object("variables"); len(of.faults) == 0 {
			faults, err = execution.CorrectionFaults(ctx, tx, r, one.variables)
		}
	case p.Approval != nil:
		one.readApproval(p.Approval, of)
	case p.Calls != nil:
		one.readCalled(of)
	default:
		one.readCall(of)
	}
	for _, f := range faults {
		of.fault(f.Field, "%s", f.Message)
	}
	a.given[p.ID] = append(a.given[p.ID], one)
	return err
}

func (a *answer) readTask(p *definition.Phase, of *reader) {
	known := []string{"outcome", "variables"}
	if engine.SignedOff(p) {
		known = append(known, "signOff")
	}
	of.keys(known...)
	a.outcome, a.variables, a.signOff = definition.Next, of.object("variables"), of.oneOf("signOff", approve, reject)
	if of.has("outcome") {
		a.outcome = of.text("outcome")
	}
}

func (a *answer) readApproval(c *definition.ApprovalConfig, of *reader) {
	of.keys("decision", "decisions")
	words := []string{approve, reject}
	if c.Deadline != nil {
		words = append(words, expire)
	}
	a.decision = of.oneOf("decision", words...)
	switch {
	case of.has("decision") && of.has("decisions"):
		of.fault("decisions", "must not be given together with decision")
	case !of.has("decision") && !of.has("decisions"):
		of.fault("decision", "is required unless decisions is given")
	}
	each := reader{path: of.path + ".decisions", given: of.object("decisions")}
	a.decisions = map[string]string{}
	for _, id := range sorted(each.given) {
		named := func(one definition.Approver) bool { return one.ID == id || one.ID == "" } // whom a rule stands for is known when it asks
		if !slices.ContainsFunc(c.Approvers, named) {
			each.fault(id, "is no approver of the phase")
			continue
		}
		a.decisions[id] = each.oneOf(id, approve, reject)
	}
	of.faults = append(of.faults, each.faults...)
}

func (a *answer) readCall(of *reader) {
	of.keys("status", "headers", "body", "failure")
	status := of.status("status")
	switch {
	case of.has("status") && of.has("failure"):
		of.fault("failure", "must not be given together with status")
	case !of.has("status") && !of.has("failure"):
		of.fault("status", "is required unless failure is given")
	}
	header := http.Header{}
	for name, value := range of.object("headers") {
		text, ok := value.(string)
		if !ok {
			of.fault("headers."+name, "must be a text")
		}
		header.Set(name, text)
	}
	if a.failure = of.text("failure"); a.failure == "" {
		a.call = &engine.Answer{Status: status, Header: header, Body: of.given["body"]}
	}
}

func (a *answer) readCalled(of *reader) {
	of.keys("phases", "failure")
	a.phases, a.failure = of.object("phases"), of.text("failure")
	if of.has("phases") && of.has("failure") {
		of.fault("failure", "must not be given together with phases")
	}
	if a.phases == nil {
		a.phases = map[string]any{}
	}
}

// take returns the next answer of a phase; nil for none. One that is no list answers the first question of each visit, and every attempt
// of a call.
func (a *answers) take(p *definition.Phase, visit int) *answer {
	again := a.asked[visit] && !calls(p)
	a.asked[visit] = true
	given := a.given[p.ID]
	switch {
	case a.none[p.ID]:
		return nil
	case a.lists[p.ID]:
		n := a.used[p.ID]
		if n >= len(given) {
			return nil
		}
		a.used[p.ID] = n + 1
		return &given[n]
	case again:
		return nil
	case len(given) > 0:
		return &given[0]
	}
	if one, ok := a.last[p.ID]; ok {
		return &one
	}
	return nil
}

// missing returns the path of the answer that take would return.
func (a *answers) missing(p *definition.Phase) string {
	n := a.used[p.ID]
	if len(a.given[p.ID]) > 0 && !a.lists[p.ID] {
		n = 1 // one more than the only one
	}
	if n > 0 || a.lists[p.ID] {
		return fmt.Sprintf("answers.%s[%d]", p.ID, n)
	}
	return "answers." + p.ID
}

// json returns the answer as the result shows it.
func (a *answer) json() (json.RawMessage, error) {
	raw, err := json.Marshal(a.shown)
	if err != nil {
		return nil, fmt.Errorf("show an answer: %w", err)
	}
	return raw, nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
