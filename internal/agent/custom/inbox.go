package custom

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// The operations with which CUSTOM agents work on their runs. They are only for an agent's key.
var (
	Claim = op.OnRow("agentinbox.claim", op.Spec{
		Resource: "AgentRun", Action: op.Update, Scope: "requests:write", OfAgents: true, Summary: "Begin to work a run",
	}, loadWork, claim)

	AddStep = op.OnRow("agentinbox.note", op.Spec{
		Resource: "AgentRun", Action: op.Update, Scope: "requests:write", OfAgents: true, Summary: "Tell what a run does",
	}, loadWork, note)

	Complete = op.OnRow("agentinbox.complete", op.Spec{
		Resource: "AgentRun", Action: op.Update, Scope: "requests:write", OfAgents: true, Summary: "End a run that has done its work",
	}, loadWork, complete).Prepared(prepareCompletion)

	HandOver = op.OnRow("agentinbox.handover", op.Spec{
		Resource: "AgentRun", Action: op.Update, Scope: "requests:write", OfAgents: true, Past: map[string]string{"agentinbox.handover": "agentinbox.handed_over"},
		Summary: "Give a run's work to people",
	}, loadWork, handOver)
)

// loadWork locks one of the caller's own runs, after its request. For other callers it finds any run that they may see; the
// operation refuses them afterwards.
func loadWork(ctx context.Context, tx *op.Tx, id string) (*ent.AgentRun, error) {
	mine, err := tx.AgentRun.Query().Where(append(runs.Shown(tx), agentrun.ID(id))...).OnlyID(ctx)
	if err != nil {
		return nil, err
	}
	run, _, err := runs.Lock(ctx, tx, mine)
	return run, err
}

// claim returns conflict unless the run is QUEUED, for a paused agent, and while agents are disabled. A run beyond its budgets is
// handed over.
func claim(ctx context.Context, tx *op.Tx, before *ent.AgentRun, _ op.ByID) (*ent.AgentRun, error) {
	switch {
	case tx.NoAgents():
		return nil, worker.SwitchedOff()
	case before.Edges.Agent.Status == agent.StatusPAUSED:
		return nil, apperr.New(apperr.Conflict, "The agent is paused.")
	case before.Status != agentrun.StatusQUEUED:
		return nil, apperr.New(apperr.Conflict, "The run is %s.", before.Status)
	}
	until := tx.Now(ctx).Add(runs.LeaseTime)
	u := before.Update().SetStatus(agentrun.StatusRUNNING).SetLeaseUntil(until)
	if before.LeaseUntil == nil { // it comes before the run's job, and begins the plan
		reason, err := runs.OverBudget(tx.Unfiltered(ctx, "budgets count all runs"), tx, before)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			if err := runs.End(ctx, tx, before, agentrun.StatusHANDED_OVER, reason); err != nil {
				return nil, err
			}
			return runs.Reload(ctx, tx, before)
		}
		u.AddPlans(1)
	}
	if err := u.Exec(ctx); err != nil {
		return nil, fmt.Errorf("claim the run: %w", err)
	}
	after, err := runs.Reload(ctx, tx, before)
	if err != nil {
		return nil, err
	}
	s, err := settings.Published(tx.Unfiltered(ctx, "an agent's own settings"), tx.Client, after.AgentID, after.AgentVersion)
	if err != nil {
		return nil, err
	}
	ends := tx.Now(ctx).Add(time.Duration(s.Limits.Minutes) * time.Minute)
	if ends.Before(until) {
		until = ends
	}
	return after, tx.Insert(ctx, runs.LeaseArgs{Company: after.CompanyID, Run: after.ID, Plan: after.Plans, End: ends}, until)
}

// StepInput describes a step of a run.
type StepInput struct {
	op.ByID
	Kind      string            `json:"kind" enum:"read,decide,act" doc:"What kind of step. The result of the last one that decides is the rationale of what is proposed after it, its argument confidence (0 to 1) the confidence."`
	Operation string            `json:"operation" minLength:"1" maxLength:"64" doc:"As GraphQL names it." example:"updateRequest"`
	Rows      []string          `json:"rows,omitempty" nullable:"true" maxItems:"50" doc:"Ids of the rows that it looked at."`
	Arguments strictjson.Object `json:"arguments,omitempty" nullable:"true" doc:"Of the operation."`
	Result    string            `json:"result" maxLength:"2000" doc:"What came of it, for people. Plain text." example:"Nobody can work: the team is waiting."`
}

