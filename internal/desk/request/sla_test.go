package request_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/event"
	entrequest "atrium/ent/request"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

const (
	patience = time.Minute
	tick     = 10 * time.Millisecond
)

// watch is a world with a movable clock, in which the clocks of requests run.
type watch struct {
	*testkit.World
	t     *testing.T
	owner context.Context
}

func newWatch(t *testing.T, w *testkit.World) *watch {
	return &watch{World: w, t: t, owner: w.As(w.A, principal.Owner)}
}

// work runs the clocks, and what else is given, until the test ends, or stop is called.
func (w *watch) work(more ...jobs.Option) (stop func()) {
	w.t.Helper()
	require.NoError(w.t, timer.Start(w.t.Context(), w.Store, w.Queue))
	return w.WorkJobs(w.t, append(more, request.Clocks(w.Engine))...)
}

// later moves the product's time forward, and looks at the clocks.
func (w *watch) later(d time.Duration) {
	w.t.Helper()
	w.Later(w.t, d)
	require.NoError(w.t, w.Store.Write(principal.System(w.t.Context(), "jobs belong to the installation"), func(ctx context.Context, tx *store.Tx) error {
		return w.Queue.InsertTx(ctx, tx, timer.SweepArgs{}, time.Time{})
	}))
}

// settled waits until nothing is due.
func (w *watch) settled() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		n, err := w.Store.Reader().Request.Query().Where(entrequest.SLANextAtLTE(w.Clock.Now())).Count(w.owner)
		require.NoError(w.t, err)
		return n == 0
	}, patience, tick)
}

func (w *watch) offer(levels catalog.SLA) *ent.Offering {
	w.t.Helper()
	s := testkit.Run(w.t, w.World, w.owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	return testkit.Run(w.t, w.World, w.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop", SLA: &levels})
}

func (w *watch) file(ctx context.Context, o *ent.Offering) *ent.Request {
	w.t.Helper()
	return testkit.Run(w.t, w.World, ctx, request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: "A laptop"})
}

func (w *watch) get(id string) *ent.Request {
	w.t.Helper()
	r, err := w.Store.Reader().Request.Get(w.owner, id)
	require.NoError(w.t, err)
	return r
}

// told returns the number of events of each kind about a request; each has its audit entry.
func (w *watch) told(id string) map[string]int {
	w.t.Helper()
	out := map[string]int{}
	for _, name := range []string{"sla.warning", "sla.breached"} {
		n, err := w.Store.Reader().Event.Query().Where(event.SubjectID(id), event.Type(name)).Count(w.owner)
		require.NoError(w.t, err)
		entries, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(id), auditentry.Action(name), auditentry.ActorName("service levels")).Count(w.owner)
		require.NoError(w.t, err)
		require.Equal(w.t, n, entries, "every event is an audit entry")
		if n > 0 {
			out[name] = n
		}
	}
	return out
}

func (w *watch) patch(ctx context.Context, id string, in request.UpdateInput) *ent.Request {
	w.t.Helper()
	in.ID = id
	return testkit.Run(w.t, w.World, ctx, request.Update, in)
}

// The assignee of a request, or without one its team, hears once that it is due soon and once that it is late. Nobody is
// notified of a request without either, and nobody hears of a request that they may not read.
func TestReminders(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		mails := &letters{sent: map[string][]string{}}
		w.Engine.Mailer = mails
		staff, owner := w.A.Users[principal.Agent], w.A.Users[principal.Owner]
		team := testkit.Run(t, world, w.owner, people.CreateTeam, people.CreateTeamInput{Name: "First line", MemberIDs: []string{staff.ID, w.A.Users[principal.Member].ID}})
		o := w.offer(catalog.SLA{ResolutionMinutes: new(100), WarnAtPercent: op.SetTo(80)})
		mine, ours, nobodys := w.file(w.owner, o), w.file(w.owner, o), w.file(w.owner, o)
		w.patch(w.owner, mine.ID, request.UpdateInput{AssigneeID: op.SetTo(owner.ID), TeamID: op.SetTo(team.ID)})
		w.patch(w.owner, ours.ID, request.UpdateInput{TeamID: op.SetTo(team.ID)})
		mails.take()
		w.work()
		told := func(times int) {
			t.Helper()
			w.settled()
			require.Eventually(t, func() bool {
				mails.mu.Lock()
				defer mails.mu.Unlock()
				return len(mails.sent[owner.Email]) == times && len(mails.sent[staff.Email]) == times
			}, patience, tick)
		}
		w.later(81 * time.Minute)
		told(1)
		w.later(20 * time.Minute)
		told(2)
		require.Equal(t, map[string]int{"sla.warning": 1, "sla.breached": 1}, w.told(nobodys.ID))
		require.Contains(t, strings.Join(mails.sent[owner.Email], "\n"), "It is due to be completed by "+locale.Printer{}.Time(*mine.ResolutionDueAt)+", which is soon.")
		require.Equal(t, map[string]int{owner.Email: 2, staff.Email: 2}, mails.take(), "the member of the team may not read it")
	})
}

