package guide_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The commands of environments.md, in an empty folder, with the two files of the page: the return rises.
// The module is this checkout, not a download.
func TestEnvironment(t *testing.T) {
	if os.Getenv("EVERTICK_CAPI") == "" {
		t.Skip("needs EVERTICK_CAPI=1, as make python sets it")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, name := range []string{"main.go", "learn.py"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(read(t, "testdata/environment/"+name)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const module, get = "github.com/evertick/evertick", "go get github.com/evertick/evertick\n"
	script := "set -e\n"
	for _, m := range block.FindAllStringSubmatch(read(t, "environments.md"), -1) {
		if m[1] == "shell" {
			script += m[4]
		}
	}
	if strings.Count(script, get) != 1 {
		t.Fatalf("the page does not say %q once", get)
	}
	// Under the paths of the workspace the kernels have been built. Under those of the replacement, which go mod tidy needs, they
	// would be compiled again.
	script = strings.Replace(script, get, "go mod edit -require="+module+"@v0.0.0 -replace="+module+"="+root+"\ncp "+filepath.Join(root, "go.sum")+" .\n"+
		"go work init . "+root+"\n", 1)
	script = strings.Replace(script, "python3 ", numpy(t)+" -B ", 1)
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOWORK=")
	if testing.Short() { // without kernels in C, for which gcc takes a minute
		cmd.Env = append(cmd.Env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -tags=purego")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var returns []float64
	for _, m := range regexp.MustCompile(`mean return ([\d.]+)`).FindAllSubmatch(out, -1) {
		v, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		returns = append(returns, v)
	}
	if n := len(returns); n != 6 || returns[0] >= 110 || returns[n-1] <= 170 {
		t.Errorf("the returns are %v\n%s", returns, out)
	}
}

// numpy returns a Python that has NumPy.
func numpy(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	t.Skip("not run: the page on environments: there is no python3 with numpy")
	return ""
}
