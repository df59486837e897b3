package worldlog

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Report says what Recover found and did.
type Report struct {
	Identity Identity
	Segments int
	Ticks    uint64 // whole ones
	Records  uint64 // in them
	Tick     uint64 // the last one; only if Ticks > 0
	Hash     uint64 // of the state after it
	Chain    [32]byte

	Cut       *Cut     // the torn end; nil: the log ended with a whole tick
	Saved     []string // files *.cut that keep what was cut: Cut, and snapshots of another run or of ticks that the log does not have
	Removed   []string // files of work that a crash interrupted
	Snapshots []uint64 // ticks of the run's snapshots that remain, rising; each at most Tick
}

// Cut is the end of a log that was cut off.
type Cut struct {
	File   string // renamed, if not even its header was whole
	Offset int64  // where it is cut
	Bytes  int64  // cut off
	Reason string
	Saved  string // the file in the directory of the log that keeps those bytes
}

// Recover opens the log in dir for writing after its last whole tick. It reads and checks the log from its
// newest checkpoint on, see the package comment, or all of it, cuts what follows the last commit if a crash can have left that, removes temporary files, and
// returns once the rest is durable. It keeps what it cuts, and snapshots of another run or of ticks that
// the log does not have, under names that end with ".cut". Nothing else reads or writes these files:
// users may inspect and remove them.
//
// Damage that a crash cannot have left is an error that says where, and nothing is
// changed: a missing or exchanged segment, a changed byte before whole commits or in
// a tick that was durable, an end before a tick that was durable by the mark. A
// reader still returns the ticks before it, and replay.Fork continues from one of them
// in a new log; without the file DURABLE, a log that only ends too early counts as one
// that a crash has left. Errors wrap ErrCorrupt, ErrUnsupported, ErrLocked, ErrRange (of opt),
// fs.ErrNotExist (no log), or are those of the file system, which may be full.
func Recover(dir string, opt Options) (*Log, *Report, error) {
	if err := opt.Validate(); err != nil {
		return nil, nil, err
	}
	opt = opt.withDefaults()
	if _, err := opt.FS.ReadDir(dir); err != nil {
		return nil, nil, fmt.Errorf("worldlog: %w", err)
	}
	dir = fixed(opt.FS, dir)
	lock, err := takeLock(&opt, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("worldlog: %w", err)
	}
	r := newRecovery(opt.FS, dir)
	r.shared = lock.shared
	if err := r.run(); err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	l := newLog(dir, r.report.Identity, opt, lock)
	w, err := r.resume(l)
	if err != nil {
		return nil, nil, fmt.Errorf("worldlog: %w", errors.Join(err, lock.Close()))
	}
	l.start(w)
	return l, r.report, nil
}

// recovery reads a log to its end and repairs the end.
type recovery struct {
	fs       FS
	dir      string
	list     listing
	in       *bufio.Reader  // of the segment being read
	seg      *segmentReader // the last one that was read
	report   *Report
	size     int64     // of the last segment's file
	mark     mark      // up to which tick the log was durable
	unpacked []uint64  // numbers of closed segments that are not packed
	base     *Snapshot // the segments before its tick are not read; nil: all are
	first    uint64    // number of the first segment
	lowest   uint64    // no segment below it is there
	kept     []keptSnapshot
	strange  []uint64 // ticks of snapshots that are of another history than the log
	last     commit
	// shared is set if another writer may still run, and write to the last segment.
	shared bool
}

func newRecovery(fsys FS, dir string) *recovery {
	return &recovery{fs: fsys, dir: dir, report: new(Report), in: bufio.NewReaderSize(nil, readBuffer)}
}

