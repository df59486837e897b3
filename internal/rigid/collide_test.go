package rigid_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// meet collides two shapes whose bodies are b apart and turned by the given angle.
func meet(t *testing.T, a, b rigid.Shape, x, y, angle float64) rigid.Manifold {
	t.Helper()
	s := &scene{}
	s.pair(s.add(a, 0, 0, 0), s.add(b, x, y, angle))
	m := s.collide(t)[0]
	if wrong := s.checkManifold(0, &m); wrong != "" {
		t.Errorf("%s: %+v", wrong, m)
	}
	return m
}

func ids(m *rigid.Manifold) []uint32 {
	out := []uint32{}
	for _, p := range m.Points[:m.Count] {
		out = append(out, p.ID)
	}
	slices.Sort(out)
	return out
}

func near(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 }

func TestBoxOnBox(t *testing.T) {
	ground, b := box(10, 1, 0), box(0.5, 0.5, 0)
	first := meet(t, ground, b, 3, 1.49, 0)
	if first.Count != 2 || !near(first.Normal.X, 0) || !near(first.Normal.Y, 1) {
		t.Fatalf("%+v", first)
	}
	// The ends of the ground's upper side are its vertices 2, at the right, and 3.
	if got := ids(&first); !slices.Equal(got, []uint32{3 | 0<<8, 2 | 1<<8}) {
		t.Errorf("IDs %x", got)
	}
	for _, p := range first.Points {
		if !near(p.Separation, -0.01) || !near(p.AnchorA.Y, 0.995) || !near(p.AnchorB.Y, -0.495) ||
			!near(p.AnchorA.X-3, p.AnchorB.X) || !near(float32(math.Abs(float64(p.AnchorB.X))), 0.5) {
			t.Errorf("%+v", p)
		}
	}
	for _, x := range []float64{-10.3, -9.6, 0, 9.4, 9.6, 10.3} {
		for _, y := range []float64{1.48, 1.5, 1.51} {
			for _, angle := range []float64{-0.004, -1e-6, 0, 1e-6, 0.004} {
				if m := meet(t, ground, b, x, y, angle); !slices.Equal(ids(&m), ids(&first)) && (m.Count == 2 || y < 1.5) {
					t.Errorf("at %g, %g, turned by %g: %+v", x, y, angle, m)
				}
			}
		}
	}
}

// A box of a metre on a ground of two kilometres, which is turned: what is lost is the
// rounding of a kilometre, 6e-5, and not more.
func TestLargeGround(t *testing.T) {
	const seed = 13
	rng := rand.New(rand.NewPCG(seed, seed))
	s := &scene{}
	for range 200 {
		angle, along, depth := within(rng, 0, 7), within(rng, -999, 999), within(rng, 0, 0.01)
		sin, cos := math.Sincos(angle)
		b := s.add(box(0.5, 0.5, 0), -sin*(1.5-depth)+cos*along, cos*(1.5-depth)+sin*along, angle)
		s.pair(b, s.add(box(1000, 1, 0), 0, 0, angle))
		s.pair(b+1, b)
	}
	for i, m := range s.collide(t) {
		a, b := s.solid(s.pairs.A[i]), s.solid(s.pairs.B[i])
		want, _ := a.distance(b)
		if m.Count != 2 {
			t.Fatalf("seed %d: %+v, want two points of about %g", seed, m, want)
		}
		if d := float64(min(m.Points[0].Separation, m.Points[1].Separation)) - want; math.Abs(d) > 2e-4 {
			t.Errorf("seed %d: %+v, want %g", seed, m, want)
		}
	}
}

// IDs do not change when the reference does.
func TestIDsSurviveTheReference(t *testing.T) {
	b := box(0.5, 0.5, 0)
	want := []uint32{3 | 0<<8, 2 | 1<<8}
	for _, x := range []float64{-0.2, 0, 0.3} {
		for angle := -0.01; angle < 0.01; angle += 1e-4 {
			if m := meet(t, b, b, x, 0.99, angle); !slices.Equal(ids(&m), want) {
				t.Errorf("at %g, turned by %g: %+v", x, angle, m)
			}
		}
	}
}

