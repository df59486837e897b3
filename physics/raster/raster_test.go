package raster_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/raster"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func canvas(t testing.TB, width, height int) *raster.Canvas {
	t.Helper()
	c, err := raster.New(width, height)
	must(t, err)
	return c
}

func sum(c *raster.Canvas) uint64 {
	h := fnv.New64a()
	h.Write(c.Image().Pix)
	return h.Sum64()
}

// distance returns the distance of a point to the edge of a convex polygon, counter-clockwise, negative inside.
func distance(x, y float64, vertices [][2]float32) float64 {
	best, inside := math.Inf(1), len(vertices) > 2
	for i, p := range vertices {
		q := vertices[(i+1)%len(vertices)]
		px, py := float64(p[0]), float64(p[1])
		dx, dy := float64(q[0])-px, float64(q[1])-py
		along := 0.0
		if l2 := dx*dx + dy*dy; l2 > 0 {
			along = min(max(((x-px)*dx+(y-py)*dy)/l2, 0), 1)
		}
		best = min(best, math.Hypot(x-px-along*dx, y-py-along*dy))
		if dx*(y-py)-dy*(x-px) < 0 {
			inside = false
		}
	}
	if inside {
		return -best
	}
	return best
}

// model is a picture in which every sample of every pixel asks every element whether it is in it. Pixels with a sample
// that rounding may put on either side of an edge are in doubt.
type model struct {
	width, height int
	view          physics.DrawnBox
	pix           []float64 // three numbers a pixel
	doubt         []bool
}

// draw draws what is within radius metres of a polygon: its fill and its outline, or the outline alone, as of a line.
func (m *model) draw(vertices [][2]float32, radius float64, color physics.Color, filled bool) {
	w, h := float64(m.view.Max[0])-float64(m.view.Min[0]), float64(m.view.Max[1])-float64(m.view.Min[1])
	metres := max(w/float64(m.width), h/float64(m.height)) // of a pixel
	cx, cy := (float64(m.view.Max[0])+float64(m.view.Min[0]))/2, (float64(m.view.Max[1])+float64(m.view.Min[1]))/2
	for i := range m.doubt {
		fill, line := 0, 0
		for k := range 16 {
			x := cx + (float64(i%m.width)+(float64(k%4)+0.5)/4-float64(m.width)/2)*metres
			y := cy - (float64(i/m.width)+(float64(k/4)+0.5)/4-float64(m.height)/2)*metres
			d := (distance(x, y, vertices) - radius) / metres
			if d <= 0 && filled {
				fill++
			}
			if math.Abs(d) <= 0.75 {
				line++
			}
			if math.Abs(d) < 1e-6 || math.Abs(math.Abs(d)-0.75) < 1e-6 {
				m.doubt[i] = true
			}
		}
		for _, parts := range []float64{float64(fill) * 128, float64(line) * 255} {
			for k := range 3 {
				new := float64(color >> (16 - 8*k) & 255)
				p := &m.pix[3*i+k]
				*p = math.Floor((*p*(4080-parts)+new*parts)/4080 + 0.5)
			}
		}
	}
}

func (m *model) compare(t *testing.T, c *raster.Canvas, seed int64, d *physics.Drawing) (doubts int) {
	t.Helper()
	for i := range m.doubt {
		if m.doubt[i] {
			doubts++
			continue
		}
		got := c.Image().Pix[4*i : 4*i+4]
		for k := range 3 {
			if float64(got[k]) != m.pix[3*i+k] || got[3] != 255 {
				t.Fatalf("seed %d, %+v in %v: pixel (%d, %d) is %v, want %v", seed, d, m.view, i%m.width, i/m.width, got, m.pix[3*i:3*i+3])
			}
		}
	}
	return doubts
}

