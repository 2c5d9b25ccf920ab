package policy_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// write creates a policy as company A's owner; condition is JSON.
func write(t *testing.T, w *testkit.World, effect, action, resource, condition string) *ent.AccessPolicy {
	t.Helper()
	c := policy.NewCondition([]byte(condition))
	return testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{
		Name: effect + " " + action + " " + resource, Effect: effect, Action: action, Resource: resource, Condition: &c,
	})
}

// first returns the policy that every company starts with.
func first(t *testing.T, w *testkit.World) *ent.AccessPolicy {
	t.Helper()
	p, err := w.Store.Reader().AccessPolicy.Query().Only(w.As(w.A, principal.Owner))
	require.NoError(t, err)
	return p
}

// service creates a service as company A's owner.
func service(t *testing.T, w *testkit.World, name string, tags map[string]string) *ent.Service {
	t.Helper()
	return testkit.Run(t, w, w.As(w.A, principal.Owner), catalog.CreateService, catalog.CreateServiceInput{Name: name, Tags: tags})
}

func offering(t *testing.T, w *testkit.World, s *ent.Service) *ent.Offering {
	t.Helper()
	return testkit.Run(t, w, w.As(w.A, principal.Owner), catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Offer"})
}

// names lists the services that the caller sees, which must be as many as the list's total.
func names(t *testing.T, w *testkit.World, ctx context.Context) []string {
	t.Helper()
	out := testkit.Run(t, w, ctx, catalog.ListServices, catalog.ListServicesInput{Page: paging.Page{Sort: "name"}})
	list := []string{}
	for _, s := range out.Rows {
		list = append(list, s.Name)
	}
	require.Len(t, list, out.Total)
	return list
}
