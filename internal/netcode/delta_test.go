package netcode_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// deltaCase are the arguments of Delta.
type deltaCase struct {
	arena                       []int32
	stride, now, base, previous int
	shape                       netcode.DeltaLanes
	rows                        int
}

// deltaResult is what Delta writes.
type deltaResult struct {
	records       []uint32
	changed, wide []uint64
}

// wrapTo returns the number in [-2^(bits-1), 2^(bits-1)) that differs from v by a multiple of 2^bits, and 0 for no bits.
func wrapTo(v int64, bits int) int64 {
	span := int64(1) << bits
	v = (v%span + span) % span
	if 2*v >= span && bits > 0 {
		v -= span
	}
	return v
}

// brute computes Delta from the numbers themselves, in 64 bits.
func (c *deltaCase) brute() deltaResult {
	words := (c.rows + 63) / 64
	r := deltaResult{make([]uint32, c.rows), make([]uint64, words), make([]uint64, words)}
	for i := range c.rows {
		at := 0
		for l := range c.shape.Lanes {
			value := func(state int) int64 { return int64(c.arena[state+l*c.stride+i]) }
			d := value(c.now) - value(c.base)
			if c.previous >= 0 {
				d = value(c.now) - 2*value(c.base) + value(c.previous)
			}
			d = wrapTo(d, int(c.shape.Bits[l]))
			width := int(c.shape.Width[l])
			if d != 0 {
				r.changed[i/64] |= 1 << (i % 64)
			}
			if wrapTo(d, width) != d {
				r.wide[i/64] |= 1 << (i % 64)
			}
			for b := range width {
				r.records[i] |= uint32(d>>b&1) << at
				at++
			}
		}
	}
	return r
}

// drawDelta draws states that differ in some rows, by little in most of them.
func drawDelta(run *paritytest.Run, rows int) *deltaCase {
	c := &deltaCase{rows: rows, previous: -1}
	c.shape.Lanes = 1 + run.IntN(8)
	left := 32
	for l := range c.shape.Lanes {
		c.shape.Bits[l] = []uint8{1, 2, 8, 16, 25, 31, 32, uint8(1 + run.IntN(32))}[run.IntN(8)]
		c.shape.Width[l] = uint8(run.IntN(min(left, int(c.shape.Bits[l])) + 1))
		if run.IntN(4) == 0 {
			c.shape.Width[l] = uint8(min(left, int(c.shape.Bits[l])))
		}
		left -= int(c.shape.Width[l])
	}
	c.stride = rows + run.IntN(20)
	room := (c.shape.Lanes-1)*c.stride + rows // the states of a case follow each other, in any order, with gaps
	offsets := []int{run.IntN(9), 0, 0}
	offsets[1] = offsets[0] + room + run.IntN(9)
	offsets[2] = offsets[1] + room + run.IntN(9)
	end := offsets[2] + room
	run.Shuffle(3, func(i, j int) { offsets[i], offsets[j] = offsets[j], offsets[i] })
	c.now, c.base = offsets[0], offsets[1]
	if run.IntN(2) == 0 {
		c.previous = offsets[2]
	}
	c.arena = make([]int32, end)
	for i := range c.arena {
		c.arena[i] = int32(run.Uint32()) // of lanes beyond their bits, too: only differences count
	}
	same, most := run.IntN(4), run.IntN(33)
	for l := range c.shape.Lanes {
		for i := range rows {
			at, bits := l*c.stride+i, int(c.shape.Bits[l])
			v := wrapTo(int64(c.arena[c.base+at]), bits) // at the ends of the range now and then
			if run.IntN(8) == 0 {
				v = wrapTo(int64(1)<<(bits-1)-int64(run.IntN(3)), bits)
			}
			step := int64(0)
			if run.IntN(4) >= same {
				step = wrapTo(int64(run.Uint32()), most)
			}
			c.arena[c.base+at] = int32(v)
			c.arena[c.now+at] = int32(wrapTo(v+step, bits))
			if run.IntN(8) > 0 {
				c.arena[offsets[2]+at] = int32(wrapTo(v-step, bits))
			}
		}
	}
	return c
}

