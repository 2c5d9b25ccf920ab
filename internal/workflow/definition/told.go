package definition

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/internal/desk/form"
)

// told is a place at which the answer of an earlier task names somebody.
type told struct {
	phase, key string
	at         fields
}

// naming are the types of questions whose answers can name a person: by id, or by e-mail address.
var naming = []form.Type{form.User, form.Email, form.Text, form.Select}

// Names reports whether the answer to a question of the type can name a person.
func Names(t form.Type) bool { return slices.Contains(naming, t) }

// told refuses answers that no execution has when it asks whom they name: of phases that are no tasks, of questions that these do not ask or
// that name nobody, and of tasks that do not lead to the phase or are asked for each item of a list that the phase stands outside of.
func (g *graph) told() {
	forward := g.forward()
	for _, p := range g.list {
		for _, one := range g.c.told {
			if !strings.HasPrefix(one.at.path, p.path+".") {
				continue // of another phase
			}
			if why := g.untold(one, p, forward); why != "" {
				g.c.fault(one.at.at("phaseId"), "%s", why)
			} else if why := one.unasked(g.byID[one.phase]); why != "" {
				g.c.fault(one.at.at("answer"), "%s", why)
			}
		}
	}
}

// untold says why the task of an answer has not been done when the execution comes to a phase; empty if it may have been.
func (g *graph) untold(of told, p *Phase, forward map[string][]string) string {
	task := g.byID[of.phase]
	switch {
	case task == nil:
		return "No phase has the id " + quote(of.phase) + "."
	case task.Process == nil:
		return "The phase " + quote(of.phase) + " is no task, so nobody answers a form in it."
	case apart(task, p) || !closure(forward, forward[task.ID])[p.ID]:
		return "The phase " + quote(of.phase) + " cannot come before this one."
	}
	for _, block := range task.Around() {
		if block.Block.In != nil && !slices.Contains(p.Around(), block) {
			return "The phase " + quote(of.phase) + " is done for each item of " + quote(block.ID) + ", so it has no single answer here."
		}
	}
	return ""
}

// unasked says why the form of a task does not ask for somebody by the key; empty if it does.
func (t told) unasked(task *Phase) string {
	if task.Process.FormDefinition != nil {
		for _, q := range task.Process.FormDefinition.Fields {
			if q.Key == t.key && Names(q.Type) {
				return ""
			} else if q.Key == t.key {
				return "The question " + quote(t.key) + " of the phase " + quote(task.ID) + " is of the type " + string(q.Type) + ", which names no person: it takes one of the type user or email."
			}
		}
	}
	return "The form of the phase " + quote(task.ID) + " has no question " + quote(t.key) + "."
}

// AsksTasks reports whether answers of earlier tasks name participants or approvers of the phase.
func (p *Phase) AsksTasks() bool {
	return slices.ContainsFunc(p.Participants, func(one Participant) bool { return one.Phase != "" }) ||
		p.Approval != nil && slices.ContainsFunc(p.Approval.Approvers, func(one Approver) bool { return one.Phase != "" })
}

// Named returns the phase with what earlier tasks have been answered in those of its participants and approvers whom such an answer names;
// the phase itself if there are none. variables returns those of phases that the phase reads.
func (p *Phase) Named(variables func() map[string]any) *Phase {
	if !p.AsksTasks() {
		return p
	}
	phases := variables()
	says := func(phase, key string) string {
		left, _ := phases[phase].(map[string]any)
		said, _ := left[key].(string)
		return said
	}
	out := *p
	for i, one := range p.Participants {
		if one.Phase != "" {
			out.Participants = slices.Clone(out.Participants)
			out.Participants[i].Said = says(one.Phase, one.Answer)
		}
	}
	if p.Approval != nil {
		for i, one := range p.Approval.Approvers {
			if one.Phase != "" {
				own := *out.Approval
				own.Approvers = slices.Clone(own.Approvers)
				own.Approvers[i].Said = says(one.Phase, one.Answer)
				out.Approval = &own
			}
		}
	}
	return &out
}

// Asked is an answer of a request by which a definition names somebody in a phase. Phase is what people call it.
type Asked struct{ Phase, Key string }

// AskedOf returns the answers of requests by which a published definition names people. It compiles nothing.
func AskedOf(published []byte) (list []Asked, err error) {
	type who struct{ Type, Answer, PhaseID string }
	var d struct {
		Phases []struct {
			ID, Name     string
			Participants []who
			Config       struct{ Approvers []who }
		}
	}
	if err := json.Unmarshal(published, &d); err != nil {
		return nil, fmt.Errorf("read a published definition: %w", err)
	}
	for _, p := range d.Phases {
		for _, one := range slices.Concat(p.Participants, p.Config.Approvers) {
			asked := Asked{cmp.Or(p.Name, p.ID), one.Answer}
			if one.Type == FromAnswer && one.PhaseID == "" && !slices.Contains(list, asked) {
				list = append(list, asked)
			}
		}
	}
	return list, nil
}

// AsksFor reports whether a form asks for somebody by a key. Without a form every answer is possible.
func AsksFor(f *form.Definition, key string) bool {
	return f == nil || slices.ContainsFunc(f.Fields, func(q form.Field) bool { return q.Key == key && Names(q.Type) })
}
