package identity_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/signingkey"
	"atrium/internal/identity"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/seal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is the keys of another process on the world's database.
func node(t *testing.T, w *testkit.World) (*identity.Keys, *store.Store) {
	t.Helper()
	s := w.Node(t).Store
	return identity.NewKeys(s, w.Engine.Sealer), s
}

func kid(t *testing.T, k *identity.Keys) string {
	t.Helper()
	s, err := k.Signer(t.Context())
	require.NoError(t, err)
	return s.Key.(jose.JSONWebKey).KeyID
}

// Every node signs with a key that every other verifies, whoever made it.
func TestNodesShareKeys(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a, _ := node(t, w)
		b, _ := node(t, w)
		var wg sync.WaitGroup
		for _, k := range []*identity.Keys{a, b, a, b} { // a new installation: all at once
			wg.Go(func() { _, _ = k.Signer(context.Background()) })
		}
		wg.Wait()
		issue := identity.NewTokens(a, "https://i.test", "https://a.test", time.Now)
		verify := identity.NewTokens(b, "https://i.test", "https://a.test", time.Now)
		token, _, err := issue.Issue(t.Context(), "usr_1", "co_1", "cli_1", []string{"services:read", "openid"}, time.Minute)
		require.NoError(t, err)
		require.Eventually(t, func() bool { _, err := verify.Verify(t.Context(), token); return err == nil }, 20*time.Second, time.Millisecond)
		c, err := verify.Verify(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, []string{"services:read", "openid"}, c.Scopes())
		require.Equal(t, "co_1", c.Company)
	})
}

// A key that is retired verifies nothing more, on no node.
func TestRetiredKey(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a, _ := node(t, w)
		_, s := node(t, w)
		old := kid(t, a)
		tokens := identity.NewTokens(a, "https://i.test", "https://a.test", time.Now)
		token, _, err := tokens.Issue(t.Context(), "usr_1", "co_1", "cli_1", nil, time.Minute)
		require.NoError(t, err)
		_, err = tokens.Verify(t.Context(), token)
		require.NoError(t, err)
		require.NoError(t, s.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
			return tx.SigningKey.Update().Where(signingkey.ID(old)).SetRetiredAt(time.Now()).Exec(ctx)
		}))
		require.Eventually(t, func() bool { _, err := tokens.Verify(t.Context(), token); return err != nil }, 20*time.Second, time.Millisecond)
		_, err = tokens.Verify(t.Context(), token)
		require.ErrorIs(t, err, identity.ErrToken)
		require.NotEqual(t, old, kid(t, a))
	})
}

// Under another master key nothing can be signed, and the message says what to look at.
func TestOtherMasterKey(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	a, s := node(t, w)
	kid(t, a)
	path := filepath.Join(t.TempDir(), "other.key")
	require.NoError(t, seal.CreateFile(path))
	other, err := seal.Open(t.Context(), seal.Source{File: path})
	require.NoError(t, err)
	defer other.Close()
	_, err = identity.NewKeys(s, other).Signer(t.Context())
	require.ErrorContains(t, err, "master key")
}

func TestCreateClient(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		yes := true
		c := testkit.Run(t, w, ctx, identity.CreateClient, identity.CreateClientInput{
			Name: "App", Confidential: &yes, Scopes: []string{"openid", "services:read"},
			RedirectURIs: []string{"https://app.test/cb?x=1", "http://127.0.0.1/cb", "http://[::1]:8080/cb"},
		})
		require.NotEmpty(t, c.Secret)
		require.NotContains(t, string(c.Client.SecretHash), c.Secret)
		public := testkit.Run(t, w, ctx, identity.CreateClient, identity.CreateClientInput{Name: "App", RedirectURIs: []string{"https://app.test/cb"}})
		require.Empty(t, public.Secret)
		require.Equal(t, principal.ScopeNames, public.Client.Scopes)

		for _, uri := range []string{"http://app.test/cb", "https://*.app.test/cb", "https://app.test/#x", "https://u:p@app.test/", "javascript:alert(1)", ""} {
			_, _, err := op.Run(ctx, w.Engine, identity.CreateClient, identity.CreateClientInput{Name: "App", RedirectURIs: []string{"https://ok.test/", uri}}, nil)
			e := apperr.From(err)
			require.Equal(t, apperr.Validation, e.Code, uri)
			require.Equal(t, "redirectUris[1]", e.Details[0].Field, uri)
		}
		_, _, err := op.Run(ctx, w.Engine, identity.CreateClient, identity.CreateClientInput{Name: "App", RedirectURIs: []string{"https://ok.test/"}, Scopes: []string{"openid", "all"}}, nil)
		require.Equal(t, "scopes[1]", apperr.From(err).Details[0].Field)
		testkit.Refused(t, w, w.As(w.A, principal.Agent), identity.CreateClient, identity.CreateClientInput{Name: "App", RedirectURIs: []string{"https://ok.test/"}}, apperr.Forbidden)
	})
}

