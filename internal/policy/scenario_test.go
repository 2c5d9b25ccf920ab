package policy_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/auditlog"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// A company denies reading services in production. They are gone for a member, and for everybody: from the list and its
// count, from single reads, as what a request is filed against, as a parent, and from the audit log. An owner can ask
// why. When the policy is gone, they are back, on another node within a second.
func TestDenyReadingProduction(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member, agent, owner := w.As(w.A, principal.Member), w.As(w.A, principal.Agent), w.As(w.A, principal.Owner)
		prod := service(t, w, "Billing", map[string]string{"env": "prod"})
		dev := service(t, w, "Wiki", map[string]string{"env": "dev"})
		none := service(t, w, "Desk", nil)
		off := offering(t, w, prod)
		other := w.Node(t)
		require.Equal(t, []string{"Billing", "Desk", "Wiki"}, names(t, w, member))
		require.Equal(t, []string{"Billing", "Desk", "Wiki"}, names(t, other, member))

		p := write(t, w, "Deny", "read", "Service", `{"resource.tags.env": "prod"}`)
		for _, ctx := range []context.Context{member, agent, owner} {
			require.Equal(t, []string{"Desk", "Wiki"}, names(t, w, ctx), "in force at once")
		}
		require.Eventually(t, func() bool { return len(names(t, other, member)) == 2 }, time.Second, 10*time.Millisecond)

		hidden := testkit.Refused(t, w, member, catalog.GetService, op.ByID{ID: prod.ID}, apperr.Forbidden)
		require.Equal(t, p.ID, hidden.Reason)
		require.Regexp(t, "^dec_", hidden.DecisionID)
		require.Equal(t, dev.ID, testkit.Run(t, w, member, catalog.GetService, op.ByID{ID: dev.ID}).ID)
		testkit.Refused(t, w, member, catalog.GetService, op.ByID{ID: "svc_nothing"}, apperr.NotFound)
		testkit.Refused(t, w, w.As(w.B, principal.Owner), catalog.GetService, op.ByID{ID: prod.ID}, apperr.NotFound)

		require.Empty(t, testkit.Refused(t, w, owner, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: prod.ID}, Name: op.SetTo("x")}, apperr.Forbidden).Reason,
			"who may write policies is not told which one hides a row")
		testkit.Refused(t, w, owner, catalog.DeleteService, op.ByID{ID: prod.ID}, apperr.Forbidden)
		testkit.Refused(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: prod.ID}, Name: "More"}, apperr.Forbidden)
		testkit.Refused(t, w, member, catalog.ListOfferings, catalog.ListOfferingsInput{ByID: op.ByID{ID: prod.ID}}, apperr.Forbidden)
		faulty := testkit.Refused(t, w, member, request.Create, request.CreateInput{ServiceID: prod.ID, OfferingID: off.ID, Title: "Help"}, apperr.Validation)
		require.Equal(t, "serviceId", faulty.Details[0].Field)

		entries := testkit.Run(t, w, owner, auditlog.ListEntries, auditlog.ListEntriesInput{Page: paging.Page{Size: 100}})
		require.Len(t, entries.Rows, entries.Total)
		about := map[string]int{}
		for _, e := range entries.Rows {
			if e.ResourceID != nil {
				about[*e.ResourceID]++
			}
		}
		require.Zero(t, about[prod.ID])
		require.Positive(t, about[dev.ID])
		require.Positive(t, about[none.ID])
		require.Positive(t, about[p.ID])
		require.Zero(t, testkit.Run(t, w, owner, auditlog.ListEntries, auditlog.ListEntriesInput{ResourceID: []string{prod.ID}}).Total)

		ask := func(id string) policy.ExplainInput {
			return policy.ExplainInput{PrincipalID: w.A.Users[principal.Member].ID, Action: "read", ResourceType: "Service", ResourceID: &id}
		}
		testkit.Refused(t, w, owner, policy.Explain, ask(prod.ID), apperr.Forbidden)
		why := testkit.Run(t, w, owner, policy.Explain, ask(dev.ID))
		require.True(t, why.Allowed)
		require.Equal(t, "Allow everything", why.DecidedBy.Name)
		require.Equal(t, []policy.Unmet{{PolicyID: p.ID, Path: "resource.tags.env", Op: "eq", Want: "prod", Have: "dev"}}, why.Unmet)

		testkit.Refused(t, w, owner, policy.GetDecision, op.ByID{ID: hidden.DecisionID}, apperr.Forbidden)

		testkit.Run(t, w, owner, policy.Delete, op.ByID{ID: p.ID})
		require.Len(t, names(t, w, member), 3)
		require.Eventually(t, func() bool { return len(names(t, other, member)) == 3 }, time.Second, 10*time.Millisecond)
		logged := testkit.Run(t, w, owner, policy.GetDecision, op.ByID{ID: hidden.DecisionID})
		require.False(t, logged.Allowed)
		require.Equal(t, p.ID, logged.DecidedID)
		require.Equal(t, prod.ID, *logged.ResourceID)
		require.Equal(t, w.A.Users[principal.Member].ID, logged.PrincipalID)
		require.Contains(t, string(logged.Input), `"prod"`)

		// What is hidden from others only, an owner can have explained.
		p = write(t, w, "Deny", "read", "Service", `{"resource.tags.env": "prod", "principal.role": "member"}`)
		why = testkit.Run(t, w, owner, policy.Explain, ask(prod.ID))
		require.Equal(t, policy.Explanation{DecidedBy: policy.DecidedBy{Kind: "policy", ID: p.ID, Name: p.Name, Effect: "Deny"}, Unmet: []policy.Unmet{}}, why)
	})
}
