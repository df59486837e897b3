package rigid_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// probe draws a probe that is no segment, and a way for it.
func (c *crowd) probe(rng *rand.Rand, half float64) *rigid.ShapeQuery {
	shape := randomShape(rng)
	for shape.Count == 2 && shape.Radius == 0 {
		shape = randomShape(rng)
	}
	sin, cos := math.Sincos(within(rng, 0, 7))
	if rng.IntN(3) == 0 {
		sin, cos = 0, 1
	}
	r := c.rays(rng, 1, half)[0]
	return &rigid.ShapeQuery{Shape: &shape, X: r.OX, Y: r.OY, Cos: float32(cos), Sin: float32(sin), Ray: r}
}

// The tree finds what the oracle finds, which tests every shape.
func TestProbesAgainstTheOracle(t *testing.T) {
	run := paritytest.Start(t, "Probes")
	var targets rigid.QueryTree
	overlaps, casts, nearest := 0, 0, 0
	for range paritytest.Rounds(20) {
		for _, n := range []int{0, 1, 16, 17, 100, 257, 600} {
			half := within(run.Rand, 1, 30)
			c := newCrowd(run.Rand, n, half)
			if run.IntN(3) == 0 {
				c.spoil(run)
			}
			run.Case(native.Go)
			targets.Build(native.Auto, &c.Scene)
			for range 20 {
				p := c.probe(run.Rand, half)
				if !p.Prepare() {
					continue
				}
				over := c.OverlapShapeOracle(p, nil)
				if got := targets.OverlapShape(p, nil); !slices.Equal(got, over) {
					t.Fatalf("overlaps: %v, want %v", got, over)
				}
				all := c.CastShapeOracle(p, nil)
				if got := targets.CastShapeAll(p, nil); !slices.Equal(got, all) {
					t.Fatalf("casts: %v, want %v", got, all)
				}
				first := rigid.ShapeHit{T: p.MaxT, Shape: rigid.NoShape}
				if len(all) > 0 {
					first = all[0]
				}
				if got := targets.CastShapeClosest(p); got != first {
					t.Fatalf("first: %v, want %v", got, first)
				}
				p.MaxT *= 3
				near := c.NearestOracle(p)
				if got := targets.Nearest(p); got != near {
					t.Fatalf("nearest: %v, want %v", got, near)
				}
				overlaps, casts = overlaps+len(over), casts+len(all)
				if near.Shape != rigid.NoShape {
					nearest++
				}
			}
		}
	}
	t.Logf("%d overlaps, %d met, %d nearest", overlaps, casts, nearest)
}

// corners are the vertices of a placed shape, in float64.
func corners(s *rigid.Shape, p *rigid.Poses, body int) [][2]float64 {
	var out [][2]float64
	for _, v := range s.Vertices[:s.Count] {
		c, n := float64(p.Cos[body]), float64(p.Sin[body])
		out = append(out, [2]float64{c*float64(v.X) - n*float64(v.Y) + float64(p.X[body]), n*float64(v.X) + c*float64(v.Y) + float64(p.Y[body])})
	}
	return out
}

// apartInFloat64 is how far two convex polygons are apart: the greatest of the gaps along the
// normals of both, or where that is positive, the least distance of a corner from an edge.
func apartInFloat64(a, b [][2]float64) float64 {
	gap, distance := math.Inf(-1), math.Inf(1)
	for range 2 {
		for i, v := range a {
			w := a[(i+1)%len(a)]
			ex, ey := w[0]-v[0], w[1]-v[1]
			length, least := math.Hypot(ex, ey), math.Inf(1)
			for _, p := range b {
				mx, my := p[0]-v[0], p[1]-v[1]
				at := 0.
				if length > 0 {
					at = max(0, min(1, (mx*ex+my*ey)/(length*length)))
					least = min(least, (mx*ey-my*ex)/length)
				}
				distance = min(distance, math.Hypot(mx-at*ex, my-at*ey))
			}
			if length > 0 {
				gap = max(gap, least)
			}
		}
		a, b = b, a
	}
	if gap > 0 || len(a) == 1 && len(b) == 1 {
		return distance
	}
	return gap
}

