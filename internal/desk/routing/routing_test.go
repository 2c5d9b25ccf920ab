package routing_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/event"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/routing"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/strictjson"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// desk is a company with a team of two, and an offering to file against.
type desk struct {
	w      *testkit.World
	owner  context.Context
	off    *ent.Offering
	team   *ent.Team
	people []string // the team's members, in the order of their turns
}

func setup(t *testing.T, w *testkit.World) *desk {
	t.Helper()
	d := &desk{w: w, owner: w.As(w.A, principal.Owner), people: []string{w.A.Users[principal.Agent].ID, w.A.Users[principal.Admin].ID}}
	if d.people[0] > d.people[1] {
		d.people[0], d.people[1] = d.people[1], d.people[0]
	}
	s := testkit.Run(t, w, d.owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	d.off = testkit.Run(t, w, d.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
	d.team = testkit.Run(t, w, d.owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk", MemberIDs: d.people})
	return d
}

func (d *desk) rule(t *testing.T, in routing.CreateInput) *ent.RoutingRule {
	t.Helper()
	if in.Name == "" {
		in.Name = "Rule"
	}
	return testkit.Run(t, d.w, d.owner, routing.Create, in)
}

func (d *desk) file(t *testing.T, as context.Context, in request.CreateInput) *ent.Request {
	t.Helper()
	in.ServiceID, in.OfferingID = d.off.ServiceID, d.off.ID
	if in.Title == "" {
		in.Title = "A laptop"
	}
	return testkit.Run(t, d.w, as, request.Create, in)
}

// The first rule that holds sets team, assignee and priority; the request stores its id, and the history names it.
func TestTheFirstRuleThatHoldsCounts(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		member := w.As(w.A, principal.Member)
		require.Nil(t, d.file(t, member, request.CreateInput{}).RoutingRuleID, "there is no rule yet")

		d.rule(t, routing.CreateInput{When: `request.fields.model == "14 inch"`, Priority: new("LOW")}) // reads a field that most requests do not have
		d.rule(t, routing.CreateInput{When: `true`, Enabled: new(false), Priority: new("LOW")})
		last := d.rule(t, routing.CreateInput{When: `true`, Priority: new("HIGH")})
		first := d.rule(t, routing.CreateInput{When: `request.title.contains("laptop") && request.createdBy != ""`, Position: new(1), TeamID: &d.team.ID, Priority: new("URGENT")})
		require.Equal(t, 3, last.Position, "behind the others")

		r := d.file(t, member, request.CreateInput{Priority: new("LOW")})
		require.Equal(t, "LOW", string(d.file(t, member, request.CreateInput{Title: "x", Fields: strictjson.Object{"model": "14 inch"}}).Priority))
		require.Equal(t, first.ID, *r.RoutingRuleID)
		require.Equal(t, d.team.ID, *r.TeamID)
		require.Nil(t, r.AssigneeID, "it waits in the team's inbox")
		require.EqualValues(t, "URGENT", r.Priority)
		require.EqualValues(t, 4, r.PriorityRank)
		require.Equal(t, last.ID, *d.file(t, member, request.CreateInput{Title: "other"}).RoutingRuleID)

		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(r.ID)).Only(d.owner)
		require.NoError(t, err)
		require.Contains(t, string(entry.Changes), first.ID, "its history says which")
		told, err := w.Store.Reader().Event.Query().Where(event.SubjectID(r.ID)).Only(d.owner)
		require.NoError(t, err)
		require.Contains(t, string(told.Payload), "URGENT")
		require.Nil(t, testkit.Run(t, w, w.As(w.B, principal.Owner), routing.List, routing.ListInput{}).Rows, "another company's")
	})
}

// A rule sees the service levels that the request is about to have, as the API shows them afterwards.
func TestRulesSeeServiceLevels(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		d.rule(t, routing.CreateInput{When: `request.sla == null`, Priority: new("LOW")})
		d.rule(t, routing.CreateInput{When: `request.sla.state == "ON_TRACK" && request.sla.resolutionDueAt < request.createdAt + duration("31m")`, Priority: new("URGENT")})
		require.EqualValues(t, "LOW", d.file(t, d.owner, request.CreateInput{}).Priority)
		testkit.Run(t, w, d.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: d.off.ID}, SLA: op.SetTo(catalog.SLA{ResolutionMinutes: new(30)})})
		require.EqualValues(t, "URGENT", d.file(t, d.owner, request.CreateInput{}).Priority)
	})
}

