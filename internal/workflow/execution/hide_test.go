package execution_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	sealed "atrium/ent/secret"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	run "atrium/internal/workflow/execution"
)

// A call that uses more secrets than it may becomes an incident, and costs no memory: 60 secrets of 64 KiB made maskers of 600 MB, one
// for each call.
func TestCallsUseLittleOfManySecrets(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		value := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 60<<10/36)
		to := receiver.New(t, http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(out).Encode(body{"id": 1, "echo": value[:30]})
		}))
		owner := w.As(w.A, principal.Owner)
		var sizes []string
		for i := range 60 {
			name := fmt.Sprint("LONG_", i)
			testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: name, Value: secret.Value(fmt.Sprint(value, i))})
			sizes = append(sizes, "size(secrets."+name+")")
		}
		s := withSecret(t, w, calling(to.URL, body{"body": body{"n": "${" + sizes[0] + "}"}}))
		s.work()
		r := s.file(body{"n": 1})
		s.at(r, "COMPLETED", "done")
		require.JSONEq(t, `{"status":200,"order":1,"echo":"***"}`, string(s.visit(r, "call").Output))
		require.JSONEq(t, `{"n":61417}`, string(to.Got()[0].Body))
		all := body{}
		for i, size := range sizes {
			all[fmt.Sprint("n", i)] = "${" + size + "}"
		}
		s.publish(calling(to.URL, body{"body": all}))
		var filed []*ent.Request
		for range 8 {
			filed = append(filed, s.file(body{"n": 1}))
		}
		for _, r := range filed {
			s.stuck(r, "secrets_too_large", "The secrets of the call are longer than 64 KiB together.")
		}
	})
}

// An answer may bring a secret that its call does not name: a receiver's configuration, a token that another call uses. It is stored
// without it, and innocent texts stay what they are though secrets begin like them.
func TestAnswersHideOtherSecrets(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const other, hook, tiny = "erp-41c9f07d2b", "https://hooks.example.com/services/T000/B000/qXyZ4711qXyZ", "200"
		owner := w.As(w.A, principal.Owner)
		for name, value := range map[string]string{"ERP": other, "HOOK": hook, "TINY": tiny} {
			testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: name, Value: secret.Value(value)})
		}
		to := receiver.New(t, http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("X-Key", other)
			_ = json.NewEncoder(out).Encode(body{"id": 200, "echo": []string{
				"key=" + other, base64.StdEncoding.EncodeToString([]byte(other)), hook, "https://hooks.example.com/help",
			}})
		}))
		s := withSecret(t, w, calling(to.URL, body{"headers": body{}, "response": body{
			"order": "response.body.id", "echo": "response.body.echo", "key": "response.headers['x-key']",
		}}))
		s.work()
		r := s.file(body{"n": 1})
		s.at(r, "COMPLETED", "done")
		var output body
		require.NoError(t, json.Unmarshal(s.visit(r, "call").Output, &output))
		require.Equal(t, body{"status": 200.0, "order": 200.0, "key": "***", "echo": []any{"key=***", "***I=", "***", "https://hooks.example.com/help"}}, output)
		s.hides(other, hook)
	})
}

// A company whose receivers do not answer leaves callers to others.
func TestCallersAreShared(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		end := make(chan struct{})
		var hanging, ended atomic.Int32
		to := receiver.New(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "hang") {
				hanging.Add(1)
				<-end
				ended.Add(1)
			}
			_, _ = fmt.Fprint(out, `{}`)
		}))
		t.Cleanup(func() { close(end) })
		definition := func(path string) body {
			return line([]body{
				phase("start", "START", nil), phase("call", "API_CALL", body{"method": "GET", "url": to.URL + path, "timeoutSeconds": 60}), phase("done", "END", nil),
			})
		}
		slow, other := openFor(t, w, w.A, definition("/hang")), openFor(t, w, w.B, definition("/fine"))
		for range 70 {
			slow.file(nil)
		}
		other.work()
		require.Eventually(t, func() bool { return hanging.Load() >= 32 }, patience, tick)
		other.at(other.file(nil), "COMPLETED", "done")
		require.Zero(t, ended.Load())
		require.LessOrEqual(t, hanging.Load(), int32(32))
	})
}