// A request passes through its states on track, warning and breached. Each fires once, however often and late the sweep runs.
func TestServiceLevels(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		stop := w.work()
		o := w.offer(catalog.SLA{ResponseMinutes: new(60), ResolutionMinutes: new(240), WarnAtPercent: op.SetTo(80), ByPriority: &sla.ByPriority{URGENT: &sla.Targets{ResolutionMinutes: new(100)}}})
		r := w.file(w.owner, o)
		require.Equal(t, entrequest.SLAStateON_TRACK, *r.SLAState)
		require.Equal(t, r.CreatedAt.Add(time.Hour), *r.ResponseDueAt)
		require.Equal(t, r.CreatedAt.Add(4*time.Hour), *r.ResolutionDueAt)
		require.Equal(t, r.CreatedAt.Add(48*time.Minute), *r.SLANextAt)

		w.later(49 * time.Minute)
		w.settled()
		require.Equal(t, map[string]int{"sla.warning": 1}, w.told(r.ID))
		require.Equal(t, entrequest.SLAStateWARNING, *w.get(r.ID).SLAState)

		stop() // it falls due while nothing runs
		w.later(20 * time.Minute)
		stop = w.work()
		w.settled()
		require.Equal(t, map[string]int{"sla.warning": 1, "sla.breached": 1}, w.told(r.ID))
		require.Equal(t, entrequest.SLAStateBREACHED, *w.get(r.ID).SLAState)
		stop()

		// What has fallen due fires before the caller's change, whether or not a sweep ran.
		on := w.file(w.owner, o)
		w.later(61 * time.Minute)
		got := w.patch(w.owner, on.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
		require.Equal(t, map[string]int{"sla.breached": 1}, w.told(on.ID), "what is late is not due soon")
		require.Equal(t, entrequest.SLAStateBREACHED, *got.SLAState)

		// A pause moves the resolution's due time, and nothing fires during it.
		p := w.file(w.owner, o)
		w.later(10 * time.Minute)
		w.patch(w.owner, p.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
		got = testkit.Run(t, world, w.owner, request.SetWaiting, request.WaitingInput{ByID: op.ByID{ID: p.ID}, Waiting: true})
		require.Equal(t, entrequest.SLAStatePAUSED, *got.SLAState)
		require.Nil(t, got.ResolutionDueAt)
		require.Nil(t, got.SLANextAt)
		w.later(10 * time.Hour)
		got = testkit.Run(t, world, w.owner, request.SetWaiting, request.WaitingInput{ByID: op.ByID{ID: p.ID}, Waiting: false})
		require.Equal(t, entrequest.SLAStateON_TRACK, *got.SLAState)
		require.WithinDuration(t, p.CreatedAt.Add(14*time.Hour), *got.ResolutionDueAt, 5*time.Second)
		require.Empty(t, w.told(p.ID))
		got = w.patch(w.owner, p.ID, request.UpdateInput{Priority: op.SetTo("URGENT")}) // as if it had been urgent from the start
		require.WithinDuration(t, p.CreatedAt.Add(10*time.Hour+100*time.Minute), *got.ResolutionDueAt, 5*time.Second)
		got = w.patch(w.owner, p.ID, request.UpdateInput{Status: op.SetTo("COMPLETED")})
		require.Equal(t, entrequest.SLAStateMET, *got.SLAState)
		require.Nil(t, got.SLANextAt)

		// Changed levels apply to open requests, as if they had always held.
		q := w.file(w.owner, o)
		done := w.get(p.ID)
		testkit.Run(t, world, w.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{
			ByID: op.ByID{ID: o.ID}, SLA: op.SetTo(catalog.SLA{ResolutionMinutes: new(30)}),
		})
		w.work()
		require.Eventually(t, func() bool {
			got := w.get(q.ID)
			return got.ResponseDueAt == nil && got.ResolutionDueAt.Equal(q.CreatedAt.Add(30*time.Minute))
		}, patience, tick)
		require.Equal(t, done.ResolutionDueAt, w.get(p.ID).ResolutionDueAt, "what has ended stays as it was")

		list := testkit.Run(t, world, w.owner, request.List, request.ListInput{SLAState: []string{"MET"}})
		require.Equal(t, 1, list.Total)
		moment := q.CreatedAt.Add(31 * time.Minute)
		list = testkit.Run(t, world, w.owner, request.List, request.ListInput{DueBefore: &moment})
		require.GreaterOrEqual(t, list.Total, 1)
		none := w.Clock.Now().Add(-24 * 365 * time.Hour)
		require.Zero(t, testkit.Run(t, world, w.owner, request.List, request.ListInput{DueBefore: &none}).Total)
	})
}

