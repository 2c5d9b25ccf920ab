package condition

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/inboundcall"
	"atrium/ent/inboundwebhook"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/strictjson"
	"atrium/internal/webhook/preset"
	"atrium/internal/workflow/definition"
)

const (
	maxDepth = 5   // of a call's body
	maxParts = 200 // of a call's body
)

// called is a call of an inbound webhook, as the variable webhook.
type called struct {
	Body       any
	Headers    map[string]string
	Method     string
	ReceivedAt string
}

func loadWebhook(ctx context.Context, tx *op.Tx, id string) (*ent.InboundWebhook, error) {
	w, err := tx.InboundWebhook.Query().Where(inboundwebhook.ID(id)).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the webhook: %w", err)
	}
	return w, nil
}

// loadLastCall returns the last call of a webhook that has started something, or else the last one that was ignored, or else the sample of
// the sender that the webhook was made for; nil for none.
func loadLastCall(ctx context.Context, tx *op.Tx, w *ent.InboundWebhook) (*called, error) {
	for _, outcome := range []inboundcall.Outcome{inboundcall.OutcomeACCEPTED, inboundcall.OutcomeIGNORED} {
		row, err := tx.InboundCall.Query().Where(inboundcall.WebhookID(w.ID), inboundcall.OutcomeEQ(outcome)).
			Order(inboundcall.ByCreatedAt(sql.OrderDesc()), inboundcall.ByID(sql.OrderDesc())).First(ctx)
		if ent.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the webhook's last call: %w", err)
		}
		if c, err := loadWholeCall(ctx, tx, row); c != nil || err != nil {
			return c, err
		}
	}
	p := preset.Of(op.Or(w.Preset, ""))
	if p == nil {
		return nil, nil
	}
	return made(p.Sample.Body, p.Sample.Headers, tx.Now(ctx)), nil
}

// loadWholeCall returns a call with its whole body, from the execution that it started where the history has only a part; nil when there is
// no more than a part.
func loadWholeCall(ctx context.Context, tx *op.Tx, row *ent.InboundCall) (*called, error) {
	if row.BodyBytes <= len(row.Body) {
		return made([]byte(row.Body), row.Headers, row.CreatedAt), nil
	}
	if row.ExecutionID == nil {
		return nil, nil
	}
	e, err := tx.Execution.Query().Where(execution.ID(*row.ExecutionID)).Select(execution.FieldWebhook).Only(ctx)
	if err != nil {
		return nil, ent.MaskNotFound(err)
	}
	var v strictjson.Object
	if err := json.Unmarshal(strictjson.KeepHalves(e.Webhook), &v); err != nil {
		return nil, nil // an execution keeps what databases keep of it
	}
	return &called{Body: v["body"], Headers: row.Headers, Method: http.MethodPost, ReceivedAt: row.CreatedAt.UTC().Format(clock.Format)}, nil
}

// made returns a call of a body that is JSON; nil for any other.
func made(body []byte, headers map[string]string, at time.Time) *called {
	v, err := strictjson.DecodeHalves(body)
	if err != nil {
		return nil
	}
	return &called{Body: v, Headers: headers, Method: http.MethodPost, ReceivedAt: at.UTC().Format(clock.Format)}
}

// lastVars returns the variables of a webhook's last call; nil for none.
func lastVars(ctx context.Context, tx *op.Tx, id string) (*definition.Vars, error) {
	w, err := loadWebhook(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	c, err := loadLastCall(ctx, tx, w)
	if err != nil || c == nil {
		return nil, err
	}
	headers := make(map[string]any, len(c.Headers))
	for name, value := range c.Headers {
		headers[name] = value
	}
	return &definition.Vars{Webhook: map[string]any{"body": c.Body, "headers": headers, "method": c.Method, "receivedAt": c.ReceivedAt}}, nil
}

// callFields lists what an inbound webhook's expressions read, with the headers and the body of its last call.
func callFields(ctx context.Context, tx *op.Tx, id string) ([]*Field, error) {
	w, err := loadWebhook(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	out := []*Field{
		{Expression: "webhook.method", Label: "Method", Group: "Webhook", Type: Text},
		{Expression: "webhook.receivedAt", Label: "Received at", Group: "Webhook", Type: Time},
	}
	c, err := loadLastCall(ctx, tx, w)
	if err != nil || c == nil {
		return out, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		out = append(out, &Field{Expression: "webhook.headers" + member(name), Label: name, Group: "Headers", Type: Text, Optional: true})
	}
	p := parts{}
	if body, ok := c.Body.(map[string]any); ok {
		p.add("webhook.body", "", body, 0)
	}
	return append(out, p...), nil
}

// parts are the values within a body.
type parts []*Field

func (p *parts) add(at, label string, v any, depth int) {
	if len(*p) >= maxParts || depth > maxDepth {
		return
	}
	f := &Field{Expression: at, Label: label, Group: "Body", Optional: true}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			name := key
			if label != "" {
				name = label + "." + key
			}
			p.add(at+member(key), name, v[key], depth+1)
		}
		return
	case string:
		f.Type = Text
	case json.Number, float64:
		f.Type = Number
	case bool:
		f.Type = Boolean
	case []any:
		f.Type = List
	default:
		f.Type = Any
	}
	*p = append(*p, f)
}