// hull returns some convex polygon around a point, counter-clockwise.
func hull(r *rand.Rand, n int, at [2]float32, size float64) (vertices [][2]float32) {
	turn := r.Float64() * 2 * math.Pi
	for i := range n {
		angle := turn + 2*math.Pi*float64(i)/float64(n)
		vertices = append(vertices, [2]float32{at[0] + float32(size*math.Cos(angle)), at[1] + float32(size*0.6*math.Sin(angle))})
	}
	return vertices
}

// Every pixel has the colour that its samples say, for shapes of all kinds and sizes, in and beyond views of all sizes.
func TestSamples(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	seed := int64(paritytest.Seed())
	r := rand.New(rand.NewSource(seed))
	pixels, doubts := 0, 0
	for range rounds {
		width, height := 1+r.Intn(40), 1+r.Intn(30)
		span := math.Exp(r.Float64()*12 - 6)
		view := physics.DrawnBox{Min: [2]float32{float32(r.NormFloat64()), float32(r.NormFloat64())}}
		view.Max = [2]float32{view.Min[0] + float32(span), view.Min[1] + float32(span*(0.3+r.Float64()))}
		m := &model{width: width, height: height, view: view, pix: make([]float64, 3*width*height), doubt: make([]bool, width*height)}
		var d physics.Drawing
		somewhere := func() [2]float32 {
			return [2]float32{view.Min[0] + float32(span*(1.4*r.Float64()-0.2)), view.Min[1] + float32(span*(1.4*r.Float64()-0.2))}
		}
		color := physics.Color(r.Intn(1 << 24))
		size := span * math.Exp(r.Float64()*6-4)
		radius := float32(0)
		if r.Intn(2) == 0 {
			radius = float32(size * r.Float64())
		}
		switch n := r.Intn(7); n {
		case 0:
			a, b := somewhere(), somewhere()
			d.Lines = append(d.Lines, physics.DrawnLine{P1: a, P2: b, Color: color})
			m.draw([][2]float32{a, b}, 0, color, false)
		case 1:
			at := somewhere()
			d.AddCircle(physics.DrawnCircle{Center: at, Radius: radius, Color: color}, true)
			m.draw([][2]float32{at}, float64(radius), color, true)
		default:
			vertices := hull(r, n, somewhere(), size)
			d.AddPolygon(vertices, radius, color, false)
			m.draw(vertices, float64(radius), color, true)
		}
		c := canvas(t, width, height)
		must(t, c.Draw(&d, view))
		pixels, doubts = pixels+width*height, doubts+m.compare(t, c, seed, &d)
	}
	if doubts*50 > pixels {
		t.Errorf("seed %d: %d of %d pixels are in doubt", seed, doubts, pixels)
	}
}

// shapes is a drawing with each kind of element.
func shapes() *physics.Drawing {
	var d physics.Drawing
	d.AddCircle(physics.DrawnCircle{Center: [2]float32{-3, 1.5}, Radius: 0.8, Axis: [2]float32{0.6, 0.8}, Color: physics.ColorDynamic}, true)
	d.AddPolygon([][2]float32{{-1.4, 1}, {0.4, 2}}, 0.4, physics.ColorBullet, true) // a capsule
	d.AddPolygon([][2]float32{{1.6, 1}, {3, 2}}, 0, physics.ColorKinematic, true)   // a segment
	d.AddPolygon([][2]float32{{-3.6, -1.6}, {-2.2, -2}, {-1.8, -0.6}, {-3.2, -0.2}}, 0, physics.ColorAsleep, true)
	d.AddPolygon([][2]float32{{-0.6, -1.6}, {0.6, -1.6}, {0, -0.6}}, 0.25, physics.ColorSensor, true)
	d.AddPolygon([][2]float32{{-90, -3}, {90, -3}, {90, -2.4}, {-90, -2.4}}, 0, physics.ColorStatic, false) // beyond the view
	d.Lines = append(d.Lines, physics.DrawnLine{P1: [2]float32{1.5, -1.8}, P2: [2]float32{3.5, -0.4}, Color: physics.ColorJoint})
	return &d
}

