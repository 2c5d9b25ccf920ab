package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/seal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit/receiver"
)

// deliveringFlags are flags of servers that may deliver to receivers on loopback.
func deliveringFlags(t testing.TB, more ...string) []string {
	return append([]string{"--egress-allow", "127.0.0.0/8", "--egress-ca", receiver.CAFile(t)}, more...)
}

const impatient = "--webhook-retries=200ms,400ms,800ms,1s,2s"

// subscribe creates a company's subscription to created requests, as the settings do.
func (p place) subscribe(company, url string) string {
	p.t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{DataDir: p.data, DatabaseURL: p.url, MaxConns: 2})
	require.NoError(p.t, err)
	defer func() { require.NoError(p.t, s.Close()) }()
	sealer, err := seal.Open(ctx, seal.Source{File: filepath.Join(p.data, "master.key")})
	require.NoError(p.t, err)
	defer sealer.Close()
	subscription := id.New("whs")
	sealed, err := sealer.Seal([]byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="), []byte(subscription))
	require.NoError(p.t, err)
	ctx = principal.With(ctx, principal.Operator(company, "test"))
	require.NoError(p.t, s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.WebhookSubscription.Create().SetID(subscription).SetURL(url).SetEvents([]string{"request.created"}).
			SetSecretSealed(sealed).SetCreatedBy("operator").Exec(ctx)
	}))
	return subscription
}

// awaitDelivered waits until the company has no pending deliveries.
func (p place) awaitDelivered(company string, within time.Duration) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		return countRows(p.t, p, "webhook_deliveries WHERE company_id = '"+company+"' AND outcome = 'PENDING'") == 0
	}, within, 100*time.Millisecond, "deliveries are pending")
}

// history is one delivery as the product reports it.
type history struct {
	attempts []struct {
		StatusCode *int    `json:"statusCode"`
		Error      *string `json:"error"`
	}
	outcome string
}

// histories returns the deliveries of a subscription by event.
func (p place) histories(subscription string) map[string]history {
	p.t.Helper()
	attempts := "COALESCE(attempts, '[]')"
	if p.url != "" {
		attempts = "COALESCE(attempts, '[]')::text"
	}
	out := map[string]history{}
	for _, row := range column(p.t, p, "SELECT event_id || ' ' || outcome || ' ' || retry_count || ' ' || "+attempts+" FROM webhook_deliveries WHERE subscription_id = '"+subscription+"'") {
		part := strings.SplitN(row, " ", 4)
		h := history{outcome: part[1]}
		require.NoError(p.t, json.Unmarshal([]byte(part[3]), &h.attempts), "%s", row)
		require.Equal(p.t, part[2], fmt.Sprint(max(0, len(h.attempts)-1)), "retries of %s", part[0])
		out[part[0]] = h
	}
	return out
}

// requireDelivered compares a receiver's log with the history and with the events of committed changes. Every such event has
// arrived, always with the same id and body, and nothing else. Everything that arrived is in the history, and every attempt that
// the history shows as answered has arrived.
func requireDelivered(t *testing.T, p place, company, subscription string, r *receiver.Receiver) (repeated int) {
	t.Helper()
	committed := column(t, p, "SELECT id FROM events WHERE company_id = '"+company+"' AND type = 'request.created' AND created_at >= (SELECT created_at FROM webhook_subscriptions WHERE id = '"+subscription+"')")
	arrived, bodies := map[string]int{}, map[string]string{}
	for _, g := range r.Got() {
		event := g.Header.Get("webhook-id")
		arrived[event]++
		require.Contains(t, []string{"", string(g.Body)}, bodies[event], "two bodies of one event")
		bodies[event] = string(g.Body)
	}
	var ids []string
	for event, n := range arrived {
		ids = append(ids, event)
		repeated += n - 1
	}
	sort.Strings(ids)
	sort.Strings(committed)
	require.Equal(t, committed, ids, "the events of committed changes, and no other")
	kept := p.histories(subscription)
	require.Len(t, kept, len(committed))
	for event, h := range kept {
		require.Equal(t, "SUCCESS", h.outcome, event)
		answered := 0
		for _, a := range h.attempts {
			if a.StatusCode != nil {
				answered++
				require.Equal(t, 204, *a.StatusCode)
			} else {
				require.NotNil(t, a.Error)
			}
		}
		require.GreaterOrEqual(t, arrived[event], answered, "%s: the history has answers that nobody gave", event)
		require.LessOrEqual(t, arrived[event], len(h.attempts), "%s: the history lacks attempts", event)
	}
	return repeated
}

