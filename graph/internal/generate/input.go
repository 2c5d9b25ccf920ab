package main

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/op"
	rules "atrium/internal/op/input"
	"atrium/internal/platform/strictjson"
)

// input derives an input object from the struct of an operation's input and the schema of its body: a field has the type of the
// object's field of the same name, and is required where the body requires it.
func (d *derived) input(name, description string, object *ast.Definition, in reflect.Type, body *huma.Schema, fields ...string) {
	if d.types[name] != nil {
		return
	}
	for _, f := range reflect.VisibleFields(in) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || key == "" || key == "-" {
			continue
		}
		goType, patch := value(f.Type)
		typ := d.typeOf(object, name, key, goType)
		if rule := body.Properties[key]; typ == "String" && rule != nil && len(rule.Enum) > 0 {
			typ = d.enumOf(name, key, rule.Enum)
		}
		if typ == "JSON" {
			d.json[name] = append(d.json[name], key)
		}
		if slices.Contains(body.Required, key) {
			typ += "!"
		}
		doc := d.describe(object, name, key, f.Tag.Get("doc"))
		if patch && f.Tag.Get("nullable") == "true" {
			doc = strings.TrimSuffix(doc, ".") + "; null clears it."
		}
		fields = append(fields, field(key, typ, doc))
	}
	d.inputs[name] = in
	d.declare("input", name, description, fields...)
}

// value returns the type of a field's values, and whether the field is a patch.
func value(t reflect.Type) (typ reflect.Type, patch bool) {
	if t.PkgPath() == reflect.TypeFor[op.Patch[int]]().PkgPath() {
		method, _ := t.MethodByName("Value")
		t, patch = method.Type.Out(0), true
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t, patch
}

// typeOf returns the schema's type for an input's field: that of the object's field of the same name, or else one derived from
// its Go type.
func (d *derived) typeOf(object *ast.Definition, input, name string, t reflect.Type) string {
	listed := t.Kind() == reflect.Slice
	if listed {
		t = t.Elem()
	}
	typ := ""
	if f := fieldOf(object, name); f != nil {
		typ = f.Type.Name()
		switch def := d.types[typ]; {
		case typ == "StringMap":
			typ = "JSON" // the operation's own rules report values that are not strings
		case def != nil && def.Kind == ast.Object:
			typ += "Input"
			d.input(typ, def.Description, def, t, rules.SchemaOf(t))
		}
	} else {
		typ = d.plainType(input, name, t)
	}
	if listed {
		return "[" + typ + "!]"
	}
	return typ
}

func (d *derived) plainType(input, name string, t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "Time"
	case t.Kind() == reflect.String && (name == "ids" || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids")):
		return "ID"
	case t.Kind() == reflect.String:
		return "String"
	case t.Kind() == reflect.Bool:
		return "Boolean"
	case t.Kind() == reflect.Int:
		return "Int"
	case t == reflect.TypeFor[strictjson.Object](), t.Implements(reflect.TypeFor[huma.SchemaProvider]()): // these types describe their JSON themselves
		return "JSON"
	case t == reflect.TypeFor[map[string]string](): // the operation's own rules report values that are not strings
		return "JSON"
	}
	d.faults = append(d.faults, fmt.Sprintf("%s.%s: a %s has no type in the schema", input, name, t))
	return "JSON"
}

// enumOf returns the hand-written enum that has exactly the values of an input's field. The object has no field of that name that
// could tell the enum.
func (d *derived) enumOf(input, name string, values []any) string {
	var found []string
	for _, def := range d.types {
		if def.Kind == ast.Enum && len(def.EnumValues) == len(values) &&
			!slices.ContainsFunc(values, func(v any) bool { return def.EnumValues.ForName(fmt.Sprint(v)) == nil }) {
			found = append(found, def.Name)
		}
	}
	if len(found) != 1 {
		d.faults = append(d.faults, fmt.Sprintf("%s.%s: declare one enum with the values %v", input, name, values))
		return "String"
	}
	return found[0]
}

func fieldOf(object *ast.Definition, name string) *ast.FieldDefinition {
	if object == nil {
		return nil
	}
	return object.Fields.ForName(name)
}

// describe returns the description of an input's field: its doc tag, or else the description of the object's field.
func (d *derived) describe(object *ast.Definition, input, name, doc string) string {
	if f := fieldOf(object, name); f != nil {
		doc = cmp.Or(doc, f.Description)
	}
	if doc == "" {
		d.faults = append(d.faults, fmt.Sprintf("%s.%s: give the field of the input a doc tag", input, name))
	}
	return doc
}
