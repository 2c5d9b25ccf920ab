package pack_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/ent/company"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/pack"
	"atrium/internal/op"
	"atrium/internal/people"
	companyops "atrium/internal/people/company"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow"
)

func TestInstall(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := owner(w)
		before := rows(t, w, ctx)
		p, err := planOf(w, ctx, of(small, "de"))
		require.NoError(t, err)
		require.Equal(t, "Klein", p.Name)
		require.Equal(t, "Ein Servicedesk.", p.Description)
		want := []string{
			"make Team/desk Servicedesk", "make Calendar/hours Bürozeiten", "make Workflow/order Ein Notebook bestellen", "make Service/it EDV",
			"make Offering/laptop Notebook", "make RoutingRule/urgent Dringend", "make SavedReply/hello Hallo", "make Schedule/weekly Wöchentliches Notebook",
			"make InboundWebhook/shop Bestellungen des Ladens", "make AccessPolicy/quiet Niemand löscht Anfragen",
		}
		require.Equal(t, want, lines(p))
		require.Equal(t, before, rows(t, w, ctx), "a plan makes nothing")

		made, err := install(w, ctx, of(small, "de"))
		require.NoError(t, err)
		require.Equal(t, want, lines(made))
		ids := map[string]string{}
		for _, it := range made.Items {
			require.NotEmpty(t, *it.ID)
			ids[it.Kind] = *it.ID
		}

		db := w.Store.Reader()
		o, err := db.Offering.Get(ctx, ids["Offering"])
		require.NoError(t, err)
		require.Equal(t, []string{"laptop", ids["Service"], ids["Workflow"], ids["Calendar"]}, []string{o.Slug, o.ServiceID, *o.WorkflowID, *o.CalendarID})
		require.Equal(t, "Welches Modell?", o.Form.Fields[0].Label)
		require.Equal(t, []string{"klein", "large"}, o.Form.Fields[0].Options, "choices without a text stay")
		s, err := db.Service.Get(ctx, ids["Service"])
		require.NoError(t, err)
		require.Equal(t, map[string]string{"name": "IT"}, s.Tags, "tags have names of their own")
		require.Equal(t, ids["Team"], *s.OwnerTeamID)
		wf, err := db.Workflow.Get(ctx, ids["Workflow"])
		require.NoError(t, err)
		require.Equal(t, "active", string(wf.Status), "it is published")
		require.Equal(t, 1, wf.Version)
		text := string(workflow.AsSent(wf.Definition))
		require.Contains(t, text, `"title":"${request.title} bestellen"`)
		require.Contains(t, text, `"id":"`+ids["Team"]+`"`)
		require.Contains(t, text, `"calendarId":"`+ids["Calendar"]+`"`)
		require.Contains(t, text, `"name":"next"`, "names of transitions stay")

		hook, err := db.InboundWebhook.Get(ctx, ids["InboundWebhook"])
		require.NoError(t, err)
		require.Equal(t, []string{ids["Workflow"], ids["Offering"]}, []string{hook.WorkflowID, *hook.OfferingID})
		require.JSONEq(t, `{"title":"webhook.body.title","fields":{"model":"webhook.body.size == 's' ? \"klein\" : \"large\""}}`, string(hook.FieldMapping))
		require.True(t, hook.VerifySignature)
		require.NotEmpty(t, hook.SecretSealed, "it is drawn anew")

		entries, err := db.AuditEntry.Query().Where(auditentry.ResourceID(ids["Offering"])).All(ctx)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.Equal(t, "offering.created", entries[0].Action, "each row has the entry of its operation")
		none, err := db.AuditEntry.Query().Where(auditentry.ActionHasPrefix("pack.")).Exist(ctx)
		require.NoError(t, err)
		require.False(t, none)

		after := rows(t, w, ctx)
		for _, language := range []string{"de", "en", "fr"} {
			again, err := install(w, ctx, of(small, language))
			require.NoError(t, err)
			for i, it := range again.Items {
				require.Equal(t, pack.Keep, it.Action, "%s %s", language, it.Key)
				require.Equal(t, made.Items[i].ID, it.ID)
			}
		}
		require.Equal(t, after, rows(t, w, ctx), "a repeat makes nothing")

		other := w.As(w.B, principal.Owner)
		p, err = planOf(w, other, of(small, "en"))
		require.NoError(t, err)
		for _, it := range p.Items {
			require.Equal(t, pack.Make, it.Action, "another company has nothing of it")
			require.Nil(t, it.ID)
		}
	})
}

