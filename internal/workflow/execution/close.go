package execution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agentrun"
	"atrium/ent/approval"
	"atrium/ent/incident"
	"atrium/ent/predicate"
	"atrium/ent/task"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/workflow/engine"
)

// inserter inserts a job in the transaction that it belongs to, as op.Tx.Insert does.
type inserter func(ctx context.Context, job river.JobArgs, at time.Time) error

// closeOpen closes the open tasks, approvals and incidents of visits of the execution; without visits, of all.
func closeOpen(ctx context.Context, db *ent.Client, insert inserter, row *ent.Execution, now time.Time, visits ...int) error {
	tasks := []predicate.Task{task.ExecutionID(row.ID)}
	approvals := []predicate.Approval{approval.ExecutionID(row.ID), approval.StatusEQ(approval.StatusPENDING)}
	incidents := []predicate.Incident{incident.ExecutionID(row.ID), incident.StatusEQ(incident.StatusOPEN)}
	if len(visits) > 0 {
		tasks, approvals, incidents = append(tasks, task.VisitIn(visits...)), append(approvals, approval.VisitIn(visits...)), append(incidents, incident.VisitIn(visits...))
	}
	if err := closeTasks(ctx, db, insert, row, tasks); err != nil {
		return err
	}
	if err := db.Approval.Update().Where(approvals...).SetStatus(approval.StatusCANCELLED).Exec(ctx); err != nil {
		return fmt.Errorf("cancel the approvals: %w", err)
	}
	err := db.Incident.Update().Where(incidents...).SetStatus(incident.StatusRESOLVED).SetResolvedAt(now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("close the incidents: %w", err)
	}
	return nil
}

// closeTasks cancels those of the tasks that are open.
func closeTasks(ctx context.Context, db *ent.Client, insert inserter, row *ent.Execution, tasks []predicate.Task) error {
	cancelled := append(slices.Clone(tasks), task.StatusEQ(task.StatusCANCELLED))
	n, err := db.Task.Update().Where(append(tasks, lifecycle.OpenTasks())...).
		SetStatus(task.StatusCANCELLED).ClearSLANextAt().Save(ctx)
	if err != nil {
		return fmt.Errorf("cancel the tasks: %w", err)
	}
	if n == 0 {
		return nil
	}
	clocks := append(slices.Clone(cancelled), task.SLAStateNotNil(), task.SLAStateNEQ(task.SLAStateBREACHED))
	if err := db.Task.Update().Where(clocks...).SetSLAState(task.SLAStateMET).Exec(ctx); err != nil {
		return fmt.Errorf("end the clocks of the tasks: %w", err)
	}
	worked, err := db.AgentRun.Query().Where(agentrun.HasTaskWith(cancelled...)).Unique(true).Select(agentrun.FieldTaskID).Strings(ctx)
	if err != nil {
		return fmt.Errorf("look for tasks that agents worked: %w", err)
	}
	for _, id := range worked {
		if err := insert(ctx, AgentTaskArgs{Company: row.CompanyID, Task: id}, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// closing returns the visits of which the first effects close everything.
func closing(effects []engine.Effect) (visits []int) {
	for _, e := range effects {
		c, ok := e.(engine.CloseOpen)
		if !ok {
			break
		}
		visits = append(visits, c.Visit)
	}
	return visits
}
