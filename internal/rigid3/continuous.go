package rigid3

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/trig"
)

// Continuous keeps fast bodies from passing through thin shapes. After a step it moves a body that has hit an obstacle on its path back to where it
// hit. Its velocity stays; the next step finds that the two touch, and responds.
//
// # What stops a body
//
// The core of a shape is what remains when half of its least extent (Shape.MinExtent) is taken off all around. An obstacle stops a shape if it touches
// the core anywhere between the pose before the step and the one after it. The shape stops where the shape itself, not the core, comes within
// LinearSlop of the obstacle; if it was as near before the step, where the core does. So nothing goes deeper into an obstacle in one step than half its
// extent. What lies, rolls or slides on an obstacle, also over the seams of several, or grazes a corner less deeply than that, is not stopped.
//
// If the core touched the obstacle before the step, a core takes its place that is smaller by a sixteenth of the extent, or the first even smaller one that
// did not touch it. If no such core is left, and the smallest comes nearer to the obstacle, the body stays at its place before the step, and turns; a
// shape whose middle was inside is not stopped. A body stops where the first of its shapes does.
//
// A body that was as near before the step, and is stopped all the same, loses the part of its velocity that leads into the obstacle: its contact has not
// removed it. If it would stay at its place, it slides along the obstacle as far as it can. So no body is moved back in step after step while it gains
// speed.
//
// A triangle of a surface that is not two-sided stops a shape only from its front: where the middle of the shape was in front of its plane before the
// step, and is when the two touch.
//
// Shapes that the Filters keep apart, sensors, and shapes of one body do not stop each other.
//
// An obstacle does not stop a shape whose core is not fast as seen from it: whose points all stay within half of the least extent of where they were before
// the step, in the axes of the obstacle. Such a core is inside of the shape before the step, so that it touches nothing that the shape did not touch, and
// what it touched has a contact. This does not hold for the way on which an obstacle carries a body: that is only a part of a step.
//
// # Motion
//
// Between the two poses the centre of mass moves straight and the body turns evenly: see motion. Obstacles of Moving move in the same way, at the same
// time. A body that is not finite stops nothing and is not stopped.
//
// A body that hit a moving obstacle keeps its place in the frame of the obstacle: the obstacle carries it to its own pose after the step. On this way
// only obstacles of Still stop it. A dynamic obstacle with less mass carries nothing. Where a body is not carried all the way, the obstacle may have
// passed it. Neither carrying nor sliding moves a body along a locked axis, or changes its velocity there.
type Continuous struct {
	// By body: the state of the step, the poses after it, and the columns of its velocity. Bodies that are stopped get new ones, as if they had moved
	// and turned only so far. What has not moved has a state without translation and rotation.
	States []State
	Poses  []Pose
	V      [3][]float32

	// Before returns the pose of a body before the step. Several workers call it, and PassesThrough, at the same time.
	Before func(body uint32) Pose

	Dt       float32 // length of the step in seconds
	SubSteps int
	MaxSpeed float32 // Params.MaxSpeed: limits velocities that a stop changes

	// Head and Next are lists of the shapes of each body: by body the number plus one of its first shape, by shape that of the next one; 0 ends the
	// list.
	Head, Next []uint32

	// By shape.
	Shapes  []Shape
	Hulls   *Hulls
	Filters broad.Filters // without intervals
	Sensors []bool

	// PassesThrough reports whether a shape of a fast body passes through another one all the same. nil: none does.
	PassesThrough func(shape, other uint32) bool

	// Still are obstacles that do not move in this step, Driven those that may, but that nothing stops.
	Still, Driven *Obstacles

	// By body: the least Shape.MinExtent of its solid shapes, the greatest Shape.CoreExtent, and no less than the greatest Shape.MaxExtent.
	Least, Core, Extent []float32

	kernels *kernels // nil: Go
	drivers []driver // of the bodies of Driven; empty if these are many, or one of them is not finite
}

// maxDrivers is the number of bodies up to which each fast body compares its motion with that of all that drive obstacles, before it looks for these.
const maxDrivers = 4

