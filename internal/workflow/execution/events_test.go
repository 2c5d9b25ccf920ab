package execution_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/event"
	"atrium/internal/op/events"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Events of one step come in the order in which things happened, each with the state of its moment.
func TestEventsOfAStepInOrder(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		accepts, ends := phase("price", "DATA", body{"kind": "enrich", "set": body{"cents": "1.0"}}), phase("done", "END", nil)
		accepts["requestAction"], ends["requestAction"] = "accept", "complete"
		s := open(t, w, line([]body{phase("start", "START", nil), accepts, ends}))
		s.work()
		r := s.file(nil)
		s.at(r, "COMPLETED", "done")
		rows, err := w.Store.Reader().Event.Query().Where(event.SubjectIDIn(r.ID, *r.ExecutionID)).Order(event.ByCreatedAt(), event.ByID()).All(s.ctx)
		require.NoError(t, err)
		var got []string
		for _, row := range rows {
			var payload struct{ Data struct{ Status string } }
			require.NoError(t, json.Unmarshal(row.Payload, &payload))
			got = append(got, row.Type+" "+payload.Data.Status)
		}
		require.Equal(t, []string{
			"request.created PENDING", "workflow.started RUNNING", "request.accepted IN_PROGRESS", "request.completed COMPLETED", "workflow.completed COMPLETED",
		}, got)
	})
}

// Events of an approval tell of its request what the request's own events tell, so that a receiver need not ask for it.
func TestEventsOfApprovalsTellOfTheirRequest(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		who := w.A.Users[principal.Agent]
		s := open(t, w, asked(body{"mode": "any"}, person(who)))
		s.work()
		r := s.file(nil)
		p := s.pending(r)
		require.NoError(t, s.decide(who, p.ID, "APPROVE"))
		s.at(r, "COMPLETED", "yes")
		for name, status := range map[string]string{events.ApprovalRequested: "PENDING", events.ApprovalDecided: "APPROVED"} {
			e, err := w.Store.Reader().Event.Query().Where(event.SubjectID(p.ID), event.Type(name)).Only(s.ctx)
			require.NoError(t, err)
			var payload struct{ Data events.Approval }
			require.NoError(t, json.Unmarshal(e.Payload, &payload))
			require.Equal(t, events.Approval{
				ID: p.ID, ExecutionID: p.ExecutionID, RequestID: &r.ID, PhaseID: p.PhaseID, Title: p.Title, Status: status,
				Number: r.Number, ServiceID: &r.ServiceID, OfferingID: &r.OfferingID, Priority: string(r.Priority), CreatedBy: r.CreatedBy, Tags: map[string]string{},
			}, payload.Data)
		}
	})
}
