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

// The sizes that are written about.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name              string
		n, bodies, shapes int
	}{
		{"arena", 256, 256, 256 + 4},
		{"tumbler", 2000, 2000, 2000 + 4},
		{"pyramid", 100, 5050, 5050 + 1},
		{"pyramids", 400, 22000, 22000 + 20},
		{"pyramids", 5, 5 * 55, 5*55 + 2},
	} {
		s, err := scenes.New(c.name, c.n, 1, physics.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Bodies) != c.bodies || s.World.Len() != c.bodies+1 || s.World.ShapeCount() != c.shapes {
			t.Errorf("%s %d: %d bodies, %d in the world, %d shapes; want %d and %d", c.name, c.n,
				len(s.Bodies), s.World.Len(), s.World.ShapeCount(), c.bodies, c.shapes)
		}
	}
}

// A scene is the same for every engine, stays where it should, and moves.
func TestScenes(t *testing.T) {
	for _, k := range scenes.Kinds {
		for name, engine := range map[string]physics.Engine{"ours": nil, "box2d": box2d.NewEngine(box2d.Options{})} {
			n := map[string]int{"arena": 64, "tumbler": 64, "pyramid": 8, "pyramids": 4}[k.Name]
			s, err := scenes.New(k.Name, n, 1, physics.Config{Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			c := s.World.Columns()
			x, y := append([]float32(nil), c.X...), append([]float32(nil), c.Y...)
			for range 120 {
				if err := s.Step(); err != nil {
					t.Fatalf("%s, %s: %v", k.Name, name, err)
				}
			}
			moved := 0.0
			for i := range x {
				moved = max(moved, math.Hypot(float64(c.X[i]-x[i]), float64(c.Y[i]-y[i])))
			}
			lively := k.Name == "arena" || k.Name == "tumbler"
			if lively && (moved < 0.5 || moved > 20) || !lively && moved > 0.2 {
				t.Errorf("%s, %s: a body moved by %g m", k.Name, name, moved)
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
	if hash(1) != hash(1) || hash(1) == hash(2) {
		t.Error("the seed alone must decide")
	}
}

func TestBadScenes(t *testing.T) {
	arena, _ := scenes.KindOf("arena")
	for _, c := range []struct {
		name string
		n    int
	}{{"opera", 1}, {"arena", 0}, {"pyramid", -1}, {"arena", arena.MaxN() + 1}, {"pyramids", 1 << 40}} {
		if _, err := scenes.New(c.name, c.n, 1, physics.Config{}); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%s %d: %v", c.name, c.n, err)
		}
	}
}
