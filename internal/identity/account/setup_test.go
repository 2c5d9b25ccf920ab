package account_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	netmail "net/mail"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	entaccount "atrium/ent/account"
	"atrium/ent/auditentry"
	"atrium/internal/identity"
	"atrium/internal/identity/account"
	"atrium/internal/identity/provider"
	"atrium/internal/identity/signin"
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
	old    = "correct horse battery staple"
	fresh  = "tangled violet otter 9"
)

// oldHash is the hash of everybody's password.
var oldHash = sync.OnceValues(func() (string, error) { return testkit.Hasher.Hash(context.Background(), old) })

// site is the pages on a world's database, with a queue that works and a folder of mails.
type site struct {
	*testkit.World
	t     *testing.T
	srv   *httptest.Server
	queue *jobs.Queue
	dir   string

	mailer *account.Mails

	began   string                                                                                          // the Message-ID of the mail of theirs that each row began with
	answers func(ctx context.Context, db *ent.Client, u *ent.User, about string, note bool) (string, error) // nil: nobody answers mails
}

// each runs fn with a site on both databases.
func each(t *testing.T, fn func(t *testing.T, s *site)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, serve(t, w, nil)) })
}

// serve starts a site; change may alter how its pages are made.
func serve(t *testing.T, w *testkit.World, change func(*account.Options)) *site {
	t.Helper()
	s := &site{World: w, t: t, dir: filepath.Join(t.TempDir(), "outbox")}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	mails := s.post(log)
	s.mailer = mails
	keys := identity.NewKeys(w.Store, w.Engine.Sealer)
	p, err := provider.New(provider.Options{
		Store: w.Store, Keys: keys, Tokens: identity.NewTokens(keys, origin, origin, w.Clock.Now), Issuer: origin, BaseURL: origin,
		Queue: s.queue, Log: log,
	})
	require.NoError(t, err)
	signIn, err := signin.New(signin.Options{
		Store: w.Store, Provider: p, Hasher: testkit.Hasher, Sealer: w.Engine.Sealer, AuthURL: origin, BaseURL: origin, Log: log, Notify: mails.Notify,
	})
	require.NoError(t, err)
	o := account.Options{
		Engine: w.Engine, SignIn: signIn, Hasher: testkit.Hasher, Mails: mails, AuthURL: origin, BaseURL: origin, Log: log,
	}
	if change != nil {
		change(&o)
	}
	pages, err := account.New(o)
	require.NoError(t, err)
	mux := http.NewServeMux()
	for _, path := range account.Paths {
		mux.Handle(path, pages.Handler())
		mux.Handle(path+"/", pages.Handler())
	}
	for _, path := range []string{"/signin", "/signin/", "/account/mfa", "/account/mfa/"} {
		mux.Handle(path, signIn.Handler())
	}
	s.srv = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "rid_test") // as the gate does
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.srv.Client().CloseIdleConnections()
		s.srv.Close()
	})
	hash, err := oldHash()
	require.NoError(t, err)
	s.change(func(ctx context.Context, tx *store.Tx) error {
		return tx.Account.Update().SetPasswordHash(hash).Exec(ctx)
	})
	return s
}

// post starts the queue and has the engine's operations mail.
func (s *site) post(log *slog.Logger) *account.Mails {
	s.t.Helper()
	sender, err := mail.Open(mail.Options{Dir: s.dir})
	require.NoError(s.t, err)
	sealer := s.Engine.Sealer
	inserting, err := jobs.New(s.Store, log, false)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, inserting.Close()) })
	outbox := mail.NewOutbox(inserting, sealer)
	mails := account.NewMails(account.MailsOptions{Store: s.Store, Outbox: outbox, Sealer: sealer, AuthURL: func() string { return origin }, Console: func() string { return origin + "/app" },
		AnswerTo: func(ctx context.Context, db *ent.Client, u *ent.User, about string, note bool) (string, error) {
			if s.answers == nil {
				return "", nil
			}
			return s.answers(ctx, db, u, about, note)
		},
		Began: func(context.Context, *ent.Client, *ent.User, string) (string, error) { return s.began, nil }})
	s.queue, err = jobs.New(s.Store, log, true, mail.Work(s.Store, sender, sealer), account.Work(mails))
	require.NoError(s.t, err)
	s.Engine.Mailer = mails
	testkit.RunQueue(s.t, s.queue)
	return mails
}

// system returns a context that reaches all rows.
func (s *site) system() context.Context { return principal.System(context.Background(), "test") }

// change writes as the system.
func (s *site) change(fn func(context.Context, *store.Tx) error) {
	s.t.Helper()
	require.NoError(s.t, s.Store.Write(s.system(), fn))
}

// member is the person that most tests are about.
func (s *site) member() *ent.User { return s.A.Users[principal.Member] }

// account returns a user's account as it is now.
func (s *site) account(u *ent.User) *ent.Account {
	s.t.Helper()
	acc, err := s.Store.Reader().Account.Query().Where(entaccount.ID(u.AccountID)).Only(s.system())
	require.NoError(s.t, err)
	return acc
}

// user returns a user as it is now.
func (s *site) user(u *ent.User) *ent.User {
	s.t.Helper()
	now, err := s.Store.Reader().User.Get(s.system(), u.ID)
	require.NoError(s.t, err)
	return now
}

