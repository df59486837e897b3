package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// caseHero is a character of the cases: it takes steps of 0.4 m, up and down.
func caseHero(t *testing.T, w *physics3.World, at vec, hertz float32) *hero {
	h := newHero(t, w, at[0], at[1], at[2])
	h.def.StepHeight, h.def.SnapDistance, h.dt = 0.4, 0.4, 1/hertz
	return h
}

// stairMesh is stairs along x from 0 on as one surface: risers and treads without the parts that are hidden.
func stairMesh(steps int, rise, run, half float32) *physics3.Mesh {
	var d physics3.MeshDef
	row := func(x, y float32) { d.Vertices = append(d.Vertices, vec{x, y, -half}, vec{x, y, half}) }
	row(-30, 0)
	row(0, 0)
	for i := range steps {
		y := rise * float32(i+1)
		row(run*float32(i), y)
		if i == steps-1 {
			row(run*float32(i)+30, y)
		} else {
			row(run*float32(i+1), y)
		}
	}
	for k := uint32(0); k+3 < uint32(len(d.Vertices)); k += 2 {
		d.Triangles = append(d.Triangles, [3]uint32{k, k + 1, k + 2}, [3]uint32{k + 2, k + 1, k + 3})
	}
	return newMesh(d)
}

func TestCase103Stairs(t *testing.T) {
	const steps, rise, run = 10, 0.3, 0.3
	for _, kind := range []string{"boxes", "mesh"} {
		for _, hertz := range []float32{60, 120, 240, 360} {
			for _, angle := range []float64{0, math.Pi / 4} {
				w := emptyWorld(t, physics3.Config{Capacity: 10})
				b := static(t, w)
				if kind == "boxes" {
					block(t, w, b, vec{0, -1, 0}, vec{40, 1, 40})
					for i := range steps {
						y := float32(rise * float64(i+1))
						block(t, w, b, vec{run*float32(i) + 20, y - 1, 0}, vec{20, 1, 40})
					}
				} else {
					_, err := w.CreateMesh(b, plain, stairMesh(steps, rise, run, 40), physics3.Placement{})
					no(t, err)
				}
				what := fmt.Sprintf("%s at %g Hz, angle %.1f", kind, hertz, angle)
				h := caseHero(t, w, vec{-1, tall, 0}, hertz)
				h.walk(0, 0, 10)
				vx, vz := float32(4*math.Cos(angle)), float32(4*math.Sin(angle))
				for h.m.X[0] < -0.31 {
					h.walk(vx, vz, 1)
				}
				seconds := 0.
				for ; seconds < 5 && !(float64(h.m.Y[0]) > steps*rise+tall-0.004); seconds += float64(h.dt) {
					h.walk(vx, vz, 1)
					line := float64(h.m.X[0]) + 0.3 // of the edges of the steps, at the front of the foot
					if y := float64(h.m.Y[0]) - tall; !h.stands() || y > min(line, steps*rise)+rise+0.005 {
						t.Fatalf("%s: %v, stands %v", what, h.at(), h.stands())
					}
				}
				if most := 1.24 / math.Cos(angle); seconds > most {
					t.Errorf("%s: up in %.3f s, at most %.2f", what, seconds, most)
				}
				h.walk(vx, vz, int(hertz/4))
				for h.m.X[0] > -1 {
					h.walk(-vx, -vz, 1)
					if !h.stands() {
						t.Fatalf("%s: in the air on its way down, at %v", what, h.at())
					}
				}
				h.expect(what+": down", vec{h.m.X[0], tall, h.m.Z[0]}, 0.003)
				h.def.StepHeight = 0
				h.walk(vx, 0, int(2*hertz))
				h.expect(what+": no steps", vec{-0.305, tall, h.m.Z[0]}, 0.003)
			}
		}
	}
}

