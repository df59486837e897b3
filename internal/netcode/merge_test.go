package netcode_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// mergeCase are the arguments of Merge.
type mergeCase struct {
	known, view []uint32
	gone        []uint64
}

// brute computes Merge by sets.
func (c *mergeCase) brute() netcode.Merged {
	inView, stays := map[uint32]bool{}, map[uint32]bool{}
	for _, slot := range c.view {
		inView[slot] = true
	}
	var m netcode.Merged
	for i, entry := range c.known {
		slot := entry &^ netcode.Young
		dead := c.gone[slot/64]>>(slot%64)&1 != 0
		switch {
		case inView[slot] && !dead:
			m.Stays, stays[slot] = append(m.Stays, entry), true
		case dead:
			m.Leaves = append(m.Leaves, uint32(i)|netcode.Gone)
		default:
			m.Leaves = append(m.Leaves, uint32(i))
		}
	}
	for slot := range stays {
		delete(inView, slot)
	}
	m.Enters = slices.Sorted(maps.Keys(inView))
	return m
}

// drawSlots draws n different slots below limit, in ascending order.
func drawSlots(run *paritytest.Run, n, limit int) []uint32 {
	set := map[uint32]bool{}
	for len(set) < min(n, limit) {
		set[run.Uint32N(uint32(limit))] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// drawMerge draws lists of up to most entries that have all, many, few or no slots in common.
func drawMerge(run *paritytest.Run, most int) *mergeCase {
	limit := []int{1, 64, 65, 300, 10000}[run.IntN(5)]
	c := &mergeCase{known: drawSlots(run, run.IntN(most+1), limit)}
	switch run.IntN(4) {
	case 0:
		c.view = drawSlots(run, run.IntN(most+1), limit)
	case 1:
		c.view = slices.Clone(c.known)
	default:
		set := map[uint32]bool{}
		for _, slot := range c.known {
			if run.IntN(20) > 0 {
				set[slot] = true
			}
		}
		for range run.IntN(1 + most/10) {
			set[run.Uint32N(uint32(limit))] = true
		}
		c.view = slices.Sorted(maps.Keys(set))
		c.view = c.view[:min(most, len(c.view))]
	}
	words := 0 // gone ends with the word of the last slot
	if n := len(c.known); n > 0 {
		words = int(c.known[n-1]/64) + 1
	}
	c.gone = make([]uint64, words)
	if rare := run.IntN(3); rare > 0 {
		for i := range c.gone {
			c.gone[i] = run.Uint64() & run.Uint64() & run.Uint64()
			if rare == 1 {
				c.gone[i] &= run.Uint64() & run.Uint64()
			}
		}
	}
	for i := range c.known {
		c.known[i] |= run.Uint32() & netcode.Young
	}
	return c
}

func TestParityMerge(t *testing.T) {
	run := paritytest.Start(t, "Merge")
	const most = 300
	known, view, gone := paritytest.NewInput[uint32](t, most), paritytest.NewInput[uint32](t, most), paritytest.NewInput[uint64](t, 200)
	stays, leaves, enters := paritytest.NewBuffer[uint32](t, most), paritytest.NewBuffer[uint32](t, most), paritytest.NewBuffer[uint32](t, most)
	seen := [3]int{}
	for round := range paritytest.Rounds(4000) {
		c := drawMerge(run, min(most, round/4))
		want := c.brute()
		for k, list := range [][]uint32{want.Stays, want.Leaves, want.Enters} {
			seen[k] += len(list)
		}
		for _, level := range native.Levels() {
			run.Case(level)
			side, gap := paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			got := netcode.Merged{Stays: stays.Place(len(c.known), side, gap), Leaves: leaves.Place(len(c.known), side, gap),
				Enters: enters.Place(len(c.view), side, gap)}
			netcode.Merge(level, known.Put(c.known, side, gap), view.Put(c.view, side, gap), gone.Put(c.gone, side, gap), &got)
			what := fmt.Sprintf("known %x, view %x: ", c.known, c.view)
			run.Check(paritytest.Bits(what+"stays", got.Stays, want.Stays), paritytest.Bits(what+"leaves", got.Leaves, want.Leaves),
				paritytest.Bits(what+"enters", got.Enters, want.Enters), known.Unchanged("known"), view.Unchanged("view"),
				gone.Unchanged("gone"), stays.Check(), leaves.Check(), enters.Check())
		}
	}
	if min(seen[0], seen[1], seen[2]) < 100 {
		t.Errorf("stays, leaves, enters: only %d", seen)
	}
}

// A slot that is gone and in view leaves and enters; a flag stays with its entry.
func TestMergeKeepsFlags(t *testing.T) {
	const young = netcode.Young
	known, view, gone := []uint32{2 | young, 3, 5 | young, 7, 70 | young}, []uint32{1, 3, 5, 7, 70, 71}, []uint64{1<<2 | 1<<7 | 1<<9, 0}
	for _, level := range native.Levels() {
		var m netcode.Merged
		m.Reserve(len(known), len(view))
		netcode.Merge(level, known, view, gone, &m)
		if !slices.Equal(m.Stays, []uint32{3, 5 | young, 70 | young}) || !slices.Equal(m.Leaves, []uint32{0 | netcode.Gone, 3 | netcode.Gone}) ||
			!slices.Equal(m.Enters, []uint32{1, 7, 71}) {
			t.Errorf("level %s: %x", level, m)
		}
		netcode.Merge(level, nil, view, nil, &m)
		if len(m.Stays)+len(m.Leaves) != 0 || !slices.Equal(m.Enters, view) {
			t.Errorf("level %s: nothing known: %x", level, m)
		}
		netcode.Merge(level, known, nil, gone, &m)
		if len(m.Stays)+len(m.Enters) != 0 || !slices.Equal(m.Leaves, []uint32{0 | netcode.Gone, 1, 2, 3 | netcode.Gone, 4}) {
			t.Errorf("level %s: nothing in view: %x", level, m)
		}
		netcode.Merge(level, nil, nil, nil, &m)
		if len(m.Stays)+len(m.Leaves)+len(m.Enters) != 0 {
			t.Errorf("level %s: empty lists: %x", level, m)
		}
	}
}

func TestMergeMisuse(t *testing.T) {
	known, view, gone := []uint32{1, 64}, []uint32{1, 2, 3}, make([]uint64, 2)
	for k, want := range []string{"netcode: the level cannot run here; see native.Resolve", "netcode: Merge: gone has no bit for each slot of known",
		"netcode: Merge: Merged has too little room", "netcode: Merge: Merged has too little room", "netcode: Merge: Merged has too little room"} {
		var m netcode.Merged
		m.Reserve(2, 3)
		level, g := native.Auto, gone
		switch k {
		case 0:
			level = 99
		case 1:
			g = gone[:1]
		case 2:
			m.Stays = make([]uint32, 1)
		case 3:
			m.Leaves = make([]uint32, 1)
		case 4:
			m.Enters = make([]uint32, 2)
		}
		expectPanic(t, want, func() { netcode.Merge(level, known, view, g, &m) })
	}
}

// A list that does not ascend makes no kernel read outside the slices.
func TestMergeAndGatherOutOfOrder(t *testing.T) {
	var m netcode.Merged
	var g netcode.Gathered
	m.Reserve(2, 2)
	g.Reserve(2, 8)
	s := netcode.Source{Records: make([]uint32, 64), Changed: make([]uint64, 1), Wide: make([]uint64, 1)}
	for _, level := range native.Levels() {
		for _, slot := range []uint32{64, native.MaxSlots, netcode.Young - 1} {
			expectPanic(t, "netcode: Merge: gone has no bit for each slot of known", func() {
				netcode.Merge(level, []uint32{slot, 1}, []uint32{1, 2}, make([]uint64, 1), &m)
			})
			expectPanic(t, "netcode: Gather: a source has no record for each slot", func() {
				netcode.Gather(level, []uint32{slot | netcode.Young, 1}, s, s, 8, &g)
			})
		}
	}
}

// gatherCase are the arguments of Gather.
type gatherCase struct {
	stays            []uint32
	plain, predicted netcode.Source
	width            uint
}

// brute computes Gather bit by bit.
func (c *gatherCase) brute() netcode.Gathered {
	g := netcode.Gathered{Mask: make([]byte, (len(c.stays)+7)/8)}
	bits := 0
	for j, entry := range c.stays {
		slot, from := entry%netcode.Young, c.predicted
		if entry >= netcode.Young {
			from = c.plain
		}
		changed, wide := isNamed(from.Changed, int(slot)), isNamed(from.Wide, int(slot))
		if changed && wide {
			g.Wide = append(g.Wide, uint32(j))
		}
		if !changed || wide {
			continue
		}
		g.Mask[j/8] |= 1 << (j % 8)
		for b := range c.width {
			if bits%8 == 0 {
				g.Bits = append(g.Bits, 0)
			}
			g.Bits[bits/8] |= byte(from.Records[slot]>>b&1) << (bits % 8)
			bits++
		}
	}
	return g
}

func drawSource(run *paritytest.Run, slots int) netcode.Source {
	s := netcode.Source{Records: make([]uint32, slots), Changed: make([]uint64, (slots+63)/64), Wide: make([]uint64, (slots+63)/64)}
	for i := range s.Records {
		s.Records[i] = run.Uint32()
	}
	kind := run.IntN(4)
	for i := range s.Changed {
		s.Changed[i], s.Wide[i] = run.Uint64(), run.Uint64()
		switch kind {
		case 0: // all have a record
			s.Changed[i], s.Wide[i] = ^uint64(0), 0
		case 1:
			s.Wide[i] &= run.Uint64() & run.Uint64()
		case 2:
			s.Changed[i] &= run.Uint64()
		}
	}
	return s
}

// bytesIn places n bytes next to the page on the given side, to within seven bytes after them.
func bytesIn(b *paritytest.Buffer[uint64], n int, side paritytest.Side) []byte {
	words := b.Place((n+7)/8, side, 0)
	all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
	if side == paritytest.After {
		all = all[len(all)-n:]
	}
	return all[:n:n]
}

func TestParityGather(t *testing.T) {
	run := paritytest.Start(t, "Gather")
	const most = 300
	stays, wide := paritytest.NewInput[uint32](t, most), paritytest.NewBuffer[uint32](t, most)
	mask, bits := paritytest.NewBuffer[uint64](t, most/64+1), paritytest.NewBuffer[uint64](t, most/2+2)
	var records [2]*paritytest.Input[uint32]
	var words [4]*paritytest.Input[uint64]
	for k := range words {
		words[k] = paritytest.NewInput[uint64](t, 40)
		records[k/2] = paritytest.NewInput[uint32](t, 2500)
	}
	place := func(k int, s netcode.Source, side paritytest.Side, gap int) netcode.Source {
		return netcode.Source{Records: records[k].Put(s.Records, side, gap), Changed: words[2*k].Put(s.Changed, side, gap), Wide: words[2*k+1].Put(s.Wide, side, gap)}
	}
	found := 0
	for round := range paritytest.Rounds(4000) {
		slots := []int{1, 64, 65, 300, 2500}[run.IntN(5)]
		c := &gatherCase{stays: drawSlots(run, run.IntN(1+min(most, round/4)), slots), plain: drawSource(run, slots), predicted: drawSource(run, slots),
			width: uint([]int{0, 1, 8, 31, 32, run.IntN(33)}[run.IntN(6)])}
		if n := len(c.stays); n > 0 { // the sources may end with the last slot
			slots = int(c.stays[n-1]) + 1
			for _, s := range []*netcode.Source{&c.plain, &c.predicted} {
				s.Records, s.Changed, s.Wide = s.Records[:slots], s.Changed[:(slots+63)/64], s.Wide[:(slots+63)/64]
			}
		}
		for j := range c.stays {
			c.stays[j] |= run.Uint32() & netcode.Young
		}
		want := c.brute()
		found += len(want.Bits) + len(want.Wide)
		var room netcode.Gathered
		room.Reserve(len(c.stays), c.width)
		for _, level := range native.Levels() {
			run.Case(level)
			side, gap, n := paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1), len(c.stays)
			got := netcode.Gathered{Mask: bytesIn(mask, (n+63)/64*8, side), Bits: bytesIn(bits, n*int(c.width)/8+8, side), Wide: wide.Place(n, side, gap)}
			plain, predicted := place(0, c.plain, side, gap), place(1, c.predicted, side, gap)
			netcode.Gather(level, stays.Put(c.stays, side, gap), plain, predicted, c.width, &got)
			if !slices.Equal(got.Mask, want.Mask) || !slices.Equal(got.Bits, want.Bits) || !slices.Equal(got.Wide, want.Wide) {
				run.Check(fmt.Errorf("%d entries, width %d: %x, want %x", n, c.width, got, want))
			}
			run.Check(stays.Unchanged("stays"), mask.Check(), bits.Check(), wide.Check())
			for k := range words {
				run.Check(words[k].Unchanged("words"), records[k/2].Unchanged("records"))
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d bytes and wide entries", found)
	}
}

func TestGatherMisuse(t *testing.T) {
	stays := []uint32{1, 64 | netcode.Young}
	source := func() netcode.Source {
		return netcode.Source{Records: make([]uint32, 65), Changed: make([]uint64, 2), Wide: make([]uint64, 2)}
	}
	const record, room = "netcode: Gather: a source has no record for each slot", "netcode: Gather: Gathered has too little room"
	for k, want := range []string{"netcode: the level cannot run here; see native.Resolve", record, record, record, record, "netcode: Gather: width is out of range",
		room, room, room} {
		plain, predicted, level, width := source(), source(), native.Auto, uint(32)
		var g netcode.Gathered
		g.Reserve(2, width)
		switch k {
		case 0:
			level = 99
		case 1:
			plain.Records = plain.Records[:64]
		case 2:
			predicted.Records, predicted.Changed, predicted.Wide = predicted.Records[:64], predicted.Changed[:1], predicted.Wide[:1]
		case 3:
			plain.Changed = plain.Changed[:1]
		case 4:
			predicted.Wide = make([]uint64, 3)
		case 5:
			width = 33
		case 6:
			g.Mask = make([]byte, 7)
		case 7:
			g.Bits = make([]byte, 15)
		case 8:
			g.Wide = make([]uint32, 1)
		}
		expectPanic(t, want, func() { netcode.Gather(level, stays, plain, predicted, width, &g) })
	}
}

// Quantise, Delta, Merge and Gather allocate nothing on any level.
func TestReplicationAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, level := range native.Levels() {
		b := newReplicaBench(t, 1000, 1000)
		if got := testing.AllocsPerRun(20, func() {
			b.quantise(level)
			b.delta(level)
			b.mergeAndGather(level, 0)
			netcode.QuantisePlanar(level, b.arena[:1000], b.columns[0], b.columns[1], 8)
			netcode.QuantiseQuat(level, netcode.QuatLanes{Index: b.arena[:9], A: b.arena[10:19], B: b.arena[20:29], C: b.arena[30:39]},
				native.Quat{X: b.columns[0][:9], Y: b.columns[1][:9], Z: b.columns[2][:9], W: b.columns[0][:9]}, 8)
		}); got != 0 {
			t.Errorf("level %s: %g allocations", level, got)
		}
	}
}
