package rigid3

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/vec"
)

// crowd is a scene for queries.
type crowd struct {
	Scene
	filters broad.Filters
}

// queryHulls are polytopes that crowds share.
var queryHulls = func() (shapes []Shape) {
	rng := rand.New(rand.NewPCG(5, 5))
	for len(shapes) < 40 {
		if s := randomPolytope(rng); s.Kind == KindHull {
			shapes = append(shapes, *s)
		}
	}
	return shapes
}()

// randomShape draws a shape of any kind, half of them at a place and a rotation of their own in the body.
func randomShape(rng *rand.Rand) Shape {
	draw := func() float32 { return float32(.1 + rng.Float64()) }
	pose := origin
	if rng.IntN(2) == 0 {
		pose = Pose{Vec{draw(), -draw(), draw()}, randomQuat(rng)}
	}
	radius := float32(0)
	if rng.IntN(3) == 0 {
		radius = draw() * .3
	}
	switch rng.IntN(4) {
	case 0:
		return NewSphere(pose.P, draw())
	case 1:
		return NewCapsule(pose.P, pose.P.Add(Vec{draw(), draw(), -draw()}), draw()*.5)
	case 2:
		return NewBoxShape(Vec{draw(), draw(), draw()}, pose, radius)
	}
	return NewHullShape(queryHulls[rng.IntN(len(queryHulls))].Hull, pose, radius)
}

// newCrowd draws n shapes on bodies of their own in a cube, now and then one that is large or dead.
func newCrowd(rng *rand.Rand, n int, half float64) *crowd {
	c := &crowd{}
	for i := range n {
		shape := randomShape(rng)
		switch rng.IntN(40) {
		case 0:
			shape = NewBoxShape(Vec{float32(within(rng, 1, half)), .3, float32(within(rng, 1, half))}, origin, float32(rng.IntN(2)))
		case 1:
			shape = Shape{}
		}
		pose := Pose{Vec{float32(within(rng, -half, half)), float32(within(rng, -half, half)), float32(within(rng, -half, half))}, Identity}
		if rng.IntN(3) > 0 {
			pose.Q = randomQuat(rng)
		}
		c.Shapes, c.Poses, c.Sensors = append(c.Shapes, shape), append(c.Poses, pose), append(c.Sensors, rng.IntN(8) == 0)
		f := &c.filters
		f.Body = append(f.Body, uint32(i))
		f.Category, f.Mask = append(f.Category, 1<<rng.IntN(3)), append(f.Mask, rng.Uint64()|1)
	}
	c.Hulls, c.Filters = &testHulls, &c.filters
	return c
}

// spoil puts bodies far away, or to places that are not finite.
func (c *crowd) spoil(run *paritytest.Run) {
	for i := range c.Poses {
		p := &c.Poses[i]
		number := [...]*float32{&p.P.X, &p.P.Y, &p.P.Z, &p.Q.X, &p.Q.W}[run.IntN(5)]
		switch run.IntN(16) {
		case 0:
			*number = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		case 1:
			p.P.X *= 1e5
		}
	}
}

// rays draws rays of which some begin in shapes, run along an axis, or are short.
func (c *crowd) rays(rng *rand.Rand, n int, half float64) []Ray {
	rays := make([]Ray, n)
	for i := range rays {
		r := &rays[i]
		place := func() Vec {
			return Vec{float32(within(rng, -half, half)), float32(within(rng, -half, half)), float32(within(rng, -half, half))}
		}
		r.O, r.MaxT = place(), 1
		r.D = place().Times(float32(math.Exp(within(rng, -6, 1))))
		r.Exclude, r.Category, r.Mask = NoShape, ^uint64(0), ^uint64(0)
		switch rng.IntN(12) {
		case 0:
			r.D.X = float32(math.Copysign(0, float64(rng.IntN(2)-1)))
		case 1:
			r.D.Y, r.D.Z = 0, 0
		case 2:
			r.MaxT = float32(within(rng, 0, 3))
		case 3:
			r.MaxT = 0
		case 4:
			r.Exclude = rng.Uint32N(uint32(len(c.Shapes)) + 1)
		case 5:
			r.Mask = 1 << rng.IntN(3)
		case 6:
			r.Category = 1 << rng.IntN(6)
		}
		if len(c.Shapes) > 0 && rng.IntN(4) == 0 {
			if at := c.Poses[rng.IntN(len(c.Shapes))].P; at.isQueried() {
				r.O = at
			}
		}
		if r.D == (Vec{}) {
			r.D.X = 1
		}
		r.Flags = rng.Uint32N(4)
	}
	PrepareRays(rays)
	return rays
}

