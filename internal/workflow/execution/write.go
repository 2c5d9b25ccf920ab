package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/phasevisit"
	"atrium/internal/desk/participant"
	"atrium/internal/platform/text"
	"atrium/internal/workflow/engine"
)

// write saves the execution, if its revision is still the loaded one, and its history. Returns the row as it is
// afterwards, or errMoved when another commit came first.
func (p *plan) write(ctx context.Context, db *ent.Client, now time.Time) (*ent.Execution, error) {
	if err := p.encode(); err != nil {
		return nil, err
	}
	state := p.stored.state
	var err error
	u := db.Execution.Update().Where(execution.ID(p.row.ID), execution.Revision(p.row.Revision)).AddRevision(1).
		SetStatus(execution.Status(p.state.Status)).SetState(state)
	after := *p.row
	after.Revision, after.Status, after.State = p.row.Revision+1, execution.Status(p.state.Status), state
	if p.webhook != nil {
		u.SetWebhook(p.webhook)
		after.Webhook = p.webhook
	}
	if p.version != 0 {
		u.SetWorkflowVersion(p.version)
		after.WorkflowVersion = p.version
	}
	if after.Consulted, err = p.consulted(); err != nil {
		return nil, err
	}
	if len(after.Consulted) > len(p.row.Consulted) {
		u.SetConsulted(after.Consulted)
	}
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

// consulted returns the ids of the people whom the execution has consulted or informed so far, each alone and about every phase; nil
// for nobody.
func (p *plan) consulted() (json.RawMessage, error) {
	var ids []string
	if err := decode(p.row.Consulted, &ids); err != nil {
		return nil, fmt.Errorf("read whom the execution has consulted: %w", err)
	}
	known := len(ids)
	for _, e := range p.effects {
		tell, ok := e.(engine.Tell)
		if !ok {
			continue
		}
		for _, one := range p.cast.inRole(tell.Phase, tell.Role) {
			for _, entry := range []string{one.ID, participant.About(tell.Phase.ID, one.ID)} {
				if one.Type != "agent" && one.ID != "" && !slices.Contains(ids, entry) {
					ids = append(ids, entry)
				}
			}
		}
	}
	if len(ids) == known {
		return p.row.Consulted, nil
	}
	return encode(ids)
}

// writeHistory adds new visits, each by a statement that on PostgreSQL waits for the next one, and updates the visit that was in progress.
func (p *plan) writeHistory(ctx context.Context, db *ent.Client) error {
	known := p.was.LastVisit()
	for i, v := range p.history {
		input, output, fault := p.stored.visits[i].input, p.stored.visits[i].output, p.stored.visits[i].fault
		if v.Number > known {
			err := db.PhaseVisit.Create().SetExecutionID(p.row.ID).SetNumber(v.Number).SetPhaseID(v.PhaseID).SetType(string(v.Type)).
				SetStatus(phasevisit.Status(v.Status)).SetStartedAt(v.StartedAt).SetNillableFinishedAt(v.FinishedAt).SetTransition(v.Transition).
				SetAttempts(v.Attempts).SetNillableBranch(text.OrNil(v.Branch)).SetInput(input).SetOutput(output).SetError(fault).Exec(ctx)
			if err != nil {
				return fmt.Errorf("write the history: %w", err)
			}
			continue
		}
		err := db.PhaseVisit.Update().Where(phasevisit.ExecutionID(p.row.ID), phasevisit.Number(v.Number)).SetStatus(phasevisit.Status(v.Status)).
			SetNillableFinishedAt(v.FinishedAt).SetTransition(v.Transition).SetAttempts(v.Attempts).SetInput(input).SetOutput(output).SetError(fault).Exec(ctx)
		if err != nil {
			return fmt.Errorf("write the history: %w", err)
		}
	}
	return nil
}

// stored are the state and the visits of a plan as the database stores them.
type stored struct {
	state  json.RawMessage
	visits []documents // in the order of the history
}

// encode encodes what the plan stores, unless it has been encoded. To encode values of a mebibyte takes tens of milliseconds, so commit
// does it before its transaction.
func (p *plan) encode() error {
	if p.stored != nil {
		return nil
	}
	s := &stored{visits: make([]documents, len(p.history))}
	var err error
	if s.state, err = encode(p.state); err != nil {
		return err
	}
	for i, v := range p.history {
		if s.visits[i], err = documentsOf(v); err != nil {
			return err
		}
	}
	p.stored = s
	return nil
}

// documents are a visit's input, output and fault.
type documents struct{ input, output, fault json.RawMessage }

func documentsOf(v engine.Visit) (d documents, err error) {
	if d.input, err = encode(v.Input); err != nil {
		return d, err
	}
	if d.output, err = encode(v.Output); err != nil {
		return d, err
	}
	d.fault, err = encode(faultOrNil(v.Fault))
	return d, err
}

// faultOrNil returns an untyped nil for no fault, because a nil pointer in an interface is not nil.
func faultOrNil(f *engine.Fault) any {
	if f == nil {
		return nil
	}
	return f
}
