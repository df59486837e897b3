package guide_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every exported name that a page mentions is one of this module, or of its examples.
func TestNames(t *testing.T) {
	needExamples(t)
	known := map[string]bool{}
	for _, folder := range []string{".", "ecs", "native", "spatial", "physics", "physics3", "space", "physics3/rig", "physics/svg", "physics/raster", "loop", "replay", "replay/search", "replay/search/natswork", "worldlog", "agent", "agent/httpagent",
		"replica", "replica/ws", "host", "worldlog/jetstream", "skill", "causal", "train", "train/worlds", "train/clib", "bench/profile", "inspect", "inspect/twin",
		"examples/viewer", "examples/viewer/scene", "examples/server", "examples/server/bumper"} {
		declared(t, filepath.Join("../..", folder), known)
	}
	for _, m := range regexp.MustCompile(`(?m)^    "(\w+)",$`).FindAllStringSubmatch(read(t, "../../train/python/evertick/__init__.py"), -1) {
		known[m[1]] = true // of the Python package
	}
	// Words of systemd, Go, Kubernetes, Agones and of file names.
	foreign := regexp.MustCompile(`^(AllowedCPUs=|CGO_ENABLED=0|EVERTICK_LEVEL=go|GOMAXPROCS|GameServer|Ready|Health|ReadWriteOncePod|DURABLE|LOCK|\*\.cut)$`)
	code := regexp.MustCompile("`([^`\n]+)`")
	name := regexp.MustCompile(`(?:\b([A-Za-z]\w*)\.)?\b([A-Z]\w*)\b`)
	blocks := regexp.MustCompile("(?s)```.*?```")
	for _, page := range append(pages(t), "../operations.md") {
		seen := 0
		for _, quoted := range code.FindAllStringSubmatch(blocks.ReplaceAllString(read(t, page), ""), -1) {
			if foreign.MatchString(quoted[1]) {
				continue
			}
			for _, m := range name.FindAllStringSubmatch(quoted[1], -1) {
				if m[1] == "ebiten" || strings.HasPrefix(quoted[1], "gymnasium.") || strings.HasPrefix(quoted[1], "pettingzoo.") || strings.Contains(quoted[1], "/") && !strings.Contains(quoted[1], "(") {
					continue
				}
				seen++
				if !known[m[2]] || m[1] != "" && !known[m[1]] {
					t.Errorf("%s: there is no %s", page, m[0])
				}
			}
		}
		if seen == 0 {
			t.Errorf("%s mentions no name", page)
		}
	}
}

// declared adds what the files of a folder declare: exported names, and that of the package.
func declared(t *testing.T, folder string, known map[string]bool) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		known[file.Name.Name] = true
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				known[n.Name.Name] = true
				return false // the names within are local
			case *ast.TypeSpec:
				known[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					known[id.Name] = true
				}
			case *ast.Field:
				for _, id := range n.Names {
					known[id.Name] = true
				}
			}
			return true
		})
	}
}
