package scenes_test

import (
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// The sizes that the documentation mentions.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name                      string
		n, bodies, shapes, joints int
	}{
		{"arena", 256, 256, 256 + 4, 0},
		{"tumbler", 2000, 2000, 2000 + 4, 0},
		{"pyramid", 100, 5050, 5050 + 1, 0},
		{"pyramids", 400, 22000, 22000 + 20, 0},
		{"pyramids", 5, 5 * 55, 5*55 + 2, 0},
		{"smash", 9600, 9601, 9601, 0},
		{"jointgrid", 100, 10000 - 7, 10000, 19800},
		{"bridge", 60, 80, 82, 61},
		{"ragdolls", 64, 704, 708, 640},
		{"hinges", 8, 160, 161, 80},
		{"rain", 900, 0, 5*(45+4) + 2, 0}, // at first
		{"spinner", 6000, 6000, 6000 + 361, 0},
		{"washer", 6000, 6000, 6000 + 60, 0},
		{"pile", 5000, 5000, 5000 + 3, 0},
		{"compounds", 2000, 2000, 6000 + 3, 0},
		{"junkyard", 2000, 2000, 4800 + 4, 0},
		{"columns", 6, 140, 141, 0},
	} {
		s, err := scenes.New(c.name, c.n, 1, physics.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Bodies) != c.bodies || s.World.Len() > s.World.Cap() || s.World.ShapeCount() != c.shapes || s.Joints != c.joints || s.World.JointCount() != c.joints {
			t.Errorf("%s %d: %d bodies, %d in the world, %d shapes, %d joints; want %d, %d and %d", c.name, c.n,
				len(s.Bodies), s.World.Len(), s.World.ShapeCount(), s.World.JointCount(), c.bodies, c.shapes, c.joints)
		}
	}
}

// small are the sizes of scenes that tests run.
var small = map[string]int{
	"arena": 64, "tumbler": 64, "pyramid": 8, "pyramids": 4, "smash": 96, "jointgrid": 20, "bridge": 12, "ragdolls": 4, "hinges": 2,
	"rain": 4, "spinner": 64, "washer": 64, "pile": 64, "compounds": 64, "junkyard": 64, "columns": 2,
}

// distances are how far some body moves in two seconds, in metres; in other scenes none moves.
var distances = map[string][2]float64{
	"arena": {0.5, 20}, "tumbler": {0.5, 20}, "smash": {40, 100}, "jointgrid": {0.05, 20}, "bridge": {0.2, 5}, "ragdolls": {1, 6}, "hinges": {1, 20},
	"rain": {1, 35}, "spinner": {1, 12}, "washer": {1, 12}, "pile": {0.5, 8}, "compounds": {1, 20}, "junkyard": {1, 12}, // of rain from the origin
}

// A scene is the same for every engine, stays where it should, and moves.
func TestScenes(t *testing.T) {
	for _, d := range scenes.Bodies() {
		for name, engine := range map[string]physics.Engine{"ours": nil, "box2d": box2d.NewEngine(box2d.Options{})} {
			n := small[d.Name]
			s, err := scenes.New(d.Name, n, 1, physics.Config{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			c := s.World.Columns()
			x, y := append([]float32(nil), c.X...), append([]float32(nil), c.Y...)
			for range 120 {
				if err := s.Step(); err != nil {
					t.Fatalf("%s, %s: %v", d.Name, name, err)
				}
			}
			moved := 0.0
			for i := range x {
				moved = max(moved, math.Hypot(float64(c.X[i]-x[i]), float64(c.Y[i]-y[i])))
			}
			least, most := 0.0, 0.2 // in metres
			if r, lively := distances[d.Name]; lively {
				least, most = r[0], r[1]
			}
			if moved < least || moved > most {
				t.Errorf("%s, %s: a body moved by %g m", d.Name, name, moved)
			}
			if s.Tick() != 120 {
				t.Errorf("tick %d", s.Tick())
			}
		}
	}
}

func TestSeeds(t *testing.T) {
	hash := func(seed uint64) uint64 {
		s, err := scenes.New("arena", 50, seed, physics.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
		return s.World.Hash()
	}
	if a, again, b := hash(1), hash(1), hash(2); a != again || a == b {
		t.Error("the hash must depend on the seed, and on nothing else")
	}
}

func TestBadScenes(t *testing.T) {
	arena, _ := scenes.Find("arena")
	for _, c := range []struct {
		name string
		n    int
	}{{"opera", 1}, {"arena", 0}, {"pyramid", -1}, {"arena", arena.MaxN() + 1}, {"pyramids", math.MaxInt}} {
		if _, err := scenes.New(c.name, c.n, 1, physics.Config{}); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%s %d: %v", c.name, c.n, err)
		}
	}
}

// A world that restores a snapshot continues as the one that saved it.
func TestRestoredScenesContinue(t *testing.T) {
	for _, d := range scenes.Bodies() {
		s, err := scenes.New(d.Name, small[d.Name], 1, physics.Config{})
		if err != nil {
			t.Fatal(err)
		}
		other, err := scenes.New(d.Name, small[d.Name], 1, physics.Config{})
		if err != nil {
			t.Fatal(err)
		}
		var saved []byte
		for tick := range 200 {
			if tick%50 == 25 {
				if saved, err = s.World.Snapshot(saved[:0]); err == nil {
					err = other.World.Restore(saved)
				}
				if err != nil {
					t.Fatalf("%s, tick %d: %v", d.Name, tick, err)
				}
			}
			if err := errors.Join(s.Step(), other.Step()); err != nil {
				t.Fatal(err)
			}
			if s.World.Hash() != other.World.Hash() {
				t.Fatalf("%s: after tick %d the restored world differs", d.Name, tick)
			}
		}
	}
}
