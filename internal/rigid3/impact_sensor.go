package rigid3

import "github.com/evertick/evertick/internal/broad"

// sensorDepth is how deeply in metres a shape must enter a sensor to be noticed for certain.
const sensorDepth = separationTolerance

// PassedSensors appends to out the pairs of a solid shape of a body and a sensor of another body that pass each other: they overlap at some time of the
// step, and not at its end. A of a pair is the lower shape; the order of the pairs is unspecified. It comes after the methods that stop bodies, so a body
// does not pass a sensor beyond the place where it was stopped. sensors has the boxes of sensors around their whole path: see SweptBox.
//
// Except for rounding, it finds every pair that overlaps by more than sensorDepth at some time, and none that never overlaps. A shape that turns close to a
// sensor may need more than maxImpactSteps iterations; then the pair is left out.
func (w *Continuous) PassedSensors(body uint32, sensors *Obstacles, mem *ImpactMemory, out *broad.Pairs) {
	var m motion
	if !w.motionOf(body, &m) {
		return
	}
	for link := w.Head[body]; link != 0; link = w.Next[link-1] {
		shape := link - 1
		s := &w.Shapes[shape]
		if s.Kind == KindNone || w.Sensors[shape] {
			continue
		}
		lo, hi := m.boundsOf(s, w.Hulls)
		mem.shape.set(s, w.Hulls)
		if len(mem.shape.whole.points) == 0 {
			continue
		}
		mem.near = sensors.query(lo, hi, mem.near[:0])
		for _, sensor := range mem.near {
			if w.Filters.ShouldCollide(shape, sensor) && (w.PassesThrough == nil || !w.PassesThrough(shape, sensor)) && w.passes(&m, mem, lo, hi, sensor) {
				out.Add(min(shape, sensor), max(shape, sensor))
			}
		}
	}
}

// passes reports whether the shape in mem, whose body has the motion m and whose path is within a box, overlaps a sensor on its path, and not at the end.
func (w *Continuous) passes(m *motion, mem *ImpactMemory, lo, hi Vec, sensor uint32) bool {
	o := &w.Shapes[sensor]
	var by motion
	if !w.motionOf(w.Filters.Body[sensor], &by) {
		return false
	}
	if o.Kind == KindSurface {
		return w.passesSurface(m, mem, lo, hi, o, &by)
	}
	obstacle := o.convex(w.Hulls, &mem.obstacle)
	if o.Kind == KindBox {
		mem.clipBox(o, &by, lo, hi)
	}
	if len(obstacle.points) == 0 {
		return false
	}
	mem.pair.set(&obstacle, &mem.shape.whole, &by, m)
	_, meets := mem.pair.meets()
	return meets && !mem.pair.overlapsAt(1)
}

// passesSurface is passes for a surface: a shape passes it that overlaps the front of some triangle, and of none at the end. One that comes from the back
// overlaps the front if its middle gets there.
func (w *Continuous) passesSurface(m *motion, mem *ImpactMemory, lo, hi Vec, o *Shape, by *motion) bool {
	twoSided, middle, passes := w.Hulls.surface(o.Hull).TwoSided, mem.shape.middle(w.Hulls), false
	var ok bool
	if mem.box, ok = by.boxWithin(&o.Pose, lo, hi); !ok {
		return false
	}
	for triangle := range w.trianglesNear(mem, o) {
		front := frontOf(triangle, twoSided)
		mem.pair.set(triangle, &mem.shape.whole, by, m)
		inFront := front.sees(&mem.pair, middle, 1)
		if inFront && mem.pair.overlapsAt(1) {
			return false
		}
		if !passes {
			t, meets := mem.pair.meets()
			passes = meets && (inFront || front.sees(&mem.pair, middle, t))
		}
	}
	return passes
}

// meets returns the first time at which the two overlap by about sensorDepth, and false if there is none.
func (p *impact) meets() (float64, bool) {
	t, _ := p.advance(0, -sensorDepth, 0.5*sensorDepth, 1)
	return t, t < 1 && p.overlapsAt(t)
}

func (p *impact) overlapsAt(t float64) bool {
	gap, _, apart := p.gapAt(t)
	return !apart || gap <= 0
}
