package physics

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/evertick/evertick/native/rigid"
)

// Step runs the stages of package rigid in order. The only error is that of a worker
// whose floating-point environment was altered.
func (s *solver) Step(dt float32) error {
	s.stage.err = nil
	s.trace = s.trace[:0]
	s.events.clear()
	s.quarantine(len(s.cols.floatColumns()))
	s.place()
	s.done("place")
	s.dropStale()
	s.findContacts()
	s.advance(dt)
	s.done("solve")
	s.settle()
	s.quarantine(motionColumns)
	s.events.sort()
	s.done("settle")
	s.steps++
	return s.stage.err
}

// Sizes of chunks that workers take. They do not depend on the number of workers.
const (
	bodyChunk  = 4096
	pairChunk  = 1024
	blockChunk = 32
)

// stageTask is a stage over [lo, hi), in chunks.
type stageTask struct {
	s            *solver
	run          func(s *solver, lo, hi int)
	lo, hi, size int
	err          error
}

// Do runs one chunk.
func (t *stageTask) Do(_, chunk int) {
	lo := t.lo + chunk*t.size
	t.run(t.s, lo, min(lo+t.size, t.hi))
}

// over runs a stage in chunks, by all workers.
func (s *solver) over(lo, hi, size int, run func(s *solver, lo, hi int)) {
	if s.pool.Workers() == 1 || hi-lo <= size {
		run(s, lo, hi)
		return
	}
	t := &s.stage
	t.s, t.run, t.lo, t.hi, t.size = s, run, lo, hi, size
	if err := s.pool.Run((hi-lo+size-1)/size, t); err != nil && t.err == nil {
		t.err = err
	}
}

// done tells who traces the world that a stage is done.
func (s *solver) done(stage string) {
	if s.timed != nil {
		s.timed(stage)
	}
}

// place computes where the centres of mass are, and the boxes of the shapes.
func (s *solver) place() {
	s.centre.Cos, s.centre.Sin = s.cols.Cos, s.cols.Sin
	s.over(0, s.rows, bodyChunk, (*solver).placeRows)
	n := len(s.shapes.shape)
	for _, b := range [...]*[]float32{&s.boxes.MinX, &s.boxes.MinY, &s.boxes.MaxX, &s.boxes.MaxY} {
		*b = slices.Grow((*b)[:0], n)[:n]
	}
	s.over(0, n, bodyChunk, (*solver).boundRows)
}

func (s *solver) placeRows(lo, hi int) {
	o := s.origins(len(s.centre.X))
	o.Centres(s.level, &s.centre, lo, hi)
}

// origins are those of the first n rows.
func (s *solver) origins(n int) rigid.Origins {
	c := s.cols
	return rigid.Origins{X: c.X[:n], Y: c.Y[:n], CentreX: c.CentreX[:n], CentreY: c.CentreY[:n]}
}

func (s *solver) boundRows(lo, hi int) {
	const margin = rigid.SpeculativeDistance / 2 // of two shapes, one each
	b := &s.boxes
	rows := rigid.Boxes{MinX: b.MinX[lo:hi], MinY: b.MinY[lo:hi], MaxX: b.MaxX[lo:hi], MaxY: b.MaxY[lo:hi]}
	rigid.Bounds(s.level, s.shapes.shape[lo:hi], s.shapes.filters.Body[lo:hi], &s.centre, margin, &rows)
}

// Flags of rigid.Contact: which shape was a sensor, as long as it was there.
const (
	sensorA = 1 << 31
	sensorB = 1 << 30
)

// dropStale takes out contacts of shapes that are gone, whose number another shape
// may have by now, and tells that they ended.
func (s *solver) dropStale() {
	generation := s.table.pool.generation
	if slices.Equal(s.seen, generation) {
		return
	}
	s.contacts = slices.DeleteFunc(s.contacts, func(c rigid.Contact) bool {
		gone := !s.current(&c)
		if gone && c.Count > 0 {
			s.events.end(s.seen, c.A, c.B, c.Flags)
		}
		return gone
	})
	s.seen = append(s.seen[:0], generation...)
}

