package doors

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/ent/phasevisit"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
)

// Both doors show the same earlier results of a task and of an approval, alone and in lists, to a member who is asked; and nothing to others.
func TestEarlierResultsAreShownAlike(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		member, owner := s.World.A.Users[principal.Member], s.World.A.Owner
		key := s.Key(t, s.World.A, member, apitest.KeyOptions{Scopes: []string{"requests:read"}})
		flow := s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPost, Path: "/v1/workflows", Body: vars{"name": "Purchase", "definition": vars{
			"phases": []vars{
				{"id": "start", "type": "START"}, {"id": "price", "type": "PROCESS", "name": "Ask for the price", "config": vars{"form": vars{"fields": []vars{{"key": "euros", "label": "Price", "type": "number"}}}}},
				{"id": "ask", "type": "APPROVAL", "config": vars{"approvers": []vars{{"type": "user", "id": member.ID}}, "mode": "any"}},
				{"id": "order", "type": "PROCESS", "config": vars{"shows": []string{"price"}}}, {"id": "end", "type": "END"},
			},
			"transitions": []vars{
				{"from": "start", "name": "next", "to": "price"}, {"from": "price", "name": "next", "to": "ask"}, {"from": "ask", "name": "approved", "to": "order"},
				{"from": "ask", "name": "rejected", "to": "end"}, {"from": "order", "name": "next", "to": "end"},
			},
		}}}).ID()
		s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPost, Path: "/v1/workflows/" + flow + "/publish", WantStatus: http.StatusOK})
		asked, others, task := stopped(t, s, flow, member, owner)

		const shown = `shown { phaseId name branch fields { key label type value } }`
		want := []any{vars{"phaseId": "price", "name": "Ask for the price", "branch": nil, "fields": []any{vars{"key": "euros", "label": "Price", "type": "number", "value": 119.5}}}}
		for kind, id := range map[string]string{"approval": asked, "task": task} {
			rest := s.Do(t, apitest.Scenario{As: key, Path: "/v1/" + kind + "s/" + id})
			require.Equal(t, want, rest.Get("data.shown"), rest.Body)
			list := s.Do(t, apitest.Scenario{As: key, Path: "/v1/" + kind + "s"})
			require.Equal(t, want, list.Get("data.0.shown"), list.Body)
			graph := s.Send(t, apitest.Scenario{As: key, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": fmt.Sprintf(`{ %[1]s(id: %[2]q) { %[3]s } %[1]ss { edges { node { id %[3]s } } } }`, kind, id, shown)}})
			require.Equal(t, want, graph.Get("data."+kind+".shown"), graph.Body)
			require.Equal(t, want, graph.Get("data."+kind+"s.edges.0.node.shown"), graph.Body)
		}
		for _, as := range []struct {
			apitest.Caller
			id string
		}{{key, others}, {s.B.OwnerKey, asked}, {s.B.OwnerKey, others}} {
			rest := s.Send(t, apitest.Scenario{As: as.Caller, Path: "/v1/approvals/" + as.id})
			graph := s.Send(t, apitest.Scenario{As: as.Caller, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": fmt.Sprintf(`{ approval(id: %q) { %s } }`, as.id, shown)}})
			require.Equal(t, rest.Text("error"), graph.Text("errors.0.extensions.code"))
			require.Contains(t, []string{"forbidden", "not_found"}, rest.Text("error"))
			require.NotContains(t, string(rest.Body)+string(graph.Body), "119.5")
		}
	})
}

// stopped makes an execution that has been given a price, and asks for two decisions and an order: of the approver and of somebody else.
func stopped(t *testing.T, s *apitest.Server, flow string, approver, other *ent.User) (asked, others, task string) {
	t.Helper()
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, s.World.Store.Write(s.World.As(s.World.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		e := tx.Execution.Create().SetWorkflowID(flow).SetWorkflowVersion(1).SetTrigger(execution.TriggerWebhook).SetStatus(execution.StatusWAITING).SetState(json.RawMessage(`{}`)).SaveX(ctx)
		for i, v := range []struct{ id, kind, output string }{{"start", "START", "null"}, {"price", "PROCESS", `{"euros":119.5,"outcome":"next"}`}} {
			tx.PhaseVisit.Create().SetExecutionID(e.ID).SetNumber(i + 1).SetPhaseID(v.id).SetType(v.kind).SetStatus(phasevisit.StatusCOMPLETED).SetStartedAt(at).
				SetTransition("next").SetOutput(json.RawMessage(v.output)).ExecX(ctx)
		}
		for attempt, who := range []*ent.User{approver, other} {
			raw, err := json.Marshal([]vars{{"type": "user", "id": who.ID}})
			if err != nil {
				return err
			}
			a := tx.Approval.Create().SetExecutionID(e.ID).SetPhaseID("ask").SetVisit(3).SetAttempt(attempt + 1).SetTitle("Ask").SetMode(approval.ModeAny).SetApprovers(raw).SaveX(ctx)
			asked, others = others, a.ID
		}
		task = tx.Task.Create().SetExecutionID(e.ID).SetPhaseID("order").SetVisit(4).SetAttempt(1).SetTitle("Order").SetAssigneeID(approver.ID).SaveX(ctx).ID
		return nil
	}))
	return asked, others, task
}
