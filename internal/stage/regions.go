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
	parts []team.Border  // by stage, then by region
	inner *graph.Regions // see Inner

	runner *Runner[S]
	count  int
}

// regionStage is a stage over the bodies of a region, over its blocks of a colour, or over the region as a whole.
type regionStage[S any] struct {
	run    func(s *S, lo, hi int)
	blocks *graph.Regions // nil: it is over bodies, or whole
	colour int
	whole  func(s *S, region int)
}

// Begin begins a step of so many regions. of has the region of each body, ascending, and rows are those of the bodies that move.
func (r *Regions[S]) Begin(count int, of []uint8, rows []sleep.Span) {
	r.count, r.rows, r.list, r.inner = count, r.rows[:0], r.list[:0], nil
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

// Inner says of which edges a region waits only for those of others that share bodies with its own. No stage over other blocks may touch the bodies
// of two regions without being waited for: each waits for all.
func (r *Regions[S]) Inner(g *graph.Regions) { r.inner = g }

// Bodies adds a stage over bodies.
func (r *Regions[S]) Bodies(run func(s *S, lo, hi int)) {
	r.list = append(r.list, regionStage[S]{run: run})
}

// Blocks adds a stage over the blocks of edges: a step for each colour that a region has. g stays as it is until Run.
func (r *Regions[S]) Blocks(g *graph.Regions, run func(s *S, lo, hi int)) {
	for colour := range graph.NumColours {
		for region := range r.count {
			if start := &g.Start[region]; start[colour] < start[colour+1] {
				r.list = append(r.list, regionStage[S]{run: run, blocks: g, colour: colour})
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
		r.steps.Do, r.steps.Border = r.step, r.border
	}
	r.parts = r.parts[:0]
	for i := range r.list {
		for region := range r.count {
			r.parts = append(r.parts, r.borderOf(&r.list[i], region))
		}
	}
	r.steps.Borders = r.parts
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

// step does a stage for a region, without its border if it has one.
func (r *Regions[S]) step(region, step int) {
	p, s := &r.list[step], r.runner.solver
	switch {
	case p.whole != nil:
		p.whole(s, region)
	case p.blocks != nil && r.parts[step*r.count+region] == team.SomeBorder:
		r.segments(p, p.blocks.Segments(region, p.colour))
	case p.blocks != nil:
		start := &p.blocks.Start[region]
		if lo, hi := start[p.colour], start[p.colour+1]; lo < hi {
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

// border does the border of a stage that has one.
func (r *Regions[S]) border(region, step int) {
	p := &r.list[step]
	r.segments(p, p.blocks.Segments(region, p.colour)[1:])
}

// segments does every other segment, from the first one on.
func (r *Regions[S]) segments(p *regionStage[S], bounds []int32) {
	for ; len(bounds) >= 2; bounds = bounds[min(2, len(bounds)):] {
		if bounds[0] < bounds[1] {
			p.run(r.runner.solver, int(bounds[0]), int(bounds[1]))
		}
	}
}

// borderOf says how much of a stage concerns other regions.
func (r *Regions[S]) borderOf(p *regionStage[S], region int) team.Border {
	if p.blocks == nil || p.blocks != r.inner {
		return team.WholeStep
	}
	for bounds := p.blocks.Segments(region, p.colour)[1:]; len(bounds) >= 2; bounds = bounds[min(2, len(bounds)):] {
		if bounds[0] < bounds[1] {
			return team.SomeBorder
		}
	}
	return team.NoBorder
}
