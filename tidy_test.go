package evertick_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The rules of the repository that a compiler does not check, as tests.

const module = "github.com/evertick/evertick"

// listed is what go list prints of a package.
type listed struct {
	ImportPath, Name, Dir string
	GoFiles, CgoFiles     []string
	Imports, Deps         []string
}

// packages lists the packages of this module that have more than tests, with cgo and
// without it, so that no build constraint hides an import.
func packages(t *testing.T) []listed {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("not run: the go command is not installed")
	}
	all, err := listOnce()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("go list finds no package")
	}
	return all
}

var listOnce = sync.OnceValues(func() (all []listed, err error) {
	for _, cgo := range []string{"0", "1"} {
		cmd := exec.Command("go", "list", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Imports,Deps", "./...")
		cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%v: %v\n%s", cmd, err, stderr.Bytes())
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p listed
			if err := dec.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			if len(p.GoFiles)+len(p.CgoFiles) > 0 {
				all = append(all, p)
			}
		}
	}
	return all, nil
})

// inModule returns the import path relative to the module, "." for its root.
func inModule(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// Each package has its comment in doc.go; a command and an internal package
// may have it in any file.
func TestPackageComment(t *testing.T) {
	for _, p := range packages(t) {
		start := "Package " + p.Name + " "
		where := []string{"doc.go"}
		if p.Name == "main" {
			start = "Command "
		}
		if p.Name == "main" || strings.Contains(p.ImportPath, "/internal/") {
			where = slices.Concat(p.GoFiles, p.CgoFiles)
		}
		if !slices.ContainsFunc(where, func(name string) bool {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			return err == nil && f.Doc != nil && strings.HasPrefix(f.Doc.Text(), start)
		}) {
			t.Errorf("%s: no comment that begins with %q in %s", p.ImportPath, start, strings.Join(where, ", "))
		}
	}
}

// floors lists what the packages of a folder may import from this module, by
// the first part of the path on both sides.
var floors = map[string][]string{
	"internal":             {"native", "internal"},
	"internal/rigid":       {"csrc", "native", "internal"},
	"internal/rigid3":      {"csrc", "native", "internal"},
	"internal/paritytest":  {"csrc", "native", "internal"}, // csrc for kernels that only tests call
	"internal/broad":       {"csrc", "native", "internal"},
	"internal/neighbours":  {"csrc", "native", "internal"},
	"internal/netcode":     {"csrc", "native", "internal"},
	"internal/scenes":      {".", "native", "ecs", "spatial", "physics", "loop", "internal"}, // for tests and bench
	"internal/scenes3":     {"native", "physics3", "loop", "internal"},                       // for tests and bench
	"internal/bodies3":     {"ecs"},
	"internal/bodyview":    {"ecs", "internal"},
	"internal/sims3":       {".", "ecs", "physics", "physics3", "space", "loop", "internal"}, // for tests and bench
	"internal/inspector":   {".", "ecs", "physics", "loop", "worldlog", "replay", "replica", "agent", "causal", "internal"},
	"internal/proof":       {".", "native", "ecs", "spatial", "physics", "loop", "internal"},
	"internal/proof/prove": {".", "native", "ecs", "physics", "physics3", "space", "loop", "internal"},
	"csrc":                 {},
	"csrc/face":            {"csrc"},
	"csrc/broad":           {"csrc"},
	"csrc/broad/face":      {"csrc"},
	"csrc/neighbours":      {"csrc"},
	"csrc/neighbours/face": {"csrc"},
	"csrc/rigid":           {"csrc"},
	"csrc/rigid/face":      {"csrc"},
	"csrc/space":           {"csrc"},
	"csrc/space/face":      {"csrc"},
	"native":               {"csrc", "native", "internal"},
	"ecs":                  {"native", "ecs", "internal"},
	"spatial":              {"native", "spatial", "internal"},
	"physics":              {"native", "physics", "internal"},
	"physics3":             {"native", "internal"},
	"physics3/rig":         {"native", "physics3", "internal"},
	"loop":                 {"native", "loop", "internal"},
	"internal/reflex":      {"native", "ecs", "spatial", "internal"},
	"internal/publish":     {"native", "ecs", "internal"},
	"internal/simtest":     {".", "ecs", "loop", "internal"}, // for tests
	".":                    {"native", "ecs", "spatial", "physics", "loop", "internal"},
	// What stands on a Sim. The log knows none.
	"worldlog":   {"worldlog", "internal"},
	"replica":    {".", "native", "ecs", "spatial", "physics", "loop", "replica", "internal"},
	"train":      {".", "native", "ecs", "spatial", "physics", "loop", "worldlog", "train", "replay", "internal"},
	"train/capi": {"space", "train"},
	"replay":     {".", "ecs", "spatial", "loop", "worldlog", "train", "replay", "internal"}, // train for replay/search
	"host":       {".", "loop", "replay", "internal"},
	"space":      {".", "ecs", "physics3", "internal"},
	// Training worlds in space. physics draws their pictures.
	"space/worlds": {".", "ecs", "physics", "physics3", "loop", "space", "train", "internal"},
	"agent":        {".", "native", "ecs", "spatial", "loop", "worldlog", "replay", "agent", "internal"},
	"skill":        {".", "ecs", "spatial", "physics", "loop", "worldlog", "skill", "internal"},
	"causal":       {".", "loop", "worldlog", "replay", "agent", "skill", "causal", "internal"},
	"inspect":      {".", "loop", "worldlog", "replay", "replica", "inspect", "internal"},
	"bench":        {".", "native", "ecs", "spatial", "physics", "physics3", "loop", "worldlog", "replay", "replica", "host", "train", "inspect", "space", "bench", "internal"},
}

// The picture of the floors has all packages that importers link, each once.
func TestPictureOfTheFloors(t *testing.T) {
	picture := readText(t, "docs/images/floors.svg")
	words := map[string]int{}
	for _, line := range regexp.MustCompile(`<text[^>]*>([^<]*)</text>`).FindAllStringSubmatch(picture, -1) {
		for _, word := range strings.FieldsFunc(line[1], func(r rune) bool { return strings.ContainsRune(" ·:,", r) }) {
			words[word]++
		}
	}
	for floor := range floors {
		name := floor
		if name == "." {
			name = "evertick"
		}
		if strings.Contains(name, "/") || name == "internal" {
			continue
		}
		if words[name] != 1 {
			t.Errorf("docs/images/floors.svg has %s %d times", name, words[name])
		}
	}
}

// The root has few files, each of one subject, and tests that are named after them.
func TestFilesOfTheRoot(t *testing.T) {
	const mostFiles, mostTests = 14, 15
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	tests := len(files)
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	if tests -= len(files); len(files) > mostFiles || tests > mostTests {
		t.Errorf("%d files and %d of tests, want at most %d and %d", len(files), tests, mostFiles, mostTests)
	}
}

// Each package imports only downwards: csrc, native, the rooms (ecs, spatial,
// physics, loop, which share plain slices and not each other), the root, and
// what uses it.
func TestImportDirection(t *testing.T) {
	for _, p := range packages(t) {
		rel, _ := inModule(p.ImportPath)
		floor, _, _ := strings.Cut(rel, "/")
		if strings.HasPrefix(rel, "internal/proof/") {
			floor = "internal/proof" // its rule holds for the packages below it, too
		}
		if _, own := floors[rel]; own {
			floor = rel
		}
		allowed, ok := floors[floor]
		if !ok {
			t.Errorf("%s stands on no floor; add it to floors", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			target, ours := inModule(i)
			folder, _, _ := strings.Cut(target, "/")
			if ours && !slices.Contains(allowed, folder) {
				t.Errorf("%s imports %s; packages of its floor import only %q", p.ImportPath, i, allowed)
			}
		}
	}
}

// light packages can be linked alone: none brings in what serves clients, or another module than these.
var light = []string{"csrc", "csrc/face", "csrc/broad", "csrc/broad/face", "csrc/neighbours", "csrc/neighbours/face", "csrc/rigid", "csrc/rigid/face", "csrc/space", "csrc/space/face", "native", "internal/graph", "internal/broad", "internal/handle", "internal/sleep", "internal/state", "internal/neighbours", "internal/rigid", "internal/rigid3", "ecs", "spatial", "physics", "physics3", "loop", "space", "."}
var lightModules = []string{"github.com/klauspost/cpuid/", "github.com/zeebo/xxh3", "golang.org/x/sys/"}

func TestDependencies(t *testing.T) {
	for _, p := range packages(t) {
		rel, _ := inModule(p.ImportPath)
		// The first report comes from the profiler. What opens pages, serves clients and keeps logs is half of the build, and
		// is in bench/serve.
		for _, d := range []string{"net", "os/exec", module + "/replica", module + "/worldlog", module + "/train"} {
			if rel == "bench" && slices.Contains(p.Deps, d) {
				t.Errorf("%s depends on %s", p.ImportPath, d)
			}
		}
		if !slices.Contains(light, rel) {
			continue
		}
		for _, d := range p.Deps {
			_, ours := inModule(d)
			host, _, _ := strings.Cut(d, "/")
			known := slices.ContainsFunc(lightModules, func(m string) bool { return strings.HasPrefix(d, m) })
			if d == "net/http" || !ours && strings.Contains(host, ".") && !known {
				t.Errorf("%s depends on %s", p.ImportPath, d)
			}
		}
	}
}

// The first report links no engine in space.
func TestFirstReport(t *testing.T) {
	packages(t) // skips the test if there is no go command
	out, err := exec.Command("go", "list", "-deps", "-tags", "plane", "./bench").CombinedOutput()
	if err != nil || strings.Contains(string(out), "physics3") || !strings.Contains(string(out), module+"/physics\n") {
		t.Errorf("go list: %v\n%s", err, out)
	}
	if text := readText(t, "Makefile"); !strings.Contains(text, "go run $(if $(ARGS),,-tags plane) ./bench") {
		t.Error("make run does not use that build")
	}
}

// What does not use package space builds and links no engine in space: neither a Sim, nor what records, serves or trains one.
func TestSpaceStaysApart(t *testing.T) {
	users := []string{"physics3", "space", "bench", "train/capi", "internal/rigid3", "internal/scenes3", "internal/sims3", "internal/proof/prove", "internal/mesh", "internal/hull", "csrc/space"}
	for _, p := range packages(t) {
		rel, _ := inModule(p.ImportPath)
		if slices.ContainsFunc(users, func(u string) bool { return rel == u || strings.HasPrefix(rel, u+"/") }) {
			continue
		}
		for _, d := range []string{"physics3", "space", "internal/rigid3", "csrc/space", "csrc/space/face"} {
			if slices.Contains(p.Deps, module+"/"+d) {
				t.Errorf("%s depends on %s", p.ImportPath, d)
			}
		}
	}
}

// A package compiles and links only kernels that it calls: those of the index are for spatial, those of bodies in the plane
// for physics, those of bodies in space for physics3, and those of the broad phase for both of these.
func TestKernelsStayApart(t *testing.T) {
	users := map[string][]string{
		"csrc/broad":      {"internal/broad", "physics", "physics3"},
		"csrc/neighbours": {"internal/neighbours", "spatial"},
		"csrc/rigid":      {"internal/rigid", "physics"},
		"csrc/space":      {"internal/rigid3", "physics3"},
	}
	alone := []string{"csrc", "native", "internal/broad", "internal/neighbours", "ecs", "spatial", "physics", "physics3"}
	for _, p := range packages(t) {
		rel, _ := inModule(p.ImportPath)
		if !slices.Contains(alone, rel) {
			continue
		}
		for kernels, of := range users { // order-free: reports each
			if slices.Contains(p.Deps, module+"/"+kernels) && !slices.Contains(of, rel) {
				t.Errorf("%s depends on %s", p.ImportPath, kernels)
			}
		}
	}
}

// The build cache sees only the files of a package's own folder, and go mod vendor copies only folders of packages. So C
// code includes no file of another folder, but for headers that the package there embeds, together with those that they
// include; and the package that includes them imports that one. Compilers disagree about anything but ASCII.
func TestCSources(t *testing.T) {
	include := regexp.MustCompile(`#include "([^"]*)"`)
	embedded := func(header string) bool {
		files, _ := filepath.Glob(filepath.Join(filepath.Dir(header), "*.go"))
		return slices.ContainsFunc(files, func(name string) bool {
			return strings.Contains(readText(t, name), "//go:embed "+filepath.Base(header)+"\n")
		})
	}
	imports := func(dir, other string) bool {
		files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		return slices.ContainsFunc(files, func(name string) bool {
			return strings.Contains(readText(t, name), `"`+module+"/"+filepath.ToSlash(other)+`"`)
		})
	}
	var check func(dir, path string, seen map[string]bool)
	check = func(dir, path string, seen map[string]bool) { // what path includes, for the package in dir
		for _, m := range include.FindAllStringSubmatch(readText(t, path), -1) {
			header := filepath.Join(filepath.Dir(path), m[1])
			if seen[header] {
				continue
			}
			seen[header] = true
			if other := filepath.Dir(header); other != dir && !embedded(header) {
				t.Errorf("%s includes %s, which the package in %s does not embed", path, m[1], other)
			} else if other != dir && !imports(dir, other) {
				t.Errorf("%s includes %s, but %s does not import the package in %s", path, m[1], dir, other)
			}
			check(dir, header, seen)
		}
	}
	sources := 0
	err := filepath.WalkDir("csrc", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		check(filepath.Dir(path), path, map[string]bool{})
		if strings.HasSuffix(path, ".c") || strings.HasSuffix(path, ".h") {
			sources++
			for n, line := range strings.Split(readText(t, path), "\n") {
				if i := strings.IndexFunc(line, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }); i >= 0 {
					t.Errorf("%s:%d: byte %#x at column %d", path, n+1, line[i], i+1)
				}
			}
		}
		return nil
	})
	if err != nil || sources == 0 {
		t.Fatalf("%d C files in csrc, %v", sources, err)
	}
}

