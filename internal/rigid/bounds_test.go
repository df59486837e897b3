package rigid_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

var inf = float32(math.Inf(1))

// boundsCase is what Bounds takes.
type boundsCase struct {
	shapes []rigid.Shape
	bodyOf []uint32
	poses  rigid.Poses
	margin float32
}

func newBoundsCase(run *paritytest.Run, n int) *boundsCase {
	bodies := 1 + run.IntN(n+1)
	c := &boundsCase{margin: []float32{0, rigid.SpeculativeDistance, 1, -0.1, run.Float(paritytest.AnyBits)}[run.IntN(5)]}
	columns := []*[]float32{&c.poses.X, &c.poses.Y, &c.poses.Cos, &c.poses.Sin}
	for i, column := range columns {
		*column = make([]float32, bodies)
		if run.Fill(*column, paritytest.Uniform, paritytest.Zero); i >= 2 {
			for k := range *column {
				(*column)[k] = float32(run.IntN(3) - 1)
			}
		}
	}
	wild := run.IntN(3) == 0
	for range n {
		c.bodyOf = append(c.bodyOf, run.Uint32N(uint32(bodies)))
		s := rigid.Shape{Count: run.Uint32N(rigid.MaxVertices + 1), Radius: run.Float32()}
		for i := range s.Vertices { // those beyond Count must not matter
			class := paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))]
			if uint32(i) < s.Count && !(wild && run.IntN(8) == 0) {
				class = []paritytest.Class{paritytest.Uniform, paritytest.Uniform, paritytest.Zero}[run.IntN(3)]
			}
			s.Vertices[i] = rigid.Vec{X: run.Float(class), Y: run.Float(class)}
		}
		if run.IntN(8) == 0 {
			s.Radius = []float32{0, float32(math.Copysign(0, -1)), inf, float32(math.NaN()), math.MaxFloat32}[run.IntN(5)]
		}
		c.shapes = append(c.shapes, s)
	}
	if wild {
		for range 1 + run.IntN(3) {
			(*columns[run.IntN(4)])[run.IntN(bodies)] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		}
	}
	return c
}

// wantBox computes a box in the words of the documentation.
func (c *boundsCase) wantBox(i int) [4]float32 {
	s, p := &c.shapes[i], c.bodyOf[i]
	var xs, ys []float32
	for _, v := range s.Vertices[:s.Count] {
		cos, sin := c.poses.Cos[p], c.poses.Sin[p]
		xs = append(xs, (float32(cos*v.X)-float32(sin*v.Y))+c.poses.X[p])
		ys = append(ys, (float32(sin*v.X)+float32(cos*v.Y))+c.poses.Y[p])
	}
	dead := [4]float32{inf, inf, -inf, -inf}
	finite := func(v float32) bool { return v-v == 0 }
	if s.Count == 0 || slices.ContainsFunc(append(slices.Clone(xs), ys...), func(v float32) bool { return !finite(v) }) {
		return dead
	}
	r := s.Radius + c.margin
	box := [4]float32{slices.Min(xs) - r, slices.Min(ys) - r, slices.Max(xs) + r, slices.Max(ys) + r}
	for i, v := range box {
		if !finite(v) {
			return dead
		}
		if v == 0 {
			box[i] = 0
		}
	}
	return box
}

