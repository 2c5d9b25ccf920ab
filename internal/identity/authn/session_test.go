package authn_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/session"
	"atrium/ent/user"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// signedIn makes a session of the user as signing in does, and returns its cookie's value and its id.
func signedIn(tb testing.TB, w *testkit.World, u *ent.User, fill ...func(*ent.SessionCreate)) (value, id string) {
	tb.Helper()
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	value = base64.RawURLEncoding.EncodeToString(raw)
	hash := sha256.Sum256([]byte(value))
	require.NoError(tb, w.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		now := w.Clock.Now()
		c := tx.Session.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetTokenHash(hash[:]).SetMethods([]string{"pwd"}).
			SetAuthenticatedAt(now).SetLastSeenAt(now).SetExpiresAt(now.Add(time.Hour)).SetCreatedAt(now)
		for _, f := range fill {
			f(c)
		}
		s, err := c.Save(ctx)
		if err != nil {
			return err
		}
		id = s.ID
		return nil
	}))
	return value, id
}

// row reads a session as it is in the database.
func row(t *testing.T, w *testkit.World, id string) *ent.Session {
	t.Helper()
	s, err := w.Store.Reader().Session.Query().Where(session.ID(id)).Only(principal.System(t.Context(), "test"))
	require.NoError(t, err)
	return s
}

func TestSession(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		u := w.A.Users[principal.Admin]
		value, id := signedIn(t, w, u)
		for range 2 { // the second from memory
			c, err := a.Session(t.Context(), value, somewhere)
			require.NoError(t, err)
			p := c.Principal
			require.Equal(t, w.A.Company.ID, p.CompanyID)
			require.False(t, p.Sandbox)
			require.Equal(t, principal.TypeUser, p.Type)
			require.Equal(t, u.ID, p.ID)
			require.Equal(t, u.Email, p.Email)
			require.Equal(t, principal.Admin, p.Role)
			require.Equal(t, principal.AllScopes, p.Scopes)
			require.Equal(t, principal.MethodSession, p.Method)
			require.Equal(t, id, p.SessionID)
			require.WithinDuration(t, w.Clock.Now(), p.AuthenticatedAt, time.Minute)
			require.Equal(t, principal.Actor{Type: "user", ID: u.ID, Name: u.Name}, p.Actor())
			require.Equal(t, u.ID+"/web", c.RateKey)
			want, _ := ratelimit.ForPlan("enterprise")
			require.Equal(t, want, c.Limit)
		}
	})
}

func TestRefusedSessions(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		now := w.Clock.Now()
		u := w.A.Users[principal.Agent]
		good, _ := signedIn(t, w, u)
		_, err := a.Session(t.Context(), good, somewhere)
		require.NoError(t, err, "what the others are spoilt from")
		spoilt := func(f func(*ent.SessionCreate)) string {
			value, _ := signedIn(t, w, u, f)
			return value
		}
		deactivated, signedOut := w.AddUser(t, w.A, "gone@a.test", principal.Agent), w.AddUser(t, w.A, "out@a.test", principal.Agent)
		ofDeactivated, _ := signedIn(t, w, deactivated)
		ofSignedOut, _ := signedIn(t, w, signedOut)
		change(t, w.Store, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.User.UpdateOneID(deactivated.ID).SetStatus(user.StatusDeactivated).Exec(ctx); err != nil {
				return err
			}
			return tx.User.UpdateOneID(signedOut.ID).SetSignedOutAt(w.Clock.Now()).Exec(ctx)
		})
		raw := make([]byte, 32)
		for name, value := range map[string]string{
			"empty":                  "",
			"short":                  good[:42],
			"long":                   good + "A",
			"quoted":                 `"` + good[:41] + `"`,
			"unknown":                base64.RawURLEncoding.EncodeToString(raw),
			"ended":                  spoilt(func(c *ent.SessionCreate) { c.SetEndedAt(now) }),
			"over":                   spoilt(func(c *ent.SessionCreate) { c.SetExpiresAt(now) }),
			"of a deactivated user":  ofDeactivated,
			"from before a sign-out": ofSignedOut,
			"unused for an hour": spoilt(func(c *ent.SessionCreate) {
				c.SetLastSeenAt(now.Add(-time.Hour)).SetExpiresAt(now.Add(time.Hour)) // the company's sessions were longer then
			}),
			"older than 30 days": spoilt(func(c *ent.SessionCreate) { c.SetCreatedAt(now.Add(-30 * 24 * time.Hour)) }),
		} {
			for range 2 {
				_, err := a.Session(t.Context(), value, somewhere)
				require.ErrorIs(t, err, authn.ErrRefused, name)
			}
		}
		_, err = a.APIKey(t.Context(), good, somewhere)
		require.ErrorIs(t, err, authn.ErrRefused, "a session is no key")
		_, err = a.Bearer(t.Context(), good)
		require.ErrorIs(t, err, authn.ErrRefused, "nor a token")
	})
}

