package physics

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/sleep"
	"github.com/evertick/evertick/internal/stage"
	"github.com/evertick/evertick/internal/team"
)

// regions is what solveRegions works in.
type regions struct {
	wanted regionKind // for which the blocks were laid out
	count  int        // number of regions that they have; 0: none
	placed bool       // they name bodies by places
	marked bool       // MarkRegions is done before the blocks are laid out
	bins   [rowBins]int32
	keys   [2][]float32 // positions of some bodies along each axis, ascending

	placement rigid.Placed
	keptFor   regionKind // of the placement, or of rowOf if not placed; zero: there is neither
	stale     int        // layouts since then, or since there were no regions
	pause     int        // layouts without regions, since they were of no use
	system    *rigid.System

	rowOf []uint8      // by body: its region, by row
	rows  []sleep.Span // rows or places of all regions, ascending
	ends  [graph.MaxRegions]int
	steps team.Steps
	list  []regionStep
	parts []team.Border // by step of the list, then by region

	surfaces atomic.Uint32 // rigid.Surfaces
}

// regionKind says which regions a step can have.
type regionKind struct {
	count  int  // 0: none
	places bool // bodies may have places: all take part, no joint names one, and none has a locked axis
	bodies int
}

// regionStep is a step of the regions: a stage for one colour, or for bodies.
type regionStep struct {
	do     func(s *solver, p *regionStep, lo, hi int)
	sub    int
	colour int         // of contacts; or
	joints stage.Range // of joints, if shared is set; else
	kind   stepKind    // bodies
}

type stepKind uint8

const (
	overBodies stepKind = iota
	overContacts
	overJoints
)

// leastRegionContacts is the number of contacts that justifies regions: with fewer a colour is over before the next worker begins it.
const leastRegionContacts = 1024

// wantedRegions returns which regions this step can have, one for each worker. There are none if there is one worker or little to do, or if hashes
// of sub-steps need stages.
func (s *solver) wantedRegions() regionKind {
	t := &s.stages.Team
	n := t.Workers()
	if n == 1 || n > graph.MaxRegions || s.stages.Hashes.On || len(s.sys.Contacts) < leastRegionContacts && !pace.Always {
		return regionKind{}
	}
	return regionKind{n, len(s.joints.solved) == 0 && s.lockedBodies == 0 && s.sleep.AllActive(), s.rows}
}

// splitRegions lays out the blocks by region, and reports whether there are any.
func (s *solver) splitRegions() bool {
	r, sys := &s.regions, &s.sys
	same := sys.SameBlocks
	if !same {
		r.wanted = s.wantedRegions()
		r.count = r.wanted.count
		if r.count > 0 && (sys.Colours.HasOverflow() || !s.uniformSurfaces() || !s.chooseRegions()) {
			r.count = 0
		}
	}
	if r.count == 0 {
		if r.marked && !same {
			sys.Colours.UnmarkRegions()
		}
		return false
	}
	chunks := (len(s.contacts) + pairChunk - 1) / pairChunk
	if !same {
		if !r.marked {
			sys.Colours.ReserveRegions(&sys.Regions)
			s.stages.ForParts(chunks, (*solver).markRegions)
		}
		s.stages.ForParts(chunks, (*solver).countRegions)
	}
	sys.LayOutRegions()
	s.stages.ForParts(chunks, (*solver).fillRegions)
	if r.system = sys; r.placed {
		s.beginPlaced(same)
	} else {
		s.assignSpans()
	}
	return true
}

// chooseRegions cuts the world by rows or, where too many contacts would join bodies of different regions, by places. It reports whether
// regions are of use.
func (s *solver) chooseRegions() bool {
	r, regions := &s.regions, &s.sys.Regions
	if s.keepRegions(r.wanted) {
		r.stale++
		return true
	}
	r.stale++
	r.keptFor, regions.Count = regionKind{}, r.count
	if r.placed = false; r.stale < r.pause && !pace.Always {
		return false
	}
	r.pause = 0
	s.cutRows()
	crossing := s.crossing()
	if crossing <= mostCrossing {
		r.keptFor, r.stale = r.wanted, 0
		return true
	}
	if !r.wanted.places {
		r.stale, r.pause = 0, keptPlaces
		return pace.Always
	}
	s.cutPlaces()
	regions.Of = r.placement.Of
	if s.crossing() > min(mostCrossing, crossing/2) && !pace.Always {
		r.stale, r.pause = 0, keptPlaces
		return false
	}
	r.placed, r.keptFor, r.stale = true, r.wanted, 0
	r.placement.Place(r.count)
	return true
}

