package profile_test

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/loop"
)

// A Sim is recorded from the moment of Attach. Its clock is one that systems move by hand
// here, so that the figures are the same on every machine.
func ExampleAttach() {
	clock := new(loop.ManualClock)
	sim, err := evertick.New(evertick.Config{Clock: clock})
	if err != nil {
		panic(err)
	}
	think := func(tick *evertick.Tick) error {
		clock.Add(2_000_000) // 2 ms, and every fourth time 28 ms
		if tick.N%4 == 3 {
			clock.Add(26_000_000)
		}
		return nil
	}
	if err := sim.Add(evertick.AfterIndex, "think", think); err != nil {
		panic(err)
	}

	rec, err := profile.Attach(sim, profile.Config{Name: "thinkers", RateHz: 50})
	if err != nil {
		panic(err)
	}
	for range 6 {
		clock.Set(max(clock.Now(), int64(sim.Ticks())*20_000_000)) // wait for the next step
		if err := sim.Step(); err != nil {
			panic(err)
		}
	}
	run := rec.Run()

	s := &run.Steps
	for i := range s.Ns {
		fmt.Printf("tick %d: %2d ms, late by %.1f ms\n", s.Tick[i], s.Ns[i]/1e6, float64(s.StartNs[i]-s.DueNs[i])/1e6)
	}
	fmt.Printf("%s, budget %.1f ms\n", run.Scene, float64(run.BudgetNs)/1e6)
	// Output:
	// tick 0:  2 ms, late by 0.0 ms
	// tick 1:  2 ms, late by 0.0 ms
	// tick 2:  2 ms, late by 0.0 ms
	// tick 3: 28 ms, late by 0.0 ms
	// tick 4:  2 ms, late by 8.0 ms
	// tick 5:  2 ms, late by 0.0 ms
	// thinkers, budget 16.7 ms
}

// A loop without a Sim calls Begin, Phase and End.
func ExampleNew() {
	now := int64(0) // in place of the system's clock, so that the figures are the same everywhere
	rec, err := profile.New(profile.Config{Name: "bodies", Clock: func() int64 { return now }}, []string{"broad", "solve"})
	if err != nil {
		panic(err)
	}
	for range 3 {
		rec.Begin(-1)
		rec.Phase(0)
		now += 100_000 // find pairs
		rec.Phase(1)
		now += 400_000 // solve
		rec.End()
	}
	s := rec.Run().Steps
	for i, name := range s.Phases {
		fmt.Println(name, s.PhaseNs[i])
	}
	fmt.Println("step", s.Ns)
	// Output:
	// broad [100000 100000 100000]
	// solve [400000 400000 400000]
	// step [500000 500000 500000]
}

func ExamplePin() {
	undo, err := profile.Pin(0)
	if err != nil {
		fmt.Println("not pinned") // on Linux only, and only to CPUs that the process may use
		return
	}
	defer undo()
	// Run the steps here.
}
