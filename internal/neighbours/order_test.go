package neighbours_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

var rowOrders = []neighbours.RowOrder{neighbours.BySlot, neighbours.ByDistance, neighbours.GridOrder}

// orderCase is a batch of rows, behind `from` slots that belong to none.
type orderCase struct {
	name  string
	limit int
	from  int
	ends  []uint32
	slots []uint32
	dist2 []float32
}

// find is a point in a row.
type find struct {
	slot  uint32
	dist2 float32
}

// want sorts the rows plainly.
func (c *orderCase) want(by neighbours.RowOrder) (slots []uint32, dist2 []float32) {
	slots, dist2 = slices.Clone(c.slots), slices.Clone(c.dist2)
	from := c.from
	for _, end := range c.ends {
		var row []find
		for i := from; i < int(end); i++ {
			row = append(row, find{slots[i], dist2[i]})
		}
		switch by {
		case neighbours.BySlot:
			slices.SortFunc(row, func(a, b find) int { return cmp.Compare(a.slot, b.slot) })
		case neighbours.ByDistance:
			slices.SortFunc(row, func(a, b find) int {
				return cmp.Or(cmp.Compare(int32(math.Float32bits(a.dist2)), int32(math.Float32bits(b.dist2))), cmp.Compare(a.slot, b.slot))
			})
		}
		for i, f := range row {
			slots[from+i], dist2[from+i] = f.slot, f.dist2
		}
		from = int(end)
	}
	return slots, dist2
}

// add appends a row of n distinct slots, in an order that some search could
// have found them in.
func (c *orderCase) add(run *paritytest.Run, n int) {
	row := make([]uint32, 0, n)
	slot := uint32(run.IntN(c.limit - n + 1))
	for i := range n {
		row = append(row, slot)
		slot += 1 + uint32(run.IntN((c.limit-int(slot)-1)/(n-i)+1))
	}
	slots := c.shuffled(run, row)
	c.slots = append(c.slots, slots...)
	c.dist2 = append(c.dist2, c.distances(run, n)...)
	c.ends = append(c.ends, uint32(len(c.slots)))
}

// shuffled returns ascending slots as they are, reversed, shuffled, or cut into
// ascending runs.
func (c *orderCase) shuffled(run *paritytest.Run, ascending []uint32) []uint32 {
	switch run.IntN(5) {
	case 0:
	case 1:
		slices.Reverse(ascending)
	case 2:
		runs := make([][]uint32, 1+run.IntN(40))
		for _, s := range ascending {
			r := run.IntN(len(runs))
			runs[r] = append(runs[r], s)
		}
		return slices.Concat(runs...)
	default:
		run.Shuffle(len(ascending), func(i, j int) { ascending[i], ascending[j] = ascending[j], ascending[i] })
	}
	return ascending
}

// distances returns squared distances with and without ties; anything at all
// once in a while.
func (c *orderCase) distances(run *paritytest.Run, n int) []float32 {
	d2 := make([]float32, n)
	kind := run.IntN(6)
	for i := range d2 {
		switch kind {
		case 0:
			d2[i] = 2.25
		case 1:
			d2[i] = float32(run.IntN(4))
		case 2:
			d2[i] = []float32{0, math.SmallestNonzeroFloat32, math.MaxFloat32, float32(math.Inf(1)), run.Float(paritytest.Huge)}[run.IntN(5)]
			d2[i] = max(d2[i], -d2[i])
		case 3:
			d2[i] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		default:
			d2[i] = float32(run.Float32() * 225)
		}
	}
	return d2
}

// orderBuffers hold the arguments of a sort against guard pages.
type orderBuffers struct {
	ends, slots *paritytest.Buffer[uint32]
	dist2       *paritytest.Buffer[float32]
	scratch     *paritytest.Buffer[uint64]
	sorters     map[native.Level]*neighbours.Sorter
}

func newOrderBuffers(t *testing.T, most int) *orderBuffers {
	b := &orderBuffers{
		ends:    paritytest.NewBuffer[uint32](t, 1000),
		slots:   paritytest.NewBuffer[uint32](t, most),
		dist2:   paritytest.NewBuffer[float32](t, most),
		scratch: paritytest.NewBuffer[uint64](t, 2*most+8),
		sorters: map[native.Level]*neighbours.Sorter{},
	}
	for _, level := range native.Levels() {
		b.sorters[level] = new(neighbours.Sorter)
	}
	return b
}