// Staff mark a request as waiting; a public comment of its requester ends that. Members and other companies may not.
func TestWaitingAndSnooze(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		agent, member := w.As(w.A, principal.Agent), w.As(w.A, principal.Member)
		o := w.offer(catalog.SLA{ResolutionMinutes: new(240)})
		r := w.file(member, o)
		id := op.ByID{ID: r.ID}
		refused := func(ctx context.Context, code apperr.Code) {
			t.Helper()
			testkit.Refused(t, w.World, ctx, request.SetWaiting, request.WaitingInput{ByID: id, Waiting: true}, code)
		}
		refused(member, apperr.Forbidden)
		refused(w.As(w.B, principal.Owner), apperr.NotFound)
		require.True(t, testkit.Run(t, world, agent, request.SetWaiting, request.WaitingInput{ByID: id, Waiting: true}).Waiting)
		say := func(ctx context.Context, visibility string) {
			testkit.Run(t, world, ctx, request.CreateComment, request.CreateCommentInput{ByID: id, Body: "Here.", Visibility: &visibility})
		}
		say(agent, "public")
		require.True(t, w.get(r.ID).Waiting, "staff owe no answer")
		say(member, "public")
		got := w.get(r.ID)
		require.False(t, got.Waiting)
		require.Equal(t, entrequest.SLAStateON_TRACK, *got.SLAState)

		until := w.Clock.Now().Add(time.Hour)
		got = testkit.Run(t, world, agent, request.Snooze, request.SnoozeInput{ByID: id, Until: &until})
		require.True(t, until.Equal(*got.SnoozedUntil))
		past := w.Clock.Now().Add(-time.Hour)
		_, _, err := op.Run(agent, w.Engine, request.Snooze, request.SnoozeInput{ByID: id, Until: &past}, nil)
		require.Equal(t, "until", apperr.From(err).Details[0].Field)
		require.Nil(t, testkit.Run(t, world, agent, request.Snooze, request.SnoozeInput{ByID: id}).SnoozedUntil)

		w.patch(agent, r.ID, request.UpdateInput{Waiting: op.SetTo(true)})
		got = w.patch(agent, r.ID, request.UpdateInput{Status: op.SetTo("CANCELLED")})
		require.False(t, got.Waiting, "what has ended waits for nobody")
		refused(agent, apperr.Conflict)
	})
}

