package spatial_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/spatial"
)

// goldenHash belongs to goldenScene, on every level and architecture. It
// changes only together with a line under "Determinism" in the changelog.
const goldenHash = 0x808dc982ab50eeb0

// goldenScene has coordinates that are whole multiples of 1/64 metre, drawn
// from an integer sequence, so that nothing about it needs arithmetic.
func goldenScene() *paritytest.Scene {
	state := uint32(1)
	next := func(n uint32) float32 {
		state = state*1664525 + 1013904223
		return float32(state>>8%(64*n)) / 64
	}
	s := &paritytest.Scene{}
	for slot := range uint32(1500) {
		if slot%7 == 3 {
			continue
		}
		s.X, s.Y, s.Z = append(s.X, next(100)), append(s.Y, next(8)), append(s.Z, next(100))
		s.Slots = append(s.Slots, slot)
	}
	for i := range uint32(150) {
		s.QueryX, s.QueryY, s.QueryZ = append(s.QueryX, next(120)-10), append(s.QueryY, next(8)), append(s.QueryZ, next(100))
		s.Radius, s.Exclude = append(s.Radius, next(20)), append(s.Exclude, i*10)
	}
	return s
}

func TestParityGolden(t *testing.T) {
	run := paritytest.Start(t, "Index, golden hash")
	s := goldenScene()
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			run.Case(level)
			ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: workers}, s)
			sum := fnv.New64a()
			for _, order := range orders {
				q := queriesOf(s)
				q.Order = order
				var out spatial.Result
				run.Check(ix.Radius(q, &out))
				words := append(append([]uint32{}, out.Offsets...), out.Slots...)
				for _, d := range out.Dist2 {
					words = append(words, math.Float32bits(d))
				}
				for _, w := range words {
					sum.Write(binary.LittleEndian.AppendUint32(nil, w))
				}
			}
			if got := sum.Sum64(); got != goldenHash {
				t.Errorf("level %s, %d workers: hash %#x, want %#x", level, workers, got, uint64(goldenHash))
			}
		}
	}
}
