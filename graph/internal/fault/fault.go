package fault

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/platform/apperr"
)

// most is the highest number of details in one error.
const most = 50

// Variables returns a detail for every variable, or part of one, that does not fit its type.
func Variables(schema *ast.Schema, o *ast.OperationDefinition, variables map[string]any) []apperr.Detail {
	f := &finder{schema: schema, operation: o, variables: variables}
	for _, v := range o.VariableDefinitions {
		f.variable(v.Variable, v.Variable, v.Type)
	}
	return f.rows
}

// Find returns a detail for every fault in the arguments of the operation's fields and in its variables. A field of an input or
// of a filter is named as in REST, without the argument's own name.
func Find(schema *ast.Schema, doc *ast.QueryDocument, o *ast.OperationDefinition, variables map[string]any) []apperr.Detail {
	f := &finder{schema: schema, doc: doc, operation: o, variables: variables, spread: map[string]bool{}}
	root := schema.Query
	switch o.Operation {
	case ast.Mutation:
		root = schema.Mutation
	case ast.Subscription:
		root = schema.Subscription
	}
	f.selections(o.SelectionSet, root)
	for _, v := range o.VariableDefinitions {
		if !f.used[v.Variable] {
			f.variable(v.Variable, v.Variable, v.Type)
		}
	}
	return f.rows
}

// finder walks one operation.
type finder struct {
	schema    *ast.Schema
	doc       *ast.QueryDocument
	operation *ast.OperationDefinition
	variables map[string]any
	spread    map[string]bool
	used      map[string]bool
	rows      []apperr.Detail
}

func (f *finder) fault(path, format string, args ...any) {
	if len(f.rows) >= most {
		return
	}
	for _, arg := range []string{"input.", "filter."} {
		path = strings.TrimPrefix(path, arg)
	}
	row := apperr.Detail{Field: path, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(f.rows, row) {
		f.rows = append(f.rows, row)
	}
}

// selections checks the arguments of all fields that are selected on a type; of is nil for an unknown type.
func (f *finder) selections(set ast.SelectionSet, of *ast.Definition) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			f.field(s, of)
		case *ast.InlineFragment:
			on := of
			if s.TypeCondition != "" {
				on = f.schema.Types[s.TypeCondition]
			}
			f.selections(s.SelectionSet, on)
		case *ast.FragmentSpread:
			if def := f.doc.Fragments.ForName(s.Name); def != nil && !f.spread[s.Name] {
				f.spread[s.Name] = true
				f.selections(def.SelectionSet, f.schema.Types[def.TypeCondition])
			}
		}
	}
}

func (f *finder) field(field *ast.Field, of *ast.Definition) {
	if of == nil {
		return
	}
	def := of.Fields.ForName(field.Name)
	if def == nil {
		return
	}
	for _, arg := range def.Arguments {
		given := field.Arguments.ForName(arg.Name)
		switch {
		case given != nil:
			f.literal(arg.Name, arg.Type, given.Value)
		case arg.Type.NonNull && arg.DefaultValue == nil:
			f.fault(arg.Name, "is required")
		}
	}
	for _, arg := range field.Arguments {
		if def.Arguments.ForName(arg.Name) == nil {
			f.fault(arg.Name, "is not a known argument")
		}
	}
	f.selections(field.SelectionSet, f.schema.Types[def.Type.Name()])
}

// literal checks a value that stands in the document against a type.
func (f *finder) literal(path string, typ *ast.Type, v *ast.Value) {
	switch {
	case v.Kind == ast.Variable:
		f.variable(path, v.Raw, typ)
	case v.Kind == ast.NullValue:
		if typ.NonNull {
			f.fault(path, "must not be null")
		}
	case typ.Elem != nil && v.Kind == ast.ListValue:
		for i, child := range v.Children {
			f.literal(fmt.Sprintf("%s[%d]", path, i), typ.Elem, child.Value)
		}
	case typ.Elem != nil:
		f.literal(path, typ.Elem, v)
	default:
		f.named(path, f.schema.Types[typ.NamedType], v)
	}
}