// compare sorts the case on every level in every order, with and without
// squared distances.
func (b *orderBuffers) compare(run *paritytest.Run, c *orderCase) {
	for _, by := range rowOrders {
		wantSlots, wantDist2 := c.want(by)
		for _, level := range native.Levels() {
			for _, side := range paritytest.Sides {
				run.Case(level)
				gap := run.IntN(paritytest.MaxGap + 1)
				ends := b.ends.PlaceCopy(c.ends, side, run.IntN(paritytest.MaxGap+1))
				slots, dist2 := b.slots.PlaceCopy(c.slots, side, gap), b.dist2.PlaceCopy(c.dist2, side, gap)
				if by == neighbours.BySlot && run.IntN(2) == 0 {
					dist2 = nil
				}
				b.sorters[level].SetScratch(b.scratch.Place(neighbours.ScratchLen(level, c.longest()), side, 0))
				neighbours.SortRows(level, by, c.limit, c.from, ends, slots, dist2, b.sorters[level])
				what := fmt.Sprintf("%s, order %d, %d rows", c.name, by, len(c.ends))
				run.Check(paritytest.Bits(what+": ends", ends, c.ends), paritytest.Bits(what+": slots", slots, wantSlots),
					b.ends.Check(), b.slots.Check(), b.dist2.Check(), b.scratch.Check())
				if dist2 != nil {
					run.Check(paritytest.Bits(what+": dist2", dist2, wantDist2))
				}
			}
		}
	}
}

func (c *orderCase) longest() int {
	longest, at := 0, c.from
	for _, end := range c.ends {
		longest, at = max(longest, int(end)-at), int(end)
	}
	return longest
}

// newOrderCase returns a case without rows; slots that come before the first
// one must stay.
func newOrderCase(run *paritytest.Run, name string, limit int) *orderCase {
	c := &orderCase{name: name, limit: limit, from: run.IntN(20)}
	for range c.from {
		c.slots, c.dist2 = append(c.slots, run.Uint32()), append(c.dist2, run.Float(paritytest.AnyBits))
	}
	return c
}

var orderLimits = []int{300, 1000, 4096, 16384, 1 << 20, native.MaxSlots}

// Every length alone, where a kernel that reads on dies at once.
func TestParityOrderLengths(t *testing.T) {
	run := paritytest.Start(t, "SortRows, lengths")
	b := newOrderBuffers(t, 400)
	for range paritytest.Rounds(10) {
		for n := range 301 {
			c := newOrderCase(run, fmt.Sprintf("a row of %d", n), orderLimits[run.IntN(len(orderLimits))])
			c.add(run, n)
			b.compare(run, c)
		}
	}
}

// Batches as a search finds them: no row may touch its neighbours.
func TestParityOrderBatches(t *testing.T) {
	run := paritytest.Start(t, "SortRows, batches")
	b := newOrderBuffers(t, 64*2100)
	for _, mean := range []int{1, 8, 33, 128, 300, 2000} {
		for range paritytest.Rounds(20) {
			c := newOrderCase(run, fmt.Sprintf("rows of about %d", mean), max(2*mean+100, orderLimits[run.IntN(len(orderLimits))]))
			for range run.IntN(65) {
				c.add(run, run.IntN(2*mean+1)*run.IntN(5)/4)
			}
			b.compare(run, c)
		}
	}
}

// Lengths around those at which another way of sorting takes over, and long
// ones.
func TestParityOrderLongRows(t *testing.T) {
	run := paritytest.Start(t, "SortRows, long rows")
	lengths := []int{447, 448, 449, 511, 512, 513, 1000, 1023, 1024, 1025, 1026, 2047, 4096, 5000, 65537}
	if !testing.Short() && !paritytest.Instrumented {
		lengths = append(lengths, 200_000)
	}
	b := newOrderBuffers(t, 200_100)
	for range paritytest.Rounds(5) {
		for _, n := range lengths {
			c := newOrderCase(run, fmt.Sprintf("a row of %d", n), max(n, []int{n, n + 1, 1 << 17, native.MaxSlots}[run.IntN(4)]))
			c.add(run, n)
			c.add(run, 5)
			b.compare(run, c)
		}
	}
}

