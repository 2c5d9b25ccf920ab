package reportmail_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/notification"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/reportmail"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long tests wait for background work, and how often they look.
const (
	patience = time.Minute
	tick     = 10 * time.Millisecond
)

// post keeps the mails of committed transactions as rows, and what each transaction would have mailed.
type post struct {
	op.Mailer
	mu   sync.Mutex
	last map[string]op.Told // by the reader's id
}

func (p *post) Tell(ctx context.Context, tx *store.Tx, u *ent.User, t op.Told) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[u.ID] = t
	return tx.Notification.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetKind(notification.KindInformed).SetSubject(t.Kind).Exec(ctx)
}

// desk is a world in which it is a Wednesday noon (UTC), and a company has an offering.
type desk struct {
	*testkit.World
	t        *testing.T
	post     *post
	offering *ent.Offering
}

// each runs the test on both databases.
func each(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { test(t, open(t, w)) })
}

func open(t *testing.T, w *testkit.World) *desk {
	t.Helper()
	d := &desk{World: w, t: t, post: &post{last: map[string]op.Told{}}}
	w.Engine.Mailer = d.post
	now := w.Clock.Now().UTC()
	y, m, day := now.Date()
	w.Clock.SetOffset(time.Date(y, m, day+10-int(now.Weekday()), 12, 0, 0, 0, time.UTC).Sub(time.Now()))
	require.Equal(t, time.Wednesday, w.Clock.Now().UTC().Weekday())
	owner := w.As(w.A, principal.Owner)
	s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	d.offering = testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
	return d
}

// monday is the next one at seven (UTC), after the desk's Wednesday.
func (d *desk) monday() time.Time {
	return d.Clock.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 5).Add(7 * time.Hour)
}

// work makes a node mail reports until the test ends.
func (d *desk) work() { d.WorkJobs(d.t, reportmail.WorkSoon(d.Engine)) }

// till moves the time to a moment, and waits until no report is due.
func (d *desk) till(at time.Time) {
	d.t.Helper()
	d.Later(d.t, at.Sub(d.Clock.Now()))
	d.settled()
}

func (d *desk) settled() {
	d.t.Helper()
	ctx := principal.System(context.Background(), "test")
	require.Eventually(d.t, func() bool {
		for _, s := range d.Store.Reader().ReportSubscription.Query().AllX(ctx) {
			if !s.NextAt.After(d.Clock.Now()) {
				return false
			}
		}
		return true
	}, patience, tick)
}

func (d *desk) subscribe(role principal.Role, query string) *ent.ReportSubscription {
	d.t.Helper()
	return testkit.Run(d.t, d.World, d.As(d.A, role), reportmail.Create, reportmail.CreateInput{Name: "Desk", Query: query})
}

func (d *desk) get(id string) *ent.ReportSubscription {
	d.t.Helper()
	s, err := d.Store.Reader().ReportSubscription.Get(principal.System(context.Background(), "test"), id)
	require.NoError(d.t, err)
	return s
}

// mails returns how often a subscription was mailed.
func (d *desk) mails(s *ent.ReportSubscription) int {
	return d.Store.Reader().Notification.Query().Where(notification.Subject(s.ID)).CountX(principal.System(context.Background(), "test"))
}

// said returns the last mail of somebody: its subject, what it says, and its page.
func (d *desk) said(role principal.Role) string {
	d.post.mu.Lock()
	defer d.post.mu.Unlock()
	t := d.post.last[d.A.Users[role].ID]
	return strings.TrimSpace(t.Subject + "\n" + testkit.Said(t))
}

func (d *desk) file(title, priority string) *ent.Request {
	d.t.Helper()
	return testkit.Run(d.t, d.World, d.As(d.A, principal.Owner), request.Create, request.CreateInput{
		ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: title, Priority: &priority,
	})
}

func (d *desk) finish(r *ent.Request) {
	d.t.Helper()
	for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
		testkit.Run(d.t, d.World, d.As(d.A, principal.Owner), request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Status: op.SetTo(status)})
	}
}
