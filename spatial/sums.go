package spatial

import (
	"fmt"
	"unsafe"

	"github.com/evertick/evertick/internal/fault"
)

// Sums are what Index.Sum and Index.SumSelf compute for each centre over its neighbours: the points
// in its row of Radius or RadiusSelf, in order Grid. No row is kept. Results are the bits of the
// plain loop over such rows that the oracle is, on every level and with any number of workers.
//
// In Sum, Counts, Nearest, NearestDist2, Own and To have one element for each query. In SumSelf
// they are columns, at least as long as the columns of Build, and the row of a centre is its slot: rows of
// slots that are not in the index keep their values. Of is such a column in both.
//
// A Sums keeps memory between calls: reuse it, in one goroutine at a time, and do not copy it. The
// columns may be others at each call.
type Sums struct {
	Terms []Term // at most 64
	// Counts is the number of neighbours. Nil: not wanted.
	Counts []uint32
	// Nearest is the slot of the nearest neighbour, of several at the same distance the lowest;
	// NoSlot without neighbours. Nil: not wanted.
	Nearest []uint32
	// NearestDist2 is the squared distance of the nearest neighbour, +Inf without neighbours. Nil:
	// not wanted.
	NearestDist2 []float32
	// Softening is added to squared distances by InverseSquare, in square metres.
	Softening float32

	scratch *scratch
}

// A Term is one column of results: To[c] reduces, over the neighbours n of centre c in order Grid,
//
//	(Of[n] - Own[c]) * weight
//
// in float32, every operation rounded on its own. Positions are columns too: with Of and Own the x
// column that the index was built from, values are offsets along x.
//
// Values may be NaN or infinite, and sums may overflow: the results follow IEEE 754, except
// that the bits of a NaN are unspecified.
type Term struct {
	Of     []float32 // nil: 1, for sums of weights; then Own is nil as well
	Own    []float32 // nil: nothing is subtracted
	Weight Weight
	Reduce Reduce
	To     []float32 // overlaps no other column of the call; nil only if there are no centres
}

// Weight is a factor that depends on the distance d of a neighbour, or on its square d2, and on the
// radius r. The comments give the formulas; each operation is rounded to float32.
//
// Where t is negative or NaN it counts as 0: rounding may make d a little larger than r, and a radius
// may be 0, or so large that its square overflows. The kernels of smoothed particles come without
// their constant factors, which the caller multiplies into the results.
type Weight uint8

const (
	// Uniform is 1. Values are not multiplied.
	Uniform Weight = iota
	// InverseSquare is 1 / (d2+Softening), and 0 where d2+Softening is 0: a neighbour at the place
	// of its centre has no direction. It is +Inf where the quotient overflows, below 2^-128.
	InverseSquare
	// Linear is t = 1 - d/r. Times 45/(π r^5) it is the Laplacian of the viscosity kernel.
	Linear
	// Poly6 is (t*t)*t, where t = 1 - d2/(r*r). Times 315/(64π r^3) it is the kernel of that name.
	Poly6
	// SpikyGradient is (t*t)/d, where t = 1 - d/r, and 0 where d is 0. With offsets as values, terms
	// are (t*t) times the unit vector to the neighbour. Times 45/(π r^4) that is the gradient of the
	// spiky kernel with respect to the centre.
	SpikyGradient
	// CubicSpline is 1 - 6*((q*q)*t) where q = d/r is at most 1/2, and 2*((t*t)*t) elsewhere, where t =
	// 1 - q. Times 8/(π r^3) it is the kernel of that name, with support r.
	CubicSpline
)

// Reduce is how a Term combines values. Without neighbours every result is 0.
type Reduce uint8

const (
	// Add adds the values one by one to +0.
	Add Reduce = iota
	// Mean is Add divided by the number of neighbours.
	Mean
	// Min is the smallest value, and Max the largest; of 0 and -0 the first. They ignore NaN, and are
	// +Inf and -Inf where all values are NaN.
	Min
	Max
)

// maxTerms bounds the accumulators of a centre.
const maxTerms = 64

// Validate returns the first fault: a Softening that is NaN or infinite (ErrNotFinite) or negative,
// more than 64 terms, or an unknown Weight or Reduce (ErrRange). It panics if a term has Own but not Of.
func (s *Sums) Validate() error {
	switch {
	case !fault.Finite(s.Softening):
		return fault.Field(ErrNotFinite, "spatial: Sums.Softening", s.Softening)
	case s.Softening < 0:
		return fault.Field(ErrRange, "spatial: Sums.Softening", s.Softening)
	case len(s.Terms) > maxTerms:
		return fault.Field(ErrRange, "spatial: Sums.Terms: length", len(s.Terms))
	}
	for i := range s.Terms {
		t := &s.Terms[i]
		if t.Own != nil && t.Of == nil {
			panic("spatial: Sums: a Term with Own and without Of")
		}
		if t.Weight > CubicSpline {
			return fault.Field(ErrRange, fmt.Sprintf("spatial: Sums.Terms[%d].Weight", i), t.Weight)
		}
		if t.Reduce > Max {
			return fault.Field(ErrRange, fmt.Sprintf("spatial: Sums.Terms[%d].Reduce", i), t.Reduce)
		}
	}
	return nil
}

