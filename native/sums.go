package native

import (
	"math"
	"math/bits"
)

// Weight is a factor that depends on the distance of a neighbour. Package spatial gives the formulas.
type Weight uint8

const (
	Uniform Weight = iota
	InverseSquare
	Linear
	Poly6
	SpikyGradient
	CubicSpline
	Weights // how many there are
)

// Weigh sets w[j] to the weight of the squared distance dist2[j], for the elements j of some rows: row i ends before
// ends[i] and begins where row i-1 ends, the first at 0. The radius of row i is radius[i].
//
// Elements after the last row are unspecified afterwards. It panics unless dist2 and w have Pad elements more than the
// rows, on a Weight without a formula, and on a level that Resolve refuses.
func Weigh(level Level, weight Weight, softening float32, radius []float32, ends []uint32, dist2, w []float32) {
	mustAscend("native: Weigh: ends do not fit", ends, min(len(dist2), len(w))-Pad)
	if len(radius) != len(ends) {
		panic("native: Weigh: radius and ends differ in length")
	}
	if weight == Uniform || weight >= Weights {
		panic("native: Weigh: no such Weight")
	}
	if level = must(level); level != Go && len(ends) > 0 {
		weighC(level, weight, softening, radius, ends, dist2, w)
		return
	}
	at := uint32(0)
	for i, end := range ends {
		weighRow(weight, radius[i], softening, dist2[at:end], w[at:end])
		at = end
	}
}

// mustAscend panics unless ends ascend up to most.
func mustAscend(message string, ends []uint32, most int) {
	at := uint32(0)
	for _, end := range ends {
		if end < at {
			panic(message)
		}
		at = end
	}
	if int(at) > most {
		panic(message)
	}
}

// weighRow is Weigh for one row.
func weighRow(weight Weight, r, softening float32, dist2, w []float32) {
	w = w[:len(dist2)]
	switch weight {
	case InverseSquare:
		for j, d2 := range dist2 {
			w[j] = positive(d2+softening, 1/(d2+softening))
		}
	case Linear:
		for j, d2 := range dist2 {
			t := 1 - sqrt(d2)/r
			w[j] = positive(t, t)
		}
	case Poly6:
		r2 := r * r
		for j, d2 := range dist2 {
			t := 1 - d2/r2
			t = positive(t, t)
			w[j] = float32(float32(t*t) * t)
		}
	case SpikyGradient:
		for j, d2 := range dist2 {
			d := sqrt(d2)
			t := 1 - d/r
			t = positive(t, t)
			w[j] = positive(d, float32(t*t)/d)
		}
	case CubicSpline:
		for j, d2 := range dist2 {
			q := sqrt(d2) / r
			t := 1 - q
			t = positive(t, t)
			if w[j] = float32(2 * float32(float32(t*t)*t)); q <= 0.5 {
				w[j] = 1 - float32(6*float32(float32(q*q)*t))
			}
		}
	}
}

// positive returns v where a is above 0, and 0 elsewhere.
func positive(a, v float32) float32 {
	if a > 0 {
		return v
	}
	return 0
}

// RecordLen is the number of values of a Record.
const RecordLen = 8

// A Record has some values of a point, or of a row.
type Record [RecordLen]float32

// SumOp is how SumRows combines values.
type SumOp uint8

const (
	Add    SumOp = iota // one by one, beginning with +0
	Min                 // v < m ? v : m, beginning with +Inf
	Max                 // v > m ? v : m, beginning with -Inf
	SumOps              // how many there are
)

// RowSums is the input and output of SumRows.
type RowSums struct {
	Records []Record // a single one serves all elements of Index
	Index   []uint32 // elements of the rows: numbers of records
	Ends    []uint32 // row i ends before Ends[i] and begins where row i-1 ends, the first at 0
	Own     []Record // of each row
	Values  int      // how many values of a record are in use, at least one
	Op      SumOp
	Weights []float32 // of each element of Index; nil if Weighted is nil

	Plain, Weighted []Record // results for each row; at least one of them is not nil
	// PlainMeans and WeightedMeans have a bit for each value whose result is divided by the length of the row.
	PlainMeans, WeightedMeans uint8
}

