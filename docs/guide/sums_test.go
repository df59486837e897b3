package guide_test

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/spatial"
)

func Example_sums() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	index, err := spatial.New(spatial.Config{})
	check(err)

	// guide:begin influence
	// Units of two sides on a plane, and a map of seven places, ten metres apart.
	x, z, strength := []float32{3, 12, 41, 60}, []float32{0, 4, -3, 0}, []float32{2, 1, -3, -1}
	places := spatial.Queries{}
	for i := range 7 {
		places.X, places.Y, places.Z = append(places.X, float32(i*10)), append(places.Y, 0), append(places.Z, 0)
		places.Radius = append(places.Radius, 25)
	}
	influence, nearest := make([]float32, 7), make([]uint32, 7)
	check(index.Build(x, make([]float32, 4), z, nil))
	check(index.Sum(&places, &spatial.Sums{
		Terms:   []spatial.Term{{Of: strength, Weight: spatial.Linear, To: influence}}, // all of it at the unit, none 25 m away
		Nearest: nearest,
	}))
	// guide:end
	fmt.Printf("influence %.2f, nearest unit %v\n", influence, nearest)

	// guide:begin density
	// Water: particles of 125 g, five centimetres apart, and the density at each of them.
	const radius, edge = 0.12, 9 // m, particles
	const poly6 = 315 / (64 * math.Pi * radius * radius * radius)
	var px, py, pz, mass []float32
	for i := range edge * edge * edge {
		px, py, pz = append(px, float32(i%edge)*0.05), append(py, float32(i/edge%edge)*0.05), append(pz, float32(i/edge/edge)*0.05)
		mass = append(mass, 0.125)
	}
	density := make([]float32, len(px))
	water := spatial.Sums{Terms: []spatial.Term{{Of: mass, Weight: spatial.Poly6, To: density}}} // kept, as it keeps memory
	check(index.Build(px, py, pz, nil))
	check(index.SumSelf(&spatial.Self{Radius: radius, IncludeSelf: true}, &water))
	for i := range density {
		density[i] *= poly6
	}
	// guide:end
	const middle = edge / 2 * (1 + edge + edge*edge)
	fmt.Printf("density %.0f kg/m³ in the middle, %.0f in a corner\n", density[middle], density[0])

	// Output:
	// influence [2.25 2.26 0.83 -1.37 -2.82 -2.46 -1.69], nearest unit [0 1 1 2 2 2 3]
	// density 1001 kg/m³ in the middle, 424 in a corner
}
