package interrupt

import (
	"context"
	"fmt"

	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/op"
)

// OwnerLeft hands over the open runs of the agents that a person answers for, in the transaction in which that person leaves. What
// such an agent has asked for cannot be approved any more, since it acts with its owner's rights.
func OwnerLeft(ctx context.Context, tx *op.Tx, userID string) error {
	all := tx.Unfiltered(ctx, "the runs end whether or not the caller sees them")
	runs, err := tx.AgentRun.Query().Where(agentrun.StatusIn(Open...), agentrun.HasAgentWith(agent.OwnerID(userID))).All(all)
	if err != nil || len(runs) == 0 {
		return wrap("look for runs of the person's agents", err)
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
	return wrap("make the runs' plans stale", err)
}
