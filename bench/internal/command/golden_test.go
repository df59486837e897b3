package command

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

const goldenHead = `# Hashes of the scenes: scene, seed, ticks, hash of the rows without bodies, full hash.
# Both must hold on every architecture and in every build. Changing them needs a line
# under "Determinism" in CHANGELOG.md; regenerate with
#	go test ./bench/internal/command -run TestGolden -update
`

// golden is a line of the file.
type golden struct {
	scene               string
	seed                uint64
	ticks               int
	withoutBodies, full uint64
}

func (g golden) String() string {
	return fmt.Sprintf("%s %d %d %016x %016x", g.scene, g.seed, g.ticks, g.withoutBodies, g.full)
}

// goldenCases are in the order of the file; the ticks of one run ascend.
var goldenCases = []golden{
	{scene: "capstone", seed: 1, ticks: 60},
	{scene: "capstone", seed: 1, ticks: 600},
	{scene: "capstone", seed: 2, ticks: 60},
	{scene: "limina", seed: 1, ticks: 60},
	{scene: "limina", seed: 1, ticks: 400},
	{scene: "swarm", seed: 1, ticks: 10},
	{scene: "clusters", seed: 1, ticks: 60},
	{scene: "churn", seed: 1, ticks: 60},
}

func TestGolden(t *testing.T) {
	path := filepath.Join("testdata", "golden.txt")
	if *update {
		if paritytest.Instrumented {
			t.Fatal("-update needs a plain build")
		}
		writeGolden(t, path, runGolden(t))
	}
	want := readGolden(t, path)
	if len(want) != len(goldenCases) {
		t.Fatalf("%s has %d lines, want %d", path, len(want), len(goldenCases))
	}
	for i, got := range runGolden(t) {
		if got != want[i] && got.ran() {
			t.Errorf("%s says\n\t%v\nthe run\n\t%v", path, want[i], got)
		}
	}
}

// ran reports whether the case has run: those too long for an instrumented build are left out.
func (g golden) ran() bool { return g.full != 0 || g.withoutBodies != 0 }

// runGolden fills in the hashes of the cases.
func runGolden(t *testing.T) []golden {
	t.Helper()
	done := slices.Clone(goldenCases)
	var s *simulation
	for i := range done {
		c := &done[i]
		if c.ticks > parityTicks {
			t.Logf("not run: %s for %d ticks: the build is instrumented", c.scene, c.ticks)
			continue
		}
		if i == 0 || c.scene != done[i-1].scene || c.seed != done[i-1].seed {
			s = newTestScene(t, c.scene, c.seed)
		}
		advance(t, s, c.ticks-int(s.Ticks()))
		c.withoutBodies, c.full = s.hashWithoutBodies(), s.Hash()
	}
	return done
}

func readGolden(t *testing.T, path string) []golden {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []golden
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var g golden
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %d %x %x", &g.scene, &g.seed, &g.ticks, &g.withoutBodies, &g.full); err != nil {
			t.Fatalf("%s: %q: %v", path, lines.Text(), err)
		}
		all = append(all, g)
	}
	return all
}

func writeGolden(t *testing.T, path string, all []golden) {
	t.Helper()
	var b strings.Builder
	b.WriteString(goldenHead)
	for _, g := range all {
		fmt.Fprintln(&b, g)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
