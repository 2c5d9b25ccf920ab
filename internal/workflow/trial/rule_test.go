package trial_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/trial"
)

// A trial tells whom a rule stands for, or the rule where its sample does not say.
func TestTrialNamesWhomRulesStandFor(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		manager, me := w.A.Users[principal.Member], w.A.Owner
		work := phase("work", "PROCESS", nil)
		work["participants"] = []body{{"role": "responsible", "type": "requester"}, {"role": "informed", "type": "assignee"}}
		d := line([]body{
			phase("start", "START", nil), work,
			phase("ask", "APPROVAL", body{"approvers": []body{{"type": "answer", "answer": "manager"}, {"type": "serviceTeam"}}, "mode": "all"}), phase("end", "END", nil),
		}, body{"from": "ask", "name": "approved", "to": "end"}, body{"from": "ask", "name": "rejected", "to": "end"})
		transitions := d["transitions"].([]body)
		d["transitions"] = transitions[:len(transitions)-1] // an approval has no way out named next
		who := func(list []*trial.Participant) (out []string) {
			for _, one := range list {
				name := "–"
				if one.Name != nil {
					name = *one.Name
				}
				out = append(out, one.Type+" "+one.ID+" "+name)
			}
			return out
		}
		// What a task is answered in the trial names people, too.
		told := line([]body{
			phase("start", "START", nil), phase("name", "PROCESS", body{"form": body{"fields": []body{{"key": "lead", "type": "email"}}}}),
			{"id": "do", "type": "PROCESS", "participants": []body{{"role": "responsible", "type": "answer", "answer": "lead", "phaseId": "name"}}}, phase("end", "END", nil),
		})
		by := run(t, w, told, nil, body{"name": body{"variables": body{"lead": manager.Email}}, "do": body{}})
		require.Equal(t, "COMPLETED", by.Status)
		require.Equal(t, []string{"user " + manager.ID + " " + manager.Name}, who(step(t, by, "do").Asks[0].Who))

		got := run(t, w, d, body{"manager": manager.Email}, body{"work": body{}, "ask": body{"decisions": body{manager.ID: "APPROVE", "serviceTeam": "APPROVE"}}})
		require.Equal(t, "COMPLETED", got.Status)
		require.Equal(t, []string{"user " + me.ID + " " + me.Name}, who(step(t, got, "work").Asks[0].Who), "the sample is the caller's")
		require.Equal(t, []string{"assignee assignee –"}, who(step(t, got, "work").Told))
		require.Equal(t, []string{"user " + manager.ID + " " + manager.Name, "serviceTeam serviceTeam –"}, who(step(t, got, "ask").Asks[0].Who))
	})
}
