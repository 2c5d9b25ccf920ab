package inbound

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/inboundcall"
	"atrium/ent/inboundwebhook"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
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
	Outcome   []string `json:"-" query:"outcome" enum:"ACCEPTED,DUPLICATE,REJECTED"`
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
}

// prepareReplay reads the call that is sent again: the whole call from the execution that it started, or what the history has of
// it.
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
	if row.ExecutionID == nil {
		text, _, err := decode(w.SignatureStyle, []byte(row.Body))
		if row.BodyBytes != len(row.Body) || err != nil {
			return replayable{}, nil
		}
		return replayableOf(called{Body: text, Headers: again(w, row.Headers), Method: method}, tx.Now(ctx))
	}
	e, err := tx.Execution.Query().Where(execution.ID(*row.ExecutionID)).Only(ctx)
	if ent.IsNotFound(err) {
		return replayable{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the call's execution: %w", err)
	}
	var c called
	if err := json.Unmarshal(e.Webhook, &c); err != nil {
		return nil, fmt.Errorf("read the call of %s: %w", e.ID, err)
	}
	c.Headers = again(w, c.Headers) // an older call may hold more
	return replayableOf(c, tx.Now(ctx))
}

// replayableOf returns a call as if it was received now.
func replayableOf(c called, now time.Time) (replayable, error) {
	webhook, err := c.at(now)
	return replayable{webhook, c.Headers}, err
}

// replayCall starts an execution as the call did. Returns conflict for a disabled webhook, and for a call of which too little is
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
	started, err := launch(w, nil, r.webhook).Start(ctx, tx)
	if err != nil {
		return nil, err
	}
	after, err := tx.InboundCall.Create().SetWebhookID(w.ID).SetOutcome(inboundcall.OutcomeACCEPTED).SetExecutionID(started.ID).SetReplayOf(before.ID).
		SetHeaders(r.headers).SetBody(before.Body).SetBodyBytes(before.BodyBytes).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("note the call: %w", err)
	}
	tx.About(after.ID)
	tx.Changed(nil, after)
	return after, nil
}
