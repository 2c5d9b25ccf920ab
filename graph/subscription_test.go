package graph_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/webhookdelivery"
	"atrium/internal/op/events"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
)

const (
	subscriptionFields = `id url events description enabled disabledReason failingSince previousUntil createdBy createdAt updatedAt`
	deliveryFields     = `id subscriptionId eventId event outcome retryCount nextAttemptAt attempts { at statusCode responseBody latencyMs error } createdAt updatedAt`

	makeSubscription   = `mutation($in: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $in) { webhookSubscription { ` + subscriptionFields + ` } signingSecret } }`
	changeSubscription = `mutation($in: UpdateWebhookSubscriptionInput!) { updateWebhookSubscription(input: $in) { webhookSubscription { ` + subscriptionFields + ` } } }`
	rotateSecret       = `mutation($in: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $in) { webhookSubscription { ` + subscriptionFields + ` } signingSecret } }`
	deleteSubscription = `mutation($in: DeleteWebhookSubscriptionInput!) { deleteWebhookSubscription(input: $in) { id } }`
	testSubscription   = `mutation($in: SendTestEventInput!) { sendTestEvent(input: $in) { webhookDelivery { ` + deliveryFields + ` } } }`
	replayDelivery     = `mutation($in: ReplayWebhookDeliveryInput!) { replayWebhookDelivery(input: $in) { webhookDelivery { ` + deliveryFields + ` } } }`
	replayEvents       = `mutation($in: ReplayWebhookEventsInput!) { replayWebhookEvents(input: $in) { webhookSubscription { id } events } }`
	deliveriesOf       = `query($s: ID, $o: [WebhookOutcome!], $n: Int, $after: String) { webhookDeliveries(subscriptionId: $s, outcome: $o, first: $n, after: $after) {
		totalCount pageInfo { hasNextPage hasPreviousPage endCursor } edges { node { ` + deliveryFields + ` } } } }`
	nodeOf = `query($id: ID!) { node(id: $id) { __typename id } }`
)

// subscribed makes a webhook subscription as company A's owner, and returns its id.
func subscribed(t testing.TB, s *apitest.Server, owner apitest.Caller) string {
	t.Helper()
	a := ask(t, s, owner, makeSubscription, vars{"in": vars{"url": "https://example.org/hook", "events": []string{events.RequestCreated}}})
	return a.Text("data.createWebhookSubscription.webhookSubscription.id")
}

// tried sends a test event to a subscription, and returns the delivery's id.
func tried(t testing.TB, s *apitest.Server, owner apitest.Caller, subscription string) string {
	t.Helper()
	a := ask(t, s, owner, testSubscription, vars{"in": vars{"subscriptionId": subscription, "event": events.TaskAssigned}})
	return a.Text("data.sendTestEvent.webhookDelivery.id")
}

// settle ends a delivery as a dispatcher does after its last attempt.
func settle(t testing.TB, s *apitest.Server, delivery string, outcome webhookdelivery.Outcome, attempts string) {
	t.Helper()
	s.Write(t, func(ctx context.Context, tx *store.Tx) error {
		return tx.WebhookDelivery.UpdateOneID(delivery).SetOutcome(outcome).SetAttempts([]byte(attempts)).ClearNextAttemptAt().Exec(ctx)
	})
}

