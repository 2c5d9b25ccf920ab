package signin_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/oauth2"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/auditentry"
	"atrium/internal/identity"
	"atrium/internal/identity/password"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/signin"
	"atrium/internal/jobs"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/testkit"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the protocol library's, which tells of every refusal
	goleak.VerifyTestMain(m)
}

const (
	origin   = "https://example.com" // which the test server's client leads to the test server
	callback = "https://app.test/cb"
	secret   = "correct horse battery staple"
	verifier = "a-code-verifier-that-is-long-enough-for-rfc-7636-0123"
)

// hasher is one for all tests: its work is bounded over all of them.
var hasher = password.New(password.Options{Workers: 2, Queue: 1000, Wait: time.Minute})

// secretHash is the hash of everybody's password.
var secretHash = sync.OnceValues(func() (string, error) { return hasher.Hash(context.Background(), secret) })

// site is a provider with its pages, on a world's database.
type site struct {
	*testkit.World
	t      *testing.T
	srv    *httptest.Server
	p      *provider.Provider
	signIn *signin.Server
	app    *ent.OAuthClient // of company A, with the callback
	sms    *phone
	told   *notices
}

// phone keeps the messages that were sent.
type phone struct {
	sync.Mutex
	sent []message
	err  error
}

type message struct{ to, text string }

func (p *phone) Send(_ context.Context, to, text string) error {
	p.Lock()
	defer p.Unlock()
	if p.err != nil {
		return p.err
	}
	p.sent = append(p.sent, message{to, text})
	return nil
}

// last returns the last message, and how many there were.
func (p *phone) last() (message, int) {
	p.Lock()
	defer p.Unlock()
	if len(p.sent) == 0 {
		return message{}, 0
	}
	return p.sent[len(p.sent)-1], len(p.sent)
}

// notices keeps what people were told by mail.
type notices struct {
	sync.Mutex
	kinds []string
}

func (n *notices) Notify(_ context.Context, _ *store.Tx, _, kind string) error {
	n.Lock()
	defer n.Unlock()
	n.kinds = append(n.kinds, kind)
	return nil
}

func (n *notices) all() []string {
	n.Lock()
	defer n.Unlock()
	return append([]string(nil), n.kinds...)
}

// each runs fn with a site on both databases.
func each(t *testing.T, fn func(t *testing.T, s *site)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, serve(t, w, nil)) })
}

// serve starts a site; change may alter how its pages are made.
func serve(t *testing.T, w *testkit.World, change func(*signin.Options)) *site {
	t.Helper()
	s := &site{World: w, t: t, sms: &phone{}, told: &notices{}}
	var h atomic.Pointer[http.Handler]
	s.srv = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "rid_test") // as the gate does
		(*h.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.srv.Client().CloseIdleConnections()
		s.srv.Close()
	})
	q, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, q.Close()) })
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	keys := identity.NewKeys(w.Store, w.Engine.Sealer)
	s.p, err = provider.New(provider.Options{
		Store: w.Store, Keys: keys, Tokens: identity.NewTokens(keys, origin, origin, w.Clock.Now), Issuer: origin, BaseURL: origin,
		Queue: q, Log: log, SignedIn: signin.NewSignIns(w.Store).Current,
	})
	require.NoError(t, err)
	o := signin.Options{
		Store: w.Store, Provider: s.p, Hasher: hasher, Sealer: w.Engine.Sealer, SMS: s.sms, AuthURL: origin, BaseURL: origin,
		Log: log, Notify: s.told.Notify,
	}
	if change != nil {
		change(&o)
	}
	s.signIn, err = signin.New(o)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/", s.p.Handler())
	mux.Handle("/signin", s.signIn.Handler())
	mux.Handle("/signin/", s.signIn.Handler())
	mux.Handle("/account/", s.signIn.Handler())
	served := http.Handler(mux)
	h.Store(&served)

	hash, err := secretHash()
	require.NoError(t, err)
	s.change(func(ctx context.Context, tx *store.Tx) error {
		return tx.Account.Update().SetPasswordHash(hash).Exec(ctx)
	})
	s.app = testkit.Run(t, w, w.As(w.A, principal.Owner), identity.CreateClient,
		identity.CreateClientInput{Name: "Report Builder", RedirectURIs: []string{callback}}).Client
	return s
}

// system returns a context that reaches all rows.
func (s *site) system() context.Context { return principal.System(context.Background(), "test") }

// change writes as the system.
func (s *site) change(fn func(context.Context, *store.Tx) error) {
	s.t.Helper()
	require.NoError(s.t, s.Store.Write(s.system(), fn))
}

// agent is the person that most tests sign in.
func (s *site) agent() *ent.User { return s.A.Users[principal.Agent] }

// account returns a user's account.
func (s *site) account(u *ent.User) *ent.Account {
	s.t.Helper()
	acc, err := s.Store.Reader().Account.Query().Where(account.ID(u.AccountID)).Only(s.system())
	require.NoError(s.t, err)
	return acc
}

