package worldlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/wire"
)

func recoverLog(t testing.TB, fsys FS, opt Options) (*Log, *Report) {
	t.Helper()
	opt.FS = fsys
	l, report, err := Recover("log", opt)
	if err != nil {
		t.Fatal(err)
	}
	return l, report
}

// The same ticks give the same log, whether it was written in one go or closed
// and recovered in between.
func TestRecoverContinues(t *testing.T) {
	for _, opt := range []Options{{}, {SegmentBytes: 2000}, {SegmentTicks: 5}, {SegmentTicks: 5, Compress: true}} {
		m := written(t, 20, opt)
		for from := uint64(20); from < 200; from += 15 {
			l, report := recoverLog(t, m, opt)
			if report.Cut != nil || report.Ticks != from || report.Tick != from-1 || report.Hash != hashOf(from-1) || report.Identity != testID {
				t.Fatalf("%+v: %+v", opt, report)
			}
			if tick, ok := l.DurableTick(); !ok || tick != from-1 {
				t.Fatalf("durable %d, %v", tick, ok)
			}
			feed(t, l, from, from+15)
			closeLog(t, l)
		}
		if next, err := readBack(m, "log", 0); next != 200 || err != nil {
			t.Errorf("%+v: %d ticks, %v", opt, next, err)
		}
		if len(m.names) < 1+int(opt.SegmentTicks)*4 { // 200 ticks / 5
			t.Errorf("%+v: only %d files", opt, len(m.names))
		}
		for name := range m.names {
			if strings.HasSuffix(name, segmentSuffix) && opt.Compress && name != "log/"+segmentName(39) {
				t.Errorf("%s is not packed", name)
			}
		}
	}
}

// A last segment that is packed - somebody did it by hand - is not written to.
func TestRecoverBehindPacked(t *testing.T) {
	m := crashed(t, 7, Options{SegmentTicks: 5, Compress: true})
	delete(m.names, "log/"+segmentName(1))
	l, report := recoverLog(t, m, Options{})
	if report.Tick != 4 {
		t.Fatalf("%+v", report)
	}
	feed(t, l, 5, 30)
	closeLog(t, l)
	if next, err := readBack(m, "log", 0); next != 30 || err != nil {
		t.Errorf("%d ticks, %v", next, err)
	}
}

// What recovery reports it has made durable, though the process before had not.
func TestRecoveredIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		l := create(t, m, "log", Options{Durability: None})
		feed(t, l, 0, 30)
		synctest.Wait()
		if _, ok := l.DurableTick(); ok {
			t.Fatal("nothing was to be durable yet")
		}
		for seed := range uint64(20) {
			dead := m.restart()
			next, report := recoverLog(t, dead, Options{Buffer: minBuffer})
			if tick, ok := next.DurableTick(); !ok || tick != 29 || report.Ticks != 30 {
				t.Fatalf("durable %d, %v; %+v", tick, ok, report)
			}
			off := dead.powerCut(rand.New(rand.NewPCG(seed, 0)))
			closeLog(t, next)
			if n, err := readBack(off, "log", 0); n != 30 || err != nil {
				t.Errorf("seed %d: %d ticks, %v", seed, n, err)
			}
		}
		closeLog(t, l)
	})
}

// A snapshot of a tick that the log has lost is no state to go on from.
func TestRecoverDropsLaterSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		l := create(t, m, "log", Options{})
		if err := play(l, 0, 30); err != nil { // snapshots of 0, 7, 14, 21, 28
			t.Fatal(err)
		}
		closeLog(t, l)
		delete(m.names, "log/"+markName)
		f := m.names["log/"+segmentName(0)]
		f.data = f.data[:len(f.data)*2/3]
		l, report := recoverLog(t, m, Options{})
		want := []uint64{0, 7, 14}
		if !slices.Equal(report.Snapshots, want) || !slices.Equal(ticksOf(t, m), want) || report.Tick < 14 || report.Tick >= 21 ||
			!slices.Equal(report.Saved[1:], []string{snapshotName(21) + ".1.cut", snapshotName(28) + ".1.cut"}) {
			t.Errorf("%+v", report)
		}
		closeLog(t, l)
	})
}

