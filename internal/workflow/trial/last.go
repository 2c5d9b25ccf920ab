package trial

import (
	"context"
	"encoding/json"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/approval"
	execrow "atrium/ent/execution"
	"atrium/ent/phasevisit"
	"atrium/ent/task"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
	"atrium/internal/workflow/execution"
)

const (
	lastRuns = 50    // executions in which last answers are looked for
	lastRows = 1_000 // of each kind
)

// loadLast returns the last answers that the phases got in the newest executions of the workflow, for the phases that the caller answers
// nothing. It leaves out what the caller may not read, and answers that the definition would refuse.
func loadLast(ctx context.Context, tx *op.Tx, workflowID string, given *answers, d *definition.Definition) (map[string]answer, error) {
	out := map[string]answer{}
	var open []*definition.Phase
	for _, p := range d.Phases {
		if asks(p) && given.given[p.ID] == nil && !given.none[p.ID] {
			open = append(open, p)
		}
	}
	for _, right := range [][2]string{{"requests:read", "request.read"}, {"workflows:read", "execution.read"}} {
		if may, err := tx.Holds(ctx, right[0], right[1]); err != nil || !may {
			return out, err
		}
	}
	if len(open) == 0 {
		return out, nil
	}
	runs, err := tx.Execution.Query().Where(execrow.WorkflowID(workflowID)).Order(execrow.ByCreatedAt(sql.OrderDesc()), execrow.ByID(sql.OrderDesc())).
		Limit(lastRuns).IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last executions: %w", err)
	}
	if len(runs) == 0 {
		return out, nil
	}
	tasks, err := lastTasks(ctx, tx, runs)
	if err != nil {
		return nil, err
	}
	decided, err := lastDecisions(ctx, tx, runs)
	if err != nil {
		return nil, err
	}
	called, err := lastCalls(ctx, tx, runs, open)
	if err != nil {
		return nil, err
	}
	for _, p := range open {
		var one *answer
		switch {
		case p.Process != nil:
			one, err = taskAnswer(ctx, tx, p, tasks[p.ID], decided[p.ID])
		case p.Approval != nil:
			one = approvalAnswer(p, decided[p.ID])
		case calls(p):
			one, err = callAnswer(p, called[p.ID])
		case p.Calls != nil:
			one, err = calledAnswer(called[p.ID])
		}
		if err != nil {
			return nil, err
		}
		if one != nil {
			one.path, one.source = "answers."+p.ID, Last
			out[p.ID] = *one
		}
	}
	return out, nil
}

// lastTasks returns the last completed task of each phase.
func lastTasks(ctx context.Context, tx *op.Tx, runs []string) (map[string]*ent.Task, error) {
	rows, err := tx.Task.Query().Where(task.ExecutionIDIn(runs...), task.StatusEQ(task.StatusCOMPLETED)).
		Order(task.ByCompletedAt(sql.OrderDesc()), task.ByID(sql.OrderDesc())).Limit(lastRows).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last tasks: %w", err)
	}
	return first(rows, func(t *ent.Task) string { return t.PhaseID }), nil
}

// lastDecisions returns the last approval or sign-off of each phase that people settled.
func lastDecisions(ctx context.Context, tx *op.Tx, runs []string) (map[string]*ent.Approval, error) {
	rows, err := tx.Approval.Query().Where(approval.ExecutionIDIn(runs...), approval.StatusIn(approval.StatusAPPROVED, approval.StatusREJECTED, approval.StatusEXPIRED)).
		Order(approval.ByUpdatedAt(sql.OrderDesc()), approval.ByID(sql.OrderDesc())).Limit(lastRows).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last approvals: %w", err)
	}
	return first(rows, func(a *ent.Approval) string { return a.PhaseID }), nil
}

