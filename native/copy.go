package native

import "github.com/evertick/evertick/internal/fault"

var (
	copying   = rowOp{copyRows, copyKernel, opBreakEven}
	filling   = rowOp{fillRows, fillKernel, 256}
	gathering = rowOp{gatherRows, gatherKernel, opBreakEven}
)

// Copy computes
//
//	for i := range dst { dst[i] = src[i] }
//
// bit by bit, the payload of a NaN included.
func (o *Ops) Copy(dst, src []float32) error {
	checkRows("native: Ops.Copy: dst and src differ in length", len(dst), src)
	o.set(dst, src)
	return o.do(len(dst), &copying)
}

func copyRows(o *Ops, lo, hi int) { copy(o.columns[0][lo:hi], o.columns[1][lo:hi]) }

// Fill computes
//
//	for i := range dst { dst[i] = value }
func (o *Ops) Fill(dst []float32, value float32) error {
	o.set(dst)
	o.scalars[0] = value
	return o.do(len(dst), &filling)
}

func fillRows(o *Ops, lo, hi int) {
	dst, value := o.columns[0][lo:hi], o.scalars[0]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		v := (*[4]float32)(dst[i : i+4])
		v[0], v[1], v[2], v[3] = value, value, value, value
	}
	for ; i < len(dst); i++ {
		dst[i] = value
	}
}

// Gather computes
//
//	for i := range dst { dst[i] = src[index[i]] }
//
// bit by bit. Live names rows of dst and index, which have one length; src has any,
// and does not overlap dst. An index outside src is ErrRange, which names the first
// such row; rows that Live does not name are not looked at.
func (o *Ops) Gather(dst, src []float32, index []uint32) error {
	if len(index) != len(dst) {
		panic("native: Ops.Gather: dst and index differ in length")
	}
	if err := o.within("native: Ops.Gather: index", index, len(src)); err != nil {
		return err
	}
	o.set(dst, src)
	o.index = index
	return o.do(len(dst), &gathering)
}

func gatherRows(o *Ops, lo, hi int) {
	dst, src, index := o.columns[0][lo:hi], o.columns[1], o.index[lo:hi]
	index = index[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		to, at := (*[4]float32)(dst[i:i+4]), (*[4]uint32)(index[i:i+4])
		to[0], to[1], to[2], to[3] = src[at[0]], src[at[1]], src[at[2]], src[at[3]]
	}
	for ; i < len(dst); i++ {
		dst[i] = src[index[i]]
	}
}

// maxFetch is the length of the longest column that kernels can index.
const maxFetch = 1 << 31

// Scatter computes, in ascending order, so that of rows with the same index the last
// wins,
//
//	for i := range src { dst[index[i]] = src[i] }
//
// bit by bit. Live names rows of src and index, which have one length; dst has any,
// and does not overlap src. An index outside dst is ErrRange, which names the first
// such row; rows that Live does not name are not looked at.
//
// Workers share the search for such an index, and not the rest.
func (o *Ops) Scatter(dst, src []float32, index []uint32) error {
	if len(index) != len(src) {
		panic("native: Ops.Scatter: src and index differ in length")
	}
	if err := o.within("native: Ops.Scatter: index", index, len(dst)); err != nil {
		return err
	}
	// Stores go to one place after the other, in C as well.
	for from, to := named(o.Live, 0, len(src)); from < to; from, to = named(o.Live, to, len(src)) {
		values := src[from:to]
		for i, at := range index[from:to] {
			dst[at] = values[i]
		}
	}
	return nil
}

// within returns an error that wraps ErrRange if a named row of index is not below limit.
func (o *Ops) within(what string, index []uint32, limit int) error {
	o.set()
	o.index, o.limit = index, limit
	i, err := o.first(len(index), &beyond)
	if err == nil && i >= 0 {
		err = fault.Element(ErrRange, what, i, index[i])
	}
	return err
}

func beyondRows(o *Ops, level Level, live []uint64, lo, hi int) {
	searchRows(o, live, lo, hi, func(live []uint64, lo, hi int) int {
		if index := o.index[lo:hi]; level != Go && int64(o.limit) <= maxFetch {
			return firstBeyondC(level, index, o.limit, live)
		} else {
			return firstBeyondGo(index, o.limit, live)
		}
	})
}

func firstBeyondGo(index []uint32, limit int, live []uint64) int {
	for from, to := named(live, 0, len(index)); from < to; from, to = named(live, to, len(index)) {
		if !anyBeyond(index[from:to], limit) {
			continue
		}
		for i, at := range index[from:to] {
			if uint64(at) >= uint64(limit) {
				return from + i
			}
		}
	}
	return -1
}

// anyBeyond reports whether a number of index is not below limit: adding lift then carries into the highest bit.
func anyBeyond(index []uint32, limit int) bool {
	lift := 1<<63 - uint64(limit)
	var a0, a1, a2, a3 uint64
	i := 0
	for ; i+4 <= len(index); i += 4 {
		at := (*[4]uint32)(index[i : i+4])
		a0 |= uint64(at[0]) + lift
		a1 |= uint64(at[1]) + lift
		a2 |= uint64(at[2]) + lift
		a3 |= uint64(at[3]) + lift
	}
	for ; i < len(index); i++ {
		a0 |= uint64(index[i]) + lift
	}
	return (a0|a1|a2|a3)>>63 != 0
}
