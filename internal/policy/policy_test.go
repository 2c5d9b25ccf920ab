package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/decisionlog"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
)

// Every company, and its sandbox, starts with one policy under which nothing is denied.
func TestFirstPolicy(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		p := first(t, w)
		require.Equal(t, "Allow", string(p.Effect))
		require.Equal(t, []string{"*", "*", "{}"}, []string{p.Action, p.Resource, string(p.Condition)})
		n, err := w.Store.Reader().AccessPolicy.Query().Count(principal.System(context.Background(), "test"))
		require.NoError(t, err)
		require.Equal(t, 4, n)
	})
}

// A policy's changes are kept: what, who, and what it said before. It is the company's alone, and the roles'.
func TestVersions(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, admin := w.As(w.A, principal.Owner), w.As(w.A, principal.Admin)
		p := write(t, w, "Deny", "delete", "Service", `{"resource.tags.env": "prod"}`)
		p = testkit.Run(t, w, admin, policy.Update, policy.UpdateInput{ByID: op.ByID{ID: p.ID}, Enabled: op.SetTo(false)})
		require.Equal(t, 2, p.Version)
		require.False(t, p.Enabled)
		c := policy.NewCondition([]byte(`{"resource.status": {"ne": "draft"}}`))
		p = testkit.Run(t, w, admin, policy.Update, policy.UpdateInput{ByID: op.ByID{ID: p.ID}, Condition: op.SetTo(c), Name: op.SetTo("Other")})
		versions := testkit.Run(t, w, owner, policy.VersionsOf, paging.OfParents{IDs: []string{p.ID}})[p.ID]
		require.Equal(t, 3, versions.Total)
		newest := versions.Rows[0]
		require.Equal(t, w.A.Users[principal.Admin].ID, newest.ActorID)
		require.JSONEq(t, `{"name":"Deny delete Service","description":"","enabled":false,"effect":"Deny","action":"delete","resource":"Service","condition":{"resource.tags.env":"prod"}}`, string(newest.Before))
		require.Empty(t, versions.Rows[2].Before)
		testkit.Run(t, w, owner, policy.Delete, op.ByID{ID: p.ID})
		n, err := w.Store.Reader().AccessPolicyVersion.Query().Count(owner)
		require.NoError(t, err)
		require.Equal(t, 4, n)

		testkit.Refused(t, w, owner, policy.Get, op.ByID{ID: p.ID}, apperr.NotFound)
		testkit.Refused(t, w, w.As(w.B, principal.Owner), policy.Get, op.ByID{ID: first(t, w).ID}, apperr.NotFound)
		testkit.Refused(t, w, w.As(w.A, principal.Agent), policy.List, policy.ListInput{}, apperr.Forbidden)
		actions, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceType("AccessPolicy")).Order(auditentry.ByID()).Select(auditentry.FieldAction).Strings(owner)
		require.NoError(t, err)
		require.Equal(t, []string{"accesspolicy.created", "accesspolicy.updated", "accesspolicy.updated", "accesspolicy.deleted", "accesspolicy.read"}, actions[:5])
	})
}

// What is wrong with a policy is named, when it is saved and when it is only checked.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	owner := w.As(w.A, principal.Owner)
	c := policy.NewCondition([]byte(`{"resource.color": "red", "resource.name": {"like": "x"}}`))
	e := testkit.Refused(t, w, owner, policy.Create, policy.CreateInput{Name: "x", Effect: "Deny", Action: "read", Resource: "Service", Condition: &c}, apperr.Validation)
	require.Equal(t, "condition.resource.color", e.Details[0].Field)
	require.Equal(t, "condition.resource.name", e.Details[1].Field)
	v := testkit.Run(t, w, owner, policy.Validate, policy.ValidateInput{Draft: policy.Draft{Effect: "Deny", Action: "read", Resource: "Service", Condition: c}})
	require.Equal(t, policy.Validity{Details: e.Details}, v)
	twice := policy.NewCondition([]byte(`{"resource.name": "a", "resource.name": "b"}`))
	e = testkit.Refused(t, w, owner, policy.Create, policy.CreateInput{Name: "x", Effect: "Deny", Action: "read", Resource: "Service", Condition: &twice}, apperr.Validation)
	require.Equal(t, "body", e.Details[0].Field)
	p := first(t, w)
	e = testkit.Refused(t, w, owner, policy.Update, policy.UpdateInput{ByID: op.ByID{ID: p.ID}, Action: op.SetTo("list")}, apperr.Validation)
	require.Equal(t, "action", e.Details[0].Field)
	require.True(t, testkit.Run(t, w, owner, policy.Validate, policy.ValidateInput{Draft: policy.Draft{Effect: "Allow", Action: "*", Resource: "*"}}).Valid)
}

