package request_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/event"
	entrequest "atrium/ent/request"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/period"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

const day = 24 * time.Hour

// done files a request as its requester, and completes it as staff.
func (w *watch) done(ctx context.Context, o *ent.Offering) *ent.Request {
	w.t.Helper()
	r := w.file(ctx, o)
	w.patch(w.owner, r.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
	return w.patch(w.owner, r.ID, request.UpdateInput{Status: op.SetTo("COMPLETED")})
}

// reopen opens a request again, saying why.
func (w *watch) reopen(ctx context.Context, id string) (*ent.Request, error) {
	r, _, err := op.Run(ctx, w.Engine, request.Reopen, request.ReopenInput{ByID: op.ByID{ID: id}, Reason: new("It broke again.")}, nil)
	return r, err
}

// within sets for how many days requesters may open requests of the offering again.
func (w *watch) within(o *ent.Offering, days int) {
	w.t.Helper()
	testkit.Run(w.t, w.World, w.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, ReopenDays: op.SetTo(days)})
}

// Staff open a completed request again at any time, its requester within the offering's days; nobody else does, and nothing but a
// completed request is opened again.
func TestReopen(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		agent, member := w.As(w.A, principal.Agent), w.As(w.A, principal.Member)
		o := w.offer(catalog.SLA{})
		require.Equal(t, 7, o.ReopenDays, "when the offering does not say it")
		refused := func(ctx context.Context, id string, code apperr.Code) *apperr.Error {
			t.Helper()
			_, err := w.reopen(ctx, id)
			require.Equal(t, code, apperr.CodeOf(err), "%v", err)
			return apperr.From(err)
		}

		r := w.done(member, o)
		refused(w.As(w.B, principal.Owner), r.ID, apperr.NotFound)
		got, err := w.reopen(member, r.ID)
		require.NoError(t, err)
		require.Equal(t, entrequest.StatusIN_PROGRESS, got.Status)
		require.Nil(t, got.CompletedAt)
		require.Equal(t, 1, got.ReopenCount)
		require.True(t, r.AcceptedAt.Equal(*got.AcceptedAt), "it was accepted when it was")
		refused(agent, r.ID, apperr.Conflict)
		e, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(r.ID), auditentry.Action("request.reopened"), auditentry.OutcomeEQ(auditentry.OutcomeAllowed)).Only(w.owner)
		require.NoError(t, err)
		require.Equal(t, w.A.Users[principal.Member].ID, e.ActorID)
		var changes map[string]audit.Change
		require.NoError(t, json.Unmarshal(e.Changes, &changes))
		require.Equal(t, "It broke again.", changes["reason"].To)
		require.Equal(t, "IN_PROGRESS", changes["status"].To)

		w.patch(agent, r.ID, request.UpdateInput{Status: op.SetTo("COMPLETED")})
		w.later(8 * day)
		e1 := refused(member, r.ID, apperr.Forbidden)
		require.Equal(t, "Its requester may open a request again within 7 days of its completion.", e1.Message)
		w.within(o, 30)
		got, err = w.reopen(member, r.ID)
		require.NoError(t, err)
		require.Equal(t, 2, got.ReopenCount, "the days count from its last completion")
		w.patch(agent, r.ID, request.UpdateInput{Status: op.SetTo("COMPLETED")})
		w.within(o, 0)
		require.Equal(t, "Only staff open requests of this offering again.", refused(member, r.ID, apperr.Forbidden).Message)
		w.later(400 * day)
		got = w.patch(agent, r.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")}) // an update does the same
		require.Equal(t, 3, got.ReopenCount)

		var told []string
		list, err := w.Store.Reader().Event.Query().Where(event.SubjectID(r.ID)).Order(event.BySequence()).All(w.owner)
		require.NoError(t, err)
		for _, e := range list {
			var payload struct {
				Data struct{ Status string }
			}
			require.NoError(t, json.Unmarshal(e.Payload, &payload))
			told = append(told, e.Type+" "+payload.Data.Status)
		}
		again := []string{"request.completed COMPLETED", "request.reopened IN_PROGRESS"}
		require.Equal(t, append([]string{"request.created PENDING", "request.accepted IN_PROGRESS", again[0], again[1], again[0], again[1]}, again...), told)

		staffs := w.done(agent, o)
		refused(member, staffs.ID, apperr.Forbidden)
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(run(world, member, request.Update, request.UpdateInput{ByID: op.ByID{ID: staffs.ID}, Status: op.SetTo("IN_PROGRESS")})))
		require.Equal(t, apperr.Conflict, apperr.CodeOf(run(world, agent, request.Accept, op.ByID{ID: staffs.ID})), "accepting is another transition")
		refused(agent, w.file(member, o).ID, apperr.Conflict)
		gone := w.file(member, o)
		w.patch(agent, gone.ID, request.UpdateInput{Status: op.SetTo("CANCELLED")})
		refused(agent, gone.ID, apperr.Conflict)
	})
}