// Addresses that a browser or the product is sent to after a logout are checked like redirect URIs.
func TestUpdateClient(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		made := testkit.Run(t, w, ctx, identity.CreateClient, identity.CreateClientInput{Name: "App", RedirectURIs: []string{"https://app.test/cb"}}).Client
		of := func(in identity.UpdateClientInput) identity.UpdateClientInput {
			in.ID = made.ID
			return in
		}
		got := testkit.Run(t, w, ctx, identity.UpdateClient, of(identity.UpdateClientInput{
			Name: op.SetTo("New"), RedirectURIs: op.SetTo([]string{"com.example.app:/cb"}), Scopes: op.SetTo([]string{"openid", "requests:read"}),
		}))
		require.Equal(t, "New", got.Name)
		require.Equal(t, []string{"com.example.app:/cb"}, got.RedirectUris)
		require.Equal(t, []string{"openid", "requests:read"}, got.Scopes)
		require.Equal(t, got.UpdatedAt, testkit.Run(t, w, ctx, identity.UpdateClient, of(identity.UpdateClientInput{Name: op.SetTo("New")})).UpdatedAt)
		for field, in := range map[string]identity.UpdateClientInput{
			"redirectUris[1]": {RedirectURIs: op.SetTo([]string{"https://ok.test/", "https://*.app.test/cb"})},
			"redirectUris":    {RedirectURIs: op.SetTo([]string{})},
			"scopes[0]":       {Scopes: op.SetTo([]string{"all"})},
		} {
			require.Equal(t, field, testkit.Refused(t, w, ctx, identity.UpdateClient, of(in), apperr.Validation, field).Details[0].Field)
		}
		testkit.Refused(t, w, w.As(w.B, principal.Owner), identity.UpdateClient, of(identity.UpdateClientInput{Name: op.SetTo("X")}), apperr.NotFound)
		testkit.Refused(t, w, w.As(w.A, principal.Agent), identity.UpdateClient, of(identity.UpdateClientInput{Name: op.SetTo("X")}), apperr.Forbidden)
	})
}

func TestCreateClientWithLogout(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		tell := "https://app.test/logout?x=1"
		in := identity.CreateClientInput{
			Name: "App", RedirectURIs: []string{"https://app.test/cb"}, BackchannelLogoutURI: &tell,
			PostLogoutRedirectURIs: []string{"https://app.test/bye", "http://127.0.0.1/bye"},
		}
		c := testkit.Run(t, w, ctx, identity.CreateClient, in)
		require.Equal(t, in.PostLogoutRedirectURIs, c.Client.PostLogoutRedirectUris)
		require.Equal(t, tell, c.Client.BackchannelLogoutURI)
		for field, change := range map[string]func(*identity.CreateClientInput){
			"postLogoutRedirectUris[0]": func(in *identity.CreateClientInput) {
				in.PostLogoutRedirectURIs = []string{"http://app.test/bye"}
			},
			"postLogoutRedirectUris[1]": func(in *identity.CreateClientInput) {
				in.PostLogoutRedirectURIs = []string{"https://app.test/bye", "https://app.test/*"}
			},
			"backchannelLogoutUri": func(in *identity.CreateClientInput) {
				plain := "http://127.0.0.1/logout"
				in.BackchannelLogoutURI = &plain
			},
		} {
			faulty := in
			change(&faulty)
			_, _, err := op.Run(ctx, w.Engine, identity.CreateClient, faulty, nil)
			e := apperr.From(err)
			require.Equal(t, apperr.Validation, e.Code, field)
			require.Equal(t, field, e.Details[0].Field)
		}
	})
}

