package command

import (
	"fmt"
	"runtime"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// stepper is a simulation whose levels are compared.
type stepper struct {
	ready func() error // before each step, not timed; nil: nothing
	step  func() error
	hash  func() uint64 // of the state after the last step

	phases func() []evertick.Timing // of the last step; nil: it has none
	// watch calls functions before and after each phase from now on, until stop is called; nil: there are none.
	watch func(before func(), after func(phase string)) (stop func())
}

// once prepares a step, and runs and times it.
func (s *stepper) once() (ns int64, err error) {
	if s.ready != nil {
		if err := s.ready(); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	err = s.step()
	return int64(time.Since(start)), err
}

// opener builds a simulation whose kernels run on a level.
type opener func(native.Level) (stepper, error)

// preflightTicks is the number of ticks that are compared before anything is timed.
const preflightTicks = 30

type errParity struct{ what string }

func (e errParity) Error() string { return "the levels differ, so no times are reported: " + e.what }

// preflight runs a simulation on every level and compares the hash of each tick with the hash of the
// pure Go kernels, which are the specification. It returns an error if a run fails; the verdict
// says whether levels differ.
func preflight(levels []native.Level, ticks int, seed uint64, open opener) (*profile.Parity, error) {
	want, err := hashesOf(open, native.Go, ticks)
	if err != nil {
		return nil, err
	}
	p := &profile.Parity{OK: true, Seed: seed}
	for _, level := range levels {
		if level == native.Go {
			continue
		}
		got, err := hashesOf(open, level, ticks)
		if err != nil {
			return nil, err
		}
		p.Levels = append(p.Levels, level.String())
		for i := range want {
			p.Cases++
			if got[i] != want[i] && p.OK {
				p.OK, p.Err = false, fmt.Sprintf("after tick %d the hash is %016x on level %s, %016x on level %s", i+1, got[i], level, want[i], native.Go)
			}
		}
	}
	return p, nil
}

func hashesOf(open opener, level native.Level, ticks int) ([]uint64, error) {
	s, err := open(level)
	if err != nil {
		return nil, err
	}
	hashes := make([]uint64, ticks)
	for i := range hashes {
		if _, err := s.once(); err != nil {
			return nil, fmt.Errorf("level %s: %w", level, err)
		}
		hashes[i] = s.hash()
	}
	return hashes, nil
}

// Values of -ladder.
const (
	ladderAuto = "auto" // if it takes no longer than ladderPatience
	ladderOn   = "on"
	ladderOff  = "off"
)

// ladderPatience is the longest time of a ladder if -ladder is not given.
const ladderPatience = 2 * time.Second

// In a ladder each level runs turns of a few steps; warmup counts steps.
var (
	longLadder  = patience{warmup: 20, least: 10, most: 250, time: 1200 * time.Millisecond}
	shortLadder = patience{warmup: 4, least: 3, most: 5, time: 50 * time.Millisecond} // of short runs
)

// ladderTime estimates the time of a ladder: building, and its least number of turns. Pure Go takes
// a few times as long for a step as the level that was measured.
func ladderTime(p patience, levels int, stepNs, buildNs int64) time.Duration {
	const slower = 2 // the mean of the levels, against the best
	return time.Duration(int64(levels) * (buildNs + slower*stepNs*int64(p.warmup+turn*p.least)))
}

// addLadder adds a ladder to the run, if -ladder asks for it or it does not take long.
func (o *Options) addLadder(run *profile.Run, buildNs int64, open opener, progress *Progress) (err error) {
	levels, p := native.Levels(), longLadder
	if run.Steps.Len() < 100 {
		p = shortLadder
	}
	estimate := ladderTime(p, len(levels), QuantilesOf(run.Steps.Ns).P50, buildNs)
	switch {
	case o.ladder == ladderOff || len(levels) < 2:
		return nil
	case o.ladder == ladderAuto && estimate > ladderPatience:
		run.Unwatched = append(run.Unwatched, fmt.Sprintf("the levels by turns: about %.0f s; -ladder on", estimate.Seconds()))
		return nil
	}
	run.Ladder, err = ladder(levels, p, open, func(round int) { progress.Show("the levels by turns: %d", round) })
	return err
}

// rung is a level that takes its turns.
type rung struct {
	level native.Level
	sim   stepper
	ns    []int64
	hash  uint64
}

// ladder runs the same simulation on every level, by turns of a few steps, and returns how many
// times as fast as the first each is. All run the same steps; it is an error if their hashes
// differ.
func ladder(levels []native.Level, p patience, open opener, report func(turn int)) ([]profile.Rung, error) {
	rungs := make([]rung, len(levels))
	for i, level := range levels {
		sim, err := open(level)
		if err != nil {
			return nil, err
		}
		rungs[i] = rung{level: level, sim: sim}
		for range p.warmup {
			if _, err := sim.once(); err != nil {
				return nil, fmt.Errorf("level %s: %w", level, err)
			}
		}
	}
	runtime.GC()
	p.warmup = 0
	err := p.rounds(len(rungs), func(i, round int) error {
		if i == round%len(rungs) { // the first of the round
			report(round)
		}
		return rungs[i].turn()
	})
	if err != nil {
		return nil, err
	}
	return evaluateRungs(rungs)
}

func (r *rung) turn() error {
	for range turn {
		ns, err := r.sim.once()
		if err != nil {
			return fmt.Errorf("level %s: %w", r.level, err)
		}
		r.ns = append(r.ns, ns)
	}
	r.hash = r.sim.hash()
	return nil
}

func evaluateRungs(rungs []rung) (all []profile.Rung, err error) {
	for i := range rungs {
		r := &rungs[i]
		if r.hash != rungs[0].hash {
			return nil, errParity{fmt.Sprintf("after the same steps the hash is %016x on level %s, %016x on level %s", r.hash, r.level, rungs[0].hash, rungs[0].level)}
		}
		speedup := profile.Ratio{Name: r.level.String(), Median: 1, Low: 1, High: 1}
		if i > 0 {
			speedup = medianRatio(speedup.Name, rungs[0].ns, r.ns)
		}
		all = append(all, profile.Rung{
			Level: r.level.String(), StepNs: QuantilesOf(r.ns).P50, Speedup: speedup, Hash: fmt.Sprintf("%016x", r.hash),
		})
	}
	return all, nil
}