// check returns the error of Validate. It panics if fits refuses the length of a column of the centres, if
// Of is too short, or if a column of results overlaps another one, also one of the queries.
func (s *Sums) check(ix *Index, fits func(n int) bool, words [2][]uint32, floats ...[]float32) error {
	if err := s.Validate(); err != nil {
		return err
	}
	for _, n := range []int{len(s.Counts), len(s.Nearest), len(s.NearestDist2)} {
		if n != 0 && !fits(n) {
			panic("spatial: Sums: Counts, Nearest or NearestDist2 have the wrong length")
		}
	}
	for i := range s.Terms {
		t := &s.Terms[i]
		if t.To == nil && !fits(0) {
			panic("spatial: Sums: a Term without To")
		}
		if !fits(len(t.To)) || t.Own != nil && !fits(len(t.Own)) {
			panic("spatial: Sums: Own or To of a Term have the wrong length")
		}
		if t.Of != nil && len(t.Of) < ix.points.Limit {
			panic("spatial: Sums: Of of a Term is shorter than the columns of Build")
		}
	}
	s.checkOverlaps(words, floats)
	return nil
}

// checkOverlaps panics if a column of results shares memory with another column of the call.
func (s *Sums) checkOverlaps(words [2][]uint32, floats [][]float32) {
	const message = "spatial: Sums: a column of results overlaps another column"
	if overlap(s.Counts, s.Nearest) {
		panic(message)
	}
	for _, q := range words {
		if overlap(s.Counts, q) || overlap(s.Nearest, q) {
			panic(message)
		}
	}
	for i := -1; i < len(s.Terms); i++ {
		to := s.NearestDist2
		if i >= 0 {
			to = s.Terms[i].To
		}
		for j := range s.Terms {
			t := &s.Terms[j]
			if overlap(to, t.Of) || overlap(to, t.Own) || j > i && overlap(to, t.To) {
				panic(message)
			}
		}
		for _, q := range floats {
			if overlap(to, q) {
				panic(message)
			}
		}
	}
}

// overlap reports whether two slices share memory.
func overlap[T any](a, b []T) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	first, last := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&a[len(a)-1]))
	from, to := uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&b[len(b)-1]))
	return first <= to && from <= last
}

// checkSum validates the arguments of Sum.
func (ix *Index) checkSum(q *Queries, s *Sums) error {
	if err := q.Validate(); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	return s.check(ix, func(n int) bool { return n == len(q.X) }, [...][]uint32{q.Exclude, q.Mask}, q.X, q.Y, q.Z, q.Radius)
}

// checkSumSelf validates the arguments of SumSelf.
func (ix *Index) checkSumSelf(q *Self, s *Sums) error {
	if err := ix.checkSelf(q); err != nil {
		return err
	}
	return s.check(ix, func(n int) bool { return n >= ix.points.Limit }, [2][]uint32{q.Mask})
}

// Sum computes the sums of a batch of queries, with the filters of Radius. It ignores q.Order and
// q.SkipDist2, but refuses an unknown order. Errors are those of Queries.Validate and Sums.Validate,
// with all columns as they were, and ErrFloatEnv, after which the results are undefined. It panics
// where lengths do not fit, or if a column of results overlaps another column.
func (ix *Index) Sum(q *Queries, s *Sums) error {
	if err := ix.checkSum(q, s); err != nil {
		return err
	}
	w := scratchOf(&s.scratch)
	w.radius.begin(ix, q)
	t := &w.sums
	t.searcher, t.radius, t.self, t.byPlace = &w.radius, q.Radius, nil, false
	t.begin(ix, s, len(q.X))
	err := t.run(&w.pools)
	w.radius.end()
	return err
}

// SumSelf computes the sums of every point of the index. q selects the neighbours as for
// RadiusSelf; its Order, SkipDist2 and RowsInGridOrder have no effect, but an unknown order is
// refused. Errors are those of Self.Validate and Sums.Validate, with all columns as they were, and
// ErrFloatEnv, after which the results are undefined. It panics where lengths do not fit, or if a
// column of results overlaps another column.
func (ix *Index) SumSelf(q *Self, s *Sums) error {
	if err := ix.checkSumSelf(q, s); err != nil {
		return err
	}
	w := scratchOf(&s.scratch)
	w.self.begin(ix, q, q.keep())
	w.self.query.Places = !w.self.hasFilters()
	t := &w.sums
	t.searcher, t.radius, t.self, t.byPlace = &w.self, nil, &w.self, w.self.query.Places
	t.begin(ix, s, ix.n)
	err := t.run(&w.pools)
	w.self.end()
	return err
}
