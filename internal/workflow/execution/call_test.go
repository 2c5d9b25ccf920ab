package execution_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	sealed "atrium/ent/secret"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook"
	run "atrium/internal/workflow/execution"
)

const canary = "canary-7f3a91c4e2-canary"

// visit returns the last visit of a phase.
func (s *shop) visit(r *ent.Request, phase string) *ent.PhaseVisit {
	s.t.Helper()
	v, err := s.Store.Reader().PhaseVisit.Query().Where(phasevisit.ExecutionID(*r.ExecutionID), phasevisit.PhaseID(phase)).Only(s.ctx)
	require.NoError(s.t, err)
	return v
}

// withSecret opens a workflow in a company with the secret TOKEN.
func withSecret(t *testing.T, w *testkit.World, definition body) *shop {
	t.Helper()
	var in secret.CreateSecretInput
	require.NoError(t, json.Unmarshal([]byte(`{"name":"TOKEN","value":"`+canary+`","allowedHosts":["*"]}`), &in))
	testkit.Run(t, w, w.As(w.A, principal.Owner), secret.CreateSecret, in)
	return open(t, w, definition)
}

// calling returns a workflow with one call, whose 404 leads elsewhere.
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

// A call carries its secret, and the same key on every attempt. The answer is stored without the secret, in whatever encoding it
// came back.
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
		token := func() *ent.Secret { return w.Store.Reader().Secret.Query().Where(sealed.Name("TOKEN")).OnlyX(s.ctx) }
		unused := token()
		require.Nil(t, unused.LastUsedAt)
		s.work()
		r := s.file(body{"n": json.Number("12345678901234567890")})
		s.at(r, "COMPLETED", "done")
		got := shop.Await(t, 2)
		for _, g := range got[:2] {
			require.Equal(t, "Bearer "+canary, g.Header.Get("Authorization"))
			require.Equal(t, *r.ExecutionID+"-call-2", g.Header.Get("Idempotency-Key"))
			require.JSONEq(t, `{"title":"A laptop","n":12345678901234567890}`, string(g.Body))
		}
		require.NotNil(t, token().LastUsedAt)
		require.Equal(t, unused.UpdatedAt, token().UpdatedAt, "to use a secret is no change of it")
		v := s.visit(r, "call")
		require.Equal(t, 2, v.Attempts)
		require.Contains(t, string(v.Output), "12345678901234567890")
		s.hides(canary[3:12], canary, string(reversed), hex.EncodeToString([]byte(canary)), base64.RawStdEncoding.EncodeToString([]byte("x" + canary))[4:20])

		lost := testkit.Run(t, w, s.ctx, request.Create, request.CreateInput{ServiceID: s.service.ID, OfferingID: s.offering.ID, Title: "lost", Fields: body{"n": 1}})
		s.at(lost, "COMPLETED", "none")
	})
}

