package worldlog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestRoundTrip(t *testing.T) {
	for _, opt := range []Options{
		{},
		{Durability: EveryTick, Buffer: 4096},
		{Durability: None, SegmentBytes: 3000},
		{Durability: Interval, SegmentTicks: 7, Compress: true},
		{SegmentBytes: 1},
	} {
		n := uint64(300)
		if opt.SegmentBytes == 1 {
			n = 20 // as many segments
		}
		dir := filepath.Join(t.TempDir(), "log")
		l := create(t, nil, dir, opt)
		feed(t, l, 0, n)
		closeLog(t, l)
		if next, err := readBack(nil, dir, 0); next != n || err != nil {
			t.Errorf("%+v: %d ticks, %v", opt, next, err)
		}
	}
}

func TestReaderSeeks(t *testing.T) {
	m := newMemFS()
	id := testID
	id.FirstTick, id.Parent = 100, [32]byte{1, 2, 3}
	l, err := Create("log", id, Options{FS: m, SegmentTicks: 10})
	if err != nil {
		t.Fatal(err)
	}
	for tick := uint64(100); tick < 400; tick += 3 {
		feed(t, l, tick, tick+1)
	}
	closeLog(t, l)
	r, err := OpenReader("log", m)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Identity(); got != id {
		t.Errorf("identity %+v, want %+v", got, id)
	}
	for tick := uint64(0); tick < 420; tick++ {
		want := max(100, (tick+1)/3*3+1) // 100, 103, …
		if want < tick {
			want += 3
		}
		n := 0
		for got, err := range r.Ticks(tick) {
			if err != nil || got.Tick != want {
				t.Fatalf("from %d: tick %v, error %v, want %d", tick, got, err, want)
			}
			want += 3
			n++
			if n == 12 {
				break
			}
		}
		if n < 12 && want < 400 {
			t.Errorf("from %d: ends before %d", tick, want)
		}
	}
}

func TestSizes(t *testing.T) {
	m := newMemFS()
	l := create(t, m, "log", Options{})
	const ticks, commands = 3050, 12800
	data := make([]byte, 16)
	var used, done uint64
	for tick := range uint64(ticks) {
		for ; done < (tick+1)*commands/ticks; done++ {
			n := 12 + done%5
			used += n
			r := Record{Type: Command, Seq: done * 3, Source: uint32(mix(done) % 200), Kind: uint32(done % 7), Data: data[:n]}
			if err := l.Append(&r); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Commit(tick, mix(tick), Counts{Live: 2000}); err != nil {
			t.Fatal(err)
		}
	}
	closeLog(t, l)
	size := len(m.names["log/"+segmentName(0)].data)
	each := float64(size) / commands
	t.Logf("%d commands of %.1f bytes in %d ticks: %.1f bytes each in the log", commands, float64(used)/commands, ticks, each)
	if done != commands || each > 40 {
		t.Errorf("%d commands, %.1f bytes each, want at most 40", done, each)
	}
}

func TestRefusals(t *testing.T) {
	m := newMemFS()
	l := create(t, m, "log", Options{Buffer: 4096})
	for _, r := range []Record{{}, {Type: typeEnd}, {Type: TickCommit}, {Type: SnapshotRef}, {Type: Input, Data: make([]byte, MaxData+1)}} {
		if err := l.Append(&r); !errors.Is(err, ErrRange) {
			t.Errorf("Append of %v with %d bytes: %v", r.Type, len(r.Data), err)
		}
	}
	if err := l.Append(&Record{Type: Input, Data: make([]byte, 3000)}); !errors.Is(err, ErrCapacity) || errors.Is(err, ErrFull) {
		t.Errorf("more than half of the buffer: %v", err)
	}
	feed(t, l, 0, 5)
	for _, tick := range []uint64{4, 0, 1 << 63, 1<<64 - 1} {
		if err := l.Commit(tick, 0, Counts{}); !errors.Is(err, ErrRange) {
			t.Errorf("commit of tick %d after 4: %v", tick, err)
		}
	}
	feed(t, l, 5, 6)
	if _, err := Create("log", testID, Options{FS: m}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	if _, _, err := Recover("log", Options{FS: m}); !errors.Is(err, ErrLocked) {
		t.Errorf("recovery beside a writer: %v", err)
	}
	closeLog(t, l)
	closeLog(t, l)
	if err := l.Append(&Record{Type: Input}); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
	if err := l.Commit(6, 0, Counts{}); !errors.Is(err, ErrClosed) {
		t.Errorf("Commit after Close: %v", err)
	}
	if _, err := Create("log", testID, Options{FS: m}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a log: %v", err)
	}
	if _, _, err := Recover("none", Options{FS: m}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("recovery of nothing: %v", err)
	}
	if next, err := readBack(m, "log", 0); next != 6 || err != nil {
		t.Errorf("%d ticks, %v", next, err)
	}
	id := Identity{Scenario: strings.Repeat("x", 256), FirstTick: 1 << 63}
	if _, err := Create("other", id, Options{FS: m}); !errors.Is(err, ErrRange) {
		t.Errorf("identity: %v", err)
	}
}

func TestOptions(t *testing.T) {
	bad := Options{Durability: 3, Interval: -1, Buffer: 5, Full: 2, SegmentBytes: -1, KeepSnapshots: -2}
	err := bad.Validate()
	for _, field := range []string{"Durability", "Interval", "Buffer", "Full", "SegmentBytes", "KeepSnapshots"} {
		if !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), "Options."+field+" = ") {
			t.Errorf("%s is not in %v", field, err)
		}
	}
	if err := (Options{}).Validate(); err != nil {
		t.Error(err)
	}
}

