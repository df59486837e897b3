package ecs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// run is the rows lo to hi-1.
type run struct{ lo, hi int }

// runsOf returns the runs of slots, one slot after the other.
func runsOf(slots []Slot) (runs []run) {
	for _, s := range slots {
		if n := len(runs); n > 0 && runs[n-1].hi == int(s) {
			runs[n-1].hi++
		} else {
			runs = append(runs, run{int(s), int(s) + 1})
		}
	}
	return runs
}

// clusters returns a world in which a tag is on runs of random lengths, free rows between them included.
func clusters(t *testing.T, rng *rand.Rand, capacity, rows int) (*World, Tag) {
	w := newWorld(t, capacity)
	ids := make([]ID, rows)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	a := tag(t, w, "a")
	longest := 1 + rng.IntN(200)
	for i, on := 0, rng.IntN(2) == 0; i < rows; on = !on {
		n := min(rows-i, 1+rng.IntN(longest))
		if on {
			a.SetAll(ids[i : i+n])
		}
		i += n
	}
	for range rng.IntN(1 + rows/20) {
		w.Despawn(ids[rng.IntN(rows)])
	}
	return w, a
}

func TestRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	type size struct{ capacity, rows int }
	sizes := []size{{1, 0}, {1, 1}, {63, 63}, {64, 64}, {65, 65}, {128, 128}, {200, 64}, {200, 128}, {200, 129}}
	for range 200 {
		rows := rng.IntN(1000)
		sizes = append(sizes, size{max(1, rows+rng.IntN(2)*rng.IntN(200)), rows})
	}
	joined, word := 0, 0 // runs across words, and those that end with one
	for _, s := range sizes {
		w, a := clusters(t, rng, s.capacity, s.rows)
		for _, terms := range [][]Term{nil, {With(a)}, {Without(a)}, {Any()}} {
			q := w.NewQuery(terms...)
			visited := slices.Collect(w.Query(terms...))
			want := runsOf(visited)
			if slots := q.Slots(nil); !slices.Equal(slots, visited) {
				t.Fatalf("%v: Slots %v, want %v", s, slots, visited)
			}
			var got, uncached []run
			for lo, hi := range q.Runs() {
				got = append(got, run{lo, hi})
			}
			for lo, hi := range w.Runs(terms...) {
				uncached = append(uncached, run{lo, hi})
			}
			if !slices.Equal(got, want) || !slices.Equal(uncached, want) {
				t.Fatalf("%v: Query.Runs %v, World.Runs %v, want %v", s, got, uncached, want)
			}
			for _, r := range want {
				if r.lo/64 != (r.hi-1)/64 {
					joined++
				}
				if r.hi%64 == 0 {
					word++
				}
			}
		}
	}
	if joined == 0 || word == 0 {
		t.Error(joined, word)
	}
}

