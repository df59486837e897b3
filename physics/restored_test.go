package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

// A world goes on as one restored from it does, which has built anew what depends on the state.
func TestRestoredWorldsGoOn(t *testing.T) {
	t.Run("paddle among bullets", func(t *testing.T) {
		w := newWorld(t, physics.Config{Capacity: 8})
		paddle := must[physics.Body](t)(w.CreateBody(physics.BodyDef{Type: physics.KinematicBody, AngularVelocity: 20}))
		long := must[physics.Shape](t)(w.CreatePolygon(paddle, physics.DefaultShapeDef(), physics.Box(5, 0.02)))
		must[physics.Shape](t)(w.CreatePolygon(paddle, physics.DefaultShapeDef(), physics.Box(0.02, 2)))
		for k := range 7 {
			sin, cos := math.Sincos(float64(k))
			at := [2]float32{float32(3 * cos), float32(3 * sin)}
			b := must[physics.Body](t)(w.CreateBody(physics.BodyDef{Type: physics.DynamicBody, Bullet: true, Position: at}))
			must[physics.Shape](t)(w.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.2}))
		}
		goOn(t, w)
		if err := w.DestroyShape(long); err != nil {
			t.Fatal(err)
		}
		goOn(t, w)
	})
	t.Run("floor is disabled", func(t *testing.T) {
		w := newWorld(t, physics.Config{Capacity: 8, Gravity: [2]float32{0, -10}})
		floor := must[physics.Body](t)(w.CreateBody(physics.BodyDef{}))
		must[physics.Shape](t)(w.CreatePolygon(floor, physics.DefaultShapeDef(), physics.Box(10, 0.5)))
		box := must[physics.Body](t)(w.CreateBody(physics.BodyDef{Type: physics.DynamicBody, GravityScale: 1, Position: [2]float32{0, 1}}))
		must[physics.Shape](t)(w.CreatePolygon(box, physics.DefaultShapeDef(), physics.Box(0.5, 0.5)))
		steps(t, w, 5)
		w.Columns().LinearDamping[floor.Index()] = nan
		goOn(t, w)
	})
}

// goOn steps a world and one restored from it, and compares their hashes.
func goOn(t *testing.T, w *physics.World) {
	t.Helper()
	twin := newWorld(t, w.Config())
	if err := twin.Restore(must[[]byte](t)(w.Snapshot(nil))); err != nil {
		t.Fatal(err)
	}
	for step := range 60 {
		steps(t, w, 1)
		steps(t, twin, 1)
		if w.Hash() != twin.Hash() {
			t.Fatalf("step %d: the twin differs", step)
		}
	}
}
