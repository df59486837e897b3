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

// goldenShapesHash is to counts, boxes and rays what goldenHash is to radii.
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
