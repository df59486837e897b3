package rigid3

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/vec"
	"github.com/evertick/evertick/native"
)

// query draws a query that moves.
func (c *crowd) query(rng *rand.Rand, half float64) *ShapeQuery {
	s := randomShape(rng)
	p := &ShapeQuery{Shape: &s, Hull: testHulls.at(s.Hull), Pose: Pose{Q: randomQuat(rng)}, Ray: c.rays(rng, 1, half)[0]}
	if s.Kind != KindHull {
		p.Hull = nil
	}
	p.Pose.P = p.O
	return p
}

// The tree finds what the oracle finds, which tests every shape.
func TestShapeQueriesAgainstTheOracle(t *testing.T) {
	run := paritytest.Start(t, "ShapeQueries3")
	var tree QueryTree
	casts, overlaps, nearest := 0, 0, 0
	for range paritytest.Sample(20) {
		for _, n := range []int{0, 1, 16, 17, 100, 300} {
			half := within(run.Rand, 1, 10)
			c := newCrowd(run.Rand, n, half)
			if run.IntN(3) == 0 {
				c.spoil(run)
			}
			tree.Build(native.Auto, &c.Scene)
			for range 10 {
				p := c.query(run.Rand, half)
				if !p.Prepare() {
					t.Fatalf("no bounds: %+v", p)
				}
				want := c.CastShapeOracle(p, nil)
				if got := tree.CastShapeAll(p, nil); !slices.Equal(got, want) {
					run.Check(fmt.Errorf("casts %+v, want %+v", got, want))
				}
				first := ShapeHit{T: p.MaxT, Shape: NoShape, Point: p.end()}
				if len(want) > 0 {
					first = want[0]
				}
				if got := tree.CastShapeClosest(p); got != first {
					run.Check(fmt.Errorf("cast %+v, want %+v", got, first))
				}
				over := c.OverlapShapeOracle(p, nil)
				if got := tree.OverlapShape(p, nil); !slices.Equal(got, over) {
					run.Check(fmt.Errorf("overlaps %v, want %v", got, over))
				}
				near := c.NearestOracle(p)
				if got := tree.Nearest(p); got != near {
					run.Check(fmt.Errorf("nearest %+v, want %+v", got, near))
				}
				casts, overlaps = casts+len(want), overlaps+len(over)
				if near.Shape != NoShape {
					nearest++
				}
			}
		}
	}
	t.Logf("%d casts, %d overlaps, %d nearest", casts, overlaps, nearest)
}

// solidGap is the distance of two solids without their radii, in float64: of apart ones the least of all pairs of a vertex and a face, and of two
// edges; of others the separating axis test over all axes.
func solidGap(a, b *Shape, pa, pb *Pose) float64 {
	oa, ob := newSolid(a, pa), newSolid(b, pb)
	ea, eb := oa.edges(a), ob.edges(b)
	best := math.Inf(-1)
	try := func(n [3]float64) {
		l := vec.Length(n)
		if l < 1e-9 {
			return
		}
		n = vec.Scale(n, 1/l)
		minA, maxA := oa.extent(n)
		minB, maxB := ob.extent(n)
		best = max(best, minB-maxA, minA-maxB)
	}
	for _, f := range slices.Concat(oa.planes, ob.planes) {
		try(f.n)
	}
	for _, e := range ea {
		for _, f := range eb {
			try(vec.Cross(vec.Sub(e[1], e[0]), vec.Sub(f[1], f[0])))
		}
	}
	if best < 0 && (len(oa.planes) > 0 || len(ob.planes) > 0) {
		return best
	}
	least := math.Inf(1)
	for k, o := range []*solid{oa, ob} {
		other := []*solid{ob, oa}[k]
		for _, v := range other.vertices {
			least = min(least, o.distance(v)+o.radius)
		}
	}
	for _, e := range ea {
		for _, f := range eb {
			least = min(least, segmentGap(e, f))
		}
	}
	return least
}

// edges returns the edges of a solid; a segment has one.
func (o *solid) edges(s *Shape) (edges [][2][3]float64) {
	t := s.polytope(&testHulls, new(boxArrays))
	for _, e := range t.Edges {
		edges = append(edges, [2][3]float64{o.vertices[e.From], o.vertices[e.To]})
	}
	if len(o.vertices) == 2 {
		edges = append(edges, [2][3]float64{o.vertices[0], o.vertices[1]})
	}
	return edges
}

func (o *solid) extent(n [3]float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range o.vertices {
		lo, hi = min(lo, vec.Dot(n, v)), max(hi, vec.Dot(n, v))
	}
	return lo, hi
}

