package physics_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/physics"
)

func rect(x0, y0, x1, y1 float32) physics.DrawnBox {
	return physics.DrawnBox{Min: [2]float32{x0, y0}, Max: [2]float32{x1, y1}}
}

// solidAt reports whether outlines are solid at a point on none of their edges: how often an upward ray meets a horizontal edge, by
// direction.
func solidAt(outlines [][][2]float32, x, y float32) int {
	winding := 0
	for _, points := range outlines {
		for i, p := range points {
			q := points[(i+1)%len(points)]
			switch {
			case p[1] != q[1] || p[1] < y:
			case q[0] < x && x < p[0]:
				winding++
			case p[0] < x && x < q[0]:
				winding--
			}
		}
	}
	return winding
}

func inBoxes(boxes []physics.DrawnBox, x, y float32) bool {
	return slices.ContainsFunc(boxes, func(b physics.DrawnBox) bool {
		return b.Min[0] < x && x < b.Max[0] && b.Min[1] < y && y < b.Max[1]
	})
}

// checkOutlines compares outlines with the boxes, whose coordinates are equal or apart: between all lines of the boxes the outlines
// are solid where a box is; between solid and free cells there is exactly one edge, with the solid to its left, and
// no edge elsewhere.
func checkOutlines(t *testing.T, boxes []physics.DrawnBox, outlines [][][2]float32) {
	t.Helper()
	var lines [2][]float32
	for axis := range 2 {
		for _, b := range boxes {
			lines[axis] = append(lines[axis], b.Min[axis], b.Max[axis])
		}
		slices.Sort(lines[axis])
		lines[axis] = slices.Compact(lines[axis])
	}
	type unit struct{ axis, line, cell int } // an edge of a cell of the grid: along an axis, on a line across it
	found := map[unit]int{}
	for k, points := range outlines {
		for i, p := range points {
			q, r := points[(i+1)%len(points)], points[(i+2)%len(points)]
			axis := 0
			if p[0] == q[0] {
				axis = 1
			}
			if p[1-axis] != q[1-axis] || p == q || q[axis] != r[axis] {
				t.Fatalf("boxes %v: outline %d is %v: points %d to %d are no corner", boxes, k, points, i, i+2)
			}
			if d := q[axis] - p[axis]; max(d, -d) < rigid.LinearSlop {
				t.Fatalf("boxes %v: outline %d is %v: points %d and %d are %g apart", boxes, k, points, i, i+1, d)
			}
			line, ok := slices.BinarySearch(lines[1-axis], p[1-axis])
			from, ok1 := slices.BinarySearch(lines[axis], min(p[axis], q[axis]))
			to, ok2 := slices.BinarySearch(lines[axis], max(p[axis], q[axis]))
			if !ok || !ok1 || !ok2 {
				t.Fatalf("boxes %v: outline %d is %v: edge %d is no part of a side of boxes", boxes, k, points, i)
			}
			side := 1 // of the solid: in ascending order of the other axis, it is after the edge
			if (q[axis] > p[axis]) == (axis == 1) {
				side = -1
			}
			for cell := from; cell < to; cell++ {
				if found[unit{axis, line, cell}] != 0 {
					t.Fatalf("boxes %v: outlines %v overlap", boxes, outlines)
				}
				found[unit{axis, line, cell}] = side
			}
		}
	}
	middle := func(axis, i int) float32 {
		if i < 0 || i+1 >= len(lines[axis]) {
			return float32(math.Inf(1))
		}
		return lines[axis][i] + (lines[axis][i+1]-lines[axis][i])/2
	}
	for i := range lines[0] {
		for j := range lines[1] {
			x, y := middle(0, i), middle(1, j)
			solid := inBoxes(boxes, x, y)
			want := 0
			if solid {
				want = 1
			}
			if got := solidAt(outlines, x, y); i+1 < len(lines[0]) && got != want {
				t.Fatalf("boxes %v: outlines %v surround %g, %g %d times, want %d", boxes, outlines, x, y, got, want)
			}
			for axis, before := range [2]bool{inBoxes(boxes, x, middle(1, j-1)), inBoxes(boxes, middle(0, i-1), y)} {
				want, edge := 0, unit{0, j, i}
				if axis == 1 {
					edge = unit{1, i, j}
				}
				if before != solid {
					want = -1
					if solid {
						want = 1
					}
				}
				if found[edge] != want {
					t.Fatalf("boxes %v: outlines %v have %d at edge %v of the grid, want %d", boxes, outlines, found[edge], edge, want)
				}
				delete(found, edge)
			}
		}
	}
	if len(found) > 0 {
		t.Fatalf("boxes %v: outlines %v have edges that bound nothing: %v", boxes, outlines, found)
	}
}

