package physics_test

import (
	"fmt"

	"github.com/evertick/evertick/physics"
)

// A ball falls on the ground; a command pushes it; a snapshot restores the earlier state.
func Example() {
	w, err := physics.New(physics.Config{Gravity: [2]float32{0, -10}})
	if err != nil {
		panic(err)
	}
	ground, _ := w.CreateBody(physics.DefaultBodyDef())
	w.CreatePolygon(ground, physics.DefaultShapeDef(), physics.Box(50, 0.5))
	def := physics.DefaultBodyDef()
	def.Type, def.Position = physics.DynamicBody, [2]float32{0, 3}
	ball, _ := w.CreateBody(def)
	w.CreateCircle(ball, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5})

	for w.Step(1./60) == nil && len(w.Events().Begin) == 0 {
	}
	at, _ := w.Position(ball)
	fmt.Printf("touches the ground at height %.1f\n", at[1])

	before, _ := w.Snapshot(nil)
	push := w.NewCommands()
	push.ApplyLinearImpulseToCenter(ball, [2]float32{3, 0})
	if err := w.Step(1./60, push); err != nil {
		panic(err)
	}
	after := w.Hash()

	w.Restore(before)
	push.ApplyLinearImpulseToCenter(ball, [2]float32{3, 0})
	w.Step(1./60, push)
	fmt.Println("again with the same bits:", w.Hash() == after)
	// Output:
	// touches the ground at height 1.0
	// again with the same bits: true
}

// Tiles of a map become two chains, that around all of them and that of the hole. Nothing catches on the seams between tiles.
func ExampleUnionOutlines() {
	tile := func(x, y float32) physics.DrawnBox {
		return physics.DrawnBox{Min: [2]float32{x, y}, Max: [2]float32{x + 1, y + 1}}
	}
	var tiles []physics.DrawnBox
	for y, row := range []string{"####", "#..#", "####"} {
		for x, c := range row {
			if c == '#' {
				tiles = append(tiles, tile(float32(x), float32(y)))
			}
		}
	}
	outlines, err := physics.UnionOutlines(tiles)
	if err != nil {
		panic(err)
	}
	w, _ := physics.New(physics.Config{Gravity: [2]float32{0, -10}})
	ground, _ := w.CreateBody(physics.DefaultBodyDef())
	for _, points := range outlines {
		w.CreateChain(ground, physics.ChainDef{Points: points, Loop: true, Shape: physics.DefaultShapeDef()})
		fmt.Println(points)
	}
	// Output:
	// [[0 0] [4 0] [4 3] [0 3]]
	// [[3 1] [1 1] [1 2] [3 2]]
}