func within(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

// solid is a shape in the world, in float64.
type solid struct {
	vertices  [][3]float64
	triangles [][3]int
	faces     []int // of triangles
	planes    []solidPlane
	radius    float64
}

type solidPlane struct {
	n [3]float64
	d float64
}

func newSolid(s *Shape, pose *Pose) *solid {
	o := &solid{radius: float64(s.Radius)}
	own := s.polytope(&testHulls, new(boxArrays))
	body, core := unit64(pose.Q), unit64(s.Pose.Q)
	for _, v := range own.Vertices {
		p := vec.Add(turned(core, wide(v)), wide(s.Pose.P))
		o.vertices = append(o.vertices, vec.Add(turned(body, p), wide(pose.P)))
	}
	for _, f := range own.Faces {
		n := [3]float64{}
		for k := 1; k+1 < len(f.Vertices); k++ {
			t := [3]int{int(f.Vertices[0]), int(f.Vertices[k]), int(f.Vertices[k+1])}
			o.triangles, o.faces = append(o.triangles, t), append(o.faces, len(o.planes))
			n = vec.Add(n, vec.Cross(vec.Sub(o.vertices[t[1]], o.vertices[t[0]]), vec.Sub(o.vertices[t[2]], o.vertices[t[0]])))
		}
		n = vec.Scale(n, 1/vec.Length(n))
		o.planes = append(o.planes, solidPlane{n, vec.Dot(n, o.vertices[f.Vertices[0]])})
	}
	return o
}

func unit64(q Quat) [3][3]float64 {
	w := [4]float64{float64(q.X), float64(q.Y), float64(q.Z), float64(q.W)}
	l := math.Sqrt(w[0]*w[0] + w[1]*w[1] + w[2]*w[2] + w[3]*w[3])
	for k := range w {
		w[k] /= l
	}
	return rotation(w)
}

func turned(r [3][3]float64, v [3]float64) [3]float64 {
	return [3]float64{vec.Dot(r[0], v), vec.Dot(r[1], v), vec.Dot(r[2], v)}
}

// distance is how far a point is from a solid; negative inside.
func (o *solid) distance(p [3]float64) float64 {
	deepest := math.Inf(-1)
	for _, f := range o.planes {
		deepest = max(deepest, vec.Dot(f.n, p)-f.d)
	}
	if len(o.planes) > 0 && deepest < 0 {
		return deepest - o.radius
	}
	least := math.Inf(1)
	switch {
	case len(o.vertices) < 3:
		least = toSegment(p, o.vertices[0], o.vertices[len(o.vertices)-1])
	default:
		for i, t := range o.triangles {
			if f := &o.planes[o.faces[i]]; vec.Dot(f.n, p)-f.d < -1e-9 {
				continue // the closest point is on a face that the point is above
			}
			least = min(least, toTriangle(p, o.vertices[t[0]], o.vertices[t[1]], o.vertices[t[2]]))
		}
	}
	return least - o.radius
}

func toSegment(p, a, b [3]float64) float64 {
	u, m := vec.Sub(b, a), vec.Sub(p, a)
	t := 0.
	if uu := vec.Dot(u, u); uu > 0 {
		t = max(0, min(1, vec.Dot(m, u)/uu))
	}
	return vec.Length(vec.Sub(m, vec.Scale(u, t)))
}

func toTriangle(p, a, b, c [3]float64) float64 {
	n := vec.Cross(vec.Sub(b, a), vec.Sub(c, a))
	over := true
	corners := [3][3]float64{a, b, c}
	for k := range corners {
		from, to := corners[k], corners[(k+1)%3]
		over = over && vec.Dot(vec.Cross(vec.Sub(to, from), n), vec.Sub(p, from)) <= 0
	}
	if l := vec.Length(n); over && l > 0 {
		return math.Abs(vec.Dot(n, vec.Sub(p, a))) / l
	}
	return min(toSegment(p, a, b), toSegment(p, b, c), toSegment(p, c, a))
}

// entry returns where a line enters a solid from outside, by golden sections for the point that is deepest inside, and the depth there. It is convex
// along the line.
func (o *solid) entry(at func(t float64) [3]float64, end float64) (t, depth float64) {
	const golden = 0.6180339887498949
	lo, hi := 0., end
	f := func(t float64) float64 { return o.distance(at(t)) }
	x, y := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fx, fy := f(x), f(y)
	for range 60 {
		if fx < fy {
			hi, y, fy = y, x, fx
			x = hi - golden*(hi-lo)
			fx = f(x)
		} else {
			lo, x, fx = x, y, fy
			y = lo + golden*(hi-lo)
			fy = f(y)
		}
	}
	if deepest := slices.MinFunc([]float64{0, lo, end}, func(a, b float64) int {
		if f(a) < f(b) {
			return -1
		}
		return 1
	}); deepest != lo {
		lo = deepest
	}
	depth = f(lo)
	from, to := 0., lo
	for range 60 {
		if middle := from + (to-from)/2; f(middle) > 0 {
			from = middle
		} else {
			to = middle
		}
	}
	return to, depth
}