// SumRows combines, for each row i and each of the Values k, the values
//
//	v = Records[j][k] - Own[i][k]
//
// of the elements j of the row, in their order: v in Plain[i][k], and v * Weights[j] in Weighted[i][k]. Every
// operation is rounded. The results of an empty row are 0. Other elements of the results are unspecified.
//
// It panics where lengths do not fit, on an unknown Op and on a level that Resolve refuses; it does not check that the elements of
// Index are below len(Records).
func SumRows(level Level, s *RowSums) {
	mustAscend("native: SumRows: Ends do not fit", s.Ends, len(s.Index))
	rows := len(s.Ends)
	switch {
	case s.Values < 1 || s.Values > RecordLen:
		panic("native: SumRows: Values is out of range")
	case len(s.Own) != rows || s.Plain != nil && len(s.Plain) != rows || s.Weighted != nil && len(s.Weighted) != rows:
		panic("native: SumRows: Ends, Own, Plain and Weighted differ in length")
	case s.Weighted != nil && len(s.Weights) < len(s.Index):
		panic("native: SumRows: Weights is shorter than Index")
	case s.Op >= SumOps:
		panic("native: SumRows: no such Op")
	case s.Plain == nil && s.Weighted == nil || len(s.Records) == 0 && len(s.Index) > 0:
		panic("native: SumRows: no results or no records")
	}
	if level = must(level); level == Go {
		sumRowsGo(s)
	} else if rows > 0 {
		sumRowsC(level, s)
	}
}

// mask is 0 if one record serves all elements of Index.
func (s *RowSums) mask() uint32 {
	if len(s.Records) == 1 {
		return 0
	}
	return ^uint32(0)
}

// sumRowsGo is the pure-Go kernel. Four values at a time stay in registers.
func sumRowsGo(s *RowSums) {
	every, at := s.mask(), uint32(0)
	for i, end := range s.Ends {
		index := s.Index[at:end]
		for k := 0; k < s.Values; k += RecordLen / 2 {
			own := half(&s.Own[i], k)
			if s.Plain != nil {
				to := half(&s.Plain[i], k)
				if s.Op == Add {
					addRow(s.Records, index, every, k, own, to)
				} else {
					extremeRow(s.Records, index, every, k, own, nil, s.Op == Max, to)
				}
			}
			if s.Weighted != nil {
				weights, to := s.Weights[at:end], half(&s.Weighted[i], k)
				if s.Op == Add {
					addWeightedRow(s.Records, index, every, k, own, weights, to)
				} else {
					extremeRow(s.Records, index, every, k, own, weights, s.Op == Max, to)
				}
			}
		}
		finish(s.Plain, i, int(end-at), s.PlainMeans)
		finish(s.Weighted, i, int(end-at), s.WeightedMeans)
		at = end
	}
}

// finish divides the results of a row of n elements that are means.
func finish(results []Record, row, n int, means uint8) {
	if results == nil {
		return
	}
	r := &results[row]
	if n == 0 {
		*r = Record{}
		return
	}
	for ; means != 0; means &= means - 1 {
		r[bits.TrailingZeros8(means)] /= float32(n)
	}
}

// half returns the values of a record from k on.
func half(r *Record, k int) *[RecordLen / 2]float32 { return (*[RecordLen / 2]float32)(r[k:]) }

func addRow(records []Record, index []uint32, every uint32, k int, own, to *[4]float32) {
	a, b, c, d := own[0], own[1], own[2], own[3]
	var sa, sb, sc, sd float32
	for _, j := range index {
		v := half(&records[j&every], k)
		sa += v[0] - a
		sb += v[1] - b
		sc += v[2] - c
		sd += v[3] - d
	}
	to[0], to[1], to[2], to[3] = sa, sb, sc, sd
}

