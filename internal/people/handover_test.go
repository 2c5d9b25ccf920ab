package people_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/user"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/workflow/schedule"
)

// filed makes a request that is assigned to somebody.
func (w *world) filed(off *ent.Offering, assignee *ent.User) *ent.Request {
	w.t.Helper()
	return must(w.asAdmin, w, request.Create, request.CreateInput{ServiceID: off.ServiceID, OfferingID: off.ID, Title: "R", AssigneeID: &assignee.ID})
}

func (w *world) offering() *ent.Offering {
	w.t.Helper()
	s := must(w.asAdmin, w, catalog.CreateService, catalog.CreateServiceInput{Name: "S"})
	return must(w.asAdmin, w, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: byID(s.ID), Name: "O"})
}

// Whoever goes leaves their open work to a team, or hears how much there is.
func TestDeactivationHandsWorkOver(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		off, desk := w.offering(), must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		open, begun, done, other := w.filed(off, w.agent), w.filed(off, w.agent), w.filed(off, w.agent), w.filed(off, w.admin)
		for _, step := range []struct{ id, status string }{{begun.ID, "IN_PROGRESS"}, {done.ID, "IN_PROGRESS"}, {done.ID, "COMPLETED"}} {
			must(w.asAdmin, w, request.Update, request.UpdateInput{ByID: byID(step.id), Status: op.SetTo(step.status)})
		}
		deactivation := func(team *string) people.DeactivateUserInput {
			return people.DeactivateUserInput{ByID: byID(w.agent.ID), ReassignTo: team}
		}
		theirs := must(w.asOther, w, people.CreateTeam, people.CreateTeamInput{Name: "Theirs"})
		require.Equal(t, []string{"reassignTo"}, fields(refused(w.asAdmin, w, apperr.Validation, people.DeactivateUser, deactivation(&theirs.ID))))

		require.Equal(t, 2, must(w.asAdmin, w, people.DeactivateUser, deactivation(nil)).OpenRequests)
		holds := func(id string, assignee, team *string) {
			t.Helper()
			r := must(w.asAdmin, w, request.Get, byID(id))
			require.Equal(t, []*string{assignee, team}, []*string{r.AssigneeID, r.TeamID})
		}
		holds(open.ID, &w.agent.ID, nil)

		require.Equal(t, 2, must(w.asAdmin, w, people.DeactivateUser, deactivation(&desk.ID)).OpenRequests, "before any were handed over")
		holds(open.ID, nil, &desk.ID)
		holds(begun.ID, nil, &desk.ID)
		holds(done.ID, &w.agent.ID, nil)
		holds(other.ID, &w.admin.ID, nil)
		require.Zero(t, must(w.asAdmin, w, people.DeactivateUser, deactivation(&desk.ID)).OpenRequests)
		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("request.updated"), auditentry.ResourceID(open.ID)).Only(w.asOwner)
		require.NoError(t, err)
		require.Contains(t, string(entry.Changes), desk.ID)
	})
}

// An admin who may not change a request cannot have it moved by sending away whoever holds it.
func TestHandingOverTakesTheRightToEachRequest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		off, desk := w.offering(), must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		plain, private := w.filed(off, w.agent), w.filed(off, w.agent)
		must(w.asAdmin, w, request.Update, request.UpdateInput{ByID: byID(private.ID), Tags: op.SetTo(map[string]string{"private": "yes"})})
		c := policy.NewCondition([]byte(`{"resource.tags.private": "yes"}`))
		must(w.asOwner, w, policy.Create, policy.CreateInput{Name: "P", Effect: "Deny", Action: "*", Resource: "Request", Condition: &c})

		refused(w.asAdmin, w, apperr.Forbidden, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.agent.ID), ReassignTo: &desk.ID})
		require.Equal(t, user.StatusActive, must(w.asAdmin, w, people.GetUser, byID(w.agent.ID)).Status, "all or nothing")
		require.Equal(t, w.agent.ID, *must(w.asAdmin, w, request.Get, byID(plain.ID)).AssigneeID)
		require.Equal(t, 2, must(w.asAdmin, w, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.agent.ID)}).OpenRequests)
	})
}

// Whoever is deactivated while others assign work to them keeps none of it: each assignment is handed over, or refused.
func TestAssigningBesideDeactivation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		off, desk := w.offering(), must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		for round := range 6 {
			goes := w.AddUser(t, w.A, fmt.Sprintf("goes%d@a.test", round), principal.Agent)
			var requests []string
			for range 10 {
				requests = append(requests, w.filed(off, w.admin).ID)
			}
			var all sync.WaitGroup
			for _, id := range requests {
				all.Go(func() {
					_, _, err := op.Run(w.asAdmin, w.Engine, request.Update, request.UpdateInput{ByID: byID(id), AssigneeID: op.SetTo(goes.ID)}, nil)
					if err != nil {
						assert.Equal(t, apperr.Validation, apperr.CodeOf(err), "%v", err)
					}
				})
			}
			all.Go(func() {
				_, _, err := op.Run(w.asAdmin, w.Engine, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(goes.ID), ReassignTo: &desk.ID}, nil)
				assert.NoError(t, err)
			})
			all.Wait()
			left := must(w.asAdmin, w, request.List, request.ListInput{AssigneeID: []string{goes.ID}})
			require.Zero(t, left.Total, "round %d", round)
		}
	})
}