// segmentGap is the distance of two segments: at the ends of one, or of the lines where that is inside of both.
func segmentGap(e, f [2][3]float64) float64 {
	least := min(toSegment(e[0], f[0], f[1]), toSegment(e[1], f[0], f[1]), toSegment(f[0], e[0], e[1]), toSegment(f[1], e[0], e[1]))
	u, v, r := vec.Sub(e[1], e[0]), vec.Sub(f[1], f[0]), vec.Sub(e[0], f[0])
	uu, vv, uv, ur, vr := vec.Dot(u, u), vec.Dot(v, v), vec.Dot(u, v), vec.Dot(u, r), vec.Dot(v, r)
	if d := uu*vv - uv*uv; d > 1e-9*uu*vv {
		s, t := (uv*vr-ur*vv)/d, (uu*vr-uv*ur)/d
		if s >= 0 && s <= 1 && t >= 0 && t <= 1 {
			least = min(least, vec.Length(vec.Sub(vec.Add(r, vec.Scale(u, s)), vec.Scale(v, t))))
		}
	}
	return least
}

// Distances by brute force in float64, apart and overlapping, of all pairs of kinds.
func TestDistanceAgainstFloat64(t *testing.T) {
	run := paritytest.Start(t, "Distance3")
	rounds := paritytest.Rounds(10_000)
	if paritytest.Long() {
		rounds = 100_000
	}
	apart, overlapping := 0, 0
	for range rounds {
		a, b := randomShape(run.Rand), randomShape(run.Rand)
		spread := math.Exp(within(run.Rand, -4, 2))
		pa := Pose{Vec{float32(run.NormFloat64() * spread), float32(run.NormFloat64() * spread), float32(run.NormFloat64() * spread)}, randomQuat(run.Rand)}
		pb := Pose{Vec{float32(run.NormFloat64() * spread), 0, 0}, randomQuat(run.Rand)}
		if run.IntN(4) == 0 {
			pb.Q = pa.Q
		}
		got := Distance(&a, &b, &testHulls, &pa, &pb)
		want := solidGap(&a, &b, &pa, &pb) - float64(a.Radius) - float64(b.Radius)
		const tolerance = 3e-6
		if !(math.Abs(float64(got.Distance)-want) <= tolerance) {
			t.Fatalf("%+v at %+v\n%+v at %+v:\n%+v, want %g", a, pa, b, pb, got, want)
		}
		if size := got.Normal.length(); abs(size-1) > 1e-6 {
			t.Fatalf("a normal of length %g", size)
		}
		oa, ob := newSolid(&a, &pa), newSolid(&b, &pb)
		if da, db := oa.distance(wide(got.PointA)), ob.distance(wide(got.PointB)); want > 0 && (math.Abs(da) > 2*tolerance || math.Abs(db) > 2*tolerance) {
			t.Fatalf("%+v at %+v\n%+v at %+v:\n%+v: the points are %g and %g from the surfaces", a, pa, b, pb, got, da, db)
		}
		// The normal separates: moved apart by the overlap along it, the two touch, along it at least.
		_, hi := oa.extent(wide(got.Normal))
		lo, _ := ob.extent(wide(got.Normal))
		if along := (lo - ob.radius) - (hi + oa.radius); math.Abs(along-float64(got.Distance)) > 1e-5 {
			t.Fatalf("%+v at %+v\n%+v at %+v:\n%+v: %g apart along the normal", a, pa, b, pb, got, along)
		}
		if want > 0 {
			apart++
		} else {
			overlapping++
		}
	}
	t.Logf("%d apart, %d overlapping", apart, overlapping)
	if min(apart, overlapping) < rounds/10 {
		t.Error("too few of a kind")
	}
}

// Casts by brute force in float64: at the end of a cast the two are CastTolerance apart, before they are farther apart, and what does not hit stays apart
// all along.
func TestCastsTouch(t *testing.T) {
	run := paritytest.Start(t, "Casts3")
	rounds := paritytest.Rounds(1000)
	if paritytest.Long() {
		rounds = 20_000
	}
	hits, inside, misses := 0, 0, 0
	for range rounds {
		c := newCrowd(run.Rand, 1, 3)
		p := c.query(run.Rand, 6)
		if c.Shapes[0].Kind == KindNone {
			continue
		}
		p.MaxT, p.Category, p.Mask, p.Exclude, p.Flags = 1.5, ^uint64(0), ^uint64(0), NoShape, IncludeSensors
		if run.IntN(4) > 0 {
			p.D = c.Poses[0].P.Add(Vec{float32(run.NormFloat64()), float32(run.NormFloat64()), float32(run.NormFloat64())}).Sub(p.O)
		}
		p.Prepare()
		apart := func(t float64) float64 {
			moved := p.Pose
			moved.P = p.Pose.P.wide64().addTimes(p.D.wide64(), t).narrow()
			return solidGap(&c.Shapes[0], p.Shape, &c.Poses[0], &moved) - float64(c.Shapes[0].Radius) - float64(p.Shape.Radius)
		}
		const tolerance = 5e-6
		end := 1.5
		row := c.CastShapeOracle(p, nil)
		switch {
		case len(row) == 0:
			misses++
		case row[0].Normal == Vec{}:
			inside++
			if d := apart(0); d > tolerance || row[0].T != 0 || row[0].Point != p.O {
				t.Fatalf("%+v begins %g from %+v: %+v", p, d, c.Shapes[0], row[0])
			}
			continue
		default:
			hits++
			h := &row[0]
			end = float64(h.T)
			if d := apart(end); math.Abs(d) > tolerance {
				t.Fatalf("%+v hits %+v at %+v: %g apart", p, c.Shapes[0], h, d)
			}
			if d := newSolid(&c.Shapes[0], &c.Poses[0]).distance(wide(h.Point)); math.Abs(d) > tolerance {
				t.Fatalf("%+v hits %+v at %+v: %g from the surface", p, c.Shapes[0], h, d)
			}
			if !(h.Normal.Dot(p.D) < 0) {
				t.Fatalf("%+v hits %+v at %+v from behind", p, c.Shapes[0], h)
			}
		}
		for k := range 10 {
			if d := apart(end * float64(k) / 10); d < -tolerance {
				t.Fatalf("%+v is %g inside of %+v before %+v", p, -d, c.Shapes[0], row)
			}
		}
	}
	t.Logf("%d hits, %d begin inside, %d misses", hits, inside, misses)
	if hits < rounds/10 || inside < rounds/100 || misses < rounds/20 {
		t.Error("too few of a kind")
	}
}

