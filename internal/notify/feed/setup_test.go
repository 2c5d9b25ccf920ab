package feed_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/notify/feed"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait; what is waited for takes far less.
const patience = 20 * time.Second

// desk is a world whose companies have an offering each, with a feed on this node and one on another node.
type desk struct {
	*testkit.World
	here, there *feed.Feed
	elsewhere   *store.Store // the other node's
	offerings   map[*testkit.Tenant]*ent.Offering
}

// each runs fn on both databases.
func each(t *testing.T, fn func(t *testing.T, d *desk)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, open(t, w)) })
}

func open(t testing.TB, w *testkit.World) *desk {
	t.Helper()
	d := &desk{World: w, offerings: map[*testkit.Tenant]*ent.Offering{}}
	d.elsewhere = w.Node(t).Store
	d.here, d.there = newFeed(t, w, w.Store), newFeed(t, w, d.elsewhere)
	for _, c := range []*testkit.Tenant{w.A, w.B} {
		ctx := w.As(c, principal.Owner)
		s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		d.offerings[c] = testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
	}
	return d
}

func newFeed(t testing.TB, w *testkit.World, s *store.Store) *feed.Feed {
	t.Helper()
	f, err := feed.New(feed.Options{Store: s, Log: w.Engine.Log})
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

// file creates a request in a company, on this node.
func (d *desk) file(t testing.TB, c *testkit.Tenant) *ent.Request {
	t.Helper()
	o := d.offerings[c]
	return testkit.Run(t, d.World, d.As(c, principal.Owner), request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: "A laptop"})
}

// retitle changes a request, on this node.
func (d *desk) retitle(t testing.TB, c *testkit.Tenant, id string) {
	t.Helper()
	testkit.Run(t, d.World, d.As(c, principal.Owner), request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Title: op.SetTo("Another " + rand.Text())})
}

// watch subscribes until the test ends.
func watch(t testing.TB, f *feed.Feed, k feed.Kind, of feed.Filter) *feed.Subscription {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := f.Subscribe(ctx, k, of)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// take waits for n changes.
func take(t testing.TB, s *feed.Subscription, n int) []feed.Change {
	t.Helper()
	late := time.After(patience)
	var all []feed.Change
	for {
		got, err := s.Take(1000)
		require.NoError(t, err)
		if all = append(all, got...); len(all) >= n {
			require.Len(t, all, n)
			return all
		}
		select {
		case <-s.Ready():
		case <-late:
			require.FailNow(t, "no more changes came", "%d of %d: %v", len(all), n, all)
		}
	}
}

// ended waits until a subscription fails.
func ended(t testing.TB, s *feed.Subscription) error {
	t.Helper()
	late := time.After(patience)
	for {
		if _, err := s.Take(1); err != nil {
			return err
		}
		select {
		case <-s.Ready():
		case <-late:
			require.FailNow(t, "the subscription goes on")
		}
	}
}
