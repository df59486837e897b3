package stage

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/sleep"
)

func init() { pace.Always = true }

// counter counts what its stages do with each row.
type counter struct {
	rows    []atomic.Int32
	numbers []atomic.Int32 // of spans, by row
	want    int            // the row that test looks for
}

func newCounter(rows int) *counter {
	return &counter{rows: make([]atomic.Int32, rows), numbers: make([]atomic.Int32, rows)}
}

func (c *counter) count(lo, hi int) {
	for i := lo; i < hi; i++ {
		c.rows[i].Add(1)
	}
}

func (c *counter) number(at, lo, hi int) {
	for i := lo; i < hi; i++ {
		c.numbers[i].Add(int32(at + 1))
	}
}

func (c *counter) test(lo, hi int) bool { return lo <= c.want && c.want < hi }

func (c *counter) check(t *testing.T, what string, want func(row int) int) {
	t.Helper()
	for i := range c.rows {
		if got := int(c.rows[i].Swap(0)); got != want(i) {
			t.Fatalf("%s: row %d was done %d times, want %d", what, i, got, want(i))
		}
	}
}

func TestStages(t *testing.T) {
	const n = 5000
	spans := []sleep.Span{{Lo: 3, Hi: 500}, {Lo: 700, Hi: 701}, {Lo: 1000, Hi: 1512}, {Lo: 1512, Hi: 2024}, {Lo: 4000, Hi: n}}
	number := func(row int) int {
		return 1 + slices.IndexFunc(spans, func(p sleep.Span) bool { return p.Lo <= row && row < p.Hi })
	}
	once := func(int) int { return 1 }
	active := func(row int) int { return min(1, number(row)) }
	for _, workers := range []int{1, 2, 5} {
		c := newCounter(n)
		var r Runner[counter]
		r.Open(c)
		err := r.Run(workers, 100*n, func() {
			if r.Single() != (r.Team.Workers() == 1) || r.Single() != r.Unshared() {
				t.Errorf("%d workers: Single is %v, Unshared is %v", workers, r.Single(), r.Unshared())
			}
			r.For(0, n, RowChunk, (*counter).count)
			c.check(t, "For", once)
			r.For(17, 17, 1, (*counter).count)
			r.ForParts(n, (*counter).count)
			c.check(t, "ForParts", once)
			r.ForAscending(n, (*counter).count)
			c.check(t, "ForAscending", once)
			r.EachPart(n, func(part int) { c.count(part, part+1) })
			c.check(t, "EachPart", once)
			r.ForSpans(spans, (*counter).count)
			c.check(t, "ForSpans", active)
			r.ForNumberedSpans(spans, (*counter).number)
			for c.want = range n {
				if got := r.Any(spans, (*counter).test); got != (number(c.want) > 0) {
					t.Fatalf("Any: %v for row %d", got, c.want)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.numbers {
			if got := int(c.numbers[i].Load()); got != number(i) {
				t.Fatalf("row %d is in span %d, want %d", i, got, number(i))
			}
		}
	}
}

// TestRanges: a range has one large colour or a run of small ones, and begins when the one before is done. Nobody shares the
// overflow, whose blocks may have bodies in common.
func TestRanges(t *testing.T) {
	var start [graph.NumColours + 1]int
	sizes := [graph.NumColours]int{0: 100, 1: 5, 2: 31, 3: 32, 5: 1, graph.Overflow: 90}
	for i, n := range sizes {
		start[i+1] = start[i] + n
	}
	ranges := PlanRanges(nil, &start)
	want := []Range{{0, 100, true}, {100, 136, false}, {136, 168, true}, {168, 259, false}}
	if !slices.Equal(ranges, want) {
		t.Fatalf("ranges %v, want %v", ranges, want)
	}
	c := newCounter(259)
	var r Runner[counter]
	r.Open(c)
	if err := r.Run(3, 1<<20, func() {
		for range 50 {
			r.ForRanges(ranges, (*counter).count)
			c.check(t, "ForRanges", func(int) int { return 1 })
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// TestWorkersOfARun: few rows have one worker.
func TestWorkersOfARun(t *testing.T) {
	var r Runner[counter]
	r.Open(newCounter(0))
	for _, rows := range []int{0, rowsPerWorker - 1} {
		if err := r.Run(8, rows, func() {
			if got := r.Team.Workers(); got != 1 {
				t.Errorf("%d rows have %d workers, want 1", rows, got)
			}
		}); err != nil {
			t.Error(err)
		}
	}
}

func TestHashesAndTrace(t *testing.T) {
	var r Runner[counter]
	r.End("nobody asks")
	var got []string
	r.Trace = func(name string) { got = append(got, name) }
	r.End("a")
	r.End("b")
	if !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("traced %v", got)
	}
	r.Hashes.Add("x", 7)
	if l := r.Hashes.List; len(l) != 1 || l[0].Name != "x" || l[0].Hash != 7 {
		t.Errorf("hashes %v", l)
	}
	if r.Hashes.Clear(); len(r.Hashes.List) != 0 {
		t.Error("hashes remain")
	}
}

func TestStagesAllocateNothing(t *testing.T) {
	c := newCounter(2000)
	var r Runner[counter]
	r.Open(c)
	spans := []sleep.Span{{Lo: 0, Hi: 512}, {Lo: 512, Hi: 1024}}
	if n := testing.AllocsPerRun(100, func() {
		r.For(0, 2000, RowChunk, (*counter).count)
		r.ForSpans(spans, (*counter).count)
		r.ForNumberedSpans(spans, (*counter).number)
		r.Any(spans, (*counter).test)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
