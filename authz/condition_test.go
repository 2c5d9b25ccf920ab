package authz_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/internal/platform/apperr"
)

// compile compiles a policy on a resource with the condition and returns the fields of its faults.
func compile(t *testing.T, e *authz.Engine, resource, condition string) []string {
	t.Helper()
	_, err := e.Compile(t.Context(), authz.Policy{ID: "pol_1", Effect: authz.Deny, Action: "read", Resource: resource, Condition: []byte(condition)})
	if err == nil {
		return nil
	}
	require.Equal(t, apperr.Validation, apperr.CodeOf(err), "%v", err)
	fields := []string{}
	for _, d := range apperr.From(err).Details {
		require.NotEmpty(t, d.Message)
		fields = append(fields, d.Field)
	}
	return fields
}

func TestConditionsThatAreTaken(t *testing.T) {
	t.Parallel()
	e := engine(t)
	for _, c := range []string{
		`{}`,
		`{"resource.name": "a"}`,
		`{"resource.name": ["a", "b"]}`,
		`{"resource.name": []}`,
		`{"resource.name": {"eq": "a", "ne": "b", "in": ["a"], "nin": ["b"], "lt": "c", "lte": "c", "gt": "", "gte": "", "prefix": "a", "glob": "a*?", "exists": true}}`,
		`{"resource.tags.env": "prod", "resource.tags.a.b": {"exists": false}, "resource.tags.a\"b'--": "x", "resource.tags.日本": "x"}`,
		`{"resource.ownerTeamId": {"in": "${principal.teamIds}"}}`,
		`{"resource.ownerTeamId": {"nin": "${principal.teamIds}"}}`,
		`{"resource.tags.region": "${principal.attributes.home.region}"}`,
		`{"resource.name": ["${principal.id}", "x"]}`,
		`{"resource.name": {"nin": ["${principal.id}", "x"]}}`,
		`{"resource.createdAt": {"gte": "2026-01-01t00:00:00z", "lt": "1998-12-31T23:59:60Z"}}`,
		`{"resource.createdAt": {"gte": "2026-01-01T00:00:00Z", "lt": "2026-01-01T01:00:00.123456+01:00"}}`,
		`{"resource.createdAt": {"lt": "${context.time}"}}`,
		`{"context.time": {"gte": "2026-01-01T00:00:00Z"}, "context.ip": {"prefix": "10."}, "context.authMethod": ["api_key", "bearer"]}`,
		`{"principal.role": "member", "principal.type": "user", "principal.id": {"ne": "usr_1"}, "principal.teamIds": "team_1"}`,
		`{"principal.teamIds": {"in": ["team_1", "team_2"], "nin": ["team_3"], "ne": "team_4", "exists": true}}`,
		`{"principal.attributes.level": {"exists": true}}`,
	} {
		require.Nil(t, compile(t, e, "Service", c), c)
	}
	require.Nil(t, compile(t, e, "User", `{"resource.mfaEnabled": false, "resource.teamIds": {"ne": "team_1"}, "resource.attributes.a": "b"}`))
	require.Nil(t, compile(t, e, "Workflow", `{"resource.version": {"gte": 2, "lt": 3.5}}`))
	require.Nil(t, compile(t, e, "Offering", `{"resource.sla.responseMinutes": {"lte": 60}}`))
	require.Nil(t, compile(t, e, "AuditEntry", `{"resource.actor.type": "api_key", "resource.resource.type": "Secret", "resource.at": {"lt": "2026-01-01T00:00:00Z"}}`))
	require.Nil(t, compile(t, e, "*", `{"resource.tags.env": "prod"}`), "some resources have tags")
	require.Nil(t, compile(t, e, "*", `{"resource.version": 3}`))
}

