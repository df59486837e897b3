// Package migration tests pages that are guides from another engine to ours. Such a page has an answer to each call of that
// engine, and names nothing that does not exist.
package migration

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Page is a page below docs. Tests run in a folder of the module that is directly below its root.
type Page struct {
	File string // its name
	// Here is the folder of the package whose names stand without that of their package.
	Here string
	// Engine is the name of the other engine, whose calls are in testdata/<engine>-calls.txt, and Prefix begins all its names.
	Engine, Prefix string
}

// folders holds the packages whose names the pages may mention, by what is written before such a name.
var folders = map[string]string{
	"svg.": "physics/svg", "box2d.": "physics/box2d", "rigid.": "internal/rigid", "rigid3.": "internal/rigid3", "native.": "native",
	"physics.": "physics", "physics3.": "physics3", "rig.": "physics3/rig", "space.": "space", "evertick.": ".", "ecs.": "ecs", "spatial.": "spatial", "loop.": "loop",
	"replay.": "replay", "worldlog.": "worldlog",
}

// names are the exported names of a package: X, and T.M for methods and fields.
type names map[string]bool

func namesOf(t testing.TB, folder string) names {
	t.Helper()
	all := names{}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			all.declaration(d)
		}
	}
	return all
}

func (n names) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d.Recv.List[0].Type) + "." + name
		}
		n[name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					n[name.Name] = true
				}
			case *ast.TypeSpec:
				n[s.Name.Name] = true
				n.fields(s.Name.Name, s.Type)
			}
		}
	}
}

// fields adds those of a type and, by their own name, the types that it embeds.
func (n names) fields(of string, t ast.Expr) {
	switch t := t.(type) {
	case *ast.StructType:
		for _, f := range t.Fields.List {
			for _, name := range f.Names {
				n[of+"."+name.Name] = true
			}
			if len(f.Names) == 0 {
				n[of+"."+receiver(f.Type)] = true
			}
		}
	case *ast.InterfaceType:
		for _, f := range t.Methods.List {
			for _, name := range f.Names {
				n[of+"."+name.Name] = true
			}
		}
	}
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// code matches text between backquotes, and name matches one of our names there: X, T.M, p.X
// or p.T.M, with or without arguments.
var (
	code = regexp.MustCompile("`([^`\n]+)`")
	name = regexp.MustCompile(`^([a-z]\w*\.)?([A-Z]\w*(?:\.[A-Z]\w*)?)(?:\(.*\)|\{.*\})?$`)
)

func (p Page) text(t testing.TB) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", p.File))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// Names checks that each name of ours on the page is declared, and that there are at least so many.
func (p Page) Names(t testing.TB, atLeast int) {
	t.Helper()
	known := map[string]names{}
	faults, checked := p.nameFaults(p.text(t), func(folder string) names {
		if known[folder] == nil {
			known[folder] = namesOf(t, filepath.Join("..", folder))
		}
		return known[folder]
	})
	for _, fault := range faults {
		t.Error(fault)
	}
	if checked < atLeast {
		t.Errorf("only %d names of ours are on the page", checked)
	}
}

// nameFaults returns what is wrong with the names of ours on a page, and how many different ones there are.
func (p Page) nameFaults(page string, of func(folder string) names) (faults []string, checked int) {
	seen := map[string]bool{}
	for _, span := range code.FindAllStringSubmatch(page, -1) {
		m := name.FindStringSubmatch(span[1])
		if m == nil || seen[span[1]] {
			continue
		}
		seen[span[1]] = true
		folder, ok := folders[m[1]]
		if m[1] == "" {
			folder, ok = p.Here, true
		}
		if !ok {
			faults = append(faults, fmt.Sprintf("`%s`: no package is called %s", span[1], m[1]))
		} else if !of(folder)[m[2]] {
			faults = append(faults, fmt.Sprintf("`%s`: %s has no %s", span[1], folder, m[2]))
		}
	}
	return faults, len(seen)
}

// Calls checks that the section "Every call of <engine>" has each function of the list once and no other name of the engine,
// and that the page has no function besides those. The list has at least so many.
func (p Page) Calls(t testing.TB, atLeast int) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join("testdata", strings.ToLower(p.Engine)+"-calls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	calls := strings.Fields(string(list))
	for _, fault := range p.callFaults(p.text(t), calls) {
		t.Error(fault)
	}
	if len(calls) < atLeast {
		t.Errorf("only %d calls are listed", len(calls))
	}
}

// callFaults returns what is wrong with the names of the engine on a page, given the names of its functions.
func (p Page) callFaults(page string, calls []string) (faults []string) {
	_, section, found := strings.Cut(page, "\n## Every call of "+p.Engine)
	if !found {
		return []string{"the page has no section of every call"}
	}
	section, _, _ = strings.Cut(section, "\n## ")
	onPage := map[string]bool{}
	for _, span := range regexp.MustCompile("`("+p.Prefix+"\\w+)`").FindAllStringSubmatch(section, -1) {
		if onPage[span[1]] {
			faults = append(faults, span[1]+" is in the section twice")
		}
		onPage[span[1]] = true
		if !slices.Contains(calls, span[1]) {
			faults = append(faults, p.Engine+" has no "+span[1])
		}
	}
	for _, call := range calls {
		if !onPage[call] {
			faults = append(faults, "the page lacks "+call)
		}
	}
	for _, span := range regexp.MustCompile("`("+p.Prefix+"[A-Z]\\w*_\\w+)`").FindAllStringSubmatch(strings.Replace(page, section, "", 1), -1) {
		if !slices.Contains(calls, span[1]) {
			faults = append(faults, p.Engine+" has no "+span[1])
		}
	}
	return faults
}
