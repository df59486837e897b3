package handle

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Shared is never false while two bodies drive one slot, and false again after Rebuild without such a slot.
func TestSlotsSeeShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var u Slots
	var driven []uint32
	shared := func() bool {
		sorted := slices.Clone(driven)
		slices.Sort(sorted)
		for i, s := range sorted {
			if s != None && (s >= MaxSlot || i > 0 && s == sorted[i-1]) {
				return true
			}
		}
		return false
	}
	seen := [2]int{}
	for step := range 4000 {
		if n := len(driven); n > 0 && rng.IntN(2) == 0 {
			i := rng.IntN(n)
			u.Remove(driven[i])
			driven = slices.Delete(driven, i, i+1)
		} else {
			slot := rng.Uint32N(300)
			if rng.IntN(20) == 0 {
				slot = []uint32{None, MaxSlot}[rng.IntN(2)]
			}
			u.Add(slot)
			driven = append(driven, slot)
		}
		want := shared()
		if want && !u.Shared {
			t.Fatalf("step %d: a shared slot is not seen in %v", step, driven)
		}
		if rng.IntN(8) == 0 {
			if u.Rebuild(driven); u.Shared != want {
				t.Fatalf("step %d: Shared = %v after Rebuild", step, u.Shared)
			}
		}
		if want {
			seen[1]++
		} else {
			seen[0]++
		}
	}
	if seen[0] < 100 || seen[1] < 100 {
		t.Errorf("shared or not: %v", seen)
	}
}

func TestSlotSet(t *testing.T) {
	var s SlotSet
	for _, slot := range []uint32{200, 3, 3, MaxSlot, None, 64} {
		s.Add(slot)
	}
	to := make([]uint32, 201)
	to[3], to[64], to[200] = 900, None, 1
	s.Move(to)
	if got := s.Take([]uint32{7}); !slices.Equal(got, []uint32{7, 1, 900}) {
		t.Errorf("got %v", got)
	}
	if got := s.Take(nil); len(got) > 0 {
		t.Errorf("again: %v", got)
	}
	s.Move(to)
	s.Add(5)
	s.Move(to[:5])
	if got := s.Take(nil); len(got) > 0 {
		t.Errorf("a row that is gone: %v", got)
	}
}

// Pairs agree with a map.
func TestPairsAgreeWithMap(t *testing.T) {
	const bodies = 9
	rng := rand.New(rand.NewPCG(2, 9))
	p, model := NewPairs(bodies), map[[2]int]bool{}
	for step := range 3000 {
		a := rng.IntN(bodies)
		b := (a + 1 + rng.IntN(bodies-1)) % bodies
		pair := [2]int{min(a, b), max(a, b)}
		switch rng.IntN(20) {
		default:
			p.Add(a, b)
			model[pair] = true
		case 0, 1, 2, 3, 4, 5, 6, 7:
			p.Remove(a, b)
			delete(model, pair)
		case 8:
			p.RemoveBody(a)
			for k := range model {
				if k[0] == a || k[1] == a {
					delete(model, k)
				}
			}
		case 9:
			other := NewPairs(bodies + 1)
			other.Add(0, 8)
			other.Set(p.Keys)
			p = other
		}
		if len(p.Keys) != len(model) || p.Empty() != (len(model) == 0) || !slices.IsSorted(p.Keys) {
			t.Fatalf("step %d: keys %x, want %v", step, p.Keys, model)
		}
		for a := range bodies {
			for b := range bodies {
				if a != b && p.Has(a, b) != model[[2]int{min(a, b), max(a, b)}] {
					t.Fatalf("step %d: Has(%d, %d) = %v", step, a, b, p.Has(a, b))
				}
			}
		}
	}
}

func TestShapes(t *testing.T) {
	s := NewShapes(10, 3)
	for i := range 5 {
		next, _ := s.IDs.Next()
		if g := s.Add(next, i%2, uint64(10+i)); next != i || g != 1 {
			t.Fatalf("shape %d, generation %d", next, g)
		}
	}
	s.Release(2)
	if next, _ := s.IDs.Next(); next != 2 || s.Digest[2] != 0 || !slices.Equal(slices.Collect(s.Of(0)), []int{4, 0}) {
		t.Errorf("after Release: next %d, %v", next, slices.Collect(s.Of(0)))
	}
	if g := s.Add(2, 2, 7); g != 2 || s.Digest[2] != 7 {
		t.Errorf("generation %d, digest %d", g, s.Digest[2])
	}
	copied := NewShapes(10, 4)
	copied.CopyFrom(&s, 3)
	s.ReleaseAll(1)
	if s.First(1) != 0 || s.IDs.Live() != 3 {
		t.Errorf("%d live after ReleaseAll", s.IDs.Live())
	}
	if !slices.Equal(slices.Collect(copied.Of(1)), []int{3, 1}) || copied.IDs.Live() != 5 || copied.Digest[4] != 14 {
		t.Errorf("copied: %v, %d live", slices.Collect(copied.Of(1)), copied.IDs.Live())
	}
	if copied.Reset(2); copied.First(1) != 0 || len(copied.Digest) != 2 || copied.Digest[0] != 0 || copied.Owner[1] != None {
		t.Errorf("after Reset: digests %v", copied.Digest)
	}
}