// The 201st policy is a conflict, however many are made at once.
func TestLimit(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		require.NoError(t, w.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
			for i := range policy.Limit - 4 {
				err := tx.AccessPolicy.Create().SetName(fmt.Sprint(i)).SetEffect("Deny").SetAction("delete").SetResource("Secret").
					SetCondition([]byte(`{"resource.name": "none"}`)).SetCreatedBy("usr_1").Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		}))
		var wg sync.WaitGroup
		codes := make([]apperr.Code, 8)
		for i := range codes {
			wg.Go(func() {
				_, _, err := op.Run(owner, w.Engine, policy.Create, policy.CreateInput{Name: "x", Effect: "Deny", Action: "delete", Resource: "Secret"}, nil)
				if err != nil {
					codes[i] = apperr.CodeOf(err)
				}
			})
		}
		wg.Wait()
		slices.Sort(codes)
		require.Equal(t, []apperr.Code{"", "", "", apperr.Conflict, apperr.Conflict, apperr.Conflict, apperr.Conflict, apperr.Conflict}, codes)
	})
}

// What the enabled policies say together is bounded: every statement that they narrow holds all of it.
func TestConditionsTogether(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		condition := map[string]any{}
		for i := range 50 {
			condition[fmt.Sprintf("resource.tags.t%d", i)] = map[string]any{"ne": "a", "exists": true}
		}
		text, err := json.Marshal(condition)
		require.NoError(t, err)
		hundred := policy.NewCondition(text)
		in := policy.CreateInput{Name: "x", Effect: "Deny", Action: "read", Resource: "Service", Condition: &hundred}
		var last *ent.AccessPolicy
		for range 10 {
			last = testkit.Run(t, w, owner, policy.Create, in)
		}
		e := testkit.Refused(t, w, owner, policy.Create, in, apperr.Conflict)
		require.Equal(t, "The enabled access policies of a company have at most 1000 conditions together. With this one they would have 1100.", e.Message)
		in.Enabled = new(false)
		off := testkit.Run(t, w, owner, policy.Create, in)
		testkit.Refused(t, w, owner, policy.Update, policy.UpdateInput{ByID: op.ByID{ID: off.ID}, Enabled: op.SetTo(true)}, apperr.Conflict)
		require.False(t, testkit.Run(t, w, owner, policy.Get, op.ByID{ID: off.ID}).Enabled)
		testkit.Run(t, w, owner, policy.Update, policy.UpdateInput{ByID: op.ByID{ID: last.ID}, Enabled: op.SetTo(false)})
		testkit.Run(t, w, owner, policy.Update, policy.UpdateInput{ByID: op.ByID{ID: off.ID}, Enabled: op.SetTo(true)})

		testkit.Run(t, w, owner, policy.Delete, op.ByID{ID: off.ID})
		long := make([]string, 500)
		for i := range long {
			long[i] = strings.Repeat("x", 100) + fmt.Sprint(i)
		}
		text, err = json.Marshal(map[string]any{"resource.name": long})
		require.NoError(t, err)
		list := policy.NewCondition(text)
		in.Enabled, in.Condition = nil, &list
		for range 4 {
			testkit.Run(t, w, owner, policy.Create, in)
		}
		require.Contains(t, testkit.Refused(t, w, owner, policy.Create, in, apperr.Conflict).Message, "256 KiB")
	})
}