// drawnBoxes returns boxes on a grid of some lines along each axis, a few of them next to each other in rows.
func drawnBoxes(rng *rand.Rand) []physics.DrawnBox {
	var lines [2][]float32
	for axis := range 2 {
		at := rng.Float32()*2000 - 1000
		for range 2 + rng.IntN(8) {
			lines[axis] = append(lines[axis], at)
			at += 0.006 + 3*rng.Float32()*rng.Float32()*rng.Float32()
		}
	}
	boxes := make([]physics.DrawnBox, 1+rng.IntN(14))
	for i := range boxes {
		for axis := range 2 {
			n := len(lines[axis])
			a := rng.IntN(n - 1)
			b := a + 1
			if rng.IntN(3) == 0 {
				b += rng.IntN(n - b)
			}
			boxes[i].Min[axis], boxes[i].Max[axis] = lines[axis][a], lines[axis][b]
		}
	}
	return boxes
}

// Outlines surround exactly the boxes, whatever their order, and chains take them.
func TestUnionOutlines(t *testing.T) {
	run := paritytest.Start(t, "outlines")
	w := newWorld(t, physics.Config{})
	r := fixture{t, w}
	ground := r.body(physics.StaticBody, 0, 0)
	holes, pinches := 0, 0
	for range paritytest.Rounds(1500) {
		boxes := drawnBoxes(run.Rand)
		outlines, err := physics.UnionOutlines(boxes)
		if err != nil {
			t.Fatalf("boxes %v: %v", boxes, err)
		}
		checkOutlines(t, boxes, outlines)
		run.Shuffle(len(boxes), func(i, j int) { boxes[i], boxes[j] = boxes[j], boxes[i] })
		if again, _ := physics.UnionOutlines(boxes); fmt.Sprint(again) != fmt.Sprint(outlines) {
			t.Fatalf("boxes %v: %v in another order", outlines, again)
		}
		seen := map[[2]float32]bool{}
		for k, points := range outlines {
			r.no(w.DestroyChain(r.chain(ground, physics.ChainDef{Points: points, Loop: true, Shape: plain})))
			if points[1][0] < points[0][0] {
				holes++
			}
			if a := points[0]; k > 0 {
				if b := outlines[k-1][0]; a[1] < b[1] || a[1] == b[1] && a[0] <= b[0] {
					t.Fatalf("outlines %v are not sorted", outlines)
				}
			}
			for _, p := range points {
				if seen[p] {
					pinches++
				}
				seen[p] = true
			}
		}
	}
	if holes == 0 || pinches == 0 {
		t.Errorf("%d holes, %d corners where boxes meet", holes, pinches)
	}
}

