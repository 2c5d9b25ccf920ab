package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// console compiles the program in testdata/clients/typed with types that GraphQL Code Generator makes from the committed schema.
// The generator or the compiler fails if the schema would break it.
var console = sync.OnceValues(func() (string, error) {
	dir, err := clients()
	if err != nil {
		return "", err
	}
	schema, err := filepath.Abs("../../graph/schema.graphql")
	if err != nil {
		return "", fmt.Errorf("find the schema: %w", err)
	}
	input, err := json.Marshal(map[string]any{"schema": schema, "breaks": []map[string]string{
		{"from": "limits: CompanyLimits!", "to": "limits: CompanyLimits", "says": "possibly 'null'"},
		{"from": "  sandbox: Sandbox\n", "to": "  playground: Sandbox\n", "says": "Cannot query field .sandbox"},
	}})
	if err != nil {
		return "", fmt.Errorf("write the schema's place: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "typed.mjs")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "ATRIUM_TEST="+string(input))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the console: %w\n%s", err, out)
	}
	return filepath.Join("typed", "out", "console.js"), nil
})

// A program with generated types compiles and works with the binary: as the owner in every area, and with an API key outside of
// the admin layer.
func TestGeneratedTypes(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		compiled, err := console()
		require.NoError(t, err)
		n := p.serve()
		first := p.firstRun()
		require.Contains(t, n.script(compiled, map[string]any{
			"api": n.base, "token": p.token(first.Company.ID, first.Owner.Email), "key": first.LiveKey, "company": first.Company.ID, "email": first.Owner.Email,
		}), "typed: ok")
	})
}

// The OpenAPI document passes the linter without a warning, and an integration with types generated from it compiles and works.
func TestGeneratedRESTTypes(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n := p.serve()
	require.Contains(t, n.script("openapi.mjs", map[string]any{"api": n.base, "key": p.firstRun().LiveKey}), "openapi: ok")
}
