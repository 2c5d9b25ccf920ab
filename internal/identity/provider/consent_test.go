package provider_test

import (
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity/provider"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Consent is asked for once for a set of scopes, and again for more scopes.
func TestConsent(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		asks := func(user, company string, with url.Values) bool {
			t.Helper()
			id, r := s.begin(with)
			req, err := s.p.Pending(t.Context(), id, r)
			require.NoError(t, err)
			needs, err := s.p.NeedsConsent(t.Context(), req, user, company)
			require.NoError(t, err)
			return needs
		}
		me, here := s.person.ID, s.A.Company.ID
		scopes := func(names string) url.Values { return url.Values{"scope": {names}} }
		require.True(t, asks(me, here, nil))
		s.granted(scopes("openid services:read"))
		require.False(t, asks(me, here, scopes("openid services:read")))
		require.False(t, asks(me, here, scopes("services:read")))
		require.True(t, asks(me, here, scopes("openid services:read services:write")), "more than was allowed")
		require.True(t, asks(me, here, scopes("openid")), "acts with all that the client may: more than was allowed")
		require.True(t, asks(me, here, url.Values{"scope": {"openid services:read"}, "prompt": {"consent"}}), "the client insists")
		require.True(t, asks(s.A.Owner.ID, here, scopes("services:read")), "somebody else")
		require.True(t, asks(s.B.Owner.ID, s.B.Company.ID, scopes("services:read")), "a company that the client is not of")
		require.True(t, asks(me, here, url.Values{"client_id": {s.narrowClient()}, "scope": {"services:read"}}), "another client")
		s.granted(scopes("services:write"))
		require.False(t, asks(me, here, scopes("openid services:read services:write")), "both together")
		web := url.Values{"client_id": {"atrium-web"}, "redirect_uri": {testkit.BaseURL + "/login/callback"}, "prompt": {"consent"}}
		require.False(t, asks(me, here, web), "the product itself")

		rows, err := s.Store.Reader().Consent.Query().All(s.As(s.A, principal.Owner))
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Equal(t, []string{"openid", "services:read", "services:write"}, rows[0].Scopes)
	})
}

// When two tabs consent at once, both continue.
func TestConsentAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		var reqs []*provider.Request
		for range 4 {
			id, r := s.begin(nil)
			req, err := s.p.Pending(t.Context(), id, r)
			require.NoError(t, err)
			reqs = append(reqs, req)
		}
		by := s.outcome()
		errs := make([]error, len(reqs))
		var wg sync.WaitGroup
		for i, req := range reqs {
			wg.Go(func() { _, errs[i] = s.p.Allow(t.Context(), req, by) })
		}
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
	})
}

// A sign-in in which the person was not asked is not stored as consent.
func TestNoConsentIsRemembered(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		id, r := s.begin(nil)
		req, err := s.p.Pending(t.Context(), id, r)
		require.NoError(t, err)
		by := s.outcome()
		by.Consent = false
		_, err = s.p.Allow(t.Context(), req, by)
		require.NoError(t, err)
		n, err := s.Store.Reader().Consent.Query().Count(s.As(s.A, principal.Owner))
		require.NoError(t, err)
		require.Zero(t, n)
	})
}
