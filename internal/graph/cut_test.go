package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomEdges returns Colours of random edges of so many classes between so many bodies, near each other, of which some are not dynamic.
func randomEdges(rng *rand.Rand, bodies, edges, classes int) *Colours {
	invMass := make([]float32, bodies)
	for i := range invMass {
		if rng.IntN(9) > 0 {
			invMass[i] = 1
		}
	}
	c := &Colours{}
	c.Reset(edges, classes, invMass)
	for i := range edges {
		a := rng.IntN(bodies - 1)
		b := min(bodies-1, a+1+rng.IntN(20))
		c.Edges.A[i], c.Edges.B[i], c.Edges.Class[i] = uint32(a), uint32(b), uint8(rng.IntN(classes+1))
	}
	c.AssignRange(0, edges)
	return c
}

// Regions that CutRows makes are ranges of rows in order, with about equally much work, and Crossing estimates how many edges cross their borders.
func TestCutRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, bodies := range []int{1, 2, 17, 1000, 9000} {
		for _, n := range []int{1, 2, 5, MaxRegions} {
			r := Regions{Count: n}
			var edges []Weighted
			spans := []Span{{0, bodies / 3}, {bodies / 2, bodies}}
			if bodies > 20 {
				edges = []Weighted{{randomEdges(rng, bodies, 5*bodies, 4), 6}, {nil, 4}, {randomEdges(rng, bodies, bodies, 8), 4}}
			}
			r.CutRows(bodies, spans, edges...)
			if len(r.Of) != bodies || !slices.IsSorted(r.Of) || int(r.Of[bodies-1]) >= n {
				t.Fatalf("%d bodies, %d regions: %v", bodies, n, r.Of)
			}
			if bodies < 9000 {
				continue
			}
			work, total := make([]int, n), 0
			for _, p := range spans {
				for _, of := range r.Of[p.Lo:p.Hi] {
					work[of]++
					total++
				}
			}
			crossing, all := 0, 0
			for _, w := range edges {
				if w.Colours == nil {
					continue
				}
				bodies := w.Colours.bodyColours
				for i, a := range w.Colours.Edges.A {
					b := w.Colours.Edges.B[i]
					if w.Colours.Edges.Class[i] == 0 || !bodies.isDynamic(a) && !bodies.isDynamic(b) {
						continue
					}
					all++
					if bodies.isDynamic(a) && bodies.isDynamic(b) && r.Of[a] != r.Of[b] {
						crossing++
					}
					if !bodies.isDynamic(a) {
						a = b
					}
					work[r.Of[a]] += w.Weight
					total += w.Weight
				}
			}
			for i, w := range work {
				if share := float64(w) * float64(n) / float64(total); share < 0.6 || share > 1.4 {
					t.Errorf("region %d of %d has %.2f times its share of the work", i, n, share)
				}
			}
			got, want := float64(r.Crossing(edges...)), float64(crossing)/float64(all)
			if got < 0.7*want-0.002 || got > 1.3*want+0.002 {
				t.Errorf("%d regions: a share of %.3f crosses, estimated as %.3f", n, want, got)
			}
		}
	}
}

// Each edge is in one lane of a block of its region and colour, with lanes of its class alone, also if there are hundreds of runs.
func TestRegionsOfManyClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	const bodies, edges, classes = 600, 2500, 8
	c := randomEdges(rng, bodies, edges, classes)
	if c.HasOverflow() {
		t.Fatal("overflow")
	}
	runs := make([]uint32, edges)
	fixed := 0
	for k, n := range c.kept {
		for _, entry := range c.entries[k*Chunk:][:n] {
			runs[k*Chunk+int(entry&(1<<runBit-1))] = 1 + entry>>runBit
			if entry>>runBit >= 256 {
				fixed++
			}
		}
	}
	if fixed == 0 {
		t.Fatal("no run from 256 on")
	}
	r := Regions{Count: 3}
	r.CutRows(bodies, []Span{{0, bodies}}, Weighted{c, 1})
	c.ReserveRegions(&r)
	c.MarkRegions(&r, 0, edges)
	c.CountRegions(&r, 0, edges)
	c.LayOutRegions(&r)
	c.FillRegions(&r, 0, edges)
	seen := make([]bool, edges)
	for region := range r.Count {
		for colour := range NumColours {
			for block := r.Start[region][colour]; block < r.Start[region][colour+1]; block++ {
				run := uint32(0)
				for _, i := range c.Edge[block*Lanes:][:Lanes] {
					if i == NoEdge {
						continue
					}
					of := c.Edges.A[i]
					if !c.bodyColours.isDynamic(of) {
						of = c.Edges.B[i]
					}
					if seen[i] || int(runs[i]-1)/classes != colour || run != 0 && runs[i] != run || int(r.Of[of]) != region {
						t.Fatalf("edge %d of run %d is in region %d, colour %d", i, runs[i], region, colour)
					}
					seen[i], run = true, runs[i]
				}
			}
		}
	}
	for i, run := range runs {
		if seen[i] != (run > 0) {
			t.Fatalf("edge %d: %v, run %d", i, seen[i], run)
		}
	}
}
