package gate

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// released are the folders of the modules that others import; the main module requires none of the others.
	released = []string{".", "skill/mcp", "causal/otel", "worldlog/jetstream", "replay/search/natswork"}
	// unreleased are those that nobody imports.
	unreleased = []string{"examples", "internal/browser", "internal/proof/wasi"}

	goDirective = regexp.MustCompile(`(?m)^go (\d+\.\d+)\.\d+$`)
	requireMain = regexp.MustCompile(`(?m)^\t` + module + ` (v\S+)$`)
)

// text is a file of the checkout.
func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repo(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A replace directive has no effect for importers: they would look for a version that was never there. All modules
// require one version of the main module, and the go.work of each replaces that version by the checkout.
func TestModules(t *testing.T) {
	var found []string
	err := fs.WalkDir(os.DirFS(repo(t)), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "go.mod" {
			found = append(found, path.Dir(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Sorted(slices.Values(slices.Concat(released, unreleased)))
	if slices.Sort(found); !slices.Equal(found, known) {
		t.Errorf("the modules are %q; known are %q", found, known)
	}
	version := ""
	for _, dir := range released {
		mod := text(t, dir+"/go.mod")
		name := strings.TrimSuffix(module+"/"+dir, "/.")
		if !strings.HasPrefix(mod, "module "+name+"\n") {
			t.Errorf("%s/go.mod is not of the module %s", dir, name)
		}
		if strings.Contains(mod, "replace") {
			t.Errorf("%s/go.mod has a replace directive", dir)
		}
		if dir == "." {
			continue
		}
		m := requireMain.FindStringSubmatch(mod)
		if m == nil {
			t.Fatalf("%s/go.mod does not require %s", dir, module)
		}
		if version == "" {
			version = m[1]
		}
		if m[1] != version {
			t.Errorf("%s requires %s, %s requires %s", dir, m[1], released[1], version)
		}
		up := strings.Repeat("../", strings.Count(dir, "/")) + ".."
		work := text(t, dir+"/go.work")
		for _, want := range []string{"\t.\n\t" + up + "\n", "replace " + module + " " + version + " => " + up + " "} {
			if !strings.Contains(work, want) {
				t.Errorf("%s/go.work lacks %q", dir, want)
			}
		}
		if got, want := goDirective.FindString(work), goDirective.FindString(mod); got == "" || got != want {
			t.Errorf("%s/go.work has %q, its go.mod has %q", dir, got, want)
		}
	}
}

// README.md and docs/architecture.md name the Go that go.mod requires.
func TestModulesGoVersion(t *testing.T) {
	docs := text(t, "docs/architecture.md")
	for _, dir := range released {
		m := goDirective.FindStringSubmatch(text(t, dir+"/go.mod"))
		if m == nil {
			t.Fatalf("%s/go.mod has no go directive with three numbers", dir)
		}
		row := "| `" + strings.TrimSuffix(module+"/"+dir, "/.") + "` | Go " + m[1] + " |\n"
		if !strings.Contains(docs, row) {
			t.Errorf("docs/architecture.md lacks the row %q", row)
		}
		if want := "They need Go " + m[1] + " "; dir == "." && !strings.Contains(text(t, "README.md"), want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
}

// A tag of an action can be moved to other code, a hash cannot.
func TestActionsPinned(t *testing.T) {
	pinned := regexp.MustCompile(`^\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	uses := regexp.MustCompile(`(?m)\buses: (.*)$`).FindAllStringSubmatch(text(t, ".github/workflows/ci.yml"), -1)
	if len(uses) == 0 {
		t.Fatal("no action found in ci.yml")
	}
	for _, u := range uses {
		if !pinned.MatchString(u[1]) {
			t.Errorf("ci.yml: %s is not a full hash with its version", u[1])
		}
	}
}