// keptPlaces is the number of layouts of blocks for which bodies keep their regions, though they move, or for which there are no regions.
const keptPlaces = 16

// keepRegions reports whether the bodies keep the regions that they have in the next layout.
func (s *solver) keepRegions(wanted regionKind) bool {
	r, regions := &s.regions, &s.sys.Regions
	if wanted.count == 0 || r.keptFor != wanted || r.stale+1 >= keptPlaces {
		return false
	}
	regions.Count, regions.Of = wanted.count, r.rowOf
	if r.placed {
		regions.Of = r.placement.Of
	}
	return true
}

// markEarly prepares the regions of contacts that get their colours, if bodies keep the regions that they have: the contacts are then marked as they
// get their colours.
func (s *solver) markEarly() {
	if s.regions.marked = s.keepRegions(s.wantedRegions()); s.regions.marked {
		s.sys.Colours.ReserveRegions(&s.sys.Regions)
	}
}

// cutPlaces gives each region a strip of the world, across the axis along which bodies with contacts are farther apart, with about equally many
// contacts.
func (s *solver) cutPlaces() {
	r, e := &s.regions, &s.sys.Colours.Edges
	x, y := r.keys[0][:0], r.keys[1][:0]
	for i := 0; i < len(e.Class); i += sampled {
		if e.Class[i] == 0 {
			continue
		}
		body := e.A[i]
		if !(s.sys.Bodies.InvMass[body] > 0) {
			body = e.B[i]
		}
		x, y = append(x, s.centre.X[body]), append(y, s.centre.Y[body])
	}
	r.keys = [2][]float32{x, y}
	axis, at := 0, s.centre.X
	for _, keys := range r.keys {
		slices.Sort(keys)
	}
	if n := len(x); n > 0 && y[n-1-n/16]-y[n/16] > x[n-1-n/16]-x[n/16] {
		axis, at = 1, s.centre.Y
	}
	var limits [graph.MaxRegions]float32
	for k := 1; k < r.count; k++ {
		if keys := r.keys[axis]; len(keys) > 0 {
			limits[k] = keys[len(keys)*k/r.count]
		}
	}
	of := buffer.Resized(r.placement.Of, s.rows)
	for i, v := range at[:s.rows] {
		region := uint8(0)
		for _, limit := range limits[1:r.count] {
			if v >= limit {
				region++
			}
		}
		of[i] = region
	}
	r.placement.Of = of
}

// beginPlaced prepares the copy of the system in which bodies have places. same says that shapes, bodies and places are those of the last step.
func (s *solver) beginPlaced(same bool) {
	r := &s.regions
	shapes := len(r.placement.BodyOf)
	r.placement.Begin(&s.sys)
	if !same || shapes != len(r.placement.BodyOf) {
		s.stages.For(0, len(r.placement.BodyOf), stage.RowChunk, (*solver).placeShapes)
	}
	r.system, r.rows = &r.placement.System, r.rows[:0]
	for region := range r.count {
		r.rows = append(r.rows, r.placement.Rows[region])
		r.ends[region] = region + 1
	}
}

func (s *solver) placeShapes(lo, hi int) { s.regions.placement.PlaceShapes(&s.sys, lo, hi) }

// uniformSurfaces reports whether the layout of blocks changes no bit: see rigid.Surfaces.
func (s *solver) uniformSurfaces() bool {
	if len(s.materialPairs) > 0 {
		return false
	}
	m := &s.shapes.Materials
	if allZero(m.RollingResistance) && allZero(m.Restitution) {
		return true
	}
	s.regions.surfaces.Store(0)
	s.stages.ForParts((len(s.contacts)+pairChunk-1)/pairChunk, (*solver).findSurfaces)
	return rigid.Surfaces(s.regions.surfaces.Load()).Uniform()
}

func allZero(a []float32) bool {
	for len(a) > 0 {
		part := a[:min(len(a), len(zeroRows))]
		a = a[len(part):]
		if bytes.Equal(buffer.Bytes(part), buffer.Bytes(zeroRows[:len(part)])) {
			continue
		}
		for _, v := range part {
			if v != 0 {
				return false
			}
		}
	}
	return true
}

