package rigid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// crowd is a scene for queries.
type crowd struct {
	rigid.Scene
	poses   rigid.Poses
	filters broad.Filters
}

// newCrowd draws n shapes on bodies of their own in a square, now and then one that is
// large, dead or far away.
func newCrowd(rng *rand.Rand, n int, half float64) *crowd {
	c := &crowd{}
	for i := range n {
		shape := randomShape(rng)
		switch rng.IntN(40) {
		case 0:
			shape = box(float32(within(rng, 1, half)), 0.3, float32(rng.IntN(2)))
		case 1:
			shape = rigid.Shape{}
		}
		sin, cos := math.Sincos(within(rng, 0, 7))
		if rng.IntN(3) == 0 {
			sin, cos = 0, 1
		}
		p := &c.poses
		p.X, p.Y = append(p.X, float32(within(rng, -half, half))), append(p.Y, float32(within(rng, -half, half)))
		p.Cos, p.Sin = append(p.Cos, float32(cos)), append(p.Sin, float32(sin))
		c.Shapes = append(c.Shapes, shape)
		f := &c.filters
		f.Body = append(f.Body, uint32(i))
		f.Category, f.Mask = append(f.Category, 1<<rng.IntN(3)), append(f.Mask, rng.Uint64()|1)
		c.Sensors = append(c.Sensors, rng.IntN(8) == 0)
	}
	if f := &c.filters; rng.IntN(2) == 0 {
		for range n {
			least := float32(rng.IntN(4))
			f.SpanMin, f.SpanMax = append(f.SpanMin, least), append(f.SpanMax, least+float32(rng.IntN(2)))
		}
	}
	c.Poses, c.Filters = &c.poses, &c.filters
	return c
}

// spoil puts shapes where there are none, or far away.
func (c *crowd) spoil(run *paritytest.Run) {
	for i := range c.poses.X {
		column := [][]float32{c.poses.X, c.poses.Y, c.poses.Cos, c.poses.Sin}[run.IntN(4)]
		switch run.IntN(16) {
		case 0:
			column[i] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		case 1:
			c.poses.X[i] *= 1e5
		}
	}
}

// rays draws rays of which some begin in shapes, run along an axis, or are short.
func (c *crowd) rays(rng *rand.Rand, n int, half float64) []rigid.Ray {
	rays := make([]rigid.Ray, n)
	for i := range rays {
		r := &rays[i]
		r.OX, r.OY = float32(within(rng, -half, half)), float32(within(rng, -half, half))
		angle, length := within(rng, 0, 7), half*math.Exp(within(rng, -6, 1))
		r.DX, r.DY, r.MaxT = float32(math.Cos(angle)*length), float32(math.Sin(angle)*length), 1
		r.Exclude, r.Category, r.Mask = rigid.NoShape, ^uint64(0), ^uint64(0)
		switch rng.IntN(12) {
		case 0:
			r.DX = float32(math.Copysign(0, float64(rng.IntN(2)-1)))
		case 1:
			r.DY = 0
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
			k := rng.IntN(len(c.Shapes))
			r.OX, r.OY = c.poses.X[k], c.poses.Y[k]
			if !(max(r.OX, -r.OX, r.OY, -r.OY) < 1<<60) {
				r.OX, r.OY = 0, 0
			}
		}
		if r.DX == 0 && r.DY == 0 {
			r.DX = 1
		}
		r.Flags, r.SpanMin = rng.Uint32N(8), float32(rng.IntN(4))
		r.SpanMax = r.SpanMin + float32(rng.IntN(2))
	}
	rigid.PrepareRays(rays)
	return rays
}

const hitWords = int(unsafe.Sizeof(rigid.RayHit{}) / 4)

func sameHits(got, want []rigid.RayHit) error {
	asFloats := func(h []rigid.RayHit) []float32 {
		return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(h))), hitWords*len(h))
	}
	return paritytest.Floats("hits", asFloats(got), asFloats(want))
}

