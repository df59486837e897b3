package neighbours_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// Whether a point is in the sample depends on its coordinates alone: all levels choose the same points, between
// guard pages, whatever their slots and whatever points stand before them.
func TestParitySample(t *testing.T) {
	run := paritytest.Start(t, "Sample")
	found := paritytest.NewBuffer[uint32](t, 2000)
	columns := [3]*paritytest.Buffer[float32]{}
	for a := range columns {
		columns[a] = paritytest.NewBuffer[float32](t, 2000)
	}
	for round := range paritytest.Rounds(300) {
		limit := 1 + round%70 + run.IntN(2)*run.IntN(900)
		var at [3][]float32
		for a := range at {
			at[a] = columns[a].Place(limit, paritytest.After, 0)
			for i := range at[a] {
				at[a][i] = run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])
			}
		}
		var slots []uint32
		gaps := run.IntN(3)
		for s := range uint32(limit) {
			if run.IntN(4) >= gaps {
				slots = append(slots, s)
			}
		}
		share := run.IntN(4)
		var want []uint32
		for _, s := range slots {
			hash := (math.Float32bits(at[0][s]) + 8*math.Float32bits(at[1][s]) + 64*math.Float32bits(at[2][s])) * 0x9e3779b1
			if hash>>1>>(31-share) == 0 {
				want = append(want, s)
			}
		}
		most := len(want) + run.IntN(3) - 1
		if most < len(want) {
			want = nil // too many
		}
		most = max(most, 0)
		for _, level := range native.Levels() {
			run.Case(level)
			room := found.Place(neighbours.SampleRoom(most), paritytest.After, 0)
			got := neighbours.Sample(level, at[0], at[1], at[2], slots, share, most, room)
			run.Check(paritytest.Bits("the sample", slices.Clone(got), want), found.Check())
		}
	}
}