// The bytes are the same on every machine, in every build.
func TestGoldenPictures(t *testing.T) {
	s, err := scenes.New("ragdolls", 3, 1, physics.Config{})
	must(t, err)
	for range 60 {
		must(t, s.Step())
	}
	var world physics.Drawing
	must(t, s.World.AppendDraw(&world, physics.DrawOptions{Joints: true, Contacts: true, Centers: true, Velocities: true, Boxes: true}))
	for _, p := range []struct {
		name string
		d    *physics.Drawing
		want uint64
	}{
		{"shapes", shapes(), 0x059ab19f10e400b7},
		{"ragdolls", &world, 0x3a7a1efffc97d385},
	} {
		c := canvas(t, 400, 300)
		c.Clear(0xffffff)
		must(t, c.Draw(p.d, physics.DrawnBox{}))
		keep(t, p.name, c)
		if got := sum(c); got != p.want {
			t.Errorf("%s: %#016x, want %#016x", p.name, got, p.want)
		}
	}
}

// The view is in the middle, as large as fits, with y up; what is drawn later is above.
func TestView(t *testing.T) {
	c := canvas(t, 40, 20)
	var d physics.Drawing
	d.AddPolygon([][2]float32{{0, 0}, {1, 0}, {1, 1}, {0, 1}}, 0, 0xff0000, true)
	must(t, c.Draw(&d, physics.DrawnBox{Min: [2]float32{0, 0}, Max: [2]float32{2, 2}})) // ten pixels a metre
	at := func(x, y int) string { return fmt.Sprintf("%x", c.Image().Pix[c.Image().PixOffset(x, y):][:4]) }
	for _, p := range []struct {
		x, y int
		want string
	}{{9, 15, "bf0000ff"}, {10, 15, "df0000ff"}, {15, 15, "800000ff"}, {19, 15, "df0000ff"}, {15, 9, "bf0000ff"}, {15, 8, "000000ff"}, {25, 15, "000000ff"}} {
		if got := at(p.x, p.y); got != p.want {
			t.Errorf("pixel (%d, %d) is %s, want %s", p.x, p.y, got, p.want)
		}
	}
	rgb := c.AppendRGB(nil)
	if len(rgb) != 40*20*3 || fmt.Sprintf("%x", rgb[3*(15*40+15):][:3]) != "800000" {
		t.Errorf("%d bytes, %x", len(rgb), rgb[3*(15*40+15):][:3])
	}
}

func TestRefused(t *testing.T) {
	for _, size := range [][2]int{{0, 1}, {1, 0}, {-1, 5}, {5, raster.MaxSize + 1}} {
		if _, err := raster.New(size[0], size[1]); !errors.Is(err, physics.ErrRange) {
			t.Errorf("%v: %v", size, err)
		}
	}
	c := canvas(t, 8, 8)
	before := sum(c)
	for view, want := range map[physics.DrawnBox]error{
		{Max: [2]float32{1, 0}}:                                                  physics.ErrRange,
		{Min: [2]float32{-3e38, 0}, Max: [2]float32{3e38, 1}}:                    physics.ErrRange,
		{Max: [2]float32{1, float32(math.Inf(1))}}:                               physics.ErrNotFinite,
		{Min: [2]float32{2, 2}, Max: [2]float32{1, 1}}:                           physics.ErrRange,
		{Min: [2]float32{float32(math.Inf(-1)), 2}, Max: [2]float32{1, 1}}:       physics.ErrNotFinite,
		{Min: [2]float32{1e8, 0}, Max: [2]float32{math.Nextafter32(1e8, 0), 10}}: physics.ErrRange,
	} {
		if err := c.Draw(shapes(), view); !errors.Is(err, want) || sum(c) != before {
			t.Errorf("%v: %v, want %v", view, err, want)
		}
	}
}

