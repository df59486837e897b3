package rigid

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// MaxObstacles is the largest number of shapes that a fast shape is compared with; see ContinuousSolver.
const MaxObstacles = 1024

// Extents decide whether a body is fast: an element per body, in metres, without sensors.
type Extents struct {
	// Min is the least extent of the shapes: the distance of the surface from the centroid where it is nearest.
	// +Inf for a body without shapes.
	Min []float32
	// Max is the distance of the farthest point of the shapes from the centre of mass.
	Max []float32
}

// Extents returns the extents of a body with one shape, which is relative to the centre of mass of the body. For a
// body with several shapes, take the least and the greatest of them.
func (s *Shape) Extents() (least, farthest float32) {
	for _, v := range s.Vertices[:s.Count] {
		farthest = maxFloat(farthest, sqrt(float32(v.X*v.X)+float32(v.Y*v.Y)))
	}
	return s.extent(), farthest + s.Radius
}

// FindFast writes the numbers of the fast bodies of [lo, hi) to out, which has room for all, and returns their
// number. A dynamic body is fast if a point of it may have moved by more than half of its least extent in this step:
//
//	(|DX| + |DY|) + (|S| + (1 - C))*Max > 0.5*Min
//
// The left side is never less than the motion of a point in a turn of up to 2.4 rad. The rest of out is then
// unspecified. A body whose motion is NaN is not fast.
func (e *Extents) FindFast(level native.Level, states []State, lo, hi int, out []uint32) int {
	if len(e.Min) < len(states) || len(e.Max) < len(states) || len(out) < hi-lo {
		panic("rigid: Extents.FindFast: extents of each body, and room for all that can be fast, are needed")
	}
	_ = states[lo:hi]
	return kernelsFor(level, hi-lo).findFast(*e, states, lo, hi, out)
}

func (e Extents) findFastGo(states []State, lo, hi int, out []uint32) int {
	n := 0
	for i := lo; i < hi; i++ {
		st := &states[i]
		if st.InvMass > 0 && e.MotionBound(st, i) > float32(0.5*e.Min[i]) {
			out[n] = uint32(i)
			n++
		}
	}
	return n
}

// MotionBound is the left side of the inequality of FindFast.
func (e *Extents) MotionBound(st *State, body int) float32 {
	return (abs(st.DX) + abs(st.DY)) + float32((abs(st.S)+(1-st.C))*e.Max[body])
}

