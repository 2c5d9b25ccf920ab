package access_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"entgo.io/ent/dialect"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/internal/identity"
	"atrium/internal/identity/account"
	"atrium/internal/identity/authn"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/signin"
	"atrium/internal/identity/websession"
	"atrium/internal/notify/mail"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the protocol library's
	goleak.VerifyTestMain(m)
}

const (
	origin = "https://example.com" // which the test server's client leads to the test server
	plain  = "correct horse battery staple"
)

var plainHash = sync.OnceValues(func() (string, error) { return testkit.Hasher.Hash(context.Background(), plain) })

// house is a whole installation, in which a person is signed in with two browsers, in two companies and with applications.
type house struct {
	*testkit.World
	t        *testing.T
	srv      *httptest.Server
	tokens   *identity.Tokens
	authn    *authn.Authenticator
	signIns  *signin.SignIns
	provider *provider.Provider

	person, inB, colleague *ent.User
	app, appInB            *ent.OAuthClient  // both want to hear of logouts
	rows                   map[string]string // ids of the rows below, by their names
}

func open(t *testing.T, w *testkit.World) *house {
	t.Helper()
	h := &house{World: w, t: t, rows: map[string]string{}, person: w.A.Users[principal.Member], colleague: w.A.Users[principal.Agent]}
	log := slog.New(slog.DiscardHandler)
	queue, err := jobs.New(w.Store, log, false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, queue.Close()) })
	w.Engine.Queue = queue
	outbox := mail.NewOutbox(queue, w.Engine.Sealer)
	mails := account.NewMails(account.MailsOptions{Store: w.Store, Outbox: outbox, Sealer: w.Engine.Sealer, AuthURL: func() string { return origin }, Console: func() string { return origin + "/app" }})
	keys := identity.NewKeys(w.Store, w.Engine.Sealer)
	h.tokens = identity.NewTokens(keys, origin, origin, w.Clock.Now)
	h.authn, h.signIns = authn.New(w.Store, h.tokens), signin.NewSignIns(w.Store)
	h.provider, err = provider.New(provider.Options{
		Store: w.Store, Keys: keys, Tokens: h.tokens, Issuer: origin, BaseURL: origin, Queue: queue, Log: log, SignedIn: h.signIns.Current,
	})
	require.NoError(t, err)
	signIn, err := signin.New(signin.Options{
		Store: w.Store, Provider: h.provider, Hasher: testkit.Hasher, Sealer: w.Engine.Sealer, AuthURL: origin, BaseURL: origin, Log: log, Notify: mails.Notify,
	})
	require.NoError(t, err)
	accounts, err := account.New(account.Options{Engine: w.Engine, SignIn: signIn, Hasher: testkit.Hasher, Mails: mails, AuthURL: origin, BaseURL: origin, Log: log})
	require.NoError(t, err)
	layout, err := pages.NewLayout(pages.LayoutOptions{AuthURL: origin, Pages: fstest.MapFS{}, Log: log})
	require.NoError(t, err)
	web, err := websession.New(websession.Options{
		Engine: w.Engine, BaseURL: origin, Layout: layout, Log: log,
		Embedded: &websession.Embedded{URL: origin, Handler: h.provider.Handler(), Tokens: h.tokens},
	})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/oauth2/", h.provider.Handler())
	for _, path := range []string{"/login", "/login/callback", "/logout"} {
		mux.Handle(path, web.Handler())
	}
	for _, path := range account.Paths {
		mux.Handle(path, accounts.Handler())
		mux.Handle(path+"/", accounts.Handler())
	}
	for _, path := range []string{"/signin", "/signin/", "/account/mfa", "/account/mfa/"} {
		mux.Handle(path, signIn.Handler())
	}
	h.srv = httptest.NewTLSServer(mux)
	t.Cleanup(func() {
		h.srv.Client().CloseIdleConnections()
		h.srv.Close()
	})
	return h
}

func (h *house) system() context.Context { return principal.System(context.Background(), "test") }

func (h *house) change(fn func(context.Context, *store.Tx)) {
	h.t.Helper()
	require.NoError(h.t, h.Store.Write(h.system(), func(ctx context.Context, tx *store.Tx) error { fn(ctx, tx); return nil }))
}

