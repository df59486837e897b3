package neighbours

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/native"
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

// Weigh sets w[j] to the weight of the squared distance dist2[j], in square metres, for the elements j of some rows: row
// i ends before ends[i] and begins where row i-1 ends, the first at 0. The radius of row i is radius[i], in metres.
//
// Elements after the last row are unspecified afterwards. It panics unless dist2 and w have Pad elements more than the
// rows, on a Weight without a formula, and on a level that Resolve refuses.
func Weigh(level native.Level, weight Weight, softening float32, radius []float32, ends []uint32, dist2, w []float32) {
	mustAscend("neighbours: Weigh: ends do not fit", ends, min(len(dist2), len(w))-Pad)
	if len(radius) != len(ends) {
		panic("neighbours: Weigh: radius and ends differ in length")
	}
	if weight == Uniform || weight >= Weights {
		panic("neighbours: Weigh: no such Weight")
	}
	if level = must(level); level != native.Go && len(ends) > 0 {
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
	if uint(at) > uint(most) {
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

// SumOp is how SumRows combines values.
type SumOp uint8

const (
	SumAdd SumOp = iota // one by one, beginning with +0
	SumMin              // v < m ? v : m, beginning with +Inf
	SumMax              // v > m ? v : m, beginning with -Inf
	SumOps              // how many there are
)

// RowSums is the input and output of SumRows. A mask has a bit for each value of a record.
type RowSums struct {
	Records []Record
	Index   []uint32  // elements of the rows: numbers of records
	Ends    []uint32  // row i ends before Ends[i] and begins where row i-1 ends, the first at 0
	Own     []Record  // of each row
	Weights []float32 // of each element of Index; nil if WeightedValues is 0
	Op      SumOp

	PlainValues, WeightedValues uint8 // which values Plain and Weighted get
	PlainMeans, WeightedMeans   uint8 // which of these are divided by the length of the row

	Plain, Weighted []Record // results for each row; nil if they get none
}

// SumRows combines, for each row i and each value k that is wanted, over the elements j of the row in their order,
//
//	v = Records[Index[j]][k] - Own[i][k]
//
// in Plain[i][k], and v * Weights[j] in Weighted[i][k]. Every operation is rounded. The results of an empty row are 0.
// Values that are not wanted are unspecified.
//
// It panics where lengths do not fit, on an unknown Op and on a level that Resolve refuses; it does not check that the
// elements of Index are below len(Records).
func SumRows(level native.Level, s *RowSums) {
	mustAscend("neighbours: SumRows: Ends do not fit", s.Ends, len(s.Index))
	rows := len(s.Ends)
	switch {
	case len(s.Own) != rows || s.PlainValues != 0 && len(s.Plain) != rows || s.WeightedValues != 0 && len(s.Weighted) != rows:
		panic("neighbours: SumRows: Ends, Own, Plain and Weighted differ in length")
	case s.WeightedValues != 0 && len(s.Weights) < len(s.Index):
		panic("neighbours: SumRows: Weights is shorter than Index")
	case s.Op >= SumOps:
		panic("neighbours: SumRows: no such Op")
	}
	if level = must(level); level == native.Go {
		sumRowsGo(s)
	} else if rows > 0 {
		sumRowsC(level, s)
	}
}

// sumRowsGo is the pure-Go kernel. Half of the values of a record at a time stay in registers.
func sumRowsGo(s *RowSums) {
	const values = RecordLen / 2
	at := uint32(0)
	for i, end := range s.Ends {
		index := s.Index[at:end]
		var weights []float32
		if s.WeightedValues != 0 {
			weights = s.Weights[at:end]
		}
		for k := 0; k < RecordLen; k += values {
			own, plain, weighted := half(&s.Own[i], k), s.PlainValues>>k&(1<<values-1) != 0, s.WeightedValues>>k&(1<<values-1) != 0
			switch {
			case s.Op == SumAdd && plain && weighted:
				addBothRow(s.Records, index, k, own, weights, half(&s.Plain[i], k), half(&s.Weighted[i], k))
			case s.Op == SumAdd && plain:
				addRow(s.Records, index, k, own, half(&s.Plain[i], k))
			case s.Op == SumAdd && weighted:
				addWeightedRow(s.Records, index, k, own, weights, half(&s.Weighted[i], k))
			default:
				if plain {
					extremeRow(s.Records, index, k, own, nil, s.Op == SumMax, half(&s.Plain[i], k))
				}
				if weighted {
					extremeRow(s.Records, index, k, own, weights, s.Op == SumMax, half(&s.Weighted[i], k))
				}
			}
		}
		if s.PlainValues != 0 {
			finish(&s.Plain[i], len(index), s.PlainMeans)
		}
		if s.WeightedValues != 0 {
			finish(&s.Weighted[i], len(index), s.WeightedMeans)
		}
		at = end
	}
}

// finish divides the results of a row of n elements that are means.
func finish(r *Record, n int, means uint8) {
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

func addRow(records []Record, index []uint32, k int, own, to *[4]float32) {
	a, b, c, d := own[0], own[1], own[2], own[3]
	var sa, sb, sc, sd float32
	for _, j := range index {
		v := half(&records[j], k)
		sa += v[0] - a
		sb += v[1] - b
		sc += v[2] - c
		sd += v[3] - d
	}
	to[0], to[1], to[2], to[3] = sa, sb, sc, sd
}

func addWeightedRow(records []Record, index []uint32, k int, own *[4]float32, weights []float32, to *[4]float32) {
	a, b, c, d := own[0], own[1], own[2], own[3]
	var sa, sb, sc, sd float32
	for n, w := range weights[:len(index)] {
		v := half(&records[index[n]], k)
		sa += float32((v[0] - a) * w)
		sb += float32((v[1] - b) * w)
		sc += float32((v[2] - c) * w)
		sd += float32((v[3] - d) * w)
	}
	to[0], to[1], to[2], to[3] = sa, sb, sc, sd
}

// addBothRow is addRow and addWeightedRow.
func addBothRow(records []Record, index []uint32, k int, own *[4]float32, weights []float32, plain, weighted *[4]float32) {
	a, b, c, d := own[0], own[1], own[2], own[3]
	var sa, sb, sc, sd, wa, wb, wc, wd float32
	for n, w := range weights[:len(index)] {
		v := half(&records[index[n]], k)
		va, vb := v[0]-a, v[1]-b
		sa += va
		sb += vb
		wa += float32(va * w)
		wb += float32(vb * w)
		vc, vd := v[2]-c, v[3]-d
		sc += vc
		sd += vd
		wc += float32(vc * w)
		wd += float32(vd * w)
	}
	plain[0], plain[1], plain[2], plain[3] = sa, sb, sc, sd
	weighted[0], weighted[1], weighted[2], weighted[3] = wa, wb, wc, wd
}

// extremeRow computes the smallest values or, as the negated smallest of the negated values, the largest. Nil weights
// are 1.
func extremeRow(records []Record, index []uint32, k int, own *[4]float32, weights []float32, largest bool, to *[4]float32) {
	sign := float32(1)
	if largest {
		sign = -1
	}
	least := [4]float32{}
	for i := range least {
		least[i] = float32(math.Inf(1))
	}
	for n, j := range index {
		v := half(&records[j], k)
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

func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }
