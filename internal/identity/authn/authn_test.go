package authn_test

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	entkey "atrium/ent/apikey"
	"atrium/ent/user"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/authn"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

func TestLiveKey(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		k := key(t, w, principal.Agent, apikey.CreateInput{Name: "CI", Scopes: []string{"services:read", "audit:read"}})
		for range 2 { // the second from memory
			c, err := a.APIKey(t.Context(), k.Value, somewhere)
			require.NoError(t, err)
			p := c.Principal
			require.Equal(t, w.A.Company.ID, p.CompanyID)
			require.Equal(t, principal.TypeUser, p.Type)
			require.Equal(t, w.A.Users[principal.Agent].ID, p.ID)
			require.Equal(t, principal.Agent, p.Role)
			require.Equal(t, []string{"services:read", "audit:read"}, p.Scopes.Names())
			require.Equal(t, principal.MethodAPIKey, p.Method)
			require.Equal(t, principal.Actor{Type: "api_key", ID: k.ID, Name: "CI"}, p.Actor())
			require.False(t, p.Sandbox)
			require.Equal(t, k.ID, c.RateKey)
			want, _ := ratelimit.ForPlan("enterprise")
			require.Equal(t, want, c.Limit)
		}
	})
}

func TestRefusedKeys(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		soon := w.Clock.Now().Add(time.Hour)
		expiring := key(t, w, principal.Owner, apikey.CreateInput{ExpiresAt: &soon})
		local := key(t, w, principal.Owner, apikey.CreateInput{AllowedIPs: []string{"10.0.0.0/8", "2001:db8::1"}})
		revoked := key(t, w, principal.Owner, apikey.CreateInput{})
		never, err := apikey.New(false)
		require.NoError(t, err)
		from := func(value, ip string) error {
			_, err := a.APIKey(t.Context(), value, netip.MustParseAddr(ip))
			return err
		}
		for _, ip := range []string{"10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1"} {
			require.NoError(t, from(local.Value, ip), ip)
		}
		for _, ip := range []string{"192.0.2.7", "11.0.0.1", "2001:db8::2", "::1"} {
			require.ErrorIs(t, from(local.Value, ip), authn.ErrRefused, ip)
		}
		_, err = a.APIKey(t.Context(), local.Value, netip.Addr{})
		require.ErrorIs(t, err, authn.ErrRefused, "an unknown address is none of the listed")

		require.NoError(t, from(expiring.Value, "192.0.2.7"))
		require.NoError(t, from(revoked.Value, "192.0.2.7"))
		testkit.Run(t, w, w.As(w.A, principal.Owner), apikey.Revoke, byID(revoked.ID))
		require.ErrorIs(t, from(revoked.Value, "192.0.2.7"), authn.ErrRefused, "a revoke counts at once")
		for _, value := range []string{"", "x", never.Value(), revoked.Value + "x", " " + local.Value} {
			require.ErrorIs(t, from(value, "192.0.2.7"), authn.ErrRefused, "%q", value)
		}
		w.Clock.SetOffset(time.Hour + time.Second)
		require.ErrorIs(t, from(expiring.Value, "192.0.2.7"), authn.ErrRefused, "remembered keys expire, too")
	})
}

// A revoke by another process is known within a moment, from memory and all.
func TestRevokeElsewhere(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		k := key(t, w, principal.Owner, apikey.CreateInput{})
		_, err := a.APIKey(t.Context(), k.Value, somewhere)
		require.NoError(t, err)
		change(t, w.Node(t).Store, func(ctx context.Context, tx *store.Tx) error {
			return tx.APIKey.UpdateOneID(k.ID).SetRevokedAt(w.Clock.Now()).Exec(ctx)
		})
		require.Eventually(t, func() bool { _, err := a.APIKey(t.Context(), k.Value, somewhere); return err != nil }, 20*time.Second, time.Millisecond)
	})
}

// Rights follow the person behind the key: a new role counts at once, and a deactivated person's key goes on working.
func TestPersonBehindAKey(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		k := key(t, w, principal.Admin, apikey.CreateInput{})
		who := func() *authn.Credential {
			c, err := a.APIKey(t.Context(), k.Value, somewhere)
			require.NoError(t, err)
			return c
		}
		require.Equal(t, principal.Admin, who().Principal.Role)
		other := w.Node(t).Store
		id := w.A.Users[principal.Admin].ID
		change(t, other, func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(id).SetRole("member").Exec(ctx)
		})
		require.Eventually(t, func() bool { return who().Principal.Role == principal.Member }, 20*time.Second, time.Millisecond)
		change(t, other, func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(id).SetStatus(user.StatusDeactivated).SetName("Gone").Exec(ctx)
		})
		require.Eventually(t, func() bool { return who().Principal.Name == "Gone" }, 20*time.Second, time.Millisecond)
	})
}

// A test key acts in the sandbox, as the mirror of its person there, with the limits of the Free plan; many first
// uses at once make one mirror.
func TestTestKey(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		yes := true
		k := key(t, w, principal.Agent, apikey.CreateInput{Test: &yes})
		var wg sync.WaitGroup
		ids, errs := make([]string, 20), make([]error, 20)
		for i := range ids {
			wg.Go(func() {
				c, err := a.APIKey(context.Background(), k.Value, somewhere)
				if errs[i] = err; err == nil {
					ids[i] = c.Principal.ID
				}
			})
		}
		wg.Wait()
		for i := range ids {
			require.NoError(t, errs[i])
			require.Equal(t, ids[0], ids[i])
		}
		c, err := a.APIKey(t.Context(), k.Value, somewhere)
		require.NoError(t, err)
		require.Equal(t, w.A.Sandbox.ID, c.Principal.CompanyID)
		require.True(t, c.Principal.Sandbox)
		require.Equal(t, principal.Agent, c.Principal.Role, "the live role counts")
		require.Equal(t, ratelimit.Free(), c.Limit)
		live := w.A.Users[principal.Agent]
		require.NotEqual(t, live.ID, c.Principal.ID)
		m, err := w.Store.Reader().User.Query().Where(user.LiveUserID(live.ID)).Only(principal.With(t.Context(), &c.Principal))
		require.NoError(t, err)
		require.Equal(t, m.ID, c.Principal.ID)
		require.Equal(t, live.Email, m.Email)
		first, err := a.APIKey(t.Context(), w.A.TestKey, somewhere)
		require.NoError(t, err)
		require.NotEqual(t, w.A.Owner.ID, first.Principal.ID)
	})
}

func TestLastUsedIsWrittenInBatches(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		k := key(t, w, principal.Owner, apikey.CreateInput{})
		_, err := a.APIKey(t.Context(), k.Value, somewhere)
		require.NoError(t, err)
		used := func() *time.Time {
			row, err := w.Store.Reader().APIKey.Query().Where(entkey.ID(k.ID)).Only(w.As(w.A, principal.Owner))
			require.NoError(t, err)
			return row.LastUsedAt
		}
		require.Nil(t, used())
		var before uint64 // once everything that made the company and the key has been heard of
		require.Eventually(t, func() bool {
			v, heard := w.Store.Authority()
			settled := heard && v == before
			before = v
			return settled
		}, time.Minute, 2*store.Propagation)
		require.NoError(t, a.Flush(t.Context()))
		require.NotNil(t, used())
		require.NoError(t, a.Flush(t.Context()), "nothing to write")
		after, _ := w.Store.Authority()
		require.Equal(t, before, after, "being used is no change of authority")

		w.Clock.SetOffset(time.Hour)
		_, err = a.APIKey(t.Context(), k.Value, somewhere)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, a.Run(ctx, slog.New(slog.DiscardHandler)), "what was seen last is written at the end")
		require.WithinDuration(t, w.Clock.Now(), *used(), time.Minute)
	})
}

func TestKeyOperations(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		k := key(t, w, principal.Owner, apikey.CreateInput{Scopes: []string{"services:read"}})
		next := testkit.Run(t, w, w.As(w.A, principal.Owner), apikey.Rotate, byID(k.ID))
		require.NotEqual(t, k.Value, next.Value)
		require.Equal(t, k.Key.Scopes, next.Key.Scopes)
		_, err := a.APIKey(t.Context(), k.Value, somewhere)
		require.ErrorIs(t, err, authn.ErrRefused)
		_, err = a.APIKey(t.Context(), next.Value, somewhere)
		require.NoError(t, err)
		testkit.Refused(t, w, w.As(w.A, principal.Owner), apikey.Rotate, byID(k.ID), apperr.Conflict)
		testkit.Run(t, w, w.As(w.A, principal.Owner), apikey.Revoke, byID(k.ID)) // a second time changes nothing

		testkit.Refused(t, w, w.As(w.B, principal.Owner), apikey.Revoke, byID(next.ID), apperr.NotFound)
		c, err := a.APIKey(t.Context(), w.A.LiveKey, somewhere)
		require.NoError(t, err)
		testkit.Refused(t, w, principal.With(t.Context(), &c.Principal), apikey.Create, apikey.CreateInput{Name: "x", Scopes: []string{"services:read"}}, apperr.Forbidden, "a key never makes a key")

		past := w.Clock.Now().Add(-time.Second)
		_, _, err = op.Run(w.As(w.A, principal.Owner), w.Engine, apikey.Create,
			apikey.CreateInput{Name: "x", Scopes: []string{"nothing:read"}, ExpiresAt: &past, AllowedIPs: []string{"10.0.0.0/99"}}, nil)
		var fields []string
		for _, d := range apperr.From(err).Details {
			fields = append(fields, d.Field)
		}
		require.Equal(t, []string{"scopes[0]", "expiresAt", "allowedIps"}, fields)
		list := testkit.Run(t, w, w.As(w.A, principal.Admin), apikey.List, apikey.ListInput{})
		require.Equal(t, 4, list.Total)
	})
}

// A key of a service account acts as the account: with its role, and in the sandbox as its mirror there.
func TestKeyOfAServiceAccount(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		asAdmin := w.As(w.A, principal.Admin)
		role := "agent"
		account := testkit.Run(t, w, asAdmin, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Importer", Role: &role})
		create := func(test bool) apikey.Issued {
			return testkit.Run(t, w, asAdmin, apikey.Create, apikey.CreateInput{
				Name: "K", Scopes: []string{"services:read"}, ServiceAccountID: &account.ID, Test: &test,
			})
		}
		live, test := create(false), create(true)
		require.Equal(t, w.A.Users[principal.Admin].ID, live.Key.CreatedBy)
		c, err := a.APIKey(t.Context(), live.Value, somewhere)
		require.NoError(t, err)
		require.Equal(t, principal.TypeServiceAccount, c.Principal.Type)
		require.Equal(t, account.ID, c.Principal.ID)
		require.Equal(t, principal.Agent, c.Principal.Role)
		var wg sync.WaitGroup
		ids := make([]string, 10)
		for i := range ids {
			wg.Go(func() {
				if c, err := a.APIKey(context.Background(), test.Value, somewhere); err == nil {
					ids[i] = c.Principal.ID
				}
			})
		}
		wg.Wait()
		mirrors, err := w.Store.Reader().ServiceAccount.Query().IDs(principal.With(t.Context(), &principal.Principal{CompanyID: w.A.Sandbox.ID}))
		require.NoError(t, err)
		require.Len(t, mirrors, 1)
		for _, id := range ids {
			require.Equal(t, mirrors[0], id)
		}

		change := func(in people.UpdateServiceAccountInput) {
			in.ByID = op.ByID{ID: account.ID}
			testkit.Run(t, w, asAdmin, people.UpdateServiceAccount, in)
		}
		change(people.UpdateServiceAccountInput{Enabled: op.SetTo(false), Role: op.SetTo("member")})
		for _, value := range []string{live.Value, test.Value} {
			_, err = a.APIKey(t.Context(), value, somewhere)
			require.ErrorIs(t, err, authn.ErrRefused, "at once")
		}
		_, _, err = op.Run(asAdmin, w.Engine, apikey.Create, apikey.CreateInput{Name: "K", Scopes: []string{"services:read"}, ServiceAccountID: &account.ID}, nil)
		require.Equal(t, "serviceAccountId", apperr.From(err).Details[0].Field, "it is disabled")
		change(people.UpdateServiceAccountInput{Enabled: op.SetTo(true)})
		c, err = a.APIKey(t.Context(), live.Value, somewhere)
		require.NoError(t, err)
		require.Equal(t, principal.Member, c.Principal.Role)

		testkit.Run(t, w, asAdmin, people.DeleteServiceAccount, op.ByID{ID: account.ID})
		for _, value := range []string{live.Value, test.Value} {
			_, err = a.APIKey(t.Context(), value, somewhere)
			require.ErrorIs(t, err, authn.ErrRefused, "its keys end with it")
		}
		mirrors, err = w.Store.Reader().ServiceAccount.Query().IDs(principal.With(t.Context(), &principal.Principal{CompanyID: w.A.Sandbox.ID}))
		require.NoError(t, err)
		require.Empty(t, mirrors)

		elsewhere := testkit.Run(t, w, w.As(w.B, principal.Owner), people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Importer"})
		for _, id := range []string{elsewhere.ID, "sa_none"} {
			_, _, err := op.Run(asAdmin, w.Engine, apikey.Create, apikey.CreateInput{Name: "K", Scopes: []string{"services:read"}, ServiceAccountID: &id}, nil)
			require.Equal(t, "serviceAccountId", apperr.From(err).Details[0].Field)
		}
		sandboxed := principal.With(t.Context(), &principal.Principal{
			CompanyID: w.A.Sandbox.ID, Sandbox: true, Type: principal.TypeUser, ID: "usr_1", Role: principal.Owner, Method: principal.MethodSession,
			Scopes: principal.AllScopes, AuthenticatedAt: w.Clock.Now(),
		})
		testkit.Refused(t, w, sandboxed, apikey.Create, apikey.CreateInput{Name: "K", Scopes: []string{"services:read"}}, apperr.Conflict)
	})
}

// No admin gets hold of a value that acts as an owner: neither by a service account nor by rotating an owner's key.
func TestOnlyOwnersHoldKeysOfOwners(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, _ *authn.Authenticator) {
		asAdmin, asOwner := w.As(w.A, principal.Admin), w.As(w.A, principal.Owner)
		role := "owner"
		account := testkit.Run(t, w, asOwner, people.CreateServiceAccount, people.CreateServiceAccountInput{Name: "Root", Role: &role})
		in := apikey.CreateInput{Name: "K", Scopes: []string{"services:read"}, ServiceAccountID: &account.ID}
		refused := func(err error) {
			t.Helper()
			e := apperr.From(err)
			require.Equal(t, apperr.Forbidden, e.Code, "%v", err)
			require.Equal(t, "admin", e.Reason)
		}
		_, _, err := op.Run(asAdmin, w.Engine, apikey.Create, in, nil)
		refused(err)
		ofAccount := testkit.Run(t, w, asOwner, apikey.Create, in)
		ofOwner := key(t, w, principal.Owner, apikey.CreateInput{})
		ofAgent := key(t, w, principal.Agent, apikey.CreateInput{})
		for _, id := range []string{ofAccount.ID, ofOwner.ID} {
			_, _, err := op.Run(asAdmin, w.Engine, apikey.Rotate, byID(id), nil)
			refused(err)
		}
		hidden := testkit.Run(t, w, asAdmin, policy.Create, policy.CreateInput{Name: "Hide owners", Effect: "Deny", Action: "read", Resource: "User"})
		_, _, err = op.Run(asAdmin, w.Engine, apikey.Rotate, byID(ofOwner.ID), nil) // whoever hides the owner is no owner
		refused(err)
		testkit.Run(t, w, asAdmin, policy.Delete, byID(hidden.ID))
		testkit.Run(t, w, asAdmin, apikey.Rotate, byID(ofAgent.ID))
		testkit.Run(t, w, asOwner, apikey.Rotate, byID(ofAccount.ID))
		_, _, err = op.Run(asAdmin, w.Engine, apikey.Revoke, byID(ofOwner.ID), nil) // admins do not touch owners
		refused(err)
	})
}

// Keys outlive the session that makes them, so making one takes a person who has just signed in.
func TestNewKeysTakeARecentProof(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, _ *authn.Authenticator) {
		k := key(t, w, principal.Owner, apikey.CreateInput{})
		ctx := w.As(w.A, principal.Owner)
		w.Clock.SetOffset(op.FreshFor + time.Minute)
		_, _, err := op.Run(ctx, w.Engine, apikey.Create, apikey.CreateInput{Name: "x", Scopes: []string{"services:read"}}, nil)
		require.Equal(t, op.ReasonStale, apperr.From(err).Reason)
		_, _, err = op.Run(ctx, w.Engine, apikey.Rotate, byID(k.ID), nil)
		require.Equal(t, op.ReasonStale, apperr.From(err).Reason)
		testkit.Run(t, w, ctx, apikey.Revoke, byID(k.ID))
	})
}
