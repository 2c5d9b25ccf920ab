package definition

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// answersOf returns the keys of request.fields that an expression reads by name. It leaves out those that the expression asks for by
// has(), and is empty when it uses request.fields in another way.
func answersOf(checked *cel.Ast) []string {
	var read, asked []string
	for _, ident := range ast.MatchDescendants(ast.NavigateAST(checked.NativeRep()), ast.KindMatcher(ast.IdentKind)) {
		fields, ok := ident.Parent()
		if name, _ := member(ident); !ok || ident.AsIdent() != "request" || name != "fields" {
			continue
		}
		key, ok := member(fields)
		if !ok {
			return nil
		}
		if parent, _ := fields.Parent(); parent.Kind() == ast.SelectKind && parent.AsSelect().IsTestOnly() {
			asked = append(asked, key)
			continue
		}
		read = append(read, key)
	}
	return slices.DeleteFunc(unique(read), func(key string) bool { return slices.Contains(asked, key) })
}

// answering returns the values with null for those answers of the request that it does not have. A form may leave out an optional
// answer or send null for it, and an expression reads the same.
func (b Bound) answering(keys []string) Bound {
	request, _ := b.cel["request"].(map[string]any)
	given, _ := request["fields"].(map[string]any)
	if request == nil || !slices.ContainsFunc(keys, func(key string) bool { _, there := given[key]; return !there }) {
		return b
	}
	fields := make(map[string]any, len(given)+len(keys))
	for _, key := range keys {
		fields[key] = nil
	}
	maps.Copy(fields, given)
	request = maps.Clone(request)
	request["fields"] = fields
	b.cel = maps.Clone(b.cel)
	b.cel["request"] = request
	return b
}

// notGiven returns the answers among keys that the request does not have, as expressions name them.
func (b Bound) notGiven(keys []string) (names []string) {
	given, _ := b.vars.Request["fields"].(map[string]any)
	for _, key := range keys {
		if given[key] == nil {
			names = append(names, "request.fields."+key)
		}
	}
	return names
}