// SetDriven sets Driven, and the bodies that its shapes belong to.
func (w *Continuous) SetDriven(o *Obstacles, bodies []uint32) {
	w.Driven, w.drivers = o, w.drivers[:0]
	if len(bodies) > maxDrivers {
		return
	}
	for _, body := range bodies {
		var by motion
		if !w.motionOf(body, &by) {
			w.drivers = w.drivers[:0]
			return
		}
		w.drivers = append(w.drivers, by.driver())
	}
}

// Obstacles are shapes in a grid: along two axes in its cells, along the third with intervals.
type Obstacles struct {
	Grid      *broad.Grid
	X, Y, Z   int            // the axes
	Intervals *broad.Filters // of which only the intervals count
	Moving    bool           // the boxes are around the whole path of each shape

	bounded bool // few shapes: lo and hi are a box around them
	lo, hi  Vec
}

// maxBounded is the number of shapes up to which Fit computes a box around all.
const maxBounded = 64

// Fit prepares for many bodies, most of which are far from all shapes. It is not needed for the results.
func (o *Obstacles) Fit() {
	b, least, most, ok := o.Grid.Bounds(maxBounded, o.Intervals)
	var lo, hi [3]float32
	lo[o.X], lo[o.Y], lo[o.Z], hi[o.X], hi[o.Y], hi[o.Z] = b[0], b[1], least, b[2], b[3], most
	o.bounded, o.lo, o.hi = ok, Vec{lo[0], lo[1], lo[2]}, Vec{hi[0], hi[1], hi[2]}
}

// meets reports whether the box of a shape overlaps a box.
func (o *Obstacles) meets(lo, hi Vec) bool {
	var one [1]uint32
	return o != nil && !o.Grid.IsEmpty() && !(o.bounded && o.isBeyond(lo, hi)) && o.queryInto(lo, hi, one[:]) > 0
}

func (o *Obstacles) isBeyond(lo, hi Vec) bool {
	return hi.X < o.lo.X || o.hi.X < lo.X || hi.Y < o.lo.Y || o.hi.Y < lo.Y || hi.Z < o.lo.Z || o.hi.Z < lo.Z
}

// queryInto writes the shapes whose boxes overlap a box to out until it is full, and returns their number.
func (o *Obstacles) queryInto(lo, hi Vec, out []uint32) int {
	from, to := [3]float32{lo.X, lo.Y, lo.Z}, [3]float32{hi.X, hi.Y, hi.Z}
	return o.Grid.QueryBetween(&[4]float32{from[o.X], from[o.Y], to[o.X], to[o.Y]}, from[o.Z], to[o.Z], o.Intervals, out)
}

// query appends the shapes whose boxes overlap a box.
func (o *Obstacles) query(lo, hi Vec, out []uint32) []uint32 {
	if o == nil || o.Grid.IsEmpty() {
		return out
	}
	at, room := len(out), 64
	for {
		out = grown(out[:at], room)
		n := o.queryInto(lo, hi, out[at:])
		if n < room {
			return out[:at+n]
		}
		room *= 4
	}
}

// ImpactMemory is the working memory of a worker for Continuous.
type ImpactMemory struct {
	near     []uint32
	faces    []mesh.Face
	sweep    meshSweep
	swept    [maxSwept]uint32
	triangle [3]Vec
	face     convexCore // of triangle
	box      mesh.Box
	shape    sweptShape
	path     corePath // of shape
	pair     impact
	obstacle boxArrays
}

// fastShare is the part of its least extent by which a body moves in a step before it counts as fast.
const fastShare = 0.5

// IsFast reports whether a point of a body may have moved by more than half of its least extent in the step, given the distance of the farthest of these
// points from the centre of mass. A body whose motion is NaN is not fast.
func (s *State) IsFast(least, farthest float32) bool {
	if s.Q.W < 0 {
		return farthest > 0 && least < inf // by more than half a turn
	}
	left := float32(fastShare * least)
	if v := s.Q.vector(); v != (Vec{}) {
		left -= float32(float32(2*v.length()) * farthest)
	}
	return left < 0 || s.D.Dot(s.D) > float32(left*left)
}

// MotionBound returns no less than the distance in metres by which a point of a body has moved in the step, in a turn of up to half a turn.
func (s *State) MotionBound(farthest float32) float32 {
	return s.D.length() + float32(float32(2*s.Q.vector().length())*farthest)
}

