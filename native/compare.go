package native

import "math"

// A Comparison is a relation of two numbers, as IEEE 754 defines it: if either is NaN only NotEqual holds, and zeros of
// either sign are equal.
type Comparison uint8

const (
	Less         Comparison = iota // x < y
	LessEqual                      // x <= y
	Greater                        // x > y
	GreaterEqual                   // x >= y
	Equal                          // x == y
	NotEqual                       // x != y
)

var (
	comparing = rowOp{kernel: compareRows, worth: 64}
	selecting = rowOp{selectRows, selectKernel, 64}
)

// Compare writes a bitmap of the rows of x for which a comparison with y holds:
//
//	for i := range x { bit i of to = x[i] < y }
//
// and so on for the other comparisons. It writes all of to: the bits of rows that Live does not name, and those after
// the last row, are 0. to may be Live itself, which then keeps only the rows for which the comparison holds. Compare
// panics if to lacks a bit for a row, and on an unknown Comparison.
func (o *Ops) Compare(to []uint64, x []float32, is Comparison, y float32) error {
	o.set(x, nil)
	o.scalars[0] = y
	return o.compare(to, is)
}

// CompareColumns is Compare with y[i] in place of y, for columns of one length.
func (o *Ops) CompareColumns(to []uint64, x []float32, is Comparison, y []float32) error {
	checkRows("native: Ops.CompareColumns: x and y differ in length", len(x), y)
	o.set(x, y)
	return o.compare(to, is)
}

func (o *Ops) compare(to []uint64, is Comparison) error {
	if is > NotEqual {
		panic("native: Ops: unknown Comparison")
	}
	rows := len(o.columns[0])
	words := (rows + 63) / 64
	if len(to) < words {
		panic("native: Ops: a bitmap has no bit for each row")
	}
	o.bitmap, o.comparison = to, is
	err := o.do(rows, &comparing)
	if err == nil {
		clear(to[words:])
	}
	return err
}

// compareRows compares 64 rows at a time. A number is compared as a column of 64 rows.
func compareRows(o *Ops, level Level, live []uint64, lo, hi int) {
	x, y, to := o.columns[0][lo:hi], o.columns[1], o.bitmap[lo/64:(hi+63)/64]
	if y != nil {
		y = y[lo:hi]
	}
	if level == Go {
		compareGo(to, x, y, o.scalars[0], o.comparison, live)
	} else {
		compareC(level, to, x, y, o.scalars[0], o.comparison, live)
	}
}

func compareGo(to []uint64, x, y []float32, limit float32, is Comparison, live []uint64) {
	var a, b [64]float32 // the last rows of x and y; without y, b is the limit
	for j := range b {
		b[j] = limit
	}
	for i := range to {
		named := ^uint64(0)
		if live != nil {
			named = live[i]
		}
		from := 64 * i
		left, right := &a, &b
		if rows := len(x) - from; rows >= 64 {
			left = (*[64]float32)(x[from : from+64])
			if y != nil {
				right = (*[64]float32)(y[from : from+64])
			}
		} else {
			named &= 1<<rows - 1
			copy(a[:], x[from:])
			if y != nil {
				copy(b[:], y[from:])
			}
		}
		if named != 0 {
			named &= compare64(left, right, is)
		}
		to[i] = named
	}
}

func compare64(x, y *[64]float32, is Comparison) uint64 {
	switch is {
	case Less:
		return less64(x, y)
	case LessEqual:
		return lessEqual64(x, y)
	case Greater:
		return less64(y, x)
	case GreaterEqual:
		return lessEqual64(y, x)
	case Equal:
		return equal64(x, y)
	}
	return ^equal64(x, y)
}

// The functions below have no branch that depends on a number.

func less64(x, y *[64]float32) (bits uint64) {
	for j := 0; j < 64; j += 4 {
		x, y := (*[4]float32)(x[j:]), (*[4]float32)(y[j:])
		bits |= (bit(x[0] < y[0]) | bit(x[1] < y[1])<<1 | bit(x[2] < y[2])<<2 | bit(x[3] < y[3])<<3) << j
	}
	return bits
}

func lessEqual64(x, y *[64]float32) (bits uint64) {
	for j := 0; j < 64; j += 4 {
		x, y := (*[4]float32)(x[j:]), (*[4]float32)(y[j:])
		bits |= (bit(x[0] <= y[0]) | bit(x[1] <= y[1])<<1 | bit(x[2] <= y[2])<<2 | bit(x[3] <= y[3])<<3) << j
	}
	return bits
}

func equal64(x, y *[64]float32) (bits uint64) {
	for j := 0; j < 64; j += 4 {
		x, y := (*[4]float32)(x[j:]), (*[4]float32)(y[j:])
		bits |= (bit(x[0] == y[0]) | bit(x[1] == y[1])<<1 | bit(x[2] == y[2])<<2 | bit(x[3] == y[3])<<3) << j
	}
	return bits
}

func bit(is bool) uint64 {
	var v uint8
	if is {
		v = 1
	}
	return uint64(v)
}

// Select computes, bit by bit,
//
//	for i := range out {
//		if which names row i { out[i] = a[i] } else { out[i] = b[i] }
//	}
//
// where which is a bitmap like Live, with a bit for each row. out may be a or b. To select a number instead of a column,
// let Live be the bitmap, and Fill the column. Select panics if which lacks a bit for a row.
func (o *Ops) Select(out []float32, which []uint64, a, b []float32) error {
	checkRows("native: Ops.Select: columns differ in length", len(out), a, b)
	if len(which) < (len(out)+63)/64 {
		panic("native: Ops: a bitmap has no bit for each row")
	}
	o.set(out, a, b)
	o.bitmap = which
	return o.do(len(out), &selecting)
}

func selectRows(o *Ops, lo, hi int) {
	out, a, b := o.columns[0], o.columns[1], o.columns[2]
	for lo < hi {
		word, end := o.bitmap[lo/64], min(lo&^63+64, hi)
		switch {
		case word == 0:
			copy(out[lo:end], b[lo:end])
		case word == math.MaxUint64:
			copy(out[lo:end], a[lo:end])
		default:
			select64(out[lo:end], a[lo:end], b[lo:end], word>>(lo%64))
		}
		lo = end
	}
}

// select64 has no branch that depends on a bit.
func select64(out, a, b []float32, bits uint64) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		v := math.Float32bits(b[i])
		if w := math.Float32bits(a[i]); bits&1 != 0 {
			v = w
		}
		out[i] = math.Float32frombits(v)
		bits >>= 1
	}
}
