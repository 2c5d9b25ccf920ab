package condition

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/inboundcall"
	"atrium/ent/inboundwebhook"
	"atrium/internal/op"
	"atrium/internal/platform/strictjson"
)

const (
	maxDepth = 5   // of a call's body
	maxParts = 200 // of a call's body
)

// loadCall lists what an inbound webhook's expressions read, with the headers and the body of its last accepted call.
func loadCall(ctx context.Context, tx *op.Tx, id string) ([]*Field, error) {
	w, err := tx.InboundWebhook.Query().Where(inboundwebhook.ID(id)).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the webhook: %w", err)
	}
	out := []*Field{
		{Expression: "webhook.method", Label: "Method", Group: "Webhook", Type: Text},
		{Expression: "webhook.receivedAt", Label: "Received at", Group: "Webhook", Type: Time},
	}
	last, err := tx.InboundCall.Query().Where(inboundcall.WebhookID(w.ID), inboundcall.OutcomeEQ(inboundcall.OutcomeACCEPTED)).
		Order(inboundcall.ByCreatedAt(sql.OrderDesc()), inboundcall.ByID(sql.OrderDesc())).First(ctx)
	if ent.IsNotFound(err) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the webhook's last call: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(last.Headers)) {
		out = append(out, &Field{Expression: "webhook.headers" + member(name), Label: name, Group: "Headers", Type: Text, Optional: true})
	}
	var body strictjson.Object
	if last.BodyBytes > len(last.Body) || json.Unmarshal([]byte(last.Body), &body) != nil {
		return out, nil // a part of it, or no object
	}
	p := parts{}
	p.add("webhook.body", "", map[string]any(body), 0)
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
	case json.Number:
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
