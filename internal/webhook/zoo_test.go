package webhook_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/webhookdelivery"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
)

// animal is a receiver with a certain behaviour, and what the history must say of the first attempt.
type animal struct {
	url     string
	status  int    // 0 for none
	body    string // how it begins
	err     string // how it begins; "" for none
	outcome webhookdelivery.Outcome
}

func zoo(t *testing.T) map[string]animal {
	url := func(h http.Handler) string { return receiver.New(t, h).URL }
	const pending, success, failed = webhookdelivery.OutcomePENDING, webhookdelivery.OutcomeSUCCESS, webhookdelivery.OutcomeFAILED
	return map[string]animal{
		"200":               {url(receiver.Status(200, "ok")), 200, "ok", "", success},
		"204":               {url(receiver.Status(204, "")), 204, "", "", success},
		"301":               {url(receiver.Redirect("https://127.0.0.1:1/")), 301, "", "", pending},
		"400":               {url(receiver.Status(400, "no")), 400, "no", "", pending},
		"404":               {url(receiver.Status(404, "where")), 404, "where", "", pending},
		"410":               {url(receiver.Status(410, "gone")), 410, "gone", "", failed},
		"429":               {url(receiver.RetryAfter(429, "120")), 429, "", "", pending},
		"500":               {url(receiver.Status(500, "oh")), 500, "oh", "", pending},
		"hang":              {url(receiver.Hang()), 0, "", "timeout: ", pending},
		"slow drip":         {url(receiver.Drip(50 * time.Millisecond)), 200, "...", "timeout: ", pending},
		"reset":             {url(receiver.Reset()), 0, "", "reset: ", pending},
		"half-open TLS":     {receiver.HalfOpen(t), 0, "", "timeout: ", pending},
		"wrong certificate": {receiver.WrongCertificate(t).URL, 0, "", "tls: ", pending},
		"wrong name":        {receiver.WrongName(t).URL, 0, "", "tls: ", pending},
		"10 MiB":            {url(receiver.Big(10 << 20)), 200, strings.Repeat("x", 1024), "", success},
		"header bomb":       {url(receiver.HeaderBomb()), 0, "", "header: ", pending},
		"nobody listens":    {receiver.Closed(t), 0, "", "connect: ", pending},
		"no such name":      {"https://nobody.invalid/", 0, "", "dns: ", pending},
		"localhost by name": {"https://localhost.example.invalid/", 0, "", "dns: ", pending},
		"metadata by name":  {"https://169-254-169-254.invalid/", 0, "", "dns: ", pending},
		"no text":           {url(receiver.Status(200, "a\x00\xff\xfeb")), 200, `a\x00\xff\xfeb`, "", success},
	}
}

// The history says what each receiver did, and no receiver delays another.
func TestReceiverZoo(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		animals := zoo(t)
		names := map[string]string{} // by subscription
		for name, a := range animals {
			names[o.subscribe(t, a.url).ID] = name
		}
		o.file(t, o.offering(t))
		require.Eventually(t, func() bool {
			for _, d := range o.deliveries(t) {
				if len(d.Attempts) == 0 {
					return false
				}
			}
			return true
		}, patience, 10*time.Millisecond)
		list := o.deliveries(t)
		require.Len(t, list, len(animals))
		for _, d := range list {
			name := names[d.SubscriptionID]
			a := animals[name]
			attempts, err := webhook.AttemptsOf(d)
			require.NoError(t, err)
			require.Len(t, attempts, 1, name)
			got := attempts[0]
			require.Equal(t, a.outcome, d.Outcome, name)
			require.Equal(t, a.outcome == webhookdelivery.OutcomePENDING, d.NextAttemptAt != nil, name)
			if a.status == 0 {
				require.Nil(t, got.StatusCode, name)
				require.Nil(t, got.ResponseBody, name)
			} else {
				require.Equal(t, a.status, *got.StatusCode, name)
				require.True(t, strings.HasPrefix(*got.ResponseBody, a.body), "%s: %q", name, *got.ResponseBody)
				require.LessOrEqual(t, len(*got.ResponseBody), 1024, name)
			}
			if a.err == "" {
				require.Nil(t, got.Error, name)
			} else {
				require.True(t, strings.HasPrefix(*got.Error, a.err), "%s: %s", name, *got.Error)
			}
			require.Less(t, got.LatencyMs, 20_000, name)
		}
	}, schedule(webhook.DefaultRetries...))
}

// A subscription that was saved while its network was allowed is not called once the network is forbidden.
func TestRefusedAddress(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		r := receiver.New(t, nil)
		saved := open(t, w)
		saved.subscribe(t, r.URL)
		saved.stop()
		o := open(t, w, nobody, schedule(time.Hour))
		err := testkit.Refused(t, w, w.As(w.A, principal.Owner), webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: r.URL, Events: events.Names()}, "validation_error")
		require.Equal(t, "url", err.Details[0].Field)
		o.file(t, o.offering(t))
		_, attempts := o.await(t, attempted(1))
		require.Nil(t, attempts[0].StatusCode)
		require.True(t, strings.HasPrefix(*attempts[0].Error, "refused_address: "), *attempts[0].Error)
		require.Empty(t, r.Got())
	})
}

// The calls under way for one subscription are limited; the deliveries of others do not wait behind them.
func TestSlowReceiverHoldsUpNobody(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		var now, most atomic.Int64 // calls at once; how many run one after the other depends on the machine
		hangs := receiver.New(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			receiver.Hang().ServeHTTP(w, r)
			now.Add(-1)
		}))
		quick := receiver.New(t, nil)
		s := o.subscribe(t, hangs.URL)
		o.subscribe(t, quick.URL)
		in := o.offering(t)
		for range 30 {
			o.file(t, in)
		}
		quick.Await(t, 30)
		require.LessOrEqual(t, most.Load(), int64(2*webhook.PerReceiver), "a receiver notices late that its callers have gone")
		// Its own retries and events are not lost either: they are delivered once it answers.
		well := receiver.New(t, nil)
		testkit.Run(t, o.World, o.asOwner(), webhook.UpdateSubscription, webhook.UpdateSubscriptionInput{ByID: op.ByID{ID: s.ID}, URL: op.SetTo(well.URL)})
		require.Eventually(t, func() bool {
			n, err := o.Store.Reader().WebhookDelivery.Query().Where(webhookdelivery.OutcomeEQ(webhookdelivery.OutcomeSUCCESS)).Count(o.asOwner())
			return err == nil && n == 60
		}, patience, 10*time.Millisecond)
	}, schedule(repeated(5, 50*time.Millisecond)...), func(_ *webhook.Options, e *egress.Options) { e.Timeout = time.Second })
}
