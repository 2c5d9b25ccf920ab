package provider_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/oauth2"

	"atrium/ent"
	"atrium/internal/identity"
	"atrium/internal/identity/provider"
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the protocol library logs every refusal
	goleak.VerifyTestMain(m)
}

const (
	callback  = "https://app.test/cb?keep=1"
	afterward = "https://app.test/bye"
)

// idp is a provider on the database of a world. Its sign-in pages sign in the person that the test sets.
type idp struct {
	*testkit.World
	t      *testing.T
	p      *provider.Provider
	keys   *identity.Keys
	tokens *identity.Tokens
	issuer string
	srv    *httptest.Server
	person *ent.User // who signs in; company A's agent by default

	public       *ent.OAuthClient // of company A, with the addresses callback and afterward
	confidential identity.CreatedClient
}

// each runs fn with a provider on both databases.
func each(t *testing.T, fn func(t *testing.T, s *idp)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, serve(t, w)) })
}

// once runs fn with a provider on SQLite, for tests that do not depend on the database.
func once(t *testing.T, fn func(t *testing.T, s *idp)) {
	t.Helper()
	t.Parallel()
	fn(t, serve(t, testkit.SQLiteWorld(t)))
}

func serve(t *testing.T, w *testkit.World) *idp {
	t.Helper()
	s := &idp{World: w, t: t, person: w.A.Users[principal.Agent]}
	var h atomic.Pointer[http.Handler]
	s.srv = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*h.Load()).ServeHTTP(w, r) }))
	s.issuer = s.srv.URL
	t.Cleanup(func() {
		s.srv.Client().CloseIdleConnections()
		s.srv.Close()
	})
	q, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, q.Close()) })
	s.keys = identity.NewKeys(w.Store, w.Engine.Sealer)
	s.tokens = identity.NewTokens(s.keys, s.issuer, testkit.BaseURL, w.Clock.Now)
	s.p, err = provider.New(provider.Options{
		Store: w.Store, Keys: s.keys, Tokens: s.tokens, Issuer: s.issuer, BaseURL: testkit.BaseURL, Queue: q,
		Log: slog.New(slog.DiscardHandler), SignedIn: s.signedIn,
		Origins: identity.NewOrigins(w.Store, slog.New(slog.DiscardHandler), testkit.BaseURL).Has,
	})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/", s.p.Handler())
	mux.HandleFunc("/signin", s.signIn)
	served := http.Handler(mux)
	h.Store(&served)

	s.public = s.register(identity.CreateClientInput{Name: "App", RedirectURIs: []string{callback}, PostLogoutRedirectURIs: []string{afterward}}).Client
	yes := true
	s.confidential = s.register(identity.CreateClientInput{Name: "Backend", RedirectURIs: []string{callback}, Confidential: &yes})
	return s
}

// register creates a client of company A.
func (s *idp) register(in identity.CreateClientInput) identity.CreatedClient {
	s.t.Helper()
	return testkit.Run(s.t, s.World, s.As(s.A, principal.Owner), identity.CreateClient, in)
}

// signIn is a sign-in page that asks no questions.
func (s *idp) signIn(w http.ResponseWriter, r *http.Request) {
	req, err := s.p.Pending(r.Context(), r.URL.Query().Get("request"), r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusGone)
		return
	}
	if req.HasPrompt("none") {
		to, err := s.p.Deny(r.Context(), req, "login_required")
		answer(w, r, to, err)
		return
	}
	out := s.outcome()
	http.SetCookie(w, &http.Cookie{Name: "signin", Value: out.SignInID, Path: "/", Secure: true})
	to, err := s.p.Allow(r.Context(), req, out)
	answer(w, r, to, err)
}

func answer(w http.ResponseWriter, r *http.Request, to string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// signedIn returns the sign-in of a browser that used the page above.
func (s *idp) signedIn(ctx context.Context, r *http.Request) (*ent.SignIn, error) {
	c, err := r.Cookie("signin")
	if err != nil {
		return nil, nil
	}
	return s.Store.Reader().SignIn.Get(principal.System(ctx, "test"), c.Value)
}

// outcome signs the person in and returns an answer that agrees to everything.
func (s *idp) outcome() provider.Outcome {
	now := s.Clock.Now()
	out := provider.Outcome{
		CompanyID: s.person.CompanyID, UserID: s.person.ID, Methods: []string{"pwd", "otp", "mfa"}, AuthenticatedAt: now, Consent: true,
	}
	s.change(func(ctx context.Context, tx *store.Tx) error {
		row, err := tx.SignIn.Create().SetAccountID(s.person.AccountID).SetTokenHash(sha(id.New("cookie"))).SetMethods(out.Methods).
			SetAuthenticatedAt(now).SetCompletedAt(now).SetExpiresAt(now.Add(12 * time.Hour)).Save(ctx)
		if err == nil {
			out.SignInID = row.ID
		}
		return err
	})
	return out
}

// change writes to the database as the system.
func (s *idp) change(fn func(context.Context, *store.Tx) error) {
	if err := s.Store.Write(s.system(), fn); err != nil {
		s.t.Errorf("change: %v", err) // never FailNow: handlers call this too
	}
}

func (s *idp) system() context.Context { return principal.System(context.Background(), "test") }

// browser returns a client with its own cookies. It does not follow redirects that lead away from the provider.
func (s *idp) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	return &http.Client{
		Jar: jar, Transport: s.srv.Client().Transport,
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if !strings.HasPrefix(r.URL.String(), s.issuer) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// reply is a response with its body read.
type reply struct {
	*http.Response
	body string
}

func (r reply) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.body), &m), r.body)
	return m
}

