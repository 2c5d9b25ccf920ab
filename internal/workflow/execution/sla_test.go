package execution_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/event"
	"atrium/ent/notification"
	"atrium/ent/predicate"
	"atrium/ent/task"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
	run "atrium/internal/workflow/execution"
)

// posted records the mails of operations by recipient.
type posted struct {
	op.Mailer
	mu   sync.Mutex
	sent map[string][]string
	open []string // whom a mail was sent to that the requester may read as well
}

func (p *posted) Tell(_ context.Context, _ *store.Tx, u *ent.User, t op.Told) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent[u.Email] = append(p.sent[u.Email], t.Subject+"\n"+testkit.Said(t))
	if !t.Note {
		p.open = append(p.open, u.Email)
	}
	return nil
}

func (p *posted) to(email string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent[email]
}

// The levels of a phase bind its task: it is due, it pauses with its request, it is warned of and breached once, and the
// accountable people are notified.
func TestPhasesHaveServiceLevels(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		mails := &posted{sent: map[string][]string{}}
		w.Engine.Mailer = mails
		boss, member := w.A.Users[principal.Admin], w.A.Users[principal.Member]
		id := "work" + strings.Repeat("_", 59) // as long as an id may be
		work := phase(id, "PROCESS", body{"title": "Work"})
		work["sla"] = body{"responseMinutes": 30, "resolutionMinutes": 120, "warnAtPercent": 50}
		work["participants"] = []body{{"role": "accountable", "type": "user", "id": boss.ID}, {"role": "accountable", "type": "user", "id": member.ID}}
		s := open(t, w, line([]body{phase("start", "START", nil), work, phase("done", "END", nil)}))
		w.Engine.Events = append(events.Subscribers{}, run.Follow(w.Queue))
		s.workLogged(io.Discard, request.Clocks(w.Engine, run.TaskClocks))
		r := s.file(nil)
		s.at(r, "WAITING", id)
		of := task.RequestID(r.ID)
		one, err := w.Store.Reader().Task.Query().Where(of).Only(s.ctx)
		require.NoError(t, err)
		require.Equal(t, one.CreatedAt.Add(30*time.Minute), *one.ResponseDueAt)
		require.Equal(t, one.CreatedAt.Add(2*time.Hour), *one.ResolutionDueAt)
		require.Equal(t, one.ResolutionDueAt, one.DueAt)
		require.Equal(t, task.SLAStateON_TRACK, *one.SLAState)
		claimed := testkit.Run(t, w, s.ctx, run.ClaimTask, op.ByID{ID: one.ID})
		require.NotNil(t, claimed.ClaimedAt)

		state := func(want task.SLAState) {
			t.Helper()
			require.Eventually(t, func() bool {
				one, err := w.Store.Reader().Task.Query().Where(of).Only(s.ctx)
				require.NoError(t, err)
				return *one.SLAState == want
			}, patience, tick)
		}
		later := func(d time.Duration) {
			t.Helper()
			w.Later(t, d)
			require.NoError(t, w.Store.Write(principal.System(t.Context(), "jobs belong to the installation"), func(ctx context.Context, tx *store.Tx) error {
				return w.Queue.InsertTx(ctx, tx, timer.SweepArgs{}, time.Time{})
			}))
		}
		wait := func(waiting bool) {
			testkit.Run(t, w, s.ctx, request.SetWaiting, request.WaitingInput{ByID: op.ByID{ID: r.ID}, Waiting: waiting})
		}
		wait(true)
		state(task.SLAStatePAUSED)
		later(5 * time.Hour)
		wait(false)
		state(task.SLAStateON_TRACK)
		later(70 * time.Minute)
		state(task.SLAStateWARNING)
		later(70 * time.Minute)
		state(task.SLAStateBREACHED)
		for _, name := range []string{"sla.warning", "sla.breached"} {
			e, err := w.Store.Reader().Event.Query().Where(event.SubjectID(r.ID), event.Type(name)).Only(s.ctx)
			require.NoError(t, err, "%s: the resolution alone, once", name)
			require.Contains(t, string(e.Payload), `work`)
		}
		require.Eventually(t, func() bool { return len(mails.to(boss.Email)) == 1 }, patience, tick)
		require.Empty(t, mails.to(member.Email), "who may not read the request is not told")
		ended := testkit.Run(t, w, s.ctx, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: one.ID}})
		require.Equal(t, task.SLAStateBREACHED, *ended.SLAState)
		require.Nil(t, ended.SLANextAt)
	})
}

// One change of a calendar that makes several tasks late tells whoever is accountable for them once, by one mail that lists their requests.
func TestOneCalendarIsOneMail(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		mails := &posted{sent: map[string][]string{}}
		w.Engine.Mailer = mails
		boss := w.A.Users[principal.Admin]
		day := func(days int) workflow.Exception {
			return workflow.Exception{Date: w.Clock.Now().AddDate(0, 0, days).Format(time.DateOnly), Hours: []workflow.WorkingTime{{From: "00:00", To: "24:00"}}}
		}
		cal := testkit.Run(t, w, w.As(w.A, principal.Owner), workflow.CreateCalendar, workflow.CreateCalendarInput{
			Name: "The day after tomorrow", WorkingHours: &workflow.WorkingHours{}, Exceptions: []workflow.Exception{day(2)},
		})
		work := phase("work", "PROCESS", body{"title": "Work"})
		work["sla"] = body{"resolutionMinutes": 1, "calendarId": cal.ID}
		work["participants"] = []body{{"role": "accountable", "type": "user", "id": boss.ID}}
		s := open(t, w, line([]body{phase("start", "START", nil), work, phase("done", "END", nil)}))
		w.Engine.Events = append(events.Subscribers{}, run.Follow(w.Queue))
		s.workLogged(io.Discard, request.Clocks(w.Engine, run.TaskClocks), notice.Work(w.Engine, notice.Reads{Request: request.Get.Info()}))
		var filed []*ent.Request
		for range 3 {
			r := s.file(nil)
			s.at(r, "WAITING", "work")
			filed = append(filed, r)
		}
		w.Later(t, 5*time.Minute)
		testkit.Run(t, w, s.ctx, workflow.UpdateCalendar, workflow.UpdateCalendarInput{
			ByID: op.ByID{ID: cal.ID}, Exceptions: op.SetTo([]workflow.Exception{day(-1), day(0), day(1)}),
		})
		told := func(where ...predicate.Notification) int {
			n, err := w.Store.Reader().Notification.Query().Where(append(where, notification.UserID(boss.ID), notification.KindEQ(notification.KindBreached))...).Count(s.ctx)
			require.NoError(t, err)
			return n
		}
		require.Eventually(t, func() bool { return told() == 3 }, patience, tick)
		require.Empty(t, mails.to(boss.Email), "the mail waits for all of them")
		w.Later(t, 3*time.Minute)
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "jobs belong to the installation"), func(ctx context.Context, tx *store.Tx) error {
			return w.Queue.InsertTx(ctx, tx, notice.DigestArgs{}, time.Time{})
		}))
		require.Eventually(t, func() bool { return told(notification.DigestAtNotNil()) == 0 }, patience, tick)
		got := mails.to(boss.Email)
		require.Len(t, got, 1)
		for _, r := range filed {
			require.Contains(t, got[0], fmt.Sprintf("- Late: #%d A laptop", r.Number))
		}
	})
}
