package physics

import "math"

// synced is what Sync has written last to the columns of the entities, an element per
// body: the position, and the components of the quaternion that are not zero. X is NaN
// where it has written nothing yet.
type synced struct {
	x, y, sin, cos []float32
}

func newSynced(capacity int) synced {
	f := func() []float32 { return make([]float32, capacity) }
	s := synced{f(), f(), f(), f()}
	for i := range s.x {
		s.x[i] = never
	}
	return s
}

var never = float32(math.NaN())

func (s *synced) columns() [4]*[]float32 { return [...]*[]float32{&s.x, &s.y, &s.sin, &s.cos} }

func (s *synced) clear(i int) { s.x[i], s.y[i], s.sin[i], s.cos[i] = never, 0, 0, 0 }

func (s *synced) put(i int, x, y, sin, cos float32) {
	s.x[i], s.y[i], s.sin[i], s.cos[i] = x, y, sin, cos
}