// secret is the value of a cookie or token of that name, and what is kept of it.
func secret(name string) (value string, raw, hash []byte) {
	sum := sha256.Sum256([]byte(name))
	value = base64.RawURLEncoding.EncodeToString(sum[:])
	of := sha256.Sum256(sum[:])
	return value, []byte(value), of[:]
}

// furnish makes everything by which somebody can have access.
func (h *house) furnish() {
	h.t.Helper()
	hash, err := plainHash()
	require.NoError(h.t, err)
	now := h.Clock.Now()
	until := now.Add(time.Hour)
	methods := []string{"pwd", "otp", "mfa"}
	h.change(func(ctx context.Context, tx *store.Tx) {
		tx.Account.Update().SetPasswordHash(hash).ExecX(ctx)
		h.inB = tx.User.Create().SetCompanyID(h.B.Company.ID).SetAccountID(h.person.AccountID).SetEmail(h.person.Email).SetName("M").SaveX(ctx)
		client := func(company, name string) *ent.OAuthClient {
			return tx.OAuthClient.Create().SetCompanyID(company).SetName(name).SetRedirectUris([]string{"https://app.test/cb"}).
				SetScopes([]string{"openid", "offline_access", "services:read"}).SetBackchannelLogoutURI("https://app.test/logout").SetCreatedBy("test").SaveX(ctx)
		}
		h.app, h.appInB = client(h.A.Company.ID, "app"), client(h.B.Company.ID, "app in B")
		signIn := func(name, accountID string) string {
			_, _, hash := secret(name)
			c := tx.SignIn.Create().SetAccountID(accountID).SetTokenHash(hash).SetMethods(methods).SetAuthenticatedAt(now).SetExpiresAt(until)
			if name == "halfway" {
				c.SetPending([]byte("sealed"))
			} else {
				c.SetCompletedAt(now)
			}
			h.rows[name] = c.SaveX(ctx).ID
			return h.rows[name]
		}
		grant := func(name string, u *ent.User, clientID, signInID string) string {
			g := tx.Grant.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetClientID(clientID).SetSignInID(signInID).
				SetScopes([]string{"openid", "offline_access", "services:read"}).SetMethods(methods).SetAuthenticatedAt(now).SetExpiresAt(until).SaveX(ctx)
			tx.RefreshToken.Create().SetCompanyID(u.CompanyID).SetGrantID(g.ID).SetHash(identity.HashOf("refresh " + name)).SetExpiresAt(until).ExecX(ctx)
			h.rows[name] = g.ID
			return g.ID
		}
		session := func(name string, u *ent.User, signInID, grantID string) {
			value, _, _ := secret(name)
			h.rows[name] = tx.Session.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetTokenHash(identity.HashOf(value)).SetSignInID(signInID).
				SetGrantID(grantID).SetMethods(methods).SetAuthenticatedAt(now).SetLastSeenAt(now).SetExpiresAt(until).SaveX(ctx).ID
		}
		here, there := signIn("sign-in", h.person.AccountID), signIn("other sign-in", h.person.AccountID)
		signIn("halfway", h.person.AccountID)
		session("session", h.person, here, grant("session's grant", h.person, identity.WebClient, here))
		session("other session", h.person, there, "")
		session("issuer's session", h.person, "", "")
		grant("grant", h.person, h.app.ID, here)
		grant("grant in B", h.inB, h.appInB.ID, here)
		grant("other grant", h.person, h.app.ID, there)
		theirs := signIn("colleague's sign-in", h.colleague.AccountID)
		session("colleague's session", h.colleague, theirs, "")
		grant("colleague's grant", h.colleague, h.app.ID, theirs)
	})
	h.Clock.SetOffset(h.Clock.Offset() + time.Second)
}

// keys are what opens: a cookie's value, or an access token.
type keys map[string]string

// collect returns everything that opens at the moment.
func (h *house) collect() keys {
	h.t.Helper()
	out := keys{}
	for _, name := range []string{"session", "other session", "issuer's session", "colleague's session"} {
		out[name], _, _ = secret(name)
	}
	issue := func(name string, u *ent.User, clientID string) {
		token, _, err := h.tokens.IssueGranted(h.t.Context(), identity.Grant{
			ID: h.rows[name], UserID: u.ID, CompanyID: u.CompanyID, ClientID: clientID, Scopes: []string{"openid", "services:read"},
		}, time.Hour)
		require.NoError(h.t, err)
		out[name] = token
	}
	issue("session's grant", h.person, identity.WebClient)
	issue("grant", h.person, h.app.ID)
	issue("grant in B", h.inB, h.appInB.ID)
	issue("other grant", h.person, h.app.ID)
	issue("colleague's grant", h.colleague, h.app.ID)
	issue("operator's token", h.person, identity.OperatorClient)
	return out
}

