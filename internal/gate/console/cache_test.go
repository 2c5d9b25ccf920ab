//go:build !noconsole

package console

import (
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// cacheLists are what the bundle's cache was built with; cache.mjs says how they come about.
type cacheLists struct {
	Embedded []string                       `json:"embedded"`
	Paged    map[string][]string            `json:"paged"`
	Stale    map[string]map[string][]string `json:"stale"`
}

// The cache knows every type, every list read page by page and every mutation of the pages' documents, as the schema has them now.
func TestTheCacheKnowsTheDocuments(t *testing.T) {
	t.Parallel()
	sdl, err := os.ReadFile("../../../graph/schema.graphql")
	require.NoError(t, err)
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: string(sdl)})
	require.NoError(t, err)
	c := built(t)
	b, err := fs.ReadFile(c.files, "cache.json")
	require.NoError(t, err)
	var lists cacheLists
	require.NoError(t, json.Unmarshal(b, &lists))
	manifest, err := c.Documents()
	require.NoError(t, err)
	var documents map[string]string
	require.NoError(t, json.Unmarshal(manifest, &documents))
	read := map[string]bool{}
	for _, text := range documents {
		doc, errs := gqlparser.LoadQueryWithRules(schema, text, rules.NewDefaultRules())
		require.Empty(t, errs, text)
		for _, o := range doc.Operations {
			lists.check(t, schema, o.SelectionSet, read)
		}
	}
	for _, mutations := range lists.Stale {
		for mutation, fields := range mutations {
			for _, f := range fields {
				parts := strings.Split(f, ".") // a field of Query, or Type.key.field
				of := "Query." + f
				if len(parts) == 3 {
					of = parts[0] + "." + parts[2]
				}
				require.True(t, read[of], "%s makes %s stale, which no document reads", mutation, f)
			}
		}
	}
}

// check fails for what the lists lack of a selection, and adds its fields to read.
func (l cacheLists) check(t *testing.T, schema *ast.Schema, selection ast.SelectionSet, read map[string]bool) {
	t.Helper()
	for _, s := range selection {
		switch s := s.(type) {
		case *ast.InlineFragment:
			l.check(t, schema, s.SelectionSet, read)
		case *ast.FragmentSpread:
			l.check(t, schema, s.Definition.SelectionSet, read)
		case *ast.Field:
			parent, typ := s.ObjectDefinition.Name, schema.Types[s.Definition.Type.Name()]
			read[parent+"."+s.Name] = true
			if s.Arguments.ForName("after") != nil {
				require.Contains(t, l.Paged[parent], s.Name, "a list of %s that is read page by page", parent)
			}
			if parent == "Mutation" || parent == "Subscription" {
				require.Contains(t, l.Stale[parent], s.Name)
			} else if !structural(typ) {
				require.True(t, asksForID(s.SelectionSet) || slices.Contains(l.Embedded, typ.Name), "%s.%s is read without its id, and %s is not embedded", parent, s.Name, typ.Name)
			}
			l.check(t, schema, s.SelectionSet, read)
		}
	}
}

// structural reports whether the cache needs no row of a type: scalars, enums, and what connections are made of.
func structural(d *ast.Definition) bool {
	return d.IsLeafType() || d.Fields.ForName("pageInfo") != nil || d.Name == "PageInfo" || strings.HasSuffix(d.Name, "Edge")
}

func asksForID(selection ast.SelectionSet) bool {
	return slices.ContainsFunc(selection, func(s ast.Selection) bool {
		switch s := s.(type) {
		case *ast.InlineFragment:
			return asksForID(s.SelectionSet)
		case *ast.FragmentSpread:
			return asksForID(s.Definition.SelectionSet)
		case *ast.Field:
			return s.Alias == "id"
		}
		return false
	})
}
