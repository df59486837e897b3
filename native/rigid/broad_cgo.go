//go:build cgo

package rigid

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
	"github.com/evertick/evertick/native"
)

// The C side mirrors these.
var (
	_ [csrc.LayerSize]byte      = [unsafe.Sizeof(layer{})]byte{}
	_ [csrc.SummarySize]byte    = [unsafe.Sizeof(summary{})]byte{}
	_ [csrc.BroadShapeBits]byte = [shapeBits]byte{}
	_ [csrc.BroadPadding]byte   = [padding]byte{}
	_ [csrc.BroadLayers]byte    = [maxLayers]byte{}
	_ [csrc.BroadParts]byte     = [maxParts]byte{}
)

func boundsC(l native.Level, shapes []Shape, bodyOf []uint32, p *Poses, margin float32, out *Boxes) int {
	return csrc.RigidBounds(cLevel(l), unsafe.Pointer(unsafe.SliceData(shapes)), bodyOf, p.X, p.Y, p.Cos, p.Sin, margin,
		out.MinX, out.MinY, out.MaxX, out.MaxY)
}

func measureC(level native.Level, b *Boxes, which []uint64, lo, hi int, ids []uint32, sum *summary) {
	csrc.BroadMeasure(cLevel(level), b.MinX, b.MinY, b.MaxX, b.MaxY, lo, hi, which, ids, unsafe.Pointer(sum))
}

func keysC(p *gridPlan, ids []uint32, layers []layer, to []uint64) {
	b, layerOf := p.boxes, p.layerOf[:]
	if len(layers) == 1 {
		layerOf = nil
	}
	csrc.BroadKeys(b.MinX, b.MinY, b.MaxX, b.MaxY, ids, unsafe.Pointer(&layers[0]), layerOf, p.rowBits, p.columnBits, to)
}

func sortKeysC(keys, tmp []uint64, count uint) ([]uint64, []uint64) {
	if csrc.BroadSort(keys, tmp, count) {
		return tmp, keys
	}
	return keys, tmp
}

func fillRowsC(b *Boxes, p *gridPlan, s *grid, lo, hi, rows int, layers []layer) int {
	return csrc.BroadPlace(b.MinX, b.MinY, b.MaxX, b.MaxY, s.keys, lo, hi, p.rowBits, p.columnBits, unsafe.Pointer(&layers[0]),
		s.memory, len(s.shape), s.rowStart, s.rowNumber, rows)
}

// set is sorted for the C side.
func (s *grid) columns() csrc.BroadSet {
	return csrc.BroadSet{Columns: s.memory, Stride: len(s.shape), RowStart: s.rowStart, RowNumber: s.rowNumber, Directory: s.directory}
}

func searchLayerC(level native.Level, s *grid, l, k *layer, from uint32, to *pairBuffer) (at uint32) {
	set := s.columns()
	at, to.n = csrc.BroadSweep(cLevel(level), &set, unsafe.Pointer(l), from, to.a, to.b, to.n, to.room(k.len()))
	return at
}

func searchRowsC(level native.Level, s, t *grid, l, k *layer, from uint32, to *pairBuffer) (at uint32) {
	a, b := s.columns(), t.columns()
	at, to.n = csrc.BroadSpan(cLevel(level), &a, &b, unsafe.Pointer(l), unsafe.Pointer(k), from, to.a, to.b, to.n, to.room(k.len()))
	return at
}

func searchDirectoryC(level native.Level, s, t *grid, l, k *layer, from uint32, to *pairBuffer) (at uint32) {
	a, b := s.columns(), t.columns()
	at, to.n = csrc.BroadCross(cLevel(level), &a, &b, unsafe.Pointer(l), unsafe.Pointer(k), from, to.a, to.b, to.n, to.room(k.len()))
	return at
}

func scatterPairsC(raw *pairBuffer, lo uint32, ends []uint32, out *Pairs) uint32 {
	return csrc.BroadScatter(raw.a[:raw.n], raw.b[:raw.n], shortRow, lo, ends, out.A, out.B)
}

func bruteForceRowC(level native.Level, c *bruteForce, i int, r *pairFilter, most pairLimits, to []uint32) int {
	return csrc.BroadCrowd(cLevel(level), c.memory, len(c.shape), c.n, i, r.agree[:], most.moving, most.stationary, to)
}

func countKeysC(keys []uint64, shift uint, counts *[maxParts]uint32) {
	csrc.BroadCountKeys(keys, shift, counts[:])
}

func scatterKeysC(keys []uint64, shift uint, next *[maxParts]uint32, to []uint64) {
	csrc.BroadSpread(keys, shift, next[:], to)
}

func countRowsC(keys []uint64, shift uint) int { return csrc.BroadCountRows(keys, shift) }

func countPairsC(raw *pairBuffer, shift uint) {
	csrc.BroadCount(raw.a[:raw.n], shift, raw.partStart[:])
}

func partitionC(raw *pairBuffer, shift uint, to *pairBuffer) {
	csrc.BroadDivide(raw.a[:raw.n], raw.b[:raw.n], shift, raw.partStart[:], to.a, to.b)
}
