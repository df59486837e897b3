package stage

import (
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/team"
)

// Regions runs stages of a solver S as steps of regions, which graph.Regions describes: one worker takes a region through all of them, and waits
// only for regions that are linked with it. After Begin the stages are added in their order, and Run runs them.
type Regions[S any] struct {
	rows  []sleep.Span // of all regions, ascending
	ends  [graph.MaxRegions]int
	list  []regionStage[S]
	steps team.Steps

	runner *Runner[S]
	count  int
}

// regionStage is a stage over the bodies of a region, over its blocks of a colour, or over the region as a whole.
type regionStage[S any] struct {
	run    func(s *S, lo, hi int)
	start  *[graph.MaxRegions][graph.NumColours + 1]int // of blocks; nil: it is over bodies, or whole
	colour int
	whole  func(s *S, region int)
}

// Begin begins a step of so many regions. of has the region of each body, ascending, and rows are those of the bodies that move.
func (r *Regions[S]) Begin(count int, of []uint8, rows []sleep.Span) {
	r.count, r.rows, r.list = count, r.rows[:0], r.list[:0]
	region := 0
	for _, p := range rows {
		for lo := p.Lo; lo < p.Hi; {
			for int(of[lo]) > region {
				r.ends[region] = len(r.rows)
				region++
			}
			hi := p.Hi
			if int(of[hi-1]) > region {
				for hi = lo + 1; int(of[hi]) == region; hi++ {
				}
			}
			r.rows = append(r.rows, sleep.Span{Lo: lo, Hi: hi})
			lo = hi
		}
	}
	for ; region < count; region++ {
		r.ends[region] = len(r.rows)
	}
}

// Bodies adds a stage over bodies.
func (r *Regions[S]) Bodies(run func(s *S, lo, hi int)) {
	r.list = append(r.list, regionStage[S]{run: run})
}

// Blocks adds a stage over the blocks of edges: a step for each colour that a region has. g stays as it is until Run.
func (r *Regions[S]) Blocks(g *graph.Regions, run func(s *S, lo, hi int)) {
	for colour := range graph.NumColours {
		for region := range r.count {
			if start := &g.Start[region]; start[colour] < start[colour+1] {
				r.list = append(r.list, regionStage[S]{run: run, start: &g.Start, colour: colour})
				break
			}
		}
	}
}

// Whole adds a stage that gets the number of the region.
func (r *Regions[S]) Whole(run func(s *S, region int)) {
	r.list = append(r.list, regionStage[S]{whole: run})
}

// Run runs the stages that were added. Two regions are linked if they are so by any of the edges.
func (r *Regions[S]) Run(to *Runner[S], edges ...*graph.Regions) {
	if r.steps.Do == nil {
		r.steps.Do = r.step
	}
	r.runner = to
	for region := range r.count {
		linked := uint64(1) << region
		for _, g := range edges {
			linked |= g.Linked[region]
		}
		r.steps.Linked[region] = linked
	}
	to.Team.RunSteps(&r.steps, r.count, len(r.list))
	r.list = r.list[:0]
}

func (r *Regions[S]) step(region, step int) {
	p, s := &r.list[step], r.runner.solver
	switch {
	case p.whole != nil:
		p.whole(s, region)
	case p.start != nil:
		if lo, hi := p.start[region][p.colour], p.start[region][p.colour+1]; lo < hi {
			p.run(s, lo, hi)
		}
	default:
		first := 0
		if region > 0 {
			first = r.ends[region-1]
		}
		for _, rows := range r.rows[first:r.ends[region]] {
			p.run(s, rows.Lo, rows.Hi)
		}
	}
}