func addWeightedRow(records []Record, index []uint32, every uint32, k int, own *[4]float32, weights []float32, to *[4]float32) {
	a, b, c, d := own[0], own[1], own[2], own[3]
	var sa, sb, sc, sd float32
	for n, w := range weights[:len(index)] {
		v := half(&records[index[n]&every], k)
		sa += float32((v[0] - a) * w)
		sb += float32((v[1] - b) * w)
		sc += float32((v[2] - c) * w)
		sd += float32((v[3] - d) * w)
	}
	to[0], to[1], to[2], to[3] = sa, sb, sc, sd
}

// extremeRow is for smallest values, and for largest: these are the negated smallest of the negated values. Nil
// weights are 1.
func extremeRow(records []Record, index []uint32, every uint32, k int, own *[4]float32, weights []float32, largest bool, to *[4]float32) {
	sign := float32(1)
	if largest {
		sign = -1
	}
	least := [4]float32{}
	for i := range least {
		least[i] = float32(math.Inf(1))
	}
	for n, j := range index {
		v := half(&records[j&every], k)
		w := sign
		if weights != nil {
			w *= weights[n]
		}
		for i := range v {
			if x := float32((v[i] - own[i]) * w); x < least[i] {
				least[i] = x
			}
		}
	}
	for i := range least {
		to[i] = least[i] * sign
	}
}

// FillRecords sets value k of records[place[s]] to that of slot s in column k, or to none if that column is nil, for the slots s
// from first to last-1 whose place is not NoSlot. If place is nil, it is s. The values from len(columns) on become
// none.
//
// It panics where lengths do not fit, and on a level that Resolve refuses; it does not check places.
func FillRecords(level Level, columns [][]float32, none float32, place []uint32, first, last int, records []Record) {
	checkColumns("native: FillRecords: columns or place do not fit", columns, place, first, last)
	if place == nil && last > len(records) {
		panic("native: FillRecords: records is too short")
	}
	if level = must(level); level != Go && first < last {
		fillRecordsC(columns, none, place, first, last, records)
		return
	}
	for s := first; s < last; s++ {
		at := uint32(s)
		if place != nil {
			if at = place[s]; at == NoSlot {
				continue
			}
		}
		r := &records[at]
		for k := range r {
			if r[k] = none; k < len(columns) && columns[k] != nil {
				r[k] = columns[k][s]
			}
		}
	}
}

// checkColumns panics unless all columns that are not nil, and place, have slots first to last-1.
func checkColumns(message string, columns [][]float32, place []uint32, first, last int) {
	ok := len(columns) <= RecordLen && first >= 0 && first <= last && (place == nil || last <= len(place))
	for _, c := range columns {
		ok = ok && (c == nil || last <= len(c))
	}
	if !ok {
		panic(message)
	}
}

// SpreadRecords sets columns[k][s] to value[k] of records[k][place[s]], for the slots s from first to last-1 whose place is
// not NoSlot. It panics where lengths do not fit, and on a level that Resolve refuses; it does not check places.
func SpreadRecords(level Level, records [][]Record, value []int, place []uint32, first, last int, columns [][]float32) {
	checkColumns("native: SpreadRecords: columns or place do not fit", columns, place, first, last)
	if place == nil || len(records) != len(columns) || len(value) != len(columns) {
		panic("native: SpreadRecords: records, value and columns differ in length")
	}
	for k, v := range value {
		if v < 0 || v >= RecordLen || len(records[k]) == 0 || columns[k] == nil {
			panic("native: SpreadRecords: value is out of range, or there are no records")
		}
	}
	if level = must(level); level != Go && first < last {
		spreadRecordsC(records, value, place, first, last, columns)
		return
	}
	for s := first; s < last; s++ {
		if at := place[s]; at != NoSlot {
			for k, column := range columns {
				column[s] = records[k][at][value[k]]
			}
		}
	}
}
