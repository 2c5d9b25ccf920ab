package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
)

// The operations with which people decide about proposals and waiting actions.
var (
	ApplyProposal = op.OnRow("agentaction.apply", op.Spec{
		Resource: "AgentAction", Action: op.Update, Scope: "requests:write", Past: map[string]string{"agentaction.apply": "agentaction.applied"},
		Summary: "Do what an agent proposes, as oneself",
	}, loadAction, apply)

	RejectProposal = op.OnRow("agentaction.reject", op.Spec{
		Resource: "AgentAction", Action: op.Update, Scope: "requests:write", Summary: "Say why one does not do what an agent proposes",
	}, loadAction, reject)

	DecideAction = op.OnRow("agentaction.decide", op.Spec{
		Resource: "AgentAction", Action: op.Update, Scope: "requests:write", Summary: "Let an agent do what it waits to do, or do not",
	}, loadAction, decideAction).Prepared(mayDecide)
)

// pending returns conflict for an action that can no longer be decided: it was decided, its run was stopped, its agent is paused,
// or the request has changed since the agent read it.
func pending(ctx context.Context, tx *op.Tx, a *ent.AgentAction, kind agentaction.Kind) (*ent.AgentRun, *ent.Request, error) {
	run, r, err := undecided(ctx, tx, a, kind)
	if err != nil {
		return nil, nil, err
	}
	want := agentrun.StatusPROPOSED
	if kind == agentaction.KindACTION {
		want = agentrun.StatusWAITING
	}
	working := run.Status == agentrun.StatusRUNNING && kind == agentaction.KindACTION // the agent continues while its action waits
	if run.Status != want && !working {
		return nil, nil, apperr.New(apperr.Conflict, "The run is %s.", run.Status)
	}
	is, err := runs.RequestVersion(r)
	if onTask(run, a) && run.Edges.Task != nil {
		is = runs.TaskVersion(run.Edges.Task)
	}
	if err != nil {
		return nil, nil, err
	}
	if is != a.RowVersion {
		return nil, nil, apperr.New(apperr.Conflict, "It is STALE: the request has changed since the agent looked at it.")
	}
	return run, r, nil
}

// undecided returns conflict for an action that was decided, that a shadow proposes, or whose agent is paused.
func undecided(ctx context.Context, tx *op.Tx, a *ent.AgentAction, kind agentaction.Kind) (*ent.AgentRun, *ent.Request, error) {
	if a.Kind != kind {
		return nil, nil, apperr.New(apperr.Conflict, "This is a %s.", a.Kind)
	}
	if a.Status != agentaction.StatusPENDING {
		return nil, nil, apperr.New(apperr.Conflict, "It is %s.", a.Status)
	}
	if a.Shadow {
		return nil, nil, apperr.New(apperr.Conflict, "What a shadow proposes is only to be looked at.")
	}
	run, r, err := runAndRequestOf(ctx, tx, a)
	if err != nil {
		return nil, nil, err
	}
	if run.Edges.Agent.Status == agent.StatusPAUSED {
		return nil, nil, apperr.New(apperr.Conflict, "The agent is paused.")
	}
	return run, r, nil
}

// person returns forbidden for callers who are not people, and for API keys.
func person(tx *op.Tx) error {
	if p := tx.Principal(); p.Type != principal.TypeUser || p.Method == principal.MethodAPIKey {
		return apperr.New(apperr.Forbidden, "This requires a signed-in person.")
	}
	return nil
}

// settle records a person's decision.
func settle(ctx context.Context, tx *op.Tx, a *ent.AgentAction, as agentaction.Status, comment string) (*ent.AgentAction, error) {
	after, err := a.Update().SetStatus(as).SetDecidedBy(tx.Principal().ID).SetDecidedAt(tx.Now(ctx)).SetComment(comment).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("settle the action: %w", err)
	}
	tx.Changed(a, after)
	return after, nil
}

// ApplyInput applies a proposal, with changed values where edits are given.
type ApplyInput struct {
	op.ByID
	Edits strictjson.Object `json:"edits,omitempty" nullable:"true" doc:"Other values for fields that the proposal sets, by field; null leaves a field alone."`
}

// apply performs a proposal through its operation as the caller, with the caller's rights.
func apply(ctx context.Context, tx *op.Tx, a *ent.AgentAction, in ApplyInput) (*ent.AgentAction, error) {
	if err := person(tx); err != nil {
		return nil, err
	}
	run, _, err := pending(ctx, tx, a, agentaction.KindPROPOSAL)
	if err != nil {
		return nil, err
	}
	args, err := edited(a.Arguments, in.Edits)
	if err != nil {
		return nil, err
	}
	after, err := settle(ctx, tx, a, agentaction.StatusAPPLIED, "")
	if err != nil {
		return nil, err
	}
	me := tx.ActingAs(tx.Principal().WithCause(principal.Cause{ProposalID: a.ID, RunID: run.ID}))
	if err := tools.Perform(ctx, me, a.Operation, subjectOf(run, a), args); err != nil {
		return nil, err
	}
	return after, Rebase(ctx, tx, run)
}

// edited returns the arguments with a person's edits. Returns validation_error for an edit of a field that the proposal does not
// set, and if nothing remains.
func edited(arguments json.RawMessage, edits strictjson.Object) (json.RawMessage, error) {
	if len(edits) == 0 {
		return arguments, nil
	}
	args := map[string]json.RawMessage{} // what is not edited keeps its digits
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	for _, field := range slices.Sorted(maps.Keys(edits)) {
		if _, ok := args[field]; !ok {
			return nil, apperr.InvalidField("edits", "names a field that the proposal does not set")
		}
		if edits[field] == nil {
			delete(args, field)
			continue
		}
		value, err := json.Marshal(edits[field])
		if err != nil {
			return nil, fmt.Errorf("write the edits: %w", err)
		}
		args[field] = value
	}
	if len(args) == 0 {
		return nil, apperr.InvalidField("edits", "must leave something to be done")
	}
	out, err := json.Marshal(args)
	return out, worker.Wrap("write the arguments", err)
}

