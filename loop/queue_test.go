package loop_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

func mustQueue[T any](t testing.TB, c loop.QueueConfig[T]) *loop.Queue[T] {
	t.Helper()
	q, err := loop.NewQueue(c)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func compareEntries[T any](a, b loop.Entry[T]) int {
	return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Seq, b.Seq))
}

func TestQueueConfigNamesEachFault(t *testing.T) {
	size := func(int) int { return 1 }
	for _, tc := range []struct {
		config loop.QueueConfig[int]
		want   string
	}{
		{loop.QueueConfig[int]{Capacity: -1}, "loop: QueueConfig.Capacity = -1: out of range"},
		{loop.QueueConfig[int]{Capacity: 1<<30 + 1}, "loop: QueueConfig.Capacity = 1073741825: out of range"},
		{loop.QueueConfig[int]{MaxBytes: 1}, "loop: QueueConfig.MaxBytes = 1: out of range"},
		{loop.QueueConfig[int]{PerSource: -1}, "loop: QueueConfig.PerSource = -1: out of range"},
		{loop.QueueConfig[int]{PerSource: 1<<30 + 1}, "loop: QueueConfig.PerSource = 1073741825: out of range"},
		{loop.QueueConfig[int]{PerSourceBytes: 1}, "loop: QueueConfig.PerSourceBytes = 1: out of range"},
		{loop.QueueConfig[int]{PerSourceBytes: -1, Size: size}, "loop: QueueConfig.PerSourceBytes = -1: out of range"},
		{
			loop.QueueConfig[int]{Capacity: -2, MaxBytes: -3, Size: size},
			"loop: QueueConfig.Capacity = -2: out of range\nloop: QueueConfig.MaxBytes = -3: out of range",
		},
	} {
		q, err := loop.NewQueue(tc.config)
		if q != nil || !errors.Is(err, loop.ErrRange) || err.Error() != tc.want {
			t.Errorf("%v, %v; want %q", q, err, tc.want)
		}
	}
	for _, c := range []loop.QueueConfig[int]{
		{}, {Capacity: 1}, {Capacity: 1 << 30, MaxBytes: math.MaxInt64, PerSource: 1 << 30, PerSourceBytes: math.MaxInt64, Size: size},
	} {
		if _, err := loop.NewQueue(c); err != nil {
			t.Error(err)
		}
	}
}

func TestQueueOrder(t *testing.T) {
	q := mustQueue(t, loop.QueueConfig[string]{})
	for _, e := range []loop.Entry[string]{
		{8, 1, 1, "not yet"}, {5, 2, 9, "e"}, {5, 2, 3, "d"}, {5, 1, 10, "c"}, {3, 9, 0, "b"}, {0, 4, 0, "a"},
	} {
		if err := q.Push(e); err != nil {
			t.Fatal(err)
		}
	}
	got := q.Due(5, []loop.Entry[string]{{Value: "before"}})
	text := ""
	for _, e := range got {
		text += e.Value
	}
	if text != "beforeabcde" || got[1].Tick != 0 || got[2].Tick != 3 {
		t.Errorf("%v", got)
	}
	if s := q.Stats(); s != (loop.QueueStats{Pushed: 6, Late: 1, HighWater: 6}) || q.Len() != 1 {
		t.Errorf("%+v, %d left", s, q.Len())
	}
	if got := q.Due(7, nil); len(got) != 0 {
		t.Errorf("due at 7: %v", got)
	}
	if got := q.Due(math.MaxUint64, nil); len(got) != 1 || got[0].Value != "not yet" {
		t.Errorf("due at the end: %v", got)
	}
}