// Using a session keeps it alive; left alone it ends after the company's lifetime, and after 2 days or 30 days in all at
// the latest, whatever the company sets.
func TestSessionSlides(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		u := w.A.Users[principal.Agent]
		at := func(offset time.Duration) { w.Clock.SetOffset(offset) }
		use := func(value string) error {
			_, err := a.Session(t.Context(), value, somewhere)
			require.NoError(t, a.Flush(t.Context())) // a busy machine may read the row again at any time
			return err
		}
		hours, _ := signedIn(t, w, u)
		for minutes := 0; minutes <= 300; minutes += 59 {
			at(time.Duration(minutes) * time.Minute)
			require.NoError(t, use(hours), "after %d minutes", minutes)
		}
		at((295 + 61) * time.Minute)
		require.ErrorIs(t, use(hours), authn.ErrRefused, "unused for an hour")
		at(0)

		change(t, w.Store, func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(w.A.Company.ID).SetSessionLifetimeMinutes(60 * 24 * 365).Exec(ctx)
		})
		w.Store.AuthorityChanged()
		long, _ := signedIn(t, w, u, func(c *ent.SessionCreate) { c.SetExpiresAt(w.Clock.Now().Add(authn.MaxSessionIdle)) })
		for day := range 30 {
			at(time.Duration(day)*24*time.Hour + time.Minute)
			require.NoError(t, use(long), "on day %d", day)
		}
		at(30*24*time.Hour + time.Minute)
		require.ErrorIs(t, use(long), authn.ErrRefused, "used all the time, for 30 days")
		idle, _ := signedIn(t, w, u, func(c *ent.SessionCreate) { c.SetExpiresAt(w.Clock.Now().Add(authn.MaxSessionIdle)) })
		require.NoError(t, use(idle))
		at((32*24 + 1) * time.Hour)
		require.ErrorIs(t, use(idle), authn.ErrRefused, "unused for two days")
	})
}

