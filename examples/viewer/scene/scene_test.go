package scene

import (
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick"
)

// The pyramid stands until somebody shoots at it, and falls in the same way each time.
func TestScene(t *testing.T) {
	var hashes [2]uint64
	for run := range hashes {
		s, err := New()
		if err != nil {
			t.Fatal(err)
		}
		const boxes = rows * (rows + 1) / 2
		if err := s.Sim.StepN(120); err != nil {
			t.Fatal(err)
		}
		if y := s.Sim.World.Position.Y[boxes-1]; y < floor+rows-1 {
			t.Fatalf("the top is at %v m before a shot", y)
		}
		before := slices.Clone(s.Sim.World.Position.X[:boxes])
		if err := s.Sim.Push(Shot(24, 8, 0)); err != nil {
			t.Fatal(err)
		}
		if err := s.Sim.StepN(240); err != nil {
			t.Fatal(err)
		}
		moved := 0
		for slot, x := range before {
			if now := s.Sim.World.Position.X[slot]; now > x+1 || now < x-1 {
				moved++
			}
		}
		if moved < 10 {
			t.Errorf("%d boxes have moved", moved)
		}
		if s.Ball.Count() != 1 {
			t.Errorf("%d balls", s.Ball.Count())
		}
		hashes[run] = s.Sim.Hash()
	}
	if hashes[0] != hashes[1] {
		t.Errorf("two runs end in %x", hashes)
	}
}

// Shots that make no sense are none, and many shots do not fill the world.
func TestShots(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for i, in := range []evertick.Input{Shot(nan, 0, 0), Shot(0, inf, 0), Shot(0, 8, 0), {Kind: shoot, Data: []byte{1}}} {
		in.Seq = uint64(i)
		if err := s.Sim.Push(in); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sim.Step(); err != nil || s.Ball.Count() != 0 {
		t.Fatalf("%d balls, %v", s.Ball.Count(), err)
	}
	for i := range uint64(room + 10) {
		if err := s.Sim.Push(Shot(40, 20, 10+i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sim.Step(); err != nil || s.Sim.World.Len() != room {
		t.Errorf("%d entities, %v", s.Sim.World.Len(), err)
	}
}
