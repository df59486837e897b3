package scenes3_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/scenes3"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

// Helpers take part in all that tests compute.
func init() { pace.Always = true }

func open(t testing.TB, name string, n int, c physics3.Config) *scenes3.Scene {
	t.Helper()
	c.DisableSleep = true
	s, err := scenes3.New(name, n, 1, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func steps(t testing.TB, s *scenes3.Scene, n int) {
	t.Helper()
	for range n {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

const goldenHead = `# Hashes of the scenes in space: scene, n, ticks, hash of the world. They hold on every architecture, on
# every level and in every build. Changing them needs a line under "Determinism" in CHANGELOG.md;
# regenerate with
#	go test ./internal/scenes3 -run TestGolden -update
`

// golden is a line of the file.
type golden struct {
	scene    string
	n, ticks int
	hash     uint64
}

func (g golden) String() string { return fmt.Sprintf("%s %d %d %016x", g.scene, g.n, g.ticks, g.hash) }

var goldenCases = []golden{
	{scene: "arena3", n: 125, ticks: 120},
	{scene: "bridge3", n: 30, ticks: 120},
	{scene: "cars3", n: 16, ticks: 200},
	{scene: "chain3", n: 6, ticks: 150},
	{scene: "crane3", n: 12, ticks: 120},
	{scene: "jointgrid3", n: 12, ticks: 120},
	{scene: "mesh3", n: 64, ticks: 150},
	{scene: "pile3", n: 96, ticks: 90},
	{scene: "pyramid3", n: 10, ticks: 60},
	{scene: "pyramids3", n: 2, ticks: 40},
	{scene: "ragdolls3", n: 10, ticks: 150},
	{scene: "rain3", n: 12, ticks: 150},
	{scene: "rays3", n: 100, ticks: 60},
	{scene: "rope3", n: 3, ticks: 150},
	{scene: "terrain3", n: 80, ticks: 120},
	{scene: "walkers3", n: 64, ticks: 150},
	{scene: "washer3", n: 64, ticks: 150},
}

// The file holds on every level; one of them computes it.
func TestGolden(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: golden hashes of an instrumented build")
	}
	path := filepath.Join("testdata", "golden.txt")
	if *update {
		text := goldenHead
		for _, g := range goldenCases {
			text += runGolden(t, g, physics3.Config{Level: native.Go}).String() + "\n"
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want := readGolden(t, path)
	if len(want) != len(goldenCases) {
		t.Fatalf("%s has %d lines, want %d", path, len(want), len(goldenCases))
	}
	for i, level := range native.Levels() {
		for k, g := range goldenCases {
			if testing.Short() && (i+k)%2 == 1 && level != native.Go {
				continue // the other half of the scenes runs on the next level
			}
			if got := runGolden(t, g, physics3.Config{Level: level, Workers: 1 + i%2}); got != want[k] {
				t.Errorf("%s says\n\t%v\nlevel %v\n\t%v", path, want[k], level, got)
			}
		}
	}
}

// runGolden fills in the hash.
func runGolden(t *testing.T, g golden, c physics3.Config) golden {
	t.Helper()
	s := open(t, g.scene, g.n, c)
	steps(t, s, g.ticks)
	g.hash = s.World.Hash()
	return g
}

func readGolden(t *testing.T, path string) (all []golden) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var g golden
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %d %x", &g.scene, &g.n, &g.ticks, &g.hash); err != nil {
			t.Fatalf("%s: %q: %v", path, lines.Text(), err)
		}
		all = append(all, g)
	}
	return all
}

// Counts are those of the scenes of Box3D.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name                      string
		n, bodies, shapes, joints int
	}{
		{"pyramid3", 100, 5050, 5050 + 1, 0},
		{"pyramids3", 196, 10780, 10780 + 1, 0},
		{"pile3", 5120, 5120, 5120 + 1, 0},
		{"washer3", 8000, 8000, 8000 + 36 + 4 + 1, 0},
		{"arena3", 1000, 1000, 1000 + 6, 0},
		{"terrain3", 4300, 4300, 4300 + 2, 0},
		{"mesh3", 1764, 1764, 1764 + 1, 0},
		{"jointgrid3", 100, 10000 - 7, 10000, 19800},
		{"bridge3", 60, 80, 80 + 2, 2 * 61},
		{"crane3", 20, 23, 23 + 1, 23},
		{"chain3", 60, 660, 660, 660},
		{"rope3", 30, 630, 630, 630},
		{"rain3", 300, 30 * 14, 30*14 + 200, 30 * 13}, // at first
		{"ragdolls3", 160, 160 * 14, 160*14 + 1, 160 * 13},
		{"cars3", 200, 200, 200 + 1, 0},
	} {
		s := open(t, c.name, c.n, physics3.Config{})
		if len(s.Bodies) != c.bodies || s.World.Len() > s.World.Cap() || s.World.ShapeCount() != c.shapes || s.World.JointCount() != c.joints || s.Joints != c.joints {
			t.Errorf("%s %d: %d bodies, %d in the world, %d shapes, %d joints; want %d, %d and %d", c.name, c.n, len(s.Bodies), s.World.Len(), s.World.ShapeCount(), s.World.JointCount(), c.bodies, c.shapes, c.joints)
		}
	}
}

