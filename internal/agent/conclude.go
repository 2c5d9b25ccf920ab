package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
)

// conclude stores or performs the writes of a plan.
func conclude(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request, s settings, p *plan) error {
	run, err := keepSteps(ctx, run, p)
	if err != nil {
		return err
	}
	switch {
	case run.TaskID == nil && r.Status != request.StatusPENDING:
		return end(ctx, tx, run, agentrun.StatusHANDED_OVER, notWaiting)
	case len(p.writes) == 0:
		return end(ctx, tx, run, agentrun.StatusHANDED_OVER, p.reason)
	case run.TaskID != nil:
		return concludeTask(ctx, tx, run, s, p)
	}
	var waits []write
	for _, w := range p.writes {
		if s.Autonomy != string(agent.AutonomyAUTONOMOUS) || s.kindIn(run) == agentaction.KindPROPOSAL || w.Waits {
			waits = append(waits, w)
		}
	}
	if len(waits) > 0 { // before the agent acts, which then has them depend on what it leaves
		if err := storeActions(ctx, tx, run, s, p, waits, run.RequestID, p.version); err != nil {
			return err
		}
	} else if err := end(ctx, tx, run, agentrun.StatusCOMPLETED, ""); err != nil {
		return err
	}
	if len(waits) < len(p.writes) {
		return actAlone(ctx, tx, run, p)
	}
	return nil
}

// storeActions stores writes for people to decide about: as proposals or as waiting actions. version is the version of the row subject.
func storeActions(ctx context.Context, tx *op.Tx, run *ent.AgentRun, s settings, p *plan, writes []write, subject, version string) error {
	kind := s.kindIn(run)
	for _, w := range writes {
		if _, err := propose(ctx, tx, run, kind, p.stepOf(w), w, subject, version); err != nil {
			return err
		}
	}
	if kind == agentaction.KindPROPOSAL {
		return end(ctx, tx, run, agentrun.StatusPROPOSED, "")
	}
	return wrap("have the run wait", run.Update().SetStatus(agentrun.StatusWAITING).Exec(ctx))
}

// keepSteps stores the steps of a run so far, and its use of the model.
func keepSteps(ctx context.Context, run *ent.AgentRun, p *plan) (*ent.AgentRun, error) {
	steps, err := json.Marshal(p.steps)
	if err != nil {
		return nil, fmt.Errorf("write the steps: %w", err)
	}
	after, err := run.Update().SetSteps(steps).SetModelCalls(p.used.Calls).SetInputTokens(p.used.Input).SetOutputTokens(p.used.Output).Save(ctx)
	return after, wrap("keep the steps", err)
}

// actAlone performs the writes of an AUTONOMOUS agent that need no approval, in the transaction that ends its run. Those that wait
// then depend on the request as it is afterwards.
func actAlone(ctx context.Context, tx *op.Tx, run *ent.AgentRun, p *plan) error {
	var err error
	version := p.version
	for _, w := range p.writes {
		if w.Waits {
			continue
		}
		if run, err = actNow(ctx, tx, run, p.self, p.stepOf(w), w, version); err != nil {
			return err
		}
		if version, err = versionNow(ctx, tx, run); err != nil {
			return err
		}
	}
	return rebase(ctx, tx, run)
}

// actNow performs a write on a run's request that needs no approval, as the agent, and records it as an APPLIED action and as a step
// of kind act. step is the step that decided it, version that of the row that it depends on.
func actNow(ctx context.Context, tx *op.Tx, run *ent.AgentRun, self *principal.Principal, step int, w write, version string) (*ent.AgentRun, error) {
	create, err := actionOf(tx, run, agentaction.KindACTION, step, w, run.RequestID, version)
	if err != nil {
		return nil, err
	}
	a, err := create.SetStatus(agentaction.StatusAPPLIED).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep what the agent does: %w", err)
	}
	self = self.WithCause(principal.Cause{RunID: run.ID, Step: step, ActionID: a.ID})
	all := tx.Unfiltered(ctx, "the row that was acted on is read back")
	if err := perform(all, tx.ActingAs(self), w.Tool, run.RequestID, w.Arguments); err != nil {
		return nil, err
	}
	return recordDone(ctx, tx, run, a, "Done.")
}

