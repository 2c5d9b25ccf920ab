package agent

import (
	"context"
	"fmt"

	"atrium/ent/agentaction"
	"atrium/ent/agentevaluation"
	"atrium/ent/agentrun"
	"atrium/internal/agent/interrupt"
	"atrium/internal/jobs"
	"atrium/internal/store"
)

// Requeue inserts the jobs of a company's open runs, evaluations and waiting actions, after an import that moves no jobs.
func Requeue(ctx context.Context, tx *store.Tx, queue *jobs.Queue, companyID string) error {
	runs, err := tx.AgentRun.Query().Where(agentrun.CompanyID(companyID), unfinished).
		WithAgent().Order(agentrun.ByID()).All(ctx)
	if err != nil {
		return fmt.Errorf("look for runs: %w", err)
	}
	var list []jobs.Job
	for _, r := range runs {
		list = append(list, jobs.Job{Args: interrupt.RunArgs{Company: companyID, Run: r.ID}})
		if r.Trigger == agentrun.TriggerConsulted {
			list = append(list, jobs.Job{Args: ConsultedArgs{Company: companyID, Run: r.ID}, At: r.CreatedAt.Add(consultTime(r.Edges.Agent))})
		}
		if r.LeaseUntil != nil {
			list = append(list, jobs.Job{Args: LeaseArgs{Company: companyID, Run: r.ID}, At: *r.LeaseUntil})
		}
	}
	actions, err := tx.AgentAction.Query().Where(agentaction.CompanyID(companyID), agentaction.StatusEQ(agentaction.StatusPENDING),
		agentaction.KindEQ(agentaction.KindACTION)).Order(agentaction.ByID()).All(ctx)
	if err != nil {
		return fmt.Errorf("look for actions that wait: %w", err)
	}
	for _, a := range actions {
		list = append(list, jobs.Job{Args: ExpiryArgs{Company: companyID, Action: a.ID}, At: a.CreatedAt.Add(answerTime)})
	}
	evaluations, err := tx.AgentEvaluation.Query().Where(agentevaluation.CompanyID(companyID), agentevaluation.StatusEQ(agentevaluation.StatusRUNNING)).
		Order(agentevaluation.ByID()).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look for evaluations: %w", err)
	}
	for _, id := range evaluations {
		list = append(list, jobs.Job{Args: EvaluateArgs{Company: companyID, Evaluation: id}})
	}
	return queue.InsertManyTx(ctx, tx, list...)
}