// errorCode returns the OAuth error in the body.
func (r reply) errorCode(t *testing.T) any {
	t.Helper()
	return r.json(t)["error"]
}

func (s *idp) do(c *http.Client, req *http.Request) reply {
	s.t.Helper()
	resp, err := c.Do(req)
	require.NoError(s.t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	return reply{resp, string(b)}
}

func (s *idp) get(c *http.Client, uri string) reply {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, uri, nil)
	require.NoError(s.t, err)
	return s.do(c, req)
}

// post sends a form; change may alter the request before.
func (s *idp) post(path string, form url.Values, change ...func(*http.Request)) reply {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.issuer+path, strings.NewReader(form.Encode()))
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, fn := range change {
		fn(req)
	}
	return s.do(s.srv.Client(), req)
}

func basic(id, secret string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(id, secret) }
}

// ctx carries the HTTP client that trusts the provider's certificate, for x/oauth2 and go-oidc.
func (s *idp) ctx() context.Context {
	return oidc.ClientContext(s.t.Context(), s.srv.Client())
}

const verifier = "a-code-verifier-that-is-long-enough-for-rfc-7636-0123"

// authorizeURL returns a valid authorization request of the public client. with replaces parameters; an empty value removes
// one.
func (s *idp) authorizeURL(with url.Values) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {s.public.ID}, "redirect_uri": {callback}, "scope": {"openid profile email offline_access services:read"},
		"state": {"st&te"}, "nonce": {"n-1"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}
	for name, v := range with {
		if q[name] = v; len(v) == 0 {
			q.Del(name)
		}
	}
	return s.issuer + "/oauth2/authorize?" + q.Encode()
}

// answered follows an authorization request until the redirect to the client and returns the parameters of that redirect.
func (s *idp) answered(c *http.Client, uri string) url.Values {
	s.t.Helper()
	r := s.get(c, uri)
	require.Contains(s.t, []int{http.StatusFound, http.StatusSeeOther}, r.StatusCode, r.body)
	to, err := r.Location()
	require.NoError(s.t, err)
	require.Equal(s.t, "app.test", to.Host)
	return to.Query()
}

// code signs the person in and returns the code; with replaces parameters of the authorization request.
func (s *idp) code(with url.Values) string {
	s.t.Helper()
	q := s.answered(s.browser(), s.authorizeURL(with))
	require.NotEmpty(s.t, q.Get("code"), q)
	return q.Get("code")
}

// exchange redeems a code at the token endpoint; with replaces parameters.
func (s *idp) exchange(code string, with url.Values, change ...func(*http.Request)) reply {
	s.t.Helper()
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "client_id": {s.public.ID}, "redirect_uri": {callback}, "code_verifier": {verifier},
	}
	for name, v := range with {
		if form[name] = v; len(v) == 0 {
			form.Del(name)
		}
	}
	return s.post("/oauth2/token", form, change...)
}

// granted holds tokens of the public client from a whole flow.
type granted struct{ access, refresh, id string }

func (s *idp) granted(with url.Values) granted {
	s.t.Helper()
	r := s.exchange(s.code(with), nil)
	require.Equal(s.t, http.StatusOK, r.StatusCode, r.body)
	return tokensOf(s.t, r)
}

func tokensOf(t *testing.T, r reply) granted {
	t.Helper()
	m := r.json(t)
	text := func(name string) string { s, _ := m[name].(string); return s }
	return granted{text("access_token"), text("refresh_token"), text("id_token")}
}

// refresh uses a refresh token of the public client; with holds further names and values.
func (s *idp) refresh(token string, with ...string) reply {
	s.t.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {s.public.ID}}
	for i := 0; i < len(with); i += 2 {
		form.Set(with[i], with[i+1])
	}
	return s.post("/oauth2/token", form)
}

// userinfo calls the userinfo endpoint with an access token.
func (s *idp) userinfo(token string) reply {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.issuer+"/oauth2/userinfo", nil)
	require.NoError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	return s.do(s.srv.Client(), req)
}

// introspect calls the introspection endpoint as the confidential client.
func (s *idp) introspect(token string) map[string]any {
	s.t.Helper()
	r := s.post("/oauth2/introspect", url.Values{"token": {token}}, basic(s.confidential.ID, s.confidential.Secret))
	require.Equal(s.t, http.StatusOK, r.StatusCode, r.body)
	return r.json(s.t)
}

// narrowClient registers a client with the scope services:read only.
func (s *idp) narrowClient() string {
	s.t.Helper()
	return s.register(identity.CreateClientInput{Name: "Narrow", RedirectURIs: []string{callback}, Scopes: []string{"services:read"}}).ID
}

func sha(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}