// ContinuousSolver keeps fast bodies from passing through thin shapes. After a step it moves a body that has
// hit a shape on its way back to the place of the hit. Its velocity stays; the next step finds that the two
// touch, and responds.
//
// # What stops a body
//
// The core of a shape is what remains when half of its extent is taken off all around. An obstacle stops a
// shape if it touches the core anywhere between the pose before the step and the one after it. The shape stops
// where the shape itself, not the core, comes within LinearSlop of the obstacle; if it was as near before the
// step, where the core does. So nothing goes deeper into an obstacle in one step than half its extent. What
// lies or slides on an obstacle, also over the seams of several, or grazes a corner less deeply than that, is
// not stopped.
//
// If the core touched the obstacle before the step, the first of these that did not takes its place: the shape
// at half its size, and the disc of half its extent, both around its centroid. So a stick that hits with its
// end is not stopped while the rest of it turns. If that disc touched the obstacle as well and comes nearer,
// the body stays at its place before the step, and turns; a shape whose centroid was inside is not stopped. A
// body stops where the first of its shapes does.
//
// A segment of a chain (ChainSegment) stops a shape only where CollideChains makes a contact of the two. A shape
// that passes beyond the open end of a chain, or comes from its back, is not stopped. If there is no contact where
// the shape touches the segment, its cores are tried, from the largest to the disc, and then its centroid. The
// first of these that touches the segment at a place with a contact stops the shape.
//
// A shape that begins a step within LinearSlop of an obstacle is stopped there only if the two have a contact
// (HadContact). If it would stay at its place, it slides along the obstacle as far as it can, and loses the
// part of its velocity that leads into the obstacle. So no body is moved back in step after step while it gains
// speed.
//
// Two shapes that do not pair (see broad.Phase.FindPairs), sensors, and shapes of one body do not stop each
// other.
//
// # Motion
//
// Between the two poses the centre of mass moves straight and the body turns evenly. The rotations give the angle,
// and the angular velocity gives the number of whole turns. The obstacles of SolveMoving move in the same way, at the
// same time. A body that is not finite stops nothing and is not stopped.
//
// A body that hit a moving obstacle keeps its place in the frame of the obstacle: the obstacle carries it to
// its own pose after the step. On this way only shapes that do not move stop it. A dynamic obstacle with less
// mass carries nothing. Where a body is not carried all the way, the obstacle may have passed it.
//
// Neither carrying nor sliding moves a body along a locked axis (Locks), or changes its velocity there.
//
// No shape is compared with more than MaxObstacles others. If the box of its way meets more boxes, it ignores the
// rest, in the order of the broad.Grid.
type ContinuousSolver struct {
	// By body: States and Poses after the step, angles in radians, and velocities. Bodies that are stopped get
	// new ones, as if they had moved and turned only so far.
	States []State
	Poses  Poses
	Angle  []float32
	VX, VY []float32

	// MaxExtent is Extents.Max, or nil. With it a body without obstacles nearby costs little, and SweepBoxes
	// needs it.
	MaxExtent []float32

	// TurnAngle has room for an element per body, or is nil. It is all 0 before the first call of a step. It
	// gets the angle by which a stopped body turned: if the body is stopped again, or is an obstacle then, its
	// rotation and angular velocity no longer determine the number of whole turns.
	TurnAngle []float32

	// Active has a bit for each body whose state is of this step; the others did not move.
	// nil: all are.
	Active []uint64

	Dt       float32 // length of the step in seconds
	MaxSpeed float32 // Params.MaxSpeed: limits velocities that a stop changes. 0: no limit

	// Resting are more shapes that do not move, or nil: of bodies that count as moving in the broad.Phase
	// (Filters.Moves) but do not move in this step.
	Resting *broad.Grid

	// Head and Next are lists of the shapes of each body: by body the number plus one of its first shape, by
	// shape that of the next one; 0 ends the list.
	Head, Next []uint32

	// By shape.
	Shapes        []Shape
	Filters       *broad.Filters
	Sensor        []bool
	ChainSegments []ChainSegment // of the first shapes

	// PassesThrough reports whether a shape of a fast body passes through another one all the same, though they
	// pair. nil: none does. Several workers call it at the same time.
	PassesThrough func(shape, other uint32) bool

	// HadContact reports whether two shapes had a contact in this step. nil: all had. It is called like
	// PassesThrough.
	HadContact func(shape, other uint32) bool

	// Locks returns how a body is locked. nil: no body is. It is called like PassesThrough.
	Locks func(body uint32) MotionLocks
}

// MotionLocks are the motions that nothing can cause in a body: along an axis, or a rotation.
type MotionLocks struct{ X, Y, Rotation bool }

// obstacles are the shapes of up to two grids.
type obstacles [2]*broad.Grid

// stationary are the shapes that do not move.
func (w *ContinuousSolver) stationary(b *broad.Phase) obstacles {
	if w.Resting == nil {
		return obstacles{b.Stationary()}
	}
	return obstacles{b.Stationary(), w.Resting}
}

func (o *obstacles) empty() bool {
	for _, s := range o {
		if s != nil && !s.IsEmpty() {
			return false
		}
	}
	return true
}

// query is Query of both, one after the other.
func (o *obstacles) query(b *box, out []uint32) (n int) {
	for _, s := range o {
		if s != nil {
			n += s.Query((*[4]float32)(b), out[n:])
		}
	}
	return n
}

// SolveStationary moves bodies back to where they hit a shape that does not move. b is in the state after the last
// FindPairs: it has these shapes, except Resting. Bodies do not depend on each other, so each worker can take a part.
func (w *ContinuousSolver) SolveStationary(b *broad.Phase, bodies []uint32) {
	var p sweep
	still := w.stationary(b)
	for _, i := range bodies {
		if w.isClear(&still, i) || !w.lockedSweep(&p, i) {
			continue
		}
		if w.stopAtStationary(&impactQuery{obstacles: &still, sweep: &p}, i) {
			w.store(i, &p)
		}
	}
}