// findContacts finds the contacts of this step.
func (s *solver) findContacts() {
	t := &s.shapes
	s.broad.Pairs(s.level, &s.boxes, &t.filters, 0, &s.pairs)
	s.keepMeaningful()
	s.done("pairs")
	n := len(s.pairs.A)
	s.manifolds = slices.Grow(s.manifolds[:0], n)[:n]
	s.over(0, n, pairChunk, (*solver).collideRows)
	s.sense()
	s.done("collide")
	s.next = slices.Grow(s.next[:0], n)[:n]
	rigid.Match(s.contacts, &s.pairs, s.manifolds, s.next, &s.began, &s.ended)
	s.contacts, s.next = s.next, s.contacts
	for i, a := range s.ended.A {
		b := s.ended.B[i]
		s.events.end(s.seen, a, b, s.senses(a, b))
	}
	for i, a := range s.began.A {
		b := s.began.B[i]
		s.events.begin(s.seen, a, b, s.senses(a, b))
	}
	s.muteSensors()
	s.tracePairs()
	s.done("match")
}

// keepMeaningful takes out the pairs of which nothing follows: two sensors, and two
// solid shapes of which neither belongs to a dynamic body.
func (s *solver) keepMeaningful() {
	t, n := &s.shapes, 0
	if t.sensors == 0 && !s.anyKinematic() {
		return // one body of each pair moves
	}
	for i, a := range s.pairs.A {
		b := s.pairs.B[i]
		dynamic := s.cols.Type[t.filters.Body[a]] == DynamicBody || s.cols.Type[t.filters.Body[b]] == DynamicBody
		if t.sensor[a] != t.sensor[b] || !t.sensor[a] && dynamic {
			s.pairs.A[n], s.pairs.B[n] = a, b
			n++
		}
	}
	s.pairs.A, s.pairs.B = s.pairs.A[:n], s.pairs.B[:n]
}

func (s *solver) anyKinematic() bool {
	types := s.cols.Type[:s.rows]
	return bytes.IndexByte(unsafe.Slice((*byte)(unsafe.SliceData(types)), len(types)), byte(KinematicBody)) >= 0
}

func (s *solver) collideRows(lo, hi int) {
	pairs := rigid.Pairs{A: s.pairs.A[lo:hi], B: s.pairs.B[lo:hi]}
	rigid.Collide(s.level, s.shapes.shape, s.shapes.filters.Body, &s.centre, &pairs, s.manifolds[lo:hi])
}

// sense empties the manifolds of sensors that are near a shape and do not overlap it.
func (s *solver) sense() {
	if s.shapes.sensors == 0 {
		return
	}
	for i, a := range s.pairs.A {
		if s.senses(a, s.pairs.B[i]) == 0 {
			continue
		}
		m := &s.manifolds[i]
		touches := false
		for _, p := range m.Points[:m.Count] {
			touches = touches || p.Separation <= 0
		}
		if !touches {
			*m = rigid.Manifold{}
		}
	}
}

// muteSensors lets sensors push nothing, and marks their contacts.
func (s *solver) muteSensors() {
	if s.shapes.sensors == 0 {
		return
	}
	for i, a := range s.pairs.A {
		if flags := s.senses(a, s.pairs.B[i]); flags != 0 {
			s.manifolds[i].Count = 0
			s.contacts[i].Flags = flags
		}
	}
}

// senses returns the flags of a contact of two shapes.
func (s *solver) senses(a, b uint32) uint32 {
	switch {
	case s.shapes.sensor[a]:
		return sensorA
	case s.shapes.sensor[b]:
		return sensorB
	}
	return 0
}

// advance moves the bodies: the order of rigid.System.Step, by all workers if there is
// enough to do.
func (s *solver) advance(dt float32) {
	sys := s.assemble()
	sys.Begin(dt)
	workers := min(s.pool.Workers(), 1+len(sys.Blocks)/blockChunk)
	if s.traced {
		workers = 1
	} else if workers == 1 {
		sys.Run(s.level)
		return
	}
	s.planPasses(workers)
	stages := 6 + 2*len(s.passes) + s.subSteps()*(2+2*len(s.passes))
	if err := s.crew.run(workers, stages, s.stepJob); err != nil && s.stage.err == nil {
		s.stage.err = err
	}
	s.traceEnd()
}

// pass is a range of blocks that is done before the next one begins.
type pass struct{ lo, hi, size int }

// planPasses lists the colours: those with blocks for several workers in chunks, and
// the others, as far as they follow each other, in one.
func (s *solver) planPasses(workers int) {
	s.passes = s.passes[:0]
	start, joined := &s.sys.Colours.Start, false
	for c := range rigid.NumColours {
		lo, hi := start[c], start[c+1]
		shared := workers > 1 && c != rigid.Overflow && hi-lo >= 2*blockChunk
		switch {
		case lo == hi:
		case shared:
			s.passes = append(s.passes, pass{lo, hi, blockChunk})
			joined = false
		case joined:
			p := &s.passes[len(s.passes)-1]
			p.hi, p.size = hi, hi-p.lo
		default:
			s.passes = append(s.passes, pass{lo, hi, hi - lo})
			joined = true
		}
	}
}

