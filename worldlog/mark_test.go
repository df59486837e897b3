package worldlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick/internal/wire"
)

// The mark, byte by byte.
func TestMarkFormat(t *testing.T) {
	b := encodeMark(0x1234)
	one := "89 6576746475720a 0200 0000 3312000000000000 CRC "
	check(t, b, one+strings.Repeat("00", sectorSize-markCopy)+" "+one)
	var m mark
	if err := m.decode(b); m != (mark{ticks: 0x1234}) || err != nil {
		t.Errorf("%+v, %v", m, err)
	}
	for size := range b {
		if err := m.decode(b[:size]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if err := m.decode(append(slices.Clone(b), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one byte more: %v", err)
	}
	for at := markCopy; at < sectorSize; at++ {
		c := slices.Clone(b)
		if c[at] = 1; !errors.Is(m.decode(c), ErrCorrupt) {
			t.Errorf("byte %d: no error", at)
		}
	}
	// Of two copies the newer whole one counts, and the other one is written next.
	for _, c := range []struct {
		first, second uint64 // 0: not whole
		want          mark
	}{{5, 4, mark{ticks: 5, spare: 1}}, {4, 5, mark{ticks: 5}}, {5, 5, mark{ticks: 5}}, {4, 0, mark{ticks: 4, spare: 1}}, {0, 4, mark{ticks: 4}}} {
		b := append(encodeMark(max(c.first, 1))[:sectorSize], appendMark(nil, max(c.second, 1))...)
		if c.first == 0 {
			b[15] ^= 1
		}
		if c.second == 0 {
			b[sectorSize+15] ^= 1
		}
		if err := m.decode(b); m != c.want || err != nil {
			t.Errorf("%+v: %+v, %v", c, m, err)
		}
	}
	b[15] ^= 1
	b[sectorSize+20] ^= 1
	if err := m.decode(b); !errors.Is(err, ErrCorrupt) {
		t.Errorf("no copy is whole: %v", err)
	}
	b = encodeMark(1)
	b[8]++
	if err := m.decode(b); !errors.Is(err, ErrUnsupported) {
		t.Errorf("another version: %v", err)
	}
	old := oldMark(0x1234)
	check(t, old, "89 6576746475720a 0100 0000 3312000000000000 CRC")
	if err := m.decode(old); m != (mark{ticks: 0x1234, old: true}) || err != nil {
		t.Errorf("version 1: %+v, %v", m, err)
	}
	for bit := range 8 * len(old) {
		old[bit/8] ^= 1 << (bit % 8)
		if err := m.decode(old); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
			t.Errorf("version 1, bit %d: %v", bit, err)
		}
		old[bit/8] ^= 1 << (bit % 8)
	}
}

// oldMark is a mark of version 1.
func oldMark(ticks uint64) []byte {
	return wire.AppendCRC(wire.AppendU64s(appendPreamble(nil, markMagic, 1), ticks-1), 0)
}

// FuzzMark decodes any bytes as a mark. With mend, the checksums of both copies are made right first. What it accepts is
// what a mark of those ticks holds, but for a copy that is not whole.
func FuzzMark(f *testing.F) {
	f.Add(encodeMark(7), true)
	f.Add(oldMark(7), true)
	f.Add(append(encodeMark(7)[:sectorSize], appendMark(nil, 8)...), false)
	f.Fuzz(func(t *testing.T, data []byte, mend bool) {
		data = bytes.Clone(data)
		for at := markCopy; mend && at <= len(data) && at <= markSize; at += sectorSize {
			binary.LittleEndian.PutUint32(data[at-crcSize:], wire.CRC(0, data[at-markCopy:at-crcSize]))
		}
		var m mark
		if err := m.decode(data); err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		if m.old {
			if !bytes.Equal(data, oldMark(m.ticks)) {
				t.Fatalf("%+v from %x", m, data)
			}
			return
		}
		want := encodeMark(m.ticks)
		spare := m.spare * sectorSize
		copy(want[spare:spare+markCopy], data[spare:])
		if m.ticks == 0 || len(data) != markSize || !bytes.Equal(data, want) {
			t.Fatalf("%+v from %x", m, data)
		}
	})
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
				if got, err := readMark(m, "log"); got.ticks != want || err != nil {
					t.Errorf("%v, %s: the mark says %d, %v, want %d", d, what, got.ticks, err, want)
				}
			}
			if err := l.Sync(); err != nil {
				t.Error(err)
			}
			has("no tick", 0)
			feed(t, l, 0, 5)
			synctest.Wait()
			if d != EveryTick {
				has("ticks that nobody has asked to be synced", 0)
			}
			before := syncs
			if err := l.Sync(); err != nil {
				t.Error(err)
			}
			has("Sync", 5)
			want := 3 // of the data, of the mark, of its name
			if d == EveryTick {
				want = 0 // all is on disk
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
			if op == "sync" && name == "log/"+markName {
				<-marking
				return syscall.EIO
			}
			return nil
		}
		l := create(t, m, "log", Options{Durability: EveryTick})
		feed(t, l, 0, 1)
		synctest.Wait() // the mark is there
		feed(t, l, 1, 5)
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
			if !errors.Is(err, ErrPoisoned) || !errors.Is(err, syscall.EIO) {
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
				if op == "sync" && name == "log/"+markName {
					<-marking
				}
				return nil
			}
			l := create(t, m, "log", Options{Durability: EveryTick})
			feed(t, l, 0, 1)
			synctest.Wait()
			feed(t, l, 1, 5)
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

// Whatever takes the end of a log whose process died, ticks that were reported durable do not go without a word: where
// one of them is gone, a reader and Recover name the mark and the tick, and change nothing. Where none is, the log goes on.
func TestConfirmedTicksAreMissed(t *testing.T) {
	t.Parallel()
	for d := range durabilityEnd {
		synctest.Test(t, func(t *testing.T) {
			opt := Options{Durability: d, Interval: 25 * time.Millisecond, SegmentTicks: 6, Buffer: minBuffer}
			m := newMemFS()
			l := create(t, m, "log", opt)
			step := func(l *Log, tick uint64) {
				feed(t, l, tick, tick+1)
				time.Sleep(10 * time.Millisecond)
				synctest.Wait()
			}
			for tick := range uint64(8) {
				step(l, tick)
			}
			died := m.restart()
			missed, whole := cutEverywhere(t, died, l.durable.Load())
			closeLog(t, l)
			opt.FS = died
			l, _, err := Recover("log", opt)
			if err != nil {
				t.Fatal(err)
			}
			for tick := uint64(8); tick < 10; tick++ {
				step(l, tick)
			}
			again, _ := cutEverywhere(t, died.restart(), l.durable.Load())
			closeLog(t, l)
			t.Logf("%v: %d and %d cuts were noticed, %d cost nothing", d, missed, again, whole)
			if missed == 0 || again == 0 || d != EveryTick && whole < 2 {
				t.Errorf("%v: a case was not met", d)
			}
		})
	}
}

// endsTick reports whether a tick of a segment, or its header, ends after so many bytes.
func endsTick(data []byte, size int) bool {
	s := newSegmentReader(bytes.NewReader(data[:size]), "")
	var tick Tick
	err := s.readHeader()
	for err == nil {
		err = s.readTick(&tick)
	}
	return err == io.EOF
}

// cutEverywhere cuts a log that holds so many durable ticks after each byte.
func cutEverywhere(t *testing.T, m *memFS, durable uint64) (missed, whole int) {
	t.Helper()
	cut := m.clone()
	for last := slices.Max(slices.Collect(maps.Keys(segmentsOf(cut)))); ; last = slices.Max(slices.Collect(maps.Keys(segmentsOf(cut)))) {
		data := cut.names[last].data
		for size := len(data); size > 0; size-- {
			if !long && size%5 > 0 && !endsTick(data, size) {
				continue
			}
			cut.names[last].data = data[:size:size]
			unmarked := cut.clone()
			delete(unmarked.names, "log/"+markName)
			left, err := readBack(unmarked, "log", 0)
			if err != nil && !errors.Is(err, ErrCorrupt) { // of the first segment not even the header is there
				t.Fatal(err)
			}
			if isMissed(t, cut, left, durable) {
				missed++
			} else {
				whole++
			}
		}
		delete(cut.names, last)
		if len(segmentsOf(cut)) == 0 {
			isMissed(t, cut, 0, durable)
			return missed + 1, whole
		}
	}
}

func segmentsOf(m *memFS) map[string]*memFile {
	found := maps.Clone(m.names)
	maps.DeleteFunc(found, func(name string, _ *memFile) bool { return !strings.HasPrefix(name, "log/"+segmentPrefix) })
	return found
}

// isMissed reports whether of so many durable ticks fewer are left, and checks that a reader and Recover say so.
func isMissed(t *testing.T, m *memFS, left, durable uint64) bool {
	t.Helper()
	c := m.clone()
	_, rerr := readBack(c, "log", 0)
	l, report, err := Recover("log", Options{FS: c, Buffer: minBuffer})
	if left >= durable {
		if err != nil || rerr != nil && !errors.Is(rerr, ErrTorn) || report.Ticks != left {
			t.Fatalf("%d of %d durable ticks are left: %v, %v", left, durable, rerr, err)
		}
		closeLog(t, l)
		return false
	}
	for _, err := range []error{rerr, err} {
		if !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTorn) || left > 0 && !strings.Contains(err.Error(), fmt.Sprintf("DURABLE says that tick %d was on disk", durable-1)) {
			t.Fatalf("%d of %d durable ticks are left: %v", left, durable, err)
		}
	}
	for name, f := range m.names {
		if g := c.names[name]; len(c.names) != len(m.names) || g == nil || !bytes.Equal(f.data, g.data) {
			t.Fatalf("%d of %d durable ticks are left: recovery has changed %s", left, durable, name)
		}
	}
	return true
}

// After a power cut, the ticks up to the last Sync are missed in the same way, and the mark never says more than is there.
func TestMarkAfterPowerCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		l := create(t, m, "log", Options{Durability: EveryTick, Buffer: minBuffer})
		said := map[uint64]bool{}
		for tick := range uint64(40) {
			feed(t, l, tick, tick+1)
			synctest.Wait()
			if tick == 20 {
				if err := l.Sync(); err != nil {
					t.Fatal(err)
				}
			}
			rng := rand.New(rand.NewPCG(tick, 0))
			for range 5 {
				c := m.powerCut(rng)
				got, err := readMark(c, "log")
				said[got.ticks] = true
				if err != nil || got.ticks > tick+1 || tick >= 20 && got.ticks < 21 {
					t.Fatalf("tick %d: the mark says %d, %v", tick, got.ticks, err)
				}
				if next, err := readBack(c, "log", 0); next != tick+1 || err != nil {
					t.Fatalf("tick %d: %d ticks, %v", tick, next, err)
				}
			}
		}
		closeLog(t, l)
		if len(said) < 10 {
			t.Errorf("only %d different marks were met", len(said))
		}
	})
}