// alive returns the names of what still opens, by asking those who recognise it, in the order of names.
func (h *house) alive(k keys) (names []string) {
	h.t.Helper()
	ctx := h.t.Context()
	for name, value := range k {
		var err error
		if strings.HasSuffix(name, "session") {
			_, err = h.authn.Session(ctx, value, netip.Addr{})
		} else {
			_, err = h.authn.Bearer(ctx, value)
		}
		if err == nil {
			names = append(names, name)
		} else {
			require.ErrorIs(h.t, err, authn.ErrRefused, name)
		}
	}
	for _, name := range []string{"sign-in", "other sign-in", "colleague's sign-in"} {
		r := httptest.NewRequest(http.MethodGet, origin, nil)
		value, _, _ := secret(name)
		r.AddCookie(&http.Cookie{Name: "__Host-atrium_signin", Value: value})
		row, err := h.signIns.Current(ctx, r)
		require.NoError(h.t, err)
		if row != nil {
			names = append(names, name)
		}
	}
	row, err := h.Store.Reader().SignIn.Get(h.system(), h.rows["halfway"])
	require.NoError(h.t, err)
	if row.EndedAt == nil {
		names = append(names, "halfway")
	} else {
		require.Empty(h.t, row.Pending, "what it remembers is forgotten")
	}
	slices.Sort(names)
	return names
}

// told returns which clients are told of which sign-ins, as "app, sign-in".
func (h *house) told() (out []string) {
	h.t.Helper()
	query := "SELECT json(args) FROM river_job WHERE kind = 'backchannel_logout'"
	if h.Store.Dialect() == dialect.Postgres {
		query = "SELECT args::text FROM river_job WHERE kind = 'backchannel_logout'"
	}
	names := map[string]string{h.app.ID: "app", h.appInB.ID: "app in B"}
	for name, id := range h.rows {
		names[id] = name
	}
	for _, text := range h.Query(h.t, query) {
		var args struct{ ClientID, SignInID string }
		require.NoError(h.t, json.Unmarshal([]byte(text), &args))
		out = append(out, names[args.ClientID]+", "+names[args.SignInID])
	}
	slices.Sort(out)
	return out
}

// browser is one in which the person is signed in, at the hosted pages and in the web application.
type browser struct {
	h *house
	http.Client
}

func (h *house) browser() *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(h.t, err)
	at, err := url.Parse(origin)
	require.NoError(h.t, err)
	for name, of := range map[string]string{"__Host-atrium_signin": "sign-in", authn.SessionCookie: "session"} {
		value, _, _ := secret(of)
		jar.SetCookies(at, []*http.Cookie{{Name: name, Value: value, Path: "/", Secure: true}})
	}
	return &browser{h, http.Client{Jar: jar, Transport: h.srv.Client().Transport}}
}

// send sends a request and returns the body of the answer that it leads to.
func (b *browser) send(method, uri string, form url.Values) string {
	b.h.t.Helper()
	r, err := http.NewRequest(method, uri, strings.NewReader(form.Encode()))
	require.NoError(b.h.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", origin)
	res, err := b.Do(r)
	require.NoError(b.h.t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(b.h.t, err)
	require.NoError(b.h.t, res.Body.Close())
	return string(body)
}

var (
	csrf   = regexp.MustCompile(`name="csrf" value="([^"]+)"`)
	action = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
)

// submit opens a page and sends its first form, or the one at the address.
func (b *browser) submit(page, to string, form url.Values) string {
	b.h.t.Helper()
	body := b.send(http.MethodGet, origin+page, nil)
	token := csrf.FindStringSubmatch(body)
	require.NotNil(b.h.t, token, body)
	form.Set("csrf", token[1])
	if to == "" {
		to = strings.ReplaceAll(action.FindStringSubmatch(body)[1], "&amp;", "&")
	}
	return b.send(http.MethodPost, origin+to, form)
}
