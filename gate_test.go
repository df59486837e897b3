package evertick_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/spatial"
)

// A gate over a world notices spawns, moves, and a Restore that arrives at the
// version from which the index was built.
func TestGateOverAWorld(t *testing.T) {
	w, err := ecs.New(ecs.Config{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	src := evertick.NewWorldSource(w)
	move := func(id ecs.ID, x float32) {
		t.Helper()
		if err := w.SetPosition(id, x, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	ids := make([]ecs.ID, 3)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		move(id, float32(10*i))
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
	move(ids[1], 20)
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
	move(ids[0], 20)
	changed("Stamp.Position")
	if err := w.Restore(saved); err != nil || w.Version() != version {
		t.Fatalf("version %d, %v; want %d", w.Version(), err, version)
	}
	changed("Stamp.Generation")
	if got := at(20); !slices.Equal(got, []uint32{2}) {
		t.Fatalf("at 20 after the second restore: %v", got)
	}
}

// A Sim says which columns its phases write, so that a gate passes the index of its
// own only until the next tick moves something.
func TestGateOverASim(t *testing.T) {
	s := newSim(t, small())
	gate := spatial.NewGate(s.Index, evertick.NewWorldSource(s.World), spatial.Rebuild)
	id := spawn(t, s)
	movingBody(t, s, id, 60)
	stamps := map[uint64]bool{}
	add(t, s, evertick.AfterIndex, "touch", func(tick *evertick.Tick) error {
		stamps[s.World.Position.Version()] = true
		return tick.Commands().SetPosition(id, 7, 0, 0)
	})
	step(t, s, 3)
	if len(stamps) != 3 || s.World.Position.Version() <= s.World.Rotation.Version() {
		t.Errorf("versions %v, then %d, of the rotation %d", stamps, s.World.Position.Version(), s.World.Rotation.Version())
	}
	if ix, err := gate.Index(); err != nil || ix.Len() != 1 {
		t.Error(err)
	}
	if s.World.Position.X[0] != 7 {
		t.Errorf("x = %g", s.World.Position.X[0])
	}
}