func (s *solver) findSurfaces(lo, hi int) {
	s.regions.surfaces.Or(uint32(s.sys.SurfacesOf(lo*pairChunk, min(hi*pairChunk, len(s.contacts)))))
}

// Weights of a contact and of a body by the time that they take, and the number of bins of rows by which they are counted. Of the
// contacts one in sampled counts.
const (
	rowBins       = 256
	contactWeight = 3
	sampled       = 8
)

// cutRows gives each region a range of rows, whose bodies and contacts are about equally much work.
func (s *solver) cutRows() {
	r, c, shift := &s.regions, &s.sys.Colours, 4
	for s.rows>>shift >= rowBins {
		shift++
	}
	clear(r.bins[:])
	total := int32(0)
	for i := 0; i < len(c.Edges.Class); i += sampled {
		if c.Edges.Class[i] > 0 {
			row := c.Edges.A[i]
			if !(s.sys.Bodies.InvMass[row] > 0) {
				row = c.Edges.B[i]
			}
			r.bins[row>>shift] += sampled * contactWeight
			total += sampled * contactWeight
		}
	}
	for _, p := range s.sleep.Spans {
		for lo := p.Lo; lo < p.Hi; {
			hi := min(p.Hi, (lo>>shift+1)<<shift)
			r.bins[lo>>shift] += int32(hi - lo)
			total += int32(hi - lo)
			lo = hi
		}
	}
	of := buffer.Resized(r.rowOf, s.rows)
	sum, region := int32(0), 0
	for bin := range r.bins {
		lo, hi := bin<<shift, min((bin+1)<<shift, s.rows)
		if lo >= hi {
			break
		}
		for i := range of[lo:hi] {
			of[lo+i] = uint8(region)
		}
		sum += r.bins[bin]
		for region+1 < r.count && int64(sum)*int64(r.count) >= int64(total)*int64(region+1) {
			region++
		}
	}
	r.rowOf, s.sys.Regions.Of = of, of
}

// mostCrossing is the share of contacts between regions up to which regions are of use.
const mostCrossing = 0.1

// crossing estimates the share of contacts that join dynamic bodies of different regions.
func (s *solver) crossing() float32 {
	e, of, mass := &s.sys.Colours.Edges, s.sys.Regions.Of, s.sys.Bodies.InvMass
	all, between := 1, 0
	for i := 0; i < len(e.Class); i += sampled {
		if e.Class[i] == 0 {
			continue
		}
		all++
		if a, b := e.A[i], e.B[i]; of[a] != of[b] && mass[a] > 0 && mass[b] > 0 {
			between++
		}
	}
	return float32(between) / float32(all)
}

// assignSpans lists the active rows of each region.
func (s *solver) assignSpans() {
	r, of, region := &s.regions, s.sys.Regions.Of, 0
	r.rows = r.rows[:0]
	first := 0
	for _, p := range s.sleep.Spans {
		for lo := p.Lo; lo < p.Hi; {
			for int(of[lo]) > region {
				r.ends[region] = len(r.rows)
				first = len(r.rows)
				region++
			}
			hi := p.Hi
			if int(of[hi-1]) > region {
				for hi = lo + 1; int(of[hi]) == region; hi++ {
				}
			}
			if last := len(r.rows) - 1; last >= first && r.rows[last].Hi == lo {
				r.rows[last].Hi = hi
			} else {
				r.rows = append(r.rows, sleep.Span{Lo: lo, Hi: hi})
			}
			lo = hi
		}
	}
	for ; region < r.count; region++ {
		r.ends[region] = len(r.rows)
	}
}

func (s *solver) markRegions(lo, hi int) {
	s.sys.Colours.MarkRegions(&s.sys.Regions, lo*pairChunk, min(hi*pairChunk, len(s.sys.Contacts)))
}

func (s *solver) countRegions(lo, hi int) {
	s.sys.Colours.CountRegions(&s.sys.Regions, lo*pairChunk, min(hi*pairChunk, len(s.contacts)))
}

func (s *solver) fillRegions(lo, hi int) {
	s.sys.FillRegions(lo*pairChunk, min(hi*pairChunk, len(s.contacts)))
}

