package execution_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	sealed "atrium/ent/secret"
	run "atrium/internal/execution"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/request"
	"atrium/internal/secret"
	"atrium/internal/store"
	"atrium/internal/testkit"
	"atrium/internal/testkit/receiver"
)

const canary = "canary-7f3a91c4e2-canary"

// visit is the last one of a phase.
func (s *shop) visit(r *ent.Request, phase string) *ent.PhaseVisit {
	s.t.Helper()
	v, err := s.Store.Reader().PhaseVisit.Query().Where(phasevisit.ExecutionID(*r.ExecutionID), phasevisit.PhaseID(phase)).Only(s.ctx)
	require.NoError(s.t, err)
	return v
}

// withSecret is open in a company that has the secret TOKEN.
func withSecret(t *testing.T, w *testkit.World, definition body) *shop {
	t.Helper()
	var in secret.CreateSecretInput
	require.NoError(t, json.Unmarshal([]byte(`{"name":"TOKEN","value":"`+canary+`"}`), &in))
	testkit.Run(t, w, w.As(w.A, principal.Owner), secret.CreateSecret, in)
	return open(t, w, definition)
}

// calling is a workflow of one call, whose 404 leads elsewhere.
func calling(to string, more body) body {
	config := body{
		"method": "POST", "url": to + "/orders/${request.title}", "headers": body{"Authorization": "Bearer ${secrets.TOKEN}"},
		"body":        body{"title": "${request.title}", "n": "${request.fields.n}"},
		"response":    body{"order": "response.body.id", "echo": "response.body.echo"},
		"statusRules": []body{{"status": "404", "transition": "missing"}}, "retries": body{"max": 1, "backoffSeconds": 1},
	}
	for k, v := range more {
		config[k] = v
	}
	return body{
		"phases": []body{phase("start", "START", nil), phase("call", "API_CALL", config), phase("done", "END", nil), phase("none", "END", nil)},
		"transitions": []body{
			{"from": "start", "name": "next", "to": "call"}, {"from": "call", "name": "next", "to": "done"}, {"from": "call", "name": "missing", "to": "none"},
		},
	}
}

// A call carries its secret and one key on every attempt; what comes back is kept without the secret, however it was written.
func TestCallsAndTheirSecrets(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var calls atomic.Int32
		reversed := []rune(canary)
		for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
			reversed[i], reversed[j] = reversed[j], reversed[i]
		}
		shop := receiver.New(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			switch {
			case calls.Add(1) == 1:
				out.WriteHeader(http.StatusServiceUnavailable)
			case strings.Contains(r.URL.Path, "lost"):
				out.WriteHeader(http.StatusNotFound)
				_, _ = fmt.Fprint(out, `{"id":0,"echo":[]}`)
			default:
				out.Header().Set("X-Echo", canary)
				_ = json.NewEncoder(out).Encode(body{"id": json.Number("12345678901234567890"), "echo": []string{
					canary, base64.StdEncoding.EncodeToString([]byte("x" + canary)), hex.EncodeToString([]byte(canary)), url.QueryEscape("/" + canary), string(reversed), canary[3:12],
				}})
			}
		}))
		s := withSecret(t, w, calling(shop.URL, nil))
		s.work()
		r := s.file(body{"n": json.Number("12345678901234567890")})
		s.at(r, "COMPLETED", "done")
		got := shop.Await(t, 2)
		for _, g := range got[:2] {
			require.Equal(t, "Bearer "+canary, g.Header.Get("Authorization"))
			require.Equal(t, *r.ExecutionID+"-call-2", g.Header.Get("Idempotency-Key"))
			require.JSONEq(t, `{"title":"A laptop","n":12345678901234567890}`, string(g.Body))
		}
		v := s.visit(r, "call")
		require.Equal(t, 2, v.Attempts)
		require.Contains(t, string(v.Output), "12345678901234567890")
		s.hides(canary[3:12], canary, string(reversed), hex.EncodeToString([]byte(canary)), base64.RawStdEncoding.EncodeToString([]byte("x" + canary))[4:20])

		lost := testkit.Run(t, w, s.ctx, request.Create, request.CreateInput{ServiceID: s.service.ID, OfferingID: s.offering.ID, Title: "lost", Fields: body{"n": 1}})
		s.at(lost, "COMPLETED", "none")
	})
}

