package rigid3

// MaxPoints is the largest number of points of a manifold.
const MaxPoints = 4

// Manifold is how two shapes touch, or nearly do. Normal points from shape A to shape B, and has length one if there are points.
type Manifold struct {
	Normal Vec
	Count  uint32 // of points
	Points [MaxPoints]ManifoldPoint
}

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

// transform returns a point of the body in the world.
func (t *Pose) transform(v Vec) Vec { return t.Q.Rotate(v).add(t.P) }

// contactPoint is a point of a manifold in the making: on the surface of shape B without its radius, in the axes of shape A.
type contactPoint struct {
	p          Vec
	separation float32 // of the polytopes, without radii
	id         uint32
}

// reduce keeps at most four points: the deepest, the one farthest from it, the one that makes the largest triangle with both, and the
// one that adds the largest to that.
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

func pickFour(points []contactPoint, normal Vec) []contactPoint {
	kept := make([]contactPoint, 0, MaxPoints)
	used := make([]bool, len(points))
	take := func(score func(p *contactPoint) float32, least float32) bool {
		best, at := least, -1
		for i := range points {
			if s := score(&points[i]); !used[i] && s > best {
				best, at = s, i
			}
		}
		if at >= 0 {
			used[at] = true
			kept = append(kept, points[at])
		}
		return at >= 0
	}
	take(func(p *contactPoint) float32 { return -p.separation }, -maxFinite)
	if !take(func(p *contactPoint) float32 { d := p.p.sub(kept[0].p); return d.dot(d) }, 0) {
		return kept
	}
	area := func(a, b, c Vec) float32 { return b.sub(a).cross(c.sub(a)).dot(normal) }
	a, b := kept[0].p, kept[1].p
	if !take(func(p *contactPoint) float32 { return abs(area(a, b, p.p)) }, 0) {
		return kept
	}
	// The fourth point adds the most area outside of the triangle.
	c := kept[2].p
	if area(a, b, c) < 0 {
		a, b = b, a
	}
	take(func(p *contactPoint) float32 {
		return maxFloat(-area(a, b, p.p), maxFloat(-area(b, c, p.p), -area(c, a, p.p)))
	}, 0)
	return kept
}

const maxFinite = 0x1p127 * (1 + (1 - 0x1p-23))
