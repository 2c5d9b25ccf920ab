package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

// An update with the values that the row has keeps its etag and updatedAt, and leaves no audit entry: also where the database writes
// documents in another way than the caller (< and & in a condition, the order of keys in working hours).
func TestUpdatesThatChangeNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.Session(t, s.World.A.Owner)
		definition := vars{
			"phases": []vars{
				{"id": "start", "type": "START"}, {"id": "done", "type": "END"},
				{"id": "urgent", "type": "DECISION", "config": vars{"rules": []vars{{"when": `request.priority == "HIGH" && size(request.title) < 5`, "transition": "yes"}}, "default": "no"}},
			},
			"transitions": []vars{{"from": "start", "name": "next", "to": "urgent"}, {"from": "urgent", "name": "yes", "to": "done"}, {"from": "urgent", "name": "no", "to": "done"}},
		}
		hours := vars{"mon": []vars{{"from": "09:00", "to": "12:00"}, {"from": "13:00", "to": "17:30"}}, "sun": []vars{}}
		for name, c := range map[string]struct {
			create, update string
			same, other    vars
		}{
			"workflow": {
				`mutation($in: CreateWorkflowInput!) { it: createWorkflow(input: $in) { row: workflow { id } } }`,
				`mutation($in: UpdateWorkflowInput!) { it: updateWorkflow(input: $in) { row: workflow { etag updatedAt } } }`,
				vars{"name": "W", "definition": definition}, vars{"definition": vars{
					"phases":      []vars{{"id": "start", "type": "START"}, {"id": "done", "type": "END"}},
					"transitions": []vars{{"from": "start", "name": "next", "to": "done"}},
				}},
			},
			"calendar": {
				`mutation($in: CreateCalendarInput!) { it: createCalendar(input: $in) { row: calendar { id } } }`,
				`mutation($in: UpdateCalendarInput!) { it: updateCalendar(input: $in) { row: calendar { etag updatedAt } } }`,
				vars{"name": "C", "workingHours": hours, "exceptions": []vars{{"date": "2026-12-24", "hours": []vars{{"from": "09:00", "to": "12:00"}}}}},
				vars{"workingHours": vars{"mon": []vars{{"from": "09:00", "to": "12:00"}}}},
			},
		} {
			id := ask(t, s, as, c.create, vars{"in": c.same}).Text("data.it.row.id")
			update := func(in vars) *apitest.Answer {
				t.Helper()
				in["id"] = id
				return ask(t, s, as, c.update, vars{"in": in})
			}
			first := update(c.same)
			again := update(c.same)
			for _, a := range []*apitest.Answer{first, again} {
				require.Empty(t, s.Audit(t, a.RequestID()), "%s: nothing has changed", name)
				require.Equal(t, first.Get("data.it.row"), a.Get("data.it.row"), name)
			}
			changed := update(c.other)
			require.Len(t, s.Audit(t, changed.RequestID()), 1, name)
			require.NotEqual(t, first.Text("data.it.row.etag"), changed.Text("data.it.row.etag"), name)
		}
	})
}
