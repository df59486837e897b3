package gate

import (
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fusedGo are the fused multiply-adds of the Go assembler on amd64 and arm64.
var (
	fusedGo  = regexp.MustCompile(`\((\S+:\d+)\)\t(V?FN?M(?:ADD|SUB)\w*)\t`)
	headerGo = regexp.MustCompile(`(?m)^# (\S+)$`)
)

// targets on which the Go compiler fuses. GOAMD64=v3 is listed with cgo as
// well, for the files that only exist then.
var targets = []struct {
	name string
	env  []string
	cgo  bool
}{
	{"arm64", []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}, false},
	{"amd64-v3", []string{"GOOS=linux", "GOARCH=amd64", "GOAMD64=v3", "CGO_ENABLED=0"}, false},
	{"amd64-v3-cgo", []string{"GOARCH=amd64", "GOAMD64=v3", "CGO_ENABLED=1"}, true},
}

// genericOnly are packages all of whose functions have type parameters. They are listed in the packages that use them.
var genericOnly = []string{module + "/internal/state", module + "/internal/batch"}

func TestGoListing(t *testing.T) {
	needGate(t)
	// The scenes of bench hold the golden hashes, so their arithmetic counts.
	pkgs := append(core(t), module+"/bench/internal/command", module+"/internal/proof")
	withCgo := []string{module + "/native", module + "/internal/broad", module + "/internal/neighbours", module + "/internal/rigid", module + "/internal/rigid3"} // the others are the same as without
	for _, target := range targets {
		t.Run(target.name, func(t *testing.T) {
			if testing.Short() && target.name != "arm64" {
				t.Skip("no file is compiled for GOAMD64=v3 alone but the few with cgo, and arm64 fuses all that v3 does: -short")
			}
			if target.cgo {
				if runtime.GOARCH != "amd64" {
					t.Skip("not run: listing of the cgo files for GOAMD64=v3: the host is not amd64")
				}
				needCC(t, "amd64")
				pkgs = withCgo
			}
			faults, err := listGo(repo(t), target.env, pkgs)
			if err != nil {
				t.Fatal(err)
			}
			report(t, faults)
			t.Logf("%d packages listed", len(pkgs))
		})
	}
}

// listGo compiles packages with an assembly listing and returns a fault for
// each fused instruction. The go command repeats the listing of a package whose
// build it has cached; a package without one is an error all the same.
func listGo(dir string, env, pkgs []string) ([]string, error) {
	out, err := run(dir, env, "go", append([]string{"build", "-gcflags=-S"}, pkgs...)...)
	if err != nil {
		// Again without the listing, which buries the message of a build that fails.
		if _, plain := run(dir, env, "go", append([]string{"build"}, pkgs...)...); plain != nil {
			err = plain
		}
		return nil, err
	}
	functions := map[string]int{}
	headers := headerGo.FindAllStringSubmatchIndex(out, -1)
	for i, h := range headers {
		end := len(out)
		if i+1 < len(headers) {
			end = headers[i+1][0]
		}
		functions[out[h[2]:h[3]]] += strings.Count(out[h[1]:end], " STEXT ")
	}
	for _, p := range pkgs {
		if functions[p] == 0 && !slices.Contains(genericOnly, p) {
			return nil, fmt.Errorf("%s: package %s has no function in the listing", strings.Join(env, " "), p)
		}
	}
	var faults []string
	for _, m := range fusedGo.FindAllStringSubmatch(out, -1) {
		faults = append(faults, fmt.Sprintf("%s: %s: wrap the product: float32(x*y) + z", m[1], m[2]))
	}
	return faults, nil
}

func TestGoListingTeeth(t *testing.T) {
	needGate(t)
	const product = "package mutant\n\nfunc MulAdd(x, y, z float32) float32 { return %s }\n"
	for _, target := range targets {
		if target.cgo {
			continue
		}
		t.Run(target.name, func(t *testing.T) {
			list := func(expr string) ([]string, error) {
				dir := t.TempDir()
				write(t, dir, map[string]string{
					"go.mod":    "module mutant\n\ngo 1.25\n",
					"mutant.go": fmt.Sprintf(product, expr),
				})
				return listGo(dir, target.env, []string{"mutant"})
			}
			fuses := []string{"x*y + z"}
			if target.name == "arm64" { // v3 has no rule for differences
				fuses = append(fuses, "z - x*y", "x*y - z", "-(x*y) - z")
			}
			for _, expr := range fuses {
				faults, err := list(expr)
				if err != nil {
					t.Fatal(err)
				}
				bites(t, faults, "mutant.go:3")
			}
			if faults, err := list("float32(x*y) + z"); err != nil || len(faults) > 0 {
				t.Errorf("a wrapped product is refused: %q, %v", faults, err)
			}
			if _, err := list("x *"); err == nil {
				t.Error("a build that fails passes the gate")
			}
		})
	}
	t.Run("nothing-listed", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"go.mod": "module mutant\n\ngo 1.25\n", "mutant.go": "package mutant\n"})
		if _, err := listGo(dir, targets[0].env, []string{"mutant"}); err == nil {
			t.Error("an empty listing passes the gate")
		}
	})
}

// needCC skips the test unless the C compiler that cgo would call is there.
func needCC(t *testing.T, goarch string) string {
	t.Helper()
	if goarch != runtime.GOARCH {
		return needTool(t, false, gnuTool(goarch, "gcc"))
	}
	out, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Fatal(err)
	}
	return needTool(t, false, strings.Fields(string(out))[0])
}

// gnuTool names a cross tool as Debian does.
func gnuTool(goarch, tool string) string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[goarch] + "-linux-gnu-" + tool
}
