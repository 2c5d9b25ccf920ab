package execution

import (
	"context"
	"encoding/json"
	"fmt"
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
	title   string          // the workflow's name, once an event has told it

	people *present                       // the available participants of what is opened
	cast   *cast                          // whom the rules among the participants of the effects stand for
	fields []op.Ready[domain.UpdateInput] // prepared updates of the effects that are still to be carried out
}

// add appends the result of a step.
func (p *plan) add(res engine.Result) {
	p.state, p.more = res.State, res.More
	for _, v := range res.History {
		p.note(v)
	}
	for _, e := range res.Effects { // what a later step closes is not opened
		if e, ok := e.(engine.CloseOpen); ok {
			p.drop(e.Visit)
		}
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

// drop removes the effects by which a visit opens something, because it got stuck or was cancelled before.
func (p *plan) drop(visit int) {
	p.effects = slices.DeleteFunc(slices.Clone(p.effects), func(e engine.Effect) bool { return engine.Opens(e, visit) })
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

// findParticipants looks up the participants in what the plan opens, and returns the first visit that lacks one that its phase needs,
// with a message.
func (p *plan) findParticipants(ctx context.Context, db *ent.Client) (visit int, missing string, err error) {
	asked, told := p.named()
	if p.cast, err = p.castOf(ctx, db, append(told, asked...)); err != nil {
		return 0, "", err
	}
	if p.people, err = presentOf(ctx, db, p.cast.in(asked)); err != nil {
		return 0, "", err
	}
	for _, e := range p.effects {
		switch e := e.(type) {
		case engine.OpenTask:
			visit = e.Visit
			responsible := p.cast.inRole(e.Phase, "responsible")
			if _, there := p.people.worker(responsible); !there {
				missing = workerMissing(e.Phase, responsible, p.cast.unmet(responsible))
			}
		case engine.OpenApproval:
			visit = e.Visit
			approvers, mode, quorum, sequential := approversOf(e.Phase, e.SignOff)
			approvers = p.cast.in(approvers)
			if unmet := p.cast.unmet(approvers); unmet != "" {
				return visit, fmt.Sprintf("Nobody can be asked to approve in the phase %q: %s.", e.Phase.Title(), unmet), nil
			}
			seats, err := lookUpSeats(ctx, db, approvers, nil, p.filers()...)
			if err != nil {
				return 0, "", err
			}
			missing = quorumMissing(approvers, seats, mode, quorum, sequential, nil)
		}
		if missing != "" {
			return visit, missing, nil
		}
	}
	return 0, "", nil
}

// named returns the participants of the effects: those who are asked something, and those who are told of it.
func (p *plan) named() (asked, told []definition.Participant) {
	for _, e := range p.effects {
		switch e := e.(type) {
		case engine.OpenTask:
			asked = append(asked, e.Phase.InRole("responsible")...)
		case engine.OpenApproval:
			approvers, _, _, _ := approversOf(e.Phase, e.SignOff)
			asked = append(asked, approvers...)
		case engine.Tell:
			told = append(told, e.Phase.InRole(e.Role)...)
		case engine.OpenIncident:
			told = append(told, accountable(p.stuckIn(e))...)
		}
	}
	return asked, told
}

// castOf is castOf for the request as the effects change it.
func (p *plan) castOf(ctx context.Context, db *ent.Client, list []definition.Participant) (*cast, error) {
	if !slices.ContainsFunc(list, definition.Participant.ByRule) {
		return &cast{}, nil
	}
	var fields map[string]any
	if p.request != nil {
		if err := decode(p.request.Fields, &fields); err != nil {
			return nil, fmt.Errorf("read the answers of %s: %w", p.request.ID, err)
		}
	}
	for _, e := range p.effects {
		if e, ok := e.(engine.SetFields); ok {
			fields = e.Fields
		}
	}
	return castOf(ctx, db, p.request, fields, p.sample, list)
}

// missing returns an input about the first visit for which something is missing that its phase needs: people, or the workflow that it
// calls. Nil for none.
func (p *plan) missing(ctx context.Context, db *ent.Client, pending []*ent.Approval) (*engine.Stuck, error) {
	if visit, message, err := p.findParticipants(ctx, db); err != nil || message != "" {
		return &engine.Stuck{Visit: visit, Code: engine.ParticipantMissing, Message: message}, err
	}
	for _, a := range pending {
		if message, err := p.approversMissing(ctx, db, a); err != nil || message != "" {
			return &engine.Stuck{Visit: a.Visit, Code: engine.ParticipantMissing, Message: message}, err
		}
	}
	for _, e := range p.effects {
		start, ok := e.(engine.StartWorkflow)
		if !ok {
			continue
		}
		if code, message, err := p.uncallable(ctx, db, start); err != nil || code != "" {
			return &engine.Stuck{Visit: start.Visit, Code: code, Message: message}, err
		}
	}
	return nil, nil
}

// approversMissing returns a message if a pending approval, which was opened earlier and stays open in this plan, cannot
// be given because approvers are missing.
func (p *plan) approversMissing(ctx context.Context, db *ent.Client, a *ent.Approval) (missing string, err error) {
	at := p.state.At(a.Visit)
	if at == nil || at.Wait == nil || at.Wait.For != engine.ForApproval && at.Wait.For != engine.ForSignOff || at.Visit.Attempts != a.Attempt {
		return "", nil
	}
	w := at.Wait
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

// stuckIn returns the phase of an incident, with what earlier tasks were answered.
func (p *plan) stuckIn(e engine.OpenIncident) *definition.Phase {
	return p.phase(e.Fault.PhaseID).Named(func() map[string]any { return p.state.Variables(p.d, e.Visit) })
}

// phase returns a phase of the definition.
func (p *plan) phase(id string) *definition.Phase { return p.d.Phase(id) }

// fault returns what the API shows as the execution's error: why it failed, or the fault of its oldest open incident.
func (p *plan) fault() *engine.Fault {
	if p.state.Fault != nil {
		return p.state.Fault
	}
	return p.state.Trouble()
}

// news returns what the plan is the first to tell: why the execution has failed, or the last incident that it opens. Nil for neither.
func (p *plan) news() *engine.Fault {
	if p.state.Fault != nil || p.fault() == nil {
		return p.state.Fault
	}
	for _, e := range slices.Backward(p.effects) {
		if e, ok := e.(engine.OpenIncident); ok {
			return &e.Fault
		}
	}
	return nil
}