// solveRegions is runSolveStages for blocks by region. All sub-steps of a region are done by one worker, which waits at each colour only for
// the regions that share bodies with its own.
func (s *solver) solveRegions() {
	r, joints := &s.regions, len(s.sys.JointBlocks)
	s.jointRanges = stage.PlanRanges(s.jointRanges[:0], &s.sys.JointColours.Start)
	s.stages.ForRegions(r.count, (*solver).loadRegions)
	s.stages.For(0, joints, stage.BlockChunk, (*solver).prepareJoints)
	s.bounces.Store(false)
	s.stages.ForRegions(r.count, (*solver).prepareRegions)

	r.list = r.list[:0]
	for sub := range s.subSteps() {
		s.addBodySteps(sub, (*solver).integrateVelocitiesOf)
		if sub == 0 {
			s.addJointSteps((*solver).warmStartJointsOf)
			s.addContactSteps((*solver).warmStartContactsOf)
		}
		s.addJointSteps((*solver).solveJointsOf)
		s.addTreeStep((*solver).solveTreesOf)
		s.addContactSteps((*solver).solveContactsOf)
		s.addBodySteps(sub, (*solver).integratePositionsOf)
		s.addJointSteps((*solver).relaxJointsOf)
		s.addTreeStep((*solver).relaxTreesOf)
		s.addContactSteps((*solver).relaxContactsOf)
	}
	s.runRegionSteps()
	if s.bounces.Load() {
		r.list = r.list[:0]
		s.addContactSteps((*solver).applyRestitutionOf)
		s.runRegionSteps()
	}
	s.stages.For(0, joints, stage.BlockChunk, (*solver).storeJointImpulses)
	s.stages.ForRegions(r.count, (*solver).storeRegions)
	if r.placed {
		s.stages.ForSpans(s.sleep.Spans, (*solver).storeStates)
	}
}

func (s *solver) runRegionSteps() {
	r := &s.regions
	if r.steps.Do == nil {
		r.steps.Do, r.steps.Border = s.doRegionStep, s.doRegionBorder
	}
	r.parts = r.parts[:0]
	for i := range r.list {
		for region := range r.count {
			r.parts = append(r.parts, s.borderOf(&r.list[i], region))
		}
	}
	r.steps.Borders = r.parts
	for i := range r.count {
		r.steps.Linked[i] = s.sys.Regions.Linked[i]
		if len(s.jointRanges) > 0 { // joints have no regions
			r.steps.Linked[i] = 1<<r.count - 1
		}
	}
	pace.Name((*solver).doRegionStep)
	s.stages.Team.RunSteps(&r.steps, r.count, len(r.list))
}

func (s *solver) doRegionStep(region, step int) {
	p := &s.regions.list[step]
	switch p.kind {
	case overContacts:
		if s.borderOf(p, region) == team.NoBorder {
			start := &s.sys.Regions.Start[region]
			p.run(s, start[p.colour], start[p.colour+1])
			return
		}
		for at := s.sys.Regions.Segments(region, p.colour); len(at) >= 2; at = at[min(2, len(at)):] {
			p.run(s, int(at[0]), int(at[1]))
		}
	case overJoints:
		lo, hi := p.joints.Share(region, s.regions.count)
		p.run(s, lo, hi)
	default:
		for _, rows := range s.regions.rowsOf(region) {
			p.do(s, p, rows.Lo, rows.Hi)
		}
	}
}

// doRegionBorder does what of a step of contacts concerns other regions.
func (s *solver) doRegionBorder(region, step int) {
	p := &s.regions.list[step]
	for at := s.sys.Regions.Segments(region, p.colour)[1:]; len(at) >= 2; at = at[min(2, len(at)):] {
		p.run(s, int(at[0]), int(at[1]))
	}
}

// borderOf says how much of a step concerns other regions.
func (s *solver) borderOf(p *regionStep, region int) team.Border {
	if p.kind != overContacts {
		return team.WholeStep
	}
	for at := s.sys.Regions.Segments(region, p.colour)[1:]; len(at) >= 2; at = at[min(2, len(at)):] {
		if at[0] < at[1] {
			return team.SomeBorder
		}
	}
	return team.NoBorder
}

// run does blocks or rows [lo, hi) of a step.
func (p *regionStep) run(s *solver, lo, hi int) {
	if lo < hi {
		p.do(s, p, lo, hi)
	}
}

