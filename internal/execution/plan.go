package execution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/phasevisit"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// plan is what a commit writes.
type plan struct {
	row     *ent.Execution // as it was loaded
	was     engine.State
	request *ent.Request
	d       *definition.Definition // nil for a plan that only ends

	state   engine.State
	history []engine.Visit
	effects []engine.Effect
	more    bool

	people *present // who has a part in what is opened
}

// add takes over what a step made.
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

// changed tells whether any input was taken.
func (p *plan) changed() bool { return len(p.history) > 0 }

// drop leaves out what a visit was to open: it is stuck before anything was.
func (p *plan) drop(visit int) {
	kept := make([]engine.Effect, 0, len(p.effects))
	for _, e := range p.effects {
		switch e.(type) {
		case engine.OpenTask, engine.OpenApproval, engine.Sleep, engine.Call:
			if visitOf(e) == visit {
				continue
			}
		}
		kept = append(kept, e)
	}
	p.effects = kept
}

// visitOf returns the number of the visit that an effect is about; 0 for what is about the request.
func visitOf(e engine.Effect) int {
	switch e := e.(type) {
	case engine.OpenTask:
		return e.Visit
	case engine.OpenApproval:
		return e.Visit
	case engine.CloseApproval:
		return e.Visit
	case engine.CloseOpen:
		return e.Visit
	case engine.Sleep:
		return e.Visit
	case engine.Call:
		return e.Visit
	case engine.OpenIncident:
		return e.Visit
	case engine.ResolveIncident:
		return e.Visit
	case engine.Tell:
		return e.Visit
	}
	return 0
}

// touchesRequest tells whether the plan changes the request.
func (p *plan) touchesRequest() bool {
	return slices.ContainsFunc(p.effects, func(e engine.Effect) bool {
		switch e.(type) {
		case engine.ActOnRequest, engine.SetFields:
			return true
		}
		return false
	})
}

// cast looks up those who have a part in what the plan opens, and returns whom it cannot do without.
func (p *plan) cast(ctx context.Context, db *ent.Client) (missing string, err error) {
	var all []definition.Participant
	for _, e := range p.effects {
		switch e := e.(type) {
		case engine.OpenTask:
			all = append(all, e.Phase.Responsible()...)
		case engine.OpenApproval:
			approvers, _, _, _ := approversOf(e.Phase, e.SignOff)
			all = append(all, approvers...)
		case engine.Tell:
			all = append(all, roleOf(e.Phase, e.Role)...)
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
			missing = p.people.quorate(approversOf(e.Phase, e.SignOff))
		}
		if missing != "" {
			return missing, nil
		}
	}
	return "", nil
}

// phase returns a phase of the definition.
func (p *plan) phase(id string) *definition.Phase { return p.d.Phase(id) }

// fault is what the API shows as the execution's error: why it failed, or what it waits for somebody to look at.
func (p *plan) fault() *engine.Fault {
	if p.state.Fault != nil {
		return p.state.Fault
	}
	if w := p.state.Wait; w != nil && w.For == engine.ForIncident {
		return p.state.Visit.Fault
	}
	return nil
}

// write writes the execution under the revision that was loaded, and its history. It returns the row as it is now, and
// errMoved when another commit came between.
func (p *plan) write(ctx context.Context, db *ent.Client, now time.Time) (*ent.Execution, error) {
	state, err := encode(p.state)
	if err != nil {
		return nil, err
	}
	u := db.Execution.Update().Where(execution.ID(p.row.ID), execution.Revision(p.row.Revision)).AddRevision(1).
		SetStatus(execution.Status(p.state.Status)).SetState(state)
	after := *p.row
	after.Revision, after.Status, after.State = p.row.Revision+1, execution.Status(p.state.Status), state
	if v := p.state.Visit; v != nil {
		u.SetPhaseID(v.PhaseID)
		after.PhaseID = &v.PhaseID
	}
	if f := p.fault(); f != nil {
		if after.Error, err = encode(f); err != nil {
			return nil, err
		}
		u.SetError(after.Error)
	} else if after.Error != nil {
		after.Error = nil
		u.ClearError()
	}
	if p.row.StartedAt == nil {
		u.SetStartedAt(now)
		after.StartedAt = &now
	}
	if p.state.Status.Final() {
		u.SetFinishedAt(now)
		after.FinishedAt = &now
	}
	n, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("write the execution: %w", err)
	}
	if n == 0 {
		return nil, errMoved
	}
	return &after, p.writeHistory(ctx, db)
}

// writeHistory adds the visits that are new, and brings the one that was under way up to date.
func (p *plan) writeHistory(ctx context.Context, db *ent.Client) error {
	known := 0
	if p.was.Visit != nil {
		known = p.was.Visit.Number
	}
	var creates []*ent.PhaseVisitCreate
	for _, v := range p.history {
		input, err := encode(v.Input)
		if err != nil {
			return err
		}
		output, err := encode(v.Output)
		if err != nil {
			return err
		}
		fault, err := encode(faultOrNil(v.Fault))
		if err != nil {
			return err
		}
		if v.Number > known {
			creates = append(creates, db.PhaseVisit.Create().SetExecutionID(p.row.ID).SetNumber(v.Number).SetPhaseID(v.PhaseID).SetType(string(v.Type)).
				SetStatus(phasevisit.Status(v.Status)).SetStartedAt(v.StartedAt).SetNillableFinishedAt(v.FinishedAt).SetTransition(v.Transition).
				SetAttempts(v.Attempts).SetInput(input).SetOutput(output).SetError(fault))
			continue
		}
		err = db.PhaseVisit.Update().Where(phasevisit.ExecutionID(p.row.ID), phasevisit.Number(v.Number)).SetStatus(phasevisit.Status(v.Status)).
			SetNillableFinishedAt(v.FinishedAt).SetTransition(v.Transition).SetAttempts(v.Attempts).SetInput(input).SetOutput(output).SetError(fault).Exec(ctx)
		if err != nil {
			return fmt.Errorf("write the history: %w", err)
		}
	}
	if len(creates) == 0 {
		return nil
	}
	if err := db.PhaseVisit.CreateBulk(creates...).Exec(ctx); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// faultOrNil is nil for no fault, where the pointer in an interface would not be.
func faultOrNil(f *engine.Fault) any {
	if f == nil {
		return nil
	}
	return f
}
