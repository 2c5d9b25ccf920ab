package workflow_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/offering"
	entworkflow "atrium/ent/workflow"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
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

// What the publisher may see decides about nothing: publishing compares with what was published. It compared with the
// audit log, through the caller's policies.
func TestPublishingSeesMoreThanThePublisher(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		id := op.ByID{ID: create(t, w, w.A, "Onboarding").ID}
		require.Equal(t, 1, testkit.Run(t, w, ctx, workflow.PublishWorkflow, id).Version)
		for _, hidden := range []string{"AuditEntry", "Secret"} {
			testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{Name: hidden, Effect: "Deny", Action: "read", Resource: hidden})
		}
		require.Equal(t, 1, testkit.Run(t, w, ctx, workflow.PublishWorkflow, id).Version)
		testkit.Run(t, w, ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{
			ByID: id, Definition: op.SetTo(workflow.NewDefinition([]byte(strings.Replace(straight, "1.50", "1.75", 1)))),
		})
		require.Equal(t, 2, testkit.Run(t, w, ctx, workflow.PublishWorkflow, id).Version)
		require.Equal(t, 2, testkit.Run(t, w, ctx, workflow.PublishWorkflow, id).Version)
	})
}

// Each version is a row that never changes and goes with its workflow.
func TestVersions(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Agent)
		admin := w.As(w.A, principal.Admin)
		id := op.ByID{ID: create(t, w, w.A, "Onboarding").ID}
		require.Empty(t, testkit.Run(t, w, ctx, workflow.ListVersions, workflow.ListVersionsInput{ByID: id}).Rows)
		testkit.Run(t, w, admin, workflow.PublishWorkflow, id)
		w.Clock.SetOffset(time.Minute)
		second := strings.Replace(straight, "1.50", "1.75", 1)
		testkit.Run(t, w, admin, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: id, Definition: op.SetTo(workflow.NewDefinition([]byte(second)))})
		got := testkit.Run(t, w, ctx, workflow.GetVersion, workflow.GetVersionInput{ByID: id, Version: "1"})
		require.JSONEq(t, straight, string(workflow.AsSent(got.Definition)), "the draft is another by now")
		require.Equal(t, w.A.Users[principal.Admin].ID, got.PublishedBy)
		testkit.Run(t, w, admin, workflow.PublishWorkflow, id)
		list := testkit.Run(t, w, ctx, workflow.ListVersions, workflow.ListVersionsInput{ByID: id})
		require.Equal(t, 2, list.Total)
		require.Equal(t, 2, list.Rows[0].Version, "the newest first")
		require.JSONEq(t, second, string(workflow.AsSent(list.Rows[0].Definition)))
		require.WithinDuration(t, w.Clock.Now(), list.Rows[0].PublishedAt, time.Minute/2)

		for _, version := range []string{"3", "0", "-1", "01", "x", "", "99999999999"} {
			require.Equal(t, apperr.NotFound, apperr.CodeOf(run(ctx, w, workflow.GetVersion, workflow.GetVersionInput{ByID: id, Version: version})), version)
		}
		foreign := workflow.GetVersionInput{ByID: id, Version: "1"}
		require.Equal(t, apperr.NotFound, apperr.CodeOf(run(w.As(w.B, principal.Owner), w, workflow.GetVersion, foreign)))
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(run(w.As(w.A, principal.Member), w, workflow.GetVersion, foreign)))
		testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{Name: "hidden", Effect: "Deny", Action: "read", Resource: "Workflow"})
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(run(ctx, w, workflow.GetVersion, foreign)), "who may not read the workflow may not read them")

		err := w.Store.Write(admin, func(ctx context.Context, tx *store.Tx) error {
			return tx.Workflow.DeleteOneID(id.ID).Exec(ctx)
		})
		require.NoError(t, err)
		n, err := w.Store.Reader().WorkflowVersion.Query().Count(admin)
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

