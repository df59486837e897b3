package worldlog

import (
	"runtime"
	"testing"
)

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// nowhere takes everything and keeps nothing.
type nowhere struct{ *memFS }

type nothing struct{ File }

func (n nowhere) Append(string, int64) (File, error) { return nothing{}, nil }

func (nothing) Write(p []byte) (int, error)            { return len(p), nil }
func (nothing) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (nothing) Sync() error                            { return nil }
func (nothing) Close() error                           { return nil }

// Neither a tick nor, its memory once grown, the handing over of a snapshot
// allocates; nor does the writer.
func TestNoAllocations(t *testing.T) {
	for _, d := range []Durability{Interval, EveryTick, None} {
		l := create(t, nowhere{newMemFS()}, "log", Options{Durability: d})
		data := make([]byte, 16)
		tick := uint64(0)
		step := func() {
			for i := range 5 {
				if err := l.Append(&Record{Type: Command, Seq: tick*5 + uint64(i), Source: 3, Kind: 2, Data: data}); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Commit(tick, tick, Counts{Live: 9}); err != nil {
				t.Fatal(err)
			}
			tick++
		}
		for range 1000 {
			step()
		}
		if n := testing.AllocsPerRun(2000, step); n != 0 {
			t.Errorf("%v: %v allocations a tick", d, n)
		}
		closeLog(t, l)
	}
}

// Reading allocates nothing per tick once the largest tick has been seen.
func TestReaderAllocations(t *testing.T) {
	m := newMemFS()
	l := create(t, m, "log", Options{})
	for tick := range uint64(3000) {
		for range 5 {
			if err := l.Append(&Record{Type: Command, Data: make([]byte, 16)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Commit(tick, tick, Counts{}); err != nil {
			t.Fatal(err)
		}
	}
	closeLog(t, l)
	r, err := OpenReader("log", m)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(2000, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

// BenchmarkAppend is one command of 16 bytes, with its share of a commit every
// four, into a file that is not there: what the world's goroutine pays.
func BenchmarkAppend(b *testing.B) {
	l := create(b, nowhere{newMemFS()}, "log", Options{})
	benchmarkAppend(b, l)
}

// BenchmarkAppendFile is the same into a file, synced every 100 ms.
func BenchmarkAppendFile(b *testing.B) {
	l := create(b, nil, b.TempDir(), Options{})
	benchmarkAppend(b, l)
}

func benchmarkAppend(b *testing.B, l *Log) {
	r := Record{Type: Command, Source: 3, Kind: 2, Data: make([]byte, 16)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Seq++
		if err := l.Append(&r); err != nil {
			b.Fatal(err)
		}
		if i%4 == 3 {
			if err := l.Commit(uint64(i), 1, Counts{Live: 1000}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(l.Stats().Blocked), "waits")
	closeLog(b, l)
}

// BenchmarkReader is one record of such a log, read, checked and decoded.
func BenchmarkReader(b *testing.B) {
	m := newMemFS()
	l := create(b, m, "log", Options{})
	for tick := range uint64(20_000) {
		for range 4 {
			if err := l.Append(&Record{Type: Command, Source: 3, Kind: 2, Data: make([]byte, 16)}); err != nil {
				b.Fatal(err)
			}
		}
		if err := l.Commit(tick, 1, Counts{}); err != nil {
			b.Fatal(err)
		}
	}
	closeLog(b, l)
	r, err := OpenReader("log", m)
	if err != nil {
		b.Fatal(err)
	}
	records := 0
	for b.Loop() {
		for t, err := range r.Ticks(0) {
			if err != nil {
				b.Fatal(err)
			}
			records += len(t.Records)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
}
