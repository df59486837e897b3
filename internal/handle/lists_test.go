package handle

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Lists agree with a slice for each owner.
func TestListsAgreeWithSlices(t *testing.T) {
	const owners, items = 7, 60
	rng := rand.New(rand.NewPCG(3, 4))
	l := MakeLists(owners)
	l.Grow(items)
	var model [owners][]int
	for step := range 3000 {
		if item := rng.IntN(items); l.Owner[item] == None {
			o := rng.IntN(owners)
			l.Link(item, o)
			model[o] = slices.Insert(model[o], 0, item)
		} else {
			o := l.Owner[item]
			l.Unlink(item)
			model[o] = slices.DeleteFunc(model[o], func(i int) bool { return i == item })
		}
		if step == 2000 {
			other := MakeLists(owners + 1)
			other.CopyFrom(&l, owners)
			l = other
		}
		for o, want := range model {
			if got := slices.Collect(l.Of(o)); !slices.Equal(got, want) {
				t.Fatalf("step %d: owner %d has %v, want %v", step, o, got, want)
			}
		}
	}
	for range l.Of(0) {
		break // the iterator stops
	}
	l.Reset(2)
	if l.First(0) != 0 || len(l.Owner) != 2 || l.First(99) != 0 {
		t.Errorf("after Reset: first %d, %d items", l.First(0), len(l.Owner))
	}
}

// Joints agree with a list of pairs.
func TestJointsAgreeWithPairs(t *testing.T) {
	const bodies, limit = 5, 30
	rng := rand.New(rand.NewPCG(5, 6))
	table := NewJoints(limit)
	if table.Used() || table.First(3) != 0 {
		t.Error("a new table has joints")
	}
	model := map[int][2]int{}
	for step := range 2000 {
		if i, ok := table.IDs.Next(); ok && rng.IntN(2) == 0 {
			a := rng.IntN(bodies)
			b := (a + 1 + rng.IntN(bodies-1)) % bodies
			if g := table.Add(i, a, b, bodies); !table.IDs.Holds(uint32(i), g) {
				t.Fatalf("joint %d does not live", i)
			}
			model[i] = [2]int{a, b}
		} else if i := rng.IntN(limit); table.IDs.Occupied(i) {
			table.Release(i)
			delete(model, i)
		}
		if step == 1000 {
			other := NewJoints(limit)
			other.CopyFrom(&table, bodies, bodies+3)
			table = other
		}
		if step == 1500 {
			other := NewJoints(limit)
			other.Reset(table.IDs.Used(), bodies)
			copy(other.IDs.Generation, table.IDs.Generation)
			for i := range table.IDs.Used() {
				ends, live := model[i]
				other.IDs.SetLive(i, live)
				if live {
					other.LinkEnds(i, ends[0], ends[1])
				}
			}
			table = other
		}
		var want, got [bodies]int
		for i, ends := range model {
			if a, b := table.Bodies(i); ends != [2]int{int(a), int(b)} {
				t.Fatalf("joint %d joins %d and %d, want %v", i, a, b, ends)
			}
			want[ends[0]]++
			want[ends[1]]++
		}
		for body := range bodies {
			for end := range table.Of(body) {
				if ends := model[end/2]; ends[end%2] != body {
					t.Fatalf("body %d has end %d of %v", body, end, ends)
				}
				got[body]++
			}
			if table.Used() && int(table.Count[body]) != want[body] {
				t.Fatalf("Count[%d] = %d, want %d", body, table.Count[body], want[body])
			}
		}
		if got != want {
			t.Fatalf("step %d: %v ends, want %v", step, got, want)
		}
	}
}
