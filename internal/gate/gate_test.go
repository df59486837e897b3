package gate

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/evertick/evertick"

// seeds are the packages whose results must be the same bits everywhere. What
// they import from this module belongs to the core as well.
var seeds = []string{"", "native", "internal/netcode", "internal/broad", "internal/neighbours", "internal/rigid", "internal/rigid3", "ecs", "spatial", "physics", "physics3", "space", "loop", "train", "train/worlds", "internal/fault"}

// notCore: the packages of csrc have no Go arithmetic and are read as machine code; box2d is
// float64 of another module and makes no promise; worldlog writes down what has
// happened, and waits for the disk.
var notCore = map[string]bool{module + "/csrc": true, module + "/csrc/face": true, module + "/csrc/broad": true, module + "/csrc/broad/face": true, module + "/csrc/neighbours": true, module + "/csrc/neighbours/face": true, module + "/csrc/rigid": true, module + "/csrc/rigid/face": true,
	module + "/csrc/space": true, module + "/csrc/space/face": true,
	module + "/physics/box2d": true, module + "/worldlog": true}

// needGate skips a test that is too slow for every go test.
func needGate(t *testing.T) {
	t.Helper()
	if os.Getenv("EVERTICK_GATE") == "" {
		t.Skip("needs EVERTICK_GATE=1, as make gate and make consumer set it")
	}
}

// needTool returns the path of the first of the named programs that is there.
// Without any the test fails if the tool is required, else it is skipped.
func needTool(t *testing.T, required bool, names ...string) string {
	t.Helper()
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			return p
		}
	}
	why := fmt.Sprintf("not run: %s: %s is not installed", t.Name(), strings.Join(names, " or "))
	if required {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

// repo is the checkout.
func repo(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a program in dir with additions to the environment and returns
// stdout and stderr together; the error holds them too.
func run(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s %s: %w\n%s", strings.Join(env, " "), name, strings.Join(args, " "), err, tail(out.String()))
	}
	return out.String(), nil
}

// tail keeps an error message readable when a listing precedes it.
func tail(s string) string {
	const most = 4000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// core returns the import paths of the core packages.
func core(t *testing.T) []string {
	t.Helper()
	dir := repo(t)
	var present, missing []string
	for _, s := range seeds {
		if hasGo(filepath.Join(dir, s)) {
			present = append(present, "./"+s)
		} else {
			missing = append(missing, s)
		}
	}
	if present[0] == "./" && len(missing) > 0 {
		t.Fatalf("core packages without Go files: %q", missing)
	}
	out, err := run(dir, []string{"CGO_ENABLED=0"}, "go", append([]string{"list", "-deps"}, present...)...)
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []string
	for _, p := range strings.Fields(out) {
		if (p == module || strings.HasPrefix(p, module+"/")) && !notCore[p] {
			pkgs = append(pkgs, p)
		}
	}
	if len(pkgs) < len(present) {
		t.Fatalf("go list finds only %q", pkgs)
	}
	return pkgs
}

func hasGo(dir string) bool {
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, n := range names {
		if !strings.HasSuffix(n, "_test.go") {
			return true
		}
	}
	return false
}

// write puts files, given as name and content, into dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// report fails the test with one line per fault.
func report(t *testing.T, faults []string) {
	t.Helper()
	for _, f := range faults {
		t.Error(f)
	}
}

// bites fails the test unless some fault contains the text.
func bites(t *testing.T, faults []string, text string) {
	t.Helper()
	for _, f := range faults {
		if strings.Contains(f, text) {
			return
		}
	}
	t.Errorf("the gate let a mutant through: no fault with %q among %q", text, faults)
}
