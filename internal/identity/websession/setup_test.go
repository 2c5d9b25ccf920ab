package websession_test

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/session"
	"atrium/internal/identity"
	"atrium/internal/identity/authn"
	"atrium/internal/identity/issuer"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/websession"
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/testissuer"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the protocol library logs every refusal
	goleak.VerifyTestMain(m)
}

var somewhere = netip.MustParseAddr("192.0.2.7")

// house is an installation that serves the web session and its provider at one address.
type house struct {
	*testkit.World
	t        *testing.T
	base     string
	srv      *httptest.Server
	served   atomic.Pointer[http.Handler]
	provider *provider.Provider // the embedded one; nil with another issuer
	authn    *authn.Authenticator
	tokens   *identity.Tokens

	mu     sync.Mutex
	person *ent.User // the person that the hosted pages sign in; nil: they deny
	asked  []url.Values
}

// each runs fn with the embedded provider, on both databases.
func each(t *testing.T, fn func(t *testing.T, h *house)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		h := open(t, w)
		h.useEmbedded()
		fn(t, h)
	})
}

// eachIssuer runs fn with another issuer instead of the embedded provider.
func eachIssuer(t *testing.T, change func(*issuer.Options), fn func(t *testing.T, h *house, remote *testissuer.Issuer)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		remote := testissuer.New(t)
		remote.Now = w.Clock.Now
		o := issuer.Options{
			Issuer: remote.URL, Audience: testissuer.Audience, ClientID: testissuer.ClientID, ClientSecret: testissuer.ClientSecret,
			Company: "acme", Transport: remote.Transport,
		}
		if change != nil {
			change(&o)
		}
		i, err := issuer.New(o, w.Clock.Now)
		require.NoError(t, err)
		h := open(t, w)
		h.serve(websession.Options{Issuer: issuer.NewDirectory(i, w.Engine)}, http.NewServeMux())
		fn(t, h, remote)
	})
}

func open(t *testing.T, w *testkit.World) *house {
	t.Helper()
	return &house{World: w, t: t, person: w.A.Users[principal.Agent]}
}

// serve starts the server; mux holds further handlers.
func (h *house) serve(o websession.Options, mux *http.ServeMux) {
	h.t.Helper()
	layout, err := pages.NewLayout(pages.LayoutOptions{AuthURL: h.address(), Pages: fstest.MapFS{}, Log: slog.New(slog.DiscardHandler)})
	require.NoError(h.t, err)
	o.Engine, o.BaseURL, o.Layout, o.Log = h.Engine, h.address(), layout, slog.New(slog.DiscardHandler)
	s, err := websession.New(o)
	require.NoError(h.t, err)
	for _, path := range []string{"/login", "/login/callback", "/logout"} {
		mux.Handle(path, s.Handler())
	}
	served := http.Handler(mux)
	h.served.Store(&served)
	h.tokens = h.Tokens
	if o.Embedded != nil {
		h.tokens = o.Embedded.Tokens
	}
	h.authn = authn.New(h.Store, h.tokens)
}

// address opens the server's port at the first call, before the handlers are known.
func (h *house) address() string {
	if h.srv == nil {
		h.srv = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*h.served.Load()).ServeHTTP(w, r) }))
		h.base = h.srv.URL
		h.t.Cleanup(func() {
			h.srv.Client().CloseIdleConnections()
			h.srv.Close()
		})
	}
	return h.base
}

// useEmbedded serves the embedded provider, with a sign-in page that asks no questions.
func (h *house) useEmbedded() {
	h.t.Helper()
	q, err := jobs.New(h.Store, slog.New(slog.DiscardHandler), false)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { require.NoError(h.t, q.Close()) })
	keys := identity.NewKeys(h.Store, h.Engine.Sealer)
	tokens := identity.NewTokens(keys, h.address(), h.address(), h.Clock.Now)
	h.provider, err = provider.New(provider.Options{
		Store: h.Store, Keys: keys, Tokens: tokens, Issuer: h.base, BaseURL: h.base, Queue: q, Log: slog.New(slog.DiscardHandler),
		SignedIn: func(context.Context, *http.Request) (*ent.SignIn, error) { return nil, nil },
	})
	require.NoError(h.t, err)
	mux := http.NewServeMux()
	mux.Handle("/oauth2/", h.provider.Handler())
	mux.HandleFunc("/signin", h.signInPage)
	h.serve(websession.Options{Embedded: &websession.Embedded{
		URL: h.base, Handler: h.provider.Handler(), Tokens: tokens,
	}}, mux)
}

// signInPage signs the person in, or denies.
func (h *house) signInPage(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	u := h.person
	h.mu.Unlock()
	req, err := h.provider.Pending(r.Context(), r.URL.Query().Get("request"), r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusGone)
		return
	}
	h.mu.Lock()
	h.asked = append(h.asked, url.Values{"prompt": req.Prompt})
	h.mu.Unlock()
	var to string
	if u == nil {
		to, err = h.provider.Deny(r.Context(), req, "access_denied")
	} else {
		now := h.Clock.Now()
		out := provider.Outcome{CompanyID: u.CompanyID, UserID: u.ID, Methods: []string{"pwd", "otp", "mfa"}, AuthenticatedAt: now}
		sum := sha256.Sum256([]byte(id.New("cookie")))
		err = h.Store.Write(system(), func(ctx context.Context, tx *store.Tx) error {
			row, err := tx.SignIn.Create().SetAccountID(u.AccountID).SetTokenHash(sum[:]).SetMethods(out.Methods).
				SetAuthenticatedAt(now).SetCompletedAt(now).SetExpiresAt(now.Add(12 * time.Hour)).Save(ctx)
			if err == nil {
				out.SignInID = row.ID
			}
			return err
		})
		if err == nil {
			to, err = h.provider.Allow(r.Context(), req, out)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (h *house) letIn(u *ent.User) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.person = u
}

func system() context.Context { return principal.System(context.Background(), "test") }

// browser has its own cookies. It follows redirects as far as the application's own pages.
type browser struct {
	h   *house
	jar http.CookieJar
}

func (h *house) browser() *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(h.t, err)
	return &browser{h, jar}
}

