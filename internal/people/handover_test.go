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
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
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
		named := map[string]func() error{
			"a new request": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, request.Create, request.CreateInput{ServiceID: off.ServiceID, OfferingID: off.ID, Title: "R", AssigneeID: &goes.ID}, nil)
				return err
			},
			"a team": func() error {
				_, _, err := op.Run(w.asAdmin, w.Engine, people.CreateTeam, people.CreateTeamInput{Name: "Held", MemberIDs: []string{goes.ID}}, nil)
				return err
			},
		}
		done := make(chan error, len(named))
		w.system(func(ctx context.Context, tx *store.Tx) {
			require.NoError(t, tx.User.UpdateOneID(goes.ID).SetStatus(user.StatusDeactivated).Exec(ctx))
			for _, name := range named {
				go func() { done <- name() }()
			}
			select {
			case err := <-done:
				t.Errorf("somebody who leaves was named: %v", err)
			case <-time.After(300 * time.Millisecond):
			}
		})
		for range named {
			<-done
		}
	})
}
