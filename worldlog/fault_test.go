package worldlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/evertick/evertick/internal/paritytest"
)

// long runs every case of the tests that otherwise take a sample.
var long = os.Getenv("EVERTICK_LONG") != ""

// everything uses all that touches the disk.
var everything = Options{Durability: EveryTick, SegmentTicks: 6, Compress: true, KeepSnapshots: 2, Buffer: 8192}

func stateOf(tick uint64) []byte {
	var data []byte
	for i := range 200 + mix(tick)%200 {
		data = binary.LittleEndian.AppendUint64(data, mix(tick+i/3))
	}
	return data
}

// play commits ticks and takes a snapshot every seven, until something ends the
// log.
func play(l *Log, from, to uint64) error {
	for tick := from; tick < to; tick++ {
		if err := feedTick(l, tick); err != nil {
			return err
		}
		if tick%7 == 0 {
			if err := l.WriteSnapshot(tick, hashOf(tick), stateOf(tick)); err != nil && !errors.Is(err, ErrBusy) {
				return err
			}
		}
		synctest.Wait() // so that the disk keeps up, and a run repeats
	}
	return nil
}

// survives recovers what is left of a log, checks that at least durable ticks
// (tick+1 of the last one reported) are there, that every tick and every snapshot
// is as it was written, and that the log goes on.
func survives(m *memFS, durable uint64) error {
	opt := everything
	opt.FS = m
	l, report, err := Recover("log", opt)
	if err != nil {
		return err
	}
	next := uint64(0)
	if report.Ticks > 0 {
		next = report.Tick + 1
	}
	if next < durable || report.Ticks != next {
		err = fmt.Errorf("recovered %d ticks up to %d, %d were durable (%+v)", report.Ticks, next, durable, report.Cut)
	}
	for _, tick := range report.Snapshots {
		s, lerr := LoadSnapshot("log", m, tick)
		if lerr != nil || tick > next || s.Hash != hashOf(tick) || !bytes.Equal(s.Data, stateOf(tick)) {
			err = errors.Join(err, lerr, fmt.Errorf("snapshot of tick %d", tick))
		}
	}
	err = errors.Join(err, play(l, next, next+10), l.Close())
	if err == nil {
		var after uint64
		if after, err = readBack(m, "log", 0); after != next+10 {
			err = errors.Join(err, fmt.Errorf("reading ends at %d, want %d", after, next+10))
		}
	}
	return err
}

// A disk that fails at any operation, once or for good, costs no durable tick,
// and the log says that it is poisoned if the fault was in its own files.
func TestFaults(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		name string
		err  error
		ops  string
		stay bool
	}{
		{"EIO on a write", syscall.EIO, "write", false},
		{"short write", short(3), "write", false},
		{"full disk", syscall.ENOSPC, "write create", true},
		{"EIO on a sync", syscall.EIO, "sync", false},
		{"EIO on a rename", syscall.EIO, "rename", false},
		{"EIO on syncing a directory", syscall.EIO, "syncdir", false},
		{"EIO on a removal", syscall.EIO, "remove", false},
		{"EIO on closing", syscall.EIO, "close", false},
		{"EIO on opening", syscall.EIO, "create append", false},
		{"a dead disk", syscall.EIO, "write sync rename syncdir remove close create append", true},
	}
	step, first := 1, 0
	if !long { // the first operation, and each seventeenth from a drawn one on
		step, first = 17, int(paritytest.Seed()%17)-16
	}
	allPoisoned, allOther := 0, 0
	for _, kind := range kinds {
		seen, poisoned, other := 0, 0, 0
		for at := 0; ; at += step {
			if at == step {
				at += first
			}
			hit := false
			synctest.Test(t, func(t *testing.T) {
				m, count := newMemFS(), 0
				m.fault = func(op, name string) error {
					if !strings.Contains(kind.ops, op) || op == "sync" && kind.ops == "syncdir" {
						return nil
					}
					count++
					if count-1 == at || kind.stay && count > at {
						hit = true
						return kind.err
					}
					return nil
				}
				p, o, err := oneFault(m, kind.err)
				poisoned, other = poisoned+p, other+o
				if err != nil {
					t.Errorf("%s, operation %d: %v", kind.name, at, err)
				}
			})
			if !hit || t.Failed() {
				break
			}
			seen++
		}
		t.Logf("%s: at %d operations, log poisoned %d times, a snapshot or a packed segment given up %d times", kind.name, seen, poisoned, other)
		if seen == 0 {
			t.Errorf("%s never happened", kind.name)
		}
		allPoisoned, allOther = allPoisoned+poisoned, allOther+other
	}
	if allPoisoned == 0 || allOther == 0 {
		t.Errorf("log poisoned %d times, a snapshot or a packed segment given up %d times", allPoisoned, allOther)
	}
}

