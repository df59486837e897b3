package guide_test

import (
	"fmt"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

func Example_modes() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	const menu, playing, paused = 0, 1, 2
	sim, err := evertick.New(evertick.Config{
		Capacity:     10,
		Loop:         loop.Config{RateNum: 10}, // 10 ticks a second
		PhysicsModes: 1 << playing,             // bodies rest in the menu and in pauses
	})
	check(err)
	mission, err := sim.AddTimer("mission", 1<<playing)
	check(err)
	ship, err := sim.World.Spawn()
	check(err)
	def := physics.DefaultBodyDef()
	def.Type, def.LinearVelocity = physics.KinematicBody, [2]float32{5, 0} // 5 m/s
	_, err = sim.CreateBody(ship, def)
	check(err)

	// The mode changes by inputs, so a replay changes it in the same ticks.
	check(sim.Add(evertick.BeforePhysics, "input", func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			if in.Kind == playing && t.Sim.Mode() == menu {
				mission.Set(t.Sim.TicksIn(800 * time.Millisecond))
				mission.Start()
			}
			if err := t.Sim.SetMode(uint8(in.Kind)); err != nil { // from the next tick on
				return err
			}
		}
		return nil
	}))
	check(sim.AddSystem(evertick.System{Name: "mission", Stage: evertick.AfterPhysics, Modes: 1 << playing, Run: func(t *evertick.Tick) error {
		if mission.Expired() {
			fmt.Println("the time is up")
		}
		return nil
	}}))
	cameraX := float32(0) // only drawn, so it need not be part of the state
	check(sim.Add(evertick.AfterCommands, "camera", func(t *evertick.Tick) error {
		cameraX += (sim.World.Position.X[0] - cameraX) / 2
		return nil
	}))

	for _, in := range []evertick.Input{{Tick: 1, Kind: playing}, {Tick: 4, Kind: paused}, {Tick: 7, Kind: playing}} {
		in.Seq = in.Tick
		check(sim.Push(in))
	}
	for range 15 {
		check(sim.Step())
		fmt.Printf("tick %2d, next mode %d: %d ticks left, %d over, ship %.1f, camera %.2f\n",
			sim.Ticks()-1, sim.Mode(), mission.Left(), mission.Overtime(), sim.World.Position.X[0], cameraX)
	}

	// Output:
	// tick  0, next mode 0: 0 ticks left, 0 over, ship 0.0, camera 0.00
	// tick  1, next mode 1: 8 ticks left, 0 over, ship 0.0, camera 0.00
	// tick  2, next mode 1: 7 ticks left, 0 over, ship 0.5, camera 0.25
	// tick  3, next mode 1: 6 ticks left, 0 over, ship 1.0, camera 0.62
	// tick  4, next mode 2: 5 ticks left, 0 over, ship 1.5, camera 1.06
	// tick  5, next mode 2: 5 ticks left, 0 over, ship 1.5, camera 1.28
	// tick  6, next mode 2: 5 ticks left, 0 over, ship 1.5, camera 1.39
	// tick  7, next mode 1: 5 ticks left, 0 over, ship 1.5, camera 1.45
	// tick  8, next mode 1: 4 ticks left, 0 over, ship 2.0, camera 1.72
	// tick  9, next mode 1: 3 ticks left, 0 over, ship 2.5, camera 2.11
	// tick 10, next mode 1: 2 ticks left, 0 over, ship 3.0, camera 2.56
	// tick 11, next mode 1: 1 ticks left, 0 over, ship 3.5, camera 3.03
	// the time is up
	// tick 12, next mode 1: 0 ticks left, 0 over, ship 4.0, camera 3.51
	// tick 13, next mode 1: 0 ticks left, 1 over, ship 4.5, camera 4.01
	// tick 14, next mode 1: 0 ticks left, 2 over, ship 5.0, camera 4.50
}
