package rigid

import "github.com/evertick/evertick/native"

// MaxObstacles bounds how many shapes a fast shape is compared with; see Sweep.
const MaxObstacles = 1024

// Extents are what decides whether a body is fast, an element per body, in metres. Sensors
// do not count.
type Extents struct {
	// Least is the least extent of its shapes: how far the surface is from the centroid
	// where it is nearest. +Inf for a body without shapes.
	Least []float32
	// Most is how far the farthest point of its shapes is from its centre of mass.
	Most []float32
}

// Measure returns the extents of a body with one shape, given relative to its centre of
// mass; those of one with several are the least and the most.
func (s *Shape) Measure() (least, farthest float32) {
	for _, v := range s.Vertices[:s.Count] {
		farthest = most(farthest, sqrt(float32(v.X*v.X)+float32(v.Y*v.Y)))
	}
	return s.extent(), farthest + s.Radius
}

// Fast writes the numbers of those bodies of [lo, hi) that are fast to out, which has room for
// all, and returns how many they are. A dynamic body is fast if it may have moved
// by more than half of its least extent in this step, anywhere on it:
//
//	(|DX| + |DY|) + (|S| + (1 - C))*Most > 0.5*Least
//
// which is never less than how far a point of it has come by a turn of up to 2.4 rad. What is
// behind the numbers in out is then unspecified. One whose move is NaN is not fast.
func (e *Extents) Fast(level native.Level, states []State, lo, hi int, out []uint32) int {
	if len(e.Least) < len(states) || len(e.Most) < len(states) || len(out) < hi-lo {
		panic("rigid: Extents.Fast: extents of each body, and room for all that can be fast, are needed")
	}
	_ = states[lo:hi]
	if level = must(level); level != native.Go && lo < hi {
		return e.fastC(level, states, lo, hi, out)
	}
	n := 0
	for i := lo; i < hi; i++ {
		st := &states[i]
		move := (abs(st.DX) + abs(st.DY)) + float32((abs(st.S)+(1-st.C))*e.Most[i])
		if st.InvMass > 0 && move > float32(0.5*e.Least[i]) {
			out[n] = uint32(i)
			n++
		}
	}
	return n
}

// Sweep keeps fast bodies from passing through what is thin: after a step it sets a body that has
// met a shape on its way back to where it met it. Velocities stay; the step that follows finds the
// two in touch and deals with that.
//
// # What stops a body
//
// The core of a shape is what is left when half of its extent is taken off all around. A
// shape stops at an obstacle if its core touches it, anywhere on the way from the pose before the
// step to the one after it. It stops where the shape itself, not the core, comes
// within LinearSlop of the obstacle; where the core does if the shape was as near as that
// before. So nothing goes deeper into an obstacle in one step than half its extent; what lies or
// slides on it, also over the seams of several, or grazes a corner less deeply than
// that, is not held up.
//
// If the core touched the obstacle already, it is the first that did not of these: the shape at
// half its size, and the disc of half its extent, both around its centroid. So a stick that
// hits with its end is not held there while the rest of it turns. Where that disc touched the
// obstacle already as well and comes nearer, the body stays where it was, and turns; a shape
// whose centroid was inside is not stopped. A body stops where the first of its shapes does.
//
// Two shapes that are not meant to pair (Broad.Pairs says when), sensors, and shapes of one body
// do not stop each other.
//
// # Motion
//
// Between the two poses the centre of mass goes straight and the body turns evenly, by what its
// rotations say and, as far as these leave that open, its angular velocity. Obstacles
// stay where they are. What is not finite stops nothing and is not stopped.
//
// No shape is compared with more than MaxObstacles others. If the boxes of more are in the
// box of its way, the rest is left out, in the order of the Layout.
type Sweep struct {
	// By body: States and Poses after the step, and the angles in radians. Stop sets poses and
	// angles back.
	States []State
	Poses  Poses
	Angle  []float32

	// Most is that of Extents, or nil: where it is known, a body that no obstacle is near costs little.
	Most []float32

	Dt float32 // length of the step in seconds

	// Head and Next are the shapes of each body as lists: number plus one of its first shape, and
	// by shape of the one that follows; 0 ends the list.
	Head, Next []uint32

	// By shape.
	Shapes  []Shape
	Filters *Filters
	Sensor  []bool

	// Passes reports of two shapes that are meant to pair, and of which the first is of a fast body,
	// whether it goes through the other all the same. nil: none does. It is called by several workers
	// at a time.
	Passes func(shape, other uint32) bool
}