// Wherever a template uses a secret and however the call ends, the receiver gets the secret, and nothing stored contains it in any
// form: no row of any table, including deliveries of events, no answer, no log line.
func TestCanaryAppearsNowhere(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		reversed := func(s string) string {
			runes := []rune(s)
			slices.Reverse(runes)
			return string(runes)
		}
		to := receiver.New(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			sent, _ := io.ReadAll(r.Body)
			if strings.Contains(r.URL.Path, "refuse") {
				out.WriteHeader(http.StatusInternalServerError)
			}
			out.Header().Set("X-Echo", r.Header.Get("Authorization"))
			_ = json.NewEncoder(out).Encode(body{"path": r.URL.String(), "sent": string(sent), "reversed": reversed(string(sent)), "auth": r.Header.Get("Authorization"),
				"piece": canary[3:11], "base64": base64.StdEncoding.EncodeToString([]byte("user:" + canary))})
		}))
		call := func(id, path string, more body) body {
			config := body{
				"method": "POST", "url": path + "?key=${secrets.TOKEN}", "headers": body{"Authorization": "${'Bearer ' + secrets.TOKEN}"},
				"body":     body{"joined": "${'a' + secrets.TOKEN + 'b'}", "nested": body{"list": []string{"x${secrets.TOKEN}y"}}},
				"response": body{"all": "response.body", "piece": "response.body.piece + response.body.base64", "echo": "response.headers"}, "retries": body{"max": 0},
			}
			maps.Copy(config, more)
			return phase(id, "API_CALL", config)
		}
		s := withSecret(t, w, line([]body{
			phase("start", "START", nil), call("fine", to.URL+"/fine", nil), call("refused", to.URL+"/refuse", nil), call("closed", receiver.Closed(t), nil),
			call("odd", to.URL+"/odd", body{"response": body{"n": "response.body.sent + 1"}}), phase("done", "END", nil),
		}))
		testkit.Run(t, w, s.ctx, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: "https://events.example/", Events: []string{"workflow.started", "workflow.failed", "workflow.completed"}})
		var log bytes.Buffer
		stop := s.workLogged(&log)
		r := s.file(nil)
		for _, id := range []string{"refused", "closed", "odd"} {
			require.Eventually(t, func() bool {
				i, err := w.Store.Reader().Incident.Query().Where(incident.ExecutionID(*r.ExecutionID), incident.StatusEQ(incident.StatusOPEN)).Only(s.ctx)
				return err == nil && i.PhaseID == id
			}, patience, tick)
			testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(r).ID}, Action: "SKIP"})
		}
		s.at(r, "COMPLETED", "done")
		stop()
		for _, got := range to.Got() {
			require.Contains(t, string(got.Body), "a"+canary+"b")
			require.Equal(t, "Bearer "+canary, got.Header.Get("Authorization"))
		}
		answer, err := json.Marshal(testkit.Run(t, w, s.ctx, run.Get, op.ByID{ID: *r.ExecutionID}))
		require.NoError(t, err)
		forms := []string{
			canary, canary[3:11], canary[12:], reversed(canary), hex.EncodeToString([]byte(canary)), url.QueryEscape(canary),
			base64.StdEncoding.EncodeToString([]byte("user:" + canary))[8:28], base64.StdEncoding.EncodeToString([]byte(canary))[:20],
		}
		for _, form := range forms {
			require.NotContains(t, string(answer), form)
			require.NotContains(t, log.String(), form)
		}
		s.hides(forms...)
		require.Positive(t, w.Store.Reader().WebhookDelivery.Query().CountX(s.ctx))
	})
}

// A call that fails after its retries is an incident; retrying it sends the same key, and skipping it continues without the call.
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

// A callout is signed as in Standard Webhooks, and its body is the same on every attempt.
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

