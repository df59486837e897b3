package inspector

import (
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/evertick/evertick/worldlog"
)

// contents is what a log holds, as far as it has been read.
type contents struct {
	id       worldlog.Identity
	hasID    bool
	first    uint64 // the tick of the first state
	ticks    uint64 // whole ones
	marks    []mark
	saved    []uint64 // ticks of the snapshots beside the log
	complete bool     // ticks are all that there are
	err      error    // why the log ends before its end
}

// mark is a note in the log. Its tick is the number of the state before the tick that has the note.
type mark struct {
	Tick uint64 `json:"tick"`
	Text string `json:"text"`
}

const (
	maxMarks    = 4096 // the first ones are shown
	maxMarkText = 256  // bytes
)

// last returns the last tick that a Player can reach.
func (c *contents) last() uint64 { return c.first + c.ticks }

// logScan reads a log for its contents, and goes on as the log grows. It is for one goroutine; what it has put into
// contents does not change, so that others may read a copy.
type logScan struct {
	contents
	dir         string
	fs          worldlog.FS
	reader      *worldlog.Reader
	ended       error  // what the reader has ended with
	ticksBefore uint64 // ticks at the last refresh
	refreshed   bool   // there was one
}

// readOn reads for about the given time.
func (s *logScan) readOn(d time.Duration) {
	if s.reader == nil {
		r, err := worldlog.OpenReader(s.dir, s.fs)
		if err != nil {
			s.complete, s.err = true, err
			return
		}
		s.reader, s.err = r, nil
		s.id, s.hasID, s.first = r.Identity(), true, r.Identity().FirstTick
	}
	const ticksBetweenClocks = 64
	for start := time.Now(); time.Since(start) < d && !s.complete; {
		for range ticksBetweenClocks {
			t, err := s.reader.Next()
			if err != nil {
				s.end(err)
				return
			}
			s.add(t)
		}
	}
}

func (s *logScan) add(t *worldlog.Tick) {
	if s.ticks == 0 { // later than the run begins, if ticks were archived or dropped
		s.first = t.Tick
	}
	s.ticks++
	for i := range t.Records {
		if r := &t.Records[i]; r.Type == worldlog.Marker && len(s.marks) < maxMarks {
			s.marks = append(s.marks, mark{t.Tick, string(r.Data[:min(len(r.Data), maxMarkText)])})
		}
	}
}

// end is called at the end of what can be read.
func (s *logScan) end(err error) {
	s.complete, s.ended, s.err = true, err, nil
	if err != io.EOF {
		s.err = err
	}
	if s.refreshed && !s.grown() {
		return
	}
	list, err := worldlog.Snapshots(s.dir, s.fs)
	s.err = cmp.Or(s.err, err)
	s.saved = nil
	for i := range list {
		if tick := list[i].Tick + 1; tick <= s.last() {
			s.saved = append(s.saved, tick)
		}
	}
}

// refresh makes readOn go on with what has been written since.
func (s *logScan) refresh() {
	if !s.complete {
		return
	}
	if s.reader == nil {
		s.complete = false
		return
	}
	s.ticksBefore, s.refreshed = s.ticks, true
	if err := s.reader.Refresh(); err != nil {
		s.err = err
		return
	}
	if s.complete = s.ended != io.EOF && !errors.Is(s.ended, worldlog.ErrTorn); s.complete {
		s.err = s.ended
	}
}

// grown reports whether the log has grown since the last refresh.
func (s *logScan) grown() bool { return s.complete && s.refreshed && s.ticks > s.ticksBefore }

func (s *logScan) close() {
	if s.reader != nil {
		_ = s.reader.Close() // was only read
	}
}