// What is nowhere is left out, and what is partly far beyond the picture is cut off.
func TestFarAndNowhere(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	view := physics.DrawnBox{Min: [2]float32{-1, -1}, Max: [2]float32{1, 1}}
	c := canvas(t, 16, 16)
	before := sum(c)
	must(t, c.Draw(&physics.Drawing{
		Lines:    []physics.DrawnLine{{P1: [2]float32{nan, 0}, Color: 255}, {P2: [2]float32{0, inf}, Color: 255}},
		Circles:  []physics.DrawnCircle{{Radius: inf, Color: 255}, {Radius: nan, Color: 255}, {Radius: -1, Color: 255}, {Center: [2]float32{0, -inf}, Radius: 1, Color: 255}},
		Points:   [][2]float32{{0, 0}, {inf, 0}, {0, 1}},
		Polygons: []physics.DrawnPolygon{{Count: 3, Color: 255}, {}, {First: 2, Count: 1, Radius: nan, Color: 255}},
	}, view))
	if sum(c) != before {
		t.Error("elements that are nowhere were drawn")
	}
	must(t, c.Draw(&physics.Drawing{Lines: []physics.DrawnLine{{P1: [2]float32{-3e38, 0}, P2: [2]float32{3e38, 0}, Color: 0xffffff}}}, view))
	lit := 0
	for i := 0; i < len(c.Image().Pix); i += 4 {
		if c.Image().Pix[i] > 0 {
			lit++
		}
	}
	if lit != 32 {
		t.Errorf("a line from edge to edge, between two rows, lights %d pixels", lit)
	}
	must(t, c.Draw(&physics.Drawing{Circles: []physics.DrawnCircle{{Center: [2]float32{0, -3e38}, Radius: 3e38, Color: 0xffffff}}}, view))
}

// Any numbers are drawn or left out.
func FuzzDraw(f *testing.F) {
	f.Add(float32(0), float32(0), float32(1), float32(1), float32(0.5), float32(-1), float32(1), uint8(3))
	f.Add(float32(3e38), float32(-3e38), float32(1e-45), float32(1), float32(3e38), float32(0), float32(1e-45), uint8(2))
	f.Add(float32(math.NaN()), float32(math.Inf(1)), float32(1), float32(1), float32(0), float32(-1), float32(3e38), uint8(1))
	f.Fuzz(func(t *testing.T, x0, y0, x1, y1, radius, low, high float32, count uint8) {
		c := canvas(t, 9, 7)
		points := [][2]float32{{x0, y0}, {x1, y1}, {y0, x1}, {radius, low}, {high, x0}}
		d := physics.Drawing{
			Points:   points,
			Polygons: []physics.DrawnPolygon{{Count: int(count % 6), Radius: radius, Color: 0x112233}},
			Circles:  []physics.DrawnCircle{{Center: points[0], Radius: radius, Axis: points[1], Color: 0xffffff}},
			Lines:    []physics.DrawnLine{{P1: points[1], P2: points[2], Color: 0xff0000}},
		}
		view := physics.DrawnBox{Min: [2]float32{low, low}, Max: [2]float32{high, high}}
		first := c.Draw(&d, view)
		again := canvas(t, 9, 7)
		if err := again.Draw(&d, view); (err == nil) != (first == nil) || sum(again) != sum(c) {
			t.Errorf("drawn twice: %v and %v, %x and %x", first, err, sum(c), sum(again))
		}
		must(t, c.Draw(&physics.Drawing{}, physics.DrawnBox{}))
	})
}

func TestDrawingAllocatesNothing(t *testing.T) {
	c, d := canvas(t, 100, 80), shapes()
	var rgb []byte
	if n := testing.AllocsPerRun(10, func() {
		c.Clear(0xffffff)
		must(t, c.Draw(d, physics.DrawnBox{}))
		rgb = c.AppendRGB(rgb[:0])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDraw(b *testing.B) {
	c, d := canvas(b, 600, 400), shapes()
	for b.Loop() {
		c.Clear(0xffffff)
		must(b, c.Draw(d, physics.DrawnBox{}))
	}
}
