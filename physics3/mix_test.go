package physics3_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// A box slides on floors of boxes and of triangles, and a ball bounces on them: friction and restitution are mixed by the rules of Config.
func TestMixes(t *testing.T) {
	floor := newMesh(physics3.MeshDef{
		Vertices: []vec{{-50, 0, -50}, {50, 0, -50}, {50, 0, 50}, {-50, 0, 50}}, Triangles: [][3]uint32{{0, 2, 1}, {0, 3, 2}},
	})
	rough, smooth := plain, plain
	rough.Friction, rough.Restitution, smooth.Friction, smooth.Restitution = 0.2, 0.9, 0.8, 0.4
	for _, c := range []struct {
		mix                   physics3.Mix
		friction, restitution float64
	}{
		{physics3.MixDefault, 0.4, 0.9}, {physics3.MixGeometric, 0.4, 0.6}, {physics3.MixMax, 0.8, 0.9}, {physics3.MixMin, 0.2, 0.4},
		{physics3.MixAverage, 0.5, 0.65}, {physics3.MixMultiply, 0.16, 0.36},
	} {
		for _, level := range []native.Level{native.Go, native.Auto} {
			for _, triangles := range []bool{false, true} {
				w := emptyWorld(t, physics3.Config{Gravity: vec{0, -10, 0}, FrictionMix: c.mix, RestitutionMix: c.mix, Level: level})
				ground := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
				if triangles {
					must[physics3.Shape](t)(w.CreateMesh(ground, rough, floor, physics3.Placement{}))
				} else {
					must[physics3.Shape](t)(w.CreateBox(ground, rough, physics3.Box{Half: vec{50, 1, 50}, Center: vec{0, -1, 0}}))
				}
				sliding, flat := bodyAt(t, w, physics3.DynamicBody, 0, 0.5, 0), smooth
				flat.Restitution = 0
				box(t, w, sliding, flat, 1, 0.5, 1)
				ball := bodyAt(t, w, physics3.DynamicBody, 0, 2.5, 20)
				sphere(t, w, ball, smooth, 0.5)
				no(t, w.SetVelocity(sliding, vec{5, 0, 0}, vec{}))
				highest := float32(0)
				for i := range 120 {
					no(t, w.Step(dt))
					if i == 29 {
						v := must[float64](t)(speed(w, sliding))
						if want := max(0, 5-float64(c.friction*5)); math.Abs(v-want) > 0.05 {
							t.Errorf("mix %d, level %v, triangles %v: %.3f m/s after half a second, want %.3f", c.mix, level, triangles, v, want)
						}
					}
					if i > 45 {
						highest = max(highest, position(t, w, ball)[1])
					}
				}
				if want := 0.5 + 2*c.restitution*c.restitution; math.Abs(float64(highest)-want) > 0.06 {
					t.Errorf("mix %d, level %v, triangles %v: the ball rises to %.3f m, want %.3f", c.mix, level, triangles, highest, want)
				}
			}
		}
	}
}

func speed(w *physics3.World, b physics3.Body) (float64, error) {
	v, _, err := w.Velocity(b)
	return math.Hypot(float64(v[0]), float64(v[2])), err
}
