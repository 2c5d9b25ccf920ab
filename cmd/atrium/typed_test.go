package main_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A console with types that GraphQL Code Generator makes of the committed schema compiles, and works with the binary: as
// its owner through every area, as an API key outside of the admin layer. A schema that breaks it does not get that far.
func TestGeneratedTypes(t *testing.T) {
	schema, err := filepath.Abs("../../graph/schema.graphql")
	require.NoError(t, err)
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		first := p.firstRun()
		out := n.script("typed.mjs", map[string]any{
			"api": n.base, "token": p.token(first.Company.ID, first.Owner.Email), "key": first.LiveKey, "company": first.Company.ID,
			"email": first.Owner.Email, "schema": schema, "breaks": []map[string]string{
				{"from": "limits: CompanyLimits!", "to": "limits: CompanyLimits", "says": "possibly 'null'"},
				{"from": "  sandbox: Sandbox\n", "to": "  playground: Sandbox\n", "says": "Cannot query field .sandbox"},
			},
		})
		require.Contains(t, out, "typed: ok")
		require.Contains(t, out, "typed: broken schemas are noticed")
	})
}
