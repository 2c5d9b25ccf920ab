package scalar_test

import (
	"testing"
	"time"

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
		raw, err := scalar.UnmarshalRaw(t.Context(), read)
		require.NoError(t, err)
		require.JSONEq(t, literal, string(raw))
	}
}

func TestTimesAsTheRFCHasThem(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"1999-01-01t00:00:00z": "1999-01-01T00:00:00Z", "1998-12-31T23:59:60Z": "1999-01-01T00:00:00Z"} {
		at, err := scalar.UnmarshalTime(s)
		require.NoError(t, err, s)
		require.Equal(t, want, at.Format(time.RFC3339))
	}
	_, err := scalar.UnmarshalTime("1998-12-31T22:59:60Z")
	require.EqualError(t, err, "must be an RFC 3339 date-time")
}
