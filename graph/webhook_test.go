package graph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
)

// An address is subscribed, tested, notified of an event, sent a replay, and deleted.
func TestWebhooksThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		owner := s.Session(t, s.World.A.Owner)
		const create = `mutation($in: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $in) {
			webhookSubscription { id url events description enabled disabledReason createdBy } signingSecret } }`
		made := ask(t, s, owner, create, vars{"in": vars{"url": "https://hooks.example.com/in", "events": []any{"request.created"}}})
		id, secret := made.Text("data.createWebhookSubscription.webhookSubscription.id"), made.Text("data.createWebhookSubscription.signingSecret")
		require.Equal(t, vars{
			"id": id, "url": "https://hooks.example.com/in", "events": []any{"request.created"}, "description": nil, "enabled": true, "disabledReason": nil,
			"createdBy": s.A.Owner.UserID,
		}, made.Get("data.createWebhookSubscription.webhookSubscription"))
		require.True(t, strings.HasPrefix(secret, "whsec_"))
		for _, input := range []vars{
			{"url": "http://203.0.113.9/hook", "events": []any{"request.created"}},
			{"url": "https://127.0.0.1/hook", "events": []any{"request.created"}},
			{"url": "https://hooks.example.com/in", "events": []any{"request.exploded"}},
			{"url": "https://hooks.example.com/in", "events": []any{}},
		} {
			a := send(t, s, owner, create, vars{"in": input})
			require.Equal(t, "validation_error", a.Text("errors.0.extensions.code"), "%v", input)
			require.NotEmpty(t, a.Text("errors.0.extensions.details.0.field"))
		}

		h.filed(t, s, principal.Member, "told of")
		const deliveries = `query($sub: ID, $outcome: [WebhookOutcome!]) { webhookDeliveries(subscriptionId: $sub, outcome: $outcome) { totalCount edges { node {
			id subscriptionId eventId event outcome retryCount nextAttemptAt attempts { at statusCode responseBody latencyMs error } } } } }`
		list := ask(t, s, owner, deliveries, vars{"sub": id, "outcome": []any{"PENDING"}})
		require.Equal(t, 1, list.Int("data.webhookDeliveries.totalCount"))
		first := list.Get("data.webhookDeliveries.edges.0.node")
		require.Subset(t, first, vars{"subscriptionId": id, "event": "request.created", "outcome": "PENDING", "retryCount": 0.0, "attempts": []any{}})
		require.Zero(t, ask(t, s, owner, deliveries, vars{"sub": id, "outcome": []any{"SUCCESS", "FAILED"}}).Int("data.webhookDeliveries.totalCount"))
		tried := ask(t, s, owner, `mutation($in: SendTestEventInput!) { sendTestEvent(input: $in) { webhookDelivery { id event outcome } } }`, vars{"in": vars{"subscriptionId": id, "event": "sla.breached"}})
		require.Equal(t, "sla.breached", tried.Text("data.sendTestEvent.webhookDelivery.event"))
		require.Equal(t, 2, ask(t, s, owner, deliveries, nil).Int("data.webhookDeliveries.totalCount"))

		rotated := ask(t, s, owner, `mutation($id: ID!) { rotateWebhookSecret(input: {id: $id, overlapSeconds: 60}) { webhookSubscription { previousUntil } signingSecret } }`, vars{"id": id})
		require.NotEqual(t, secret, rotated.Text("data.rotateWebhookSecret.signingSecret"))
		until, err := time.Parse(time.RFC3339, rotated.Text("data.rotateWebhookSecret.webhookSubscription.previousUntil"))
		require.NoError(t, err)
		require.WithinDuration(t, s.World.Clock.Now().Add(time.Minute), until, 30*time.Second)
		off := ask(t, s, owner, `mutation($id: ID!) { updateWebhookSubscription(input: {id: $id, enabled: false}) { webhookSubscription { enabled } } }`, vars{"id": id})
		require.Equal(t, false, off.Get("data.updateWebhookSubscription.webhookSubscription.enabled"))
		node := ask(t, s, owner, `query($id: ID!) { node(id: $id) { ... on WebhookDelivery { outcome } } }`, vars{"id": tried.Text("data.sendTestEvent.webhookDelivery.id")})
		require.NotEmpty(t, node.Text("data.node.outcome"))

		other := s.Session(t, s.World.B.Owner)
		require.Equal(t, "not_found", send(t, s, other, `mutation($id: ID!) { deleteWebhookSubscription(input: {id: $id}) { id } }`, vars{"id": id}).Text("errors.0.extensions.code"))
		ask(t, s, owner, `mutation($id: ID!) { deleteWebhookSubscription(input: {id: $id}) { id } }`, vars{"id": id})
		require.Zero(t, ask(t, s, owner, deliveries, nil).Int("data.webhookDeliveries.totalCount"))
	})
}
