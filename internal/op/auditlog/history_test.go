package auditlog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/auditlog"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// Staff see who did what to a request, without the addresses that the audit log has. Members, and other companies, do not.
func TestRequestHistory(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, staff, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent), w.As(w.A, principal.Member)
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
		r := testkit.Run(t, w, member, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop"})
		id := op.ByID{ID: r.ID}
		testkit.Run(t, w, staff, request.Accept, id)
		testkit.Run(t, w, owner, request.Update, request.UpdateInput{ByID: id, Priority: op.SetTo("HIGH")})

		var actions, actors []string
		for _, e := range testkit.Run(t, w, staff, auditlog.RequestHistory, id) {
			actions, actors = append(actions, e.Action), append(actors, e.ActorID)
			require.Empty(t, e.IP+e.UserAgent+e.RequestID)
		}
		require.Equal(t, []string{"request.updated", "request.accepted", "request.created"}, actions)
		require.Equal(t, []string{w.A.Owner.ID, w.A.Users[principal.Agent].ID, w.A.Users[principal.Member].ID}, actors)
		refused := func(as principal.Role, t2 *testkit.Tenant) apperr.Code {
			_, _, err := op.Run(w.As(t2, as), w.Engine, auditlog.RequestHistory, id, nil)
			return apperr.CodeOf(err)
		}
		require.Equal(t, apperr.Forbidden, refused(principal.Member, w.A))
		require.Equal(t, apperr.NotFound, refused(principal.Owner, w.B))
		hide := policy.NewCondition([]byte(`{"resource.title": "A laptop", "principal.role": "agent"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hide})
		require.Equal(t, apperr.Forbidden, refused(principal.Agent, w.A))
	})
}
