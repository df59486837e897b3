package svg_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
	"github.com/evertick/evertick/physics/svg"
)

var update = flag.Bool("update", false, "write the pictures of docs/images anew")

// pictures are the pictures of docs.
var pictures = []struct {
	name string
	make func(t *testing.T) *physics.World
	o    svg.Options
}{
	{"stack.svg", stack, svg.Options{
		Title: "Boxes, a capsule and discs at rest on a floor, with what their contacts carry",
		Draw:  physics.DrawOptions{Contacts: true, Impulses: true, Size: 0.16, ImpulseScale: 10},
		Width: 640,
	}},
	{"hits.svg", hits, svg.Options{
		Title: "A ball has hit a row of dominoes; velocities and indices of the bodies",
		Draw:  physics.DrawOptions{Velocities: true, Indices: true, VelocityScale: 0.2},
		Width: 640,
	}},
	{"bridge.svg", bridge, svg.Options{
		Title: "A bridge of planks and its joints, with discs on it",
		Draw:  physics.DrawOptions{Joints: true},
		Width: 640,
	}},
}

// The pictures of docs equal those that the code draws; -update writes them.
func TestPictures(t *testing.T) {
	for _, p := range pictures {
		path := filepath.Join("..", "..", "docs", "images", p.name)
		got := write(t, p.make(t), p.o)
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: go test ./physics/svg -run TestPictures -update", path)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, w *physics.World, o svg.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, svg.Write(&out, w, o))
	return out.Bytes()
}

func world(t testing.TB) *physics.World {
	t.Helper()
	w, err := physics.New(physics.Config{Capacity: 256, Gravity: [2]float32{0, -10}, DisableSleep: true})
	must(t, err)
	return w
}

func body(t testing.TB, w *physics.World, kind physics.BodyType, x, y float32) physics.Body {
	t.Helper()
	d := physics.DefaultBodyDef()
	d.Type, d.Position = kind, [2]float32{x, y}
	b, err := w.CreateBody(d)
	must(t, err)
	return b
}

func box(t testing.TB, w *physics.World, b physics.Body, hx, hy float32) {
	t.Helper()
	_, err := w.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(hx, hy))
	must(t, err)
}

func disc(t testing.TB, w *physics.World, b physics.Body, radius float32) {
	t.Helper()
	_, err := w.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: radius})
	must(t, err)
}

func steps(t testing.TB, w *physics.World, n int) {
	t.Helper()
	for range n {
		must(t, w.Step(1./60))
	}
}

func stack(t *testing.T) *physics.World {
	w := world(t)
	box(t, w, body(t, w, physics.StaticBody, 0, -0.25), 20, 0.25)
	for row := range 4 {
		for i := range 4 - row {
			box(t, w, body(t, w, physics.DynamicBody, float32(i)-1.5+0.5*float32(row), 0.5+float32(row)), 0.48, 0.5)
		}
	}
	disc(t, w, body(t, w, physics.DynamicBody, 3.2, 0.6), 0.6)
	disc(t, w, body(t, w, physics.DynamicBody, -3.2, 0.4), 0.4)
	roof := body(t, w, physics.DynamicBody, 0, 4.5)
	_, err := w.CreateCapsule(roof, physics.DefaultShapeDef(),
		physics.Capsule{P1: [2]float32{-0.6, 0}, P2: [2]float32{0.6, 0}, Radius: 0.25})
	must(t, err)
	steps(t, w, 240)
	return w
}

func hits(t *testing.T) *physics.World {
	w := world(t)
	box(t, w, body(t, w, physics.StaticBody, 0, -0.25), 20, 0.25)
	for i := range 8 {
		box(t, w, body(t, w, physics.DynamicBody, 0.6*float32(i), 0.6), 0.1, 0.6)
	}
	ball := body(t, w, physics.DynamicBody, -2, 1)
	disc(t, w, ball, 0.3)
	must(t, w.SetVelocity(ball, [2]float32{8, 1}, 0))
	steps(t, w, 45)
	return w
}

func bridge(t *testing.T) *physics.World {
	s, err := scenes.New("bridge", 14, 1, physics.Config{})
	must(t, err)
	for range 200 {
		must(t, s.Step())
	}
	return s.World
}

// check reads all of a picture and counts its elements.
func check(t *testing.T, picture []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return count
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s of %s is %s", a.Name.Local, e.Name.Local, a.Value)
				}
			}
		}
	}
}

func TestEverythingIsWritten(t *testing.T) {
	w := stack(t)
	all := physics.DrawOptions{Boxes: true, Contacts: true, Centers: true, Velocities: true, Indices: true}
	var d physics.Drawing
	must(t, w.AppendDraw(&d, all))
	got := check(t, write(t, w, svg.Options{Draw: all, Title: `"<a> & b]]>`}))
	axes := 0
	for _, c := range d.Circles {
		if c.Axis != [2]float32{} {
			axes++
		}
	}
	if got["svg"] != 1 || got["title"] != 1 || got["path"] != len(d.Polygons) || got["circle"] != len(d.Circles) ||
		got["line"] != len(d.Lines)+axes || got["text"] != len(d.Labels) {
		t.Errorf("elements: %v", got)
	}
}

