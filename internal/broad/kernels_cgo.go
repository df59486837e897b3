//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package broad

import (
	"unsafe"

	cbroad "github.com/evertick/evertick/csrc/broad/face"
	"github.com/evertick/evertick/csrc/face"
	"github.com/evertick/evertick/native"
)

// The C side mirrors these types and constants. It numbers levels in the order of native.Level, from native.C on.
var (
	_ [face.AVX2]byte   = [native.AVX2 - native.C]byte{}
	_ [face.AVX512]byte = [native.AVX512 - native.C]byte{}
	_ [face.NEON]byte   = [native.NEON - native.C]byte{}

	_ [cbroad.LayerSize]byte   = [unsafe.Sizeof(layer{})]byte{}
	_ [cbroad.SummarySize]byte = [unsafe.Sizeof(summary{})]byte{}
	_ [cbroad.GridSize]byte    = [unsafe.Sizeof(gridColumns{})]byte{}
	_ [cbroad.PairsSize]byte   = [unsafe.Sizeof(pairs{})]byte{}
	_ [cbroad.ShapeBits]byte   = [ShapeBits]byte{}
	_ [cbroad.Padding]byte     = [padding]byte{}
	_ [cbroad.Layers]byte      = [maxLayers]byte{}
	_ [cbroad.Parts]byte       = [maxParts]byte{}
	_ [cbroad.ShortRow]byte    = [shortRow]byte{}
	_ [cbroad.BoxesSize]byte   = [unsafe.Sizeof(boxColumns{})]byte{}
)

// cKernels are the kernels of the levels from native.C on. Some of them are not faster with 16 lanes: boxes have few
// neighbours, and wide unaligned loads cross more cache lines.
var cKernels = [...]kernels{
	newKernels(0, 0), newKernels(face.AVX2, face.AVX2), newKernels(face.AVX512, face.AVX2), newKernels(face.NEON, face.NEON),
}