func TestQueueRefusals(t *testing.T) {
	q := mustQueue(t, loop.QueueConfig[[]byte]{Capacity: 3, MaxBytes: 10, Size: func(b []byte) int { return len(b) }})
	push := func(source uint32, seq uint64, bytes int) error {
		return q.Push(loop.Entry[[]byte]{Source: source, Seq: seq, Value: make([]byte, bytes)})
	}
	for _, step := range []struct {
		source uint32
		seq    uint64
		bytes  int
		want   string
		is     error
	}{
		{1, 7, 11, "loop: QueueConfig.MaxBytes = 10, a value of 11 bytes never fits: queue full: capacity exceeded", loop.ErrFull},
		{1, 7, 6, "", nil},
		{2, 7, 5, "loop: QueueConfig.MaxBytes = 10: queue full: capacity exceeded", fault.ErrCapacity},
		{2, 7, 4, "", nil},
		{1, 8, 0, "", nil},
		{1, 9, 0, "loop: QueueConfig.Capacity = 3: queue full: capacity exceeded", fault.ErrCapacity},
		{1, 7, 0, "loop: Queue: source 1, seq 7: source and sequence number wait already", loop.ErrDuplicate},
	} {
		err := push(step.source, step.seq, step.bytes)
		if step.is == nil && err != nil || !errors.Is(err, step.is) || err != nil && err.Error() != step.want {
			t.Errorf("%+v: %v", step, err)
		}
	}
	want := loop.QueueStats{Pushed: 3, Full: 3, Duplicate: 1, HighWater: 3, HighWaterBytes: 10}
	if s := q.Stats(); s != want || q.Len() != 3 || q.Bytes() != 10 {
		t.Errorf("%+v; want %+v", s, want)
	}
	// What has been given out is not remembered.
	q.Due(0, nil)
	if err := push(1, 7, 10); err != nil || q.Bytes() != 10 {
		t.Errorf("%v, %d bytes", err, q.Bytes())
	}
}

func TestQueueSumOfSizesDoesNotOverflow(t *testing.T) {
	q := mustQueue(t, loop.QueueConfig[int]{Size: func(n int) int { return n }})
	if err := q.Push(loop.Entry[int]{Seq: 1, Value: math.MaxInt}); err != nil {
		t.Fatal(err)
	}
	if err := q.Push(loop.Entry[int]{Seq: 2, Value: math.MaxInt}); math.MaxInt == math.MaxInt64 && !errors.Is(err, loop.ErrFull) {
		t.Errorf("err = %v", err)
	}
}

func TestQueueMisusePanics(t *testing.T) {
	bad, err := loop.NewQueue(loop.QueueConfig[int]{Size: func(int) int { return -1 }})
	if err != nil {
		t.Fatal(err)
	}
	for want, q := range map[string]*loop.Queue[int]{
		"loop: Queue not made by NewQueue":      {},
		"loop: QueueConfig.Size: negative size": bad,
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			_ = q.Push(loop.Entry[int]{})
		}()
	}
}

// The model is a plain list that is searched and sorted anew each time.
type queueModel struct {
	waits                     []loop.Entry[int]
	capacity, maxBytes        int
	perSource, perSourceBytes int
	stats                     loop.QueueStats
}

func (m *queueModel) bytes() (sum int) {
	for _, e := range m.waits {
		sum += e.Value
	}
	return sum
}

// of returns what a source has waiting.
func (m *queueModel) of(source uint32) (entries, bytes int) {
	for _, e := range m.waits {
		if e.Source == source {
			entries, bytes = entries+1, bytes+e.Value
		}
	}
	return entries, bytes
}

func (m *queueModel) push(e loop.Entry[int]) error {
	err := m.add(e)
	switch err {
	case nil:
		m.stats.Pushed++
		m.raise()
	case loop.ErrDuplicate:
		m.stats.Duplicate++
	case loop.ErrShare:
		m.stats.Share++
		fallthrough
	default:
		m.stats.Full++
	}
	return err
}

func (m *queueModel) add(e loop.Entry[int]) error {
	entries, bytes := m.of(e.Source)
	switch {
	case slices.ContainsFunc(m.waits, func(w loop.Entry[int]) bool { return w.Source == e.Source && w.Seq == e.Seq }):
		return loop.ErrDuplicate
	case len(m.waits) == m.capacity || m.bytes()+e.Value > m.maxBytes:
		return loop.ErrFull
	case entries >= 3*(m.capacity-len(m.waits)), e.Value > 0 && bytes > 0 && bytes+e.Value > 3*(m.maxBytes-m.bytes()-e.Value),
		entries >= m.perSource, bytes+e.Value > m.perSourceBytes:
		return loop.ErrShare
	}
	m.waits = append(m.waits, e)
	return nil
}

