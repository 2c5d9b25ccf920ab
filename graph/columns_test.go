package graph_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

// fieldsOf returns the fields of a type that show a row's own values, by introspection.
func fieldsOf(t *testing.T, s *apitest.Server, typ string) []string {
	t.Helper()
	a := ask(t, s, s.A.Owner, `query($t: String!) { __type(name: $t) { fields { name args { name } type { kind name ofType { kind name ofType { kind name ofType { kind } } } } } } }`, vars{"t": typ})
	var out []string
	fields, _ := a.Get("data.__type.fields").([]any)
	for _, f := range fields {
		name, _ := apitest.At(f, "name")
		text := fmt.Sprint(f)
		if !strings.Contains(text, "OBJECT") && !strings.Contains(text, "INTERFACE") && strings.Contains(text, "args:[]") {
			out = append(out, name.(string))
		}
	}
	require.NotEmpty(t, out, typ)
	return out
}

// A field has the same value whatever is selected beside it, because a column is left out only when nothing selects it.
func TestFieldsDoNotDependOnTheirNeighbours(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := opened(t, s)
		ask(t, s, s.A.Owner, `mutation($service: ID!, $offering: ID!, $team: ID!, $org: JSON) {
			updateService(input: {id: $service, description: "d", tags: {a: "b"}}) { service { id } }
			updateOffering(input: {id: $offering, description: "d", tags: {a: "b"}, sla: {responseMinutes: 5}, form: {fields: [{key: "k", label: "K", type: "text"}]}}) { offering { id } }
			updateTeam(input: {id: $team, description: "d"}) { team { id } }
			createOrganization(input: {name: "O", tags: $org}) { organization { id } }
			createRequest(input: {serviceId: $service, offeringId: $offering, title: "t", description: "d", tags: {a: "b"}, fields: {k: "v"}, teamId: $team}) { request { id } }
			createSecret(input: {allowedHosts: ["*"], name: "S", value: "v", description: "d"}) { secret { id } }
		}`, vars{"service": h.service.ID, "offering": h.offering.ID, "team": h.team.ID, "org": vars{"a": "b"}})
		ask(t, s, s.A.Owner, `mutation($id: ID!) { updateUser(input: {id: $id, attributes: {a: "b"}}) { user { id } } }`, vars{"id": s.A.Owner.UserID})
		ask(t, s, s.A.Owner, `mutation($d: JSON!) { createWorkflow(input: {name: "W", description: "d", definition: $d}) { workflow { id } } }`,
			vars{"d": vars{"phases": []any{vars{"id": "start", "type": "START"}, vars{"id": "end", "type": "END"}}, "transitions": []any{vars{"from": "start", "name": "next", "to": "end"}}}})
		places := map[string]struct{ typ, query string }{
			"services":      {"Service", `{ services { edges { node { %s } } } }`},
			"requests":      {"Request", `{ requests { edges { node { %s } } } }`},
			"workflows":     {"Workflow", `{ workflows { edges { node { %s } } } }`},
			"users":         {"User", `{ users(orderBy: {field: createdAt}) { edges { node { %s } } } }`},
			"teams":         {"Team", `{ teams { edges { node { %s } } } }`},
			"organizations": {"Organization", `{ organizations { edges { node { %s } } } }`},
			"secrets":       {"Secret", `{ secrets { edges { node { %s } } } }`},
			"audit entries": {"AuditEntry", `{ auditEntries(filter: {action: "service.updated"}) { edges { node { %s } } } }`},
			"a service":     {"Service", `{ requests { edges { node { service { %s } } } } }`},
			"an offering":   {"Offering", `{ requests { edges { node { offering { %s } } } } }`},
			"a creator":     {"User", `{ requests { edges { node { creator { ... on User { %s } } } } } }`},
			"a team":        {"Team", `{ requests { edges { node { team { %s } } } } }`},
			"offerings":     {"Offering", `{ services { edges { node { offerings { edges { node { %s } } } } } } }`},
			"members":       {"User", `{ teams { edges { node { members { edges { node { %s } } } } } } }`},
			"teams of":      {"Team", `{ users(orderBy: {field: createdAt}, first: 1) { edges { node { teams { edges { node { %s } } } } } } }`},
		}
		for _, name := range slices.Sorted(maps.Keys(places)) {
			p := places[name]
			fields := fieldsOf(t, s, p.typ)
			var whole []any
			leaves(ask(t, s, s.A.Owner, fmt.Sprintf(p.query, strings.Join(fields, " ")), nil).Get("data"), fields, &whole)
			require.NotEmpty(t, whole, name)
			for _, f := range fields {
				var alone []any
				leaves(ask(t, s, s.A.Owner, fmt.Sprintf(p.query, f), nil).Get("data"), []string{f}, &alone)
				require.Len(t, alone, len(whole), "%s: %s", name, f)
				for i := range whole {
					require.Equal(t, whole[i].(vars)[f], alone[i].(vars)[f], "%s: %s alone", name, f)
				}
			}
		}
	})
}

// leaves collects the objects below v that have exactly these fields.
func leaves(v any, fields []string, out *[]any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			leaves(e, fields, out)
		}
	case vars:
		if slices.Equal(slices.Sorted(maps.Keys(v)), slices.Sorted(slices.Values(fields))) {
			*out = append(*out, v)
			return
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			leaves(v[k], fields, out)
		}
	}
}
