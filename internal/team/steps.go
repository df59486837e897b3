package team

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/pace"
)

// MaxParts is the largest number of parts of Steps.
const MaxParts = 32

// Steps runs parts of a computation through the same steps. A part begins a step when the parts that are linked with it have done all that
// concerns it of the steps before. So neighbours wait for each other, but nobody waits for all. A worker goes through all steps of
// one part, so that the data of the part stay in its cache. Only where the worker of another part is late does it do steps of that one.
//
// The zero Steps is ready for use. It must not be copied.
type Steps struct {
	// The owner sets these before RunSteps: for each part the set of parts that it is linked with, both ways; what a step does, or the rest of it
	// after its border; and what the border of a step does.
	Linked [MaxParts]uint64
	Do     func(part, step int)
	Border func(part, step int)

	// Borders says how much of a step concerns linked parts, by step, then by part. Empty: everything. A step that concerns them as a whole is so
	// for all parts.
	Borders []Border

	parts   int
	end     uint32 // of the steps, as in place.at
	last    []uint32
	places  [MaxParts]place
	aborted atomic.Bool // a step panicked
	drive   func(worker, lo, hi int)
}

// Border says how much of a step of a part concerns the parts that are linked with it.
type Border uint8

// A step that concerns them as a whole begins when they have done all before it, and they do nothing after it until it is done. Of one with a
// border only the border waits for their borders before it. One without waits only for steps as a whole.
const (
	WholeStep Border = iota
	SomeBorder
	NoBorder
)

// place is where a part is.
type place struct {
	at     atomic.Uint32 // perStep times the number of steps that are done, and what is done of the next one
	driven atomic.Bool   // a worker goes through all its steps
	_      [120]byte     // so that no part shares a cache line, or a pair of lines, with another one
}

// What is done of a step.
const (
	atBorder   = 1 + iota // a worker is at it, or at a step that is not in two
	borderDone            // and a worker is at the rest
	perStep
)

// RunSteps runs so many parts through so many steps, on all workers. Only the leader calls it.
func (t *Team) RunSteps(s *Steps, parts, steps int) {
	if s.drive == nil {
		s.drive = func(_, lo, hi int) {
			for part := lo; part < hi; part++ {
				s.finish(part)
			}
		}
	}
	s.parts, s.end = parts, uint32(perStep*steps)
	s.aborted.Store(false)
	for i := range parts {
		s.places[i].at.Store(0)
		s.places[i].driven.Store(false)
	}
	s.findLast(steps)
	if t.Record != nil && t.RecordStep != nil {
		t.recordSteps(s, parts, steps)
		return
	}
	t.For(0, parts, 1, s.drive)
}

// recordSteps does all steps of all parts alone. It goes on with a part as long as a worker of its own could, so that the data of the part are in the cache as
// they would be there.
func (t *Team) recordSteps(s *Steps, parts, steps int) {
	t.RecordStep(s, parts, steps, -1, 0, false)
	for goesOn := true; goesOn; {
		goesOn = false
		for part := range parts {
			at := &s.places[part].at
			for now := at.Load(); now < s.end && s.ready(part, now); now = at.Load() {
				goesOn = true
				step := int(now / perStep)
				if s.borderOf(part, step) == SomeBorder {
					s.Border(part, step)
					at.Store(now + borderDone)
					t.RecordStep(s, parts, steps, part, step, true)
				}
				s.Do(part, step)
				at.Store(now + perStep)
				t.RecordStep(s, parts, steps, part, step, false)
			}
		}
	}
}

// findLast finds for each step and part up to where the part must be when the border of that step begins in a linked part, and after these
// where all must be before a step without a border.
func (s *Steps) findLast(steps int) {
	row := s.parts + 1
	s.last = buffer.Resized(s.last, steps*row)
	if len(s.Borders) == 0 {
		return
	}
	for step := range steps {
		now := s.last[step*row:][:row]
		if step == 0 {
			clear(now)
			continue
		}
		before := s.last[(step-1)*row:][:row]
		for part, border := range s.Borders[(step-1)*s.parts:][:s.parts] {
			now[part] = before[part]
			switch border {
			case SomeBorder:
				now[part] = uint32(perStep*(step-1) + borderDone)
			case WholeStep:
				now[part] = uint32(perStep * step)
			}
		}
		now[s.parts] = before[s.parts]
		if s.Borders[(step-1)*s.parts] == WholeStep {
			now[s.parts] = uint32(perStep * step)
		}
	}
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
		if random, shuffled := draw(); shuffled {
			s.advance(int(random%uint64(s.parts)), random>>32&1 != 0)
			continue
		}
		if s.advance(part, true) {
			looks = 0
			continue
		}
		for other := range s.parts {
			if (looks%patience == 0 || !s.places[other].driven.Load()) && s.advance(other, false) {
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

// advance does the next steps of a part, or only one if the worker does not drive it, as long as they can begin, unless another worker is at it. It
// reports whether there was anything to do.
func (s *Steps) advance(part int, drives bool) bool {
	p := &s.places[part]
	at := p.at.Load()
	if at == s.end || at%perStep != 0 || !s.ready(part, at) || !p.at.CompareAndSwap(at, at+atBorder) {
		return false
	}
	panicked := true
	defer func() {
		if panicked {
			s.aborted.Store(true)
		}
	}()
	for {
		step := int(at / perStep)
		if s.borderOf(part, step) == SomeBorder {
			s.Border(part, step)
			p.at.Store(at + borderDone)
		}
		s.Do(part, step)
		if at += perStep; at == s.end || !drives || s.aborted.Load() || !s.ready(part, at) {
			break
		}
		p.at.Store(at + atBorder) // in one go, since others look there
	}
	panicked = false
	p.at.Store(at)
	return true
}

func (s *Steps) borderOf(part, step int) Border {
	if len(s.Borders) == 0 {
		return WholeStep
	}
	return s.Borders[step*s.parts+part]
}

// ready reports whether a part can begin a step, or its border.
func (s *Steps) ready(part int, at uint32) bool {
	step := int(at / perStep)
	border := s.borderOf(part, step)
	last := s.last[step*(s.parts+1):][:s.parts+1]
	for set := s.Linked[part] &^ (1 << part); set != 0; set &= set - 1 {
		other := bits.TrailingZeros64(set) & (MaxParts - 1)
		need := at
		switch border {
		case SomeBorder:
			need = last[other]
		case NoBorder:
			need = last[s.parts]
		}
		if s.places[other].at.Load() < need {
			return false
		}
	}
	return true
}
