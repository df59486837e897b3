package skill_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/skill"
)

// BenchmarkCall measures a whole call in a tick, JSON in and out.
func BenchmarkCall(b *testing.B) {
	for _, c := range []struct{ name, input string }{
		{"world.stats", `{}`},
		{"ecs.updateComponent", `{"id":"ent_4","position":{"x":1,"y":2,"z":3}}`},
		{"physics.applyImpulse", `{"id":"ent_1","impulse":{"x":0.01,"y":0,"z":0}}`},
		{"physics.raycast", `{"from":{"x":-5,"y":0,"z":0},"to":{"x":15,"y":0,"z":0}}`},
		{"scene.queryEntities", `{"center":{"x":50,"y":50,"z":0},"radius":10}`},
		{"scene.destroyEntity", `{"id":"ent_99999"}`}, // refused
	} {
		b.Run("skill="+c.name, func(b *testing.B) {
			y := newYard(b, yardConfig{sim: evertick.Config{Capacity: 4096}, skills: skill.Config{Rate: skill.Unlimited}})
			for i := range 2000 {
				id, err := y.sim.World.Spawn()
				if err != nil {
					b.Fatal(err)
				}
				if err := y.sim.World.SetPosition(id, float32(i*37%101), float32(i*53%103), 0); err != nil {
					b.Fatal(err)
				}
			}
			n := 0
			if err := y.sim.Add(evertick.AfterIndex, "bench", func(t *evertick.Tick) error {
				for range n {
					_, err := y.r.Call(t, builder, c.name, []byte(c.input), 0)
					if (err != nil) != (c.name == "scene.destroyEntity") {
						return fmt.Errorf("%w", err)
					}
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
			n = b.N
			b.ReportAllocs()
			b.ResetTimer()
			y.step(b, 1)
		})
	}
}
