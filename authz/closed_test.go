package authz_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/authz"
)

// A condition that can never hold is refused, with its path as the field: a denial with a typo would protect nothing.
func TestConditionsThatCanNeverHold(t *testing.T) {
	t.Parallel()
	e := engine(t)
	for _, tc := range []struct{ resource, path, value string }{
		{"Service", "principal.role", `"mamber"`},
		{"Service", "principal.role", `{"ne": "operator"}`},
		{"Service", "principal.role", `["admin", "Owner"]`},
		{"Service", "principal.role", `{"prefix": "x"}`},
		{"Service", "principal.role", `{"glob": "adm?"}`},
		{"Service", "principal.role", `{"lt": "admin"}`},
		{"Service", "principal.type", `"person"`},
		{"Service", "context.authMethod", `"apikey"`},
		{"Service", "context.ip", `"office"`},
		{"Service", "context.ip", `["10.0.0.1", "10.0.0.0/8"]`},
		{"Service", "context.ip", `"2001:DB8::1"`},
		{"Service", "resource.status", `["activ"]`},
		{"Service", "resource.status", `"PENDING"`},
		{"Request", "resource.status", `"active"`},
		{"Request", "resource.priority", `{"nin": ["urgent"]}`},
		{"Offering", "resource.status", `"archived"`},
		{"Workflow", "resource.status", `{"eq": "published"}`},
		{"User", "resource.role", `"boss"`},
		{"User", "resource.status", `"gone"`},
		{"ServiceAccount", "resource.role", `"boss"`},
		{"WebhookDelivery", "resource.outcome", `"OK"`},
		{"Agent", "resource.source", `"OWN"`},
		{"AuditEntry", "resource.outcome", `"ok"`},
		{"AuditEntry", "resource.actor.type", `"key"`},
		{"AuditEntry", "resource.resource.type", `"service"`},
		{"AccessPolicy", "resource.effect", `"deny"`},
		{"AccessPolicy", "resource.action", `"list"`},
		{"AccessDecision", "resource.decidedBy.kind", `"luck"`},
		{"*", "resource.status", `"activ"`},
		{"*", "principal.role", `"mamber"`},
	} {
		require.Equal(t, []string{"condition." + tc.path}, compile(t, e, tc.resource, `{"`+tc.path+`": `+tc.value+`}`), "%s %s", tc.path, tc.value)
		_, err := e.Compile(t.Context(), authz.Policy{
			Effect: authz.Deny, Action: "read", Resource: tc.resource, Condition: []byte(`{"` + tc.path + `": ` + tc.value + `}`), Kept: true,
		})
		require.NoError(t, err, "what was saved before goes on: %s %s", tc.path, tc.value)
	}
	for _, tc := range []struct{ resource, condition string }{
		{"*", `{"resource.status": ["active", "PENDING"]}`},
		{"*", `{"resource.name": "x"}`},
		{"Service", `{"principal.role": {"prefix": "a", "gte": "agent"}}`},
		{"Service", `{"principal.type": ["user", "webhook"]}`},
		{"Service", `{"context.ip": ["10.0.0.1", "2001:db8::1"]}`},
		{"Service", `{"context.ip": {"prefix": "10."}}`},
		{"Service", `{"resource.tags.status": "anything"}`},
		{"Service", `{"resource.status": "${principal.attributes.state}"}`},
		{"User", `{"resource.attributes.role": "anything"}`},
	} {
		require.Nil(t, compile(t, e, tc.resource, tc.condition), tc.condition)
	}
}

func TestGlobsAreBounded(t *testing.T) {
	t.Parallel()
	e := engine(t)
	for glob, ok := range map[string]bool{
		strings.Repeat("*a", 8): true, strings.Repeat("*a", 9): false, strings.Repeat("é", 200): true, strings.Repeat("é", 201): false,
		strings.Repeat("?", 200): true,
	} {
		refused := compile(t, e, "Service", `{"resource.name": {"glob": "`+glob+`"}}`)
		require.Equal(t, ok, refused == nil, "%q: %v", glob, refused)
		_, err := e.Compile(t.Context(), authz.Policy{
			Effect: authz.Deny, Action: "read", Resource: "Service", Condition: []byte(`{"resource.name": {"glob": "` + glob + `"}}`), Kept: true,
		})
		require.NoError(t, err, "what was saved before goes on")
	}
}