func TestCase104Slopes(t *testing.T) {
	for degrees := 5.; degrees <= 75; degrees += 10 {
		angle := degrees * math.Pi / 180
		for _, kind := range []string{"box", "mesh"} {
			w := emptyWorld(t, physics3.Config{Capacity: 10})
			d := physics3.DefaultBodyDef()
			d.Rotation = [4]float32{2: float32(math.Sin(angle / 2)), 3: float32(math.Cos(angle / 2))}
			b := bodyOf(t, w, d) // it rises along x
			if kind == "box" {
				block(t, w, b, vec{0, -1, 0}, vec{60, 1, 60})
			} else {
				_, err := w.CreateMesh(b, plain, newMesh(gridMesh(120, 120, flat)), physics3.Placement{})
				no(t, err)
			}
			what := fmt.Sprintf("%s of %g°", kind, degrees)
			h := caseHero(t, w, vec{0, float32(0.305/math.Cos(angle) + 0.6), 0}, 60)
			h.walk(0, 0, 30)
			from := h.at()
			h.walk(0, 0, 300)
			height := func() float64 { return float64(h.m.Y[0]) - float64(h.m.X[0])*math.Tan(angle) }
			if degrees >= 55 {
				if h.stands() || h.m.Y[0] > from[1]-1 {
					t.Errorf("%s: stands at %v", what, h.at())
				}
				before := h.m.Y[0]
				h.m.VY[0] = 0
				for range 60 {
					h.walk(4, 1, 1)
					if h.m.Y[0] > before+0.001 {
						t.Fatalf("%s: climbs to %v from %g", what, h.at(), before)
					}
					before = h.m.Y[0]
				}
				continue
			}
			h.expect(what+": stands", from, 0.001)
			h.walk(4, 0, 60)
			h.expect(what+": up", vec{from[0] + 4, from[1] + float32(4*math.Tan(angle)), 0}, 0.01)
			for range 120 {
				h.walk(-4, 0, 1)
				if !h.stands() {
					t.Fatalf("%s: in the air on its way down at %v", what, h.at())
				}
			}
			h.expect(what+": down", vec{from[0] - 4, from[1] - float32(4*math.Tan(angle)), 0}, 0.01)
			over := height()
			h.walk(0, 4, 60)
			h.expect(what+": across", vec{from[0] - 4, h.m.Y[0], 4}, 0.001)
			if math.Abs(height()-over) > 0.001 {
				t.Errorf("%s: across from %g to %g m above the slope", what, over, height())
			}
		}
	}
}

func TestCase105Turntable(t *testing.T) {
	w := emptyWorld(t, physics3.Config{Capacity: 10})
	disc := bodyAt(t, w, physics3.KinematicBody, 0, -0.5, 0)
	block(t, w, disc, vec{}, vec{12, 0.5, 12})
	h := caseHero(t, w, vec{9, tall, 0}, 60)
	h.walk(0, 0, 10)
	no(t, w.SetVelocity(disc, vec{}, vec{0, 2 * math.Pi, 0}))
	for i := range 180 {
		no(t, w.Step(dt))
		h.walk(0, 0, 1)
		q := must[[4]float32](t)(w.Rotation(disc))
		angle := 2 * math.Atan2(float64(q[1]), float64(q[3]))
		x, z := 9*math.Cos(angle), -9*math.Sin(angle)
		if off := math.Hypot(float64(h.m.X[0])-x, float64(h.m.Z[0])-z); off > 1e-3*float64(i+2)/100+2e-3 {
			t.Fatalf("step %d: %g m from its place, at %v", i, off, h.at())
		}
		if r := math.Hypot(float64(h.m.X[0]), float64(h.m.Z[0])); math.Abs(r-9) > 0.01 || !h.stands() {
			t.Fatalf("step %d: radius %g, stands %v", i, r, h.stands())
		}
		if v := math.Hypot(float64(h.m.GroundVX[0]), float64(h.m.GroundVZ[0])); math.Abs(v-2*math.Pi*9) > 0.1 {
			t.Fatalf("step %d: the ground moves at %g m/s", i, v)
		}
	}
	// A jump keeps the speed.
	h.m.VY[0] = 3
	no(t, w.Move(&h.def, &h.m, dt))
	from := h.at()
	h.walk(0, 0, 6)
	if far, want := math.Hypot(float64(h.m.X[0]-from[0]), float64(h.m.Z[0]-from[2])), 0.1*2*math.Pi*9; math.Abs(far-want) > 0.02 {
		t.Errorf("jumped %g m in 0.1 s, want %g", far, want)
	}
}

func TestCase106FreeOfWalls(t *testing.T) {
	for _, kind := range []string{"box", "mesh", "two boxes"} {
		for degrees := 5.; degrees <= 85; degrees += 10 {
			w, b := floored(t)
			switch kind {
			case "box":
				block(t, w, b, vec{0, 2, -1}, vec{50, 2, 1})
			case "two boxes":
				for i := -10; i < 10; i++ {
					block(t, w, b, vec{2.5 + 5*float32(i), 2, -1}, vec{2.5, 2, 1})
				}
			case "mesh":
				_, err := w.CreateMesh(b, plain, newMesh(gridMesh(40, 20, flat)), physics3.Placement{Rotation: [4]float32{0: float32(math.Sqrt(0.5)), 3: float32(math.Sqrt(0.5))}})
				no(t, err)
			}
			angle := degrees * math.Pi / 180
			vx, vz := 4*math.Cos(angle), -4*math.Sin(angle)
			h := caseHero(t, w, vec{-6, tall, 0.305}, 60)
			h.walk(0, 0, 10)
			for i := range 180 {
				x := h.m.X[0]
				h.walk(float32(vx), float32(vz), 1)
				if v := float64(h.m.X[0]-x) * 60; math.Abs(v-vx) > 0.02*vx || h.m.Y[0] > tall+0.001 {
					t.Fatalf("%s at %g°: step %d: %g m/s, want %g, at %v", kind, degrees, i, v, vx, h.at())
				}
			}
			if z := h.m.Z[0]; math.Abs(float64(z)-0.305) > 0.003 {
				t.Errorf("%s at %g°: ends at %v", kind, degrees, h.at())
			}
		}
	}
}
