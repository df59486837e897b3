package host_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/host"
	"github.com/evertick/evertick/replay"
)

// clocks is a scenario: an entity that moves a step in each tick.
var clocks = replay.Scenario{Name: "clocks", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 1, Seed: seed})
	if err != nil {
		return nil, err
	}
	if _, err := sim.World.Spawn(); err != nil {
		return nil, err
	}
	return sim, sim.Add(evertick.BeforePhysics, "tick", func(*evertick.Tick) error {
		sim.World.Position.X[0]++
		return nil
	})
}}

// Worlds are added until the machine is full, run, and move to another Host.
func Example() {
	first, err := host.New(host.Config{Workers: 1, Budget: 0.5})
	if err != nil {
		panic(err)
	}
	defer first.Close()
	for i := 1; ; i++ {
		// Without EstimateNs, Add runs a trial, whose outcome depends on the machine.
		err := first.Add(host.World{Name: fmt.Sprint("room ", i), Scenario: clocks, Seed: uint64(i), EstimateNs: 4_000_000})
		if errors.Is(err, evertick.ErrCapacity) {
			fmt.Println(err)
			break
		} else if err != nil {
			panic(err)
		}
	}

	second, err := host.New(host.Config{Workers: 1})
	if err != nil {
		panic(err)
	}
	defer second.Close()
	err = first.Drain(context.Background(), func(s host.Saved) error { // another process would receive s as JSON
		return second.Add(host.World{Name: s.Name, Scenario: clocks, Seed: s.Seed, Snapshot: s.Snapshot})
	})
	var stats host.Stats
	second.Stats(&stats)
	for _, w := range stats.Worlds {
		fmt.Println(w.Name, "has moved")
	}
	fmt.Println(err)
	// Output:
	// host: Add: world "room 3": p95 of a tick 4ms at 60/1 Hz with 1 worker(s) takes 0.240 cores; 2 worlds have 0.480 of Config.Budget = 0.500: capacity exceeded
	// room 1 has moved
	// room 2 has moved
	// <nil>
}