// later moves the product's time on.
func (s *site) later(d time.Duration) { s.Clock.SetOffset(s.Clock.Offset() + d) }

// audited returns the outcomes of company A's audit entries with the action, in their order.
func (s *site) audited(action string) []string {
	s.t.Helper()
	var out []string
	for _, e := range s.entries(action) {
		out = append(out, string(e.Outcome))
	}
	return out
}

func (s *site) entries(action string) []*ent.AuditEntry {
	s.t.Helper()
	rows, err := s.Store.Reader().AuditEntry.Query().Where(auditentry.Action(action)).Order(auditentry.ByID()).
		All(s.As(s.A, principal.Owner))
	require.NoError(s.t, err)
	return rows
}

// authorize is the address of a good authorization request of the client, with changed parameters.
func (s *site) authorize(with ...string) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {s.app.ID}, "redirect_uri": {callback}, "scope": {"openid email requests:read requests:write"},
		"state": {"st"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(with); i += 2 {
		q.Set(with[i], with[i+1])
	}
	return origin + "/oauth2/authorize?" + q.Encode()
}

// web is an authorization request of the web application.
func (s *site) web(with ...string) string {
	return s.authorize(append([]string{"client_id", identity.WebClient, "redirect_uri", origin + "/login/callback", "scope", "openid"}, with...)...)
}

// browser keeps cookies, follows redirects within the site and stops where it leaves it.
type browser struct {
	s *site
	http.Client
}

