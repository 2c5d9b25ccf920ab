package definition

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// A form may leave out an optional answer or send null for it. Expressions see no difference: an answer that is null is left out of
// request.fields, and what they read by name is null when it is not there.

// given is the macro has(): there, and not null. It takes a name in brackets as well. Of a field of anything but names (a call, a loop), it
// asks as CEL does whether it is there: a copy of that may be large.
func given(eh parser.ExprHelper, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
	path := pathOf(args[0])
	var there ast.Expr
	switch {
	case len(path) > 1 && args[0].Kind() == ast.CallKind:
		there = eh.NewPresenceTest(eh.Copy(args[0].AsCall().Args()[0]), path[len(path)-1])
	case args[0].Kind() == ast.SelectKind:
		there = eh.NewPresenceTest(eh.Copy(args[0].AsSelect().Operand()), args[0].AsSelect().FieldName())
	default:
		return nil, eh.NewError(args[0].ID(), "has() takes a field, such as request.fields.amount")
	}
	if path == nil {
		return there, nil
	}
	return eh.NewCall(operators.LogicalAnd, there,
		eh.NewCall(operators.NotEquals, eh.NewCall(overloads.TypeConvertDyn, args[0]), eh.NewLiteral(types.NullValue))), nil
}

// answersOf returns the keys of request.fields that an expression reads by name and does not look for by in. It is empty when the
// expression uses request.fields as a whole.
func answersOf(checked *cel.Ast) []string {
	var read, sought []string
	for _, ident := range ast.MatchDescendants(ast.NavigateAST(checked.NativeRep()), ast.KindMatcher(ast.IdentKind)) {
		fields, ok := ident.Parent()
		if name, _ := member(ident); !ok || ident.AsIdent() != "request" || name != "fields" {
			continue
		}
		use, ok := fields.Parent()
		if !ok {
			return nil
		}
		if key, ok := member(fields); ok {
			if use.Kind() != ast.SelectKind || !use.AsSelect().IsTestOnly() {
				read = append(read, key)
			}
			continue
		}
		if use.Kind() != ast.CallKind {
			return nil
		}
		switch call := use.AsCall(); call.FunctionName() {
		case operators.OptSelect, operators.OptIndex: // it gives an optional value
		case operators.In:
			if key, ok := call.Args()[0].AsLiteral().(types.String); ok {
				sought = append(sought, string(key))
			}
		default:
			return nil
		}
	}
	return slices.DeleteFunc(unique(read), func(key string) bool { return slices.Contains(sought, key) })
}

// withoutNulls returns a request without the answers that are null.
func withoutNulls(request map[string]any) map[string]any {
	fields, _ := request["fields"].(map[string]any)
	var out map[string]any
	for key, v := range fields {
		if v != nil {
			continue
		}
		if out == nil {
			out = maps.Clone(fields)
		}
		delete(out, key)
	}
	if out == nil {
		return request
	}
	request = maps.Clone(request)
	request["fields"] = out
	return request
}

// answering returns the values with null for those of the answers that the request does not have.
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
