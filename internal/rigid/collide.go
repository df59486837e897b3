package rigid

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

const (
	// referenceTolerance is by how much, in metres, the separation by an edge of shape B must exceed that by every
	// edge of shape A for it to be the reference edge. Boxes that lie on each other have edges that separate equally
	// well except for rounding and a slight tilt, which must not change the reference edge.
	referenceTolerance = 0.1 * LinearSlop

	// collideBreakEven is the number of pairs from which on a kernel gains more than its call and its empty
	// lanes cost.
	collideBreakEven = 4

	// minDirectionSquare is the square of a micrometre. Points closer than that define no direction.
	minDirectionSquare = 1e-12
)

// Collide finds where the shapes of each pair touch: out[i] is the manifold of pair i, with points whose separation
// is at most SpeculativeDistance. Count 0, with zeros everywhere, means that the two are farther apart, or nearly so:
// by up to a tenth of LinearSlop. bodyOf holds the body of each shape. It computes in float32, each product rounded
// before a sum, and all levels compute the same bits. Pairs do not depend on each other: each worker can take a part
// of pairs and out.
//
// # Frame
//
// All computations use a frame with the axes of body A and the centroid of shape A as origin, so positions enter only
// as a difference. If one shape is a polygon and the other a disc, the polygon takes the place of A, whichever comes
// first. If the pose of one body as seen from the other is not finite there are no points. A rotation whose length is
// not one gives meaningless points. Shapes with more than MaxVertices vertices count as dead, and dead shapes touch
// nothing.
//
// # Two discs
//
// The normal points from centre to centre. If these coincide, it points along the y axis of body A. The ID is 0.
//
// # Polygon and disc
//
// The reference edge is the one from whose line the centre of the disc is farthest outside, the first of equals.
// Usually the normal is that of the edge. If the centre is beyond an end of the edge, and outside its line or the
// polygon is a capsule, the normal points from that end to the centre, unless these coincide. The ID is the number of
// the edge.
//
// # Two polygons
//
// The separation of an edge is the least distance of the other polygon's vertices from its line, positive outside.
// The reference edge is the one with the greatest separation, the first of equals: one of A, unless one of B exceeds
// it by 0.1 LinearSlop. The incident edge is the edge of the other polygon whose normal is most opposed to it, the
// first of equals.
// of equals.
// The polygons are apart if an edge has positive separation, or both are capsules. If they are apart, and an end of
// the reference edge is closest to an end of the incident edge, or the incident edge is wholly beside the reference
// edge, there is one point: between the nearer end of the reference edge and the closest point of the incident edge.
// The line between the two gives the normal. In all other cases the normal is that of the reference edge, and the
// points are the ends of the incident edge, clipped to the reference edge, if they are within SpeculativeDistance. If
// no point is left and the polygons are not apart, the point is the deeper end.
//
// Each point belongs to an end of the reference edge and an end of the incident edge. The ID is the number of the
// vertex of A plus 256 times that of B. If two edges lie on each other, it is the same whichever is the reference
// edge.
//
// Collide panics if slices that belong together differ in length, if a pair names a shape that does not exist, or a
// shape a body that does not; out is then unspecified.
func Collide(level native.Level, shapes []Shape, bodyOf []uint32, poses *Poses, pairs *broad.Pairs, out []Manifold) {
	if len(bodyOf) != len(shapes) {
		panic("rigid: Collide: shapes and bodyOf differ in length")
	}
	if n := len(poses.X); len(poses.Y) != n || len(poses.Cos) != n || len(poses.Sin) != n {
		panic("rigid: Collide: the columns of poses differ in length")
	}
	if len(pairs.A) != len(out) || len(pairs.B) != len(out) {
		panic("rigid: Collide: pairs and out differ in length")
	}
	CollideOthers(level, shapes, bodyOf, poses, pairs, nil, out)
}