func TestConditionsThatAreRefused(t *testing.T) {
	t.Parallel()
	e := engine(t)
	many := `{` + strings.TrimSuffix(strings.Repeat(`"resource.tags.K": "v",`, 51), ",") + `}`
	for i := range 51 {
		many = strings.Replace(many, "K", "k"+strings.Repeat("x", i+1), 1)
	}
	for condition, fields := range map[string][]string{
		`[]`: {"condition"}, `null`: {"condition"}, `"x"`: {"condition"}, `{`: {"condition"},
		many:                   {"condition"},
		`{"resource.tags": 1}`: {"condition.resource.tags"}, `{"resource.tags.": "x"}`: {"condition.resource.tags."},
		`{"resource.color": "red"}`: {"condition.resource.color"}, `{"resource": "x"}`: {"condition.resource"}, `{"": "x"}`: {"condition."},
		`{"Resource.name": "x"}`: {"condition.Resource.name"}, `{"resource.companyId": "x"}`: {"condition.resource.companyId"},
		`{"principal.email": "x"}`: {"condition.principal.email"}, `{"principal.attributes.": "x"}`: {"condition.principal.attributes."},
		`{"context.country": "x"}`: {"condition.context.country"},
		`{"resource.name": null}`:  {"condition.resource.name"}, `{"resource.name": 1}`: {"condition.resource.name"}, `{"resource.name": true}`: {"condition.resource.name"},
		`{"resource.name": {}}`: {"condition.resource.name"}, `{"resource.name": {"like": "x"}}`: {"condition.resource.name"}, `{"resource.name": {"eq": ["x"]}}`: {"condition.resource.name"},
		`{"resource.name": {"in": "x"}}`: {"condition.resource.name"}, `{"resource.name": ["x", 1]}`: {"condition.resource.name"}, `{"resource.name": [["x"]]}`: {"condition.resource.name"},
		`{"resource.name": {"exists": "yes"}}`: {"condition.resource.name"}, `{"resource.name": {"glob": 1}}`: {"condition.resource.name"},
		`{"resource.name": "${principal.email}"}`: {"condition.resource.name"}, `{"resource.name": "x${principal.id}"}`: {"condition.resource.name"},
		`{"resource.name": "${resource.slug}"}`: {"condition.resource.name"}, `{"resource.name": "${principal.teamIds}"}`: {"condition.resource.name"},
		`{"resource.name": ["${principal.teamIds}"]}`: {"condition.resource.name"}, `{"resource.name": {"glob": "${principal.id}"}}`: {"condition.resource.name"},
		`{"resource.createdAt": "yesterday"}`: {"condition.resource.createdAt"}, `{"resource.createdAt": "2026-01-01"}`: {"condition.resource.createdAt"},
		`{"resource.createdAt": "2026-01-01T00:00:00.1234567Z"}`: {"condition.resource.createdAt"}, `{"resource.createdAt": "2026-13-01T00:00:00Z"}`: {"condition.resource.createdAt"},
		`{"resource.createdAt": "2026-01-01T00:00:60Z"}`: {"condition.resource.createdAt"},
		`{"resource.createdAt": {"prefix": "2026"}}`:     {"condition.resource.createdAt"}, `{"resource.createdAt": "${principal.id}"}`: {"condition.resource.createdAt"},
		`{"principal.teamIds": {"prefix": "team"}}`: {"condition.principal.teamIds"}, `{"principal.teamIds": {"lt": "team"}}`: {"condition.principal.teamIds"},
		`{"resource.name": "` + strings.Repeat("x", 1025) + `"}`: {"condition.resource.name"}, `{"resource.name": "\u0000"}`: {"condition.resource.name"},
		`{"resource.color": 1, "resource.name": 1, "resource.slug": "ok"}`: {"condition.resource.color", "condition.resource.name"},
	} {
		require.Equal(t, fields, compile(t, e, "Service", condition), condition)
	}
	require.Equal(t, []string{"condition.resource.mfaEnabled"}, compile(t, e, "User", `{"resource.mfaEnabled": {"lt": true}}`))
	require.Equal(t, []string{"condition.resource.version"}, compile(t, e, "Workflow", `{"resource.version": "3"}`))
	require.Equal(t, []string{"condition.resource.tags.env"}, compile(t, e, "User", `{"resource.tags.env": "prod"}`), "users have no tags")
	require.Equal(t, []string{"condition.resource.x"}, compile(t, e, "*", `{"resource.x": "prod"}`))
	require.Equal(t, []string{"condition.resource.x"}, compile(t, e, "Credit", `{"resource.x": 1}`))

	_, err := e.Compile(t.Context(), authz.Policy{Effect: "allow", Action: "list", Resource: "service", Condition: []byte(`{}`)})
	var fields []string
	for _, d := range apperr.From(err).Details {
		fields = append(fields, d.Field)
	}
	require.Equal(t, []string{"effect", "action", "resource"}, fields)
}

// Any JSON as a condition either is refused with the field or compiles. Nothing panics, and a key never becomes part of a
// statement (the differential test runs such keys).
func FuzzPolicy(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"resource.name": {"glob": "a*"}}`, `{"resource.tags.a\"b": ["x", "${principal.id}"]}`, `{"resource.createdAt": {"lt": "2026-01-01T00:00:00Z"}}`,
		`{"principal.teamIds": {"nin": ["a"]}}`, `{"resource.version": 1e400}`, `{"resource.name": "${"}`, `{"resource.tags.') OR 1=1 --": "x"}`, `[`, `null`,
	} {
		f.Add(s, "Service")
		f.Add(s, "*")
	}
	e, err := authz.New(f.Context(), authz.Options{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, condition, resource string) {
		c, err := e.Compile(t.Context(), authz.Policy{ID: "pol_1", Effect: authz.Deny, Action: "read", Resource: resource, Condition: []byte(condition)})
		if err != nil {
			require.Equal(t, apperr.Validation, apperr.CodeOf(err), "%v", err)
			return
		}
		checkFilter(t, e, c, condition)
	})
}