// So are their globs, which take longest to decide by.
func TestGlobsTogether(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		condition := map[string]any{}
		for i := range 25 {
			condition[fmt.Sprintf("resource.tags.t%d", i)] = map[string]any{"glob": "a*"}
		}
		text, err := json.Marshal(condition)
		require.NoError(t, err)
		globs := policy.NewCondition(text)
		in := policy.CreateInput{Name: "x", Effect: "Deny", Action: "read", Resource: "Service", Condition: &globs}
		testkit.Run(t, w, owner, policy.Create, in)
		testkit.Run(t, w, owner, policy.Create, in)
		e := testkit.Refused(t, w, owner, policy.Create, in, apperr.Conflict)
		require.Equal(t, "The enabled access policies of a company have at most 50 globs together. With this one they would have 75.", e.Message)
	})
}

// Without any Allow that matches the answer is no, for owners too; they keep reading and writing policies, and nobody else
// does.
func TestLockedOut(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, admin := w.As(w.A, principal.Owner), w.As(w.A, principal.Admin)
		s := service(t, w, "Wiki", nil)
		p := first(t, w)
		testkit.Run(t, w, owner, policy.Delete, op.ByID{ID: p.ID})
		require.Empty(t, names(t, w, owner), "a list is empty, never refused")
		e := testkit.Refused(t, w, owner, catalog.GetService, op.ByID{ID: s.ID}, apperr.Forbidden)
		require.Empty(t, e.Reason)
		require.NotEmpty(t, e.DecisionID)
		testkit.Refused(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "New"}, apperr.Forbidden)
		require.Empty(t, testkit.Run(t, w, admin, policy.List, policy.ListInput{}).Rows)
		testkit.Refused(t, w, admin, policy.Create, policy.CreateInput{Name: "x", Effect: "Allow", Action: "*", Resource: "*"}, apperr.Forbidden)
		write(t, w, "Deny", "*", "*", `{}`)
		require.Len(t, testkit.Run(t, w, owner, policy.List, policy.ListInput{}).Rows, 1)
		write(t, w, "Allow", "*", "*", `{}`)
		require.Empty(t, names(t, w, owner), "a denial beats every permission")
		require.Len(t, names(t, w, w.As(w.B, principal.Owner)), 0)
		testkit.Run(t, w, w.As(w.B, principal.Owner), catalog.CreateService, catalog.CreateServiceInput{Name: "Wiki"})
	})
}

// A change needs the row as it is and the row as it would become to be allowed; a create, the row as it would become.
func TestBeforeAndAfter(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		dev, prod := service(t, w, "Dev", map[string]string{"env": "dev"}), service(t, w, "Prod", map[string]string{"env": "prod"})
		p := write(t, w, "Deny", "update", "Service", `{"resource.tags.env": "prod"}`)
		create := write(t, w, "Deny", "create", "Service", `{"resource.tags.env": "prod"}`)
		rename := func(id string) policyUpdate { return policyUpdate{ByID: op.ByID{ID: id}, Name: op.SetTo("Renamed")} }
		testkit.Run(t, w, owner, catalog.UpdateService, rename(dev.ID))
		require.Equal(t, p.ID, testkit.Refused(t, w, owner, catalog.UpdateService, rename(prod.ID), apperr.Forbidden).Reason, "as it is")
		e := testkit.Refused(t, w, owner, catalog.UpdateService, policyUpdate{ByID: op.ByID{ID: dev.ID}, Tags: op.SetTo(map[string]string{"env": "prod"})}, apperr.Forbidden)
		require.Equal(t, p.ID, e.Reason, "as it would become")
		after, err := w.Store.Reader().Service.Get(owner, dev.ID)
		require.NoError(t, err)
		require.Equal(t, "dev", after.Tags["env"], "nothing of it stays")
		e = testkit.Refused(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "More", Tags: map[string]string{"env": "prod"}}, apperr.Forbidden)
		require.Equal(t, create.ID, e.Reason)
		testkit.Run(t, w, owner, catalog.DeleteService, op.ByID{ID: prod.ID})
		require.Equal(t, []string{"Renamed"}, names(t, w, owner))
	})
}