// Casts with known times, and what begins in touch.
func TestKnownCasts(t *testing.T) {
	cast := func(target, moved *Shape, from, d Vec, flags uint32) []ShapeHit {
		p := ShapeQuery{Shape: moved, Pose: Pose{from, Identity}, Ray: Ray{D: d, MaxT: 1, Category: 1, Mask: 1, Exclude: NoShape, Flags: flags}}
		p.Prepare()
		return one(target, &origin).CastShapeOracle(&p, nil)
	}
	cube := box(.5, .5, .5)
	if got := cast(cube, cube, Vec{1.1, 0, 0}, Vec{-1, 0, 0}, 0); len(got) != 1 || abs(got[0].T-.1) > 2e-6 || got[0].Normal != (Vec{X: 1}) {
		t.Errorf("towards: %+v", got)
	}
	for _, d := range []Vec{{1, 0, 0}, {0, 1, 0}, {0, 0, -1}} {
		if got := cast(cube, cube, Vec{1.1, 0, 0}, d, 0); len(got) != 0 {
			t.Errorf("away or sideways: %+v", got)
		}
	}
	want := (math.Sqrt(3) - 1) / (1.5 * math.Sqrt(3))
	if got := cast(box(1, 1, 1), ball(1), Vec{2, 2, 2}, Vec{-1.5, -1.5, -1.5}, 0); len(got) != 1 || math.Abs(float64(got[0].T)-want) > 1e-6 {
		t.Errorf("a ball at a corner: %+v, want %g", got, want)
	}
	shapes := []*Shape{cube, ball(.5), upright(.5, .25), {Pose: origin, Half: Vec{.25, .25, .25}, Radius: .25, Kind: KindBox}}
	for _, s := range shapes {
		for _, o := range shapes {
			for _, d := range []Vec{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}} {
				if got := cast(s, o, Vec{.4, .2, 0}, d, 0); len(got) != 1 || got[0] != (ShapeHit{Point: Vec{.4, .2, 0}}) {
					t.Errorf("%v of %v in overlap: %+v", o.Kind, s.Kind, got)
				}
				if got := cast(s, o, Vec{.4, .2, 0}, d, SkipInside); len(got) != 0 {
					t.Errorf("%v of %v in overlap, with SkipInside: %+v", o.Kind, s.Kind, got)
				}
			}
		}
	}
}

// Shapes of which one is a point, a needle or a sheet, and those that touch or coincide, have finite distances.
func TestDegenerateDistances(t *testing.T) {
	shapes := []Shape{
		*ball(1e-20), *ball(1), *capsule(Vec{}, Vec{1e-20, 0, 0}, 1e-20), *upright(.5, 1), *capsule(Vec{}, Vec{1e6, 0, 0}, .1),
		*box(1e-20, 1, 1), *box(1, 1, 1), *box(1e-6, 1e-6, 1e6), *box(1e6, 1e-20, 1e6), queryHulls[0], queryHulls[1],
	}
	for i := range shapes {
		for j := range shapes {
			for _, p := range []Vec{{}, {1, 0, 0}, {2, 0, 0}, {0, 2, 0}, {1e-30, 0, 0}, {1e10, 0, 0}, {1e18, -1e18, 1e18}} {
				for _, q := range []Quat{Identity, {Z: 1}, {Y: float32(math.Sqrt2 / 2), W: float32(math.Sqrt2 / 2)}} {
					got := Distance(&shapes[i], &shapes[j], &testHulls, &origin, &Pose{p, q})
					if size := got.Normal.length(); !(abs(size-1) <= 1e-5) || !got.PointA.isQueried() || !got.PointB.isQueried() {
						t.Fatalf("%d and %d at %v %v: %+v", i, j, p, q, got)
					}
				}
			}
		}
	}
}
