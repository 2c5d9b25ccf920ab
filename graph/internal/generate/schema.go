package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"atrium/ent"
	"atrium/graph/internal/registry"
	"atrium/internal/op"
)

// declarations are the hand-written declarations in graph/*.graphqls.
type declarations struct {
	types      map[string]*ast.Definition
	fields     map[string]bool // "Query.node": the fields of the roots
	extensions ast.DefinitionList
}

// readDeclarations reads graph/*.graphqls without validating them, because they refer to derived types.
func readDeclarations(pattern string) (*declarations, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("find the schema: %w", err)
	}
	out := &declarations{types: map[string]*ast.Definition{}, fields: map[string]bool{}}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		doc, err := parser.ParseSchema(&ast.Source{Name: path, Input: string(text)})
		if err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		for _, def := range doc.Definitions {
			out.types[def.Name] = def
		}
		out.extensions = append(out.extensions, doc.Extensions...)
		for _, def := range slices.Concat(doc.Definitions, doc.Extensions) {
			for _, f := range def.Fields {
				out.fields[def.Name+"."+f.Name] = true
			}
		}
	}
	return out, nil
}

// derived writes the part of the schema that is derived from the registry. It leaves out what is declared by hand.
type derived struct {
	*declarations
	text   strings.Builder
	inputs map[string]reflect.Type // the structs behind the derived inputs
	json   map[string][]string     // the inputs' fields that are JSON
	faults []string
}

// derive returns the derived part of the schema.
func derive(hand *declarations) (*derived, error) {
	d := &derived{declarations: hand, inputs: map[string]reflect.Type{}, json: map[string][]string{}}
	d.text.WriteString("# Written by graph/internal/generate from graph/internal/registry. DO NOT EDIT.\n")
	if err := d.rows(); err != nil {
		return nil, err
	}
	for _, e := range registry.Entities {
		d.entity(e)
	}
	for _, m := range registry.Mutations {
		d.mutation(m)
	}
	if len(d.faults) > 0 {
		return nil, fmt.Errorf("derive the schema:\n%s", strings.Join(d.faults, "\n"))
	}
	return d, nil
}

// rows writes the types of the entities that ent/schema describes, without what graph/*.graphqls adds to them: edges, and lists
// with arguments.
func (d *derived) rows() error {
	for _, e := range ent.Entities {
		if e.Doc == "" {
			continue
		}
		name, node := e.Name, ""
		if i := slices.IndexFunc(registry.Entities, func(of registry.Entity) bool { return of.Go == e.Row }); i >= 0 {
			name = registry.Entities[i].Type
			if registry.Entities[i].Node != nil {
				node = " implements Node"
			}
		}
		var fields []string
		for _, f := range e.Fields {
			fields = append(fields, field(f.Name, f.Type, f.Doc))
		}
		if !e.Final {
			fields = append(fields, field("etag", "String!", "Changes with the row: send it back as ifMatch to change the row only as you saw it."))
		}
		text := fmt.Sprintf("\n%s\ntype %s%s {\n%s}\n", described(e.Doc), name, node, strings.Join(fields, ""))
		doc, err := parser.ParseSchema(&ast.Source{Name: name, Input: text})
		if err != nil {
			return fmt.Errorf("the type %s: %w", name, err)
		}
		def := doc.Definitions[0]
		for _, more := range d.extensions {
			if more.Name == name {
				def.Fields = append(def.Fields, more.Fields...)
				def.Interfaces = append(def.Interfaces, more.Interfaces...)
			}
		}
		d.types[name] = def
		d.text.WriteString(text)
	}
	return nil
}

// declare writes a type unless it is declared by hand or was written before.
func (d *derived) declare(kind, name, description string, fields ...string) {
	if d.types[name] != nil {
		return
	}
	d.types[name] = &ast.Definition{Name: name}
	fmt.Fprintf(&d.text, "\n%s\n%s %s {\n%s}\n", described(description), kind, name, strings.Join(fields, ""))
}

// root writes a field of Query or Mutation unless it is declared by hand.
func (d *derived) root(object, name, description, typ string, arguments ...string) {
	if d.fields[object+"."+name] {
		return
	}
	lines := strings.ReplaceAll("\n"+strings.Join(arguments, ""), "\n  ", "\n    ")
	fmt.Fprintf(&d.text, "\nextend type %s {\n  %s\n  %s(%s  ): %s\n}\n", object, described(description), name, lines, typ)
}

// field is one line of a type, with its description.
func field(name, typ, description string) string {
	return fmt.Sprintf("  %s\n  %s: %s\n", described(description), name, typ)
}

