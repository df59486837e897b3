package evertick_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// Systems say what they touch: those that share nothing run side by side, and a
// writer that is not ordered against another is an error before the first tick.
func ExampleSim_AddSystem() {
	sim, err := evertick.New(evertick.Config{Capacity: 100, Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	fuel, err := ecs.AddColumn[float32](sim.World, "fuel")
	if err != nil {
		log.Fatal(err)
	}
	nothing := func(*evertick.Tick) error { return nil }
	for _, sys := range []evertick.System{
		{Name: "burn", Writes: []string{"fuel"}, Run: func(t *evertick.Tick) error {
			for slot := range t.Sim.World.Query() {
				fuel.Values()[slot] -= t.Dt
			}
			fuel.Touch()
			return nil
		}},
		{Name: "drift", Writes: []string{"position"}, Run: nothing},
		{Name: "warn", Reads: []string{"fuel"}, Run: nothing},
		{Name: "refuel", Writes: []string{"fuel"}, Run: nothing},
	} {
		if err := sim.AddSystem(sys); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(sim.Check())

	order := evertick.System{Name: "shift", After: []string{"burn"}, Before: []string{"refuel"}, Reads: []string{"rand"}, Run: nothing}
	if err := sim.AddSystem(order); err != nil {
		log.Fatal(err)
	}
	plan, err := sim.Plan()
	if err != nil {
		log.Fatal(err)
	}
	for _, group := range plan.Groups[:4] {
		fmt.Println(strings.Join(group, " | "))
	}

	// Output:
	// evertick: systems burn and refuel both write fuel, and neither is Before or After the other: out of range
	// burn | drift
	// warn | shift
	// refuel
	// physics.step
}
