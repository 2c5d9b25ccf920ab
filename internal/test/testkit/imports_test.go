package testkit_test

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit"
)

// The architecture rules: what may be at the top of the repository, and which imports are allowed. .golangci.yml has the same
// import rules; this test enforces them where no linter is installed.

const module = "atrium"

// topLevel is everything that git tracks at the top, except dotfiles.
var topLevel = []string{
	"ent", "graph", "rest", "authz", "cmd", "internal", "policies", "gqlgen.yml", "go.mod", "go.sum", "README.md",
	"Makefile", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md",
}

// leaves import nothing of the product, so that everything may import them.
var leaves = []string{"internal/platform/apperr", "internal/platform/clock", "internal/platform/id", "internal/platform/locale", "internal/platform/principal", "internal/platform/share", "internal/platform/text", "policies"}

// documents hold the types of JSON columns, which ent/schema names. They import only leaves and each other, so that ent can
// import them without a cycle.
var documents = []string{"internal/desk/form", "internal/desk/sla"}

// importRules are the forbidden imports. from and to are packages as folders of the repository; test reports whether the
// importing file is a test. The compiler already refuses cycles.
var importRules = []struct {
	name    string
	refuses func(from, to string, test bool) bool
}{
	{"a leaf imports nothing of the product", func(from, _ string, test bool) bool {
		return slices.Contains(leaves, from) && !test
	}},
	{"ent/schema imports only the leaves principal, id and clock, types of columns, and generated ent", func(from, to string, test bool) bool {
		return within(from, "ent/schema") && !test && !within(to, "ent") && !slices.Contains(documents, to) &&
			to != "internal/platform/principal" && to != "internal/platform/id" && to != "internal/platform/clock"
	}},
	{"imports run one way: cmd, then rest and graph, internal, authz, ent, types of columns, the leaves", func(from, to string, test bool) bool {
		return layer(to) > layer(from) && !test && !drivesDoors(from)
	}},
	{"internal never imports a door or cmd, not even in a test", func(from, to string, _ bool) bool {
		return within(from, "internal") && layer(to) >= doors && !drivesDoors(from)
	}},
	{"rest and graph know nothing of each other: what they share is an operation", func(from, to string, _ bool) bool {
		return within(from, "rest") && within(to, "graph") || within(from, "graph") && within(to, "rest")
	}},
	{"the platform knows no domain: of internal it imports only itself", func(from, to string, test bool) bool {
		return within(from, "internal/platform") && within(to, "internal") && !within(to, "internal/platform") && !test
	}},
	{"op and its rooms stand on the platform: of internal they import nothing else", func(from, to string, test bool) bool {
		return within(from, "internal/op") && within(to, "internal") && !within(to, "internal/op") && !within(to, "internal/platform") && !test
	}},
	{"agents stand above the other domains, which call them by op.Agents", func(from, to string, test bool) bool {
		return within(to, "internal/agent") && within(from, "internal") && !test && !forTests(from) && !within(from, "internal/agent")
	}},
	{"only internal/op, internal/policy and cmd import authz", func(from, to string, test bool) bool {
		return within(to, "authz") && !test && !forTests(from) &&
			!within(from, "authz") && !within(from, "internal/op") && !within(from, "internal/policy") && !within(from, "cmd")
	}},
	{"what ships does not import what serves tests", func(from, to string, test bool) bool {
		return forTests(to) && !test && !forTests(from)
	}},
}

// The layers, lowest first: a package may import its own layer and lower ones.
const (
	leaf = iota
	document
	entities
	authorisation
	domain
	doors
	command
)

func layer(pkg string) int {
	switch {
	case slices.Contains(leaves, pkg):
		return leaf
	case slices.Contains(documents, pkg):
		return document
	case within(pkg, "ent"):
		return entities
	case within(pkg, "authz"):
		return authorisation
	case within(pkg, "rest"), within(pkg, "graph"):
		return doors
	case within(pkg, "cmd"):
		return command
	}
	return domain
}