// A subscription's secret is shown only when it is made and when it is rotated.
func TestSubscriptionsThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, admin := s.Session(t, s.World.A.Owner), s.Session(t, s.World.A.Users[principal.Admin])
		made := ask(t, s, owner, makeSubscription, vars{"in": vars{"url": "https://example.org/hook", "events": events.Names(), "description": "to the ERP"}})
		at := "data.createWebhookSubscription."
		id, secret := made.Text(at+"webhookSubscription.id"), made.Text(at+"signingSecret")
		require.Regexp(t, `^whs_[0-9a-z]{26}$`, id)
		require.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=$`, secret)
		row := made.Get(at + "webhookSubscription")
		require.Subset(t, row, vars{
			"url": "https://example.org/hook", "description": "to the ERP", "enabled": true, "disabledReason": nil, "failingSince": nil,
			"previousUntil": nil, "createdBy": s.A.Owner.UserID,
		})
		require.Len(t, made.Get(at+"webhookSubscription.events"), len(events.Names()))
		other := subscribed(t, s, owner)
		listed := ask(t, s, admin, `{ webhookSubscriptions(orderBy: {field: createdAt}) { totalCount edges { node { `+subscriptionFields+` } } } }`, nil)
		require.Equal(t, 2, listed.Int("data.webhookSubscriptions.totalCount"))
		require.Equal(t, row, listed.Get("data.webhookSubscriptions.edges.0.node"))
		page := ask(t, s, admin, `{ webhookSubscriptions(first: 1) { pageInfo { hasNextPage } edges { node { id } } } }`, nil)
		require.Equal(t, []string{other}, idsAt(page, "data.webhookSubscriptions."), "the newest first")
		require.Equal(t, true, page.Get("data.webhookSubscriptions.pageInfo.hasNextPage"))

		changed := ask(t, s, admin, changeSubscription, vars{"in": vars{"id": id, "url": "https://example.com/", "events": []string{events.TaskAssigned}, "description": nil}})
		at = "data.updateWebhookSubscription.webhookSubscription."
		require.Equal(t, "https://example.com/", changed.Text(at+"url"))
		require.Equal(t, []any{events.TaskAssigned}, changed.Get(at+"events"))
		require.Nil(t, changed.Get(at+"description"))
		require.Equal(t, true, changed.Get(at+"enabled"), "what is left out stays")

		before := s.World.Clock.Now()
		rotated := ask(t, s, owner, rotateSecret, vars{"in": vars{"id": id, "overlapSeconds": 3600}})
		next := rotated.Text("data.rotateWebhookSecret.signingSecret")
		require.Regexp(t, `^whsec_`, next)
		require.NotEqual(t, secret, next)
		until, err := time.Parse(time.RFC3339, rotated.Text("data.rotateWebhookSecret.webhookSubscription.previousUntil"))
		require.NoError(t, err)
		require.WithinRange(t, until, before.Add(time.Hour-time.Second), s.World.Clock.Now().Add(time.Hour))
		last := ask(t, s, owner, rotateSecret, vars{"in": vars{"id": id, "overlapSeconds": 0}})
		require.Nil(t, last.Get("data.rotateWebhookSecret.webhookSubscription.previousUntil"), "at once")

		one := ask(t, s, admin, `query($id: ID!) { node(id: $id) { __typename ... on WebhookSubscription { `+subscriptionFields+` } } }`, vars{"id": id})
		require.Equal(t, "WebhookSubscription", one.Text("data.node.__typename"))
		trail := ask(t, s, owner, `query($id: [ID!]) { auditEntries(filter: {resourceId: $id}) { edges { node { action changes } } } }`, vars{"id": id})
		require.Equal(t, "webhooksubscription.created", trail.Text("data.auditEntries.edges.3.node.action"))
		for _, value := range []string{secret, next, last.Text("data.rotateWebhookSecret.signingSecret")} {
			for _, a := range []*apitest.Answer{listed, changed, one, trail} {
				require.NotContains(t, string(a.Body), strings.TrimPrefix(value, "whsec_"))
			}
		}
		require.Equal(t, "validation_error", refusal(send(t, s, owner, `{ webhookSubscriptions { edges { node { signingSecret } } } }`, nil)), "no such field")

		deleted := ask(t, s, admin, deleteSubscription, vars{"in": vars{"id": id}})
		require.Equal(t, id, deleted.Text("data.deleteWebhookSubscription.id"))
		require.Equal(t, "not_found", refusal(send(t, s, owner, nodeOf, vars{"id": id})))
		require.Equal(t, "not_found", refusal(send(t, s, owner, deleteSubscription, vars{"in": vars{"id": id}})))
		require.Equal(t, 1, ask(t, s, owner, `{ webhookSubscriptions { totalCount } }`, nil).Int("data.webhookSubscriptions.totalCount"))
	})
}

// Faults of an input name their field, and the company's 51st subscription is a conflict.
func TestFaultySubscriptionsThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.Session(t, s.World.A.Owner)
		id, now := subscribed(t, s, owner), s.World.Clock.Now()
		for _, c := range []struct {
			query  string
			in     vars
			fields []string
		}{
			{makeSubscription, vars{"url": "http://example.org", "events": events.Names()}, []string{"url"}},
			{makeSubscription, vars{"url": "https://127.0.0.1/", "events": events.Names()}, []string{"url"}},
			{makeSubscription, vars{"url": "https://example.org", "events": []string{"request.deleted"}}, []string{"events"}},
			{makeSubscription, vars{"url": "https://example.org", "events": []string{}}, []string{"events"}},
			{makeSubscription, vars{"url": "https://10.0.0.1", "events": []string{"none"}}, []string{"url", "events"}},
			{changeSubscription, vars{"id": id, "url": "https://[::1]/"}, []string{"url"}},
			{changeSubscription, vars{"id": id, "events": []string{}}, []string{"events"}},
			{rotateSecret, vars{"id": id, "overlapSeconds": 604_801}, []string{"overlapSeconds"}},
			{testSubscription, vars{"subscriptionId": id, "event": "request.deleted"}, []string{"event"}},
			{replayEvents, vars{"subscriptionId": id, "since": now.Add(time.Hour).Format(time.RFC3339)}, []string{"since"}},
			{replayEvents, vars{"subscriptionId": id, "since": now.AddDate(0, 0, -31).Format(time.RFC3339)}, []string{"since"}},
		} {
			a := send(t, s, owner, c.query, vars{"in": c.in})
			require.Equal(t, "validation_error", refusal(a), "%v: %s", c.in, a.Body)
			require.Equal(t, c.fields, faults(a), "%v: %s", c.in, a.Body)
			data, _ := a.Get("data").(vars)
			require.Len(t, data, 1)
			for field, payload := range data {
				require.Nil(t, payload, field)
			}
			require.Empty(t, s.Audit(t, a.RequestID()), "%v", c.in)
		}
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			for i := range 49 {
				err := tx.WebhookSubscription.Create().SetCompanyID(s.World.A.Company.ID).SetURL(fmt.Sprintf("https://example.org/%d", i)).
					SetEvents([]string{events.RequestCreated}).SetSecretSealed([]byte("sealed")).SetCreatedBy(s.A.Owner.UserID).Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		})
		in := vars{"in": vars{"url": "https://example.org/51", "events": []string{events.RequestCreated}}}
		a := send(t, s, owner, makeSubscription, in)
		require.Equal(t, "conflict", refusal(a), "%s", a.Body)
		ask(t, s, s.Session(t, s.World.B.Owner), makeSubscription, in)
		ask(t, s, owner, deleteSubscription, vars{"in": vars{"id": id}})
		ask(t, s, owner, makeSubscription, in)
	})
}

// The history can be filtered by subscription and outcome, and paged from beginning to end.
func TestDeliveriesThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.Session(t, s.World.A.Owner)
		erp, chat := subscribed(t, s, owner), subscribed(t, s, owner)
		var toERP []string // newest first
		for range 4 {
			toERP = slices.Insert(toERP, 0, tried(t, s, owner, erp))
		}
		toChat := tried(t, s, owner, chat)
		all := slices.Insert(slices.Clone(toERP), 0, toChat)
		settle(t, s, toERP[0], webhookdelivery.OutcomeSUCCESS, `[{"at":"2026-01-02T03:04:05Z","statusCode":204,"responseBody":"","latencyMs":7,"error":null}]`)
		settle(t, s, toERP[1], webhookdelivery.OutcomeFAILED, `[{"at":"2026-01-02T03:04:05Z","statusCode":null,"responseBody":null,"latencyMs":9,"error":"timeout: no answer in time"}]`)

		for _, c := range []struct {
			name string
			v    vars
			want []string
		}{
			{"everything", nil, all},
			{"one subscription's", vars{"s": erp}, toERP},
			{"delivered", vars{"o": []string{"SUCCESS"}}, toERP[:1]},
			{"settled", vars{"o": []string{"SUCCESS", "FAILED"}}, toERP[:2]},
			{"one subscription's, on their way", vars{"s": erp, "o": []string{"PENDING"}}, toERP[2:]},
			{"given up at the other", vars{"s": chat, "o": []string{"FAILED"}}, []string{}},
		} {
			a := ask(t, s, owner, deliveriesOf, c.v)
			require.Equal(t, c.want, idsAt(a, "data.webhookDeliveries."), c.name)
			require.Len(t, c.want, a.Int("data.webhookDeliveries.totalCount"), c.name)
		}
		var paged []string
		var after any
		for more := true; more; {
			a := ask(t, s, owner, deliveriesOf, vars{"n": 2, "after": after})
			paged = append(paged, idsAt(a, "data.webhookDeliveries.")...)
			require.Equal(t, 5, a.Int("data.webhookDeliveries.totalCount"))
			require.Equal(t, after != nil, a.Get("data.webhookDeliveries.pageInfo.hasPreviousPage"))
			more, _ = a.Get("data.webhookDeliveries.pageInfo.hasNextPage").(bool)
			after = a.Get("data.webhookDeliveries.pageInfo.endCursor")
		}
		require.Equal(t, all, paged)
		oldest := ask(t, s, owner, `{ webhookDeliveries(orderBy: {field: createdAt, direction: ASC}) { edges { node { id } } } }`, nil)
		slices.Reverse(paged)
		require.Equal(t, paged, idsAt(oldest, "data.webhookDeliveries."))

		const node = `query($id: ID!) { node(id: $id) { __typename ... on WebhookDelivery { ` + deliveryFields + ` } } }`
		good := ask(t, s, owner, node, vars{"id": toERP[0]})
		require.Equal(t, "WebhookDelivery", good.Text("data.node.__typename"))
		require.Equal(t, erp, good.Text("data.node.subscriptionId"))
		require.Nil(t, good.Get("data.node.nextAttemptAt"), "settled")
		require.Equal(t, []any{vars{"at": "2026-01-02T03:04:05.000Z", "statusCode": 204.0, "responseBody": "", "latencyMs": 7.0, "error": nil}}, good.Get("data.node.attempts"))
		bad := ask(t, s, owner, node, vars{"id": toERP[1]})
		require.Equal(t, []any{vars{"at": "2026-01-02T03:04:05.000Z", "statusCode": nil, "responseBody": nil, "latencyMs": 9.0, "error": "timeout: no answer in time"}}, bad.Get("data.node.attempts"))

		ask(t, s, owner, deleteSubscription, vars{"in": vars{"id": erp}})
		require.Equal(t, []string{toChat}, idsAt(ask(t, s, owner, deliveriesOf, nil), "data.webhookDeliveries."), "its deliveries go with it")
	})
}

// Test events and replays start deliveries, unless the subscription is disabled.
func TestReplaysThroughTheGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner, h := s.Session(t, s.World.A.Owner), opened(t, s)
		id := subscribed(t, s, owner)
		sent := ask(t, s, owner, testSubscription, vars{"in": vars{"subscriptionId": id, "event": events.SLABreached}})
		at := "data.sendTestEvent.webhookDelivery."
		delivery, event := sent.Text(at+"id"), sent.Text(at+"eventId")
		require.Regexp(t, `^whd_[0-9a-z]{26}$`, delivery)
		require.Regexp(t, `^evt_[0-9a-z]{26}$`, event)
		require.Equal(t, id, sent.Text(at+"subscriptionId"))
		require.Equal(t, events.SLABreached, sent.Text(at+"event"), "also one that it does not ask for")
		require.Equal(t, "PENDING", sent.Text(at+"outcome"))
		require.NotEmpty(t, sent.Text(at+"nextAttemptAt"))
		require.Equal(t, []any{}, sent.Get(at+"attempts"))
		require.Equal(t, []string{events.SLABreached}, s.Events(t, id))

		settle(t, s, delivery, webhookdelivery.OutcomeFAILED, `[{"at":"2026-01-02T03:04:05Z","statusCode":500,"responseBody":"no","latencyMs":7,"error":null}]`)
		again := ask(t, s, owner, replayDelivery, vars{"in": vars{"id": delivery}})
		at = "data.replayWebhookDelivery.webhookDelivery."
		require.Equal(t, "PENDING", again.Text(at+"outcome"))
		require.NotEmpty(t, again.Text(at+"nextAttemptAt"))
		require.Equal(t, event, again.Text(at+"eventId"), "the same event")
		require.Len(t, again.Get(at+"attempts"), 1, "its attempts stay")
		require.Equal(t, "webhookdelivery.replayed", s.Audit(t, again.RequestID())[0].Action)

		since := s.World.Clock.Now().Add(-time.Minute).Format(time.RFC3339)
		for _, title := range []string{"a laptop", "another"} {
			h.filed(t, s, principal.Member, title)
		}
		replayed := ask(t, s, owner, replayEvents, vars{"in": vars{"subscriptionId": id, "since": since}})
		require.Equal(t, vars{"webhookSubscription": vars{"id": id}, "events": 2.0}, replayed.Get("data.replayWebhookEvents"), "test events are not sent again")

		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			return tx.WebhookSubscription.UpdateOneID(id).SetEnabled(false).SetDisabledReason("410 Gone").SetFailingSince(s.World.Clock.Now()).Exec(ctx)
		})
		disabled := map[string]vars{
			testSubscription: {"subscriptionId": id, "event": events.RequestCreated},
			replayDelivery:   {"id": delivery},
			replayEvents:     {"subscriptionId": id, "since": since},
		}
		for query, in := range disabled {
			a := send(t, s, owner, query, vars{"in": in})
			require.Equal(t, "conflict", refusal(a), "%s", a.Body)
			require.EqualValues(t, "failed", s.Audit(t, a.RequestID())[0].Outcome)
		}
		resumed := ask(t, s, owner, changeSubscription, vars{"in": vars{"id": id, "enabled": true}})
		at = "data.updateWebhookSubscription.webhookSubscription."
		require.Equal(t, []any{true, nil, nil}, []any{resumed.Get(at + "enabled"), resumed.Get(at + "disabledReason"), resumed.Get(at + "failingSince")})
		tried(t, s, owner, id)
	})
}

// Webhooks require a person who may run the company.
func TestWebhooksTakeAnAdmin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		owner := s.Session(t, s.World.A.Owner)
		id := subscribed(t, s, owner)
		delivery := tried(t, s, owner, id)
		since := s.World.Clock.Now().Add(-time.Hour).Format(time.RFC3339)
		holdClosed(t, s, []closedField{
			{name: "webhookSubscriptions", query: `{ webhookSubscriptions { totalCount } }`},
			{name: "webhookDeliveries", query: deliveriesOf},
			{name: "webhookDeliveries of one", query: deliveriesOf, in: vars{"s": id}, about: true},
			{name: "node of a subscription", query: nodeOf, in: vars{"id": id}, about: true},
			{name: "node of a delivery", query: nodeOf, in: vars{"id": delivery}, about: true},
			{name: "createWebhookSubscription", query: makeSubscription, in: vars{"in": vars{"url": "https://example.org", "events": []string{events.RequestCreated}}}},
			{name: "updateWebhookSubscription", query: changeSubscription, in: vars{"in": vars{"id": id, "enabled": false}}, about: true},
			{name: "rotateWebhookSecret", query: rotateSecret, in: vars{"in": vars{"id": id}}, about: true},
			{name: "deleteWebhookSubscription", query: deleteSubscription, in: vars{"in": vars{"id": id}}, about: true},
			{name: "sendTestEvent", query: testSubscription, in: vars{"in": vars{"subscriptionId": id, "event": events.RequestCreated}}, about: true},
			{name: "replayWebhookDelivery", query: replayDelivery, in: vars{"in": vars{"id": delivery}}, about: true},
			{name: "replayWebhookEvents", query: replayEvents, in: vars{"in": vars{"subscriptionId": id, "since": since}}, about: true},
		})
	})
}