// A function with more than eight parameters takes structs: nobody reads twenty in a row, and those beyond six go
// through memory anyway.
func TestParametersOfKernels(t *testing.T) {
	const most = 8
	var headers, faces []string
	for _, dir := range []string{"csrc", "csrc/broad", "csrc/neighbours", "csrc/rigid", "csrc/space"} {
		h, _ := filepath.Glob(dir + "/*.h")
		g, _ := filepath.Glob(dir + "/face/*.go")
		if len(h) == 0 || len(g) == 0 {
			t.Fatalf("%s: %d headers, %d Go files", dir, len(h), len(g))
		}
		headers, faces = append(headers, h...), append(faces, g...)
	}
	declaration := regexp.MustCompile(`(?m)^\w[\w *]*\b(et_\w+)\(([^()]*)\);`)
	for _, path := range headers {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declaration.FindAllSubmatch(text, -1) {
			if n := bytes.Count(m[2], []byte(",")) + 1; n > most {
				t.Errorf("%s: %s has %d parameters", path, m[1], n)
			}
		}
	}
	for _, path := range faces {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Type.Params.NumFields() > most {
				t.Errorf("%s: %s has %d parameters", path, f.Name.Name, f.Type.Params.NumFields())
			}
		}
	}
}

// A machine flag for a whole package reaches the wrappers that cgo generates,
// and an older CPU dies in them before the level is chosen.
func TestNoMachineFlags(t *testing.T) {
	flags := regexp.MustCompile(`#cgo\s.*?\b\w*FLAGS:(.*)`)
	machine := regexp.MustCompile(`(^|\s)-(m\w|target\b)\S*`)
	for _, p := range packages(t) {
		for _, name := range p.CgoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range flags.FindAllSubmatch(text, -1) {
				if f := machine.Find(m[1]); f != nil {
					t.Errorf("%s/%s: machine flag %s in #cgo", p.ImportPath, name, bytes.TrimSpace(f))
				}
			}
		}
	}
}