func (r *recovery) run() error {
	var err error
	if r.list, err = listDir(r.fs, r.dir); err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	if r.first, _, err = r.list.begin(r.fs, r.dir); err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	if r.lowest = r.first; len(r.list.segments) > 0 {
		r.lowest = min(r.lowest, r.list.segments[0].index)
	}
	if err := r.list.complete(r.fs, r.dir, r.first); err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	if r.mark, err = readMark(r.fs, r.dir); err != nil {
		return err
	}
	if len(r.list.segments) == 0 {
		return noLogError(r.dir, r.mark.ticks)
	}
	if err := r.findBase(); err != nil {
		return err
	}
	if r.first > 0 && r.base == nil {
		return fmt.Errorf("worldlog: %s is missing, and no snapshot is whole with which the log begins: %w", segmentName(0), ErrCorrupt)
	}
	if err := r.readAll(); err != nil {
		return err
	}
	if r.seg.next < r.mark.ticks {
		return lostError(r.dir, r.seg.next, r.mark.ticks)
	}
	if err := r.cleanUp(); err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	return nil
}

// findBase finds the newest snapshot with a checkpoint that the log has.
func (r *recovery) findBase() error {
	for i := len(r.list.snapshots) - 1; i >= 0; i-- {
		tick := r.list.snapshots[i]
		h, err := readSnapshotHeader(r.fs, r.dir, tick)
		if err != nil || h.at.offset == 0 {
			continue // a later look at it says what is wrong
		}
		err = r.tryBase(&h.Snapshot)
		if err == nil {
			r.base = &h.Snapshot
			return nil
		}
		if !errors.Is(err, errElsewhere) {
			return err
		}
		r.strange = append(r.strange, tick)
	}
	return nil
}

// tryBase returns errElsewhere if the log does not have the checkpoint of a snapshot.
func (r *recovery) tryBase(s *Snapshot) (err error) {
	i, found := r.list.find(s.at.segment)
	if !found {
		return errElsewhere
	}
	src, err := openSegment(r.fs, r.dir, r.list.segments[i])
	if err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	defer func() { err = errors.Join(err, src.close()) }()
	seg := newSegmentReader(src, r.list.segments[i].name())
	err = seg.readHeader()
	if err == nil && !seg.isOf(&s.Identity) {
		err = errElsewhere
	}
	if err == nil {
		err = seg.resume(src, s)
	}
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnsupported) {
		err = errElsewhere // reading from another place says what is wrong with the segment
	}
	return err
}

// readAll checks every segment from the base on, and changes nothing. A last segment without a
// header is dropped from the list.
func (r *recovery) readAll() error {
	var prev *segmentLink
	for i, s := range r.list.segments {
		last := i == len(r.list.segments)-1
		if r.base != nil && s.index < r.base.at.segment {
			if !s.packed {
				r.unpacked = append(r.unpacked, s.index)
			}
			continue
		}
		next := &segmentReader{in: r.in, name: s.name(), sum: sha256.New()}
		err := r.read(next, s, prev, last)
		if last && i > 0 && errors.Is(err, errShort) && !s.packed {
			r.report.Cut = &Cut{File: s.name(), Bytes: r.size, Reason: errShort.Error()}
			r.list.segments = r.list.segments[:i]
			break
		}
		if err != nil {
			return err
		}
		switch {
		case r.base != nil:
			r.report.Identity = r.base.Identity
		case i == 0:
			r.report.Identity = next.head.id
		}
		if r.seg = next; next.ticks > 0 {
			r.last = next.last
		}
		prev = next.link()
		if !last && !s.packed {
			r.unpacked = append(r.unpacked, s.index)
		}
	}
	r.report.Segments = len(r.list.segments)
	r.report.Tick, r.report.Hash, r.report.Chain = r.last.tick, r.last.hash, r.seg.chain()
	return nil
}