// stopAtStationary ends a way at the first shape that does not move, and returns false if there is none. A body that
// would stay at its place slides along the obstacle instead.
func (w *ContinuousSolver) stopAtStationary(q *impactQuery, body uint32) bool {
	p := q.sweep
	if w.findFirst(q, body); q.time == 1 {
		return false
	}
	if q.time == 0 && p.slide(q.normal, p.dx, p.dy) {
		w.findFirst(q, body)
	}
	p.stopAt(q.time)
	return true
}

// SolveMoving moves bodies back to where they hit a moving shape of a grid, and carries them on with it. The
// boxes of the grid are around the whole way of each shape: SweepBoxes makes them. Bodies of the grid must not
// be among those to stop. b is that of SolveStationary, which comes first.
func (w *ContinuousSolver) SolveMoving(l *broad.Grid, b *broad.Phase, bodies []uint32) {
	var p sweep
	moving, still := obstacles{l}, w.stationary(b)
	for _, i := range bodies {
		if !w.isClear(&moving, i) && w.lockedSweep(&p, i) && w.stopAtMoving(&moving, &still, &p, i) {
			w.store(i, &p)
		}
	}
}

// stopAtMoving is stopAtStationary for shapes that move.
func (w *ContinuousSolver) stopAtMoving(moving, still *obstacles, p *sweep, body uint32) bool {
	q := impactQuery{obstacles: moving, sweep: p, moving: true}
	if w.findFirst(&q, body); q.time == 1 {
		return false
	}
	target := w.Filters.Body[q.other]
	by, moves := w.motionOf(target)
	if along := *p; q.time == 0 && along.slide(q.normal, p.dx-by.dx, p.dy-by.dy) {
		w.stopAtStationary(&impactQuery{obstacles: still, sweep: &along}, body)
		again := impactQuery{obstacles: moving, sweep: &along, moving: true}
		if w.findFirst(&again, body); again.time == 1 {
			*p = along
			return true
		}
	}
	p.stopAt(q.time)
	if !moves || w.States[target].InvMass > w.States[body].InvMass {
		return true
	}
	on := by.carriedFrom(p, q.time)
	if !on.finite() {
		return false
	}
	w.stopAtStationary(&impactQuery{obstacles: still, sweep: &on, midStep: true}, body)
	on.dx, on.dy, on.angle = p.dx+on.dx, p.dy+on.dy, p.angle+on.angle
	*p = on
	return true
}

// store moves a body to the end of a way, and sets its state as if it had gone that way.
func (w *ContinuousSolver) store(body uint32, p *sweep) {
	st, to := &w.States[body], &w.Poses
	to.X[body], to.Y[body] = p.x, p.y
	st.DX, st.DY = p.dx, p.dy
	if w.TurnAngle != nil {
		w.TurnAngle[body] = p.angle
	}
	if p.cos != to.Cos[body] || p.sin != to.Sin[body] {
		to.Cos[body], to.Sin[body], w.Angle[body] = p.cos, p.sin, Atan2(p.sin, p.cos)
		st.S, st.C = SinCos(p.angle)
	}
}

// sweepOf computes the way of a body, and returns false if it is not finite.
func (w *ContinuousSolver) sweepOf(p *sweep, body uint32) bool {
	if !p.set(&w.States[body], &w.Poses, body, w.Dt) {
		return false
	}
	if w.TurnAngle != nil && w.TurnAngle[body] != 0 {
		p.angle = w.TurnAngle[body]
	}
	return true
}

// lockedSweep is sweepOf for a body that may be stopped.
func (w *ContinuousSolver) lockedSweep(p *sweep, body uint32) bool {
	if !w.sweepOf(p, body) {
		return false
	}
	if w.Locks != nil {
		p.locks = w.Locks(body)
	}
	return true
}

// motionOf returns the way of a body, and false if it did not move, or if the way is not finite.
func (w *ContinuousSolver) motionOf(body uint32) (p sweep, ok bool) {
	st := &w.States[body]
	if w.Active != nil && w.Active[body/64]>>(body%64)&1 == 0 || st.DX == 0 && st.DY == 0 && st.S == 0 && st.C == 1 {
		return p, false
	}
	ok = w.sweepOf(&p, body)
	return p, ok
}

