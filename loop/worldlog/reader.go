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
// being written, up to the last whole tick of the segments that were there when the reader was
// opened, and beyond it after Refresh.
type Reader struct {
	fs    FS
	dir   string
	id    Identity
	files []segmentFile
	at    int     // files[at] is being read, or comes next
	src   *source // nil: files[at] is not open
	seg   *segmentReader
	prev  *segmentLink // the segment before files[at], if it was read whole
	mark  uint64       // tick+1 up to which the log was durable when the reader was opened
	from  uint64       // no tick below it is returned
	tick  Tick
	err   error // what Next ended with
}

// OpenReader opens the log in dir at its first tick. fsys may be nil: OS. Errors
// wrap fs.ErrNotExist (no log), ErrCorrupt, ErrUnsupported, or are those of the
// file system.
func OpenReader(dir string, fsys FS) (*Reader, error) {
	fsys = cmp.Or(fsys, OS)
	mark, err := readMark(fsys, dir) // first: the segments may be those of a log that is being written
	if err != nil {
		return nil, err
	}
	l, err := listDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("worldlog: %w", err)
	}
	if len(l.segments) == 0 {
		return nil, noLogError(dir, mark.ticks)
	}
	if err := l.gap(); err != nil {
		return nil, err
	}
	r := &Reader{fs: fsys, dir: dir, files: l.segments, mark: mark.ticks, seg: newSegmentReader(nil, "")}
	if err := r.openAt(0); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.id = r.seg.head.id
	return r, nil
}

// Identity returns what the log was created with.
func (r *Reader) Identity() Identity { return r.id }

// openAt goes to the beginning of files[at].
func (r *Reader) openAt(at int) error {
	if err := r.Close(); err != nil {
		return err
	}
	src, err := openSegment(r.fs, r.dir, r.files[at])
	if errors.Is(err, fs.ErrNotExist) && !r.files[at].packed { // it was packed meanwhile
		r.files[at].packed = true
		src, err = openSegment(r.fs, r.dir, r.files[at])
	}
	if err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	r.at, r.src = at, src
	r.seg.reset(src, r.files[at].name())
	if err := r.seg.readHeader(); err != nil {
		if r.last() && errors.Is(err, errShort) && at > 0 {
			if r.prev != nil && r.prev.next < r.mark {
				return lostError(r.dir, r.prev.next, r.mark)
			}
			return &CorruptError{File: r.seg.name, Torn: true, Reason: errShort.Error()}
		}
		return err
	}
	return r.seg.follows(r.prev, r.files[at].index)
}

func (r *Reader) last() bool { return r.at == len(r.files)-1 }

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
			return r.classify(err)
		}
		if r.last() {
			return r.atEnd()
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

// classify decides whether a faulty tick is one that a crash left.
func (r *Reader) classify(err error) error {
	var e *CorruptError
	if !errors.As(err, &e) {
		return err
	}
	return errors.Join(classifyFault(r.fs, r.dir, r.files[r.at], r.last(), r.seg, r.mark, e), e)
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
// it are not read, so that their content and the chain up to it are not checked.
func (r *Reader) Seek(tick uint64) error {
	low, high := 0, len(r.files)-1 // the tick is in one of these
	for low < high {
		mid := (low + high + 1) / 2
		r.prev = nil
		err := r.openAt(mid)
		if err != nil && !errors.Is(err, ErrTorn) { // torn: a last segment of which not even the header is there
			return err
		}
		if err == nil && r.seg.head.first <= tick {
			low = mid
		} else {
			high = mid - 1
		}
	}
	r.from, r.err, r.prev = tick, nil, nil
	return r.openAt(low)
}

// Refresh makes Next go on where it ended with io.EOF or ErrTorn: with the ticks that have been written
// since, in new segments too. It reads only what is new, and the last segment again if that was torn and has
// changed. Where nothing is new, and after any other error, Next returns what it returned before. Errors are
// those of OpenReader.
func (r *Reader) Refresh() error {
	if r.err != io.EOF && !errors.Is(r.err, ErrTorn) {
		return nil
	}
	mark, err := readMark(r.fs, r.dir) // first, as in OpenReader
	if err != nil {
		return err
	}
	l, err := listDir(r.fs, r.dir)
	if err != nil {
		return fmt.Errorf("worldlog: %w", err)
	}
	if err := l.gap(); err != nil {
		return err
	}
	if len(l.segments) == 0 {
		return noLogError(r.dir, mark.ticks)
	}
	if r.err != io.EOF {
		return r.refreshTorn(l.segments, mark.ticks)
	}
	if len(l.segments) < len(r.files) {
		return fmt.Errorf("worldlog: %s is missing: %w", segmentName(uint64(len(l.segments))), ErrCorrupt)
	}
	r.files, r.mark, r.err = l.segments, mark.ticks, nil
	return nil
}

// refreshTorn reads the last segment again: its torn end may have been completed, or cut off.
func (r *Reader) refreshTorn(files []segmentFile, mark uint64) error {
	if len(files) == len(r.files) && r.seg.ended && r.src != nil {
		size, err := r.src.file.Size()
		if err != nil {
			return fmt.Errorf("worldlog: %w", err)
		}
		if size == r.seg.off+int64(len(r.seg.raw)) {
			return nil
		}
	}
	torn := r.err
	r.files, r.mark = files, mark
	err := r.Seek(r.from)
	if err != nil {
		r.err = torn // so that a later call tries again
	}
	return err
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
