package runs

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/agentrun"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
)

const (
	maxPlans    = 3              // of a run whose request keeps changing
	budgetTime  = 24 * time.Hour // the period in which runs count against the budgets of their agent and company
	companyRuns = 5000           // runs that a company's agents may begin in that time, unless the company sets a number
	fairShare   = 50             // queued runs of a company that have the same priority
	lowest      = 4              // of the priorities
)

// JobOf returns the job of a new run. The more runs of its company are queued, the lower is its priority, so that a company with
// very many lets the runs of others go first.
func JobOf(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (RunArgs, error) {
	queued, err := tx.AgentRun.Query().Where(agentrun.StatusEQ(agentrun.StatusQUEUED)).Limit(fairShare * lowest).
		IDs(tx.Unfiltered(ctx, "all queued runs take their turn"))
	return RunArgs{Company: run.CompanyID, Run: run.ID, Priority: priorityAfter(len(queued))}, worker.Wrap("count the queued runs", err)
}

// priorityAfter returns the priority of a run before which a number of its company's are queued.
func priorityAfter(queued int) int { return min(lowest, 1+queued/fairShare) }

// OverBudget returns why a run must not begin to plan; empty if it may. Only runs that began to plan count, so a flooded agent
// does not use up the budget of the company's other agents. A lock per company makes the count exact on all nodes.
func OverBudget(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (string, error) {
	if run.Plans >= maxPlans {
		return "The request changed each time that the agent had planned.", nil
	}
	s, err := settings.Published(ctx, tx.Client, run.AgentID, run.AgentVersion)
	if err != nil {
		return "", err
	}
	c, err := tx.Company.Get(ctx, run.CompanyID)
	if err != nil {
		return "", fmt.Errorf("read the company: %w", err)
	}
	if err := tx.LockName(ctx, "agentruns/"+run.CompanyID); err != nil {
		return "", err
	}
	begun := tx.AgentRun.Query().Where(agentrun.CreatedAtGT(tx.Now(ctx).Add(-budgetTime)), agentrun.PlansGT(0), agentrun.IDNEQ(run.ID))
	n, err := begun.Clone().Where(agentrun.AgentID(run.AgentID)).Count(ctx)
	if err != nil {
		return "", fmt.Errorf("count the agent's runs: %w", err)
	}
	if n >= s.RunsPerDay {
		return "The agent has had its runs of the day.", nil
	}
	if n, err = begun.Count(ctx); err != nil {
		return "", fmt.Errorf("count the runs of the company's agents: %w", err)
	}
	if n >= op.Or(c.AgentRunsPerDay, companyRuns) {
		return "The company's agents have had their runs of the day.", nil
	}
	return "", nil
}
