package evertick_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/spatial"
)

// gateSource is a world behind a gate. The world does not count writes to its
// columns, so whoever moves something does.
type gateSource struct {
	*ecs.World
	slots []ecs.Slot
	moves uint64
}

func (s *gateSource) Stamp() spatial.Stamp {
	return spatial.Stamp{Structure: s.Version(), Position: s.moves, Generation: s.Generation()}
}

func (s *gateSource) Points() spatial.Columns {
	s.slots = s.LiveSlots(s.slots)
	return spatial.Columns{X: s.Position.X, Y: s.Position.Y, Z: s.Position.Z, Slots: s.slots}
}

func (s *gateSource) move(t *testing.T, id ecs.ID, x float32) {
	t.Helper()
	if err := s.SetPosition(id, x, 0, 0); err != nil {
		t.Fatal(err)
	}
	s.moves++
}

// A gate over a world notices spawns, moves, and a Restore that arrives at the
// version from which the index was built.
func TestGateOverAWorld(t *testing.T) {
	w, err := ecs.New(ecs.Config{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	src := &gateSource{World: w}
	ids := make([]ecs.ID, 3)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		src.move(t, id, float32(10*i))
	}
	strictIndex, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	handyIndex, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	strict := spatial.NewGate(strictIndex, src, spatial.Refuse)
	handy := spatial.NewGate(handyIndex, src, spatial.Rebuild)
	at := func(x float32) []uint32 {
		t.Helper()
		ix, err := handy.Index()
		if err != nil {
			t.Fatal(err)
		}
		var out spatial.Result
		if err := ix.Radius(&spatial.Queries{X: []float32{x}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{1}}, &out); err != nil {
			t.Fatal(err)
		}
		return out.Row(0)
	}
	changed := func(field string) {
		t.Helper()
		if _, err := strict.Index(); !errors.Is(err, spatial.ErrStale) || !strings.Contains(err.Error(), field) {
			t.Fatalf("%v, want ErrStale that names %q", err, field)
		}
		if err := strict.Build(); err != nil {
			t.Fatal(err)
		}
		if _, err := strict.Index(); err != nil {
			t.Fatal(err)
		}
	}
	changed("not built by the gate")
	if got := at(20); !slices.Equal(got, []uint32{2}) {
		t.Fatalf("at 20: %v", got)
	}
	saved, version := w.Snapshot(nil), w.Version()

	w.Despawn(ids[2])
	changed("Stamp.Structure")
	if got := at(20); len(got) != 0 {
		t.Fatalf("at 20 after the despawn: %v", got)
	}
	src.move(t, ids[1], 20)
	changed("Stamp.Position")
	if got := at(20); !slices.Equal(got, []uint32{1}) {
		t.Fatalf("at 20 after the move: %v", got)
	}
	if err := w.Restore(saved); err != nil {
		t.Fatal(err)
	}
	changed("Stamp.Generation")
	if got := at(20); !slices.Equal(got, []uint32{2}) {
		t.Fatalf("at 20 after the restore: %v", got)
	}

	// The same version, the same number of moves, and yet another world.
	src.move(t, ids[0], 20)
	changed("Stamp.Position")
	if err := w.Restore(saved); err != nil || w.Version() != version {
		t.Fatalf("version %d, %v; want %d", w.Version(), err, version)
	}
	changed("Stamp.Generation")
	if got := at(20); !slices.Equal(got, []uint32{2}) {
		t.Fatalf("at 20 after the second restore: %v", got)
	}
}
