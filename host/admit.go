package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
)

// demand is what a world asks of the machine.
type demand struct {
	p95Ns    int64 // of a tick
	num, den int64 // ticks a second
	workers  int   // of the Sim
}

// cores is p95 × rate, in cores: the part of a second that the ticks of a second take, for each worker of the Sim.
func (d demand) cores() float64 { return d.seconds() * float64(d.workers) }

func (d demand) seconds() float64 {
	return float64(d.p95Ns) / 1e9 * float64(d.num) / float64(d.den)
}

// admit is the rule of admission. A world fits if its cores and the cores of all admitted worlds add up to no more
// than the budget, and if its own ticks leave each other time: one Sim never runs two ticks at once.
func admit(budget float64, admitted []demand, d demand) error {
	used := cores(admitted)
	if d.seconds() <= 1 && used+d.cores() <= budget {
		return nil
	}
	return fmt.Errorf("p95 of a tick %v at %d/%d Hz with %d worker(s) takes %.3f cores; %d worlds have %.3f of Config.Budget = %.3f: %w",
		time.Duration(d.p95Ns), d.num, d.den, d.workers, d.cores(), len(admitted), used, budget, fault.ErrCapacity)
}

func cores(admitted []demand) (sum float64) {
	for _, d := range admitted {
		sum += d.cores()
	}
	return sum
}

// A trial runs ticks until it has trialTicks after the warm-up, or trialNs have passed.
const (
	trialWarmup = 8
	trialTicks  = 64
	trialNs     = int64(time.Second)
)

// trial returns p95 of the ticks of a twin, which has the state of the world.
func trial(twin *evertick.Sim, clock loop.Clock) (int64, error) {
	var h loop.Histogram
	begin := clock.Now()
	for i := range trialWarmup + trialTicks {
		start := clock.Now()
		err := step(twin)
		end := clock.Now()
		if err != nil && !errors.Is(err, loop.ErrStop) {
			return 0, fmt.Errorf("a trial: %w", err)
		}
		if i == trialWarmup {
			h.Reset()
		}
		h.Add(end - start)
		if err != nil || end-begin > trialNs {
			break
		}
	}
	return max(1, h.Quantile(0.95)), nil
}

// step turns a panic into an error.
func step(sim *evertick.Sim) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = loop.NewPanicError(sim.Ticks(), "", v)
		}
	}()
	return sim.Step()
}

// build builds a Sim, in the state of the snapshot if there is one.
func build(sc replay.Scenario, seed uint64, snapshot []byte) (*evertick.Sim, error) {
	sim, err := sc.New(seed)
	if err == nil && snapshot != nil {
		err = sim.Restore(snapshot)
	}
	if err != nil {
		return nil, fmt.Errorf("scenario %q: %w", sc.Name, err)
	}
	return sim, nil
}

// prepare builds what the description lacks: the Sim, and an estimate of its cost.
func (w *world) prepare(clock loop.Clock) error {
	var err error
	built := w.Sim == nil
	if built {
		if w.Sim, err = build(w.Scenario, w.Seed, w.Snapshot); err != nil {
			return err
		}
		w.Snapshot = nil
	}
	w.Seed = w.Sim.Seed()
	cfg := w.Sim.Config()
	if cfg.Loop.Batch {
		return fault.Field(fault.ErrUnsupported, "Config.Loop.Batch of the Sim, which has no rate", true)
	}
	w.num, w.den = w.Sim.Loop().Rate()
	w.workers = cfg.Workers
	w.p95Ns = w.EstimateNs
	if w.p95Ns > 0 && w.Snapshot == nil {
		return nil
	}
	twin, err := build(w.Scenario, w.Seed, w.Snapshot)
	if err != nil {
		return err
	}
	if w.Snapshot == nil {
		err = twin.CopyFrom(w.Sim)
	} else if twin.Ticks() != w.Sim.Ticks() || twin.Hash() != w.Sim.Hash() {
		err = fmt.Errorf("World.Snapshot is of tick %d with hash %016x, the Sim is at %d with %016x: %w",
			twin.Ticks(), twin.Hash(), w.Sim.Ticks(), w.Sim.Hash(), fault.ErrDiverged)
	}
	if err == nil && w.p95Ns == 0 {
		w.p95Ns, err = trial(twin, clock)
	}
	return err
}
