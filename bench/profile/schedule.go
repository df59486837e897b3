package profile

import (
	"math"

	"github.com/evertick/evertick/loop"
)

// schedule computes when steps were due, by the clock of the Recorder.
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

// due returns when a step that begins now was due: by the loop that runs it, or else by the grid.
//
// A loop reports how long before its frame a step was due, and the frame begins with the first of
// its steps. A host that calls Advance late appears late if it passes all the time that has
// elapsed, and does not if it passes less.
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
		return now // 292 years: no schedule
	}
	return s.frame - d.AgoNs
}

// onGrid returns when a step that begins now was due: the first step that counts is on time, each
// later one a period after the one before. Due times are computed from the first, so that rounding
// errors do not add up.
// A host that does not wait runs ahead of any schedule, which would hide how late it would have
// been. It is treated as if it had waited: its schedule moves earlier by the time that it did not
// wait, so that late' = max(0, late + start' - start - period): the waiting time of a queue with
// steady arrivals (D. V. Lindley, 1952).
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