// opens reports whether the password is the account's.
func (s *site) opens(u *ent.User, plain string) bool {
	s.t.Helper()
	same, err := testkit.Hasher.Verify(s.t.Context(), s.account(u).PasswordHash, plain)
	require.NoError(s.t, err)
	return same
}

// later moves the product's time on.
func (s *site) later(d time.Duration) { s.Clock.SetOffset(s.Clock.Offset() + d) }

// entries returns a company's audit entries with the action.
func (s *site) entries(companyID, action string) []*ent.AuditEntry {
	s.t.Helper()
	rows, err := s.Store.Reader().AuditEntry.Query().
		Where(auditentry.CompanyID(companyID), auditentry.Action(action)).Order(auditentry.ByID()).All(s.system())
	require.NoError(s.t, err)
	return rows
}

// letter is a mail as it was sent.
type letter struct {
	netmail.Header
	text string
}

// mails waits until nothing is on its way, and returns what was mailed to the address, in order.
func (s *site) mails(to string) (out []letter) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		n, err := s.queue.Due(context.Background())
		return err == nil && n == 0
	}, time.Minute, 20*time.Millisecond)
	files, err := filepath.Glob(filepath.Join(s.dir, "*.eml"))
	require.NoError(s.t, err)
	slices.Sort(files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(s.t, err)
		m, err := netmail.ReadMessage(strings.NewReader(string(raw)))
		require.NoError(s.t, err)
		text, err := io.ReadAll(m.Body)
		require.NoError(s.t, err)
		if addr, err := m.Header.AddressList("To"); err == nil && len(addr) == 1 && addr[0].Address == to {
			out = append(out, letter{m.Header, strings.ReplaceAll(string(text), "\r\n", "\n")})
		}
	}
	return out
}

// subjects returns the subjects of what was mailed to the address.
func (s *site) subjects(to string) (out []string) {
	s.t.Helper()
	for _, m := range s.mails(to) {
		out = append(out, m.Get("Subject"))
	}
	return out
}

var links = regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(origin) + `(/\S*\?token=[A-Za-z0-9_-]{43})$`)

// links returns the links that were mailed to the address, in order.
func (s *site) links(to string) (out []string) {
	s.t.Helper()
	for _, m := range s.mails(to) {
		if found := links.FindStringSubmatch(m.text); found != nil {
			out = append(out, found[1])
		}
	}
	return out
}

// lastLink returns the link that was mailed to the address last.
func (s *site) lastLink(to string) string {
	s.t.Helper()
	all := s.links(to)
	require.NotEmpty(s.t, all, "no link was mailed to %s", to)
	return all[len(all)-1]
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
			if !strings.HasPrefix(r.URL.String(), origin+"/") || len(via) > 10 {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// signedIn returns a browser in which the user has just signed in.
func (s *site) signedIn(u *ent.User, plain string) *browser {
	s.t.Helper()
	b := s.browser()
	p := b.get("/account").submit("email", s.account(u).Email, "password", plain)
	require.Equal(s.t, "Your account", p.title(), p.html)
	return b
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
	return &page{res, doc, b, string(raw)}
}

func (b *browser) get(path string) *page {
	b.s.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, origin+path, nil)
	require.NoError(b.s.t, err)
	return b.do(r)
}

func (b *browser) post(path string, form url.Values, change ...func(*http.Request)) *page {
	b.s.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, origin+path, strings.NewReader(form.Encode()))
	require.NoError(b.s.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, fn := range change {
		fn(r)
	}
	return b.do(r)
}

// title is the page's heading.
func (p *page) title() string { return strings.TrimSpace(p.Find("h1").Text()) }

// faults are what the page says is wrong with the form.
func (p *page) faults() string { return strings.TrimSpace(p.Find(".fault, .alert").Text()) }

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
	return to.RequestURI(), fields
}

// submit sends the form that has the first of the named fields, with the values given.
func (p *page) submit(values ...string) *page {
	p.b.s.t.Helper()
	action, fields := p.form(values[0])
	for i := 0; i+1 < len(values); i += 2 {
		fields.Set(values[i], values[i+1])
	}
	return p.b.post(action, fields)
}

// atOnce sends the same form several times at the same moment, and returns how many of them were answered with 200.
func (p *page) atOnce(times int, values ...string) (won int) {
	p.b.s.t.Helper()
	action, fields := p.form(values[0])
	for i := 0; i+1 < len(values); i += 2 {
		fields.Set(values[i], values[i+1])
	}
	codes := make([]int, times)
	var wg sync.WaitGroup
	for i := range codes {
		wg.Go(func() {
			res, err := p.b.PostForm(origin+action, fields)
			if err == nil {
				codes[i] = res.StatusCode
				_ = res.Body.Close()
			}
		})
	}
	wg.Wait()
	for _, code := range codes {
		if code == http.StatusOK {
			won++
		}
	}
	return won
}

// requireDead asserts that the page says that the link is not good any more.
func requireDead(t *testing.T, p *page) {
	t.Helper()
	require.Equal(t, http.StatusGone, p.StatusCode, p.html)
	require.Equal(t, "This link is no longer valid", p.title())
}