// forTests reports whether a package exists for tests and benchmarks.
func forTests(pkg string) bool { return within(pkg, "internal/test") }

// drivesDoors reports whether a package calls the product from outside, through its APIs.
func drivesDoors(pkg string) bool {
	return within(pkg, "internal/test/apitest") || within(pkg, "internal/test/bench")
}

func within(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// refusals returns the names of the rules that an import violates.
func refusals(from, to string, test bool) []string {
	var names []string
	for _, rule := range importRules {
		if from != to && rule.refuses(from, to, test) { // a package's external tests import it
			names = append(names, rule.name)
		}
	}
	return names
}

func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	root := testkit.Repository(t)
	files := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // removed since its folder was listed
			}
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if file != root && (name[0] == '.' || name[0] == '_' || name == "testdata" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(file) != ".go" {
			return nil
		}
		files++
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range source.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			to, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			for _, rule := range refusals(path.Dir(relative), to, strings.HasSuffix(file, "_test.go")) {
				t.Errorf("%s imports %s: %s", relative, imported, rule)
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, files, 10, "the walk found the sources")
}

func TestImportRulesRefuseWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		test, ok bool
	}{
		{from: "cmd/atrium", to: "rest", ok: true},
		{from: "cmd/atrium", to: "authz", ok: true},
		{from: "rest", to: "internal/desk/request", ok: true},
		{from: "graph", to: "internal/desk/request", ok: true},
		{from: "graph", to: "graph/generated", ok: true},
		{from: "internal/desk/request", to: "internal/op", ok: true},
		{from: "internal/desk/request", to: "ent/request", ok: true},
		{from: "internal/op", to: "authz", ok: true},
		{from: "internal/policy", to: "authz", ok: true},
		{from: "authz", to: "policies", ok: true},
		{from: "authz", to: "ent/predicate", ok: true},
		{from: "ent", to: "ent/schema", ok: true},
		{from: "ent/schema", to: "internal/platform/principal", ok: true},
		{from: "ent/schema", to: "ent/hook", ok: true},
		{from: "ent/schema", to: "internal/desk/form", ok: true},
		{from: "internal/desk/form", to: "internal/platform/apperr", ok: true},
		{from: "internal/test/apitest", to: "rest", ok: true},
		{from: "internal/test/apitest", to: "internal/test/testkit", ok: true},
		{from: "internal/desk/request", to: "internal/test/testkit", test: true, ok: true},
		{from: "authz", to: "internal/platform/store", test: true, ok: true},
		{from: "internal/platform/id", to: "internal/platform/id", test: true, ok: true},

		{from: "internal/op/paging", to: "internal/platform/apperr", ok: true},
		{from: "internal/platform/store", to: "internal/test/testkit", test: true, ok: true},

		{from: "internal/platform/jobs", to: "internal/op"},
		{from: "internal/platform/store", to: "internal/desk/request"},
		{from: "internal/op/events", to: "internal/webhook"},
		{from: "internal/workflow/execution", to: "internal/agent"},
		{from: "rest", to: "cmd/atrium"},
		{from: "rest", to: "graph"},
		{from: "graph", to: "rest"},
		{from: "rest", to: "authz"},
		{from: "internal/desk/request", to: "rest"},
		{from: "internal/desk/request", to: "rest", test: true},
		{from: "internal/desk/request", to: "graph/generated"},
		{from: "internal/desk/request", to: "authz"},
		{from: "internal/operator", to: "authz"},
		{from: "internal/desk/request", to: "internal/test/testkit"},
		{from: "authz", to: "internal/op"},
		{from: "ent", to: "internal/platform/store"},
		{from: "ent/schema", to: "internal/platform/apperr"},
		{from: "ent/schema", to: "internal/op"},
		{from: "internal/desk/form", to: "internal/op"},
		{from: "internal/desk/form", to: "ent"},
		{from: "internal/platform/id", to: "internal/platform/clock"},
		{from: "internal/platform/principal", to: "ent"},
		{from: "policies", to: "ent"},
	} {
		broken := refusals(c.from, c.to, c.test)
		require.Equal(t, c.ok, len(broken) == 0, "%s → %s (test: %v): %v", c.from, c.to, c.test, broken)
	}
}