// SweepBoxes extends boxes of shapes [lo, hi) after the step by those before it, to boxes around their whole
// way. Both must be around the shapes. It panics without MaxExtent.
func (w *ContinuousSolver) SweepBoxes(before, boxes *broad.Boxes, lo, hi int) {
	if len(w.MaxExtent) < len(w.States) {
		panic("rigid: ContinuousSolver.SweepBoxes: MaxExtent of each body is needed")
	}
	for i := lo; i < hi; i++ {
		body := w.Filters.Body[i]
		p, ok := w.motionOf(body)
		if !ok || w.Shapes[i].Count == 0 {
			continue
		}
		bulge := float32(w.MaxExtent[body] * minFloat(float32(p.angle*p.angle)*0.125, 2)) // see sweep.bounds; a circle is within 2
		boxes.MinX[i] = minFloat(before.MinX[i], boxes.MinX[i]) - bulge
		boxes.MinY[i] = minFloat(before.MinY[i], boxes.MinY[i]) - bulge
		boxes.MaxX[i] = maxFloat(before.MaxX[i], boxes.MaxX[i]) + bulge
		boxes.MaxY[i] = maxFloat(before.MaxY[i], boxes.MaxY[i]) + bulge
	}
}

// isClear reports whether no obstacle is near the way of a body. No point of it is farther from its centre of
// mass than MaxExtent, however it turns, and the core, which would have to touch, is well within that: the
// margin covers rounding.
func (w *ContinuousSolver) isClear(obstacles *obstacles, body uint32) bool {
	if obstacles.empty() {
		return true
	}
	if w.MaxExtent == nil {
		return false
	}
	st, x, y := &w.States[body], w.Poses.X[body], w.Poses.Y[body]
	margin := (w.MaxExtent[body] + LinearSlop) + float32(1e-6*(abs(x)+abs(y)))
	fromX, fromY := x-st.DX, y-st.DY
	around := box{minFloat(x, fromX) - margin, minFloat(y, fromY) - margin, maxFloat(x, fromX) + margin, maxFloat(y, fromY) + margin}
	var one [1]uint32
	return obstacles.query(&around, one[:]) == 0
}

// impactQuery finds the first obstacle of the shapes of a body on a way.
type impactQuery struct {
	obstacles *obstacles
	sweep     *sweep
	moving    bool // the obstacles may move
	midStep   bool // the way begins within the step: contacts do not show what touched there

	// The time of the first hit, 1 if there is none; the shape of the body and the other one; and at time 0 the
	// direction away from that.
	time         float32
	shape, other uint32
	normal       Vec
}

// add records that a shape stops at time t. Of several obstacles at time 0 the one with the lowest number counts.
func (q *impactQuery) add(t float32, shape, other uint32, out Vec) {
	if t < q.time || t == 0 && (other < q.other || other == q.other && shape < q.shape) {
		q.time, q.shape, q.other, q.normal = t, shape, other, out
	}
}

// findFirst finds when a body on a way is stopped, and by what.
func (w *ContinuousSolver) findFirst(q *impactQuery, body uint32) {
	q.time = 1
	if q.obstacles.empty() {
		return
	}
	for link := w.Head[body]; link != 0; link = w.Next[link-1] {
		if shape := link - 1; !w.Sensor[shape] && w.Shapes[shape].Count-1 < MaxVertices {
			w.shapeTimeOfImpact(q, shape)
		}
	}
	if q.time == 0 {
		w.removeVelocity(body, q)
	}
}

// removeVelocity removes from the velocity of a body that stays at its place the part that leads into its
// obstacle, as their contact has not done so. The rest is within the speed limit.
func (w *ContinuousSolver) removeVelocity(body uint32, q *impactQuery) {
	st, of, held := &w.States[body], w.Filters.Body[q.other], &q.sweep.locks
	ownX, ownY := w.VX[body], w.VY[body]
	vx, vy := ownX, ownY
	if q.moving {
		if _, ok := w.motionOf(of); ok {
			by := &w.States[of]
			x, y := w.Poses.X[body]-w.Poses.X[of], w.Poses.Y[body]-w.Poses.Y[of]
			vx, vy = vx-(by.VX-float32(by.W*y)), vy-(by.VY+float32(by.W*x))
		}
	}
	in := float32(vx*q.normal.X) + float32(vy*q.normal.Y)
	if !(in < 0) {
		return
	}
	if !held.X {
		ownX -= float32(in * q.normal.X)
	}
	if !held.Y {
		ownY -= float32(in * q.normal.Y)
	}
	if w.MaxSpeed > 0 {
		ownX, ownY = clampSpeed(w.MaxSpeed, ownX, ownY)
	}
	st.VX, st.VY, w.VX[body], w.VY[body] = ownX, ownY, ownX, ownY
}

