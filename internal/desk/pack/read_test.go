package pack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/pack"
	"atrium/internal/op"
	"atrium/internal/test/testkit"
)

// What is wrong with a file is told with the document, the place in it and the line.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	team := "---\nkind: Team\nkey: desk\nspec: {name: Desk}\n"
	cases := map[string]struct{ source, want string }{
		"nothing":             {"# only a comment\n", "source: Must begin with a document of the kind Pack."},
		"no YAML":             {head + "---\nkind: [\n", "source: Is not valid YAML in line 5."},
		"a list":              {"- kind: Pack\n", "Document 1: Must be an object with kind, key and spec (line 1)."},
		"no head":             {"kind: Team\nkey: desk\nspec: {name: Desk}\n", "source: Must begin with a document of the kind Pack."},
		"a late head":         {team[4:] + "---\n" + head, "Pack/small: Must be the first document (line 5)."},
		"two heads":           {head + "---\n" + strings.Replace(head, "small", "two", 1), "Pack/two: Must be the only document of its kind (line 5)."},
		"a head without name": {"kind: Pack\nkey: small\nspec: {description: D}\n", "Pack/small: name: Is required (line 3)."},
		"a field of the head": {"kind: Pack\nkey: small\nspec: {name: S, version: 1}\n", "Pack/small: version: Is not a known field (line 3)."},
		"unknown kind": {
			head + "---\nkind: Agent\nkey: bot\nspec: {name: Bot}\n",
			"Agent/bot: kind: Must be one of Pack, Texts, Team, Calendar, Workflow, Service, Offering, RoutingRule, SavedReply, Schedule, InboundWebhook, AccessPolicy (line 5).",
		},
		"no kind":                 {head + "---\nkey: bot\nspec: {name: Bot}\n", "Document 2: kind: Is required: it says what the document makes (line 5)."},
		"unknown field":           {head + "---\nkind: Team\nkey: desk\nspec:\n  name: Desk\n  color: red\n", "Team/desk: color: Is not a known field (line 9)."},
		"unknown part":            {head + "---\nkind: Team\nkey: desk\nmetadata: {}\nspec: {name: Desk}\n", "Document 2: metadata: Is not a known field (line 7)."},
		"no spec":                 {head + "---\nkind: Team\nkey: desk\n", "Team/desk: spec: Must be an object (line 5)."},
		"a field that is missing": {head + "---\nkind: Team\nkey: desk\nspec: {}\n", "Team/desk: name: Is required (line 5)."},
		"a wrong type":            {head + "---\nkind: Team\nkey: desk\nspec:\n  name: 7\n", "Team/desk: name: Must be a string (line 8)."},
		"a slug":                  {head + "---\nkind: Team\nkey: desk\nspec: {name: Desk, slug: d}\n", "Team/desk: slug: Must be left out: the key is the slug (line 7)."},
		"people":                  {head + "---\nkind: Team\nkey: desk\nspec: {name: Desk, memberIds: []}\n", "Team/desk: memberIds: Must be left out: packs have neither people nor organizations (line 7)."},
		"a key":                   {head + "---\nkind: Team\nkey: The desk\nspec: {name: Desk}\n", "Document 2: key: Must have small letters, digits and hyphens, at most 63 (line 5)."},
		"a key twice":             {head + team + team, "Team/desk: Is there twice (line 9)."},
		"a field twice":           {head + "---\nkind: Team\nkey: desk\nspec:\n  name: A\n  name: B\n", "Document 2: spec.name: Is there twice (line 9)."},
		"a key that is a number":  {head + "---\nkind: Service\nkey: it\nspec: {name: IT, tags: {1: one}}\n", "Document 2: spec.tags: Must have strings as keys (line 7)."},
		"a merge":                 {head + "---\nkind: Team\nkey: desk\nspec: {<<: {name: A}}\n", "Document 2: spec: Must have strings as keys (line 7)."},
		"an anchor":               {head + "---\nkind: Team\nkey: desk\nspec: {name: &n Desk, description: *n}\n", "Document 2: spec.name: Must be written without anchors (line 7).\nDocument 2: spec.description: Must be written without anchors (line 7)."},
		"a tag":                   {head + "---\nkind: Team\nkey: desk\nspec: {name: !!binary aGk=}\n", "Document 2: spec.name: Must be written without tags (line 7)."},
		"a number":                {head + "---\nkind: Service\nkey: it\nspec: {name: .inf}\n", "Document 2: spec.name: Must be a number that JSON has (line 7)."},
		"texts":                   {head + "---\nkind: Texts\nkey: de\nspec: {A: [B]}\n", "Texts/de: Must have a string for each text (line 7)."},
		"an id": {
			head + "---\nkind: Service\nkey: it\nspec: {name: IT, ownerTeamId: team_01k9ye4ryzf7stj6dqnm8x2v3b}\n",
			"Service/it: ownerTeamId: Must be a reference such as Team/it-support: a file has no ids (line 7).",
		},
		"no reference":            {head + "---\nkind: Service\nkey: it\nspec: {name: IT, ownerTeamId: desk}\n", "Service/it: ownerTeamId: Must be a reference such as Team/it-support (line 7)."},
		"a reference to a person": {head + "---\nkind: Service\nkey: it\nspec: {name: IT, ownerTeamId: User/ada}\n", "Service/it: ownerTeamId: Must be a reference to one of Team, Calendar, Workflow, Service, Offering (line 7)."},
		"a reference to itself":   {head + "---\nkind: Service\nkey: it\nspec: {name: IT, ownerTeamId: Service/it}\n", "Service/it: ownerTeamId: Must not refer to itself (line 7)."},
		"a reference to nothing":  {head + "---\nkind: Service\nkey: it\nspec: {name: IT, ownerTeamId: Team/none}\n", "Service/it: ownerTeamId: Is in neither the file nor the company (line 7)."},
		"a circle": {
			head + "---\nkind: Service\nkey: a\nspec: {name: A, ownerTeamId: Service/b}\n---\nkind: Service\nkey: b\nspec: {name: B, ownerTeamId: Service/a}\n",
			"Service/a: Must not refer to itself by way of others (line 5).",
		},
		"an offering of nothing": {head + "---\nkind: Offering\nkey: o\nspec: {name: O}\n", "Offering/o: serviceId: Is required (line 5)."},
		"a form": {
			head + "---\nkind: Service\nkey: s\nspec: {name: S}\n---\nkind: Offering\nkey: o\nspec:\n  name: O\n  serviceId: Service/s\n  form:\n    fields:\n      - {key: a, type: text}\n      - {key: a, type: text}\n",
			"Offering/o: form.fields[1].key: Another field of this form has the same key (line 17).",
		},
		"a definition": {
			head + "---\nkind: Workflow\nkey: w\nspec:\n  name: W\n  definition:\n    phases:\n      - {id: start, type: START}\n      - id: work\n        type: PROCESS\n        config:\n          title: \"${request.\"\n      - {id: done, type: END}\n    transitions: [{from: start, name: next, to: work}, {from: work, name: next, to: done}]\n",
			"Workflow/w: definition.phases[work].config.title: ",
		},
		"a secret": {
			head + "---\nkind: InboundWebhook\nkey: w\nspec: {name: W, workflowId: Workflow/w, signingSecret: 0123456789abcdef0}\n",
			"InboundWebhook/w: signingSecret: Must be left out: a file has no secrets; a new one is drawn (line 7).",
		},
		"an open door": {
			head + "---\nkind: InboundWebhook\nkey: w\nspec: {name: W, workflowId: Workflow/w, verifySignature: false}\n",
			"InboundWebhook/w: verifySignature: Must be left out: calls of a webhook that a file makes are always signed (line 7).",
		},
		"a mapping": {
			head + "---\nkind: InboundWebhook\nkey: w\nspec:\n  name: W\n  workflowId: Workflow/w\n  fieldMapping:\n    fields:\n      customerId: request.id\n",
			"InboundWebhook/w: fieldMapping.fields.customerId: An expression of an inbound webhook reads webhook alone, not request (line 12).",
		},
		"which calls count": {head + "---\nkind: InboundWebhook\nkey: w\nspec:\n  name: W\n  workflowId: Workflow/w\n  when: webhook.\n", "InboundWebhook/w: when: "},
		"a condition":       {head + "---\nkind: RoutingRule\nkey: r\nspec:\n  name: R\n  when: \"request.\"\n  priority: HIGH\n", "RoutingRule/r: when: "},
	}
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		for name, c := range cases {
			_, err := planOf(w, owner(w), of(c.source, "en"))
			got := refused(t, err)
			if strings.HasSuffix(c.want, ": ") {
				require.True(t, strings.HasPrefix(got, c.want), "%s: %s", name, got)
				require.Regexp(t, `\(line \d+\)\.$`, got, name)
				continue
			}
			require.Equal(t, c.want, got, name)
		}
	})
}

