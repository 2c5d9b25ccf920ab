package execution

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/request"
	"atrium/ent/workflow"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// commit writes a plan in one transaction. Returns errMoved when the execution or its request has changed since it was loaded. It does not
// complete the job: a job that is worked again finds that nothing is left of it to do, and River completes many in one statement.
func (r *Runner) commit(ctx context.Context, p *plan) error {
	fields, err := p.prepareFields(ctx, r.Engine)
	if err != nil {
		return err
	}
	if err := p.encode(); err != nil {
		return err
	}
	return r.Engine.Work(ctx, p.row.CompanyID, workerName, func(ctx context.Context, tx *op.Tx) error {
		now := tx.Now(ctx)
		p.fields = fields // start with all of them again when the store reruns this function
		if err := p.sameRequest(ctx, tx); err != nil {
			return err
		}
		row, err := p.write(ctx, tx.Client, now)
		if err != nil {
			return err
		}
		if p.was.Visit == nil {
			if err := p.emit(ctx, tx, row, events.WorkflowStarted, engine.Running); err != nil {
				return err
			}
		}
		for rest := p.effects; len(rest) > 0; {
			if visits := closing(rest); len(visits) > 0 {
				if err := closeOpen(ctx, tx.Client, tx.Insert, p.row, now, visits...); err != nil {
					return err
				}
				if err := enderIn(tx).endCalled(ctx, p.row, &p.was, "The execution that called this one has left its phase.", visits...); err != nil {
					return err
				}
				rest = rest[len(visits):]
				continue
			}
			if err := p.carryOut(ctx, tx, rest[0], now); err != nil {
				return err
			}
			rest = rest[1:]
		}
		if event := p.ending(); event != "" { // after the events of what led to it
			if err := p.emit(ctx, tx, row, event, p.state.Status); err != nil {
				return err
			}
		}
		if p.state.Status.Final() {
			if err := tellCaller(ctx, tx.Insert, row); err != nil {
				return err
			}
		}
		if p.more {
			if err := tx.Insert(ctx, StepArgs{Company: row.CompanyID, Execution: row.ID, bulk: true}, time.Time{}); err != nil {
				return err
			}
		}
		if at := p.wake(now); !at.IsZero() {
			if err := tx.Insert(ctx, StepArgs{Company: row.CompanyID, Execution: row.ID}, jobs.At(at, now)); err != nil {
				return err
			}
		}
		return nil
	})
}

// wake returns the next moment for which the execution waited before already, if it is so near that this commit may complete the job that
// waits for it (see early). The zero time for none.
func (p *plan) wake(now time.Time) (next time.Time) {
	for _, at := range p.state.Open() {
		if at.Wait == nil || at.Wait.Until == nil || at.Wait.For == engine.ForCall || at.Visit.Number > p.was.LastVisit() {
			continue
		}
		if until := *at.Wait.Until; until.Sub(now) < mostSkew && (next.IsZero() || until.Before(next)) {
			next = until
		}
	}
	return next
}

// prepareFields checks the plan's new fields against the offering's form before the transaction, because a customer chooses
// what the form's conditions cost.
func (p *plan) prepareFields(ctx context.Context, e *op.Engine) (fields []op.Ready[domain.UpdateInput], err error) {
	for _, effect := range p.effects {
		set, ok := effect.(engine.SetFields)
		if !ok {
			continue
		}
		in := domain.UpdateInput{ByID: op.ByID{ID: p.request.ID}, Fields: op.SetTo(strictjson.Object(set.Fields))}
		ready, err := op.Prepare(ctx, e, principal.Worker(p.row.CompanyID, workerName), domain.Update, in)
		if err != nil {
			return nil, err
		}
		fields = append(fields, ready)
	}
	return fields, nil
}

// sameRequest locks the request before effects change it, and compares it with the row from which the step was computed.
func (p *plan) sameRequest(ctx context.Context, tx *op.Tx) error {
	if !p.touchesRequest() {
		return nil
	}
	r, err := op.Lock(tx, tx.Request.Query().Where(request.ID(p.request.ID))).Only(tx.Unfiltered(ctx, "the engine works on it for everybody"))
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if r.Status != p.request.Status || !r.UpdatedAt.Equal(p.request.UpdatedAt) {
		return errMoved
	}
	return nil
}

// ending returns the event of the execution's end, or of its standstill; empty for neither.
func (p *plan) ending() string {
	switch {
	case p.state.Status == engine.Completed:
		return events.WorkflowCompleted
	case p.news() != nil:
		return events.WorkflowFailed
	}
	return ""
}

