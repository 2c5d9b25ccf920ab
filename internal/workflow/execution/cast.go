package execution

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/service"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// cast holds whom the rules among participants stand for. Participants who are named stand for themselves.
type cast struct {
	of     map[rule]definition.Participant
	lacks  map[rule]string // why a rule stands for nobody
	sample bool
}

// rule is what stands for somebody. What a task was answered differs by branch, so it is part of the rule.
type rule struct{ kind, answer, phase, said string }

func ruleOf(one definition.Participant) rule { return rule{one.Type, one.Answer, one.Phase, one.Said} }

// castOf looks up whom the rules among participants stand for, with one statement for people and one for the service. r is nil for an
// execution without a request; fields are its answers. With sample, what the request lacks is no fault: nobody has filed it.
func castOf(ctx context.Context, db *ent.Client, r *ent.Request, fields map[string]any, sample bool, list []definition.Participant) (*cast, error) {
	c := &cast{of: map[rule]definition.Participant{}, lacks: map[rule]string{}, sample: sample}
	names := map[rule]string{} // the id or the address of a person, by rule
	for _, one := range list {
		of := ruleOf(one)
		switch {
		case !one.ByRule() || c.lacks[of] != "":
			continue
		case r == nil && one.Phase == "":
			c.lacks[of] = "the execution has no request"
			continue
		}
		switch one.Type {
		case definition.Requester:
			names[of], c.lacks[of] = r.RequesterID, "no person has filed the request"
		case definition.Assignee:
			if c.lacks[of] = "the request has no assignee"; r.AssigneeID != nil {
				names[of] = *r.AssigneeID
			}
		case definition.FromAnswer:
			name, _ := fields[one.Answer].(string)
			if one.Phase != "" {
				name = one.Said
			}
			names[of], c.lacks[of] = strings.TrimSpace(name), fmt.Sprintf("the answer %q names nobody of the company", one.Answer)
			if names[of] == "" {
				c.lacks[of] = fmt.Sprintf("the answer %q is empty", one.Answer)
			}
		case definition.ServiceTeam:
			c.lacks[of] = "the service of the request has no team"
			s, err := db.Service.Query().Where(service.ID(r.ServiceID)).Only(ctx)
			if err != nil && !ent.IsNotFound(err) {
				return nil, fmt.Errorf("look the service up: %w", err)
			}
			if err == nil && s.OwnerTeamID != nil {
				c.of[of] = definition.Participant{Type: "team", ID: *s.OwnerTeamID}
			}
		}
	}
	return c, c.people(ctx, db, names)
}

// peopleNow returns the participants of a phase that list picks, with those in place of the rules whom these stand for by now: by the request
// of an execution, if it has one, and by what its tasks have been answered for a visit; 0 for the one that stands in the phase.
func peopleNow(ctx context.Context, db *ent.Client, at nowAt, p *definition.Phase, list func(*definition.Phase) []definition.Participant) ([]definition.Participant, error) {
	if p.AsksTasks() {
		e, err := db.Execution.Get(ctx, at.execution)
		if err != nil {
			return nil, fmt.Errorf("read the execution: %w", err)
		}
		state, err := readState(e.State)
		if err != nil {
			return nil, err
		}
		d, err := versionOf(ctx, db, e.WorkflowID, e.WorkflowVersion)
		if err != nil {
			return nil, err
		}
		if at.visit == 0 {
			at.visit = visitIn(&state, p.ID)
		}
		p = p.Named(func() map[string]any {
			if d.Phase(p.ID) != p {
				return nil // it is one of a workflow that this one calls
			}
			return state.Variables(d, at.visit)
		})
	}
	c, err := castFor(ctx, db, at.request, list(p))
	if err != nil {
		return nil, err
	}
	return c.in(list(p)), nil
}

// nowAt is a place in an execution.
type nowAt struct {
	execution string
	request   *string
	visit     int
}

// visitIn returns the visit of a phase in which an execution stands; 0 for none.
func visitIn(s *engine.State, phaseID string) int {
	for _, one := range s.Open() {
		if one.Visit != nil && one.Visit.PhaseID == phaseID {
			return one.Visit.Number
		}
	}
	return 0
}

func accountable(p *definition.Phase) []definition.Participant { return p.InRole("accountable") }

// castFor is castOf by the request of an execution, as it is stored; nil for none.
func castFor(ctx context.Context, db *ent.Client, requestID *string, list []definition.Participant) (*cast, error) {
	if !slices.ContainsFunc(list, definition.Participant.ByRule) {
		return &cast{}, nil
	}
	var r *ent.Request
	var fields map[string]any
	if requestID != nil {
		var err error
		if r, err = db.Request.Get(ctx, *requestID); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		if err := decode(r.Fields, &fields); err != nil {
			return nil, fmt.Errorf("read the answers of %s: %w", r.ID, err)
		}
	}
	return castOf(ctx, db, r, fields, false, list)
}

// people looks up the people whom rules name: by id, or by the e-mail address of somebody who is not deactivated.
func (c *cast) people(ctx context.Context, db *ent.Client, names map[rule]string) error {
	var ids, addresses []string
	for _, name := range names {
		if name != "" {
			ids, addresses = append(ids, name), append(addresses, strings.ToLower(name))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	slices.Sort(addresses)
	rows, err := db.User.Query().Where(user.Or(user.IDIn(ids...), user.And(user.EmailIn(addresses...), access.Here()))).Select(user.FieldID, user.FieldEmail).All(ctx)
	if err != nil {
		return fmt.Errorf("look up whom rules stand for: %w", err)
	}
	for of, name := range names {
		for _, u := range rows {
			if u.ID == name || of.kind == definition.FromAnswer && u.Email == strings.ToLower(name) {
				c.of[of] = definition.Participant{Type: "user", ID: u.ID}
			}
		}
	}
	return nil
}

// in returns participants with those in place of the rules whom they stand for. A rule that stands for nobody stays, without an id unless
// the request is a sample.
func (c *cast) in(list []definition.Participant) []definition.Participant {
	out := make([]definition.Participant, 0, len(list))
	for _, one := range list {
		if who, ok := c.of[ruleOf(one)]; ok {
			who.Role = one.Role
			one = who
		} else if one.ByRule() && c.sample && one.Phase == "" {
			one.ID = cmp.Or(one.Answer, one.Type)
		}
		out = append(out, one)
	}
	return out
}

// inRole returns the participants of a phase who have a role.
func (c *cast) inRole(p *definition.Phase, role string) []definition.Participant {
	return c.in(p.InRole(role))
}

// unmet returns why rules among participants of in stand for nobody; empty if all stand for somebody.
func (c *cast) unmet(list []definition.Participant) string {
	var why []string
	for _, one := range list {
		if lack := c.lacks[ruleOf(one)]; one.ByRule() && one.ID == "" && !slices.Contains(why, lack) {
			why = append(why, lack)
		}
	}
	return strings.Join(why, ", and ")
}
