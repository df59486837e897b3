package physics

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/paritytest"
)

// driving returns a world with a body that drives slot 2 of 4.
func driving(t testing.TB, plane Plane) (*World, Body, Transforms) {
	t.Helper()
	w := must[*World](t)(New(Config{Capacity: 4, Plane: plane}))
	d := DefaultBodyDef()
	d.Type, d.Position, d.Angle = DynamicBody, [2]float32{3, 4}, 0.25
	d.LinearVelocity, d.HasSlot, d.Slot = [2]float32{1, 0}, true, 2
	b := must[Body](t)(w.CreateBody(d))
	must[Shape](t)(w.CreateCircle(b, DefaultShapeDef(), Circle{Radius: 0.5}))
	return w, b, newTransforms(4)
}

// setTurn writes the quaternion of a turn by an angle in the plane.
func setTurn(tr Transforms, plane Plane, slot int, angle float64) {
	sin, cos := math.Sincos(angle / 2)
	tr.QX[slot], tr.QY[slot], tr.QZ[slot], tr.QW[slot] = 0, 0, float32(sin), float32(cos)
	if plane == XZ {
		tr.QY[slot], tr.QZ[slot] = float32(-sin), 0
	}
}

func TestPullPutsTheBodyWhereItsEntityIs(t *testing.T) {
	for _, plane := range []Plane{XY, XZ} {
		w, b, tr := driving(t, plane)
		second := tr.Y
		if plane == XZ {
			second = tr.Z
		}
		pull := func() {
			t.Helper()
			if err := w.Pull(tr); err != nil {
				t.Fatal(err)
			}
		}
		sync := func() {
			t.Helper()
			if err := w.Sync(tr); err != nil {
				t.Fatal(err)
			}
		}
		at := func(x, y, angle float32) {
			t.Helper()
			i := b.Index()
			if got := [3]float32{w.cols.X[i], w.cols.Y[i], w.cols.Angle[i]}; got[0] != x || got[1] != y ||
				math.Abs(float64(got[2]-angle)) > 3e-7 {
				t.Fatalf("%v: the body is at %v, want %v %v %v", plane, got, x, y, angle)
			}
		}
		tr.X[2] = 99 // Sync has not written it yet
		pull()
		at(3, 4, 0.25)
		sync()
		before := w.Hash()
		pull()
		if w.Hash() != before {
			t.Fatal("Pull moved a body that nobody has moved")
		}
		tr.X[2] = 7
		pull()
		at(7, 4, 0.25)
		second[2] = 8
		pull()
		at(7, 8, 0.25)
		for _, angle := range angles() {
			setTurn(tr, plane, 2, float64(angle))
			pull()
			at(7, 8, w.cols.Angle[b.index])
			sin, cos := math.Sincos(float64(angle))
			if math.Abs(float64(w.cols.Sin[b.index])-sin) > 4e-7 || math.Abs(float64(w.cols.Cos[b.index])-cos) > 4e-7 {
				t.Fatalf("%v: turned to %v, want %v", plane, w.cols.Angle[b.index], angle)
			}
			sync()
		}
		for _, size := range []float32{1e-30, 0.5, 1e15} { // length does not matter
			setTurn(tr, plane, 2, 1)
			for _, q := range [][]float32{tr.QY, tr.QZ, tr.QW} {
				q[2] *= size
			}
			pull()
			at(7, 8, 1)
			sync()
		}
		tr.QX[2], tr.QY[2], tr.QZ[2], tr.QW[2] = 0, 0, 0, 0 // no turn
		pull()
		at(7, 8, 1)
		if v, _, _ := w.Velocity(b); v != [2]float32{1, 0} {
			t.Errorf("the velocity is %v", v)
		}
		// A pulled transform is not pulled again after a step.
		if err := w.Step(0.5); err != nil {
			t.Fatal(err)
		}
		pull()
		at(7.5, 8, 1)
	}
}

