package authn_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	entkey "atrium/ent/apikey"
	"atrium/ent/user"
	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// A credential that is recognised again is the same caller, and its row tells of no use.
func TestRecognisedAgain(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		u := w.A.Users[principal.Admin]
		k := key(t, w, principal.Admin, apikey.CreateInput{})
		cookie, id := signedIn(t, w, u)
		token, _, err := w.Tokens.Issue(t.Context(), u.ID, u.CompanyID, identity.OperatorClient, principal.ScopeNames, 2*time.Hour)
		require.NoError(t, err)
		first := row(t, w, id)
		for _, later := range []time.Duration{0, 30 * time.Minute, 59 * time.Minute} {
			w.Clock.SetOffset(later)
			byKey, err := a.APIKeyAgain(t.Context(), k.Value, somewhere)
			require.NoError(t, err)
			byToken, err := a.BearerAgain(t.Context(), token)
			require.NoError(t, err)
			bySession, err := a.SessionAgain(t.Context(), cookie)
			require.NoError(t, err)
			for _, c := range []*authn.Credential{byKey, byToken, bySession} {
				require.Equal(t, u.ID, c.Principal.ID)
			}
		}
		require.NoError(t, a.Flush(t.Context()))
		used, err := w.Store.Reader().APIKey.Query().Where(entkey.ID(k.ID)).Only(w.AsUser(u))
		require.NoError(t, err)
		require.Nil(t, used.LastUsedAt)
		seen, err := w.Store.Reader().User.Query().Where(user.ID(u.ID)).Only(w.AsUser(u))
		require.NoError(t, err)
		require.Nil(t, seen.LastSeenAt)
		require.Equal(t, first.ExpiresAt, row(t, w, id).ExpiresAt)

		w.Clock.SetOffset(61 * time.Minute)
		_, err = a.SessionAgain(t.Context(), cookie)
		require.ErrorIs(t, err, authn.ErrRefused, "nobody has used it for an hour")
		w.Clock.SetOffset(3 * time.Hour)
		_, err = a.BearerAgain(t.Context(), token)
		require.ErrorIs(t, err, authn.ErrRefused)
		for _, none := range []string{"", "x"} {
			_, err = a.SessionAgain(t.Context(), none)
			require.ErrorIs(t, err, authn.ErrRefused)
			_, err = a.APIKeyAgain(t.Context(), none, somewhere)
			require.ErrorIs(t, err, authn.ErrRefused)
		}
	})
}

// A session that is used meanwhile, here or at another node, goes on.
func TestSessionUsedMeanwhileGoesOn(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		elsewhere := authn.New(w.Node(t).Store, w.Tokens)
		cookie, _ := signedIn(t, w, w.A.Users[principal.Agent])
		_, err := a.SessionAgain(t.Context(), cookie)
		require.NoError(t, err)
		for i, node := range []*authn.Authenticator{a, elsewhere, a} {
			w.Clock.SetOffset(time.Duration(i+1) * 50 * time.Minute)
			_, err = node.Session(t.Context(), cookie, somewhere)
			require.NoError(t, err)
			require.NoError(t, node.Flush(t.Context()))
			_, err = a.SessionAgain(t.Context(), cookie)
			require.NoError(t, err)
		}
	})
}