// hides checks that the whole database, including the queue's tables and stored answers, contains none of the texts.
func (s *shop) hides(texts ...string) {
	s.t.Helper()
	var kept strings.Builder
	for _, table := range s.select1(map[string]string{
		dialect.Postgres: `SELECT format('SELECT t::text FROM %I.%I t', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
		dialect.SQLite: `SELECT 'SELECT json_array(' || group_concat('CASE typeof("' || c.name || '") WHEN ''blob'' THEN hex("' || c.name || '") ELSE "' || c.name || '" END') || ') FROM "' || m.name || '"'
			FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name <> 'search_words' GROUP BY m.name`, // which cannot be scanned, unlike the tables that hold it
	}[s.Store.Dialect()]) {
		for _, row := range s.select1(table) {
			kept.WriteString(row)
		}
	}
	require.Contains(s.t, kept.String(), "workflow.completed", "the tables were read")
	for _, text := range texts {
		require.NotContains(s.t, kept.String(), text)
	}
}

// select1 returns the only column of a query's rows.
func (s *shop) select1(query string) (out []string) {
	s.t.Helper()
	require.NoError(s.t, s.Store.Write(principal.System(s.ctx, "test"), func(ctx context.Context, tx *store.Tx) error {
		var rows sql.Rows
		if err := ent.DriverOf(tx.Client).Query(ctx, query, []any{}, &rows); err != nil {
			return err
		}
		defer func() { require.NoError(s.t, rows.Close()) }()
		for rows.Next() {
			var one *string
			if err := rows.Scan(&one); err != nil {
				return err
			}
			if one != nil {
				out = append(out, *one)
			}
		}
		return rows.Err()
	}))
	return out
}

// An answer is read in the charset that it names. One that cannot be read stops a workflow that uses it, and no other.
func TestAnswersInOtherCharsets(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		to := receiver.New(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			out.Header().Set("Content-Type", "application/json; charset=iso-8859-1")
			if strings.HasSuffix(r.URL.Path, "unnamed") {
				out.Header().Set("Content-Type", "application/json")
			}
			if strings.HasSuffix(r.URL.Path, "missing") {
				out.Header().Set("Content-Type", "image/png")
				out.WriteHeader(http.StatusNotFound)
			}
			out.Header().Set("X-Name", "Zo\xeb")
			_, _ = io.WriteString(out, `{"id":"Zo`+"\xeb"+`"}`)
		}))
		s := withSecret(t, w, calling(to.URL, body{"response": body{"order": "response.body.id", "name": "response.headers.x-name"}, "retries": body{"max": 0}}))
		s.work()
		file := func(title string) *ent.Request {
			return testkit.Run(t, w, s.ctx, request.Create, request.CreateInput{ServiceID: s.service.ID, OfferingID: s.offering.ID, Title: title, Fields: body{"n": 1}})
		}
		named := file("named")
		s.at(named, "COMPLETED", "done")
		require.JSONEq(t, `{"status":200,"order":"Zoë","name":"Zoë"}`, string(s.visit(named, "call").Output))
		s.stuck(file("unnamed"), "expression_failed",
			"The response could not be evaluated: order: the answer's body cannot be read: it is not in UTF-8, and names no other charset.")
		s.at(file("missing"), "COMPLETED", "none")
	})
}

func TestBodyOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw, kind  string
		want       any
		unreadable string
	}{
		{`{"n":1.50}`, "application/json", map[string]any{"n": json.Number("1.50")}, ""},
		{"\ufeff\"é\"", "application/json", "é", ""},
		{"\ufeff\"é\"", "application/json; charset=latin1", "é", ""},
		{"é", "text/plain; charset=UTF8", "é", ""},
		{"\x93a\x94", "text/plain; charset=windows-1252", "“a”", ""},
		{"\x82\xa0", "text/plain; charset=Shift_JIS", "あ", ""},
		{"\xff\xfe1\x00", "application/json", json.Number("1"), ""},
		{"\xff\xfe1\x00", "application/json; charset=utf-16", json.Number("1"), ""},
		{"1\x00", "application/json; charset=utf-16le", json.Number("1"), ""},
		{"", "", "", ""},
		{"\xeb", "text/plain", nil, "it is not in UTF-8, and names no other charset"},
		{"\xeb", "text/plain; charset=utf-8", nil, "it is not in UTF-8, and names no other charset"},
		{"a", "text/plain; charset=klingon", nil, "its charset is not known"},
		{"\x82", "text/plain; charset=Shift_JIS", nil, "it is not in the charset that it names"},
		{"a", "text/plain; charset=iso-2022-kr", nil, "it is not in the charset that it names"},
		{"\ufffd", "text/plain", "\ufffd", ""},
		{`{"a":"\ud83d"}`, "application/json", map[string]any{"a": `\ud83d`}, ""},
		{`"\u0000"`, "application/json", `\x00`, ""},
	} {
		got, unreadable := run.BodyOf([]byte(c.raw), c.kind)
		require.Equal(t, c.want, got, "%q %s", c.raw, c.kind)
		require.Equal(t, c.unreadable, unreadable, "%q %s", c.raw, c.kind)
	}
}
