package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/op/auditlog"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/schedule"
)

// An admin from whom a row is hidden, and who may write policies, does not find out what it says: explanations, replays,
// the decision log and refusals speak only of what the caller may read. A text came out of 79 replays.
func TestHiddenRowsAreNotGuessed(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, admin, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Admin), w.As(w.A, principal.Member)
		hidden := service(t, w, "Merger with Globex", map[string]string{"env": "secret"})
		open := service(t, w, "Wiki", nil)
		write(t, w, "Deny", "read", "Service", `{"resource.tags.env": "secret", "principal.role": ["admin", "member"]}`)
		write(t, w, "Deny", "read", "User", `{"resource.role": "owner", "principal.role": "admin"}`)
		theirs := testkit.Refused(t, w, member, catalog.GetService, op.ByID{ID: hidden.ID}, apperr.Forbidden)
		require.NotEmpty(t, theirs.Reason, "who may not write policies may know which one it was")
		own := testkit.Refused(t, w, admin, catalog.GetService, op.ByID{ID: hidden.ID}, apperr.Forbidden)
		require.Empty(t, own.Reason)
		require.NotEmpty(t, own.DecisionID)

		id := hidden.ID
		testkit.Refused(t, w, admin, policy.Explain, policy.ExplainInput{PrincipalID: w.A.Users[principal.Member].ID, Action: "read", ResourceType: "Service", ResourceID: &id}, apperr.Forbidden)
		testkit.Refused(t, w, admin, policy.Explain, policy.ExplainInput{PrincipalID: w.A.Users[principal.Member].ID, Action: "update", ResourceType: "Service", ResourceID: &id}, apperr.Forbidden)
		id = open.ID
		testkit.Refused(t, w, admin, policy.Explain, policy.ExplainInput{PrincipalID: w.A.Owner.ID, Action: "read", ResourceType: "Service", ResourceID: &id}, apperr.Forbidden)
		require.False(t, testkit.Run(t, w, owner, policy.Explain, policy.ExplainInput{PrincipalID: w.A.Users[principal.Member].ID, Action: "read", ResourceType: "Service", ResourceID: &hidden.ID}).Allowed)
		id = theirs.DecisionID
		testkit.Refused(t, w, admin, policy.Explain, policy.ExplainInput{PrincipalID: w.A.Users[principal.Member].ID, Action: "read", ResourceType: "AccessDecision", ResourceID: &id}, apperr.Forbidden)

		for _, guess := range []string{"M*", "N*"} {
			drafts := []policy.Draft{
				{Effect: "Allow", Action: "*", Resource: "*"},
				{Effect: "Deny", Action: "read", Resource: "Service", Condition: policy.NewCondition([]byte(`{"resource.name": {"glob": "` + guess + `"}}`))},
			}
			require.Empty(t, testkit.Run(t, w, admin, policy.Replay, policy.ReplayInput{Policies: drafts}).Changed, guess)
		}
		drafts := []policy.Draft{{Effect: "Allow", Action: "*", Resource: "*"}}
		require.NotEmpty(t, testkit.Run(t, w, owner, policy.Replay, policy.ReplayInput{Policies: drafts}).Changed, "who reads the row may try drafts on it")

		testkit.Refused(t, w, admin, policy.GetDecision, op.ByID{ID: theirs.DecisionID}, apperr.Forbidden)
		mine := testkit.Run(t, w, admin, policy.GetDecision, op.ByID{ID: own.DecisionID})
		require.Empty(t, mine.DecidedID)
		require.NotContains(t, string(mine.Input), "Globex")
		require.Contains(t, string(mine.Input), `"principal"`)
		list := testkit.Run(t, w, admin, policy.ListDecisions, policy.ListDecisionsInput{})
		require.Len(t, list.Rows, list.Total)
		for _, d := range list.Rows {
			require.Equal(t, w.A.Users[principal.Admin].ID, d.PrincipalID)
			require.NotContains(t, string(d.Input), "Globex")
		}
		require.Contains(t, string(testkit.Run(t, w, owner, policy.GetDecision, op.ByID{ID: theirs.DecisionID}).Input), "Globex")
	})
}