// read reads one segment. A torn end of the last one goes into the report.
func (r *recovery) read(seg *segmentReader, s segmentFile, prev *segmentLink, last bool) (err error) {
	src, err := openSegment(r.fs, r.dir, s)
	if err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	defer func() { err = errors.Join(err, src.close()) }()
	if r.size, err = src.file.Size(); err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	seg.in.Reset(src)
	if err := seg.readHeader(); err != nil {
		return err
	}
	if err := seg.follows(prev, s.index); err != nil {
		return err
	}
	if r.base != nil && s.index == r.base.at.segment {
		if err := seg.resume(src, r.base); err != nil {
			return err
		}
		r.report.Ticks, r.report.Records = r.base.at.ticks, r.base.at.records
	}
	var t Tick
	for {
		err := seg.readTick(&t)
		if err == io.EOF {
			return nil
		}
		var e *CorruptError
		if errors.As(err, &e) {
			return r.classifyFault(e, seg, s, last)
		}
		if err != nil {
			return err
		}
		r.report.Ticks++
		r.report.Records += uint64(len(t.Records))
	}
}

func (r *recovery) classifyFault(e *CorruptError, seg *segmentReader, s segmentFile, last bool) error {
	if err := classifyFault(r.fs, r.dir, s, last, seg, r.mark.ticks, e); err != nil || !e.Torn {
		return errors.Join(e, err)
	}
	r.report.Cut = &Cut{File: s.name(), Offset: seg.off, Bytes: r.size - seg.off, Reason: e.Reason}
	return nil
}

// cleanUp removes temporary files, and keeps what is to be cut.
func (r *recovery) cleanUp() error {
	r.report.Removed = append(r.report.Removed, r.list.leftovers...)
	for _, name := range r.report.Removed {
		if err := removeExisting(r.fs, join(r.dir, name)); err != nil {
			return err
		}
	}
	if err := r.saveCut(); err != nil {
		return fmt.Errorf("keeping what is to be cut: %w", err)
	}
	limit := r.report.Identity.FirstTick
	if r.report.Ticks > 0 {
		limit = r.last.tick
	}
	for _, tick := range r.list.snapshots {
		h, err := readSnapshotHeader(r.fs, r.dir, tick)
		switch {
		case tick > limit || slices.Contains(r.strange, tick) || err == nil && !h.isOf(&r.report.Identity):
			if err := r.moveAside(snapshotName(tick)); err != nil {
				return err
			}
		case err == nil:
			r.report.Snapshots = append(r.report.Snapshots, tick)
			r.kept = append(r.kept, keptOf(&h.Snapshot))
		}
	}
	return r.fs.SyncDir(r.dir)
}

// saveCut copies the end of the log that is to be cut, or renames the file if all of it
// is cut.
func (r *recovery) saveCut() (err error) {
	cut := r.report.Cut
	if cut == nil {
		return nil
	}
	if cut.Offset == 0 {
		err = r.moveAside(cut.File)
	} else {
		err = r.copyCut(cut)
	}
	if err == nil {
		cut.Saved = r.report.Saved[len(r.report.Saved)-1]
	}
	return err
}

// moveAside renames a file that is not part of the log.
func (r *recovery) moveAside(file string) error {
	name, err := moveAside(r.fs, r.dir, r.list.cuts, file)
	if err == nil {
		r.report.Saved = append(r.report.Saved, name)
	}
	return err
}

// copyCut writes the end of a segment into a file of its own, unless a file holds it already: then
// a crash came after the copy was made and before the segment was cut.
func (r *recovery) copyCut(cut *Cut) error {
	want, err := r.sumFrom(cut.File, cut.Offset)
	if err != nil {
		return err
	}
	name := cutName(cut.File, 1)
	for n := 2; slices.Contains(r.list.cuts, name); n++ {
		// A file that cannot be read does not hold the cut end.
		if got, err := r.sumFrom(name, 0); err == nil && got == want {
			r.report.Saved = append(r.report.Saved, name)
			return nil
		}
		name = cutName(cut.File, n)
	}
	err = writeNew(r.fs, r.dir, name, func(f io.Writer) error { return r.copyFrom(f, cut.File, cut.Offset) })
	if err == nil {
		r.report.Saved = append(r.report.Saved, name)
	}
	return err
}