func encode(t *testing.T, d *physics.Drawing, o svg.Options) string {
	t.Helper()
	var out bytes.Buffer
	must(t, svg.Encode(&out, d, o))
	check(t, out.Bytes())
	return out.String()
}

func TestUpIsUp(t *testing.T) {
	d := physics.Drawing{Lines: []physics.DrawnLine{{P1: [2]float32{1, 2}, P2: [2]float32{3, -4}, Color: 0x0012ef}}}
	got := encode(t, &d, svg.Options{View: physics.DrawnBox{Min: [2]float32{0, -5}, Max: [2]float32{10, 15}}, Width: 100})
	for _, want := range []string{
		`viewBox="0 0 100 200"`, `width="100" height="200"`, `<line x1="10" y1="130" x2="30" y2="190" stroke="#0012ef"/>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// A capsule goes along both sides and around both ends; arcs to the left, with y up, are
// those of sweep flag 0.
func TestRoundedPaths(t *testing.T) {
	d := physics.Drawing{
		Points:   [][2]float32{{-1, 0}, {1, 0}},
		Polygons: []physics.DrawnPolygon{{Count: 2, Radius: 0.5}},
	}
	o := svg.Options{View: physics.DrawnBox{Min: [2]float32{-2, -2}, Max: [2]float32{2, 2}}, Width: 400}
	const want = `d="M100 250L300 250A50 50 0 0 0 300 150L100 150A50 50 0 0 0 100 250Z"`
	if got := encode(t, &d, o); !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
	d.Polygons[0].Radius = 0
	if got := encode(t, &d, o); !strings.Contains(got, `d="M100 200L300 200Z"`) {
		t.Errorf("a segment is\n%s", got)
	}
}

func TestWhatIsNowhereIsLeftOut(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	d := physics.Drawing{
		Lines:    []physics.DrawnLine{{P1: [2]float32{nan, 0}}},
		Circles:  []physics.DrawnCircle{{Radius: inf}},
		Points:   [][2]float32{{0, 0}, {inf, 0}, {0, 1}},
		Polygons: []physics.DrawnPolygon{{Count: 3}},
		Labels:   []physics.DrawnLabel{{At: [2]float32{0, nan}}},
		Focus:    physics.DrawnBox{Min: [2]float32{-3e38, 0}, Max: [2]float32{3e38, inf}},
	}
	if got := encode(t, &d, svg.Options{}); strings.Count(got, "/>") != 0 {
		t.Errorf("written:\n%s", got)
	}
}

// The view of static bodies ends where that of moving bodies ends.
func TestViewIsThatOfWhatMoves(t *testing.T) {
	w := world(t)
	if got := check(t, write(t, w, svg.Options{})); got["svg"] != 1 {
		t.Error("an empty world has no picture")
	}
	box(t, w, body(t, w, physics.StaticBody, 0, -1), 500, 1)
	if got := write(t, w, svg.Options{}); !bytes.Contains(got, []byte(`d="M36.36 37.82L`)) {
		t.Errorf("a floor alone:\n%s", got)
	}
	disc(t, w, body(t, w, physics.DynamicBody, 0, 10), 1)
	if got := write(t, w, svg.Options{}); !bytes.Contains(got, []byte(`<circle cx="400" cy="400" r="363.64"`)) {
		t.Errorf("a ball above a floor:\n%s", got)
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestRefused(t *testing.T) {
	w := world(t)
	for _, c := range []struct {
		o    svg.Options
		want error
	}{
		{svg.Options{Width: -1}, physics.ErrRange},
		{svg.Options{Width: svg.MaxWidth + 1}, physics.ErrRange},
		{svg.Options{View: physics.DrawnBox{Max: [2]float32{1, 0}}}, physics.ErrRange},
		{svg.Options{View: physics.DrawnBox{Max: [2]float32{1, float32(math.NaN())}}}, physics.ErrNotFinite},
		{svg.Options{Draw: physics.DrawOptions{Size: -1}}, physics.ErrRange},
	} {
		var out bytes.Buffer
		if err := svg.Write(&out, w, c.o); !errors.Is(err, c.want) || out.Len() > 0 {
			t.Errorf("%+v: %v, and %d bytes", c.o, err, out.Len())
		}
	}
	if err := svg.Write(full{}, w, svg.Options{}); !errors.Is(err, errFull) {
		t.Errorf("to where nothing can be written: %v", err)
	}
	other, err := box2d.New(physics.Config{})
	must(t, err)
	if err := svg.Write(io.Discard, other, svg.Options{}); !errors.Is(err, physics.ErrUnsupported) {
		t.Errorf("another engine: %v", err)
	}
}