// named checks a literal against a type that is not a list.
func (f *finder) named(path string, def *ast.Definition, v *ast.Value) {
	if def == nil {
		return
	}
	if def.Kind == ast.InputObject {
		if v.Kind != ast.ObjectValue {
			f.fault(path, "must be an object")
			return
		}
		f.object(path, def, func(field *ast.FieldDefinition) bool {
			child := v.Children.ForName(field.Name)
			if child != nil {
				f.literal(path+"."+field.Name, field.Type, child)
			}
			return child != nil
		})
		for _, child := range v.Children {
			if def.Fields.ForName(child.Name) == nil {
				f.fault(path+"."+child.Name, "is not a known field")
			}
		}
		return
	}
	if def.Kind == ast.Enum {
		if v.Kind != ast.EnumValue || def.EnumValues.ForName(v.Raw) == nil {
			f.fault(path, "must be one of: %s", names(def.EnumValues))
		}
		return
	}
	kinds, known := kindsOf[def.Name]
	if known && !slices.Contains(kinds.literals, v.Kind) {
		f.fault(path, "%s", kinds.message)
	}
}

// variable checks a variable's value against the type of the place where it is used.
func (f *finder) variable(path, name string, typ *ast.Type) {
	if f.used == nil {
		f.used = map[string]bool{}
	}
	f.used[name] = true
	def := f.operation.VariableDefinitions.ForName(name)
	if def == nil {
		return // validation reports it
	}
	value, given := f.variables[name]
	switch {
	case given:
		f.value(path, typ, value)
	case def.DefaultValue != nil:
		f.literal(path, typ, def.DefaultValue)
	case typ.NonNull || def.Type.NonNull:
		f.fault(path, "is required")
	}
}

// value checks a decoded JSON value against a type.
func (f *finder) value(path string, typ *ast.Type, v any) {
	list, isList := v.([]any)
	switch {
	case v == nil:
		if typ.NonNull {
			f.fault(path, "must not be null")
		}
	case typ.Elem != nil && isList:
		for i, e := range list {
			f.value(fmt.Sprintf("%s[%d]", path, i), typ.Elem, e)
		}
	case typ.Elem != nil:
		f.value(path, typ.Elem, v)
	default:
		f.namedValue(path, f.schema.Types[typ.NamedType], v)
	}
}

// namedValue checks a decoded JSON value against a type that is not a list.
func (f *finder) namedValue(path string, def *ast.Definition, v any) {
	if def == nil {
		return
	}
	switch def.Kind {
	case ast.InputObject:
		m, ok := v.(map[string]any)
		if !ok {
			f.fault(path, "must be an object")
			return
		}
		f.object(path, def, func(field *ast.FieldDefinition) bool {
			child, given := m[field.Name]
			if given {
				f.value(path+"."+field.Name, field.Type, child)
			}
			return given
		})
		for name := range m {
			if def.Fields.ForName(name) == nil {
				f.fault(path+"."+name, "is not a known field")
			}
		}
	case ast.Enum:
		if s, ok := v.(string); !ok || def.EnumValues.ForName(s) == nil {
			f.fault(path, "must be one of: %s", names(def.EnumValues))
		}
	default:
		if kinds, known := kindsOf[def.Name]; known && !kinds.value(v) {
			f.fault(path, "%s", kinds.message)
		}
	}
}

// object checks the fields of an input object; child checks one and reports whether it is given.
func (f *finder) object(path string, def *ast.Definition, child func(*ast.FieldDefinition) bool) {
	for _, field := range def.Fields {
		if !child(field) && field.Type.NonNull && field.DefaultValue == nil {
			f.fault(path+"."+field.Name, "is required")
		}
	}
}

func names(values ast.EnumValueList) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.Name
	}
	return strings.Join(out, ", ")
}

// kinds are the values that a scalar accepts.
type kinds struct {
	message  string
	literals []ast.ValueKind
	value    func(any) bool
}

var kindsOf = map[string]kinds{
	"Int":     {"must be a whole number", []ast.ValueKind{ast.IntValue}, isWhole},
	"Float":   {"must be a number", []ast.ValueKind{ast.IntValue, ast.FloatValue}, isNumber},
	"Boolean": {"must be a boolean", []ast.ValueKind{ast.BooleanValue}, isBool},
	"String":  {"must be a string", []ast.ValueKind{ast.StringValue, ast.BlockValue}, isString},
	"ID":      {"must be a string", []ast.ValueKind{ast.StringValue, ast.BlockValue, ast.IntValue}, func(v any) bool { return isString(v) || isWhole(v) }},
}

func isString(v any) bool { _, ok := v.(string); return ok }

func isBool(v any) bool { _, ok := v.(bool); return ok }

func isNumber(v any) bool { _, ok := v.(json.Number); return ok }

func isWhole(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	_, err := n.Int64()
	return err == nil
}
