package evertick_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native/paritytest"
)

func TestSnapshotAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	p, q := newPark(t, parkConfig()), newPark(t, parkConfig())
	for range 30 {
		p.next(t)
	}
	var data []byte
	round := func() {
		var err error
		if data, err = p.sim.Snapshot(data[:0]); err != nil {
			t.Fatal(err)
		}
		if err = errors.Join(p.sim.Restore(data), q.sim.CopyFrom(p.sim)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// A Sim that is begun again and again from a snapshot that lacks its columns, as one of before
// they were added does, allocates nothing for that.
func TestRestoreOfLessAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := newSim(t, small())
	blank, err := s.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := ecs.AddColumn[float32](s.World, name); err != nil {
			t.Fatal(err)
		}
	}
	round := func() {
		if err := errors.Join(s.Restore(blank), s.Step(), s.Step()); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