// TestIterationsWhileTagging: All visits a slot if it matches when it is reached, and Runs yields what matches
// from the end of the last run on, also while the body uses the same query.
func TestIterationsWhileTagging(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			w, a := clusters(t, rng, 700, 600)
			q := w.NewQuery(With(a))
			// change changes some tags near a row, or anywhere, and sometimes makes the query compute its cache.
			change := func(near int) {
				for range rng.IntN(4) {
					slot := near - 5 + rng.IntN(80)
					if rng.IntN(3) == 0 {
						slot = rng.IntN(600)
					}
					if id, ok := w.ID(Slot(max(0, slot))); ok {
						switch rng.IntN(3) {
						case 0:
							a.Unset(id)
						case 1:
							a.Set(id)
						}
					}
				}
				switch rng.IntN(4) {
				case 0:
					q.Count()
				case 1:
					for range q.All() {
						break
					}
				}
			}
			next := 0 // the first row that the iteration has not reached
			reach := func(slot int) {
				t.Helper()
				if slot < next {
					t.Fatalf("row %d was visited before", slot)
				}
				for ; next < slot; next++ {
					if a.set.has(Slot(next)) {
						t.Fatalf("row %d was left out", next)
					}
				}
			}
			visit := func(s Slot) {
				reach(int(s))
				if !a.set.has(s) {
					t.Fatalf("row %d does not match", s)
				}
				next++
				change(next)
			}
			for s := range q.All() {
				visit(s)
			}
			reach(w.Cap())
			next = 0
			for s := range w.Query(With(a)) {
				visit(s)
			}
			reach(w.Cap())

			visitRun := func(lo, hi int) {
				reach(lo)
				for ; next < hi; next++ {
					if !a.set.has(Slot(next)) {
						t.Fatalf("row %d does not match", next)
					}
				}
				if hi < w.Cap() && a.set.has(Slot(hi)) {
					t.Fatalf("the run ends before %d, which matches", hi)
				}
				change(hi)
			}
			next = 0
			for lo, hi := range q.Runs() {
				visitRun(lo, hi)
			}
			reach(w.Cap())
			next = 0
			for lo, hi := range w.Runs(With(a)) {
				visitRun(lo, hi)
			}
			reach(w.Cap())
		})
	}
}

// TestRunsWhileEntitiesChange: Runs panics after a body in which entities came or went, unless the body ends the
// iteration. It leaves no lock.
func TestRunsWhileEntitiesChange(t *testing.T) {
	w := newWorld(t, 300)
	ids := make([]ID, 200)
	w.SpawnN(ids)
	q := w.NewQuery()
	snap := w.Snapshot(nil)
	other := w.Clone()
	id, last := ids[7], ids[199]
	const moved = "ecs: entities came or went in the body of Runs: record it in Commands"
	for name, change := range map[string]func(){
		"Spawn":                   func() { w.Spawn() },
		"SpawnN":                  func() { w.SpawnN(make([]ID, 2)) },
		"Despawn":                 func() { w.Despawn(id) },
		"DespawnN":                func() { w.DespawnN(ids[:2]) },
		"DespawnWhere":            func() { w.DespawnWhere() },
		"Restore":                 func() { w.Restore(snap) },
		"CopyFrom":                func() { w.CopyFrom(other) },
		"Despawn the last, Spawn": func() { w.Despawn(last); w.Spawn() },
	} {
		for _, runs := range []func(){
			func() {
				for range w.Runs() {
					change()
				}
			},
			func() {
				for range q.Runs() {
					change()
				}
			},
			func() {
				for range q.Runs() {
					for range q.Runs() {
						change()
						break
					}
				}
			},
		} {
			wantPanic(t, moved, runs)
			if err := w.Restore(snap); err != nil {
				t.Fatal(err)
			}
		}
		for range w.Runs() {
			change()
			break
		}
		if err := w.Restore(snap); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for range q.Runs() {
		w.Despawn(last + 1000) // no such entity
		w.SpawnN(nil)          // none
		for range w.Query() {  // this one locks
			wantPanic(t, "ecs: entities must not come or go while a query iterates, an observer runs or a handle is released: record it in Commands", func() { w.Spawn() })
			break
		}
	}
	spawn(t, w)
}

func TestRunsMisuse(t *testing.T) {
	w, other := newWorld(t, 1), newWorld(t, 1)
	runs := w.Runs(With(tag(t, other, "a")))
	wantPanic(t, "ecs: Query with a zero Tag, or one of another world", func() {
		for range runs {
		}
	})
}

// TestIteratorsAreReusable: an iterator that is kept sees the world as it is when an iteration begins.
func TestIteratorsAreReusable(t *testing.T) {
	w := newWorld(t, 300)
	all, runs := w.Query(), w.Runs()
	for n := range 200 {
		count, rows := 0, 0
		for range all {
			count++
		}
		for lo, hi := range runs {
			rows += hi - lo
		}
		if count != n || rows != n {
			t.Fatal(n, count, rows)
		}
		spawn(t, w)
	}
}