// The README is read before anything else, so its length has a bound; nothing else has kept it.
func TestWordsOfReadme(t *testing.T) {
	const most = 950
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Skip("not run: there is no README.md")
	}
	if n := len(strings.Fields(string(readme))); n > most {
		t.Errorf("README.md has %d words, more than %d", n, most)
	}
}

// The first Go block of README.md is Example_readme of example_test.go, which the tests run, as
// the function main of a program, with the imports that it needs and without the expected output.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("not run: there is no README.md")
	} else if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindSubmatch(readme)
	if block == nil {
		t.Fatal("README.md has no Go block")
	}
	examples := readText(t, "example_test.go")
	example := regexp.MustCompile(`(?ms)^func Example_readme\(\) \{\n.*?^\}\n`).FindString(examples)
	output := regexp.MustCompile(`(?m)\n*^\t// (Unordered o|O)utput:.*\n(\t//.*\n)*`)
	if !output.MatchString(example) {
		t.Error("Example_readme has no output comment, so it would not be run")
	}
	want := "package main\n\nimport (\n"
	for _, m := range regexp.MustCompile(`(?m)^\t"(?:[\w.-]+/)*(\w+)"$`).FindAllStringSubmatch(examples, -1) {
		if regexp.MustCompile(`\b` + m[1] + `\.`).MatchString(example) {
			want += m[0] + "\n"
		}
	}
	want += ")\n\n" + strings.Replace(output.ReplaceAllString(example, "\n"), "func Example_readme() {", "func main() {", 1)
	if got := string(block[1]); got != want {
		t.Errorf("the first program of README.md differs from Example_readme; it should be\n%s", want)
	}
}

