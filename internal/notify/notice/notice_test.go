package notice_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/notification"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/execution"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long tests wait for other goroutines, and how often they look.
const (
	patience = time.Minute
	tick     = 10 * time.Millisecond
)

// letters records mails by recipient, also those of transactions that were rolled back.
type letters struct {
	op.Mailer
	mu   sync.Mutex
	sent map[string][]string
	note map[string][]bool // of each, whether an answer to it is a note for staff
}

func (l *letters) Tell(_ context.Context, _ *store.Tx, u *ent.User, t op.Told) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[u.Email] = append(l.sent[u.Email], t.Kind+": "+t.Subject+"\n"+testkit.Said(t))
	l.note[u.Email] = append(l.note[u.Email], t.Note)
	return nil
}

func (l *letters) of(u *ent.User) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent[u.Email]
}

// reads are the operations by which people read what they are told of.
var reads = notice.Reads{Request: request.Get.Info(), Comment: request.GetComment.Info(), Task: execution.GetTask.Info()}

// desk is a world in which a company has an offering, and assignees are notified.
type desk struct {
	*testkit.World
	t        *testing.T
	mails    *letters
	offering *ent.Offering
}

// each runs the test on both databases.
func each(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := &desk{World: w, t: t, mails: &letters{sent: map[string][]string{}, note: map[string][]bool{}}}
		w.Engine.Mailer = d.mails
		owner := w.As(w.A, principal.Owner)
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		d.offering = testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
		q, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), true, notice.Work(w.Engine, reads))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- q.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			require.NoError(t, <-done)
		})
		test(t, d)
	})
}

// file creates a request for an assignee.
func (d *desk) file(as principal.Role, title string, to *ent.User) *ent.Request {
	d.t.Helper()
	return testkit.Run(d.t, d.World, d.As(d.A, as), request.Create, request.CreateInput{
		ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: title, AssigneeID: &to.ID,
	})
}

// idle waits until every notice has been given.
func (d *desk) idle() {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		return !slices.ContainsFunc(d.Unfinished(d.t, d.A.Company.ID), func(j jobs.Moved) bool { return strings.HasPrefix(j.Kind, "notice") })
	}, patience, tick)
}

// told returns a person's notifications, newest first.
func (d *desk) told(ctx context.Context, unread *bool) []*ent.Notification {
	d.t.Helper()
	return testkit.Run(d.t, d.World, ctx, notice.List, notice.ListInput{Unread: unread}).Rows
}

// The new assignee of a request is notified once, except after assigning the request to themselves or without the right to read
// it.
func TestAssigneesAreTold(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		agent, admin := d.A.Users[principal.Agent], d.A.Users[principal.Admin]
		asAgent := d.As(d.A, principal.Agent)
		hide := policy.NewCondition([]byte(`{"resource.title": "Secret", "principal.role": "agent"}`))
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hide})

		d.file(principal.Agent, "Mine", agent)
		d.file(principal.Owner, "Secret", agent)
		r := d.file(principal.Owner, "Laptop\r\nBcc: x@x.test", agent)
		require.Eventually(t, func() bool { return len(d.told(asAgent, nil)) == 1 }, patience, tick)
		n := d.told(asAgent, nil)[0]
		require.Equal(t, "Assigned to you: #3 Laptop Bcc: x@x.test", n.Subject)
		require.Equal(t, r.ID, *n.RequestID)
		require.Len(t, d.mails.of(agent), 1)
		require.Contains(t, d.mails.of(agent)[0], r.ID)

		testkit.Run(t, d.World, d.As(d.A, principal.Owner), request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Title: op.SetTo("Other"), AssigneeID: op.SetTo(agent.ID)})
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, AssigneeID: op.SetTo(admin.ID)})
		require.Eventually(t, func() bool { return len(d.told(d.As(d.A, principal.Admin), nil)) == 1 }, patience, tick)
		require.Len(t, d.told(asAgent, nil), 1, "who has it already is not told again")
		require.Empty(t, d.told(d.As(d.B, principal.Owner), nil))
	})
}

