package profile

import (
	"math"

	"github.com/evertick/evertick/loop"
)

// schedule says when steps were due, by the clock of the Recorder.
type schedule struct {
	// The grid of Config.RateHz.
	rate  float64 // 0: none
	first int64   // its origin
	n     int64   // steps since
	begun bool

	// The schedule of a loop.
	driven float64 // its rate, once it has run a step
	framed bool
	wall   uint64 // Due.WallNs of the frame that runs
	frame  int64  // when it began
}

func (s *schedule) reset() { s.begun, s.n, s.driven, s.framed = false, 0, 0, false }

// rateHz returns the rate of the schedule that the steps followed; 0: of none.
func (s *schedule) rateHz() float64 {
	if s.driven > 0 {
		return s.driven
	}
	return s.rate
}

// due returns when a step that begins now was due: as the loop says if it runs the step, by
// the grid if nobody does.
//
// A loop knows how long before its frame a step was due, and the frame is taken to begin
// with the first of its steps. So a host that is late to call Advance is not seen to be so
// if it also tells of less time than has passed; one that tells of all is.
func (s *schedule) due(l *loop.Loop, now int64, counts bool) int64 {
	d, ok := l.Due()
	if !ok {
		return s.onGrid(now, counts)
	}
	if !s.framed || d.WallNs != s.wall {
		s.framed, s.wall, s.frame = true, d.WallNs, now
	}
	if s.driven == 0 {
		num, den := l.Rate()
		s.driven = float64(num) / float64(den)
	}
	if d.AgoNs == math.MaxInt64 {
		return now // nobody waits for 292 years
	}
	return s.frame - d.AgoNs
}

// onGrid returns when a step that begins now was due: it is the first one that counts, or
// as many periods behind that as there were steps. Due times are computed from the first,
// so that no rounding adds up.
//
// A host that does not wait for its steps runs ahead of any schedule, and says nothing by
// that of how late it would have been. It is taken to have waited, and its schedule to be
// earlier by as much, so that lateness goes by late' = max(0, late + start' - start - period):
// the waiting time of a queue with steady arrivals (D. V. Lindley, 1952).
func (s *schedule) onGrid(now int64, counts bool) int64 {
	if s.rate == 0 || !counts {
		return now
	}
	if !s.begun {
		s.begun, s.first, s.n = true, now, 0
	}
	due := s.first + int64(math.Round(float64(s.n)*1e9/s.rate))
	s.n++
	if now < due {
		s.first -= due - now
		return now
	}
	return due
}
