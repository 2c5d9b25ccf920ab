package graph

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"

	"atrium/internal/platform/strictjson"
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
