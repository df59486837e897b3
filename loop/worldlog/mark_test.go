package worldlog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
)

// The mark, byte by byte.
func TestMarkFormat(t *testing.T) {
	b := encodeMark(0x1234)
	check(t, b, "89 6576746475720a 0100 0000 3312000000000000 CRC")
	if ticks, err := decodeMark(b); ticks != 0x1234 || err != nil {
		t.Errorf("%d, %v", ticks, err)
	}
	for size := range b {
		if _, err := decodeMark(b[:size]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if _, err := decodeMark(append(slices.Clone(b), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one byte more: %v", err)
	}
	b[8]++
	if _, err := decodeMark(b); !errors.Is(err, ErrUnsupported) {
		t.Errorf("another version: %v", err)
	}
}

// Sync and Close leave a mark, under each durability, and no more syncs than it takes.
func TestMark(t *testing.T) {
	for d := range durabilityEnd {
		synctest.Test(t, func(t *testing.T) {
			m := newMemFS()
			syncs := 0
			m.fault = func(op, name string) error {
				if strings.HasPrefix(op, "sync") {
					syncs++
				}
				return nil
			}
			l := create(t, m, "log", Options{Durability: d})
			has := func(what string, want uint64) {
				t.Helper()
				if got, err := readMark(m, "log"); got != want || err != nil {
					t.Errorf("%v, %s: the mark says %d, %v, want %d", d, what, got, err, want)
				}
			}
			if err := l.Sync(); err != nil {
				t.Error(err)
			}
			has("no tick", 0)
			feed(t, l, 0, 5)
			synctest.Wait()
			has("ticks that nobody has asked to be synced", 0)
			before := syncs
			if err := l.Sync(); err != nil {
				t.Error(err)
			}
			has("Sync", 5)
			want := 3 // of the data, of the mark, of its name
			if d == EveryTick {
				want--
			}
			if syncs-before != want {
				t.Errorf("%v: Sync took %d syncs, want %d", d, syncs-before, want)
			}
			before = syncs
			if err := l.Sync(); err != nil || syncs != before {
				t.Errorf("%v: a second Sync took %d syncs, %v", d, syncs-before, err)
			}
			feed(t, l, 5, 9)
			closeLog(t, l)
			has("Close", 9)
			if err := l.Sync(); err != nil {
				t.Errorf("%v: Sync of a closed log that is durable: %v", d, err)
			}
			l, _ = recoverLog(t, m, Options{Durability: d})
			has("Recover", 9)
			before = syncs
			closeLog(t, l)
			if syncs != before {
				t.Errorf("%v: Close without ticks took %d syncs", d, syncs-before)
			}
		})
	}
}

// Sync confirms nothing that no mark says: neither beside a Close whose mark fails, nor after it,
// though the ticks themselves are durable.
func TestSyncBesideAFailingClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		marking, beside := make(chan struct{}), make(chan error, 1)
		m.fault = func(op, name string) error {
			if op == "create" && strings.Contains(name, markName) {
				<-marking
				return syscall.ENOSPC
			}
			return nil
		}
		l := create(t, m, "log", Options{Durability: EveryTick})
		feed(t, l, 0, 5)
		synctest.Wait() // the ticks are durable
		closed := make(chan error, 1)
		go func() { closed <- l.Close() }()
		synctest.Wait() // Close is at the mark
		go func() { beside <- l.Sync() }()
		synctest.Wait()
		select {
		case err := <-beside:
			t.Errorf("Sync has not waited for the mark: %v", err)
			beside <- err
		default:
		}
		close(marking)
		for what, err := range map[string]error{"Close": <-closed, "Sync beside Close": <-beside, "Sync after Close": l.Sync()} {
			if !errors.Is(err, ErrPoisoned) || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if tick, ok := l.DurableTick(); tick != 4 || !ok {
			t.Errorf("durable tick %d, %v", tick, ok)
		}
		if err := l.WaitDurable(t.Context(), 4); err != nil {
			t.Errorf("WaitDurable of a durable tick: %v", err)
		}
	})
}

// Sync beside a Close that succeeds, and after it, confirms what Close has marked; so it does
// where the log had ended for a full buffer.
func TestSyncBesideClose(t *testing.T) {
	for _, end := range []error{nil, ErrFull} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemFS()
			marking := make(chan struct{})
			m.fault = func(op, name string) error {
				if op == "create" && strings.Contains(name, markName) {
					<-marking
				}
				return nil
			}
			l := create(t, m, "log", Options{Durability: EveryTick})
			feed(t, l, 0, 5)
			if end != nil {
				l.mu.Lock()
				l.stop(end)
				l.mu.Unlock()
			}
			closed, beside := make(chan error, 1), make(chan error, 1)
			go func() { closed <- l.Close() }()
			synctest.Wait()
			go func() { beside <- l.Sync() }()
			synctest.Wait()
			close(marking)
			if err := <-closed; !errors.Is(err, end) {
				t.Errorf("Close: %v, want %v", err, end)
			}
			if err := errors.Join(<-beside, l.Sync()); err != nil {
				t.Errorf("Sync beside and after a Close that returns %v: %v", end, err)
			}
		})
	}
}

