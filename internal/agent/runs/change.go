package runs

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
)

// NotWaiting is the reason of a run whose request is past what agents do about it.
const NotWaiting = "The request does not wait any more."

// NobodyAnswers is the reason of a run whose agent's owner has left.
const NobodyAnswers = "Nobody answers for the agent: its owner was deactivated."

// Open lists the statuses of runs that have not ended.
var Open = []agentrun.Status{agentrun.StatusQUEUED, agentrun.StatusRUNNING, agentrun.StatusWAITING}

// RequestChanged makes the pending actions for a request STALE after a change of its version. A change by a
// person stops the request's runs; after any other change they plan again. The run that caused the change goes on: its other actions
// depend on the request as it is now (rebase). A request without runs costs one statement.
func RequestChanged(ctx context.Context, tx *op.Tx, before, after *ent.Request) error {
	same, err := sameVersion(before, after)
	if err != nil || same {
		return err
	}
	ctx = tx.Unfiltered(ctx, "plans go stale whether or not the caller sees them")
	some, err := tx.AgentRun.Query().Where(agentrun.RequestID(after.ID)).Exist(ctx)
	if err != nil || !some {
		return worker.Wrap("look for runs of agents", err)
	}
	own := ""
	if c := tx.Principal().Cause; c != nil {
		own = c.RunID
	}
	waiting, err := op.Lock(tx, tx.AgentRun.Query().Where(agentrun.RequestID(after.ID), agentrun.IDNEQ(own), agentrun.TaskIDIsNil(), agentrun.StatusIn(Open...))).All(ctx)
	if err != nil {
		return fmt.Errorf("look for open runs of agents: %w", err)
	}
	for _, r := range waiting {
		if err := moveOn(ctx, tx, r, after); err != nil {
			return err
		}
	}
	err = tx.AgentAction.Update().Where(agentaction.RequestID(after.ID), agentaction.RunIDNEQ(own), agentaction.StatusEQ(agentaction.StatusPENDING), agentaction.OperationNEQ("completeTask"),
		agentaction.HasRunWith(agentrun.TriggerNEQ(agentrun.TriggerConsulted))). // an opinion is about the task
		SetStatus(agentaction.StatusSTALE).Exec(ctx)
	return worker.Wrap("make plans stale", err)
}

// moveOn stops a run whose request a person has changed, and hands over one whose request has ended. After any other change a run
// plans again if it waits, or if its agent works on it and has asked for a write already; an engine compares the versions before it
// ends.
func moveOn(ctx context.Context, tx *op.Tx, r *ent.AgentRun, on *ent.Request) error {
	if p := tx.Principal(); p.Type == principal.TypeUser && p.Method != principal.MethodAPIKey {
		err := r.Update().SetStatus(agentrun.StatusSTOPPED).SetReason("Somebody changed the request.").SetEndedAt(tx.Now(ctx)).Exec(ctx)
		return worker.Wrap("stop a run", err)
	}
	if !lifecycle.RequestOpen(on.Status) {
		err := r.Update().SetStatus(agentrun.StatusHANDED_OVER).SetReason(NotWaiting).SetEndedAt(tx.Now(ctx)).Exec(ctx)
		return worker.Wrap("hand a run over", err)
	}
	if r.Status == agentrun.StatusQUEUED {
		return nil
	}
	if r.Status == agentrun.StatusRUNNING {
		asked, err := tx.AgentAction.Query().Where(agentaction.RunID(r.ID), agentaction.StatusEQ(agentaction.StatusPENDING)).
			Exist(tx.Unfiltered(ctx, "what a run has asked for, whoever sees it"))
		if err != nil || !asked {
			return worker.Wrap("look for what a run has asked for", err)
		}
	}
	if err := r.Update().SetStatus(agentrun.StatusQUEUED).ClearLeaseUntil().Exec(ctx); err != nil {
		return fmt.Errorf("have a run plan anew: %w", err)
	}
	return tx.Insert(ctx, RunArgs{Company: r.CompanyID, Run: r.ID}, time.Time{})
}

// OwnerLeft hands over the open runs of the agents that a person answers for, in the transaction in which
// that person leaves. What such an agent has asked for cannot be approved any more, since it acts with its owner's rights.
func OwnerLeft(ctx context.Context, tx *op.Tx, userID string) error {
	all := tx.Unfiltered(ctx, "the runs end whether or not the caller sees them")
	runs, err := tx.AgentRun.Query().Where(agentrun.StatusIn(Open...), agentrun.HasAgentWith(agent.OwnerID(userID))).All(all)
	if err != nil || len(runs) == 0 {
		return worker.Wrap("look for runs of the person's agents", err)
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
		if err := Release(ctx, tx, r); err != nil {
			return err
		}
	}
	err = tx.AgentRun.Update().Where(agentrun.IDIn(ids...), agentrun.StatusIn(Open...)).
		SetStatus(agentrun.StatusHANDED_OVER).SetReason(NobodyAnswers).SetEndedAt(tx.Now(ctx)).Exec(all)
	if err != nil {
		return fmt.Errorf("hand the runs over: %w", err)
	}
	err = tx.AgentAction.Update().Where(agentaction.RunIDIn(ids...), agentaction.StatusEQ(agentaction.StatusPENDING)).
		SetStatus(agentaction.StatusSTALE).Exec(all)
	return worker.Wrap("make the runs' plans stale", err)
}

// PersonErased has the platform's own runs that are under way read and plan anew: what they have read may quote the person. A call of a
// model that is open meanwhile is for a plan of before, of which nothing is stored any more. What a CUSTOM agent has read is its own.
func PersonErased(ctx context.Context, tx *op.Tx) error {
	all := tx.Unfiltered(ctx, "no run keeps what was erased, whoever sees it")
	runs, err := op.Lock(tx, tx.AgentRun.Query().Where(agentrun.StatusEQ(agentrun.StatusRUNNING), agentrun.HasAgentWith(agent.SourceEQ(agent.SourceMANAGED))).
		Order(agentrun.ByID())).All(all)
	if err != nil {
		return fmt.Errorf("look for runs that have read: %w", err)
	}
	for _, run := range runs {
		if err := PlanAnew(ctx, tx, run); err != nil {
			return err
		}
	}
	return nil
}

// Reassigned is the reason of a stopped run whose agent no longer has the task.
const Reassigned = "Somebody else has the task, or it has ended."

// HasTask reports whether a task is open, assigned to the agent, and taken by no person.
func HasTask(agentID string, t *ent.Task) bool {
	return lifecycle.TaskOpen(t.Status) && t.AssigneeID == nil && t.AgentID != nil && *t.AgentID == agentID
}