func TestUnionOutlinesOfFewBoxes(t *testing.T) {
	type loops = [][][2]float32
	for name, c := range map[string]struct {
		boxes []physics.DrawnBox
		want  loops
	}{
		"none":         {nil, nil},
		"one":          {[]physics.DrawnBox{rect(1, 2, 3, 4)}, loops{{{1, 2}, {3, 2}, {3, 4}, {1, 4}}}},
		"two, equal":   {[]physics.DrawnBox{rect(1, 2, 3, 4), rect(1, 2, 3, 4)}, loops{{{1, 2}, {3, 2}, {3, 4}, {1, 4}}}},
		"in a row":     {[]physics.DrawnBox{rect(0, 0, 1, 1), rect(1, 0, 2, 1), rect(2, 0, 3, 1)}, loops{{{0, 0}, {3, 0}, {3, 1}, {0, 1}}}},
		"a step":       {[]physics.DrawnBox{rect(0, 0, 1, 1), rect(1, 0, 2, 2)}, loops{{{0, 0}, {2, 0}, {2, 2}, {1, 2}, {1, 1}, {0, 1}}}},
		"a cross":      {[]physics.DrawnBox{rect(0, 1, 3, 2), rect(1, 0, 2, 3)}, loops{{{1, 0}, {2, 0}, {2, 1}, {3, 1}, {3, 2}, {2, 2}, {2, 3}, {1, 3}, {1, 2}, {0, 2}, {0, 1}, {1, 1}}}},
		"apart":        {[]physics.DrawnBox{rect(2, 0, 3, 1), rect(0, 0, 1, 1)}, loops{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}, {{2, 0}, {3, 0}, {3, 1}, {2, 1}}}},
		"at a corner":  {[]physics.DrawnBox{rect(0, 0, 1, 1), rect(1, 1, 2, 2)}, loops{{{0, 0}, {1, 0}, {1, 1}, {2, 1}, {2, 2}, {1, 2}, {1, 1}, {0, 1}}}},
		"a room":       {[]physics.DrawnBox{rect(0, 0, 3, 1), rect(0, 2, 3, 3), rect(0, 0, 1, 3), rect(2, 0, 3, 3)}, loops{{{0, 0}, {3, 0}, {3, 3}, {0, 3}}, {{2, 1}, {1, 1}, {1, 2}, {2, 2}}}},
		"nearly a row": {[]physics.DrawnBox{rect(0, 0, 0.996, 1), rect(1, 0.004, 2, 1.003)}, loops{{{0, 0}, {2, 0}, {2, 1}, {0, 1}}}},
		"a gap":        {[]physics.DrawnBox{rect(0, 0, 0.99, 1), rect(1, 0, 2, 1)}, loops{{{0, 0}, {0.99, 0}, {0.99, 1}, {0, 1}}, {{1, 0}, {2, 0}, {2, 1}, {1, 1}}}},
		"signs of 0":   {[]physics.DrawnBox{rect(float32(math.Copysign(0, -1)), 0, 1, 1), rect(-1, float32(math.Copysign(0, -1)), 0, 1)}, loops{{{-1, 0}, {1, 0}, {1, 1}, {-1, 1}}}},
	} {
		if got, err := physics.UnionOutlines(c.boxes); err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		box  physics.DrawnBox
		want error
	}{
		{rect(0, 0, nan, 1), physics.ErrNotFinite}, {rect(-inf, 0, 1, 1), physics.ErrNotFinite}, {rect(0, 0, 1, 1<<21), physics.ErrRange},
		{rect(0, 0, 0.004, 1), physics.ErrRange}, {rect(0, 1, 1, 0), physics.ErrRange}, {rect(0, 1, 1, 1), physics.ErrRange}, {physics.DrawnBox{}, physics.ErrRange},
	} {
		got, err := physics.UnionOutlines([]physics.DrawnBox{rect(0, 0, 1, 1), c.box})
		if got != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), "boxes[1]") {
			t.Errorf("%v: %v, %v", c.box, got, err)
		}
	}
}

// Coordinates with errors below 2.4 mm around those of a grid with cells of 15 mm and more have the outlines of the grid, moved by as much.
func TestUnionOutlinesLevelRounding(t *testing.T) {
	run := paritytest.Start(t, "nearly equal coordinates")
	for range paritytest.Rounds(300) {
		n := 2 + run.IntN(6)
		cell := 0.015 + run.Float32()
		var exact, rough []physics.DrawnBox
		for range 1 + run.IntN(12) {
			x, y := run.IntN(n), run.IntN(n)
			b := rect(float32(x)*cell, float32(y)*cell, float32(x+1)*cell, float32(y+1)*cell)
			exact = append(exact, b)
			for axis := range 2 {
				b.Min[axis] += 0.0048 * (run.Float32() - 0.5)
				b.Max[axis] += 0.0048 * (run.Float32() - 0.5)
			}
			rough = append(rough, b)
		}
		want, err1 := physics.UnionOutlines(exact)
		got, err2 := physics.UnionOutlines(rough)
		if err1 != nil || err2 != nil || len(got) != len(want) {
			t.Fatalf("boxes %v: %v, %v and %v, %v", exact, want, err1, got, err2)
		}
		for k := range got {
			if len(got[k]) != len(want[k]) {
				t.Fatalf("boxes %v: %v and %v", exact, want, got)
			}
			for i := range got[k] {
				for axis := range 2 {
					if d := got[k][i][axis] - want[k][i][axis]; max(d, -d) > 0.005 {
						t.Fatalf("boxes %v: %v and %v", exact, want, got)
					}
				}
			}
		}
	}
}