// RejectInput says why.
type RejectInput struct {
	op.ByID
	Reason string `json:"reason" minLength:"1" maxLength:"1000" pattern:"\\S" patternDescription:"more than blanks" doc:"Kept with the proposal."`
}

func reject(ctx context.Context, tx *op.Tx, a *ent.AgentAction, in RejectInput) (*ent.AgentAction, error) {
	if err := person(tx); err != nil {
		return nil, err
	}
	run, _, err := undecided(ctx, tx, a, agentaction.KindPROPOSAL)
	if err != nil {
		return nil, err
	}
	if err := runs.Release(ctx, tx, run); err != nil {
		return nil, err
	}
	return settle(ctx, tx, a, agentaction.StatusREJECTED, in.Reason)
}

// DecideInput is a person's decision about a waiting action.
type DecideInput struct {
	op.ByID
	Digest   string  `json:"digest" minLength:"1" maxLength:"64" doc:"The action's, as it was looked at."`
	Decision string  `json:"decision" enum:"APPROVE,REJECT" doc:"Whether the agent does it."`
	Comment  *string `json:"comment,omitempty" nullable:"true" maxLength:"1000"`
}

// mayDecide returns whether the caller could do the action on its row, with its arguments. It evaluates policies before the transaction.
func mayDecide(ctx context.Context, tx *op.Tx, in DecideInput) (any, error) {
	a, err := tx.AgentAction.Query().Where(agentaction.ID(in.ID)).WithRequest().WithRun(func(q *ent.AgentRunQuery) { q.WithTask() }).Only(ctx)
	if err != nil {
		return false, ent.MaskNotFound(err) // the operation does not find it either
	}
	t := tools.Named(a.Operation)
	if t == nil || a.Edges.Request == nil || a.Edges.Run == nil || aboutTask(a) && a.Edges.Run.Edges.Task == nil {
		return false, nil
	}
	_, err = t.MayUse(ctx, tx, tx.Principal(), tools.Target{Request: a.Edges.Request, Task: a.Edges.Run.Edges.Task}, a.Arguments)
	if apperr.CodeOf(err) == apperr.Forbidden {
		return false, nil
	}
	return err == nil, err
}

// decideAction records an approval and performs the action as the agent, in one transaction. Returns conflict for another digest,
// and forbidden for the requester and for callers who could not do the action themselves.
func decideAction(ctx context.Context, tx *op.Tx, a *ent.AgentAction, in DecideInput) (*ent.AgentAction, error) {
	if err := person(tx); err != nil {
		return nil, err
	}
	run, r, err := pending(ctx, tx, a, agentaction.KindACTION)
	if err != nil {
		return nil, err
	}
	if may, _ := op.Preparation[bool](tx); !may {
		return nil, apperr.New(apperr.Forbidden, "You may not do this yourself.")
	}
	if slices.Contains([]string{r.CreatedBy, r.RequesterID}, tx.Principal().ID) {
		return nil, apperr.New(apperr.Forbidden, "Somebody else than the requester decides.")
	}
	if is := runs.DigestOf(a.Operation, subjectOf(run, a), a.Arguments, a.RowVersion); is != a.Digest || in.Digest != is {
		return nil, apperr.New(apperr.Conflict, "The digest is not that of the action.")
	}
	if in.Decision == "REJECT" {
		after, err := settle(ctx, tx, a, agentaction.StatusREJECTED, op.Or(in.Comment, ""))
		if err != nil {
			return nil, err
		}
		return after, runs.End(ctx, tx, run, agentrun.StatusHANDED_OVER, "A person rejected what the agent was about to do.")
	}
	if tx.NoAgents() {
		return nil, apperr.New(apperr.Conflict, "Agents are switched off on this server. What waits can be rejected.")
	}
	after, err := settle(ctx, tx, a, agentaction.StatusAPPLIED, op.Or(in.Comment, ""))
	if err != nil {
		return nil, err
	}
	if err := act(ctx, tx, run, a); err != nil {
		return nil, err
	}
	if run.Status == agentrun.StatusWAITING { // otherwise its agent still works on it
		return after, runs.Finish(ctx, tx, run)
	}
	return after, nil
}

// act performs an approved action as the agent, with the rights that the agent has now, and records it in the run's steps.
func act(ctx context.Context, tx *op.Tx, run *ent.AgentRun, a *ent.AgentAction) error {
	all := tx.Unfiltered(ctx, "the row that was acted on is read back")
	self, s, err := runs.Actor(ctx, tx, run)
	if err != nil {
		return err
	}
	if !onTask(run, a) && s.Mode(a.Operation) == settings.Off {
		return runs.NoMore()
	}
	self = self.WithCause(principal.Cause{RunID: run.ID, Step: a.Step, ApprovedBy: tx.Principal().ID, ActionID: a.ID})
	if err := tools.Perform(all, tx.ActingAs(self), a.Operation, subjectOf(run, a), a.Arguments); err != nil {
		return err
	}
	if _, err := recordDone(ctx, tx, run, a, "Done, as a person has approved."); err != nil {
		return err
	}
	return Rebase(ctx, tx, run)
}
