package inspector

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

// BenchmarkColumns measures what the answer of "columns" costs the goroutine of a Sim of 100,000 entities with 12
// columns of float32, and what it costs the goroutine that asks.
func BenchmarkColumns(b *testing.B) {
	sim, err := evertick.New(evertick.Config{Capacity: 100_000})
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"hp", "speed"} {
		if _, err := ecs.AddColumn[float32](sim.World, name); err != nil {
			b.Fatal(err)
		}
	}
	r := loop.NewRand(1, 2, 3, 4)
	for range 100_000 {
		id, err := sim.World.Spawn()
		if err == nil {
			err = sim.World.SetPosition(id, r.Float32(), r.Float32(), r.Float32())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("copy", func(b *testing.B) {
		for b.Loop() {
			copyColumns(sim)
		}
	})
	c := copyColumns(sim)
	b.Run("answer", func(b *testing.B) {
		for b.Loop() {
			c.answer()
		}
	})
}