// stepPart is what each worker does of a step.
func (s *solver) stepPart(w *shift) {
	sys, level := &s.sys, s.level
	bodies, blocks := len(sys.States), len(sys.Blocks)
	w.do(0, bodies, bodyChunk, func(lo, hi int) { sys.Start(level, lo, hi) })
	w.do(0, blocks, blockChunk, func(lo, hi int) { sys.Prepare(level, lo, hi) })
	for sub := range s.subSteps() {
		w.do(0, bodies, bodyChunk, func(lo, hi int) { sys.IntegrateVelocities(level, sub, lo, hi) })
		if sub == 0 {
			s.eachPass(w, func(lo, hi int) { sys.WarmStart(level, lo, hi) })
		}
		s.eachPass(w, func(lo, hi int) { sys.Solve(level, true, lo, hi) })
		w.do(0, bodies, bodyChunk, func(lo, hi int) { sys.IntegratePositions(level, lo, hi) })
		s.eachPass(w, func(lo, hi int) { sys.Solve(level, false, lo, hi) })
		s.traceStates(sub)
	}
	s.eachPass(w, func(lo, hi int) { sys.Restitution(level, lo, hi) })
	w.do(0, blocks, blockChunk, func(lo, hi int) { sys.Store(level, lo, hi) })
	w.do(0, bodies, bodyChunk, func(lo, hi int) { sys.Finish(level, lo, hi) })
}

func (s *solver) eachPass(w *shift, f func(lo, hi int)) {
	for _, p := range s.passes {
		w.do(p.lo, p.hi, p.size, f)
	}
}

func (s *solver) subSteps() int { return s.sys.Params.SubSteps }

// assemble gives the system what it works on.
func (s *solver) assemble() *rigid.System {
	c, n, sys := s.cols, s.rows, &s.sys
	b := &sys.Bodies
	b.VX, b.VY, b.W = c.VX[:n], c.VY[:n], c.W[:n]
	b.InvMass, b.InvInertia = c.InvMass[:n], c.InvInertia[:n]
	b.ForceX, b.ForceY, b.Torque = c.ForceX[:n], c.ForceY[:n], c.Torque[:n]
	b.GravityScale, b.LinearDamping, b.AngularDamping = c.GravityScale[:n], c.LinearDamping[:n], c.AngularDamping[:n]
	b.FreeX, b.FreeY, b.FreeW = b.FreeX[:n], b.FreeY[:n], b.FreeW[:n]
	sys.States = sys.States[:n]
	sys.Poses = rigid.Poses{X: s.centre.X[:n], Y: s.centre.Y[:n], Cos: c.Cos[:n], Sin: c.Sin[:n]}
	sys.Angle = c.Angle[:n]
	sys.Body, sys.Materials = s.shapes.filters.Body, s.shapes.Materials
	sys.Contacts, sys.Manifolds = s.contacts, s.manifolds
	sys.Hits = slices.Grow(sys.Hits[:0], len(s.contacts))[:len(s.contacts)]
	return sys
}

// settle writes positions back, tells what moved and what was hit, and ends what acts
// for one step.
func (s *solver) settle() {
	n := s.rows
	s.events.Moved = slices.Grow(s.events.Moved[:0], n)[:n]
	s.movedIn = append(s.movedIn[:0], make([]int, n/bodyChunk+1)...)
	s.over(0, n, bodyChunk, (*solver).settleRows)
	moved := 0
	for chunk, count := range s.movedIn {
		moved += copy(s.events.Moved[moved:], s.events.Moved[chunk*bodyChunk:][:count])
	}
	s.events.Moved = s.events.Moved[:moved]
	for i := range s.sys.Hits {
		if h := &s.sys.Hits[i]; h.Speed >= HitSpeed && h.Impulse > 0 {
			s.events.hit(s, i)
		}
	}
}

func (s *solver) settleRows(lo, hi int) {
	c, o := s.cols, s.origins(s.rows)
	s.movedIn[lo/bodyChunk] = o.Follow(s.level, s.sys.States, &s.sys.Poses, lo, hi, s.events.Moved[lo:hi])
	clear(c.ForceX[lo:hi])
	clear(c.ForceY[lo:hi])
	clear(c.Torque[lo:hi])
}
