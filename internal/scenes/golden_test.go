package scenes_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

const goldenHead = `# Hashes of the scenes of bodies: scene, n, seed, ticks, hash of the world. They hold on
# every architecture, on every level and in every build. Changing them needs a line under
# "Determinism" in CHANGELOG.md; regenerate with
#	go test ./internal/scenes -run TestGolden -update
`

// golden is a line of the file.
type golden struct {
	scene string
	n     int
	seed  uint64
	ticks int
	hash  uint64
}

func (g golden) String() string {
	return fmt.Sprintf("%s %d %d %d %016x", g.scene, g.n, g.seed, g.ticks, g.hash)
}

var goldenCases = []golden{
	{scene: "arena", n: 256, seed: 1, ticks: 300},
	{scene: "arena", n: 1000, seed: 2, ticks: 300},
	{scene: "tumbler", n: 300, seed: 1, ticks: 300},
	{scene: "pyramid", n: 20, seed: 1, ticks: 300},
	{scene: "pyramids", n: 5, seed: 1, ticks: 300},
	{scene: "jointgrid", n: 12, seed: 1, ticks: 300},
	{scene: "bridge", n: 30, seed: 1, ticks: 300},
	{scene: "ragdolls", n: 9, seed: 1, ticks: 300},
	{scene: "smash", n: 400, seed: 1, ticks: 150},
	{scene: "hinges", n: 3, seed: 1, ticks: 150},
	{scene: "rain", n: 20, seed: 1, ticks: 300},
	{scene: "spinner", n: 200, seed: 1, ticks: 200},
	{scene: "washer", n: 200, seed: 1, ticks: 200},
	{scene: "pile", n: 200, seed: 1, ticks: 150},
	{scene: "compounds", n: 96, seed: 1, ticks: 200},
	{scene: "junkyard", n: 100, seed: 1, ticks: 300},
	{scene: "columns", n: 3, seed: 1, ticks: 200},
}

func TestGolden(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: golden hashes of an instrumented build")
	}
	path := filepath.Join("testdata", "golden.txt")
	if *update {
		writeGolden(t, path)
	}
	want, err := readGolden(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("not run: there is no " + path)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != len(goldenCases) {
		t.Fatalf("%s has %d lines, want %d", path, len(want), len(goldenCases))
	}
	for i := range goldenCases {
		if got := runGolden(t, goldenCases[i]); got != want[i] {
			t.Errorf("%s says\n\t%v\nthe run\n\t%v", path, want[i], got)
		}
	}
}

// runGolden fills in the hash.
func runGolden(t *testing.T, g golden) golden {
	t.Helper()
	s, err := scenes.New(g.scene, g.n, g.seed, physics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range g.ticks {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	g.hash = s.World.Hash()
	return g
}

func readGolden(path string) (all []golden, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var g golden
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %d %d %x", &g.scene, &g.n, &g.seed, &g.ticks, &g.hash); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, lines.Text(), err)
		}
		all = append(all, g)
	}
	return all, lines.Err()
}

func writeGolden(t *testing.T, path string) {
	t.Helper()
	text := goldenHead
	for _, g := range goldenCases {
		text += runGolden(t, g).String() + "\n"
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
