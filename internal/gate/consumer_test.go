package gate

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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
	fmt.Println("hits", len(out.Slots), "sum", sum, "entities", entities(), "bodies", bodies.Hash())
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
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err == nil && strings.TrimSpace(string(out)) == "1" {
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
		if testing.Short() {
			cgo = cgo[:1] // with cgo all kernels would be built again
		}
		both(t, "vendor")
		for _, dir := range []string{"", "rigid"} {
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
		edited("lanes.h", "#define V(name)", "#ifdef EVERTICK_RIGID_H\n#error edited for rigid\n#endif\n#define V(name)", "edited for rigid")
	})
}

// consumer is a module that requires this one from a file proxy. It has a
// module cache of its own, which finds everything else in the host's cache.
type consumer struct{ dir, proxy, cache string }

func newConsumer(t *testing.T) *consumer {
	root := t.TempDir()
	c := &consumer{filepath.Join(root, "consumer"), filepath.Join(root, "proxy"), filepath.Join(root, "cache")}
	version := c.publish(t)
	sums, err := os.ReadFile(filepath.Join(repo(t), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"go.mod":  "module consumer.example/app\n\ngo 1.25.0\n",
		"go.sum":  string(sums), // what this module was tested with
		"main.go": consumerMain,
		"ecs.go":  consumerECS,
	}
	if !hasGo(filepath.Join(repo(t), "ecs")) {
		files["ecs.go"] = "package main\n\nfunc entities() int { return 0 }\n"
	}
	write(t, c.dir, files)
	c.run(t, nil, "go", "get", module+"@"+version)
	c.run(t, nil, "go", "get", ".") // names the modules of the packages that main imports
	return c
}

// publish lays the working tree out as a proxy serves a version of it.
func (c *consumer) publish(t *testing.T) string {
	content := map[string][]byte{}
	var names []string
	dir := repo(t)
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
	sum := sha256.New()
	for _, n := range names {
		fmt.Fprintf(sum, "%s %d\n", n, len(content[n]))
		sum.Write(content[n])
	}
	version := fmt.Sprintf("v0.0.0-20060102150405-%.6x", sum.Sum(nil))

	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, n := range names {
		w, err := z.Create(module + "@" + version + "/" + n)
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
	write(t, filepath.Join(c.proxy, module, "@v"), map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2006-01-02T15:04:05Z"}`, version),
		version + ".mod":  string(content["go.mod"]),
		version + ".zip":  archive.String(),
	})
	return version
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