// Clients are listed and deleted within their company, by people who may; what people had given a deleted one is over.
func TestListAndDeleteClients(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		admin := w.As(w.A, principal.Admin)
		c := testkit.Run(t, w, admin, identity.CreateClient, identity.CreateClientInput{Name: "B", RedirectURIs: []string{"https://b.test/"}})
		list := testkit.Run(t, w, admin, identity.ListClients, identity.ListClientsInput{Page: paging.Page{Sort: "name"}})
		require.Equal(t, 2, list.Total)
		require.Equal(t, []string{c.ID, w.A.Client.ID}, []string{list.Rows[0].ID, list.Rows[1].ID})

		var granted *ent.Grant
		require.NoError(t, w.Store.Write(admin, func(ctx context.Context, tx *store.Tx) (err error) {
			now, me := time.Now(), w.A.Owner.ID
			if err := tx.Consent.Create().SetUserID(me).SetClientID(c.ID).SetScopes([]string{"openid"}).Exec(ctx); err != nil {
				return err
			}
			granted, err = tx.Grant.Create().SetUserID(me).SetClientID(c.ID).SetSignInID("sgn_1").SetScopes([]string{"openid"}).
				SetMethods([]string{"pwd"}).SetAuthenticatedAt(now).SetExpiresAt(now.Add(time.Hour)).Save(ctx)
			return err
		}))
		byID := op.ByID{ID: c.ID}
		for name, refused := range map[string]struct {
			ctx  context.Context
			code apperr.Code
		}{
			"another company": {w.As(w.B, principal.Owner), apperr.NotFound}, "an agent": {w.As(w.A, principal.Agent), apperr.Forbidden},
		} {
			_, _, err := op.Run(refused.ctx, w.Engine, identity.DeleteClient, byID, nil)
			require.Equal(t, refused.code, apperr.CodeOf(err), name)
		}
		testkit.Refused(t, w, w.As(w.A, principal.Agent), identity.ListClients, identity.ListClientsInput{}, apperr.Forbidden)

		testkit.Run(t, w, admin, identity.DeleteClient, byID)
		require.Equal(t, 1, testkit.Run(t, w, admin, identity.ListClients, identity.ListClientsInput{}).Total)
		after, err := w.Store.Reader().Grant.Get(admin, granted.ID)
		require.NoError(t, err)
		require.NotNil(t, after.RevokedAt)
		n, err := w.Store.Reader().Consent.Query().Count(admin)
		require.NoError(t, err)
		require.Zero(t, n)
		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("oauthclient.deleted"), auditentry.OutcomeEQ(auditentry.OutcomeAllowed)).Only(admin)
		require.NoError(t, err)
		require.Equal(t, c.ID, *entry.ResourceID)
		testkit.Refused(t, w, admin, identity.DeleteClient, byID, apperr.NotFound)
	})
}

// Only the operator takes tokens for people, and for active ones of the company.
func TestGrantToken(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		operator := principal.With(t.Context(), principal.Operator(w.A.Company.ID, "token create"))
		in := identity.GrantTokenInput{ByID: op.ByID{ID: w.A.Users[principal.Agent].ID}, Scopes: []string{"openid", "services:read"}}
		testkit.Run(t, w, operator, identity.GrantToken, in)
		testkit.Refused(t, w, w.As(w.A, principal.Owner), identity.GrantToken, in, apperr.Forbidden)
		foreign := in
		foreign.ID = w.B.Owner.ID
		testkit.Refused(t, w, operator, identity.GrantToken, foreign, apperr.NotFound)
		faulty := in
		faulty.Scopes = []string{"everything"}
		testkit.Refused(t, w, operator, identity.GrantToken, faulty, apperr.Validation)
		require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(in.ID).SetStatus("deactivated").Exec(ctx)
		}))
		testkit.Refused(t, w, operator, identity.GrantToken, in, apperr.Conflict)
	})
}