// A file is bounded before it is read, and nothing in it grows.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	many.WriteString(head)
	for i := range 200 {
		fmt.Fprintf(&many, "---\nkind: Team\nkey: t%d\nspec: {name: T}\n", i)
	}
	bomb := head + "---\nkind: Team\nkey: a0\nspec: {name: A, x: &a0 [z, z, z, z, z, z, z, z, z]}\n"
	for i := range 40 {
		bomb += fmt.Sprintf("---\nkind: Team\nkey: b%d\nspec: {x: &a%d [*a%d, *a%d, *a%d, *a%d]}\n", i, i+1, i, i, i, i)
	}
	w := testkit.SQLiteWorld(t)
	for name, c := range map[string]struct{ source, want string }{
		"too long":       {head + "# " + strings.Repeat("ä", 131_100) + "\n", "source: Must have at most 256 KiB."},
		"too many":       {many.String(), "source: Must have at most 200 documents."},
		"too deep":       {head + "---\nkind: Team\nkey: t\nspec: {x: " + strings.Repeat("[", 50) + strings.Repeat("]", 50) + "}\n", "Document 2: spec.x" + "[0][0]"},
		"an alias bomb":  {bomb, "Document 2: spec.x: Must be written without anchors (line 7).\nDocument 3: spec.x: Must"},
		"a bomb in one":  {head + "---\na: &a [1, 2]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n", "Document 2: a: Must be written without anchors (line 5)."},
		"deep flow":      {strings.Repeat("[", 100_000), "source: Is not valid YAML"},
		"deep block":     {strings.Repeat("- ", 20_000), "source: Is not valid YAML"},
		"no UTF-8":       {head + "\xff\n", "source: "},
		"a NUL":          {head + "---\nkind: Team\nkey: a\nspec: {name: \"a\\0b\"}\n", "Team/a: name: "},
		"many faults":    {head + "---\nkind: Service\nkey: s\nspec: {" + strings.TrimSuffix(strings.Repeat("a: 1, ", 500), ", ") + "}\n", "Document 2: spec.a: Is there twice (line 7)."},
		"an empty value": {head + "---\nkind:\nkey: a\nspec: {}\n", "Document 2: kind: Is required: it says what the document makes (line 5)."},
	} {
		_, _, err := op.Run(owner(w), w.Engine, pack.PlanOf, of(c.source, "en"), nil)
		require.True(t, strings.HasPrefix(refused(t, err), c.want), "%s: %s", name, refused(t, err))
	}
}
