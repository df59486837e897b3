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
)

func boundsC(l native.Level, shapes []Shape, bodyOf []uint32, p *Poses, margin float32, out *Boxes) int {
	return csrc.RigidBounds(cLevel(l), unsafe.Pointer(unsafe.SliceData(shapes)), bodyOf, p.X, p.Y, p.Cos, p.Sin, margin,
		out.MinX, out.MinY, out.MaxX, out.MaxY)
}

func measureC(level native.Level, b *Boxes, which []uint64, ids []uint32, sum *summary) {
	csrc.BroadMeasure(cLevel(level), b.MinX, b.MinY, b.MaxX, b.MaxY, which, ids, unsafe.Pointer(sum))
}

func keysC(p *plan, layers []layer, to []uint64) {
	b, layerOf := p.boxes, p.layerOf[:]
	if len(layers) == 1 {
		layerOf = nil
	}
	csrc.BroadKeys(b.MinX, b.MinY, b.MaxX, b.MaxY, p.ids, unsafe.Pointer(&layers[0]), layerOf, p.rowBits, p.columnBits, to)
}

func sortKeysC(keys, tmp []uint64, count uint) ([]uint64, []uint64) {
	if csrc.BroadSort(keys, tmp, count) {
		return tmp, keys
	}
	return keys, tmp
}

func placeC(b *Boxes, p *plan, s *sorted) {
	csrc.BroadPlace(b.MinX, b.MinY, b.MaxX, b.MaxY, s.keys[:p.sum.N], p.rowBits, p.columnBits, unsafe.Pointer(&s.layers[0]),
		s.memory, len(s.shape), s.rowStart, s.rowNumber)
}

// set is sorted for the C side.
func (s *sorted) set() csrc.BroadSet {
	return csrc.BroadSet{Columns: s.memory, Stride: len(s.shape), RowStart: s.rowStart, RowNumber: s.rowNumber, Directory: s.directory}
}

func sweepC(level native.Level, s *sorted, l *layer, from uint32, to *found) (at uint32) {
	set := s.set()
	at, to.fill = csrc.BroadSweep(cLevel(level), &set, unsafe.Pointer(l), from, to.a, to.b, to.fill, to.room(l.len()))
	return at
}

func spanC(level native.Level, s, t *sorted, l, k *layer, from uint32, to *found) (at uint32) {
	a, b := s.set(), t.set()
	at, to.fill = csrc.BroadSpan(cLevel(level), &a, &b, unsafe.Pointer(l), unsafe.Pointer(k), from, to.a, to.b, to.fill, to.room(k.len()))
	return at
}

func crossC(level native.Level, s, t *sorted, l, k *layer, from uint32, to *found) (at uint32) {
	a, b := s.set(), t.set()
	at, to.fill = csrc.BroadCross(cLevel(level), &a, &b, unsafe.Pointer(l), unsafe.Pointer(k), from, to.a, to.b, to.fill, to.room(k.len()))
	return at
}

func scatterC(raw *found, ends []uint32, out *Pairs) uint32 {
	return csrc.BroadScatter(raw.a[:raw.fill], raw.b[:raw.fill], shortRow, ends, out.A, out.B)
}

func crowdRowC(level native.Level, c *crowd, i int, r *rule, to []uint32) int {
	return csrc.BroadCrowd(cLevel(level), c.memory, len(c.shape), c.n, i, r.agree[:], MaxPairs, to)
}