func (s *site) browser() *browser {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	return &browser{s, http.Client{
		Jar: jar, Transport: s.srv.Client().Transport,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if !strings.HasPrefix(r.URL.String(), origin+"/") || r.URL.Path == "/login/callback" || len(via) > 10 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// cookie returns the value of one of the browser's cookies.
func (b *browser) cookie(name string) string {
	for _, c := range b.Jar.Cookies(&url.URL{Scheme: "https", Host: "example.com", Path: "/"}) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// keep sets one of the browser's cookies.
func (b *browser) keep(name, value string) {
	b.Jar.SetCookies(&url.URL{Scheme: "https", Host: "example.com", Path: "/"}, []*http.Cookie{{Name: name, Value: value, Path: "/", Secure: true}})
}

// page is an answer with its document.
type page struct {
	*http.Response
	*goquery.Document
	b    *browser
	html string
}

func (b *browser) do(r *http.Request) *page {
	b.s.t.Helper()
	res, err := b.Do(r)
	require.NoError(b.s.t, err)
	raw, err := io.ReadAll(res.Body)
	require.NoError(b.s.t, err)
	require.NoError(b.s.t, res.Body.Close())
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(raw)))
	require.NoError(b.s.t, err)
	p := &page{res, doc, b, string(raw)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") && strings.Contains(p.html, "/signin/static/") {
		p.wellMade()
	}
	return p
}

// wellMade holds what every page of ours has to be: safe from frames, caches and foreign code, and usable without a
// mouse, a screen or JavaScript.
func (p *page) wellMade() {
	t, h := p.b.s.t, p.Header
	t.Helper()
	require.Equal(t, "DENY", h.Get("X-Frame-Options"))
	require.Equal(t, "no-store", h.Get("Cache-Control"))
	require.Equal(t, "same-origin", h.Get("Referrer-Policy"))
	require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
	csp := h.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "style-src 'self';", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		require.Contains(t, csp, want)
	}
	require.NotContains(t, csp, "unsafe")
	require.Equal(t, p.Find("[data-passkey]").Length() > 0, strings.Contains(csp, "script-src 'self'"), "a script only where passkeys need one")
	require.Zero(t, p.Find("[style], style, script:not([src]), [onclick], [onsubmit], [onload]").Length(), "nothing inline")

	require.Equal(t, "en", p.Find("html").AttrOr("lang", ""))
	require.NotEmpty(t, strings.TrimSpace(p.Find("title").Text()))
	require.Equal(t, 1, p.Find("h1").Length())
	require.Equal(t, 1, p.Find("main").Length())
	p.Find("input:not([type=hidden])").Each(func(_ int, in *goquery.Selection) {
		id, _ := in.Attr("id")
		require.Equal(t, 1, p.Find("label[for='"+id+"']").Length(), "a label for %q", id)
		require.NotEmpty(t, in.AttrOr("autocomplete", ""), "autocomplete of %q", id)
		if by, ok := in.Attr("aria-describedby"); ok {
			for _, ref := range strings.Fields(by) {
				require.Equal(t, 1, p.Find("#"+ref).Length(), "what %q is described by", id)
			}
		}
	})
	p.Find("img").Each(func(_ int, img *goquery.Selection) { require.NotEmpty(t, img.AttrOr("alt", "")) })
	p.Find("form").Each(func(_ int, f *goquery.Selection) {
		require.Equal(t, 1, f.Find("input[name=csrf]").Length())
		require.Positive(t, f.Find("button[type=submit]").Length())
	})
}

func (b *browser) get(to string) *page {
	b.s.t.Helper()
	if strings.HasPrefix(to, "/") {
		to = origin + to
	}
	r, err := http.NewRequestWithContext(b.s.t.Context(), http.MethodGet, to, nil)
	require.NoError(b.s.t, err)
	return b.do(r)
}

func (b *browser) post(to string, form url.Values, change ...func(*http.Request)) *page {
	b.s.t.Helper()
	if strings.HasPrefix(to, "/") {
		to = origin + to
	}
	r, err := http.NewRequestWithContext(b.s.t.Context(), http.MethodPost, to, strings.NewReader(form.Encode()))
	require.NoError(b.s.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, fn := range change {
		fn(r)
	}
	return b.do(r)
}

// title is the page's heading.
func (p *page) title() string { return strings.TrimSpace(p.Find("h1").Text()) }

// alert is what the page says is wrong.
func (p *page) alert() string { return strings.TrimSpace(p.Find("[role=alert]:not([hidden])").Text()) }

// form returns the address and the fields of the form that has a field of the name, as a browser would send them.
func (p *page) form(field string) (action string, fields url.Values) {
	p.b.s.t.Helper()
	form := p.Find("form").FilterFunction(func(_ int, f *goquery.Selection) bool {
		return f.Find("[name='"+field+"']").Length() > 0
	}).First()
	require.Equal(p.b.s.t, 1, form.Length(), "no form with %s on the page %q: %s", field, p.title(), p.html)
	fields = url.Values{}
	form.Find("input").Each(func(_ int, in *goquery.Selection) { fields.Set(in.AttrOr("name", ""), in.AttrOr("value", "")) })
	require.Equal(p.b.s.t, "post", form.AttrOr("method", ""))
	to, err := p.Request.URL.Parse(form.AttrOr("action", ""))
	require.NoError(p.b.s.t, err)
	return to.String(), fields
}

// submit sends the form that has the first of the named fields, with the values given.
func (p *page) submit(values ...string) *page {
	p.b.s.t.Helper()
	action, fields := p.form(values[0])
	for i := 0; i < len(values); i += 2 {
		fields.Set(values[i], values[i+1])
	}
	return p.b.post(action, fields)
}

// left returns the parameters with which the browser was sent back to the client.
func (p *page) left() url.Values {
	p.b.s.t.Helper()
	require.Contains(p.b.s.t, []int{http.StatusFound, http.StatusSeeOther}, p.StatusCode, "%s: %s", p.title(), p.html)
	to, err := p.Location()
	require.NoError(p.b.s.t, err)
	return to.Query()
}

// signInAs gives e-mail address and password on the sign-in page.
func (p *page) signInAs(u *ent.User) *page {
	p.b.s.t.Helper()
	return p.submit("email", u.Email, "password", secret)
}

// claims are those of an ID token that tests look at.
type claims struct {
	Subject string   `json:"sub"`
	Company string   `json:"company"`
	AMR     []string `json:"amr"`
	Auth    int64    `json:"auth_time"`
}

// claims redeems the code with which the browser was sent back, and returns the ID token's claims.
func (p *page) claims() (c claims) {
	_, verified := p.redeem()
	require.NoError(p.b.s.t, verified.Claims(&c))
	return c
}

// idToken redeems the code with which the browser was sent back.
func (p *page) idToken() string {
	raw, _ := p.redeem()
	return raw
}

func (p *page) redeem() (raw string, verified *oidc.IDToken) {
	s := p.b.s
	s.t.Helper()
	code := p.left().Get("code")
	require.NotEmpty(s.t, code, p.left())
	to, err := p.Location()
	require.NoError(s.t, err)
	id, redirect := s.app.ID, callback
	if strings.HasPrefix(to.String(), origin) {
		id, redirect = identity.WebClient, origin+"/login/callback"
	}
	ctx := oidc.ClientContext(s.t.Context(), s.srv.Client())
	conf := oauth2.Config{ClientID: id, RedirectURL: redirect, Endpoint: oauth2.Endpoint{TokenURL: origin + "/oauth2/token", AuthStyle: oauth2.AuthStyleInParams}}
	tok, err := conf.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	require.NoError(s.t, err)
	raw, _ = tok.Extra("id_token").(string)
	meta, err := oidc.NewProvider(ctx, origin)
	require.NoError(s.t, err)
	verified, err = meta.Verifier(&oidc.Config{ClientID: id, Now: s.Clock.Now}).Verify(ctx, raw)
	require.NoError(s.t, err)
	return raw, verified
}

func texts(p *page, selector string) (out []string) {
	p.Find(selector).Each(func(_ int, e *goquery.Selection) { out = append(out, strings.TrimSpace(e.Text())) })
	return out
}
