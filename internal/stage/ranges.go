package stage

import "github.com/evertick/evertick/internal/graph"

// Range is a range of blocks of constraints. All blocks of a range are done before the next range begins.
type Range struct {
	lo, hi int
	shared bool // by several workers
}

// Shared returns a range of what several workers can do at the same time.
func Shared(lo, hi int) Range { return Range{lo, hi, true} }

// PlanRanges appends a range for each colour whose blocks suffice for several workers, and one range for each run of smaller
// colours. start has the first block of each colour, and the end of the last one.
func PlanRanges(ranges []Range, start *[graph.NumColours + 1]int) []Range {
	for c := range graph.NumColours {
		lo, hi := start[c], start[c+1]
		shared := c != graph.Overflow && hi-lo >= 2*BlockChunk
		last := len(ranges) - 1
		switch {
		case lo == hi:
		case !shared && last >= 0 && !ranges[last].shared:
			ranges[last].hi = hi
		default:
			ranges = append(ranges, Range{lo, hi, shared})
		}
	}
	return ranges
}

// ForRanges runs a stage over blocks, range by range.
func (r *Runner[S]) ForRanges(ranges []Range, run func(s *S, lo, hi int)) {
	for _, p := range ranges {
		least := BlockChunk
		if !p.shared {
			least = p.hi - p.lo
		}
		r.For(p.lo, p.hi, least, run)
	}
}

// Share returns the blocks of a range that one of so many workers gets: about equally many, or all for the first worker if the range is not
// for several.
func (p *Range) Share(worker, workers int) (lo, hi int) {
	n := p.hi - p.lo
	if p.shared {
		return p.lo + n*worker/workers, p.lo + n*(worker+1)/workers
	}
	if worker == 0 {
		return p.lo, p.hi
	}
	return p.lo, p.lo
}
