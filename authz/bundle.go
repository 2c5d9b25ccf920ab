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

// bundle is the product's modules with an operator's, and the queries on them. It is immutable.
type bundle struct {
	version       string
	modules       map[string]*ast.Module // how policies combine, and the operator's modules
	operator      bool                   // there are such modules
	decision      rego.PreparedEvalQuery // by scopes and roles
	unconditional rego.PreparedEvalQuery // by policies without conditions, whose ids are in input.company
	person        map[string]bool        // the verbs that require a person, whatever the operation
	recent        map[string]bool        // the verbs that require a recent sign-in
	verbs         []string               // verbs that roles get by name or that are listed apart, in order
}

// operatorPackage is the package to which, with its subpackages, the operator's modules may add rules.
var operatorPackage = ast.MustParseRef("data.atrium.operator")

// maxModule limits one of the operator's modules, in bytes.
const maxModule = 1 << 20

// loadBundle compiles the embedded modules with those in dir; none for an empty dir. It compiles in strict mode, and
// the operator's denials must be translatable for every resource.
func loadBundle(ctx context.Context, dir string) (*bundle, error) {
	sources := map[string]string{}
	for _, name := range []string{rolesModule, "access.rego"} {
		text, err := policies.Files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the policies: %w", err)
		}
		sources[name] = string(text)
	}
	raw, err := policies.Files.ReadFile("data.json")
	if err != nil {
		return nil, fmt.Errorf("read the roles: %w", err)
	}
	if err := addModules(sources, dir); err != nil {
		return nil, err
	}
	b := &bundle{version: versionOf(sources, raw), operator: len(sources) > 2}
	if b.modules, err = parse(sources); err != nil {
		return nil, err
	}
	data, err := b.readRoles(raw)
	if err != nil {
		return nil, err
	}
	compiler, err := compile(b.modules, true)
	if err != nil {
		return nil, err
	}
	delete(b.modules, rolesModule)
	for query, into := range map[string]*rego.PreparedEvalQuery{
		"data.atrium.authz.decision": &b.decision,
		"data.atrium.access.decision with data.atrium.company as input.company": &b.unconditional,
	} {
		*into, err = rego.New(rego.Compiler(compiler), rego.Store(data), rego.Query(query)).PrepareForEval(ctx)
		if err != nil {
			return nil, fmt.Errorf("prepare the policies: %w", err)
		}
	}
	if b.operator {
		if err := b.translatable(ctx, nil, slices.Collect(maps.Values(resources))...); err != nil {
			return nil, fmt.Errorf("the operator's policies: %w", err)
		}
	}
	return b, nil
}

// rolesModule says what scopes and roles allow.
const rolesModule = "atrium.rego"

// noData is the data of modules that read none.
var noData = inmem.New()

// readRoles reads the lists of verbs in data.json, and returns all of it for the modules.
func (b *bundle) readRoles(raw []byte) (storage.Store, error) {
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
	b.person, b.recent = setOf(lists.Person), setOf(lists.Recent)
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
	return inmem.NewFromObject(data), nil
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

// parse reads modules, and refuses operator's modules outside of their package.
func parse(sources map[string]string) (map[string]*ast.Module, error) {
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
	return modules, nil
}

// with compiles a company's module with those that combine it with others.
func (b *bundle) with(company *ast.Module) (*ast.Compiler, error) {
	modules := maps.Clone(b.modules)
	modules["company.rego"] = company
	return compile(modules, false) // strictly checked by parsing what admins write
}

func compile(modules map[string]*ast.Module, strict bool) (*ast.Compiler, error) {
	c := ast.NewCompiler().WithStrict(strict).WithCapabilities(capabilities)
	if c.Compile(modules); c.Failed() {
		return nil, fmt.Errorf("compile the policies: %w", c.Errors)
	}
	return c, nil
}

// capabilities are the built-in functions that policies may use. They leave out those that reach out of the process or are not
// deterministic.
var capabilities = func() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool { return b.Nondeterministic })
	c.Builtins = append(c.Builtins, globBuiltin)
	c.AllowNet = []string{}
	return c
}()

// versionOf derives a version from the content of modules and data.
func versionOf(sources map[string]string, data []byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		sum.Write(fmt.Appendf(nil, "%s %d\n%s", name, len(sources[name]), sources[name]))
	}
	sum.Write(data)
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
