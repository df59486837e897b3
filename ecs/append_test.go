package ecs

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/internal/paritytest"
)

// Recording into several lists and appending them has the effect of recording into one.
func TestAppendIsRecording(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type side struct {
			w     *World
			hp    *Column[int32]
			mark  Tag
			main  *Commands
			lists []*Commands
		}
		newSide := func() *side {
			s := &side{w: newTestWorld(t, 64)}
			s.hp, _ = AddColumn[int32](s.w, "hp")
			s.mark, _ = s.w.Tag("mark")
			s.main = s.w.NewCommands()
			s.lists = []*Commands{s.w.NewCommands(), s.w.NewCommands()}
			return s
		}
		// Only commands of the same list can refer to its spawns.
		record := func(c *Commands, s *side, ops []int) {
			var born []ID
			for i, op := range ops {
				target := ID(1 + op%7)
				if len(born) > 0 && op%2 == 0 {
					target = born[op%len(born)]
				}
				switch op % 5 {
				case 0, 1:
					born = append(born, c.Spawn())
				case 2:
					c.Despawn(target)
				case 3:
					c.Set(s.mark, target)
				case 4:
					Write(c, s.hp, target, int32(i))
				}
			}
		}
		one, several := newSide(), newSide()
		for range 3 {
			for _, list := range rapid.SliceOfN(rapid.IntRange(0, 2), 0, 4).Draw(t, "lists") {
				ops := rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 8).Draw(t, "ops")
				record(one.main, one, ops)
				if list == 2 {
					record(several.main, several, ops)
					continue
				}
				record(several.lists[list], several, ops)
				several.main.Append(several.lists[list])
			}
			a, errA := one.w.Apply(one.main)
			b, errB := several.w.Apply(several.main)
			if a != b || (errA == nil) != (errB == nil) || one.w.Hash() != several.w.Hash() {
				t.Fatalf("one list does %+v, %v, several %+v, %v", a, errA, b, errB)
			}
			if errA != nil {
				return
			}
		}
	})
}

func newTestWorld(t *rapid.T, capacity int) *World {
	w, err := New(Config{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Provisional ids of a list resolve there, even after Append moved its commands.
func TestAppendResolves(t *testing.T) {
	w := newWorld(t, 20)
	main, a, b := w.NewCommands(), w.NewCommands(), w.NewCommands()
	for range 2 { // rounds
		zero := main.Spawn()
		a0, a1, b0 := a.Spawn(), a.Spawn(), b.Spawn()
		w0 := ID(w.table.next)
		main.Append(b)
		main.Append(a)
		one := main.Spawn()
		if main.Len() != 5 || a.Len() != 0 || b.Len() != 0 {
			t.Fatalf("%d, %d and %d commands", main.Len(), a.Len(), b.Len())
		}
		wantPanic(t, "ecs: Commands.Resolve: not of this list as it was applied last", func() { a.Resolve(a0) })
		apply(t, w, main)
		got := []ID{main.Resolve(zero), b.Resolve(b0), a.Resolve(a0), a.Resolve(a1), main.Resolve(one), a.Spawned(0), a.Spawned(1), b.Spawned(0)}
		want := []ID{w0, w0 + 1, w0 + 2, w0 + 3, w0 + 4, w0 + 2, w0 + 3, w0 + 1}
		if !slices.Equal(got, want) {
			t.Errorf("resolved to %v, want %v", got, want)
		}
		wantPanic(t, "ecs: Commands with a provisional id of another list, or of one applied before", func() { a.Despawn(a0) })
		a.Spawn()
		wantPanic(t, "ecs: Commands with a provisional id of another list, or of one applied before", func() { a.Despawn(a0) })
		a.Reset()
		wantPanic(t, "ecs: Commands.Spawned: index out of range", func() { b.Spawned(1) })
	}
	// A list that is applied again by itself has its own spawns.
	id := a.Spawn()
	apply(t, w, a)
	if got := a.Resolve(id); got != ID(w.table.next)-1 || a.Spawned(0) != got {
		t.Errorf("resolved to %v", got)
	}
}

func TestAppendMisuse(t *testing.T) {
	const message = "ecs: Commands.Append of a list of another world, or of itself"
	w, other := newWorld(t, 1), newWorld(t, 1)
	c := w.NewCommands()
	for _, bad := range []*Commands{nil, c, other.NewCommands(), new(Commands)} {
		wantPanic(t, message, func() { c.Append(bad) })
	}
	wantPanic(t, message, func() { new(Commands).Append(new(Commands)) })
}

func TestAppendAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w := newWorld(t, 10)
	main, a := w.NewCommands(), w.NewCommands()
	if n := testing.AllocsPerRun(100, func() {
		id := a.Spawn()
		a.SetPosition(id, 1, 2, 3)
		a.Despawn(id)
		main.Append(a)
		w.Apply(main)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// Versions depend neither on the order of touches nor on their number.
func TestHoldTouches(t *testing.T) {
	versions := func(touch func(w *World, hp, mp *Column[int32])) []uint64 {
		w := newWorld(t, 4)
		hp, _ := AddColumn[int32](w, "hp")
		mp, _ := AddColumn[int32](w, "mp")
		spawn(t, w)
		w.HoldTouches()
		touch(w, hp, mp)
		if w.LastTouch() != 0 || mp.Version() != 0 {
			t.Errorf("versions up to %d while touches are held", w.LastTouch())
		}
		w.ReleaseTouches()
		held := []uint64{w.Position.Version(), w.Rotation.Version(), hp.Version(), mp.Version(), w.LastTouch()}
		w.HoldTouches()
		w.ReleaseTouches()
		if w.LastTouch() != held[4] {
			t.Error("nothing was touched, but there is a new version")
		}
		w.Position.Touch()
		if w.Position.Version() != held[4]+1 {
			t.Errorf("version %d of the next touch", w.Position.Version())
		}
		return held
	}
	want := []uint64{1, 0, 2, 3, 3}
	if got := versions(func(w *World, hp, mp *Column[int32]) {
		mp.Touch()
		hp.Touch()
		hp.Touch()
		w.SetPosition(1, 1, 1, 1)
	}); !slices.Equal(got, want) {
		t.Errorf("versions %v, want %v", got, want)
	}
	if got := versions(func(w *World, hp, mp *Column[int32]) {
		var all sync.WaitGroup
		for _, touch := range []func(){w.Position.Touch, mp.Touch, hp.Touch} {
			all.Go(touch)
		}
		all.Wait()
	}); !slices.Equal(got, want) {
		t.Errorf("side by side: versions %v, want %v", got, want)
	}
}
