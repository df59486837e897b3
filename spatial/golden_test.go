package spatial_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
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

// goldenShapesHash is goldenHash for counts, boxes and rays.
const goldenShapesHash = 0x6e417d6d2e7f0bb

// goldenShapes are boxes, rays and radii from the queries of the golden scene,
// again without arithmetic that could differ.
func goldenShapes(s *paritytest.Scene) *shapeTick {
	k := &shapeTick{q: queriesOf(s), boxes: &spatial.Boxes{}, rays: &spatial.Rays{OX: s.QueryX, OY: s.QueryY, OZ: s.QueryZ}}
	b, r := k.boxes, k.rays
	for i, w := range s.Radius {
		b.MinX, b.MaxX = append(b.MinX, s.QueryX[i]), append(b.MaxX, s.QueryX[i]+w)
		b.MinY, b.MaxY = append(b.MinY, s.QueryY[i]), append(b.MaxY, s.QueryY[i]+w)
		b.MinZ, b.MaxZ = append(b.MinZ, s.QueryZ[i]), append(b.MaxZ, s.QueryZ[i]+w)
		r.DX, r.DY, r.DZ = append(r.DX, s.X[i]-s.QueryX[i]), append(r.DY, s.Y[i]-s.QueryY[i]), append(r.DZ, s.Z[i]-s.QueryZ[i])
		r.MaxT = append(r.MaxT, w)
	}
	for slot := range s.Limit() {
		k.radius = append(k.radius, float32(slot%64)/32)
	}
	return k
}

func TestParityGoldenShapes(t *testing.T) {
	run := paritytest.Start(t, "Index, golden hash of shapes")
	s := goldenScene()
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			run.Case(level)
			k := goldenShapes(s)
			k.ix = build(t, spatial.Config{CellSize: 8, Level: level, Workers: workers}, s)
			k = k.fresh()
			k.do(t)
			sum := fnv.New64a()
			for _, words := range [][]uint32{k.counts, k.out.Offsets, k.out.Slots, k.slots, k.hits.Offsets, k.hits.Slots} {
				for _, w := range words {
					sum.Write(binary.LittleEndian.AppendUint32(nil, w))
				}
			}
			for _, floats := range [][]float32{k.t, k.hits.T} {
				for _, v := range floats {
					sum.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
				}
			}
			if len(k.hits.Slots) < 500 || len(k.out.Slots) < 1000 {
				t.Fatalf("only %d hits of rays and %d of boxes", len(k.hits.Slots), len(k.out.Slots))
			}
			if got := sum.Sum64(); got != goldenShapesHash {
				t.Errorf("level %s, %d workers: hash %#x, want %#x", level, workers, got, uint64(goldenShapesHash))
			}
		}
	}
}