// What a durable tick costs beyond the sync of its data: a write of one copy, in place.
func TestMarkCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		l := create(t, m, "log", Options{Durability: EveryTick})
		feed(t, l, 0, 1)
		synctest.Wait()
		counts := map[string]int{}
		m.fault = func(op, name string) error {
			counts[op+" "+strings.TrimPrefix(name, "log/")]++
			return nil
		}
		for tick := uint64(1); tick <= 100; tick++ {
			feed(t, l, tick, tick+1)
			synctest.Wait()
		}
		name := segmentName(0)
		if want := map[string]int{"write " + name: 100, "sync " + name: 100, "write " + markName: 100}; !maps.Equal(counts, want) {
			t.Errorf("100 ticks: %v, want %v", counts, want)
		}
		clear(counts)
		if err := l.Sync(); err != nil || !maps.Equal(counts, map[string]int{"sync " + markName: 1}) {
			t.Errorf("Sync: %v, %v", counts, err)
		}
		closeLog(t, l)
	})
}

// A mark that is removed or replaced while the log is open is written anew at the next Sync. One copy that is damaged
// is mended by Recover. A mark of version 1 counts, and the next one replaces it. Files that cannot be written
// in place have a mark at each Sync.
func TestMarkIsRenewed(t *testing.T) {
	name := "log/" + markName
	m := written(t, 5, Options{})
	for i, take := range []func(){
		func() { delete(m.names, name) },
		func() { m.names[name] = &memFile{data: oldMark(5)} },
		func() { m.names[name] = &memFile{data: encodeMark(1)} },
	} {
		l, _ := recoverLog(t, m, Options{Durability: EveryTick})
		take()
		feed(t, l, 5+uint64(i), 6+uint64(i))
		closeLog(t, l)
		if got, err := readMark(m, "log"); got.ticks != 6+uint64(i) || got.old || err != nil {
			t.Errorf("case %d: %+v, %v", i, got, err)
		}
	}
	m.names[name].data[15] ^= 1
	m.names[name].data[sectorSize+15] ^= 1
	if _, _, err := Recover("log", Options{FS: m}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), markName) {
		t.Errorf("no copy is whole: %v", err)
	}
	for _, data := range [][]byte{append(encodeMark(8)[:sectorSize], make([]byte, markCopy)...), oldMark(8)} {
		m.names[name] = &memFile{data: data}
		short := m.clone()
		f := short.names["log/"+segmentName(0)]
		f.data = f.data[:len(f.data)-1]
		if _, _, err := Recover("log", Options{FS: short}); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTorn) {
			t.Errorf("a short log: %v", err)
		}
		l, _ := recoverLog(t, m, Options{})
		closeLog(t, l)
		l, _ = recoverLog(t, m, Options{})
		feed(t, l, 8, 9)
		closeLog(t, l)
		if got, err := readMark(m, "log"); got.ticks != 9 || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
		l, _ = recoverLog(t, m, Options{Durability: EveryTick})
		closeLog(t, l)
		m = written(t, 8, Options{})
	}
	plain := replacing{newMemFS()}
	l := create(t, plain, "log", Options{Durability: EveryTick})
	feed(t, l, 0, 5)
	if err := l.Sync(); err != nil {
		t.Error(err)
	}
	if got, err := readMark(plain, "log"); got.ticks != 5 || err != nil {
		t.Errorf("without writing in place: %+v, %v", got, err)
	}
	closeLog(t, l)
}

// replacing is a file system whose files cannot be written in place.
type replacing struct{ *memFS }

type onlyFile struct{ File }

func (r replacing) Append(name string, size int64) (File, error) {
	f, err := r.memFS.Append(name, size)
	return onlyFile{f}, err
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
	_, rerr := OpenReader("log", m)
	_, _, err := Recover("log", Options{FS: m})
	for _, err := range []error{rerr, err} {
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "ends with tick none, but DURABLE says that tick 19") {
			t.Errorf("no segment is left, but the mark: %v", err)
		}
	}
	l = create(t, m, "log", Options{Durability: None})
	feed(t, l, 0, 3)
	if got, err := readMark(m, "log"); got.ticks != 0 || err != nil {
		t.Errorf("a new log begins with a mark of %d ticks, %v", got.ticks, err)
	}
	if old := m.names["log/"+markName+".1.cut"]; old == nil {
		t.Error("the mark of the other log is not kept")
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
	if !bytes.Equal(m.names[name].data, before) || len(m.names) != 2 || len(m.locks) != 0 {
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