// recordDone records in the steps of a run that an action was done: in the step that asked for it, or in a new one of kind act.
func recordDone(ctx context.Context, tx *op.Tx, run *ent.AgentRun, a *ent.AgentAction, result string) (*ent.AgentRun, error) {
	steps, err := StepsOf(run)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(steps, func(s *Step) bool { return s.N == a.Step && s.Kind == "act" })
	if i < 0 {
		i, steps = len(steps), append(steps, &Step{N: len(steps) + 1, Kind: "act", Operation: a.Operation, Rows: []string{subjectOf(run, a)}, Arguments: a.Arguments})
	}
	steps[i].Result, steps[i].At = result, tx.Now(ctx).UTC()
	raw, err := json.Marshal(steps)
	if err != nil {
		return nil, fmt.Errorf("write the steps: %w", err)
	}
	edges := run.Edges
	if run, err = run.Update().SetSteps(raw).Save(tx.Unfiltered(ctx, "a run tells what it did, whoever sees it")); err != nil {
		return nil, fmt.Errorf("keep the step: %w", err)
	}
	run.Edges = edges // Ent does not copy them to the updated row
	return run, nil
}

// versionNow returns the version of a run's request as the transaction has left it.
func versionNow(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (string, error) {
	r, err := tx.Request.Get(tx.Unfiltered(ctx, "the request as the agent has changed it"), run.RequestID)
	if err != nil {
		return "", fmt.Errorf("read the request: %w", err)
	}
	return requestVersion(r)
}

// rebase has the pending actions of a run depend on its request as another action of the run has left it. People are shown the
// values as they are now, and approve the new digest.
func rebase(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	all := tx.Unfiltered(ctx, "what a run has asked for, whoever sees it")
	r, err := tx.Request.Get(all, run.RequestID)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	version, err := requestVersion(r)
	if err != nil {
		return err
	}
	list, err := tx.AgentAction.Query().Where(agentaction.RunID(run.ID), agentaction.StatusEQ(agentaction.StatusPENDING)).All(all)
	if err != nil {
		return fmt.Errorf("read the run's actions: %w", err)
	}
	for _, a := range list {
		if onTask(run, a) {
			continue
		}
		changes, err := ChangesOf(a)
		if err != nil {
			return err
		}
		is := valuesOf(r)
		for _, c := range changes {
			c.From = is[c.Field]
		}
		raw, err := json.Marshal(changes)
		if err != nil {
			return fmt.Errorf("write the changes: %w", err)
		}
		err = a.Update().SetChanges(raw).SetRowVersion(version).SetDigest(digestOf(a.Operation, subjectOf(run, a), a.Arguments, version)).Exec(all)
		if err != nil {
			return fmt.Errorf("keep the action: %w", err)
		}
	}
	return nil
}

// actionOf returns the action for a write on the row subject in a version, to be saved.
func actionOf(tx *op.Tx, run *ent.AgentRun, kind agentaction.Kind, step int, w write, subject, version string) (*ent.AgentActionCreate, error) {
	changes, err := json.Marshal(w.Changes)
	return tx.AgentAction.Create().SetRunID(run.ID).SetRequestID(run.RequestID).SetStep(step).SetKind(kind).
		SetOperation(w.Tool).SetArguments(w.Arguments).SetChanges(changes).SetRationale(w.Rationale).SetConfidence(w.Confidence).
		SetRows(w.Rows).SetDigest(digestOf(w.Tool, subject, w.Arguments, version)).SetRowVersion(version).
		SetShadow(run.Shadow), wrap("write the changes", err)
}

// propose stores the action for a write on the row subject in a version. An action that waits for an approval expires after 72
// hours.
func propose(ctx context.Context, tx *op.Tx, run *ent.AgentRun, kind agentaction.Kind, step int, w write, subject, version string) (*ent.AgentAction, error) {
	create, err := actionOf(tx, run, kind, step, w, subject, version)
	if err != nil {
		return nil, err
	}
	a, err := create.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep what the agent would do: %w", err)
	}
	if kind == agentaction.KindACTION {
		err = tx.Insert(ctx, ExpiryArgs{Company: run.CompanyID, Action: a.ID}, tx.Now(ctx).Add(answerTime))
	}
	return a, err
}

// end ends a run and makes its pending actions STALE, unless it ends as PROPOSED or COMPLETED. Otherwise it also releases the run's
// task, and so does a shadow, from which people get no proposal.
func end(ctx context.Context, tx *op.Tx, run *ent.AgentRun, as agentrun.Status, reason string) error {
	if err := run.Update().SetStatus(as).SetReason(reason).SetEndedAt(tx.Now(ctx)).Exec(ctx); err != nil {
		return fmt.Errorf("end the run: %w", err)
	}
	good := as == agentrun.StatusPROPOSED || as == agentrun.StatusCOMPLETED
	if !good || run.Shadow {
		if err := release(ctx, tx, run); err != nil {
			return err
		}
	}
	if good {
		return nil
	}
	err := tx.AgentAction.Update().Where(agentaction.RunID(run.ID), agentaction.StatusEQ(agentaction.StatusPENDING)).
		SetStatus(agentaction.StatusSTALE).Exec(ctx)
	return wrap("make the run's plans stale", err)
}
