package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/plans"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
)

// conclude stores or performs the writes of a plan.
func conclude(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request, s settings.Settings, p *plans.Plan) error {
	run, err := keepSteps(ctx, run, p)
	if err != nil {
		return err
	}
	switch {
	case run.TaskID == nil && r.Status != request.StatusPENDING:
		return runs.End(ctx, tx, run, agentrun.StatusHANDED_OVER, runs.NotWaiting)
	case len(p.Writes) == 0:
		return runs.End(ctx, tx, run, agentrun.StatusHANDED_OVER, p.Reason)
	case run.TaskID != nil:
		return concludeTask(ctx, tx, run, s, p)
	}
	var waits []tools.Write
	for _, w := range p.Writes {
		if s.Autonomy != string(agent.AutonomyAUTONOMOUS) || s.KindIn(run) == agentaction.KindPROPOSAL || w.Waits {
			waits = append(waits, w)
		}
	}
	if len(waits) > 0 { // before the agent acts, which then has them depend on what it leaves
		if err := storeActions(ctx, tx, run, p, waits, actions.Draft{Kind: s.KindIn(run), Row: run.RequestID, Version: p.Version}); err != nil {
			return err
		}
	} else if err := runs.End(ctx, tx, run, agentrun.StatusCOMPLETED, ""); err != nil {
		return err
	}
	if len(waits) < len(p.Writes) {
		return actAlone(ctx, tx, run, p)
	}
	return nil
}

// storeActions stores writes for people to decide about: as proposals or as waiting actions. as is what they have in common.
func storeActions(ctx context.Context, tx *op.Tx, run *ent.AgentRun, p *plans.Plan, writes []tools.Write, as actions.Draft) error {
	for _, w := range writes {
		as.Write, as.Step = w, p.StepOf(w)
		if _, err := actions.Propose(ctx, tx, run, as); err != nil {
			return err
		}
	}
	if as.Kind == agentaction.KindPROPOSAL {
		return runs.End(ctx, tx, run, agentrun.StatusPROPOSED, "")
	}
	return worker.Wrap("have the run wait", run.Update().SetStatus(agentrun.StatusWAITING).Exec(ctx))
}

// keepSteps stores the steps of a run so far, and its use of the model.
func keepSteps(ctx context.Context, run *ent.AgentRun, p *plans.Plan) (*ent.AgentRun, error) {
	steps, err := json.Marshal(p.Steps)
	if err != nil {
		return nil, fmt.Errorf("write the steps: %w", err)
	}
	after, err := run.Update().SetSteps(steps).SetModelCalls(p.Used.Calls).SetInputTokens(p.Used.Input).SetOutputTokens(p.Used.Output).Save(ctx)
	return after, worker.Wrap("keep the steps", err)
}

// actAlone performs the writes of an AUTONOMOUS agent that need no approval, in the transaction that ends its run. Those that wait
// then depend on the request as it is afterwards.
func actAlone(ctx context.Context, tx *op.Tx, run *ent.AgentRun, p *plans.Plan) error {
	var err error
	version := p.Version
	for _, w := range p.Writes {
		if w.Waits {
			continue
		}
		if run, err = actions.ActNow(ctx, tx, run, p.Self, actions.Draft{Write: w, Step: p.StepOf(w), Version: version}); err != nil {
			return err
		}
		if version, err = runs.VersionNow(ctx, tx, run); err != nil {
			return err
		}
	}
	return actions.Rebase(ctx, tx, run)
}

// concludeTask stores the result of a model about a task: an opinion as a comment, a completion as a proposal or a waiting
// action.
func concludeTask(ctx context.Context, tx *op.Tx, run *ent.AgentRun, s settings.Settings, p *plans.Plan) error {
	if run.Trigger == agentrun.TriggerConsulted {
		w := p.Writes[0]
		said, err := tools.SaidIn(w.Arguments)
		if err != nil {
			return err
		}
		return actions.CommentOpinion(ctx, tx, run, w, said, p.StepOf(w))
	}
	t, err := tx.Task.Get(tx.Unfiltered(ctx, "the task of the agent's own run"), *run.TaskID)
	if err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	if !runs.HasTask(run.AgentID, t) {
		return runs.End(ctx, tx, run, agentrun.StatusSTOPPED, runs.Reassigned)
	}
	return storeActions(ctx, tx, run, p, p.Writes, actions.Draft{Kind: s.KindIn(run), Row: t.ID, Version: runs.TaskVersion(t)})
}
