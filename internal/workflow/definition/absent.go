package definition

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"github.com/google/cel-go/parser"
)

// A sender may leave out an optional value or send null for it. Expressions see no difference: what an object does not have is null, and so
// is what is read of null. CEL would stop with "no such key". An entry beyond the end of a list and a member of a text or a number stay
// errors, and so does a secret that is not there.

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

// absentIsNull returns the decorator of one program that makes null of what is not there, at each value that the program reads.
func absentIsNull() interpreter.InterpretableDecorator {
	done := map[interpreter.Attribute]bool{} // the planner decorates a value once for each of its names
	return func(i interpreter.Interpretable) (interpreter.Interpretable, error) {
		of, ok := i.(interpreter.InterpretableAttribute)
		if !ok || done[of.Attr()] {
			return i, nil
		}
		done[of.Attr()] = true
		if named, ok := of.Attr().(interpreter.NamespacedAttribute); ok && slices.Contains(named.CandidateVariableNames(), "secrets") {
			return i, nil
		}
		return open{of, interpreter.NewAttributeFactory(containers.DefaultContainer, of.Adapter(), nil)}, nil
	}
}

// open is a value of which members are read.
type open struct {
	interpreter.InterpretableAttribute
	keys interpreter.AttributeFactory
}

// AddQualifier adds the name of a member. A name that is computed is an open itself, and is looked up by its Qualify.
func (o open) AddQualifier(name interpreter.Qualifier) (interpreter.Attribute, error) {
	if _, computed := name.(interpreter.Attribute); !computed {
		name = orNull{name}
	}
	return o.InterpretableAttribute.AddQualifier(name)
}

// Qualify looks the value up as a key of another: webhook.body[request.fields.key].
func (o open) Qualify(vars interpreter.Activation, of any) (any, error) {
	key, err := o.key(vars, of)
	if key == nil || err != nil {
		return nil, err
	}
	return key.Qualify(vars, of)
}

// QualifyIfPresent is Qualify for an optional value: webhook.body[?request.fields.key].
func (o open) QualifyIfPresent(vars interpreter.Activation, of any, presenceOnly bool) (any, bool, error) {
	key, err := o.key(vars, of)
	if key == nil || err != nil {
		return nil, false, err
	}
	return key.QualifyIfPresent(vars, of, presenceOnly)
}

var errNoIndex = errors.New("no such overload: an index that is null")

// key returns the value as a key; nil if the value is null, which no object has.
func (o open) key(vars interpreter.Activation, of any) (interpreter.Qualifier, error) {
	v, err := o.Resolve(vars)
	switch {
	case err != nil:
		return nil, err
	case !isNull(v):
	case mayLack(of):
		return nil, nil
	default:
		return nil, errNoIndex
	}
	key, err := o.keys.NewQualifier(nil, o.ID(), v, o.IsOptional())
	return orNull{key}, err
}

// orNull reads a member of a value: null if the value does not have it.
type orNull struct{ interpreter.Qualifier }

// Qualify reads the member.
func (q orNull) Qualify(vars interpreter.Activation, of any) (any, error) {
	v, err := q.Qualifier.Qualify(vars, of)
	if err != nil && mayLack(of) {
		if _, misused := err.(*types.Err); !misused { // CEL's own error says that the key is not there
			return nil, nil
		}
	}
	return v, err
}

// QualifyIfPresent reads the member of an optional value. One that is null is not there.
func (q orNull) QualifyIfPresent(vars interpreter.Activation, of any, presenceOnly bool) (any, bool, error) {
	v, there, err := q.Qualifier.QualifyIfPresent(vars, of, presenceOnly)
	if there && isNull(v) {
		return nil, false, err
	}
	return v, there, err
}

// mayLack reports whether a value that does not have a member gives null for it.
func mayLack(v any) bool {
	switch v.(type) {
	case map[string]any, map[string]string, traits.Mapper:
		return true
	}
	return isNull(v)
}

func isNull(v any) bool { return v == nil || v == types.NullValue }

// contained is the operator in. An object has what has() finds in it.
func contained(l, r ref.Val) ref.Val {
	switch in := r.(type) {
	case types.Null:
		return types.False // nothing is in what is not there
	case traits.Mapper:
		v, there := in.Find(l)
		return types.Bool(there && v != types.NullValue)
	case traits.Container:
		return in.Contains(l)
	}
	return types.ValOrErr(r, "no such overload")
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

// notGiven returns the values that the expression reads by name and that are not there, as its author names them.
func (e *Expr) notGiven(b Bound) (names []string) {
	for _, ident := range ast.MatchDescendants(ast.NavigateAST(e.checked.NativeRep()), ast.KindMatcher(ast.IdentKind)) {
		path, at := []string{ident.AsIdent()}, ident
		for name, ok := member(at); ok; name, ok = member(at) {
			path = append(path, name)
			at, _ = at.Parent()
		}
		if !slices.Contains(holders, path[0]) || len(path) == 1 || ofLoop(ident) || tested(at) {
			continue
		}
		if v, _ := b.lookUp(path); v == nil {
			names = append(names, strings.Join(path, "."))
		}
	}
	return unique(names)
}

// holders are the variables whose members may be absent.
var holders = []string{"request", "webhook", "phases", "input", "response"}

// tested reports whether an expression is what has() asks.
func tested(e ast.NavigableExpr) bool { return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() }
