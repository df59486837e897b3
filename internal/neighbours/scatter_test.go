package neighbours_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// scatterCase is a set of rows, and the order in which they are wanted.
type scatterCase struct {
	from   neighbours.Rows
	begin  int
	number []uint32
	to     neighbours.RowsTo // with the answer
}

// newScatterCase draws rows of up to longest elements, which do not begin at the
// beginning of their slice.
func newScatterCase(run *paritytest.Run, rows, longest int, dist2 bool) *scatterCase {
	c := &scatterCase{begin: run.IntN(5)}
	end := c.begin
	lengths := make([]int, rows)
	for i := range lengths {
		lengths[i] = run.IntN(longest + 1)
		end += lengths[i]
		c.from.Ends = append(c.from.Ends, uint32(end))
	}
	for range end {
		c.from.Slots, c.from.Dist2 = append(c.from.Slots, run.Uint32()), append(c.from.Dist2, run.Float32())
	}
	c.to.Slots, c.to.Dist2 = make([]uint32, end-c.begin), make([]float32, end-c.begin)
	c.to.Offsets = make([]uint32, rows+1)
	c.number = make([]uint32, rows)
	for row, i := range run.Perm(rows) {
		c.number[i] = uint32(row)
		c.to.Offsets[row+1] = c.to.Offsets[row] + uint32(lengths[i])
		at, begin := int(c.to.Offsets[row]), int(c.from.Ends[i])-lengths[i]
		for k := range lengths[i] {
			c.to.Slots[at+k], c.to.Dist2[at+k] = c.from.Slots[begin+k], c.from.Dist2[begin+k]
		}
	}
	if !dist2 {
		c.from.Dist2, c.to.Dist2 = nil, nil
	}
	return c
}

func TestParityScatterRows(t *testing.T) {
	run := paritytest.Start(t, "ScatterRows")
	const rows, longest = 40, 150
	words := map[string]*paritytest.Buffer[uint32]{}
	floats := map[string]*paritytest.Buffer[float32]{}
	for _, name := range []string{"ends", "slots", "number", "offsets", "toSlots"} {
		words[name] = paritytest.NewBuffer[uint32](t, rows*longest+rows+1)
	}
	for _, name := range []string{"dist2", "toDist2"} {
		floats[name] = paritytest.NewBuffer[float32](t, rows*longest+rows)
	}
	for range paritytest.Rounds(200) {
		c := newScatterCase(run, run.IntN(rows+1), []int{0, 3, 20, 70, longest}[run.IntN(5)], run.IntN(2) == 0)
		for _, level := range native.Levels() {
			for _, side := range paritytest.Sides {
				run.Case(level)
				gap := run.IntN(paritytest.MaxGap + 1)
				from := &neighbours.Rows{Ends: words["ends"].PlaceCopy(c.from.Ends, side, gap), Slots: words["slots"].PlaceCopy(c.from.Slots, side, gap)}
				to := &neighbours.RowsTo{Offsets: words["offsets"].PlaceCopy(c.to.Offsets, side, gap), Slots: words["toSlots"].Place(len(c.to.Slots), side, gap)}
				if c.to.Dist2 != nil {
					from.Dist2 = floats["dist2"].PlaceCopy(c.from.Dist2, side, gap)
					to.Dist2 = floats["toDist2"].Place(len(c.to.Dist2), side, gap)
				}
				neighbours.ScatterRows(level, from, c.begin, words["number"].PlaceCopy(c.number, side, gap), to)
				run.Check(paritytest.Bits("slots", to.Slots, c.to.Slots), paritytest.Bits("dist2", to.Dist2, c.to.Dist2),
					paritytest.Bits("input slots", from.Slots, c.from.Slots), paritytest.Bits("input ends", from.Ends, c.from.Ends))
				for name, b := range words {
					if err := b.Check(); err != nil {
						run.Check(fmt.Errorf("%s: %w", name, err))
					}
				}
				run.Check(floats["dist2"].Check(), floats["toDist2"].Check())
			}
		}
	}
}

func TestScatterRowsMisuse(t *testing.T) {
	const doesNotFit = "neighbours: ScatterRows: a row does not fit"
	type args struct {
		from   neighbours.Rows
		begin  int
		number []uint32
		to     neighbours.RowsTo
	}
	for _, c := range []struct {
		want string
		do   func(a *args)
	}{
		{"neighbours: ScatterRows: Rows differ in length", func(a *args) { a.from.Ends = a.from.Ends[:1] }},
		{"neighbours: ScatterRows: Rows differ in length", func(a *args) { a.to.Dist2 = make([]float32, 1) }},
		{"neighbours: ScatterRows: Rows differ in length", func(a *args) { a.to.Dist2 = make([]float32, 40) }},
		{"neighbours: ScatterRows: begin is out of range", func(a *args) { a.begin = -1 }},
		{"neighbours: ScatterRows: begin is out of range", func(a *args) { a.begin = 41 }},
		{doesNotFit, func(a *args) { a.begin = 21 }},
		{doesNotFit, func(a *args) { a.from.Ends[1] = 41 }},
		{doesNotFit, func(a *args) { a.from.Ends[1] = 19 }},
		{doesNotFit, func(a *args) { a.number[0] = 2 }},
		{doesNotFit, func(a *args) { a.to.Offsets[0] = 21 }},
		{doesNotFit, func(a *args) { a.to.Offsets[1] = 1 << 31 }},
		{"neighbours: the level cannot run here; see native.Resolve", nil},
	} {
		for _, level := range native.Levels() {
			a := &args{from: neighbours.Rows{Ends: []uint32{20, 40}, Slots: make([]uint32, 40)}, number: []uint32{1, 0},
				to: neighbours.RowsTo{Offsets: []uint32{0, 20}, Slots: make([]uint32, 40)}}
			if c.do == nil {
				level = native.Level(99)
			} else {
				c.do(a)
			}
			func() {
				defer func() {
					if got := recover(); got != c.want {
						t.Errorf("level %s: got panic %v, want %q", level, got, c.want)
					}
				}()
				neighbours.ScatterRows(level, &a.from, a.begin, a.number, &a.to)
			}()
		}
	}
}