// A log that ends before a tick that was confirmed is damaged, wherever it ends: nothing
// is cut. Without the mark, the same is a crash.
func TestMarkedEnd(t *testing.T) {
	t.Parallel()
	m := written(t, 12, Options{SegmentTicks: 8})
	name := "log/" + segmentName(1)
	whole := m.names[name].data
	for size := range whole {
		c := m.clone()
		c.names[name].data = whole[:size:size]
		if size == 0 {
			delete(c.names, name)
		}
		_, rerr := readBack(c, "log", 0)
		_, _, err := Recover("log", Options{FS: c, Buffer: minBuffer})
		for _, err := range []error{rerr, err} {
			if !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTorn) || !strings.Contains(err.Error(), "DURABLE says that tick 11 was on disk") {
				t.Fatalf("%d of %d bytes: %v", size, len(whole), err)
			}
		}
		if f := c.names[name]; size > 0 && !bytes.Equal(f.data, whole[:size]) || len(c.names) > len(m.names) {
			t.Fatalf("%d of %d bytes: recovery has changed the log", size, len(whole))
		}
		delete(c.names, "log/"+markName)
		l, report, err := Recover("log", Options{FS: c, Buffer: minBuffer})
		if err != nil || report.Ticks < 8 {
			t.Fatalf("%d of %d bytes, without the mark: %v, %+v", size, len(whole), err, report)
		}
		closeLog(t, l)
	}
}

// A log without a mark, as versions before it have left it, is read and continued; a mark
// that is left of a log whose segments are gone says nothing of the next one.
func TestMarkOfAnotherLog(t *testing.T) {
	m := crashed(t, 20, Options{Durability: None})
	if next, err := readBack(m, "log", 0); next != 20 || err != nil {
		t.Errorf("%d ticks, %v", next, err)
	}
	l, report := recoverLog(t, m, Options{})
	if report.Ticks != 20 || report.Cut != nil {
		t.Errorf("%+v", report)
	}
	closeLog(t, l)
	delete(m.names, "log/"+segmentName(0))
	l = create(t, m, "log", Options{Durability: None})
	feed(t, l, 0, 3)
	if got, err := readMark(m, "log"); got != 0 || err != nil {
		t.Errorf("a new log begins with a mark of %d ticks, %v", got, err)
	}
	closeLog(t, l)
	if next, err := readBack(m, "log", 0); next != 3 || err != nil {
		t.Errorf("%d ticks, %v", next, err)
	}
}

// A sector that a power cut has left out is no damage, though whole ticks follow; the same
// in a log that says that its ticks were durable is.
func TestMissingSectors(t *testing.T) {
	m := written(t, 60, Options{Durability: None})
	name := "log/" + segmentName(0)
	whole := m.names[name].data
	for at := sectorSize; at+2*sectorSize < len(whole); at += sectorSize {
		for _, part := range []int{sectorSize, 100, 1} { // the rest of the sector was synced
			c := m.clone()
			data := slices.Clone(whole)
			clear(data[at+sectorSize-part : at+sectorSize])
			c.names[name].data = data
			what := fmt.Sprintf("%d bytes before %d", part, at+sectorSize)
			if bytes.Equal(data, whole) {
				continue
			}
			if _, _, err := Recover("log", Options{FS: c}); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s, with a mark: %v", what, err)
			}
			delete(c.names, "log/"+markName)
			next, err := readBack(c, "log", 0)
			if !errors.Is(err, ErrTorn) {
				t.Fatalf("%s: %v", what, err)
			}
			l, report := recoverLog(t, c, Options{})
			if closeLog(t, l); report.Ticks != next {
				t.Fatalf("%s: %+v", what, report)
			}
		}
	}
}