// tiled lays a rectangle with boxes that touch, some of them divided, and returns the boxes.
func tiled(rng *rand.Rand, x0, y0, x1, y1 float32, depth int) []physics.DrawnBox {
	if depth == 0 || max(x1-x0, y1-y0) < 0.5 || rng.IntN(8) == 0 {
		return []physics.DrawnBox{rect(x0, y0, x1, y1)}
	}
	part := 0.3 + 0.4*rng.Float32()
	if x1-x0 > y1-y0 {
		x := x0 + part*(x1-x0)
		return append(tiled(rng, x0, y0, x, y1, depth-1), tiled(rng, x, y0, x1, y1, depth-1)...)
	}
	y := y0 + part*(y1-y0)
	return append(tiled(rng, x0, y0, x1, y, depth-1), tiled(rng, x0, y, x1, y1, depth-1)...)
}

// build makes a ground of boxes, as chains or as loose boxes.
func (r fixture) build(b physics.Body, d physics.ShapeDef, boxes []physics.DrawnBox, loose bool) {
	r.Helper()
	if !loose {
		outlines, err := physics.UnionOutlines(boxes)
		r.no(err)
		for _, points := range outlines {
			r.chain(b, physics.ChainDef{Points: points, Loop: true, Shape: d})
		}
		return
	}
	for _, box := range boxes {
		p := physics.Polygon{Count: 4, Vertices: [8][2]float32{box.Min, {box.Max[0], box.Min[1]}, box.Max, {box.Min[0], box.Max[1]}}}
		r.polygon(b, d, p)
	}
}

// glide lets sliders of all kinds go over a floor at some speed, and returns their speeds after half a second or 10 m. The floor is the union of boxes, or
// they are loose, on a body of some kind.
func glide(t *testing.T, boxes []physics.DrawnBox, speed float32, loose bool, kind physics.BodyType) map[string]float64 {
	t.Helper()
	r := newFixture(t, -10)
	d := material(0, 0)
	r.build(r.body(kind, 0, 0), d, boxes, loose)
	d.Filter.Group = -1
	bodies := map[string]physics.Body{}
	for name, shape := range sliders {
		bodies[name] = r.dynamic(2, 0.5, func(d *physics.BodyDef) { d.FixedRotation = name == "upright" }) // which would fall over
		shape(r, bodies[name], d)
	}
	r.steps(30)
	for _, b := range bodies {
		r.no(r.w.SetVelocity(b, [2]float32{speed, 0}, 0))
	}
	r.seconds(min(10/float64(speed), 2) + 0.5)
	left := map[string]float64{}
	for name, b := range bodies {
		left[name], _, _ = r.velocity(b)
	}
	return left
}

// Bodies of all shapes slide at any speed over a floor of touching boxes that is their union, or of which all are static, and lose none of it. On
// the boxes of a kinematic body some stop.
func TestUnionsHaveNoSeams(t *testing.T) {
	run := paritytest.Start(t, "seams")
	stopped := 0
	speeds := []float64{1.07, 1, 3, 390}
	for range paritytest.Rounds(12) {
		speeds = append(speeds, math.Exp(run.Float64()*6))
	}
	for _, speed := range speeds {
		v := min(float32(speed), 395)
		boxes := tiled(run.Rand, 0, -1, v*2.5+15, 0, 9)
		for _, loose := range []bool{false, true} {
			for name, left := range glide(t, boxes, v, loose, physics.StaticBody) {
				if math.Abs(left-float64(v)) > 1e-3*float64(v) {
					t.Errorf("%s at %g m/s over %v, loose %v, has %g m/s left", name, v, boxes, loose, left)
				}
			}
		}
	}
	fixed := rand.New(rand.NewPCG(1, 1)) // not all floors stop something
	for _, v := range []float32{1, 1.07, 3} {
		for _, left := range glide(t, tiled(fixed, 0, -1, v*2.5+15, 0, 9), v, true, physics.KinematicBody) {
			if left < 0.5*float64(v) {
				stopped++
			}
		}
	}
	if stopped == 0 {
		t.Error("nothing stops at the seams of loose boxes, so the test shows nothing")
	}
}