// rowsOf returns the active rows of a region.
func (r *regions) rowsOf(region int) []sleep.Span {
	first := 0
	if region > 0 {
		first = r.ends[region-1]
	}
	return r.rows[first:r.ends[region]]
}

type regionFunc func(s *solver, p *regionStep, lo, hi int)

func (s *solver) addBodySteps(sub int, do regionFunc) {
	s.regions.list = append(s.regions.list, regionStep{do: do, sub: sub})
}

// addContactSteps adds a step for each colour that a region has.
func (s *solver) addContactSteps(do regionFunc) {
	for colour := range graph.NumColours {
		for region := range s.regions.count {
			if start := &s.sys.Regions.Start[region]; start[colour] < start[colour+1] {
				s.regions.list = append(s.regions.list, regionStep{do: do, colour: colour, kind: overContacts})
				break
			}
		}
	}
}

func (s *solver) addJointSteps(do regionFunc) {
	for _, p := range s.jointRanges {
		s.regions.list = append(s.regions.list, regionStep{do: do, joints: p, kind: overJoints})
	}
}

func (s *solver) addTreeStep(do regionFunc) {
	if len(s.sys.Trees) > 0 {
		s.regions.list = append(s.regions.list, regionStep{do: do, joints: stage.Shared(0, len(s.sys.Trees)), kind: overJoints})
	}
}

func (s *solver) integrateVelocitiesOf(p *regionStep, lo, hi int) {
	s.regions.system.IntegrateVelocities(s.level, p.sub, lo, hi)
	s.applyMotionLocks(lo, hi)
}

func (s *solver) integratePositionsOf(_ *regionStep, lo, hi int) {
	s.applyMotionLocks(lo, hi)
	s.regions.system.IntegratePositions(s.level, lo, hi)
}

func (s *solver) warmStartJointsOf(_ *regionStep, lo, hi int) { s.warmStartJoints(lo, hi) }
func (s *solver) solveJointsOf(_ *regionStep, lo, hi int)     { s.solveJoints(lo, hi) }
func (s *solver) relaxJointsOf(_ *regionStep, lo, hi int)     { s.relaxJoints(lo, hi) }

func (s *solver) solveTreesOf(_ *regionStep, lo, hi int) { s.solveTrees(lo, hi) }
func (s *solver) relaxTreesOf(_ *regionStep, lo, hi int) { s.relaxTrees(lo, hi) }

func (s *solver) warmStartContactsOf(_ *regionStep, lo, hi int) {
	s.regions.system.WarmStartContacts(s.level, lo, hi)
}

func (s *solver) solveContactsOf(_ *regionStep, lo, hi int) {
	s.regions.system.SolveContacts(s.level, true, lo, hi)
}

func (s *solver) relaxContactsOf(_ *regionStep, lo, hi int) {
	s.regions.system.SolveContacts(s.level, false, lo, hi)
}

func (s *solver) applyRestitutionOf(_ *regionStep, lo, hi int) {
	s.regions.system.ApplyRestitution(s.level, lo, hi)
}

// loadRegions loads the states of regions [lo, hi).
func (s *solver) loadRegions(lo, hi int) {
	r := &s.regions
	for region := lo; region < hi; region++ {
		for _, rows := range r.rowsOf(region) {
			if r.placed {
				r.placement.Load(&s.sys, rows.Lo, rows.Hi)
			} else {
				s.loadStates(rows.Lo, rows.Hi)
			}
		}
	}
}

func (s *solver) prepareRegions(lo, hi int) {
	for region := lo; region < hi; region++ {
		start := &s.sys.Regions.Start[region]
		lo, hi := start[0], start[graph.NumColours]
		s.regions.system.PrepareContacts(s.level, lo, hi)
		if s.sys.HasRestitution(lo, hi) {
			s.bounces.Store(true)
		}
	}
}

// storeRegions stores the impulses and the states of regions [lo, hi).
func (s *solver) storeRegions(lo, hi int) {
	r := &s.regions
	for region := lo; region < hi; region++ {
		start := &s.sys.Regions.Start[region]
		s.storeContactImpulses(start[0], start[graph.NumColours])
		for _, rows := range r.rowsOf(region) {
			if r.placed {
				r.placement.Store(&s.sys, rows.Lo, rows.Hi)
			} else {
				s.storeStates(rows.Lo, rows.Hi)
			}
		}
	}
}
