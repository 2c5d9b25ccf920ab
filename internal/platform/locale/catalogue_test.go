package locale

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"

	"github.com/stretchr/testify/require"
)

// Each text that the code or a template says is in each catalogue, and a catalogue has no text that nobody says.
func TestCataloguesAreComplete(t *testing.T) {
	t.Parallel()
	said := texts(t)
	require.Greater(t, len(said), 300, "the walk has found the texts")
	for lang, catalogue := range catalogues {
		for text, where := range said {
			require.Contains(t, catalogue, text, "%s.json lacks what %s says", lang, where)
		}
		for text := range catalogue {
			require.Contains(t, said, text, "nobody says this text of %s.json any more", lang)
		}
	}
}

// A translation takes the arguments of the English text: all of them, each by its verb.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	for lang, catalogue := range catalogues {
		for text, forms := range catalogue {
			for category, form := range forms {
				require.NotEmpty(t, form, "%s: %q", lang, text)
				require.Equal(t, verbs(text), verbs(form), "%s, %s: %q", lang, category, text)
			}
		}
	}
}

var verb = regexp.MustCompile(`%(?:\[(\d)\])?([a-z])`)

// verbs returns the verbs of a text in the order of their arguments.
func verbs(text string) []string {
	var out []string
	for n, m := range verb.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			m[1] = strconv.Itoa(n + 1)
		}
		out = append(out, m[1]+m[2])
	}
	slices.Sort(out)
	return out
}

// texts returns the keys that the product says, and the file that says each.
func texts(t *testing.T) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, dir := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join("../../..", dir), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "console" || entry.Name() == "testdata" || entry.Name() == "locale"):
				return fs.SkipDir
			case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
				inCode(t, path, said)
			case strings.HasSuffix(path, ".html") || strings.HasSuffix(path, ".tmpl"):
				inTemplate(t, path, said)
			}
			return nil
		})
		require.NoError(t, err)
	}
	return said
}

// inCode adds the texts of locale.Say and locale.Count. They must be constants, or no test could know them.
func inCode(t *testing.T, path string, said map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := f.X.(*ast.Ident); !ok || pkg.Name != "locale" {
			return true
		}
		switch f.Sel.Name {
		case "Say":
			said[constant(t, path, call.Args[0])] = path
		case "Count":
			said[constant(t, path, call.Args[2])] = path
		}
		return true
	})
}

// constant returns the value of a string literal, or of several with + between them.
func constant(t *testing.T, path string, e ast.Expr) string {
	t.Helper()
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return constant(t, path, sum.X) + constant(t, path, sum.Y)
	}
	lit, ok := e.(*ast.BasicLit)
	require.True(t, ok, "%s: a text must be a constant, so that a catalogue can have it", path)
	s, err := strconv.Unquote(lit.Value)
	require.NoError(t, err)
	return s
}

// inTemplate adds the texts of t and count.
func inTemplate(t *testing.T, path string, said map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	tree := parse.New(path)
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	_, err = tree.Parse(string(text), "", "", trees)
	require.NoError(t, err)
	for _, one := range trees {
		inNode(t, path, one.Root, said)
	}
}

func inNode(t *testing.T, path string, n parse.Node, said map[string]string) {
	t.Helper()
	branch := func(b *parse.BranchNode) {
		inNode(t, path, b.Pipe, said)
		inNode(t, path, b.List, said)
		if b.ElseList != nil {
			inNode(t, path, b.ElseList, said)
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		for _, one := range n.Nodes {
			inNode(t, path, one, said)
		}
	case *parse.ActionNode:
		inNode(t, path, n.Pipe, said)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			inNode(t, path, n.Pipe, said)
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			inCommand(c, path, said)
			for _, arg := range c.Args {
				inNode(t, path, arg, said)
			}
		}
	}
}

// inCommand adds the text of a call of t or count. t of a field shows a Text, which code has said.
func inCommand(c *parse.CommandNode, path string, said map[string]string) {
	f, ok := c.Args[0].(*parse.IdentifierNode)
	if !ok {
		return
	}
	at := map[string]int{"t": 1, "count": 3}[f.Ident]
	if at == 0 || len(c.Args) <= at {
		return
	}
	if s, ok := c.Args[at].(*parse.StringNode); ok {
		said[s.Text] = path
	}
}
