package execution_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/ent/execution"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	run "atrium/internal/workflow/execution"
)

// An execution that waits for help continues in another version. The dry run before shows the result and changes nothing. The
// call of a phase that both versions have keeps its key.
func TestExecutionsMove(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		broken, fixed := receiver.New(t, receiver.Status(http.StatusInternalServerError, "no")), receiver.New(t, receiver.Status(http.StatusOK, "{}"))
		calls := func(to string, before, after body) body {
			return line([]body{phase("start", "START", nil), before, phase("call", "API_CALL", body{"method": "POST", "url": to, "retries": body{"max": 0}}), after, phase("done", "END", nil)})
		}
		price := phase("price", "DATA", body{"kind": "enrich", "set": body{"cents": "90000"}})
		review := phase("review", "PROCESS", nil)
		s := open(t, w, calls(broken.URL, price, review))
		s.work()
		moved, elsewhere := s.file(nil), s.file(nil)
		s.stuck(moved, "call_failed", "The call was answered with 500.")
		s.stuck(elsewhere, "call_failed", "The call was answered with 500.")
		s.publish(calls(fixed.URL, phase("sum", "DATA", body{"kind": "enrich", "set": body{"n": "1"}}), review))

		preview := func(in run.PreviewMoveInput) run.MovePreview {
			return testkit.Run(t, w, s.ctx, run.PreviewMove, in)
		}
		one := op.ByID{ID: s.incident(moved).ID}
		before := s.at(moved, "WAITING", "call")
		p := preview(run.PreviewMoveInput{ByID: one, Version: 2})
		require.Equal(t, "call", p.PhaseID)
		require.Equal(t, "WAITING", p.Status)
		require.Len(t, p.Phases, 1, "the call waits to be made")
		require.Equal(t, 2, p.Phases[0].Attempts)
		require.Len(t, p.Lost, 1)
		require.Equal(t, "price", p.Lost[0].PhaseID)
		require.JSONEq(t, `{"cents":90000}`, string(p.Lost[0].Variables))
		p = preview(run.PreviewMoveInput{ByID: one, Version: 2, PhaseID: "sum"})
		var path []string
		for _, v := range p.Phases {
			path = append(path, v.PhaseID+" "+string(v.Status))
		}
		require.Equal(t, []string{"call SKIPPED", "sum COMPLETED", "call WAITING"}, path)
		require.Equal(t, "COMPLETED", preview(run.PreviewMoveInput{ByID: one, Version: 2, PhaseID: "done"}).Status)
		require.Equal(t, before.Revision, s.at(moved, "WAITING", "call").Revision, "a dry run changes nothing")
		require.Equal(t, one.ID, s.incident(moved).ID)
		require.Empty(t, fixed.Got(), "and calls nobody")

		resolve := func(in run.ResolveIncidentInput) { testkit.Run(t, w, s.ctx, run.ResolveIncident, in) }
		resolve(run.ResolveIncidentInput{ByID: one, Action: "MOVE", Version: new(2)})
		e := s.at(moved, "WAITING", "review")
		require.Equal(t, 2, e.WorkflowVersion)
		require.Equal(t, *moved.ExecutionID+"-call-3", fixed.Await(t, 1)[0].Header.Get("Idempotency-Key"))
		keys := []string{broken.Got()[0].Header.Get("Idempotency-Key"), broken.Got()[1].Header.Get("Idempotency-Key")}
		require.Contains(t, keys, *moved.ExecutionID+"-call-3", "the same as ever")
		s.complete(moved, "", nil)
		s.at(moved, "COMPLETED", "done")
		require.Equal(t, []string{"start COMPLETED", "price COMPLETED", "call COMPLETED", "review COMPLETED", "done COMPLETED"}, s.path(moved))
		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(one.ID), auditentry.Action("incident.resolved")).Only(s.ctx)
		require.NoError(t, err)
		require.Contains(t, string(entry.Changes), "toVersion")

		resolve(run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(elsewhere).ID}, Action: "MOVE", Version: new(2), PhaseID: new("review")})
		s.at(elsewhere, "WAITING", "review")
		require.Equal(t, []string{"start COMPLETED", "price COMPLETED", "call SKIPPED", "review WAITING"}, s.path(elsewhere))
	})
}

