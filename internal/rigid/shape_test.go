package rigid_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
)

// measured returns mass properties by counting the points of a fine lattice, over
// which the shape is laid.
func measured(s *rigid.Shape) (area float64, c point, inertia float64) {
	const steps = 400
	out := solid{r: float64(s.Radius)}
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, v := range s.Vertices[:s.Count] {
		p := wide(v)
		out.v = append(out.v, p)
		lo, hi = point{min(lo.x, p.x), min(lo.y, p.y)}, point{max(hi.x, p.x), max(hi.y, p.y)}
	}
	size := max(hi.x-lo.x, hi.y-lo.y) + 2*out.r
	cell, second := size/steps, 0.0
	for i := range steps {
		for j := range steps {
			p := lo.add(point{(float64(i)+0.5)*cell - out.r, (float64(j)+0.5)*cell - out.r})
			if out.toPoint(p) <= 0 {
				area += cell * cell
				c = c.add(p.times(cell * cell))
				second += p.dot(p) * cell * cell
			}
		}
	}
	c = c.times(1 / area)
	return area, c, second - area*c.dot(c)
}

func TestMass(t *testing.T) {
	const seed = 8
	rng := rand.New(rand.NewPCG(seed, seed))
	shapes := []rigid.Shape{disc(0.5), box(0.5, 0.25, 0), box(0.5, 0.25, 0.125), capsule(rigid.Vec{X: -1}, rigid.Vec{X: 1, Y: 1}, 0.5)}
	for range 6 {
		shapes = append(shapes, randomHull(rng, 0), randomHull(rng, 0.3))
	}
	for i, s := range shapes {
		m := s.Mass()
		area, c, inertia := measured(&s)
		if math.Abs(float64(m.Area)/area-1) > 0.01 || !c.near(wide(m.Centroid), 2e-3) || math.Abs(float64(m.Inertia)/inertia-1) > 0.01 {
			t.Errorf("seed %d, shape %d: %+v, measured %g, %v, %g: %+v", seed, i, m, area, c, inertia, s)
		}
	}
}

func TestMassOfKnownShapes(t *testing.T) {
	const r, l = 0.5, 2.0
	stadium := math.Pi*r*r*(r*r/2+l*l/4) + 2*r*l*(l*l+4*r*r)/12 + 2*2*r*r*r/3*l // two half discs a distance away
	for name, c := range map[string]struct {
		shape         rigid.Shape
		area, inertia float64
	}{
		"disc":    {disc(r), math.Pi * r * r, math.Pi * r * r * r * r / 2},
		"box":     {box(1, 0.5, 0), 2, 2 * (4.0 + 1) / 12},
		"capsule": {capsule(rigid.Vec{X: -1}, rigid.Vec{X: 1}, r), math.Pi*r*r + 2*r*l, stadium},
		"rounded": {box(1, 0.5, 0.5), 2 + 3 + math.Pi/4, 0},
		"segment": {made(rigid.MakeSegment(rigid.Vec{X: -1}, rigid.Vec{X: 1})), 0, 0},
		"none":    {rigid.Shape{}, 0, 0},
	} {
		m := c.shape.Mass()
		if math.Abs(float64(m.Area)-c.area) > 1e-6 || c.inertia > 0 && math.Abs(float64(m.Inertia)-c.inertia) > 1e-6 ||
			!wide(m.Centroid).near(point{}, 1e-9) {
			t.Errorf("%s: %+v, want %g and %g", name, m, c.area, c.inertia)
		}
	}
}

// A thousand metres off, a shape weighs the same.
func TestMassOfMovedShapes(t *testing.T) {
	const seed = 9
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 200 {
		s := randomShape(rng)
		moved := s.Transformed(rigid.Vec{X: 1000, Y: -1000}, 0.6, 0.8)
		m, o := s.Mass(), moved.Mass()
		if math.Abs(float64(m.Area-o.Area)) > 1e-3 || math.Abs(float64(m.Inertia-o.Inertia)) > 1e-3 {
			t.Errorf("seed %d: %+v becomes %+v for %+v", seed, m, o, s)
		}
		c := wide(m.Centroid)
		if at := (point{0.6*c.x - 0.8*c.y + 1000, 0.8*c.x + 0.6*c.y - 1000}); !at.near(wide(o.Centroid), 1e-3) {
			t.Errorf("seed %d: centroid %v becomes %v", seed, c, o.Centroid)
		}
	}
}

func TestShapesHaveNormalsAndCentroids(t *testing.T) {
	const seed = 10
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 2000 {
		s := randomShape(rng)
		checkShape(t, &s)
	}
}

// checkShape checks what the comment of rigid.Shape promises.
func checkShape(t *testing.T, s *rigid.Shape) {
	t.Helper()
	out := solid{}
	size := 0.0
	for _, v := range s.Vertices[:s.Count] {
		out.v = append(out.v, wide(v))
		size = max(size, wide(v).length())
	}
	if d := out.toPoint(wide(s.Centroid)); d > 1e-6*size {
		t.Errorf("the centroid is %g outside: %+v", d, s)
	}
	if s.Count == 1 {
		return
	}
	for i := range out.v {
		if n := wide(s.Normals[i]); !n.near(out.normal(i), 1e-6+3e-7*size/out.v[(i+1)%len(out.v)].sub(out.v[i]).length()) {
			t.Errorf("normal %d is %v, not %v: %+v", i, n, out.normal(i), s)
		}
		for j := range out.v {
			if d := out.v[j].sub(out.v[i]).dot(out.normal(i)); d > 1e-7*size {
				t.Errorf("vertex %d is %g outside of edge %d: %+v", j, d, i, s)
			}
		}
	}
}

