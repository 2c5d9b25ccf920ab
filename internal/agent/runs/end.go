package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
)

// Lock holds the agent of a run as it is, and locks the run after its request. All code locks the three in this order. The run
// comes with its agent. Writes of many runs hold an agent together; pausing it waits for them, and those that follow see it PAUSED.
func Lock(ctx context.Context, tx *op.Tx, id string) (*ent.AgentRun, *ent.Request, error) {
	ctx = tx.Unfiltered(ctx, "a run is locked together with its request")
	run, err := tx.AgentRun.Query().Where(agentrun.ID(id)).Only(ctx)
	if err != nil {
		return nil, nil, err
	}
	a, err := op.Share(tx, tx.Agent.Query().Where(agent.ID(run.AgentID))).Only(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("hold the run's agent: %w", err)
	}
	r, err := op.Lock(tx, tx.Request.Query().Where(request.ID(run.RequestID))).Only(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the request: %w", err)
	}
	if run, err = op.Lock(tx, tx.AgentRun.Query().Where(agentrun.ID(id))).Only(ctx); err != nil {
		return nil, nil, err
	}
	run.Edges.Agent = a
	return run, r, nil
}

// PlanAnew queues a run again whose request has changed since it was planned.
func PlanAnew(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	if err := run.Update().SetStatus(agentrun.StatusQUEUED).Exec(ctx); err != nil {
		return fmt.Errorf("have the run plan anew: %w", err)
	}
	return tx.Insert(ctx, RunArgs{Company: run.CompanyID, Run: run.ID}, time.Time{})
}

// End ends a run and makes its pending actions STALE, unless it ends as PROPOSED or COMPLETED. Otherwise it also releases the run's
// task, and so does a shadow, from which people get no proposal.
func End(ctx context.Context, tx *op.Tx, run *ent.AgentRun, as agentrun.Status, reason string) error {
	if err := run.Update().SetStatus(as).SetReason(reason).SetEndedAt(tx.Now(ctx)).Exec(ctx); err != nil {
		return fmt.Errorf("end the run: %w", err)
	}
	good := as == agentrun.StatusPROPOSED || as == agentrun.StatusCOMPLETED
	if !good || run.Shadow {
		if err := Release(ctx, tx, run); err != nil {
			return err
		}
	}
	if good {
		return nil
	}
	err := tx.AgentAction.Update().Where(agentaction.RunID(run.ID), agentaction.StatusEQ(agentaction.StatusPENDING)).
		SetStatus(agentaction.StatusSTALE).Exec(ctx)
	return worker.Wrap("make the run's plans stale", err)
}

// AddStep appends a step to a run, and renews its lease.
func AddStep(ctx context.Context, tx *op.Tx, run *ent.AgentRun, steps []*Step, s Step) error {
	s.N, s.At = len(steps)+1, tx.Now(ctx).UTC()
	raw, err := json.Marshal(append(slices.Clone(steps), &s))
	if err != nil {
		return fmt.Errorf("write the steps: %w", err)
	}
	all := tx.Unfiltered(ctx, "a run is its agent's, whatever that sees of the request")
	return worker.Wrap("keep the step", run.Update().SetSteps(raw).SetLeaseUntil(tx.Now(ctx).Add(LeaseTime)).Exec(all))
}

// Finish ends a run whose agent has finished, or makes it wait for a person.
func Finish(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	list, err := tx.AgentAction.Query().Where(agentaction.RunID(run.ID)).All(tx.Unfiltered(ctx, "what a run comes to, seen or not"))
	if err != nil {
		return fmt.Errorf("read the run's actions: %w", err)
	}
	n := map[string]int{}
	for _, a := range list {
		if a.Status == agentaction.StatusPENDING {
			n[string(a.Kind)]++
		}
		n[string(a.Status)]++
	}
	switch {
	case n["PROPOSAL"] > 0:
		return End(ctx, tx, run, agentrun.StatusPROPOSED, "")
	case n["ACTION"] > 0:
		return worker.Wrap("have the run wait", run.Update().SetStatus(agentrun.StatusWAITING).Exec(ctx))
	case n["APPLIED"] > 0:
		return End(ctx, tx, run, agentrun.StatusCOMPLETED, "")
	case n["REJECTED"] > 0:
		return End(ctx, tx, run, agentrun.StatusHANDED_OVER, "A person rejected what the agent proposed.")
	}
	return End(ctx, tx, run, agentrun.StatusHANDED_OVER, "The agent ended without proposing or doing anything.")
}

// Release gives the task of a run to people, unless the run was only asked for an opinion.
func Release(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	if run.TaskID == nil || run.Trigger == agentrun.TriggerConsulted {
		return nil
	}
	return tx.Insert(ctx, ReleaseArgs{Company: run.CompanyID, Run: run.ID}, time.Time{})
}