// lastCalls returns the last visit of each phase that calls a server or a workflow and was left by one of its ways. What a phase leaves behind may be large, so
// it is read of these visits alone.
func lastCalls(ctx context.Context, tx *op.Tx, runs []string, open []*definition.Phase) (map[string]*ent.PhaseVisit, error) {
	var ids []string
	for _, p := range open {
		if calls(p) || p.Calls != nil {
			ids = append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := tx.PhaseVisit.Query().Where(phasevisit.ExecutionIDIn(runs...), phasevisit.PhaseIDIn(ids...), phasevisit.StatusEQ(phasevisit.StatusCOMPLETED)).
		Order(phasevisit.ByStartedAt(sql.OrderDesc()), phasevisit.ByID(sql.OrderDesc())).Limit(lastRows).Select(phasevisit.FieldID, phasevisit.FieldPhaseID).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last calls: %w", err)
	}
	ids = nil
	for _, v := range first(rows, func(v *ent.PhaseVisit) string { return v.PhaseID }) {
		ids = append(ids, v.ID)
	}
	rows, err = tx.PhaseVisit.Query().Where(phasevisit.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last calls: %w", err)
	}
	return first(rows, func(v *ent.PhaseVisit) string { return v.PhaseID }), nil
}

// first returns the first row of each phase.
func first[Row any](rows []Row, phase func(Row) string) map[string]Row {
	out := map[string]Row{}
	for _, r := range rows {
		if _, known := out[phase(r)]; !known {
			out[phase(r)] = r
		}
	}
	return out
}

func taskAnswer(ctx context.Context, tx *op.Tx, p *definition.Phase, t *ent.Task, signed *ent.Approval) (*answer, error) {
	if t == nil || t.Outcome == nil {
		return nil, nil
	}
	one := &answer{outcome: *t.Outcome, shown: map[string]any{"outcome": *t.Outcome}}
	if err := decode(t.Variables, &one.variables); err != nil {
		return nil, fmt.Errorf("read the variables of %s: %w", t.ID, err)
	}
	if one.variables != nil {
		one.shown["variables"] = one.variables
	}
	if signed != nil && signed.SignOff && signed.Status == approval.StatusAPPROVED && engine.SignedOff(p) {
		one.signOff, one.shown["signOff"] = approve, approve
	}
	faults, err := execution.TaskFaults(ctx, tx, p, one.outcome, one.variables, form.AnyFiles())
	if len(faults) > 0 {
		return nil, err
	}
	return one, err
}

func approvalAnswer(p *definition.Phase, a *ent.Approval) *answer {
	if a == nil || a.SignOff || a.Status == approval.StatusEXPIRED && p.Approval.Deadline == nil {
		return nil
	}
	decision := map[approval.Status]string{approval.StatusAPPROVED: approve, approval.StatusREJECTED: reject, approval.StatusEXPIRED: expire}[a.Status]
	return &answer{decision: decision, shown: map[string]any{"decision": decision}}
}

// callAnswer returns what an earlier call left behind. Its body was not kept, so the variables that were made of it stand for it: there
// must be one for each response expression.
func callAnswer(p *definition.Phase, v *ent.PhaseVisit) (*answer, error) {
	if v == nil {
		return nil, nil
	}
	var kept map[string]any
	if err := decode(v.Output, &kept); err != nil {
		return nil, fmt.Errorf("read what %s left behind: %w", v.ID, err)
	}
	status, _ := kept["status"].(json.Number)
	n, err := status.Int64()
	if err != nil {
		return nil, nil
	}
	delete(kept, "status")
	if p.APICall != nil {
		for _, one := range p.APICall.Response {
			if _, known := kept[one.Variable]; !known {
				return nil, nil
			}
		}
	}
	return &answer{call: &engine.Answer{Status: int(n), Kept: kept}, shown: map[string]any{"status": n, "variables": kept}}, nil
}

// calledAnswer returns what a workflow that was called earlier left behind.
func calledAnswer(v *ent.PhaseVisit) (*answer, error) {
	if v == nil {
		return nil, nil
	}
	var output map[string]any
	if err := decode(v.Output, &output); err != nil {
		return nil, fmt.Errorf("read what %s left behind: %w", v.ID, err)
	}
	phases, ok := output["phases"].(map[string]any)
	if !ok {
		return nil, nil // it did not wait then
	}
	return &answer{phases: phases, shown: map[string]any{"phases": phases}}, nil
}

// decode reads JSON and preserves the digits of its numbers.
func decode(raw json.RawMessage, into *map[string]any) error {
	if len(raw) == 0 {
		return nil
	}
	return (*strictjson.Object)(into).UnmarshalJSON(raw)
}
