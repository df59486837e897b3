package worldlog

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/evertick/evertick/internal/wire"
)

// keeper is the goroutine that writes snapshots and packs closed segments, so
// that neither the world nor the writer waits for compression.
type keeper struct {
	l         *Log
	free      chan *snapshotJob
	snapshots chan *snapshotJob
	wake      chan struct{} // closed segments wait; holds one call
	quit      chan struct{}
	done      chan struct{}
	enc       *zstd.Encoder // made when first needed
	packed    []byte
	kept      []keptSnapshot // by rising ticks
	old       []keptSnapshot // that are to be removed
	first     uint64         // the first segment that must be there
	lowest    uint64         // no segment below it is there

	mu     sync.Mutex
	closed []uint64 // numbers of segments
}

// snapshotJob is a snapshot under way; its memory is reused.
type snapshotJob struct {
	tick, hash uint64
	data       []byte
	at         chan checkpoint // gets the one after tick; nil: none is known
}

// slots is how many snapshots may be under way: one being written and one
// waiting.
const slots = 2

func newKeeper(l *Log) *keeper {
	k := &keeper{l: l, free: make(chan *snapshotJob, slots), snapshots: make(chan *snapshotJob, slots),
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	for range slots {
		k.free <- new(snapshotJob)
	}
	return k
}

// pack asks for a closed segment to be compressed. It never waits.
func (k *keeper) pack(index uint64) {
	if !k.l.opt.Compress {
		return
	}
	k.mu.Lock()
	k.closed = append(k.closed, index)
	k.mu.Unlock()
	signal(k.wake)
}

// close finishes all jobs.
func (k *keeper) close() {
	close(k.quit)
	<-k.done
}

func (k *keeper) run() {
	defer close(k.done)
	for {
		select {
		case job := <-k.snapshots:
			k.snapshot(job)
		case <-k.wake:
			k.packOne()
		case <-k.quit:
			for len(k.snapshots) > 0 {
				k.snapshot(<-k.snapshots)
			}
			for k.packOne() {
			}
			return
		}
	}
}

func (k *keeper) encoder() (*zstd.Encoder, error) {
	var err error
	if k.enc == nil {
		k.enc, err = newEncoder()
	}
	return k.enc, err
}

func (k *keeper) snapshot(job *snapshotJob) {
	err := k.writeSnapshot(job)
	k.free <- job
	k.l.count(func(s *Stats) {
		if err != nil {
			s.SnapshotErr = fmt.Errorf("worldlog: snapshot of tick %d: %w", job.tick, err)
		} else {
			s.Snapshots++
		}
	})
	if err == nil {
		if err := k.removeOldSnapshots(); err != nil {
			k.l.count(func(s *Stats) { s.SnapshotErr = fmt.Errorf("worldlog: old snapshots: %w", err) })
		} else if err := k.retire(); err != nil {
			k.l.count(func(s *Stats) { s.SnapshotErr = fmt.Errorf("worldlog: old segments: %w", err) })
		}
	}
}

func (k *keeper) writeSnapshot(job *snapshotJob) error {
	enc, err := k.encoder()
	if err != nil {
		return err
	}
	k.packed = enc.EncodeAll(job.data, k.packed[:0])
	ref := snapshotRef{tick: job.tick, hash: job.hash, size: uint64(len(job.data)), crc: wire.CRC(0, job.data)}
	if job.tick < k.l.committed.Load() { // a state must not be restored if the log may lose its tick
		if err := k.l.waitTicks(context.Background(), job.tick+1, true); err != nil {
			return err
		}
	}
	at := k.checkpointOf(job)
	kept, old := k.withKept(keptOf(&Snapshot{Tick: job.tick, at: *at}))
	first := k.firstNeeded(kept)
	head := appendSnapshotHeader(nil, &k.l.id, &ref, len(k.packed), first, at)
	err = writeNew(k.l.opt.FS, k.l.dir, snapshotName(job.tick), func(f io.Writer) error {
		if err := writeAll(f, head); err != nil {
			return err
		}
		return writeAll(f, k.packed)
	})
	if err != nil {
		return err
	}
	k.kept, k.old, k.first = kept, append(k.old, old...), first
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	k.l.refs = append(k.l.refs, ref)
	return nil
}

// checkpointOf waits for the checkpoint of a job. A log that has ended may have none.
func (k *keeper) checkpointOf(job *snapshotJob) *checkpoint {
	var c checkpoint
	if job.at == nil {
		return &c
	}
	select {
	case c = <-job.at:
	case <-k.l.done:
		select {
		case c = <-job.at:
		default:
		}
	}
	return &c
}

// removeOldSnapshots removes the snapshots beyond the number to keep, oldest first. It counts and removes
// snapshots of this run only: the directory may hold others.
func (k *keeper) removeOldSnapshots() error {
	for len(k.old) > 0 {
		if err := removeExisting(k.l.opt.FS, join(k.l.dir, snapshotName(k.old[0].tick))); err != nil {
			return err
		}
		k.old = k.old[1:]
	}
	return nil
}

// packOne compresses the oldest closed segment, and reports whether there was one.
func (k *keeper) packOne() bool {
	k.mu.Lock()
	if len(k.closed) == 0 {
		k.mu.Unlock()
		return false
	}
	index := k.closed[0]
	k.closed = k.closed[1:]
	if len(k.closed) > 0 {
		signal(k.wake) // snapshots come in between
	}
	k.mu.Unlock()
	err := k.packSegment(index)
	k.l.count(func(s *Stats) {
		if err != nil {
			s.PackErr = fmt.Errorf("worldlog: packing %s: %w", segmentName(index), err)
		} else {
			s.Packed++
		}
	})
	return true
}

// packSegment replaces a segment by its packed form, after it has read that form
// from the file and found it equal.
func (k *keeper) packSegment(index uint64) error {
	fsys, dir := k.l.opt.FS, k.l.dir
	var want [32]byte
	err := writeNew(fsys, dir, packedName(index), func(f io.Writer) error {
		var err error
		want, err = k.packInto(f, segmentFile{index: index})
		return err
	})
	if err != nil {
		return err
	}
	got, err := sumOf(fsys, dir, segmentFile{index: index, packed: true})
	if err == nil && got != want {
		err = fmt.Errorf("the packed form unpacks to other bytes: %w", ErrCorrupt)
	}
	if err != nil {
		return errors.Join(err, removeExisting(fsys, join(dir, packedName(index))))
	}
	return fsys.Remove(join(dir, segmentName(index)))
}

func (k *keeper) packInto(f io.Writer, s segmentFile) (sum [32]byte, err error) {
	src, err := openSegment(k.l.opt.FS, k.l.dir, s)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, src.close()) }()
	enc, err := k.encoder()
	if err != nil {
		return sum, err
	}
	enc.Reset(f)
	h := sha256.New()
	if _, err = io.Copy(io.MultiWriter(enc, h), src); err != nil {
		return sum, err
	}
	if err = enc.Close(); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// sumOf is the chain hash of a whole segment.
func sumOf(fsys FS, dir string, s segmentFile) (sum [32]byte, err error) {
	src, err := openSegment(fsys, dir, s)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	_, err = io.Copy(h, src)
	h.Sum(sum[:0])
	return sum, errors.Join(err, src.close())
}
