package webhook_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook"
	"atrium/internal/webhook/signing"
)

// create makes a subscription of a company, in a world without a node that delivers.
func create(t *testing.T, w *testkit.World, ctx context.Context, names ...string) webhook.IssuedSubscription {
	t.Helper()
	if len(names) == 0 {
		names = events.Names()
	}
	return testkit.Run(t, w, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: "https://example.org/hook", Events: names})
}

func audited(t *testing.T, w *testkit.World, action string) []*ent.AuditEntry {
	t.Helper()
	list, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action(action)).Order(auditentry.ByID()).All(w.As(w.A, principal.Owner))
	require.NoError(t, err)
	return list
}

func TestLifeOfASubscription(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		made := testkit.Run(t, w, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{
			URL: "https://example.org/hook", Events: events.Names(), Description: new("to the ERP"),
		})
		s := made.Subscription
		require.Equal(t, made.ID, s.ID)
		require.True(t, strings.HasPrefix(s.ID, "whs_"))
		require.Equal(t, events.Names(), s.Events, "all can be subscribed to")
		require.True(t, s.Enabled)
		require.Nil(t, s.DisabledReason)
		require.Equal(t, w.A.Users[principal.Admin].ID, s.CreatedBy)
		key, found := strings.CutPrefix(string(made.SigningSecret), "whsec_")
		require.True(t, found)
		raw, err := base64.StdEncoding.DecodeString(key)
		require.NoError(t, err)
		require.Len(t, raw, 32)

		got := testkit.Run(t, w, ctx, webhook.GetSubscription, op.ByID{ID: s.ID})
		require.Equal(t, "to the ERP", got.Description)
		changed := testkit.Run(t, w, ctx, webhook.UpdateSubscription, webhook.UpdateSubscriptionInput{
			ByID: op.ByID{ID: s.ID}, URL: op.SetTo("https://example.com/"), Events: op.SetTo([]string{events.TaskAssigned}), Enabled: op.SetTo(false),
		})
		require.Equal(t, "https://example.com/", changed.URL)
		require.Equal(t, []string{events.TaskAssigned}, changed.Events)
		require.False(t, changed.Enabled)
		require.Nil(t, changed.DisabledReason, "whoever disables it knows why")
		require.Equal(t, "to the ERP", changed.Description)

		list := testkit.Run(t, w, ctx, webhook.ListSubscriptions, webhook.ListSubscriptionsInput{})
		require.Equal(t, 1, list.Total)
		testkit.Run(t, w, ctx, webhook.DeleteSubscription, op.ByID{ID: s.ID})
		testkit.Refused(t, w, ctx, webhook.GetSubscription, op.ByID{ID: s.ID}, apperr.NotFound)
		for _, action := range []string{"created", "updated", "deleted"} {
			entries := audited(t, w, "webhooksubscription."+action)
			require.Len(t, entries, 1, action)
			require.Equal(t, s.ID, *entries[0].ResourceID)
			require.Equal(t, "WebhookSubscription", entries[0].ResourceType)
		}
	})
}

func TestSubscriptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	ctx := w.As(w.A, principal.Owner)
	for _, url := range []string{"", "http://example.org", "https://user:pw@example.org", "https://exa mple.org", "https://example.org:0", "https://127.0.0.1/", "https://2130706433/", "https://[::ffff:10.0.0.1]/"} {
		err := testkit.Refused(t, w, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: url, Events: events.Names()}, apperr.Validation)
		require.Equal(t, "url", err.Details[0].Field, "%q: %v", url, err)
	}
	for _, names := range [][]string{nil, {}, {"request.deleted"}, {events.RequestCreated, ""}, {events.RequestCreated, events.RequestCreated}, {"*"}} {
		err := testkit.Refused(t, w, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: "https://example.org", Events: names}, apperr.Validation)
		require.Len(t, err.Details, 1)
		require.Equal(t, "events", err.Details[0].Field, "%v", names)
	}
	both := testkit.Refused(t, w, ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: "https://10.0.0.1", Events: []string{"none"}}, apperr.Validation)
	require.Len(t, both.Details, 2, "one row a fault")

	s := create(t, w, ctx)
	err := testkit.Refused(t, w, ctx, webhook.UpdateSubscription, webhook.UpdateSubscriptionInput{ByID: op.ByID{ID: s.ID}, URL: op.SetTo("https://[::1]/")}, apperr.Validation)
	require.Equal(t, "url", err.Details[0].Field)
	err = testkit.Refused(t, w, ctx, webhook.UpdateSubscription, webhook.UpdateSubscriptionInput{ByID: op.ByID{ID: s.ID}, Events: op.SetTo([]string{})}, apperr.Validation)
	require.Equal(t, "events", err.Details[0].Field)
	for _, seconds := range []int{-1, 604_801} {
		err = testkit.Refused(t, w, ctx, webhook.RotateSecret, webhook.RotateSecretInput{ByID: op.ByID{ID: s.ID}, Overlap: signing.Overlap{OverlapSeconds: &seconds}}, apperr.Validation)
		require.Equal(t, "overlapSeconds", err.Details[0].Field)
	}
}

// Concurrent creates do not exceed the limit, and deleting a subscription makes room for another.
func TestFiftySubscriptions(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		var made, refused atomic.Int64
		var id atomic.Pointer[string]
		var wg sync.WaitGroup
		for range 70 {
			wg.Go(func() {
				s, _, err := op.Run(ctx, w.Engine, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: "https://example.org", Events: events.Names()}, nil)
				switch {
				case err == nil:
					made.Add(1)
					id.Store(&s.ID)
				case apperr.CodeOf(err) == apperr.Conflict:
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 50, made.Load())
		require.EqualValues(t, 20, refused.Load())
		create(t, w, w.As(w.B, principal.Owner)) // another company has a limit of its own
		testkit.Run(t, w, ctx, webhook.DeleteSubscription, op.ByID{ID: *id.Load()})
		create(t, w, ctx)
	})
}