// A replay ends within a second, or is refused.
func TestReplaysAreBounded(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var condition []string
		for i := range 50 {
			condition = append(condition, fmt.Sprintf(`"resource.tags.t%d": {"nin": ["a", "${principal.id}", "${principal.attributes.x}"], "glob": "*a*b*c*", "exists": true}`, i))
		}
		var drafts []policy.Draft
		for range 200 {
			drafts = append(drafts, policy.Draft{Effect: "Deny", Action: "*", Resource: "*", Condition: policy.NewCondition([]byte("{" + strings.Join(condition, ", ") + "}"))})
		}
		e := testkit.Refused(t, w, w.As(w.A, principal.Owner), policy.Replay, policy.ReplayInput{Policies: drafts}, apperr.Validation)
		require.Equal(t, "last", e.Details[0].Field)
		_, _, err := op.Run(w.As(w.A, principal.Owner), w.Engine, policy.Replay, policy.ReplayInput{Policies: drafts[:1]}, nil)
		require.NoError(t, err)
	})
}

// What belongs to a hidden row is hidden with it, from lists, look-ups, changes, explanations and the audit log.
func TestOfferingsOfAHiddenServiceAreHidden(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, admin := w.As(w.A, principal.Owner), w.As(w.A, principal.Admin)
		hidden, open := service(t, w, "Merger", map[string]string{"env": "secret"}), service(t, w, "Wiki", nil)
		below, beside := offering(t, w, hidden), offering(t, w, open)
		deny := write(t, w, "Deny", "read", "Service", `{"resource.tags.env": "secret", "principal.role": ["admin", "agent"]}`)

		testkit.Refused(t, w, admin, catalog.GetOffering, op.ByID{ID: below.ID}, apperr.Forbidden)
		testkit.Refused(t, w, admin, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: below.ID}, Name: op.SetTo("x")}, apperr.Forbidden)
		testkit.Refused(t, w, admin, catalog.DeleteOffering, op.ByID{ID: below.ID}, apperr.Forbidden)
		agent := testkit.Refused(t, w, w.As(w.A, principal.Agent), catalog.GetOffering, op.ByID{ID: below.ID}, apperr.Forbidden)
		require.Equal(t, deny.ID, agent.Reason, "the policy that hides the service hides the offering")
		found := testkit.Run(t, w, admin, catalog.LookUpOfferings, paging.ByIDs{IDs: []string{below.ID, beside.ID}})
		require.Len(t, found, 1)
		require.Contains(t, found, beside.ID)
		for _, e := range testkit.Run(t, w, admin, auditlog.ListEntries, auditlog.ListEntriesInput{}).Rows {
			require.NotEqual(t, below.ID, op.Or(e.ResourceID, ""))
		}
		explained := testkit.Run(t, w, owner, policy.Explain, policy.ExplainInput{
			PrincipalID: w.A.Users[principal.Agent].ID, Action: "read", ResourceType: "Offering", ResourceID: &below.ID,
		})
		require.False(t, explained.Allowed)
		require.Equal(t, deny.ID, explained.DecidedBy.ID)
		testkit.Run(t, w, owner, catalog.GetOffering, op.ByID{ID: below.ID})

		write(t, w, "Deny", "read", "Service", `{"principal.role": "admin"}`) // all of them, whatever the row
		testkit.Refused(t, w, admin, catalog.GetOffering, op.ByID{ID: beside.ID}, apperr.Forbidden)
	})
}

// A schedule files against an offering or starts a workflow: what it does not have hides it from nobody, what it has does.
func TestWhatBelongsToNoneIsNotHidden(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, admin := w.As(w.A, principal.Owner), w.As(w.A, principal.Admin)
		daily := "0 9 * * *"
		off := offering(t, w, service(t, w, "Backups", nil))
		s := testkit.Run(t, w, owner, schedule.Create, schedule.CreateInput{
			Name: "Check the backups", Cron: &daily, TimeZone: "UTC", OfferingID: &off.ID, Request: &schedule.Template{Title: "Check them"},
		})
		seen := func() bool {
			list := testkit.Run(t, w, admin, schedule.List, schedule.ListInput{}).Rows
			_, _, err := op.Run(admin, w.Engine, schedule.Get, op.ByID{ID: s.ID}, nil)
			require.Equal(t, len(list) == 1, err == nil, "the list and the look-up say the same: %v", err)
			return err == nil
		}
		require.True(t, seen())
		write(t, w, "Deny", "read", "Workflow", `{"resource.name": "Secret", "principal.role": "admin"}`)
		require.True(t, seen(), "it has no workflow")
		write(t, w, "Deny", "read", "Workflow", `{"principal.role": "admin"}`)
		require.True(t, seen(), "whatever the workflow")
		write(t, w, "Deny", "read", "Offering", `{"resource.name": "Offer", "principal.role": "admin"}`)
		require.False(t, seen(), "its offering is hidden")
	})
}
