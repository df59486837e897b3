package box2d_test

import (
	"fmt"
	"log"

	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// A crate falls on the ground and drives entity row 3.
func Example() {
	world, err := box2d.New(physics.Config{Capacity: 64, Gravity: [2]float32{0, -9.81}})
	if err != nil {
		log.Fatal(err)
	}

	ground, err := world.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		log.Fatal(err)
	}
	line := physics.Segment{P1: [2]float32{-20, 0}, P2: [2]float32{20, 0}}
	if _, err := world.CreateSegment(ground, physics.DefaultShapeDef(), line); err != nil {
		log.Fatal(err)
	}

	def := physics.DefaultBodyDef()
	def.Type = physics.DynamicBody
	def.Position = [2]float32{0, 4}
	def.HasSlot, def.Slot = true, 3
	crate, err := world.CreateBody(def)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := world.CreatePolygon(crate, physics.DefaultShapeDef(), physics.Box(0.5, 0.5)); err != nil {
		log.Fatal(err)
	}

	for range 120 {
		if err := world.Step(1.0 / 60); err != nil {
			log.Fatal(err)
		}
	}

	column := func() []float32 { return make([]float32, 8) }
	entities := physics.Transforms{X: column(), Y: column(), Z: column(),
		QX: column(), QY: column(), QZ: column(), QW: column()}
	if err := world.Sync(entities); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("height %.1f m, QW %.0f\n", entities.Y[3], entities.QW[3])
	// Output: height 0.5 m, QW 1
}
