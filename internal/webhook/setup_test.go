package webhook_test

import (
	"context"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// office is a world that delivers webhooks to receivers on loopback.
type office struct {
	*testkit.World
	options    webhook.Options
	dispatcher *webhook.Dispatcher
	queue      *jobs.Queue
	registry   *prometheus.Registry
	stop       func()
}

// quick is a schedule for tests that wait for retries. Nothing depends on how long the waits are.
var quick = []time.Duration{20 * time.Millisecond, 30 * time.Millisecond, 40 * time.Millisecond, 50 * time.Millisecond, 60 * time.Millisecond}

// open starts a node that delivers until the test ends.
func open(t testing.TB, w *testkit.World, change ...func(*webhook.Options, *egress.Options)) *office {
	t.Helper()
	eo := egress.Options{Allow: receiver.Loopback, CAFile: receiver.CAFile(t), Timeout: 2 * time.Second}
	o := webhook.Options{Store: w.Store, Engine: w.Engine, Queue: w.Queue, Sealer: w.Engine.Sealer, Retries: quick, Log: w.Engine.Log, Metrics: prometheus.NewRegistry()}
	for _, c := range change {
		c(&o, &eo)
	}
	var err error
	o.Egress, err = egress.New(eo)
	require.NoError(t, err)
	w.Engine.Egress = o.Egress
	of := &office{World: w, options: o}
	of.registry, _ = o.Metrics.(*prometheus.Registry)
	of.dispatcher, err = webhook.New(o)
	require.NoError(t, err)
	of.queue, err = jobs.New(w.Store, slog.New(slog.DiscardHandler), true, of.dispatcher.Work())
	require.NoError(t, err)
	t.Cleanup(of.dispatcher.Close)
	of.stop = testkit.RunQueue(t, of.queue)
	return of
}

// each runs fn in an office on SQLite and in another on PostgreSQL.
func each(t *testing.T, fn func(t *testing.T, o *office), change ...func(*webhook.Options, *egress.Options)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, open(t, w, change...)) })
}

// asOwner is a context in which company A's owner calls.
func (o *office) asOwner() context.Context { return o.As(o.A, principal.Owner) }

// subscribe makes a subscription of company A.
func (o *office) subscribe(t testing.TB, url string, names ...string) webhook.IssuedSubscription {
	t.Helper()
	if len(names) == 0 {
		names = []string{events.RequestCreated}
	}
	return testkit.Run(t, o.World, o.asOwner(), webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: url, Events: names})
}

// offering makes a service and an offering of company A to file requests against.
func (o *office) offering(t testing.TB) request.CreateInput {
	t.Helper()
	s := testkit.Run(t, o.World, o.asOwner(), catalog.CreateService, catalog.CreateServiceInput{Name: "IT Support"})
	off := testkit.Run(t, o.World, o.asOwner(), catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "New laptop"})
	return request.CreateInput{ServiceID: s.ID, OfferingID: off.ID, Title: "A laptop"}
}

// file files a request, which is an event.
func (o *office) file(t testing.TB, in request.CreateInput) *ent.Request {
	t.Helper()
	return testkit.Run(t, o.World, o.asOwner(), request.Create, in)
}

// deliveries returns company A's deliveries, the oldest first.
func (o *office) deliveries(t testing.TB) []*ent.WebhookDelivery {
	t.Helper()
	list, err := o.Store.Reader().WebhookDelivery.Query().Order(webhookdelivery.ByCreatedAt(), webhookdelivery.ByID()).All(o.asOwner())
	require.NoError(t, err)
	return list
}

type delivery = ent.WebhookDelivery

// patience bounds every wait for something that takes far less time.
const patience = 60 * time.Second

// await waits until company A's only delivery is as wanted, and returns it.
func (o *office) await(t testing.TB, as func(d *ent.WebhookDelivery, attempts []webhook.Attempt) bool) (*ent.WebhookDelivery, []webhook.Attempt) {
	t.Helper()
	var d *ent.WebhookDelivery
	var attempts []webhook.Attempt
	require.Eventually(t, func() bool {
		list := o.deliveries(t)
		if len(list) != 1 {
			return false
		}
		var err error
		d = list[0]
		attempts, err = webhook.AttemptsOf(d)
		return err == nil && as(d, attempts)
	}, patience, 5*time.Millisecond, "the delivery does not become as wanted: %v", d)
	return d, attempts
}

// outcome is a condition for await.
func outcome(want webhookdelivery.Outcome) func(*ent.WebhookDelivery, []webhook.Attempt) bool {
	return func(d *ent.WebhookDelivery, _ []webhook.Attempt) bool { return d.Outcome == want }
}

// attempted is a condition for await.
func attempted(n int) func(*ent.WebhookDelivery, []webhook.Attempt) bool {
	return func(_ *ent.WebhookDelivery, attempts []webhook.Attempt) bool { return len(attempts) == n }
}

// subscription returns a subscription of company A as it is now.
func (o *office) subscription(t testing.TB, id string) *ent.WebhookSubscription {
	t.Helper()
	s, err := o.Store.Reader().WebhookSubscription.Get(o.asOwner(), id)
	require.NoError(t, err)
	return s
}

// nobody makes the egress guard refuse loopback, and with it every receiver of the tests.
func nobody(_ *webhook.Options, e *egress.Options) { e.Allow = []netip.Prefix{} }

// schedule sets the waits before retries.
func schedule(waits ...time.Duration) func(*webhook.Options, *egress.Options) {
	return func(o *webhook.Options, _ *egress.Options) { o.Retries = waits }
}
