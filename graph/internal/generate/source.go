package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// operations maps the registry's rows to the Go names of their operations: "mutation createService" to catalog.CreateService,
// "get Service" to catalog.GetService. A value does not know the variable that holds it, so the names are read from the
// registry's source. imports are the quoted import paths of that source.
func operations(path string) (names map[string]string, imports []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, fmt.Errorf("read the registry: %w", err)
	}
	for _, i := range file.Imports {
		imports = append(imports, i.Path.Value)
	}
	names = map[string]string{}
	row := ""
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		constructor, ok := call.Fun.(*ast.Ident)
		if !ok {
			return true
		}
		text, isText := call.Args[0].(*ast.BasicLit)
		if isText && (constructor.Name == "entity" || constructor.Name == "mutation") {
			row, _ = strconv.Unquote(text.Value)
		}
		if operation, ok := call.Args[len(call.Args)-1].(*ast.SelectorExpr); ok {
			if pkg, ok := operation.X.(*ast.Ident); ok {
				names[constructor.Name+" "+row] = pkg.Name + "." + operation.Sel.Name
			}
		}
		return true
	})
	return names, imports, nil
}

// handWritten returns the hand-written methods of resolvers, as "serviceResolver.Offerings".
func handWritten(dir string) (map[string]bool, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list the resolvers: %w", err)
	}
	out := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read the resolvers: %w", err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				if star, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
					if typ, ok := star.X.(*ast.Ident); ok && strings.HasSuffix(typ.Name, "Resolver") {
						out[typ.Name+"."+f.Name.Name] = true
					}
				}
			}
		}
	}
	return out, nil
}
