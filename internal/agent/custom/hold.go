package custom

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/offering"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// holdWrite stores a write of an agent's key as a proposal, or as an action that waits for a person.
var holdWrite = op.New("agentinbox.hold", op.Spec{
	Resource: "AgentAction", Action: op.Create, Scope: "requests:write", OfAgents: true, Past: map[string]string{"agentinbox.hold": "agentaction.created"},
	Summary: "Keep what an agent's call would write",
}, hold).Prepared(mayHold)

// holdInput is a write that an agent's key requested.
type holdInput struct {
	Write op.Held `json:"-"`
}

// Hold stores a write that an agent asks for, and returns the door's answer. A repeated Idempotency-Key returns the same action.
func Hold(ctx context.Context, e *op.Engine, h op.Held) (*op.Answer, error) {
	call := &op.Call{}
	if h.Call != nil && h.Call.IdempotencyKey != "" {
		call.IdempotencyKey, call.Render = h.Call.IdempotencyKey, renderHeld
		call.Fingerprint = sha256.Sum256(append([]byte("held "+h.Info.Name+" "), h.Call.Fingerprint[:]...))
	}
	out, kept, err := op.Run(ctx, e, holdWrite, holdInput{h}, call)
	switch {
	case err != nil:
		return nil, err
	case kept != nil && kept.Status == http.StatusAccepted:
		return kept, nil
	case kept != nil:
		return nil, overspent(string(kept.Body))
	case out.refusal != "":
		return nil, overspent(out.refusal)
	}
	answer, err := renderHeld(out)
	return &answer, err
}

// held is the result of a held write.
type held struct {
	ID      string
	Action  *ent.AgentAction
	refusal string // why the run ended instead
}

func overspent(why string) error { return apperr.New(apperr.Conflict, "%s", why) }

// renderHeld returns the response to a held write.
func renderHeld(out any) (op.Answer, error) {
	h, _ := out.(*held)
	if h.refusal != "" {
		return op.Answer{Status: http.StatusConflict, Header: map[string]string{}, Body: []byte(h.refusal)}, nil
	}
	shown, err := actions.Show(h.Action)
	if err != nil {
		return op.Answer{}, err
	}
	body, err := json.Marshal(map[string]any{"action": shown})
	return op.Answer{Status: http.StatusAccepted, Header: map[string]string{}, Body: body}, worker.Wrap("write the action", err)
}

// mayHold checks before the transaction whether the agent could do the write itself, and returns the settings of its run.
func mayHold(ctx context.Context, tx *op.Tx, in holdInput) (any, error) {
	p, h := tx.Principal(), in.Write
	if p.Run.ID == "" {
		return nil, apperr.New(apperr.Forbidden, "What an agent writes belongs to a run: name it in the header Agent-Run.")
	}
	t, err := tools.For(h.Info, h.Verbs)
	if err != nil {
		return nil, err
	}
	run, err := tx.AgentRun.Query().Where(agentrun.ID(p.Run.ID), agentrun.AgentID(p.ID)).WithRequest().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, errNotYourRun()
	}
	if err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	s, err := settings.Published(ctx, tx.Client, run.AgentID, run.AgentVersion)
	if err != nil {
		return nil, err
	}
	if s.Mode(t.Name) == settings.Off {
		return nil, apperr.New(apperr.Forbidden, "The agent may not use %s.", t.Name)
	}
	arguments := h.Arguments
	if t.Info.Name != h.Info.Name { // an update that accepts: the status is all that it sets
		arguments = json.RawMessage("{}")
	}
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(arguments, &given); err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	if err := t.OnlyFields(given); err != nil {
		return nil, err
	}
	if run.Trigger == agentrun.TriggerConsulted {
		return nil, apperr.New(apperr.Forbidden, "The agent is asked for its opinion: the run says it when it is completed.")
	}
	if h.Target != run.RequestID {
		return nil, apperr.New(apperr.Forbidden, "A run changes its own request alone.")
	}
	for _, verb := range h.Verbs {
		if err := tx.May(ctx, verb); err != nil {
			return nil, err
		}
	}
	if _, err := t.MayUse(ctx, tx, p, tools.Target{Request: run.Edges.Request}, arguments); err != nil {
		return nil, err
	}
	return &actions.Allowed{Tool: t.Name, Settings: s, Arguments: arguments}, lookUpRefs(ctx, tx, given)
}

