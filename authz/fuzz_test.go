package authz_test

import (
	"encoding/json"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/internal/platform/principal"
)

// vocabulary holds the words of a list's own statement.
const vocabulary = "SELECT id FROM services COALESCE FALSE NULL LIKE GLOB ESCAPE json_extract json_each value key"

// checkFilter builds the statement of a list under the policy and checks that all keys and values of the policy are bound as
// parameters.
func checkFilter(t *testing.T, e *authz.Engine, c *authz.Compiled, words ...string) {
	t.Helper()
	all, err := e.Compile(t.Context(), authz.Policy{ID: "pol_0", Effect: authz.Allow, Action: "*", Resource: "*", Condition: []byte("{}")})
	require.NoError(t, err)
	caller := &authz.Caller{Principal: &principal.Principal{ID: "usr_1", Role: principal.Member, Type: principal.TypeUser}}
	for _, d := range []string{dialect.SQLite, dialect.Postgres} {
		rows := e.Rows(authz.NewSet([]*authz.Compiled{all, c}), caller)
		if rows == nil {
			continue
		}
		where := rows.Narrow("Service")
		if where == nil {
			continue
		}
		s := sql.Dialect(d).Select("id").From(sql.Dialect(d).Table("services"))
		where(s)
		query, args := s.Query()
		for _, w := range words {
			if len(w) > 3 && !strings.Contains(vocabulary, w) {
				require.NotContains(t, query, w)
			}
		}
		require.NotContains(t, query, "%!")
		require.Equal(t, len(args), strings.Count(query, "?")+strings.Count(query, "$"), query)
	}
}

// A condition's value is always compared as a value, whatever it looks like.
func FuzzConditionValue(f *testing.F) {
	for _, s := range []string{"prod", "", "'; DROP TABLE services; --", `a\b`, "%_*?[]", "${principal.id}", "😀", "input.resource", "\ufffd"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(5))
	}
	e, err := authz.New(f.Context(), authz.Options{})
	require.NoError(f, err)
	ops := []string{"eq", "ne", "in", "nin", "prefix", "glob", "lt", "gte"}
	f.Fuzz(func(t *testing.T, value string, op uint8) {
		name := ops[int(op)%len(ops)]
		var v any = value
		if name == "in" || name == "nin" {
			v = []string{value}
		}
		raw, err := json.Marshal(map[string]any{"resource.name": map[string]any{name: v}})
		require.NoError(t, err)
		c, err := e.Compile(t.Context(), authz.Policy{ID: "pol_1", Effect: authz.Deny, Action: "read", Resource: "Service", Condition: raw})
		if err == nil {
			checkFilter(t, e, c)
		}
	})
}

// A tag's key is always one key, whatever it contains, and never part of the statement.
func FuzzTagKey(f *testing.F) {
	for _, s := range []string{"env", "a.b", `a"b`, "a'b", `$."x"`, "') OR 1=1 --", "日本", "input.resource", "][0", "\\"} {
		f.Add(s)
	}
	e, err := authz.New(f.Context(), authz.Options{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, key string) {
		raw, err := json.Marshal(map[string]any{"resource.tags." + key: "prod"})
		require.NoError(t, err)
		c, err := e.Compile(t.Context(), authz.Policy{ID: "pol_1", Effect: authz.Deny, Action: "read", Resource: "Service", Condition: raw})
		if err == nil {
			checkFilter(t, e, c, key)
		}
	})
}
