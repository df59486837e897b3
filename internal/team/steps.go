package team

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/internal/pace"
)

// MaxParts is the largest number of parts of Steps.
const MaxParts = 32

// Steps runs parts of a computation through the same steps. A part does one step after the other, and begins a step when the parts that are
// linked with it have done all steps before it. So neighbours wait for each other, but nobody waits for all. A worker goes through all steps of
// one part, so that the data of the part stay in its cache. Only where the worker of another part is late does it do steps of that one.
//
// The zero Steps is ready for use. It must not be copied.
type Steps struct {
	// The owner sets these before RunSteps: for each part the set of parts that it is linked with, both ways, and what a step does.
	Linked [MaxParts]uint64
	Do     func(part, step int)

	parts   int
	end     uint32 // of the steps, as in place.at
	places  [MaxParts]place
	aborted atomic.Bool // a step panicked
	drive   func(worker, lo, hi int)
}

// place is where a part is.
type place struct {
	at     atomic.Uint32 // twice the number of steps that are done, and 1 if a worker is at the next one
	driven atomic.Bool   // a worker goes through all its steps
	_      [120]byte     // so that no part shares a cache line, or a pair of lines, with another one
}

// RunSteps runs so many parts through so many steps, on all workers. Only the leader calls it.
func (t *Team) RunSteps(s *Steps, parts, steps int) {
	if s.drive == nil {
		s.drive = func(_, lo, hi int) {
			for part := lo; part < hi; part++ {
				s.finish(part)
			}
		}
	}
	s.parts, s.end = parts, uint32(2*steps)
	s.aborted.Store(false)
	for i := range parts {
		s.places[i].at.Store(0)
		s.places[i].driven.Store(false)
	}
	t.For(0, parts, 1, s.drive)
}

// A worker looks so many times whether its part can go on before it does steps of another part, whose worker may not have its CPU. After
// pollTime it sleeps for so long, again and again, so that the other can have its own.
const (
	patience = 1 << 10
	nap      = pollTime / 2
)

// finish returns when all steps of a part are done.
func (s *Steps) finish(part int) {
	p := &s.places[part]
	p.driven.Store(true)
	var since time.Duration
	for looks := 1; p.at.Load() < s.end && !s.aborted.Load(); looks++ {
		if s.try(part) {
			looks = 0
			continue
		}
		for other := range s.parts {
			if (looks%patience == 0 || !s.places[other].driven.Load()) && s.try(other) {
				break
			}
		}
		switch {
		case looks%patience != 0:
		case looks == patience:
			since = pace.Now()
		case pace.Now()-since > pollTime:
			pace.Sleep(nap)
		}
	}
}

// try does the next step of a part, if it can begin and no worker is at it.
func (s *Steps) try(part int) bool {
	p := &s.places[part]
	at := p.at.Load()
	if at&1 != 0 || at == s.end {
		return false
	}
	for set := s.Linked[part]; set != 0; set &= set - 1 {
		if s.places[bits.TrailingZeros64(set)&(MaxParts-1)].at.Load() < at {
			return false
		}
	}
	if !p.at.CompareAndSwap(at, at+1) {
		return false
	}
	panicked := true
	defer func() {
		if panicked {
			s.aborted.Store(true)
		}
	}()
	s.Do(part, int(at/2))
	panicked = false
	p.at.Store(at + 2)
	return true
}