// Whatever length the last segment is cut to, recovery gives a prefix of the log
// that can be continued, and says what it cut: for each of the last 64 KiB, or 8 without EVERTICK_LONG, over
// segment boundaries. The segments before the last one are read once.
func TestTruncation(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	t.Parallel()
	m := crashed(t, 680, Options{SegmentBytes: 8000})
	names, err := listDir(m, "log")
	if err != nil {
		t.Fatal(err)
	}
	tail, whole, most := 0, 0, 64<<10
	if !long {
		most = 8 << 10
	}
	if testing.Short() {
		most = 4 << 10
	}
	for k := len(names.segments) - 1; k > 0 && tail < most; k-- {
		file := names.segments[k]
		name := "log/" + file.name()
		data := m.names[name].data
		all, err := readBack(m, "log", 0)
		if err != nil {
			t.Fatal(err)
		}
		delete(m.names, name)
		before := newRecovery(m, "log")
		if err := before.run(); err != nil {
			t.Fatal(err)
		}
		last := all
		for size := len(data) - 1; size >= 0 && tail < most; size-- {
			tail++
			m.names[name] = &memFile{data: data[:size:size]}
			n, err := ticksAfter(before, file)
			if err != nil || n > last || n+1 < last {
				t.Fatalf("%s cut to %d of %d bytes: %d ticks where one byte more gave %d; %v", name, size, len(data), n, last, err)
			}
			last = n
			if tail%101 == 0 {
				whole++
				if err := continues(m.clone(), n); err != nil {
					t.Fatalf("%s cut to %d of %d bytes: %v", name, size, len(data), err)
				}
			}
		}
		delete(m.names, name)
	}
	if t.Logf("%d lengths, %d of them with everything before", tail, whole); tail < most {
		t.Errorf("the log has only so many bytes; make it longer")
	}
}

// ticksAfter reads the last segment as recovery does, behind what it has read.
func ticksAfter(before *recovery, file segmentFile) (uint64, error) {
	r := *before
	report := *before.report
	r.report = &report
	seg := &segmentReader{in: r.in, name: file.name(), sum: sha256.New()}
	err := r.read(seg, file, before.seg.link(), true)
	if errors.Is(err, errShort) {
		err = nil
	}
	if err == nil && seg.ticks > 0 && (seg.last.tick != report.Ticks-1 || seg.last.hash != hashOf(seg.last.tick)) {
		err = fmt.Errorf("the last tick is %+v", seg.last)
	}
	return report.Ticks, err
}

// continues recovers a log of which the end after n ticks is missing, adds to it
// and reads it.
func continues(m *memFS, ticks uint64) error {
	n, readErr := readBack(m, "log", 0)
	if readErr != nil && !errors.Is(readErr, ErrTorn) || n != ticks {
		return fmt.Errorf("reading ends at %d, want %d: %w", n, ticks, readErr)
	}
	l, report, err := Recover("log", Options{FS: m, SegmentBytes: 8000, Buffer: minBuffer})
	if err != nil {
		return err
	}
	if (report.Cut != nil) != (readErr != nil) || report.Ticks != n {
		return fmt.Errorf("reading ended at %d (%v), recovery says %+v", n, readErr, report)
	}
	for tick := n; tick < n+10; tick++ {
		if err := feedTick(l, tick); err != nil {
			return err
		}
	}
	if err := l.Close(); err != nil {
		return err
	}
	if after, err := readBack(m, "log", 0); after != n+10 || err != nil {
		return fmt.Errorf("%d ticks of %d after recovery, %v", after, n+10, err)
	}
	return nil
}

