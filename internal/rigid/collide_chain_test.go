package rigid_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// smoothScene is a chain of n segments on body 0, whose outside is to the right, and one more shape.
type smoothScene struct {
	scene
	smooth []rigid.ChainSegment
	points []rigid.Vec
	n      int
}

// newSmoothScene makes an open chain: points has two ghosts. first puts the other shape first.
func newSmoothScene(points []rigid.Vec, other rigid.Shape, x, y, angle float64, first bool) *smoothScene {
	s := &smoothScene{points: points, n: len(points) - 3}
	var edges []rigid.Shape
	for i := range len(points) - 1 {
		edges = append(edges, made(rigid.MakeSegment(points[i], points[i+1])))
	}
	at := uint32(s.n)
	if first {
		at = s.add(other, x, y, angle)
		s.smooth = append(s.smooth, rigid.ChainSegment{})
	}
	ground := s.body(0, 0, 0)
	for i := range s.n {
		s.shapes, s.bodyOf = append(s.shapes, edges[i+1]), append(s.bodyOf, ground)
		s.smooth = append(s.smooth, rigid.ChainSegment{
			Before: edges[i].Normals[0], After: edges[i+2].Normals[0], Chain: 1, Last: i == s.n-1,
		})
	}
	if !first {
		s.add(other, x, y, angle)
	}
	for i := range s.shapes {
		switch i := uint32(i); {
		case first && i > at:
			s.pair(at, i)
		case !first && i < at:
			s.pair(i, at)
		}
	}
	return s
}

// collide returns a manifold for each segment.
func (s *smoothScene) collide() []rigid.Manifold {
	out := make([]rigid.Manifold, s.n)
	rigid.Collide(native.Go, s.shapes, s.bodyOf, &s.poses, &s.pairs, out)
	rigid.CollideChains(s.shapes, s.smooth, s.bodyOf, &s.poses, &s.pairs, nil, out)
	return out
}

// randomGround goes from the right to the left with bends up to most either way.
func randomGround(rng *rand.Rand, n int, most float64) (points []rigid.Vec) {
	x, y, angle := 0.0, 0.0, 0.0
	for range n + 3 {
		points = append(points, rigid.Vec{X: float32(x), Y: float32(y)})
		length := within(rng, 0.3, 1)
		x, y = x-length*math.Cos(angle), y-length*math.Sin(angle)
		angle = max(-0.8, min(0.8, angle+within(rng, -most, most)))
	}
	return points
}

// nearest is the point of the segments of a chain, without ghosts, that is nearest to a place.
func nearest(points []rigid.Vec, x, y float64) (px, py, distance float64) {
	distance = math.Inf(1)
	for i := 1; i < len(points)-2; i++ {
		ax, ay, bx, by := float64(points[i].X), float64(points[i].Y), float64(points[i+1].X), float64(points[i+1].Y)
		dx, dy := bx-ax, by-ay
		u := max(0, min(1, ((x-ax)*dx+(y-ay)*dy)/(dx*dx+dy*dy)))
		if d := math.Hypot(x-ax-u*dx, y-ay-u*dy); d < distance {
			px, py, distance = ax+u*dx, ay+u*dy, d
		}
	}
	return px, py, distance
}

// A disc in front of a chain touches it where the chain is nearest, once unless it lies in a corner.
func TestSmoothDiscs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	touching := 0
	for round := range 20000 {
		points := randomGround(rng, 6, []float64{0, 1e-6, 0.1, 0.8}[round%4])
		k := 2 + rng.IntN(4)
		radius := within(rng, 0.05, 0.5)
		// above a vertex or near it
		x := float64(points[k].X) + within(rng, -1, 1)*[]float64{1e-7, 1e-3, 0.3}[round%3]
		y := float64(points[k].Y) + within(rng, 0.02, 0.6)
		px, py, distance := nearest(points, float64(float32(x)), float64(float32(y)))
		s := newSmoothScene(points, disc(float32(radius)), x, y, within(rng, 0, 7), round%2 == 0)
		least, at, count := float32(1), 0, 0
		manifolds := s.collide()
		for i, m := range manifolds {
			if m.Count > 0 {
				count++
				if m.Points[0].Separation < least {
					least, at = m.Points[0].Separation, i
				}
			}
		}
		if distance-float64(float32(radius)) > rigid.SpeculativeDistance-1e-5 || y < py {
			continue
		}
		touching++
		if math.Abs(float64(least)-(distance-radius)) > 2e-6 {
			t.Fatalf("round %d: separation %v of %d contacts, want %v", round, least, count, distance-radius)
		}
		if round%4 == 0 && count != 1 {
			t.Fatalf("round %d: %d contacts on a straight line", round, count)
		}
		m := manifolds[at]
		sign := 1.0
		if round%2 == 0 {
			sign = -1
		}
		if nx, ny := sign*float64(m.Normal.X), sign*float64(m.Normal.Y); math.Hypot(nx-(x-px)/distance, ny-(y-py)/distance) > 1e-3 {
			t.Fatalf("round %d: normal %v %v, want %v %v", round, nx, ny, (x-px)/distance, (y-py)/distance)
		}
	}
	if touching < 5000 {
		t.Errorf("%d of 20000 touch", touching)
	}
}

