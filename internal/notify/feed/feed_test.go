package feed_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/internal/notify/feed"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Watchers get every change of their company, on the node that made it and on the other node, and no change of another company.
func TestChangesReachBothNodes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		before := d.file(t, d.A)
		of := feed.Filter{CompanyID: d.A.Company.ID}
		subs := []*feed.Subscription{watch(t, d.here, feed.Requests, of), watch(t, d.there, feed.Requests, of)}
		stranger := watch(t, d.there, feed.Requests, feed.Filter{CompanyID: d.B.Company.ID})

		made := d.file(t, d.A)
		for _, s := range subs {
			require.Equal(t, []feed.Change{{CompanyID: d.A.Company.ID, ID: made.ID, Created: true}}, take(t, s, 1))
		}
		d.retitle(t, d.A, before.ID)
		for _, s := range subs {
			require.Equal(t, []feed.Change{{CompanyID: d.A.Company.ID, ID: before.ID}}, take(t, s, 1), "what was there before is told when it changes")
		}
		theirs := d.file(t, d.B)
		require.Equal(t, theirs.ID, take(t, stranger, 1)[0].ID)
		for _, s := range subs {
			require.Equal(t, made.ID, func() string { d.retitle(t, d.A, made.ID); return take(t, s, 1)[0].ID }())
		}
	})
}

// A subscription may be limited to one row.
func TestFilterByRow(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		one, other := d.file(t, d.A), d.file(t, d.A)
		s := watch(t, d.here, feed.Requests, feed.Filter{CompanyID: d.A.Company.ID, ID: one.ID})
		d.retitle(t, d.A, other.ID)
		d.retitle(t, d.A, one.ID)
		require.Equal(t, one.ID, take(t, s, 1)[0].ID)
		_, err := d.here.Subscribe(t.Context(), feed.Requests, feed.Filter{})
		require.Error(t, err, "nobody watches all companies")
	})
}

// A new watcher gets no change that was committed before, even if the company has other watchers, or had one shortly before.
func TestWatchingBeginsNow(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		of := feed.Filter{CompanyID: d.A.Company.ID}
		d.file(t, d.A)
		first := watch(t, d.there, feed.Requests, of)
		d.file(t, d.A)
		second := watch(t, d.there, feed.Requests, of)
		take(t, first, 1)
		first.Close()
		second.Close()
		d.file(t, d.A)
		third := watch(t, d.there, feed.Requests, of)
		last := d.file(t, d.A)
		require.Equal(t, last.ID, take(t, third, 1)[0].ID)
	})
}

// entry writes an audit entry of a changed request with an id made at the given time, like a transaction that was slow to
// commit, or a node whose clock differs.
func (d *desk) entry(t *testing.T, c *testkit.Tenant, at time.Time, request string) {
	t.Helper()
	fresh := id.New("aud")
	made := id.From("aud", at)
	made = made[:14] + fresh[14:]
	require.NoError(t, d.Store.Write(d.As(c, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		return tx.AuditEntry.Create().SetID(made).SetActorType("user").SetActorID("usr_x").SetActorName("X").SetAction("request.updated").
			SetResourceType("Request").SetResourceID(request).SetOutcome(auditentry.OutcomeAllowed).SetIP("").SetUserAgent("").SetRequestID("").Exec(ctx)
	}))
}

// A change that becomes visible late, or comes from a node whose clock is off by some seconds, is reported once.
func TestLateAndEarlyCommits(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		one := d.file(t, d.A)
		for _, f := range []*feed.Feed{d.here, d.there} {
			s := watch(t, f, feed.Requests, feed.Filter{CompanyID: d.A.Company.ID})
			for _, away := range []time.Duration{-200 * time.Millisecond, -8 * time.Second, 5 * time.Second, time.Hour} {
				d.entry(t, d.A, time.Now().Add(away), one.ID)
				require.Equal(t, one.ID, take(t, s, 1)[0].ID, "%s", away)
			}
			s.Close()
		}
	})
}

// A change is reported once, however often looks find it again.
func TestToldOnce(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.there.Configure(feed.Pace{Every: 5 * time.Millisecond, Window: 300 * time.Millisecond})
		var looks atomic.Int64
		d.there.Intercept(feed.Requests, func() error { looks.Add(1); return nil })
		s := watch(t, d.there, feed.Requests, feed.Filter{CompanyID: d.A.Company.ID})
		made := d.file(t, d.A)
		d.entry(t, d.A, time.Now().Add(500*time.Millisecond), made.ID)
		require.Eventually(t, func() bool { return looks.Load() > 100 }, patience, time.Millisecond)
		n := 0
		for {
			got, err := s.Take(10)
			require.NoError(t, err)
			if len(got) == 0 {
				break
			}
			n += len(got)
		}
		require.LessOrEqual(t, n, 1, "both are of one row, and nothing was taken meanwhile")
		from := looks.Load()
		require.Eventually(t, func() bool { return looks.Load() > from+50 }, patience, time.Millisecond)
		got, err := s.Take(10)
		require.NoError(t, err)
		require.Empty(t, got)
	})
}

// Without watchers nothing is read. Refused and read-only operations are not changes.
func TestNobodyWatches(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		var looks atomic.Int64
		d.here.Intercept(feed.Requests, func() error { looks.Add(1); return nil })
		d.file(t, d.A)
		require.Zero(t, looks.Load())
		s := watch(t, d.here, feed.Requests, feed.Filter{CompanyID: d.A.Company.ID})
		s.Close()
		s.Close()
		d.file(t, d.A) // the commit hook may wake the poller once more, so that it stops
		d.here.Close()
		seen := looks.Load()
		d.file(t, d.A)
		require.Equal(t, seen, looks.Load())
		_, err := d.here.Subscribe(t.Context(), feed.Requests, feed.Filter{CompanyID: d.A.Company.ID})
		require.ErrorIs(t, err, feed.ErrClosed)
	})
}