// Each flipped bit of a log that was closed is found by the reader and by recovery,
// and not taken for a crash, or leaves the same content; whatever the durability.
func TestBitFlips(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	t.Parallel()
	for _, opt := range []Options{
		{Durability: None, SegmentTicks: 5},
		{Durability: Interval, SegmentTicks: 5},
		{Durability: EveryTick, SegmentTicks: 5},
		{Durability: None, SegmentTicks: 5, Compress: true},
	} {
		m := written(t, 13, opt)
		flips, harmless, inMark := 0, 0, 0
		for name, bit := range allBits(m) {
			if !long && bit%23 != 0 { // each bit of a byte has its turn
				continue
			}
			c := flipped(m, name, bit)
			at := fmt.Sprintf("%v, %s, bit %d", opt.Durability, name, bit)
			next, err := readBack(c, "log", 0)
			flips++
			if err == nil && next == 13 {
				if harmless++; name == "log/"+markName {
					inMark++
				}
			} else if err == nil {
				t.Fatalf("%s: only %d ticks and no error", at, next)
			} else if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) || errors.Is(err, ErrTorn) {
				t.Fatalf("%s: %v", at, err)
			}
			l, report, rerr := Recover("log", Options{FS: c, Buffer: minBuffer})
			if (rerr == nil) != (err == nil) {
				t.Fatalf("%s: reading %v, recovery %v", at, err, rerr)
			}
			if rerr == nil {
				if report.Cut != nil || report.Ticks != next {
					t.Fatalf("%s: reading ended at %d; %+v", at, next, report)
				}
				closeLog(t, l)
			}
		}
		t.Logf("%v, compress=%v: %d bits, %d harmless", opt.Durability, opt.Compress, flips, harmless)
		if !opt.Compress && harmless > inMark { // of the mark, the other copy is whole
			t.Errorf("%d flips had no effect on a log whose every bit counts", harmless-inMark)
		}
	}
}

// allBits ranges over the bits of all files.
func allBits(m *memFS) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, name := range slices.Sorted(maps.Keys(m.names)) {
			for bit := range 8 * len(m.names[name].data) {
				if !yield(name, bit) {
					return
				}
			}
		}
	}
}

func flipped(m *memFS, name string, bit int) *memFS {
	c := m.clone()
	f := c.names[name]
	f.data = slices.Clone(f.data)
	f.data[bit/8] ^= 1 << (bit % 8)
	return c
}

// A flipped bit of a log that nobody has closed, and of which nothing was durable, is
// damage if whole ticks follow, and may be a crash in the last tick or where a sector may
// be missing. Then what is cut is kept: the segment and the cut are the file as it was.
func TestBitFlipsAfterCrash(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	t.Parallel()
	m := crashed(t, 30, Options{Durability: None})
	name := "log/" + segmentName(0)
	whole := m.names[name].data
	damaged, torn, last := 0, 0, 0
	for name, bit := range allBits(m) {
		if bit%19 != 0 && !long { // each bit of a byte has its turn
			continue
		}
		c := flipped(m, name, bit)
		next, err := readBack(c, "log", 0)
		l, report, rerr := Recover("log", Options{FS: c})
		if err == nil || (rerr == nil) != errors.Is(err, ErrTorn) {
			t.Fatalf("bit %d: reading %v, recovery %v", bit, err, rerr)
		}
		if rerr != nil {
			damaged++
			continue
		}
		torn++
		if next >= 29 {
			last++
		}
		closeLog(t, l)
		kept := c.names[name].data[:report.Cut.Offset]
		kept = append(slices.Clone(kept), c.names["log/"+report.Cut.Saved].data...)
		kept[bit/8] ^= 1 << (bit % 8)
		if report.Ticks != next || !slices.Equal(report.Saved, []string{segmentName(0) + ".1.cut"}) || !bytes.Equal(kept, whole) {
			t.Fatalf("bit %d: %+v, %+v, %d bytes of %d kept", bit, report, report.Cut, len(kept), len(whole))
		}
	}
	t.Logf("%d damaged, %d torn, %d of them in the last tick", damaged, torn, last)
	// No sector of this log ends with a zero, but a flip can make one.
	if last == 0 || torn-last > len(whole)/sectorSize {
		t.Error("flips in front of whole ticks were taken for a crash")
	}
}