// isShare reports whether a value of JSON is a number from 0 to 1.
func isShare(v any) bool {
	f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if _, text := v.(string); text || err != nil {
		return false
	}
	return f >= 0 && f <= 1
}

// note adds a step. Returns conflict for a run that is not RUNNING. A step beyond the run's limit hands it over.
func note(ctx context.Context, tx *op.Tx, before *ent.AgentRun, in StepInput) (*ent.AgentRun, error) {
	run, _, err := working(ctx, tx, before.ID)
	if err != nil {
		return nil, err
	}
	steps, err := runs.StepsOf(run)
	if err != nil {
		return nil, err
	}
	s, err := settings.Published(tx.Unfiltered(ctx, "an agent's own settings"), tx.Client, run.AgentID, run.AgentVersion)
	if err != nil {
		return nil, err
	}
	if len(steps) >= s.Limits.Steps {
		if err := runs.End(ctx, tx, run, agentrun.StatusHANDED_OVER, s.Limits.NoSteps()); err != nil {
			return nil, err
		}
		return runs.Reload(ctx, tx, before)
	}
	if c, given := in.Arguments["confidence"]; given && in.Kind == "decide" && !isShare(c) {
		return nil, apperr.InvalidField("arguments.confidence", "must be a number from 0 to 1")
	}
	next := runs.Step{Kind: in.Kind, Operation: in.Operation, Rows: append([]string{}, in.Rows...), Result: in.Result}
	if len(in.Arguments) > 0 {
		if next.Arguments, err = json.Marshal(in.Arguments); err != nil {
			return nil, fmt.Errorf("write the step: %w", err)
		}
	}
	if err := runs.AddStep(ctx, tx, run, steps, next); err != nil {
		return nil, err
	}
	return runs.Reload(ctx, tx, before)
}

// CompleteInput is the result of a run.
type CompleteInput struct {
	op.ByID
	Outcome   *string           `json:"outcome,omitempty" nullable:"true" maxLength:"100" doc:"Of a task, one of its outcomes."`
	Variables strictjson.Object `json:"variables,omitempty" nullable:"true" doc:"What the form of a task asks for."`
}

// complete ends a run by its actions: PROPOSED if one is proposed, WAITING if one waits for a person, COMPLETED if all were done,
// and HANDED_OVER without actions.
func complete(ctx context.Context, tx *op.Tx, before *ent.AgentRun, in CompleteInput) (*ent.AgentRun, error) {
	run, r, err := working(ctx, tx, before.ID)
	if err != nil {
		return nil, err
	}
	if run.Trigger == agentrun.TriggerConsulted {
		if err := completeOpinion(ctx, tx, run, in); err != nil {
			return nil, err
		}
		return runs.Reload(ctx, tx, before)
	}
	if c, ok := op.Preparation[*completion](tx); ok {
		if err := completeTask(ctx, tx, run, r, c); err != nil {
			return nil, err
		}
		if run, _, err = runs.Lock(tx.Unfiltered(ctx, "the agent's own run"), tx, run.ID); err != nil {
			return nil, err
		}
	} else if len(in.Variables) > 0 {
		return nil, apperr.InvalidField("variables", "must not be given for a run that is about no task")
	}
	if run, err = run.Update().SetOutcome(op.Or(in.Outcome, "")).ClearLeaseUntil().Save(ctx); err != nil {
		return nil, fmt.Errorf("keep the outcome: %w", err)
	}
	if err := runs.Finish(ctx, tx, run); err != nil {
		return nil, err
	}
	return runs.Reload(ctx, tx, before)
}

// HandOverInput says why people have to continue.
type HandOverInput struct {
	op.ByID
	Reason string `json:"reason" minLength:"1" maxLength:"1000" pattern:"\\S" patternDescription:"more than blanks" doc:"For people."`
}

func handOver(ctx context.Context, tx *op.Tx, before *ent.AgentRun, in HandOverInput) (*ent.AgentRun, error) {
	run, _, err := working(ctx, tx, before.ID)
	if err != nil {
		return nil, err
	}
	if err := runs.End(ctx, tx, run, agentrun.StatusHANDED_OVER, in.Reason); err != nil {
		return nil, err
	}
	return runs.Reload(ctx, tx, before)
}