// Webhooks are settings: only admins and owners in person may use them, and nobody of another company.
func TestWhoMaySetWebhooksUp(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := create(t, w, w.As(w.A, principal.Owner))
		d := testkit.Run(t, w, w.As(w.A, principal.Owner), webhook.SendTestEvent,
			webhook.SendTestEventInput{BySubscription: webhook.BySubscription{SubscriptionID: s.ID}, Event: events.RequestCreated})
		key := func(role principal.Role) context.Context {
			p, _ := principal.From(w.As(w.A, role))
			q := *p
			q.Method, q.KeyID = principal.MethodAPIKey, "key_1"
			return principal.With(context.Background(), &q)
		}
		narrowed := func() context.Context {
			p, _ := principal.From(w.As(w.A, principal.Owner))
			q := *p
			q.Method, q.Scopes = principal.MethodBearer, principal.ScopeOf("services:read")
			return principal.With(context.Background(), &q)
		}
		for name, c := range map[string]struct {
			ctx  context.Context
			code apperr.Code // of operations on rows; "" when they succeed
			list apperr.Code
		}{
			"admin":           {w.As(w.A, principal.Admin), "", ""},
			"agent":           {w.As(w.A, principal.Agent), apperr.Forbidden, apperr.Forbidden},
			"member":          {w.As(w.A, principal.Member), apperr.Forbidden, apperr.Forbidden},
			"owner's key":     {key(principal.Owner), apperr.Forbidden, apperr.Forbidden},
			"narrowed bearer": {narrowed(), apperr.Forbidden, apperr.Forbidden},
			"nobody":          {context.Background(), apperr.Unauthorized, apperr.Unauthorized},
			"another company": {w.As(w.B, principal.Owner), apperr.NotFound, ""},
		} {
			same := func(err error, code apperr.Code, what string) {
				if code == "" {
					require.NoError(t, err, "%s: %s", name, what)
					return
				}
				require.Equal(t, code, apperr.CodeOf(err), "%s: %s: %v", name, what, err)
			}
			run := func(what string, code apperr.Code, fn func() error) { same(fn(), code, what) }
			by := webhook.BySubscription{SubscriptionID: s.ID}
			run("get", c.code, func() error { return call(c.ctx, w, webhook.GetSubscription, op.ByID{ID: s.ID}) })
			run("update", c.code, func() error {
				return call(c.ctx, w, webhook.UpdateSubscription, webhook.UpdateSubscriptionInput{ByID: op.ByID{ID: s.ID}, Description: op.SetTo(name)})
			})
			run("rotate", c.code, func() error {
				return call(c.ctx, w, webhook.RotateSecret, webhook.RotateSecretInput{ByID: op.ByID{ID: s.ID}})
			})
			run("test", c.code, func() error {
				return call(c.ctx, w, webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: by, Event: events.SLAWarning})
			})
			run("replay events", c.code, func() error {
				return call(c.ctx, w, webhook.ReplayEvents, webhook.ReplayEventsInput{BySubscription: by, Since: w.Clock.Now()})
			})
			run("get delivery", c.code, func() error { return call(c.ctx, w, webhook.GetDelivery, op.ByID{ID: d.ID}) })
			run("replay delivery", c.code, func() error { return call(c.ctx, w, webhook.ReplayDelivery, op.ByID{ID: d.ID}) })
			run("deliveries of", c.code, func() error {
				return call(c.ctx, w, webhook.ListDeliveries, webhook.ListDeliveriesInput{SubscriptionID: &s.ID})
			})
			run("list", c.list, func() error { return call(c.ctx, w, webhook.ListSubscriptions, webhook.ListSubscriptionsInput{}) })
			run("deliveries", c.list, func() error { return call(c.ctx, w, webhook.ListDeliveries, webhook.ListDeliveriesInput{}) })
			if c.list != "" {
				run("create", c.list, func() error {
					return call(c.ctx, w, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: "https://example.org", Events: events.Names()})
				})
			}
		}
		require.Zero(t, testkit.Run(t, w, w.As(w.B, principal.Owner), webhook.ListSubscriptions, webhook.ListSubscriptionsInput{}).Total)
		require.Zero(t, testkit.Run(t, w, w.As(w.B, principal.Owner), webhook.ListDeliveries, webhook.ListDeliveriesInput{}).Total)
		require.Len(t, audited(t, w, "webhooksubscription.tested"), 6, "the first, the admin's and four that were denied")
	})
}

func call[In, Out any](ctx context.Context, w *testkit.World, o *op.Operation[In, Out], in In) error {
	_, _, err := op.Run(ctx, w.Engine, o, in, nil)
	return err
}

// A signing secret is in no row, job, log or audit entry, and is not printed by mistake.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var out bytes.Buffer
		w.Engine.Log = slog.New(slog.NewJSONHandler(&out, nil))
		ctx := w.As(w.A, principal.Owner)
		first := create(t, w, ctx)
		second := testkit.Run(t, w, ctx, webhook.RotateSecret, webhook.RotateSecretInput{ByID: op.ByID{ID: first.ID}})
		require.NotEqual(t, first.SigningSecret, second.SigningSecret)
		testkit.Run(t, w, ctx, webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: webhook.BySubscription{SubscriptionID: first.ID}, Event: events.RequestCreated})
		w.Engine.Log.Info("x", "secret", first.SigningSecret, "issued", first)
		_, _ = fmt.Fprintf(&out, "%v %+v %#v %s %+v", first, second, first.SigningSecret, second.SigningSecret, first.Subscription)
		all := out.String() + w.Dump(t)
		require.Contains(t, all, first.ID, "the dump holds nothing")
		for _, s := range []secret.Value{first.SigningSecret, second.SigningSecret} {
			require.NotContains(t, all, strings.TrimPrefix(string(s), "whsec_"))
		}
		rotated := audited(t, w, "webhooksubscription.rotated")
		require.Len(t, rotated, 1)
		require.Contains(t, string(rotated[0].Changes), "***")
	})
}

