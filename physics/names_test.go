package physics_test

import (
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

// names returns the exported names of a package: X, and T.M for methods and fields.
type names map[string]bool

func namesOf(t *testing.T, folder string) names {
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

// A page for those who come from Box2D says only what there is. Names of Box2D begin
// with b2; of ours, those without a package are of this one.
func TestMigrationPageNamesWhatThereIs(t *testing.T) {
	root := ".."
	page, err := os.ReadFile(filepath.Join(root, "docs", "migrating-from-box2d.md"))
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{
		"": "physics", "physics.": "physics", "svg.": "physics/svg", "box2d.": "physics/box2d", "rigid.": "internal/rigid",
		"native.": "native", "evertick.": ".", "ecs.": "ecs", "spatial.": "spatial", "loop.": "loop",
		"replay.": "replay", "worldlog.": "worldlog",
	}
	known := map[string]names{}
	checked := map[string]bool{}
	for _, span := range code.FindAllStringSubmatch(string(page), -1) {
		m := name.FindStringSubmatch(span[1])
		if m == nil {
			continue
		}
		folder, ok := folders[m[1]]
		if !ok {
			t.Errorf("`%s`: no package is called %s", span[1], m[1])
			continue
		}
		if known[folder] == nil {
			known[folder] = namesOf(t, filepath.Join(root, folder))
		}
		checked[span[1]] = true
		if !known[folder][m[2]] {
			t.Errorf("`%s`: %s has no %s", span[1], folder, m[2])
		}
	}
	if len(checked) < 100 {
		t.Errorf("only %d names of ours are on the page", len(checked))
	}
}

// The page answers for every function of the header of Box2D v3.2, and for no other.
func TestMigrationPageHasEveryCall(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "migrating-from-box2d.md"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join("testdata", "box2d-calls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Every call of Box2D")
	section, _, _ = strings.Cut(section, "\n## ")
	onPage := map[string]bool{}
	for _, span := range regexp.MustCompile("`(b2\\w+)`").FindAllStringSubmatch(section, -1) {
		onPage[span[1]] = true
	}
	calls := strings.Fields(string(list))
	for _, call := range calls {
		if !onPage[call] {
			t.Errorf("the page lacks %s", call)
		}
		delete(onPage, call)
	}
	for name := range onPage {
		t.Errorf("Box2D has no %s", name)
	}
	for _, span := range regexp.MustCompile("`(b2[A-Z]\\w*_\\w+)`").FindAllStringSubmatch(string(page), -1) {
		if !slices.Contains(calls, span[1]) {
			t.Errorf("Box2D v3.2 has no %s", span[1])
		}
	}
	if !found || len(calls) < 350 {
		t.Errorf("%d calls are listed", len(calls))
	}
}