// motionOf computes the motion of a body, and returns false if it is not finite.
func (w *Continuous) motionOf(body uint32, m *motion) bool {
	st, after := &w.States[body], &w.Poses[body]
	if st.D == (Vec{}) && st.Q == Identity {
		ok := m.still(after)
		m.locks = st.Locks
		return ok
	}
	before := w.Before(body)
	return w.motionFrom(body, &before, m)
}

// motionFrom is motionOf for a body with a motion, given its pose before the step.
func (w *Continuous) motionFrom(body uint32, before *Pose, m *motion) bool {
	st, after := &w.States[body], &w.Poses[body]
	var expected vec64
	// A body that turned by less than half a turn, and would have at its velocity, made no further turns.
	if l := st.W.length(); l > 0 && st.Q != Identity && (st.Q.W < 0 || !(float32(l*w.Dt) < 3)) {
		turn := 2 * float64(w.SubSteps) * float64(trig.Atan2(float32(float32(0.5*l)*w.Dt)/float32(w.SubSteps), 1))
		expected = st.W.wide64().Times(turn / float64(l))
	}
	ok := m.set(before, after, st.Q, expected)
	m.locks = st.Locks
	return ok
}

// store sets the state of a body as if it had moved as m says.
func (w *Continuous) store(body uint32, m *motion) {
	st := &w.States[body]
	w.Poses[body], st.D, st.Q = m.end, m.by.narrow(), m.turn()
}

// Stop moves a fast body back to where an obstacle of Still or Driven stops it. Bodies do not depend on each other.
func (w *Continuous) Stop(body uint32, mem *ImpactMemory) {
	var m motion
	before := w.Before(body)
	if !w.mayMeet(body, before.P) || !w.motionFrom(body, &before, &m) {
		return
	}
	if w.stopAmong(body, &m, mem, w.Still, w.Driven) {
		w.store(body, &m)
	}
}

// mayMeet returns false if no obstacle of Still or Driven can stop a body: none is near the balls around its cores, or its core does not move fast as seen
// from any of them.
func (w *Continuous) mayMeet(body uint32, before Vec) bool {
	after, least := w.Poses[body].P, w.Least[body]
	reach := w.Extent[body] - float32(firstCore*least) + 2*targetSeparation
	lo := Vec{minFloat(before.X, after.X) - reach, minFloat(before.Y, after.Y) - reach, minFloat(before.Z, after.Z) - reach}
	hi := Vec{maxFloat(before.X, after.X) + reach, maxFloat(before.Y, after.Y) + reach, maxFloat(before.Z, after.Z) + reach}
	lo, hi, ok := fattenBox(lo, hi)
	if !ok || w.Still.meets(lo, hi) {
		return true
	}
	slow := len(w.drivers) > 0
	for i := range w.drivers {
		slow = slow && w.States[body].isSlowAgainst(&w.drivers[i], before, after, w.Dt, float64(least), float64(w.Core[body]))
	}
	return !slow && w.Driven.meets(lo, hi)
}

// StopAmong moves a body back to where one of more obstacles stops it, or one of Driven. Nothing stops these at the same time: it comes after Stop.
func (w *Continuous) StopAmong(body uint32, o *Obstacles, mem *ImpactMemory) {
	var m motion
	if !w.motionOf(body, &m) {
		return
	}
	if w.stopAmong(body, &m, mem, o, w.Driven) {
		w.store(body, &m)
	}
}

// stopAmong ends a motion at the first obstacle, and returns false if there is none.
func (w *Continuous) stopAmong(body uint32, m *motion, mem *ImpactMemory, one, other *Obstacles) bool {
	q := impactQuery{motion: m}
	if w.findFirst(&q, body, mem, one, other); q.time == 1 {
		return false
	}
	if q.near {
		w.removeVelocity(body, &q)
	}
	if q.time == 0 {
		along := *m
		if along.slide(q.normal, m.by.Sub(q.by.by)) {
			again := impactQuery{motion: &along}
			w.findFirst(&again, body, mem, one, other)
			if again.near {
				w.removeVelocity(body, &again)
			}
			along.stopAt(again.time)
			if again.time == 1 || !again.by.moves() {
				*m = along
				return true
			}
		}
	}
	own := *m
	m.stopAt(q.time)
	st := &w.States[w.Filters.Body[q.other]]
	if !q.by.moves() || st.InvMass > w.States[body].InvMass {
		return true
	}
	on := own.carriedBy(&q.by, q.time)
	if !on.isFinite() {
		return true
	}
	next := impactQuery{motion: &on, part: true}
	w.findFirst(&next, body, mem, w.Still, nil)
	on.stopAt(next.time)
	own.join(&on, q.time)
	*m = own
	return true
}

