package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// runTicks measures a scene that is a Sim, and reports.
func (o *options) runTicks(level native.Level, p params, stdout, stderr io.Writer) error {
	j, err := o.newJob(level, stderr)
	if err != nil {
		return err
	}
	defer j.close()
	if err := j.preflight(o.preflightTicks(), func(level native.Level) (stepper, error) { return o.openScene(p.small(), level) }); err != nil {
		return err
	}
	built := time.Now()
	s, err := newScene(p, o.simConfig(level))
	if err != nil {
		return err
	}
	buildNs := int64(time.Since(built))
	rec, err := profile.Attach(s.sim, o.profileConfig(s))
	if err != nil {
		return err
	}
	var theirs *rival
	if o.compare != "" {
		if theirs, err = newRival(p, o.simConfig(level), o.ticks, o.warmup); err != nil {
			return err
		}
	}
	var turns *pacedTurns
	if o.paced {
		if turns, err = newPacedTurns(o.warmup, s, o.twin(p, level)); err != nil {
			return err
		}
	}
	spent, err := o.measure(s, theirs, turns, j.progress)
	if err != nil {
		return err
	}
	run := rec.Run()
	steps := float64(o.ticks - o.warmup)
	run.Allocs, run.Bytes = float64(spent.allocs)/steps, float64(spent.bytes)/steps
	if turns != nil {
		turns.report(run, o.seed)
	}
	if theirs != nil {
		j.comparison = newComparison(o, run.Steps.Ns, theirs.steps)
	}
	if err := j.ladder(run, buildNs, func(level native.Level) (stepper, error) { return o.openScene(p, level) }); err != nil {
		return err
	}
	return j.tell(run, stdout)
}

func (o *options) simConfig(level native.Level) evertick.Config {
	return evertick.Config{Seed: o.seed, Level: level, Workers: o.workers, BudgetNs: o.budgetNs()}
}

// small is the scene at a size at which levels can be compared in no time.
func (p params) small() params {
	if p.build != nil {
		p.entities = min(p.entities, 4096)
	}
	return p
}

func (o *options) preflightTicks() int { return min(preflightTicks, o.ticks) }

func (o *options) openScene(p params, level native.Level) (stepper, error) {
	s, err := newScene(p, o.simConfig(level))
	if err != nil {
		return stepper{}, err
	}
	return stepper{step: s.step, hash: s.sim.Hash}, nil
}

func (o *options) profileConfig(s *scene) profile.Config {
	c := profile.Config{
		Name: o.scene, Params: s.told(o), Command: o.command, Steps: o.ticks - o.warmup, Warmup: o.warmup,
		BudgetNs: o.budgetNs(), Hardware: o.hardware,
	}
	if o.paced {
		c.RateHz = pacedHz
	}
	for _, counter := range s.counters {
		c.Counters = append(c.Counters, profile.Counter{Name: counter.name, Read: counter.read})
	}
	return c
}

// told are the parameters of a scene as reports tell them.
func (s *scene) told(o *options) (all []profile.Param) {
	add := func(name string, n int) { all = append(all, profile.Param{Name: name, Value: strconv.Itoa(n)}) }
	add("ticks", o.ticks)
	switch {
	case s.build == nil:
		add("entities", s.entities)
		add("agents", s.agents)
		add("bodies", s.bodies)
	default:
		add("n", s.entities)
		if s.perceivers > 0 {
			add("q", s.perceivers)
		}
		if s.radius > 0 {
			all = append(all, profile.Param{Name: "r", Value: fmt.Sprintf("%.4g", s.radius)})
		}
	}
	return all
}

// measure runs the scene, beside a rival if there is one, and writes the hashes if they
// were asked for. It returns what the measured steps allocated.
func (o *options) measure(s *scene, theirs *rival, turns *pacedTurns, p *progress) (spent memory, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var each []func() error
	if theirs != nil {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		each = append(each, theirs.follow)
	}
	pace := func(int) error { return nil }
	if turns != nil {
		pace = turns.before
	}
	before := func(tick int) error {
		if p.due() {
			p.show("%s: tick %d of %d", o.scene, tick, o.ticks)
		}
		return pace(tick)
	}
	if o.hashes == "" {
		return measure(s, o.ticks, o.warmup, before, each...)
	}
	file, err := os.Create(o.hashes)
	if err != nil {
		return spent, err
	}
	w := bufio.NewWriter(file)
	each = append(each, func() error { return s.columnHashes().write(w) })
	spent, err = measure(s, o.ticks, o.warmup, before, each...)
	return spent, errors.Join(err, w.Flush(), file.Close())
}

// twin returns what makes another scene like that of the run, for -causes; nil without.
func (o *options) twin(p params, level native.Level) func() (*scene, error) {
	if !o.causes {
		return nil
	}
	return func() (*scene, error) { return newScene(p, o.simConfig(level)) }
}

// measure runs the scene for ticks steps and returns what those behind the warm-up allocated.
// before is called before each step; each of the other functions after it. What these
// allocate does not count.
func measure(s *scene, ticks, warmup int, before func(tick int) error, each ...func() error) (spent memory, err error) {
	var start memory
	for i := range ticks {
		if i == warmup {
			collect() // what the warm-up left is not the steps' fault
			start = allocated()
		}
		if err := before(i); err != nil {
			return spent, err
		}
		if err := s.step(); err != nil {
			return spent, err
		}
		for _, f := range each {
			if err := start.except(f); err != nil {
				return spent, fmt.Errorf("after tick %d: %w", i, err)
			}
		}
	}
	end := allocated()
	return memory{end.allocs - start.allocs, end.bytes - start.bytes}, nil
}