// On a line that is cut into segments every shape has the contacts that it has on the whole line: the same normal,
// and the same least separation.
func TestSmoothLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	touching := 0
	for round := range 20000 {
		points := randomGround(rng, 12, 0)
		shape := randomShape(rng)
		x, angle := within(rng, float64(points[8].X), float64(points[6].X)), within(rng, 0, 7)
		whole := newSmoothScene([]rigid.Vec{{X: 2}, {X: 1}, {X: -20}, {X: -21}}, shape, x, 0.4, angle, false)
		y := 0.4 + within(rng, -0.03, 0.02)
		if m := whole.collide()[0]; m.Count > 0 { // bring it near the ground
			least := m.Points[0].Separation
			if m.Count > 1 {
				least = min(least, m.Points[1].Separation)
			}
			y -= float64(least)
		}
		whole = newSmoothScene([]rigid.Vec{{X: 2}, {X: 1}, {X: -20}, {X: -21}}, shape, x, y, angle, false)
		cut := newSmoothScene(points, shape, x, y, angle, false)
		want, got := whole.collide()[0], cut.collide()
		if want.Count == 0 {
			continue
		}
		touching++
		deepest := float32(1)
		for _, m := range got {
			if m.Count == 0 {
				continue
			}
			if math.Abs(float64(m.Normal.X)) > 2e-3 || m.Normal.Y < 0.99 {
				t.Fatalf("round %d: normal %v", round, m.Normal)
			}
			for _, p := range m.Points[:m.Count] {
				deepest = min(deepest, p.Separation)
			}
		}
		most := want.Points[0].Separation
		if want.Count > 1 {
			most = min(most, want.Points[1].Separation)
		}
		if most < rigid.SpeculativeDistance-1e-4 && math.Abs(float64(deepest-most)) > 0.0006 {
			t.Fatalf("round %d: separation %v, on the whole line %v", round, deepest, most)
		}
	}
	if touching < 2000 {
		t.Errorf("%d of 20000 touch", touching)
	}
}

// Every normal is that of a segment, or between those of two that meet in a convex vertex; and what is found does
// not depend on which shape comes first.
func TestSmoothNormals(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	between := 0
	for round := range 20000 {
		points := randomGround(rng, 8, 0.9)
		shape := randomShape(rng)
		k := 2 + rng.IntN(6)
		x, y, angle := float64(points[k].X)+within(rng, -0.6, 0.6), float64(points[k].Y)+within(rng, 0, 0.6), within(rng, 0, 7)
		s := newSmoothScene(points, shape, x, y, angle, false)
		manifolds := s.collide()
		for i, m := range newSmoothScene(points, shape, x, y, angle, true).collide() {
			o := manifolds[i]
			if m.Count != o.Count || m.Normal.X != -o.Normal.X && o.Count > 0 || m.Points[0].AnchorA != o.Points[0].AnchorB {
				t.Fatalf("round %d: %v, the other way round %v", round, o, m)
			}
		}
		for i, m := range manifolds {
			if m.Count == 0 {
				continue
			}
			n, before, after := s.shapes[i].Normals[0], s.smooth[i].Before, s.smooth[i].After
			cross := func(a, b rigid.Vec) float64 {
				return float64(a.X)*float64(b.Y) - float64(a.Y)*float64(b.X)
			}
			const tolerance = 3e-4
			side := cross(n, m.Normal) // to the left: towards the segment before, whose way is to the right
			switch {
			case math.Abs(side) <= tolerance && n.X*m.Normal.X+n.Y*m.Normal.Y > 0:
			case side > 0 && cross(m.Normal, after) >= -tolerance, side < 0 && cross(before, m.Normal) >= -tolerance:
				between++
			default:
				t.Fatalf("round %d, segment %d: normal %v, segment %v, before %v, after %v", round, i, m.Normal, n, before, after)
			}
		}
	}
	if between < 100 {
		t.Errorf("%d contacts of vertices", between)
	}
}

