package rigid

import "github.com/evertick/evertick/internal/broad"

const (
	// sensorDepth is how deeply in metres a shape must enter a sensor to be noticed for certain.
	sensorDepth = 0.5 * separationTolerance

	// maxSensorAdvances is the largest number of iterations for a shape and a sensor.
	maxSensorAdvances = 256
)

// PassedSensors appends to out the pairs of a solid shape of one of bodies and a sensor of another body that pass each
// other: they overlap at some time of the step, and not at its end. A of a pair is the lower shape; the order of the
// pairs is unspecified, and each occurs once if each of bodies does. The paths are those of ContinuousSolver, after its
// other methods have moved bodies back, so a body does not pass a sensor beyond the place where it was stopped.
//
// l has the boxes of the sensors around their whole path: SweepBoxes makes them. PassedSensors leaves out pairs that
// Filters keep apart, segments of chains, and bodies that are not finite. It does not call PassesThrough and HadContact.
//
// Except for rounding, it finds every pair that overlaps by more than sensorDepth at some time, and none that never
// overlaps. There are two exceptions. A shape is compared only with the first MaxObstacles sensors whose boxes meet its
// path, in the order of the broad.Grid. And a shape far from its centre of mass that turns close to a sensor may need more
// than maxSensorAdvances iterations; then the pair is left out.
func (w *ContinuousSolver) PassedSensors(l *broad.Grid, bodies []uint32, out *broad.Pairs) {
	var p sweep
	var many [MaxObstacles]uint32
	sensors := obstacles{l}
	for _, body := range bodies {
		if w.isClear(&sensors, body) || !w.sweepOf(&p, body) {
			continue
		}
		for link := w.Head[body]; link != 0; link = w.Next[link-1] {
			shape := link - 1
			if w.Sensor[shape] || w.Shapes[shape].Count-1 >= MaxVertices || inChain(w.ChainSegments, shape) {
				continue
			}
			var proxy shapeProxy
			proxy.set(&w.Shapes[shape])
			box := p.bounds(&w.Shapes[shape], proxy.maxReach)
			for _, sensor := range many[:sensors.query(&box, many[:])] {
				if w.Filters.ShouldCollide(shape, sensor) && w.passes(&p, &proxy, sensor) {
					out.Add(min(shape, sensor), max(shape, sensor))
				}
			}
		}
	}
}

// passes reports whether a shape overlaps a sensor on its path, and not at the end.
func (w *ContinuousSolver) passes(p *sweep, proxy *shapeProxy, sensor uint32) bool {
	o, body := &w.Shapes[sensor], w.Filters.Body[sensor]
	if o.Count-1 >= MaxVertices {
		return false
	}
	var v relativeSweep
	by, _ := w.motionOf(body)
	if !v.set(p, &by, o, &w.Poses, body) || v.passesBy(proxy) {
		return false
	}
	for t, i := float32(0), 0; i < maxSensorAdvances; i++ {
		distance, nx, ny := v.distance(proxy, t)
		if distance <= 0 {
			distance, _, _ = v.distance(proxy, 1)
			return distance > 0
		}
		if t += v.earliestTime(proxy, t, distance+sensorDepth, nx, ny); !(t < 1) { // also if nothing moves
			return false
		}
	}
	return false
}

// distance returns that between a proxy and the obstacle at a time, not positive if they overlap, and the direction to
// the proxy.
func (v *relativeSweep) distance(o *shapeProxy, t float32) (distance, nx, ny float32) {
	var placed shapeProxy
	v.place(o, t, &placed)
	distance, nx, ny = gjkDistance(&placed, &v.obstacle)
	return distance - (o.radius + v.obstacle.radius), nx, ny
}
