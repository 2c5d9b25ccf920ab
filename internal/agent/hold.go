package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/offering"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
	"atrium/internal/platform/text"
)

const (
	maxSteps     = 8
	maxRationale = 500
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

// Hold implements op.Agents. A repeated Idempotency-Key returns the same action.
func (d *Door) Hold(ctx context.Context, e *op.Engine, h op.Held) (*op.Answer, error) {
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
	shown, err := Show(h.Action)
	if err != nil {
		return op.Answer{}, err
	}
	body, err := json.Marshal(map[string]any{"action": shown})
	return op.Answer{Status: http.StatusAccepted, Header: map[string]string{}, Body: body}, wrap("write the action", err)
}

// Shown is an action in API responses.
type Shown struct {
	ID         string          `json:"id" example:"prp_01k9ye4ryzf7stj6dqnm8x2v3b"`
	RunID      string          `json:"runId" example:"run_01k9ye4ryzf7stj6dqnm8x2v3b"`
	RequestID  string          `json:"requestId" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Kind       string          `json:"kind" enum:"PROPOSAL,ACTION" doc:"PROPOSAL: a person applies it. ACTION: the agent does it once a person has approved it."`
	Operation  string          `json:"operation" doc:"As GraphQL names it." example:"updateRequest"`
	Arguments  json.RawMessage `json:"arguments" example:"{\"priority\":\"HIGH\"}"`
	Changes    []*Change       `json:"changes" example:"[{\"field\":\"priority\",\"from\":\"MEDIUM\",\"to\":\"HIGH\",\"rationale\":\"Nobody can work.\",\"confidence\":0.82,\"rows\":[]}]"`
	Rationale  string          `json:"rationale" example:"Nobody can work."`
	Confidence float64         `json:"confidence" example:"0.82"`
	Digest     string          `json:"digest" doc:"Of operation, row and arguments: whoever approves names it." example:"3f1c9a7e"`
	Status     string          `json:"status" enum:"PENDING,APPLIED,REJECTED,STALE,EXPIRED"`
}

// Show returns an action as API responses show it.
func Show(a *ent.AgentAction) (Shown, error) {
	changes, err := ChangesOf(a)
	return Shown{
		ID: a.ID, RunID: a.RunID, RequestID: a.RequestID, Kind: string(a.Kind), Operation: a.Operation, Arguments: a.Arguments, Changes: changes,
		Rationale: a.Rationale, Confidence: a.Confidence, Digest: a.Digest, Status: string(a.Status),
	}, err
}

// mayHold checks before the transaction whether the agent could do the write itself, and returns the settings of its run.
func mayHold(ctx context.Context, tx *op.Tx, in holdInput) (any, error) {
	p, h := tx.Principal(), in.Write
	if p.Run.ID == "" {
		return nil, apperr.New(apperr.Forbidden, "What an agent writes belongs to a run: name it in the header Agent-Run.")
	}
	t, err := toolFor(h.Info, h.Verbs)
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
	s, err := published(ctx, tx.Client, run.AgentID, run.AgentVersion)
	if err != nil {
		return nil, err
	}
	if s.mode(t.name) == modeOff {
		return nil, apperr.New(apperr.Forbidden, "The agent may not use %s.", t.name)
	}
	arguments := h.Arguments
	if t.info.Name != h.Info.Name { // an update that accepts: the status is all that it sets
		arguments = json.RawMessage("{}")
	}
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(arguments, &given); err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	if err := t.onlyFields(given); err != nil {
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
	if _, err := t.mayUse(ctx, tx, p, subject{Request: run.Edges.Request}, arguments); err != nil {
		return nil, err
	}
	return &allowed{t.name, s, arguments}, lookUpRefs(ctx, tx, given)
}

// allowed is a write that the agent has the rights to do.
type allowed struct {
	tool      string
	settings  settings
	arguments json.RawMessage
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
	check("teamId", "team", func(id string) (bool, error) { return tx.Team.Query().Where(team.ID(id)).Exist(ctx) })
	check("assigneeId", "active user", func(id string) (bool, error) { return tx.User.Query().Where(user.ID(id), access.Here()).Exist(ctx) })
	check("offeringId", "offering", func(id string) (bool, error) { return tx.Offering.Query().Where(offering.ID(id)).Exist(ctx) })
	return refs.Err()
}

// hold returns conflict for a run that is not RUNNING. A write beyond the run's steps, or a repeated one, ends the run. A write that
// went STALE may be repeated, because the request is another one now.
func hold(ctx context.Context, tx *op.Tx, in holdInput) (*held, error) {
	may, ok := op.Preparation[*allowed](tx)
	if !ok {
		return nil, op.ErrOutdated
	}
	run, r, err := working(ctx, tx, tx.Principal().Run.ID)
	if err != nil {
		return nil, err
	}
	steps, err := StepsOf(run)
	if err != nil {
		return nil, err
	}
	args := may.arguments
	twice, err := tx.AgentAction.Query().Where(agentaction.RunID(run.ID), agentaction.StatusNEQ(agentaction.StatusSTALE)).All(tx.Unfiltered(ctx, "what the run has asked for, whoever sees it"))
	if err != nil {
		return nil, fmt.Errorf("read the run's actions: %w", err)
	}
	why := ""
	switch {
	case len(steps) >= may.settings.Limits.Steps:
		why = may.settings.Limits.noSteps()
	case slices.ContainsFunc(twice, func(a *ent.AgentAction) bool { return a.Operation == may.tool && strictjson.Equal(a.Arguments, args) }):
		why = "The agent asked for the same a second time."
	}
	if why != "" {
		tx.About(run.ID)
		return &held{ID: run.ID, refusal: why + " People go on with it."}, end(ctx, tx, run, agentrun.StatusHANDED_OVER, why)
	}
	a, err := keepAction(ctx, tx, run, r, nil, may, args, steps)
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
	run, r, err := lockRun(all, tx, id)
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

// keepAction stores the action for a write, and its step.
func keepAction(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request, t *ent.Task, may *allowed, args json.RawMessage, steps []*Step) (*ent.AgentAction, error) {
	if t == nil && may.tool != toolComment && !lifecycle.RequestOpen(r.Status) {
		return nil, apperr.New(apperr.Conflict, "The request is %s.", r.Status)
	}
	version, err := requestVersion(r)
	if err != nil {
		return nil, err
	}
	subject, is := r.ID, valuesOf(r)
	if t != nil {
		version, subject, is = taskVersion(t), t.ID, map[string]any{}
	}
	w := write{Tool: may.tool, Arguments: args}
	w.Rationale, w.Confidence, w.Rows = reasonOf(steps)
	if err := w.changing(is); err != nil {
		return nil, err
	}
	if w.idle() {
		return nil, errIdle()
	}
	kind, result := may.settings.kindIn(run), "Waits for a person's approval."
	if kind == agentaction.KindPROPOSAL {
		result = "Proposed."
	}
	n := len(steps) + 1
	if err := addStep(ctx, tx, run, steps, Step{Kind: "act", Operation: may.tool, Rows: []string{subject}, Arguments: args, Result: result}); err != nil {
		return nil, err
	}
	return propose(ctx, tx, run, kind, n, w, subject, version)
}

// addStep appends a step to a run, and renews its lease.
func addStep(ctx context.Context, tx *op.Tx, run *ent.AgentRun, steps []*Step, s Step) error {
	s.N, s.At = len(steps)+1, tx.Now(ctx).UTC()
	raw, err := json.Marshal(append(slices.Clone(steps), &s))
	if err != nil {
		return fmt.Errorf("write the steps: %w", err)
	}
	all := tx.Unfiltered(ctx, "a run is its agent's, whatever that sees of the request")
	return wrap("keep the step", run.Update().SetSteps(raw).SetLeaseUntil(tx.Now(ctx).Add(leaseTime)).Exec(all))
}

// reasonOf returns the rationale of the agent, its confidence and its rows: those of its last step of kind decide.
func reasonOf(steps []*Step) (rationale string, confidence float64, rows []string) {
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
		return text.Short(s.Result, maxRationale-1), confidence, append([]string{}, s.Rows...)
	}
	return "", 0, []string{}
}

// changing sets the changes of a write: the fields that its arguments set, with their current values.
func (w *write) changing(is map[string]any) error {
	var given map[string]any
	if err := json.Unmarshal(w.Arguments, &given); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	w.Changes = []Change{}
	for _, field := range slices.Sorted(maps.Keys(given)) {
		w.Changes = append(w.Changes, Change{Field: field, From: is[field], To: given[field], Rationale: w.Rationale, Confidence: w.Confidence, Rows: w.Rows})
	}
	return nil
}

// idle reports whether a write would leave the request as it is.
func (w *write) idle() bool {
	return (w.Tool == toolUpdate || w.Tool == toolMove) && !slices.ContainsFunc(w.Changes, func(c Change) bool {
		from, err := json.Marshal(c.From)
		to, err2 := json.Marshal(c.To)
		return err != nil || err2 != nil || !strictjson.Equal(from, to)
	})
}

func errIdle() error { return apperr.New(apperr.Conflict, "The request has these values already.") }
