package fault_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"atrium/graph/internal/fault"
)

// A fragment on one type says nothing about the fields beside it, which belong to the type around both.
func TestFieldsBesideAFragment(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `
		interface Node { id: ID! }
		type Service implements Node { id: ID! offerings(most: Int): Int }
		type Query implements Node { id: ID! services(first: Int!): Service }`})
	doc, err := parser.ParseQuery(&ast.Source{Input: `{ ... on Node { id } services(first: "2", last: 3) { ... on Node { id } offerings(most: true) } }`})
	require.NoError(t, err)
	var fields []string
	for _, d := range fault.Find(schema, doc, doc.Operations[0], nil) {
		fields = append(fields, d.Field)
	}
	require.Equal(t, []string{"first", "last", "most"}, fields)
}