// Escalations act through operations, as people do: audited, once each. Mails go to people who may read the request.
func TestEscalations(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		mails := &letters{sent: map[string][]string{}}
		w.Engine.Mailer = mails
		team := testkit.Run(t, world, w.owner, people.CreateTeam, people.CreateTeamInput{Name: "Second line", MemberIDs: []string{w.A.Users[principal.Agent].ID, w.A.Users[principal.Member].ID}})
		deleted := testkit.Run(t, world, w.owner, people.CreateTeam, people.CreateTeamInput{Name: "Gone"})
		o := w.offer(catalog.SLA{
			ResponseMinutes: new(60), ResolutionMinutes: new(600), ByPriority: &sla.ByPriority{HIGH: &sla.Targets{ResolutionMinutes: new(80)}},
			Escalations: []sla.Escalation{
				{AfterMinutes: 30, Of: "response", Do: sla.Notify, TeamID: &team.ID},
				{AfterMinutes: 90, Of: "resolution", Do: sla.Raise},
				{AfterMinutes: 95, Of: "resolution", Do: sla.Reassign, TeamID: &team.ID},
				{AfterMinutes: 97, Of: "resolution", Do: sla.Reassign, TeamID: &deleted.ID},
			},
		})
		testkit.Refused(t, w.World, w.owner, people.DeleteTeam, op.ByID{ID: deleted.ID}, apperr.Conflict, "an offering escalates to it")
		require.NoError(t, w.Store.Write(w.owner, func(ctx context.Context, tx *store.Tx) error { return tx.Team.DeleteOneID(deleted.ID).Exec(ctx) }), "as it could be once")
		w.work()
		r := w.file(w.owner, o)
		w.later(31 * time.Minute)
		require.Eventually(t, func() bool {
			mails.mu.Lock()
			defer mails.mu.Unlock()
			return len(mails.sent[w.A.Users[principal.Agent].Email]) == 1
		}, patience, tick)
		require.Len(t, mails.take(), 1, "the member of the team may not read it")
		w.later(70 * time.Minute)
		w.settled()
		got := w.get(r.ID)
		require.Equal(t, entrequest.PriorityHIGH, got.Priority)
		require.Equal(t, &team.ID, got.TeamID)
		require.Equal(t, map[string]int{"sla.breached": 2}, w.told(r.ID), "the response, and the resolution that is shorter now")
		var entries []string
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			var err error
			entries, err = w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(r.ID), auditentry.ActorName("service levels")).
				Order(ent.Asc(auditentry.FieldID)).Select(auditentry.FieldAction).Strings(w.owner)
			require.NoError(c, err)
			require.ElementsMatch(c, []string{
				"request.notified", "sla.breached", "request.escalated", "request.updated", "sla.breached", "request.escalated", "request.updated", "request.escalated",
			}, entries) // the second breach comes with the raise, before there is a team to notify
		}, patience, tick)

		faults := func(levels catalog.SLA) (fields []string) {
			_, _, err := op.Run(w.owner, w.Engine, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, SLA: op.SetTo(levels)}, nil)
			for _, d := range apperr.From(err).Details {
				fields = append(fields, d.Field)
			}
			return fields
		}
		require.Equal(t, []string{"sla.byPriority.URGENT.responseMinutes"}, faults(catalog.SLA{ByPriority: &sla.ByPriority{URGENT: &sla.Targets{ResponseMinutes: new(0)}}}))
		twice := sla.Escalation{AfterMinutes: 1, Of: "response", Do: sla.Raise}
		require.Equal(t, []string{"sla.escalations[1]", "sla.escalations[2].teamId", "sla.escalations[3].teamId", "sla.escalations[4].teamId"}, faults(catalog.SLA{Escalations: []sla.Escalation{
			twice, twice, {AfterMinutes: 1, Of: "response", Do: sla.Reassign}, {AfterMinutes: 2, Of: "response", Do: sla.Raise, TeamID: &team.ID},
			{AfterMinutes: 3, Of: "response", Do: sla.Notify, TeamID: &deleted.ID},
		}}))
		require.Equal(t, []string{"sla.escalations[0].do"}, faults(catalog.SLA{Escalations: []sla.Escalation{{AfterMinutes: 1, Of: "response", Do: "shout"}}}))
	})
}

// Escalations that fall due together, because no sweep ran meanwhile, do the same as if each had fired in its time.
func TestEscalationsThatFallDueTogether(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		raise := func(after int) sla.Escalation {
			return sla.Escalation{AfterMinutes: after, Of: "response", Do: sla.Raise}
		}
		o := w.offer(catalog.SLA{ResponseMinutes: new(600), Escalations: []sla.Escalation{raise(10), raise(20), raise(30)}})
		r := w.file(w.owner, o)
		w.patch(w.owner, r.ID, request.UpdateInput{Priority: op.SetTo("LOW")})
		w.work()
		w.later(25 * time.Minute)
		w.settled()
		require.Equal(t, entrequest.PriorityHIGH, w.get(r.ID).Priority)
		w.later(10 * time.Minute)
		w.settled()
		require.Equal(t, entrequest.PriorityURGENT, w.get(r.ID).Priority)
	})
}

// A changed calendar moves the clocks that use it.
func TestCalendarsMoveClocks(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		c := testkit.Run(t, world, w.owner, workflow.CreateCalendar, workflow.CreateCalendarInput{Name: "Always"})
		o := w.offer(catalog.SLA{ResolutionMinutes: new(60), CalendarID: &c.ID})
		r := w.file(w.owner, o)
		require.Equal(t, r.CreatedAt.Add(time.Hour), *r.ResolutionDueAt)
		testkit.Refused(t, w.World, w.owner, workflow.DeleteCalendar, op.ByID{ID: c.ID}, apperr.Conflict)
		today := r.CreatedAt.Format(time.DateOnly)
		testkit.Run(t, world, w.owner, workflow.UpdateCalendar, workflow.UpdateCalendarInput{ByID: op.ByID{ID: c.ID}, Holidays: op.SetTo([]string{today})})
		w.work()
		midnight := r.CreatedAt.Truncate(24 * time.Hour).Add(24 * time.Hour)
		require.Eventually(t, func() bool { return w.get(r.ID).ResolutionDueAt.Equal(midnight.Add(time.Hour)) }, patience, tick)
	})
}
