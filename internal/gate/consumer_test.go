package gate

import (
	"archive/zip"
	"bytes"
	"fmt"
	"go/version"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// consumerMain prints the level line and then a line that must not depend on
// how the program was built.
const consumerMain = `package main

import (
	"fmt"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/spatial"
)

func main() {
	const n = 1000
	x, y, z, slots := make([]float32, n), make([]float32, n), make([]float32, n), make([]uint32, n)
	for i := range n {
		x[i], y[i], z[i], slots[i] = float32(i*37%101), float32(i*53%103), float32(i*71%107), uint32(i)
	}
	index, err := spatial.New(spatial.Config{})
	must(err)
	must(index.Build(x, y, z, slots))
	var out spatial.Result
	must(index.Radius(&spatial.Queries{X: x[:99], Y: y[:99], Z: z[:99], Radius: z[99:198]}, &out))
	var sum uint64
	for i, s := range out.Slots {
		sum = sum*31 + uint64(s)*uint64(i+1)
	}
	fmt.Println(native.Info())
	bodies, err := physics.New(physics.Config{})
	must(err)
	must(bodies.Step(1.0 / 60))
	solids, err := physics3.New(physics3.Config{Capacity: 10})
	must(err)
	must(solids.Step(1.0 / 60))
	fmt.Println("hits", len(out.Slots), "sum", sum, "entities", entities(), "bodies", bodies.Hash(), solids.Hash())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
`

const consumerECS = `package main

import "github.com/evertick/evertick/ecs"

func entities() int {
	w, err := ecs.New(ecs.Config{Capacity: 100})
	must(err)
	must(w.SpawnN(make([]ecs.ID, 42)))
	return w.Len()
}
`

// TestConsumer does what a user of the module does: fetch it from a proxy,
// build, vendor, build again. The order of the parts matters.
func TestConsumer(t *testing.T) {
	needGate(t)
	c := newConsumer(t)
	cgo := []string{"0"}
	if testing.Short() {
		t.Log("without cgo: -short") // all kernels would be built again, for another path
	} else if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err == nil && strings.TrimSpace(string(out)) == "1" {
		cgo = append(cgo, "1")
	} else {
		t.Log("not run: the consumer with cgo: no C compiler")
	}
	var want string
	both := func(t *testing.T, mod string) {
		for _, on := range cgo {
			level, sum := c.output(t, mod, on)
			t.Logf("CGO_ENABLED=%s: %s; %s", on, level, sum)
			if withC := strings.Contains(level, "kernels built by"); withC != (on == "1") {
				t.Errorf("CGO_ENABLED=%s runs %s", on, level)
			}
			if want == "" {
				want = sum
			}
			if sum != want {
				t.Errorf("CGO_ENABLED=%s, -mod=%s prints %q, want %q", on, mod, sum, want)
			}
		}
	}
	t.Run("direct", func(t *testing.T) { both(t, "readonly") })

	c.run(t, nil, "go", "mod", "vendor")
	vendored := filepath.Join(c.dir, "vendor", module, "csrc")
	t.Run("vendored", func(t *testing.T) {
		both(t, "vendor")
		for _, dir := range []string{"", "broad", "neighbours", "rigid", "space"} {
			sources, _ := filepath.Glob(filepath.Join(repo(t), "csrc", dir, "*.[chS]"))
			if len(sources) == 0 {
				t.Errorf("csrc/%s has no C files", dir)
			}
			for _, s := range sources {
				if _, err := os.Stat(filepath.Join(vendored, dir, filepath.Base(s))); err != nil {
					t.Error("go mod vendor left out a C file:", err)
				}
			}
		}
	})
	// The build cache must see an edit of a file that only C includes, also from another folder.
	t.Run("edit", func(t *testing.T) {
		if testing.Short() {
			t.Skip("an edit of vendored C files: -short")
		}
		if len(cgo) < 2 {
			t.Skip("not run: the edit of vendored C files: no C compiler")
		}
		for _, name := range []string{"gcc ", "clang "} {
			edit(t, filepath.Join(vendored, "compiler.c"), `"`+name, `"edited `+name)
		}
		if level, _ := c.output(t, "vendor", "1"); !strings.Contains(level, "edited") {
			t.Errorf("an edited .c file was not rebuilt: %s", level)
		}
		edited := func(file, old, new, where string) {
			edit(t, filepath.Join(vendored, file), old, new)
			if out, err := run(c.dir, c.env("vendor", "1"), "go", "build", "-o", os.DevNull, "."); err == nil || !strings.Contains(out, where) {
				t.Errorf("an edited .h file was not rebuilt: %v", err)
			}
			edit(t, filepath.Join(vendored, file), new, old)
		}
		edited("base.h", "#include <stddef.h>", "#error edited header", "edited header")
		edited("stream.h", "#include \"evertick.h\"", "#include \"evertick.h\"\n#ifndef LEVEL\n#error edited for the face\n#endif", "edited for the face")
		edited("lanes.h", "#define V(name)", "#ifdef EVERTICK_RIGID_H\n#error edited for rigid\n#endif\n#define V(name)", "edited for rigid")
	})
}

// consumer is a module that requires this one from a file proxy. It has a
// module cache of its own, which finds everything else in the host's cache.
type consumer struct{ dir, proxy, cache, version string }

func newConsumer(t *testing.T) *consumer {
	root := t.TempDir()
	c := &consumer{filepath.Join(root, "consumer"), filepath.Join(root, "proxy"), filepath.Join(root, "cache"), ""}
	c.version = required(t)
	c.publish(t, ".")
	files := map[string]string{
		"go.mod":  consumerMod,
		"go.sum":  readSums(t, "."), // what this module was tested with
		"main.go": consumerMain,
		"ecs.go":  consumerECS,
	}
	if !hasGo(filepath.Join(repo(t), "ecs")) {
		files["ecs.go"] = "package main\n\nfunc entities() int { return 0 }\n"
	}
	write(t, c.dir, files)
	c.run(t, nil, "go", "get", module+"@"+c.version)
	c.run(t, nil, "go", "get", ".") // names the modules of the packages that main imports
	return c
}

const consumerMod = "module consumer.example/app\n\ngo 1.25.0\n"

// apart are the folders of the other modules that are released, and what the consumer imports of each.
var apart = []struct {
	folder   string
	packages []string
}{
	{"skill/mcp", []string{"skill/mcp", "skill/mcp/cmd/evertick-mcp"}},
	{"causal/otel", []string{"causal/otel"}},
	{"worldlog/jetstream", []string{"worldlog/jetstream"}},
	{"replay/search/natswork", []string{"replay/search/natswork"}},
}

// TestConsumerModules gets the other modules by their names alone. Each brings the main module along in its version.
func TestConsumerModules(t *testing.T) {
	needGate(t)
	root := t.TempDir()
	c := &consumer{proxy: filepath.Join(root, "proxy"), cache: filepath.Join(root, "cache"), version: required(t)}
	c.publish(t, ".")
	for _, m := range apart {
		c.publish(t, m.folder)
	}
	versions := []string{strings.Fields(runtime.Version())[0]}
	if testing.Short() {
		t.Log("with the Go of this test alone: -short")
	} else {
		versions = append(versions, goVersion(t, "."))
		c.dir = root
		if out, err := run(c.dir, c.env("mod", "0"), "go", "list", "-m", "-f", "{{.Version}}", "go@latest"); err == nil {
			versions = append(versions, "go"+strings.TrimSpace(out))
		} else {
			t.Logf("not run: a consumer with the newest Go: no proxy lists its versions: %v", err)
		}
	}
	for i, v := range versions {
		t.Run(v, func(t *testing.T) {
			c := *c
			c.dir = filepath.Join(root, v)
			toolchain := "GOTOOLCHAIN=" + v
			if i == 0 {
				toolchain = "GOTOOLCHAIN=local" // it may be a build that no proxy has
			}
			var get, build []string
			sums := readSums(t, ".")
			for _, m := range apart {
				if needs := goVersion(t, m.folder); version.Compare(v, needs) < 0 {
					t.Logf("%s needs %s", m.folder, needs)
					continue
				}
				sums += readSums(t, m.folder)
				get = append(get, module+"/"+m.folder)
				for _, p := range m.packages {
					build = append(build, module+"/"+p)
				}
			}
			blank := "package main\n\nimport (\n"
			for _, p := range build {
				if !strings.Contains(p, "/cmd/") {
					blank += fmt.Sprintf("\t_ %q\n", p)
				}
			}
			write(t, c.dir, map[string]string{
				"go.mod": consumerMod, "go.sum": sums, "main.go": consumerMain, "ecs.go": consumerECS, "apart.go": blank + ")\n",
				"tools.go": "//go:build tools\n\npackage main\n\nimport _ \"" + module + "/skill/mcp/cmd/evertick-mcp\"\n", // for vendor
			})
			env := func(mod string) []string { return append(c.env(mod, "0"), toolchain) }
			if out, err := run(c.dir, env("mod"), "go", "version"); i > 0 && err != nil {
				t.Skipf("not run: a consumer with %s: it cannot be downloaded: %v", v, err)
			} else if err != nil || !strings.Contains(out, v+" ") {
				t.Fatalf("%s, %v; want %s", out, err, v)
			}
			c.run(t, env("mod"), "go", append([]string{"get"}, get...)...)
			mod, err := os.ReadFile(filepath.Join(c.dir, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range append(get, module) {
				if !strings.Contains(string(mod), name+" "+c.version) {
					t.Errorf("go.mod does not require %s %s:\n%s", name, c.version, mod)
				}
			}
			c.run(t, env("readonly"), "go", append([]string{"build", "-o", t.TempDir(), "."}, build...)...)
			c.run(t, env("mod"), "go", "mod", "vendor")
			c.run(t, env("vendor"), "go", append([]string{"build", "-o", t.TempDir(), "."}, build...)...)
			t.Log("gets, builds, vendors and builds again", get)
		})
	}
}

// required returns the version of the main module that the others require.
func required(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(module + ` (v\S+)`).FindStringSubmatch(readText(t, apart[0].folder+"/go.mod"))
	if m == nil {
		t.Fatalf("%s/go.mod does not require %s", apart[0].folder, module)
	}
	return m[1]
}

// goVersion returns the Go that the module of a folder needs, such as go1.25.0.
func goVersion(t *testing.T, folder string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(readText(t, folder+"/go.mod"))
	if m == nil {
		t.Fatalf("%s/go.mod says no version of Go", folder)
	}
	return "go" + m[1]
}

func readSums(t *testing.T, folder string) string {
	t.Helper()
	return readText(t, folder+"/go.sum")
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repo(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// publish lays the module in a folder of the working tree out as a proxy serves the version of it.
func (c *consumer) publish(t *testing.T, folder string) {
	content := map[string][]byte{}
	var names []string
	dir := filepath.Join(repo(t), filepath.FromSlash(folder))
	path := strings.TrimSuffix(module+"/"+folder, "/.")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			_, errMod := os.Stat(filepath.Join(path, "go.mod"))
			if rel != "." && (errMod == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "vendor") {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		name := filepath.ToSlash(rel)
		names = append(names, name) // WalkDir is in lexical order
		content[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, n := range names {
		w, err := z.Create(path + "@" + c.version + "/" + n)
		if err == nil {
			_, err = io.Copy(w, bytes.NewReader(content[n]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(c.proxy, path, "@v"), map[string]string{
		"list":              c.version + "\n",
		c.version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2006-01-02T15:04:05Z"}`, c.version),
		c.version + ".mod":  string(content["go.mod"]),
		c.version + ".zip":  archive.String(),
	})
}

func (c *consumer) env(mod, cgo string) []string {
	host, _ := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	lines := strings.Split(strings.TrimSpace(string(host)), "\n")
	proxies := []string{fileURL(c.proxy), fileURL(filepath.Join(lines[0], "cache", "download"))}
	env := []string{
		"GOPROXY=" + strings.Join(append(proxies, lines[1:]...), ","),
		"GOMODCACHE=" + c.cache,
		"GOFLAGS=-modcacherw -trimpath -mod=" + mod, // trimmed, the kernels in vendor are those in the module cache, built once
		"GONOPROXY=none", "GONOSUMDB=" + module, "GOWORK=off",
	}
	if cgo != "" {
		env = append(env, "CGO_ENABLED="+cgo)
	}
	return env
}

func fileURL(path string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(path), "/")
}

// run runs a command of the consumer that must succeed.
func (c *consumer) run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	if env == nil {
		env = c.env("mod", "")
	}
	out, err := run(c.dir, env, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// output builds and runs the consumer and returns its two lines.
func (c *consumer) output(t *testing.T, mod, cgo string) (level, sum string) {
	t.Helper()
	out := c.run(t, c.env(mod, cgo), "go", "run", ".")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 {
		t.Fatalf("the consumer prints %q", out)
	}
	return lines[0], lines[1]
}