// emit emits an event of the execution, with the status that it had then.
func (p *plan) emit(ctx context.Context, tx *op.Tx, row *ent.Execution, event string, status engine.Status) error {
	if p.title == "" { // a step may have two events
		var err error
		p.title, err = tx.Workflow.Query().Where(workflow.ID(row.WorkflowID)).Select(workflow.FieldName).
			String(tx.Unfiltered(ctx, "subscribers are told the workflow's name"))
		if err != nil {
			return fmt.Errorf("read the workflow's name: %w", err)
		}
	}
	data := events.Execution{
		ID: row.ID, WorkflowID: row.WorkflowID, WorkflowVersion: row.WorkflowVersion, RequestID: row.RequestID, Title: p.title, Status: string(status),
	}
	if p.request != nil {
		data.ServiceID = &p.request.ServiceID
	}
	if f := p.news(); f != nil && event == events.WorkflowFailed {
		data.Error = &events.Failure{PhaseID: &f.PhaseID, Code: f.Code, Message: f.Message}
	}
	if err := tx.Emit(ctx, event, row.ID, data); err != nil {
		return err
	}
	return tx.Note(ctx, event, "Execution", row.ID, nil)
}

// carryOut performs an effect.
func (p *plan) carryOut(ctx context.Context, tx *op.Tx, e engine.Effect, now time.Time) error {
	switch e := e.(type) {
	case engine.OpenTask:
		return p.openTask(ctx, tx, e, p.attempt(e.Visit))
	case engine.OpenApproval:
		return p.openApproval(ctx, tx, e, p.attempt(e.Visit))
	case engine.CloseApproval:
		return p.closeApproval(ctx, tx, e)
	case engine.Sleep:
		at := jobs.At(e.Until, now)
		return tx.Insert(ctx, StepArgs{Company: p.row.CompanyID, Execution: p.row.ID, bulk: !at.IsZero()}, at)
	case engine.Call:
		return tx.Insert(ctx, CallArgs{Company: p.row.CompanyID, Execution: p.row.ID, Visit: e.Visit, Attempt: e.Attempt}, jobs.At(e.At, now))
	case engine.StartWorkflow:
		return p.startWorkflow(ctx, tx, e)
	case engine.Tell:
		return p.tell(ctx, tx, e)
	case engine.ActOnRequest:
		return p.act(ctx, tx, e.Action)
	case engine.SetFields:
		ready := p.fields[0]
		p.fields = p.fields[1:]
		_, err := op.RunReady(ctx, tx, domain.Update, ready)
		return err
	case engine.OpenIncident:
		if err := tx.Insert(ctx, p.notice("incident", e.Fault.Message, p.cast.inRole(p.stuckIn(e), "accountable")), time.Time{}); err != nil {
			return err
		}
		return wrapWrite(tx.Incident.Create().SetExecutionID(p.row.ID).SetPhaseID(e.Fault.PhaseID).SetVisit(e.Visit).SetAttempt(p.attempt(e.Visit)).
			SetCode(e.Fault.Code).SetMessage(e.Fault.Message).Exec(ctx))
	}
	return nil
}

// attempt returns the attempt in which a visit opens something. This is the visit's last attempt, because a step ends where it
// waits.
func (p *plan) attempt(visit int) int {
	for _, v := range p.history {
		if v.Number == visit {
			return v.Attempts
		}
	}
	return 1
}

// wrapWrite wraps the error of a statement that opens or closes a phase's rows.
func wrapWrite(err error) error {
	if err != nil {
		return fmt.Errorf("write what the phase opens or closes: %w", err)
	}
	return nil
}

// act moves the request to the status that the phase asks for.
func (p *plan) act(ctx context.Context, tx *op.Tx, action definition.RequestAction) error {
	to := map[definition.RequestAction]request.Status{
		definition.Accept: request.StatusIN_PROGRESS, definition.Complete: request.StatusCOMPLETED, definition.Cancel: request.StatusCANCELLED,
	}[action]
	_, err := op.RunIn(ctx, tx, domain.Update, domain.UpdateInput{
		ByID: op.ByID{ID: p.request.ID}, Status: op.SetTo(string(to)), Cause: events.Cause{Execution: p.row.ID},
	})
	return err
}

// openTask opens a task, assigns it to the participant who is responsible, and emits the event of that.
func (p *plan) openTask(ctx context.Context, tx *op.Tx, e engine.OpenTask, attempt int) error {
	c := tx.Task.Create().SetExecutionID(p.row.ID).SetNillableRequestID(p.row.RequestID).SetPhaseID(e.Phase.ID).SetVisit(e.Visit).SetAttempt(attempt).
		SetTitle(e.Title).SetNillableDueAt(e.DueAt)
	if e.Phase.Process != nil {
		c.SetInstructions(e.Phase.Process.Instructions).SetOutcomes(e.Phase.Ways())
		if e.Phase.Process.FormDefinition != nil {
			form, err := encode(e.Phase.Process.FormDefinition)
			if err != nil {
				return err
			}
			c.SetForm(form)
		}
	}
	if e.Correct != nil {
		corrections, err := encode(e.Correct)
		if err != nil {
			return err
		}
		c.SetCorrections(corrections)
	}
	who, _ := p.people.worker(p.cast.inRole(e.Phase, "responsible"))
	if err := p.hold(ctx, tx, who); err != nil {
		return err
	}
	switch who.Type {
	case "user":
		c.SetAssigneeID(who.ID)
	case "team":
		c.SetTeamID(who.ID)
	case "agent":
		c.SetAgentID(who.ID)
	}
	if err := startTaskClock(ctx, tx, c.Mutation(), e.Phase, p.row.RequestID, e.DueAt); err != nil {
		return err
	}
	t, err := c.Save(ctx)
	if err != nil {
		return fmt.Errorf("open the task: %w", err)
	}
	if who.ID == "" {
		return nil
	}
	if err := emitTask(ctx, tx, events.TaskAssigned, t); err != nil {
		return err
	}
	return tx.Note(ctx, events.TaskAssigned, "Task", t.ID, nil)
}