// A move names a published version of the workflow, and one of its phases. Nobody can use another company's.
func TestMovesThatAreRefused(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		fails := phase("sum", "DATA", body{"kind": "enrich", "set": body{"n": "request.fields.missing + 1"}})
		s := open(t, w, line([]body{phase("start", "START", nil), fails, phase("done", "END", nil)}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "sum")
		s.publish(line([]body{phase("start", "START", nil), phase("wait", "TIMER", body{"duration": "1h"}), phase("done", "END", nil)}))
		id := op.ByID{ID: s.incident(r).ID}
		for _, c := range []struct {
			version *int
			phase   *string
			field   string
		}{
			{nil, nil, "version"}, {new(1), nil, "version"}, {new(3), nil, "version"},
			{new(2), nil, "phaseId"}, {new(2), new("sum"), "phaseId"}, {new(2), new("start"), "phaseId"},
		} {
			_, _, err := op.Run(s.ctx, w.Engine, run.ResolveIncident, run.ResolveIncidentInput{ByID: id, Action: "MOVE", Version: c.version, PhaseID: c.phase}, nil)
			require.Equal(t, c.field, apperr.From(err).Details[0].Field)
			if c.version != nil {
				_, _, err = op.Run(s.ctx, w.Engine, run.PreviewMove, run.PreviewMoveInput{ByID: id, Version: *c.version, PhaseID: op.Or(c.phase, "")}, nil)
				require.Equal(t, c.field, apperr.From(err).Details[0].Field)
			}
		}
		for _, in := range []run.ResolveIncidentInput{{Action: "RETRY", Version: new(2)}, {Action: "SKIP", PhaseID: new("wait")}} {
			in.ByID = id
			testkit.Refused(t, w, s.ctx, run.ResolveIncident, in, apperr.Validation)
		}
		testkit.Refused(t, w, w.As(w.B, principal.Owner), run.PreviewMove, run.PreviewMoveInput{ByID: id, Version: 2}, apperr.NotFound)
		testkit.Refused(t, w, w.As(w.A, principal.Member), run.PreviewMove, run.PreviewMoveInput{ByID: id, Version: 2}, apperr.Forbidden)
		require.Equal(t, execution.StatusWAITING, s.at(r, "WAITING", "sum").Status)
		require.Equal(t, 1, s.at(r, "WAITING", "sum").WorkflowVersion)

		testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: id, Action: "MOVE", Version: new(2), PhaseID: new("wait")})
		s.at(r, "WAITING", "wait")
		testkit.Refused(t, w, s.ctx, run.PreviewMove, run.PreviewMoveInput{ByID: id, Version: 1, PhaseID: "sum"}, apperr.Conflict)
	})
}

// Nobody resolves an incident past an approval, a sign-off or a task on which they may not decide. The preview says who may.
func TestIncidentsDoNotPassPeople(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		boss := w.A.Users[principal.Admin].ID
		fails := phase("sum", "DATA", body{"kind": "enrich", "set": body{"n": "request.fields.missing + 1"}})
		ask := phase("ask", "APPROVAL", body{"mode": "any", "approvers": []body{{"type": "user", "id": boss}}})
		sign := phase("sign", "PROCESS", nil)
		sign["participants"] = []body{{"role": "accountable", "type": "user", "id": boss}}
		next := func(list ...string) (out []body) {
			for i, from := range list[:len(list)-1] {
				name := "next"
				if from == "ask" {
					name = "approved"
				}
				out = append(out, body{"from": from, "name": name, "to": list[i+1]})
			}
			return out
		}
		flow := body{
			"phases":      []body{phase("start", "START", nil), fails, ask, phase("work", "PROCESS", nil), sign, phase("done", "END", nil), phase("no", "END", nil)},
			"transitions": append(next("start", "sum", "ask", "work", "sign", "done"), body{"from": "ask", "name": "rejected", "to": "no"}),
		}
		s := open(t, w, flow)
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "sum")
		fails["name"] = "Sum it up"
		s.publish(flow)
		owner, admin, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Admin), w.As(w.A, principal.Agent)
		move := func(as context.Context, to string) error {
			_, _, err := op.Run(as, w.Engine, run.ResolveIncident, run.ResolveIncidentInput{
				ByID: op.ByID{ID: s.incident(r).ID}, Action: "MOVE", Version: new(2), PhaseID: &to,
			}, nil)
			return err
		}
		passed := func(as context.Context, to string) []run.Passed {
			return testkit.Run(t, w, as, run.PreviewMove, run.PreviewMoveInput{ByID: op.ByID{ID: s.incident(r).ID}, Version: 2, PhaseID: to}).Passed
		}
		require.Empty(t, passed(owner, "ask"))
		require.Equal(t, []run.Passed{{PhaseID: "ask"}}, passed(owner, "work"))
		require.Equal(t, []run.Passed{{PhaseID: "ask", MayDecide: true}}, passed(admin, "work"))
		require.Equal(t, []run.Passed{{PhaseID: "ask"}, {PhaseID: "work", MayDecide: true}, {PhaseID: "sign"}}, passed(owner, "done"))
		for _, to := range []string{"work", "sign", "done", "no"} {
			err := move(owner, to)
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), to)
			require.ErrorContains(t, err, `"ask"`)
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(move(member, to)), to)
		}
		s.at(r, "WAITING", "sum")
		require.NoError(t, move(admin, "sign"))
		s.at(r, "WAITING", "sign")
		require.Equal(t, []string{"start COMPLETED", "sum SKIPPED", "sign WAITING"}, s.path(r))
	})
}
