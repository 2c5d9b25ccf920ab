package authz

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"atrium/policies"
)

// bundle is a compiled set of modules with the queries on it. It is immutable.
type bundle struct {
	version  string
	compiler *ast.Compiler
	data     storage.Store
	decision rego.PreparedEvalQuery
	denial   rego.PreparedEvalQuery // the denials of the operator's modules
	operator node                   // the residual of their denials; nil when there are none
	person   map[string]bool        // the verbs that require a person, whatever the operation
	recent   map[string]bool        // the verbs that require a recent sign-in
	verbs    []string               // verbs that roles get by name or that are listed apart, in order
}

// operatorPackage is the package to which, with its subpackages, the operator's modules may add rules.
var operatorPackage = ast.MustParseRef("data.atrium.operator")

// maxModule limits one of the operator's modules, in bytes.
const maxModule = 1 << 20

// loadBundle compiles the embedded modules with those in dir; none for an empty dir. It compiles in strict mode, and
// the operator's denials must be translatable for every resource.
func loadBundle(ctx context.Context, dir string) (*bundle, error) {
	text, err := policies.Files.ReadFile("atrium.rego")
	if err != nil {
		return nil, fmt.Errorf("read the policies: %w", err)
	}
	raw, err := policies.Files.ReadFile("data.json")
	if err != nil {
		return nil, fmt.Errorf("read the roles: %w", err)
	}
	var data map[string]any
	var lists struct {
		Person, Recent []string
		Roles          map[string]struct {
			Verbs  map[string]string
			Except []string
		}
	}
	if err := errors.Join(json.Unmarshal(raw, &data), json.Unmarshal(raw, &lists)); err != nil {
		return nil, fmt.Errorf("read the roles: %w", err)
	}
	sources := map[string]string{"atrium.rego": string(text)}
	if err := addModules(sources, dir); err != nil {
		return nil, err
	}
	b := &bundle{version: versionOf(sources, raw), data: inmem.NewFromObject(data), person: setOf(lists.Person), recent: setOf(lists.Recent)}
	verbs := map[string]bool{}
	for _, role := range lists.Roles {
		for verb := range role.Verbs {
			verbs[verb] = true
		}
		for _, verb := range role.Except {
			verbs[verb] = true
		}
	}
	for _, named := range []map[string]bool{b.person, b.recent} { // verbs whose requirement depends on an input or a row
		maps.Copy(verbs, named)
	}
	delete(verbs, "*")
	b.verbs = slices.Sorted(maps.Keys(verbs))
	if b.compiler, err = compile(sources); err != nil {
		return nil, err
	}
	for query, into := range map[string]*rego.PreparedEvalQuery{
		"data.atrium.authz.decision": &b.decision, "data.atrium.operator.deny": &b.denial,
	} {
		*into, err = rego.New(rego.Compiler(b.compiler), rego.Store(b.data), rego.Query(query)).PrepareForEval(ctx)
		if err != nil {
			return nil, fmt.Errorf("prepare the policies: %w", err)
		}
	}
	if len(sources) > 1 {
		err = b.readOperator(ctx)
	}
	return b, err
}

func setOf(list []string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, name := range list {
		out[name] = true
	}
	return out
}

// addModules reads *.rego in the operator's folder. It skips tests (*_test.rego), which `opa test` runs.
func addModules(sources map[string]string, dir string) error {
	if dir == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.rego"))
	if err != nil {
		return fmt.Errorf("list the operator's policies: %w", err)
	}
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("read the operator's policies: %w", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.rego") {
			continue
		}
		info, err := os.Stat(file)
		if err != nil {
			return fmt.Errorf("read the operator's policies: %w", err)
		}
		if info.Size() > maxModule {
			return fmt.Errorf("the operator's policy %s has more than %d bytes", filepath.Base(file), maxModule)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the operator's policies: %w", err)
		}
		sources["operator/"+filepath.Base(file)] = string(text)
	}
	return nil
}

// compile compiles modules in strict mode, and refuses operator's modules outside of their package.
func compile(sources map[string]string) (*ast.Compiler, error) {
	modules := map[string]*ast.Module{}
	for name, text := range sources {
		m, err := ast.ParseModule(name, text)
		if err != nil {
			return nil, fmt.Errorf("parse the policies: %w", err)
		}
		if strings.HasPrefix(name, "operator/") && !m.Package.Path.HasPrefix(operatorPackage) {
			return nil, fmt.Errorf("the policy %s must be in the package atrium.operator", name)
		}
		modules[name] = m
	}
	c := ast.NewCompiler().WithStrict(true).WithCapabilities(capabilities())
	if c.Compile(modules); c.Failed() {
		return nil, fmt.Errorf("compile the policies: %w", c.Errors)
	}
	return c, nil
}

// capabilities returns the built-in functions that policies may use. It leaves out those that reach out of the
// process or are not deterministic.
func capabilities() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool { return b.Nondeterministic })
	c.AllowNet = []string{}
	return c
}

// versionOf derives a version from the content of modules and data.
func versionOf(sources map[string]string, data []byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		sum.Write(fmt.Appendf(nil, "%s %d\n%s", name, len(sources[name]), sources[name]))
	}
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
