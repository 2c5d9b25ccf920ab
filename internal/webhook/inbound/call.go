package inbound

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/inboundcall"
	"atrium/ent/inboundwebhook"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/strictjson"
)

var callSorts = op.Sorts{"at": inboundcall.FieldCreatedAt}

// The operations on the history of calls. They require a person, not an API key.
var (
	ListCalls = op.New("inboundcall.list", op.Spec{
		Resource: "InboundCall", Action: op.Read, AdminLayer: true, Sorts: callSorts, Summary: "List the calls of an inbound webhook",
	}, listCalls)

	GetCall = op.Get("inboundcall.read", op.Spec{
		Resource: "InboundCall", Action: op.Read, AdminLayer: true, Summary: "Get a call of an inbound webhook",
	}, loadCall)

	ReplayCall = op.OnRow("inboundcall.replay", op.Spec{
		Resource: "InboundCall", Action: op.Create, AdminLayer: true, Summary: "Send a call of an inbound webhook again, which starts another execution",
	}, loadCall, replayCall).Prepared(prepareReplay)
)

// ListCallsInput filters and pages the calls of one webhook.
type ListCallsInput struct {
	paging.Page
	WebhookID string   `json:"-"`
	Outcome   []string `json:"-" query:"outcome" enum:"ACCEPTED,DUPLICATE,REJECTED,IGNORED"`
}

// listCalls returns not_found for a webhook that the company does not have.
func listCalls(ctx context.Context, tx *op.Tx, in ListCallsInput) (paging.List[*ent.InboundCall], error) {
	if _, err := tx.InboundWebhook.Query().Where(inboundwebhook.ID(in.WebhookID)).OnlyID(ctx); err != nil {
		return paging.List[*ent.InboundCall]{}, missing(err)
	}
	where := paging.In(nil, in.Outcome, inboundcall.OutcomeIn)
	return paging.Of(ctx, in.Page, callSorts, tx.InboundCall.Query().Where(inboundcall.WebhookID(in.WebhookID)).Where(where...))
}

// missing reports that the webhook, not the call, was not found.
func missing(err error) error {
	if ent.IsNotFound(err) {
		return apperr.Missing("InboundWebhook")
	}
	return err
}

func loadCall(ctx context.Context, tx *op.Tx, id string) (*ent.InboundCall, error) {
	return tx.InboundCall.Query().Where(inboundcall.ID(id)).WithWebhook().Only(ctx)
}

// replayable is a call in the form in which its execution stores it. It is prepared before the transaction, which is safe because
// calls never change.
type replayable struct {
	webhook json.RawMessage // nil when too little of the call is stored
	headers map[string]string
	ignored string // why it starts nothing, as the webhook is today; empty when it starts the workflow
}

// prepareReplay reads the call that is sent again: the whole call from the execution that it started, or what the history has of
// it. It judges the call anew.
func prepareReplay(ctx context.Context, tx *op.Tx, in op.ByID) (any, error) {
	row, err := tx.InboundCall.Query().Where(inboundcall.ID(in.ID)).WithWebhook().Only(ctx)
	if ent.IsNotFound(err) {
		return replayable{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the call: %w", err)
	}
	w := row.Edges.Webhook
	if w == nil {
		return replayable{}, nil
	}
	c, body, err := loadStoredCall(ctx, tx, w, row)
	if err != nil || c == nil {
		return replayable{}, err
	}
	now := tx.Now(ctx)
	out := replayable{headers: c.Headers}
	if out.webhook, err = c.at(now); err != nil {
		return nil, err
	}
	if out.ignored, _ = greeting(w.SignatureStyle, c.Headers["x-github-event"], body); out.ignored == "" {
		out.ignored, err = unmet(ctx, w, variable(body, c.Headers, now.UTC().Format(clock.Format)), tx.Costly)
	}
	return out, err
}

// loadStoredCall returns a call and the value of its body; nil when too little of it is stored.
func loadStoredCall(ctx context.Context, tx *op.Tx, w *ent.InboundWebhook, row *ent.InboundCall) (*called, any, error) {
	if row.ExecutionID == nil {
		body, err := decode(w.SignatureStyle, false, []byte(row.Body)) // of a form of Slack the history has the JSON; one of GitHub is known by how it begins
		if row.BodyBytes != len(row.Body) || err != nil {
			return nil, nil, nil
		}
		return &called{Body: body.text, Headers: again(w, row.Headers), Method: method}, body.value, nil
	}
	e, err := tx.Execution.Query().Where(execution.ID(*row.ExecutionID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the call's execution: %w", err)
	}
	var c called
	if err := json.Unmarshal(e.Webhook, &c); err != nil {
		return nil, nil, fmt.Errorf("read the call of %s: %w", e.ID, err)
	}
	body, err := strictjson.DecodeHalves(c.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("read the call of %s: %w", e.ID, err)
	}
	c.Headers = again(w, c.Headers) // an older call may hold more
	return &c, body, nil
}

// replayCall starts an execution as the call did, or notes why it starts none. Returns conflict for a disabled webhook, and for a call of which too little is
// stored.
func replayCall(ctx context.Context, tx *op.Tx, before *ent.InboundCall, _ op.ByID) (*ent.InboundCall, error) {
	r, _ := op.Preparation[replayable](tx)
	w := before.Edges.Webhook
	switch {
	case w == nil:
		return nil, apperr.Missing("InboundWebhook")
	case !w.Enabled:
		return nil, apperr.New(apperr.Conflict, "The webhook is disabled. Enable it first.")
	case r.webhook == nil:
		return nil, apperr.New(apperr.Conflict, "Too little of the call is kept to send it again.")
	}
	create := tx.InboundCall.Create().SetWebhookID(w.ID).SetReplayOf(before.ID).SetHeaders(r.headers).SetBody(before.Body).SetBodyBytes(before.BodyBytes)
	if r.ignored != "" {
		create.SetOutcome(inboundcall.OutcomeIGNORED).SetReason(clip([]byte(r.ignored), maxReason))
	} else {
		started, err := launch(w, nil, r.webhook).Start(ctx, tx)
		if err != nil {
			return nil, err
		}
		create.SetOutcome(inboundcall.OutcomeACCEPTED).SetExecutionID(started.ID)
	}
	after, err := create.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("note the call: %w", err)
	}
	tx.About(after.ID)
	tx.Changed(nil, after)
	return after, nil
}
