package spatial_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/spatial"
)

// sumState is an index of slots 0, 2 and 3, a batch of two queries, and sums for both that nothing is wrong with.
type sumState struct {
	*state
	batch, self *sumQuery
	sums        *spatial.Sums // of the batch
	all         *spatial.Sums // of the self query
}

func newSumState(t *testing.T) *sumState {
	st := &sumState{state: newState(t)}
	st.batch, st.self = &sumQuery{q: st.q, rows: 2}, &sumQuery{self: &spatial.Self{Radius: 1}, rows: 4}
	st.sums, st.all = someSums(2), someSums(4)
	return st
}

func someSums(rows int) *spatial.Sums {
	s := &spatial.Sums{Counts: make([]uint32, rows), Nearest: make([]uint32, rows), NearestDist2: make([]float32, rows)}
	for range 3 {
		s.Terms = append(s.Terms, spatial.Term{Of: []float32{1, 2, 3, 4}, Own: make([]float32, rows)})
	}
	blank(s, rows)
	return s
}

// askAll calls each of the four functions with the sums that belong to it.
func (st *sumState) askAll(do func(ask func() error, sums *spatial.Sums)) {
	do(func() error { return st.ix.Sum(st.batch.q, st.sums) }, st.sums)
	do(func() error { return st.ix.SumOracle(st.batch.q, st.sums) }, st.sums)
	do(func() error { return st.ix.SumSelf(st.self.self, st.all) }, st.all)
	do(func() error { return st.ix.SumSelfOracle(st.self.self, st.all) }, st.all)
}

// Errors name field, index and value, and nothing is written.
func TestBadSums(t *testing.T) {
	for _, c := range []struct {
		set      func(s *spatial.Sums)
		sentinel error
		message  string
	}{
		{func(s *spatial.Sums) { s.Softening = nan }, spatial.ErrNotFinite, "spatial: Sums.Softening = NaN: not finite"},
		{func(s *spatial.Sums) { s.Softening = inf }, spatial.ErrNotFinite, "spatial: Sums.Softening = +Inf: not finite"},
		{func(s *spatial.Sums) { s.Softening = -0.5 }, spatial.ErrRange, "spatial: Sums.Softening = -0.5: out of range"},
		{func(s *spatial.Sums) { s.Terms[1].Weight = spatial.CubicSpline + 1 }, spatial.ErrRange, "spatial: Sums.Terms[1].Weight = 6: out of range"},
		{func(s *spatial.Sums) { s.Terms[2].Weight = 255 }, spatial.ErrRange, "spatial: Sums.Terms[2].Weight = 255: out of range"},
		{func(s *spatial.Sums) { s.Terms[2].Reduce = spatial.Max + 1 }, spatial.ErrRange, "spatial: Sums.Terms[2].Reduce = 4: out of range"},
		{func(s *spatial.Sums) { s.Terms = make([]spatial.Term, 65) }, spatial.ErrRange, "spatial: Sums.Terms: length = 65: out of range"},
	} {
		st := newSumState(t)
		c.set(st.sums)
		c.set(st.all)
		st.askAll(func(ask func() error, sums *spatial.Sums) { st.refuses(t, sums, ask, c.sentinel, c.message) })
		mustBe(t, st.sums.Validate(), c.sentinel, c.message)
	}
}

// refuses checks that an error leaves all results as they were.
func (st *sumState) refuses(t *testing.T, sums *spatial.Sums, ask func() error, sentinel error, message string) {
	t.Helper()
	before := cloneSums(sums)
	for i := range before.Terms {
		before.Terms[i].To = slices.Clone(sums.Terms[i].To)
	}
	mustBe(t, ask(), sentinel, message)
	if err := sameSums("after an error", sums, before); err != nil {
		t.Error(err)
	}
	st.mustBeUnchanged(t)
}