type policyUpdate = catalog.UpdateServiceInput

// Policies ask who calls: by role, attributes and teams, which count as soon as they change.
func TestCallers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, agent, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent), w.As(w.A, principal.Member)
		team := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Ops"})
		ops := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Ops", OwnerTeamID: &team.ID})
		service(t, w, "EU", map[string]string{"region": "eu"})
		write(t, w, "Deny", "read", "Service", `{"resource.ownerTeamId": {"nin": "${principal.teamIds}"}}`)
		write(t, w, "Deny", "read", "Service", `{"resource.tags.region": {"exists": true}, "principal.role": "member", "principal.attributes.region": {"ne": "eu"}}`)
		require.Equal(t, []string{"EU"}, names(t, w, agent))
		require.Equal(t, []string{"EU"}, names(t, w, member), "without the attribute, ne does not hold either")
		set := func(role principal.Role, in people.UpdateUserInput) {
			in.ID = w.A.Users[role].ID
			testkit.Run(t, w, owner, people.UpdateUser, in)
		}
		set(principal.Member, people.UpdateUserInput{Attributes: op.SetTo(map[string]string{"region": "us"})})
		require.Empty(t, names(t, w, member))
		set(principal.Agent, people.UpdateUserInput{TeamIDs: op.SetTo([]string{team.ID})})
		require.Equal(t, []string{"EU", "Ops"}, names(t, w, agent))
		require.Equal(t, ops.ID, testkit.Run(t, w, agent, catalog.GetService, op.ByID{ID: ops.ID}).ID)
	})
}

// What is hidden is counted by invariants all the same: the last owner, what is in use, what is taken.
func TestInvariantsSeeEverything(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, admin := w.As(w.A, principal.Owner), w.As(w.A, principal.Admin)
		s := service(t, w, "Desk", nil)
		off := offering(t, w, s)
		r := testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: off.ID, Title: "Help"})
		write(t, w, "Deny", "read", "Request", `{"resource.title": "Help"}`)
		write(t, w, "Deny", "read", "User", `{"resource.role": "owner"}`)
		require.Zero(t, testkit.Run(t, w, owner, request.List, request.ListInput{}).Total)
		testkit.Refused(t, w, owner, request.Get, op.ByID{ID: r.ID}, apperr.Forbidden)
		testkit.Refused(t, w, admin, catalog.DeleteService, op.ByID{ID: s.ID}, apperr.Conflict)
		testkit.Refused(t, w, admin, people.InviteUser, people.InviteUserInput{Email: w.A.Owner.Email}, apperr.Conflict)
		require.Equal(t, 3, testkit.Run(t, w, admin, people.ListUsers, people.ListUsersInput{}).Total)
		testkit.Refused(t, w, owner, people.UpdateUser, people.UpdateUserInput{ByID: op.ByID{ID: w.A.Owner.ID}, Role: op.SetTo("member")}, apperr.Forbidden)
	})
}