// createsToDeliver is for each of three kills; each event goes to three receivers. `make chaos` kills under far more load.
const createsToDeliver = 90

// The server is killed three times while it files requests and delivers events.
func TestKilledDuringDeliveries(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		flags := deliveringFlags(t, impatient)
		n := p.serve(flags...)
		first := p.firstRun()
		p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "100000")
		var receivers [3]*receiver.Receiver
		var subscriptions [3]string
		for i := range receivers {
			receivers[i] = receiver.New(t, nil)
			subscriptions[i] = p.subscribe(first.Company.ID, receivers[i].URL)
		}
		for _, mark := range []int{60, 80, 86} {
			_, _, others := burst(n, first, load{createsToDeliver, 32, mark, n.kill})
			require.Empty(t, others)
			n.kill()
			n = p.serve(flags...)
			first = p.firstRun()
		}
		p.awaitDelivered(first.Company.ID, 2*patience)
		repeated := 0
		for i, r := range receivers {
			repeated += requireDelivered(t, p, first.Company.ID, subscriptions[i], r)
		}
		events := countRows(t, p, "events WHERE type = 'request.created'")
		t.Logf("%d events to 3 receivers, %d deliveries repeated after kills", events, repeated)
		n.kill()
		requireHealthy(t, p)
	})
}

// Two nodes share the deliveries, and either may die.
func TestTwoNodesDeliver(t *testing.T) {
	t.Parallel()
	p := onPostgres(t).prepared()
	flags := deliveringFlags(t, impatient)
	a := p.serve(flags...)
	b := p.serve(append(flags, "--role=worker")...)
	first := p.firstRun()
	p.ok("company", "limits", "--company", first.Company.ID, "--per-minute", "100000")
	r := receiver.New(t, nil)
	subscription := p.subscribe(first.Company.ID, r.URL)
	var others []string
	_, _, others = burst(a, first, load{400, 32, 150, b.kill})
	require.Empty(t, others)
	b = p.serve(append(flags, "--role=worker")...)
	p.awaitDelivered(first.Company.ID, 2*patience)
	requireDelivered(t, p, first.Company.ID, subscription, r)

	// Now the node that accepts the requests dies: the other one delivers what it had committed.
	var kills atomic.Int64
	_, _, others = burst(a, first, load{400, 32, 150, func() { kills.Add(1); a.kill() }})
	require.Empty(t, others)
	a.kill()
	p.awaitDelivered(first.Company.ID, 2*patience)
	requireDelivered(t, p, first.Company.ID, subscription, r)
	require.EqualValues(t, 1, kills.Load())
	require.NotContains(t, b.err.String(), "panic")
}

// The development clock makes retries due earlier, and the call returns after they have been made.
func TestDevelopmentClockAndDeliveries(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		flags := deliveringFlags(t, "--dev-clock")
		n := p.serve(flags...)
		first := p.firstRun()
		r := receiver.New(t, receiver.Status(500, "not now"))
		subscription := p.subscribe(first.Company.ID, r.URL)
		runCurl(t, n)
		r.Await(t, 1)
		require.Eventually(t, func() bool {
			for _, h := range p.histories(subscription) {
				return len(h.attempts) == 1
			}
			return false
		}, patience, 50*time.Millisecond)
		for i, by := range []string{"30s", "2m", "10m", "1h", "6h"} {
			n.advance(by)
			require.Len(t, r.Got(), i+2, "the retry after %s", by)
			for _, h := range p.histories(subscription) {
				require.Len(t, h.attempts, i+2)
				require.Equal(t, map[bool]string{true: "FAILED", false: "PENDING"}[i == 4], h.outcome)
			}
		}
	})
}
