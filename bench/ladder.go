package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// Values of -ladder.
const (
	ladderAuto = "auto" // if it takes no longer than ladderPatience
	ladderOn   = "on"
	ladderOff  = "off"
)

// ladderPatience is what the ladder may take if nobody has asked for it.
const ladderPatience = 2 * time.Second

// ladderPlan is how long the levels of a ladder take turns.
type ladderPlan struct {
	warmup int // steps of each level, not measured
	least  int // turns of each
	most   int
	time   time.Duration // no further turn begins after it
}

var (
	longLadder  = ladderPlan{warmup: 20, least: 10, most: 250, time: 1200 * time.Millisecond}
	shortLadder = ladderPlan{warmup: 4, least: 3, most: 5, time: 50 * time.Millisecond} // of short runs
)

// takes estimates what a ladder takes, building and its least turns, of a step of which pure Go
// takes a few times what the level does that was measured.
func (p ladderPlan) takes(levels int, stepNs, buildNs int64) time.Duration {
	const slower = 2 // the mean of the levels, against the best
	return time.Duration(int64(levels) * (buildNs + slower*stepNs*int64(p.warmup+turn*p.least)))
}

// rung is a level that takes its turns.
type rung struct {
	level native.Level
	sim   stepper
	ns    []int64
	hash  uint64
}

// ladder runs the same simulation on every level, by turns of a few steps, and tells how many
// times as fast as the first each is. All have done the same steps; their hashes are
// part of the answer, and an error if they differ.
func ladder(levels []native.Level, plan ladderPlan, seed uint64, open opener, report func(turn int)) ([]profile.Rung, error) {
	rungs := make([]rung, len(levels))
	for i, level := range levels {
		sim, err := open(level)
		if err != nil {
			return nil, err
		}
		rungs[i] = rung{level: level, sim: sim}
		for range plan.warmup {
			if err := sim.once(); err != nil {
				return nil, fmt.Errorf("level %s: %w", level, err)
			}
		}
	}
	runtime.GC()
	start := time.Now()
	for round := 0; round < plan.least || round < plan.most && time.Since(start) < plan.time; round++ {
		report(round)
		for i := range rungs { // who begins changes
			if err := rungs[(i+round)%len(rungs)].turn(); err != nil {
				return nil, err
			}
		}
	}
	return toldRungs(rungs, seed)
}

// turn times a few steps.
func (r *rung) turn() error {
	for range turn {
		if r.sim.ready != nil {
			if err := r.sim.ready(); err != nil {
				return err
			}
		}
		from := time.Now()
		if err := r.sim.step(); err != nil {
			return fmt.Errorf("level %s: %w", r.level, err)
		}
		r.ns = append(r.ns, int64(time.Since(from)))
	}
	r.hash = r.sim.hash()
	return nil
}

func toldRungs(rungs []rung, seed uint64) ([]profile.Rung, error) {
	var told []profile.Rung
	for i := range rungs {
		r := &rungs[i]
		if r.hash != rungs[0].hash {
			return nil, errParity{fmt.Sprintf("after the same steps the hash is %016x on level %s, %016x on level %s", r.hash, r.level, rungs[0].hash, rungs[0].level)}
		}
		up := profile.Ratio{Name: r.level.String(), Median: 1, Low: 1, High: 1}
		if i > 0 {
			up.Median, up.Low, up.High = medianRatio(rungs[0].ns, r.ns, seed)
		}
		told = append(told, profile.Rung{
			Level: r.level.String(), StepNs: quantilesOf(r.ns).P50, Speedup: up, Hash: fmt.Sprintf("%016x", r.hash),
		})
	}
	return told, nil
}
