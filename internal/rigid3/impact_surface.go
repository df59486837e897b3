package rigid3

import "github.com/evertick/evertick/internal/mesh"

// faceFront is the front of a triangle, in the axes of its surface.
type faceFront struct {
	normal vec64
	offset float64
	both   bool // the other side is a front, too
}

func frontOf(triangle *convexCore, twoSided bool) faceFront {
	a, b, c := triangle.points[0].wide64(), triangle.points[1].wide64(), triangle.points[2].wide64()
	n := b.Sub(a).Cross(c.Sub(a)).unit(vec64{})
	return faceFront{n, n.Dot(a), twoSided}
}

// sees reports whether a point of shape b is at most frontTolerance behind the plane of the triangle at a time.
func (f *faceFront) sees(p *impact, point Vec, t float64) bool {
	if f.both {
		return true
	}
	p.place(t)
	return f.normal.Dot(p.pair.at.apply(point.wide64()))-f.offset >= -frontTolerance
}

// middle returns the point of a shape that decides on which side of a triangle it is, in the axes of its core.
func (s *sweptShape) middle(hulls *Hulls) Vec {
	if t := hulls.at(s.shape.Hull); s.shape.Kind == KindHull && t != nil {
		return t.Centre
	}
	return Vec{}
}

// surfaceImpact is pairImpact for a surface whose body has the motion by: it tries the triangles near the path, each as a shape of its own. It leaves
// out those of a surface at rest that the core passes by.
func (w *Continuous) surfaceImpact(q *impactQuery, mem *ImpactMemory, shape, other uint32, by *motion) {
	o, path, ok := &w.Shapes[other], &mem.path, false
	rests := !by.moves()
	if rests {
		var frame pose64
		centre, rotation := by.at(0)
		frame.setWide(centre, rotation, &o.Pose)
		path.enter(&frame, mem.shape.middle(w.Hulls))
		mem.box, ok = path.box(float64(o.Radius))
	} else {
		lo, hi := mem.shape.boundsOn(q.motion, w.Hulls)
		mem.box, ok = by.boxWithin(&o.Pose, lo, hi)
	}
	if !ok {
		return
	}
	surface := w.Hulls.surface(o.Hull)
	twoSided := surface.TwoSided
	if m, isMesh := surface.Surface.(*mesh.Mesh); isMesh && rests && w.meshImpact(q, mem, shape, other, by, m, twoSided) {
		return
	}
	for triangle := range w.trianglesNear(mem, o) {
		front := frontOf(triangle, twoSided)
		if !rests || !path.misses(triangle, &front, q.time) {
			w.coreImpact(q, mem, triangle, by, shape, other, &front)
		}
	}
}

// trianglesNear yields the triangles of a surface whose boxes meet mem.box. Each is valid until the next one.
func (w *Continuous) trianglesNear(mem *ImpactMemory, o *Shape) func(yield func(*convexCore) bool) {
	return func(yield func(*convexCore) bool) {
		surface := w.Hulls.surface(o.Hull)
		if surface.Surface == nil {
			return
		}
		mem.faces = surface.AppendFaces(mem.faces[:0], &mem.box)
		mem.face = convexCore{mem.triangle[:], false, float64(o.Radius), &o.Pose}
		for i := range mem.faces {
			setTriangle(&mem.triangle, &mem.faces[i].Vertices)
			if !yield(&mem.face) {
				return
			}
		}
	}
}

// boxWithin returns a box around all places of a box of the world in the axes of a shape with a pose in a body, while the body moves. It returns false
// if that is too large.
func (m *motion) boxWithin(pose *Pose, lo, hi Vec) (box mesh.Box, ok bool) {
	half, middle := hi.wide64().Sub(lo.wide64()).Times(0.5), hi.wide64().Add(lo.wide64()).Times(0.5)
	var from, to vec64
	for end := range 2 {
		var f pose64
		p, q := m.at(float64(end))
		f.setWide(p, q, pose)
		// The columns of the rotation are the axes of the shape in the world.
		at := f.unrotate(middle.Sub(f.p))
		reach := vec64{
			vec64{f.x.x, f.y.x, f.z.x}.absolute().Dot(half), vec64{f.x.y, f.y.y, f.z.y}.absolute().Dot(half), vec64{f.x.z, f.y.z, f.z.z}.absolute().Dot(half),
		}
		if end == 0 {
			from, to = at.Sub(reach), at.Add(reach)
		}
		from, to = from.least(at.Sub(reach)), to.most(at.Add(reach))
	}
	if m.angle != 0 { // see boundsOf
		far := max(middle.Sub(m.from).length(), middle.Sub(m.from.Add(m.by)).length()) + half.length()
		bulge := float64(far * min(float64(0.125*float64(m.angle*m.angle))+m.angle*m.by.length()/max(far, 1e-9), 2))
		from, to = from.Sub(vec64{bulge, bulge, bulge}), to.Add(vec64{bulge, bulge, bulge})
	}
	a, b := from.narrow(), to.narrow()
	a, b, ok = fattenBox(a, b)
	return mesh.Box{Min: [3]float32{a.X, a.Y, a.Z}, Max: [3]float32{b.X, b.Y, b.Z}}, ok
}
