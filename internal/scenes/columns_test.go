package scenes_test

import (
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

// stands says which columns of boxes stand for 20 s without sleep.
var stands = map[int]bool{10: true, 15: true, 20: true, 25: true, 30: true, 40: true}

func runColumns(t *testing.T, n, seconds int, c physics.Config) *scenes.Scene {
	t.Helper()
	s, err := scenes.NewAs("columns", n, 1, c)
	if err != nil {
		t.Fatal(err)
	}
	for range seconds * 60 {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestColumns(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: twenty seconds in an instrumented build")
	}
	s := runColumns(t, len(stands), 20, physics.Config{DisableSleep: true})
	standing := 0
	for _, c := range s.Columns() {
		t.Log(c)
		if stands[c.Boxes] {
			standing++
		}
		if c.Fallen == stands[c.Boxes] {
			t.Errorf("column of %v, but the table says stands: %v", c, stands[c.Boxes])
		}
		// The contact under k boxes gives way in proportion to k, so that the top sags with the square of the height.
		if !c.Fallen && (c.Stood != 1200*scenes.Dt || c.Tilt > 0.01 || c.Sag > 5e-4*float32(c.Boxes*c.Boxes)) {
			t.Errorf("column of %v", c)
		}
	}
	if s.Standing() != standing {
		t.Errorf("%d columns stand, want %d", s.Standing(), standing)
	}
}

// With sleep, all columns fall asleep before they fall.
func TestColumnsSleep(t *testing.T) {
	s := runColumns(t, len(stands), 6, physics.Config{})
	if s.Standing() != len(stands) || s.World.AwakeCount() != 0 {
		t.Errorf("%d columns stand, %d bodies are awake: %v", s.Standing(), s.World.AwakeCount(), s.Columns())
	}
}

// A column that is pushed over has fallen, and its record ends then; the others stand.
func TestColumnsFall(t *testing.T) {
	s := runColumns(t, 2, 1, physics.Config{})
	before := s.Columns()[0]
	if before.Fallen || math.Abs(float64(before.Stood)-1) > 1e-6 || before.Sag <= 0 || before.Sag > 0.1 {
		t.Fatalf("after a second %v", before)
	}
	if err := s.World.SetVelocity(s.Bodies[9], [2]float32{6, 0}, 0); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Columns()
	if c := all[0]; !c.Fallen || c.Stood <= 1 || c.Stood > 1.5 || !strings.Contains(c.String(), "10 boxes fell after 1.") || s.Standing() != 1 {
		t.Errorf("%v", all)
	}
	if c := all[1]; c.Fallen || c.Boxes != 15 || !strings.Contains(c.String(), "15 boxes stands after 2.0 s") {
		t.Errorf("%v", c)
	}
}
