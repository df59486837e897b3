package worldlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/wire"
)

func ticksOf(t *testing.T, fsys FS) (ticks []uint64) {
	t.Helper()
	list, err := Snapshots("log", fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		ticks = append(ticks, s.Tick)
	}
	return ticks
}

// The log refers to a snapshot once that is on disk, and only the newest stay.
func TestSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		l := create(t, m, "log", Options{KeepSnapshots: 3, Buffer: minBuffer})
		for tick := range uint64(50) {
			feed(t, l, tick, tick+1)
			if tick%10 == 0 {
				if err := l.WriteSnapshot(tick, hashOf(tick), stateOf(tick)); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
		}
		closeLog(t, l)
		if s := l.Stats(); s.Snapshots != 5 || s.SnapshotErr != nil || s.Ticks != 50 {
			t.Errorf("%+v", s)
		}
		if got := ticksOf(t, m); !slices.Equal(got, []uint64{20, 30, 40}) {
			t.Errorf("snapshots of ticks %d", got)
		}
		s, err := LoadSnapshot("log", m, 30)
		want := Identity{Scenario: testID.Scenario, SimVersion: testID.SimVersion, Seed: testID.Seed}
		if err != nil || s.Tick != 30 || s.Hash != hashOf(30) || s.Identity != want || s.Size != len(s.Data) || !bytes.Equal(s.Data, stateOf(30)) {
			t.Errorf("%+v, %v", s, err)
		}
		if _, err := LoadSnapshot("log", m, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a snapshot that is gone: %v", err)
		}
		r, err := OpenReader("log", m)
		if err != nil {
			t.Fatal(err)
		}
		var refs []uint64
		for tick, err := range r.Ticks(0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range tick.Records {
				if rec.Type == SnapshotRef {
					at, hash, size, err := ParseSnapshotRef(rec.Data)
					if err != nil || hash != hashOf(at) || size != len(stateOf(at)) || tick.Tick != at+1 {
						t.Errorf("tick %d refers to %d, %x, %d bytes: %v", tick.Tick, at, hash, size, err)
					}
					refs = append(refs, at)
				}
			}
		}
		if !slices.Equal(refs, []uint64{0, 10, 20, 30, 40}) {
			t.Errorf("references to %d", refs)
		}
	})
}

func TestSnapshotRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, token := slowDisk()
		token <- struct{}{}
		id := testID
		id.FirstTick = 5
		l, err := Create("log", id, Options{FS: m})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.WriteSnapshot(6, 1, nil); !errors.Is(err, ErrRange) {
			t.Errorf("of a tick to come: %v", err)
		}
		if err := l.WriteSnapshot(4, 1, nil); err != nil {
			t.Errorf("of the state before the first tick: %v", err)
		}
		feed(t, l, 5, 9)
		for tick, hash := range map[uint64]uint64{9: hashOf(9), 8: 1, 1<<64 - 1: 0} {
			if err := l.WriteSnapshot(tick, hash, nil); !errors.Is(err, ErrRange) {
				t.Errorf("tick %d, hash %d: %v", tick, hash, err)
			}
		}
		failed := errors.New("no state")
		if err := l.SnapshotWith(8, hashOf(8), func([]byte) ([]byte, error) { return nil, failed }); err != failed {
			t.Error(err)
		}
		if err := l.WriteSnapshot(8, hashOf(8), stateOf(8)); err != nil {
			t.Error(err)
		}
		synctest.Wait() // both wait for the disk
		if err := l.WriteSnapshot(8, hashOf(8), nil); !errors.Is(err, ErrBusy) || l.Stats().SnapshotsBusy != 1 {
			t.Errorf("a third one: %v", err)
		}
		for range 100 {
			token <- struct{}{}
		}
		closeLog(t, l)
		if got := ticksOf(t, m); !slices.Equal(got, []uint64{4, 8}) {
			t.Errorf("snapshots of ticks %d", got)
		}
	})
}