// Rows that name a user hold the user's row until they are there: a deactivation that has begun is waited for.
func TestWhoIsNamedIsHeld(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		goes := w.AddUser(t, w.A, "goes@a.test", principal.Agent)
		off := w.offering()
		open := w.filed(off, w.admin)
		named := map[string]func() error{
			"a requester": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, request.Create, request.CreateInput{ServiceID: off.ServiceID, OfferingID: off.ID, Title: "R", RequesterID: &goes.ID}, nil)
				return err
			},
			"a requester by their address": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, request.Create, request.CreateInput{ServiceID: off.ServiceID, OfferingID: off.ID, Title: "R", RequesterEmail: &goes.Email}, nil)
				return err
			},
			"a watcher": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, request.Watch, request.WatchInput{ByID: byID(open.ID), UserID: &goes.ID}, nil)
				return err
			},
			"a schedule": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, schedule.Create, schedule.CreateInput{
					Name: "S", OfferingID: &off.ID, Request: &schedule.Template{Title: "R", RequesterID: &goes.ID}, Cron: new("0 9 * * MON"), TimeZone: "UTC",
				}, nil)
				return err
			},
			"settings that a mail switches off": func() error {
				return w.Store.Write(principal.System(w.t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
					return notice.SwitchOff(ctx, tx, goes.ID, notice.Progress)
				})
			},
			"a new request": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, request.Create, request.CreateInput{ServiceID: off.ServiceID, OfferingID: off.ID, Title: "R", AssigneeID: &goes.ID}, nil)
				return err
			},
			"a team": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, people.CreateTeam, people.CreateTeamInput{Name: "Held", MemberIDs: []string{goes.ID}}, nil)
				return err
			},
		}
		w.waitsFor(named, func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(goes.ID).SetStatus(user.StatusDeactivated).Exec(ctx)
		})
	})
}

// What names a team in a text holds the team's row: a deletion that has begun is waited for, which no foreign key would do.
func TestTeamThatIsNamedIsHeld(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		off, goes := w.offering(), must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Goes"})
		levels := catalog.SLA{ResponseMinutes: new(10), Escalations: []sla.Escalation{{AfterMinutes: 5, Of: "response", Do: "notify", TeamID: &goes.ID}}}
		w.waitsFor(map[string]func() error{
			"an escalation of a new offering": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: byID(off.ServiceID), Name: "P", SLA: &levels}, nil)
				return err
			},
			"an escalation of an offering": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: byID(off.ID), SLA: op.SetTo(levels)}, nil)
				return err
			},
		}, func(ctx context.Context, tx *store.Tx) error { return tx.Team.DeleteOneID(goes.ID).Exec(ctx) })
	})
}

// waitsFor checks that each call waits for a transaction that changes a row which it names.
func (w *world) waitsFor(named map[string]func() error, change func(context.Context, *store.Tx) error) {
	w.t.Helper()
	type result struct {
		name string
		err  error
	}
	done := make(chan result, len(named))
	w.system(func(ctx context.Context, tx *store.Tx) {
		require.NoError(w.t, change(ctx, tx))
		for name, call := range named {
			go func() { done <- result{name, call()} }()
		}
		select {
		case r := <-done:
			w.t.Errorf("%s did not wait: %v", r.name, r.err)
		case <-time.After(300 * time.Millisecond):
		}
	})
	for range named {
		select {
		case <-done:
		case <-time.After(time.Minute):
			w.t.Fatal("a call does not end")
		}
	}
}

// Much work is handed over by a job that the deactivation's commit begins, with the rights and under the name of who deactivated.
func TestMuchWorkIsHandedOverByAJob(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		off, desk := w.offering(), must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		var ids []string
		for range 3 * people.HandedAtOnce {
			ids = append(ids, w.filed(off, w.agent).ID)
		}
		must(w.asAdmin, w, request.Update, request.UpdateInput{ByID: byID(ids[7]), Tags: op.SetTo(map[string]string{"private": "yes"})})
		c := policy.NewCondition([]byte(`{"resource.tags.private": "yes", "principal.role": "admin"}`))
		deny := must(w.asOwner, w, policy.Create, policy.CreateInput{Name: "P", Effect: "Deny", Action: "update", Resource: "Request", Condition: &c})
		deactivation := people.DeactivateUserInput{ByID: byID(w.agent.ID), ReassignTo: &desk.ID}
		refused(w.asAdmin, w, apperr.Forbidden, people.DeactivateUser, deactivation)
		require.Equal(t, user.StatusActive, must(w.asAdmin, w, people.GetUser, byID(w.agent.ID)).Status, "all or nothing")
		require.Zero(t, w.handOvers())

		must(w.asOwner, w, policy.Delete, byID(deny.ID))
		must(w.asAdmin, w, people.DeactivateUser, deactivation)
		holds := func() int {
			return must(w.asAdmin, w, request.List, request.ListInput{AssigneeID: []string{w.agent.ID}}).Total
		}
		require.Equal(t, len(ids), holds(), "the commit was short")
		require.Equal(t, 1, w.handOvers(), "what remains survives the process")
		defer w.WorkJobs(t, people.Work(w.Engine))()
		require.Eventually(t, func() bool { return holds() == 0 }, time.Minute, 20*time.Millisecond)
		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("request.updated"), auditentry.ResourceID(ids[9])).Only(w.asOwner)
		require.NoError(t, err)
		require.Equal(t, w.admin.ID, entry.ActorID)
		require.Contains(t, string(entry.Changes), desk.ID)
	})
}

// handOvers counts the jobs that hand work over.
func (w *world) handOvers() (n int) {
	for _, j := range w.Unfinished(w.t, w.co) {
		if j.Kind == "people_handover" {
			n++
		}
	}
	return n
}