// A draft of policies is tried on what was decided before; nothing of it is in force.
func TestReplay(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Member)
		prod := service(t, w, "Billing", map[string]string{"env": "prod"})
		write(t, w, "Deny", "read", "Service", `{"resource.tags.env": "prod", "principal.role": "member"}`)
		denied := testkit.Refused(t, w, member, catalog.GetService, op.ByID{ID: prod.ID}, apperr.Forbidden)
		testkit.Refused(t, w, member, secret.ListSecrets, secret.ListSecretsInput{}, apperr.Forbidden) // the role's, and stays
		draft := func(effect, action, condition string) policy.Draft {
			return policy.Draft{Effect: effect, Action: action, Resource: "*", Condition: policy.NewCondition([]byte(condition))}
		}
		out := testkit.Run(t, w, owner, policy.Replay, policy.ReplayInput{Policies: []policy.Draft{draft("Allow", "*", `{}`)}})
		require.Equal(t, 2, out.Examined)
		require.Zero(t, out.Allowed)
		require.Len(t, out.Changed, 1)
		require.Equal(t, denied.DecisionID, out.Changed[0].Decision.ID)
		require.False(t, out.Changed[0].Decision.Allowed)
		require.True(t, out.Changed[0].After)
		out = testkit.Run(t, w, owner, policy.Replay, policy.ReplayInput{Policies: []policy.Draft{draft("Allow", "*", `{}`), draft("Deny", "read", `{"resource.name": {"prefix": "Bill"}}`)}})
		require.Empty(t, out.Changed, "the log keeps more than what policies looked at")
		e := testkit.Refused(t, w, owner, policy.Replay, policy.ReplayInput{Policies: []policy.Draft{draft("Allow", "*", `{}`), draft("Deny", "read", `{"resource.x": 1}`)}}, apperr.Validation)
		require.Equal(t, "policies[1].condition.resource.x", e.Details[0].Field)
		require.Empty(t, names(t, w, member))
	})
}

// A share of what is allowed is logged, off the callers' way.
func TestSampledDecisions(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		s := service(t, w, "Wiki", nil)
		w.Engine.Decisions = decisionlog.NewSampler(w.Store, w.Engine.Log, 1)
		testkit.Run(t, w, owner, catalog.GetService, op.ByID{ID: s.ID})
		testkit.Run(t, w, owner, catalog.UpdateService, policyUpdate{ByID: op.ByID{ID: s.ID}, Name: op.SetTo("Book")})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		require.NoError(t, w.Engine.Decisions.Run(ctx)) // what is in the queue is written before it ends
		w.Engine.Decisions = nil
		list := testkit.Run(t, w, owner, policy.ListDecisions, policy.ListDecisionsInput{Outcome: []string{"allowed"}})
		require.Equal(t, 2, list.Total)
		for _, d := range list.Rows {
			require.Equal(t, s.ID, *d.ResourceID)
			require.NotEmpty(t, d.Policies)
			require.NotEmpty(t, d.Bundle)
		}
	})
}

// Every operation is about a resource that policies know, or that is out of their reach for a reason.
func TestEveryResourceIsKnown(t *testing.T) {
	t.Parallel()
	known := authz.Resources()
	for _, info := range op.All() {
		require.True(t, !authz.Bound(info.Resource) || slices.Contains(known, info.Resource), "%s is about %s: add it to authz/resource.go", info.Name, info.Resource)
	}
}

// Policies that cannot be read refuse everything.
func TestUnreadablePoliciesRefuse(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	owner := w.As(w.A, principal.Owner)
	s := service(t, w, "Wiki", nil)
	require.NoError(t, w.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
		return tx.AccessPolicy.Create().SetName("broken").SetEffect("Deny").SetAction("read").SetResource("Service").
			SetCondition([]byte(`{"resource.gone": 1}`)).SetCreatedBy("usr_1").Exec(ctx)
	}))
	w.Store.AuthorityChanged()
	testkit.Refused(t, w, owner, catalog.GetService, op.ByID{ID: s.ID}, apperr.Forbidden)
	testkit.Refused(t, w, owner, catalog.ListServices, catalog.ListServicesInput{}, apperr.Forbidden)
	list := testkit.Run(t, w, owner, policy.List, policy.ListInput{Page: paging.Page{Sort: "name"}})
	require.Equal(t, "broken", list.Rows[1].Name, "owners find it and take it away")
	testkit.Run(t, w, owner, policy.Delete, op.ByID{ID: list.Rows[1].ID})
	require.Len(t, names(t, w, owner), 1)
}
