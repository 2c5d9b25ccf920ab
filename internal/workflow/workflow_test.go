package workflow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/auditentry"
	entworkflow "atrium/ent/workflow"
	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

// straight is a definition that runs through, written so that re-encoding it would show.
const straight = `{"transitions":[{"to":"check","name":"next","from":"start"},{"from":"check","name":"go","to":"end"},{"from":"check","name":"wait","to":"end"}],
  "phases":[{"type":"START","id":"start"},
    {"id":"check","type":"DECISION","config":{"rules":[{"when":"1.50 < 2.0 && request.priority != '<b>\u00e9'","transition":"go"}],"default":"wait"}},
    {"id":"end","type":"END"}]}`

// run returns only the error of an operation, for those that must refuse.
func run[In, Out any](ctx context.Context, w *testkit.World, o *op.Operation[In, Out], in In) error {
	_, _, err := op.Run(ctx, w.Engine, o, in, nil)
	return err
}

func create(t *testing.T, w *testkit.World, tenant *testkit.Tenant, name string) *ent.Workflow {
	t.Helper()
	return testkit.Run(t, w, w.As(tenant, principal.Admin), workflow.CreateWorkflow, workflow.CreateWorkflowInput{
		Name: name, Definition: workflow.NewDefinition([]byte(straight)),
	})
}

// publish sets the version, which only publishing does.
func publish(t *testing.T, w *testkit.World, wf *ent.Workflow, version int) {
	t.Helper()
	err := w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		return tx.Workflow.UpdateOneID(wf.ID).SetVersion(version).SetStatus(entworkflow.StatusActive).Exec(ctx)
	})
	require.NoError(t, err)
}

func TestDraftIsReadBackAsItWasSent(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		in, err := workflow.CreateWorkflow.Decode([]byte(`{"name":"Hire & Fire","definition":`+straight+`}`), nil, nil)
		require.NoError(t, err)
		made := testkit.Run(t, w, ctx, workflow.CreateWorkflow, in)
		require.Equal(t, entworkflow.StatusDraft, made.Status)
		require.Zero(t, made.Version)
		require.Equal(t, "hire-fire", made.Slug)

		id := op.ByID{ID: made.ID}
		read := testkit.Run(t, w, ctx, workflow.GetWorkflow, id)
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, []byte(straight)))
		sent := string(workflow.AsSent(compact.Bytes()))
		require.Contains(t, sent, `1.50 < 2.0 && request.priority != '<b>\u00e9'`)
		require.Equal(t, sent, string(workflow.AsSent(read.Definition)))
		require.Equal(t, sent, string(workflow.AsSent(made.Definition)), "what a write answers has the ETag of what a read answers")

		renamed := testkit.Run(t, w, ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: id, Name: op.SetTo("Hire")})
		require.Equal(t, sent, string(workflow.AsSent(renamed.Definition)))
		other := strings.Replace(sent, "1.50", "1.5", 1)
		changed := testkit.Run(t, w, ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{
			ByID: id, Definition: op.SetTo(workflow.NewDefinition([]byte(other))),
		})
		require.Equal(t, other, string(workflow.AsSent(changed.Definition)))
		require.Zero(t, changed.Version, "saving a draft publishes nothing")

		entries, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(made.ID)).
			Order(ent.Asc(auditentry.FieldID)).All(w.As(w.A, principal.Owner))
		require.NoError(t, err)
		require.Len(t, entries, 3)
		require.JSONEq(t, `{"name":{"from":"Hire & Fire","to":"Hire"}}`, string(entries[1].Changes))
		var changes map[string]audit.Change
		require.NoError(t, json.Unmarshal(entries[2].Changes, &changes))
		require.Len(t, changes, 1)
		require.Contains(t, changes, "definition")
	})
}

// named is a definition that names one of everything, with places for their ids.
const named = `{"phases":[
	{"id":"start","type":"START"},
	{"id":"work","type":"PROCESS","config":{"title":"Work"},"participants":[
		{"role":"responsible","type":"user","id":"%[1]s"},{"role":"informed","type":"team","id":"%[2]s"},{"role":"consulted","type":"agent","id":"%[3]s"}],
		"sla":{"responseMinutes":5,"calendarId":"%[4]s"}},
	{"id":"sign","type":"APPROVAL","config":{"approvers":[{"type":"user","id":"%[1]s"},{"type":"team","id":"%[2]s"}],"mode":"any"}},
	{"id":"call","type":"API_CALL","config":{"method":"GET","url":"https://example.com/","headers":{"Authorization":"Bearer ${secrets.%[5]s}"}}},
	{"id":"end","type":"END"}],
"transitions":[{"from":"start","name":"next","to":"work"},{"from":"work","name":"next","to":"sign"},{"from":"sign","name":"approved","to":"call"},
	{"from":"sign","name":"rejected","to":"end"},{"from":"call","name":"next","to":"end"}]}`

// things are rows that a definition can name.
type things struct{ user, team, agent, calendar string }

