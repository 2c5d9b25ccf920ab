package inbound

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/inboundcall"
	"atrium/ent/inboundwebhook"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
	"atrium/internal/workflow/execution"
)

const (
	method      = "POST"
	keptBody    = 16 << 10 // bytes of a body that the history keeps
	keptIgnored = 64 << 10 // of an ignored call, which no execution keeps
)

// called is a received call, as the variable webhook of workflows.
type called struct {
	Body       json.RawMessage   `json:"body"`
	Headers    map[string]string `json:"headers"` // by lower-case name, without credentials
	Method     string            `json:"method"`
	ReceivedAt string            `json:"receivedAt"`
}

// at encodes the call as received at now. Numbers keep their digits.
func (c called) at(now time.Time) (json.RawMessage, error) {
	c.ReceivedAt = now.UTC().Format(clock.Format)
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write the call: %w", err)
	}
	return raw, nil
}

// launch returns the execution that a call of the webhook starts.
func launch(w *ent.InboundWebhook, key *string, webhook json.RawMessage) execution.Launch {
	l := execution.Launch{WorkflowID: w.WorkflowID, WebhookID: w.ID, Key: key, Webhook: webhook}
	if w.OfferingID != nil {
		l.Intake = &execution.Intake{OfferingID: *w.OfferingID, Name: w.Name, FieldMapping: w.FieldMapping}
	}
	return l
}

// Receive starts an execution for a call whose signature was verified. It runs as a worker with the webhook's id.
var Receive = op.OnRow("inboundwebhook.call", op.Spec{
	Resource: "InboundWebhook", Action: op.Update, Summary: "Start a workflow by an inbound webhook",
}, loadCalled, receive)

// ReceiveInput is a call. Only Door fills it.
type ReceiveInput struct {
	op.ByID
	Webhook json.RawMessage   `json:"-"` // the variable webhook
	Key     *string           `json:"-"` // the idempotency key
	Headers map[string]string `json:"-"` // as the history shows them
	Body    string            `json:"-"` // the part that the history shows
	Bytes   int               `json:"-"` // of the whole body
}

// note begins the history's row of the call.
func (in ReceiveInput) note(tx *op.Tx) *ent.InboundCallCreate {
	return tx.InboundCall.Create().SetWebhookID(in.ID).SetHeaders(in.Headers).SetBody(in.Body).SetBodyBytes(in.Bytes)
}

// Receipt is the result of a call.
type Receipt struct {
	ID          string // of the webhook
	ExecutionID string // started by this call, or by an earlier one with the same key
}

func loadCalled(ctx context.Context, tx *op.Tx, id string) (*ent.InboundWebhook, error) {
	return tx.InboundWebhook.Query().Where(inboundwebhook.ID(id), inboundwebhook.EnabledEQ(true)).Only(ctx)
}

// receive returns conflict for a webhook whose workflow is not active, and not_found for one that was disabled meanwhile.
func receive(ctx context.Context, tx *op.Tx, w *ent.InboundWebhook, in ReceiveInput) (Receipt, error) {
	out, outcome := Receipt{ID: w.ID}, inboundcall.OutcomeDUPLICATE
	var err error
	if in.Key != nil {
		if out.ExecutionID, err = execution.Repeated(ctx, tx, w.ID, *in.Key); err != nil {
			return out, err
		}
	}
	if out.ExecutionID == "" {
		outcome = inboundcall.OutcomeACCEPTED
		started, err := launch(w, in.Key, in.Webhook).Start(ctx, tx)
		if err != nil {
			return out, err
		}
		out.ExecutionID = started.ID
	}
	if err := in.note(tx).SetOutcome(outcome).SetExecutionID(out.ExecutionID).Exec(ctx); err != nil {
		return out, fmt.Errorf("note the call: %w", err)
	}
	tx.ChangedField("executionId", nil, out.ExecutionID)
	return out, nil
}