// A teleported body keeps its pose if its entity has not changed.
func TestPullLeavesTeleportedBodies(t *testing.T) {
	w, b, tr := driving(t, XY)
	if err := w.Sync(tr); err != nil {
		t.Fatal(err)
	}
	if err := w.SetTransform(b, [2]float32{50, 60}, 1); err != nil {
		t.Fatal(err)
	}
	hash := w.Hash()
	if err := w.Pull(tr); err != nil || w.Hash() != hash {
		t.Errorf("Pull undid a teleport: %v", err)
	}
}

func TestPullRefusesWhatIsNotFinite(t *testing.T) {
	for _, plane := range []Plane{XY, XZ} {
		w, _, tr := driving(t, plane)
		d := DefaultBodyDef()
		d.HasSlot, d.Slot = true, 1
		must[Body](t)(w.CreateBody(d))
		if err := w.Sync(tr); err != nil {
			t.Fatal(err)
		}
		tr.X[1] = 5 // Pull would use it
		hash := w.Hash()
		columns := map[string][]float32{"X": tr.X, "QX": tr.QX, "QY": tr.QY, "QZ": tr.QZ, "QW": tr.QW, "Y": tr.Y}
		if plane == XZ {
			delete(columns, "Y")
			columns["Z"] = tr.Z
		}
		for name, column := range columns {
			for v, is := range map[float32]error{inf32: ErrNotFinite, -inf32: ErrNotFinite, 1e19: ErrRange, -1e30: ErrRange, nan32: ErrNotFinite} {
				old := column[2]
				column[2] = v
				err := w.Pull(tr)
				if !errors.Is(err, is) || !strings.Contains(err.Error(), "body_0.1: Transforms."+name+"[2] = ") {
					t.Errorf("%v: %s = %v: %v", plane, name, v, err)
				}
				if w.Hash() != hash {
					t.Errorf("%v: %s = %v: the world has changed", plane, name, v)
				}
				column[2] = old
			}
		}
		if third := map[Plane][]float32{XY: tr.Z, XZ: tr.Y}[plane]; true {
			third[2] = nan32
		}
		if err := w.Pull(tr); err != nil {
			t.Errorf("%v: the third axis is none of ours: %v", plane, err)
		}
		if w.cols.X[1] != 5 {
			t.Errorf("%v: the other entity was not taken over", plane)
		}
	}
}

func TestPullChecksItsSlices(t *testing.T) {
	w, _, tr := driving(t, XY)
	if err := w.Pull(newTransforms(2)); !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), "Pull: body 0 drives slot 2") {
		t.Errorf("got %v", err)
	}
	tr.QW = tr.QW[:3]
	defer func() {
		if r := recover(); r != "physics: Pull: slices of unequal length" {
			t.Errorf("recovered %v", r)
		}
	}()
	w.Pull(tr)
}

// Pull moves the bodies of another engine by SetTransform.
func TestPullThroughAnotherEngine(t *testing.T) {
	w, _ := newFakeWorld(t, Config{Capacity: 4})
	d := DefaultBodyDef()
	d.HasSlot, d.Slot = true, 0
	b := must[Body](t)(w.CreateBody(d))
	tr := newTransforms(1)
	if err := w.Sync(tr); err != nil {
		t.Fatal(err)
	}
	tr.X[0] = 4
	setTurn(tr, XY, 0, 0.5)
	if err := w.Pull(tr); err != nil {
		t.Fatal(err)
	}
	if p, a := must[[2]float32](t)(w.Position(b)), must[float32](t)(w.Angle(b)); p[0] != 4 || math.Abs(float64(a)-0.5) > 1e-6 {
		t.Errorf("at %v, %v", p, a)
	}
}

