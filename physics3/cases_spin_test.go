package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// momentum returns the angular momentum in the axes of the world, and the energy of rotation, of a body whose principal axes are its own.
func momentum(t *testing.T, w *physics3.World, b physics3.Body) (l vector, energy float64) {
	t.Helper()
	m := must[physics3.MassData](t)(w.MassData(b))
	q := rotationOf(t, w, b)
	back := [4]float32{-q[0], -q[1], -q[2], q[3]}
	_, spin := velocityOf(t, w, b)
	own := rotated(back, spin)
	for k := range own {
		energy += float64(m.Inertia[k]) * own[k] * own[k] / 2
		own[k] *= float64(m.Inertia[k])
	}
	return rotated(q, own), energy
}

// spinning makes a free body in a world without gravity.
func spinning(t *testing.T, c physics3.Config, half, spin [3]float32) (*physics3.World, physics3.Body) {
	t.Helper()
	c.DisableSleep = true
	w := weightlessWorld(t, c)
	d := dynamicAt(0, 0, 0)
	d.AngularVelocity = spin
	return w, addBoxOf(t, w, d, half, density(1))
}

// Case 114: a free box keeps its angular momentum and its energy, and tumbles. Without the gyroscopic term its axis would stay.
func TestCase114FreeBox(t *testing.T) {
	w, b := spinning(t, physics3.Config{}, [3]float32{1, 2, 3}, [3]float32{6, 6, 0})
	l0, e0 := momentum(t, w, b)
	near(t, "the momentum", length(l0), 1574.517, 0.01)
	near(t, "the energy", e0, 6624, 0.1)
	least := 1.
	start := vector{6, 6, 0}
	for step := range 300 {
		steps(t, w, 1)
		_, spin := velocityOf(t, w, b)
		least = min(least, dot(spin, start)/length(spin)/length(start))
		if step == 14 {
			for axis, want := range [...]float64{8.324, 2.979, -0.718} {
				near(t, "the spin after 0.25 s", spin[axis], want, 0.1*8.87)
			}
		}
	}
	l, e := momentum(t, w, b)
	near(t, "the length of the momentum", length(l), length(l0), 0.01*length(l0))
	near(t, "the energy", e, e0, 0.02*e0)
	near(t, "the least cosine", least, 0.89, 0.03)
}

// Case 115: a cube and a ball turn as they did, to the bit but for rounding, because nothing turns them.
func TestCase115NothingToDo(t *testing.T) {
	for _, ball := range []bool{false, true} {
		w := weightlessWorld(t, physics3.Config{DisableSleep: true})
		d := dynamicAt(0, 0, 0)
		d.AngularVelocity = [3]float32{3, -7, 11}
		b := addBody(t, w, d, func(b physics3.Body) (physics3.Shape, error) {
			if ball {
				return w.CreateSphere(b, density(1), physics3.Sphere{Radius: 0.5})
			}
			return w.CreateBox(b, density(1), physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}})
		})
		seconds := 100
		if testing.Short() {
			seconds = 20
		}
		steps(t, w, 60*seconds)
		_, spin := velocityOf(t, w, b)
		near(t, fmt.Sprintf("the change of the spin, ball %v,", ball), length(minus(spin, vector{3, -7, 11})), 0, 1e-6*length(vector{3, -7, 11}))
	}
}

// Case 116: a needle that turns by up to 7.8 rad a step stays finite, gains no energy, and keeps its momentum where the step is short enough.
// It turns by at most π/4 in a sub-step, so its spin is limited to 47 rad/s times the number of sub-steps.
func TestCase116Needle(t *testing.T) {
	for _, subSteps := range []int{1, 4} {
		for _, spin := range [][3]float32{{1, 0.5, 100}, {100, 1, 0.5}, {4.7, 2.35, 470}, {470, 4.7, 2.35}} {
			w, b := spinning(t, physics3.Config{SubSteps: subSteps, MaxSpeed: 1e6}, [3]float32{0.05, 0.05, 2}, spin)
			l0, e0 := momentum(t, w, b)
			fast := max(spin[0], spin[2])
			limit := math.Pi / 4 * 60 * float64(subSteps)
			for range 600 {
				steps(t, w, 1)
				checkAllFinite(t, w)
				l, e := momentum(t, w, b)
				if e > 1.01*e0 {
					t.Fatalf("%d sub-steps, spin %v: energy %g, at first %g", subSteps, spin, e, e0)
				}
				if float64(fast) < limit && math.Abs(length(l)-length(l0)) > 0.02*length(l0) {
					t.Fatalf("%d sub-steps, spin %v: momentum %g, at first %g", subSteps, spin, length(l), length(l0))
				}
			}
		}
	}
}

// A box that turns about its middle axis flips again and again (Dzhanibekov), and as a free body has a period, its flips stay equally far apart.
func TestFlips(t *testing.T) {
	w, b := spinning(t, physics3.Config{}, [3]float32{1, 2, 3}, [3]float32{0.01, 6, 0.01})
	var at []float64
	was := 1.
	for step := range 60 * 30 {
		steps(t, w, 1)
		axis := rotated(rotationOf(t, w, b), vector{0, 1, 0})
		if axis[1]*was < 0 {
			at = append(at, float64(step)/60)
			was = -was
		}
	}
	if len(at) < 4 {
		t.Fatalf("flips at %v", at)
	}
	first, last := at[1]-at[0], at[len(at)-1]-at[len(at)-2]
	near(t, "the time of the last flip", last, first, 0.2*first)
}
