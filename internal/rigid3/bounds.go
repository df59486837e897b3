package rigid3

// Box is an axis-aligned box.
type Box struct{ Min, Max Vec }

// Bounds returns the bounding box of a shape on a body, grown by margin on all sides. It is that of the vertices in the world, so that
// it is as small as float32 can say: no vertex is outside by more than rounding.
func (s *Shape) Bounds(body *Pose, margin float32) Box {
	world := Pose{body.transform(s.Pose.P), body.Q.Mul(s.Pose.Q)}
	m := world.Q.Matrix()
	first := m.Mul(s.Core.Vertices[0])
	b := Box{first, first}
	for _, v := range s.Core.Vertices[1:] {
		p := m.Mul(v)
		b.Min = Vec{minFloat(p.X, b.Min.X), minFloat(p.Y, b.Min.Y), minFloat(p.Z, b.Min.Z)}
		b.Max = Vec{maxFloat(p.X, b.Max.X), maxFloat(p.Y, b.Max.Y), maxFloat(p.Z, b.Max.Z)}
	}
	r := s.Radius + margin
	grow := Vec{r, r, r}
	return Box{b.Min.add(world.P).sub(grow), b.Max.add(world.P).add(grow)}
}

// Overlaps reports whether two boxes meet. A box with NaN meets none.
func (b *Box) Overlaps(o *Box) bool {
	return b.Min.X <= o.Max.X && o.Min.X <= b.Max.X && b.Min.Y <= o.Max.Y && o.Min.Y <= b.Max.Y && b.Min.Z <= o.Max.Z && o.Min.Z <= b.Max.Z
}