func TestListOfDeliveries(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		a, b := create(t, w, ctx), create(t, w, ctx)
		for range 3 {
			for _, s := range []string{a.ID, b.ID} {
				testkit.Run(t, w, ctx, webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: webhook.BySubscription{SubscriptionID: s}, Event: events.TaskCompleted})
			}
			w.Clock.SetOffset(w.Clock.Offset() + time.Second)
		}
		all := testkit.Run(t, w, ctx, webhook.ListDeliveries, webhook.ListDeliveriesInput{})
		require.Equal(t, 6, all.Total)
		require.False(t, all.Rows[0].CreatedAt.Before(all.Rows[5].CreatedAt), "the newest first")
		ofA := testkit.Run(t, w, ctx, webhook.ListDeliveries, webhook.ListDeliveriesInput{SubscriptionID: &a.ID, Outcome: []string{"PENDING"}})
		require.Equal(t, 3, ofA.Total)
		for _, d := range ofA.Rows {
			require.Equal(t, a.ID, d.SubscriptionID)
		}
		require.Zero(t, testkit.Run(t, w, ctx, webhook.ListDeliveries, webhook.ListDeliveriesInput{Outcome: []string{"SUCCESS", "FAILED"}}).Total)
		err := testkit.Refused(t, w, ctx, webhook.ListDeliveries, webhook.ListDeliveriesInput{Outcome: []string{"LOST"}}, apperr.Validation)
		require.Equal(t, "outcome", err.Details[0].Field)

		// By cursors, as connections page.
		var seen []string
		after := ""
		for {
			page := testkit.Run(t, w, ctx, webhook.ListDeliveries, webhook.ListDeliveriesInput{Page: paging.Page{Size: 4, Window: &paging.Window{After: after}}})
			require.Equal(t, 6, page.Total)
			for _, d := range page.Rows {
				seen = append(seen, d.ID)
			}
			if !page.More {
				break
			}
			after = page.Cursor(page.Rows[len(page.Rows)-1])
		}
		require.Len(t, seen, 6)
		for i, d := range all.Rows {
			require.Equal(t, d.ID, seen[i])
		}
	})
}

// Deliveries that access policies hide are in neither the list nor its total, and a replay does not reach them; the limit of
// subscriptions counts hidden ones.
func TestDeliveriesUnderPolicies(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		s := create(t, w, ctx)
		send := func(event string) *ent.WebhookDelivery {
			return testkit.Run(t, w, ctx, webhook.SendTestEvent, webhook.SendTestEventInput{BySubscription: webhook.BySubscription{SubscriptionID: s.ID}, Event: event})
		}
		hidden, shown := send(events.TaskAssigned), send(events.RequestCreated)
		testkit.Run(t, w, ctx, policy.Create, policy.CreateInput{
			Name: "Hide tasks", Effect: "Deny", Action: "read", Resource: "WebhookDelivery", Condition: new(policy.NewCondition([]byte(`{"resource.event": "task.assigned"}`))),
		})
		l := testkit.Run(t, w, ctx, webhook.ListDeliveries, webhook.ListDeliveriesInput{SubscriptionID: &s.ID})
		require.Equal(t, 1, l.Total)
		require.Len(t, l.Rows, 1)
		require.Equal(t, shown.ID, l.Rows[0].ID)
		testkit.Refused(t, w, ctx, webhook.ReplayDelivery, op.ByID{ID: hidden.ID}, apperr.Forbidden)
		testkit.Run(t, w, ctx, webhook.ReplayDelivery, op.ByID{ID: shown.ID})
	})
}