// A snapshot of any size is read as it was written.
func TestSnapshotSizes(t *testing.T) {
	m := newMemFS()
	l := create(t, m, "log", Options{KeepSnapshots: -1})
	sizes := []int{0, 1, 2, 31, 32, 255, 256, 257, 1023, 1024, 1025, 65_791, 65_792, 1 << 20}
	for i, size := range sizes {
		feed(t, l, uint64(i), uint64(i)+1)
		for err := ErrBusy; err != nil; runtime.Gosched() {
			if err = l.WriteSnapshot(uint64(i), hashOf(uint64(i)), bytes.Repeat([]byte{byte(i)}, size)); err != nil && !errors.Is(err, ErrBusy) {
				t.Fatal(err)
			}
		}
	}
	closeLog(t, l)
	for i, size := range sizes {
		s, err := LoadSnapshot("log", m, uint64(i))
		if err != nil {
			t.Errorf("%d bytes: %v", size, err)
		} else if !bytes.Equal(s.Data, bytes.Repeat([]byte{byte(i)}, size)) {
			t.Errorf("%d bytes: other data", size)
		}
	}
}

// A snapshot is not there before its tick is durable, and a disk that refuses it
// leaves the log alone.
func TestSnapshotFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		l := create(t, m, "log", Options{Durability: None})
		m.fault = func(op, name string) error {
			if strings.HasPrefix(name, "log/"+snapshotName(3)) && strings.HasSuffix(name, temporarySuffix) {
				if d, ok := l.DurableTick(); !ok || d < 3 {
					t.Errorf("durable tick is %d, %v", d, ok)
				}
				return syscall.ENOSPC
			}
			return nil
		}
		feed(t, l, 0, 4)
		if err := l.WriteSnapshot(3, hashOf(3), stateOf(3)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		feed(t, l, 4, 8)
		if s := l.Stats(); !errors.Is(s.SnapshotErr, syscall.ENOSPC) || s.Snapshots != 0 {
			t.Errorf("%+v", s)
		}
		closeLog(t, l)
		if next, err := readBack(m, "log", 0); next != 8 || err != nil {
			t.Errorf("%d ticks, %v", next, err)
		}
	})
}

// Each flipped bit and each missing or added byte of a snapshot is found, or
// changes nothing.
func TestSnapshotDamage(t *testing.T) {
	m := newMemFS()
	l := create(t, m, "log", Options{})
	feed(t, l, 0, 3)
	data := bytes.Repeat([]byte("evertick"), 40)
	if err := l.WriteSnapshot(2, hashOf(2), data); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	f := m.names["log/"+snapshotName(2)]
	whole := slices.Clone(f.data)
	check := func(what string) {
		s, err := LoadSnapshot("log", m, 2)
		if err == nil && (s.Tick != 2 || s.Hash != hashOf(2) || !bytes.Equal(s.Data, data)) {
			t.Errorf("%s: another snapshot and no error", what)
		} else if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		} else if err == nil && what[0] != 'b' {
			t.Errorf("%s: no error", what)
		}
	}
	for bit := range 8 * len(whole) {
		f.data = slices.Clone(whole)
		f.data[bit/8] ^= 1 << (bit % 8)
		check(fmt.Sprint("bit ", bit))
	}
	for size := range whole {
		f.data = whole[:size]
		check(fmt.Sprint("cut to ", size))
	}
	f.data = append(slices.Clone(whole), 0)
	check("one more byte")
	f.data = whole
	m.names["log/"+snapshotName(1)] = f
	if _, err := LoadSnapshot("log", m, 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("under another tick's name: %v", err)
	}
}

// unpacking is what the decoder takes for its window and buffers.
const unpacking = 12 << 20

