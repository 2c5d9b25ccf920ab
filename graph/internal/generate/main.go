// Command generate derives code from ent.Entities, graph/internal/registry and the operations, and then runs gqlgen. It writes:
//
//	graph/generated/derived.graphqls           object types, inputs, payloads, filters, orders, connections and the fields of the roots
//	graph/internal/relay/types.generated.go    the Go types of connections, edges and orders
//	graph/generated/resolvers                  resolvers of the roots' fields, of edges and of columns that need a conversion
//	graph/generated                            gqlgen's output, bound to the operations' input structs and to Ent's entities
//
// It leaves out what is declared in graph/*.graphqls, or has a hand-written resolver in graph/*.go. `go generate ./graph` runs
// it.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"reflect"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph/internal/registry"
)

const (
	graphDir = "graph" // gqlgen runs in the directory of gqlgen.yml
	text     = "github.com/99designs/gqlgen/graphql.String"
)

func main() {
	log.SetOutput(io.Discard) // gqlgen logs every field that needs a resolver
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate the graph:", err)
		os.Exit(1)
	}
}

func generate() error {
	if err := os.Chdir(".."); err != nil {
		return err
	}
	hand, err := readDeclarations(filepath.Join(graphDir, "*.graphqls"))
	if err != nil {
		return err
	}
	schema, err := derive(hand)
	if err != nil {
		return err
	}
	operations, importLines, err := operations(filepath.Join(graphDir, "internal/registry/registry.go"))
	if err != nil {
		return err
	}
	methods, err := handWritten(graphDir)
	if err != nil {
		return err
	}
	r := &resolvers{derived: schema, operations: operations, hand: methods, objects: map[string]bool{}, fields: map[string][]string{}}
	resolved, err := r.write(importLines)
	if err != nil {
		return err
	}
	types, err := relayTypes()
	if err != nil {
		return err
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(graphDir, "generated/derived.graphqls"), []byte(schema.text.String()), 0o600),
		os.WriteFile(filepath.Join(graphDir, "internal/relay/types.generated.go"), types, 0o600),
		os.WriteFile(filepath.Join(graphDir, resolversFile), resolved, 0o600),
	); err != nil {
		return err
	}
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		return err
	}
	r.bind(cfg)
	cfg.SkipValidation = true // the code is built after it is rewritten
	if err := api.Generate(cfg, api.PrependPlugin(plugin{})); err != nil {
		return err
	}
	return rewrite(cfg.Exec.DirName)
}

// bind tells gqlgen the Go types of the schema that gqlgen.yml does not name.
func (r *resolvers) bind(cfg *config.Config) {
	model := func(name string, t reflect.Type) {
		if !cfg.Models.UserDefined(name) {
			cfg.Models.Add(name, t.PkgPath()+"."+t.Name())
		}
	}
	fieldName := func(object, field string, to config.TypeMapField) {
		entry := cfg.Models[object]
		if entry.Fields == nil {
			entry.Fields = map[string]config.TypeMapField{}
		}
		entry.Fields[field] = to
		cfg.Models[object] = entry
	}
	for _, e := range registry.Entities {
		model(e.Type, e.Go)
		if e.List != nil && len(e.List.Sorts) > 0 {
			cfg.Models.Add(e.Inputs+"Sort", text)
		}
		fieldName(e.Inputs+"Filter", "tag", config.TypeMapField{FieldName: "Tags"})
		fieldName(e.Inputs+"Filter", "number", config.TypeMapField{FieldName: "Numbers"})
	}
	for name, types := range r.enums() {
		for _, t := range types {
			cfg.Models.Add(name, t)
		}
	}
	for name, in := range r.inputs {
		model(name, in)
	}
	for _, m := range registry.Mutations {
		if m.About != "" {
			fieldName(upper(m.Name)+"Input", m.About, config.TypeMapField{FieldName: "ID"})
		}
	}
	for object, fields := range r.fields {
		for _, f := range fields {
			if object != "Query" && object != "Mutation" {
				fieldName(object, f, config.TypeMapField{Resolver: true})
			}
		}
	}
}

// enums returns the Go types of the enums of columns: Ent's type in answers, and string in inputs, which the operations check.
func (r *resolvers) enums() map[string][]string {
	out := map[string][]string{}
	for _, e := range registry.Entities {
		for _, f := range r.types[e.Type].Fields {
			enum := r.types[f.Type.Name()]
			if c, ok := columnOf(e.Go, templates.ToGo(f.Name)); ok && enum != nil && enum.Kind == ast.Enum && c.Type.PkgPath() != "" {
				out[enum.Name] = append(out[enum.Name], c.Type.PkgPath()+"."+c.Type.Name())
			}
		}
	}
	for name, types := range out {
		out[name] = append(types, text)
	}
	return out
}

// plugin is Atrium's plugin for gqlgen.
type plugin struct{}

// Name names the plugin.
func (plugin) Name() string { return "house" }

// GenerateCode makes the fields of all objects but Query be resolved one after the other. An edge is read for all rows of a list
// at once, so goroutines for them would only wait for the first.
func (plugin) GenerateCode(data *codegen.Data) error {
	for _, object := range data.Objects {
		if object != data.QueryRoot {
			object.DisableConcurrency = true
		}
	}
	return nil
}