// impactQuery finds the first obstacle of the shapes of a body in motion.
type impactQuery struct {
	motion *motion

	// The time of the first hit, 1 if there is none; the shapes; the direction away from the other one; how its body moves; and whether the two were near
	// each other before the step.
	time         float64
	shape, other uint32
	normal       vec64
	by           motion
	near         bool

	part bool // the motion is only a part of the step
}

// findFirst finds when a body in motion is stopped, and by what. Of several obstacles at one time that with the lowest number counts.
func (w *Continuous) findFirst(q *impactQuery, body uint32, mem *ImpactMemory, one, other *Obstacles) {
	q.time, q.near = 1, false
	for link := w.Head[body]; link != 0; link = w.Next[link-1] {
		shape := link - 1
		if s := &w.Shapes[shape]; s.Kind != KindNone && !w.Sensors[shape] {
			mem.shape.set(s, w.Hulls)
			if len(mem.shape.whole.points) == 0 {
				continue
			}
			// Only what comes near the core stops the shape.
			mem.path.set(&mem.shape, q.motion)
			lo, hi, _ := mem.path.bounds()
			for _, o := range [...]*Obstacles{one, other} {
				mem.near = o.query(lo, hi, mem.near[:0])
				for _, near := range mem.near {
					w.pairImpact(q, mem, shape, near, o.Moving)
				}
			}
		}
	}
}

// boundsOf returns a box around a shape on the whole path of its body. Between its poses at the ends it turns away from the straight line by at most
// r·a²/8 for an angle a, and by at most 2·r, where no point of its core is farther than r from the centre of mass.
func (m *motion) boundsOf(s *Shape, hulls *Hulls) (lo, hi Vec) {
	start := Pose{m.from.narrow(), m.rotation.narrow()}
	bulge := float32(0)
	if m.angle != 0 {
		bulge = float32(s.MaxExtent(hulls) * minFloat(float32(0.125*float64(m.angle*m.angle)), 2))
	}
	margin := bulge + 2*targetSeparation
	lo, hi = s.bounds(hulls, &start, margin)
	toLo, toHi := s.bounds(hulls, &m.end, margin)
	lo = Vec{minFloat(lo.X, toLo.X), minFloat(lo.Y, toLo.Y), minFloat(lo.Z, toLo.Z)}
	hi = Vec{maxFloat(hi.X, toHi.X), maxFloat(hi.Y, toHi.Y), maxFloat(hi.Z, toHi.Z)}
	lo, hi, _ = fattenBox(lo, hi)
	return lo, hi
}

// SweptBox sets the box of a shape to one around its whole path. The box of a shape whose motion is not finite is unspecified.
func (w *Continuous) SweptBox(shape uint32, out *Boxes) {
	var m motion
	w.motionOf(w.Filters.Body[shape], &m)
	lo, hi := m.boundsOf(&w.Shapes[shape], w.Hulls)
	out.Min[0][shape], out.Min[1][shape], out.Min[2][shape] = lo.X, lo.Y, lo.Z
	out.Max[0][shape], out.Max[1][shape], out.Max[2][shape] = hi.X, hi.Y, hi.Z
}

