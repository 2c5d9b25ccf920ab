package execution

import (
	"context"
	"encoding/json"
	"slices"

	"atrium/ent"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// plan is the content of a commit.
type plan struct {
	row     *ent.Execution // as it was loaded
	was     engine.State
	request *ent.Request
	sample  bool                   // that request was filed by nobody, so everybody may decide on it
	d       *definition.Definition // nil for a plan that only ends the execution
	version int                    // the version that the execution moves to; 0 if it stays

	state   engine.State
	history []engine.Visit
	effects []engine.Effect
	more    bool

	webhook json.RawMessage // the call that started it, to be stored anew; nil: as it is
	stored  *stored         // nil until it is encoded

	people *present                       // the available participants of what is opened
	fields []op.Ready[domain.UpdateInput] // prepared updates of the effects that are still to be carried out
}

// add appends the result of a step.
func (p *plan) add(res engine.Result) {
	p.state, p.more = res.State, res.More
	for _, v := range res.History {
		p.note(v)
	}
	p.effects = append(p.effects, res.Effects...)
}

func (p *plan) note(v engine.Visit) {
	for i := len(p.history) - 1; i >= 0; i-- {
		if p.history[i].Number == v.Number {
			p.history[i] = v
			return
		}
	}
	p.history = append(p.history, v)
}

// changed reports whether the plan has used any input.
func (p *plan) changed() bool { return len(p.history) > 0 }

// drop removes the effects by which a visit opens something, because the visit got stuck before.
func (p *plan) drop(visit int) {
	p.effects = slices.DeleteFunc(slices.Clone(p.effects), func(e engine.Effect) bool {
		switch e := e.(type) {
		case engine.OpenTask:
			return e.Visit == visit
		case engine.OpenApproval:
			return e.Visit == visit
		case engine.Sleep:
			return e.Visit == visit
		case engine.Call:
			return e.Visit == visit
		}
		return false
	})
}

// touchesRequest reports whether the plan changes the request.
func (p *plan) touchesRequest() bool {
	return slices.ContainsFunc(p.effects, func(e engine.Effect) bool {
		switch e.(type) {
		case engine.ActOnRequest, engine.SetFields:
			return true
		}
		return false
	})
}

// findParticipants looks up the participants in what the plan opens, and returns a message if one is missing that the phase
// needs.
func (p *plan) findParticipants(ctx context.Context, db *ent.Client) (missing string, err error) {
	var all []definition.Participant
	for _, e := range p.effects {
		switch e := e.(type) {
		case engine.OpenTask:
			all = append(all, e.Phase.Responsible()...)
		case engine.OpenApproval:
			approvers, _, _, _ := approversOf(e.Phase, e.SignOff)
			all = append(all, approvers...)
		}
	}
	if p.people, err = presentOf(ctx, db, all); err != nil {
		return "", err
	}
	for _, e := range p.effects {
		switch e := e.(type) {
		case engine.OpenTask:
			_, missing = p.people.worker(e.Phase.Responsible())
		case engine.OpenApproval:
			approvers, mode, quorum, sequential := approversOf(e.Phase, e.SignOff)
			seats, err := lookUpSeats(ctx, db, approvers, nil, p.filers()...)
			if err != nil {
				return "", err
			}
			missing = quorumMissing(approvers, seats, mode, quorum, sequential, nil)
		}
		if missing != "" {
			return missing, nil
		}
	}
	return "", nil
}

// approversMissing returns a message if the pending approval, which was opened earlier and stays open in this plan, cannot
// be given because approvers are missing.
func (p *plan) approversMissing(ctx context.Context, db *ent.Client, a *ent.Approval) (missing string, err error) {
	w := p.state.Wait
	if a == nil || w == nil || w.For != engine.ForApproval && w.For != engine.ForSignOff || p.state.Visit.Number != a.Visit || p.state.Visit.Attempts != a.Attempt {
		return "", nil
	}
	c, err := configOf(a)
	if err != nil {
		return "", err
	}
	approvers := participantsOf(c)
	seats, err := lookUpSeats(ctx, db, approvers, w.Votes, p.filers()...)
	if err != nil {
		return "", err
	}
	return quorumMissing(approvers, seats, c.Mode, c.Quorum, c.Order == definition.Sequential, w.Votes), nil
}

// filers returns who filed the execution's request, if it has one, and for whom: they do not decide on it.
func (p *plan) filers() []string {
	if p.request == nil || p.sample {
		return nil
	}
	return []string{p.request.CreatedBy, p.request.RequesterID}
}

// phase returns a phase of the definition.
func (p *plan) phase(id string) *definition.Phase { return p.d.Phase(id) }

// fault returns what the API shows as the execution's error: why it failed, or the open incident's fault.
func (p *plan) fault() *engine.Fault {
	if p.state.Fault != nil {
		return p.state.Fault
	}
	if w := p.state.Wait; w != nil && w.For == engine.ForIncident {
		return p.state.Visit.Fault
	}
	return nil
}