// The row tells of a use at most once a minute, and where it came from; the person's row tells when they were seen.
func TestSessionUseIsWrittenInBatches(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		u := w.A.Users[principal.Agent]
		value, id := signedIn(t, w, u)
		use := func(ip string) {
			_, err := a.Session(t.Context(), value, netip.MustParseAddr(ip))
			require.NoError(t, err)
			require.NoError(t, a.Flush(t.Context()))
		}
		first := row(t, w, id)
		use("192.0.2.7")
		require.Equal(t, first.LastSeenAt, row(t, w, id).LastSeenAt, "within the first minute nothing is written")
		before, _ := w.Store.Authority()
		for later := before + 1; later != before; later, _ = w.Store.Authority() { // the sign-in has been heard of
			before = later
			time.Sleep(store.Propagation / 5)
		}
		w.Clock.SetOffset(2 * time.Minute)
		use("::ffff:198.51.100.1")
		second := row(t, w, id)
		require.WithinDuration(t, w.Clock.Now(), second.LastSeenAt, 30*time.Second)
		require.WithinDuration(t, second.LastSeenAt.Add(time.Hour), second.ExpiresAt, 0)
		require.Equal(t, "198.51.100.1", second.IP)
		seen, err := w.Store.Reader().User.Query().Where(user.ID(u.ID)).Only(w.AsUser(u))
		require.NoError(t, err)
		require.NotNil(t, seen.LastSeenAt)
		require.WithinDuration(t, u.UpdatedAt, seen.UpdatedAt, 0, "being seen is no change of the user")
		use("192.0.2.7")
		require.Equal(t, second.LastSeenAt, row(t, w, id).LastSeenAt)
		after, _ := w.Store.Authority()
		require.Equal(t, before, after, "being used is no change of authority")

		change(t, w.Store, func(ctx context.Context, tx *store.Tx) error {
			return tx.Session.UpdateOneID(id).SetEndedAt(w.Clock.Now()).Exec(ctx)
		})
		w.Clock.SetOffset(4 * time.Minute)
		_, _ = a.Session(t.Context(), value, somewhere)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, a.Run(ctx, slog.New(slog.DiscardHandler)))
		require.Equal(t, second.ExpiresAt, row(t, w, id).ExpiresAt, "a use that is written late revives nothing")
	})
}

// One node remembers a session as it last served it; another may have kept it alive since.
func TestSessionServedByTwoNodes(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		b := authn.New(w.Node(t).Store, w.Tokens)
		value, id := signedIn(t, w, w.A.Users[principal.Agent])
		both := func(nodes ...*authn.Authenticator) {
			for _, n := range nodes {
				_, err := n.Session(t.Context(), value, somewhere)
				require.NoError(t, err)
				require.NoError(t, n.Flush(t.Context()))
			}
		}
		both(a, b)
		w.Clock.SetOffset(50 * time.Minute)
		both(a)
		w.Clock.SetOffset(100 * time.Minute)
		both(b, a)
		change(t, w.Store, func(ctx context.Context, tx *store.Tx) error {
			return tx.Session.UpdateOneID(id).SetEndedAt(w.Clock.Now()).Exec(ctx)
		})
		ended := time.Now()
		for _, n := range []*authn.Authenticator{a, b} {
			require.Eventually(t, func() bool { _, err := n.Session(t.Context(), value, somewhere); return err != nil }, 20*time.Second, time.Millisecond)
		}
		t.Logf("ended on both nodes after %s", time.Since(ended).Round(time.Millisecond))
	})
}

// In the sandbox a person is its mirror there, as with a test key, with the role that it has in the live company.
func TestSessionInTheSandbox(t *testing.T) {
	each(t, func(t *testing.T, w *testkit.World, a *authn.Authenticator) {
		u := w.A.Users[principal.Agent]
		yes := true
		k := key(t, w, principal.Agent, apikey.CreateInput{Test: &yes})
		value, id := signedIn(t, w, u, func(c *ent.SessionCreate) { c.SetSandbox(true) })
		for range 2 {
			c, err := a.Session(t.Context(), value, somewhere)
			require.NoError(t, err)
			require.Equal(t, w.A.Sandbox.ID, c.Principal.CompanyID)
			require.True(t, c.Principal.Sandbox)
			require.Equal(t, principal.Agent, c.Principal.Role)
			require.Equal(t, id, c.Principal.SessionID)
			require.Equal(t, ratelimit.Free().InBrowser(), c.Limit, "pages make more calls than a minute of the Free plan has")
			require.NotEqual(t, u.ID, c.Principal.ID)
			byKey, err := a.APIKey(t.Context(), k.Value, somewhere)
			require.NoError(t, err)
			require.Equal(t, byKey.Principal.ID, c.Principal.ID)
		}
		_, err := w.Store.Reader().User.Query().Where(user.LiveUserID(u.ID)).Only(w.As(w.A, principal.Owner))
		require.True(t, ent.IsNotFound(err), "the mirror is in the sandbox only")
	})
}