func described(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (d *derived) entity(e registry.Entity) {
	typ, object := e.Type, d.types[e.Type]
	if object == nil {
		d.faults = append(d.faults, "declare the type "+typ)
		return
	}
	if e.Whole {
		return
	}
	d.declare("type", typ+"Edge", "One "+typ+" in a list.", field("node", typ+"!", "The row."), field("cursor", "String!", "Its place in the list."))
	d.declare("type", typ+"Connection", "A window of a list of "+typ+".", field("edges", "["+typ+"Edge!]!", "The rows, each with its place."),
		field("pageInfo", "PageInfo!", "Whether the list goes on."), field("totalCount", "Int!", "How many there are in all."))
	if e.Alone {
		d.root("Query", first(typ), sentence(e.Get), typ, field("id", "ID!", "Its id."))
	}
	if e.List == nil {
		return
	}
	arguments := []string{field("first", "Int = 20", "How many, 1 to 100."), field("after", "String", "The cursor to go on after.")}
	if e.Field != "" && d.filter(object, e) {
		arguments = append(arguments, field("filter", e.Inputs+"Filter", "Which ones."))
	}
	if len(e.List.Sorts) > 0 {
		var values []string
		for _, name := range slices.Sorted(maps.Keys(e.List.Sorts)) {
			values = append(values, fmt.Sprintf("  %s\n  %s\n", described(d.describe(object, e.Inputs+"Sort", name, d.within(object, name))), name))
		}
		d.declare("enum", e.Inputs+"Sort", "What a list of "+typ+" can be ordered by.", values...)
		d.declare("input", e.Inputs+"Order", "How to order a list of "+typ+".", field("field", e.Inputs+"Sort!", "By what."),
			field("direction", "OrderDirection! = ASC", "Which way."))
		arguments = append(arguments, field("orderBy", e.Inputs+"Order", "In which order."))
	}
	if e.Field != "" {
		d.root("Query", e.Field, strings.TrimSuffix(e.List.Summary, ".")+", the newest first unless ordered otherwise."+person(e.List), typ+"Connection", arguments...)
	}
}

// filter derives a list's filter from the parameters of its operation, except those for paging and sorting. Returns false when
// there are none.
func (d *derived) filter(object *ast.Definition, e registry.Entity) bool {
	name := e.Inputs + "Filter"
	if d.types[name] != nil {
		d.inputs[name] = e.ListIn
		return true
	}
	var out []string
	for _, p := range e.List.Input.Params {
		parameter, typ := strings.TrimSuffix(p.Name, ".*"), "String"
		switch {
		case p.Name == "page", p.Name == "pageSize", p.Name == "sort":
			continue
		case parameter != p.Name:
			typ = "TagFilter"
		case p.List:
			typ = "[" + d.typeOf(object, name, parameter, reflect.TypeFor[string]()) + "!]"
		case p.Schema.Format == "date-time":
			typ = "Time"
		case p.Schema.Type == huma.TypeBoolean:
			typ = "Boolean"
		}
		out = append(out, field(parameter, typ, d.describe(object, name, parameter, p.Doc)))
	}
	if len(out) == 0 {
		return false
	}
	d.inputs[name] = e.ListIn
	d.declare("input", name, "Which rows to list: those that match every field given; of several values in one field, any.", out...)
	return true
}

func (d *derived) mutation(m registry.Mutation) {
	name := upper(m.Name)
	object := d.objectOf(m.Op.Resource)
	// A refused mutation is null, so that it does not take the answers of the others in its operation with it.
	d.root("Mutation", m.Name, sentence(m.Op), name+"Payload", field("input", name+"Input!", "The operation's input."))
	var fields []string
	if m.About != "" {
		fields = append(fields, field(m.About, "ID!", "The row that it is about."))
	}
	if _, seen := m.In.FieldByName("IfMatch"); seen && (m.About == "id" || m.About == "") && fieldOf(object, "etag") != nil {
		fields = append(fields, field("ifMatch", "String", "The row's etag as you saw it: refused with precondition_failed when it has changed since."))
	}
	for _, p := range m.Op.Input.Params {
		if p.In == "query" {
			fields = append(fields, field(p.Name, d.plainType(name, p.Name, reflect.TypeFor[string]()), p.Doc))
		}
	}
	d.input(name+"Input", "What "+m.Name+" takes.", object, m.In, m.Op.Input.Body, fields...)
	switch e, known := entityOf(m.Out); {
	case known:
		d.declare("type", name+"Payload", "What "+m.Name+" answers.", field(payloadField(e.Type), e.Type+"!", "The row as it is now."))
	case m.Out == reflect.TypeFor[struct{}]():
		d.declare("type", name+"Payload", "What "+m.Name+" answers.", field("id", "ID!", "The id that the row had."))
	case d.types[name+"Payload"] == nil:
		d.faults = append(d.faults, fmt.Sprintf("declare the type %sPayload: %s returns a %s", name, m.Op.Name, m.Out))
	}
}

// entityOf returns the entity whose row type t points to.
func entityOf(t reflect.Type) (registry.Entity, bool) {
	i := slices.IndexFunc(registry.Entities, func(e registry.Entity) bool { return t.Kind() == reflect.Pointer && t.Elem() == e.Go })
	if i < 0 {
		return registry.Entity{}, false
	}
	return registry.Entities[i], true
}

// objectOf returns the object that shows rows of a resource; nil when there is none.
func (d *derived) objectOf(resource string) *ast.Definition {
	for name, def := range d.types {
		if def.Kind == ast.Object && strings.EqualFold(name, resource) {
			return def
		}
	}
	return nil
}

// sentence returns an operation's summary as the description of a field.
func sentence(o *op.Info) string { return strings.TrimSuffix(o.Summary, ".") + "." + person(o) }

func person(o *op.Info) string {
	if o.AdminLayer {
		return " Takes a person."
	}
	return ""
}

// first returns a type's name as the name of a field: "oauthClient".
func first(typ string) string {
	return strings.Replace(strings.ToLower(typ[:1])+typ[1:], "oAuth", "oauth", 1)
}

func payloadField(typ string) string { return first(typ) }

func upper(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// within returns the description of a field of an object's part, such as a request's sla; empty when no part has it.
func (d *derived) within(object *ast.Definition, name string) string {
	for _, f := range object.Fields {
		part := d.types[f.Type.Name()]
		if part == nil || part.Kind != ast.Object || len(part.Interfaces) > 0 {
			continue
		}
		if found := part.Fields.ForName(name); found != nil && object.Fields.ForName(name) == nil {
			return found.Description
		}
	}
	return ""
}