// CollideOthers is Collide for the pairs that Recycle has not recycled, or for all if recycled is nil.
func CollideOthers(level native.Level, shapes []Shape, bodyOf []uint32, poses *Poses, pairs *broad.Pairs, recycled []int32, out []Manifold) {
	if recycled != nil && len(recycled) != len(out) {
		panic("rigid: CollideOthers: recycled and out differ in length")
	}
	k := kernelsOf(level)
	if len(out) < collideBreakEven {
		k = &goKernels
	}
	if !k.collide(shapes, bodyOf, *poses, *pairs, recycled, out) {
		panic("rigid: Collide: a pair names no shape, or a shape no body")
	}
}

func collideGo(shapes []Shape, bodyOf []uint32, poses Poses, pairs broad.Pairs, recycled []int32, out []Manifold) bool {
	bodyOf = bodyOf[:len(shapes)]
	as, bs := pairs.A[:len(out)], pairs.B[:len(out)]
	bodies := uint32(len(poses.X))
	for i := range out {
		a, b := as[i], bs[i]
		if uint(a) >= uint(len(shapes)) || uint(b) >= uint(len(shapes)) || bodyOf[a] >= bodies || bodyOf[b] >= bodies {
			return false
		}
		if recycled != nil && recycled[i] >= 0 {
			continue
		}
		out[i] = Manifold{}
		collidePair(&shapes[a], &shapes[b], bodyOf[a], bodyOf[b], &poses, &out[i])
	}
	return true
}

func collidePair(a, b *Shape, bodyA, bodyB uint32, poses *Poses, m *Manifold) {
	if a.Count-1 >= MaxVertices || b.Count-1 >= MaxVertices {
		return
	}
	swapped := a.Count == 1 && b.Count > 1
	if swapped {
		a, b, bodyA, bodyB = b, a, bodyB, bodyA
	}
	f, ok := relativeFrame(a, bodyA, bodyB, poses)
	switch {
	case !ok:
	case b.Count > 1:
		collidePolygons(a, b, &f, m)
	case a.Count > 1:
		collidePolygonDisc(a, b, &f, m)
	default:
		collideDiscs(a, b, &f, m)
	}
	if swapped {
		m.swap()
	}
}

// swap exchanges A and B.
func (m *Manifold) swap() {
	if m.Count == 0 {
		return
	}
	m.Normal = Vec{-m.Normal.X, -m.Normal.Y}
	for i := range m.Points[:m.Count] {
		p := &m.Points[i]
		p.AnchorA, p.AnchorB, p.ID = p.AnchorB, p.AnchorA, p.ID<<8
	}
}

// frame is the pose of body B relative to shape A.
type frame struct {
	x, y   float32 // the centre of B, from the centroid of A, in the axes of A
	c, s   float32 // the rotation of B relative to A
	dx, dy float32 // the centre of B, from the centre of A, in the axes of the world
	ca, sa float32 // the rotation of A
	origin Vec     // the centroid of A, in the axes of A
}

// relativeFrame returns false if the frame is not finite. The difference of a number from itself is 0, or NaN
// if it is not finite.
func relativeFrame(a *Shape, bodyA, bodyB uint32, p *Poses) (frame, bool) {
	ca, sa, cb, sb := p.Cos[bodyA], p.Sin[bodyA], p.Cos[bodyB], p.Sin[bodyB]
	dx, dy := p.X[bodyB]-p.X[bodyA], p.Y[bodyB]-p.Y[bodyA]
	x, y := float32(ca*dx)+float32(sa*dy), float32(ca*dy)-float32(sa*dx)
	c, s := float32(ca*cb)+float32(sa*sb), float32(ca*sb)-float32(sa*cb)
	sum := (x + y) + (c + s)
	return frame{x - a.Centroid.X, y - a.Centroid.Y, c, s, dx, dy, ca, sa, a.Centroid}, sum-sum == 0
}