func (x things) definition(secretName string) workflow.Definition {
	return workflow.NewDefinition(fmt.Appendf(nil, named, x.user, x.team, x.agent, x.calendar, secretName))
}

func thingsOf(t *testing.T, w *testkit.World, tenant *testkit.Tenant, secretName string) things {
	t.Helper()
	owner := w.As(tenant, principal.Owner)
	testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: secretName, Value: "value"})
	x := things{user: tenant.Users[principal.Agent].ID}
	err := w.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
		team, err := tx.Team.Create().SetName("T").SetSlug("t").Save(ctx)
		if err != nil {
			return err
		}
		bot, err := tx.Agent.Create().SetName("A").SetType(agent.TypeWORKFLOW_PHASE).SetSource(agent.SourceMANAGED).SetAutonomy("SUGGEST").Save(ctx)
		if err != nil {
			return err
		}
		cal, err := tx.Calendar.Create().SetName("C").Save(ctx)
		if err != nil {
			return err
		}
		x.team, x.agent, x.calendar = team.ID, bot.ID, cal.ID
		return nil
	})
	require.NoError(t, err)
	return x
}

// TestReferencesExistInTheCompany names the other company's rows, which must read as ones that do not exist.
func TestReferencesExistInTheCompany(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		own, others := thingsOf(t, w, w.A, "OWN"), thingsOf(t, w, w.B, "OTHERS")
		wf := testkit.Run(t, w, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "W", Definition: own.definition("OWN")})

		nothing := things{"usr_none", "team_none", "agt_none", "cal_none"}
		var shapes [][]string
		for secretName, x := range map[string]things{"OTHERS": others, "NONE": nothing} {
			d := x.definition(secretName)
			err := run(ctx, w, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "V", Definition: d})
			require.Equal(t, err.Error(), run(ctx, w, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{
				ByID: op.ByID{ID: wf.ID}, Definition: op.SetTo(d),
			}).Error())
			require.Equal(t, apperr.Validation, apperr.CodeOf(err))
			var fields []string
			for i, detail := range apperr.From(err).Details {
				fields = append(fields, detail.Field)
				offender := []string{secretName, x.user, x.user, x.team, x.team, x.agent, x.calendar}[i]
				require.Contains(t, detail.Message, offender)
			}
			shapes = append(shapes, fields)
		}
		require.Equal(t, shapes[0], shapes[1])
		require.Equal(t, []string{
			"definition.phases[call].config.headers.Authorization",
			"definition.phases[work].participants[0].id",
			"definition.phases[sign].config.approvers[0].id",
			"definition.phases[work].participants[1].id",
			"definition.phases[sign].config.approvers[1].id",
			"definition.phases[work].participants[2].id",
			"definition.phases[work].sla.calendarId",
		}, shapes[0])
		read := testkit.Run(t, w, ctx, workflow.GetWorkflow, op.ByID{ID: wf.ID})
		require.Contains(t, string(read.Definition), own.user, "a refused draft replaces nothing")
	})
}

