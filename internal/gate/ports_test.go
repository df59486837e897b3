package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ports are systems on which the module must compile, besides those for which other checks build all of it.
var ports = [...]string{"linux/amd64", "windows/amd64", "darwin/arm64", "js/wasm", "linux/arm64", "linux/s390x", "linux/386"}

// TestPorts type-checks all packages and their tests for each port, without cgo. It reads the source of the standard
// library as well, so that nothing has to be built for that port, which would take a minute each.
func TestPorts(t *testing.T) {
	needGate(t)
	needTool(t, true, "go")
	for _, port := range ports {
		t.Run(port, func(t *testing.T) {
			if testing.Short() && (port == "linux/arm64" || port == "linux/s390x") {
				t.Skip("without cgo the files are those of linux/amd64, and an int has as many bits: -short")
			}
			faults, n, err := typeCheck(repo(t), port)
			if err != nil {
				t.Fatal(err)
			}
			report(t, faults)
			if t.Logf("%d packages", n); n < 100 {
				t.Error("so few packages cannot be all")
			}
		})
	}
}

// typeCheck returns what the type checker finds in the packages of the module in dir and in their tests, for a port, and their number.
func typeCheck(dir, port string) (faults []string, n int, err error) {
	goos, goarch, _ := strings.Cut(port, "/")
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Name,Dir,GoFiles,Standard,ImportMap,Module", "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	var notes bytes.Buffer // such as that a module is downloaded
	cmd.Stderr = &notes
	out, err := cmd.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("go list for %s: %w\n%s", port, err, tail(notes.String()))
	}
	fset := token.NewFileSet()
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Name, Dir string
			GoFiles               []string
			Standard              bool
			ImportMap             map[string]string
			Module                *struct {
				Main      bool
				GoVersion string
			}
		}
		if err := dec.Decode(&p); err == io.EOF {
			return faults, n, nil
		} else if err != nil {
			return nil, 0, err
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the latter is the program that runs tests
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, 0, err
			}
			files = append(files, f)
		}
		ours := p.Module != nil && p.Module.Main
		conf := types.Config{Importer: imported{done, p.ImportMap}, IgnoreFuncBodies: !ours, Sizes: types.SizesFor("gc", goarch), Error: func(err error) {
			if ours {
				faults = append(faults, err.Error())
			}
		}}
		if ours {
			conf.GoVersion, n = "go"+p.Module.GoVersion, n+1
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		done[p.ImportPath], _ = conf.Check(path, fset, files, nil)
	}
}

// imported has the packages that were checked, by their names in go list, and what those are that a package imports.
type imported struct {
	done map[string]*types.Package
	of   map[string]string
}

func (i imported) Import(path string) (*types.Package, error) {
	if other, ok := i.of[path]; ok {
		path = other
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("not among the packages of this port")
}

// A package, its tests and files of one system with faults are refused for the port alone that has them.
func TestPortsTeeth(t *testing.T) {
	needGate(t)
	needTool(t, true, "go")
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":           "module example.com/p\n\ngo 1.25\n",
		"p.go":             "package p\n\nimport \"unsafe\"\n\nconst Word = unsafe.Sizeof(uintptr(0))\n",
		"p_windows.go":     "package p\n\nfunc broken() int { return \"\" }\n",
		"p_386.go":         "package p\n\nconst n int = 1 << 40\n",
		"p_test.go":        "package p\n\nconst inTest = 1\n",
		"x_darwin_test.go": "package p_test\n\nimport (\n\t\"os\"\n\n\t\"example.com/p\"\n)\n\nvar _ = p.Missing\n",
	})
	for port, want := range map[string][]string{
		"linux/amd64": nil, "windows/amd64": {"cannot use"}, "linux/386": {"overflows"}, "darwin/arm64": {`"os" imported and not used`, "undefined: p.Missing"},
	} {
		faults, n, err := typeCheck(dir, port)
		if err != nil {
			t.Fatal(err)
		}
		found := strings.Join(faults, "\n")
		for _, w := range want {
			if !strings.Contains(found, w) {
				t.Errorf("%s: no %q in %q", port, w, found)
			}
		}
		if n < 2 || (want == nil) != (found == "") {
			t.Errorf("%s: %d packages, %q", port, n, found)
		}
	}
}