// The errors of Radius and RadiusSelf.
func TestBadSumQueries(t *testing.T) {
	for _, c := range []struct {
		set      func(q *spatial.Queries)
		sentinel error
		message  string
	}{
		{func(q *spatial.Queries) { q.X[1] = nan }, spatial.ErrNotFinite, "spatial: Queries.X[1] = NaN: not finite"},
		{func(q *spatial.Queries) { q.Y[0] = inf }, spatial.ErrNotFinite, "spatial: Queries.Y[0] = +Inf: not finite"},
		{func(q *spatial.Queries) { q.Z[1] = -inf }, spatial.ErrNotFinite, "spatial: Queries.Z[1] = -Inf: not finite"},
		{func(q *spatial.Queries) { q.Radius[1] = nan }, spatial.ErrNotFinite, "spatial: Queries.Radius[1] = NaN: not finite"},
		{func(q *spatial.Queries) { q.Radius[0] = -1 }, spatial.ErrRange, "spatial: Queries.Radius[0] = -1: out of range"},
		{func(q *spatial.Queries) { q.Order = 3 }, spatial.ErrRange, "spatial: Queries.Order = 3: out of range"},
	} {
		st := newSumState(t)
		st.batch.q = &spatial.Queries{X: []float32{2, 0}, Y: []float32{0, 0}, Z: []float32{1, 1}, Radius: []float32{1, 1}}
		c.set(st.batch.q)
		st.refuses(t, st.sums, func() error { return st.ix.Sum(st.batch.q, st.sums) }, c.sentinel, c.message)
		st.refuses(t, st.sums, func() error { return st.ix.SumOracle(st.batch.q, st.sums) }, c.sentinel, c.message)
	}
	for _, c := range []struct {
		q        spatial.Self
		sentinel error
		message  string
	}{
		{spatial.Self{Radius: nan}, spatial.ErrNotFinite, "spatial: Self.Radius = NaN: not finite"},
		{spatial.Self{Radius: -inf}, spatial.ErrNotFinite, "spatial: Self.Radius = -Inf: not finite"},
		{spatial.Self{Radius: -1}, spatial.ErrRange, "spatial: Self.Radius = -1: out of range"},
		{spatial.Self{Order: 3}, spatial.ErrRange, "spatial: Self.Order = 3: out of range"},
	} {
		st := newSumState(t)
		st.refuses(t, st.all, func() error { return st.ix.SumSelf(&c.q, st.all) }, c.sentinel, c.message)
		st.refuses(t, st.all, func() error { return st.ix.SumSelfOracle(&c.q, st.all) }, c.sentinel, c.message)
	}
}