func TestNothingElseStandsAtTheTop(t *testing.T) {
	t.Parallel()
	tracked := git(t, "ls-files")
	require.Contains(t, tracked, "go.mod")
	seen := map[string]bool{}
	for _, file := range tracked {
		name, _, _ := strings.Cut(file, "/")
		if name[0] != '.' && !slices.Contains(topLevel, name) && !seen[name] {
			t.Errorf("%s stands at the top of the repository: CONTRIBUTING.md says where things belong", name)
		}
		seen[name] = true
	}
}

// A reader opens doc.go first: what the package is for, who calls it, what it never does.
func TestEveryPackageHasItsDoc(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{} // by the package's folder
	for _, file := range git(t, "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.go") {
		dir, name := path.Split(file)
		generated := within(file, "ent") && !within(file, "ent/schema") || strings.Contains(dir, "/generated/")
		if !generated && !strings.Contains(dir, "/testdata/") && !strings.HasSuffix(name, "_test.go") {
			documented[dir] = documented[dir] || name == "doc.go" || name == "main.go"
		}
	}
	require.Greater(t, len(documented), 50, "the list of files was read")
	for dir, there := range documented {
		require.True(t, there, "%s has no doc.go", dir)
	}
}

// The first `ls` shows what the product is made of: few folders, each of whose doc.go lists its rooms.
func TestInternalHasFewFolders(t *testing.T) {
	t.Parallel()
	rooms := map[string][]string{} // by folder
	for _, file := range git(t, "ls-files", "--cached", "--others", "--exclude-standard", "--", "internal/*/*.go") {
		parts := strings.Split(path.Dir(file), "/")
		folder := strings.Join(parts[:2], "/")
		if len(parts) == 2 {
			rooms[folder] = append(rooms[folder], "")
		} else if !slices.Contains(rooms[folder], parts[2]) && parts[2] != "testdata" {
			rooms[folder] = append(rooms[folder], parts[2])
		}
	}
	require.NotEmpty(t, rooms)
	require.LessOrEqual(t, len(rooms), 14)
	for folder, list := range rooms {
		doc, err := os.ReadFile(filepath.Join(testkit.Repository(t), folder, "doc.go"))
		require.NoError(t, err)
		for _, room := range list {
			require.Regexp(t, `\b`+room+`\b`, string(doc), "%s/doc.go says what the room is for", folder)
		}
	}
}

// Each line of the page of decisions names the file that tells it in full.
func TestDecisionsAreTold(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(testkit.Repository(t), "internal", "DECISIONS.md"))
	require.NoError(t, err)
	told := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || strings.HasPrefix(line, "| decision") {
			continue
		}
		for _, file := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			require.FileExists(t, filepath.Join(testkit.Repository(t), file[1]), line)
			told++
		}
	}
	require.Greater(t, told, 40, "the page was read")
}

// A nolint for a linter that is not enabled has no effect, and would remain after its reason is gone.
func TestNolintNamesEnabledLinters(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile(filepath.Join(testkit.Repository(t), ".golangci.yml"))
	require.NoError(t, err)
	_, list, found := strings.Cut(string(config), "\n  enable:\n")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "\n\n")
	enabled := strings.Fields(strings.ReplaceAll(list, "- ", ""))
	require.Contains(t, enabled, "errcheck")
	directives := git(t, "grep", "-hoE", "//nolint:[a-z,]+", "--", "*.go")
	require.NotEmpty(t, directives)
	for _, directive := range directives {
		for linter := range strings.SplitSeq(strings.TrimPrefix(directive, "//nolint:"), ",") {
			require.Contains(t, enabled, linter, "%s: .golangci.yml does not enable it", directive)
		}
	}
}

// git runs a git command and returns the lines that it prints.
func git(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = testkit.Repository(t)
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
