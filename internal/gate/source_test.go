package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Functions of package math that are exact by IEEE 754, or only look at bits.
// Constants are free; everything else may differ between machines.
var exactMath = []string{
	"Abs", "Ceil", "Copysign", "Floor", "RoundToEven", "Sqrt", "Trunc", "Signbit",
	"Float32bits", "Float32frombits", "Float64bits", "Float64frombits",
	"Inf", "IsInf", "IsNaN", "NaN", "Nextafter", "Nextafter32",
}

// forbidden are functions and methods that bring in what two runs do not share,
// with the files that may use them.
var forbidden = []struct {
	pkg   string
	names []string
	why   string
	in    *regexp.Regexp
}{
	{"time", []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
		"wall time, which only the loop's clocks and the choice of workers may read", regexp.MustCompile(`^loop/clock\w*\.go$|^internal/pace/`)},
	{"os", []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"},
		"the environment, which may only choose the level", regexp.MustCompile(`^native/level\.go$`)},
	{"maps", []string{"All", "Keys", "Values"}, "map order", nil},
	{"reflect", []string{"MapKeys", "MapRange"}, "map order", nil},
	{"sync", []string{"Range"}, "map order", nil},
}

// forbiddenImports are packages of shared or seedless random numbers, and
// complex arithmetic, whose products cannot be kept from fusing.
var forbiddenImports = []string{"crypto/rand", "hash/maphash", "math/cmplx", "math/rand", "math/rand/v2"}

// orderFree marks a line whose use of map order cannot reach a result.
var orderFree = regexp.MustCompile(`^//.*\border-free: \S`)

func TestSource(t *testing.T) {
	needTool(t, false, "go")
	faults, files, err := readSource(repo(t), core(t))
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
	t.Logf("%d files read", files)
}

// pkg is what go list prints of a package.
type pkg struct {
	ImportPath, Name, Dir, Export string
	Module                        *struct{ Dir string }
}

// readSource returns the faults of packages of the module in dir, and the
// number of files read. All files of a package are checked together, whatever
// their build constraints: names declared twice do not stop the type checker.
func readSource(dir string, paths []string) (faults []string, files int, err error) {
	all, err := list(dir, paths)
	if err != nil {
		return nil, 0, err
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if all[path].Export == "" {
			return nil, errors.New("not among the dependencies of this build")
		}
		return os.Open(all[path].Export)
	})
	for _, path := range paths {
		p := all[path]
		parsed, err := parsePackage(fset, p)
		if err != nil {
			return nil, 0, err
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: imports, FakeImportC: true, Error: func(error) {}}
		conf.Check(path, fset, parsed, info) // errors come from build constraints; the compiler reports the rest
		for _, f := range parsed {
			r := reader{fset: fset, info: info, free: freeLines(fset, f)}
			rel, _ := filepath.Rel(p.Module.Dir, fset.File(f.FileStart).Name())
			r.name = filepath.ToSlash(rel)
			r.read(f)
			faults = append(faults, r.faults...)
		}
		asm, _ := filepath.Glob(filepath.Join(p.Dir, "*.[sS]"))
		for _, a := range asm {
			faults = append(faults, a+": assembly, which the listing of fused instructions does not show")
		}
		files += len(parsed)
	}
	return faults, files, nil
}

// list asks for packages and all their dependencies, with export data.
func list(dir string, paths []string) (map[string]pkg, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-export", "-json=ImportPath,Name,Dir,Export,Module"}, paths...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	all := map[string]pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all[p.ImportPath] = p
	}
}

func parsePackage(fset *token.FileSet, p pkg) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, n, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if f.Name.Name == p.Name { // else a generator, under an ignore constraint
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no Go files in package %q", p.ImportPath)
	}
	return files, nil
}

// freeLines are the lines that carry an order-free comment.
func freeLines(fset *token.FileSet, f *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if orderFree.MatchString(c.Text) {
				lines[fset.Position(c.Pos()).Line] = true
			}
		}
	}
	return lines
}

// reader collects the faults of one file.
type reader struct {
	fset   *token.FileSet
	info   *types.Info
	name   string
	free   map[int]bool
	faults []string
}

func (r *reader) fault(at ast.Node, format string, args ...any) {
	line := r.fset.Position(at.Pos()).Line
	r.faults = append(r.faults, fmt.Sprintf("%s:%d: %s", r.name, line, fmt.Sprintf(format, args...)))
}

func (r *reader) read(f *ast.File) {
	for _, i := range f.Imports {
		if name := strings.Trim(i.Path.Value, `"`); slices.Contains(forbiddenImports, name) {
			r.fault(i, "a core package must not import %s", name)
		}
	}
	counted := map[ast.Node]bool{} // conditions of loops that count up to an end within a slice
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			r.rangeOver(n)
		case *ast.Ident:
			if obj := r.info.Uses[n]; obj != nil {
				r.use(n, obj)
			}
		case *ast.ForStmt:
			if c, ok := n.Cond.(*ast.BinaryExpr); ok && n.Post != nil && c.Op == token.LSS {
				counted[c] = true
			}
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LSS, token.GTR, token.LEQ, token.GEQ:
				if !counted[n] {
					r.order(n.X)
					r.order(n.Y)
				}
			}
		}
		return true
	})
}

