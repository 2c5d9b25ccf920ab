// Command generate writes graph/generated from the schema in graph/*.graphqls and from gqlgen.yml, by gqlgen with what
// the house adds to it:
//
//   - An input of a mutation is bound to a map: its operation decodes it, by the tags of the operation's own input struct.
//   - Fields are resolved one after the other, but for those of Query. An edge is read for all rows of a list at once, so
//     that a goroutine for each of them would only wait for the first.
//   - What it writes is made leaner; rewrite.go says how.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"
)

func main() {
	log.SetOutput(io.Discard) // gqlgen tells of every field that takes a resolver
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err == nil {
		cfg.SkipValidation = true // it is built once it is rewritten
		err = api.Generate(cfg, api.PrependPlugin(house{}))
	}
	if err == nil {
		err = rewrite(cfg.Exec.DirName)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate the graph:", err)
		os.Exit(1)
	}
}

// house is what Atrium adds to gqlgen.
type house struct{}

// Name names the plugin.
func (house) Name() string { return "house" }

// MutateConfig binds the inputs that gqlgen.yml does not bind.
func (house) MutateConfig(cfg *config.Config) error {
	for name, def := range cfg.Schema.Types {
		if def.Kind == ast.InputObject && strings.HasSuffix(name, "Input") && !cfg.Models.UserDefined(name) {
			cfg.Models.Add(name, "map[string]any")
		}
	}
	return nil
}

// GenerateCode runs before gqlgen's own, and changes what that will write.
func (house) GenerateCode(data *codegen.Data) error {
	for _, object := range data.Objects {
		if object != data.QueryRoot {
			object.DisableConcurrency = true
		}
	}
	return nil
}
