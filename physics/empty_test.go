package physics_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/evertick/evertick/physics"
)

// A world without bodies takes a short way, unless something observes its stages. Both have the same state then, and after bodies have come.
func TestStepsOfAnEmptyWorld(t *testing.T) {
	var worlds [2]*physics.World
	for i, observed := range []bool{false, true} {
		w, err := physics.New(physics.Config{Capacity: 10, Gravity: [2]float32{0, -10}, StageHashes: observed})
		if err != nil {
			t.Fatal(err)
		}
		worlds[i] = w
	}
	var snapshots [2][]byte
	for tick, dt := range []float32{1. / 60, 1. / 60, 1. / 30, 1. / 30, 1. / 60, 1. / 60, 1. / 60} {
		for i, w := range worlds {
			if tick == 4 {
				def, shape := physics.DefaultBodyDef(), physics.DefaultShapeDef()
				for y := range 3 {
					def.Position = [2]float32{0, float32(y)}
					b, err := w.CreateBody(def)
					if err == nil {
						_, err = w.CreatePolygon(b, shape, physics.Box(0.5, 0.5))
					}
					if err != nil {
						t.Fatal(err)
					}
					def.Type = physics.DynamicBody
				}
			}
			if err := w.Step(dt); err != nil {
				t.Fatal(err)
			}
			var err error
			if snapshots[i], err = w.Snapshot(nil); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(snapshots[0], snapshots[1]) || !slices.Equal(worlds[0].AppendColumnHashes(nil), worlds[1].AppendColumnHashes(nil)) {
			t.Fatalf("the states differ after step %d", tick)
		}
	}
	if n := worlds[0].ContactCount(); n != 2 {
		t.Errorf("%d contacts of a stack of two on a ground", n)
	}
}