// Whoever answers a question reads its choices in the language of everything else, and what asks for a choice asks for that one. Times
// are those of the company.
func TestInstallForACompany(t *testing.T) {
	t.Parallel()
	const choices = `kind: Pack
key: choices
spec: {name: Choices, languages: [en, de]}
---
kind: Calendar
key: hours
spec: {name: Hours, workingHours: {mon: [{from: "09:00", to: "17:00"}]}}
---
kind: Service
key: it
spec: {name: IT, tags: {size: Large}}
---
kind: Offering
key: laptop
spec:
  name: Laptop
  serviceId: Service/it
  form:
    fields:
      - {key: size, type: select, label: Large, options: [Large, Small]}
      - {key: why, type: text, label: Why, visibleWhen: {size: Large}}
---
kind: RoutingRule
key: large
spec: {name: Large first, when: "request.fields.size == 'Large' && request.title != \"Larger\"", priority: HIGH}
---
kind: Texts
key: de
spec: {Large: "Gro\u00df \"XL\"", Small: Klein}
`
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx, db := owner(w), w.Store.Reader()
		testkit.Run(t, w, ctx, companyops.Update, companyops.UpdateInput{TimeZone: op.SetTo("America/Lima")})
		_, err := install(w, ctx, of(choices, "de"))
		require.NoError(t, err)
		c, err := db.Calendar.Query().Only(ctx)
		require.NoError(t, err)
		require.Equal(t, "America/Lima", c.TimeZone)
		o, err := db.Offering.Query().Only(ctx)
		require.NoError(t, err)
		form, err := json.Marshal(o.Form)
		require.NoError(t, err)
		require.Contains(t, string(form), `"options":["Groß \"XL\"","Klein"]`)
		require.Contains(t, string(form), `"visibleWhen":{"size":"Groß \"XL\""}`)
		r, err := db.RoutingRule.Query().Only(ctx)
		require.NoError(t, err)
		require.Equal(t, `request.fields.size == "Groß \"XL\"" && request.title != "Larger"`, r.When)
		s, err := db.Service.Query().Only(ctx)
		require.NoError(t, err)
		require.Equal(t, "Large", s.Tags["size"], "no choice")
	})
}

// What is there already is part of what is made, and stays as it is.
func TestInstallKeeps(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := owner(w)
		team := testkit.Run(t, w, ctx, people.CreateTeam, people.CreateTeamInput{Name: "Our own", Slug: new("desk")})
		s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "Ours", Slug: new("it")})
		cal := testkit.Run(t, w, ctx, workflow.CreateCalendar, workflow.CreateCalendarInput{Name: "Bürozeiten"})
		made, err := install(w, ctx, of(small, "en"))
		require.NoError(t, err)
		require.Equal(t, []string{"keep Team/desk Desk", "keep Calendar/hours Office hours", "make Workflow/order Order a laptop", "keep Service/it IT", "make Offering/laptop Laptop"}, lines(made)[:5])
		require.Equal(t, []string{team.ID, cal.ID, s.ID}, []string{*made.Items[0].ID, *made.Items[1].ID, *made.Items[3].ID})
		o, err := w.Store.Reader().Offering.Get(ctx, *made.Items[4].ID)
		require.NoError(t, err)
		require.Equal(t, []string{s.ID, cal.ID}, []string{o.ServiceID, *o.CalendarID})
		kept, err := w.Store.Reader().Service.Get(ctx, s.ID)
		require.NoError(t, err)
		require.Equal(t, "Ours", kept.Name)

		// A file may name what only the company has.
		more := head + "---\nkind: Service\nkey: more\nspec: {name: More, ownerTeamId: Team/desk}\n---\nkind: Offering\nkey: laptop\nspec: {name: L, serviceId: Service/more, workflowId: Workflow/order, sla: {resolutionMinutes: 1, calendarId: Calendar/burozeiten}}\n"
		p, err := planOf(w, ctx, of(more, "en"))
		require.NoError(t, err)
		require.Equal(t, []string{"make Service/more More", "make Offering/laptop L"}, lines(p), "an offering of that slug belongs to another service")
		_, err = install(w, ctx, of(more, "en"))
		require.NoError(t, err)
		_, err = install(w, w.As(w.B, principal.Owner), of(more, "en"))
		require.Equal(t, "Service/more: ownerTeamId: Is in neither the file nor the company (line 7).\n"+
			"Offering/laptop: workflowId: Is in neither the file nor the company (line 11).\n"+
			"Offering/laptop: sla.calendarId: Is in neither the file nor the company (line 11).", refused(t, err))
	})
}

