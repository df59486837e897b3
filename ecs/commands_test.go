package ecs

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

func apply(t testing.TB, w *World, lists ...*Commands) Applied {
	t.Helper()
	a, err := w.Apply(lists...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestCommands(t *testing.T) {
	w := newWorld(t, 10)
	hp, _ := AddColumn[int64](w, "hp")
	path, _ := AddArrayColumn[[3]uint16](w, "path")
	marked := tag(t, w, "marked")
	old, gone := spawn(t, w), spawn(t, w)
	c := w.NewCommands()
	for range w.Query() { // for each of two entities
		id := c.Spawn()
		if _, ok := w.Slot(id); ok || w.Len() != 2 {
			t.Fatal("a recorded spawn has taken place")
		}
		c.Set(marked, id)
		Write(c, hp, id, -5)
		Write(c, path, id, [3]uint16{1, 2, 3})
		if err := c.SetPosition(id, 1, 2, 3); err != nil {
			t.Fatal(err)
		}
	}
	first := c.firstProvisional()
	c.Despawn(gone)
	Write(c, hp, gone, 7) // stale by then: its value is skipped
	if err := c.SetRotation(old, 0, 1, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.SetScale(old, 4, 5, 6); err != nil {
		t.Fatal(err)
	}
	c.Set(marked, old)
	c.Unset(marked, first+1)
	if a := apply(t, w, c); a != (Applied{Spawned: 2, Despawned: 1, Tagged: 3, Untagged: 1, Written: 8, Stale: 1}) {
		t.Errorf("%+v", a)
	}
	if c.Len() != 0 || c.Spawned(0) != 3 || c.Spawned(1) != 4 || c.Resolve(first) != 3 || c.Resolve(first+1) != 4 || c.Resolve(old) != old {
		t.Error("wrong spawned ids")
	}
	for slot := Slot(2); slot < 4; slot++ {
		if w.Position.Z[slot] != 3 || hp.Values()[slot] != -5 || path.Values()[slot] != [3]uint16{1, 2, 3} {
			t.Errorf("slot %d has other values than were written", slot)
		}
	}
	if w.Rotation.Y[0] != 1 || w.Rotation.W[0] != 0 || w.Scale.Z[0] != 6 || !marked.Has(old) || !marked.Has(3) || marked.Has(4) {
		t.Error("the old entity has other values than were written")
	}
	if a := apply(t, w, c, w.NewCommands()); a != (Applied{}) {
		t.Errorf("empty lists do %+v", a)
	}
	apply(t, w)
}

// Every column that was written has one new version, the others have none.
func TestApplyTouches(t *testing.T) {
	w := newWorld(t, 10)
	hp, _ := AddColumn[int8](w, "hp")
	mp, _ := AddColumn[int8](w, "mp")
	id := spawn(t, w)
	c := w.NewCommands()
	for range 3 {
		Write(c, hp, id, 1)
		if err := c.SetScale(id, 1, 1, 1); err != nil {
			t.Fatal(err)
		}
	}
	Write(c, mp, 99, 1)
	apply(t, w, c)
	if w.LastTouch() != 2 || w.Scale.Version() != 1 || hp.Version() != 2 || mp.Version() != 0 || w.Position.Version() != 0 {
		t.Errorf("versions %d: scale %d, hp %d, mp %d", w.LastTouch(), w.Scale.Version(), hp.Version(), mp.Version())
	}
}

func TestWrittenTogether(t *testing.T) {
	w := newWorld(t, 1)
	for first, m := range map[int]*changeVersion{positionColumn: w.Position.version, rotationColumn: w.Rotation.version, scaleColumn: w.Scale.version} {
		if c := w.registered[first]; c.version != m || first > 0 && w.registered[first-1].version == m {
			t.Errorf("column %d is %s", first, c.name)
		}
	}
}

func TestCommandsNotFinite(t *testing.T) {
	w := newWorld(t, 1)
	c := w.NewCommands()
	nan := float32(0)
	nan /= nan
	wantError(t, c.SetPosition(1, 0, nan, 0), ErrNotFinite, "Commands.SetPosition.Y = NaN")
	wantError(t, c.SetScale(1, nan, 0, 0), ErrNotFinite, "Commands.SetScale.X = NaN")
	wantError(t, c.SetRotation(1, 0, 0, 0, 1/float32(c.Len())), ErrNotFinite, "Commands.SetRotation.W = +Inf")
	if c.Len() != 0 {
		t.Error("a refused value is recorded")
	}
}

// For each spawn, the room after the commands before it counts.
func TestApplyCapacity(t *testing.T) {
	full := func() (*World, *Commands, *Commands) {
		w := newWorld(t, 3)
		w.SpawnN(make([]ID, 3))
		return w, w.NewCommands(), w.NewCommands()
	}
	refused := func(w *World, list, command int, lists ...*Commands) {
		t.Helper()
		hash, a, b := w.Hash(), lists[0].Len(), lists[1].Len()
		_, err := w.Apply(lists...)
		wantError(t, err, ErrCapacity, fmt.Sprintf("Apply lists[%d]: command[%d] = Spawn", list, command))
		if w.Hash() != hash || lists[0].Len() != a || lists[1].Len() != b || w.despawning.to != 0 || native.CountRows(w.despawning.words) != 0 {
			t.Error("a refused Apply changed something")
		}
	}
	w, a, b := full() // a despawn frees one slot, however often it is recorded
	a.Despawn(2)
	a.Despawn(2)
	b.Despawn(2)
	b.Spawn()
	b.Spawn()
	refused(w, 1, 2, a, b)
	refused(w, 0, 2, b, a)
	a.Despawn(1)
	if got := apply(t, w, a, b); got != (Applied{Spawned: 2, Despawned: 2, Stale: 2}) {
		t.Errorf("%+v", got)
	}

	w, a, b = full() // spawned entities may be despawned, by either id
	a.Despawn(1)
	for range 3 {
		a.Despawn(a.Spawn())
	}
	a.Spawn()
	b.Spawn()
	refused(w, 1, 0, a, b)
	a.Despawn(7) // spawned above
	a.Despawn(7)
	a.Despawn(8) // does not exist yet
	if got := apply(t, w, a, b); got != (Applied{Spawned: 5, Despawned: 5, Stale: 2}) || w.Len() != 3 {
		t.Errorf("%+v, %d alive", got, w.Len())
	}
	a.Spawn()
	refused(w, 0, 0, a, b)
	a.Reset()
	apply(t, w, a, b)
}

func TestCommandsMisuse(t *testing.T) {
	w, other := newWorld(t, 9), newWorld(t, 9)
	c, d := w.NewCommands(), w.NewCommands()
	foreign, _ := AddColumn[int8](other, "hp")
	const ofAnother = "ecs: Commands with a provisional id of another list, or of one applied before"
	wantPanic(t, "ecs: Commands with a tag of another world", func() { c.Set(tag(t, other, "a"), 1) })
	wantPanic(t, "ecs: Commands with a tag of another world", func() { c.Unset(Tag{}, 1) })
	wantPanic(t, "ecs: Commands with a column of another world", func() { Write(c, foreign, 1, 1) })
	wantPanic(t, "ecs: Commands with a column of another world", func() { Write(c, &Column[int8]{}, 1, 1) })
	wantPanic(t, "ecs: use of Commands that NewCommands did not make", func() { new(Commands).Spawn() })
	wantPanic(t, "ecs: Apply of Commands of another world", func() { w.Apply(c, other.NewCommands()) })
	wantPanic(t, "ecs: Apply of Commands of another world", func() { w.Apply(c, nil) })
	wantPanic(t, "ecs: Apply of one list twice", func() { w.Apply(c, d, c) })
	mine, alien := c.Spawn(), d.Spawn()
	wantPanic(t, ofAnother, func() { c.Despawn(alien) })
	wantPanic(t, ofAnother, func() { c.Despawn(mine + 1) })
	wantPanic(t, "ecs: Commands.Resolve: not of this list as it was applied last", func() { c.Resolve(mine) })
	wantPanic(t, "ecs: entities must not come or go while a query iterates, an observer runs or a handle is released: record it in Commands", func() {
		spawn(t, w)
		for range w.Query() {
			w.Apply(c)
		}
	})
	apply(t, w, c)
	again := c.Spawn()
	wantPanic(t, ofAnother, func() { c.Despawn(mine) })
	c.Reset()
	wantPanic(t, ofAnother, func() { c.Despawn(again) })
	if c.Resolve(mine) != 2 || c.Len() != 0 {
		t.Error("a Reset forgets what was applied")
	}
	wantPanic(t, "ecs: Commands.Spawned: index out of range", func() { c.Spawned(1) })
	wantPanic(t, "ecs: Commands.Resolve: not of this list as it was applied last", func() { c.Resolve(again) })
}

// What observers record during an Apply waits for the next, also in a list that is
// applied later, and provisional ids of both rounds differ.
func TestObserversRecord(t *testing.T) {
	w := newWorld(t, 100)
	c, later := w.NewCommands(), w.NewCommands()
	var shards []ID
	w.OnDespawn(func(id ID, _ Slot) {
		shard := later.Spawn()
		if err := later.SetPosition(shard, float32(id), 0, 0); err != nil {
			t.Error(err)
		}
		shards = append(shards, shard)
		c.Despawn(id) // twice: stale then
	})
	w.SpawnN(make([]ID, 3))
	later.Despawn(later.Spawn())
	c.Despawn(1)
	c.Despawn(3)
	if a := apply(t, w, c, later); a != (Applied{Spawned: 1, Despawned: 3}) || w.Len() != 1 || later.Len() != 6 || c.Len() != 3 {
		t.Errorf("%+v, %d alive, %d and %d recorded", a, w.Len(), c.Len(), later.Len())
	}
	if a := apply(t, w, c, later); a != (Applied{Spawned: 3, Written: 3, Stale: 3}) || c.Len() != 0 || later.Len() != 0 {
		t.Errorf("%+v", a)
	}
	for i, x := range []float32{1, 3, 4} {
		slot, ok := w.Slot(later.Resolve(shards[i]))
		if !ok || w.Position.X[slot] != x {
			t.Errorf("%v is not at %g", later.Resolve(shards[i]), x)
		}
	}
}

// A panic in an observer ends an Apply; the lists can be used again.
func TestApplyBrokenOff(t *testing.T) {
	w := newWorld(t, 10)
	c, d := w.NewCommands(), w.NewCommands()
	stop := w.OnSpawn(func(id ID, _ Slot) {
		if id == 2 {
			panic("enough")
		}
	})
	for range 3 {
		id := c.Spawn()
		d.Spawn()
		if err := c.SetPosition(id, 1, 2, 3); err != nil {
			t.Fatal(err)
		}
	}
	wantPanic(t, "enough", func() { w.Apply(c, d) })
	stop()
	if w.Len() != 2 || c.Len() != 0 || d.Len() != 0 || w.Position.Version() != 1 {
		t.Errorf("%d alive, %d and %d recorded, version %d", w.Len(), c.Len(), d.Len(), w.Position.Version())
	}
	c.Spawn()
	if a := apply(t, w, c, d); a != (Applied{Spawned: 1}) || c.Spawned(0) != 3 {
		t.Errorf("%+v", a)
	}
}

// watched logs all calls of observers of a world.
func watched(t testing.TB) (*World, Tag, *Column[int16], *[]string) {
	w := newWorld(t, 40)
	hp, _ := AddColumn[int16](w, "hp")
	marked := tag(t, w, "marked")
	log := new([]string)
	note := func(what string) func(ID, Slot) {
		return func(id ID, slot Slot) {
			*log = append(*log, fmt.Sprint(what, id, slot, hp.Values()[slot], w.Position.X[slot], marked.Has(id), w.Len()))
		}
	}
	w.OnSpawn(note("spawn"))
	w.OnDespawn(note("despawn"))
	marked.OnSet(note("set"))
	marked.OnUnset(note("unset"))
	return w, marked, hp, log
}

// Apply has the effect of calling the methods one by one.
func TestApplyIsCalling(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w, marked, hp, log := watched(t)
		one, oneMarked, oneHP, oneLog := watched(t)
		lists := []*Commands{w.NewCommands(), w.NewCommands(), w.NewCommands()}
		for range 5 {
			var want Applied
			for _, c := range lists {
				var born, names []ID
				for range rapid.IntRange(0, 20).Draw(r, "commands") {
					id := ID(rapid.Uint64Range(0, one.table.next+2).Draw(r, "id"))
					name := id
					if i := rapid.IntRange(-3, len(born)-1).Draw(r, "own"); i >= 0 {
						id, name = born[i], names[i]
					}
					v := rapid.Int16().Draw(r, "v")
					ok, n := false, (*int)(nil)
					switch rapid.IntRange(0, 5).Draw(r, "kind") {
					case 0:
						if one.Len() == one.Cap() {
							continue
						}
						names = append(names, c.Spawn())
						born = append(born, spawn(t, one))
						ok, n = true, &want.Spawned
					case 1:
						c.Despawn(name)
						ok, n = one.Despawn(id), &want.Despawned
					case 2:
						c.Set(marked, name)
						ok, n = oneMarked.Set(id), &want.Tagged
					case 3:
						c.Unset(marked, name)
						ok, n = oneMarked.Unset(id), &want.Untagged
					case 4:
						Write(c, hp, name, v)
						slot, found := one.Slot(id)
						if found {
							oneHP.Values()[slot] = v
						}
						ok, n = found, &want.Written
					case 5:
						if err := c.SetPosition(name, float32(v), 0, 0); err != nil {
							r.Fatal(err)
						}
						ok, n = one.SetPosition(id, float32(v), 0, 0) == nil, &want.Written
					}
					if !ok {
						n = &want.Stale
					}
					*n++
				}
			}
			if got := apply(t, w, lists...); got != want {
				r.Fatalf("%+v, want %+v", got, want)
			}
			if !slices.Equal(*log, *oneLog) {
				r.Fatalf("calls\n%s\nwant\n%s", strings.Join(*log, "\n"), strings.Join(*oneLog, "\n"))
			}
			if w.Hash() != one.Hash() || w.Version() != one.Version() {
				r.Fatal("the worlds differ")
			}
		}
	})
}

func TestCommandsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w := newWorld(t, 2000)
	hp, _ := AddColumn[float64](w, "hp")
	marked := tag(t, w, "marked")
	w.OnDespawn(func(ID, Slot) {})
	w.SpawnN(make([]ID, 1900))
	a, b := w.NewCommands(), w.NewCommands()
	round := func() {
		for slot := range w.Query() {
			id, _ := w.ID(slot)
			c := a
			if slot%2 == 1 {
				c = b
			}
			Write(c, hp, id, float64(slot))
			if slot%10 != 0 {
				continue
			}
			c.Despawn(id)
			next := c.Spawn()
			c.Set(marked, next)
			if err := c.SetPosition(next, 1, 2, 3); err != nil {
				t.Fatal(err)
			}
		}
		if got := apply(t, w, a, b); got.Spawned != 190 {
			t.Fatal(got)
		}
	}
	for range 20 { // a list has memory for two rounds; and pages of ids must become empty
		round()
	}
	if n := testing.AllocsPerRun(50, round); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// Any number of goroutines that process chunks of rows, each chunk with its own list, give
// one result.
func TestCommandsOfManyGoroutines(t *testing.T) {
	const chunks, rows = 13, 3000
	run := func(workers int) uint64 {
		w := newWorld(t, rows)
		hp, _ := AddColumn[uint32](w, "hp")
		marked := tag(t, w, "marked")
		w.SpawnN(make([]ID, rows*2/3))
		lists := make([]*Commands, chunks)
		for i := range lists {
			lists[i] = w.NewCommands()
		}
		work := func(chunk int) {
			c := lists[chunk]
			for slot := range w.Query(Without(marked)) {
				if int(slot)*chunks/rows != chunk {
					continue
				}
				id, _ := w.ID(slot)
				x := w.Position.X[slot]
				if err := c.SetPosition(id, x+float32(slot), 0, 0); err != nil {
					t.Error(err)
				}
				switch hp.Values()[slot] % 5 {
				case 1:
					c.Despawn(id)
				case 2:
					child := c.Spawn()
					Write(c, hp, child, uint32(slot))
					c.Set(marked, id)
				default:
					Write(c, hp, id, hp.Values()[slot]*7+uint32(slot)+1)
				}
			}
		}
		for range 8 {
			var wg sync.WaitGroup
			for worker := range workers {
				wg.Go(func() {
					for chunk := worker; chunk < chunks; chunk += workers {
						work(chunk)
					}
				})
			}
			wg.Wait()
			apply(t, w, lists...)
		}
		return w.Hash()
	}
	want := run(1)
	for _, workers := range []int{2, 7} {
		if got := run(workers); got != want {
			t.Errorf("%d goroutines: hash %#x, want %#x", workers, got, want)
		}
	}
}
