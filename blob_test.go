package evertick_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native/paritytest"
)

// newLibrary is a Sim with systems that set blobs: two of different names side by side, and one by
// commands, which also despawns entities that have them.
func newLibrary(t testing.TB, c evertick.Config) *evertick.Sim {
	t.Helper()
	s := newSim(t, c)
	w := s.World
	list := make([]*ecs.Blobs, 3)
	for i, name := range []string{"mesh", "script", "rare"} {
		var err error
		if list[i], err = w.Blobs(name); err != nil {
			t.Fatal(err)
		}
	}
	mesh, script, rare := list[0], list[1], list[2]
	var text [100]byte
	for i := range text {
		text[i] = byte('a' + i%26)
	}
	set := func(b *ecs.Blobs, id ecs.ID, n uint64) error { return b.Set(id, text[:n%uint64(len(text))]) }
	for _, sys := range []evertick.System{
		{Name: "mesh", Writes: []string{"blob.mesh"}, Run: func(t *evertick.Tick) error {
			for slot := range w.Query() {
				if id, _ := w.ID(slot); uint64(id)%3 == t.N%3 {
					if err := set(mesh, id, 7*t.N+uint64(id)); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{Name: "script", Writes: []string{"blob.script"}, Run: func(t *evertick.Tick) error {
			for slot := range w.Query() {
				id, _ := w.ID(slot)
				if t.N%5 == uint64(slot)%5 {
					script.Unset(id)
				} else if err := set(script, id, t.N*uint64(slot)); err != nil {
					return err
				}
			}
			return nil
		}},
		{Name: "churn", Stage: evertick.AfterIndex, Reads: []string{"blob.mesh"}, Run: func(t *evertick.Tick) error {
			born := t.Commands().Spawn()
			for id, data := range mesh.All() {
				if len(data) > 95 {
					t.Commands().Despawn(id)
				}
			}
			t.Commands().UnsetBlob(rare, ecs.ID(t.N/2))
			return t.Commands().SetBlob(rare, born, text[:t.N%9])
		}},
	} {
		if err := s.AddSystem(sys); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		spawn(t, s)
	}
	return s
}

// TestBlobsOfASim: systems set blobs with the same result on any number of workers, and a Sim that
// is restored, copied or stepped back continues with the same blobs.
func TestBlobsOfASim(t *testing.T) {
	const last = 60
	first := newLibrary(t, evertick.Config{Capacity: 200, Workers: 2, History: evertick.HistoryConfig{Keep: 10, Every: 7}})
	var hashes []uint64
	var snaps [][]byte
	for range last {
		snaps = append(snaps, snapshot(t, first))
		step(t, first, 1)
		hashes = append(hashes, first.Hash())
	}
	names := strings.Join(columnNames(first), " ")
	if !strings.Contains(names, "scale.z blob.mesh blob.rare blob.script body.") {
		t.Errorf("columns %s", names)
	}
	follow := func(what string, s *evertick.Sim) {
		t.Helper()
		for i := int(s.Ticks()); i < last; i++ {
			if step(t, s, 1); s.Hash() != hashes[i] {
				t.Fatalf("%s: another hash after tick %d", what, i)
			}
		}
		if d, found := evertick.Diff(first, s); found {
			t.Fatalf("%s: %v", what, d)
		}
	}
	follow("one worker, checked", newLibrary(t, evertick.Config{Capacity: 200, Workers: 1, CheckAccess: true}))
	for k := 0; k < last; k += 9 {
		s := newLibrary(t, evertick.Config{Capacity: 200})
		restore(t, s, snaps[k])
		if !bytes.Equal(snapshot(t, s), snaps[k]) {
			t.Fatalf("tick %d: another snapshot of what was restored", k)
		}
		c := newLibrary(t, evertick.Config{Capacity: 300})
		if err := c.CopyFrom(s); err != nil {
			t.Fatal(err)
		}
		follow("restored", s)
		follow("copied", c)
	}
	for _, back := range []uint64{1, 8, 25} {
		if err := first.StepBack(back); err != nil {
			t.Fatal(err)
		}
		if at := last - int(back); first.Hash() != hashes[at-1] || !bytes.Equal(snapshot(t, first), snaps[at]) {
			t.Fatalf("another state %d ticks back", back)
		}
		if err := first.Forward(back); err != nil || first.Hash() != hashes[last-1] {
			t.Fatal("another state after Forward", err)
		}
	}

	other := newLibrary(t, evertick.Config{Capacity: 200})
	follow("alone", other)
	mesh, _ := other.World.Blobs("mesh")
	id := spawn(t, other)
	spawn(t, first)
	if err := mesh.Set(id, []byte("tree.glb")); err != nil {
		t.Fatal(err)
	}
	if d, _ := evertick.Diff(first, other); !strings.HasPrefix(d.String(), "entities: blob of mesh, slot ") || !strings.HasSuffix(d.String(), `: none and "tree.glb"`) {
		t.Error(d)
	}
}

// TestBlobsOfASimAllocateNothing: neither ticks that set blobs nor copies of the Sim.
func TestBlobsOfASimAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := newLibrary(t, evertick.Config{Capacity: 200})
	step(t, s, 50)
	saved, other := snapshot(t, s), newLibrary(t, evertick.Config{Capacity: 200})
	round := func() {
		if err := errors.Join(s.Restore(saved), other.CopyFrom(s)); err != nil {
			t.Fatal(err)
		}
		step(t, s, 20)
	}
	for range 3 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestCheckAccessOfBlobs: a change of blobs that a system has not declared is named, also if it is
// the first blob of the name, or the last.
func TestCheckAccessOfBlobs(t *testing.T) {
	for _, c := range []struct {
		name, writes, says string
		run                func(b *ecs.Blobs, a, none ecs.ID) error
	}{
		{"declared", "blob.mesh", "", func(b *ecs.Blobs, a, none ecs.ID) error { return b.Set(none, nil) }},
		{"changed", "blob.new", "wrote blob.mesh,", func(b *ecs.Blobs, a, none ecs.ID) error { return b.Set(a, []byte("b")) }},
		{"added", "blob.new", "wrote blob.mesh,", func(b *ecs.Blobs, a, none ecs.ID) error { return b.Set(none, nil) }},
		{"last", "blob.new", "wrote blob.mesh,", func(b *ecs.Blobs, a, none ecs.ID) error { b.Unset(a); return nil }},
		{"nothing", "blob.new", "", func(b *ecs.Blobs, a, none ecs.ID) error { b.Unset(none); return b.Set(a, []byte("a")) }},
		{"first", "blob.mesh", "wrote blob.new,", nil},
		{"unknown", "mesh", `Writes = "mesh", which is no column, tag, blob, state or resource`, nil},
	} {
		s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: true})
		mesh, err := s.World.Blobs("mesh")
		empty, also := s.World.Blobs("new")
		a, none := spawn(t, s), spawn(t, s)
		sys := evertick.System{Name: "culprit", Writes: []string{c.writes}, Run: func(*evertick.Tick) error {
			if c.run == nil {
				return empty.Set(a, nil)
			}
			return c.run(mesh, a, none)
		}}
		if err := errors.Join(err, also, mesh.Set(a, []byte("a")), s.AddSystem(sys)); err != nil {
			t.Fatal(err)
		}
		if err = s.Step(); c.says == "" && err != nil || c.says != "" && !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
