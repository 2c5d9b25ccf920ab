package custom

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/agentrun"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
	"atrium/internal/workflow/execution"
)

// completion is the completion of a task at the end of a run, with the form's errors.
type completion struct {
	faults []apperr.Detail
	args   json.RawMessage
}

// prepareCompletion checks the completion of a task against the phase's form, and asks the policies about an opinion.
func prepareCompletion(ctx context.Context, tx *op.Tx, in CompleteInput) (any, error) {
	run, err := tx.AgentRun.Query().Where(agentrun.ID(in.ID), agentrun.AgentID(runs.SelfID(tx)), agentrun.TaskIDNotNil()).WithRequest().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil // the run is about no task
	}
	if err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	if run.Trigger == agentrun.TriggerConsulted {
		return prepareOpinion(ctx, tx, run)
	}
	written, faults, err := execution.CheckCompletion(ctx, tx, execution.CompleteTaskInput{ByID: op.ByID{ID: *run.TaskID}, Outcome: in.Outcome, Variables: in.Variables})
	if err != nil {
		return nil, err
	}
	args, err := json.Marshal(struct {
		Outcome   *string `json:"outcome,omitempty"`
		Variables any     `json:"variables,omitempty"`
	}{in.Outcome, written})
	return &completion{faults, args}, worker.Wrap("write the arguments", err)
}

// completeTask stores the completion of a task as a proposal, or as an action that waits for a person. Returns validation_error
// if it does not fit the form, and conflict if the agent no longer has the task.
func completeTask(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request, c *completion) error {
	if len(c.faults) > 0 {
		return apperr.Invalid(c.faults...)
	}
	t, err := tx.Task.Get(tx.Unfiltered(ctx, "the task of the agent's own run"), *run.TaskID)
	if err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	if !runs.HasTask(run.AgentID, t) {
		return apperr.New(apperr.Conflict, "The task is not the agent's any more.")
	}
	s, err := settings.Published(tx.Unfiltered(ctx, "an agent's own settings"), tx.Client, run.AgentID, run.AgentVersion)
	if err != nil {
		return err
	}
	_, err = actions.Keep(ctx, tx, run, r, &actions.Allowed{Tool: tools.Task, Settings: s, Arguments: c.args, Task: t})
	return err
}

// prepareOpinion returns whether a policy makes the opinion of a consulted agent wait for a person.
func prepareOpinion(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (waits bool, err error) {
	said, _, err := lastDecision(run)
	if err != nil || said == "" {
		return false, err
	}
	self, _, err := runs.Actor(ctx, tx, run)
	if err != nil {
		return false, err
	}
	args, err := tools.OpinionOf(self, said)
	if err != nil {
		return false, err
	}
	policy, err := tools.Named(tools.Comment).MayUse(ctx, tx, self, tools.Target{Request: run.Edges.Request}, args)
	return policy != "", err
}

// completeOpinion adds the opinion of a consulted agent to the request as the agent's comment, and ends its run. The opinion is the result
// of the last step of kind decide. Returns validation_error for variables, and conflict without such a step.
func completeOpinion(ctx context.Context, tx *op.Tx, run *ent.AgentRun, in CompleteInput) error {
	if len(in.Variables) > 0 {
		return apperr.InvalidField("variables", "must not be given by who is asked for an opinion")
	}
	said, n, err := lastDecision(run)
	if err != nil {
		return err
	}
	if said == "" {
		return apperr.New(apperr.Conflict, "An opinion is the result of a step that decides. Add that step first.")
	}
	waits, _ := op.Preparation[bool](tx)
	return actions.CommentOpinion(ctx, tx, run, tools.Write{Tool: tools.Comment, Rationale: text.Short(said, tools.MaxRationale), Rows: []string{}, Waits: waits}, said, n)
}

// lastDecision returns the result of a run's last step of kind decide, and the number of its steps.
func lastDecision(run *ent.AgentRun) (said string, n int, err error) {
	steps, err := runs.StepsOf(run)
	for _, s := range steps {
		if s.Kind == "decide" {
			said = s.Result
		}
	}
	return said, len(steps), err
}