// lookUpRefs returns validation_error for an id in the arguments that is no row of the company, or nobody who works there.
func lookUpRefs(ctx context.Context, tx *op.Tx, given map[string]json.RawMessage) error {
	var refs op.Refs
	check := func(field, what string, exists func(id string) (bool, error)) {
		var id *string
		if err := json.Unmarshal([]byte(cmp.Or(string(given[field]), "null")), &id); err == nil {
			refs.Check(field, id, what, exists)
		}
	}
	check("teamId", "team", op.FindShared(ctx, tx, func(id string) *ent.TeamQuery { return tx.Team.Query().Where(team.ID(id)) }))
	check("assigneeId", "active user", op.FindShared(ctx, tx, func(id string) *ent.UserQuery { return tx.User.Query().Where(user.ID(id), access.Here()) }))
	check("offeringId", "offering", op.FindShared(ctx, tx, func(id string) *ent.OfferingQuery { return tx.Offering.Query().Where(offering.ID(id)) }))
	return refs.Err()
}

// hold returns conflict for a run that is not RUNNING. A write beyond the run's steps, or a repeated one, ends the run. A write that
// went STALE may be repeated, because the request is another one now.
func hold(ctx context.Context, tx *op.Tx, in holdInput) (*held, error) {
	may, ok := op.Preparation[*actions.Allowed](tx)
	if !ok {
		return nil, op.ErrOutdated
	}
	run, r, err := working(ctx, tx, tx.Principal().Run.ID)
	if err != nil {
		return nil, err
	}
	steps, err := runs.StepsOf(run)
	if err != nil {
		return nil, err
	}
	args := may.Arguments
	twice, err := tx.AgentAction.Query().Where(agentaction.RunID(run.ID), agentaction.StatusNEQ(agentaction.StatusSTALE)).All(tx.Unfiltered(ctx, "what the run has asked for, whoever sees it"))
	if err != nil {
		return nil, fmt.Errorf("read the run's actions: %w", err)
	}
	why := ""
	switch {
	case len(steps) >= may.Settings.Limits.Steps:
		why = may.Settings.Limits.NoSteps()
	case slices.ContainsFunc(twice, func(a *ent.AgentAction) bool { return a.Operation == may.Tool && strictjson.Equal(a.Arguments, args) }):
		why = "The agent asked for the same a second time."
	}
	if why != "" {
		tx.About(run.ID)
		return &held{ID: run.ID, refusal: why + " People go on with it."}, runs.End(ctx, tx, run, agentrun.StatusHANDED_OVER, why)
	}
	a, err := actions.Keep(ctx, tx, run, r, may)
	if err != nil {
		return nil, err
	}
	tx.Changed(nil, a)
	return &held{ID: a.ID, Action: a}, nil
}

// working locks a run that the caller works on, after its request. Returns forbidden for a run of another agent, and conflict for
// a run that is not RUNNING, for a paused agent, and while agents are disabled.
func working(ctx context.Context, tx *op.Tx, id string) (*ent.AgentRun, *ent.Request, error) {
	all := tx.Unfiltered(ctx, "a run is its agent's, whatever that sees of the request")
	run, r, err := runs.Lock(all, tx, id)
	if ent.IsNotFound(err) || err == nil && run.AgentID != tx.Principal().ID {
		return nil, nil, errNotYourRun()
	}
	if err != nil {
		return nil, nil, err
	}
	if err := notWorked(tx.NoAgents(), run.Edges.Agent, run); err != nil {
		return nil, nil, err
	}
	if run.Status != agentrun.StatusRUNNING {
		return nil, nil, apperr.New(apperr.Conflict, "The run is %s.", run.Status)
	}
	return run, r, nil
}