// pairImpact finds whether another shape stops the shape in mem earlier than the first one so far or at the same time.
func (w *Continuous) pairImpact(q *impactQuery, mem *ImpactMemory, shape, other uint32, moving bool) {
	o, body := &w.Shapes[other], w.Filters.Body[other]
	if w.Sensors[other] || o.Kind == KindNone || !w.Filters.ShouldCollide(shape, other) ||
		w.PassesThrough != nil && w.PassesThrough(shape, other) {
		return
	}
	var by motion
	finite := false
	if moving {
		finite = w.motionOf(body, &by)
	} else {
		finite = by.still(&w.Poses[body])
	}
	if !finite {
		return
	}
	var d drift
	d.set(q.motion, &by)
	if !q.part && d.isSlow(mem.path.far, float64(mem.shape.extent)) {
		return
	}
	if o.Kind == KindSurface {
		w.surfaceImpact(q, mem, shape, other, &by)
		return
	}
	whole := o.polytope(w.Hulls, &mem.obstacle)
	if len(whole.Planes) > 0 {
		var frame pose64
		frame.setWide(by.from, by.rotation, &o.Pose)
		if mem.path.passesFaces(&d, &frame, whole.Planes, float64(o.Radius)) {
			return
		}
	}
	obstacle := o.convex(w.Hulls, &mem.obstacle)
	if o.Kind == KindBox {
		lo, hi := mem.shape.boundsOn(q.motion, w.Hulls)
		mem.clipBox(o, &by, lo, hi)
	}
	if len(obstacle.points) > 0 {
		w.coreImpact(q, mem, &obstacle, &by, shape, other, nil)
	}
}

// coreImpact is pairImpact for a core of the other shape. If that is a triangle, front decides on which side of it a place must be.
func (w *Continuous) coreImpact(q *impactQuery, mem *ImpactMemory, obstacle *convexCore, by *motion, shape, other uint32, front *faceFront) {
	mem.pair.set(obstacle, &mem.shape.whole, by, q.motion)
	if front != nil && !front.sees(&mem.pair, mem.shape.middle(w.Hulls), 0) {
		return
	}
	touch, _ := mem.pair.advance(0, targetSeparation, separationTolerance, 1)
	if touch == 1 || touch > q.time || front != nil && !front.sees(&mem.pair, mem.shape.middle(w.Hulls), touch) {
		return
	}
	t, normal := mem.shape.stopTime(&mem.pair, w.Hulls, touch)
	if t < q.time || t == q.time && t < 1 && (other < q.other || other == q.other && shape < q.shape) {
		q.time, q.shape, q.other, q.normal, q.by, q.near = t, shape, other, normal, *by, touch == 0
	}
}

// clipBox cuts the core of a box whose body has the motion by, in mem.obstacle, to what is near the box of a path. The distance from a core that is as
// large as what moves near it is precise.
func (mem *ImpactMemory) clipBox(s *Shape, by *motion, lo, hi Vec) {
	box, ok := by.boxWithin(&s.Pose, lo, hi)
	if !ok {
		return
	}
	from, to := wideArray(box.Min), wideArray(box.Max)
	centre, half := from.Add(to).Times(0.5), to.Sub(from).Times(0.5)
	reach := 2*half.length() + float64(s.Radius) // so that the cut is not the nearest part
	for i := range mem.obstacle.vertices {
		v := &mem.obstacle.vertices[i]
		v.X, v.Y, v.Z = clipped(v.X, centre.x, reach), clipped(v.Y, centre.y, reach), clipped(v.Z, centre.z, reach)
	}
}

// clipped returns the coordinate nearest to v at most reach from centre.
func clipped(v float32, centre, reach float64) float32 {
	return float32(min(max(float64(v), centre-reach), centre+reach))
}

// removeVelocity removes from the velocity of a body that stays at its place the part that leads into its obstacle, as their contact has not done so.
// The rest is within the speed limit.
func (w *Continuous) removeVelocity(body uint32, q *impactQuery) {
	st, of := &w.States[body], w.Filters.Body[q.other]
	own := vecAt(&w.V, int(body))
	v := own.wide64()
	if q.by.moves() {
		by := &w.States[of]
		v = v.Sub(by.V.wide64().Add(by.W.wide64().Cross(q.motion.from.Sub(q.by.from))))
	}
	in := v.Dot(q.normal)
	if !(in < 0) {
		return
	}
	own = own.wide64().Sub(unlocked64(q.normal.Times(in), st.Locks)).narrow().shortened(w.MaxSpeed)
	st.V = own
	setVec(&w.V, int(body), own)
}