// A team or an assignee that the caller names is kept; a priority is not.
func TestWhatIsNamedStays(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		other := testkit.Run(t, w, d.owner, people.CreateTeam, people.CreateTeamInput{Name: "Other"})
		d.rule(t, routing.CreateInput{When: `true`, TeamID: &d.team.ID, AssignTo: new("leastLoaded"), Priority: new("HIGH")})
		r := d.file(t, d.owner, request.CreateInput{TeamID: &other.ID, Priority: new("LOW")})
		require.Equal(t, other.ID, *r.TeamID)
		require.Nil(t, r.AssigneeID, "nobody of a team that the rule does not name")
		require.EqualValues(t, "HIGH", r.Priority)
		r = d.file(t, d.owner, request.CreateInput{AssigneeID: &w.A.Owner.ID})
		require.Equal(t, w.A.Owner.ID, *r.AssigneeID)
		require.Equal(t, d.team.ID, *r.TeamID)
	})
}

// What no rule and no caller gives to a team is the team's that the service belongs to.
func TestTheServicesTeamGetsTheRest(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		require.Nil(t, d.file(t, d.owner, request.CreateInput{}).TeamID)
		owning := testkit.Run(t, w, d.owner, people.CreateTeam, people.CreateTeamInput{Name: "Owning"})
		testkit.Run(t, w, d.owner, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: d.off.ServiceID}, OwnerTeamID: op.SetTo(owning.ID)})
		require.Equal(t, owning.ID, *d.file(t, w.As(w.A, principal.Member), request.CreateInput{}).TeamID)
		require.Equal(t, d.team.ID, *d.file(t, d.owner, request.CreateInput{TeamID: &d.team.ID}).TeamID)
		d.rule(t, routing.CreateInput{When: `request.title == "To the desk"`, TeamID: &d.team.ID})
		d.rule(t, routing.CreateInput{When: `request.teamId == null`, Priority: new("HIGH")})
		r := d.file(t, d.owner, request.CreateInput{})
		require.Equal(t, owning.ID, *r.TeamID)
		require.EqualValues(t, "HIGH", r.Priority)
		require.Equal(t, d.team.ID, *d.file(t, d.owner, request.CreateInput{Title: "To the desk"}).TeamID)
	})
}

// roundRobin assigns the members in turn, also under concurrency. Deactivated members have no turn, and without active members
// the request stays in the team's inbox.
func TestRoundRobin(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		rule := d.rule(t, routing.CreateInput{When: `true`, TeamID: &d.team.ID, AssignTo: new("roundRobin")})
		for i := range 4 {
			require.Equal(t, d.people[i%2], *d.file(t, d.owner, request.CreateInput{}).AssigneeID)
		}
		var mu sync.Mutex
		got := map[string]int{}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				r, _, err := op.Run(d.owner, w.Engine, request.Create, request.CreateInput{ServiceID: d.off.ServiceID, OfferingID: d.off.ID, Title: "many"}, nil)
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					got[*r.AssigneeID]++
				}
			})
		}
		wg.Wait()
		require.Equal(t, map[string]int{d.people[0]: 4, d.people[1]: 4}, got)
		after := testkit.Run(t, w, d.owner, routing.Get, op.ByID{ID: rule.ID})
		require.True(t, rule.UpdatedAt.Equal(after.UpdatedAt), "a turn is no change of the rule")

		testkit.Run(t, w, d.owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: d.people[0]}})
		for range 2 {
			require.Equal(t, d.people[1], *d.file(t, d.owner, request.CreateInput{}).AssigneeID)
		}
		testkit.Run(t, w, d.owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: d.people[1]}})
		r := d.file(t, d.owner, request.CreateInput{})
		require.Nil(t, r.AssigneeID)
		require.Equal(t, d.team.ID, *r.TeamID)
	})
}

// The member with the fewest open requests gets the next one; finished requests do not count.
func TestLeastLoaded(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		busy, done := d.people[0], d.people[1]
		for range 2 {
			d.file(t, d.owner, request.CreateInput{AssigneeID: &busy})
		}
		for range 3 {
			r := d.file(t, d.owner, request.CreateInput{AssigneeID: &done})
			testkit.Run(t, w, d.owner, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Status: op.SetTo("CANCELLED")})
		}
		d.rule(t, routing.CreateInput{When: `true`, TeamID: &d.team.ID, AssignTo: new("leastLoaded")})
		for i, want := range []string{done, done, busy, done} {
			require.Equal(t, want, *d.file(t, d.owner, request.CreateInput{}).AssigneeID, i)
		}
	})
}