func TestDistanceAgainstFloat64(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	over, beside := 0, 0
	for i := range 60000 {
		s := randomScene(rng, 1)
		if i%5 == 0 { // on one line, or turned alike
			k := rng.IntN(2)
			s.poses.Cos[k], s.poses.Sin[k] = s.poses.Cos[1-k], s.poses.Sin[1-k]
			if rng.IntN(2) == 0 {
				s.shapes[k] = s.shapes[1-k]
				along := float32(within(rng, -3, 3))
				n := s.shapes[k].Normals[0]
				c, sn := s.poses.Cos[k], s.poses.Sin[k]
				s.poses.X[k] = s.poses.X[1-k] + along*(c*-n.Y-sn*n.X)
				s.poses.Y[k] = s.poses.Y[1-k] + along*(sn*-n.Y+c*n.X)
			}
		}
		a, b := &s.shapes[0], &s.shapes[1]
		d := rigid.Distance(a, b, 0, 1, &s.poses)
		want := apartInFloat64(corners(a, &s.poses, 0), corners(b, &s.poses, 1)) - float64(a.Radius) - float64(b.Radius)
		const tolerance = 3e-5
		flat := a.Count == 2 && b.Count == 2 && want+float64(a.Radius)+float64(b.Radius) <= tolerance // crossing, or nearly
		if math.Abs(float64(d.Distance)-want) > tolerance && !flat {
			t.Fatalf("%d: %+v, want %g\n%+v\n%+v\n%+v", i, d, want, a, b, s.poses)
		}
		if want <= 0 {
			over++
			continue
		}
		beside++
		if size := math.Hypot(float64(d.Normal.X), float64(d.Normal.Y)); math.Abs(size-1) > 1e-5 {
			t.Fatalf("a normal of length %g", size)
		}
		for k, p := range [2]rigid.Vec{d.PointA, d.PointB} {
			q := &s.poses
			if off := distance(&s.shapes[k], q.X[k], q.Y[k], q.Cos[k], q.Sin[k], float64(p.X), float64(p.Y)); math.Abs(off) > tolerance {
				t.Fatalf("%d: point %d is %g from the surface: %+v", i, k, off, d)
			}
		}
	}
	t.Logf("%d overlap, %d do not", over, beside)
}

// Where a cast ends the two shapes touch, and before that they do not.
func TestCastsTouch(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	hits, inside, misses := 0, 0, 0
	for range paritytest.Rounds(20000) {
		c := newCrowd(rng, 1, 4)
		s := &c.Shapes[0]
		if s.Count == 0 {
			continue
		}
		p := c.probe(rng, 4)
		if rng.IntN(2) == 0 {
			p.DX, p.DY = c.poses.X[0]-p.X, c.poses.Y[0]-p.Y
		}
		p.Exclude, p.Category, p.Mask, p.Flags, p.MaxT = rigid.NoShape, ^uint64(0), ^uint64(0), rigid.IncludeSensors, 1.5
		if !p.Prepare() {
			t.Fatal("no box")
		}
		found := c.CastShapeOracle(p, nil)
		at := func(f float64) float64 {
			poses := rigid.Poses{X: []float32{c.poses.X[0], p.X}, Y: []float32{c.poses.Y[0], p.Y},
				Cos: []float32{c.poses.Cos[0], p.Cos}, Sin: []float32{c.poses.Sin[0], p.Sin}}
			a, b := corners(s, &poses, 0), corners(p.Shape, &poses, 1)
			for i := range b {
				b[i][0] += f * float64(p.DX)
				b[i][1] += f * float64(p.DY)
			}
			return apartInFloat64(a, b) - float64(s.Radius) - float64(p.Shape.Radius)
		}
		end := 1.5
		tolerance := 3e-5 * max(1, math.Hypot(float64(p.DX), float64(p.DY)))
		switch {
		case len(found) == 0:
			misses++
		case found[0].Normal == rigid.Vec{}:
			inside++
			if d := at(0); d > tolerance || found[0].T != 0 {
				t.Fatalf("begins %g apart: %+v", d, found)
			}
			continue
		default:
			hits++
			end = float64(found[0].T)
			if d := at(end); math.Abs(d) > tolerance {
				t.Fatalf("ends %g apart: %+v of %+v and %+v", d, found, s, p)
			}
			q := found[0].Point
			if off := distance(s, c.poses.X[0], c.poses.Y[0], c.poses.Cos[0], c.poses.Sin[0], float64(q.X), float64(q.Y)); math.Abs(off) > tolerance {
				t.Fatalf("the point is %g from the surface: %+v", off, found)
			}
		}
		for k := range 60 {
			if d := at(float64(k) / 60 * end); d < -tolerance {
				t.Fatalf("%g deep before the end, at %d of 60: %+v, %+v\n%+v", d, k, found, s, p)
			}
		}
	}
	t.Logf("%d hits, %d begin in overlap, %d misses", hits, inside, misses)
}
