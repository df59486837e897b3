package jetstream

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// summer reads a local log tick by tick, and computes the rolling checksum.
type summer struct {
	reader  *worldlog.Reader
	sums    *sums
	next    uint64 // tick
	sum     sum    // before it
	encoded []byte // the tick that was read last
	count   uint64 // ticks that were read
	away    bool   // the reader is not before tick next: read seeks it first

	// marks are rolling checksums to go back to, in the order of ticks: the first tick of the log, and then some that are at
	// least apart ticks from each other.
	marks []mark
	apart uint64
}

// mark is the rolling checksum before a tick.
type mark struct {
	next uint64
	sum  sum
}

// maxMarks bounds the marks of a summer, which take 160 KB. When there are as many, every other one is dropped, so that of n
// ticks that were read no two are more than n/1024 apart.
const maxMarks = 4096

// newSummer opens the log in dir at its first tick.
func newSummer(dir string, s *sums) (*summer, error) {
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		return nil, err
	}
	begin := markOfStart(r, s)
	return &summer{reader: r, sums: s, next: begin.next, sum: begin.sum, marks: []mark{begin}, apart: 1}, nil
}

func markOfStart(r *worldlog.Reader, s *sums) mark {
	id := r.Identity()
	return mark{id.FirstTick, s.start(&id)}
}

// summerAt opens the log in dir at a tick before which the rolling checksum is known.
func summerAt(dir string, s *sums, next uint64, at sum) (*summer, error) {
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		return nil, err
	}
	if err := r.Seek(next); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	in := &summer{reader: r, sums: s, next: next, sum: at, marks: []mark{markOfStart(r, s)}, apart: 1}
	in.note()
	return in, nil
}

// note makes a mark of where the log is read, if it is far enough from the last one.
func (s *summer) note() {
	if s.next < s.marks[len(s.marks)-1].next+s.apart {
		return
	}
	s.marks = append(s.marks, mark{s.next, s.sum})
	if len(s.marks) < maxMarks {
		return
	}
	for i := range len(s.marks) / 2 {
		s.marks[i] = s.marks[2*i]
	}
	s.marks = s.marks[:len(s.marks)/2]
	s.apart *= 2
}

// seek goes to a tick, before which the rolling checksum is then known, from the nearest mark. A log that ends before is no error:
// see s.next.
func (s *summer) seek(tick uint64) error {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].next > tick }) - 1
	if i < 0 {
		return fault.Field(ErrCorrupt, "jetstream: tick before the first one of the log", tick)
	}
	if from := s.marks[i]; tick < s.next || s.next < from.next {
		s.next, s.sum, s.away = from.next, from.sum, true
	}
	if err := s.until(tick); err != nil || s.next == tick {
		return err
	}
	if err := s.refresh(); err != nil { // its end may have moved on
		return err
	}
	return s.until(tick)
}

// readError says that the local log cannot be read. It may be possible later, so it does not end a Shipper.
type readError struct{ error }

func (e *readError) Unwrap() error { return e.error }

func isReadError(err error) bool {
	var e *readError
	return errors.As(err, &e)
}

// refresh makes read go on at the end of a log that has grown.
func (s *summer) refresh() error {
	if err := s.reader.Refresh(); err != nil {
		return &readError{err}
	}
	return nil
}

// read reads the next tick. An error is that for the end of a log, see isEnd, or a *readError; then another call tries again.
func (s *summer) read() (t *worldlog.Tick, err error) {
	if s.away {
		err = s.reader.Seek(s.next)
	}
	if err == nil {
		t, err = s.reader.Next()
	}
	if isEnd(err) {
		s.away = false
		return nil, err
	}
	if err == nil && t.Tick != s.next {
		err = fmt.Errorf("%w, where %d comes next", fault.Field(ErrCorrupt, "jetstream: tick in the log", t.Tick), s.next)
	}
	if s.away = err != nil; err != nil {
		return nil, &readError{err}
	}
	s.encoded = appendTick(s.encoded[:0], t)
	s.sum = s.sums.tick(s.sum, t.Tick, s.encoded)
	s.next = t.Tick + 1
	s.count++
	s.note()
	return t, nil
}

// until reads the ticks before next. A log that ends before is no error: see s.next.
func (s *summer) until(next uint64) error {
	for s.next < next {
		if _, err := s.read(); err != nil {
			if isEnd(err) {
				return nil
			}
			return err
		}
	}
	return nil
}

// isEnd reports whether a log ends for now.
func isEnd(err error) bool { return err == io.EOF || errors.Is(err, worldlog.ErrTorn) }