// order reads one side of a comparison. An int has 32 bits on some machines, where a large uint32 becomes a negative
// one, which is below every length.
func (r *reader) order(side ast.Expr) {
	call, ok := ast.Unparen(side).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !r.info.Types[call.Fun].IsType() || r.info.TypeOf(call.Fun) != types.Typ[types.Int] {
		return
	}
	if from, ok := r.info.TypeOf(call.Args[0]).Underlying().(*types.Basic); ok {
		switch from.Kind() {
		case types.Uint32, types.Uint, types.Uint64, types.Uintptr, types.Int64:
			if r.info.Types[call.Args[0]].Value == nil {
				r.fault(call, "int of %s in a comparison has 32 bits on some machines: compare as uint", from)
			}
		}
	}
}

func (r *reader) rangeOver(n *ast.RangeStmt) {
	if r.free[r.fset.Position(n.Pos()).Line] {
		return
	}
	switch t := r.info.TypeOf(n.X); {
	case t == nil || t == types.Typ[types.Invalid]:
		r.fault(n, "range over a value of unknown type; if it is no map, say // order-free: reason")
	case isMap(t):
		r.fault(n, "range over a map; collect and sort the keys, or say // order-free: reason")
	}
}

// isMap reports whether ranging over a value of type t may be ranging over a
// map; a type parameter may stand for one if its constraint admits one.
func isMap(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Interface: // the constraint of a type parameter
		for i := range u.NumEmbeddeds() {
			if isMap(u.EmbeddedType(i)) {
				return true
			}
		}
	case *types.Union:
		for i := range u.Len() {
			if isMap(u.Term(i).Type()) {
				return true
			}
		}
	}
	return false
}

func (r *reader) use(n *ast.Ident, obj types.Object) {
	if obj.Pkg() == nil {
		if obj == types.Universe.Lookup("complex64") || obj == types.Universe.Lookup("complex128") || obj == types.Universe.Lookup("complex") {
			r.fault(n, "complex arithmetic cannot be kept from fusing")
		}
		return
	}
	if _, isFunc := obj.(*types.Func); !isFunc {
		return
	}
	from := obj.Pkg().Path()
	if from == "math" && !slices.Contains(exactMath, obj.Name()) {
		r.fault(n, "math.%s may differ between machines", obj.Name())
	}
	for _, f := range forbidden {
		if f.pkg != from || !slices.Contains(f.names, obj.Name()) || f.in != nil && f.in.MatchString(r.name) {
			continue
		}
		if !r.free[r.fset.Position(n.Pos()).Line] {
			r.fault(n, "%s.%s: %s", path.Base(from), obj.Name(), f.why)
		}
	}
}

func TestSourceTeeth(t *testing.T) {
	needTool(t, false, "go")
	const good = `package good

import ("math"; "slices"; "time")

type set map[int]float32

func Sum(s set, step time.Duration) float64 {
	var keys []int
	for k := range s { // order-free: the keys are sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i := range keys { _ = i }
	for range 3 { }
	short, slot := uint16(3), uint32(3)
	if int(short) < len(keys) && uint(slot) < uint(len(keys)) { return 0 }
	for i := 0; i < int(slot); i++ { }
	return math.Sqrt(math.MaxFloat32) + step.Seconds()
}
`
	// Each line below is refused; the file has nothing else that is.
	const bad = `package bad

import (
	"maps"
	. "math"
	mathrand "math/rand/v2"
	"os"
	"sync"
	clock "time"
)

type set map[int]float32

type holder struct{ set }

func Bad[M ~map[int]bool](s set, h holder, m M, shared *sync.Map, slot uint32, rows []int) {
	for range s { } // order-free:
	for range h.set { }
	for range m { }
	for range maps.Keys(s) { }
	shared.Range(nil)
	_ = Sin(1)
	_ = FMA(1, 2, 3)
	_ = mathrand.Int()
	_ = clock.Now()
	now := clock.Since
	_ = now
	_ = os.Getenv("X")
	_ = complex(1, 2)
	for range unknown() { }
	_ = int(slot) >= len(rows)
	_ = len(rows) < int(slot>>6)
}
`
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":           "module mutant\n\ngo 1.25\n",
		"good/good.go":     good,
		"bad/doc.go":       "package bad\n\nimport _ \"time\"\n",
		"bad/bad.go":       "//go:build ignore_unless_asked\n\n" + bad,
		"bad/imports.go":   "package bad\n\nimport (_ \"maps\"; _ \"math\"; _ \"math/rand/v2\"; _ \"os\"; _ \"sync\")\n",
		"bad/bad_test.go":  "package bad\n\nimport \"time\"\n\nvar _ = time.Now\n",
		"bad/generator.go": "//go:build ignore\n\npackage main\n\nimport \"time\"\n\nvar _ = time.Now\n",
	})
	faults, _, err := readSource(dir, []string{"mutant/good"})
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)

	faults, _, err = readSource(dir, []string{"mutant/bad"})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(bad, "\n") {
		switch text := strings.TrimSpace(line); {
		case text == "_ = now", text == "_ = mathrand.Int()": // refused on the lines that name the source
		case strings.HasPrefix(text, "for "), strings.HasPrefix(text, "_ = "), strings.HasPrefix(text, "shared."),
			strings.HasPrefix(text, "now :="), strings.HasPrefix(text, "mathrand "):
			bites(t, faults, fmt.Sprintf("bad/bad.go:%d:", i+3))
		}
	}
	for _, f := range faults {
		if !strings.HasPrefix(f, "bad/bad.go:") && !strings.HasPrefix(f, "bad/imports.go:") {
			t.Errorf("refused without reason: %s", f)
		}
	}
}
