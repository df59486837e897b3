package rigid3

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
)

// randomPairs draws ascending pairs of few shapes, so that two draws share many.
func randomPairs(rng *rand.Rand) *broad.Pairs {
	p := &broad.Pairs{}
	for a := range uint32(12) {
		for b := a + 1; b < 12; b++ {
			if rng.IntN(3) > 0 {
				p.A, p.B = append(p.A, a), append(p.B, b)
			}
		}
	}
	return p
}

func randomManifolds(rng *rand.Rand, n int) []Manifold {
	m := make([]Manifold, n)
	for i := range m {
		m[i].Count = rng.Uint32N(MaxPoints + 1)
		first := rng.Uint32N(6)
		for k := range m[i].Count {
			m[i].Points[k].ID = (first + k) % 6
		}
	}
	return m
}

// solve gives contacts impulses as a step would.
func solve(rng *rand.Rand, contacts []Contact) {
	for i := range contacts {
		c := &contacts[i]
		if c.Count == 0 {
			continue
		}
		draw := func() Vec { return Vec{rng.Float32(), rng.Float32(), rng.Float32()} }
		c.Tangent, c.Twist, c.Rolling, c.Flags = draw(), rng.Float32(), draw(), rng.Uint32()&^FlagBase
		for k := range c.Normal[:c.Count] {
			c.Normal[k].Impulse = rng.Float32()
		}
	}
}

// matched is the comment of MatchContacts with maps.
func matched(old []Contact, pairs *broad.Pairs, manifolds []Manifold) (out []Contact, began, ended [][2]uint32) {
	before, now := map[[2]uint32]Contact{}, map[[2]uint32]bool{}
	for _, c := range old {
		if c.Count > 0 {
			before[[2]uint32{c.A, c.B}] = c
		}
	}
	for i, m := range manifolds {
		key := [2]uint32{pairs.A[i], pairs.B[i]}
		c := Contact{A: key[0], B: key[1], Count: m.Count}
		last, was := before[key]
		for k := range m.Points[:m.Count] {
			c.Normal[k].ID = m.Points[k].ID
			for _, q := range last.Normal[:last.Count] {
				if q.ID == m.Points[k].ID {
					c.Normal[k] = q
				}
			}
		}
		if m.Count > 0 {
			now[key] = true
			c.Tangent, c.Twist, c.Rolling, c.Flags = last.Tangent, last.Twist, last.Rolling, last.Flags
			if !was {
				began = append(began, key)
			}
		}
		out = append(out, c)
	}
	for key := range before {
		if !now[key] {
			ended = append(ended, key)
		}
	}
	slices.SortFunc(ended, func(a, b [2]uint32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return out, began, ended
}

func zip(p *broad.Pairs) (out [][2]uint32) {
	for i := range p.A {
		out = append(out, [2]uint32{p.A[i], p.B[i]})
	}
	return out
}

// noneRecycled is what Recycle makes of n pairs if it recycles none.
func noneRecycled(n int) []int32 { return slices.Repeat([]int32{NotRecycled}, n) }

func TestMatch(t *testing.T) {
	const seed = 12
	rng := rand.New(rand.NewPCG(seed, seed))
	var old []Contact
	var began, ended broad.Pairs
	for step := range 500 {
		pairs := randomPairs(rng)
		manifolds := randomManifolds(rng, len(pairs.A))
		want, wantBegan, wantEnded := matched(old, pairs, manifolds)
		got := make([]Contact, len(pairs.A))
		recycled := noneRecycled(len(got))
		if step%2 == 0 {
			recycled = nil
		}
		MatchContacts(old, recycled, pairs, manifolds, got, &began, &ended)
		if !slices.Equal(got, want) || !slices.Equal(zip(&began), wantBegan) || !slices.Equal(zip(&ended), wantEnded) {
			t.Fatalf("seed %d, step %d:\n%v\n%v\nbegan %v, want %v\nended %v, want %v", seed, step, got, want,
				zip(&began), wantBegan, zip(&ended), wantEnded)
		}
		at := rng.IntN(len(got) + 1) // in two parts
		cut := len(old)
		if at < len(got) {
			cut = LowerBound(old, pairs.A[at], pairs.B[at])
		}
		parts := make([]Contact, len(got))
		lower, upper := broad.Pairs{A: pairs.A[:at], B: pairs.B[:at]}, broad.Pairs{A: pairs.A[at:], B: pairs.B[at:]}
		MatchContacts(old[:cut], nil, &lower, manifolds[:at], parts[:at], &began, &ended)
		begun, over := zip(&began), zip(&ended)
		MatchContacts(old[cut:], nil, &upper, manifolds[at:], parts[at:], &began, &ended)
		if !slices.Equal(parts, want) || !slices.Equal(append(begun, zip(&began)...), wantBegan) ||
			!slices.Equal(append(over, zip(&ended)...), wantEnded) {
			t.Fatalf("seed %d, step %d: split at %d and %d it differs", seed, step, at, cut)
		}
		updated := slices.Clone(old) // in place, for the pairs that are the same
		if zipped := (&broad.Pairs{}); step > 0 {
			for i := range old {
				zipped.Add(old[i].A, old[i].B)
			}
			again := randomManifolds(rng, len(old))
			for i := range again {
				if rng.IntN(4) == 0 {
					again[i].Count, again[i].Source = old[i].Count, Recycled
				}
			}
			want, wantBegan, wantEnded = matched(old, zipped, again)
			differ := false
			for i := range want {
				if again[i].Source == Recycled {
					want[i] = old[i]
				}
				differ = differ || want[i].Count != old[i].Count
			}
			changed := UpdateContacts(updated, again, &began, &ended)
			if !slices.Equal(updated, want) || !slices.Equal(zip(&began), wantBegan) || !slices.Equal(zip(&ended), wantEnded) || changed != differ {
				t.Fatalf("seed %d, step %d: in place:\n%v\n%v", seed, step, updated, want)
			}
		}
		old = got
		solve(rng, old)
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: an instrumented build allocates")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	pairs := randomPairs(rng)
	manifolds := randomManifolds(rng, len(pairs.A))
	old, out := make([]Contact, len(pairs.A)), make([]Contact, len(pairs.A))
	var began, ended broad.Pairs
	recycled := noneRecycled(len(old))
	MatchContacts(nil, nil, pairs, manifolds, old, &began, &ended)
	if n := testing.AllocsPerRun(10, func() {
		MatchContacts(old, nil, &broad.Pairs{}, nil, nil, &began, &ended)
		MatchContacts(old, recycled, pairs, manifolds, out, &began, &ended)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// Both searches find the same place.
func TestLowerBoundNear(t *testing.T) {
	run := paritytest.Start(t, "LowerBoundNear")
	for range paritytest.Sample(100) {
		contacts := make([]Contact, run.IntN(70))
		for i := range contacts {
			contacts[i].A, contacts[i].B = uint32(i/9), uint32(i%9*2)
		}
		a, b := run.Uint32()%9, run.Uint32()%19
		want := LowerBound(contacts, a, b)
		if got := LowerBoundNear(contacts, run.IntN(want+1), a, b); got != want {
			t.Fatalf("(%d, %d) of %d: %d, want %d", a, b, len(contacts), got, want)
		}
	}
}