// A receiver that was not told of a rotation brings the value before. It is masked like the present one: in every piece where the call
// names the secret.
func TestAnswersHideEarlierValues(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const second, third = "second-value-0123456789", "third-value-9876543210"
		to := receiver.New(t, http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(out).Encode(body{"id": 1, "echo": []string{canary, second[4:13], third, base64.StdEncoding.EncodeToString([]byte(canary))}})
		}))
		s := withSecret(t, w, calling(to.URL, nil))
		token := w.Store.Reader().Secret.Query().Where(sealed.Name("TOKEN")).OnlyX(s.ctx)
		for _, value := range []string{second, third} {
			testkit.Run(t, w, s.ctx, secret.RotateSecret, secret.RotateSecretInput{ByID: op.ByID{ID: token.ID}, Value: secret.Value(value)})
		}
		s.work()
		r := s.file(body{"n": 1})
		s.at(r, "COMPLETED", "done")
		require.Equal(t, "Bearer "+third, to.Got()[0].Header.Get("Authorization"))
		require.JSONEq(t, `{"status":200,"order":1,"echo":["***","***","***","***"]}`, string(s.visit(r, "call").Output))
		s.hides(canary, second[4:13], third)
	})
}

// What people write into tasks, decisions and resolutions is stored nowhere with the company's secrets: not in the rows, the history and the
// audit log, nor in what later phases make of it.
func TestExecutionsHideWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ask := phase("ask", "PROCESS", nil)
		ask["participants"] = []body{{"role": "accountable", "type": "user", "id": w.A.Users[principal.Admin].ID}}
		s := withSecret(t, w, line([]body{
			phase("start", "START", nil), ask,
			phase("copy", "DATA", body{"kind": "enrich", "set": body{"key": "'Bearer ' + phases.ask.key", "kept": "phases.ask.kept"}}),
			phase("wrong", "DATA", body{"kind": "enrich", "set": body{"n": "phases.ask.kept + 1"}}),
			phase("again", "DATA", body{"kind": "validate", "onInvalid": "ask", "rules": []body{{"check": "request.fields.note != null", "field": "note"}}}),
			phase("last", "PROCESS", nil), phase("done", "END", nil),
		}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "ask")
		done := s.complete(r, "", body{"key": canary, "kept": "https://example.com"})
		require.JSONEq(t, `{"key":"***","kept":"https://example.com"}`, string(done.Variables))
		require.Eventually(t, func() bool {
			return w.Store.Reader().Approval.Query().Where(approval.RequestID(r.ID)).ExistX(s.ctx)
		}, patience, tick)
		decided := testkit.Run(t, w, w.As(w.A, principal.Admin), run.DecideApproval, run.DecideApprovalInput{
			ByID: op.ByID{ID: s.approval(r).ID}, Decision: "APPROVE", Comment: new("It goes with " + canary),
		})
		decisions, err := run.DecisionsOf(decided)
		require.NoError(t, err)
		require.Equal(t, "It goes with ***", decisions[0].Comment)
		s.at(r, "WAITING", "wrong")
		resolved := testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{
			ByID: op.ByID{ID: s.incident(r).ID}, Action: "SKIP", Variables: body{"wrong": body{"n": canary}},
		})
		require.JSONEq(t, `{"wrong":{"n":"***"}}`, string(resolved.Variables))
		s.at(r, "WAITING", "again")
		s.complete(r, "", body{"note": "Use " + canary})
		row := s.at(r, "WAITING", "last")
		require.JSONEq(t, `{"note":"Use ***"}`, string(s.request(r).Fields))
		for id, want := range map[string]string{
			"ask": `{"outcome":"next","key":"***","kept":"https://example.com"}`, "copy": `{"key":"Bearer ***","kept":"https://example.com"}`,
		} {
			require.JSONEq(t, want, string(s.visit(r, id).Output), id)
		}
		variables, err := run.Variables(row)
		require.NoError(t, err)
		require.Contains(t, string(variables), `"wrong":{"n":"***"}`)
		s.complete(r, "", nil)
		s.at(r, "COMPLETED", "done")
		s.hides(canary)
	})
}
