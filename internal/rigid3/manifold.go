package rigid3

// MaxPoints is the largest number of points of a manifold.
const MaxPoints = 4

// Manifold is how two shapes touch, or nearly do. Normal points from shape A to shape B, and has length one if there are points.
type Manifold struct {
	Normal Vec
	Count  uint32 // of points
	Points [MaxPoints]ManifoldPoint
	Source Source
}

// Source is how a manifold was made.
type Source uint32

const (
	Collided Source = iota // by CollidePairs
	Recycled               // by Recycle, from the manifold of an earlier step
	Joined                 // by Seams, from that of CollidePairs
)

// ManifoldPoint is a point where two shapes touch: halfway between their surfaces, relative to each centre of mass, in the axes of
// the world.
type ManifoldPoint struct {
	AnchorA, AnchorB Vec
	Separation       float32 // metres between the surfaces; negative: overlap
	ID               uint32  // the features that touch: the same from step to step while they do
}

// Pose is where a body is: its centre of mass, and its rotation.
type Pose struct {
	P Vec
	Q Quat
}

// Transform returns a point of the body in the world.
func (t *Pose) Transform(v Vec) Vec { return t.Q.Rotate(v).Add(t.P) }

// Times returns the pose of something that has the pose o in the body.
func (t *Pose) Times(o *Pose) Pose { return Pose{t.Transform(o.P), t.Q.Mul(o.Q)} }

// frame is a pose with its rotation as a matrix.
type frame struct {
	r Mat
	p Vec
}

func (f *frame) Transform(v Vec) Vec { return f.r.Mul(v).Add(f.p) }

// inverse returns the pose of the first as seen from the second.
func (f *frame) inverse() frame {
	m := &f.r
	return frame{Mat{Vec{m.X.X, m.Y.X, m.Z.X}, Vec{m.X.Y, m.Y.Y, m.Z.Y}, Vec{m.X.Z, m.Y.Z, m.Z.Z}}, m.MulTransposed(f.p.neg())}
}

// contactPoint is a point of a manifold in the making: on the surface of shape B without its radius, in the axes of shape A.
type contactPoint struct {
	p          Vec
	separation float32 // of the polytopes, without radii
	id         uint32
}

// reduce keeps at most four points, in their place: the deepest, the one farthest from it, the one that makes the largest triangle with
// both, and the one that adds the largest to that.
func reduce(points []contactPoint, normal Vec) []contactPoint {
	if len(points) > MaxPoints {
		points = pickFour(points, normal)
	}
	return points
}

// sortByID orders at most four points, so that a manifold does not depend on how they were found.
func sortByID(points []contactPoint) {
	for i := 1; i < len(points); i++ {
		for k := i; k > 0 && points[k].id < points[k-1].id; k-- {
			points[k], points[k-1] = points[k-1], points[k]
		}
	}
}

// pickFour moves the points that are kept to the front: each time the one with the greatest score, the first of equals. The others keep
// their order.
func pickFour(points []contactPoint, normal Vec) []contactPoint {
	for n := range MaxPoints {
		best, at := float32(0), -1
		for i := n; i < len(points); i++ {
			if s := score(points, n, i, normal); s > best || n == 0 && at < 0 {
				best, at = s, i
			}
		}
		if at < 0 {
			return points[:n]
		}
		p := points[at]
		copy(points[n+1:at+1], points[n:at])
		points[n] = p
	}
	return points[:MaxPoints]
}

// score is what point i would add to the n points that were picked.
func score(points []contactPoint, n, i int, normal Vec) float32 {
	p := points[i].p
	if n == 0 {
		return -points[i].separation
	}
	a := points[0].p
	if n == 1 {
		d := p.Sub(a)
		return d.Dot(d)
	}
	b := points[1].p
	if n == 2 {
		return abs(area(a, b, p, normal))
	}
	// The fourth point adds the most area outside of the triangle.
	c := points[2].p
	if area(a, b, c, normal) < 0 {
		a, b = b, a
	}
	return maxFloat(-area(a, b, p, normal), maxFloat(-area(b, c, p, normal), -area(c, a, p, normal)))
}

// area is twice that of a triangle, seen against the normal: positive if it is counter-clockwise.
func area(a, b, c, normal Vec) float32 { return b.Sub(a).Cross(c.Sub(a)).Dot(normal) }

const maxFinite = 0x1p127 * (1 + (1 - 0x1p-23))
