package guide_test

import (
	"context"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

func Example_loop() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	sim, err := evertick.New(evertick.Config{
		Capacity: 10,
		Previous: true, // keep the transforms of the tick before, to draw between two ticks
		Loop:     loop.Config{RateNum: 50},
		Clock:    &loop.ManualClock{Jump: true}, // for Run, below: time that passes at once
	})
	check(err)
	_, err = sim.World.Spawn()
	check(err)
	check(sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		sim.World.Position.X[0]++ // a metre a tick
		return nil
	}))

	// A host with frames passes their lengths.
	drawn := ecs.NewTransforms(10)
	for _, elapsedNs := range []int64{30_000_000, 7_000_000, 7_000_000, 150_000_000} {
		frame, err := sim.Advance(elapsedNs)
		check(err)
		check(sim.Interpolate(drawn))
		fmt.Printf("%d ms: %d ticks, %d dropped, at %.2f m, drawn at %.2f m\n",
			elapsedNs/1e6, frame.Steps, frame.Dropped, sim.World.Position.X[0], drawn.Position.X[0])
	}

	check(sim.Loop().Freeze(40_000_000)) // a hit: 40 ms of wall time in which nothing moves
	for range 3 {
		frame, err := sim.Advance(20_000_000)
		check(err)
		fmt.Printf("frozen: %v, %d ticks\n", frame.Frozen, frame.Steps)
	}

	// A host without frames lets Run wait for each tick.
	ctx, stop := context.WithCancel(context.Background())
	sim.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error {
		if sim.Ticks() == 500 {
			stop()
		}
		return nil
	}})
	fmt.Println(sim.Run(ctx), sim.Ticks())

	// Output:
	// 30 ms: 1 ticks, 0 dropped, at 1.00 m, drawn at 0.50 m
	// 7 ms: 0 ticks, 0 dropped, at 1.00 m, drawn at 0.85 m
	// 7 ms: 1 ticks, 0 dropped, at 2.00 m, drawn at 1.20 m
	// 150 ms: 5 ticks, 2 dropped, at 7.00 m, drawn at 6.70 m
	// frozen: true, 0 ticks
	// frozen: false, 0 ticks
	// frozen: false, 1 ticks
	// context canceled 500
}
