package physics

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// quaternion of a turn by an angle about an axis, of the given length.
func quaternion(axis [3]float64, angle, length float64) [4]float32 {
	norm := math.Sqrt(axis[0]*axis[0] + axis[1]*axis[1] + axis[2]*axis[2])
	sin, cos := math.Sincos(angle / 2)
	sin *= length / norm
	return [4]float32{float32(axis[0] * sin), float32(axis[1] * sin), float32(axis[2] * sin), float32(cos * length)}
}

// normal of a plane about which angles are counter-clockwise.
func normal(p Plane) [3]float64 {
	if p == XZ {
		return [3]float64{0, -1, 0}
	}
	return [3]float64{0, 0, 1}
}

func TestPlaneSplitsAndJoins(t *testing.T) {
	v := [3]float32{1, 2, 3}
	for p, want := range map[Plane][3]float32{XY: {1, 2, 3}, XZ: {1, 3, 2}} {
		in, third := p.Split(v)
		if in != [2]float32(want[:2]) || third != want[2] || p.Join(in, third) != v {
			t.Errorf("%v: %v, %v", p, in, third)
		}
	}
}

// Vectors in the plane are accepted with any length; vectors out of the plane are refused.
func TestPlaneDirection(t *testing.T) {
	for _, p := range []Plane{XY, XZ} {
		for _, size := range []float32{1e-38, 1e-20, 1, 1e20, 3e38} {
			for _, c := range []struct {
				third float32
				ok    bool
			}{{0, true}, {5e-5, true}, {-5e-5, true}, {2e-4, false}, {-2e-4, false}, {1, false}} {
				if size < 1e-30 && c.third != 0 && c.third != 1 {
					continue // rounds to something else
				}
				v := p.Join([2]float32{0.6 * size, -0.8 * size}, c.third*size)
				got, err := p.Direction(v)
				if c.ok != (err == nil) || err != nil && (!errors.Is(err, ErrRange) || !strings.Contains(err.Error(), "plane "+p.String())) {
					t.Errorf("%v: %v: %v", p, v, err)
				}
				if want := [2]float32{0.6 * size, -0.8 * size}; err == nil && got != want {
					t.Errorf("%v: %v became %v", p, v, got)
				}
			}
			if _, err := p.Direction(p.Join([2]float32{}, size)); !errors.Is(err, ErrRange) {
				t.Errorf("%v: %v along the third axis: %v", p, size, err)
			}
		}
		for _, v := range []float32{nan32, inf32, -inf32} {
			for i := range 3 {
				d := [3]float32{}
				d[i] = v
				if _, err := p.Direction(d); !errors.Is(err, ErrNotFinite) {
					t.Errorf("%v: %v: %v", p, d, err)
				}
			}
		}
		if got, err := p.Direction([3]float32{}); err != nil || got != [2]float32{} {
			t.Errorf("no direction: %v, %v", got, err)
		}
	}
}

func TestPlaneAngle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range []Plane{XY, XZ} {
		for range 2000 {
			angle := (2*rng.Float64() - 1) * math.Pi
			length := math.Exp2(float64(rng.IntN(160) - 80))
			got, err := p.Angle(quaternion(normal(p), angle, length))
			if err != nil || math.Abs(float64(got)-angle) > 1e-6 {
				t.Fatalf("%v: %v of length %g became %v, %v", p, angle, length, got, err)
			}
			q := p.Rotation(got)
			if back, err := p.Angle(q); err != nil || math.Abs(float64(back-got)) > 1e-6 || q[3] < 0 {
				t.Fatalf("%v: %v became %v, %v, by %v", p, got, back, err, q)
			}
			// A rotation by more than two degrees about an axis that is tilted by more than one leads out of the plane.
			axis := normal(p)
			lean := rng.Float64() * 2 * math.Pi
			size := 0.02 + rng.Float64()
			axis[0] += size * math.Cos(lean)
			if p == XY {
				axis[1] += size * math.Sin(lean)
			} else {
				axis[2] += size * math.Sin(lean)
			}
			turn := 0.04 + rng.Float64()*3
			q = quaternion(axis, turn, length)
			if _, err := p.Angle(q); !errors.Is(err, ErrRange) || !p.Tilts(q) {
				t.Fatalf("%v: %v about %v: %v", p, turn, axis, err)
			}
		}
		for _, q := range [][4]float32{{nan32, 0, 0, 1}, {0, inf32, 0, 1}, {0, 0, -inf32, 1}, {0, 0, 0, nan32}} {
			if _, err := p.Angle(q); !errors.Is(err, ErrNotFinite) {
				t.Errorf("%v: %v: %v", p, q, err)
			}
		}
		if _, err := p.Angle([4]float32{}); !errors.Is(err, ErrRange) || p.Tilts([4]float32{}) {
			t.Errorf("%v: no quaternion: %v", p, err)
		}
		for _, q := range [][4]float32{{1, 0, 0, 0}, {0.7, 0, 0, 0.7}, {1e-3, 0, 0, 1}} { // about x, which is in both
			if !p.Tilts(q) {
				t.Errorf("%v: %v does not tilt", p, q)
			}
		}
		if p.Tilts([4]float32{5e-5, 0, 0, 1}) {
			t.Errorf("%v: rounding counts as a tilt", p)
		}
	}
}

