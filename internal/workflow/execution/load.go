package execution

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/ent/incident"
	"atrium/ent/task"
	"atrium/internal/desk/sla"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// loaded is an execution as it was read, with its pending inputs.
type loaded struct {
	row     *ent.Execution
	state   engine.State
	d       *definition.Definition
	target  *target      // set if an input is a Move; nil otherwise
	request *ent.Request // nil for an execution without a request
	inputs  []engine.Input
	refused *engine.Fault // why its request could not be filed

	approvals []*ent.Approval // those that the execution waits for

	sample bool                                     // the request was filed by nobody: see Rehearsal
	most   int                                      // phases that one step enters; 0 for as many as a step may
	ruled  func(visit int, rulings []engine.Ruling) // hears of DECISIONs; nil: nobody asks
	rest   bool                                     // inputs have arrived that are for another commit
}

// load reads an execution with its pending inputs. Returns nil if the execution does not exist or has ended.
func load(ctx context.Context, db *ent.Client, id string, now time.Time) (*loaded, error) {
	row, err := rowOf(ctx, db, id)
	if err != nil || row == nil {
		return nil, err
	}
	return loadRow(ctx, db, row, now)
}

// rowOf reads an execution with its request; nil if it was deleted with its company.
func rowOf(ctx context.Context, db *ent.Client, id string) (*ent.Execution, error) {
	row, err := db.Execution.Query().Where(execution.ID(id)).WithRequest().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil // nothing is left to do for it
	}
	if err != nil {
		return nil, fmt.Errorf("read the execution: %w", err)
	}
	return row, nil
}

// loadRow is load for a row that was just read.
func loadRow(ctx context.Context, db *ent.Client, row *ent.Execution, now time.Time) (l *loaded, err error) {
	l = &loaded{row: row, request: row.Edges.Request}
	if l.state, err = readState(row.State); err != nil || l.state.Status.Final() {
		return nil, err
	}
	if l.d, err = versionOf(ctx, db, row.WorkflowID, row.WorkflowVersion); err != nil {
		return nil, err
	}
	l.inputs, err = l.pending(ctx, db, now)
	return l, err
}

// pending returns the inputs that have arrived for what the execution waits for, in the order in which they
// apply. In a block it is everything that its open branches wait for, and what can go on.
func (l *loaded) pending(ctx context.Context, db *ent.Client, now time.Time) ([]engine.Input, error) {
	s := &l.state
	switch {
	case s.Visit == nil:
		return []engine.Input{engine.Begin{}}, nil
	case s.Wait == nil && s.Block == nil:
		return []engine.Input{engine.Continue{Visit: s.Visit.Number}}, nil
	}
	rows, err := l.waitedFor(ctx, db)
	if err != nil {
		return nil, err
	}
	var inputs []engine.Input
	for _, at := range s.Open() {
		if at.Wait == nil {
			continue
		}
		arrived, err := l.arrived(ctx, db, at, rows)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, arrived...)
		if due := at.Wait.Until; due != nil && at.Wait.For != engine.ForCall && !now.Before(*due) {
			inputs = append(inputs, engine.Woke{Visit: at.Visit.Number})
		}
	}
	if s.Status == engine.Running {
		inputs = append(inputs, engine.Continue{Visit: s.Visit.Number})
	}
	return inputs, nil
}

// waitedFor are the rows that the execution waits for.
type waitedFor struct {
	tasks     []*ent.Task     // completed ones
	approvals []*ent.Approval // all
	incidents []*ent.Incident // resolved ones
	called    []*ent.Execution
}

// waitedFor reads what the open visits wait for, with one statement for each kind.
func (l *loaded) waitedFor(ctx context.Context, db *ent.Client) (rows waitedFor, err error) {
	visits := map[engine.WaitKind][]int{}
	for _, at := range l.state.Open() {
		if at.Wait != nil {
			visits[at.Wait.For] = append(visits[at.Wait.For], at.Visit.Number)
		}
	}
	if of := visits[engine.ForTask]; len(of) > 0 {
		rows.tasks, err = db.Task.Query().Where(task.ExecutionID(l.row.ID), task.VisitIn(of...), task.StatusEQ(task.StatusCOMPLETED)).All(ctx)
		if err != nil {
			return rows, fmt.Errorf("look for the tasks: %w", err)
		}
	}
	if of := append(visits[engine.ForApproval], visits[engine.ForSignOff]...); len(of) > 0 {
		rows.approvals, err = db.Approval.Query().Where(approval.ExecutionID(l.row.ID), approval.VisitIn(of...)).All(ctx)
		if err != nil {
			return rows, fmt.Errorf("look for the approvals: %w", err)
		}
	}
	if of := visits[engine.ForIncident]; len(of) > 0 {
		rows.incidents, err = db.Incident.Query().Where(incident.ExecutionID(l.row.ID), incident.VisitIn(of...), incident.ResolutionNotNil()).All(ctx)
		if err != nil {
			return rows, fmt.Errorf("look for the incidents: %w", err)
		}
	}
	rows.called, err = l.called(ctx, db, visits[engine.ForWorkflow], visits[engine.ForStart])
	return rows, err
}