// A change of a rule counts for the next request, on this node and on others.
func TestChangesCountAtOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		rule := d.rule(t, routing.CreateInput{When: `true`, Priority: new("HIGH")})
		require.EqualValues(t, "HIGH", d.file(t, d.owner, request.CreateInput{}).Priority)
		testkit.Run(t, w, d.owner, routing.Update, routing.UpdateInput{ByID: op.ByID{ID: rule.ID}, Priority: op.SetTo("LOW")})
		require.EqualValues(t, "LOW", d.file(t, d.owner, request.CreateInput{}).Priority)
		testkit.Run(t, w, d.owner, routing.Update, routing.UpdateInput{ByID: op.ByID{ID: rule.ID}, When: op.SetTo("false")})
		require.EqualValues(t, "MEDIUM", d.file(t, d.owner, request.CreateInput{}).Priority)
		testkit.Run(t, w, d.owner, routing.Delete, op.ByID{ID: rule.ID})
		require.Nil(t, d.file(t, d.owner, request.CreateInput{}).RoutingRuleID)

		// Another process changes a rule. This one notices that its cached rules are outdated when it files, at the latest.
		rule = d.rule(t, routing.CreateInput{When: `true`, Priority: new("HIGH")})
		d.file(t, d.owner, request.CreateInput{})
		require.NoError(t, w.Node(t).Store.Write(d.owner, func(ctx context.Context, tx *store.Tx) error {
			return tx.RoutingRule.UpdateOneID(rule.ID).SetPriority("LOW").SetUpdatedAt(rule.UpdatedAt.Add(time.Second)).Exec(ctx)
		}))
		require.EqualValues(t, "LOW", d.file(t, d.owner, request.CreateInput{}).Priority)
	})
}

// A rule that was saved when other expressions were accepted, and does not compile any more, does not hold; filing succeeds.
func TestRulesThatNoLongerCompileDoNotHold(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		old := d.rule(t, routing.CreateInput{When: `true`, Priority: new("HIGH")})
		next := d.rule(t, routing.CreateInput{When: `true`, Priority: new("LOW")})
		require.NoError(t, w.Store.Write(d.owner, func(ctx context.Context, tx *store.Tx) error {
			tx.AuthorityChanged()
			return tx.RoutingRule.UpdateOneID(old.ID).SetWhen(`request.gone(`).Exec(ctx)
		}))
		require.Equal(t, next.ID, *d.file(t, d.owner, request.CreateInput{}).RoutingRuleID)
	})
}

// Rules also apply to callers who may not see the rule's team.
func TestPoliciesHideNoRule(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		c := policy.NewCondition([]byte(`{"principal.role": "member"}`))
		for _, resource := range []string{"Team", "User", "RoutingRule"} {
			testkit.Run(t, w, d.owner, policy.Create, policy.CreateInput{Name: resource, Effect: "Deny", Action: "read", Resource: resource, Condition: &c})
		}
		d.rule(t, routing.CreateInput{When: `true`, TeamID: &d.team.ID, AssignTo: new("roundRobin")})
		r := d.file(t, w.As(w.A, principal.Member), request.CreateInput{})
		require.Equal(t, d.people[0], *r.AssigneeID)
	})
}

// Errors name the field.
func TestFaultyRulesAreRefused(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		theirs := testkit.Run(t, w, w.As(w.B, principal.Owner), people.CreateTeam, people.CreateTeamInput{Name: "Theirs"})
		for field, in := range map[string]routing.CreateInput{
			"when":     {Name: "R", When: `request.nothing == 1`, Priority: new("LOW")},
			"assignTo": {Name: "R", When: `true`, AssignTo: new("roundRobin")},
			"teamId":   {Name: "R", When: `true`, TeamID: &theirs.ID},
			"position": {Name: "R", When: `true`, Position: new(0)},
			"priority": {Name: "R", When: `true`, Priority: new("SOON")},
		} {
			require.Equal(t, field, testkit.Refused(t, w, d.owner, routing.Create, in, apperr.Validation, field).Details[0].Field)
		}
		for source, says := range map[string]string{
			`secrets.TOKEN == "x"`: "request alone", `phases.a.b == 1`: "request alone", `request.title`: "a bool", `request.`: "line 1",
		} {
			_, _, err := op.Run(d.owner, w.Engine, routing.Create, routing.CreateInput{Name: "R", When: source, Priority: new("LOW")}, nil)
			require.Contains(t, fmt.Sprint(apperr.From(err).Details), says, source)
		}
		rule := d.rule(t, routing.CreateInput{When: `true`, TeamID: &d.team.ID, AssignTo: new("roundRobin")})
		_, _, err := op.Run(d.owner, w.Engine, routing.Update, routing.UpdateInput{ByID: op.ByID{ID: rule.ID}, TeamID: op.Clear[string]()}, nil)
		require.Equal(t, "assignTo", apperr.From(err).Details[0].Field)
		testkit.Refused(t, w, d.owner, people.DeleteTeam, op.ByID{ID: d.team.ID}, apperr.Conflict)
		for _, as := range []principal.Role{principal.Agent, principal.Member} {
			testkit.Refused(t, w, w.As(w.A, as), routing.Create, routing.CreateInput{Name: "R", When: `true`}, apperr.Forbidden)
		}
	})
}

