package rigid_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

const goLevel = native.Go

// The geometry of this file is float64 and brute force.

type point struct{ x, y float64 }

func (a point) sub(b point) point            { return point{a.x - b.x, a.y - b.y} }
func (a point) add(b point) point            { return point{a.x + b.x, a.y + b.y} }
func (a point) times(k float64) point        { return point{a.x * k, a.y * k} }
func (a point) dot(b point) float64          { return a.x*b.x + a.y*b.y }
func (a point) length() float64              { return math.Hypot(a.x, a.y) }
func wide(v rigid.Vec) point                 { return point{float64(v.X), float64(v.Y)} }
func (a point) near(b point, e float64) bool { return a.sub(b).length() <= e }

// solid is a shape in the world: its vertices, and its radius.
type solid struct {
	v []point
	r float64
}

func (s *scene) solid(shape uint32) solid {
	sh, body := &s.shapes[shape], s.bodyOf[shape]
	c, n := float64(s.poses.Cos[body]), float64(s.poses.Sin[body])
	out := solid{r: float64(sh.Radius)}
	for _, v := range sh.Vertices[:sh.Count] {
		p := wide(v)
		out.v = append(out.v, point{c*p.x - n*p.y, n*p.x + c*p.y}.add(s.centre(shape)))
	}
	return out
}

func (s *scene) centre(shape uint32) point {
	body := s.bodyOf[shape]
	return point{float64(s.poses.X[body]), float64(s.poses.Y[body])}
}

// normal returns the outward normal of edge i.
func (s solid) normal(i int) point {
	d := s.v[(i+1)%len(s.v)].sub(s.v[i])
	return point{d.y, -d.x}.times(1 / d.length())
}

// toPoint returns the distance from the surface to p, negative inside.
func (s solid) toPoint(p point) float64 {
	outside, depth := math.Inf(1), math.Inf(-1)
	for i, a := range s.v {
		d := s.v[(i+1)%len(s.v)].sub(a)
		t := 0.0
		if len(s.v) > 1 {
			t = max(0, min(1, p.sub(a).dot(d)/d.dot(d)))
			depth = max(depth, p.sub(a).dot(s.normal(i)))
		}
		outside = min(outside, p.sub(a.add(d.times(t))).length())
	}
	if len(s.v) > 2 && depth < 0 {
		return depth - s.r
	}
	return outside - s.r
}

// separation returns the greatest separation by an edge of s.
func (s solid) separation(o solid) float64 {
	most := math.Inf(-1)
	if len(s.v) == 1 {
		return most
	}
	for i, a := range s.v {
		least := math.Inf(1)
		for _, b := range o.v {
			least = min(least, b.sub(a).dot(s.normal(i)))
		}
		most = max(most, least)
	}
	return most
}

// distance returns the distance between the surfaces, exactly if the polygons within
// do not overlap, and otherwise the least depth by an edge.
func (s solid) distance(o solid) (d float64, apart bool) {
	depth := max(s.separation(o), o.separation(s))
	if depth < 0 && len(s.v)+len(o.v) > 2 {
		return depth - s.r - o.r, false
	}
	d = math.Inf(1)
	for _, p := range s.v {
		d = min(d, solid{v: o.v}.toPoint(p))
	}
	for _, p := range o.v {
		d = min(d, solid{v: s.v}.toPoint(p))
	}
	return d - s.r - o.r, d > 0
}

// slack is what rounding may do to shapes of a metre fifty metres from the origin:
// their poses are exact, so it is the rounding of their own coordinates. The
// reference edge may be worse than the best by a tenth of a slop, and what is
// measured along it by a little more.
const (
	slack      = 4e-6
	preference = 0.1 * rigid.LinearSlop
)

// checkManifold returns what is wrong with a manifold.
func (s *scene) checkManifold(i int, m *rigid.Manifold) string {
	ia, ib := s.pairs.A[i], s.pairs.B[i]
	a, b := s.solid(ia), s.solid(ib)
	d, apart := a.distance(b)
	if m.Count == 0 {
		if *m != (rigid.Manifold{}) {
			return "no points, but not zero"
		}
		if d < rigid.SpeculativeDistance-2*preference-slack {
			return "no points, though close"
		}
		return ""
	}
	n, least := wide(m.Normal), math.Inf(1)
	if math.Abs(n.length()-1) > 1e-6 {
		return "the normal is not of length one"
	}
	if m.Count > 2 || m.Count == 2 && m.Points[0].ID == m.Points[1].ID {
		return "too many points, or IDs that are not distinct"
	}
	if m.Count == 1 && m.Points[1] != (rigid.ManifoldPoint{}) {
		return "the second of one point is not zero"
	}
	for _, p := range m.Points[:m.Count] {
		least = min(least, float64(p.Separation))
		at := s.centre(ia).add(wide(p.AnchorA))
		if !at.near(s.centre(ib).add(wide(p.AnchorB)), slack) {
			return "the anchors are different places"
		}
		half := n.times(float64(p.Separation) / 2)
		onA, onB := a.toPoint(at.sub(half)), b.toPoint(at.add(half))
		if apart && (onA > slack || onB > slack) || onA > slack && onB > slack {
			return "a point outside of the shapes"
		}
		if max(onA, onB) < -slack && len(a.v)+len(b.v) > 2 {
			return "a point on neither surface"
		}
	}
	switch {
	case least > rigid.SpeculativeDistance:
		return "a point that is too far"
	case least < d-preference-slack:
		return "deeper than it is"
	case apart && least > d+2*preference+slack:
		return "farther than it is"
	case d > rigid.SpeculativeDistance+preference+slack:
		return "points, though far"
	}
	return ""
}

func TestManifoldsAgreeWithGeometry(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, seed))
	rounds, touching, two := 200, 0, 0
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		s := randomScene(rng, 100)
		for i, m := range s.collide(t) {
			if wrong := s.checkManifold(i, &m); wrong != "" {
				a, b := s.solid(s.pairs.A[i]), s.solid(s.pairs.B[i])
				d, apart := a.distance(b)
				t.Fatalf("seed %d: %s:\nA %v\nB %v\ndistance %g, apart: %v\n%+v", seed, wrong, a, b, d, apart, m)
			}
			touching += int(min(m.Count, 1))
			two += int(m.Count / 2)
		}
	}
	t.Logf("%d pairs, %d touch, %d in two points", rounds*100, touching, two)
	if touching*4 < rounds*100 || two*10 < rounds*100 {
		t.Error("too few of the pairs touch for the test to mean much")
	}
}