// People can list and mark only their own notifications.
func TestNotificationsAreEachPersonsOwn(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		agent := d.A.Users[principal.Agent]
		asAgent, asAdmin := d.As(d.A, principal.Agent), d.As(d.A, principal.Admin)
		d.file(principal.Owner, "One", agent)
		d.file(principal.Owner, "Two", agent)
		require.Eventually(t, func() bool { return len(d.told(asAgent, new(true))) == 2 }, patience, tick)
		first := d.told(asAgent, nil)[0]
		mark := func(ctx context.Context) int {
			return testkit.Run(t, d.World, ctx, notice.MarkRead, notice.MarkReadInput{IDs: []string{first.ID}}).Marked
		}
		require.Zero(t, mark(asAdmin))
		require.Len(t, d.told(asAgent, new(true)), 2)
		require.Equal(t, 1, mark(asAgent))
		require.Zero(t, mark(asAgent), "it is read")
		require.Len(t, d.told(asAgent, new(true)), 1)
		require.Equal(t, first.ID, d.told(asAgent, new(false))[0].ID)
		_, _, err := op.Run(asAgent, d.Engine, notice.MarkRead, notice.MarkReadInput{}, nil)
		require.Equal(t, "ids", apperr.From(err).Details[0].Field)
	})
}

// With the channel digest, a person gets one mail a day with what is unread by then. What policies hide by then is in no mail and in no
// list.
func TestDigest(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		agent := d.A.Users[principal.Agent]
		asAgent := d.As(d.A, principal.Agent)
		testkit.Run(t, d.World, asAgent, notice.UpdateSettings, notice.Setting{Kind: notice.Assigned, Channel: "digest"})
		for _, title := range []string{"Secret", "Two", "Three", "One"} {
			d.file(principal.Owner, title, agent)
		}
		require.Eventually(t, func() bool { return len(d.told(asAgent, nil)) == 4 }, patience, tick)
		hide := policy.NewCondition([]byte(`{"resource.title": "Secret", "principal.role": "agent"}`))
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hide})
		require.Len(t, d.told(asAgent, nil), 3)
		testkit.Run(t, d.World, asAgent, notice.MarkRead, notice.MarkReadInput{IDs: []string{d.told(asAgent, nil)[0].ID}})
		require.Empty(t, d.mails.of(agent))

		d.Clock.SetOffset(24 * time.Hour)
		digests := func() { require.NoError(t, notice.MailDigests(t.Context(), d.Engine, reads)) }
		digests()
		require.Len(t, d.mails.of(agent), 1)
		text := d.mails.of(agent)[0]
		require.True(t, strings.HasPrefix(text, "digest: 2 notifications\n"), text)
		require.Equal(t, 2, strings.Count(text, "- Assigned to you: "), text)
		digests()
		require.Len(t, d.mails.of(agent), 1, "once")
	})
}

// While the mails of one company are written, perhaps slowly, its next run waits, and those of other companies do not.
func TestCompaniesTakeTurns(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		mails := &letters{sent: map[string][]string{}, note: map[string][]bool{}}
		w.Engine.Mailer = mails
		ours, theirs := w.A.Users[principal.Agent], w.B.Users[principal.Agent]
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			for _, u := range []*ent.User{ours, theirs} {
				_, err := tx.Notification.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetKind(notification.KindMention).SetSubject("x").SetDigestAt(w.Clock.Now()).Save(ctx)
				if err != nil {
					return err
				}
			}
			for range 2 { // one of them waits, another one is not there
				if err := w.Queue.InsertTx(ctx, tx, notice.DigestArgs{}, time.Time{}); err != nil {
					return err
				}
			}
			return nil
		}))
		places := jobs.NewPlaces(2, 1, 20*time.Millisecond)
		leave, err := places.Take(t.Context(), w.A.Company.ID)
		require.NoError(t, err)
		w.WorkJobs(t, notice.WorkIn(w.Engine, reads, places))
		require.Eventually(t, func() bool { return len(mails.of(theirs)) == 1 }, patience, tick)
		require.Empty(t, mails.of(ours))
		waits := w.Unfinished(t, w.A.Company.ID)
		require.Len(t, waits, 1, "one run at a time")
		require.Equal(t, "digest_mails", waits[0].Kind)
		leave()
		require.Eventually(t, func() bool { return len(mails.of(ours)) == 1 }, patience, tick)
	})
}