// Nothing that is shot leaves a room whose walls are the union of boxes, with pillars and steps in it, turned by any angle. At the
// corners that bend inwards, the end of a stick can be deep in one wall when it meets the other.
func TestNothingLeavesUnions(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	run := paritytest.Start(t, "rooms")
	for range paritytest.Rounds(4) {
		boxes := slices.Concat(tiled(run.Rand, -4, -4, 4, -3, 5), tiled(run.Rand, -4, 3, 4, 4, 5), tiled(run.Rand, -4, -3, -3, 3, 5), tiled(run.Rand, 3, -3, 4, 3, 5))
		for range 3 { // pillars, and teeth on walls
			x, y := float32(run.IntN(11))*0.5-3, float32(run.IntN(11))*0.5-3
			if x > -1.6 && x < 1.1 && y > -1.6 && y < 1.1 {
				continue
			}
			boxes = append(boxes, rect(x, y, x+0.5, y+0.5))
		}
		r := newFixture(t, 0)
		turn := run.Float64() * 6
		ground := r.body(physics.StaticBody, 0, 0, turned(turn))
		r.build(ground, material(0.3, 0), boxes, false)
		var shots []physics.Body
		for k := range 150 {
			angle, speed := run.Float64()*2*math.Pi, math.Exp(run.Float64()*5)+50
			b := r.projectile(k, run.Rand, run.Float32()-0.5, run.Float32()-0.5, float32(speed*math.Cos(angle)), float32(speed*math.Sin(angle)))
			shapes, err := r.w.AppendShapes(nil, b)
			r.no(err)
			d := material(0.3, 0)
			d.Filter.Group = -1
			r.no(r.w.SetShapeDef(shapes[0], d))
			shots = append(shots, b)
		}
		for step := range 60 {
			r.steps(1)
			for k, b := range shots {
				x, y := r.centre(b)
				sin, cos := math.Sincos(turn)
				if x, y := cos*x+sin*y, cos*y-sin*x; max(x, -x, y, -y) > 3 {
					t.Fatalf("step %d: shot %d is at %g, %g in %v", step, k, x, y, boxes)
				}
			}
		}
	}
}

// A stick whose end is deep in the floor does not pass below the wall that it flies at, whatever its angle and speed.
func TestSticksDoNotPassBelowWalls(t *testing.T) {
	run := paritytest.Start(t, "sticks in corners")
	room := physics.ChainDef{Points: [][2]float32{{3, -3}, {-3, -3}, {-3, 3}, {3, 3}}, Loop: true, Shape: material(0.3, 0)}
	r := newFixture(t, 0)
	r.chain(r.body(physics.StaticBody, 0, 0), room)
	d := material(0.3, 0)
	d.Filter.Group = -1
	type stick struct {
		b                          physics.Body
		mirrored                   bool
		half, angle, height, speed float64
	}
	var sticks []stick
	add := func(half, angle, height, speed float64, mirrored bool) {
		sign := float32(1)
		if mirrored {
			sign = -1
		}
		b := r.dynamic(sign*float32(-2.8+half), float32(-3+height), turned(float64(sign)*angle), moving(sign*float32(-speed), 0, 0))
		r.box(b, d, float32(half), 0.01)
		sticks = append(sticks, stick{b, mirrored, half, angle, height, speed})
	}
	add(0.37, 0.187, 0.0434, 49.4, false)
	add(0.37, 0.187, 0.0434, 49.4, true)
	for range paritytest.Rounds(400) {
		half, angle := 0.1+0.4*run.Float64(), 0.02+0.5*run.Float64()
		add(half, angle, half*math.Sin(angle)*(0.1+0.8*run.Float64()), 20+200*run.Float64(), run.IntN(2) == 0)
	}
	for step := range 20 {
		r.steps(1)
		for _, s := range sticks {
			if x, y := r.centre(s.b); max(x, -x, y, -y) > 3 {
				t.Fatalf("step %d: stick %+v is at %g, %g", step, s, x, y)
			}
		}
	}
}
