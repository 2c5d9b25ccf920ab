package signin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	entthrottle "atrium/ent/throttle"
	"atrium/internal/identity/password"
	"atrium/internal/identity/signin"
	"atrium/internal/identity/throttle"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// count sets a counter as if so many proofs had failed.
func (s *site) count(key string, failures int) {
	s.change(func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.Throttle.Delete().Where(entthrottle.ID(key)).Exec(ctx); err != nil {
			return err
		}
		return tx.Throttle.Create().SetID(key).SetFailures(failures).SetExpiresAt(s.Clock.Now().Add(time.Hour)).Exec(ctx)
	})
}

// failures returns what a counter stands at.
func (s *site) failures(key string) int {
	s.t.Helper()
	row, err := s.Store.Reader().Throttle.Query().Where(entthrottle.ID(key)).Only(s.system())
	if err != nil {
		return 0
	}
	return row.Failures
}

// paused returns how many seconds the page asks to wait.
func (p *page) paused() int {
	p.b.s.t.Helper()
	require.Equal(p.b.s.t, http.StatusTooManyRequests, p.StatusCode, p.html)
	require.Contains(p.b.s.t, p.alert(), "too many attempts")
	n, err := strconv.Atoi(p.Header.Get("Retry-After"))
	require.NoError(p.b.s.t, err)
	require.Positive(p.b.s.t, n)
	require.LessOrEqual(p.b.s.t, n, 3600)
	return n
}

// After a number of failures nothing is looked at for a while, not even the right password; the pauses grow, and end.
func TestAccountsAreThrottled(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for _, email := range []string{s.agent().Email, "nobody@x.test"} { // alike, whether there is an account or not
			p := s.browser().get(s.web()).submit("email", email, "password", "wrong")
			require.Equal(t, 1, s.failures(throttle.AccountKey(email)))
			s.count(throttle.AccountKey(email), throttle.AccountLimit.Max-2)
			for range 2 {
				p = p.submit("email", email, "password", "wrong")
				require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
			}
			first := p.submit("email", email, "password", secret).paused()
			again := s.browser().get(s.web()).submit("email", email, "password", secret).paused()
			require.LessOrEqual(t, again, first, "the same pause, wherever it comes from")
			require.Greater(t, again, first-30, "of which a moment has gone by")

			s.later(time.Duration(first) * time.Second)
			p = p.submit("email", email, "password", "wrong")
			require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
			second := p.submit("email", email, "password", secret).paused()
			require.Greater(t, second, first)
			s.later(time.Duration(second) * time.Second)
		}
		require.NotEmpty(t, s.browser().get(s.web()).signInAs(s.agent()).left().Get("code"))
		require.Zero(t, s.failures(throttle.AccountKey(s.agent().Email)), "a success forgets them")
		require.NotZero(t, s.failures(throttle.AccountKey("nobody@x.test")))
	})
}

// However many fail, a pause is never longer than an hour, never shorter than the one before, and begins before the 40th.
func TestPauses(t *testing.T) {
	t.Parallel()
	require.Less(t, throttle.AccountLimit.Max+throttle.BrowserLimit.Max, 40)
	require.GreaterOrEqual(t, throttle.AddressLimit.Max, 100)
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom([]ratelimit.Attempts{throttle.AccountLimit, throttle.AddressLimit}).Draw(t, "limit")
		n := rapid.IntRange(0, 1<<20).Draw(t, "failures")
		pause, next := int(l.Pause(n).Seconds()), int(l.Pause(n+1).Seconds())
		if (pause > 0) != (n >= l.Max) || pause > 3600 || next < pause {
			t.Fatalf("%d failures: %d s, then %d s", n, pause, next)
		}
	})
}

// Many guesses at once are no way around the limit: each counts before it is looked at.
func TestGuessesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		const left = 4
		s.count(throttle.AccountKey(s.agent().Email), throttle.AccountLimit.Max-left)
		p := s.browser().get(s.web())
		action, fields := p.form("password")
		fields.Set("email", s.agent().Email)
		fields.Set("password", "wrong")
		var looked, refused atomic.Int64
		var wg sync.WaitGroup
		for range 6 * left {
			wg.Go(func() {
				switch p.b.status(action, fields) {
				case http.StatusUnprocessableEntity:
					looked.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, left, looked.Load())
		require.EqualValues(t, 5*left, refused.Load())
	})
}