// arrived returns the inputs that have arrived for one state. The row of a visit's last attempt is the one that it waits for.
func (l *loaded) arrived(ctx context.Context, db *ent.Client, at *engine.State, rows waitedFor) ([]engine.Input, error) {
	v := at.Visit
	switch at.Wait.For {
	case engine.ForTask:
		for _, t := range rows.tasks {
			if t.Visit == v.Number && t.Attempt == v.Attempts {
				return taskDone(v, t)
			}
		}
	case engine.ForApproval, engine.ForSignOff:
		for _, a := range rows.approvals {
			if a.Visit == v.Number && a.Attempt == v.Attempts {
				l.approvals = append(l.approvals, a)
				return votes(at, a)
			}
		}
	case engine.ForIncident:
		for _, i := range rows.incidents {
			if i.Visit == v.Number && i.Attempt == v.Attempts {
				return l.resolution(ctx, db, v, i)
			}
		}
	case engine.ForWorkflow, engine.ForStart:
		for _, e := range rows.called {
			if *e.ParentVisit == v.Number && *e.ParentAttempt == v.Attempts {
				return returned(v, e)
			}
		}
	}
	return nil, nil
}

func taskDone(v *engine.Visit, t *ent.Task) ([]engine.Input, error) {
	in := engine.TaskDone{Visit: v.Number}
	if t.Outcome != nil {
		in.Outcome = *t.Outcome
	}
	if err := decode(t.Variables, &in.Variables); err != nil {
		return nil, fmt.Errorf("read the task's variables: %w", err)
	}
	return []engine.Input{in}, nil
}

func votes(at *engine.State, a *ent.Approval) ([]engine.Input, error) {
	decisions, err := DecisionsOf(a)
	if err != nil {
		return nil, err
	}
	var inputs []engine.Input
	for _, d := range decisions[min(len(at.Wait.Votes), len(decisions)):] {
		inputs = append(inputs, engine.Decided{Visit: at.Visit.Number, Vote: d.Vote})
	}
	return inputs, nil
}

func (l *loaded) resolution(ctx context.Context, db *ent.Client, v *engine.Visit, i *ent.Incident) ([]engine.Input, error) {
	var variables map[string]any
	if err := decode(i.Variables, &variables); err != nil {
		return nil, fmt.Errorf("read the incident's variables: %w", err)
	}
	switch *i.Resolution {
	case incident.ResolutionSKIP:
		return []engine.Input{engine.Skip{Visit: v.Number, Variables: variables}}, nil
	case incident.ResolutionMOVE:
		return l.moved(ctx, db, v, *i.ToVersion, *i.ToPhaseID, variables)
	}
	return []engine.Input{engine.Retry{Visit: v.Number, Variables: variables}}, nil
}

// env returns the environment that a step may read.
func (l *loaded) env(ctx context.Context, db *ent.Client, now time.Time) (engine.Env, error) {
	env := engine.Env{Now: now, ExecutionID: l.row.ID, Refused: l.refused, Called: l.row.ParentID != nil, Ruled: l.ruled, Calendar: func(id string) (*sla.Calendar, error) { return calendarOf(ctx, db, id) }}
	var err error
	if env.Request, err = requestVariables(l.request); err != nil {
		return env, err
	}
	if err = decode(l.row.Input, &env.Input); err != nil {
		return env, fmt.Errorf("read the input of %s: %w", l.row.ID, err)
	}
	env.Webhook, err = webhookOf(l.row)
	return env, err
}

// vars returns the variables of the expressions of a visit.
func (l *loaded) vars(ctx context.Context, db *ent.Client, visit int, now time.Time, secrets map[string]string) (definition.Vars, error) {
	env, err := l.env(ctx, db, now)
	phases := l.state.Variables(l.d, visit)
	return definition.Vars{Request: env.Request, ExecutionID: env.ExecutionID, Webhook: env.Webhook, Input: env.Input, Phases: phases, Secrets: secrets}, err
}

// webhookOf returns the call that started an execution, in texts that every database can store; nil for none.
func webhookOf(e *ent.Execution) (map[string]any, error) {
	var webhook map[string]any
	if err := decode(strictjson.KeepHalves(e.Webhook), &webhook); err != nil {
		return nil, fmt.Errorf("read the call of %s: %w", e.ID, err)
	}
	storable(webhook)
	return webhook, nil
}

func calendarOf(ctx context.Context, db *ent.Client, id string) (*sla.Calendar, error) {
	c, err := workflow.CalendarOf(ctx, db, id)
	if err == nil && c == nil {
		return nil, fmt.Errorf("there is no calendar %s", id)
	}
	return c, err
}

// Decision is one approver's decision, as the approval stores it.
type Decision struct {
	engine.Vote
	Comment string    `json:"comment"`
	At      time.Time `json:"at"`
}

// DecisionsOf returns an approval's decisions, in the order in which they came.
func DecisionsOf(a *ent.Approval) ([]*Decision, error) {
	return strictjson.List[Decision](a.Decisions, "decisions", a.ID)
}