// oneFault writes a log over a disk that will fail and judges the outcome.
func oneFault(m *memFS, cause error) (poisoned, other int, err error) {
	opt := everything
	opt.FS = m
	l, err := Create("log", testID, opt)
	if err != nil {
		if !errors.Is(err, cause) && !isShort(cause, err) {
			return 0, 0, fmt.Errorf("Create: %w", err)
		}
		return 0, 0, afterFailedCreate(m)
	}
	playErr := play(l, 0, 40)
	durable := l.durable.Load()
	closeErr := l.Close()
	stats := l.Stats()
	if playErr != nil || closeErr != nil {
		poisoned = 1
		for _, e := range []error{closeErr, l.Err(), l.Commit(99, 0, Counts{}), l.Append(&Record{Type: Input}), l.WriteSnapshot(0, 0, nil)} {
			if !errors.Is(e, ErrPoisoned) || !errors.Is(e, cause) && !isShort(cause, e) {
				return poisoned, other, fmt.Errorf("poisoned log says %v", e)
			}
		}
		if d := l.durable.Load(); playErr != nil && d != durable {
			return poisoned, other, fmt.Errorf("durable ticks %d became %d after poisoning", durable, d)
		}
	} else if l.durable.Load() != 40 {
		return 0, 0, fmt.Errorf("closed with %d durable ticks", l.durable.Load())
	}
	if stats.SnapshotErr != nil || stats.PackErr != nil {
		other = 1
	}
	durable = l.durable.Load()
	m.fault = nil
	for seed := range uint64(2) {
		if e := survives(m.powerCut(rand.New(rand.NewPCG(seed, 1))), durable); e != nil {
			return poisoned, other, fmt.Errorf("power cut with seed %d: %w", seed, e)
		}
	}
	if e := survives(m, durable); e != nil {
		return poisoned, other, fmt.Errorf("process restart: %w", e)
	}
	return poisoned, other, nil
}

func isShort(cause, err error) bool {
	_, ok := cause.(short)
	return ok && errors.Is(err, io.ErrShortWrite)
}

// afterFailedCreate: the directory can be used once the disk is well again.
func afterFailedCreate(m *memFS) error {
	m.fault = nil
	l, err := Create("log", testID, Options{FS: m, Buffer: minBuffer})
	if err != nil { // the header had made it
		l, _, err = Recover("log", Options{FS: m, Buffer: minBuffer})
	}
	if err != nil {
		return err
	}
	return errors.Join(play(l, 0, 3), l.Close())
}

// A power cut before any operation on the disk, during writing and during
// recovery, costs no tick that was reported durable.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	for _, d := range []Durability{EveryTick, Interval, None} {
		opt := everything
		opt.Durability = d
		cuts := 0
		seeds := uint64(1)
		if long {
			seeds = 8
		}
		for seed := range seeds {
			synctest.Test(t, func(t *testing.T) {
				images := collect(t, opt, seed)
				for i, image := range images {
					if !long && i%7 != 2*int(d) {
						continue
					}
					rng := rand.New(rand.NewPCG(seed, uint64(i)))
					var again []*memFS
					image.disk.fault = func(op, _ string) error {
						again = append(again, image.disk.cut(rng))
						return nil
					}
					l, _, err := Recover("log", Options{FS: image.disk, Buffer: minBuffer})
					if image.created && err != nil {
						t.Fatalf("%v, seed %d, image %d: %v", d, seed, i, err)
					}
					if err != nil { // the cut came within Create
						continue
					}
					image.disk.fault = nil
					if err := l.Close(); err != nil {
						t.Fatal(err)
					}
					for k, disk := range append(again, image.disk) {
						if k < len(again) && !long && k != i%len(again) {
							continue
						}
						cuts++
						if err := survives(disk, image.durable); err != nil {
							t.Fatalf("%v, seed %d, image %d, cut again at operation %d of recovery: %v", d, seed, i, k, err)
						}
					}
				}
			})
		}
		t.Logf("%v: %d power cuts", d, cuts)
	}
}

// image is a disk after a power cut, and what had been reported before.
type image struct {
	disk    *memFS
	durable uint64
	created bool
}