func base[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// cast converts a struct to the C struct of the same layout.
func cast[C, T any](v T) C { return *(*C)(unsafe.Pointer(&v)) }

func data[T any](s []T) *T { return unsafe.SliceData(s) }

// boxColumns, pairs and gridColumns have the layouts of C structs: pointers to the first elements of columns, without
// lengths.
type boxColumns [6]*float32

type pairs struct {
	a, b *uint32
	n    int64
}

type gridColumns struct {
	memory                         *uint32
	stride                         int64
	rowStart, rowNumber, directory *uint32
	spanned                        int64
}

func (b *Boxes) c() cbroad.Boxes {
	return cast[cbroad.Boxes](boxColumns{data(b.MinX), data(b.MinY), data(b.MaxX), data(b.MaxY)})
}

// withSpans returns the boxes with the intervals of a grid.
func (p *gridPlan) withSpans(b *Boxes) cbroad.Boxes {
	if p.spans == nil {
		return b.c()
	}
	return cast[cbroad.Boxes](boxColumns{data(b.MinX), data(b.MinY), data(b.MaxX), data(b.MaxY), data(p.spans.SpanMin), data(p.spans.SpanMax)})
}

func (s *Grid) c() cbroad.Grid {
	return cast[cbroad.Grid](gridColumns{data(s.memory), int64(len(s.shape)), data(s.rowStart), data(s.rowNumber), data(s.directory), int64(bit(s.spanned))})
}

func pairsC(a, b []uint32, n int) cbroad.Pairs {
	return cast[cbroad.Pairs](pairs{data(a), data(b), int64(n)})
}

// newKernels returns the kernels of a level of C. narrow is the level for kernels that do not gain from wide vectors.
// Sorting and scattering compute nothing: C has one form for all levels.
func newKernels(level, narrow int32) (k kernels) {
	k.measure = func(boxes *Boxes, members []uint64, lo, hi int, ids []uint32, sum *summary) {
		b := boxes.c()
		cbroad.Measure(level, &b, members, lo, hi, ids, unsafe.Pointer(sum))
	}
	k.makeKeys = func(p *gridPlan, ids []uint32, layers []layer, to []uint64) {
		b, layerOf := p.boxes.c(), p.layerOf[:]
		if len(layers) == 1 {
			layerOf = nil
		}
		cbroad.MakeKeys(&b, cbroad.KeyBits{Row: p.rowBits, Column: p.columnBits}, layerOf, ids, base(layers), to)
	}
	k.sortKeys = func(keys, tmp []uint64, count uint) (sorted, rest []uint64) {
		if cbroad.SortKeys(keys, tmp, count) {
			return tmp, keys
		}
		return keys, tmp
	}
	k.fillRows = func(boxes *Boxes, p *gridPlan, s *Grid, lo, hi, rows int, layers []layer) int {
		b, g := p.withSpans(boxes), s.c()
		return cbroad.FillRows(&b, cbroad.KeyBits{Row: p.rowBits, Column: p.columnBits}, s.keys, &g, lo, hi, rows, base(layers))
	}
	k.searchLayer = func(s, _ *Grid, l, whole *layer, from uint32, to *pairBuffer) (at uint32) {
		wide := level
		if l.Rows > 1 {
			wide = narrow
		}
		g, out := s.c(), pairsC(to.a, to.b, to.room(whole.len()))
		at, to.n = cbroad.SearchLayer(wide, &g, unsafe.Pointer(l), from, &out, to.n)
		return at
	}
	k.searchRows = func(s, t *Grid, l, other *layer, from uint32, to *pairBuffer) (at uint32) {
		a, b, out := s.c(), t.c(), pairsC(to.a, to.b, to.room(other.len()))
		at, to.n = cbroad.SearchRows(narrow, &a, &b, unsafe.Pointer(l), unsafe.Pointer(other), from, &out, to.n)
		return at
	}
	k.searchDirectory = func(s, t *Grid, l, other *layer, from uint32, to *pairBuffer) (at uint32) {
		a, b, out := s.c(), t.c(), pairsC(to.a, to.b, to.room(other.len()))
		at, to.n = cbroad.SearchDirectory(narrow, &a, &b, unsafe.Pointer(l), unsafe.Pointer(other), from, &out, to.n)
		return at
	}
	k.scatterPairs = func(a, b []uint32, lo uint32, ends []uint32, out Pairs) uint32 {
		from, to := pairsC(a, b, len(a)), pairsC(out.A, out.B, len(a))
		return cbroad.ScatterPairs(&from, lo, ends, &to)
	}
	k.sortRows = func(ends, s, tmp []uint32) {
		cbroad.SortPairRows(level, ends, s, tmp)
	}
	k.bruteForceRow = func(c *bruteForce, i int, r *pairFilter, limits pairLimits, to []uint32) int {
		most := cbroad.PairLimits{Moving: limits.moving, Stationary: limits.stationary, Spanned: uint32(bit(c.spanned))}
		return cbroad.BruteForceRow(level, c.memory, len(c.shape), c.n, i, r.agree[:], most, to)
	}
	k.countKeys = func(keys []uint64, shift uint, counts *[maxParts]uint32) { cbroad.CountKeys(keys, shift, counts[:]) }
	k.scatterKeys = func(keys []uint64, shift uint, next *[maxParts]uint32, to []uint64) {
		cbroad.ScatterKeys(keys, shift, next[:], to)
	}
	k.countRows = cbroad.CountRows
	k.countPairs = func(p *pairBuffer, shift uint) { cbroad.CountPairs(p.a[:p.n], shift, p.partStart[:]) }
	k.partition = func(p *pairBuffer, shift uint, to *pairBuffer) {
		from, out := pairsC(p.a, p.b, p.n), pairsC(to.a, to.b, to.n)
		cbroad.Partition(&from, shift, p.partStart[:], &out)
	}
	return k
}
