package worldlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
)

// Reader reads a log tick by tick, and checks all that it reads: checksums, the order of ticks, and
// that each segment continues the one before. It is for one goroutine. It can read a log that is
// being written and packed, up to the last whole tick, and beyond it after Refresh.
//
// Damage is an error where it is met: the ticks before a missing or damaged segment are read, and Seek
// finds the ticks of the whole segments after it.
type Reader struct {
	fs    FS
	dir   string
	id    Identity
	first uint64 // the segment that the log begins with
	known uint64 // so many segments are there, or were: they were listed or found
	at    uint64 // the segment that is being read, or comes next
	file  segmentFile
	src   *source // of file; nil: none is open
	seg   *segmentReader
	prev  *segmentLink // the segment before at, if it was read whole
	mark  uint64       // tick+1 up to which the log was durable when the reader was opened
	from  uint64       // no tick below it is returned
	tick  Tick
	fault place // where damage was met last
	err   error // what Next ended with
}

// place is an offset in a segment.
type place struct {
	at     uint64
	offset int64
}

// OpenReader opens the log in dir at its first tick, or, if those before were archived or dropped, at the first one
// that is there. fsys may be nil: OS. Errors
// wrap fs.ErrNotExist (no log), ErrCorrupt, ErrUnsupported, or are those of the
// file system.
func OpenReader(dir string, fsys FS) (*Reader, error) {
	fsys = cmp.Or(fsys, OS)
	dir = fixed(fsys, dir)
	mark, err := readMark(fsys, dir) // first: the segments may belong to a log that is being written
	if err != nil {
		return nil, err
	}
	r := &Reader{fs: fsys, dir: dir, mark: mark.ticks, seg: newSegmentReader(nil, "")}
	err = r.begin()
	for tried := r.first; err != nil; tried = r.first { // segments may be dropped meanwhile
		if err = r.begin(); r.first == tried {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// begin opens the first segment.
func (r *Reader) begin() error {
	l, err := listDir(r.fs, r.dir)
	if err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	if k := len(l.segments); k > 0 {
		r.known = l.segments[k-1].index + 1
	}
	if r.first, r.id, err = l.begin(r.fs, r.dir); err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	if err := r.openAt(r.first); err != nil {
		return err
	}
	r.known = max(r.known, r.first+1)
	if r.first == 0 {
		r.id = r.seg.head.id
	} else if !r.seg.isOf(&r.id) {
		return r.seg.outOfPlace("it is not of the run of the newest snapshot")
	}
	return nil
}

// Identity returns what the log was created with.
func (r *Reader) Identity() Identity { return r.id }

// openAt goes to the beginning of a segment.
func (r *Reader) openAt(at uint64) error {
	if err := r.Close(); err != nil {
		return err
	}
	src, file, err := openSegmentAt(r.fs, r.dir, at)
	if errors.Is(err, fs.ErrNotExist) {
		return r.missing(at)
	}
	if err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	r.at, r.file, r.src = at, file, src
	r.seg.reset(src, file.name())
	if err := r.seg.readHeader(); err != nil {
		if r.last() && errors.Is(err, errShort) && at > 0 {
			if r.prev != nil && r.prev.next < r.mark {
				return lostError(r.dir, r.prev.next, r.mark)
			}
			return &CorruptError{File: r.seg.name, Torn: true, Reason: errShort.Error()}
		}
		return err
	}
	return r.seg.follows(r.prev, at)
}

// missing is the error for a segment that does not exist.
func (r *Reader) missing(at uint64) error {
	if r.known == 0 {
		return noLogError(r.dir, r.mark)
	}
	if l, err := listDir(r.fs, r.dir); err == nil {
		if first, _, err := l.begin(r.fs, r.dir); err == nil && at < first {
			return fmt.Errorf("worldlog: %s was archived or dropped, the log begins with %s: %w", segmentName(at), segmentName(first), fs.ErrNotExist)
		}
	}
	return fmt.Errorf("worldlog: %s is missing, of %d segments: %w", segmentName(at), r.known, ErrCorrupt)
}

func (r *Reader) last() bool { return r.at+1 == r.known }

// hasNext reports whether there is a segment after the last known one, which is known then.
func (r *Reader) hasNext() (bool, error) {
	_, found, err := hasSegment(r.fs, r.dir, r.known)
	if err != nil {
		return false, fmt.Errorf("worldlog: %w", err)
	}
	if found {
		r.known++
	}
	return found, nil
}

// Next returns the next tick, which stays valid until the call after. The error
// is io.EOF at the end of a log that ends with a whole tick; a *CorruptError
// that wraps ErrTorn where it ends within one, and ErrCorrupt where it is
// damaged; or one of the file system. It is the same at every later call.
func (r *Reader) Next() (*Tick, error) {
	for r.err == nil {
		if r.err = r.advance(); r.err == nil && r.tick.Tick >= r.from {
			r.from = r.tick.Tick + 1
			return &r.tick, nil
		}
	}
	return nil, r.err
}

// advance reads one tick, from the next segment if it must.
func (r *Reader) advance() error {
	for {
		err := r.seg.readTick(&r.tick)
		if err == nil {
			return nil
		}
		if err != io.EOF {
			if err = r.classify(err); err != nil {
				return err
			}
			continue
		}
		if r.last() {
			more, err := r.hasNext()
			if err != nil {
				return err
			}
			if !more {
				return r.atEnd()
			}
			continue // ticks may have come before the next segment began
		}
		r.prev = r.seg.link()
		if err := r.openAt(r.at + 1); err != nil {
			return err
		}
	}
}

// atEnd is the error at the end of the log.
func (r *Reader) atEnd() error {
	if r.seg.next < r.mark {
		return lostError(r.dir, r.seg.next, r.mark)
	}
	return io.EOF
}

// classify decides whether a faulty tick is one that a crash left. What counts as damage is looked at
// twice, from the beginning of the segment: nil lets advance do so. After a crash another writer may have cut a torn
// end off and written there, so that the reader has the beginning of one tick and the end of another.
func (r *Reader) classify(err error) error {
	var e *CorruptError
	if !errors.As(err, &e) {
		return err
	}
	err = errors.Join(classifyFault(r.fs, r.dir, r.file, r.last(), r.seg, r.mark, e), e)
	if fault := (place{r.at, e.Offset}); !e.Torn && r.fault != fault {
		r.fault = fault
		return r.openAt(r.at)
	}
	return err
}

// classifyFault sets in e whether a crash can have left the first tick of a segment that is not
// whole. It can if that tick is at the end of a log, nothing calls it durable, and nothing whole
// follows it.
func classifyFault(fsys FS, dir string, file segmentFile, last bool, s *segmentReader, mark uint64, e *CorruptError) error {
	e.Torn = false
	if !last || file.packed {
		return nil
	}
	if s.next < mark {
		e.Reason += fmt.Sprintf("; %s says that tick %s was on disk", markName, tickText(mark))
		return nil
	}
	known := tailScan{next: s.next, crc: s.gotCRC, fault: e.Offset, off: s.off}
	if s.ended { // the file itself may have grown since, if the log is being written
		e.Torn = !known.scanBuffer(s.raw, known.firstHole(s.raw))
		return nil
	}
	src, err := openSegment(fsys, dir, file)
	if err != nil {
		return err
	}
	var found bool
	if _, err = io.CopyN(io.Discard, src, s.off); err == nil {
		found, err = known.scan(src)
	}
	e.Torn = !found && err == nil
	return errors.Join(err, src.close())
}

// Seek makes Next return the first tick that is not below tick. Segments before
// it are not read, so that their content and the chain up to it are not checked. A tick that may be in a missing or
// damaged segment is an error of Next, after those before that segment.
func (r *Reader) Seek(tick uint64) error {
	r.from, r.prev = tick, nil
	r.err = r.seek(tick)
	return r.err
}

// seek goes to the last segment that begins with tick or one below it, of those whose headers can be read.
func (r *Reader) seek(tick uint64) error {
	for more := true; more; {
		var err error
		if more, err = r.hasNext(); err != nil {
			return err
		}
	}
	low, high := r.first, r.known-1 // it is one of these
	for low < high {
		mid := low + (high-low+1)/2
		at, err := r.openFrom(mid, high)
		if err != nil {
			return err
		}
		if at <= high && r.seg.head.first <= tick {
			low = at
		} else {
			high = mid - 1
		}
	}
	return r.openAt(low)
}

// openFrom opens the first segment from at to last whose header can be read, and returns its number; last+1: there
// is none.
func (r *Reader) openFrom(at, last uint64) (uint64, error) {
	for ; at <= last; at++ {
		err := r.openAt(at)
		if err == nil {
			break
		}
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
			return 0, err
		}
	}
	return at, nil
}

// SeekAfter makes Next return the tick after a snapshot beside the log. The log must have the tick of the snapshot
// with its hash, or the error wraps ErrCorrupt. Where the snapshot is a checkpoint, see the package comment, only the end of that
// tick is read; otherwise the segment up to there.
func (r *Reader) SeekAfter(s *Snapshot) error {
	err := errElsewhere
	if s.at.offset > 0 {
		r.prev = nil
		if err = r.openAt(s.at.segment); err == nil {
			r.known = max(r.known, r.at+1)
			err = r.seg.resume(r.src, s)
		}
	}
	if err == nil {
		r.from, r.err = s.Tick+1, nil
		return nil
	}
	if err := r.Seek(s.Tick); err != nil {
		return err
	}
	t, err := r.Next()
	if err == io.EOF || err == nil && (t.Tick != s.Tick || t.Hash != s.Hash) {
		err = fmt.Errorf("worldlog: snapshot of tick %d with hash %x, which the log does not have: %w", s.Tick, s.Hash, ErrCorrupt)
	}
	return err
}

// Refresh makes Next go on where it ended with io.EOF or ErrTorn: with the ticks that have been written
// since, in new segments too. It reads only what is new, and a torn tick again if that has changed. Where nothing is
// new, and after any other error, Next returns what it returned before. Errors are those of OpenReader. It does not list
// the directory, so its cost does not depend on the length of the log. A segment that is removed before it is read is
// found by a reader that is opened later, or once the mark calls its ticks durable.
func (r *Reader) Refresh() error {
	if r.err != io.EOF && !errors.Is(r.err, ErrTorn) {
		return nil
	}
	mark, err := readMark(r.fs, r.dir) // first, as in OpenReader
	if err != nil {
		return err
	}
	replaced, err := r.replaced()
	if err != nil {
		return err
	}
	if r.err == io.EOF && !replaced {
		r.mark, r.err = mark.ticks, nil
		return nil
	}
	if !replaced {
		changed, err := r.tornEndChanged()
		if err != nil || !changed && mark.ticks == r.mark {
			return err
		}
		if again, err := r.seg.again(r.src); again || err != nil {
			if err == nil {
				r.mark, r.err = mark.ticks, nil
			}
			return err
		}
	}
	ended := r.err
	r.mark = mark.ticks
	if err := r.Seek(r.from); err != nil {
		r.err = ended // so that a later call tries again
		return err
	}
	return nil
}

// replaced reports whether the segment that was read last is another file by now. That it was packed does not count:
// the file that is open is whole then.
func (r *Reader) replaced() (bool, error) {
	if r.src == nil {
		return true, nil
	}
	has, err := hasName(r.src.file, join(r.dir, r.file.name()))
	if err != nil {
		return false, fmt.Errorf("worldlog: %w", err)
	}
	if has {
		return false, nil
	}
	s, found, err := hasSegment(r.fs, r.dir, r.at)
	if err != nil {
		return false, fmt.Errorf("worldlog: %w", err)
	}
	if found {
		return s.packed == r.file.packed, nil
	}
	l, err := listDir(r.fs, r.dir)
	switch {
	case err != nil:
		return false, fmt.Errorf("worldlog: %w", err)
	case len(l.segments) == 0:
		return false, noLogError(r.dir, r.mark)
	}
	return false, r.missing(r.at)
}

// tornEndChanged reports whether a segment that ended within a tick may have more ticks by now: the torn end may have
// been completed, or cut off.
func (r *Reader) tornEndChanged() (bool, error) {
	if !r.seg.ended {
		return true, nil
	}
	size, err := r.src.file.Size()
	if err != nil {
		return false, fmt.Errorf("worldlog: %w", err)
	}
	if size != r.seg.off+int64(len(r.seg.raw)) {
		return true, nil
	}
	return r.hasNext()
}

// Chain returns the chain hash up to the tick that Next returned last, as the
// header of a next segment would hold it. It covers all the log up to there.
func (r *Reader) Chain() [32]byte { return r.seg.chain() }

// Ticks ranges over the ticks from the given one on. After an error, which comes
// with a nil tick, it ends; the end of the log is no error.
func (r *Reader) Ticks(from uint64) iter.Seq2[*Tick, error] {
	return func(yield func(*Tick, error) bool) {
		if err := r.Seek(from); err != nil {
			yield(nil, err)
			return
		}
		for {
			t, err := r.Next()
			if err == io.EOF || !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// Close closes the open file; Seek opens one again.
func (r *Reader) Close() error {
	if r.src == nil {
		return nil
	}
	err := r.src.close()
	r.src = nil
	return err
}