// status posts a form and returns the answer's status; 0 when none came.
func (b *browser) status(to string, form url.Values) int {
	res, err := b.PostForm(to, form)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

// Strangers can make a person wait elsewhere, but not in a browser where the person has signed in before.
func TestAnonymousAttemptsDoNotLockOut(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		known := s.browser()
		require.NotEmpty(t, known.get(s.web()).signInAs(s.agent()).left().Get("code"))
		s.count(throttle.AccountKey(s.agent().Email), throttle.AccountLimit.Max-1)
		s.count("address/127.0.0.1/32", throttle.AddressLimit.Max-1)
		anonymous := s.browser().get(s.web())
		require.Equal(t, http.StatusUnprocessableEntity, anonymous.submit("email", s.agent().Email, "password", "wrong").StatusCode)
		anonymous.signInAs(s.agent()).paused()

		p := known.get(s.web("prompt", "login"))
		require.NotEmpty(t, p.signInAs(s.agent()).left().Get("code"))
		s.browser().get(s.web()).signInAs(s.A.Users["member"]).paused() // the address still is
	})
}

// A known browser has some tries of its own; then it is like any other. In all it has fewer than 40.
func TestKnownBrowsersAreThrottledToo(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		known := s.browser()
		require.NotEmpty(t, known.get(s.web()).signInAs(s.agent()).left().Get("code"))
		p := known.get(s.web("prompt", "login"))
		for range throttle.BrowserLimit.Max {
			p = p.submit("email", s.agent().Email, "password", "wrong")
			require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		}
		require.Zero(t, s.failures(throttle.AccountKey(s.agent().Email)))
		s.count(throttle.AccountKey(s.agent().Email), throttle.AccountLimit.Max-1)
		p = p.submit("email", s.agent().Email, "password", "wrong")
		require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		p.signInAs(s.agent()).paused()

		other := s.browser() // the cookie says nothing of other accounts
		other.keep("__Host-atrium_device", known.cookie("__Host-atrium_device"))
		require.Equal(t, http.StatusUnprocessableEntity, other.get(s.web()).submit("email", s.A.Users["member"].Email, "password", "wrong").StatusCode)
		require.Equal(t, 1, s.failures(throttle.AccountKey(s.A.Users["member"].Email)))
	})
}

// One address may fail a hundred times, whatever the accounts.
func TestAddressesAreThrottled(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.count("address/127.0.0.1/32", throttle.AddressLimit.Max-1)
		p := s.browser().get(s.web()).submit("email", "one@x.test", "password", "wrong")
		require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		wait := p.submit("email", "two@x.test", "password", "wrong").paused()
		s.later(time.Duration(wait) * time.Second)
		require.NotEmpty(t, p.signInAs(s.agent()).left().Get("code"))
	})
}

// An IPv6 customer has a /64.
func TestAddressKeys(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.7:1":             "address/192.0.2.7/32",
		"[::ffff:192.0.2.7]:1":    "address/192.0.2.7/32",
		"[2001:db8:1:2:3:4::5]:1": "address/2001:db8:1:2::/64",
		"[fe80::1%eth0]:1":        "address/fe80::/64",
		"":                        "address/unknown",
	} {
		r := httptest.NewRequest(http.MethodPost, "/signin", nil)
		r.RemoteAddr = remote
		require.Equal(t, want, throttle.AddressKey(r), remote)
	}
}

// Mail proves that an address is somebody's: what strangers have counted for it is forgotten then.
func TestForgive(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.count(throttle.AccountKey(s.agent().Email), 3)
		s.change(func(ctx context.Context, tx *store.Tx) error { return throttle.Forgive(ctx, tx, s.agent().Email) })
		require.Zero(t, s.failures(throttle.AccountKey(s.agent().Email)))
	})
}

// A flood of passwords takes the processors no further than the hasher lets it: the rest is told to come again, and what
// was not looked at counts for nobody. That addresses of nobody fill the hasher shows that they take the same work.
func TestFloodIsBounded(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		narrow := password.New(password.Options{Workers: 1, Queue: 2, Wait: time.Minute})
		s := serve(t, w, func(o *signin.Options) { o.Hasher = narrow })
		p := s.browser().get(s.web())
		action, fields := p.form("password")
		const flood = 40
		statuses := make([]int, flood)
		var wg sync.WaitGroup
		for i := range flood {
			f := url.Values{"csrf": fields["csrf"], "email": {fmt.Sprintf("flood%d@x.test", i)}, "password": {"wrong"}}
			wg.Go(func() { statuses[i] = p.b.status(action, f) })
		}
		wg.Wait()
		looked, busy := 0, 0
		for i, status := range statuses {
			failures := s.failures(throttle.AccountKey(fmt.Sprintf("flood%d@x.test", i)))
			switch status {
			case http.StatusUnprocessableEntity:
				looked++
				require.Equal(t, 1, failures)
			case http.StatusServiceUnavailable:
				busy++
				require.Zero(t, failures)
			default:
				t.Errorf("status %d", status)
			}
		}
		require.Positive(t, looked)
		require.Positive(t, busy)
		require.Equal(t, looked, s.failures("address/127.0.0.1/32"))
	})
}