// Bodies stay where they should, and move. The numbers are the least and the greatest distance that some body moves in two seconds, in metres.
func TestScenes(t *testing.T) {
	moves := map[string][2]float64{"arena3": {0.5, 9}, "bridge3": {0.2, 4}, "cars3": {1, 40}, "chain3": {0.5, 4}, "crane3": {2, 15}, "jointgrid3": {0.05, 20}, "pile3": {1, 20}, "ragdolls3": {2, 20}, "rain3": {10, 30}, "pyramid3": {0, 0.1}, "pyramids3": {0, 0.1}, "rays3": {1, 9}, "rope3": {5, 14}, "mesh3": {10, 30}, "terrain3": {4, 20}, "walkers3": {0.5, 9}, "washer3": {1, 25}}
	for _, d := range scenes3.All() {
		s := open(t, d.Name, d.Few, physics3.Config{})
		c := s.World.Columns()
		before := [3][]float32{append([]float32(nil), c.X...), append([]float32(nil), c.Y...), append([]float32(nil), c.Z...)}
		steps(t, s, 120)
		moved := 0.0
		for _, b := range s.Bodies {
			i, square := b.Index(), 0.0
			for axis, now := range [3][]float32{c.X, c.Y, c.Z} {
				d := float64(now[i] - before[axis][i])
				square += d * d
			}
			moved = max(moved, math.Sqrt(square))
			if lowest := map[bool]float32{true: -25, false: -10}[d.Name == "jointgrid3"]; c.Y[i] < lowest {
				t.Errorf("%s: body %d is at height %g", d.Name, i, c.Y[i])
			}
		}
		if m := moves[d.Name]; moved < m[0] || moved > m[1] {
			t.Errorf("%s: a body moved by %g m", d.Name, moved)
		}
	}
}

func TestSeeds(t *testing.T) {
	hash := func(name string, n int, seed uint64) uint64 {
		s, err := scenes3.New(name, n, seed, physics3.Config{})
		if err != nil {
			t.Fatal(err)
		}
		steps(t, s, 5)
		return s.World.Hash()
	}
	for name, n := range map[string]int{"arena3": 30, "mesh3": 8, "pile3": 4, "rain3": 12, "terrain3": 20, "walkers3": 20} {
		if a, again, b := hash(name, n, 1), hash(name, n, 1), hash(name, n, 2); a != again || a == b {
			t.Errorf("%s: the hash must depend on the seed, and on nothing else", name)
		}
	}
}

func TestBadScenes(t *testing.T) {
	arena, _ := scenes3.Find("arena3")
	for _, c := range []struct {
		name string
		n    int
	}{{"opera", 1}, {"arena3", 0}, {"pyramid3", -1}, {"arena3", arena.MaxN() + 1}, {"pyramids3", math.MaxInt}} {
		if _, err := scenes3.New(c.name, c.n, 1, physics3.Config{}); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%s %d: %v", c.name, c.n, err)
		}
	}
}

// A world that restores a snapshot continues as the one that saved it.
func TestRestoredScenesContinue(t *testing.T) {
	for _, d := range scenes3.All() {
		s, other := open(t, d.Name, d.Few, physics3.Config{}), open(t, d.Name, d.Few, physics3.Config{Workers: 2})
		var saved []byte
		var err error
		for tick := range 100 {
			if tick%25 == 10 {
				if saved, err = s.World.Snapshot(saved[:0]); err == nil {
					err = other.World.Restore(saved)
				}
			}
			if err := errors.Join(err, s.Step(), other.Step()); err != nil {
				t.Fatalf("%s, tick %d: %v", d.Name, tick, err)
			}
			if s.World.Hash() != other.World.Hash() {
				t.Fatalf("%s: after tick %d the restored world differs", d.Name, tick)
			}
		}
	}
}