// What only a mistake of the program can cause.
func TestSumsMisusePanics(t *testing.T) {
	const (
		results = "spatial: Sums: Counts, Nearest or NearestDist2 have the wrong length"
		columns = "spatial: Sums: Own or To of a Term have the wrong length"
		short   = "spatial: Sums: Of of a Term is shorter than the columns of Build"
		overlap = "spatial: Sums: a column of results overlaps another column"
	)
	for i, c := range []struct {
		want string
		do   func(s *spatial.Sums, rows int)
	}{
		{results, func(s *spatial.Sums, rows int) { s.Counts = s.Counts[:rows-1] }},
		{results, func(s *spatial.Sums, rows int) { s.Nearest = s.Nearest[:rows-1] }},
		{results, func(s *spatial.Sums, rows int) { s.NearestDist2 = s.NearestDist2[:rows-1] }},
		{columns, func(s *spatial.Sums, rows int) { s.Terms[2].To = s.Terms[2].To[:rows-1] }},
		{columns, func(s *spatial.Sums, rows int) { s.Terms[1].Own = s.Terms[1].Own[:rows-1] }},
		{short, func(s *spatial.Sums, _ int) { s.Terms[1].Of = s.Terms[1].Of[:3] }},
		{"spatial: Sums: a Term without To", func(s *spatial.Sums, _ int) { s.Terms[1].To = nil }},
		{"spatial: Sums: a Term with Own and without Of", func(s *spatial.Sums, _ int) { s.Terms[2].Of = nil }},
		{overlap, func(s *spatial.Sums, _ int) { s.Nearest = s.Counts }},
		{overlap, func(s *spatial.Sums, _ int) { s.Terms[0].To = s.NearestDist2 }},
		{overlap, func(s *spatial.Sums, _ int) { s.Terms[2].To = s.Terms[1].To }},
		{overlap, func(s *spatial.Sums, rows int) { s.Terms[2].To = s.Terms[0].Of[4-rows:] }},
		{overlap, func(s *spatial.Sums, _ int) { s.Terms[2].To = s.Terms[2].Own }},
		{overlap, func(s *spatial.Sums, _ int) { s.Terms[0].To = s.Terms[2].Own }},
		{overlap, func(s *spatial.Sums, _ int) { s.NearestDist2 = s.Terms[1].Own }},
		{overlap, func(s *spatial.Sums, rows int) { adjoin(s, rows, rows-1) }},
	} {
		st := newSumState(t)
		c.do(st.sums, 2)
		c.do(st.all, 4)
		st.askAll(func(ask func() error, _ *spatial.Sums) {
			mustPanic(t, fmt.Sprint("case ", i), c.want, func() { _ = ask() })
		})
	}
	st := newSumState(t)
	for name, do := range map[string]func(){ // columns of a batch have exactly one element for each query
		results: func() { st.sums.Counts = make([]uint32, 3); _ = st.ix.Sum(st.batch.q, st.sums) },
		overlap: func() {
			st.all.Terms[0].To = st.batch.q.X
			_ = st.ix.Sum(st.batch.q, &spatial.Sums{Terms: st.all.Terms[:1]})
		},
		"spatial: Queries: X, Y, Z and Radius differ in length": func() {
			_ = st.ix.Sum(&spatial.Queries{X: []float32{1}}, st.sums)
		},
		"spatial: Queries: Exclude and X differ in length": func() {
			q := *st.batch.q
			q.Exclude = []uint32{1}
			_ = st.ix.Sum(&q, st.sums)
		},
		"spatial: Live is shorter than the columns of Build": func() {
			q := *st.batch.q
			q.Live = []uint64{}
			_ = st.ix.Sum(&q, st.sums)
		},
		"spatial: Self: Mask is shorter than the columns of Build": func() { _ = st.ix.SumSelf(&spatial.Self{Mask: make([]uint32, 3)}, st.all) },
	} {
		st.all.Terms[0].Own = nil
		mustPanic(t, name, name, do)
	}
	for i, do := range []func(){ // results that overlap integers of the query
		func() { q := *st.batch.q; q.Exclude = st.sums.Nearest; _ = st.ix.Sum(&q, st.sums) },
		func() { q := *st.batch.q; q.Mask = st.sums.Counts; _ = st.ix.SumOracle(&q, st.sums) },
		func() { _ = st.ix.SumSelf(&spatial.Self{Mask: st.all.Counts}, st.all) },
		func() { _ = st.ix.SumSelfOracle(&spatial.Self{Mask: st.all.Nearest}, st.all) },
	} {
		st.sums, st.all = someSums(2), someSums(4)
		mustPanic(t, fmt.Sprint("integers ", i), overlap, do)
	}
	mustPanic(t, "a zero index", "spatial: the Index was not made by New", func() { _ = new(spatial.Index).SumSelf(&spatial.Self{}, &spatial.Sums{}) })
	mustPanic(t, "a zero index", "spatial: the Index was not made by New", func() { _ = new(spatial.Index).Sum(&spatial.Queries{}, &spatial.Sums{}) })
}

// adjoin takes the results of the first term and of the last from one slice, the last from this element on.
func adjoin(s *spatial.Sums, rows, from int) {
	both := make([]float32, 2*rows)
	s.Terms[0].To, s.Terms[2].To = both[:rows], both[from:from+rows]
}

// Columns side by side in one slice do not overlap.
func TestSumsOfColumnsSideBySide(t *testing.T) {
	st := newSumState(t)
	adjoin(st.sums, 2, 2)
	adjoin(st.all, 4, 4)
	st.askAll(func(ask func() error, sums *spatial.Sums) {
		if err := cmp.Or(ask(), paritytest.Bits("the last term", sums.Terms[2].To, sums.Terms[0].To)); err != nil {
			t.Error(err)
		}
	})
}

// After an error the same Sums gives right results.
func TestSumsRecover(t *testing.T) {
	st := newSumState(t)
	bad := *st.batch.q
	bad.Radius = []float32{1, -1}
	want := cloneSums(st.sums)
	blank(want, 2)
	if err := st.ix.SumOracle(st.batch.q, want); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if st.ix.Sum(&bad, st.sums) == nil {
			t.Error("no error")
		}
		if err := cmp.Or(st.ix.Sum(st.batch.q, st.sums), sameSums("after an error", st.sums, want)); err != nil {
			t.Error(err)
		}
	}
	if err := paritytest.Bits("counts", st.sums.Counts, []uint32{3, 1}); err != nil {
		t.Error(err)
	}
}
