package worldlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/evertick/evertick/internal/wire"
	"pgregory.net/rapid"
)

// countFS counts what is asked of a file system.
type countFS struct {
	FS
	mu                sync.Mutex
	lists, opens, ops int
	bytes             int64 // read
}

func (c *countFS) ReadDir(dir string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists++
	c.ops++
	return c.FS.ReadDir(dir)
}

func (c *countFS) Open(name string) (File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opens++
	c.ops++
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return &countFile{memHandle: f.(*memHandle), c: c}, nil
}

func (c *countFS) reset() { c.lists, c.opens, c.ops, c.bytes = 0, 0, 0, 0 }

type countFile struct {
	*memHandle
	c *countFS
}

func (f *countFile) Read(p []byte) (int, error) {
	n, err := f.memHandle.Read(p)
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	f.c.ops++
	f.c.bytes += int64(n)
	return n, err
}

// snapshot takes a snapshot of the last tick that feed has committed, however busy the keeper is.
func snapshot(t testing.TB, l *Log, tick uint64) {
	t.Helper()
	for {
		err := l.WriteSnapshot(tick, hashOf(tick), stateOf(tick))
		if err == nil {
			return
		}
		if !errors.Is(err, ErrBusy) {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
}

// longLog is a log of n ticks with a snapshot 100 ticks before its end, and others before.
func longLog(t testing.TB, n uint64, opt Options) *memFS {
	t.Helper()
	m := newMemFS()
	l := create(t, m, "log", opt)
	for tick := range n {
		feed(t, l, tick, tick+1)
		if tick+100 == n || tick%997 == 500 {
			snapshot(t, l, tick)
		}
	}
	closeLog(t, l)
	if s := l.Stats(); s.SnapshotErr != nil || s.Snapshots == 0 {
		t.Fatalf("%+v", s)
	}
	return m
}

// What Recover reads does not depend on what was ever written, only on what is new since the last snapshot: of one long
// segment as of many, and of packed ones at most one.
func TestRecoverReadsWhatIsNew(t *testing.T) {
	for _, opt := range []Options{
		{Durability: None, KeepSnapshots: 2},
		{Durability: None, KeepSnapshots: 2, SegmentTicks: 70},
		{Durability: None, KeepSnapshots: 2, SegmentTicks: 200, Compress: true},
	} {
		var first countFS
		for i, n := range []uint64{1200, 6000} {
			m := longLog(t, n, opt)
			c := &countFS{FS: m}
			all := int64(0)
			for name, f := range m.names {
				if strings.HasPrefix(name, "log/"+segmentPrefix) {
					all += int64(len(f.data))
				}
			}
			o := opt
			o.FS = c
			l, report, err := Recover("log", o)
			if err != nil || report.Ticks != n || report.Tick != n-1 || report.Hash != hashOf(n-1) {
				t.Fatalf("%v, %+v", err, report)
			}
			t.Logf("%d ticks, %d segments: %d bytes of %d in %d operations", n, report.Segments, c.bytes, all, c.ops)
			closeLog(t, l)
			if i == 0 {
				first.ops, first.bytes = c.ops, c.bytes
			} else if c.ops > first.ops+4 || c.bytes > first.bytes+2*readBuffer || c.lists > 2 {
				t.Errorf("%+v: %d operations and %d bytes for a log five times as long, %d and %d before", opt, c.ops, c.bytes, first.ops, first.bytes)
			}
		}
	}
}

// What following a log costs for each new tick does not depend on how many segments and snapshots there are, nor on the length
// of the last segment; and nothing is listed. A tick that is met half written is read again, and not what is before it.
func TestRefreshReadsWhatIsNew(t *testing.T) {
	type cost struct{ ops, bytes int64 }
	var most [2]cost
	for i, n := range []uint64{40, 2000} {
		m := newMemFS()
		l := create(t, m, "log", Options{Durability: None, SegmentTicks: 5, KeepSnapshots: -1})
		for tick := range n {
			feed(t, l, tick, tick+1)
			if tick%20 == 3 {
				snapshot(t, l, tick)
			}
		}
		closeLog(t, l)
		l, _ = recoverLog(t, m, Options{Durability: None, Buffer: 64 << 10}) // one long segment from here on
		feed(t, l, n, 4*n)
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		c := &countFS{FS: m}
		r, err := OpenReader("log", c)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Seek(4*n - 1); err != nil {
			t.Fatal(err)
		}
		next := follow(t, r, 4*n-1)
		torn := 0
		for range 60 {
			feed(t, l, next, next+1)
			if err := l.Sync(); err != nil {
				t.Fatal(err)
			}
			parts := []*memFS{m}
			if next%3 == 0 { // half of the tick is there first
				parts = append([]*memFS{halfTick(m)}, parts...)
			}
			for k, part := range parts {
				c.reset()
				c.FS = part
				h := r.src.file.(*countFile)
				h.fs, h.f = part, part.names["log/"+r.file.name()]
				if err := r.Refresh(); err != nil {
					t.Fatal(err)
				}
				got := follow(t, r, next)
				if k < len(parts)-1 {
					if torn++; got != next || !errors.Is(r.err, ErrTorn) {
						t.Fatalf("half of tick %d: %d, %v", next, got, r.err)
					}
				} else if next++; got != next {
					t.Fatalf("tick %d: %d", next, got)
				}
				if c.lists > 0 {
					t.Fatalf("tick %d: %d listings", next, c.lists)
				}
				most[i] = cost{max(most[i].ops, int64(c.ops)), max(most[i].bytes, c.bytes)}
			}
		}
		if torn == 0 {
			t.Error("no tick was met half written")
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		closeLog(t, l)
	}
	t.Logf("at most %+v for a tick of the short log, %+v of the long one", most[0], most[1])
	if most[1].ops > most[0].ops+2 || most[1].bytes > most[0].bytes+readBuffer {
		t.Errorf("%+v for a tick of the long log, %+v of the short one", most[1], most[0])
	}
}

// halfTick returns the log without the second half of its last tick, and without a mark.
func halfTick(m *memFS) *memFS {
	c := m.clone()
	delete(c.names, "log/"+markName)
	last := slices.Max(slices.Collect(maps.Keys(segmentsOf(c))))
	data := c.names[last].data
	s := newSegmentReader(bytes.NewReader(data[:len(data)-1]), "")
	var tick Tick
	for err := s.readHeader(); err == nil; err = s.readTick(&tick) {
	}
	size := (len(data) + int(s.off)) / 2
	c.names[last].data = data[:size:size]
	return c
}

// SeekAfter goes on after the snapshot, from a checkpoint without reading what is before, and refuses one that is not of
// the log.
func TestSeekAfter(t *testing.T) {
	for _, opt := range []Options{
		{Durability: None, KeepSnapshots: -1},
		{Durability: None, KeepSnapshots: -1, SegmentTicks: 64},
		{Durability: None, KeepSnapshots: -1, SegmentTicks: 64, Compress: true},
	} {
		m := newMemFS()
		l := create(t, m, "log", opt)
		for tick := range uint64(3000) {
			feed(t, l, tick, tick+1)
			if tick%500 == 63 || tick == 2700 {
				snapshot(t, l, tick)
			}
		}
		closeLog(t, l)
		c := &countFS{FS: m}
		r, err := OpenReader("log", c)
		if err != nil {
			t.Fatal(err)
		}
		for _, tick := range slices.Backward(ticksOf(t, m)) {
			s, err := LoadSnapshot("log", m, tick)
			if err != nil {
				t.Fatal(err)
			}
			c.reset()
			if err := r.SeekAfter(s); err != nil {
				t.Fatal(err)
			}
			if next, err := r.Next(); err != nil || next.Tick != tick+1 || sameTick(next) != nil {
				t.Fatalf("%+v, %v", next, err)
			}
			if c.bytes > 3*readBuffer || c.lists > 0 {
				t.Errorf("%+v, tick %d: %d bytes, %d listings", opt, tick, c.bytes, c.lists)
			}
			chain := r.Chain()
			plain := *s
			plain.at = checkpoint{}
			if err := r.SeekAfter(&plain); err != nil {
				t.Fatal(err)
			}
			if next, err := r.Next(); err != nil || next.Tick != tick+1 || sameTick(next) != nil || r.Chain() != chain {
				t.Fatalf("without a checkpoint: %+v, %v", next, err)
			}
			for _, wrong := range []func(s *Snapshot){
				func(s *Snapshot) { s.Hash++ },
				func(s *Snapshot) { s.Tick = 5000 },
				func(s *Snapshot) { s.at.offset, s.Hash = 0, 1 },
			} {
				bad := *s
				if wrong(&bad); !errors.Is(r.SeekAfter(&bad), ErrCorrupt) {
					t.Errorf("tick %d, hash %x: no error", bad.Tick, bad.Hash)
				}
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// With checkpoints and without, Recover finds the same, and the log goes on in the same way.
func TestRecoverFromCheckpoint(t *testing.T) {
	based := 0
	sample(t, func(t *rapid.T) {
		opt := Options{Durability: None, Buffer: 64 << 10, KeepSnapshots: rapid.SampledFrom([]int{1, 3, -1}).Draw(t, "keep"),
			SegmentTicks: rapid.Uint64Range(0, 30).Draw(t, "segment"), Compress: rapid.Bool().Draw(t, "compress")}
		if rapid.Bool().Draw(t, "small") {
			opt.Buffer = minBuffer // large ticks are written in parts
		}
		id := testID
		id.FirstTick, id.Parent[3] = rapid.Uint64Range(0, 3).Draw(t, "first"), 9
		m := newMemFS()
		opt.FS = m
		l, err := Create("log", id, opt)
		if err != nil {
			t.Fatal(err)
		}
		next := id.FirstTick
		for range rapid.IntRange(1, 3).Draw(t, "lives") {
			for range rapid.IntRange(0, 70).Draw(t, "ticks") {
				if err := feedTick(l, next); err != nil {
					t.Fatal(err)
				}
				for n := rapid.IntRange(0, 9).Draw(t, "then"); n > 7; n = 0 {
					if n == 9 { // records of the next tick are there already, and some are written
						for range rapid.IntRange(1, 200).Draw(t, "early") {
							if err := l.Append(&Record{Type: Marker, Data: []byte("0123456789012345678901234567890123456789")}); err != nil {
								t.Fatal(err)
							}
						}
					}
					for err = ErrBusy; errors.Is(err, ErrBusy); runtime.Gosched() {
						err = l.WriteSnapshot(next, hashOf(next), stateOf(next))
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				next++
			}
			if err := l.Close(); err != nil || l.Stats().SnapshotErr != nil {
				t.Fatal(err, l.Stats())
			}
			plain := m.clone()
			for name := range plain.names {
				if strings.HasPrefix(name, "log/"+snapshotPrefix) {
					delete(plain.names, name)
				}
			}
			opt.FS = m
			c := recoverBase(t, m)
			if c != nil {
				based++
			}
			var report, want *Report
			if l, report, err = Recover("log", opt); err != nil {
				t.Fatal(err)
			}
			opt.FS = plain
			twin, want, err := Recover("log", opt)
			if err != nil {
				t.Fatal(err)
			}
			report.Snapshots = nil
			if !reflect.DeepEqual(report, want) || len(report.Saved) > 0 || l.Identity() != id {
				t.Fatalf("%+v, want %+v", report, want)
			}
			for tick := next; tick < next+40; tick++ {
				if err := errors.Join(feedTick(l, tick), feedTick(twin, tick)); err != nil {
					t.Fatal(err)
				}
			}
			next += 40
			if err := errors.Join(l.Close(), twin.Close()); err != nil {
				t.Fatal(err)
			}
			if err := sameTicks(m, plain); err != nil {
				t.Fatal(err)
			}
			opt.FS = m
			if l, _, err = Recover("log", opt); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if based == 0 {
		t.Error("no checkpoint was met")
	}
}

// sameTicks says where two logs differ, but for references to snapshots.
func sameTicks(a, b FS) error {
	first, err := OpenReader("log", a)
	if err != nil {
		return err
	}
	defer first.Close()
	second, err := OpenReader("log", b)
	if err != nil {
		return err
	}
	defer second.Close()
	for {
		x, err := first.Next()
		y, err2 := second.Next()
		if err == io.EOF && err2 == io.EOF {
			return nil
		}
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for _, tick := range []*Tick{x, y} {
			tick.Records = slices.DeleteFunc(tick.Records, func(r Record) bool { return r.Type == SnapshotRef })
		}
		if x.Tick != y.Tick || x.Hash != y.Hash || x.Counts != y.Counts || !reflect.DeepEqual(x.Records, y.Records) {
			return fmt.Errorf("tick %d: %+v and %+v", x.Tick, x, y)
		}
	}
}

// recoverBase returns the snapshot that Recover would begin with.
func recoverBase(t *rapid.T, m *memFS) *Snapshot {
	r := newRecovery(m, "log")
	var err error
	if r.list, err = listDir(m, "log"); err != nil {
		t.Fatal(err)
	}
	if err := r.findBase(); err != nil || len(r.strange) > 0 {
		t.Fatalf("%v, snapshots %d", err, r.strange)
	}
	return r.base
}

// A snapshot of the same run with another history, or of which the log has lost the place, is set aside, and the log is
// read from another one, or from its beginning. Damage after the checkpoint is found as before; what is before is for readers.
func TestStrangeCheckpoints(t *testing.T) {
	build := func(hash uint64) *memFS {
		m := newMemFS()
		l := create(t, m, "log", Options{Durability: None, SegmentTicks: 20})
		for tick := range uint64(50) {
			if tick == 30 && hash != 0 {
				if err := l.Commit(tick, hash, Counts{}); err != nil {
					t.Fatal(err)
				}
				continue
			}
			feed(t, l, tick, tick+1)
			if tick == 25 || tick == 45 {
				snapshot(t, l, tick)
			}
		}
		closeLog(t, l)
		return m
	}
	m, twin := build(0), build(7)
	name := func(tick uint64) string { return "log/" + snapshotName(tick) }
	for _, c := range []struct {
		what   string
		change func(m *memFS)
		kept   []uint64
		saved  int
		fails  bool
	}{
		{"nothing", func(*memFS) {}, []uint64{25, 45}, 0, false},
		{"of a twin", func(m *memFS) { m.names[name(45)] = twin.names[name(45)] }, []uint64{25}, 1, false},
		{"the same before the twins differ", func(m *memFS) { m.names[name(25)] = twin.names[name(25)] }, []uint64{25, 45}, 0, false},
		{"not whole", func(m *memFS) { m.names[name(45)].data = m.names[name(45)].data[:80] }, []uint64{25}, 0, false},
		{"both", func(m *memFS) {
			m.names[name(25)].data = nil
			m.names[name(45)] = twin.names[name(45)]
		}, nil, 1, false},
		{"damage before it", func(m *memFS) { m.names["log/"+segmentName(0)].data[200] ^= 1 }, []uint64{25, 45}, 0, false},
		{"damage after it", func(m *memFS) { f := m.names["log/"+segmentName(2)]; f.data[len(f.data)-3] ^= 1 }, nil, 0, true},
		{"its segment is gone", func(m *memFS) { delete(m.names, "log/"+segmentName(2)) }, nil, 0, true},
		{"a segment before it is gone", func(m *memFS) { delete(m.names, "log/"+segmentName(1)) }, nil, 0, true},
	} {
		d := m.clone()
		c.change(d)
		l, report, err := Recover("log", Options{FS: d})
		if c.fails {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		closeLog(t, l)
		if report.Ticks != 50 || !slices.Equal(report.Snapshots, c.kept) || len(report.Saved) != c.saved {
			t.Errorf("%s: %+v", c.what, report)
		}
	}
}

// The header of a snapshot, byte by byte.
func TestSnapshotFormat(t *testing.T) {
	id := Identity{Scenario: "ab", SimVersion: 3, Seed: 0x0123456789abcdef, FirstTick: 300, Parent: [32]byte{0xfe, 31: 0xdc}}
	ref := snapshotRef{tick: 0x1234, hash: 0x1122334455667788, size: 5, crc: 0x01020304}
	c := checkpoint{position: position{segment: 7, offset: 0x4321, segTicks: 9, ticks: 0x99, records: 0x1000, coder: coder{crc: 0xa1b2c3d4, seq: 0x55}},
		chain: [32]byte{1, 31: 2}, state: [shaSize]byte{3, 95: 4}}
	const begin = "89 657674736e70 0a"
	one := strings.ReplaceAll(`VERSION 0000 03000000 efcdab8967452301 3412000000000000 8877665544332211 05000000 06000000 04030201 02 6162`, "\n", " ")
	extra := "2c01000000000000 fe" + strings.Repeat("00", 30) + "dc 0200000000000000 0700000000000000 2143000000000000 0900000000000000 9900000000000000" +
		" 0010000000000000 5500000000000000 d4c3b2a1 01" + strings.Repeat("00", 30) + "02 03" + strings.Repeat("00", 94) + "04 CRC"
	b := appendSnapshotHeader(nil, &id, &ref, 6, 2, &c)
	check(t, b, begin+" "+strings.Replace(one, "VERSION", "0200", 1)+" "+extra)
	var h snapshotHead
	if err := h.decode(b); err != nil || h.version != 2 || h.first != 2 || h.at != c || h.Identity != id || h.Tick != ref.tick || h.packed != 6 {
		t.Errorf("%+v, %v", h, err)
	}
	old := oldSnapshotHeader(&id, &ref, 6)
	check(t, old, begin+" "+strings.Replace(one, "VERSION", "0100", 1)+" CRC")
	h = snapshotHead{}
	if err := h.decode(old); err != nil || h.version != 1 || h.at.offset != 0 || h.Identity.FirstTick != 0 || h.Identity.Scenario != "ab" {
		t.Errorf("version 1: %+v, %v", h, err)
	}
	if !h.isOf(&id) {
		t.Error("version 1 does not know the first tick")
	}
}

func oldSnapshotHeader(id *Identity, ref *snapshotRef, packed int) []byte {
	b := appendSnapshotHeader(nil, id, ref, packed, 0, new(checkpoint))
	b[len(snapshotMagic)] = 1
	return wire.AppendCRC(b[:len(b)-extraSize-crcSize], 0)
}

// A log with snapshots of version 1 is recovered, from its beginning, and they stay.
func TestOldSnapshots(t *testing.T) {
	m := written(t, 30, Options{})
	enc, err := newEncoder()
	if err != nil {
		t.Fatal(err)
	}
	data := stateOf(20)
	packed := enc.EncodeAll(data, nil)
	ref := snapshotRef{tick: 20, hash: hashOf(20), size: uint64(len(data)), crc: wire.CRC(0, data)}
	m.names["log/"+snapshotName(20)] = &memFile{data: append(oldSnapshotHeader(&testID, &ref, len(packed)), packed...)}
	l, report := recoverLog(t, m, Options{KeepSnapshots: 2})
	if report.Ticks != 30 || !slices.Equal(report.Snapshots, []uint64{20}) {
		t.Errorf("%+v", report)
	}
	snapshot(t, l, 29)
	closeLog(t, l)
	if got := ticksOf(t, m); !slices.Equal(got, []uint64{20, 29}) {
		t.Errorf("snapshots of %d", got)
	}
	if s, err := LoadSnapshot("log", m, 20); err != nil || !bytes.Equal(s.Data, data) {
		t.Errorf("%v", err)
	}
}

// FuzzCheckpoint puts any bytes, with a right checksum, in the place of the header of a snapshot, and recovers the log:
// that fails, or the log goes on and is read whole.
func FuzzCheckpoint(f *testing.F) {
	m := newMemFS()
	l := create(f, m, "log", Options{Durability: None, SegmentTicks: 20})
	for tick := range uint64(30) {
		feed(f, l, tick, tick+1)
		if tick == 25 {
			snapshot(f, l, tick)
		}
	}
	closeLog(f, l)
	name := "log/" + snapshotName(25)
	whole := m.names[name].data
	f.Add(uint16(0), []byte{})
	for at := snapshotFixed + len(testID.Scenario); at < headerOfSnapshot(whole); at += 8 {
		f.Add(uint16(at), []byte{1})
	}
	f.Fuzz(func(t *testing.T, at uint16, patch []byte) {
		c := m.clone()
		data := bytes.Clone(whole)
		for i, x := range patch {
			if k := int(at) + i; k < headerOfSnapshot(whole)-crcSize {
				data[k] ^= x
			}
		}
		if headerOfSnapshot(data) > len(data) {
			return
		}
		end := headerOfSnapshot(data) - crcSize
		binary.LittleEndian.PutUint32(data[end:], wire.CRC(0, data[:end]))
		c.names[name] = &memFile{data: data}
		l, _, err := Recover("log", Options{FS: c, Buffer: minBuffer})
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		if err := errors.Join(feedTick(l, 30), l.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := OpenReader("log", c)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		next := uint64(0)
		for tick, err := range r.Ticks(0) {
			if err != nil || tick.Tick != next || tick.Hash != hashOf(next) {
				t.Fatalf("tick %d: %+v, %v", next, tick, err)
			}
			next++
		}
		if next != 31 {
			t.Fatalf("%d ticks", next)
		}
	})
}

// openFS counts the files that are open.
type openFS struct {
	*memFS
	open int
}

func (o *openFS) count(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	o.open++
	return &openFile{f.(*memHandle), o}, nil
}

func (o *openFS) Create(name string) (File, error)          { return o.count(o.memFS.Create(name)) }
func (o *openFS) Append(name string, n int64) (File, error) { return o.count(o.memFS.Append(name, n)) }
func (o *openFS) Open(name string) (File, error)            { return o.count(o.memFS.Open(name)) }

type openFile struct {
	*memHandle
	o *openFS
}

func (f *openFile) Close() error {
	f.o.open--
	return f.memHandle.Close()
}

// Wherever Recover fails, and after Close, no file stays open.
func TestFilesAreClosed(t *testing.T) {
	whole := longLog(t, 300, Options{SegmentTicks: 100})
	delete(whole.names, "log/"+markName)
	for at := 0; ; at++ {
		o := &openFS{memFS: whole.clone()}
		ops := 0
		o.fault = func(string, string) error {
			if ops++; ops-1 == at {
				return syscall.EIO
			}
			return nil
		}
		l, _, err := Recover("log", Options{FS: o, SegmentTicks: 100})
		if err == nil {
			err = l.Close()
		}
		if err != nil && !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		if o.open != 0 {
			t.Fatalf("operation %d: %d files are open, %v", at, o.open, err)
		}
		if ops <= at {
			if at < 10 {
				t.Errorf("only %d operations", at)
			}
			return
		}
	}
}
