package physics3

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/rigid3"
)

// seamState finds shapes side by side, whose seams must not stop what moves over them: see rigid3.Seams.
type seamState struct {
	scene   rigid3.Seams
	any     bool   // a shape can be joined to another one
	version uint64 // of the shapes that the kinds belong to, plus one
}

// beginSeams prepares the lists of shapes that can be joined, and returns false if there are none.
func (s *solver) beginSeams() bool {
	z, t := &s.seams, &s.shapes
	if z.version != t.version+1 {
		z.version = t.version + 1
		s.updateSeamKinds()
	}
	if !z.any {
		return false
	}
	c := &z.scene
	c.Shapes, c.Hulls, c.BodyOf, c.Poses = t.shape, &s.contents.Hulls, t.filters.Body, s.poses
	c.Begin()
	return true
}

// joinPresent corrects the manifold of presentManifold as a step does, with the contacts of both shapes.
func (s *solver) joinPresent() {
	l, t := &s.present, &s.shapes
	a, b := l.a[0], l.b[0]
	if l.manifold[0].Count == 0 || !s.beginSeams() || s.seams.scene.Kinds[a]|s.seams.scene.Kinds[b] == 0 {
		return
	}
	all := s.allContacts()
	for c := all.next(); c.Contact != nil; c = all.next() {
		if (c.A == a || c.B == a || c.A == b || c.B == b) && c.touch == nil && c.Flags&sensing == 0 && s.shapesLive(c.Contact) {
			for _, shape := range [...]uint32{c.A, c.B} {
				body := t.filters.Body[shape]
				s.poses[body] = s.pose(int(body))
			}
			s.seams.scene.AddPair(c.A, c.B)
		}
	}
	s.seams.scene.Join(&l.pair, nil, l.manifold[:], &l.seams)
}

// updateSeamKinds computes which shapes can be joined: boxes and hulls of static bodies, if there are several, and those of a body that has others.
func (s *solver) updateSeamKinds() {
	z, t := &s.seams, &s.shapes
	kinds := buffer.Resized(z.scene.Kinds, len(t.shape))
	z.scene.Kinds, z.any = kinds, false
	static := 0
	for i := range t.shape {
		kinds[i] = 0
		if t.sensor[i] || !t.shape[i].CanJoin() {
			continue
		}
		body := t.filters.Body[i]
		if s.cols.Type[body] == StaticBody {
			kinds[i] |= rigid3.SeamStatic
			static++
		}
		if first := s.shapeTable.Head[body]; first != 0 && s.shapeTable.Next[first-1] != 0 {
			kinds[i] |= rigid3.SeamSiblings
			z.any = true
		}
	}
	if static > 1 {
		z.any = true
		return
	}
	for i := range kinds {
		kinds[i] &^= rigid3.SeamStatic
	}
}
