package signin_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/oauth2"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/auditentry"
	"atrium/internal/identity"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/signin"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
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

// secretHash is the hash of everybody's password.
var secretHash = sync.OnceValues(func() (string, error) { return testkit.Hasher.Hash(context.Background(), secret) })

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

// Write is for others.
func (*notices) Write(context.Context, *store.Tx, *ent.User, locale.Text, ...locale.Text) error {
	return nil
}

// Invite mails nothing.
func (*notices) Invite(context.Context, *store.Tx, *ent.User) error { return nil }

// Tell mails nothing.
func (*notices) Tell(context.Context, *store.Tx, *ent.User, op.Told) error {
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
		Store: w.Store, Provider: s.p, Hasher: testkit.Hasher, Sealer: w.Engine.Sealer, SMS: s.sms, AuthURL: origin, BaseURL: origin,
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