// All levels find what the oracle finds, which tests every shape.
func TestParityRays(t *testing.T) {
	run := paritytest.Start(t, "Rays")
	const most = 700
	rays, out := paritytest.NewBuffer[uint32](t, 64*16), paritytest.NewBuffer[uint32](t, 64*hitWords)
	rows := paritytest.NewBuffer[uint32](t, 64*most*hitWords)
	var targets rigid.QueryTree
	total := 0
	for range paritytest.Sample(30) {
		for _, n := range []int{0, 1, 2, 15, 16, 17, 100, 255, 256, 257, most} {
			half := within(run.Rand, 1, 40)
			c := newCrowd(run.Rand, n, half)
			if run.IntN(3) == 0 {
				c.spoil(run)
			}
			in := c.rays(run.Rand, run.IntN(65), half)
			closest, ends := make([]rigid.RayHit, len(in)), make([]uint32, len(in))
			rigid.CastRaysClosestOracle(&c.Scene, in, closest)
			all := rigid.CastRaysAllOracle(&c.Scene, in, ends, nil)
			total += len(all)
			for _, level := range native.Levels() {
				run.Case(level)
				targets.Build(level, &c.Scene)
				side, gap := paritytest.Sides[run.IntN(len(paritytest.Sides))], 4*run.IntN(2)
				placed := asRays(rays.Place(16*len(in), side, gap))
				copy(placed, in)
				got := asHits(out.Place(hitWords*len(in), side, gap))
				targets.CastRaysClosest(level, placed, got)
				run.Check(sameHits(got, closest), out.Check(), rays.Check())
				row := asHits(rows.Place(hitWords*len(all), side, gap))
				gotEnds := make([]uint32, len(in))
				done, fill := targets.CastRaysAll(level, placed, gotEnds, row, 0)
				if done != len(in) || fill != len(all) {
					run.Check(fmt.Errorf("%d rays, %d hits; want %d, %d", done, fill, len(in), len(all)))
				}
				run.Check(sameHits(row, all), paritytest.Bits("ends", gotEnds, ends), rows.Check())
			}
		}
	}
	t.Logf("%d hits", total)
}

func asRays(words []uint32) []rigid.Ray {
	return unsafe.Slice((*rigid.Ray)(unsafe.Pointer(unsafe.SliceData(words))), len(words)/16)
}

func asHits(words []uint32) []rigid.RayHit {
	return unsafe.Slice((*rigid.RayHit)(unsafe.Pointer(unsafe.SliceData(words))), len(words)/hitWords)
}

// Where there is no room for a row, the rays before it are answered.
func TestRayAllStopsWhereThereIsNoRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	c := newCrowd(rng, 300, 4)
	in := c.rays(rng, 60, 4)
	ends := make([]uint32, len(in))
	want := rigid.CastRaysAllOracle(&c.Scene, in, ends, nil)
	var targets rigid.QueryTree
	for _, level := range native.Levels() {
		targets.Build(level, &c.Scene)
		for room := 0; room <= len(want); room += 1 + len(want)/50 {
			got, gotEnds := make([]rigid.RayHit, room), make([]uint32, len(in))
			done, fill := targets.CastRaysAll(level, in, gotEnds, got, 0)
			wantDone, wantFill := 0, uint32(0)
			for wantDone < len(in) && int(ends[wantDone]) <= room {
				wantFill = ends[wantDone]
				wantDone++
			}
			if done != wantDone || fill != int(wantFill) || sameHits(got[:fill], want[:fill]) != nil || !slices.Equal(gotEnds[:done], ends[:done]) {
				t.Fatalf("level %s, room %d: %d rays and %d hits; want %d and %d", level, room, done, fill, wantDone, wantFill)
			}
		}
	}
}

// distance is how far a point is from a shape, in float64; negative inside.
func distance(s *rigid.Shape, px, py, cos, sin float32, x, y float64) float64 {
	lx, ly := x-float64(px), y-float64(py)
	lx, ly = float64(cos)*lx+float64(sin)*ly, float64(cos)*ly-float64(sin)*lx
	outside, deepest, n := math.Inf(1), math.Inf(-1), int(s.Count)
	for i := range n {
		v, w := s.Vertices[i], s.Vertices[(i+1)%n]
		vx, vy, ex, ey := float64(v.X), float64(v.Y), float64(w.X)-float64(v.X), float64(w.Y)-float64(v.Y)
		at := 0.
		if square := ex*ex + ey*ey; square > 0 {
			at = max(0, min(1, ((lx-vx)*ex+(ly-vy)*ey)/square))
			deepest = max(deepest, ((lx-vx)*ey-(ly-vy)*ex)/math.Sqrt(square))
		}
		outside = min(outside, math.Hypot(lx-vx-at*ex, ly-vy-at*ey))
	}
	if n > 2 && deepest < 0 {
		return deepest - float64(s.Radius)
	}
	return outside - float64(s.Radius)
}