func TestCornerToCorner(t *testing.T) {
	b := box(0.5, 0.5, 0)
	m := meet(t, b, b, 1.003, 1.004, 0)
	if m.Count != 1 || !near(m.Points[0].Separation, 0.005) || m.Points[0].ID != 2|0<<8 {
		t.Errorf("%+v", m)
	}
	if m := meet(t, b, b, 1.013, 1.016, 0); m.Count != 0 {
		t.Errorf("%+v", m)
	}
	r := box(0.5, 0.5, 0.1)
	m = meet(t, r, r, 1.12, 1.16, 0)
	if m.Count != 1 || !near(m.Points[0].Separation, 0) || !near(m.Normal.X, 0.6) || !near(m.Normal.Y, 0.8) {
		t.Errorf("%+v", m)
	}
}

func TestCapsules(t *testing.T) {
	c := capsule(rigid.Vec{X: -1}, rigid.Vec{X: 1}, 0.25)
	if m := meet(t, c, c, 0.5, 0.5, 0); m.Count != 2 || !near(m.Normal.Y, 1) || !near(m.Points[0].Separation, 0) {
		t.Errorf("side by side: %+v", m)
	}
	for _, angle := range []float64{0, math.Pi, 1e-3, -1e-7} {
		if m := meet(t, c, c, 2.4+angle*0, 0, angle); m.Count != 1 || math.Abs(float64(m.Normal.X)-1) > 1e-5 ||
			math.Abs(float64(m.Points[0].Separation)+0.1) > 1e-5 {
			t.Errorf("end to end, turned by %g: %+v", angle, m)
		}
	}
	if m := meet(t, c, c, 2.6, 0, 0); m.Count != 0 {
		t.Errorf("end to end, apart: %+v", m)
	}
	if m := meet(t, c, c, 1.5, 0, 0); m.Count != 2 || !near(m.Points[0].Separation, -0.5) {
		t.Errorf("in each other: %+v", m)
	}
	if m := meet(t, c, c, 0.5, 0, math.Pi/2); m.Count == 0 {
		t.Errorf("crossed: %+v", m)
	}
	segment := made(rigid.MakeSegment(rigid.Vec{X: -1}, rigid.Vec{X: 1}))
	if m := meet(t, segment, disc(0.5), 1.4, 0, 0); m.Count != 1 || !near(m.Normal.X, 1) || !near(m.Points[0].Separation, -0.1) {
		t.Errorf("disc at the end of a segment: %+v", m)
	}
	if m := meet(t, disc(0.5), segment, 0, -0.45, 0); m.Count != 1 || !near(m.Normal.Y, -1) || !near(m.Points[0].Separation, -0.05) {
		t.Errorf("disc on a segment: %+v", m)
	}
}

func TestCoincident(t *testing.T) {
	for name, s := range map[string]rigid.Shape{"disc": disc(0.5), "box": box(0.5, 0.25, 0), "round": box(0.5, 0.25, 0.1),
		"capsule": capsule(rigid.Vec{X: -1}, rigid.Vec{X: 1}, 0.25), "hull": randomHull(rand.New(rand.NewPCG(1, 1)), 0)} {
		for other, o := range map[string]rigid.Shape{"itself": s, "a disc": disc(0.25), "a box": box(0.125, 0.125, 0)} {
			if m := meet(t, s, o, 0, 0, 0); m.Count == 0 || !(m.Points[0].Separation < 0) {
				t.Errorf("%s in %s: %+v", other, name, m)
			}
			if m := meet(t, o, s, 0, 0, 0); m.Count == 0 || !(m.Points[0].Separation < 0) {
				t.Errorf("%s in %s: %+v", name, other, m)
			}
		}
	}
	if m := meet(t, disc(0.5), disc(0.25), 0, 0, 1); m.Normal != (rigid.Vec{Y: 1}) || m.Points[0].Separation != -0.75 {
		t.Errorf("%+v", m)
	}
}

