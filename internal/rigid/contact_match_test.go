package rigid_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
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

func randomManifolds(rng *rand.Rand, n int) []rigid.Manifold {
	m := make([]rigid.Manifold, n)
	for i := range m {
		m[i].Count = rng.Uint32N(3)
		first := rng.Uint32N(4)
		for k := range m[i].Count {
			m[i].Points[k].ID = (first + k) % 4
		}
	}
	return m
}

// solve gives contacts impulses as a step would.
func solve(rng *rand.Rand, contacts []rigid.Contact) {
	for i := range contacts {
		c := &contacts[i]
		if c.Count == 0 {
			continue
		}
		c.RollingImpulse, c.Flags = rng.Float32(), rng.Uint32()&^rigid.FlagBase
		for k := range c.Points[:c.Count] {
			c.Points[k].Normal, c.Points[k].Tangent = rng.Float32(), rng.Float32()
		}
	}
}

// matched is the comment of rigid.Match with maps.
func matched(old []rigid.Contact, pairs *broad.Pairs, manifolds []rigid.Manifold) (out []rigid.Contact, began, ended [][2]uint32) {
	before, now := map[[2]uint32]rigid.Contact{}, map[[2]uint32]bool{}
	for _, c := range old {
		if c.Count > 0 {
			before[[2]uint32{c.A, c.B}] = c
		}
	}
	for i, m := range manifolds {
		key := [2]uint32{pairs.A[i], pairs.B[i]}
		c := rigid.Contact{A: key[0], B: key[1], Count: m.Count}
		last, was := before[key]
		for k := range m.Points[:m.Count] {
			c.Points[k].ID = m.Points[k].ID
			for _, q := range last.Points[:last.Count] {
				if q.ID == m.Points[k].ID {
					c.Points[k] = q
				}
			}
		}
		if m.Count > 0 {
			now[key] = true
			c.RollingImpulse, c.Flags = last.RollingImpulse, last.Flags
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
func noneRecycled(n int) []int32 { return slices.Repeat([]int32{rigid.NotRecycled}, n) }

func TestMatch(t *testing.T) {
	const seed = 12
	rng := rand.New(rand.NewPCG(seed, seed))
	var old []rigid.Contact
	var began, ended broad.Pairs
	for step := range 500 {
		pairs := randomPairs(rng)
		manifolds := randomManifolds(rng, len(pairs.A))
		want, wantBegan, wantEnded := matched(old, pairs, manifolds)
		got := make([]rigid.Contact, len(pairs.A))
		recycled := noneRecycled(len(got))
		if step%2 == 0 {
			recycled = nil
		}
		rigid.MatchContacts(old, recycled, pairs, manifolds, got, &began, &ended)
		if !slices.Equal(got, want) || !slices.Equal(zip(&began), wantBegan) || !slices.Equal(zip(&ended), wantEnded) {
			t.Fatalf("seed %d, step %d:\n%v\n%v\nbegan %v, want %v\nended %v, want %v", seed, step, got, want,
				zip(&began), wantBegan, zip(&ended), wantEnded)
		}
		at := rng.IntN(len(got) + 1) // in two parts
		cut := len(old)
		if at < len(got) {
			cut = rigid.LowerBound(old, pairs.A[at], pairs.B[at])
		}
		parts := make([]rigid.Contact, len(got))
		lower, upper := broad.Pairs{A: pairs.A[:at], B: pairs.B[:at]}, broad.Pairs{A: pairs.A[at:], B: pairs.B[at:]}
		rigid.MatchContacts(old[:cut], nil, &lower, manifolds[:at], parts[:at], &began, &ended)
		begun, over := zip(&began), zip(&ended)
		rigid.MatchContacts(old[cut:], nil, &upper, manifolds[at:], parts[at:], &began, &ended)
		if !slices.Equal(parts, want) || !slices.Equal(append(begun, zip(&began)...), wantBegan) ||
			!slices.Equal(append(over, zip(&ended)...), wantEnded) {
			t.Fatalf("seed %d, step %d: split at %d and %d it differs", seed, step, at, cut)
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
	old, out := make([]rigid.Contact, len(pairs.A)), make([]rigid.Contact, len(pairs.A))
	var began, ended broad.Pairs
	recycled := noneRecycled(len(old))
	rigid.MatchContacts(nil, nil, pairs, manifolds, old, &began, &ended)
	if n := testing.AllocsPerRun(10, func() {
		rigid.MatchContacts(old, nil, &broad.Pairs{}, nil, nil, &began, &ended)
		rigid.MatchContacts(old, recycled, pairs, manifolds, out, &began, &ended)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkMatch(b *testing.B) {
	s := pyramid(100)
	manifolds := s.collide(b)
	out, old := make([]rigid.Contact, len(manifolds)), make([]rigid.Contact, len(manifolds))
	var began, ended broad.Pairs
	recycled := noneRecycled(len(old))
	rigid.MatchContacts(nil, nil, &s.pairs, manifolds, old, &began, &ended)
	for b.Loop() {
		rigid.MatchContacts(old, recycled, &s.pairs, manifolds, out, &began, &ended)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(out)), "ns/pair")
}