// A hit is on the surface, its normal points along the gradient of the distance, and the
// ray before it is outside; a ray that meets nothing is outside all along.
func TestRaysMeetSurfaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	hits, inside, misses := 0, 0, 0
	for range paritytest.Rounds(20000) {
		c := newCrowd(rng, 1, 5)
		s, p := &c.Shapes[0], &c.poses
		if s.Count == 0 {
			continue
		}
		r := &c.rays(rng, 1, 5)[0]
		if k := rng.IntN(4); k > 0 { // at the shape
			r.DX, r.DY = p.X[0]-r.OX, p.Y[0]-r.OY
		}
		r.MaxT = 2
		r.Exclude, r.Category, r.Mask, r.Flags = rigid.NoShape, ^uint64(0), ^uint64(0), rigid.IncludeSensors
		var hit [1]rigid.RayHit
		one := []rigid.Ray{*r}
		rigid.PrepareRays(one)
		rigid.CastRaysClosestOracle(&c.Scene, one, hit[:])
		h := &hit[0]
		at := func(t float64) float64 {
			return distance(s, p.X[0], p.Y[0], p.Cos[0], p.Sin[0], float64(r.OX)+t*float64(r.DX), float64(r.OY)+t*float64(r.DY))
		}
		const tolerance = 2e-5
		length := math.Hypot(float64(r.DX), float64(r.DY))
		switch {
		case h.Shape == rigid.NoShape:
			misses++
		case h.Normal == rigid.Vec{}:
			inside++
			if d := at(0); h.T != 0 || d > tolerance {
				t.Fatalf("%+v begins %g from %+v: %+v", r, d, s, h)
			}
			continue
		default:
			hits++
			if d := at(float64(h.T)); math.Abs(d) > tolerance*max(1, length) {
				t.Fatalf("%+v meets %+v at %+v: %g from the surface", r, s, h, d)
			}
			if size := math.Hypot(float64(h.Normal.X), float64(h.Normal.Y)); math.Abs(size-1) > 1e-5 {
				t.Fatalf("a normal of length %g", size)
			}
			const step = 1e-3
			out := distance(s, p.X[0], p.Y[0], p.Cos[0], p.Sin[0],
				float64(r.OX)+float64(h.T)*float64(r.DX)+step*float64(h.Normal.X), float64(r.OY)+float64(h.T)*float64(r.DY)+step*float64(h.Normal.Y))
			if math.Abs(out-step) > tolerance*max(2, length) {
				t.Fatalf("%+v meets %+v at %+v: %g from the surface a millimetre along the normal", r, s, h, out)
			}
		}
		for k := range 100 {
			if d := at(float64(k) / 100 * float64(h.T)); d < -tolerance*max(1, length) {
				t.Fatalf("%+v is %g inside of %+v before %+v", r, d, s, h)
			}
		}
	}
	t.Logf("%d hits, %d begin inside, %d misses", hits, inside, misses)
}

// Building again and asking again needs no more memory.
func TestTargetsBuildAllocatesNothingAgain(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	c := newCrowd(rng, 500, 10)
	var targets rigid.QueryTree
	rays, out := c.rays(rng, 50, 10), make([]rigid.RayHit, 50)
	if n := testing.AllocsPerRun(10, func() {
		targets.Build(native.Auto, &c.Scene)
		targets.CastRaysClosest(native.Auto, rays, out)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// within returns the scene without the shapes whose interval does not overlap that of a query.
func (c *crowd) within(r *rigid.Ray) *rigid.Scene {
	s := c.Scene
	s.Shapes = slices.Clone(s.Shapes)
	for i := range s.Shapes {
		if f := &c.filters; r.Flags&rigid.WithSpan != 0 && len(f.SpanMin) > 0 && (f.SpanMin[i] > r.SpanMax || r.SpanMin > f.SpanMax[i]) {
			s.Shapes[i] = rigid.Shape{}
		}
	}
	return &s
}

// A query with an interval finds what it finds without an interval where there are no other shapes.
func TestQueriesWithSpans(t *testing.T) {
	run := paritytest.Start(t, "QuerySpans")
	spanned := 0
	for range paritytest.Sample(40) {
		half := within(run.Rand, 1, 20)
		c := newCrowd(run.Rand, 1+run.IntN(60), half)
		for _, r := range c.rays(run.Rand, 20, half) {
			rays := []rigid.Ray{r}
			ends := make([]uint32, 1)
			got := rigid.CastRaysAllOracle(&c.Scene, rays, ends, nil)
			in := c.within(&r)
			rays[0].Flags &^= rigid.WithSpan
			want := rigid.CastRaysAllOracle(in, rays, ends, nil)
			run.Check(sameHits(got, want))
			if r.Flags&rigid.WithSpan != 0 {
				spanned += len(want)
			}
			p := c.probe(run.Rand, half)
			if !p.Prepare() {
				continue
			}
			in = c.within(&p.Ray)
			free := *p
			free.Flags &^= rigid.WithSpan
			if got, want := c.OverlapShapeOracle(p, nil), in.OverlapShapeOracle(&free, nil); !slices.Equal(got, want) {
				t.Fatalf("overlaps: got %v, want %v", got, want)
			}
			if got, want := c.NearestOracle(p), in.NearestOracle(&free); got != want {
				t.Fatalf("nearest: got %v, want %v", got, want)
			}
			if got, want := c.CastShapeOracle(p, nil), in.CastShapeOracle(&free, nil); !slices.Equal(got, want) {
				t.Fatalf("casts: got %v, want %v", got, want)
			}
		}
	}
	if spanned == 0 {
		t.Error("no ray with an interval hit anything")
	}
}
