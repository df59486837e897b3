package guide_test

import (
	"fmt"

	"github.com/evertick/evertick/physics3"
)

func Example_space() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	w, err := physics3.New(physics3.Config{Capacity: 100, Gravity: [3]float32{0, -10, 0}})
	check(err)
	def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
	floor, err := w.CreateBody(def) // static
	check(err)
	_, err = w.CreateBox(floor, shape, physics3.Box{Half: [3]float32{50, 0.5, 50}})
	check(err)

	cube := physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}}
	var tower [10]physics3.Body
	for i := range tower {
		def.Type, def.Position = physics3.DynamicBody, [3]float32{0, 1 + float32(i), 0}
		tower[i], err = w.CreateBody(def)
		check(err)
		_, err = w.CreateBox(tower[i], shape, cube)
		check(err)
	}
	for range 180 {
		check(w.Step(1. / 60))
	}
	at, err := w.Position(tower[9])
	check(err)
	fmt.Printf("after 3 s the top is at %.1f m, awake: %d\n", at[1], w.AwakeCount())

	def.Position, def.LinearVelocity = [3]float32{-12, 6, 0.2}, [3]float32{30, 2, 0} // a heavy ball comes from the left
	ball, err := w.CreateBody(def)
	check(err)
	shape.Density = 8
	_, err = w.CreateSphere(ball, shape, physics3.Sphere{Radius: 0.5})
	check(err)
	for len(w.Events().Hit) == 0 { // until something is hit
		check(w.Step(1. / 60))
	}
	hit := w.Events().Hit[0]
	fmt.Printf("the ball hits at %.0f m/s, %.0f m high\n", hit.Speed, hit.Point[1])
	for range 240 {
		check(w.Step(1. / 60))
	}
	left := 0
	for i, b := range tower {
		at, err := w.Position(b)
		check(err)
		if at[1] > 0.9+float32(i) {
			left++
		}
	}
	fmt.Printf("%d of %d boxes are as high as before\n", left, len(tower))
	// Output:
	// after 3 s the top is at 10.0 m, awake: 0
	// the ball hits at 30 m/s, 6 m high
	// 1 of 10 boxes are as high as before
}