// Pull refuses a rotation out of the plane, with an error that names the component, and moves no body. It ignores the
// third axis of a position.
func TestPullRefusesATilt(t *testing.T) {
	for _, plane := range []Plane{XY, XZ} {
		w, b, tr := driving(t, plane)
		d := DefaultBodyDef()
		d.HasSlot, d.Slot = true, 1
		other := must[Body](t)(w.CreateBody(d))
		if err := w.Sync(tr); err != nil {
			t.Fatal(err)
		}
		tr.X[1] = 5 // Pull would use it
		hash := w.Hash()
		second := map[Plane]string{XY: "QY", XZ: "QZ"}[plane]
		for _, c := range []struct {
			q    [4]float32
			name string
		}{{[4]float32{0.7, 0, 0, 0.7}, "QX"}, {[4]float32{1, 0, 0, 0}, "QX"}, {quaternion([3]float64{0, 1, 1}, 0.1, 3), second}} {
			tr.QX[2], tr.QY[2], tr.QZ[2], tr.QW[2] = c.q[0], c.q[1], c.q[2], c.q[3]
			err := w.Pull(tr)
			if !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), "physics: Pull: body_0.1: Transforms."+c.name+"[2] = ") ||
				!strings.Contains(err.Error(), "plane "+plane.String()) {
				t.Errorf("%v: %v: %v", plane, c.q, err)
			}
			if w.Hash() != hash {
				t.Errorf("%v: %v: the world has changed", plane, c.q)
			}
		}
		// Within the slack Pull accepts the rotation, with any height.
		setTurn(tr, plane, 2, 1)
		tr.QX[2] = 2e-5
		third := map[Plane][]float32{XY: tr.Z, XZ: tr.Y}[plane]
		third[2] = 77
		if err := w.Pull(tr); err != nil {
			t.Fatalf("%v: %v", plane, err)
		}
		if a := must[float32](t)(w.Angle(b)); math.Abs(float64(a)-1) > 1e-6 || w.cols.X[other.Index()] != 5 {
			t.Errorf("%v: turned by %v", plane, a)
		}
		if err := w.Sync(tr); err != nil || third[2] != 77 || tr.QX[2] != 0 {
			t.Errorf("%v: Sync: height %v, QX %v: %v", plane, third[2], tr.QX[2], err)
		}
	}
}

// Bodies collide at any heights of their entities.
func TestHeightsDoNotKeepBodiesApart(t *testing.T) {
	for _, plane := range []Plane{XY, XZ} {
		w := must[*World](t)(New(Config{Capacity: 2, Plane: plane}))
		tr := newTransforms(2)
		third := map[Plane][]float32{XY: tr.Z, XZ: tr.Y}[plane]
		for i := range 2 {
			d := DefaultBodyDef()
			d.Type, d.Position, d.HasSlot, d.Slot = DynamicBody, [2]float32{float32(i) * 0.3, 0}, true, uint32(i)
			b := must[Body](t)(w.CreateBody(d))
			must[Shape](t)(w.CreatePolygon(b, DefaultShapeDef(), Box(0.5, 0.5)))
		}
		third[1] = 50
		for range 30 {
			if err := errors.Join(w.Pull(tr), w.Step(1.0/60), w.Sync(tr)); err != nil {
				t.Fatal(err)
			}
		}
		if apart := tr.X[1] - tr.X[0]; apart < 0.9 || third[0] != 0 || third[1] != 50 {
			t.Errorf("%v: %v m apart, at heights %v", plane, apart, third)
		}
	}
}