// A shape that is not usable, a segment, and another chain touch nothing.
func TestSmoothTouchesNothing(t *testing.T) {
	line := []rigid.Vec{{X: 2}, {X: 1}, {X: -1}, {X: -2}}
	nan := math.NaN()
	for name, s := range map[string]*smoothScene{
		"a segment":  newSmoothScene(line, made(rigid.MakeSegment(rigid.Vec{X: -1}, rigid.Vec{X: 1})), 0, 0.001, 0, false),
		"nowhere":    newSmoothScene(line, disc(1), nan, nan, 0, false),
		"dead":       newSmoothScene(line, rigid.Shape{}, 0, 0, 0, false),
		"behind":     newSmoothScene(line, disc(1), 0, -0.1, 0, false),
		"box behind": newSmoothScene(line, box(1, 1, 0), 0, -0.1, 0, true),
	} {
		if m := s.collide()[0]; m != (rigid.Manifold{}) {
			t.Errorf("%s: %v", name, m)
		}
	}
}

// crest is a vertex at the origin with long segments on both sides, of which each falls by half the bend.
func crest(bend float64) []rigid.Vec {
	var points []rigid.Vec
	for _, x := range []float64{12, 10, 0, -10, -12} {
		points = append(points, rigid.Vec{X: float32(x * math.Cos(bend/2)), Y: float32(-math.Abs(x) * math.Sin(bend/2))})
	}
	return points
}

// At a convex bend of any angle, a shape of any rotation that overlaps the ground as deeply as its centroid allows has a
// contact, and no two segments have one at the vertex.
func TestCrestHasNoGap(t *testing.T) {
	rng, overlaps, between := rand.New(rand.NewPCG(7, 8)), 0, 0
	rounds := 60000
	if testing.Short() {
		rounds = 15000
	}
	for round := range rounds {
		shape, bend := randomShape(rng), within(rng, 0, 3)
		if round%2 == 0 {
			shape = box(0.4, 0.4, 0)
		}
		if round%3 == 0 {
			bend = math.Exp(within(rng, -8, 0))
		}
		if shape.Count == 1 || shape.Count == 2 && shape.Radius == 0 {
			continue
		}
		x, y, angle := within(rng, -0.7, 0.7), within(rng, -0.3, 1), within(rng, 0, 7)
		s := newSmoothScene(crest(bend), shape, x, y, angle, round%5 == 0)
		at := s.bodyOf[len(s.bodyOf)-1]
		if round%5 == 0 {
			at = s.bodyOf[0]
		}
		place := func(v rigid.Vec) vec {
			px, py := float64(s.poses.X[at]), float64(s.poses.Y[at])
			return vec{float64(v.X), float64(v.Y)}.turned(float64(s.poses.Cos[at]), float64(s.poses.Sin[at])).plus(vec{px, py})
		}
		// The shape overlaps the ground if no normal of the bend separates them.
		front, apart := true, false
		for k := range 41 {
			turn := bend * (float64(k)/40 - 0.5)
			nx, ny := math.Sin(turn), math.Cos(turn)
			least := math.Inf(1)
			for _, v := range shape.Vertices[:shape.Count] {
				p := place(v)
				least = min(least, nx*p.x+ny*p.y-float64(shape.Radius))
			}
			apart = apart || least > -1e-3
			c := place(shape.Centroid)
			front = front && nx*c.x+ny*c.y > 1e-5
		}
		if apart || !front {
			continue
		}
		overlaps++
		count, shared := 0, 0
		for _, m := range s.collide() {
			if m.Count == 0 {
				continue
			}
			count++
			sign := float32(1)
			if round%5 == 0 {
				sign = -1
			}
			if lean := math.Abs(math.Atan2(float64(sign*m.Normal.X), float64(sign*m.Normal.Y))); lean < bend/2-1e-3 {
				shared++
			}
		}
		if between += shared; shared > 1 {
			t.Fatalf("round %d: two contacts at the vertex of a bend of %v", round, bend)
		}
		if count == 0 {
			t.Fatalf("round %d: none at a bend of %v for a shape of %d corners at %v, %v, turned by %v", round, bend, shape.Count, x, y, angle)
		}
	}
	if overlaps < rounds/20 || between < rounds/200 {
		t.Errorf("%d overlaps, %d at the vertex", overlaps, between)
	}
}