// A rule routes, or gives a priority. One that did neither before that was asked can still be renamed, disabled and given something to do.
func TestARuleDoesSomething(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		says := func(err error) []apperr.Detail { return apperr.From(err).Details }
		nothing := []apperr.Detail{{Field: "teamId", Message: "Is required unless priority is given: the rule would do nothing."}}
		_, _, err := op.Run(d.owner, w.Engine, routing.Create, routing.CreateInput{Name: "R", When: `true`}, nil)
		require.Equal(t, nothing, says(err))
		rule := d.rule(t, routing.CreateInput{When: `true`, TeamID: &d.team.ID, Priority: new("LOW")})
		change := func(in routing.UpdateInput) error {
			in.ByID = op.ByID{ID: rule.ID}
			_, _, err := op.Run(d.owner, w.Engine, routing.Update, in, nil)
			return err
		}
		require.Equal(t, nothing, says(change(routing.UpdateInput{TeamID: op.Clear[string](), Priority: op.Clear[string]()})))
		require.NoError(t, change(routing.UpdateInput{TeamID: op.Clear[string]()}), "it gives a priority")
		require.Equal(t, nothing, says(change(routing.UpdateInput{Priority: op.Clear[string]()})))

		require.NoError(t, w.Store.Write(d.owner, func(ctx context.Context, tx *store.Tx) error {
			return tx.RoutingRule.UpdateOneID(rule.ID).ClearPriority().Exec(ctx)
		}))
		require.NoError(t, change(routing.UpdateInput{Name: op.SetTo("Old"), Enabled: op.SetTo(false)}))
		require.Equal(t, nothing, says(change(routing.UpdateInput{Priority: op.Clear[string]()})))
		require.NoError(t, change(routing.UpdateInput{TeamID: op.SetTo(d.team.ID)}))
	})
}

// A condition that takes too long does not hold, and filing succeeds.
func TestCostlyConditionsDoNotHold(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := setup(t, w)
		d.rule(t, routing.CreateInput{When: `request.fields.list.all(a, request.fields.list.all(b, request.fields.list.all(c, a + b + c > 0)))`, Priority: new("HIGH")})
		list := make([]any, 500)
		for i := range list {
			list[i] = 1.0
		}
		r := d.file(t, d.owner, request.CreateInput{Fields: strictjson.Object{"list": list}})
		require.Nil(t, r.RoutingRuleID)
	})
}

// BenchmarkFiling compares filing without rules and with 50, of which the last holds.
func BenchmarkFiling(b *testing.B) {
	for name, w := range map[string]*testkit.World{"sqlite": testkit.SQLiteWorld(b), "postgres": testkit.PostgresWorld(b)} {
		b.Run(name, func(b *testing.B) { filing(b, w) })
	}
}

func filing(b *testing.B, w *testkit.World) {
	owner := w.As(w.A, principal.Owner)
	s, _, err := op.Run(owner, w.Engine, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"}, nil)
	require.NoError(b, err)
	off, _, err := op.Run(owner, w.Engine, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"}, nil)
	require.NoError(b, err)
	in := request.CreateInput{ServiceID: s.ID, OfferingID: off.ID, Title: "A laptop"}
	file := func(b *testing.B) {
		for b.Loop() {
			_, _, err := op.Run(owner, w.Engine, request.Create, in, nil)
			require.NoError(b, err)
		}
	}
	b.Run("without", file)
	for i := range 50 {
		when := fmt.Sprintf(`request.title.contains("%d") && request.priority == "URGENT"`, i)
		if i == 49 {
			when = "true"
		}
		_, _, err := op.Run(owner, w.Engine, routing.Create, routing.CreateInput{Name: "R", When: when, Priority: new("HIGH")}, nil)
		require.NoError(b, err)
	}
	b.Run("fifty", file)
}