// restore is add without shares.
func (m *queueModel) restore(entries []loop.Entry[int]) error {
	for _, e := range entries {
		if err := m.add(e); errors.Is(err, loop.ErrShare) {
			m.waits = append(m.waits, e)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (m *queueModel) raise() {
	m.stats.HighWater = max(m.stats.HighWater, len(m.waits))
	m.stats.HighWaterBytes = max(m.stats.HighWaterBytes, int64(m.bytes()))
}

func (m *queueModel) due(tick uint64) (due []loop.Entry[int]) {
	slices.SortFunc(m.waits, compareEntries)
	for len(m.waits) > 0 && m.waits[0].Tick <= tick {
		if 0 < m.waits[0].Tick && m.waits[0].Tick < tick {
			m.stats.Late++
		}
		due = append(due, m.waits[0])
		m.waits = m.waits[1:]
	}
	return due
}

func TestQueueAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := queueModel{
			capacity: rapid.IntRange(1, 40).Draw(t, "capacity"), maxBytes: rapid.IntRange(1, 200).Draw(t, "bytes"),
			perSource: rapid.IntRange(1, 40).Draw(t, "per source"), perSourceBytes: rapid.IntRange(1, 200).Draw(t, "bytes per source"),
		}
		q, err := loop.NewQueue(loop.QueueConfig[int]{
			Capacity: m.capacity, MaxBytes: int64(m.maxBytes), PerSource: m.perSource, PerSourceBytes: int64(m.perSourceBytes),
			Size: func(n int) int { return n },
		})
		if err != nil {
			t.Fatal(err)
		}
		entry := rapid.Custom(func(t *rapid.T) loop.Entry[int] {
			return loop.Entry[int]{
				Tick: rapid.Uint64Range(0, 20).Draw(t, "tick"), Source: rapid.Uint32Range(0, 3).Draw(t, "source"),
				Seq: rapid.Uint64Range(0, 30).Draw(t, "seq"), Value: rapid.IntRange(0, 9).Draw(t, "value"),
			}
		})
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				e := entry.Draw(t, "entry")
				got, want := q.Push(e), m.push(e)
				if !errors.Is(got, want) || (got == nil) != (want == nil) || errors.Is(got, loop.ErrShare) != (want == loop.ErrShare) {
					t.Fatalf("Push(%v): %v, want %v", e, got, want)
				}
			},
			"due": func(t *rapid.T) {
				tick := rapid.Uint64Range(0, 20).Draw(t, "tick")
				if got, want := q.Due(tick, nil), m.due(tick); !slices.Equal(got, want) {
					t.Fatalf("Due(%d)\n got %v\nwant %v", tick, got, want)
				}
			},
			"restore": func(t *rapid.T) {
				entries := rapid.SliceOfN(entry, 0, 12).Draw(t, "entries")
				fresh := queueModel{capacity: m.capacity, maxBytes: m.maxBytes, perSource: m.perSource, perSourceBytes: m.perSourceBytes}
				want := fresh.restore(entries)
				if got := q.Restore(entries); !errors.Is(got, want) || (got == nil) != (want == nil) {
					t.Fatalf("Restore(%v): %v, want %v", entries, got, want)
				}
				if want == nil {
					m.waits = fresh.waits
					m.raise()
				}
			},
			"": func(t *rapid.T) {
				if s := q.Stats(); s != m.stats || q.Len() != len(m.waits) || q.Bytes() != int64(m.bytes()) {
					t.Fatalf("%+v, %d waiting, %d bytes; want %+v, %d, %d", s, q.Len(), q.Bytes(), m.stats, len(m.waits), m.bytes())
				}
				slices.SortFunc(m.waits, compareEntries)
				if got := q.AppendWaiting(nil); !slices.Equal(got, m.waits) {
					t.Fatalf("waiting\n got %v\nwant %v", got, m.waits)
				}
			},
		})
	})
}