// torn makes a log that ends within a tick, and returns what recovery has to keep of it.
func torn(t *testing.T) (m *memFS, name string, tail []byte) {
	m = crashed(t, 10, Options{})
	name = "log/" + segmentName(0)
	f := m.names[name]
	before := len(f.data)
	tail = []byte{5, byte(Input), 1, 2, 3}
	f.data = append(f.data, tail...)
	f.synced = f.data
	if _, err := readBack(m, "log", 0); !errors.Is(err, ErrTorn) || before == 0 {
		t.Fatal(err)
	}
	return m, name, tail
}

// Wherever recovery is interrupted, by a death of the process, a power cut or a disk that
// fails once or for good, what it cuts is in the segment or in the file beside it, and the
// next recovery succeeds and keeps it once.
func TestCutIsNeverLost(t *testing.T) {
	ops := 0
	for at := 0; ; at++ {
		m, name, tail := torn(t)
		rng := rand.New(rand.NewPCG(uint64(at), 0))
		var after []*memFS
		count := 0
		m.fault = func(op, _ string) error {
			if count++; count-1 == at {
				after = append(after, m.cut(rng), m.cut(rng), m.cut(rng))
			}
			if count > at {
				return syscall.ENOSPC
			}
			return nil
		}
		l, _, err := Recover("log", Options{FS: m})
		if count <= at {
			m.fault = nil
			closeLog(t, l)
			break
		}
		ops++
		if err == nil {
			l.Close()
		} else if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("operation %d: %v", at, err)
		}
		m.fault = nil
		after = append(after, m.restart())
		for i, disk := range after {
			if err := keepsTail(disk, name, tail); err != nil {
				t.Fatalf("operation %d, disk %d: %v", at, i, err)
			}
		}
	}
	if ops < 6 { // create, write, sync, rename, syncdir of the cut, then the segment
		t.Errorf("recovery took %d operations", ops)
	}
}

// keepsTail recovers a log, again and again, and looks for what was cut.
func keepsTail(m *memFS, name string, tail []byte) error {
	for range 2 {
		l, report, err := Recover("log", Options{FS: m})
		if err != nil {
			return err
		}
		if err := l.Close(); err != nil || report.Ticks != 10 {
			return fmt.Errorf("%+v, %w", report, err)
		}
	}
	var cuts []string
	for file := range m.names {
		if strings.HasSuffix(file, cutSuffix) {
			cuts = append(cuts, file)
		} else if strings.HasSuffix(file, temporarySuffix) {
			return fmt.Errorf("%s is left", file)
		}
	}
	if len(cuts) != 1 || cuts[0] != name+".1.cut" || !bytes.Equal(m.names[cuts[0]].data, tail) {
		return fmt.Errorf("%q are kept", cuts)
	}
	next, err := readBack(m, "log", 0)
	if err == nil && next != 10 {
		err = fmt.Errorf("%d ticks", next)
	}
	return err
}

// A full disk leaves the log as it was: what cannot be kept is not cut.
func TestNoRoomForTheCut(t *testing.T) {
	m, name, _ := torn(t)
	before := slices.Clone(m.names[name].data)
	m.fault = func(op, _ string) error {
		if op == "write" {
			return syscall.ENOSPC
		}
		return nil
	}
	_, _, err := Recover("log", Options{FS: m})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "keeping what is to be cut") {
		t.Error(err)
	}
	if !bytes.Equal(m.names[name].data, before) || len(m.names) != 1 || len(m.locks) != 0 {
		t.Errorf("%d files, %d locks", len(m.names), len(m.locks))
	}
}

