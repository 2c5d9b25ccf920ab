package request_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// However many requests stand before it that the caller may not change, the next one is found.
func TestTakeNextPassesOver(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		_, o := offer(t, w, owner)
		desk := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		c := policy.NewCondition([]byte(`{"resource.title": "Fixed", "principal.role": "agent"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Fix", Effect: "Deny", Action: "update", Resource: "Request", Condition: &c})
		for n := range 46 {
			title := "Fixed"
			if n == 45 {
				title = "Free"
			}
			testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: title, TeamID: &desk.ID})
		}
		got := testkit.Run(t, w, w.As(w.A, principal.Agent), request.TakeNext, request.TakeNextInput{TeamID: desk.ID}).Request
		require.Equal(t, "Free", got.Title)
	})
}

// A caller who takes the next request of an inbox gets the one that is due first; two callers at
// once never get the same one.
func TestTakeNext(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, agent, admin := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent), w.As(w.A, principal.Admin)
		_, o := offer(t, w, owner)
		desk := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		put := func(title string) string {
			t.Helper()
			return testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: title, TeamID: &desk.ID}).ID
		}
		take := request.TakeNextInput{TeamID: desk.ID}
		require.Nil(t, testkit.Run(t, w, agent, request.TakeNext, take).Request, "nothing waits")
		audited := func(id string) int {
			n, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("request.updated"), auditentry.ResourceID(id)).Count(owner)
			require.NoError(t, err)
			return n
		}
		require.Zero(t, audited(""), "nothing has happened")

		snoozed, hidden, first := put("snoozed"), put("Hidden"), put("first")
		testkit.Run(t, w, owner, request.Update, request.UpdateInput{ByID: op.ByID{ID: snoozed}, SnoozedUntil: op.SetTo(w.Clock.Now().Add(time.Hour))})
		c := policy.NewCondition([]byte(`{"resource.title": "Hidden", "principal.role": "agent"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &c})
		fixed := put("Fixed")
		c = policy.NewCondition([]byte(`{"resource.title": "Fixed", "principal.role": "agent"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Fix", Effect: "Deny", Action: "update", Resource: "Request", Condition: &c})
		testkit.Run(t, w, owner, request.Update, request.UpdateInput{ByID: op.ByID{ID: fixed}, Priority: op.SetTo("URGENT")})
		got := testkit.Run(t, w, agent, request.TakeNext, take).Request
		require.Equal(t, first, got.ID, "what the agent may not change waits for others")
		require.Equal(t, 1, audited(first))
		require.Equal(t, w.A.Users[principal.Agent].ID, *got.AssigneeID)
		require.Nil(t, testkit.Run(t, w, agent, request.TakeNext, take).Request)
		require.ElementsMatch(t, []string{hidden, fixed}, []string{
			testkit.Run(t, w, admin, request.TakeNext, take).Request.ID, testkit.Run(t, w, admin, request.TakeNext, take).Request.ID,
		})

		for range 8 {
			put("many")
		}
		var mu sync.Mutex
		taken := map[string]int{}
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				out, _, err := op.Run(admin, w.Engine, request.TakeNext, take, nil)
				if err == nil && out.Request != nil {
					mu.Lock()
					taken[out.Request.ID]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		require.Len(t, taken, 8)
		for id, times := range taken {
			require.Equal(t, 1, times, id)
		}

		for _, as := range []principal.Role{principal.Member} {
			testkit.Refused(t, w, w.As(w.A, as), request.TakeNext, take, apperr.Forbidden)
		}
		_, _, err := op.Run(w.As(w.B, principal.Owner), w.Engine, request.TakeNext, take, nil)
		require.Equal(t, "teamId", apperr.From(err).Details[0].Field)
	})
}

// What is due first comes first, be it the response or the resolution, and what is never due comes last.
func TestTakeNextGoesByEitherTarget(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, agent := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent)
		s, never := offer(t, w, owner)
		desk := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		put := func(offering string) string {
			t.Helper()
			return testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: offering, Title: "R", TeamID: &desk.ID}).ID
		}
		promised := func(name string, level catalog.SLA) string {
			t.Helper()
			return put(testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: name, SLA: &level}).ID)
		}
		last := put(never.ID)
		third := promised("resolved in ten hours", catalog.SLA{ResolutionMinutes: new(600)})
		second := promised("answered in two hours", catalog.SLA{ResponseMinutes: new(120), ResolutionMinutes: new(900)})
		first := promised("resolved in an hour", catalog.SLA{ResolutionMinutes: new(60)})
		for _, want := range []string{first, second, third, last} {
			require.Equal(t, want, testkit.Run(t, w, agent, request.TakeNext, request.TakeNextInput{TeamID: desk.ID}).Request.ID)
		}
	})
}

// Whoever is given a request while somebody takes the next one keeps it: it is not taken from them, and both are not told that it is
// theirs.
func TestTakeNextLeavesWhatWasGiven(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, agent := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent)
		_, o := offer(t, w, owner)
		desk := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		other := w.A.Users[principal.Admin].ID
		for range 30 {
			id := testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: "R", TeamID: &desk.ID}).ID
			var wg sync.WaitGroup
			wg.Go(func() {
				_, _, err := op.Run(agent, w.Engine, request.TakeNext, request.TakeNextInput{TeamID: desk.ID}, nil)
				assert.NoError(t, err)
			})
			wg.Go(func() {
				_, _, err := op.Run(owner, w.Engine, request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, AssigneeID: op.SetTo(other)}, nil)
				assert.NoError(t, err)
			})
			wg.Wait()
			r, err := w.Store.Reader().Request.Get(owner, id)
			require.NoError(t, err)
			require.Equal(t, other, *r.AssigneeID, "who was given it, before or after it was taken")
		}
	})
}