// A separation of exactly SpeculativeDistance is contact, one unit more is none. The
// sizes are such that all steps are exact.
func TestSpeculativeDistanceBelongsToContact(t *testing.T) {
	const r = 1.0 / 256
	for name, pair := range map[string][2]rigid.Shape{
		"discs": {disc(r), disc(r)}, "polygon and disc": {box(r, r, 0), disc(r)}, "polygons": {box(r, r, 0), box(r, r, 0)},
		"disc and polygon": {disc(r), box(r, r, 0)}} {
		for steps := range 2 {
			s := &scene{shapes: pair[:], bodyOf: []uint32{0, 1}}
			s.bodyAt(0, 0, 1, 0)
			x := 2*r + float32(rigid.SpeculativeDistance)
			if steps == 1 {
				x = math.Nextafter32(x, 1)
			}
			s.bodyAt(x, 0, 1, 0)
			s.pair(0, 1)
			if m := s.collide(t)[0]; (m.Count > 0) != (steps == 0) {
				t.Errorf("%s, %g from each other: %+v", name, x, m)
			}
		}
	}
}

// Which of two shapes comes first matters only where they are as good as each other.
func TestSwap(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, seed))
	s := randomScene(rng, 5000)
	swapped := *s
	swapped.pairs = broad.Pairs{A: s.pairs.B, B: s.pairs.A}
	there, back := s.collide(t), swapped.collide(t)
	for i := range there {
		a, b := s.solid(s.pairs.A[i]), s.solid(s.pairs.B[i])
		if len(a.v) > 1 && len(b.v) > 1 && math.Abs(a.separation(b)-b.separation(a)) < preference+slack {
			continue
		}
		m, o := &there[i], &back[i]
		if m.Count != o.Count {
			t.Fatalf("seed %d: pair %d of %v and %v:\n%+v\n%+v", seed, i, a, b, m, o)
		}
		if !wide(m.Normal).near(wide(o.Normal).times(-1), slack) {
			t.Fatalf("seed %d: normals of pair %d of %v and %v:\n%+v\n%+v", seed, i, a, b, m, o)
		}
		for k := range m.Count {
			p, q := &m.Points[k], &o.Points[k]
			if !wide(p.AnchorA).near(wide(q.AnchorB), 10*slack) || math.Abs(float64(p.Separation-q.Separation)) > slack ||
				p.ID != q.ID>>8|q.ID<<8&0xffff {
				t.Fatalf("seed %d: point %d of pair %d of %v and %v:\n%+v\n%+v", seed, k, i, a, b, p, q)
			}
		}
	}
}

// Positions enter as differences: where these are exact, distance from the origin
// changes nothing.
func TestTranslation(t *testing.T) {
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, seed))
	s := randomScene(rng, 2000)
	for i := range s.poses.X {
		s.poses.X[i] = float32(math.Round(float64(s.poses.X[i])*256) / 256)
		s.poses.Y[i] = float32(math.Round(float64(s.poses.Y[i])*256) / 256)
	}
	want := s.collide(t)
	for _, by := range []float32{64, -1024, 8192} {
		moved := *s
		moved.poses.X, moved.poses.Y = slices.Clone(s.poses.X), slices.Clone(s.poses.Y)
		for i := range moved.poses.X {
			moved.poses.X[i] += by
			moved.poses.Y[i] -= 2 * by
			if moved.poses.X[i]-by != s.poses.X[i] || moved.poses.Y[i]+2*by != s.poses.Y[i] {
				t.Fatal("the test moves bodies inexactly")
			}
		}
		if got := moved.collide(t); !slices.Equal(got, want) {
			t.Errorf("moved by %g, other manifolds", by)
		}
	}
}

