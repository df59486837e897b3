package evertick_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// wander fills a Sim with entities that a system moves at random.
func wander(t testing.TB, s *evertick.Sim, entities int) {
	t.Helper()
	ids := make([]ecs.ID, entities)
	if err := s.World.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	x := s.World.Position.X
	add(t, s, evertick.BeforePhysics, "wander", func(tick *evertick.Tick) error {
		for i, id := range ids {
			r := tick.Rand(id, 0)
			x[i] += float32(r.Range(-1, 1) * tick.Dt)
		}
		return nil
	})
}

func columnNames(s *evertick.Sim) []string {
	var names []string
	for _, c := range s.ColumnHashes() {
		names = append(names, c.Name)
	}
	return names
}

func TestHashIsTheFoldOfColumnHashes(t *testing.T) {
	c := small()
	c.Seed = 42
	s := newSim(t, c)
	column(t, s, "heat")
	movingBody(t, s, spawn(t, s), 1)
	wander(t, s, 5)
	seen := map[uint64]bool{}
	for n := range uint64(4) {
		step(t, s, 1)
		parts := s.ColumnHashes()
		if got := ecs.Fold(parts); got != s.Hash() {
			t.Errorf("tick %d: hash %x, the columns fold to %x", n, s.Hash(), got)
		}
		if parts[0] != (ecs.ColumnHash{Name: "seed", Hash: 42}) || parts[1] != (ecs.ColumnHash{Name: "ticks", Hash: n + 1}) {
			t.Errorf("tick %d: the list begins with %v", n, parts[:2])
		}
		if want := s.World.ColumnHashes(); !slices.Equal(parts[2:2+len(want)], want) {
			t.Errorf("tick %d: world columns %v, want %v", n, parts[2:2+len(want)], want)
		}
		if seen[s.Hash()] {
			t.Errorf("tick %d: hash %x again", n, s.Hash())
		}
		seen[s.Hash()] = true
	}
	world := len(s.World.ColumnHashes())
	bodies := s.Physics.AppendColumnHashes(nil)
	for i, c := range s.ColumnHashes()[2+world:][:len(bodies)] {
		if want := (ecs.ColumnHash{Name: "body." + bodies[i].Name, Hash: bodies[i].Hash}); c != want {
			t.Errorf("body column %d is %v, want %v", i, c, want)
		}
	}
	names := columnNames(s)
	if len(names) != 2+world+len(bodies)+1 {
		t.Errorf("%d columns, want seed, ticks, %d, %d and the owners", len(names), world, len(bodies))
	}
	for _, name := range []string{"identity", "heat", "position.x", "rotation.w", "scale.z", "body.X", "body.Slot", "body.Generation", "body.Owner"} {
		if !slices.Contains(names, name) {
			t.Errorf("no column %s in %v", name, names)
		}
	}
}

func TestEqualRunsHaveEqualHashes(t *testing.T) {
	run := func(seed uint64, workers int) (hashes []uint64) {
		c := small()
		c.Seed, c.Workers = seed, workers
		s := newSim(t, c)
		wander(t, s, 20)
		movingBody(t, s, spawn(t, s), 1)
		for range 30 {
			step(t, s, 1)
			hashes = append(hashes, s.Hash())
		}
		return hashes
	}
	first := run(1, 1)
	for _, workers := range []int{1, 2} {
		if again := run(1, workers); !slices.Equal(first, again) {
			t.Errorf("%d workers: another run of the same seed has other hashes:\n%x\n%x", workers, first, again)
		}
	}
	for i, h := range run(2, 1) {
		if h == first[i] {
			t.Errorf("tick %d: seeds 1 and 2 have the same hash %x", i, h)
		}
	}
}

// The hash covers everything that decides the next tick, bodies included.
func TestHashSeesEveryPart(t *testing.T) {
	build := func(change func(s *evertick.Sim, heat []float32, id ecs.ID)) uint64 {
		s := newSim(t, small())
		heat := column(t, s, "heat")
		id := spawn(t, s)
		movingBody(t, s, id, 1)
		change(s, heat, id)
		step(t, s, 1)
		return s.Hash()
	}
	hashes := map[uint64]string{}
	for name, change := range map[string]func(s *evertick.Sim, heat []float32, id ecs.ID){
		"nothing":     func(*evertick.Sim, []float32, ecs.ID) {},
		"position":    func(s *evertick.Sim, _ []float32, _ ecs.ID) { s.World.Position.Z[0] = 1 },
		"user column": func(_ *evertick.Sim, heat []float32, _ ecs.ID) { heat[0] = 1 },
		"tag": func(s *evertick.Sim, _ []float32, id ecs.ID) {
			tag, err := s.World.Tag("hot")
			if err != nil || !tag.Set(id) {
				t.Fatal(err)
			}
		},
		"entity": func(s *evertick.Sim, _ []float32, _ ecs.ID) { spawn(t, s) },
		"body velocity": func(s *evertick.Sim, _ []float32, id ecs.ID) {
			b, _ := s.Body(id)
			if err := s.Physics.SetVelocity(b, [2]float32{0, 1}, 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		h := build(change)
		if other, dup := hashes[h]; dup {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		hashes[h] = name
	}
}

// Equal simulations have no difference; otherwise Diff names the first one.
func TestDiff(t *testing.T) {
	build := func() *park {
		p := newPark(t, parkConfig())
		step(t, p.sim, 20)
		return p
	}
	if d, found := evertick.Diff(build().sim, build().sim); found {
		t.Fatalf("equal, but %v", d)
	}
	for _, c := range []struct {
		what   string
		change func(p *park)
		says   []string
	}{
		{"ticks", func(p *park) { step(t, p.sim, 1) }, []string{"ticks", "20 (0x14)", "21 (0x15)"}},
		{"entity", func(p *park) { spawn(t, p.sim) }, []string{"entities"}},
		{"column", func(p *park) { p.heat[3] += 1 }, []string{"entities", "heat"}},
		{"body", func(p *park) {
			id, _ := p.sim.World.ID(0)
			b, ok := p.sim.Body(id)
			if !ok {
				t.Fatal("no body")
			}
			if err := p.sim.Physics.SetVelocity(b, [2]float32{7, 0}, 0); err != nil {
				t.Fatal(err)
			}
		}, []string{"body.", "7 (0x40e00000)", "of body "}},
	} {
		a, b := build(), build()
		c.change(b)
		d, found := evertick.Diff(a.sim, b.sim)
		if !found {
			t.Errorf("%s: no difference", c.what)
		}
		for _, s := range c.says {
			if !strings.Contains(d.String(), s) {
				t.Errorf("%s: %q does not say %q", c.what, d, s)
			}
		}
	}
	// A state without columns is compared by its hash, as of the last tick.
	a, b := build(), build()
	b.sum++
	step(t, a.sim, 1)
	step(t, b.sim, 1)
	if d, found := evertick.Diff(a.sim, b.sim); !found || d.Column != "state.park" || d.Row != -1 {
		t.Errorf("state: %v", d)
	}
}
