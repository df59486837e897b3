package neighbours_test

import (
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// The bitmap has exactly the words that the slots need, against guard pages, and
// the lanes behind the last point hold slots far out of range.
func TestParityLive(t *testing.T) {
	run := paritytest.Start(t, "Live")
	const most = 200
	bitmaps := paritytest.NewBuffer[uint64](t, 4*most/64+1)
	lives := paritytest.NewBuffer[uint32](t, most)
	words := paritytest.NewBuffer[uint32](t, 64*(most/neighbours.BlockLen+1))
	for range paritytest.Rounds(400) {
		n := run.IntN(most)
		limit := n + run.IntN(3*n+1)
		blocks := (n + neighbours.BlockLen - 1) / neighbours.BlockLen
		for _, level := range native.Levels() {
			run.Case(level)
			side := paritytest.Sides[run.IntN(2)]
			mem := words.Place(64*blocks, side, run.IntN(paritytest.MaxGap+1))
			p := neighbours.Points{Start: []uint32{0, uint32(n)}, Limit: limit,
				Blocks: unsafe.Slice((*neighbours.Block)(unsafe.Pointer(unsafe.SliceData(mem))), blocks)}
			bitmap := bitmaps.Place((limit+63)/64, side, 0)
			for i := range bitmap {
				bitmap[i] = run.Uint64()
			}
			want := make([]uint16, blocks)
			for i := range n {
				slot := run.Uint32N(uint32(limit))
				p.Blocks[i/neighbours.BlockLen].Slot[i%neighbours.BlockLen] = slot
				want[i/neighbours.BlockLen] |= uint16(bitmap[slot/64]>>(slot%64)&1) << (i % neighbours.BlockLen)
			}
			placed := lives.Place((blocks+1)/2, side, 0)
			live := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(placed))), 2*len(placed))[len(placed)*2-blocks:]
			neighbours.Live(level, &p, bitmap, live)
			for i := range want {
				if live[i] != want[i] {
					t.Fatalf("level %s, %d points: block %d is %016b, want %016b", level, n, i, live[i], want[i])
				}
			}
			run.Check(lives.Check(), bitmaps.Check(), words.Check())
		}
	}
}

func TestLiveMisuse(t *testing.T) {
	p := neighbours.Points{Start: []uint32{0, 17}, Limit: 65, Blocks: make([]neighbours.Block, 2)}
	for _, level := range native.Levels() {
		expectPanic(t, "neighbours: Live: the bitmap is too short", func() { neighbours.Live(level, &p, make([]uint64, 1), make([]uint16, 2)) })
		expectPanic(t, "neighbours: Live: Blocks or live is too short", func() { neighbours.Live(level, &p, make([]uint64, 2), make([]uint16, 1)) })
	}
}

// Rows of any length, behind others that stay, with distances and without.
func TestParityKeepLive(t *testing.T) {
	run := paritytest.Start(t, "KeepLive")
	const most, limit = 300, 500
	slots, ends := paritytest.NewBuffer[uint32](t, most), paritytest.NewBuffer[uint32](t, most)
	dist2 := paritytest.NewBuffer[float32](t, most)
	for range paritytest.Rounds(400) {
		bitmap := run.Bitmap(limit)
		n := run.IntN(most)
		from := run.IntN(n + 1)
		all, cuts := make([]uint32, n), []uint32{}
		for i := range all {
			all[i] = run.Uint32N(limit)
		}
		for at := from; at < n || run.IntN(3) > 0 && len(cuts) < 5; {
			at = min(n, at+run.IntN(40))
			cuts = append(cuts, uint32(at))
		}
		want, wantEnds, at := append([]uint32{}, all[:from]...), []uint32{}, from
		for _, cut := range cuts {
			for ; at < int(cut); at++ {
				if s := all[at]; bitmap[s/64]>>(s%64)&1 != 0 {
					want = append(want, s)
				}
			}
			wantEnds = append(wantEnds, uint32(len(want)))
		}
		for _, level := range native.Levels() {
			run.Case(level)
			side := paritytest.Sides[run.IntN(2)]
			rows := neighbours.Rows{Slots: slots.PlaceCopy(all, side, run.IntN(paritytest.MaxGap+1)), Fill: n}
			if run.IntN(2) == 0 {
				rows.Dist2 = dist2.Place(n, side, run.IntN(paritytest.MaxGap+1))
				for i, s := range all {
					rows.Dist2[i] = float32(s)
				}
			}
			e := ends.PlaceCopy(cuts, side, 0)
			neighbours.KeepLive(level, bitmap, from, e, &rows)
			run.Check(slots.Check(), ends.Check(), dist2.Check(), paritytest.Bits("ends", e, wantEnds))
			if len(cuts) > 0 {
				run.Check(paritytest.Bits("slots", rows.Slots[:rows.Fill], want))
				for i, s := range want {
					if rows.Dist2 != nil && rows.Dist2[i] != float32(s) {
						t.Fatalf("level %s: distance %d is %g, of slot %d", level, i, rows.Dist2[i], s)
					}
				}
			}
		}
	}
	rows := neighbours.Rows{Slots: make([]uint32, 3)}
	for _, bad := range [][]uint32{{4}, {2, 1}} {
		for _, level := range native.Levels() {
			expectPanic(t, "neighbours: KeepLive: ends do not fit", func() { neighbours.KeepLive(level, []uint64{1}, 0, bad, &rows) })
		}
	}
}
