package evertick_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

func ExampleSim_Restore() {
	sim, err := evertick.New(evertick.Config{Capacity: 16})
	if err != nil {
		panic(err)
	}
	_, slot, _ := sim.World.SpawnSlot()
	sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		sim.World.Position.X[slot] += t.Dt
		return nil
	})
	run := func(n int) {
		for range n {
			if err := sim.Step(); err != nil {
				panic(err)
			}
		}
	}
	run(10)
	saved, err := sim.Snapshot(nil)
	if err != nil {
		panic(err)
	}
	run(20)
	far := sim.Hash()
	if err := sim.Restore(saved); err != nil {
		panic(err)
	}
	fmt.Println("back at tick", sim.Ticks())
	run(20)
	fmt.Println("the same again:", sim.Hash() == far)
	// Output:
	// back at tick 10
	// the same again: true
}

func ExampleSim_StepBack() {
	sim, err := evertick.New(evertick.Config{Capacity: 16, History: evertick.HistoryConfig{Keep: 4, Every: 30}})
	if err != nil {
		panic(err)
	}
	_, slot, _ := sim.World.SpawnSlot()
	sim.Add(evertick.BeforePhysics, "obey", func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			sim.World.Position.X[slot] += float32(in.Data[0])
		}
		return nil
	})
	x := func() float32 { return sim.World.Position.X[slot] }
	_ = sim.Push(evertick.Input{Tick: 50, Source: 1, Seq: 1, Data: []byte{7}})
	_ = sim.StepN(60)
	fmt.Println("tick", sim.Ticks(), "x", x())
	_ = sim.StepBack(20)
	fmt.Println("tick", sim.Ticks(), "x", x())
	_ = sim.Forward(20)
	fmt.Println("tick", sim.Ticks(), "x", x())
	// Output:
	// tick 60 x 7
	// tick 40 x 0
	// tick 60 x 7
}

// A mouse runs along the x axis at 3 m/s; the cat that sits at 5 m notices it
// when it comes within a metre.
func ExampleNew() {
	sim, err := evertick.New(evertick.Config{Capacity: 100, Loop: loop.Config{RateNum: 10}})
	if err != nil {
		panic(err)
	}
	var c struct {
		Speed *ecs.Column[float32] // m/s, one for each slot
	}
	sim.Register(&c)
	_, mouse, _ := sim.World.SpawnSlot()
	cat, self, _ := sim.World.SpawnSlot()
	c.Speed.Values()[mouse] = 3
	if err := sim.World.SetPosition(cat, 5, 0, 0); err != nil {
		panic(err)
	}

	x, v := sim.World.Position.X, c.Speed.Values()
	sim.Add(evertick.BeforePhysics, "run", func(t *evertick.Tick) error {
		for slot := range sim.World.Query() {
			x[slot] += float32(v[slot] * t.Dt) // the conversion keeps the product from being fused
		}
		return nil
	})

	around := spatial.Queries{X: []float32{5}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{1}, Exclude: []uint32{self}}
	var seen spatial.Result
	sim.Add(evertick.AfterIndex, "watch", func(t *evertick.Tick) error {
		if err := sim.Index.Radius(&around, &seen); err != nil {
			return err
		}
		for _, slot := range seen.Row(0) {
			id, _ := sim.World.ID(slot)
			fmt.Printf("tick %d: %s sees %s at %.1f m\n", t.N, cat, id, x[slot])
		}
		return nil
	})

	for range 15 {
		if err := sim.Step(); err != nil {
			panic(err)
		}
	}
	fmt.Println(sim.Ticks(), "ticks of", sim.Dt(), "s")
	// Output:
	// tick 13: ent_2 sees ent_1 at 4.2 m
	// tick 14: ent_2 sees ent_1 at 4.5 m
	// 15 ticks of 0.1 s
}