// What a published workflow names cannot be deleted, until another version names it no more.
func TestWhatPublishedWorkflowsNeedStays(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		s := testkit.Run(t, w, ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TOKEN", Value: "x"})
		team := testkit.Run(t, w, ctx, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		calls := workflow.NewDefinition([]byte(`{"phases":[{"id":"start","type":"START"},
			{"id":"ask","type":"APPROVAL","config":{"approvers":[{"type":"team","id":"` + team.ID + `"}],"mode":"any"}},
			{"id":"call","type":"API_CALL","config":{"method":"GET","url":"https://api.test/","headers":{"Authorization":"${secrets.TOKEN}"}}},{"id":"end","type":"END"}],
			"transitions":[{"from":"start","name":"next","to":"ask"},{"from":"ask","name":"approved","to":"call"},{"from":"ask","name":"rejected","to":"end"},{"from":"call","name":"next","to":"end"}]}`))
		made := op.ByID{ID: testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Calls", Definition: calls}).ID}
		testkit.Run(t, w, ctx, workflow.PublishWorkflow, made)
		remove := map[string]func() error{
			"secret": func() error { return run(ctx, w, secret.DeleteSecret, op.ByID{ID: s.ID}) },
			"team":   func() error { return run(ctx, w, people.DeleteTeam, op.ByID{ID: team.ID}) },
		}
		for name, try := range remove {
			err := try()
			require.Equal(t, apperr.Conflict, apperr.CodeOf(err), name)
			require.Contains(t, apperr.From(err).Message, `"Calls"`, "it says what uses the "+name)
		}
		hide := testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{Name: "h", Effect: "Deny", Action: "read", Resource: "Workflow"})
		for name, try := range remove {
			err := try()
			require.Equal(t, apperr.Conflict, apperr.CodeOf(err), name)
			require.NotContains(t, apperr.From(err).Message, "Calls", "nor names what the caller may not see")
		}
		testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Delete, op.ByID{ID: hide.ID})

		testkit.Run(t, w, ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: made, Definition: op.SetTo(workflow.NewDefinition([]byte(straight)))})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(remove["secret"]()), "the version counts, not the draft")
		testkit.Run(t, w, ctx, workflow.PublishWorkflow, made)
		for name, try := range remove {
			require.NoError(t, try(), name)
		}
	})
}

// An offering takes a workflow that was published, and keeps it from being deleted.
func TestOfferingsTakePublishedWorkflows(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		id := create(t, w, w.A, "Onboarding").ID
		service := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		offer := catalog.CreateOfferingInput{ByID: op.ByID{ID: service.ID}, Name: "Laptop", WorkflowID: &id}
		refused := func(err error) {
			require.Equal(t, apperr.Validation, apperr.CodeOf(err))
			require.Equal(t, "workflowId", apperr.From(err).Details[0].Field)
		}
		refused(run(ctx, w, catalog.CreateOffering, offer))
		testkit.Run(t, w, ctx, workflow.PublishWorkflow, op.ByID{ID: id})
		testkit.Run(t, w, ctx, catalog.CreateOffering, offer)
		err := run(ctx, w, workflow.DeleteWorkflow, op.ByID{ID: id})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err))
		require.Contains(t, apperr.From(err).Message, `"Laptop"`)

		draft := create(t, w, w.A, "Another").ID
		other := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service.ID}, Name: "Phone"})
		refused(run(ctx, w, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: other.ID}, WorkflowID: op.SetTo(draft)}))
	})
}

// What a draft names may be gone by the time that it is published.
func TestDraftsThatBrokeAreNotPublished(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		s := testkit.Run(t, w, ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "TOKEN", Value: "x"})
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

// What runs within another's transaction is prepared there, and sees what that has written.
func TestPublishingWithinATransaction(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var made *ent.Workflow
		err := w.Engine.Work(context.Background(), w.A.Company.ID, "publisher", func(ctx context.Context, tx *op.Tx) (err error) {
			in := workflow.CreateWorkflowInput{Name: "W", Definition: workflow.NewDefinition([]byte(straight))}
			if made, err = op.RunIn(ctx, tx, workflow.CreateWorkflow, in); err != nil {
				return err
			}
			made, err = op.RunIn(ctx, tx, workflow.PublishWorkflow, op.ByID{ID: made.ID})
			return err
		})
		require.NoError(t, err)
		require.Equal(t, 1, made.Version)
	})
}