func (r *recovery) sumFrom(file string, offset int64) (sum [32]byte, err error) {
	h := sha256.New()
	err = r.copyFrom(h, file, offset)
	h.Sum(sum[:0])
	return sum, err
}

// copyFrom writes what a file holds from an offset on.
func (r *recovery) copyFrom(to io.Writer, file string, offset int64) (err error) {
	f, err := r.fs.Open(join(r.dir, file))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err = io.CopyN(io.Discard, f, offset); err == nil {
		_, err = io.Copy(to, f)
	}
	return err
}

// resume gives l the state after the last commit of the log.
func (r *recovery) resume(l *Log) (w *writer, err error) {
	w = newWriter(l)
	defer func() {
		if err != nil {
			err = errors.Join(err, w.closeFiles())
		}
	}()
	w.head, w.sum, w.size, w.committedSize = r.seg.head, r.seg.sum, r.seg.off, r.seg.off
	s := r.list.segments[len(r.list.segments)-1]
	if r.shared {
		if err := r.replaceLast(s); err != nil {
			return w, err
		}
	}
	if !s.packed {
		if w.file, err = r.fs.Append(join(r.dir, s.name()), r.seg.off); err != nil {
			return w, err
		}
		if err := w.file.Sync(); err != nil {
			return w, err
		}
	}
	if r.report.Ticks > 0 {
		w.ticks = r.last.tick + 1
		if err := w.mark.begin(r.mark); err != nil {
			return w, err
		}
		if err := w.mark.sync(w.ticks); err != nil {
			return w, err
		}
		l.marked = w.ticks
	}
	l.last = r.last
	if r.report.Ticks > 0 {
		l.at = position{segment: r.seg.head.index, offset: r.seg.off, segTicks: r.seg.ticks, ticks: r.report.Ticks, records: r.report.Records, coder: r.seg.coder}
	}
	l.committed.Store(w.ticks)
	l.written.Store(w.ticks)
	l.durable.Store(w.ticks)
	l.enc = r.seg.coder
	l.seg.index, l.seg.ticks, l.seg.bytes = r.seg.head.index, r.seg.ticks, r.seg.off
	if err := r.rotate(l, w, s.packed); err != nil {
		return w, err
	}
	l.keeper.kept, l.keeper.lowest, l.keeper.first = r.kept, r.lowest, r.first
	if r.base != nil { // if segment 0 is there again, the promise is older than that
		l.keeper.first = max(r.first, r.base.first)
	}
	for _, index := range r.unpacked {
		l.keeper.pack(index)
	}
	return w, nil
}

// replaceLast replaces the segment to which another writer may still write by a copy of what was read of it.
func (r *recovery) replaceLast(s segmentFile) (err error) {
	if s.packed {
		return nil
	}
	src, err := openSegment(r.fs, r.dir, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.close()) }()
	return writeNew(r.fs, r.dir, s.name(), func(f io.Writer) error {
		sum := sha256.New()
		_, err := io.CopyN(io.MultiWriter(f, sum), src, r.seg.off)
		if err == nil && [32]byte(sum.Sum(nil)) != r.seg.chain() {
			err = fmt.Errorf("%s has changed while it was read: %w", s.name(), ErrCorrupt)
		}
		return err
	})
}

// rotate ends the last segment if it is full, or packed.
func (r *recovery) rotate(l *Log, w *writer, packed bool) error {
	if packed {
		next := l.nextSegment(r.seg.next)
		next.id.Parent = r.seg.chain()
		w.next = &next
		return nil
	}
	if r.seg.ticks > 0 {
		l.rotate()
	}
	if len(l.ends) == 0 {
		return nil
	}
	m := l.ends[0]
	l.ends = l.ends[:0]
	return w.closeSegment(&m)
}
