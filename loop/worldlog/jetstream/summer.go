package jetstream

import (
	"errors"
	"fmt"
	"io"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop/worldlog"
)

// summer reads a local log tick by tick, and computes the rolling checksum.
type summer struct {
	reader  *worldlog.Reader
	sums    *sums
	next    uint64 // tick
	sum     sum    // before it
	encoded []byte // the tick that was read last
}

// newSummer opens the log in dir at its first tick.
func newSummer(dir string, s *sums) (*summer, error) {
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		return nil, err
	}
	id := r.Identity()
	return &summer{reader: r, sums: s, next: id.FirstTick, sum: s.start(&id)}, nil
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
	return &summer{reader: r, sums: s, next: next, sum: at}, nil
}

// read reads the next tick. Errors are those of worldlog.Reader.Next.
func (s *summer) read() (*worldlog.Tick, error) {
	t, err := s.reader.Next()
	if err != nil {
		return nil, err
	}
	if t.Tick != s.next {
		return nil, fmt.Errorf("%w, where %d comes next", fault.Field(ErrCorrupt, "jetstream: tick in the log", t.Tick), s.next)
	}
	s.encoded = appendTick(s.encoded[:0], t)
	s.sum = s.sums.tick(s.sum, t.Tick, s.encoded)
	s.next = t.Tick + 1
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
