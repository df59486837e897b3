package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRegions: each edge that has a colour has one lane, among the blocks of that colour in the region of its first dynamic body, with edges of
// its class only. Regions are linked if an edge joins them. Blocks outside the border touch no dynamic body that edges of another region touch, and
// there are no more blocks of the border than its edges need. Random edges, in random order of chunks.
func TestRegions(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		bodies, edges := 20+rng.IntN(600), rng.IntN(4000)
		invMass := make([]float32, bodies)
		var r Regions
		r.Count = 1 + rng.IntN(5)
		r.Of = make([]uint8, bodies)
		for i := range invMass {
			invMass[i] = float32(min(1, rng.IntN(6)))
			r.Of[i] = uint8(rng.IntN(r.Count))
		}
		var c Colours
		for round := range 2 {
			c.Reset(edges, 2, invMass)
			for i := range edges {
				a := rng.IntN(bodies)
				c.Edges.A[i], c.Edges.B[i], c.Edges.Class[i] = uint32(a), uint32((a+1+rng.IntN(bodies-1))%bodies), uint8(rng.IntN(3))
			}
			c.AssignRange(0, edges)
			if c.HasOverflow() {
				continue
			}
			colour := make([]int, edges) // 1 more; 0: none
			total := 0
			for k, kept := range c.kept {
				for _, entry := range c.entries[k*Chunk:][:kept] {
					colour[k*Chunk+int(entry&(1<<runBit-1))] = 1 + int(entry>>runBit)/c.classes
					total++
				}
			}
			chunks := rng.Perm((edges + Chunk - 1) / Chunk)
			for again := range 2 {
				c.ReserveRegions(&r)
				before := slices.Clone(c.entries)
				for _, k := range chunks {
					c.MarkRegions(&r, k*Chunk, min((k+1)*Chunk, edges))
				}
				if again > 0 {
					break
				}
				if c.UnmarkRegions(); !slices.Equal(before, c.entries) {
					t.Fatalf("seed %d: marks are left", seed)
				}
			}
			for _, k := range chunks {
				c.CountRegions(&r, k*Chunk, min((k+1)*Chunk, edges))
			}
			c.LayOutRegions(&r)
			for _, k := range chunks {
				c.FillRegions(&r, k*Chunk, min((k+1)*Chunk, edges))
			}
			checkBorder(t, seed, &c, &r, invMass)
			var linked [MaxRegions]uint64
			for region := range r.Count {
				linked[region] |= 1 << region
				for of := range NumColours {
					for block := r.Start[region][of]; block < r.Start[region][of+1]; block++ {
						class, full := uint8(0), true
						for _, i := range c.Edge[block*Lanes:][:Lanes] {
							if i == NoEdge {
								full = false
								continue
							}
							a, b := c.Edges.A[i], c.Edges.B[i]
							if invMass[a] == 0 {
								a, b = b, a
							}
							linked[region] |= 1<<r.Of[a] | 1<<r.Of[b]
							linked[r.Of[b]] |= 1 << region
							if class == 0 {
								class = c.Edges.Class[i]
							}
							if !full || colour[i] != of+1 || int(r.Of[a]) != region || c.Edges.Class[i] != class {
								t.Fatalf("seed %d, round %d: edge %d of colour %d, class %d, is in region %d, colour %d", seed, round, i, colour[i]-1, class, region, of)
							}
							colour[i] = -1
							total--
						}
						if class == 0 {
							t.Fatalf("seed %d: block %d is empty", seed, block)
						}
					}
				}
				if region > 0 && r.Start[region][0] < r.Start[region-1][NumColours]+regionGap {
					t.Fatalf("seed %d: no gap before region %d", seed, region)
				}
			}
			if total != 0 || linked != r.Linked {
				t.Fatalf("seed %d: %d edges have no lane; links %x, want %x", seed, total, r.Linked, linked)
			}
		}
	}
}

func checkBorder(t *testing.T, seed uint64, c *Colours, r *Regions, invMass []float32) {
	regionOf := func(i uint32) uint8 {
		if invMass[c.Edges.A[i]] > 0 {
			return r.Of[c.Edges.A[i]]
		}
		return r.Of[c.Edges.B[i]]
	}
	touching := make([]uint64, len(invMass)) // by body, a set of regions with an edge there
	shared := make([]bool, len(invMass))
	for _, i := range c.Edge {
		if i == NoEdge {
			continue
		}
		for _, body := range [...]uint32{c.Edges.A[i], c.Edges.B[i]} {
			touching[body] |= 1 << regionOf(i)
			shared[body] = shared[body] || invMass[body] > 0 && r.Of[body] != regionOf(i)
		}
	}
	for region := range r.Count {
		for colour := range NumColours {
			start, end := r.Start[region][colour], r.Start[region][colour+1]
			if colour == Overflow {
				continue
			}
			bounds := r.Segments(region, colour)
			if bounds[0] != int32(start) || bounds[len(bounds)-1] != int32(end) {
				t.Fatalf("seed %d, region %d, colour %d: segments %d of blocks %d to %d", seed, region, colour, bounds, start, end)
			}
			var blocks, need [2]int // of the border by class: those that there are, and edges
			for at, lo := range bounds[:len(bounds)-1] {
				if lo > bounds[at+1] {
					t.Fatalf("seed %d, region %d, colour %d: segments %d", seed, region, colour, bounds)
				}
				for _, i := range c.Edge[lo*Lanes : bounds[at+1]*Lanes] {
					if i == NoEdge {
						continue
					}
					a, b := c.Edges.A[i], c.Edges.B[i]
					if shared[a] || shared[b] {
						need[c.Edges.Class[i]-1]++
					}
					for _, body := range [...]uint32{a, b} {
						if at%2 == 0 && invMass[body] > 0 && touching[body] != 1<<region {
							t.Fatalf("seed %d, region %d, colour %d: edge %d is not of the border, but regions %b touch its body", seed, region, colour, i, touching[body])
						}
					}
				}
				for block := lo; block < bounds[at+1] && at%2 != 0; block++ {
					blocks[c.Edges.Class[c.Edge[block*Lanes]]-1]++
				}
			}
			for class, n := range blocks {
				if n > need[class]/Lanes+2 || n > 0 && need[class] == 0 {
					t.Fatalf("seed %d, region %d, colour %d: %d blocks for %d edges of the border", seed, region, colour, n, need[class])
				}
			}
		}
	}
}