// A small file that unpacks to more than the limit costs nothing but its header, whatever
// it says of itself; up to the limit, the data are allocated once, and not if the header and
// the frame disagree.
func TestSnapshotBombs(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	enc, err := newEncoder()
	if err != nil {
		t.Fatal(err)
	}
	const large = 96 << 20
	zeros := make([]byte, large)
	bomb := enc.EncodeAll(zeros, nil)
	if len(bomb) > large/1000 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	two := append(enc.EncodeAll(zeros[:1000], nil), bomb...)
	stream := new(bytes.Buffer) // its frame does not say how much it holds
	enc.Reset(stream)
	if _, err := enc.Write(zeros[:4<<20]); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		packed []byte
		size   int
		limit  int
		want   error
		most   uint64
	}{
		{"more than the limit", bomb, large, DefaultSnapshot, ErrCapacity, 1 << 20},
		{"more than the caller's limit", bomb, large, 1000, ErrCapacity, 1 << 20},
		{"no limit beyond that of the format", bomb, large, math.MaxInt, nil, large + unpacking},
		{"as much as the limit", bomb, large, large, nil, large + unpacking},
		{"a header that says less", bomb, 1000, DefaultSnapshot, ErrCorrupt, 1 << 20},
		{"a header that says more", enc.EncodeAll(zeros[:1000], nil), large, large, ErrCorrupt, 1 << 20},
		{"a second frame", two, 1000, DefaultSnapshot, ErrCorrupt, unpacking},
		{"a frame that says nothing", stream.Bytes(), 4 << 20, DefaultSnapshot, ErrCorrupt, 1 << 20},
		{"no data", nil, 0, 0, nil, unpacking},
		{"no data, and a frame", bomb, 0, 0, ErrCorrupt, 1 << 20},
		{"no frame", nil, 1000, DefaultSnapshot, ErrCorrupt, 1 << 20},
	} {
		m := newMemFS()
		ref := snapshotRef{tick: 1, size: uint64(c.size), crc: wire.CRC(0, zeros[:c.size])}
		m.names["log/"+snapshotName(1)] = &memFile{data: append(appendSnapshotHeader(nil, &testID, &ref, len(c.packed), 0, new(checkpoint)), c.packed...)}
		grown := allocated(func() {
			s, err := LoadSnapshotUpTo("log", m, 1, c.limit)
			if !errors.Is(err, c.want) || err == nil && len(s.Data) != c.size {
				t.Errorf("%s: %v, want %v", c.what, err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), snapshotName(1)) {
				t.Errorf("%s: the error names no file: %v", c.what, err)
			}
		})
		if grown > c.most {
			t.Errorf("%s: %d bytes were allocated, at most %d were to be", c.what, grown, c.most)
		}
	}
}

// A packed segment that unpacks to any length costs what a tick may hold, and less where
// its window is too large.
func TestSegmentBomb(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	enc, err := newEncoder()
	if err != nil {
		t.Fatal(err)
	}
	h := header{id: testID}
	h.seed()
	many := func(size, n int) []byte {
		var c coder
		c.crc = h.crc
		b := h.append(nil)
		r := Record{Type: Input, Data: make([]byte, size)}
		for tick := range uint64(2) {
			for range n {
				r.Seq++
				b = c.append(b, &r)
			}
			b = c.appendCommit(b, &commit{tick: tick, records: uint64(n)})
		}
		return b
	}
	for i, c := range []struct {
		what    string
		size, n int
		ticks   uint64
		most    uint64
	}{
		{"large records", MaxData, 3, 2, 2*MaxTick + unpacking},
		{"too many records", 0, MaxRecords + 1, 0, 2*MaxRecords*uint64(unsafe.Sizeof(Record{})) + 32<<20 + unpacking},
		{"a tick that is too large", MaxData, 5, 0, 2*MaxTick + unpacking},
		{"many records", 0, MaxRecords, 2, 2*MaxRecords*uint64(unsafe.Sizeof(Record{})) + 32<<20 + unpacking},
	} {
		if testing.Short() && i/2 != int(paritytest.Seed()%2) {
			continue
		}
		m, plain := newMemFS(), many(c.size, c.n)
		packed := enc.EncodeAll(plain, nil)
		m.names["log/"+packedName(0)] = &memFile{data: packed}
		n := uint64(0)
		grown := allocated(func() {
			r, err := OpenReader("log", m)
			if err != nil {
				t.Fatal(err)
			}
			for ; err == nil; n++ {
				_, err = r.Next()
			}
			if n--; n != c.ticks || (err != io.EOF) != (c.ticks == 0) || err != io.EOF && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %d ticks, %v", c.what, n, err)
			}
		})
		t.Logf("%s: %d bytes packed, %d plain, %d allocated", c.what, len(packed), len(plain), grown)
		if grown > c.most {
			t.Errorf("%s: %d bytes were allocated, at most %d were to be", c.what, grown, c.most)
		}
	}
}

// A record that promises sixteen megabytes, likewise.
func TestForgedLength(t *testing.T) {
	m := written(t, 3, Options{})
	f := m.names["log/"+segmentName(0)]
	f.data = append(f.data, binary.AppendUvarint(nil, maxBody)...)
	f.data = append(f.data, byte(Input), 1, 2, 3)
	grown := allocated(func() {
		if next, err := readBack(m, "log", 0); next != 3 || !errors.Is(err, ErrTorn) {
			t.Errorf("%d ticks, %v", next, err)
		}
	})
	if grown > 1<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}
