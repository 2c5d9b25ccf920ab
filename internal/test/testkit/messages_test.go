package testkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/apperr"
	"atrium/internal/test/testkit"
)

// Allowed first words of a validation error's message: a predicate about the field, which the detail names beside it, or a noun
// of the domain. So a message does not begin with the name of its field.
var (
	predicates = strings.Fields(`must may can cannot is are does has needs takes names belongs depends stands would was contains`)
	subjects   = strings.Fields(`a an the no another only there two unknown phases secrets neither expressions only whole values send`)
)

// Every validation message in the sources is one sentence in the same style.
func TestMessagesAreSentences(t *testing.T) {
	t.Parallel()
	found := 0
	for path, code := range testkit.Sources(t, "internal", "graph", "rest", "authz", "cmd") {
		files := token.NewFileSet()
		source, err := parser.ParseFile(files, path, code, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(source, func(n ast.Node) bool {
			for _, literal := range messages(n) {
				text, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				found++
				for _, fault := range faultsOf(text) {
					t.Errorf("%s: %q: %s", files.Position(literal.Pos()), text, fault)
				}
			}
			return true
		})
	}
	require.Greater(t, found, 150, "the walk found the messages")
}

// messages returns the message texts in a node: of a call that reports an invalid field, of a detail, and of the validator
// itself.
func messages(n ast.Node) []*ast.BasicLit {
	switch n := n.(type) {
	case *ast.CallExpr:
		name, method := "", false
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name, method = f.Sel.Name, true
		}
		switch {
		case slices.Contains([]string{"InvalidField", "Fault", "fault", "whole"}, name) && len(n.Args) > 0:
			return literals(n.Args[min(1, len(n.Args)-1)])
		case method && name == "add" && len(n.Args) > 1: // a fault in a form or a policy
			return literals(n.Args[1])
		}
	case *ast.FuncDecl:
		if strings.HasSuffix(strings.ToLower(n.Name.Name), "fault") { // a function that returns a fault
			var out []*ast.BasicLit
			ast.Inspect(n, func(n ast.Node) bool {
				if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
					out = append(out, literals(r.Results[0])...)
				}
				return true
			})
			return out
		}
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Message" && isDetail(n) {
					return literals(kv.Value)
				}
			}
		}
	case *ast.AssignStmt:
		if to, ok := n.Lhs[0].(*ast.SelectorExpr); ok && strings.HasPrefix(to.Sel.Name, "MsgExpected") {
			return literals(n.Rhs[0])
		}
	}
	return nil
}

// isDetail reports whether a literal is a detail, or is in a list of details.
func isDetail(n *ast.CompositeLit) bool {
	if n.Type == nil {
		return true
	}
	s, ok := n.Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Detail"
}

// literals returns the text that an expression is or begins with.
func literals(e ast.Expr) []*ast.BasicLit {
	for {
		sum, ok := e.(*ast.BinaryExpr)
		if !ok {
			break
		}
		e = sum.X
	}
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING && strings.Contains(l.Value, " ") {
		return []*ast.BasicLit{l}
	}
	return nil
}

// faultsOf returns what is wrong with a message, or with the beginning of one.
func faultsOf(text string) []string {
	var out []string
	read := apperr.InvalidField("x", "%s", text).Details[0].Message
	first := strings.Fields(text)[0]
	known := slices.Contains(predicates, strings.ToLower(first)) || slices.Contains(subjects, strings.ToLower(first))
	if !known && first != "%q" { // a name that a definition refers to and that does not exist
		out = append(out, "begins with neither a predicate nor a subject that is known here; the field stands beside the message")
	}
	if !unicode.IsUpper(rune(read[0])) && read[0] != '%' {
		out = append(out, "has no capital")
	}
	if strings.HasSuffix(read, "..") || strings.Contains(read, "  ") {
		out = append(out, "ends twice, or has a gap")
	}
	if strings.Contains(read, " 1 characters") || strings.Contains(read, " 1 entries") {
		out = append(out, "one of something is no plural")
	}
	return out
}
