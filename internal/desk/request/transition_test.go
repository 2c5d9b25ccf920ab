package request_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/ent/event"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Accepting and declining do the same as a change of the status: the same rights, events and audit
// entries.
func TestAcceptAndDecline(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, agent, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent), w.As(w.A, principal.Member)
		s, o := offer(t, w, owner)
		file := func() op.ByID {
			return op.ByID{ID: testkit.Run(t, w, member, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop"}).ID}
		}
		trail := func(id op.ByID, action, kind string) map[string]audit.Change {
			e, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(id.ID), auditentry.Action(action), auditentry.OutcomeEQ(auditentry.OutcomeAllowed)).Only(owner)
			require.NoError(t, err)
			n, err := w.Store.Reader().Event.Query().Where(event.SubjectID(id.ID), event.Type(kind)).Count(owner)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			var changes map[string]audit.Change
			require.NoError(t, json.Unmarshal(e.Changes, &changes))
			return changes
		}

		taken := file()
		r := testkit.Run(t, w, agent, request.Accept, taken)
		require.EqualValues(t, "IN_PROGRESS", r.Status)
		require.NotNil(t, r.AcceptedAt)
		require.NotContains(t, trail(taken, "request.accepted", "request.accepted"), "reason")
		testkit.Refused(t, w, agent, request.Accept, taken, apperr.Conflict, "once")
		testkit.Refused(t, w, member, request.Accept, file(), apperr.Forbidden)

		refused := file()
		blank := request.DeclineInput{ByID: refused, Reason: " "}
		require.Equal(t, "reason", testkit.Refused(t, w, agent, request.Decline, blank, apperr.Validation).Details[0].Field)
		r = testkit.Run(t, w, agent, request.Decline, request.DeclineInput{ByID: refused, Reason: "We have none."})
		require.EqualValues(t, "CANCELLED", r.Status)
		require.Contains(t, trail(refused, "request.cancelled", "request.cancelled"), "reason")
		require.Equal(t, "We have none.", trail(refused, "request.cancelled", "request.cancelled")["reason"].To)
		testkit.Refused(t, w, agent, request.Decline, request.DeclineInput{ByID: refused, Reason: "Again."}, apperr.Conflict)

		testkit.Run(t, w, member, request.Decline, request.DeclineInput{ByID: file(), Reason: "I have one."}) // the caller's own request
		other := op.ByID{ID: testkit.Run(t, w, owner, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A desk"}).ID}
		testkit.Refused(t, w, member, request.Decline, request.DeclineInput{ByID: other, Reason: "No."}, apperr.Forbidden)
		testkit.Refused(t, w, w.As(w.B, principal.Owner), request.Accept, other, apperr.NotFound)
	})
}
