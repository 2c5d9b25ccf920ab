package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
)

// Draft is an action that is not stored yet.
type Draft struct {
	tools.Write
	Kind    agentaction.Kind
	Step    int    // that decided it
	Row     string // the id of the request or the task that it changes
	Version string // of that row
}

// actionOf returns the action of a draft, to be saved.
func actionOf(tx *op.Tx, run *ent.AgentRun, w Draft) (*ent.AgentActionCreate, error) {
	changes, err := json.Marshal(w.Changes)
	return tx.AgentAction.Create().SetRunID(run.ID).SetRequestID(run.RequestID).SetStep(w.Step).SetKind(w.Kind).
		SetOperation(w.Tool).SetArguments(w.Arguments).SetChanges(changes).SetRationale(w.Rationale).SetConfidence(w.Confidence).
		SetRows(w.Rows).SetDigest(runs.DigestOf(w.Tool, w.Row, w.Arguments, w.Version)).SetRowVersion(w.Version).
		SetShadow(run.Shadow), worker.Wrap("write the changes", err)
}

// Propose stores the action of a draft. An action that waits for an approval expires after 72 hours.
func Propose(ctx context.Context, tx *op.Tx, run *ent.AgentRun, w Draft) (*ent.AgentAction, error) {
	create, err := actionOf(tx, run, w)
	if err != nil {
		return nil, err
	}
	a, err := create.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep what the agent would do: %w", err)
	}
	if w.Kind == agentaction.KindACTION {
		err = tx.Insert(ctx, ExpiryArgs{Company: run.CompanyID, Action: a.ID}, tx.Now(ctx).Add(answerTime))
	}
	return a, err
}

// Rebase has the pending actions of a run depend on its request as another action of the run has left it. People are shown the
// values as they are now, and approve the new digest.
func Rebase(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	all := tx.Unfiltered(ctx, "what a run has asked for, whoever sees it")
	r, err := tx.Request.Get(all, run.RequestID)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	version, err := runs.RequestVersion(r)
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
		is := tools.ValuesOf(r)
		for _, c := range changes {
			c.From = is[c.Field]
		}
		raw, err := json.Marshal(changes)
		if err != nil {
			return fmt.Errorf("write the changes: %w", err)
		}
		err = a.Update().SetChanges(raw).SetRowVersion(version).SetDigest(runs.DigestOf(a.Operation, subjectOf(run, a), a.Arguments, version)).Exec(all)
		if err != nil {
			return fmt.Errorf("keep the action: %w", err)
		}
	}
	return nil
}

// recordDone records in the steps of a run that an action was done: in the step that asked for it, or in a new one of kind act.
func recordDone(ctx context.Context, tx *op.Tx, run *ent.AgentRun, a *ent.AgentAction, result string) (*ent.AgentRun, error) {
	steps, err := runs.StepsOf(run)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(steps, func(s *runs.Step) bool { return s.N == a.Step && s.Kind == "act" })
	if i < 0 {
		i, steps = len(steps), append(steps, &runs.Step{N: len(steps) + 1, Kind: "act", Operation: a.Operation, Rows: []string{subjectOf(run, a)}, Arguments: a.Arguments})
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

// ActNow performs a write on a run's request that needs no approval, as the agent, and records it as an APPLIED action and as a step
// of kind act. The version of the draft is that of the row that it depends on, the request or the run's task.
func ActNow(ctx context.Context, tx *op.Tx, run *ent.AgentRun, self *principal.Principal, w Draft) (*ent.AgentRun, error) {
	w.Kind, w.Row = agentaction.KindACTION, run.RequestID
	create, err := actionOf(tx, run, w)
	if err != nil {
		return nil, err
	}
	a, err := create.SetStatus(agentaction.StatusAPPLIED).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep what the agent does: %w", err)
	}
	self = self.WithCause(principal.Cause{RunID: run.ID, Step: w.Step, ActionID: a.ID})
	all := tx.Unfiltered(ctx, "the row that was acted on is read back")
	if err := tools.Perform(all, tx.ActingAs(self), w.Tool, run.RequestID, w.Arguments); err != nil {
		return nil, err
	}
	return recordDone(ctx, tx, run, a, "Done.")
}

// Keep stores the action for a write, and its step. r is the run's request.
func Keep(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request, may *Allowed) (*ent.AgentAction, error) {
	t := may.Task
	if t == nil && may.Tool != tools.Comment && !lifecycle.RequestOpen(r.Status) {
		return nil, apperr.New(apperr.Conflict, "The request is %s.", r.Status)
	}
	version, err := runs.RequestVersion(r)
	if err != nil {
		return nil, err
	}
	row, is := r.ID, tools.ValuesOf(r)
	if t != nil {
		version, row, is = runs.TaskVersion(t), t.ID, map[string]any{}
	}
	steps, err := runs.StepsOf(run)
	if err != nil {
		return nil, err
	}
	w := tools.Write{Tool: may.Tool, Arguments: may.Arguments}
	w.Rationale, w.Confidence, w.Rows = reasonOf(steps)
	if err := w.SetChanges(is); err != nil {
		return nil, err
	}
	if w.Idle() {
		return nil, tools.ErrIdle()
	}
	kind, result := may.Settings.KindIn(run), "Waits for a person's approval."
	if kind == agentaction.KindPROPOSAL {
		result = "Proposed."
	}
	act := runs.Step{Kind: "act", Operation: may.Tool, Rows: []string{row}, Arguments: may.Arguments, Result: result}
	if err := runs.AddStep(ctx, tx, run, steps, act); err != nil {
		return nil, err
	}
	return Propose(ctx, tx, run, Draft{Write: w, Kind: kind, Step: len(steps) + 1, Row: row, Version: version})
}

// reasonOf returns the rationale of the agent, its confidence and its rows: those of its last step of kind decide.
func reasonOf(steps []*runs.Step) (rationale string, confidence float64, rows []string) {
	for _, s := range slices.Backward(steps) {
		if s.Kind != "decide" {
			continue
		}
		var said struct {
			Confidence float64 `json:"confidence"`
		}
		if json.Unmarshal(s.Arguments, &said) == nil && said.Confidence >= 0 && said.Confidence <= 1 {
			confidence = said.Confidence
		}
		return text.Short(s.Result, tools.MaxRationale), confidence, append([]string{}, s.Rows...)
	}
	return "", 0, []string{}
}

// Allowed is a write that the agent has the rights to do.
type Allowed struct {
	Tool      string
	Settings  settings.Settings
	Arguments json.RawMessage
	Task      *ent.Task // that it completes; nil for a write on the request
}

const answerTime = 72 * time.Hour // that people have to decide about an action

// onTask reports whether an action of a run depends on the run's task, and not on what the request says: the completion of the
// task, or an opinion about it.
func onTask(run *ent.AgentRun, a *ent.AgentAction) bool {
	return aboutTask(a) || run.Trigger == agentrun.TriggerConsulted
}

// aboutTask reports whether an action completes a task.
func aboutTask(a *ent.AgentAction) bool { return a.Operation == tools.Task }

// subjectOf returns the id of the row that an action changes.
func subjectOf(run *ent.AgentRun, a *ent.AgentAction) string {
	if aboutTask(a) {
		return op.Or(run.TaskID, "")
	}
	return a.RequestID
}
