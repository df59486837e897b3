//go:build cgo

package native

import (
	"runtime"
	"unsafe"

	"github.com/evertick/evertick/csrc"
)

// Grid and Block are passed to C by address.
var (
	_ [csrc.GridSize]byte  = [unsafe.Sizeof(Grid{})]byte{}
	_ [csrc.BlockSize]byte = [unsafe.Sizeof(Block{})]byte{}
)

var cLevels = [len(levelNames)]int32{C: csrc.C, AVX2: csrc.AVX2, AVX512: csrc.AVX512, NEON: csrc.NEON}

func compiled(l Level) bool {
	switch l {
	case AVX2, AVX512:
		return runtime.GOARCH == "amd64"
	case NEON:
		return runtime.GOARCH == "arm64"
	}
	return true
}

func compiler() string { return csrc.Compiler() }

func radiusC(l Level, g *Grid, p *Points, q *Queries, rows *Rows) int {
	category := p.Category
	if q.Mask == nil {
		category = nil
	}
	return csrc.Radius(cLevels[l], unsafe.Pointer(g), p.Start, unsafe.Pointer(unsafe.SliceData(p.Blocks)), category, q.Live,
		q.X, q.Y, q.Z, q.Radius, q.Exclude, q.Mask, rows.Ends, rows.Slots, rows.Dist2, rows.Fill)
}

func liveC(l Level, p *Points, bitmap []uint64, live []uint16) {
	csrc.Live(cLevels[l], unsafe.Pointer(unsafe.SliceData(p.Blocks)), p.Len(), bitmap, live)
}

func keepLiveC(bitmap []uint64, from int, ends, slots []uint32, dist2 []float32) {
	csrc.KeepLive(bitmap, from, ends, slots, dist2)
}