// A missing, exchanged or foreign segment is found and named.
func TestMisplacedSegments(t *testing.T) {
	opt := Options{SegmentTicks: 10}
	m := written(t, 45, opt)
	other := newMemFS()
	id := testID
	id.Seed++
	l, err := Create("log", id, Options{FS: other, SegmentTicks: 10})
	if err != nil {
		t.Fatal(err)
	}
	feed(t, l, 0, 45)
	closeLog(t, l)
	twin := newMemFS() // the same run but for one hash
	l = create(t, twin, "log", opt)
	feed(t, l, 0, 3)
	if err := l.Commit(3, 666, Counts{}); err != nil {
		t.Fatal(err)
	}
	feed(t, l, 4, 45)
	closeLog(t, l)

	name := func(i uint64) string { return "log/" + segmentName(i) }
	for _, c := range []struct {
		what, named string
		damage      func(c *memFS)
	}{
		{"missing", segmentName(2), func(c *memFS) { delete(c.names, name(2)) }},
		{"first missing", segmentName(0), func(c *memFS) { delete(c.names, name(0)) }},
		{"swapped", segmentName(1), func(c *memFS) { c.names[name(1)], c.names[name(2)] = c.names[name(2)], c.names[name(1)] }},
		{"of another run", segmentName(2), func(c *memFS) { c.names[name(2)] = other.names[name(2)] }},
		{"first of another run", segmentName(1), func(c *memFS) { c.names[name(0)] = other.names[name(0)] }},
		{"of the same run with another history", segmentName(2), func(c *memFS) { c.names[name(2)] = twin.names[name(2)] }},
		{"naming another chain", segmentName(2), func(c *memFS) {
			data := bytes.Clone(c.names[name(2)].data)
			data[50]++ // of the chain hash; and the header's checksum made right
			end := headerSize(data) - crcSize
			binary.LittleEndian.PutUint32(data[end:], wire.CRC(0, data[:end]))
			c.names[name(2)] = &memFile{data: data}
		}},
		{"empty", segmentName(2), func(c *memFS) { c.names[name(2)] = &memFile{} }},
		{"closed one cut at a commit", segmentName(2), func(c *memFS) {
			f := c.names[name(1)]
			r := newSegmentReader(bytes.NewReader(f.data), "")
			var tick Tick
			if err := r.readHeader(); err != nil {
				t.Fatal(err)
			}
			if err := r.readTick(&tick); err != nil {
				t.Fatal(err)
			}
			f.data = f.data[:r.off]
		}},
	} {
		d := m.clone()
		c.damage(d)
		_, err := readBack(d, "log", 0)
		if !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrTorn) || !strings.Contains(err.Error(), c.named) {
			t.Errorf("%s: reader: %v", c.what, err)
		}
		before := d.clone()
		_, _, err = Recover("log", Options{FS: d})
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.named) {
			t.Errorf("%s: recovery: %v", c.what, err)
		}
		if len(d.names) != len(before.names) {
			t.Errorf("%s: recovery removed files of a damaged log", c.what)
		}
		if len(d.locks) != 0 {
			t.Errorf("%s: recovery left the lock", c.what)
		}
	}
}

func TestForeignFiles(t *testing.T) {
	m := written(t, 5, Options{})
	f := m.names["log/"+segmentName(0)]
	f.data[8] = 2 // format version
	if _, err := readBack(m, "log", 0); !errors.Is(err, ErrUnsupported) {
		t.Errorf("another version: %v", err)
	}
	f.data[0] = 'x'
	if _, err := readBack(m, "log", 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("no segment: %v", err)
	}
}
