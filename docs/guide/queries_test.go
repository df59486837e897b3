package guide_test

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/spatial"
)

func Example_queries() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	sim, err := evertick.New(evertick.Config{Capacity: 1000, Spatial: spatial.Config{CellSize: 10}})
	check(err)
	w := sim.World
	wolf, err := w.Tag("wolf")
	check(err)
	for i := range 400 { // sheep on a square of 20 by 20, five metres apart, and a wolf for every hundred
		id, err := w.Spawn()
		check(err)
		check(w.SetPosition(id, float32(i%20)*5, 0, float32(i/20)*5))
		if i%100 == 50 {
			wolf.Set(id)
		}
	}

	wolves := w.NewQuery(ecs.With(wolf)) // by tag
	var (
		slots []uint32
		self  []uint32
		q     spatial.Queries
		near  spatial.Result
	)
	check(sim.Add(evertick.AfterIndex, "hunt", func(t *evertick.Tick) error {
		slots = wolves.Slots(slots)
		q.X, q.Y, q.Z, q.Radius, self = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0], self[:0]
		for _, s := range slots { // by place: one batch for all wolves
			q.X, q.Y, q.Z = append(q.X, w.Position.X[s]), append(q.Y, w.Position.Y[s]), append(q.Z, w.Position.Z[s])
			q.Radius, self = append(q.Radius, 7.5), append(self, s)
		}
		q.Exclude, q.Order = self, spatial.ByDistance
		return t.Sim.Index.Radius(&q, &near)
	}))
	check(sim.Step())
	for i, s := range slots {
		fmt.Println("the wolf in slot", s, "smells", near.Row(i))
	}

	// Output:
	// the wolf in slot 50 smells [30 49 51 70 29 31 69 71]
	// the wolf in slot 150 smells [130 149 151 170 129 131 169 171]
	// the wolf in slot 250 smells [230 249 251 270 229 231 269 271]
	// the wolf in slot 350 smells [330 349 351 370 329 331 369 371]
}
