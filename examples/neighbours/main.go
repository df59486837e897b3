// Command neighbours links package spatial alone: no world, no loop, but arrays of the
// program's own. It finds the three shops nearest to each courier, and the couriers that are about to collide.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/evertick/evertick/spatial"
)

// fleet is data that the program has anyway: a slice for each value, one row a courier.
type fleet struct {
	x, y, zero []float32 // metres; a city is flat
	rows       []uint32  // those in use, ascending
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "neighbours:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	couriers, shops := scatter(20_000, 7, 4000), scatter(300, 3, 4000)
	if err := nearestShops(out, couriers, shops); err != nil {
		return err
	}
	return collisions(out, couriers)
}

// guide:begin knn

// nearestShops builds an index over the shops, which stay, and queries it once for all
// couriers, which move: a batch of 20,000 queries is one call.
func nearestShops(out io.Writer, couriers, shops *fleet) error {
	index, err := spatial.New(spatial.Config{CellSize: 250})
	if err != nil {
		return err
	}
	if err := index.Build(shops.x, shops.y, shops.zero, shops.rows); err != nil {
		return err
	}
	var near spatial.Result // reused, it keeps its memory
	if err := index.KNN(&spatial.NearestQueries{X: couriers.x, Y: couriers.y, Z: couriers.zero, K: 3}, &near); err != nil {
		return err
	}
	for courier := range 3 {
		fmt.Fprintf(out, "courier %d: shops %v, the first %.0f m² away\n", courier, near.Row(courier), near.Dist2Row(courier)[0])
	}
	return nil
}

// guide:end

// guide:begin pairs

// collisions lists every pair of couriers that are within two metres of each other once.
func collisions(out io.Writer, couriers *fleet) error {
	index, err := spatial.New(spatial.Config{}) // cells are as large as the points suggest
	if err != nil {
		return err
	}
	if err := index.Build(couriers.x, couriers.y, couriers.zero, couriers.rows); err != nil {
		return err
	}
	var close spatial.Result
	if err := index.Pairs(&spatial.Self{Radius: 2}, &close); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d pairs of %d couriers are within 2 m\n", len(close.Slots), index.Len())
	for row, a := range close.Of {
		for i, b := range close.Row(row) {
			if d2 := close.Dist2Row(row)[i]; d2 < 0.05 {
				fmt.Fprintf(out, "%d and %d: %.3f m² apart\n", a, b, d2)
			}
		}
	}
	return nil
}

// guide:end

// scatter places n rows over a square. Whole numbers give the same places everywhere.
func scatter(n, seed int, side float32) *fleet {
	f := &fleet{x: make([]float32, n), y: make([]float32, n), zero: make([]float32, n), rows: make([]uint32, n)}
	next := uint32(seed)
	random := func() float32 { // Numerical Recipes' generator: enough for an example
		next = next*1664525 + 1013904223
		return float32(next>>8) / (1 << 24) * side
	}
	for i := range n {
		f.x[i], f.y[i], f.rows[i] = random(), random(), uint32(i)
	}
	return f
}