// While the database does not answer nothing is reported; afterwards nothing is missing.
func TestDatabaseAway(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		var away atomic.Bool
		var failures atomic.Int64
		d.there.Configure(feed.Pace{Every: 5 * time.Millisecond, Window: 50 * time.Millisecond})
		d.there.Intercept(feed.Requests, func() error {
			if away.Load() {
				failures.Add(1)
				return errors.New("the database is away")
			}
			return nil
		})
		s := watch(t, d.there, feed.Requests, feed.Filter{CompanyID: d.A.Company.ID})
		away.Store(true)
		var want []string
		for range 3 {
			want = append(want, d.file(t, d.A).ID)
			from := failures.Load()
			require.Eventually(t, func() bool { return failures.Load() > from+20 }, patience, time.Millisecond, "longer than the window")
		}
		away.Store(false)
		var got []string
		for _, c := range take(t, s, 3) {
			got = append(got, c.ID)
		}
		require.Equal(t, want, got)
	})
}

// When the database is unreachable for too long, watchers get an error, and can subscribe again.
func TestLostPlace(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		registry := prometheus.NewRegistry()
		f, err := feed.New(feed.Options{Store: d.elsewhere, Log: d.Engine.Log, Metrics: registry})
		require.NoError(t, err)
		defer f.Close()
		var away atomic.Bool
		f.Configure(feed.Pace{Every: 5 * time.Millisecond, Away: 100 * time.Millisecond})
		f.Intercept(feed.Requests, func() error {
			if away.Load() {
				return errors.New("the database is away")
			}
			return nil
		})
		of := feed.Filter{CompanyID: d.A.Company.ID}
		s := watch(t, f, feed.Requests, of)
		away.Store(true)
		require.ErrorIs(t, ended(t, s), feed.ErrLost)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = f.Subscribe(ctx, feed.Requests, of)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		away.Store(false)
		again := watch(t, f, feed.Requests, of)
		made := d.file(t, d.A)
		require.Equal(t, made.ID, take(t, again, 1)[0].ID)
		require.ErrorIs(t, ended(t, s), feed.ErrLost, "for good")
		families, err := registry.Gather()
		require.NoError(t, err)
		require.Len(t, families, 4, "all of them count")
	})
}

// More changes than a page are read in several pages. More than can be followed end the subscription.
func TestManyChanges(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.there.Configure(feed.Pace{Page: 4, Pages: 5})
		s := watch(t, d.there, feed.Requests, feed.Filter{CompanyID: d.A.Company.ID})
		one := d.file(t, d.A)
		write := func(n int) {
			require.NoError(t, d.Store.Write(d.As(d.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
				for range n {
					err := tx.AuditEntry.Create().SetActorType("user").SetActorID("usr_x").SetActorName("X").SetAction("request.updated").SetResourceType("Request").
						SetResourceID(id.New("req")).SetOutcome(auditentry.OutcomeAllowed).SetIP("").SetUserAgent("").SetRequestID("").Exec(ctx)
					if err != nil {
						return err
					}
				}
				return nil
			}))
		}
		require.Equal(t, one.ID, take(t, s, 1)[0].ID)
		write(11)
		require.Len(t, take(t, s, 11), 11)
		write(40)
		require.ErrorIs(t, ended(t, s), feed.ErrLost)
	})
}

// A subscription holds a limited number of rows. Several changes of one row take one place.
func TestFullSubscription(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		d.here.Configure(feed.Pace{Buffer: 3})
		of := feed.Filter{CompanyID: d.A.Company.ID}
		slow, quick := watch(t, d.here, feed.Requests, of), watch(t, d.here, feed.Requests, of)
		var ids []string
		for range 3 {
			ids = append(ids, d.file(t, d.A).ID)
			require.Len(t, take(t, quick, 1), 1)
		}
		for range 5 {
			d.retitle(t, d.A, ids[0])
			require.Len(t, take(t, quick, 1), 1)
		}
		got, err := slow.Take(2)
		require.NoError(t, err)
		require.Equal(t, []feed.Change{{CompanyID: d.A.Company.ID, ID: ids[0], Created: true}, {CompanyID: d.A.Company.ID, ID: ids[1], Created: true}}, got)
		slow.PutBack(got)
		got, err = slow.Take(10)
		require.NoError(t, err)
		require.Len(t, got, 3)
		require.Equal(t, ids[0], got[0].ID, "what was put back comes first")
		for range 4 {
			d.file(t, d.A)
			require.Len(t, take(t, quick, 1), 1)
		}
		require.ErrorIs(t, ended(t, slow), feed.ErrBehind)
		d.file(t, d.A)
		require.Len(t, take(t, quick, 1), 1, "others go on")
	})
}

// Closing the feed ends active and beginning subscriptions.
func TestClose(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		hold, begun := make(chan struct{}), make(chan struct{}, 100)
		var holding atomic.Bool
		d.there.Intercept(feed.Requests, func() error {
			if holding.Load() {
				begun <- struct{}{}
				<-hold
			}
			return nil
		})
		s := watch(t, d.there, feed.Requests, feed.Filter{CompanyID: d.A.Company.ID})
		holding.Store(true)
		<-begun
		joined := make(chan error, 1)
		go func() {
			_, err := d.there.Subscribe(t.Context(), feed.Requests, feed.Filter{CompanyID: d.A.Company.ID})
			joined <- err
		}()
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			d.there.Close()
		}()
		require.ErrorIs(t, ended(t, s), feed.ErrClosed)
		require.ErrorIs(t, <-joined, feed.ErrClosed)
		close(hold)
		<-closed
	})
}
