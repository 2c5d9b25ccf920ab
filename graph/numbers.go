package graph

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"

	"atrium/internal/platform/strictjson"
	"atrium/internal/platform/text"
)

// numbersIn returns the number literals inside a document's JSON values, and turns them into string literals: gqlparser would
// read them as int64 and float64, which do not keep the digits that were sent. Returns an error for numbers beyond the range of a
// double.
func numbersIn(schema *ast.Schema, doc *ast.QueryDocument) (literals []*ast.Value, err error) {
	var faults gqlerror.List
	observers := &core.Events{}
	observers.OnValue(func(_ *core.Walker, v *ast.Value) {
		inJSON := v.Definition == nil || v.Definition.Name == "JSON"           // values inside a JSON value have no definition
		if v.Definition != nil && inJSON && deeper(v, strictjson.MaxDepth-1) { // in a body, an object is around it
			faults = append(faults, gqlerror.ErrorPosf(v.Position, "A value is nested deeper than %d levels.", strictjson.MaxDepth))
		}
		if !inJSON || v.Kind != ast.IntValue && v.Kind != ast.FloatValue {
			return
		}
		if _, err := json.Number(v.Raw).Float64(); err != nil {
			faults = append(faults, gqlerror.ErrorPosf(v.Position, "A number is beyond the range of a double."))
		}
		v.Kind = ast.StringValue
		literals = append(literals, v)
	})
	core.Walk(schema, doc, observers)
	if len(faults) > 0 {
		return nil, faults
	}
	return literals, nil
}

// deeper reports whether a literal is nested deeper than some levels.
func deeper(v *ast.Value, levels int) bool {
	if len(v.Children) == 0 && v.Kind != ast.ListValue && v.Kind != ast.ObjectValue {
		return false
	}
	return levels == 0 || slices.ContainsFunc(v.Children, func(c *ast.ChildValue) bool { return deeper(c.Value, levels-1) })
}

// literalsToVariables turns the literals of a valid document into variables, and returns the values of the variables. Each variable
// is named by the text of its number, which no variable of a document can have as its name.
func literalsToVariables(literals []*ast.Value) map[string]any {
	numbers := make(map[string]any, len(literals))
	for _, v := range literals {
		numbers[v.Raw] = json.Number(v.Raw)
		v.Kind = ast.Variable
	}
	return numbers
}

// wholes writes whole numbers in a call's variables in digits alone where the schema has an Int: 60 for 60.0 and 6e1. It changes the
// variables.
func wholes(schema *ast.Schema, o *ast.OperationDefinition, variables map[string]any) {
	for _, def := range o.VariableDefinitions {
		if v, given := variables[def.Variable]; given {
			variables[def.Variable] = whole(schema, def.Type, v)
		}
	}
}

// whole returns a value of a type with its whole numbers in digits alone.
func whole(schema *ast.Schema, typ *ast.Type, v any) any {
	switch v := v.(type) {
	case json.Number:
		if digits, ok := text.Whole(v.String()); ok && typ.Name() == "Int" {
			return json.Number(digits)
		}
	case []any:
		for i := range v {
			if typ.Elem != nil {
				v[i] = whole(schema, typ.Elem, v[i])
			}
		}
	case map[string]any:
		if def := schema.Types[typ.Name()]; def != nil && def.Kind == ast.InputObject {
			for _, field := range def.Fields {
				if inner, given := v[field.Name]; given {
					v[field.Name] = whole(schema, field.Type, inner)
				}
			}
		}
	}
	return v
}

// defaults returns the variables of a call with the defaults of those that it leaves out, because defaults may contain lifted
// numbers.
func (d *document) defaults(o *ast.OperationDefinition, sent map[string]any) map[string]any {
	if len(d.numbers) == 0 {
		return sent
	}
	out := make(map[string]any, len(sent))
	maps.Copy(out, sent)
	for _, def := range o.VariableDefinitions {
		if _, given := sent[def.Variable]; given || def.DefaultValue == nil {
			continue
		}
		if v, err := def.DefaultValue.Value(d.numbers); err == nil { // else reading the variables reports the error
			out[def.Variable] = v
		}
	}
	return out
}
