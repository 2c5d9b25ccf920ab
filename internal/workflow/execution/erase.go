package execution

import (
	"context"
	"encoding/json"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	"atrium/ent/task"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// EraseVariables deletes the variables of an execution that has ended: request, webhook and phases. It raises the
// revision, so that a step computed meanwhile is computed again and finds that the execution has ended.
func EraseVariables(ctx context.Context, db *ent.Client, id string) error {
	row, err := db.Execution.Get(ctx, id)
	if err != nil {
		return fmt.Errorf("read the execution: %w", err)
	}
	state, err := json.Marshal(engine.State{Status: engine.Status(row.Status)})
	if err != nil {
		return fmt.Errorf("write the execution's state: %w", err)
	}
	err = row.Update().SetState(state).ClearWebhook().ClearInput().ClearIntake().ClearError().AddRevision(1).Exec(ctx)
	if err != nil {
		return fmt.Errorf("erase the execution's variables: %w", err)
	}
	return nil
}

// EraseAnswers deletes what a user has completed tasks and resolved incidents with: in these rows, in the visits of their phases, and in
// the variables of executions that have ended. An execution that runs goes on with them: open tells that there is one. It takes the
// tasks and incidents after an id, so many at once, and returns their ids.
func EraseAnswers(ctx context.Context, db *ent.Client, userID, after string, most int) (ids []string, open bool, err error) {
	tasks, err := db.Task.Query().Where(task.CompletedBy(userID), task.IDGT(after)).Order(task.ByID()).Limit(most).All(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("look for the user's tasks: %w", err)
	}
	for _, t := range tasks {
		ids = append(ids, t.ID)
		if t.Variables != nil {
			if err := t.Update().ClearVariables().Exec(ctx); err != nil {
				return nil, false, fmt.Errorf("erase a task: %w", err)
			}
		}
		runs, err := eraseOutputs(ctx, db, t.ExecutionID, t.Visit, t.PhaseID)
		if err != nil {
			return nil, false, err
		}
		open = open || runs
	}
	return ids, open, nil
}

// EraseResolutions does the same for the incidents that a user has resolved.
func EraseResolutions(ctx context.Context, db *ent.Client, userID, after string, most int) (ids []string, open bool, err error) {
	incidents, err := db.Incident.Query().Where(incident.ResolvedBy(userID), incident.IDGT(after)).Order(incident.ByID()).Limit(most).All(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("look for the user's incidents: %w", err)
	}
	for _, i := range incidents {
		ids = append(ids, i.ID)
		var phases map[string]json.RawMessage
		if len(i.Variables) > 0 {
			if err := decode(i.Variables, &phases); err != nil {
				return nil, false, fmt.Errorf("read an incident: %w", err)
			}
		}
		runs := false
		for phase := range phases {
			if runs, err = eraseOutputs(ctx, db, i.ExecutionID, i.Visit, phase); err != nil {
				return nil, false, err
			}
		}
		if open = open || runs; runs || phases == nil {
			continue // the phases are known by the variables
		}
		if err := i.Update().ClearVariables().Exec(ctx); err != nil {
			return nil, false, fmt.Errorf("erase an incident: %w", err)
		}
	}
	return ids, open, nil
}

// eraseOutputs deletes the output of a visit, and the variables of its phase if the execution has ended, there and where it was called;
// runs reports that one of these executions has not.
func eraseOutputs(ctx context.Context, db *ent.Client, executionID string, visit int, phaseID string) (runs bool, err error) {
	err = db.PhaseVisit.Update().Where(phasevisit.ExecutionID(executionID), phasevisit.Number(visit), phasevisit.OutputNotNil()).ClearOutput().Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("erase a visit: %w", err)
	}
	err = db.PhaseVisit.Update().Where(phasevisit.ExecutionID(executionID), phasevisit.Type(string(definition.Join)), phasevisit.OutputNotNil()).ClearOutput().Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("erase what the branches gave: %w", err)
	}
	row, err := db.Execution.Query().Where(execution.ID(executionID)).Only(ctx)
	if err != nil {
		return false, fmt.Errorf("read the execution: %w", err)
	}
	if row.ParentID != nil { // what it left behind is the output of the phase that has called it
		if runs, err = eraseOutputs(ctx, db, *row.ParentID, *row.ParentVisit, *row.ParentPhaseID); err != nil {
			return false, err
		}
	}
	if lifecycle.ExecutionOpen(row.Status) {
		return true, nil
	}
	s, err := readState(row.State)
	if err != nil {
		return false, err
	}
	engine.Forget(s.Phases, phaseID)
	if s.Visit != nil && s.Visit.PhaseID == phaseID {
		s.Visit.Output = nil
	}
	state, err := encode(s)
	if err != nil {
		return false, err
	}
	if err := row.Update().SetState(state).AddRevision(1).Exec(ctx); err != nil {
		return false, fmt.Errorf("erase the execution's variables: %w", err)
	}
	return runs, nil
}

// EraseComments deletes a user's comments on approvals; the decisions stay.
func EraseComments(ctx context.Context, db *ent.Client, userID string) error {
	named := func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString("CAST(").Ident(s.C(approval.FieldDecisions)).WriteString(" AS TEXT) LIKE ").Arg("%" + userID + "%")
		}))
	}
	rows, err := db.Approval.Query().Where(named).All(ctx)
	if err != nil {
		return fmt.Errorf("look for the user's decisions: %w", err)
	}
	for _, row := range rows {
		list, err := DecisionsOf(row)
		if err != nil {
			return err
		}
		for _, d := range list {
			if d.By == userID {
				d.Comment = ""
			}
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("write the decisions: %w", err)
		}
		if err := row.Update().SetDecisions(raw).Exec(ctx); err != nil {
			return fmt.Errorf("erase what was said to an approval: %w", err)
		}
	}
	return nil
}
