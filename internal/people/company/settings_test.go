package company_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/apikey"
	"atrium/ent/auditentry"
	entcompany "atrium/ent/company"
	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Every caller, key or person, can read its own company with its sandbox, and no other.
func TestGet(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		for _, role := range []principal.Role{principal.Owner, principal.Admin, principal.Agent, principal.Member} {
			got := testkit.Run(t, w, w.As(w.A, role), company.Get, company.GetInput{})
			require.Equal(t, []string{w.A.Company.ID, w.A.Company.Name, w.A.Sandbox.ID}, []string{got.ID, got.Company.Name, got.SandboxID})
		}
		got := testkit.Run(t, w, w.As(w.B, principal.Member), company.Get, company.GetInput{})
		require.Equal(t, w.B.Sandbox.ID, got.SandboxID)

		p, _ := principal.From(w.As(w.A, principal.Owner))
		inside := *p
		inside.CompanyID, inside.Sandbox = w.A.Sandbox.ID, true
		got = testkit.Run(t, w, principal.With(t.Context(), &inside), company.Get, company.GetInput{})
		require.Equal(t, w.A.Sandbox.ID, got.ID)
		require.Empty(t, got.SandboxID)
	})
}

// A person with the role can change settings. They also apply to the sandbox, and are audited.
func TestUpdate(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		admin := w.As(w.A, principal.Admin)
		got := testkit.Run(t, w, admin, company.Update, company.UpdateInput{
			Name: op.SetTo(" Größe "), MfaRequired: op.SetTo(true), SessionLifetimeMinutes: op.SetTo(15), JitUsers: op.SetTo(true),
			AgentRunsPerDay: op.SetTo(50), Receipts: op.SetTo("everyone"),
		})
		require.Equal(t, w.A.Company.ID, got.ID)
		require.Equal(t, w.A.Sandbox.ID, got.SandboxID)
		row := func(id string) *ent.Company {
			c, err := w.Store.Reader().Company.Query().Where(entcompany.ID(id)).Only(principal.System(t.Context(), "test"))
			require.NoError(t, err)
			return c
		}
		for id, name := range map[string]string{w.A.Company.ID: "Größe", w.A.Sandbox.ID: "Größe (sandbox)"} {
			c := row(id)
			require.Equal(t, name, c.Name)
			require.True(t, c.MfaRequired && c.JitUsers)
			require.Equal(t, 15, c.SessionLifetimeMinutes)
			require.Equal(t, 50, *c.AgentRunsPerDay)
			require.Equal(t, entcompany.ReceiptsEveryone, c.Receipts)
		}
		require.Equal(t, "Acme", row(w.B.Company.ID).Name, "nobody else's")

		testkit.Run(t, w, admin, company.Update, company.UpdateInput{JitUsers: op.SetTo(false)})
		require.True(t, row(w.A.Sandbox.ID).MfaRequired, "what is not named stays")
		testkit.Run(t, w, admin, company.Update, company.UpdateInput{Name: op.SetTo(strings.Repeat("ü", 200))})
		require.Equal(t, strings.Repeat("ü", 190)+" (sandbox)", row(w.A.Sandbox.ID).Name)

		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("company.updated")).Order(auditentry.ByID()).First(admin)
		require.NoError(t, err)
		require.Equal(t, w.A.Company.ID, *entry.ResourceID)
		require.JSONEq(t, `{"name": {"from": "Acme", "to": "Größe"}, "mfaRequired": {"from": false, "to": true},
			"sessionLifetimeMinutes": {"from": 60, "to": 15}, "jitUsers": {"from": false, "to": true}, "agentRunsPerDay": {"from": null, "to": 50},
			"receipts": {"from": "members", "to": "everyone"}}`, string(entry.Changes))
	})
}

func TestUpdateRefusals(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, _ := principal.From(w.As(w.A, principal.Owner))
		key, sandbox := *owner, *owner
		key.Method, key.KeyID = principal.MethodAPIKey, "key_test"
		sandbox.CompanyID, sandbox.Sandbox = w.A.Sandbox.ID, true
		for name, c := range map[string]struct {
			caller *principal.Principal
			in     company.UpdateInput
			want   apperr.Code
			field  string
		}{
			"a key":             {&key, company.UpdateInput{}, apperr.Forbidden, ""},
			"within sandbox":    {&sandbox, company.UpdateInput{}, apperr.Conflict, ""},
			"blank name":        {owner, company.UpdateInput{Name: op.SetTo(" ")}, apperr.Validation, "name"},
			"long name":         {owner, company.UpdateInput{Name: op.SetTo(strings.Repeat("ü", 201))}, apperr.Validation, "name"},
			"short session":     {owner, company.UpdateInput{SessionLifetimeMinutes: op.SetTo(4)}, apperr.Validation, "sessionLifetimeMinutes"},
			"long session":      {owner, company.UpdateInput{SessionLifetimeMinutes: op.SetTo(1441)}, apperr.Validation, "sessionLifetimeMinutes"},
			"no runs":           {owner, company.UpdateInput{AgentRunsPerDay: op.SetTo(0)}, apperr.Validation, "agentRunsPerDay"},
			"an agent's choice": {mustFrom(w.As(w.A, principal.Agent)), company.UpdateInput{}, apperr.Forbidden, ""},
		} {
			_, _, err := op.Run(principal.With(t.Context(), c.caller), w.Engine, company.Update, c.in, nil)
			require.Equal(t, c.want, apperr.CodeOf(err), "%s: %v", name, err)
			if c.field != "" {
				require.Equal(t, c.field, apperr.From(err).Details[0].Field, name)
			}
		}
	})
}

func mustFrom(ctx context.Context) *principal.Principal {
	p, _ := principal.From(ctx)
	return p
}

// A company from a sign-up has no keys and no client, and its audit log begins with the owner.
func TestSignUp(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		open := func(email, hash string) *company.Created {
			in := input("Opened", email)
			in.Plan, in.OwnerName = "free", "Ada"
			in.SignUp = &company.SignUp{PasswordHash: hash, IP: "192.0.2.7", UserAgent: "Browser", RequestID: "rid_1"}
			c, err := company.Create(t.Context(), w.Store, in)
			require.NoError(t, err)
			return c
		}
		sys := principal.System(t.Context(), "test")
		db := w.Store.Reader()
		hashOf := func(c *company.Created) string {
			acc, err := db.Account.Get(sys, c.Owner.AccountID)
			require.NoError(t, err)
			return acc.PasswordHash
		}
		fresh := open("new@x.test", "hash 1")
		require.Equal(t, "hash 1", hashOf(fresh))
		require.Empty(t, fresh.Password+fresh.LiveKey+fresh.TestKey)
		require.Nil(t, fresh.Client)
		keys, err := db.APIKey.Query().Where(apikey.CompanyIDIn(fresh.Company.ID, fresh.Sandbox.ID)).Count(sys)
		require.NoError(t, err)
		require.Zero(t, keys)
		entry, err := db.AuditEntry.Query().Where(auditentry.CompanyID(fresh.Company.ID)).Only(sys)
		require.NoError(t, err)
		require.Equal(t, []string{"company.created", "user", fresh.Owner.ID, "Ada", "192.0.2.7", "Browser", "rid_1"},
			[]string{entry.Action, entry.ActorType, entry.ActorID, entry.ActorName, entry.IP, entry.UserAgent, entry.RequestID})

		require.Equal(t, "hash 1", hashOf(open("new@x.test", "hash 2")), "an account keeps its password")
		require.Equal(t, "hash 3", hashOf(open(w.A.Users[principal.Member].Email, "hash 3")), "and gets one where it has none")
	})
}
