package loop_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// A source alone gets three quarters of the places, rounded up.
func TestShareOfOneSource(t *testing.T) {
	for capacity, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 8: 6, 9: 7, 4096: 3072} { // order-free: independent cases
		q := mustQueue(t, loop.QueueConfig[int]{Capacity: capacity})
		got := 0
		var err error
		for err == nil {
			if err = q.Push(loop.Entry[int]{Tick: 9, Source: 7, Seq: uint64(got)}); err == nil {
				got++
			}
		}
		if got != want || !errors.Is(err, loop.ErrFull) || errors.Is(err, loop.ErrShare) != (want < capacity) {
			t.Errorf("capacity %d: %d waiting, want %d; %v", capacity, got, want, err)
		}
	}
}

func TestShareErrors(t *testing.T) {
	const full = ": share of the source used up: queue full: capacity exceeded"
	size := func(n int) int { return n }
	for _, c := range []struct {
		config loop.QueueConfig[int]
		sizes  []int // the last one is refused
		want   string
	}{
		{loop.QueueConfig[int]{Capacity: 4}, []int{0, 0, 0, 0}, "loop: QueueConfig.Capacity = 4, source 7"},
		{loop.QueueConfig[int]{PerSource: 2}, []int{0, 0, 0}, "loop: QueueConfig.PerSource = 2, source 7"},
		{loop.QueueConfig[int]{MaxBytes: 10, Size: size}, []int{8, 0, 1}, "loop: QueueConfig.MaxBytes = 10, source 7"},
		{loop.QueueConfig[int]{PerSourceBytes: 4, Size: size}, []int{3, 2}, "loop: QueueConfig.PerSourceBytes = 4, source 7"},
		{loop.QueueConfig[int]{PerSourceBytes: 4, Size: size}, []int{5}, "loop: QueueConfig.PerSourceBytes = 4, source 7"},
	} {
		q := mustQueue(t, c.config)
		for i, n := range c.sizes {
			err := q.Push(loop.Entry[int]{Source: 7, Seq: uint64(i), Value: n})
			if i < len(c.sizes)-1 {
				if err != nil {
					t.Errorf("%s: push %d: %v", c.want, i, err)
				}
			} else if !errors.Is(err, loop.ErrShare) || !errors.Is(err, loop.ErrFull) || !errors.Is(err, fault.ErrCapacity) || err.Error() != c.want+full {
				t.Errorf("%v, want %s", err, c.want+full)
			}
		}
		if s := q.Stats(); s.Share != 1 || s.Full != 1 || s.Pushed != uint64(len(c.sizes)-1) {
			t.Errorf("%s: %+v", c.want, s)
		}
		// Another source has a share of its own, and a source regains its share when its entries are taken.
		if err := q.Push(loop.Entry[int]{Source: 8, Value: 1}); err != nil {
			t.Error(err)
		}
		q.Due(0, nil)
		if err := q.Push(loop.Entry[int]{Source: 7, Value: 1}); err != nil {
			t.Error(err)
		}
	}
}

// Large values do not let a source exceed its share of bytes, by whatever sizes it comes near it.
func TestShareOfLargeValues(t *testing.T) {
	for _, first := range []int{1, 100, 700, 749} {
		q := mustQueue(t, loop.QueueConfig[int]{MaxBytes: 1000, Size: func(n int) int { return n }})
		seq := uint64(0)
		pushed := func(n int) bool {
			seq++
			err := q.Push(loop.Entry[int]{Tick: 1 << 60, Source: 1, Seq: seq, Value: n})
			if err != nil && !errors.Is(err, loop.ErrFull) {
				t.Fatal(err)
			}
			return err == nil
		}
		if !pushed(first) {
			t.Fatalf("a source with nothing waiting was refused %d bytes", first)
		}
		for n := 1000 - first; n > 0; n-- {
			for pushed(n) {
			}
		}
		if got := q.Bytes(); got != 750 {
			t.Errorf("first %d: %d bytes are waiting, want 750 of 1000", first, got)
		}
		if err := q.Push(loop.Entry[int]{Source: 2, Value: 100}); err != nil {
			t.Errorf("first %d: another source: %v", first, err)
		}
	}
}

// Sources that push equally fast and without end get equal parts, and a place is left for others.
func TestSharesAreEqual(t *testing.T) {
	for _, sources := range []int{2, 3, 10, 100} {
		q := mustQueue(t, loop.QueueConfig[int]{Capacity: 10_000})
		got := make([]int, sources)
		for seq := range uint64(10_000) {
			for s := range got {
				if q.Push(loop.Entry[int]{Source: uint32(s), Seq: seq}) == nil {
					got[s]++
				}
			}
		}
		// n = 3 × (10000 − sources × n)
		want := 30_000 / (1 + 3*sources)
		for s, n := range got {
			if n < want || n > want+1 {
				t.Errorf("%d sources: source %d has %d waiting, want about %d", sources, s, n, want)
			}
		}
		if err := q.Push(loop.Entry[int]{Source: 1 << 30}); err != nil {
			t.Errorf("%d sources: another one: %v", sources, err)
		}
	}
}

// One source floods at more than 100 times the rate of the others, for thousands of ticks: also for
// ticks far ahead, which are never due. None of the 64 others loses an input.
func TestFloodStarvesNobody(t *testing.T) {
	const others, flood = 64, 64
	ticks := uint64(500)
	if os.Getenv("EVERTICK_LONG") != "" {
		ticks = 5000
	}
	for _, ahead := range []uint64{0, 1 << 60} {
		t.Run(fmt.Sprint("ahead=", ahead), func(t *testing.T) {
			q := mustQueue(t, loop.QueueConfig[[4]byte]{Capacity: 1024, MaxBytes: 4096, Size: func([4]byte) int { return 4 }})
			var taken [others + 1]uint64
			var due []loop.Entry[[4]byte]
			seq := uint64(0)
			for tick := range ticks {
				for s := range uint32(others) {
					for range 20 { // the flood comes between the others
						seq++
						if err := q.Push(loop.Entry[[4]byte]{Tick: tick + ahead, Source: flood, Seq: seq}); err != nil && !errors.Is(err, loop.ErrShare) {
							t.Fatal(err)
						}
					}
					// Two ticks ahead, so that each has three waiting.
					if err := q.Push(loop.Entry[[4]byte]{Tick: tick + 2, Source: s, Seq: tick}); err != nil {
						t.Fatalf("tick %d, source %d: %v", tick, s, err)
					}
				}
				due = q.Due(tick, due[:0])
				for _, e := range due {
					taken[e.Source]++
				}
			}
			for s, n := range taken[:others] {
				if n != ticks-2 {
					t.Errorf("source %d: %d of %d inputs", s, n, ticks-2)
				}
			}
			if s := q.Stats(); s.Share < 1000*others || s.Full != s.Share {
				t.Errorf("the flood was not refused, or others were: %+v", s)
			}
		})
	}
}