// A snapshot contains what Sync has written: a pending teleport is not lost.
func TestPullAfterRestore(t *testing.T) {
	w, _, tr := driving(t, XY)
	if err := w.Sync(tr); err != nil {
		t.Fatal(err)
	}
	tr.X[2] = 9
	snap := must[[]byte](t)(w.Snapshot(nil))
	restored := must[*World](t)(New(Config{Capacity: 9}))
	if err := restored.Restore(snap); err != nil {
		t.Fatal(err)
	}
	clone := must[*World](t)(w.Clone())
	for _, o := range []*World{w, restored, clone} {
		if err := o.Pull(tr); err != nil || o.cols.X[0] != 9 {
			t.Errorf("the body is at %v, %v", o.cols.X[0], err)
		}
	}
}

func TestPullAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w, _, tr := driving(t, XY)
	if err := w.Sync(tr); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(20, func() {
		tr.X[2]++
		setTurn(tr, XY, 2, float64(tr.X[2]))
		if w.Pull(tr) != nil || w.Sync(tr) != nil {
			t.Fatal("an error")
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// Of two bodies that drive one slot the one with the higher index wins in Pull, too.
func TestPullOfASharedSlot(t *testing.T) {
	for _, slot := range []uint32{0, 2, handle.MaxSlot} {
		w := must[*World](t)(New(Config{Capacity: 4}))
		d := DefaultBodyDef()
		d.HasSlot = true
		var bodies []Body
		for range 2 {
			d.Slot = slot
			d.Position[0]++
			bodies = append(bodies, must[Body](t)(w.CreateBody(d)))
		}
		tr := newTransforms(int(slot) + 1)
		clone := must[*World](t)(w.Clone())
		for _, w := range []*World{w, clone} {
			if err := w.Sync(tr); err != nil {
				t.Fatal(err)
			}
			tr.X[slot] = 7
			if err := w.Pull(tr); err != nil {
				t.Fatal(err)
			}
			if w.cols.X[0] != 1 || w.cols.X[1] != 7 {
				t.Errorf("slot %d: bodies at %v", slot, w.cols.X[:2])
			}
		}
		if err := w.DestroyBody(bodies[1]); err != nil {
			t.Fatal(err)
		}
	}
	// A slot that one body released and another one drives is not shared.
	w, b, _ := driving(t, XY)
	if err := w.DestroyBody(b); err != nil {
		t.Fatal(err)
	}
	d := DefaultBodyDef()
	d.HasSlot, d.Slot = true, 2
	must[Body](t)(w.CreateBody(d))
	if w.slots.Shared {
		t.Error("a slot counts as shared that one body drives")
	}
}

// Writing only a component that is zero for every rotation in the plane also counts as writing the quaternion: the body
// takes its rotation again, as from a quaternion of twice the length.
func TestPullTakesTheTurnOfAnyComponent(t *testing.T) {
	changed := 0
	for _, plane := range []Plane{XY, XZ} {
		for which := range 2 {
			for n := range 40 {
				var rotation [3][2]float32 // before, by the component, by the length
				for k := range rotation {
					w, b, tr := driving(t, plane)
					if err := w.SetTransform(b, [2]float32{3, 4}, float32(n)*0.15-3); err != nil {
						t.Fatal(err)
					}
					if err := w.Sync(tr); err != nil {
						t.Fatal(err)
					}
					switch k {
					case 1:
						[...][]float32{tr.QX, map[Plane][]float32{XY: tr.QY, XZ: tr.QZ}[plane]}[which][2] = 5e-5 // within the slack
					case 2:
						for _, q := range [][]float32{tr.QY, tr.QZ, tr.QW} {
							q[2] *= 2
						}
					}
					if err := w.Pull(tr); err != nil {
						t.Fatal(err)
					}
					rotation[k] = [2]float32{w.cols.Cos[b.index], w.cols.Sin[b.index]}
				}
				if rotation[1] != rotation[2] {
					t.Fatalf("%v, component %d: rotation %v, want %v", plane, which, rotation[1], rotation[2])
				}
				if rotation[1] != rotation[0] {
					changed++
				}
			}
		}
	}
	if changed == 0 {
		t.Error("no rotation changed: the test has no teeth")
	}
}
