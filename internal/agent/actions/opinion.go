package actions

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
)

// CommentOpinion writes the opinion that came from a step as a comment, and ends the run. It needs no approval at any autonomy level,
// because it changes nothing else; where a policy requires one (w.Waits), it waits as an action. A shadow run writes no comment.
func CommentOpinion(ctx context.Context, tx *op.Tx, run *ent.AgentRun, w tools.Write, said string, step int) error {
	self, _, err := runs.Actor(ctx, tx, run)
	if err != nil {
		return err
	}
	if run.Shadow { // admins see the opinion in the run's steps
		return runs.End(ctx, tx, run, agentrun.StatusCOMPLETED, "")
	}
	if w.Arguments, err = tools.OpinionOf(self, said); err != nil {
		return err
	}
	if err := w.SetChanges(nil); err != nil {
		return err
	}
	t, err := tx.Task.Get(tx.Unfiltered(ctx, "the task of the agent's own run"), *run.TaskID)
	if err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	if !w.Waits {
		if run, err = ActNow(ctx, tx, run, self, Draft{Write: w, Step: step, Version: runs.TaskVersion(t)}); err != nil {
			return err
		}
		return runs.End(ctx, tx, run, agentrun.StatusCOMPLETED, "")
	}
	if _, err := Propose(ctx, tx, run, Draft{Write: w, Kind: agentaction.KindACTION, Step: step, Row: run.RequestID, Version: runs.TaskVersion(t)}); err != nil {
		return err
	}
	return worker.Wrap("have the run wait", run.Update().SetStatus(agentrun.StatusWAITING).ClearLeaseUntil().Exec(ctx))
}