// A quarter turn of the world is exact, any other is so up to rounding.
func TestRotation(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, seed))
	s := randomScene(rng, 2000)
	want := s.collide(t)
	turned := *s
	turned.poses = rigid.Poses{Cos: make([]float32, len(s.poses.X)), Sin: s.poses.Cos, X: make([]float32, len(s.poses.X)), Y: s.poses.X}
	for i := range s.poses.X {
		turned.poses.Cos[i], turned.poses.X[i] = -s.poses.Sin[i], -s.poses.Y[i]
	}
	for i, m := range turned.collide(t) {
		back := m
		back.Normal = rigid.Vec{X: m.Normal.Y, Y: -m.Normal.X}
		for k := range back.Points {
			p := &back.Points[k]
			p.AnchorA, p.AnchorB = rigid.Vec{X: p.AnchorA.Y, Y: -p.AnchorA.X}, rigid.Vec{X: p.AnchorB.Y, Y: -p.AnchorB.X}
		}
		if back != want[i] {
			t.Fatalf("seed %d: pair %d:\n%+v\n%+v", seed, i, back, want[i])
		}
	}
}

func TestBadPosesTouchNothing(t *testing.T) {
	shapes := []rigid.Shape{disc(1), box(1, 1, 0), capsule(rigid.Vec{X: -1}, rigid.Vec{X: 1}, 1), randomHull(rand.New(rand.NewPCG(1, 1)), 1)}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		for field := range 8 {
			s := &scene{}
			for _, a := range shapes {
				for _, b := range shapes {
					s.pair(s.add(a, 0, 0, 0), s.add(b, 0.5, 0.25, 1))
				}
			}
			for i, m := range s.collide(t) {
				if m.Count == 0 {
					t.Fatalf("pair %d does not touch as it is", i)
				}
			}
			column := [][]float32{s.poses.X, s.poses.Y, s.poses.Cos, s.poses.Sin}[field/2]
			for i := field % 2; i < len(column); i += 2 {
				column[i] = bad
			}
			for i, m := range s.collide(t) {
				if m != (rigid.Manifold{}) {
					t.Errorf("field %d is %g: pair %d: %+v", field, bad, i, m)
				}
			}
		}
	}
}

func TestDeadShapesTouchNothing(t *testing.T) {
	s := &scene{}
	b := box(1, 1, 0)
	many := b
	many.Count = rigid.MaxVertices + 1
	s.add(b, 0, 0, 0)
	s.add(rigid.Shape{}, 0, 0, 0)
	s.add(many, 0, 0, 0)
	s.pair(0, 1)
	s.pair(0, 2)
	s.pair(1, 2)
	for i, m := range s.collide(t) {
		if m != (rigid.Manifold{}) {
			t.Errorf("pair %d: %+v", i, m)
		}
	}
}

func TestCollideRefusesMisuse(t *testing.T) {
	good := func() *scene {
		s := &scene{}
		a, b := s.add(disc(1), 0, 0, 0), s.add(disc(1), 1, 0, 0)
		for range 20 {
			s.pair(a, b)
		}
		return s
	}
	for name, spoil := range map[string]func(s *scene){
		"bodyOf":       func(s *scene) { s.bodyOf = s.bodyOf[:1] },
		"poses":        func(s *scene) { s.poses.Sin = s.poses.Sin[:1] },
		"pairs":        func(s *scene) { s.pairs.A = nil },
		"no shape A":   func(s *scene) { s.pairs.A[19] = 2 },
		"no shape B":   func(s *scene) { s.pairs.B[19] = math.MaxUint32 },
		"no body of A": func(s *scene) { s.bodyOf[0] = 2 },
		"no body of B": func(s *scene) { s.bodyOf[1] = math.MaxUint32 },
	} {
		for _, level := range native.Levels() {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s, level %s: no panic", name, level)
					}
				}()
				s := good()
				spoil(s)
				rigid.Collide(level, s.shapes, s.bodyOf, &s.poses, &s.pairs, make([]rigid.Manifold, 20))
			}()
		}
	}
}

func TestCollideAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: an instrumented build allocates")
	}
	s := randomScene(rand.New(rand.NewPCG(1, 1)), 3000)
	out := make([]rigid.Manifold, len(s.pairs.A))
	for _, level := range native.Levels() {
		if n := testing.AllocsPerRun(5, func() {
			rigid.Collide(level, s.shapes, s.bodyOf, &s.poses, &s.pairs, out)
		}); n != 0 {
			t.Errorf("level %s: %g allocations", level, n)
		}
	}
}
