package physics

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func newTransforms(n int) Transforms {
	f := func() []float32 { return make([]float32, n) }
	return Transforms{X: f(), Y: f(), Z: f(), QX: f(), QY: f(), QZ: f(), QW: f()}
}

// angles returns the turning points, their neighbours, and a sweep.
func angles() []float32 {
	out := []float32{0, float32(math.Copysign(0, -1)), 1e-30, -1e-30, 1e-4, -1e-4}
	for _, a := range []float32{math.Pi / 2, math.Pi} {
		for _, s := range []float32{a, -a} {
			out = append(out, s, math.Nextafter32(s, 0), math.Nextafter32(s, 2*s), s*0.9999)
		}
	}
	for i := -1000; i <= 1000; i++ {
		out = append(out, float32(i)*math.Pi/1000)
	}
	return out
}

// turnedX rotates the x axis by a quaternion, in float64.
func turnedX(x, y, z, w float32) (rx, ry, rz float64) {
	qx, qy, qz, qw := float64(x), float64(y), float64(z), float64(w)
	return 1 - 2*(qy*qy+qz*qz), 2 * (qx*qy + qw*qz), 2 * (qx*qz - qw*qy)
}

func TestSyncTurnsTheFirstAxisByTheAngle(t *testing.T) {
	for _, plane := range []Plane{XY, XZ} {
		w, _ := newFakeWorld(t, Config{Capacity: 1, Plane: plane})
		d := DefaultBodyDef()
		d.HasSlot, d.Slot = true, 0
		b := must[Body](t)(w.CreateBody(d))
		tr := newTransforms(1)
		for _, angle := range angles() {
			if err := w.SetTransform(b, [2]float32{}, angle); err != nil {
				t.Fatal(err)
			}
			if err := w.Sync(tr); err != nil {
				t.Fatal(err)
			}
			x, y, z := turnedX(tr.QX[0], tr.QY[0], tr.QZ[0], tr.QW[0])
			first, second, third := x, y, z
			if plane == XZ {
				second, third = z, y
			}
			sin, cos := math.Sincos(float64(angle))
			if math.Abs(first-cos) > 3e-7 || math.Abs(second-sin) > 3e-7 || third != 0 {
				t.Errorf("%v, angle %v: x axis goes to (%v, %v, %v), want (%v, %v)", plane, angle, x, y, z, cos, sin)
			}
			norm := 0.0
			for _, q := range []float32{tr.QX[0], tr.QY[0], tr.QZ[0], tr.QW[0]} {
				norm += float64(q) * float64(q)
			}
			if math.Abs(norm-1) > 3e-7 || tr.QW[0] < 0 {
				t.Errorf("%v, angle %v: norm² %v, QW %v", plane, angle, norm, tr.QW[0])
			}
		}
	}
}

func TestSyncOfNoRotationIsTheIdentity(t *testing.T) {
	for _, plane := range []Plane{XY, XZ} {
		w, _ := newFakeWorld(t, Config{Capacity: 1, Plane: plane})
		d := DefaultBodyDef()
		d.HasSlot, d.Slot = true, 0
		must[Body](t)(w.CreateBody(d))
		tr := newTransforms(1)
		if err := w.Sync(tr); err != nil {
			t.Fatal(err)
		}
		for _, q := range []float32{tr.QX[0], tr.QY[0], tr.QZ[0]} {
			if math.Float32bits(q) != 0 {
				t.Errorf("%v: a component is %v, bits %#x", plane, q, math.Float32bits(q))
			}
		}
		if tr.QW[0] != 1 {
			t.Errorf("%v: QW = %v", plane, tr.QW[0])
		}
	}
}

func TestSyncWritesTwoAxesOfItsSlots(t *testing.T) {
	for _, plane := range []Plane{XY, XZ} {
		w, _ := newFakeWorld(t, Config{Capacity: 8, Plane: plane})
		d := DefaultBodyDef()
		d.Position = [2]float32{3, 4}
		must[Body](t)(w.CreateBody(d)) // drives nothing
		d.HasSlot, d.Slot = true, 2
		must[Body](t)(w.CreateBody(d))
		d.HasSlot, d.Slot = true, 1
		gone := must[Body](t)(w.CreateBody(d))
		if err := w.DestroyBody(gone); err != nil {
			t.Fatal(err)
		}
		tr := newTransforms(3)
		for i := range 3 {
			tr.X[i], tr.Y[i], tr.Z[i] = 7, 7, 7
		}
		if err := w.Sync(tr); err != nil {
			t.Fatal(err)
		}
		want := [3]float32{3, 4, 7}
		if plane == XZ {
			want = [3]float32{3, 7, 4}
		}
		if got := [3]float32{tr.X[2], tr.Y[2], tr.Z[2]}; got != want {
			t.Errorf("%v: slot 2 at %v, want %v", plane, got, want)
		}
		for i := range 2 {
			if tr.X[i] != 7 || tr.Y[i] != 7 || tr.Z[i] != 7 || tr.QW[i] != 0 {
				t.Errorf("%v: slot %d was written", plane, i)
			}
		}
	}
}

func TestSyncRefusesASlotOutsideBeforeWriting(t *testing.T) {
	w, _ := newFakeWorld(t, Config{Capacity: 8})
	d := DefaultBodyDef()
	d.Position = [2]float32{1, 1}
	d.HasSlot = true
	for _, d.Slot = range []uint32{0, 3} {
		must[Body](t)(w.CreateBody(d))
	}
	tr := newTransforms(3)
	err := w.Sync(tr)
	if !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), "body 1 drives slot 3") {
		t.Errorf("got %v", err)
	}
	if tr.X[0] != 0 {
		t.Error("Sync wrote before it checked")
	}
}

func TestSyncPanicsOnUnequalLengths(t *testing.T) {
	w, _ := newFakeWorld(t, Config{Capacity: 8})
	tr := newTransforms(3)
	tr.QZ = tr.QZ[:2]
	defer func() {
		if r := recover(); r != "physics: Sync: slices of unequal length" {
			t.Errorf("recovered %v", r)
		}
	}()
	w.Sync(tr)
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	for _, plane := range []Plane{XY, XZ} {
		w, _ := newFakeWorld(t, Config{Capacity: 512, Plane: plane})
		populate(t, w, 512)
		tr := newTransforms(512)
		hashes := w.AppendColumnHashes(nil)
		for name, f := range map[string]func(){
			"Sync":               func() { w.Sync(tr) },
			"Hash":               func() { w.Hash() },
			"Step":               func() { w.Step(0.1) },
			"AppendColumnHashes": func() { hashes = w.AppendColumnHashes(hashes[:0]) },
		} {
			if n := testing.AllocsPerRun(10, f); n != 0 {
				t.Errorf("%v: %s allocates %v times", plane, name, n)
			}
		}
	}
}
