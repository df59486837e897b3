package spatial

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
)

// Order is the order of the slots within a row. Each is total, so a row has one
// form on every machine.
type Order uint8

const (
	BySlot     Order = iota // ascending slots
	ByDistance              // ascending squared distance, then slot
	Grid                    // cells by z, y, x, then slot: a function of the points, CellSize and Bounds; free, but RadiusOnce must build for it
)

// Result holds one row per query, in compressed sparse rows (CSR): row i is
// Slots[Offsets[i]:Offsets[i+1]], and Dist2 has the squared distances at the same indexes.
// The zero Result is ready. Reuse it: after a few batches queries allocate nothing more.
// Rows are valid until the next call with this Result; Build does not change them. Do not
// copy a Result that is still in use: the copy shares its memory.
type Result struct {
	Offsets []uint32
	Slots   []uint32
	Dist2   []float32
	// Of is the slot that each row belongs to, after RadiusSelf and Pairs; else empty.
	Of []uint32

	scratch *scratch
}

// Len returns the number of rows.
func (r *Result) Len() int { return max(0, len(r.Offsets)-1) }

// Row returns the slots of row i.
func (r *Result) Row(i int) []uint32 { return row(r.Offsets, r.Slots, i) }

// Dist2Row returns the squared distances of row i, in square metres; nil after a query
// with SkipDist2.
func (r *Result) Dist2Row(i int) []float32 {
	if len(r.Dist2) == 0 {
		return nil
	}
	return row(r.Offsets, r.Dist2, i)
}

// row limits the capacity of a row, so that appending to it does not overwrite the next.
func row[T any](offsets []uint32, of []T, i int) []T {
	from, to := offsets[i], offsets[i+1]
	return of[from:to:to]
}

// empty removes all rows.
func (r *Result) empty() {
	r.Offsets, r.Slots, r.Dist2, r.Of = r.Offsets[:0], r.Slots[:0], r.Dist2[:0], r.Of[:0]
}

// RayHits holds one row per ray in compressed sparse rows, like Result: row i is
// Slots[Offsets[i]:Offsets[i+1]], and T has where the ray hits these spheres. Rows
// ascend by t, then slot. The zero RayHits is ready; reuse it, as a Result.
type RayHits struct {
	Offsets []uint32
	Slots   []uint32
	T       []float32

	scratch *scratch
}

// Len returns the number of rows.
func (h *RayHits) Len() int { return max(0, len(h.Offsets)-1) }

// Row returns the slots of row i.
func (h *RayHits) Row(i int) []uint32 { return row(h.Offsets, h.Slots, i) }

// TRow returns where ray i meets the spheres of row i.
func (h *RayHits) TRow(i int) []float32 { return row(h.Offsets, h.T, i) }

// maxResults bounds the length of Slots, so that it fits an int32 everywhere. Only tests change it.
var maxResults = math.MaxInt32

// tooManyResults is the error of a batch with that many results, or more.
func tooManyResults(query string, results int) error {
	return fault.Field(ErrRange, "spatial: "+query+": results, at least", results)
}