// reply is a response with its body read, and the target of its redirect.
type reply struct {
	*http.Response
	body, to string
}

// send sends a request without following redirects.
func (b *browser) send(method, uri string, change ...func(*http.Request)) reply {
	b.h.t.Helper()
	if strings.HasPrefix(uri, "/") {
		uri = b.h.base + uri
	}
	req, err := http.NewRequest(method, uri, nil)
	require.NoError(b.h.t, err)
	for _, f := range change {
		f(req)
	}
	transport, ok := b.h.srv.Client().Transport.(*http.Transport)
	require.True(b.h.t, ok)
	c := &http.Client{Jar: b.jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Do(req)
	require.NoError(b.h.t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(b.h.t, err)
	require.NoError(b.h.t, res.Body.Close())
	out := reply{Response: res, body: string(body)}
	if u, err := res.Location(); err == nil {
		out.to = u.String()
	}
	return out
}

// follow follows redirects from uri while they belong to the sign-in. It stops before a URL that begins with stop.
func (b *browser) follow(uri, stop string) reply {
	b.h.t.Helper()
	for range 10 {
		r := b.send(http.MethodGet, uri)
		if r.to == "" || stop != "" && strings.Contains(r.to, stop) || !b.leads(r.to) {
			return r
		}
		uri = r.to
	}
	b.h.t.Fatal("it goes round in circles")
	return reply{}
}

// leads reports whether a URL belongs to the sign-in and not to the application.
func (b *browser) leads(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme+"://"+u.Host != b.h.base {
		return err == nil && strings.HasSuffix(u.Path, "/authorize")
	}
	return u.Path == "/login" || u.Path == "/login/callback" || u.Path == "/signin" || strings.HasPrefix(u.Path, "/oauth2/")
}

// signIn signs the browser in and returns the value of the session cookie.
func (b *browser) signIn() string {
	b.h.t.Helper()
	r := b.follow("/login", "")
	require.Equal(b.h.t, http.StatusSeeOther, r.StatusCode, r.body)
	value := b.cookie(authn.SessionCookie)
	require.NotEmpty(b.h.t, value)
	return value
}

// answer signs the browser in up to the provider's redirect back, and returns the URL of that redirect.
func (b *browser) answer(uri string) string {
	b.h.t.Helper()
	r := b.follow(uri, "/login/callback")
	require.Contains(b.h.t, r.to, "/login/callback", r.body)
	return r.to
}

// cookie returns the value of one of the browser's cookies; empty when it has none.
func (b *browser) cookie(name string) string {
	u, err := url.Parse(b.h.base)
	require.NoError(b.h.t, err)
	for _, c := range b.jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// give stores a cookie in the browser.
func (b *browser) give(name, value string) {
	u, err := url.Parse(b.h.base)
	require.NoError(b.h.t, err)
	b.jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/", Secure: true}})
}

// who returns the principal of a session cookie; nil when the cookie is not valid.
func (h *house) who(value string) *principal.Principal {
	h.t.Helper()
	c, err := h.authn.Session(context.Background(), value, somewhere)
	if err != nil {
		require.ErrorIs(h.t, err, authn.ErrRefused)
		return nil
	}
	p := c.Principal
	p.RequestID = "rid_test"
	return &p
}

// as returns a context in which the person of the session is the caller.
func (h *house) as(value string) context.Context {
	h.t.Helper()
	p := h.who(value)
	require.NotNil(h.t, p)
	return principal.With(context.Background(), p)
}

// row returns the session of a cookie value.
func (h *house) row(value string) *ent.Session {
	h.t.Helper()
	sum := sha256.Sum256([]byte(value))
	s, err := h.Store.Reader().Session.Query().Where(session.TokenHash(sum[:])).Only(system())
	require.NoError(h.t, err)
	return s
}

func (h *house) sessions() int {
	h.t.Helper()
	n, err := h.Store.Reader().Session.Query().Count(system())
	require.NoError(h.t, err)
	return n
}

// audited returns the outcomes of company A's audit entries with an action, in order.
func (h *house) audited(action string) []string {
	h.t.Helper()
	rows, err := h.Store.Reader().AuditEntry.Query().Where(auditentry.Action(action), auditentry.CompanyID(h.A.Company.ID)).
		Order(auditentry.ByID()).All(system())
	require.NoError(h.t, err)
	var out []string
	for _, r := range rows {
		out = append(out, string(r.Outcome))
	}
	return out
}

func (h *house) write(fn func(context.Context, *store.Tx) error) {
	h.t.Helper()
	require.NoError(h.t, h.Store.Write(system(), fn))
	h.Store.AuthorityChanged()
}

// node returns an authenticator of another process on the same database.
func (h *house) node() *authn.Authenticator {
	h.t.Helper()
	return authn.New(h.Node(h.t).Store, h.tokens)
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}