// collect writes a log and cuts the power before each operation.
func collect(t *testing.T, opt Options, seed uint64) (images []image) {
	m := newMemFS()
	rng := rand.New(rand.NewPCG(seed, 0))
	var log atomic.Pointer[Log]
	m.fault = func(string, string) error {
		i := image{disk: m.cut(rng)}
		if l := log.Load(); l != nil {
			i.durable, i.created = l.durable.Load(), true
		}
		images = append(images, i)
		return nil
	}
	opt.FS = m
	l, err := Create("log", testID, opt)
	if err != nil {
		t.Fatal(err)
	}
	log.Store(l)
	if err := play(l, 0, 30); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	return images
}

// A segment that cannot be read back from its packed form stays as it is.
func TestPackedIsReadBack(t *testing.T) {
	m := newMemFS()
	m.fault = func(op, name string) error {
		if op == "write" && strings.Contains(name, packedSuffix) && strings.HasSuffix(name, temporarySuffix) {
			return rot{}
		}
		return nil
	}
	l := create(t, m, "log", Options{SegmentTicks: 10, Compress: true})
	feed(t, l, 0, 55)
	closeLog(t, l)
	if s := l.Stats(); s.PackErr == nil || s.Packed != 0 || s.Segments != 6 {
		t.Errorf("%+v", s)
	}
	if next, err := readBack(m, "log", 0); next != 55 || err != nil || len(m.names) != 6+2 { // and the mark and the lock
		t.Errorf("%d ticks, %v, %d files", next, err, len(m.names))
	}
}

// slowDisk makes a file system whose writes wait for a token.
func slowDisk() (m *memFS, token chan struct{}) {
	m, token = newMemFS(), make(chan struct{}, 1000)
	m.fault = func(op, name string) error {
		if op == "write" {
			m.mu.Unlock()
			<-token
			m.mu.Lock()
		}
		return nil
	}
	return m, token
}

// With a disk that hangs, Stop ends the log at a tick, and Block waits.
func TestFullBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, token := slowDisk()
		token <- struct{}{} // for the header
		l := create(t, m, "log", Options{Buffer: minBuffer, Full: Stop})
		var err error
		var tick uint64
		for ; err == nil && tick < 1000; tick++ {
			err = feedTick(l, tick)
		}
		if !errors.Is(err, ErrFull) || !errors.Is(err, ErrCapacity) {
			t.Fatalf("tick %d: %v", tick, err)
		}
		committed, _ := l.CommittedTick()
		if err := l.Commit(5000, 0, Counts{}); !errors.Is(err, ErrFull) || tick > 100 {
			t.Errorf("after %d ticks: %v", tick, err)
		}
		for range 100 {
			token <- struct{}{}
		}
		if err := l.Sync(); err != nil {
			t.Errorf("what was committed: %v", err)
		}
		if err := l.Close(); !errors.Is(err, ErrFull) {
			t.Errorf("Close: %v", err)
		}
		if next, err := readBack(m, "log", 0); next != committed+1 || err != nil {
			t.Errorf("%d ticks, want %d: %v", next, committed+1, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m, token := slowDisk()
		token <- struct{}{}
		l := create(t, m, "log", Options{Buffer: minBuffer})
		var done atomic.Bool
		go func() {
			feed(t, l, 0, 200)
			done.Store(true)
		}()
		synctest.Wait()
		if got, _ := l.CommittedTick(); done.Load() || got > 100 || l.Stats().Blocked == 0 {
			t.Errorf("tick %d is committed to a disk that hangs", got)
		}
		for range 900 {
			token <- struct{}{}
		}
		synctest.Wait()
		if !done.Load() {
			t.Error("the disk is back and the log is not")
		}
		closeLog(t, l)
		if next, err := readBack(m, "log", 0); next != 200 || err != nil {
			t.Errorf("%d ticks, %v", next, err)
		}
	})
}

// A caller that waits for room hears of the fault.
func TestBlockedHearsOfFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, token := slowDisk()
		token <- struct{}{}
		l := create(t, m, "log", Options{Buffer: minBuffer})
		result := make(chan error, 1)
		go func() {
			var err error
			for tick := uint64(0); err == nil; tick++ {
				err = feedTick(l, tick)
			}
			result <- err
		}()
		synctest.Wait()
		m.mu.Lock()
		wait := m.fault
		m.fault = func(op, name string) error { return errors.Join(wait(op, name), syscall.EIO) }
		m.mu.Unlock()
		token <- struct{}{} // the write under way succeeds, the next one fails
		token <- struct{}{}
		if err := <-result; !errors.Is(err, ErrPoisoned) || !errors.Is(err, syscall.EIO) {
			t.Error(err)
		}
		if err := l.Close(); !errors.Is(err, ErrPoisoned) {
			t.Error(err)
		}
	})
}