// Records after the last commit never become part of a log, even if a full
// buffer made the writer take them early.
func TestUncommittedIsGivenUp(t *testing.T) {
	m := newMemFS()
	l := create(t, m, "log", Options{Buffer: 4096})
	feed(t, l, 0, 3)
	for range 100 {
		if err := l.Append(&Record{Type: Input, Data: make([]byte, 500)}); err != nil {
			t.Fatal(err)
		}
	}
	if l.Stats().Blocked == 0 {
		t.Error("50 kB went into a buffer of 4,096 bytes without waiting")
	}
	closeLog(t, l)
	if next, err := readBack(m, "log", 0); next != 3 || err != nil {
		t.Errorf("%d ticks, %v", next, err)
	}
}

// A tick larger than the buffer is written piece by piece.
func TestTickLargerThanBuffer(t *testing.T) {
	m := newMemFS()
	l := create(t, m, "log", Options{Buffer: 4096})
	for i := range 1000 {
		if err := l.Append(&Record{Type: Input, Seq: uint64(i + 1), Data: make([]byte, i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Commit(9, 1, Counts{}); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	r, err := OpenReader("log", m)
	if err != nil {
		t.Fatal(err)
	}
	tick, err := r.Next()
	if err != nil || len(tick.Records) != 1000 {
		t.Fatal(tick, err)
	}
	for i, rec := range tick.Records {
		if len(rec.Data) != i || rec.Seq != uint64(i+1) || rec.Tick != 9 {
			t.Fatalf("record %d: Seq %d, tick %d, %d bytes", i, rec.Seq, rec.Tick, len(rec.Data))
		}
	}
}

// A tick has limits, and the record that would exceed one is refused alone.
func TestTickLimits(t *testing.T) {
	l := create(t, nowhere{newMemFS()}, "log", Options{Buffer: 64 << 20})
	big := Record{Type: Input, Data: make([]byte, MaxData)}
	n := 0
	for ; ; n++ {
		if err := l.Append(&big); err != nil {
			if !errors.Is(err, ErrCapacity) || l.Err() != nil {
				t.Error(err)
			}
			break
		}
	}
	if n != MaxTick/MaxData {
		t.Errorf("%d records of 16 MiB in a tick of 64 MiB", n)
	}
	if err := l.Commit(0, 0, Counts{}); err != nil {
		t.Fatal(err)
	}
	small := Record{Type: Input}
	for range MaxRecords {
		if err := l.Append(&small); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append(&small); !errors.Is(err, ErrCapacity) || l.Err() != nil {
		t.Error(err)
	}
	if err := l.Commit(1, 0, Counts{}); err != nil {
		t.Error(err)
	}
	closeLog(t, l)
}

// A reader follows a log that is being written and packed, and several
// goroutines append.
func TestLiveReader(t *testing.T) {
	m := newMemFS()
	l := create(t, m, "log", Options{SegmentTicks: 20, Compress: true, Buffer: minBuffer})
	feed(t, l, 0, 50)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := uint64(50); tick < 2000; tick++ {
			if err := feedTick(l, tick); err != nil {
				t.Error(err)
			}
			l.CommittedTick()
			l.Stats()
		}
	}()
	seen := uint64(0)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			runtime.Gosched() // on one thread nothing else would write
		}
		next, err := readBack(m, "log", 0)
		if err != nil && !errors.Is(err, ErrTorn) || next < seen {
			t.Fatalf("%d ticks after %d, %v", next, seen, err)
		}
		seen = next
	}
	before := l.Stats().Records
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 100 {
				if err := l.Append(&Record{Type: Marker, Data: []byte("x")}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	group.Wait()
	if got := l.Stats().Records - before; got != 400 {
		t.Errorf("%d records", got)
	}
	if err := l.Commit(2000, 0, Counts{}); err != nil {
		t.Error(err)
	}
	closeLog(t, l)
	r, err := OpenReader("log", m)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for tick, err := range r.Ticks(2000) {
		if err != nil || len(tick.Records) != 400 {
			t.Errorf("%d records, %v", len(tick.Records), err)
		}
	}
}

// Committed, written and durable are distinct, and durable follows the policy.
func TestDurabilityInTime(t *testing.T) {
	for _, d := range []Durability{Interval, EveryTick, None} {
		synctest.Test(t, func(t *testing.T) {
			l := create(t, newMemFS(), "log", Options{Durability: d, Interval: 45 * time.Millisecond})
			if _, ok := l.DurableTick(); ok {
				t.Error("a tick is durable in an empty log")
			}
			for tick := range uint64(20) {
				feed(t, l, tick, tick+1)
				synctest.Wait()
				if got, ok := l.CommittedTick(); !ok || got != tick {
					t.Fatalf("committed %d, want %d", got, tick)
				}
				if got, ok := l.WrittenTick(); !ok || got != tick {
					t.Fatalf("written %d, want %d", got, tick)
				}
				got, ok := l.DurableTick()
				// A tick every 10 ms: 0 to 4 are synced 45 ms after 0, 5 to 9 45 ms after 5.
				want := map[Durability]int{None: -1, EveryTick: int(tick), Interval: int(tick)/5*5 - 1}[d]
				if ok != (want >= 0) || ok && got != uint64(want) {
					t.Fatalf("%v: tick %d: durable %d (%v), want %d", d, tick, got, ok, want)
				}
				time.Sleep(10 * time.Millisecond)
			}
			if err := l.Sync(); err != nil {
				t.Error(err)
			}
			if got, _ := l.DurableTick(); got != 19 {
				t.Errorf("after Sync: durable %d", got)
			}
			closeLog(t, l)
		})
	}
}

func TestWaitDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := create(t, newMemFS(), "log", Options{})
		feed(t, l, 0, 10)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := l.WaitDurable(ctx, 9); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before the interval has passed: %v", err)
		}
		if err := l.WaitDurable(t.Context(), 9); err != nil {
			t.Error(err)
		}
		done := make(chan error)
		go func() { done <- l.WaitDurable(t.Context(), 10) }()
		synctest.Wait()
		closeLog(t, l)
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("a tick that never came: %v", err)
		}
		if err := l.WaitDurable(t.Context(), 9); err != nil {
			t.Errorf("after Close, a durable tick: %v", err)
		}
		if err := l.WaitDurable(t.Context(), 10); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close, another tick: %v", err)
		}
	})
}

