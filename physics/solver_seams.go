package physics

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/rigid"
)

// seamState finds shapes side by side, whose seams must not stop what moves over them: see rigid.Seams.
type seamState struct {
	scene   rigid.Seams
	any     bool        // a shape can be joined to another one
	present broad.Pairs // for joinPresent
	version uint64      // of the shapes that the list of what can be joined belongs to, plus one
}

// beginSeams prepares for joining what meets in pairs, and returns false if there is nothing to join.
func (s *solver) beginSeams(pairs *broad.Pairs) bool {
	z, t := &s.seams, &s.shapes
	if z.version != t.version+1 {
		z.version = t.version + 1
		s.updateJoins()
	}
	if !z.any {
		return false
	}
	c := &z.scene
	c.Shapes, c.BodyOf, c.Poses = t.shape, t.filters.Body, s.centre
	c.Begin(pairs)
	return true
}

// joinPresent corrects the manifold of presentManifold as a step does, with the contacts of both shapes.
func (s *solver) joinPresent(pair *broad.Pairs) {
	l, z, a, b := &s.look, &s.seams, pair.A[0], pair.B[0]
	if l.manifold[0].Count == 0 || !s.beginSeams(&z.present) || !z.scene.Joins[a] && !z.scene.Joins[b] {
		return
	}
	z.present.Reset()
	all := s.allContacts()
	for c := all.next(); c != nil; c = all.next() {
		if c.A != a && c.B != a && c.A != b && c.B != b || c.Flags&noPush != 0 || !s.shapesLive(c) {
			continue
		}
		if s.placePresent(c) {
			z.present.Add(c.A, c.B)
		}
	}
	z.scene.Join(pair, nil, l.manifold[:])
}

// updateJoins computes which shapes can be joined: polygons of static bodies. Sensors and platforms that let pass are none.
func (s *solver) updateJoins() {
	z, t := &s.seams, &s.shapes
	joins := buffer.Resized(z.scene.Joins, len(t.shape))
	z.scene.Joins, z.any = joins, false
	static := 0
	for i := range t.shape {
		joins[i] = false
		if t.sensor[i] || !t.shape[i].CanJoin() || t.oneWayDef(i) != [2]float32{} {
			continue
		}
		if s.cols.Type[t.filters.Body[i]] == StaticBody {
			joins[i] = true
			static++
		}
	}
	z.any = static > 1
}