// Systems declare what they touch: those that share nothing run side by side, and two
// writers without an order are an error before the first tick.
func ExampleSim_AddSystem() {
	sim, err := evertick.New(evertick.Config{Capacity: 100, Workers: 2})
	if err != nil {
		log.Fatal(err)
	}
	var c struct{ Fuel *ecs.Column[float32] }
	sim.Register(&c)
	nothing := func(*evertick.Tick) error { return nil }
	for _, sys := range []evertick.System{
		{Name: "burn", Writes: []string{"fuel"}, Run: func(t *evertick.Tick) error {
			for slot := range t.Sim.World.Query() {
				c.Fuel.Values()[slot] -= t.Dt
			}
			c.Fuel.Touch()
			return nil
		}},
		{Name: "drift", Writes: []string{"position"}, Run: nothing},
		{Name: "warn", Reads: []string{"fuel"}, Run: nothing},
		{Name: "refuel", Writes: []string{"fuel"}, Run: nothing},
	} {
		sim.AddSystem(sys)
	}
	fmt.Println(sim.Check())

	order := evertick.System{Name: "shift", After: []string{"burn"}, Before: []string{"refuel"}, Reads: []string{"rand"}, Run: nothing}
	sim.AddSystem(order)
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

// A menu in which only the camera moves, and a mission that is over after two ticks of play.
func ExampleSim_SetMode() {
	const playing = 1 // the menu is mode 0, in which a Sim begins
	sim, err := evertick.New(evertick.Config{Capacity: 1, PhysicsModes: 1 << playing})
	if err != nil {
		log.Fatal(err)
	}
	mission, err := sim.AddTimer("mission", 1<<playing)
	if err != nil {
		log.Fatal(err)
	}
	mission.Set(2)
	mission.Start()
	for _, sys := range []evertick.System{
		{Name: "input", Run: func(t *evertick.Tick) error {
			for _, in := range t.Inputs() {
				if err := t.Sim.SetMode(uint8(in.Kind)); err != nil {
					return err
				}
			}
			return nil
		}},
		{Name: "play", Stage: evertick.AfterPhysics, Modes: 1 << playing, Run: func(t *evertick.Tick) error {
			fmt.Printf("tick %d: playing, %d left, expired: %t\n", t.N, mission.Left(), mission.Expired())
			return nil
		}},
		{Name: "camera", Stage: evertick.AfterCommands, Run: func(t *evertick.Tick) error {
			fmt.Printf("tick %d: the camera moves\n", t.N)
			return nil
		}},
	} {
		if err := sim.AddSystem(sys); err != nil {
			log.Fatal(err)
		}
	}
	if err := sim.Push(evertick.Input{Tick: 0, Kind: playing}); err != nil {
		log.Fatal(err)
	}
	if err := sim.StepN(3); err != nil {
		log.Fatal(err)
	}

	// Output:
	// tick 0: the camera moves
	// tick 1: playing, 1 left, expired: false
	// tick 1: the camera moves
	// tick 2: playing, 0 left, expired: true
	// tick 2: the camera moves
}

// A renderer on another goroutine draws what the Sim has published, at its own rate.
func ExampleSim_Publish() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	clock := &loop.ManualClock{Jump: true}
	sim, err := evertick.New(evertick.Config{Capacity: 10, Previous: true, Loop: loop.Config{RateNum: 50}, Clock: clock})
	check(err)
	_, err = sim.World.Spawn()
	check(err)
	ctx, stop := context.WithCancel(context.Background())
	check(sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		sim.World.Position.X[0] += 10 // metres a tick
		if t.N == 99 {
			stop()
		}
		return nil
	}))
	frames, err := sim.Publish(evertick.PublishConfig{Transforms: []string{"position.x", "position.y"}})
	check(err)
	done := make(chan error)
	go func() { done <- sim.Run(ctx) }()
	fmt.Println(<-done)

	// A renderer does this in a loop, while the Sim runs.
	view := frames.Acquire()
	drawn := ecs.NewTransforms(10)
	for _, later := range []int64{0, 5e6, 10e6} { // a quarter of a tick each
		alpha := view.Alpha(frames.Now() + later)
		check(view.Interpolate(alpha, drawn))
		for row, id := range view.IDs {
			if id != 0 {
				fmt.Println("tick", view.Tick, "alpha", alpha, id, "at", drawn.Position.X[row])
			}
		}
	}
	// Output:
	// context canceled
	// tick 100 alpha 0 ent_1 at 990
	// tick 100 alpha 0.25 ent_1 at 992.5
	// tick 100 alpha 0.5 ent_1 at 995
}

func Example_readme() {
	sim, err := evertick.New(evertick.Config{}) // 60 Hz, room for 16,384 entities
	if err != nil {
		panic(err)
	}
	var c struct{ Speed *ecs.Column[float32] } // the columns and tags that your entities have besides a position
	sim.Register(&c)
	x, speed := sim.World.Position.X, c.Speed.Values() // one float32 per entity
	for i := range 1000 {
		_, slot, _ := sim.World.SpawnSlot() // a row of walkers, a metre apart
		x[slot], speed[slot] = float32(i), float32(i%7)-3
	}
	sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		native.Integrate(sim.Level(), x, speed, t.Dt) // x += speed * dt
		return nil
	})
	if err := sim.StepN(600); err != nil { // also an error of Register or Add
		panic(err)
	}
	near, q := spatial.Result{}, spatial.Queries{X: []float32{500}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{2.5}}
	fmt.Println(sim.Index.Radius(&q, &near), near.Row(0), sim.Hash()) // which are within 2.5 m of (500, 0, 0)?
	// Output:
	// <nil> [468 481 500 519 532] 14541534950089962638
}