// Once buffers have their size, steps, hashes and snapshots allocate nothing.
func TestScenesAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, name := range []string{"arena3", "cars3", "chain3", "jointgrid3", "pyramid3", "rays3", "walkers3"} {
		for workers := 1; workers <= 2; workers++ {
			d, _ := scenes3.Find(name)
			s := open(t, name, d.Few, physics3.Config{Workers: workers})
			var data []byte
			var err error
			all := func() {
				if data, err = s.World.Snapshot(data[:0]); err != nil {
					t.Fatal(err)
				}
				s.World.Hash()
				steps(t, s, 1)
			}
			for range 60 {
				all()
			}
			if n := testing.AllocsPerRun(100, all); n >= 1 {
				t.Errorf("%s, %d workers: %g allocations a step", name, workers, n)
			}
		}
	}
}

// worst returns how far the worst joint is open, in metres.
func worst(t *testing.T, s *scenes3.Scene) (most float64) {
	t.Helper()
	for i := range s.Joints {
		j, _ := s.World.JointAt(i)
		state, err := s.World.JointState(j)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, float64(state.Separation))
	}
	return most
}

// Chains and ropes hold a thousand times the mass of a link while they swing, and their loads gain no energy.
func TestChainAndRope(t *testing.T) {
	for name, bound := range map[string]float64{"chain3": 1e-3, "rope3": 5e-3} {
		s := open(t, name, 2, physics3.Config{})
		c := s.World.Columns()
		load := s.Bodies[0].Index()
		const gravity = 10
		opened, highest, low := 0., 0., math.Inf(1)
		start := float64(c.Y[load])
		for range 600 {
			steps(t, s, 1)
			opened = max(opened, worst(t, s))
			v2 := float64(c.VX[load])*float64(c.VX[load]) + float64(c.VY[load])*float64(c.VY[load]) + float64(c.VZ[load])*float64(c.VZ[load])
			highest = max(highest, float64(c.Y[load])-start+v2/(2*gravity))
			low = min(low, float64(c.Y[load]))
		}
		t.Logf("%s: open by %.2f mm, energy of the load up to %.3f m high, down to %.3f m", name, 1000*opened, highest, low)
		if opened > bound || low < 12-5-0.5-0.05 || name == "rope3" && highest > 0.05 {
			t.Errorf("%s: open by %.2f mm, energy of the load up to %.3f m high, down to %.3f m", name, 1000*opened, highest, low)
		}
	}
}

// The bridge keeps its balls and its hinges closed, and the crane its chain and its load.
func TestBridgeAndCrane(t *testing.T) {
	bridge := open(t, "bridge3", 30, physics3.Config{})
	steps(t, bridge, 600)
	c := bridge.World.Columns()
	low := 0.
	for _, b := range bridge.Bodies {
		i := b.Index()
		low = min(low, float64(c.Y[i]))
		if math.Abs(float64(c.Z[i])) > 1.5 {
			t.Errorf("body %d of the bridge is at %v, %v, %v", i, c.X[i], c.Y[i], c.Z[i])
		}
	}
	if open := worst(t, bridge); open > 0.035 || low < -4 || low > -0.5 {
		t.Errorf("the bridge sags to %.2f m, and a hinge is open by %.1f mm", low, 1000*open)
	}
	crane := open(t, "crane3", 20, physics3.Config{})
	c = crane.World.Columns()
	load := crane.Bodies[len(crane.Bodies)-1].Index()
	height, most, lowest := c.Y[load], 0., float32(99)
	for range 600 {
		steps(t, crane, 1)
		most, lowest = max(most, worst(t, crane)), min(lowest, c.Y[load])
	}
	if most > 0.02 || height-lowest > 0.3 || math.Hypot(float64(c.X[load]), float64(c.Z[load])) < 5 {
		t.Errorf("the load sinks by %.3f m, and a joint is open by %.1f mm", height-lowest, 1000*most)
	}
	t.Logf("bridge: %.2f m, crane: sinks by %.3f m, open by %.2f mm", low, height-lowest, 1000*most)
}
