package physics

import "github.com/evertick/evertick/internal/rigid"

// partsPerSide is the number of parts of each side of an outline. The force on a part is
// computed for its middle.
const partsPerSide = 4

// side is a straight part of the outline of a shape, in world coordinates: its middle, its outward unit
// normal, and its length in metres.
type side struct {
	x, y, nx, ny, length float32
}

// outlineParts returns the number of parts of the outline of a shape: of its edges and, if it is rounded, of a chord
// for the arc at each vertex. A disc has none.
func outlineParts(r *rigid.Shape) int {
	n := int(r.Count)
	switch {
	case n == 1:
		return 0
	case r.Radius > 0:
		n *= 2
	}
	return n * partsPerSide
}

// side returns part k of the outline of a shape of a body, and false if it is too short to have a
// normal.
func (s *solver) side(body int, r *rigid.Shape, k int) (side, bool) {
	n, part := int(r.Count), float32(k%partsPerSide)+0.5
	k /= partsPerSide
	i := k % n
	from, to, out := r.Vertices[i], r.Vertices[(i+1)%n], r.Normals[i]
	before := out
	if k >= n {
		before, to = r.Normals[(i+n-1)%n], from
	}
	fx, fy := from.X+float32(r.Radius*before.X), from.Y+float32(r.Radius*before.Y)
	dx, dy := to.X+float32(r.Radius*out.X)-fx, to.Y+float32(r.Radius*out.Y)-fy
	length := sqrt(float32(dx*dx) + float32(dy*dy))
	if !(length > 1e-6) {
		return side{}, false
	}
	at := s.worldPoint(body, fx+float32(part*dx/partsPerSide), fy+float32(part*dy/partsPerSide))
	nx, ny := s.rotate(body, dy/length, -dx/length)
	return side{at[0], at[1], nx, ny, length / partsPerSide}, true
}

// wrench is a force or an impulse on a body, and its moment about the centre of mass.
type wrench struct{ x, y, turn float32 }

func (s *solver) addForceAt(p *wrench, body int, px, py, x, y float32) {
	ax, ay := s.leverArm(body, [2]float32{px, py})
	p.x += x
	p.y += y
	p.turn += float32(ax*y) - float32(ay*x)
}

// affected reports whether wind and explosions act on a shape: its category has a bit of the
// mask, its span overlaps the given one, it is solid, and its body is dynamic and not disabled.
func (s *solver) affected(shape int, mask uint64, span Span) bool {
	t := &s.shapes
	if t.local[shape].Count == 0 || t.sensor[shape] || t.filters.Category[shape]&mask == 0 || !t.meets(shape, span) {
		return false
	}
	body := t.filters.Body[shape]
	return s.cols.Type[body] == DynamicBody && s.cols.Flags[body]&FlagDisabled == 0
}