// A notice of a task that ended before it could be given is no failure, and is not tried again.
func TestWhatEndedIsNotTold(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		ctx := principal.System(t.Context(), "test")
		require.NoError(t, d.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return d.Queue.InsertTx(ctx, tx, notice.Args{Company: d.A.Company.ID, Task: "tsk_ended"}, time.Time{})
		}))
		require.Eventually(t, func() bool { return len(d.Unfinished(t, d.A.Company.ID)) == 0 }, 10*time.Second, tick)
	})
}

// Notifications that are hidden push none out that is not: a digest lists the first hundred that are visible, and says that there are more.
func TestDigestOfMany(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		agent := d.A.Users[principal.Agent]
		owner := d.As(d.A, principal.Owner)
		testkit.Run(t, d.World, d.As(d.A, principal.Agent), notice.UpdateSettings, notice.Setting{Kind: notice.Assigned, Channel: "digest"})
		secret, open := d.file(principal.Owner, "Secret", d.A.Owner), d.file(principal.Owner, "Open", d.A.Owner)
		hide := policy.NewCondition([]byte(`{"resource.title": "Secret", "principal.role": "agent"}`))
		testkit.Run(t, d.World, owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hide})
		tell := func(n int, of *ent.Request) {
			require.NoError(t, d.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
				for range n {
					err := tx.Notification.Create().SetUserID(agent.ID).SetKind(notice.Assigned).SetSubject(of.Title).SetRequestID(of.ID).SetDigestAt(d.Clock.Now()).Exec(ctx)
					if err != nil {
						return err
					}
				}
				return nil
			}))
		}
		digest := func() string {
			d.Clock.SetOffset(d.Clock.Offset() + time.Minute)
			require.NoError(t, notice.MailDigests(t.Context(), d.Engine, reads))
			mails := d.mails.of(agent)
			return mails[len(mails)-1]
		}
		tell(150, secret)
		tell(2, open)
		require.Equal(t, 2, strings.Count(digest(), "- Open"))
		tell(50, secret)
		tell(101, open)
		text := digest()
		require.True(t, strings.HasPrefix(text, "digest: More than 100 notifications\n"), text)
		require.NotContains(t, text, "Secret")
	})
}

// The link in a mail switches off mails of its kind; the link in a digest switches off all kinds with the channel digest.
func TestSwitchOff(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		agent := d.A.Users[principal.Agent]
		asAgent := d.As(d.A, principal.Agent)
		off := func(kind string) {
			err := d.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
				return notice.SwitchOff(ctx, tx, agent.ID, kind)
			})
			require.NoError(t, err)
		}
		channels := func() map[string]string {
			out := map[string]string{}
			for _, s := range testkit.Run(t, d.World, asAgent, notice.GetSettings, struct{}{}) {
				if s.Channel != "now" && s.Kind != notice.Receipt {
					out[s.Kind] = s.Channel
				}
			}
			return out
		}
		off(notice.Assigned)
		require.Equal(t, map[string]string{"assigned": "never"}, channels())
		for _, kind := range []string{notice.Incident, notice.Informed} {
			testkit.Run(t, d.World, asAgent, notice.UpdateSettings, notice.Setting{Kind: kind, Channel: "digest"})
		}
		off(notice.Digest)
		require.Equal(t, map[string]string{"assigned": "never", "incident": "never", "informed": "never"}, channels())
	})
}