// A call that fails after its retries is an incident; a retry of it carries the same key, and a skip goes on without it.
func TestFailedCalls(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var answers atomic.Value
		answers.Store(receiver.Status(500, "no"))
		shop := receiver.New(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			answers.Load().(http.Handler).ServeHTTP(out, r)
		}))
		s := withSecret(t, w, calling(shop.URL, body{"retries": body{"max": 0}, "response": body{"fine": "response.status == 200"}}))
		s.work()
		resolve := func(r *ent.Request, action string) {
			testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(r).ID}, Action: action})
		}
		retried, skipped := s.file(body{"n": 1}), s.file(body{"n": 1})
		s.at(retried, "WAITING", "call")
		s.stuck(retried, "call_failed", "The call was answered with 500.")
		s.stuck(skipped, "call_failed", "The call was answered with 500.")
		resolve(skipped, "SKIP")
		s.at(skipped, "COMPLETED", "done")
		answers.Store(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(out, `{}`) }))
		resolve(retried, "RETRY")
		s.at(retried, "COMPLETED", "done")
		keys := map[string]int{}
		for _, g := range shop.Got() {
			keys[g.Header.Get("Idempotency-Key")]++
		}
		require.Equal(t, map[string]int{*retried.ExecutionID + "-call-2": 2, *skipped.ExecutionID + "-call-2": 1}, keys)

		answers.Store(receiver.Big(300 << 10))
		big := s.file(body{"n": 1})
		s.stuck(big, "call_failed", "The answer was longer than 256 KiB.")

		require.NoError(t, w.Store.Write(s.ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Secret.Delete().Where(sealed.Name("TOKEN")).Exec(ctx)
			return err
		}))
		s.stuck(s.file(body{"n": 1}), "secret_missing", "The secret TOKEN does not exist any more.")
	})
}

// A callout is signed as Standard Webhooks, and its body is the same on every attempt.
func TestCallout(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var calls atomic.Int32
		hook := receiver.New(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if calls.Add(1) == 1 {
				out.WriteHeader(http.StatusBadGateway)
			}
		}))
		s := withSecret(t, w, line([]body{phase("start", "START", nil), phase("call", "WEBHOOK_CALLOUT", body{
			"url": hook.URL + "/hook", "event": "laptop.ordered", "data": body{"title": "${request.title}"}, "signingSecret": "${secrets.TOKEN}",
		}), phase("done", "END", nil)}))
		s.work()
		r := s.file(nil)
		s.at(r, "COMPLETED", "done")
		got := hook.Await(t, 2)
		verify, err := standardwebhooks.NewWebhookRaw([]byte(canary))
		require.NoError(t, err)
		for _, g := range got[:2] {
			require.NoError(t, verify.Verify(g.Body, g.Header))
			require.Equal(t, *r.ExecutionID+"-call-2", g.Header.Get("webhook-id"))
			require.Equal(t, string(got[0].Body), string(g.Body))
		}
		var sent struct {
			Event string
			Data  body
		}
		require.NoError(t, json.Unmarshal(got[0].Body, &sent))
		require.Equal(t, "laptop.ordered", sent.Event)
		require.Equal(t, body{"title": "A laptop"}, sent.Data)
	})
}

// stuck waits for an incident of the request's execution.
func (s *shop) stuck(r *ent.Request, code, message string) {
	s.t.Helper()
	s.at(r, "WAITING", "call")
	require.Eventually(s.t, func() bool {
		i, err := s.Store.Reader().Incident.Query().Where(incident.ExecutionID(*r.ExecutionID), incident.StatusEQ(incident.StatusOPEN)).Only(s.ctx)
		return err == nil && i.Code == code && i.Message == message
	}, patience, tick, "%s %s", code, message)
}

// hides holds that nothing that is kept holds one of the texts.
func (s *shop) hides(texts ...string) {
	s.t.Helper()
	db := s.Store.Reader()
	var all []any
	for _, read := range []func() (any, error){
		func() (any, error) { return db.Execution.Query().All(s.ctx) }, func() (any, error) { return db.PhaseVisit.Query().All(s.ctx) },
		func() (any, error) { return db.Incident.Query().All(s.ctx) }, func() (any, error) { return db.AuditEntry.Query().All(s.ctx) },
		func() (any, error) { return db.Event.Query().All(s.ctx) }, func() (any, error) { return db.Task.Query().All(s.ctx) },
	} {
		rows, err := read()
		require.NoError(s.t, err)
		all = append(all, rows)
	}
	kept, err := json.Marshal(all)
	require.NoError(s.t, err)
	for _, text := range texts {
		require.NotContains(s.t, string(kept), text)
	}
}
