package trial_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/trial"
)

// A trial goes through all branches of a block, and stops only when none of them has an answer.
func TestTrialsGoThroughBranches(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := body{
			"phases": []body{
				phase("start", "START", nil),
				{"id": "all", "type": "PARALLEL", "branches": []body{{"name": "Order", "start": "order"}, {"name": "Rooms", "start": "each"}, {"name": "Ask", "start": "rest"}}, "end": "met"},
				phase("order", "PROCESS", nil), phase("size", "DECISION", body{"rules": []body{{"when": "phases.order.outcome == 'next'", "transition": "next"}}, "default": "next"}),
				{"id": "each", "type": "FOR_EACH", "in": "request.fields.rooms", "as": "room", "start": "clean", "end": "cleaned"},
				phase("clean", "PROCESS", body{"title": "${phases.each.room}"}), {"id": "cleaned", "type": "JOIN", "next": "count"}, phase("count", "DATA", body{"kind": "enrich", "set": body{"n": "phases.cleaned.results.map(r, r.clean.v)"}}),
				phase("rest", "TIMER", body{"duration": "1h"}), phase("ask", "APPROVAL", body{"mode": "all", "approvers": []body{person(w.A.Users[principal.Admin])}}),
				{"id": "met", "type": "JOIN", "next": "end"}, phase("end", "END", nil),
			},
			"transitions": []body{
				{"from": "start", "name": "next", "to": "all"}, {"from": "order", "name": "next", "to": "size"}, {"from": "size", "name": "next", "to": "met"}, {"from": "clean", "name": "next", "to": "cleaned"},
				{"from": "count", "name": "next", "to": "met"}, {"from": "rest", "name": "next", "to": "ask"}, {"from": "ask", "name": "approved", "to": "met"}, {"from": "ask", "name": "rejected", "to": "met"},
			},
		}
		fields := body{"rooms": []any{"A", "B"}}
		answers := body{"order": body{}, "ask": body{"decision": "APPROVE"}, "clean": []any{body{"variables": body{"v": "a"}}, body{"variables": body{"v": "b"}}}}
		r := run(t, w, d, fields, answers)
		require.Nil(t, r.Stopped)
		require.Equal(t, "COMPLETED", r.Status)
		require.JSONEq(t, `{"n": ["a", "b"]}`, string(step(t, r, "count").Output))
		require.JSONEq(t, `{"completed": ["Order", "Rooms", "Ask"], "cancelled": []}`, string(step(t, r, "met").Output))
		require.Equal(t, "Rooms", *step(t, r, "count").Branch)
		require.Nil(t, step(t, r, "met").Branch)
		require.True(t, *step(t, r, "size").Rules[0].Holds, "a rule reads what its branch has written")
		require.Equal(t, step(t, r, "rest").StartedAt.Add(time.Hour), step(t, r, "ask").StartedAt)
		require.Equal(t, "met", *step(t, r, "all").To)

		delete(answers, "order")
		answers["clean"] = []any{body{"variables": body{"v": "a"}}}
		r = run(t, w, d, fields, answers)
		require.Equal(t, "WAITING", r.Status)
		require.Equal(t, trial.StopAnswer, r.Stopped.Reason)
		require.Equal(t, "answers.order", *r.Stopped.Answer, "the first that is missing")
		require.Equal(t, "COMPLETED", step(t, r, "ask").Status, "the other branches go on")
	})
}