// Whatever refuses one document leaves nothing of the others.
func TestInstallAllOrNothing(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := owner(w)
		before := rows(t, w, ctx)
		for name, c := range map[string]struct{ more, want string }{
			"a rule of the company": {
				"---\nkind: Schedule\nkey: never\nspec: {name: Never, workflowId: Workflow/order, cron: \"0 0 30 2 *\", timeZone: UTC}\n",
				"Schedule/never: cron: Never comes.",
			},
			"a secret that is not there": {
				"---\nkind: Workflow\nkey: calls\nspec:\n  name: Calls\n  definition:\n    phases:\n      - {id: start, type: START}\n      - id: call\n        type: API_CALL\n" +
					"        config: {method: GET, url: \"https://example.com\", headers: {Authorization: \"${secrets.MISSING}\"}, response: {status: response.status}}\n      - {id: done, type: END}\n" +
					"      - {id: failed, type: END}\n    transitions: [{from: start, name: next, to: call}, {from: call, name: next, to: done}]\n",
				"Workflow/calls: definition",
			},
		} {
			_, err := install(w, ctx, of(small+c.more, "en"))
			require.Contains(t, refused(t, err), strings.TrimSuffix(c.want, "Never comes."), name)
			require.Equal(t, before, rows(t, w, ctx), name)
		}

		// Roles: who may not create one of the things creates none.
		for _, role := range []principal.Role{principal.Agent, principal.Member} {
			_, err := install(w, w.As(w.A, role), of(small, "en"))
			require.Contains(t, refused(t, err), "forbidden: The role "+string(role)+" may not do this.")
			_, err = planOf(w, w.As(w.A, role), of(small, "en"))
			require.Contains(t, refused(t, err), "forbidden")
		}
		// A key: calendars are a matter of people.
		p, _ := principal.From(ctx)
		key := *p
		key.Method, key.Scopes = principal.MethodAPIKey, principal.AllScopes
		_, err := install(w, principal.With(t.Context(), &key), of(small, "en"))
		require.Equal(t, "forbidden: Calendar/hours: This requires a signed-in person with all of the role's scopes.", refused(t, err))
		key.Scopes = principal.ScopeOf("workflows:write")
		_, err = install(w, principal.With(t.Context(), &key), of(small, "en"))
		require.Equal(t, "forbidden: Team/desk: The credential lacks the scope teams:write.", refused(t, err))
		require.Equal(t, before, rows(t, w, ctx))
		_, err = install(w, w.As(w.A, principal.Admin), of(small, "en"))
		require.NoError(t, err, "an admin may")
	})
}

// The limit of a plan refuses all of a pack.
func TestInstallKeepsPlanLimits(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := owner(w)
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "test fixture"), func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(w.A.Company.ID).SetPlan(company.PlanFree).Exec(ctx)
		}))
		before := rows(t, w, ctx)
		many := small
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			many += "---\nkind: Schedule\nkey: " + key + "\nspec: {name: " + key + ", workflowId: Workflow/order, cron: \"0 9 * * *\", timeZone: UTC}\n"
		}
		_, err := install(w, ctx, of(many, "en"))
		require.Regexp(t, `^conflict: Schedule/[a-e]: `, refused(t, err))
		require.Equal(t, before, rows(t, w, ctx))
		_, err = install(w, ctx, of(small, "en"))
		require.NoError(t, err)
	})
}

// An access policy of the company that denies one of the things leaves nothing.
func TestInstallAsksPolicies(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Admin)
		deny := head + "---\nkind: AccessPolicy\nkey: closed\nspec: {name: Closed, effect: Deny, action: create, resource: Schedule}\n"
		_, err := install(w, ctx, of(deny, "en"))
		require.NoError(t, err)
		before := rows(t, w, ctx)
		_, err = install(w, ctx, of(small, "en"))
		require.Equal(t, "forbidden: Schedule/weekly: The access policies do not allow this.", refused(t, err))
		require.Equal(t, before, rows(t, w, ctx))
	})
}

// A hidden row is not kept: it is as if it were not there, until the database refuses its slug.
func TestInstallDoesNotShowHiddenRows(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		testkit.Run(t, w, owner(w), catalog.CreateService, catalog.CreateServiceInput{Name: "Hidden", Slug: new("it")})
		hide := head + "---\nkind: AccessPolicy\nkey: closed\nspec: {name: Closed, effect: Deny, action: read, resource: Service, condition: {resource.slug: it}}\n"
		_, err := install(w, owner(w), of(hide, "en"))
		require.NoError(t, err)
		p, err := planOf(w, w.As(w.A, principal.Admin), of(small, "en"))
		require.NoError(t, err)
		require.Contains(t, lines(p), "make Service/it IT")
		_, err = install(w, w.As(w.A, principal.Admin), of(small, "en"))
		require.Equal(t, "conflict: Service/it: Another service has this slug.", refused(t, err))
	})
}

func TestListAndKeyOfPack(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := owner(w)
		in := pack.Input{Pack: new("it-service-desk"), Language: new("en")}
		_, err := install(w, ctx, in)
		require.NoError(t, err)
		listed := testkit.Run(t, w, ctx, pack.List, pack.ListInput{Language: "de"})
		require.Equal(t, len(listed.Rows), listed.Total)
		for _, p := range listed.Rows {
			require.NotEmpty(t, p.Description)
			for _, it := range p.Makes {
				if p.Key == "it-service-desk" {
					require.Equal(t, pack.Keep, it.Action, it.Key)
				}
			}
		}
		_, err = planOf(w, ctx, pack.Input{Pack: new("nothing")})
		require.Equal(t, "pack: Is no pack that ships.", refused(t, err))
		_, err = planOf(w, ctx, pack.Input{})
		require.Equal(t, "pack: Must be given, or else source.", refused(t, err))
		raw, err := json.Marshal(in)
		require.NoError(t, err)
		require.NotEmpty(t, raw)

		// The language is that of the caller, or of the company.
		testkit.Run(t, w, ctx, people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("de")})
		p, err := planOf(w, ctx, pack.Input{Source: new(small)})
		require.NoError(t, err)
		require.Equal(t, "Klein", p.Name)
	})
}