// The last slot of all, in rows of every kind.
func TestParityOrderLastSlot(t *testing.T) {
	run := paritytest.Start(t, "SortRows, last slot")
	b := newOrderBuffers(t, 3000)
	for _, limit := range []int{2500, 1 << 16, native.MaxSlots} {
		for _, n := range []int{1, 2, 16, 17, 33, 64, 65, 500, 2400} {
			c := newOrderCase(run, fmt.Sprintf("slot %d in a row of %d", limit-1, n), limit)
			c.add(run, n)
			c.slots[c.from+slices.Index(c.slots[c.from:], slices.Max(c.slots[c.from:]))] = uint32(limit - 1)
			b.compare(run, c)
		}
	}
}

// A slot that is too large is found before anything is changed, wherever it
// stands, and the Sorter is none the worse.
func TestSortRowsSlotTooLarge(t *testing.T) {
	run := paritytest.Start(t, "SortRows, slot too large")
	for _, level := range native.Levels() {
		for _, by := range rowOrders[:2] {
			var s neighbours.Sorter
			for _, n := range []int{1, 7, 33, 200, 1500} {
				for _, bad := range []uint32{5000, 5001, 1 << 24, 1 << 31, math.MaxUint32} {
					run.Case(level)
					c := newOrderCase(run, "", 5000)
					c.add(run, 40)
					c.add(run, n)
					good := slices.Clone(c.slots)
					c.slots[len(c.slots)-1-run.IntN(n)] = bad
					slots, dist2 := slices.Clone(c.slots), slices.Clone(c.dist2)
					expectPanic(t, "neighbours: SortRows: a slot is not below limit", func() {
						neighbours.SortRows(level, by, c.limit, c.from, c.ends, slots, dist2, &s)
					})
					run.Check(paritytest.Bits("slots after the panic", slots, c.slots), paritytest.Bits("dist2 after the panic", dist2, c.dist2))
					c.slots = good
					wantSlots, wantDist2 := c.want(by)
					slots = slices.Clone(good)
					neighbours.SortRows(level, by, c.limit, c.from, c.ends, slots, dist2, &s)
					run.Check(paritytest.Bits("slots", slots, wantSlots), paritytest.Bits("dist2", dist2, wantDist2))
				}
			}
		}
	}
}

func TestSortRowsMisuse(t *testing.T) {
	type args struct {
		level       native.Level
		by          neighbours.RowOrder
		limit, from int
		ends, slots []uint32
		dist2       []float32
	}
	for _, c := range []struct {
		want string
		do   func(a *args)
	}{
		{"neighbours: SortRows: unknown order", func(a *args) { a.by = neighbours.GridOrder + 1 }},
		{"neighbours: SortRows: limit is out of range", func(a *args) { a.limit = -1 }},
		{"neighbours: SortRows: limit is out of range", func(a *args) { a.limit = native.MaxSlots + 1 }},
		{"neighbours: SortRows: ByDistance needs dist2", func(a *args) { a.by, a.dist2 = neighbours.ByDistance, nil }},
		{"neighbours: SortRows: slots and dist2 differ in length", func(a *args) { a.dist2 = a.dist2[:3] }},
		{"neighbours: SortRows: slots and dist2 differ in length", func(a *args) { a.dist2 = a.dist2[:0] }},
		{"neighbours: SortRows: from is out of range", func(a *args) { a.from = -1 }},
		{"neighbours: SortRows: ends do not ascend", func(a *args) { a.ends[0] = 4 }},
		{"neighbours: SortRows: ends do not ascend", func(a *args) { a.from = 3 }},
		{"neighbours: SortRows: a row ends after the slots", func(a *args) { a.ends[1] = 5 }},
		{"neighbours: SortRows: a row ends after the slots", func(a *args) { a.from, a.ends = 5, nil }},
		{"neighbours: SortRows: a slot is not below limit", func(a *args) { a.limit = 3 }},
		{"neighbours: SortRows: a slot is not below limit", func(a *args) { a.limit = 0 }},
		{"neighbours: the level cannot run here; see native.Resolve", func(a *args) { a.level = 99 }},
	} {
		for _, level := range native.Levels() {
			a := &args{level: level, by: neighbours.BySlot, limit: 4, ends: []uint32{2, 3}, slots: []uint32{3, 2, 1, 0}, dist2: make([]float32, 4)}
			c.do(a)
			expectPanic(t, c.want, func() {
				neighbours.SortRows(a.level, a.by, a.limit, a.from, a.ends, a.slots, a.dist2, new(neighbours.Sorter))
			})
		}
	}
}

func TestSortRowsAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	run := paritytest.Start(t, "SortRows, allocations")
	c := newOrderCase(run, "", 5000)
	for _, n := range []int{0, 1, 33, 200, 3000} {
		c.add(run, n)
	}
	for _, level := range native.Levels() {
		for _, by := range rowOrders {
			var s neighbours.Sorter
			if n := testing.AllocsPerRun(20, func() {
				neighbours.SortRows(level, by, c.limit, c.from, c.ends, c.slots, c.dist2, &s)
			}); n != 0 {
				t.Errorf("level %s, order %d: %g allocations", level, by, n)
			}
		}
	}
}

// BenchmarkSortRows sorts batches of 64 rows whose lengths vary as those of a
// search do. Each call gets rows that it has not seen for a while, by a copy
// whose cost order=grid shows.
func BenchmarkSortRows(b *testing.B) {
	for _, mean := range []int{8, 33, 128, 1000, 20000} {
		rows := newBenchRows(b, mean)
		for _, c := range []struct {
			name  string
			by    neighbours.RowOrder
			dist2 bool
		}{
			{"grid", neighbours.GridOrder, true}, {"slot", neighbours.BySlot, false}, {"slot+dist2", neighbours.BySlot, true}, {"distance", neighbours.ByDistance, true},
		} {
			for _, level := range native.Levels() {
				b.Run(fmt.Sprintf("n=%d/order=%s/level=%s", mean, c.name, level), func(b *testing.B) {
					rows.run(b, level, c.by, c.dist2)
				})
			}
		}
	}
}

// benchRows are batches of rows, drawn once.
type benchRows struct {
	batches []*orderCase
	rows    int
	slots   []uint32
	dist2   []float32
}

func newBenchRows(b *testing.B, mean int) *benchRows {
	run := paritytest.Start(b, "SortRows, benchmark")
	r := &benchRows{rows: max(1, min(64, 20000/mean))}
	for range max(4, 200_000/mean/r.rows) {
		c := &orderCase{limit: max(16384, 8*mean)}
		for range r.rows {
			n, deviation := mean, int(math.Sqrt(float64(mean)))
			for range 12 { // the sum of twelve is as good as normal
				n += run.IntN(deviation+1) - deviation/2
			}
			c.addFound(run, max(n, 0))
		}
		r.batches = append(r.batches, c)
		if len(c.slots) > len(r.slots) {
			r.slots, r.dist2 = make([]uint32, len(c.slots)), make([]float32, len(c.slots))
		}
	}
	return r
}

// addFound appends a row as a search finds it: ascending runs of slots, one for
// each cell.
func (c *orderCase) addFound(run *paritytest.Run, n int) {
	from := len(c.slots)
	for len(c.slots) < from+n {
		cell := len(c.slots)
		for range min(1+run.IntN(5), from+n-cell) {
			c.slots = append(c.slots, uint32(run.IntN(c.limit)))
			c.dist2 = append(c.dist2, float32(run.Float32()*225))
		}
		slices.Sort(c.slots[cell:])
	}
	c.ends = append(c.ends, uint32(len(c.slots)))
}

func (r *benchRows) run(b *testing.B, level native.Level, by neighbours.RowOrder, dist2 bool) {
	var s neighbours.Sorter
	next := 0
	for b.Loop() {
		c := r.batches[next]
		if next++; next == len(r.batches) {
			next = 0
		}
		slots := r.slots[:copy(r.slots, c.slots)]
		d2 := r.dist2[:copy(r.dist2, c.dist2)]
		if !dist2 {
			d2 = nil
		}
		neighbours.SortRows(level, by, c.limit, 0, c.ends, slots, d2, &s)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.rows), "ns/row")
}
