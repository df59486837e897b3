package spatial_test

import (
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// Hundreds of points at each of a few positions, of which some share a cell, with others near: the nearest are those of
// KNNOracle on every level, with filters and without. So many ties end the search of a cell early.
func TestParityNearestHeaps(t *testing.T) {
	run := paritytest.Start(t, "KNN, heaps")
	ended := 0
	for range paritytest.Rounds(12) {
		places := make([][3]float32, 1+run.IntN(4))
		for i := range places {
			for a := range 3 {
				places[i][a] = float32(run.IntN(5)) * []float32{1, 0.125, 100}[run.IntN(3)]
			}
		}
		n, others := 300+run.IntN(1500), []int{0, 0, 50, 400}[run.IntN(4)]
		c := throngOf(n+others, func(int) [3]float32 {
			if run.IntN(n+others) < others {
				return [3]float32{run.Float32() * 5, run.Float32() * 5, run.Float32() * 5}
			}
			return places[run.IntN(len(places))]
		})
		if run.IntN(3) == 0 { // rows of columns without points
			for i := range c.slots {
				c.slots[i] = uint32(2 * i)
			}
			var wide throng
			for i := range c.x {
				wide.x, wide.y, wide.z = append(wide.x, c.x[i], 0), append(wide.y, c.y[i], 0), append(wide.z, c.z[i], 0)
			}
			c.x, c.y, c.z = wide.x, wide.y, wide.z
		}
		q := &spatial.NearestQueries{K: []int{1, 3, 8, 40, 64}[run.IntN(5)]}
		for range 20 {
			p := places[run.IntN(len(places))]
			if run.IntN(4) == 0 {
				p[run.IntN(3)] += float32(run.IntN(3)) * 0.5
			}
			q.X, q.Y, q.Z = append(q.X, p[0]), append(q.Y, p[1]), append(q.Z, p[2])
			q.Exclude, q.Mask = append(q.Exclude, c.slots[run.IntN(len(c.slots))]), append(q.Mask, run.Uint32()|1<<run.IntN(32))
			q.Radius = append(q.Radius, run.Float32()*3)
		}
		categories := make([]uint32, len(c.x))
		for i := range categories {
			categories[i] = 1 << run.IntN(32)
		}
		q.Live = make([]uint64, (len(c.x)+63)/64)
		for i := range q.Live {
			q.Live[i] = run.Uint64() | run.Uint64()
		}
		if run.IntN(2) == 0 {
			q.Exclude = nil
		}
		masked := run.IntN(2) == 0
		if !masked {
			q.Mask = nil
		}
		if run.IntN(2) == 0 {
			q.Radius = nil
		}
		if run.IntN(2) == 0 {
			q.Live = nil
		}
		for _, level := range native.Levels() {
			run.Case(level)
			ix, err := spatial.New(spatial.Config{CellSize: []float32{0, 1, 20}[run.IntN(3)], Level: level})
			run.Check(err)
			run.Check(ix.Build(c.x, c.y, c.z, c.slots))
			if masked {
				ix.SetCategories(categories)
			}
			var got, want spatial.Result
			run.Check(ix.KNN(q, &got))
			run.Check(ix.KNNOracle(q, &want))
			run.Check(paritytest.Bits("Offsets", got.Offsets, want.Offsets))
			run.Check(paritytest.Bits("Slots", got.Slots, want.Slots))
			run.Check(paritytest.Bits("Dist2", got.Dist2, want.Dist2))
			for i := range got.Len() {
				if row := got.Dist2Row(i); len(row) == q.K && row[0] == row[len(row)-1] {
					ended++
				}
			}
		}
	}
	if ended == 0 {
		t.Error("no row has ties alone")
	}
}