// StopStill sets bodies back to where they met a shape that does not move. b is as the last Pairs
// left it: it knows where these are. Bodies do not depend on each other; workers can take
// a part each.
func (w *Sweep) StopStill(b *Broad, bodies []uint32) {
	for _, i := range bodies {
		w.stop(&b.still, i)
	}
}

// Stop sets bodies back to where they met a shape of a layout, at the pose where that is
// now. Bodies of the layout must not be among those to stop.
func (w *Sweep) Stop(l *Layout, bodies []uint32) {
	for _, i := range bodies {
		w.stop(&l.sorted, i)
	}
}

func (w *Sweep) stop(obstacles *sorted, body uint32) {
	if len(obstacles.layers) == 0 || w.Most != nil && w.alone(obstacles, body) {
		return
	}
	var path path
	if !path.of(&w.States[body], &w.Poses, body, w.Dt) {
		return
	}
	first := float32(1)
	for link := w.Head[body]; link != 0; link = w.Next[link-1] {
		if shape := link - 1; !w.Sensor[shape] && w.Shapes[shape].Count-1 < MaxVertices {
			first = w.firstOf(obstacles, &path, shape, first)
		}
	}
	if first == 1 {
		return
	}
	x, y, cos, sin := path.at(first)
	p := &w.Poses
	p.X[body], p.Y[body] = x, y
	if first > 0 {
		p.Cos[body], p.Sin[body], w.Angle[body] = cos, sin, Atan2(sin, cos)
	}
}

// alone reports whether no obstacle is near the way of a body. However it turns, no point of it
// is farther from its centre of mass than Most, and the core of a shape, which would have to touch, is well
// within that: the margin is for rounding.
func (w *Sweep) alone(obstacles *sorted, body uint32) bool {
	st, x, y := &w.States[body], w.Poses.X[body], w.Poses.Y[body]
	margin := (w.Most[body] + LinearSlop) + float32(1e-6*(abs(x)+abs(y)))
	fromX, fromY := x-st.DX, y-st.DY
	around := box{least(x, fromX) - margin, least(y, fromY) - margin, most(x, fromX) + margin, most(y, fromY) + margin}
	var one [1]uint32
	return obstacles.lookup(&around, one[:]) == 0
}

// firstOf returns when a shape meets the first obstacle, if that is before the given time.
func (w *Sweep) firstOf(obstacles *sorted, p *path, shape uint32, first float32) float32 {
	var s swept
	s.of(&w.Shapes[shape])
	box := p.box(s.shape, s.full.reach)
	var few [16]uint32 // as there mostly are: to clear room for more takes longer than to look
	if n := obstacles.lookup(&box, few[:]); n < len(few) {
		return w.firstAmong(few[:n], p, &s, shape, first)
	}
	return w.firstOfMany(obstacles, &box, p, &s, shape, first)
}

//go:noinline
func (w *Sweep) firstOfMany(obstacles *sorted, box *box, p *path, s *swept, shape uint32, first float32) float32 {
	var many [MaxObstacles]uint32
	return w.firstAmong(many[:obstacles.lookup(box, many[:])], p, s, shape, first)
}

// firstAmong is firstOf among some. Their order does not matter.
func (w *Sweep) firstAmong(near []uint32, p *path, s *swept, shape uint32, first float32) float32 {
	for _, other := range near {
		o := &w.Shapes[other]
		if w.Sensor[other] || o.Count-1 >= MaxVertices || !w.Filters.agree(shape, other) ||
			w.Passes != nil && w.Passes(shape, other) {
			continue
		}
		if t := s.meets(p, o, &w.Poses, w.Filters.Body[other], first); t < first {
			first = t
		}
	}
	return first
}

// agree reports whether two shapes can pair if one of them moves.
func (f *Filters) agree(a, b uint32) bool {
	if f.Body[a] == f.Body[b] {
		return false
	}
	if f.Group[a] == f.Group[b] && f.Group[a] != 0 {
		return f.Group[a] > 0
	}
	return f.Category[a]&f.Mask[b] != 0 && f.Category[b]&f.Mask[a] != 0
}