// Once offerings use a workflow, each of them asks for each answer that names somebody in it.
func TestAnswersThatNamePeopleAreAskedFor(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		asking := func(answer string) workflow.Definition {
			return workflow.NewDefinition([]byte(`{"phases":[{"id":"start","type":"START"},{"id":"work","type":"PROCESS","participants":[{"role":"responsible","type":"answer","answer":"` + answer + `"}]},` +
				`{"id":"end","type":"END"}],"transitions":[{"from":"start","name":"next","to":"work"},{"from":"work","name":"next","to":"end"}]}`))
		}
		made := testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Work", Definition: asking("manager")})
		id := op.ByID{ID: made.ID}
		testkit.Run(t, w, ctx, workflow.PublishWorkflow, id)
		draft := func(answer string) []apperr.Detail {
			err := run(ctx, w, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: id, Definition: op.SetTo(asking(answer))})
			if err == nil {
				return nil
			}
			return apperr.From(err).Details
		}
		require.Empty(t, draft("lead"), "no offering uses it yet")
		s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop", WorkflowID: &made.ID, Form: &form.Definition{
			Fields: []form.Field{{Key: "manager", Type: form.User}, {Key: "amount", Type: form.Number}},
		}})
		const at = "definition.phases[work].participants[0].answer"
		const lacks = `The phase "work" takes its person from the answer %q, for which the offering %q has no question of the type user or email.`
		require.Equal(t, []apperr.Detail{{Field: at, Message: fmt.Sprintf(lacks, "lead", "Laptop")}},
			apperr.From(run(ctx, w, workflow.PublishWorkflow, id)).Details, "it was saved before")
		require.Equal(t, []apperr.Detail{{Field: at, Message: fmt.Sprintf(lacks, "amount", "Laptop")}}, draft("amount"))
		require.Empty(t, draft("manager"))
		testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Anything", WorkflowID: &made.ID})
		require.Empty(t, draft("manager"), "an offering without a form takes every answer")
		require.Equal(t, []apperr.Detail{{Field: at, Message: fmt.Sprintf(lacks, "lead", "Laptop")}}, draft("lead"), "the other one still does not ask for it")

		// An offering that does not ask for it is refused with the workflow, and may not stop asking.
		asks := func(key string, of form.Type) *form.Definition {
			return &form.Definition{Fields: []form.Field{{Key: key, Type: of}}}
		}
		create := func(f *form.Definition) error {
			return run(ctx, w, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Phone", WorkflowID: &made.ID, Form: f})
		}
		for _, f := range []*form.Definition{asks("lead", form.User), asks("manager", form.Number)} {
			require.Equal(t, []apperr.Detail{{Field: "workflowId", Message: `Is a workflow that takes the person of its phase "work" from the answer "manager", for which the form has no question of the type user or email.`}},
				apperr.From(create(f)).Details)
		}
		require.NoError(t, create(asks("manager", form.Email)))
		laptop := w.Store.Reader().Offering.Query().Where(offering.Name("Laptop")).OnlyX(ctx)
		update := func(in catalog.UpdateOfferingInput) error {
			in.ByID = op.ByID{ID: laptop.ID}
			return run(ctx, w, catalog.UpdateOffering, in)
		}
		require.Equal(t, []apperr.Detail{{Field: "form", Message: `Must have a question "manager" of the type user or email: the phase "work" of its workflow takes its person from the answer.`}},
			apperr.From(update(catalog.UpdateOfferingInput{Form: op.SetTo(*asks("lead", form.User))})).Details)
		require.NoError(t, update(catalog.UpdateOfferingInput{Name: op.SetTo("Notebook")}))

		// What the caller does not see is not named.
		hide := func(resource string) (shown func()) {
			p := testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{Name: resource, Effect: "Deny", Action: "read", Resource: resource})
			return func() { testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Delete, op.ByID{ID: p.ID}) }
		}
		shown := hide("Workflow")
		require.Equal(t, []apperr.Detail{{Field: "form", Message: "Must have a question of the type user or email for each person whom its workflow takes from the answers."}},
			apperr.From(update(catalog.UpdateOfferingInput{Form: op.SetTo(*asks("lead", form.User))})).Details)
		require.Equal(t, []apperr.Detail{{Field: "workflowId", Message: "Is no published workflow of this company."}}, apperr.From(create(asks("lead", form.User))).Details)
		shown()
		shown = hide("Offering")
		require.Equal(t, []apperr.Detail{{Field: at, Message: `The phase "work" takes its person from the answer "lead", for which an offering has no question of the type user or email.`}}, draft("lead"))
		shown()

		require.NoError(t, update(catalog.UpdateOfferingInput{Form: op.SetTo(*asks("lead", form.User)), WorkflowID: op.Clear[string]()}))
		require.Equal(t, "reopenWorkflowId", apperr.From(update(catalog.UpdateOfferingInput{ReopenWorkflowID: op.SetTo(made.ID)})).Details[0].Field)
	})
}
