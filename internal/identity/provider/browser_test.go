package provider_test

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/oauthclient"
	"atrium/ent/signin"
	"atrium/ent/user"
	"atrium/internal/identity/provider"
	"atrium/internal/platform/store"
)

// begin sends an authorization request from a new browser. It returns the id, and a request that carries that browser's cookie.
func (s *idp) begin(with url.Values) (id string, r *http.Request) {
	s.t.Helper()
	c := *s.browser()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	out := s.get(&c, s.authorizeURL(with))
	require.Equal(s.t, http.StatusFound, out.StatusCode, out.body)
	to, err := out.Location()
	require.NoError(s.t, err)
	require.Equal(s.t, "/signin", to.Path, to)
	r, err = http.NewRequest(http.MethodGet, s.issuer+"/signin", nil)
	require.NoError(s.t, err)
	for _, cookie := range out.Cookies() {
		r.AddCookie(cookie)
	}
	return to.Query().Get("request"), r
}

// The cookie that binds a request to its browser cannot be set by another host, read by a script or sent over plain HTTP.
func TestBrowserCookie(t *testing.T) {
	once(t, func(t *testing.T, s *idp) {
		c := s.browser()
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		cookies := s.get(c, s.authorizeURL(nil)).Cookies()
		require.Len(t, cookies, 1)
		got := cookies[0]
		require.Equal(t, "__Host-atrium-authorize", got.Name)
		require.True(t, got.HttpOnly)
		require.True(t, got.Secure)
		require.Equal(t, http.SameSiteLaxMode, got.SameSite)
		require.Equal(t, "/", got.Path)
		require.Empty(t, got.Domain)
		require.Len(t, got.Value, 52)
		require.Empty(t, s.get(c, s.authorizeURL(nil)).Cookies(), "one serves all tabs")
	})
}

// Login CSRF: an attacker who makes another person open the sign-in page of the attacker's request gains nothing, and neither
// does one who opens the page of another person's request.
func TestRequestIsBoundToItsBrowser(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		id, own := s.begin(nil)
		_, other := s.begin(nil)
		bare, err := http.NewRequest(http.MethodGet, s.issuer+"/signin", nil)
		require.NoError(t, err)
		both := own.Clone(t.Context())
		both.AddCookie(other.Cookies()[0]) // set by an attacker: it is unclear which cookie is genuine
		broken := bare.Clone(t.Context())
		broken.AddCookie(&http.Cookie{Name: own.Cookies()[0].Name, Value: "x"})
		for name, r := range map[string]*http.Request{"another browser": other, "no cookie": bare, "two cookies": both, "no such cookie": broken} {
			_, err := s.p.Pending(t.Context(), id, r)
			require.ErrorIs(t, err, provider.ErrNoRequest, name)
		}
		for _, id := range []string{"", "arq_unknown", id + "x", "arq_\x00", string(make([]byte, 5000))} {
			_, err := s.p.Pending(t.Context(), id, own)
			require.ErrorIs(t, err, provider.ErrNoRequest, "%.40q", id)
		}
		_, err = s.p.Pending(t.Context(), id, own)
		require.NoError(t, err)

		_, err = s.p.Allow(t.Context(), &provider.Request{ID: id, CompanyID: s.A.Company.ID}, s.outcome())
		require.ErrorIs(t, err, provider.ErrNoRequest, "a request that Pending did not look at")
		_, err = s.p.Deny(t.Context(), &provider.Request{ID: id}, "access_denied")
		require.ErrorIs(t, err, provider.ErrNoRequest)
	})
}

// A request is answered once, by whichever answer comes first, and never after it has expired or its client was deleted.
func TestRequestIsAnsweredOnce(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		id, r := s.begin(nil)
		req, err := s.p.Pending(t.Context(), id, r)
		require.NoError(t, err)
		out := s.outcome()
		var wg sync.WaitGroup
		errs := make([]error, 6)
		for i := range errs {
			wg.Go(func() {
				if i%2 == 0 {
					_, errs[i] = s.p.Allow(context.Background(), req, out)
				} else {
					_, errs[i] = s.p.Deny(context.Background(), req, "access_denied")
				}
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			require.ErrorIs(t, err, provider.ErrNoRequest)
		}
		require.Equal(t, 1, won)
		_, err = s.p.Pending(t.Context(), id, r)
		require.ErrorIs(t, err, provider.ErrNoRequest)

		id, r = s.begin(nil)
		req, err = s.p.Pending(t.Context(), id, r)
		require.NoError(t, err)
		s.Clock.SetOffset(s.Clock.Offset() + time.Hour)
		_, err = s.p.Pending(t.Context(), id, r)
		require.ErrorIs(t, err, provider.ErrNoRequest)
		_, err = s.p.Allow(t.Context(), req, s.outcome())
		require.ErrorIs(t, err, provider.ErrNoRequest)

		id, r = s.begin(nil)
		s.change(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.OAuthClient.Delete().Where(oauthclient.ID(s.public.ID)).Exec(ctx)
			return err
		})
		_, err = s.p.Pending(t.Context(), id, r)
		require.ErrorIs(t, err, provider.ErrNoRequest)
	})
}

