package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/imports"
)

// rewrite makes introspection answer null where the specification says so, and the generated code of the schema's own types faster, in
// three ways that do not change its answers:
//
//   - A field that is a column is marshalled directly, without a field context, closures and an unused error.
//   - An object keeps no account of @defer.
//   - The elements of a list are marshalled one after the other.
//
// Returns an error when gqlgen's code has changed so that one of them matches nothing.
func rewrite(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.generated.go"))
	if err != nil {
		return fmt.Errorf("find the generated files: %w", err)
	}
	var done counts
	for _, path := range files {
		switch filepath.Base(path) {
		case "root_.generated.go":
			continue
		case "prelude.generated.go":
			if err := introspection(path); err != nil {
				return fmt.Errorf("rewrite %s: %w", filepath.Base(path), err)
			}
			continue
		}
		if err := rewriteFile(path, &done); err != nil {
			return fmt.Errorf("rewrite %s: %w", filepath.Base(path), err)
		}
	}
	if done.columns == 0 || done.objects == 0 || done.lists == 0 {
		return errors.New("gqlgen's code is another than what the rewriting knows")
	}
	return nil
}

// introspection rewrites what tells of a type: gqlgen answers [] and false for what types of its kind do not have.
func introspection(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for call, kinds := range map[string]string{
		`obj.Fields(fc.Args["includeDeprecated"].(bool))`: `"OBJECT", "INTERFACE"`,
		`obj.Interfaces()`:    `"OBJECT", "INTERFACE"`,
		`obj.PossibleTypes()`: `"INTERFACE", "UNION"`,
		`obj.EnumValues(fc.Args["includeDeprecated"].(bool))`: `"ENUM"`,
		`obj.InputFields()`: `"INPUT_OBJECT"`,
		`obj.IsOneOf()`:     `"INPUT_OBJECT"`,
	} {
		old := []byte("return " + call + ", nil")
		if bytes.Count(text, old) != 1 {
			return fmt.Errorf("gqlgen's code is another than what the rewriting knows: %s", old)
		}
		text = bytes.Replace(text, old, []byte("return inline.OfKind(obj, "+call+", "+kinds+"), nil"), 1)
	}
	imports.LocalPrefix = "atrium"
	if text, err = imports.Process(path, text, nil); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// counts are how often each way was applied.
type counts struct{ columns, objects, lists int }

// edit replaces a part of a file's text.
type edit struct {
	from, to int
	text     string
}

// source is one generated file.
type source struct {
	text    []byte
	fset    *token.FileSet
	scalars map[string]bool // functions that return the context of a field without fields below it
	edits   []edit
	done    *counts
}

func rewriteFile(path string, done *counts) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s := &source{text: text, fset: token.NewFileSet(), scalars: map[string]bool{}, done: done}
	file, err := parser.ParseFile(s.fset, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	functions := []*ast.FuncDecl{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			functions = append(functions, f)
			if call := onlyReturn(f.Body); call != nil && s.of(call.Fun) == "graphql.NewScalarFieldContext" {
				s.scalars[f.Name.Name] = true
			}
		}
	}
	for _, f := range functions {
		s.column(f)
		s.object(f)
		s.list(f)
	}
	slices.SortFunc(s.edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range s.edits {
		text = slices.Concat(text[:e.from], []byte(e.text), text[e.to:])
	}
	imports.LocalPrefix = "atrium"
	if text, err = imports.Process(path, text, nil); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// of returns a node's text.
func (s *source) of(n ast.Node) string { return string(s.text[s.at(n.Pos()):s.at(n.End())]) }

func (s *source) at(p token.Pos) int { return s.fset.Position(p).Offset }

func (s *source) replace(n ast.Node, text string) {
	s.edits = append(s.edits, edit{s.at(n.Pos()), s.at(n.End()), text})
}

// onlyReturn returns the call in a body that is nothing but a return of one call; nil for any other body.
func onlyReturn(body *ast.BlockStmt) *ast.CallExpr {
	if len(body.List) != 1 {
		return nil
	}
	ret, ok := body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return nil
	}
	call, _ := ret.Results[0].(*ast.CallExpr)
	return call
}

// column rewrites
//
//	return graphql.ResolveField(ctx, …, func(…) { return ec.fieldContext_…(ctx, field) },
//		func(ctx) (any, error) { return obj.Title, nil }, nil, func(…, v) { return ec.marshal…(ctx, selections, v) }, …)
//
// to
//
//	return ec.marshal…(ctx, field.Selections, obj.Title)
func (s *source) column(f *ast.FuncDecl) {
	call := onlyReturn(f.Body)
	const init, resolve, middleware, marshal = 3, 4, 5, 6
	if call == nil || s.of(call.Fun) != "graphql.ResolveField" || s.of(call.Args[middleware]) != "nil" {
		return
	}
	context := onlyReturn(call.Args[init].(*ast.FuncLit).Body) // gqlgen always writes function literals here
	write := onlyReturn(call.Args[marshal].(*ast.FuncLit).Body)
	body := call.Args[resolve].(*ast.FuncLit).Body
	if context == nil || write == nil || len(body.List) != 1 || !s.scalars[strings.TrimPrefix(s.of(context.Fun), "ec.")] {
		return
	}
	ret, ok := body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 2 {
		return
	}
	if value, ok := ret.Results[0].(*ast.SelectorExpr); ok && s.of(value.X) == "obj" && s.of(ret.Results[1]) == "nil" {
		s.replace(call, fmt.Sprintf("%s(ctx, field.Selections, %s)", s.of(write.Fun), s.of(value)))
		s.done.columns++
	}
}

// object removes the code for @defer from a function that marshals an object.
func (s *source) object(f *ast.FuncDecl) {
	parameters := f.Type.Params.List
	if last := parameters[len(parameters)-1]; len(last.Names) != 1 || last.Names[0].Name != "obj" {
		return
	}
	found := false
	for _, stmt := range f.Body.List {
		text := s.of(stmt)
		switch {
		case text == "out := graphql.NewFieldSet(fields)":
			s.replace(stmt, "out := inline.NewFields(fields)")
			found = true
		case strings.HasPrefix(text, "deferredFieldSet :="), strings.HasPrefix(text, "deferLabelToView :="),
			strings.HasPrefix(text, "atomic.AddInt32(&ec.Deferred"), strings.HasPrefix(text, "ec.ProcessDeferredGroup("):
			s.replace(stmt, "")
		}
	}
	if found {
		s.done.objects++
	}
}

// list makes lists be marshalled in order.
func (s *source) list(f *ast.FuncDecl) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && s.of(sel) == "graphql.MarshalSliceConcurrently" {
			s.replace(sel, "inline.Slice")
			s.done.lists++
		}
		return true
	})
}
