package physics3_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// A shift there and back changes nothing, at any time: nothing wakes, and the world continues as before.
func TestShiftThereAndBack(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	tower(t, w, 4)
	for tick := range 90 {
		twin := must[*physics3.World](t)(w.Clone())
		awake := w.AwakeCount()
		no(t, w.ShiftOrigin(vec{0, 0, 0}))
		if tick%2 == 0 { // towards bodies that are there
			no(t, w.ShiftOrigin(vec{4096, -1024, 0}))
			no(t, w.ShiftOrigin(vec{-4096, 1024, 0}))
		}
		if w.AwakeCount() != awake || w.Origin() != [3]float64{} {
			t.Fatalf("tick %d: %d awake, were %d", tick, w.AwakeCount(), awake)
		}
		if tick%2 == 1 {
			sameState(t, "shifted by nothing", twin, w)
		}
		steps(t, w, 1)
	}
	if w.AwakeCount() != 0 {
		t.Errorf("%d are awake", w.AwakeCount())
	}
}

// A scene that is made far away and shifted to the origin is, bit for bit, the one that was made there; a shifted world continues as a restored
// one.
func TestShiftedSceneIsTheOneMadeThere(t *testing.T) {
	make := func(x float32) *physics3.World {
		w := emptyWorld(t, physics3.Config{Gravity: vec{0, -10, 0}})
		box(t, w, bodyAt(t, w, physics3.StaticBody, x, -0.5, 0-x), plain, 50, 0.5, 50)
		for i := range 5 {
			box(t, w, bodyAt(t, w, physics3.DynamicBody, x+float32(i%2)*0.125, 0.5+float32(i), 0-x), plain, 0.5, 0.5, 0.5)
		}
		return w
	}
	near, far := make(0), make(8192)
	no(t, far.ShiftOrigin(vec{8192, 0, -8192}))
	steps(t, near, 30)
	steps(t, far, 15)
	restored := emptyWorld(t, far.Config())
	no(t, restored.Restore(snapshot(t, far)))
	steps(t, far, 15)
	steps(t, restored, 15)
	sameState(t, "restored", far, restored)
	names, x := floats(near)
	_, y := floats(far)
	for k := range x {
		for i := range near.Rows() {
			if math.Float32bits(x[k][i]) != math.Float32bits(y[k][i]) {
				t.Fatalf("%s[%d] is %v, want %v", names[k], i, y[k][i], x[k][i])
			}
		}
	}
	if far.Origin() != [3]float64{8192, 0, -8192} {
		t.Errorf("origin %v", far.Origin())
	}
}

// A write to a sleeper is noticed even where the rounding of a shift hides it, and a shift alone wakes nothing.
func TestShiftDoesNotHideWrites(t *testing.T) {
	for _, write := range []bool{false, true} {
		w := newWorld(t, physics3.Config{})
		tower(t, w, 1)
		steps(t, w, 90)
		if w.AwakeCount() != 0 {
			t.Fatal("the box is awake")
		}
		if write {
			w.Columns().X[1] += 1e-6
		}
		no(t, w.ShiftOrigin(vec{-1 << 30, 0, 0}))
		no(t, w.ShiftOrigin(vec{1 << 30, 0, 0}))
		steps(t, w, 1)
		if woke := len(w.Events().Woke) > 0; woke != write {
			t.Errorf("written %v: woke %v", write, woke)
		}
	}
}

func TestShiftRefuses(t *testing.T) {
	w := newWorld(t, physics3.Config{})
	c := w.NewCommands()
	for range 1 << 7 {
		c.ShiftOrigin(vec{0, 1 << 37, 0})
	}
	hash := w.Hash()
	for words, err := range map[string]error{
		"offset[1] = NaN": w.ShiftOrigin(vec{0, nan, 0}), "offset[2] = 1023": w.ShiftOrigin(vec{0, 0, 1023}),
		"offset[0] = -2.748": w.ShiftOrigin(vec{-1 << 38}),
	} {
		if !errors.Is(err, physics3.ErrNotFinite) && !errors.Is(err, physics3.ErrRange) || !strings.Contains(err.Error(), "physics3: ShiftOrigin: "+words) {
			t.Errorf("%s: %v", words, err)
		}
	}
	if w.Hash() != hash {
		t.Error("a refused shift has changed the world")
	}
	no(t, w.Apply(c))
	if w.Origin() != [3]float64{0, 1 << 44, 0} {
		t.Errorf("origin %v", w.Origin())
	}
	steps(t, w, 1)
	sound(t, "far away", w)
}
