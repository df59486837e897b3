package agent_test

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/spatial"
)

// Fish keep together: in every tick all of them move towards the middle of those that they see.
func ExampleNewReflex() {
	sim, err := evertick.New(evertick.Config{Capacity: 16})
	if err != nil {
		panic(err)
	}
	x := sim.World.Position.X
	// guide:begin reflex
	shoal := &agent.Sense{
		Tags: []string{"fish"}, Radius: 10,
		Terms: []spatial.Term{{Of: x, Own: x, Reduce: spatial.Mean}}, // the mean offset of the others
	}
	err = agent.NewReflex(sim, agent.ReflexConfig{
		Tag: "fish", Senses: []*agent.Sense{shoal},
		React: func(t *evertick.Tick, agents []ecs.Slot) error {
			for i, slot := range agents {
				x[slot] += float32(0.25 * shoal.Terms[0].To[i])
			}
			return nil
		},
	})
	// guide:end
	if err != nil {
		panic(err)
	}
	fish, err := sim.World.Tag("fish")
	if err != nil {
		panic(err)
	}
	for _, at := range []float32{0, 8, 100} {
		id, err := sim.World.Spawn()
		if err != nil {
			panic(err)
		}
		fish.Set(id)
		if err := sim.World.SetPosition(id, at, 0, 0); err != nil {
			panic(err)
		}
	}
	for range 3 {
		if err := sim.Step(); err != nil {
			panic(err)
		}
		fmt.Println(x[:3])
	}
	// Output:
	// [2 6 100]
	// [3 5 100]
	// [3.5 4.5 100]
}