// shapeTimeOfImpact looks for obstacles that a shape hits earlier than the first one so far.
func (w *ContinuousSolver) shapeTimeOfImpact(q *impactQuery, shape uint32) {
	var s sweptShape
	s.set(&w.Shapes[shape])
	box := q.sweep.bounds(s.shape, s.proxy.maxReach)
	var few [16]uint32 // as is usual: clearing memory for more takes longer than the search
	if n := q.obstacles.query(&box, few[:]); n < len(few) {
		w.timeOfImpactAmong(few[:n], q, &s, shape)
		return
	}
	w.timeOfImpactMany(q, &box, &s, shape)
}

//go:noinline
func (w *ContinuousSolver) timeOfImpactMany(q *impactQuery, box *box, s *sweptShape, shape uint32) {
	var many [MaxObstacles]uint32
	w.timeOfImpactAmong(many[:q.obstacles.query(box, many[:])], q, s, shape)
}

// timeOfImpactAmong is shapeTimeOfImpact for some obstacles. Of two that stop the shape at the same time the first
// counts.
func (w *ContinuousSolver) timeOfImpactAmong(near []uint32, q *impactQuery, s *sweptShape, shape uint32) {
	for _, other := range near {
		o := &w.Shapes[other]
		if w.Sensor[other] || o.Count-1 >= MaxVertices || !w.Filters.ShouldCollide(shape, other) ||
			w.PassesThrough != nil && w.PassesThrough(shape, other) {
			continue
		}
		w.pairTimeOfImpact(q, s, shape, other)
	}
}

// pairTimeOfImpact finds whether another shape stops a shape.
func (w *ContinuousSolver) pairTimeOfImpact(q *impactQuery, s *sweptShape, shape, other uint32) {
	var v relativeSweep
	body, o := w.Filters.Body[other], &w.Shapes[other]
	var by sweep // that of an obstacle at rest
	if q.moving {
		by, _ = w.motionOf(body)
	}
	if !v.set(q.sweep, &by, o, &w.Poses, body) || v.passesBy(&s.proxy) {
		return
	}
	touch := v.advance(&s.proxy, targetSeparation, 0, q.time)
	if touch == 1 {
		return
	}
	s.makeCores()
	t := w.stopTime(q, s, &v, shape, other, touch)
	if t < 1 && (t > 0 || !w.hadNoContact(q, shape, other)) {
		cos, sin := rotateBack(w.Poses.Cos[body], w.Poses.Sin[body], by.angle)
		q.add(t, shape, other, Vec{float32(cos*s.normal.X) - float32(sin*s.normal.Y), float32(sin*s.normal.X) + float32(cos*s.normal.Y)})
	}
}

// stopTime returns when a shape stops that touches another one at time touch.
func (w *ContinuousSolver) stopTime(q *impactQuery, s *sweptShape, v *relativeSweep, shape, other uint32, touch float32) float32 {
	o := &w.Shapes[other]
	c := chainPair{segment: o, other: s.shape}
	switch onChain, ofChain := inChain(w.ChainSegments, other), inChain(w.ChainSegments, shape); {
	case onChain && ofChain:
		return 1 // these never touch
	case onChain:
		c.smooth = &w.ChainSegments[other]
	case ofChain:
		c = chainPair{segment: s.shape, other: o, smooth: &w.ChainSegments[shape], segmentMoves: true}
	case touch == 0 && w.hadNoContact(q, shape, other):
		return 1
	default:
		return s.stopTime(v, touch, q.time)
	}
	return s.chainStopTime(v, &c, touch, q.time)
}

// hadNoContact reports whether two shapes that were near each other before the step had no contact in it.
func (w *ContinuousSolver) hadNoContact(q *impactQuery, shape, other uint32) bool {
	return !q.midStep && w.HadContact != nil && !w.HadContact(shape, other)
}