type deltaGuard struct {
	arena         *paritytest.Input[int32]
	records       *paritytest.Buffer[uint32]
	changed, wide *paritytest.Buffer[uint64]
}

func newDeltaGuard(t *testing.T, most int) *deltaGuard {
	return &deltaGuard{paritytest.NewInput[int32](t, 3*8*(most+20)+40), paritytest.NewBuffer[uint32](t, most),
		paritytest.NewBuffer[uint64](t, most/64+1), paritytest.NewBuffer[uint64](t, most/64+1)}
}

// compare runs every level against brute force, between guard pages.
func (c *deltaCase) compare(run *paritytest.Run, g *deltaGuard) {
	want := c.brute()
	what := fmt.Sprintf("%d rows, shape %v, previous %d: ", c.rows, c.shape, c.previous)
	for _, level := range native.Levels() {
		for _, side := range paritytest.Sides {
			run.Case(level)
			arena := g.arena.Put(c.arena, side, run.IntN(paritytest.MaxGap+1))
			gap := run.IntN(paritytest.MaxGap + 1)
			got := deltaResult{g.records.Place(c.rows, side, gap), g.changed.Place(len(want.changed), side, gap), g.wide.Place(len(want.wide), side, gap)}
			netcode.Delta(level, arena, c.stride, c.now, c.base, c.previous, &c.shape, got.records, got.changed, got.wide)
			run.Check(paritytest.Bits(what+"changed", got.changed, want.changed), paritytest.Bits(what+"wide", got.wide, want.wide),
				paritytest.Bits(what+"records", got.records, want.records), g.arena.Unchanged("arena"),
				g.records.Check(), g.changed.Check(), g.wide.Check())
		}
	}
}

func TestParityDelta(t *testing.T) {
	run := paritytest.Start(t, "Delta")
	g := newDeltaGuard(t, 1025)
	for range paritytest.Rounds(10) {
		for _, n := range append(lengths(), 63, 64, 65, 127, 128, 129) {
			drawDelta(run, n).compare(run, g)
		}
	}
}

// One lane, one row: each difference stands in every place of a vector.
func TestDeltaSpecialValues(t *testing.T) {
	const rows, none = 19, math.MinInt32
	for _, c := range []struct {
		bits, width         uint8
		now, base, previous int32
		record              uint32
		changed, wide       bool
	}{
		{8, 8, 5, 5, none, 0, false, false}, {8, 8, 5, 3, none, 2, true, false}, {8, 8, 3, 5, none, 0xfe, true, false},
		{8, 8, -128, 127, none, 1, true, false}, {8, 8, 127, -128, none, 0xff, true, false}, // wraps
		{8, 2, 1, 0, none, 1, true, false}, {8, 2, 2, 0, none, 2, true, true}, {8, 2, -2, 0, none, 2, true, false}, {8, 2, -3, 0, none, 1, true, true},
		{8, 0, 4, 4, none, 0, false, false}, {8, 0, 4, 5, none, 0, true, true},
		{1, 1, 0, -1, none, 1, true, false}, {1, 0, 0, -1, none, 0, true, true}, {1, 1, -1, -1, none, 0, false, false},
		{32, 32, math.MaxInt32, math.MinInt32, none, math.MaxUint32, true, false}, {32, 32, math.MinInt32, 0, none, 1 << 31, true, false},
		{32, 31, math.MinInt32, 0, none, 0, true, true}, {32, 0, 1, 0, none, 0, true, true}, {32, 1, 0, 1, none, 1, true, false},
		{8, 8, 30, 20, 10, 0, false, false}, {8, 8, 31, 20, 10, 1, true, false}, {8, 4, -116, 120, 100, 0, false, false}, // predicted over the wrap
		{8, 8, 20, 20, 10, 0xf6, true, false}, {32, 32, 0, math.MinInt32, 0, 0, false, false},
	} {
		for at := range rows {
			d := deltaCase{arena: make([]int32, 3*rows), now: 2 * rows, base: rows, previous: -1, rows: rows,
				shape: netcode.DeltaLanes{Lanes: 1, Bits: [8]uint8{c.bits}, Width: [8]uint8{c.width}}}
			d.arena[d.now+at], d.arena[d.base+at] = c.now, c.base
			if c.previous != none {
				d.previous, d.arena[at] = 0, c.previous
			}
			want := deltaResult{make([]uint32, rows), make([]uint64, 1), make([]uint64, 1)}
			want.records[at] = c.record
			if c.changed {
				want.changed[0] = 1 << at
			}
			if c.wide {
				want.wide[0] = 1 << at
			}
			for _, level := range native.Levels() {
				got := deltaResult{make([]uint32, rows), []uint64{math.MaxUint64}, []uint64{math.MaxUint64}}
				netcode.Delta(level, d.arena, d.stride, d.now, d.base, d.previous, &d.shape, got.records, got.changed, got.wide)
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("level %s, row %d of %+v: %x, want %x", level, at, c, got, want)
				}
			}
		}
	}
}