func TestNames(t *testing.T) {
	for v, want := range map[interface{ String() string }]string{
		Config: "Config", Query: "Query", TickCommit: "TickCommit", Type(0): "invalid", Type(77): "Type(77)",
		Interval: "Interval", EveryTick: "EveryTick", None: "None", Durability(9): "Durability(9)",
		Block: "Block", Stop: "Stop", FullPolicy(9): "FullPolicy(9)",
	} {
		if got := v.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, name := range []string{"segment-0000000001.evlog", "segment-12345678901.evlog"} {
		if n, ok := parseName(name, segmentPrefix, segmentSuffix, segmentName); !ok || segmentName(n) != name {
			t.Errorf("%s is number %d, %v", name, n, ok)
		}
	}
	for _, name := range []string{"segment-.evlog", "segment-1.evlog", "segment-00000000001.evlog", "segment-000000000a.evlog",
		"segment-99999999999999999999999.evlog", "segment-0000000001", "0000000001.evlog"} {
		if n, ok := parseName(name, segmentPrefix, segmentSuffix, segmentName); ok {
			t.Errorf("%s is number %d", name, n)
		}
	}
}

// A file that a reader has found to end within a tick, and that has grown when it looks
// again, belongs to a log that is being written: nothing of it is damaged.
func TestReaderMeetsAFileThatGrows(t *testing.T) {
	m := newMemFS()
	l := create(t, m, "log", Options{})
	for tick := range uint64(30) {
		feed(t, l, tick, tick+1)
		if err := l.Sync(); err != nil { // so that the next tick says that this one is durable
			t.Fatal(err)
		}
	}
	closeLog(t, l)
	delete(m.names, "log/"+markName) // there is none yet in a log that is being written
	name := "log/segment-0000000000.evlog"
	file, err := m.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	size, err := file.Size()
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	short := 0
	for cut := size / 2; cut < size; cut++ {
		if next, err := readBack(&growingFS{FS: m, cut: cut}, "log", 0); err != nil {
			short++
			if !errors.Is(err, ErrTorn) || next >= 30 {
				t.Fatalf("%d bytes of %d at first: %d ticks, %v", cut, size, next, err)
			}
		}
	}
	if short == 0 {
		t.Error("no cut was within a tick")
	}
}

// After Refresh a reader goes on with what was written since, through segments that end and are packed, and
// finds the same chain hash as one that reads everything at once.
func TestReaderRefresh(t *testing.T) {
	for _, compress := range []bool{false, true} {
		m := newMemFS()
		l := create(t, m, "log", Options{SegmentTicks: 20, Compress: compress})
		feed(t, l, 0, 5)
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		r, err := OpenReader("log", m)
		if err != nil {
			t.Fatal(err)
		}
		next, written := uint64(0), uint64(5)
		for round := range uint64(40) {
			next = follow(t, r, next)
			if next != written {
				t.Fatalf("round %d: %d ticks read of %d", round, next, written)
			}
			if _, err := r.Next(); err != io.EOF {
				t.Fatalf("round %d: %v at the end", round, err)
			}
			feed(t, l, written, written+mix(round)%9)
			written += mix(round) % 9
			if err := l.Sync(); err != nil {
				t.Fatal(err)
			}
			if err := r.Refresh(); err != nil {
				t.Fatal(err)
			}
		}
		follow(t, r, next)
		closeLog(t, l)
		all, err := OpenReader("log", m)
		if err != nil {
			t.Fatal(err)
		}
		if follow(t, all, 0); all.Chain() != r.Chain() {
			t.Errorf("chain %x, want %x", r.Chain(), all.Chain())
		}
		if err := errors.Join(r.Close(), all.Close()); err != nil {
			t.Error(err)
		}
	}
}

// follow reads to the end, checks every tick, and returns the number of the one after the last.
func follow(t *testing.T, r *Reader, next uint64) uint64 {
	t.Helper()
	for ; ; next++ {
		tick, err := r.Next()
		if err == io.EOF || errors.Is(err, ErrTorn) {
			return next
		}
		if err != nil {
			t.Fatalf("tick %d: %v", next, err)
		}
		if tick.Tick != next {
			t.Fatalf("tick %d where %d comes next", tick.Tick, next)
		}
		if err := sameTick(tick); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that ends anywhere, also within its header, and then has its rest, is read to its end after
// Refresh, each tick once.
func TestReaderRefreshesATornEnd(t *testing.T) {
	whole := crashed(t, 30, Options{SegmentTicks: 20})
	name := "log/" + segmentName(1)
	data := whole.names[name].data
	for cut := range data {
		m := whole.clone()
		m.names[name].data = data[:cut:cut]
		r, err := OpenReader("log", m)
		if err != nil {
			t.Fatal(err)
		}
		next := follow(t, r, 0)
		if err := r.Refresh(); err != nil {
			t.Fatalf("%d bytes, nothing new: %v", cut, err)
		}
		if again := follow(t, r, next); again != next {
			t.Fatalf("%d bytes, nothing new: %d ticks after %d", cut, again, next)
		}
		m.names[name].data = data
		if err := r.Refresh(); err != nil {
			t.Fatalf("%d bytes: %v", cut, err)
		}
		if next = follow(t, r, next); next != 30 {
			t.Fatalf("%d bytes, then all: %d ticks", cut, next)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Damage stays, and so does what is wrong with the files.
func TestReaderRefreshRefuses(t *testing.T) {
	m := crashed(t, 30, Options{SegmentTicks: 20})
	data := m.names["log/"+segmentName(0)].data
	data[len(data)/2] ^= 1
	r, err := OpenReader("log", m)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = r.Next()
	}
	if e := r.Refresh(); e != nil || !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v, %v", err, e)
	}
	if _, again := r.Next(); again != err {
		t.Errorf("%v, then %v", err, again)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	data[len(data)/2] ^= 1
	if r, err = OpenReader("log", m); err != nil {
		t.Fatal(err)
	}
	follow(t, r, 0)
	delete(m.names, "log/"+segmentName(1))
	if err := r.Refresh(); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), segmentName(1)) {
		t.Errorf("a segment less: %v", err)
	}
	delete(m.names, "log/"+segmentName(0))
	if err := r.Refresh(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no segment: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// growingFS shows only the first cut bytes to the first reader of a file.
type growingFS struct {
	FS
	cut    int64
	opened bool
}

func (g *growingFS) Open(name string) (File, error) {
	f, err := g.FS.Open(name)
	if g.opened || err != nil {
		return f, err
	}
	g.opened = true
	return shortFile{f, io.LimitReader(f, g.cut)}, nil
}

type shortFile struct {
	File
	start io.Reader
}

func (s shortFile) Read(p []byte) (int, error) { return s.start.Read(p) }
