package physics3_test

import (
	"testing"

	"github.com/evertick/evertick/physics3"
)

// BenchmarkRest steps 16,384 boxes in stacks of four, which are at rest.
func BenchmarkRest(b *testing.B) {
	for _, asleep := range []bool{false, true} {
		b.Run(map[bool]string{false: "awake", true: "asleep"}[asleep], func(b *testing.B) {
			w := stacks(b, 64, 4, 1.5, !asleep)
			steps(b, w, 60)
			if asleep != (w.AwakeCount() == 0) {
				b.Fatalf("%d bodies are awake", w.AwakeCount())
			}
			for b.Loop() {
				if err := w.Step(1. / 60); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// stacks returns a world of edge·edge stacks on a floor.
func stacks(b *testing.B, edge, height int, pitch float32, noSleep bool) *physics3.World {
	w := must[*physics3.World](b)(physics3.New(physics3.Config{Gravity: [3]float32{0, -9.81, 0}, Capacity: edge*edge*height + 1, DisableSleep: noSleep}))
	d := physics3.DefaultBodyDef()
	d.Position = [3]float32{0, -0.5, 0}
	addBox(b, w, d, [3]float32{200, 0.5, 200})
	for i := range edge * edge * height {
		x, z := float32(i/height%edge)-float32(edge)/2, float32(i/height/edge)-float32(edge)/2
		addBox(b, w, dynamicAt(x*pitch, float32(i%height)+0.5, z*pitch), [3]float32{0.5, 0.5, 0.5})
	}
	return w
}