func TestDeltaMisuse(t *testing.T) {
	good := func() *deltaCase {
		c := &deltaCase{arena: make([]int32, 3*2*70), stride: 70, now: 140, base: 280, previous: 0, rows: 65}
		c.shape = netcode.DeltaLanes{Lanes: 2, Bits: [8]uint8{16, 32}, Width: [8]uint8{16, 16}}
		return c
	}
	call := func(level native.Level, c *deltaCase, words int) func() {
		return func() {
			netcode.Delta(level, c.arena, c.stride, c.now, c.base, c.previous, &c.shape, make([]uint32, c.rows), make([]uint64, words), make([]uint64, 2))
		}
	}
	call(native.Auto, good(), 2)()
	expectPanic(t, "netcode: the level cannot run here; see native.Resolve", call(99, good(), 2))
	for _, words := range []int{1, 3} {
		expectPanic(t, "netcode: Delta: changed and wide need a bit for each record", call(native.Auto, good(), words))
	}
	for _, c := range []struct {
		want string
		edit func(c *deltaCase)
	}{
		{"netcode: Delta: the shape is out of range", func(c *deltaCase) { c.shape.Lanes = 0 }},
		{"netcode: Delta: the shape is out of range", func(c *deltaCase) { c.shape.Lanes = 9 }},
		{"netcode: Delta: the shape is out of range", func(c *deltaCase) { c.shape.Bits[1] = 33 }},
		{"netcode: Delta: the shape is out of range", func(c *deltaCase) { c.shape.Bits[0] = 0 }},
		{"netcode: Delta: the shape is out of range", func(c *deltaCase) { c.shape.Bits[0] = 15 }},
		{"netcode: Delta: the shape is out of range", func(c *deltaCase) { c.shape.Width[1] = 17 }},
		{"netcode: Delta: stride is out of range", func(c *deltaCase) { c.stride = -1 }},
		{"netcode: Delta: stride is out of range", func(c *deltaCase) { c.stride = math.MaxInt }},
		{"netcode: Delta: a state does not lie within arena", func(c *deltaCase) { c.now = -1 }},
		{"netcode: Delta: a state does not lie within arena", func(c *deltaCase) { c.base = -1 }},
		{"netcode: Delta: a state does not lie within arena", func(c *deltaCase) { c.now = 286 }},
		{"netcode: Delta: a state does not lie within arena", func(c *deltaCase) { c.base = math.MaxInt }},
		{"netcode: Delta: a state does not lie within arena", func(c *deltaCase) { c.previous = 286 }},
		{"netcode: Delta: a state does not lie within arena", func(c *deltaCase) { c.stride = 420 }},
	} {
		d := good()
		c.edit(d)
		expectPanic(t, c.want, call(native.Auto, d, 2))
	}
}