func TestParityBounds(t *testing.T) {
	run := paritytest.Start(t, "Bounds")
	const most = 40
	buffers := map[string]*paritytest.Buffer[float32]{}
	for _, name := range []string{"minX", "minY", "maxX", "maxY", "x", "y", "cos", "sin"} {
		buffers[name] = paritytest.NewBuffer[float32](t, most+1)
	}
	bodies := paritytest.NewBuffer[uint32](t, most)
	for range paritytest.Rounds(300) {
		n := run.IntN(most + 1)
		c := newBoundsCase(run, n)
		var want [4][]float32
		for i := range n {
			for k, v := range c.wantBox(i) {
				want[k] = append(want[k], v)
			}
		}
		for _, level := range native.Levels() {
			for _, side := range paritytest.Sides {
				run.Case(level)
				gap := run.IntN(paritytest.MaxGap + 1)
				place := func(name string) []float32 { return buffers[name].Place(n, side, gap) }
				put := func(name string, v []float32) []float32 { return buffers[name].PlaceCopy(v, side, gap) }
				out := broad.Boxes{MinX: place("minX"), MinY: place("minY"), MaxX: place("maxX"), MaxY: place("maxY")}
				poses := rigid.Poses{X: put("x", c.poses.X), Y: put("y", c.poses.Y), Cos: put("cos", c.poses.Cos), Sin: put("sin", c.poses.Sin)}
				rigid.Bounds(level, c.shapes, bodies.PlaceCopy(c.bodyOf, side, gap), &poses, c.margin, &out)
				run.Check(paritytest.Bits("MinX", out.MinX, want[0]), paritytest.Bits("MinY", out.MinY, want[1]),
					paritytest.Bits("MaxX", out.MaxX, want[2]), paritytest.Bits("MaxY", out.MaxY, want[3]), bodies.Check())
				for _, b := range []string{"minX", "minY", "maxX", "maxY", "x", "y", "cos", "sin"} {
					run.Check(buffers[b].Check())
				}
			}
		}
	}
}

func TestBoundsMisuse(t *testing.T) {
	const n = 6
	for _, c := range []struct {
		want string
		do   func(shapes []rigid.Shape, bodyOf []uint32, poses *rigid.Poses, out *broad.Boxes)
	}{
		{"rigid: Bounds: shapes, bodyOf and out differ in length", func(_ []rigid.Shape, _ []uint32, _ *rigid.Poses, out *broad.Boxes) {
			*out = newBoxes(n - 1)
		}},
		{"broad: columns of Boxes differ in length", func(_ []rigid.Shape, _ []uint32, _ *rigid.Poses, out *broad.Boxes) { out.MaxY = out.MaxY[1:] }},
		{"rigid: columns of Poses differ in length", func(_ []rigid.Shape, _ []uint32, p *rigid.Poses, _ *broad.Boxes) { p.Sin = p.Sin[1:] }},
		{"rigid: Bounds: a shape has no pose, or too many vertices", func(s []rigid.Shape, b []uint32, _ *rigid.Poses, _ *broad.Boxes) {
			s[n-1].Count, b[n-1] = 1, 3
		}},
		{"rigid: Bounds: a shape has no pose, or too many vertices", func(s []rigid.Shape, _ []uint32, _ *rigid.Poses, _ *broad.Boxes) { s[0].Count = 9 }},
		{"", func(s []rigid.Shape, b []uint32, _ *rigid.Poses, _ *broad.Boxes) { b[n-1] = 3 }}, // of a dead shape
	} {
		for _, level := range native.Levels() {
			shapes, bodyOf, out := make([]rigid.Shape, n), make([]uint32, n), newBoxes(n)
			poses := rigid.Poses{X: make([]float32, 3), Y: make([]float32, 3), Cos: make([]float32, 3), Sin: make([]float32, 3)}
			c.do(shapes, bodyOf, &poses, &out)
			panics(t, c.want, func() { rigid.Bounds(level, shapes, bodyOf, &poses, 0, &out) })
		}
	}
	panics(t, "rigid: the level cannot run here; see native.Resolve", func() {
		rigid.Bounds(200, nil, nil, &rigid.Poses{}, 0, &broad.Boxes{})
	})
}

// panics runs do, which is to panic with a message, or not at all if it is empty.
func panics(t *testing.T, want string, do func()) {
	t.Helper()
	defer func() {
		if got := recover(); got != nil && got != want || got == nil && want != "" {
			t.Errorf("got panic %v, want %q", got, want)
		}
	}()
	do()
}

func newBoxes(n int) broad.Boxes {
	return broad.Boxes{MinX: make([]float32, n), MinY: make([]float32, n), MaxX: make([]float32, n), MaxY: make([]float32, n)}
}
