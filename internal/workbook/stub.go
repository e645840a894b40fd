package workbook

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"sort"
	"strconv"
	"strings"
)

// Stub turns a reference answer into the exercise: every marked part becomes a
// TODO that compiles and returns an error, and imports that only the marked
// parts used stay in use.
func Stub(src string) (string, error) {
	regions, err := Regions(src)
	if err != nil {
		return "", err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "lock.go", src, parser.ParseComments)
	if err != nil {
		return "", fmt.Errorf("reference answer: %w", err)
	}
	lines := strings.Split(src, "\n")
	var out []string
	next := 1
	for _, r := range regions {
		out = append(out, lines[next-1:r.Begin-1]...)
		todo, err := todoFor(r, enclosing(fset, file, r))
		if err != nil {
			return "", err
		}
		out = append(out, todo...)
		next = r.End + 1
	}
	out = append(out, lines[next-1:]...)
	stub, err := keepImports(file, strings.Join(out, "\n"))
	if err != nil {
		return "", err
	}
	formatted, err := format.Source([]byte(stub))
	if err != nil {
		return "", fmt.Errorf("the generated stub: %w", err)
	}
	return string(formatted), nil
}

// enclosing returns the function that contains the region, nil at top level.
func enclosing(fset *token.FileSet, file *ast.File, r Region) *ast.FuncDecl {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Body != nil && fset.Position(f.Body.Lbrace).Line < r.Begin && fset.Position(f.Body.Rbrace).Line > r.End {
			return f
		}
	}
	return nil
}

func todoFor(r Region, f *ast.FuncDecl) ([]string, error) {
	var out []string
	for _, line := range wrap("TODO: "+r.Task, 76-len(r.Indent)) {
		out = append(out, r.Indent+"// "+line)
	}
	if f == nil {
		return out, nil
	}
	results, err := zeroResults(f)
	if err != nil {
		return nil, err
	}
	return append(out, r.Indent+"return "+results), nil
}

// zeroResults is what a stub returns: zero values, and errTODO.
func zeroResults(f *ast.FuncDecl) (string, error) {
	var values []string
	if f.Type.Results != nil {
		for _, field := range f.Type.Results.List {
			for range max(1, len(field.Names)) {
				values = append(values, zero(field.Type))
			}
		}
	}
	last := len(values) - 1
	if last < 0 || values[last] != "error" {
		return "", fmt.Errorf("%w: func %s must return an error last, so that its stub can", ErrMarkers, f.Name.Name)
	}
	for i, v := range values {
		if v == "error" {
			values[i] = "nil"
		}
	}
	values[last] = "errTODO"
	return strings.Join(values, ", "), nil
}

func zero(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		switch t.Name {
		case "error":
			return "error"
		case "string":
			return `""`
		case "bool":
			return "false"
		case "int", "int32", "int64", "uint", "uint32", "uint64", "float64":
			return "0"
		}
		return t.Name + "{}"
	case *ast.SelectorExpr:
		return "*new(" + t.X.(*ast.Ident).Name + "." + t.Sel.Name + ")"
	}
	return "nil"
}

// keepImports adds errTODO, and a use for each import that the stub lost.
func keepImports(full *ast.File, stub string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "lock.go", stub, parser.ParseComments)
	if err != nil {
		return "", fmt.Errorf("the generated stub: %w", err)
	}
	var keep []string
	used, hasErrors := selectors(file), false
	inFull := selectors(full)
	for _, spec := range full.Imports {
		name := importName(spec)
		hasErrors = hasErrors || name == "errors"
		if name == "errors" || name == "_" || len(used[name]) > 0 {
			continue
		}
		use, err := useOf(name, inFull[name])
		if err != nil {
			return "", err
		}
		keep = append(keep, use)
	}
	if !hasErrors {
		stub = addImport(stub, "errors")
	}
	stub = strings.TrimRight(stub, "\n") + "\n\n// errTODO is what this exercise returns until you have written it. These lines\n" +
		"// also keep the imports in use; leave them here.\n"
	if len(keep) == 0 {
		return stub + "var errTODO = errors.New(\"TODO: write this exercise\")\n", nil
	}
	return stub + "var (\n\terrTODO = errors.New(\"TODO: write this exercise\")\n" + strings.Join(keep, "") + ")\n", nil
}

// selectors lists, for each X of X.Name, the names; true where used as a type.
func selectors(file *ast.File) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	note := func(e ast.Expr, isType bool) {
		if star, ok := e.(*ast.StarExpr); ok {
			e = star.X
		}
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return
		}
		if found[x.Name] == nil {
			found[x.Name] = map[string]bool{}
		}
		found[x.Name][sel.Sel.Name] = found[x.Name][sel.Sel.Name] || isType
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			note(n.Type, true)
		case *ast.CompositeLit:
			note(n.Type, true)
		case *ast.ValueSpec:
			note(n.Type, true)
		case *ast.SelectorExpr:
			note(n, false)
		}
		return true
	})
	return found
}

// useOf is a declaration that uses package name.
func useOf(name string, idents map[string]bool) (string, error) {
	var values, types []string
	for ident, isType := range idents {
		if isType || ident == "Duration" {
			types = append(types, ident)
		} else {
			values = append(values, ident)
		}
	}
	sort.Strings(values)
	sort.Strings(types)
	switch {
	case len(values) > 0:
		return "\t_ = " + name + "." + values[0] + "\n", nil
	case len(types) > 0:
		return "\t_ " + name + "." + types[0] + "\n", nil
	}
	return "", fmt.Errorf("import %s is used nowhere in the reference answer", name)
}

func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return path.Base(p)
}

func addImport(src, name string) string {
	quoted := strconv.Quote(name)
	if i := strings.Index(src, "import (\n"); i >= 0 {
		at := i + len("import (\n")
		return src[:at] + "\t" + quoted + "\n" + src[at:]
	}
	line := strings.Index(src, "\nimport ")
	if line >= 0 {
		return src[:line+1] + "import " + quoted + "\n" + src[line+1:]
	}
	pkg := strings.Index(src, "\npackage ") + 1
	end := pkg + strings.Index(src[pkg:], "\n") + 1
	return src[:end] + "\nimport " + quoted + "\n" + src[end:]
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