var (
	gateLine = regexp.MustCompile(`(?m)^.*\b(?:gate|alone) \w+ +make ([\w-]+)(.*)$`) // of .ci/run
	rungLine = regexp.MustCompile("(?m)^\\| \\d \\| `make ([^`]+)` \\|.*\\| (.*) \\|$")
	makeLine = regexp.MustCompile("(?:`|run: )make ([a-z][a-z0-9-]*)")
	target   = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
)

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The ladder of CONTRIBUTING.md has the checks of .ci/run, all of them and no others, and says
// which of them make ci runs smaller than make ci-full.
func TestLadder(t *testing.T) {
	const all = "all"
	run, contributing := readText(t, ".ci/run"), readText(t, "CONTRIBUTING.md")
	smaller := map[string]bool{}
	for _, g := range gateLine.FindAllStringSubmatch(run, -1) {
		smaller[g[1]] = strings.Contains(g[2], "$short") || strings.HasPrefix(g[0], "[[ ! $full ]]")
	}
	if len(smaller) == 0 {
		t.Fatal("no check found in .ci/run")
	}
	rungs := map[string]bool{}
	for _, r := range rungLine.FindAllStringSubmatch(contributing, -1) {
		for check := range strings.FieldsSeq(r[1]) {
			rungs[check] = true
			less, ok := smaller[check]
			if !ok {
				t.Errorf("the ladder of CONTRIBUTING.md has make %s, .ci/run has not", check)
			} else if less != (r[2] != all) {
				t.Errorf("make %s: CONTRIBUTING.md says that make ci runs %q; smaller than make ci-full by .ci/run: %t", check, r[2], less)
			}
		}
	}
	for check := range smaller {
		if !rungs[check] {
			t.Errorf(".ci/run has make %s, the ladder of CONTRIBUTING.md has not", check)
		}
	}
}

// What CI and CONTRIBUTING.md make is a target of the Makefile.
func TestMakeTargets(t *testing.T) {
	targets := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(readText(t, "Makefile"), -1) {
		targets[m[1]] = true
	}
	for name, line := range map[string]*regexp.Regexp{".ci/run": gateLine, "CONTRIBUTING.md": makeLine, ".github/workflows/ci.yml": makeLine} {
		made := line.FindAllStringSubmatch(readText(t, name), -1)
		if len(made) == 0 {
			t.Errorf("no make found in %s", name)
		}
		for _, m := range made {
			if !targets[m[1]] {
				t.Errorf("%s: make %s: the Makefile has no such target", name, m[1])
			}
		}
	}
}