// tell notifies the people and agents who have a role in a phase.
func (p *plan) tell(ctx context.Context, tx *op.Tx, e engine.Tell) error {
	list := p.cast.inRole(e.Phase, e.Role)
	for _, one := range list {
		if one.Type != "agent" {
			continue
		}
		err := tx.Insert(ctx, AgentPhaseArgs{
			Company: p.row.CompanyID, Execution: p.row.ID, Phase: e.Phase.ID, Visit: e.Visit, Role: e.Role, Agent: one.ID,
		}, time.Time{})
		if err != nil {
			return err
		}
	}
	n := p.notice(e.Role, e.Phase.Title(), list)
	if len(n.Users)+len(n.Teams) == 0 {
		return nil
	}
	return tx.Insert(ctx, n, time.Time{})
}

// openApproval opens an approval and notifies its approvers.
func (p *plan) openApproval(ctx context.Context, tx *op.Tx, e engine.OpenApproval, attempt int) error {
	list, mode, quorum, sequential := approversOf(e.Phase, e.SignOff)
	list = p.cast.in(list)
	if err := p.hold(ctx, tx, list...); err != nil {
		return err
	}
	approvers := make([]Approver, len(list))
	for i, a := range list {
		approvers[i] = Approver{Type: a.Type, ID: a.ID}
	}
	raw, err := encode(approvers)
	if err != nil {
		return err
	}
	a, err := tx.Approval.Create().SetExecutionID(p.row.ID).SetNillableRequestID(p.row.RequestID).SetPhaseID(e.Phase.ID).SetVisit(e.Visit).
		SetAttempt(attempt).SetTitle(e.Phase.Title()).SetSignOff(e.SignOff).SetMode(approval.Mode(mode)).SetQuorum(quorum).SetSequential(sequential).
		SetApprovers(raw).SetNillableExpiresAt(e.ExpiresAt).Save(ctx)
	if err != nil {
		return wrapWrite(err)
	}
	n := p.notice("approval", e.Phase.Title(), list)
	n.Approval = a.ID
	if err := tx.Insert(ctx, n, time.Time{}); err != nil {
		return err
	}
	return emitApproval(ctx, tx, events.ApprovalRequested, a)
}

// closeApproval ends the open approval of a visit.
func (p *plan) closeApproval(ctx context.Context, tx *op.Tx, e engine.CloseApproval) error {
	open, err := tx.Approval.Query().Where(approval.ExecutionID(p.row.ID), approval.Visit(e.Visit), approval.StatusEQ(approval.StatusPENDING)).
		All(tx.Unfiltered(ctx, "whoever ends the phase ends its approval"))
	if err != nil {
		return wrapWrite(err)
	}
	for _, a := range open {
		if a, err = a.Update().SetStatus(approval.Status(e.Status)).Save(ctx); err != nil {
			return wrapWrite(err)
		}
		if err := emitApproval(ctx, tx, events.ApprovalDecided, a); err != nil {
			return err
		}
	}
	return nil
}

// emitApproval emits an event of an approval, with what it tells of its request.
func emitApproval(ctx context.Context, tx *op.Tx, event string, a *ent.Approval) error {
	data := events.Approval{ID: a.ID, ExecutionID: a.ExecutionID, RequestID: a.RequestID, PhaseID: a.PhaseID, Title: a.Title, Status: string(a.Status)}
	if a.RequestID == nil {
		return tx.Emit(ctx, event, a.ID, data)
	}
	r, err := tx.Request.Get(tx.Unfiltered(ctx, "an event tells of the approval's own request"), *a.RequestID)
	if err != nil {
		return fmt.Errorf("read the approval's request: %w", err)
	}
	data.Number, data.ServiceID, data.OfferingID, data.Priority, data.CreatedBy = r.Number, &r.ServiceID, &r.OfferingID, string(r.Priority), r.CreatedBy
	data.AssigneeID, data.TeamID, data.Tags = r.AssigneeID, r.TeamID, r.Tags
	if data.Tags == nil {
		data.Tags = map[string]string{}
	}
	return tx.Emit(ctx, event, a.ID, data)
}

// isRefusal reports whether an operation refused an effect, as opposed to a failure of this node.
func isRefusal(err error) bool {
	switch apperr.CodeOf(err) {
	case apperr.Validation, apperr.Conflict, apperr.Forbidden, apperr.NotFound:
		return true
	}
	return false
}