// The provider checks who may answer a request, and does not rely on the sign-in pages for it.
func TestOutcomeIsChecked(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		id, r := s.begin(nil)
		req, err := s.p.Pending(t.Context(), id, r)
		require.NoError(t, err)
		refused := func(name string, by provider.Outcome) {
			t.Helper()
			_, err := s.p.Allow(t.Context(), req, by)
			require.ErrorIs(t, err, provider.ErrOutcome, name)
		}
		good := s.outcome()
		with := func(change func(*provider.Outcome)) provider.Outcome {
			by := good
			change(&by)
			return by
		}
		refused("another company", with(func(o *provider.Outcome) { o.CompanyID, o.UserID = s.B.Company.ID, s.B.Owner.ID }))
		refused("another company's user", with(func(o *provider.Outcome) { o.UserID = s.B.Owner.ID }))
		refused("a colleague", with(func(o *provider.Outcome) { o.UserID = s.A.Owner.ID }))
		refused("no sign-in", with(func(o *provider.Outcome) { o.SignInID = "sgn_unknown" }))
		signInWith := func(change func(*testing.T, string)) provider.Outcome {
			by := s.outcome()
			change(t, by.SignInID)
			return by
		}
		update := func(fn func(ctx context.Context, tx *store.Tx, id string) error) func(*testing.T, string) {
			return func(_ *testing.T, id string) {
				s.change(func(ctx context.Context, tx *store.Tx) error { return fn(ctx, tx, id) })
			}
		}
		refused("half signed in", signInWith(update(func(ctx context.Context, tx *store.Tx, id string) error {
			return tx.SignIn.Update().Where(signin.ID(id)).ClearCompletedAt().Exec(ctx)
		})))
		refused("signed out", signInWith(update(func(ctx context.Context, tx *store.Tx, id string) error {
			return tx.SignIn.Update().Where(signin.ID(id)).SetEndedAt(s.Clock.Now()).Exec(ctx)
		})))
		refused("expired", signInWith(update(func(ctx context.Context, tx *store.Tx, id string) error {
			return tx.SignIn.Update().Where(signin.ID(id)).SetExpiresAt(s.Clock.Now()).Exec(ctx)
		})))
		status := func(st user.Status) {
			s.change(func(ctx context.Context, tx *store.Tx) error {
				return tx.User.Update().Where(user.ID(s.person.ID)).SetStatus(st).Exec(ctx)
			})
		}
		for _, st := range []user.Status{user.StatusDeactivated, user.StatusInvited} {
			status(st)
			refused(string(st), good)
		}
		status(user.StatusActive)
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.User.Update().Where(user.ID(s.person.ID)).SetSignedOutAt(good.AuthenticatedAt).Exec(ctx)
		})
		refused("signed out everywhere", good)
		s.Clock.SetOffset(time.Second)
		_, err = s.p.Allow(t.Context(), req, s.outcome())
		require.NoError(t, err, "after all that the request is still good for who may answer")
	})
}

// A sign-in that is older than the client accepts (prompt=login, max_age) may not answer.
func TestOutcomeIsFresh(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		old := s.outcome()
		s.Clock.SetOffset(10 * time.Minute)
		for name, with := range map[string]url.Values{"prompt=login": {"prompt": {"login"}}, "max_age": {"max_age": {"599"}}} {
			id, r := s.begin(with)
			req, err := s.p.Pending(t.Context(), id, r)
			require.NoError(t, err)
			_, err = s.p.Allow(t.Context(), req, old)
			require.ErrorIs(t, err, provider.ErrOutcome, name)
			_, err = s.p.Allow(t.Context(), req, s.outcome())
			require.NoError(t, err, name)
		}
		id, r := s.begin(url.Values{"max_age": {"700"}})
		req, err := s.p.Pending(t.Context(), id, r)
		require.NoError(t, err)
		_, err = s.p.Allow(t.Context(), req, old)
		require.NoError(t, err)
	})
}

// When a client names a person by an ID token, only that person may answer.
func TestHintNamesThePerson(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		tokens := s.granted(nil)
		id, r := s.begin(url.Values{"id_token_hint": {tokens.id}})
		req, err := s.p.Pending(t.Context(), id, r)
		require.NoError(t, err)
		require.Equal(t, s.person.ID, req.UserID)
		hinted := s.person
		s.person = s.A.Owner
		_, err = s.p.Allow(t.Context(), req, s.outcome())
		require.ErrorIs(t, err, provider.ErrOutcome)
		s.person = hinted
		_, err = s.p.Allow(t.Context(), req, s.outcome())
		require.NoError(t, err)

		for name, hint := range map[string]string{"an access token": tokens.access, "another client's": s.idTokenOf(s.narrowClient())} {
			q := s.answered(s.browser(), s.authorizeURL(url.Values{"id_token_hint": {hint}}))
			require.Equal(t, "invalid_request", q.Get("error"), name)
		}
	})
}

// idTokenOf returns an ID token that was issued to another public client.
func (s *idp) idTokenOf(clientID string) string {
	s.t.Helper()
	r := s.exchange(s.code(url.Values{"client_id": {clientID}}), url.Values{"client_id": {clientID}})
	require.Equal(s.t, http.StatusOK, r.StatusCode, r.body)
	return tokensOf(s.t, r).id
}

// The error of a denial reaches the client with its state and the issuer.
func TestDeny(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		for _, code := range []string{"access_denied", "login_required", "consent_required", "interaction_required"} {
			id, r := s.begin(nil)
			req, err := s.p.Pending(t.Context(), id, r)
			require.NoError(t, err)
			to, err := s.p.Deny(t.Context(), req, code)
			require.NoError(t, err)
			u, err := url.Parse(to)
			require.NoError(t, err)
			require.Equal(t, []string{code, "st&te", s.issuer, ""}, []string{u.Query().Get("error"), u.Query().Get("state"), u.Query().Get("iss"), u.Query().Get("code")})
		}
		q := s.answered(s.browser(), s.authorizeURL(url.Values{"prompt": {"none"}}))
		require.Equal(t, "login_required", q.Get("error"))
	})
}
