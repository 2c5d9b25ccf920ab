package condition_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow/definition"
)

// cases is what the console writes: web/src/tests/conditions.test.ts reads the same file.
type cases struct {
	Samples map[string]strictjson.Object
	Cases   []struct {
		Name, Place, CEL string
		Holds            map[string]bool // by sample
	}
}

func readCases(t *testing.T) (out cases) {
	t.Helper()
	raw, err := os.ReadFile("../../gate/console/web/src/tests/conditions.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// Every condition that rows write compiles at its place and holds as the rows say: where answers are absent or null, too, it gives true
// or false and never a fault.
func TestRowsHoldAsTheySay(t *testing.T) {
	t.Parallel()
	all := readCases(t)
	require.Greater(t, len(all.Cases), 25)
	places := map[string][]definition.Place{
		"REQUEST": {definition.OnRequest, definition.InWorkflow}, "WORKFLOW": {definition.InWorkflow}, "MAPPING": {definition.InMapping, definition.InWorkflow},
	}
	for _, c := range all.Cases {
		for _, place := range places[c.Place] {
			e, fault := definition.Check(t.Context(), place, c.CEL, []string{"review", "lookup"}, true)
			require.Nil(t, fault, c.Name)
			require.Len(t, c.Holds, 3, c.Name)
			for name, want := range c.Holds {
				got, err := e.Bool(t.Context(), varsOf(all.Samples[name]).Bind())
				require.NoError(t, err, "%s, %s", c.Name, name)
				require.Equal(t, want, got, "%s, %s", c.Name, name)
			}
		}
		if c.Place == "REQUEST" { // rules and filters use it in this form
			cond, faults := definition.ParseCondition(t.Context(), "when", c.CEL)
			require.Empty(t, faults)
			for name, want := range c.Holds {
				require.Equal(t, want, cond.Holds(t.Context(), varsOf(all.Samples[name]).Bind()), "%s, %s", c.Name, name)
			}
		}
	}
}

func varsOf(sample strictjson.Object) definition.Vars {
	part := func(name string) map[string]any { m, _ := sample[name].(map[string]any); return m }
	return definition.Vars{Request: part("request"), Phases: part("phases"), Webhook: part("webhook")}
}
