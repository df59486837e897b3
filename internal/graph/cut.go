package graph

import "github.com/evertick/evertick/internal/buffer"

// Of the edges one in sampled counts where regions are cut, and rows are counted in so many bins.
const (
	sampled = 8
	rowBins = 256
)

// Weighted are the edges of Colours that have a run, and how much work each of them is, where a body is 1. Nil Colours have none.
type Weighted struct {
	Colours *Colours
	Weight  int
}

// CutRows sets Of, in its memory: each region gets a range of the rows of so many bodies. Edges, and bodies of the given rows, are about
// equally much work in each.
func (r *Regions) CutRows(bodies int, rows []Span, edges ...Weighted) {
	var bins [rowBins]int
	shift, total := 4, 0
	for bodies>>shift >= rowBins {
		shift++
	}
	for _, w := range edges {
		w.Colours.sample(func(a, b uint32) {
			if !w.Colours.bodyColours.isDynamic(a) {
				a = b
			}
			bins[a>>shift] += sampled * w.Weight
			total += sampled * w.Weight
		})
	}
	for _, p := range rows {
		for lo := p.Lo; lo < p.Hi; {
			hi := min(p.Hi, (lo>>shift+1)<<shift)
			bins[lo>>shift] += hi - lo
			total += hi - lo
			lo = hi
		}
	}
	r.Of = buffer.Resized(r.Of, bodies)
	sum, region := 0, 0
	for bin := range bins {
		lo, hi := bin<<shift, min((bin+1)<<shift, bodies)
		if lo >= hi {
			break
		}
		for i := range r.Of[lo:hi] {
			r.Of[lo+i] = uint8(region)
		}
		sum += bins[bin]
		for region+1 < r.Count && sum*r.Count >= total*(region+1) {
			region++
		}
	}
}

// Crossing estimates the share of edges that join dynamic bodies of different regions.
func (r *Regions) Crossing(edges ...Weighted) float32 {
	all, between := 1, 0
	for _, w := range edges {
		w.Colours.sample(func(a, b uint32) {
			all++
			if bodies := w.Colours.bodyColours; r.Of[a] != r.Of[b] && bodies.isDynamic(a) && bodies.isDynamic(b) {
				between++
			}
		})
	}
	return float32(between) / float32(all)
}

// Coloured returns the number of edges that have a colour and are in no group.
func (c *Colours) Coloured() (n int) {
	for _, kept := range c.kept {
		n += kept
	}
	return n
}

// sample calls f with the bodies of one in so many edges that have a run.
func (c *Colours) sample(f func(a, b uint32)) {
	if c == nil {
		return
	}
	for k, n := range c.kept {
		lo := k * Chunk
		for at := 0; at < n; at += sampled {
			i := lo + int(c.entries[lo+at]&(1<<runBit-1))
			f(c.Edges.A[i], c.Edges.B[i])
		}
	}
}

// Blocks returns the range of the blocks of a region.
func (r *Regions) Blocks(region int) (lo, hi int) {
	return r.Start[region][0], r.Start[region][NumColours]
}

// Clear leaves regions without edges.
func (r *Regions) Clear() {
	for i := range r.Count {
		r.Start[i], r.Linked[i] = [NumColours + 1]int{}, 1<<i
	}
}