func TestConstructorsRefuse(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	v := func(xy ...float32) (out []rigid.Vec) {
		for i := 0; i < len(xy); i += 2 {
			out = append(out, rigid.Vec{X: xy[i], Y: xy[i+1]})
		}
		return out
	}
	polygon := func(radius float32, xy ...float32) error {
		_, err := rigid.MakePolygon(v(xy...), radius)
		return err
	}
	of := func(_ rigid.Shape, err error) error { return err }
	for name, c := range map[string]struct{ err, want error }{
		"NaN centre":        {of(rigid.MakeCircle(rigid.Vec{X: nan}, 1)), rigid.ErrNotFinite},
		"no radius":         {of(rigid.MakeCircle(rigid.Vec{}, 0)), rigid.ErrRange},
		"infinite radius":   {of(rigid.MakeCircle(rigid.Vec{}, inf)), rigid.ErrNotFinite},
		"far centre":        {of(rigid.MakeCircle(rigid.Vec{Y: -2 * rigid.MaxCoordinate}, 1)), rigid.ErrRange},
		"short capsule":     {of(rigid.MakeCapsule(rigid.Vec{}, rigid.Vec{X: 1e-4}, 1)), rigid.ErrRange},
		"thin capsule":      {of(rigid.MakeCapsule(rigid.Vec{}, rigid.Vec{X: 1}, 0)), rigid.ErrRange},
		"segment of a dot":  {of(rigid.MakeSegment(rigid.Vec{X: 1}, rigid.Vec{X: 1})), rigid.ErrRange},
		"NaN end":           {of(rigid.MakeSegment(rigid.Vec{X: 1}, rigid.Vec{X: nan})), rigid.ErrNotFinite},
		"flat box":          {of(rigid.MakeBox(1, 0, 0)), rigid.ErrRange},
		"NaN box":           {of(rigid.MakeBox(nan, 1, 0)), rigid.ErrNotFinite},
		"negative box":      {of(rigid.MakeBox(1, -1, 0)), rigid.ErrRange},
		"huge box":          {of(rigid.MakeBox(1, 1e30, 0)), rigid.ErrRange},
		"negative radius":   {polygon(-1, 0, 0, 1, 0, 0, 1), rigid.ErrRange},
		"two corners":       {polygon(0, 0, 0, 1, 0), rigid.ErrRange},
		"nine corners":      {polygon(0, make([]float32, 18)...), rigid.ErrRange},
		"clockwise":         {polygon(0, 0, 0, 0, 1, 1, 0), rigid.ErrRange},
		"on a line":         {polygon(0, 0, 0, 1, 0, 2, 0), rigid.ErrRange},
		"corner on a side":  {polygon(0, 0, 0, 1, 0, 2, 0, 1, 1), rigid.ErrRange},
		"notch":             {polygon(0, 0, 0, 2, 0, 1, 0.5, 2, 2), rigid.ErrRange},
		"twice round":       {polygon(0, 0, 1, -0.6, -0.8, 0.95, 0.3, -0.95, 0.3, 0.6, -0.8), rigid.ErrRange},
		"corner twice":      {polygon(0, 0, 0, 1, 0, 1, 0, 0, 1), rigid.ErrRange},
		"infinite corner":   {polygon(0, 0, 0, inf, 0, 0, 1), rigid.ErrNotFinite},
		"a good triangle":   {polygon(0, 0, 0, 1, 0, 0, 1), nil},
		"the thinnest box":  {of(rigid.MakeBox(1, rigid.LinearSlop, 0)), nil},
		"the largest box":   {of(rigid.MakeBox(rigid.MaxCoordinate, rigid.MaxCoordinate, 0)), nil},
		"a rounded segment": {of(rigid.MakeCapsule(rigid.Vec{}, rigid.Vec{X: rigid.LinearSlop}, 1)), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

func FuzzMakePolygon(f *testing.F) {
	f.Add(float32(0), float32(0), float32(1), float32(0), float32(1), float32(1), float32(0), float32(1), float32(0))
	f.Add(float32(0), float32(0), float32(1), float32(0), float32(1), float32(1), float32(1), float32(1.001), float32(0.1))
	f.Fuzz(func(t *testing.T, ax, ay, bx, by, cx, cy, dx, dy, radius float32) {
		corners := []rigid.Vec{{X: ax, Y: ay}, {X: bx, Y: by}, {X: cx, Y: cy}, {X: dx, Y: dy}}
		for n := 3; n <= 4; n++ {
			s, err := rigid.MakePolygon(corners[:n], radius)
			if err != nil {
				continue
			}
			checkShape(t, &s)
			if m := s.Mass(); !(m.Area > 0) || !(m.Inertia > 0) {
				t.Errorf("%+v has %+v", s, m)
			}
		}
	})
}