// toA returns a vertex of B as seen from A.
func (f *frame) toA(v Vec) (x, y float32) {
	return (float32(f.c*v.X) - float32(f.s*v.Y)) + f.x, (float32(f.s*v.X) + float32(f.c*v.Y)) + f.y
}

// toWorld rotates a direction from the axes of A to those of the world.
func (f *frame) toWorld(x, y float32) Vec {
	return Vec{float32(f.ca*x) - float32(f.sa*y), float32(f.sa*x) + float32(f.ca*y)}
}

// addPoint adds a contact point, given as seen from A.
func (m *Manifold) addPoint(f *frame, x, y, separation float32, id uint32) {
	a := f.toWorld(x+f.origin.X, y+f.origin.Y)
	m.Points[m.Count] = ManifoldPoint{a, Vec{a.X - f.dx, a.Y - f.dy}, separation, id}
	m.Count++
}

// normalizeOr returns the direction of d and its length; if d is too short, it returns the given direction.
func normalizeOr(dx, dy, nx, ny float32) (x, y, length float32) {
	square := float32(dx*dx) + float32(dy*dy)
	length = sqrt(square)
	if square > minDirectionSquare {
		inv := 1 / length
		nx, ny = float32(dx*inv), float32(dy*inv)
	}
	return nx, ny, length
}

func collideDiscs(a, b *Shape, f *frame, m *Manifold) {
	vx, vy := a.Vertices[0].X-f.origin.X, a.Vertices[0].Y-f.origin.Y
	qx, qy := f.toA(b.Vertices[0])
	nx, ny, length := normalizeOr(qx-vx, qy-vy, 0, 1)
	separation := length - (a.Radius + b.Radius)
	if !(separation <= SpeculativeDistance) {
		return
	}
	height := float32(0.5 * ((a.Radius - b.Radius) + length))
	m.Normal = f.toWorld(nx, ny)
	m.addPoint(f, vx+float32(nx*height), vy+float32(ny*height), separation, 0)
}

// collidePolygonDisc collides a polygon with a disc.
func collidePolygonDisc(a, b *Shape, f *frame, m *Manifold) {
	n := int(a.Count)
	qx, qy := f.toA(b.Vertices[0])
	k, most := 0, float32(0)
	for i := range a.Vertices[:n] {
		v, normal := &a.Vertices[i], &a.Normals[i]
		s := float32(normal.X*(qx-(v.X-f.origin.X))) + float32(normal.Y*(qy-(v.Y-f.origin.Y)))
		if i == 0 || s > most {
			k, most = i, s
		}
	}
	radius := a.Radius + b.Radius
	if !(most-radius <= SpeculativeDistance) {
		return
	}
	next := k + 1
	if next == n {
		next = 0
	}
	v1x, v1y := a.Vertices[k].X-f.origin.X, a.Vertices[k].Y-f.origin.Y
	v2x, v2y := a.Vertices[next].X-f.origin.X, a.Vertices[next].Y-f.origin.Y
	nx, ny, length := a.Normals[k].X, a.Normals[k].Y, most
	t := float32(nx*(qy-v1y)) - float32(ny*(qx-v1x))
	side := float32(nx*(v2y-v1y)) - float32(ny*(v2x-v1x))
	x, y := v1x-float32(ny*t), v1y+float32(nx*t) // on the line of the edge
	if (most > 0 || n == 2) && (t < 0 || t > side) {
		if x, y = v1x, v1y; t > side {
			x, y = v2x, v2y
		}
		nx, ny, length = normalizeOr(qx-x, qy-y, nx, ny)
	}
	separation := length - radius
	if !(separation <= SpeculativeDistance) {
		return
	}
	height := float32(0.5 * ((a.Radius - b.Radius) + length))
	m.Normal = f.toWorld(nx, ny)
	m.addPoint(f, x+float32(nx*height), y+float32(ny*height), separation, uint32(k))
}
