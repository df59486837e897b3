package gate

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.txt anew")

// maxExported bounds the names that the module promises, fields of structs and methods of interfaces aside. For a new one, find an
// old one that nobody needs.
const maxExported = 1900

// maxInSpace bounds those of physics3 and its rig. Users of physics know most of them.
const maxInSpace = 404

// maxJoining bounds those of space, which joins physics3 to a Sim, and of the folders below it.
const maxJoining = 20

// member is a line of a field or of a method of an interface.
var member = regexp.MustCompile(`, type \S+ (struct|interface), `)

// exported lists what the packages of a folder of files promise, a line for each name.
type exported struct {
	path  string
	fset  *token.FileSet
	lines []string
}

func (e *exported) add(format string, args ...any) {
	e.lines = append(e.lines, "pkg "+e.path+", "+fmt.Sprintf(format, args...))
}

// text is a node of the syntax on one line.
func (e *exported) text(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, e.fset, n); err != nil {
		panic(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// signature is the type of a function without the word func.
func (e *exported) signature(t *ast.FuncType) string {
	return strings.TrimPrefix(e.text(&ast.FuncType{Params: t.Params, Results: t.Results}), "func")
}

// receiver is the name of the type of a method, and how it is written.
func (e *exported) receiver(f *ast.FuncDecl) (name, written string) {
	written = e.text(f.Recv.List[0].Type)
	name, _, _ = strings.Cut(strings.TrimPrefix(written, "*"), "[")
	return name, written
}

func (e *exported) file(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() {
				continue
			}
			if d.Recv == nil {
				e.add("func %s%s", d.Name, e.signature(d.Type))
			} else if name, written := e.receiver(d); ast.IsExported(name) {
				e.add("method (%s) %s%s", written, d.Name, e.signature(d.Type))
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							e.add("%s %s", d.Tok, name)
						}
					}
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						e.typ(s)
					}
				}
			}
		}
	}
}

func (e *exported) typ(s *ast.TypeSpec) {
	fields := func(what string, list *ast.FieldList) {
		e.add("type %s %s", s.Name, what)
		for _, f := range list.List {
			for _, name := range f.Names {
				if name.IsExported() {
					e.add("type %s %s, %s %s", s.Name, what, name, e.text(f.Type))
				}
			}
			if len(f.Names) == 0 {
				e.add("type %s %s, embedded %s", s.Name, what, e.text(f.Type))
			}
		}
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		fields("struct", t.Fields)
	case *ast.InterfaceType:
		fields("interface", t.Methods)
	default:
		alias := ""
		if s.Assign.IsValid() {
			alias = "= "
		}
		e.add("type %s %s%s", s.Name, alias, e.text(s.Type))
	}
}

// TestExportedNames compares what the module exports with testdata/api.txt, so that a new promise is seen in the change that
// makes it, and bounds its size.
func TestExportedNames(t *testing.T) {
	list, err := run(repo(t), []string{"CGO_ENABLED=1", "GOOS=linux", "GOARCH=amd64"}, "go", "list", "-f", "{{.Name}} {{.ImportPath}} {{.Dir}} {{join .GoFiles \",\"}},{{join .CgoFiles \",\"}}", "./...")
	if err != nil {
		t.Fatal(err, list)
	}
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
		part := strings.Fields(line)
		if len(part) != 4 || part[0] == "main" || strings.Contains(part[1], "/internal/") || strings.Contains(part[1], "/csrc") {
			continue // what is in csrc is not for import
		}
		e := exported{path: strings.TrimPrefix(strings.TrimPrefix(part[1], module), "/"), fset: token.NewFileSet()}
		if e.path == "" {
			e.path = "."
		}
		for _, name := range strings.Split(part[3], ",") {
			if name == "" {
				continue
			}
			f, err := parser.ParseFile(e.fset, filepath.Join(part[2], name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			e.file(f)
		}
		lines = append(lines, e.lines...)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	const path = "testdata/api.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(strings.TrimSpace(string(want)), "\n")
	for _, line := range lines {
		if !slices.Contains(known, line) {
			t.Errorf("not in %s: %s", path, line)
		}
	}
	for _, line := range known {
		if !slices.Contains(lines, line) {
			t.Errorf("only in %s: %s", path, line)
		}
	}
	joining := 0
	names := slices.DeleteFunc(lines, func(line string) bool { return member.MatchString(line) })
	names = slices.DeleteFunc(names, func(line string) bool {
		joins := strings.HasPrefix(line, "pkg space,") || strings.HasPrefix(line, "pkg space/")
		if joins {
			joining++
		}
		return joins
	})
	if joining > maxJoining {
		t.Errorf("%d exported names in space, more than %d", joining, maxJoining)
	}
	space := 0 // of the engine in space, whose names are those of physics, and of what it builds
	for _, line := range names {
		if strings.HasPrefix(line, "pkg physics3,") || strings.HasPrefix(line, "pkg physics3/") {
			space++
		}
	}
	if n := len(names) - space; n > maxExported || space > maxInSpace {
		t.Errorf("%d exported names, more than %d, or %d in physics3, more than %d", n, maxExported, space, maxInSpace)
	}
	t.Logf("%d exported names, %d of them in physics3", len(names), space)
	if t.Failed() {
		t.Log("go test -run TestExportedNames ./internal/gate -update writes the list anew")
	}
}