// Many goroutines push what they like when they like, as long as it is there
// when its tick begins: every run hands out the same lists.
func TestQueueOrderOfArrivalDoesNotMatter(t *testing.T) {
	const sources, ticks, each = 16, 30, 5
	run := func(seed uint64) string {
		q := mustQueue(t, loop.QueueConfig[string]{})
		outcome := ""
		for tick := range uint64(ticks) {
			var group sync.WaitGroup
			for source := range uint32(sources) {
				group.Go(func() {
					shuffled := rand.New(rand.NewPCG(seed, tick<<32|uint64(source))).Perm(each)
					for _, i := range shuffled {
						// For this tick, a later one, or one that is past.
						e := loop.Entry[string]{Tick: tick, Source: source, Seq: tick*each + uint64(i)}
						e.Tick = max(e.Tick+uint64(i), 3) - 3
						e.Value = fmt.Sprintf("%d/%d/%d ", e.Tick, source, e.Seq)
						if err := q.Push(e); err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			for _, e := range q.Due(tick, nil) {
				outcome += e.Value
			}
		}
		if s := q.Stats(); s.Pushed != sources*ticks*each || s.Full != 0 || s.Late == 0 {
			t.Errorf("%+v", s)
		}
		return outcome
	}
	first := run(1)
	for seed := uint64(2); seed < 8; seed++ {
		if run(seed) != first {
			t.Errorf("order of arrival %d gives another outcome", seed)
		}
	}
}

// While others push, take, list and restore, nothing is lost or given out twice.
func TestQueueConcurrentUse(t *testing.T) {
	const pushers, each = 8, 400
	q := mustQueue(t, loop.QueueConfig[int]{Capacity: 64})
	var pushing sync.WaitGroup
	for source := range uint32(pushers) {
		pushing.Go(func() {
			for seq := uint64(0); seq < each; {
				err := q.Push(loop.Entry[int]{Tick: seq, Source: source, Seq: seq})
				if err == nil {
					seq++
				} else if runtime.Gosched(); !errors.Is(err, loop.ErrFull) {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { pushing.Wait(); close(done) }()
	next := [pushers]uint64{}
	var list []loop.Entry[int]
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if list = q.AppendWaiting(list[:0]); !slices.IsSortedFunc(list, compareEntries) {
			t.Fatal("the list is out of order")
		}
		_, _, _ = q.Len(), q.Bytes(), q.Stats()
		if list = q.Due(math.MaxUint64, list[:0]); len(list) == 0 {
			runtime.Gosched() // on one thread nothing else would push
		}
		for _, e := range list {
			if e.Seq != next[e.Source] {
				t.Fatalf("source %d: %d after %d", e.Source, e.Seq, next[e.Source])
			}
			next[e.Source]++
		}
	}
	for source, n := range next {
		if n != each {
			t.Errorf("source %d: %d taken", source, n)
		}
	}
}

func TestQueueDoesNotAllocate(t *testing.T) {
	q := mustQueue(t, loop.QueueConfig[[2]uint64]{Capacity: 1000})
	var due, saved []loop.Entry[[2]uint64]
	tick, seq := uint64(0), uint64(0)
	round := func() {
		for i := range uint64(800) {
			seq++
			if err := q.Push(loop.Entry[[2]uint64]{Tick: tick + i%3, Source: uint32(i % 7), Seq: seq}); err != nil {
				if !errors.Is(err, loop.ErrFull) { // some are refused, which is free as well
					t.Fatal(err)
				}
			}
		}
		due = q.Due(tick, due[:0])
		saved = q.AppendWaiting(saved[:0])
		if err := q.Restore(saved); err != nil {
			t.Fatal(err)
		}
		tick++
	}
	for range 4 {
		round()
	}
	if n := testing.AllocsPerRun(200, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if q.Stats().Full == 0 {
		t.Error("nothing was refused")
	}
}

// A flood of refusals costs at most one small allocation each.
func TestRefusalsAreCheap(t *testing.T) {
	q, err := loop.NewQueue(loop.QueueConfig[int]{Capacity: 2, MaxBytes: 10, Size: func(n int) int { return n }})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Push(loop.Entry[int]{Seq: 1, Value: 8}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		e    loop.Entry[int]
		want error
		most float64
	}{
		{"never fits", loop.Entry[int]{Seq: 2, Value: 1 << 20}, loop.ErrFull, 1},
		{"does not fit now", loop.Entry[int]{Seq: 2, Value: 3}, loop.ErrFull, 0},
		{"waits already", loop.Entry[int]{Seq: 1, Value: 3}, loop.ErrDuplicate, 1},
		{"share of bytes", loop.Entry[int]{Source: 1, Seq: 4, Value: 1}, loop.ErrShare, 0},
		{"share of places", loop.Entry[int]{Source: 1, Seq: 4}, loop.ErrShare, 0},
	} {
		if c.want == loop.ErrShare && q.Len() == 1 {
			q = mustQueue(t, loop.QueueConfig[int]{Capacity: 4, MaxBytes: 10, Size: func(n int) int { return n }})
			for seq, size := range []int{8, 0, 0} {
				if err := q.Push(loop.Entry[int]{Source: 1, Seq: uint64(seq), Value: size}); err != nil {
					t.Fatal(err)
				}
			}
			if err := q.Restore(q.AppendWaiting(nil)); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if n := testing.AllocsPerRun(100, func() { err = q.Push(c.e) }); n > c.most || !errors.Is(err, c.want) {
			t.Errorf("%s: %v allocations, %v", c.name, n, err)
		}
	}
}
