package guide_test

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/physics3"
)

func Example_landscape() {
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

	// A hill: 65 by 65 samples, two metres apart, with the top in the middle.
	const side, cell = 65, 2
	heights := make([]float32, side*side)
	for k := range side {
		for i := range side {
			x, z := float64(cell*(i-side/2)), float64(cell*(k-side/2))
			heights[k*side+i] = float32(8 * math.Exp(-(x*x+z*z)/600))
		}
	}
	hill, err := physics3.NewHeightField(physics3.HeightFieldDef{Width: side, Depth: side, Cell: [2]float32{cell, cell}, Heights: heights})
	check(err)
	_, err = w.CreateHeightField(static, shape, hill, physics3.Placement{Position: [3]float32{-64, 0, -64}})
	check(err)

	// A roof: two slopes that meet at a ridge along z, 4 m above the foot of the hill.
	roof, report, err := physics3.NewMesh(physics3.MeshDef{
		Vertices:  [][3]float32{{-3, 3, -4}, {-3, 3, 4}, {0, 4, -4}, {0, 4, 4}, {3, 3, -4}, {3, 3, 4}},
		Triangles: [][3]uint32{{0, 1, 2}, {2, 1, 3}, {2, 3, 4}, {4, 3, 5}},
		TwoSided:  true, // one cannot see through it from below
	})
	check(err)
	_, err = w.CreateMesh(static, shape, roof, physics3.Placement{Position: [3]float32{50, 0, 0}})
	check(err)
	fmt.Println("the roof has", report.Open, "open edges")

	// A walk along x: rays downwards, all in one batch, show how high the way is.
	walk := physics3.Rays{}
	for x := float32(-60); x <= 60; x += 10 {
		walk.X, walk.Y, walk.Z = append(walk.X, x), append(walk.Y, 100), append(walk.Z, 0)
		walk.DX, walk.DY, walk.DZ = append(walk.DX, 0), append(walk.DY, -200), append(walk.DZ, 0)
	}
	var hits physics3.RayHits
	check(w.RayClosest(&walk, &hits))
	fmt.Printf("the way is %.1f m high\n", hits.Y)

	// What does a walker see of the roof? The hill is in the way, until he stands on it.
	see := physics3.Rays{
		X: []float32{-60, 0}, Y: []float32{1.7, 9.7}, Z: []float32{0, 0}, // the eyes
		DX: []float32{110, 50}, DY: []float32{2, -6}, DZ: []float32{0, 0}, // to a place below the ridge
	}
	check(w.RayClosest(&see, &hits))
	fmt.Printf("from the foot the eye meets x = %.0f, from the top x = %.0f\n", hits.X[0], hits.X[1])

	// A ball rolls down the hill: no edge between triangles stops it or makes it jump.
	def := physics3.DefaultBodyDef()
	def.Type, def.Position = physics3.DynamicBody, [3]float32{-6, 8.1, 0}
	ball, err := w.CreateBody(def)
	check(err)
	_, err = w.CreateSphere(ball, shape, physics3.Sphere{Radius: 0.5})
	check(err)
	for range 300 {
		check(w.Step(1. / 60))
	}
	at, err := w.Position(ball)
	check(err)
	fmt.Printf("after 5 s the ball is at x = %.0f, %.1f m high\n", at[0], at[1])

	// A bullet flies 7 m in a step, and yet it does not pass a sheet that is a millimetre thick.
	_, err = w.CreateBox(static, shape, physics3.Box{Half: [3]float32{0.0005, 4, 20}, Center: [3]float32{35, 4, 20}})
	check(err)
	def.Position, def.LinearVelocity, def.Bullet = [3]float32{-20, 5, 20}, [3]float32{400, 0, 0}, true
	bullet, err := w.CreateBody(def)
	check(err)
	_, err = w.CreateSphere(bullet, shape, physics3.Sphere{Radius: 0.01})
	check(err)
	for range 30 {
		check(w.Step(1. / 60))
		if hit := w.Events().Hit; len(hit) > 0 {
			fmt.Printf("the bullet hits at x = %.1f\n", hit[0].Point[0])
			break
		}
	}
	for range 60 {
		check(w.Step(1. / 60))
	}
	at, err = w.Position(bullet)
	check(err)
	fmt.Println("it is still in front of the sheet:", at[0] < 35)
	// Output:
	// the roof has 6 open edges
	// the way is [0.0 0.1 0.6 1.8 4.1 6.8 8.0 6.8 4.1 1.8 0.6 4.0 0.0] m high
	// from the foot the eye meets x = -27, from the top x = 49
	// after 5 s the ball is at x = -22, 4.1 m high
	// the bullet hits at x = 35.0
	// it is still in front of the sheet: true
}
