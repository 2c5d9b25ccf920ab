package op_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// Nobody creates a row that they may not read, since the answer would show it: the operator's rules and the company's policies alike.
// An update may hand a row over to others.
func TestNobodyCreatesWhatTheyMayNotRead(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "hidden.rego"), []byte(`package atrium.operator

deny contains "confidential" if {
	input.action == "read"
	input.resource_type == "Service"
	input.resource.name == "Confidential"
}
`), 0o600))
		decider, err := authz.New(t.Context(), authz.Options{PolicyDir: dir})
		require.NoError(t, err)
		w.Engine.Authz = decider
		owner := w.As(w.A, principal.Owner)
		c := policy.NewCondition([]byte(`{"resource.name": "Hidden"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "D", Effect: "Deny", Action: "read", Resource: "Service", Condition: &c})

		for name, call := range map[string]*op.Call{"Confidential": nil, "Hidden": keyed("h", 1)} {
			for range 2 {
				out, answer, err := op.Run(owner, w.Engine, makes, named{Name: name}, call)
				refused(t, err, apperr.Forbidden)
				require.Nil(t, out, name)
				require.Nil(t, answer, name)
			}
		}
		require.Zero(t, services(t, w))
		require.Empty(t, entries(t, w, "service.created")[0].Changes)

		open := testkit.Run(t, w, owner, makes, named{Name: "Open"})
		handed := testkit.Run(t, w, owner, renames, renaming{op.ByID{ID: open.ID}, "Hidden"})
		require.Equal(t, "Hidden", handed.Name)
	})
}