// A public comment of the requester opens a completed request again if the offering's days have not passed; in every other case it is
// a comment and no more.
func TestTheRequestersCommentReopens(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		agent, member, o := w.As(w.A, principal.Agent), w.As(w.A, principal.Member), w.offer(catalog.SLA{})
		for name, c := range map[string]struct {
			days    int
			after   time.Duration
			status  string
			as      context.Context
			said    string
			reopens bool
		}{
			"within the days":       {7, 6 * day, "COMPLETED", member, "public", true},
			"after the days":        {7, 7*day + time.Minute, "COMPLETED", member, "public", false},
			"never":                 {0, 0, "COMPLETED", member, "public", false},
			"cancelled":             {7, 0, "CANCELLED", member, "public", false},
			"staff who answer":      {7, 0, "COMPLETED", agent, "public", false},
			"staff among one other": {7, 0, "COMPLETED", agent, "internal", false},
		} {
			w.within(o, c.days)
			r := w.file(member, o)
			w.patch(agent, r.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
			w.patch(agent, r.ID, request.UpdateInput{Status: op.SetTo(c.status)})
			w.later(c.after)
			require.NoError(t, second(comment(world, c.as, r, c.said)), name)
			got := w.get(r.ID)
			require.Equal(t, c.reopens, got.Status == entrequest.StatusIN_PROGRESS, name)
			n, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(r.ID), auditentry.Action("request.reopened"), auditentry.ActorID(w.A.Users[principal.Member].ID)).Count(w.owner)
			require.NoError(t, err)
			require.Equal(t, got.ReopenCount, n, name)
		}
	})
}

