package worldlog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"
)

var testID = Identity{Scenario: "capstone", SimVersion: 3, Seed: 42}

// mix gives every tick its own content: SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func hashOf(tick uint64) uint64   { return mix(tick * 7) }
func countsOf(tick uint64) Counts { return Counts{Dropped: mix(tick) % 3, Live: 1000 + tick%100} }

// recordsOf are the records of a tick: up to seven of up to 27 bytes, and now and
// then more than fit into the smallest buffer.
func recordsOf(tick uint64) []Record {
	n := mix(tick) % 8
	if tick%64 == 63 {
		n = 200
	}
	records := make([]Record, n)
	for i := range records {
		x := mix(tick<<8 + uint64(i))
		var data [32]byte
		for k := range 4 {
			binary.LittleEndian.PutUint64(data[8*k:], mix(x+uint64(k)))
		}
		r := &records[i]
		*r = Record{Tick: tick, Seq: tick*256 + uint64(i), Type: Input + Type(x%5), Data: data[:x%28]}
		if x&0x100 != 0 {
			r.Source = uint32(x >> 40)
		}
		if x&0x200 != 0 {
			r.Kind = uint32(x >> 60)
		}
	}
	return records
}

func feedTick(l *Log, tick uint64) error {
	records := recordsOf(tick)
	for i := range records {
		if err := l.Append(&records[i]); err != nil {
			return err
		}
	}
	return l.Commit(tick, hashOf(tick), countsOf(tick))
}

// feed commits the ticks from to to-1.
func feed(t testing.TB, l *Log, from, to uint64) {
	t.Helper()
	for tick := from; tick < to; tick++ {
		if err := feedTick(l, tick); err != nil {
			t.Fatalf("tick %d: %v", tick, err)
		}
	}
}

// sameTick says how a tick read differs from what feedTick wrote.
func sameTick(got *Tick) error {
	if got.Hash != hashOf(got.Tick) || got.Counts != countsOf(got.Tick) {
		return fmt.Errorf("tick %d: hash %x, counts %v", got.Tick, got.Hash, got.Counts)
	}
	want := recordsOf(got.Tick)
	i := 0
	for _, r := range got.Records {
		if r.Type == SnapshotRef {
			tick, hash, _, err := ParseSnapshotRef(r.Data)
			if err != nil || hash != hashOf(tick) || tick >= r.Tick {
				return fmt.Errorf("tick %d: reference to %d, %x, %v", got.Tick, tick, hash, err)
			}
			continue
		}
		if i == len(want) || !sameRecord(&r, &want[i]) {
			return fmt.Errorf("tick %d, record %d: %+v", got.Tick, i, r)
		}
		i++
	}
	if i != len(want) {
		return fmt.Errorf("tick %d: %d records, want %d", got.Tick, i, len(want))
	}
	return nil
}

func sameRecord(a, b *Record) bool {
	return a.Tick == b.Tick && a.Seq == b.Seq && a.Source == b.Source && a.Kind == b.Kind && a.Type == b.Type && bytes.Equal(a.Data, b.Data)
}

// readBack reads a log that feed has written from tick first on, checks every
// tick, and returns the number of the one after the last and the reader's error,
// nil for the end.
func readBack(fsys FS, dir string, first uint64) (next uint64, err error) {
	r, err := OpenReader(dir, fsys)
	if err != nil {
		return first, err
	}
	defer r.Close()
	for next = first; ; next++ {
		t, err := r.Next()
		if err == io.EOF {
			return next, nil
		}
		if err != nil {
			return next, err
		}
		if t.Tick != next {
			return next, fmt.Errorf("tick %d where %d was expected", t.Tick, next)
		}
		if err := sameTick(t); err != nil {
			return next, err
		}
	}
}

func create(t testing.TB, fsys FS, dir string, opt Options) *Log {
	t.Helper()
	opt.FS = fsys
	l, err := Create(dir, testID, opt)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closeLog(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// written makes a closed log of ticks 0 to n-1 in memory.
func written(t testing.TB, n uint64, opt Options) *memFS {
	t.Helper()
	m := newMemFS()
	l := create(t, m, "log", opt)
	feed(t, l, 0, n)
	closeLog(t, l)
	return m
}

// crashed is written without the mark that Close leaves.
func crashed(t testing.TB, n uint64, opt Options) *memFS {
	t.Helper()
	m := written(t, n, opt)
	delete(m.names, "log/"+markName)
	return m
}
