package graph_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"atrium/authz"
	"atrium/graph/internal/limit"
	"atrium/internal/op"
)

// leastCost is the highest cost of one operation on the smallest plan.
const leastCost = 20_000

// Every document of the web console is within the cost that every company may spend, with as many rows as the pages ask for.
func TestTheConsolesDocumentsAreWithinTheLimit(t *testing.T) {
	t.Parallel()
	sdl, err := os.ReadFile("schema.graphql")
	require.NoError(t, err)
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: string(sdl)})
	require.NoError(t, err)
	manifest, err := os.ReadFile("../internal/gate/console/dist/documents.json")
	require.NoError(t, err)
	var documents map[string]string
	require.NoError(t, json.Unmarshal(manifest, &documents))
	require.NotEmpty(t, documents)
	variables := map[string]any{"first": json.Number("100"), "staff": true, "agents": true, "tasks": true}
	for _, text := range documents {
		doc, errs := gqlparser.LoadQueryWithRules(schema, text, rules.NewDefaultRules())
		require.Empty(t, errs)
		_, err := limit.Measure(schema, doc, doc.Operations[0], variables, leastCost)
		require.NoError(t, err, text)
	}
}

// The web console offers every resource that policies cover, and every one that audit entries name.
func TestTheConsoleKnowsTheResources(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../internal/gate/console/web/src/parts/resources.ts")
	require.NoError(t, err)
	ruled, audited, found := strings.Cut(string(source), "export const audited")
	require.True(t, found)
	names := func(text string) (out []string) {
		for _, m := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		return out
	}
	require.Equal(t, authz.Resources(), slices.Sorted(slices.Values(names(ruled))))
	resources := map[string]bool{}
	for _, info := range op.All() {
		if !strings.HasPrefix(info.Name, "test.") {
			resources[info.Resource] = true
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(resources)), slices.Sorted(slices.Values(append(names(ruled), names(audited)...))))
}
