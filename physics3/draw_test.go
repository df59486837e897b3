package physics3_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// lines returns how many lines there are of a colour, and the least and greatest coordinates of their ends.
func lines(list []physics3.DrawnLine, color uint32) (n int, low, high vec) {
	low, high = vec{inf, inf, inf}, vec{-inf, -inf, -inf}
	for _, l := range list {
		if l.Color != color {
			continue
		}
		n++
		for k := range low {
			low[k], high[k] = min(low[k], l.P1[k], l.P2[k]), max(high[k], l.P1[k], l.P2[k])
		}
	}
	return n, low, high
}

// Each kind of shape is drawn where it is.
func TestDrawnShapes(t *testing.T) {
	turned := quat{0, 0, 1, 1} // by a quarter about z: x becomes y
	for name, c := range map[string]struct {
		add       func(w *physics3.World, b physics3.Body) (physics3.Shape, error)
		n         int
		low, high vec
	}{
		"ball": {func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateSphere(b, plain, physics3.Sphere{Center: vec{1}, Radius: 2})
		}, 48, vec{8, 19, 28}, vec{12, 23, 32}},
		"capsule": {func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateCapsule(b, plain, physics3.Capsule{P1: vec{-1}, P2: vec{1}, Radius: 0.5})
		}, 68, vec{9.5, 18.5, 29.5}, vec{10.5, 21.5, 30.5}},
		"box": {func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateBox(b, plain, physics3.Box{Half: vec{1, 2, 3}, Center: vec{0, 1}})
		}, 12, vec{7, 19, 27}, vec{11, 21, 33}},
		"hull": {func(w *physics3.World, b physics3.Body) (physics3.Shape, error) {
			return w.CreateHull(b, plain, tetrahedron, physics3.Placement{Position: vec{1}})
		}, 6, vec{9, 21, 30}, vec{10, 22, 31}},
	} {
		w := emptyWorld(t, physics3.Config{})
		d := dynamicAt(10, 20, 30)
		d.Rotation = turned
		must[physics3.Shape](t)(c.add(w, bodyOf(t, w, d)))
		list := must[[]physics3.DrawnLine](t)(w.AppendDraw(nil, physics3.DrawOptions{Boxes: true}))
		n, low, high := lines(list, 0x2f80e0)
		boxLines, boxLow, boxHigh := lines(list, 0x8f7f6f)
		for k := range low {
			if math.Abs(float64(low[k]-c.low[k])) > 1e-5 || math.Abs(float64(high[k]-c.high[k])) > 1e-5 {
				t.Errorf("%s is drawn from %v to %v", name, low, high)
				break
			}
			if math.Abs(float64(low[k]-boxLow[k])) > 1e-4 || math.Abs(float64(high[k]-boxHigh[k])) > 1e-4 {
				t.Errorf("%s has a box from %v to %v", name, boxLow, boxHigh)
				break
			}
		}
		if n != c.n || boxLines != 12 {
			t.Errorf("%s has %d lines, and %d of its box", name, n, boxLines)
		}
	}
}

// The state of a body decides its colour; marks are drawn where they belong; nothing changes, and nothing is allocated.
func TestDrawnMarks(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	d, sensing := dynamicAt(20, 0.5, 0), plain
	sensing.Sensor = true
	bullet := d
	bullet.Bullet, bullet.Position[0] = true, 30
	addBox(t, w, d, vec{0.5, 0.5, 0.5})
	addBox(t, w, bullet, vec{0.5, 0.5, 0.5})
	box(t, w, bodyAt(t, w, physics3.KinematicBody, 0, 9, 0), plain, 1, 1, 1)
	box(t, w, bodyAt(t, w, physics3.KinematicBody, 5, 9, 0), sensing, 1, 1, 1)
	out := bodyAt(t, w, physics3.DynamicBody, 10, 9, 0)
	box(t, w, out, plain, 1, 1, 1)
	no(t, w.Disable(out))
	steps(t, w, 2)
	asleep := d
	asleep.Position, asleep.Asleep = vec{-9, 0.5, 0}, true
	addBox(t, w, asleep, vec{0.5, 0.5, 0.5})
	no(t, w.SetVelocity(must[physics3.Body](t)(bodyIn(w, 1)), vec{3, 0, 0}, vec{}))
	hash := w.Hash()
	all := physics3.DrawOptions{Boxes: true, Contacts: true, Centers: true, Velocities: true, Size: 0.2, VelocityScale: 0.5}
	list := must[[]physics3.DrawnLine](t)(w.AppendDraw(nil, all))
	for color, want := range map[uint32]int{
		0x4f8f5f: 12, 0x2f80e0: 12, 0xd9641c: 12, 0x9a6ad8: 12, 0xa8800f: 12, 0xc0504d: 12, 0x7d8590: 12, // shapes
		0x8f7f6f: 6 * 12, 0xd23f7f: 8, 0x00958c: 6 * 3, 0x1d93a8: 6,
	} {
		if n, _, _ := lines(list, color); n != want {
			t.Errorf("%d lines of colour %06x, want %d", n, color, want)
		}
	}
	if _, low, high := lines(list, 0xd23f7f); low[1] > 0.01 || high[1] < 0.19 || high[1] > 0.21 {
		t.Errorf("normals from %v to %v", low, high)
	}
	if i := slices.IndexFunc(list, func(l physics3.DrawnLine) bool { return l.Color == 0x1d93a8 }); list[i].P2[0]-list[i].P1[0] != 1.5 {
		t.Errorf("a velocity is drawn as %v", list[i])
	}
	if w.Hash() != hash {
		t.Error("AppendDraw has changed the world")
	}
	if n := testing.AllocsPerRun(10, func() { list, _ = w.AppendDraw(list[:0], all) }); n != 0 && !paritytest.Instrumented {
		t.Errorf("%g allocations", n)
	}
	w.Columns().X[1] = nan
	for _, l := range must[[]physics3.DrawnLine](t)(w.AppendDraw(nil, all)) {
		for _, v := range append(l.P1[:], l.P2[:]...) {
			if v-v != 0 {
				t.Fatalf("a line without a place: %v", l)
			}
		}
	}
	for _, o := range []physics3.DrawOptions{{Size: nan}, {VelocityScale: -1}} {
		if _, err := w.AppendDraw(nil, o); !errors.Is(err, physics3.ErrNotFinite) && !errors.Is(err, physics3.ErrRange) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func bodyIn(w *physics3.World, i int) (physics3.Body, error) {
	b, ok := w.BodyAt(i)
	if !ok {
		return b, physics3.ErrStale
	}
	return b, nil
}
