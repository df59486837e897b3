package replica

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

const (
	defaultAhead = 60
	mostAhead    = 1024
	// mostPending inputs of the client wait for the server to apply them.
	mostPending = 1024
	// lateTicks is how long after its tick an input may still be applied. Then it was lost, or refused.
	lateTicks = 240
)

// prediction runs a Sim ahead of a base with the inputs of the client that the base has not applied. It
// begins as a copy of the base. As long as the base reaches the hashes that sim had at the same
// ticks, sim is what a copy of the base would become, and goes on. Otherwise it begins anew with
// a copy. Ticks are those of the base; offset is what to add to get a tick of the server.
type prediction struct {
	base, sim *evertick.Sim // sim is nil if there is no prediction
	offset    uint64
	pending   []pendingInput // by (at, Seq). The Data belong to them.
	free      [][]byte       // Data of inputs that were dropped
	from      uint64         // tick of the copy: inputs for an earlier tick apply in it
	stale     bool           // sim must begin anew
	hashes    []uint64       // of sim after so many ticks, modulo the length
	rolled    uint64         // ticks that were run again
}

// pendingInput is an input of the client that the server has not applied.
type pendingInput struct {
	evertick.Input
	at uint64 // tick of the server in which it is to apply: Tick, or the next one if that is 0
}

// init takes over the inputs of sim, which may be nil. ahead is the most ticks between both.
func (p *prediction) init(base, sim *evertick.Sim, ahead int) {
	p.base, p.sim, p.stale = base, sim, true
	if sim != nil {
		p.hashes = make([]uint64, cmp.Or(ahead, defaultAhead)+1)
		sim.SetInputs(p.feed)
	}
}

// feed returns the pending inputs that apply in a tick.
func (p *prediction) feed(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
	for i := range p.pending {
		if p.due(&p.pending[i]) == tick {
			dst = append(dst, p.pending[i].Input)
		}
	}
	return dst, nil
}

// due returns the tick in which an input applies.
func (p *prediction) due(in *pendingInput) uint64 {
	return max(in.at, p.from+p.offset) - p.offset
}

// add adds an input, and copies its Data.
func (p *prediction) add(in evertick.Input) error {
	data := in.Data
	in.Data = nil
	e := pendingInput{in, in.Tick}
	if in.Tick == 0 {
		e.at = p.sim.Ticks() + p.offset
	}
	i, found := slices.BinarySearchFunc(p.pending, e, func(a, b pendingInput) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Seq, b.Seq))
	})
	switch {
	case found:
		return fault.Field(fault.ErrRange, "replica: sequence number of an input that waits already", in.Seq)
	case len(p.pending) == mostPending:
		return fault.Field(fault.ErrCapacity, "replica: inputs that the server has not applied", mostPending)
	}
	if n := len(p.free); n > 0 {
		e.Data, p.free = p.free[n-1][:0], p.free[:n-1]
	}
	e.Data = append(e.Data, data...)
	p.pending = slices.Insert(p.pending, i, e)
	p.stale = p.stale || p.due(&e) < p.sim.Ticks()
	return nil
}

// drop drops the pending inputs for which gone returns true, and those that are long overdue.
func (p *prediction) drop(gone func(*pendingInput) bool) {
	now := p.base.Ticks() + p.offset
	kept := p.pending[:0]
	for i := range p.pending {
		if in := &p.pending[i]; !gone(in) && in.at+lateTicks >= now {
			kept = append(kept, *in)
		} else if cap(in.Data) > 0 {
			p.free = append(p.free, in.Data)
		}
	}
	clear(p.pending[len(kept):])
	p.pending = kept
}

// confirm compares the prediction with the base, which has run.
func (p *prediction) confirm() {
	now := p.base.Ticks()
	p.stale = p.stale || p.sim.Ticks() < now || *p.hash(now) != p.base.Hash()
}

func (p *prediction) hash(tick uint64) *uint64 { return &p.hashes[tick%uint64(len(p.hashes))] }

// runTo runs the prediction until so many ticks are completed, but at most as far ahead of the base as
// init allows. If it is stale it begins anew, and at least reaches the tick at which it was.
func (p *prediction) runTo(tick uint64) error {
	now, base := p.sim.Ticks(), p.base.Ticks()
	tick = min(max(tick, now, base), base+uint64(len(p.hashes))-1)
	if p.stale {
		if err := p.sim.CopyFrom(p.base); err != nil {
			return err
		}
		p.stale, p.from = false, base
		*p.hash(base) = p.base.Hash()
		p.rolled += min(max(now, base), tick) - base
	}
	for p.sim.Ticks() < tick {
		if err := step(p.sim); err != nil {
			p.stale = true
			return err
		}
		*p.hash(p.sim.Ticks()) = p.sim.Hash()
	}
	return nil
}

// step runs a tick. It ignores that a system asks to stop.
func step(sim *evertick.Sim) error {
	if err := sim.Step(); err != nil && !errors.Is(err, loop.ErrStop) {
		return fmt.Errorf("replica: %w", err)
	}
	return nil
}
