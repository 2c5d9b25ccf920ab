package workflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	entworkflow "atrium/ent/workflow"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/secret"
	"atrium/internal/testkit"
	"atrium/internal/workflow"
)

func TestPublishing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		id := op.ByID{ID: create(t, w, w.A, "Onboarding").ID}
		publish := func() *ent.Workflow {
			return testkit.Run(t, w, ctx, workflow.PublishWorkflow, id)
		}
		save := func(in workflow.UpdateWorkflowInput) {
			in.ByID = id
			testkit.Run(t, w, ctx, workflow.UpdateWorkflow, in)
		}
		first := publish()
		require.Equal(t, 1, first.Version)
		require.Equal(t, entworkflow.StatusActive, first.Status)
		require.Equal(t, 1, publish().Version, "nothing has changed")

		save(workflow.UpdateWorkflowInput{Name: op.SetTo("Hiring")})
		require.Equal(t, 1, publish().Version, "a name is no part of the definition")

		other := workflow.NewDefinition([]byte(strings.Replace(straight, "1.50", "1.75", 1)))
		save(workflow.UpdateWorkflowInput{Definition: op.SetTo(other)})
		require.Equal(t, 2, publish().Version)
		save(workflow.UpdateWorkflowInput{Definition: op.SetTo(other)})
		require.Equal(t, 2, publish().Version, "it was saved as it is")

		save(workflow.UpdateWorkflowInput{Status: op.SetTo("archived")})
		back := publish()
		require.Equal(t, 2, back.Version)
		require.Equal(t, entworkflow.StatusActive, back.Status)

		entries, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(id.ID), auditentry.Action("workflow.published")).
			Order(auditentry.ByID()).All(w.As(w.A, principal.Owner))
		require.NoError(t, err)
		require.Len(t, entries, 6, "each is audited, whether it changed anything or not")
		require.JSONEq(t, `{"status":{"from":"draft","to":"active"},"version":{"from":0,"to":1}}`, string(entries[0].Changes))
	})
}

// What a draft names may be gone by the time that it is published.
func TestDraftsThatBrokeAreNotPublished(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		s := testkit.Run(t, w, ctx, secret.CreateSecret, secret.CreateSecretInput{Name: "TOKEN", Value: "x"})
		made := testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Calls", Definition: workflow.NewDefinition([]byte(
			`{"phases":[{"id":"start","type":"START"},{"id":"call","type":"API_CALL","config":{"method":"GET","url":"https://api.test/","headers":{"Authorization":"${secrets.TOKEN}"}}},{"id":"end","type":"END"}],
			"transitions":[{"from":"start","name":"next","to":"call"},{"from":"call","name":"next","to":"end"}]}`))})
		testkit.Run(t, w, ctx, secret.DeleteSecret, op.ByID{ID: s.ID})
		err := run(ctx, w, workflow.PublishWorkflow, op.ByID{ID: made.ID})
		require.Equal(t, apperr.Validation, apperr.CodeOf(err))
		require.Contains(t, apperr.From(err).Details[0].Field, "definition")
		require.Zero(t, testkit.Run(t, w, ctx, workflow.GetWorkflow, op.ByID{ID: made.ID}).Version)
	})
}

func TestPublishingTakesTheRight(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		id := op.ByID{ID: create(t, w, w.A, "Onboarding").ID}
		for role, code := range map[principal.Role]apperr.Code{principal.Agent: apperr.Forbidden, principal.Member: apperr.Forbidden} {
			require.Equal(t, code, apperr.CodeOf(run(w.As(w.A, role), w, workflow.PublishWorkflow, id)), role)
		}
		require.Equal(t, apperr.NotFound, apperr.CodeOf(run(w.As(w.B, principal.Owner), w, workflow.PublishWorkflow, id)))
		require.NoError(t, run(w.As(w.A, principal.Owner), w, workflow.PublishWorkflow, id))
	})
}
