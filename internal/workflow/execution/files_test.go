package execution_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/task"
	files "atrium/internal/desk/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	run "atrium/internal/workflow/execution"
)

// draft announces a file of somebody's that belongs to nothing yet, as if its bytes had come.
func (s *shop) draft(as context.Context, name string) string {
	s.t.Helper()
	a := testkit.Run(s.t, s.World, as, files.Create, files.CreateInput{Draft: new(true), Name: name, Size: 1})
	require.NoError(s.t, s.Store.Write(principal.System(context.Background(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return tx.Attachment.UpdateOneID(a.ID).SetStatus(attachment.StatusREADY).SetMediaType("text/plain").Exec(ctx)
	}))
	return a.ID
}

// requestOf returns the request that a file belongs to.
func (s *shop) requestOf(file string) string {
	s.t.Helper()
	a, err := s.Store.Reader().Attachment.Get(s.ctx, file)
	require.NoError(s.t, err)
	return op.Or(a.RequestID, "")
}

// refusals completes a task, and returns what is wrong with its variables, by field.
func (s *shop) refusals(as context.Context, t *ent.Task, variables body) map[string]string {
	s.t.Helper()
	_, _, err := op.Run(as, s.Engine, run.CompleteTask, run.CompleteTaskInput{ByID: op.ByID{ID: t.ID}, Variables: variables}, nil)
	if err == nil {
		return nil
	}
	require.Equal(s.t, apperr.Validation, apperr.CodeOf(err), "%v", err)
	out := map[string]string{}
	for _, d := range apperr.From(err).Details {
		out[d.Field] = d.Message
	}
	return out
}

// proof is a workflow with a task that asks for files.
func proof() body {
	return line([]body{
		phase("start", "START", nil),
		phase("work", "PROCESS", body{"form": body{"fields": []body{{"key": "proof", "type": "file", "required": true, "accept": []string{".txt"}, "maxFiles": 3}}}}),
		phase("count", "DATA", body{"kind": "enrich", "set": body{"n": "has(phases.work.proof) ? size(phases.work.proof) : 0"}}),
		phase("done", "END", nil),
	})
}

// A task takes drafts of the person who completes it, and files of its request. Expressions see their ids.
func TestTasksTakeFiles(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, proof())
		s.work()
		r, other := s.file(nil), s.file(nil)
		s.at(r, "WAITING", "work")
		s.at(other, "WAITING", "work")
		staff := w.As(w.A, principal.Agent)
		mine, theirs, there, page := s.draft(staff, "a.txt"), s.draft(s.ctx, "b.txt"), s.draft(w.As(w.B, principal.Owner), "c.txt"), s.draft(staff, "d.html")
		require.Equal(t, map[string]string{"variables.proof": "Is required."}, s.refusals(staff, s.task(r), nil))
		require.Equal(t, map[string]string{
			"variables.proof[0]": "There is no such file.", "variables.proof[1]": "There is no such file.", "variables.proof[2]": "Must be one of: .txt.",
		}, s.refusals(staff, s.task(r), body{"proof": []any{theirs, there, page}}))
		require.Empty(t, s.requestOf(page))
		require.Empty(t, s.refusals(staff, s.task(r), body{"proof": []any{mine}}))
		require.Equal(t, r.ID, s.requestOf(mine))
		e := s.at(r, "COMPLETED", "done")
		raw, err := run.Variables(testkit.Run(t, w, s.ctx, run.Get, op.ByID{ID: e.ID}))
		require.NoError(t, err)
		require.Contains(t, string(raw), `"n":1`)
		require.Equal(t, map[string]string{"variables.proof[0]": "There is no such file."}, s.refusals(staff, s.task(other), body{"proof": []any{mine}}), "it is another request's")
		testkit.Run(t, w, staff, files.Delete, op.ByID{ID: mine})
	})
}

// A task without a request is not asked for files, and takes none: nothing would keep them.
func TestTasksWithoutARequestTakeNoFiles(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, proof())
		s.work()
		var begun *ent.Execution
		require.NoError(t, w.Engine.WorkAs(t.Context(), principal.Worker(w.A.Company.ID, "test"), func(ctx context.Context, tx *op.Tx) (err error) {
			begun, err = run.Launch{WorkflowID: s.workflow.ID, Webhook: json.RawMessage(`{"body":{}}`)}.Start(ctx, tx)
			return err
		}))
		var asked *ent.Task
		require.Eventually(t, func() (found bool) {
			asked, _ = s.Store.Reader().Task.Query().Where(task.ExecutionID(begun.ID)).First(s.ctx)
			return asked != nil
		}, patience, tick)
		draft := s.draft(s.ctx, "a.txt")
		require.Equal(t, map[string]string{"variables.proof[0]": "The task belongs to no request, so it takes no files."},
			s.refusals(s.ctx, asked, body{"proof": []any{draft}}))
		require.Empty(t, s.refusals(s.ctx, asked, nil))
		require.Empty(t, s.requestOf(draft))
	})
}

// A correction brings files as well, which its request has before the workflow goes on.
func TestCorrectionsBringFiles(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		check := phase("check", "DATA", body{"kind": "validate", "onInvalid": "ask", "rules": []body{{"check": "size(request.fields.proof) > 1", "field": "proof"}}})
		s := open(t, w, line([]body{phase("start", "START", nil), check, phase("done", "END", nil)}))
		testkit.Run(t, w, s.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{
			ByID: op.ByID{ID: s.offering.ID}, Form: op.SetTo(form.Definition{Fields: []form.Field{{Key: "proof", Type: form.File, MaxFiles: new(2)}}}),
		})
		s.work()
		one := s.draft(s.ctx, "a.txt")
		r := s.file(body{"proof": []any{one}})
		s.at(r, "WAITING", "check")
		two := s.draft(s.ctx, "b.txt")
		s.complete(r, "", body{"proof": []any{one, two}})
		require.Equal(t, r.ID, s.requestOf(two))
		s.at(r, "COMPLETED", "done")
		require.JSONEq(t, `{"proof": ["`+one+`", "`+two+`"]}`, string(s.request(r).Fields))
	})
}
