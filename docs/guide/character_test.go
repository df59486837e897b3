package guide_test

import (
	"fmt"

	"github.com/evertick/evertick/physics3"
)

func Example_character() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	w, err := physics3.New(physics3.Config{Capacity: 100, Gravity: [3]float32{0, -10, 0}})
	check(err)
	static, err := w.CreateBody(physics3.DefaultBodyDef())
	check(err)
	shape := physics3.DefaultShapeDef()
	box := func(b physics3.Body, center, half [3]float32) {
		_, err := w.CreateBox(b, shape, physics3.Box{Center: center, Half: half})
		check(err)
	}

	// A floor, ten steps up to a landing, and a ceiling of 1.2 m on the landing.
	box(static, [3]float32{0, -1, 0}, [3]float32{50, 1, 50})
	for i := range 10 {
		top := 0.2 * float32(i+1)
		box(static, [3]float32{4 + 0.3*float32(i) + 5, top - 1, 0}, [3]float32{5, 1, 2})
	}
	box(static, [3]float32{11, 2 + 1.2 + 0.5, 0}, [3]float32{1, 0.5, 2})

	// A train passes the landing.
	def := physics3.DefaultBodyDef()
	def.Type, def.Position, def.LinearVelocity = physics3.KinematicBody, [3]float32{20, 1.5, -28}, [3]float32{0, 0, 6}
	train, err := w.CreateBody(def)
	check(err)
	box(train, [3]float32{}, [3]float32{3, 0.5, 10})

	// One character. A batch of a thousand has the same columns with a thousand rows.
	rules := physics3.DefaultMoverDef()
	one := func() []float32 { return make([]float32, 1) }
	m := physics3.Movers{
		X: []float32{0}, Y: []float32{1}, Z: one(), VX: one(), VY: one(), VZ: one(), Ground: make([]physics3.Shape, 1),
		GroundX: one(), GroundY: one(), GroundZ: one(), GroundVX: one(), GroundVY: one(), GroundVZ: one(),
		Height: []float32{1.8}, TargetHeight: []float32{1.8},
	}
	const dt = 1. / 60
	stands := func() bool { return m.Ground[0] != (physics3.Shape{}) }
	tick := func(vx, vz, jump float32) {
		m.VX[0], m.VZ[0] = vx, vz
		if stands() {
			m.VY[0] = jump
		} else {
			m.VY[0] -= 10 * dt
		}
		check(w.Step(dt))
		check(w.Move(&rules, &m, dt))
	}
	walk := func(what string, ticks int, vx, vz float32) {
		for range ticks {
			tick(vx, vz, 0)
		}
		fmt.Printf("%s: x %.1f, height of the foot %.1f, z %.1f\n", what, m.X[0], m.Y[0]-0.9, m.Z[0])
	}

	walk("falls to the floor", 30, 0, 0)
	walk("climbs the stairs", 180, 4, 0)
	m.TargetHeight[0] = 1.1
	walk("crouches under the ceiling", 30, 3, 0)
	m.TargetHeight[0] = 1.8
	fmt.Printf("there it is %.1f m tall\n", m.Height[0])
	walk("goes on", 60, 3, 0)
	fmt.Printf("there it is %.1f m tall\n", m.Height[0])

	for m.X[0] < 16.5 { // to the end of the landing, and onto the train
		tick(3, 0, 0)
	}
	walk("rides", 60, 3, 0)
	fmt.Printf("the ground moves at %.0f m/s\n", m.GroundVZ[0])
	z := m.Z[0]
	tick(0, 0, 4) // a jump on the train
	for !stands() {
		tick(0, 0, 0)
	}
	at, err := w.Position(train)
	check(err)
	fmt.Printf("in the air it went %.1f m with the train, whose middle is at z %.1f\n", m.Z[0]-z, at[2])
	// Output:
	// falls to the floor: x 0.0, height of the foot 0.0, z 0.0
	// climbs the stairs: x 9.7, height of the foot 2.0, z 0.0
	// crouches under the ceiling: x 11.2, height of the foot 2.0, z 0.0
	// there it is 1.1 m tall
	// goes on: x 14.2, height of the foot 2.0, z 0.0
	// there it is 1.8 m tall
	// rides: x 19.5, height of the foot 2.0, z 5.3
	// the ground moves at 6 m/s
	// in the air it went 4.9 m with the train, whose middle is at z 17.6
}