// Each cut gets a name of its own, and readers, recovery and Create pass over them.
func TestCutsAreNumbered(t *testing.T) {
	m, name, tail := torn(t)
	for n := 1; n <= 3; n++ {
		l, report := recoverLog(t, m, Options{})
		closeLog(t, l)
		delete(m.names, "log/"+markName)
		want := fmt.Sprintf("%s.%d.cut", segmentName(0), n)
		if report.Cut == nil || report.Cut.Saved != want || !slices.Equal(report.Saved, []string{want}) {
			t.Fatalf("%+v, %+v", report, report.Cut)
		}
		if got := m.names["log/"+want]; got == nil || !bytes.Equal(got.data, tail) {
			t.Fatalf("%s holds something else", want)
		}
		tail = append(tail, byte(n))
		m.names[name].data = append(m.names[name].data, tail...)
	}
	l, _ := recoverLog(t, m, Options{KeepSnapshots: 1})
	closeLog(t, l)
	if next, err := readBack(m, "log", 0); next != 10 || err != nil {
		t.Errorf("%d ticks, %v", next, err)
	}
	if ticks := ticksOf(t, m); len(ticks) != 0 {
		t.Errorf("snapshots of %d", ticks)
	}
	delete(m.names, name)
	l, err := Create("log", testID, Options{FS: m})
	if err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	if got := m.names[name+".1.cut"]; got == nil {
		t.Error("Create has removed a cut")
	}
}

// A last segment without a whole header is kept as well, and so is one with nothing in it.
func TestShortHeaderIsKept(t *testing.T) {
	for _, size := range []int{0, 50} {
		m := crashed(t, 12, Options{SegmentTicks: 8})
		name := "log/" + segmentName(1)
		data := m.names[name].data[:size:size]
		m.names[name].data = data
		l, report := recoverLog(t, m, Options{SegmentTicks: 8})
		feed(t, l, 8, 20)
		closeLog(t, l)
		if kept := m.names[name+".1.cut"]; kept == nil || !bytes.Equal(kept.data, data) || report.Cut.Saved != segmentName(1)+".1.cut" {
			t.Errorf("%d bytes: %+v, %+v", size, report, report.Cut)
		}
		if next, err := readBack(m, "log", 0); next != 20 || err != nil {
			t.Errorf("%d bytes: %d ticks, %v", size, next, err)
		}
	}
}

// A segment that is removed or replaced while it is being written ends the log at the
// next rotation, Sync or Close, and what is reported durable stays what it was.
func TestSegmentTakenAway(t *testing.T) {
	name := "log/" + segmentName(0)
	for what, take := range map[string]func(*memFS){
		"removed":  func(m *memFS) { delete(m.names, name) },
		"replaced": func(m *memFS) { m.names[name] = &memFile{data: slices.Clone(m.names[name].data)} },
	} {
		for when, do := range map[string]func(*Log) error{
			"Sync":              (*Log).Sync,
			"Sync without news": (*Log).Sync,
			"Close":             (*Log).Close,
			"Close with news":   (*Log).Close,
			"rotation":          func(l *Log) error { synctest.Wait(); return l.Err() },
		} {
			synctest.Test(t, func(t *testing.T) {
				m := newMemFS()
				l := create(t, m, "log", Options{Durability: None, SegmentTicks: 20})
				feed(t, l, 0, 10)
				if err := l.Sync(); err != nil {
					t.Fatal(err)
				}
				m.mu.Lock()
				take(m)
				m.mu.Unlock()
				switch when {
				case "Sync", "Close with news":
					feed(t, l, 10, 15)
				case "rotation":
					feed(t, l, 10, 20)
				}
				err := do(l)
				if !errors.Is(err, ErrPoisoned) || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), segmentName(0)+" was removed or replaced") {
					t.Errorf("%s, %s: %v", what, when, err)
				}
				if tick, ok := l.DurableTick(); tick != 9 || !ok {
					t.Errorf("%s, %s: durable tick %d, %v", what, when, tick, ok)
				}
				if err := l.Close(); !errors.Is(err, ErrPoisoned) {
					t.Errorf("%s, %s: Close: %v", what, when, err)
				}
			})
		}
	}
}
