package physics

import "github.com/evertick/evertick/native/rigid"

// outlinePieces is into how many parts each side of an outline is cut: what acts on a part is
// computed for its middle.
const outlinePieces = 4

// side is a straight part of the outline of a shape, in world coordinates: its middle, its outward unit
// normal, and its length in metres.
type side struct {
	x, y, nx, ny, length float32
}

// sides returns how many parts the outline of a shape has: the edges and, of a rounded shape, a chord for the
// arc at each vertex. A disc has none.
func sides(r *rigid.Shape) int {
	n := int(r.Count)
	switch {
	case n == 1:
		return 0
	case r.Radius > 0:
		n *= 2
	}
	return n * outlinePieces
}

// side returns part k of the outline of a shape of a body; false: it is too short to have a
// normal.
func (s *solver) side(body int, r *rigid.Shape, k int) (side, bool) {
	n, part := int(r.Count), float32(k%outlinePieces)+0.5
	k /= outlinePieces
	i := k % n
	from, to, out := r.Vertices[i], r.Vertices[(i+1)%n], r.Normals[i]
	before := out
	if k >= n {
		before, to = r.Normals[(i+n-1)%n], from
	}
	fx, fy := from.X+float32(r.Radius*before.X), from.Y+float32(r.Radius*before.Y)
	dx, dy := to.X+float32(r.Radius*out.X)-fx, to.Y+float32(r.Radius*out.Y)-fy
	length := root(float32(dx*dx) + float32(dy*dy))
	if !(length > 1e-6) {
		return side{}, false
	}
	x, y := s.turned(body, fx+float32(part*dx/outlinePieces), fy+float32(part*dy/outlinePieces))
	nx, ny := s.turned(body, dy/length, -dx/length)
	return side{s.cols.X[body] + x, s.cols.Y[body] + y, nx, ny, length / outlinePieces}, true
}

// pushed sums up what acts on a body: a force or an impulse, and its moment about the centre of mass.
type pushed struct{ x, y, turn float32 }

func (s *solver) pushAt(p *pushed, body int, px, py, x, y float32) {
	ax, ay := s.arm(body, [2]float32{px, py})
	p.x += x
	p.y += y
	p.turn += float32(ax*y) - float32(ay*x)
}

// exposed reports whether something that blows over the world acts on a shape: one with a bit of the
// mask in its category, solid, and of a dynamic body that is not disabled.
func (s *solver) exposed(shape int, mask uint64) bool {
	t := &s.shapes
	if t.local[shape].Count == 0 || t.sensor[shape] || t.filters.Category[shape]&mask == 0 {
		return false
	}
	body := t.filters.Body[shape]
	return s.cols.Type[body] == DynamicBody && s.cols.Flags[body]&FlagDisabled == 0
}
