package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/ent/incident"
	"atrium/ent/task"
	"atrium/internal/desk/sla"
	"atrium/internal/workflow"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// loaded is an execution as it was read, with its pending inputs.
type loaded struct {
	row     *ent.Execution
	state   engine.State
	d       *definition.Definition
	target  *target      // set if the only input is a Move; nil otherwise
	request *ent.Request // nil for an execution without a request
	inputs  []engine.Input
	refused *engine.Fault // why its request could not be filed

	approval *ent.Approval // the approval that the execution waits for; nil for none

	sample bool // the request was filed by nobody: see Rehearsal
	most   int  // phases that one step enters; 0 for as many as a step may
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
// apply.
func (l *loaded) pending(ctx context.Context, db *ent.Client, now time.Time) ([]engine.Input, error) {
	s := l.state
	switch {
	case s.Visit == nil:
		return []engine.Input{engine.Begin{}}, nil
	case s.Wait == nil:
		return []engine.Input{engine.Continue{Visit: s.Visit.Number}}, nil
	}
	var inputs []engine.Input
	var err error
	switch s.Wait.For {
	case engine.ForTask:
		inputs, err = l.completion(ctx, db)
	case engine.ForApproval, engine.ForSignOff:
		inputs, err = l.votes(ctx, db)
	case engine.ForIncident:
		inputs, err = l.resolution(ctx, db)
	}
	if due := s.Wait.Until; err == nil && due != nil && s.Wait.For != engine.ForCall && !now.Before(*due) {
		inputs = append(inputs, engine.Woke{Visit: s.Visit.Number})
	}
	return inputs, err
}

func (l *loaded) completion(ctx context.Context, db *ent.Client) ([]engine.Input, error) {
	v := l.state.Visit
	t, err := db.Task.Query().Where(task.ExecutionID(l.row.ID), task.Visit(v.Number), task.Attempt(v.Attempts), task.StatusEQ(task.StatusCOMPLETED)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the task: %w", err)
	}
	in := engine.TaskDone{Visit: v.Number}
	if t.Outcome != nil {
		in.Outcome = *t.Outcome
	}
	if err := decode(t.Variables, &in.Variables); err != nil {
		return nil, fmt.Errorf("read the task's variables: %w", err)
	}
	return []engine.Input{in}, nil
}

func (l *loaded) votes(ctx context.Context, db *ent.Client) ([]engine.Input, error) {
	v := l.state.Visit
	a, err := db.Approval.Query().Where(approval.ExecutionID(l.row.ID), approval.Visit(v.Number), approval.Attempt(v.Attempts)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the approval: %w", err)
	}
	l.approval = a
	decisions, err := DecisionsOf(a)
	if err != nil {
		return nil, err
	}
	var inputs []engine.Input
	for _, d := range decisions[min(len(l.state.Wait.Votes), len(decisions)):] {
		inputs = append(inputs, engine.Decided{Visit: v.Number, Vote: d.Vote})
	}
	return inputs, nil
}

func (l *loaded) resolution(ctx context.Context, db *ent.Client) ([]engine.Input, error) {
	v := l.state.Visit
	i, err := db.Incident.Query().Where(incident.ExecutionID(l.row.ID), incident.Visit(v.Number), incident.Attempt(v.Attempts), incident.ResolutionNotNil()).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the incident: %w", err)
	}
	var variables map[string]any
	if err := decode(i.Variables, &variables); err != nil {
		return nil, fmt.Errorf("read the incident's variables: %w", err)
	}
	switch *i.Resolution {
	case incident.ResolutionSKIP:
		return []engine.Input{engine.Skip{Visit: v.Number, Variables: variables}}, nil
	case incident.ResolutionMOVE:
		return l.moved(ctx, db, *i.ToVersion, *i.ToPhaseID, variables)
	}
	return []engine.Input{engine.Retry{Visit: v.Number, Variables: variables}}, nil
}

// env returns the environment that a step may read.
func (l *loaded) env(ctx context.Context, db *ent.Client, now time.Time) (engine.Env, error) {
	env := engine.Env{Now: now, ExecutionID: l.row.ID, Refused: l.refused, Calendar: func(id string) (*sla.Calendar, error) { return calendarOf(ctx, db, id) }}
	var err error
	if env.Request, err = requestVariables(l.request); err != nil {
		return env, err
	}
	env.Webhook, err = webhookOf(l.row)
	return env, err
}

// vars returns the variables of the execution's expressions.
func (l *loaded) vars(ctx context.Context, db *ent.Client, now time.Time, secrets map[string]string) (definition.Vars, error) {
	env, err := l.env(ctx, db, now)
	return definition.Vars{Request: env.Request, ExecutionID: env.ExecutionID, Webhook: env.Webhook, Phases: l.state.Phases, Secrets: secrets}, err
}

// webhookOf returns the call that started an execution, in texts that every database can store; nil for none.
func webhookOf(e *ent.Execution) (map[string]any, error) {
	var webhook map[string]any
	if err := decode(e.Webhook, &webhook); err != nil {
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
	list := []*Decision{}
	if len(a.Decisions) == 0 {
		return list, nil
	}
	if err := json.Unmarshal(a.Decisions, &list); err != nil {
		return nil, fmt.Errorf("read the decisions of %s: %w", a.ID, err)
	}
	return list, nil
}
