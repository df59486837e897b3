package handle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The pool agrees with a model that searches from zero.
func TestIndicesComeLowestFirst(t *testing.T) {
	const seed, limit = 1, 200
	rng := rand.New(rand.NewPCG(seed, seed))
	p := NewPool(limit, 0)
	var live [limit]bool
	var generation [limit]uint32
	count := 0
	for range 20_000 {
		if rng.IntN(2) == 0 {
			i, ok := p.Next()
			if want := slices.Index(live[:], false); ok != (want >= 0) || ok && i != want {
				t.Fatalf("Next = %d, %v; want %d", i, ok, want)
			}
			if ok {
				g := p.Claim(i)
				if g != generation[i]+1 {
					t.Fatalf("generation of %d is %d after %d", i, g, generation[i])
				}
				live[i], generation[i] = true, g
				count++
			}
		} else if i := rng.IntN(limit); live[i] {
			p.Release(i)
			live[i] = false
			count--
		}
		if p.Live() != count || p.Room() != limit-count {
			t.Fatalf("Live %d, Room %d, want %d and %d", p.Live(), p.Room(), count, limit-count)
		}
		i := rng.IntN(limit)
		if p.Occupied(i) != live[i] || p.Holds(uint32(i), generation[i]) != live[i] || p.Holds(uint32(i), generation[i]+1) {
			t.Fatalf("row %d: Occupied %v, want %v", i, p.Occupied(i), live[i])
		}
	}
	restored, copied := NewPool(limit, 0), NewPool(limit, 0)
	restored.Reset(p.Used())
	copy(restored.Generation, p.Generation)
	for i := range p.Used() {
		restored.SetLive(i, live[i])
	}
	copied.CopyFrom(&p)
	for range limit - count {
		want, _ := p.Next()
		for _, q := range []*Pool{&restored, &copied} {
			if i, ok := q.Next(); !ok || i != want || q.Live() != p.Live() {
				t.Fatalf("Next of a copy is %d, %v, want %d", i, ok, want)
			}
		}
		g := p.Claim(want)
		if a, b := restored.Claim(want), copied.Claim(want); a != g || b != g {
			t.Fatalf("generation %d, of copies %d and %d", g, a, b)
		}
	}
}

func TestLastGenerationRetiresAnIndex(t *testing.T) {
	p := NewPool(2, 2)
	p.Claim(0)
	p.Generation[0] = math.MaxUint32
	p.Release(0)
	if i, ok := p.Next(); i != 1 || !ok || p.Room() != 1 || p.Occupied(0) || p.Holds(0, 0) {
		t.Errorf("Next = %d, %v, Room %d", i, ok, p.Room())
	}
	q := NewPool(2, 0)
	q.Reset(1)
	q.Generation[0] = 0
	q.SetLive(0, false)
	if i, _ := q.Next(); i != 1 || q.Room() != 1 {
		t.Errorf("restored: Next = %d, Room %d", i, q.Room())
	}
}