func TestFaultyDefinitionsAreRefused(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		wf := create(t, w, w.A, "W")
		for name, text := range map[string]string{
			"no end":                 `{"phases":[{"id":"start","type":"START"}],"transitions":[]}`,
			"no phases":              `{}`,
			"no JSON":                `{"phases":`,
			"no object":              `[]`,
			"too long":               strings.Replace(straight, `"id":"end"`, `"id":"end","name":"`+strings.Repeat("n", 256<<10)+`"`, 1),
			"too long as it is kept": strings.Replace(straight, `"id":"end"`, `"id":"end","name":"`+strings.Repeat("<", 60<<10)+`"`, 1),
			"too long with blanks":   straight + strings.Repeat(" ", 256<<10),
		} {
			d := workflow.NewDefinition([]byte(text))
			for _, err := range []error{
				run(ctx, w, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "V", Definition: d}),
				run(ctx, w, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: wf.ID}, Definition: op.SetTo(d)}),
			} {
				require.Equal(t, apperr.Validation, apperr.CodeOf(err), name)
				for _, detail := range apperr.From(err).Details {
					require.True(t, strings.HasPrefix(detail.Field, "definition"), "%s: %v", name, detail)
				}
			}
		}
		err := run(ctx, w, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "V"})
		require.Equal(t, "definition", apperr.From(err).Details[0].Field)
	})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		for _, tc := range []struct {
			version int
			want    map[string]apperr.Code // of a refusal
		}{
			{0, map[string]apperr.Code{"active": apperr.Conflict, "archived": "", "draft": ""}},
			{2, map[string]apperr.Code{"active": "", "archived": "", "draft": apperr.Conflict}},
		} {
			for status, want := range tc.want {
				wf := create(t, w, w.A, fmt.Sprintf("%s %d", status, tc.version))
				if tc.version > 0 {
					publish(t, w, wf, tc.version)
				}
				err := run(ctx, w, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{
					ByID: op.ByID{ID: wf.ID}, Status: op.SetTo(status), Name: op.SetTo("Renamed"),
				})
				after := testkit.Run(t, w, ctx, workflow.GetWorkflow, op.ByID{ID: wf.ID})
				if want == "" {
					require.NoError(t, err)
					require.Equal(t, status, string(after.Status))
					require.Equal(t, tc.version, after.Version)
					continue
				}
				require.Equal(t, want, apperr.CodeOf(err), "%s at version %d", status, tc.version)
				require.Equal(t, wf.Name, after.Name, "a refusal changes nothing")
			}
		}
	})
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		wf, other := create(t, w, w.A, "Onboarding"), create(t, w, w.A, "Other")
		create(t, w, w.B, "Onboarding") // another company's slugs are its own
		err := run(ctx, w, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "onboarding!", Definition: workflow.NewDefinition([]byte(straight))})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err))
		require.Equal(t, "Another workflow has the slug onboarding, which was made of the name. Send slug to choose another one.", apperr.From(err).Message)
		err = run(ctx, w, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: other.ID}, Slug: op.SetTo("onboarding")})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err))

		s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "S"})
		testkit.Run(t, w, ctx, workflow.PublishWorkflow, op.ByID{ID: wf.ID})
		off := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "O", WorkflowID: &wf.ID})
		err = run(ctx, w, workflow.DeleteWorkflow, op.ByID{ID: wf.ID})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err))
		testkit.Run(t, w, ctx, catalog.DeleteOffering, op.ByID{ID: off.ID})
		testkit.Run(t, w, ctx, workflow.DeleteWorkflow, op.ByID{ID: wf.ID})
		require.Equal(t, apperr.NotFound, apperr.CodeOf(run(ctx, w, workflow.GetWorkflow, op.ByID{ID: wf.ID})))
		create(t, w, w.A, "Onboarding") // the slug is free again
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		for _, name := range []string{"Hire 100%", "hire staff", "Leave"} {
			create(t, w, w.A, name)
		}
		create(t, w, w.B, "Hire")
		live := create(t, w, w.A, "Live")
		publish(t, w, live, 1)
		for name, tc := range map[string]struct {
			in   workflow.ListWorkflowsInput
			want []string
		}{
			"all":             {workflow.ListWorkflowsInput{Page: paging.Page{Sort: "-name"}}, []string{"hire staff", "Live", "Leave", "Hire 100%"}},
			"any case":        {workflow.ListWorkflowsInput{Q: "HIRE"}, []string{"hire staff", "Hire 100%"}},
			"no wildcards":    {workflow.ListWorkflowsInput{Q: "%"}, []string{"Hire 100%"}},
			"status":          {workflow.ListWorkflowsInput{Status: []string{"active", "archived"}}, []string{"Live"}},
			"status and name": {workflow.ListWorkflowsInput{Status: []string{"active"}, Q: "hire"}, nil},
			"a page of two":   {workflow.ListWorkflowsInput{Page: paging.Page{Sort: "createdAt", Size: 2, Number: 2}}, []string{"Leave", "Live"}},
			"past the last":   {workflow.ListWorkflowsInput{Page: paging.Page{Number: 9}}, nil},
		} {
			got := testkit.Run(t, w, w.As(w.A, principal.Agent), workflow.ListWorkflows, tc.in)
			var names []string
			for _, wf := range got.Rows {
				names = append(names, wf.Name)
			}
			if tc.in.Sort == "-name" {
				require.ElementsMatch(t, tc.want, names, name) // databases collate in their own way
				continue
			}
			require.Equal(t, tc.want, names, name)
		}
		require.Equal(t, 4, testkit.Run(t, w, w.As(w.A, principal.Agent), workflow.ListWorkflows, workflow.ListWorkflowsInput{}).Total)
	})
}

func TestWhoMayTouchWorkflows(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		wf := create(t, w, w.A, "W")
		id := op.ByID{ID: wf.ID}
		all := func(ctx context.Context) map[string]error {
			return map[string]error{
				"list":   run(ctx, w, workflow.ListWorkflows, workflow.ListWorkflowsInput{}),
				"read":   run(ctx, w, workflow.GetWorkflow, id),
				"create": run(ctx, w, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "V", Definition: workflow.NewDefinition([]byte(straight))}),
				"update": run(ctx, w, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: id, Name: op.SetTo("V")}),
				"delete": run(ctx, w, workflow.DeleteWorkflow, id),
			}
		}
		for name, err := range all(w.As(w.A, principal.Agent)) {
			if name == "list" || name == "read" {
				require.NoError(t, err, name)
				continue
			}
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), name)
		}
		for name, err := range all(w.As(w.A, principal.Member)) {
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), name)
		}
		for name, err := range all(w.As(w.B, principal.Owner)) {
			if name == "list" || name == "create" {
				require.NoError(t, err, name)
				continue
			}
			require.Equal(t, apperr.NotFound, apperr.CodeOf(err), name)
		}
	})
}
