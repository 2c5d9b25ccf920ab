package scalar_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph/internal/scalar"
)

// A literal in a document means the same as a variable: an empty list is not null, at any depth.
func TestLiteralsOfJSON(t *testing.T) {
	t.Parallel()
	empty := &ast.Value{Kind: ast.ListValue}
	for literal, v := range map[string]*ast.Value{
		`[]`:             empty,
		`null`:           {Kind: ast.NullValue},
		`{"a":[]}`:       {Kind: ast.ObjectValue, Children: ast.ChildValueList{{Name: "a", Value: empty}}},
		`[[],{"a":[1]}]`: {Kind: ast.ListValue, Children: ast.ChildValueList{{Value: empty}, {Value: &ast.Value{Kind: ast.ObjectValue, Children: ast.ChildValueList{{Name: "a", Value: &ast.Value{Kind: ast.ListValue, Children: ast.ChildValueList{{Value: &ast.Value{Kind: ast.IntValue, Raw: "1"}}}}}}}}}},
	} {
		read, err := v.Value(nil)
		require.NoError(t, err)
		raw, err := scalar.UnmarshalRaw(read)
		require.NoError(t, err)
		require.JSONEq(t, literal, string(raw))
	}
}