// Access policies bind a reopening as they bind every update, before and after it. Where they refuse it, a comment stays a comment.
func TestPoliciesBindReopening(t *testing.T) {
	t.Parallel()
	for name, condition := range map[string]string{
		"as it is":      `{"principal.role": "member", "resource.status": "COMPLETED"}`,
		"as it becomes": `{"principal.role": "member", "resource.reopenCount": 1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.Each(t, func(t *testing.T, world *testkit.World) {
				w := newWatch(t, world)
				member := w.As(w.A, principal.Member)
				r := w.done(member, w.offer(catalog.SLA{}))
				deny := policy.NewCondition([]byte(condition))
				testkit.Run(t, world, w.owner, policy.Create, policy.CreateInput{Name: "Final", Effect: "Deny", Action: "update", Resource: "Request", Condition: &deny})
				_, err := w.reopen(member, r.ID)
				require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
				require.NoError(t, second(comment(world, member, r, "public")))
				require.Equal(t, entrequest.StatusCOMPLETED, w.get(r.ID).Status)
				_, err = w.reopen(w.As(w.A, principal.Agent), r.ID)
				require.NoError(t, err)
			})
		})
	}
}

// Of several who open a request again at the same moment, one does.
func TestReopeningsRace(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		r := w.done(w.As(w.A, principal.Member), w.offer(catalog.SLA{ResolutionMinutes: new(60)}))
		errs := make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				role := []principal.Role{principal.Member, principal.Agent, principal.Admin}[i%3]
				if role == principal.Member && i > 0 { // or they say something
					errs[i] = second(comment(world, w.As(w.A, role), r, "public"))
					return
				}
				_, errs[i] = w.reopen(w.As(w.A, role), r.ID)
			})
		}
		all.Wait()
		for i, err := range errs {
			if err != nil {
				require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "%d: %v", i, err)
			}
		}
		got := w.get(r.ID)
		require.Equal(t, 1, got.ReopenCount)
		n, err := w.Store.Reader().Event.Query().Where(event.SubjectID(r.ID), event.Type("request.reopened")).Count(w.owner)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

// The clocks of a request that is opened again go on where they stood: the time for which it was complete does not count, a response
// that was met stays met, and what falls due fires once. An escalation without a target goes on, too.
func TestClocksGoOn(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		w.work()
		team := testkit.Run(t, world, w.owner, people.CreateTeam, people.CreateTeamInput{Name: "Second line"})
		o := w.offer(catalog.SLA{ResponseMinutes: new(30), ResolutionMinutes: new(240)})
		only := testkit.Run(t, world, w.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: o.ServiceID}, Name: "Phone", SLA: &catalog.SLA{
			Escalations: []sla.Escalation{{AfterMinutes: 60, Of: "resolution", Do: sla.Reassign, TeamID: &team.ID}},
		}})
		r, plain := w.file(w.owner, o), w.file(w.owner, only)
		for _, id := range []string{r.ID, plain.ID} {
			w.patch(w.owner, id, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
		}
		w.later(30 * time.Minute)
		w.patch(w.owner, r.ID, request.UpdateInput{Waiting: op.SetTo(true)})
		w.later(10 * time.Minute)
		for _, id := range []string{r.ID, plain.ID} { // the wait ends at the moment at which it is complete
			w.patch(w.owner, id, request.UpdateInput{Status: op.SetTo("COMPLETED")})
		}
		require.Equal(t, entrequest.SLAStateMET, *w.get(r.ID).SLAState)
		w.later(5 * day)
		w.settled()
		require.Empty(t, w.told(r.ID), "nothing falls due while it is complete")

		got := w.patch(w.owner, r.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
		require.Equal(t, entrequest.SLAStateON_TRACK, *got.SLAState)
		require.WithinDuration(t, r.CreatedAt.Add(5*day+4*time.Hour+10*time.Minute), *got.ResolutionDueAt, 5*time.Second)
		require.True(t, r.ResponseDueAt.Equal(*got.ResponseDueAt))
		got = w.patch(w.owner, plain.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
		require.NotNil(t, got.SLANextAt)
		w.later(21 * time.Minute)
		w.settled()
		require.Equal(t, team.ID, *w.get(plain.ID).TeamID, "after an hour for which it was open")

		w.later(3 * time.Hour)
		w.settled()
		require.Equal(t, map[string]int{"sla.warning": 1}, w.told(r.ID))
		w.patch(w.owner, r.ID, request.UpdateInput{Status: op.SetTo("COMPLETED")})
		w.later(day)
		got = w.patch(w.owner, r.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS"), Waiting: op.SetTo(true)}) // and waits at once
		require.Equal(t, entrequest.SLAStatePAUSED, *got.SLAState)
		w.patch(w.owner, r.ID, request.UpdateInput{Waiting: op.SetTo(false)})
		w.later(time.Hour)
		w.settled()
		require.Equal(t, map[string]int{"sla.warning": 1, "sla.breached": 1}, w.told(r.ID), "each once")
		got = w.patch(w.owner, r.ID, request.UpdateInput{Status: op.SetTo("COMPLETED")})
		got = w.patch(w.owner, got.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
		require.Equal(t, entrequest.SLAStateBREACHED, *got.SLAState, "what is late stays late")

		from, to := w.Clock.Now().Add(-30*day), w.Clock.Now().Add(day)
		figures := testkit.Run(t, world, w.owner, request.Stats, request.StatsInput{Input: period.Input{From: from, To: to}, By: "service"})
		open, finished := 0, 0
		for _, s := range figures {
			open, finished = open+s.Open, finished+s.Finished
		}
		require.Equal(t, []int{2, 0}, []int{open, finished}, "they count as open")
	})
}
