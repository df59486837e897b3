package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/loop"
)

// -paced compares ways to start a step, by turns in one run: back to back, as benchmarks do, and
// paced, as games do. Before a paced step the CPU slept or ran other programs, so caches and branch
// predictors hold less of what the step needs. -causes adds ways that remove one of the possible
// causes, or cause it without sleep.

// pacedHz is the rate of -paced.
const pacedHz = 60

const (
	pacedSkip = 2                  // first steps of a turn, which follow another way and do not count
	pacedTurn = 5*turn + pacedSkip // steps of a turn
)

// pacedWay is a way to start a step.
type pacedWay struct {
	name   string
	sleep  bool         // until the step is due, by the clock of Precise
	spin   bool         // until it is due, by reading the clock
	early  int64        // ns before that time at which sleep or spin ends
	ready  func() error // called then; nil: nothing
	margin func()       // called in the time for which the clock would spin: see loop.PreciseClock.SleepRehearsing
}

// pacedTurns lets the ways take turns.
type pacedTurns struct {
	ways   []pacedWay
	warmup int
	clock  *loop.PreciseClock
	spin   *loop.SpinClock
	due    int64 // of the next step of the turn
	junk   []byte
	sum    byte

	twinErr    error
	rehearsals int
}

// backToBack and paced are the indices of these ways.
const (
	backToBack = iota
	pacedSteps
)

// newPacedTurns returns the ways for a scene. The twin is another scene of the same kind; nil:
// without causes.
func newPacedTurns(warmup int, s, twin *simulation) *pacedTurns {
	t := &pacedTurns{warmup: warmup, ways: []pacedWay{{name: "back to back"}, {name: "paced", sleep: true}}, clock: new(loop.PreciseClock), spin: new(loop.SpinClock)}
	if twin == nil {
		return t
	}
	const awake = 500_000
	t.junk = make([]byte, 64<<20) // more than the caches hold
	for i := range t.junk {
		t.junk[i] = byte(i)
	}
	read := func() error {
		t.sum += byte(s.World.Hash() + s.Physics.Hash()) // both read all their data
		return nil
	}
	rehearse := func() error {
		if err := twin.CopyFrom(s.Sim); err != nil {
			return err
		}
		return twin.step()
	}
	t.ways = append(t.ways,
		pacedWay{name: "spun", spin: true},                           // the same time, without sleep
		pacedWay{name: "paced, awake", sleep: true, early: awake},    // spun for the last half millisecond
		pacedWay{name: "paced, read", sleep: true, ready: read},      // data in the caches
		pacedWay{name: "paced, twin", sleep: true, ready: twin.step}, // code and branches: a twin of the scene has run a step
		pacedWay{name: "spun, cold", spin: true, ready: t.evict},     // cold caches, without sleep
		pacedWay{name: "paced, copy", sleep: true, ready: rehearse},  // the same step, of a copy of the state
		pacedWay{name: "paced, margin", sleep: true, margin: func() { // twin and read, as Config.Rehearse does
			t.twinErr = errors.Join(t.twinErr, twin.step(), read())
			t.rehearsals++
		}})
	return t
}

func (t *pacedTurns) evict() error {
	for i := 0; i < len(t.junk); i += 64 {
		t.sum += t.junk[i]
	}
	return nil
}

// way returns the way of a measured step, counted from 0, and whether the step counts. Each round
// begins with another way.
func (t *pacedTurns) way(i int) (way int, counts bool) {
	turn := i / pacedTurn
	n := len(t.ways)
	return (turn + turn/n) % n, i%pacedTurn >= pacedSkip
}

// before waits for a tick in its way.
func (t *pacedTurns) before(tick int) error {
	i := tick - t.warmup
	if i < 0 {
		return nil
	}
	k, _ := t.way(i)
	w := &t.ways[k]
	var clock loop.Clock = t.clock
	if w.spin {
		clock = t.spin
	}
	if i%pacedTurn == 0 {
		t.due = clock.Now()
	}
	t.due += int64(time.Second) / pacedHz
	if w.margin != nil {
		return errors.Join(t.clock.SleepRehearsing(context.Background(), t.due, w.margin), t.twinErr)
	}
	if w.sleep || w.spin {
		if err := clock.Sleep(context.Background(), t.due-w.early); err != nil {
			return err
		}
		if w.early > 0 {
			if err := t.spin.Sleep(context.Background(), t.due-clock.Now()+t.spin.Now()); err != nil {
				return err
			}
		}
	}
	if w.ready != nil {
		return w.ready()
	}
	return nil
}

// report adds the durations of each way to the run, and keeps the paced steps as its steps.
func (t *pacedTurns) report(run *profile.Run) {
	all := run.Steps
	if all.Len() < 2*pacedTurn {
		run.Unwatched = append(run.Unwatched, fmt.Sprintf("steps back to back and paced, by turns: %d steps are fewer than two turns", all.Len()))
	}
	var first []int64
	for k := range t.ways {
		only := all.Only(func(i int) bool { way, counts := t.way(i); return way == k && counts })
		w := profile.NewWay(t.ways[k].name, &only)
		switch {
		case k == backToBack:
			first = only.Ns
		case only.Len() > 0 && len(first) > 0:
			w.Times = medianRatio(w.Name, only.Ns, first)
		}
		if t.ways[k].margin != nil {
			run.Unwatched = append(run.Unwatched, fmt.Sprintf("%s: %d of its steps had time for a rehearsal; %d count", w.Name, t.rehearsals, only.Len()))
		}
		if only.Len() > 0 {
			run.Ways = append(run.Ways, w)
		}
		if k == pacedSteps && only.Len() > 0 {
			run.Steps = only
		}
	}
}
