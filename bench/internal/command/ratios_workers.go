package command

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// The gain of two workers has fallen if it lies below these shares of the baseline's: it varies less than the ratio of two levels, since each side runs
// the same kernels. Helpers that lose time have none, so only a lost stage or a lost pace takes it that far.
const (
	sameCPUWorkers  = 0.65
	otherCPUWorkers = 0.5
)

// leastLimit is what the second CPU must be worth for the gain of two workers to count: other programs may have it, or it is half of a core.
const leastLimit = 1.4

// errNotRun wraps the reason why a ratio was not measured.
var errNotRun = errors.New("this machine cannot show it now")

// workerRatio is the gain of two workers in a scene of bodies.
type workerRatio struct {
	scene string
	n     int
	limit float64 // what the second CPU must be worth; 0: it does not matter
}

var workerRatios = []workerRatio{{"arena", 16384, leastLimit}, {"pyramid", 100, leastLimit}}

// workersSuffix ends the names of these ratios.
const workersSuffix = "/2-workers"

func (c *workerRatio) name() string { return fmt.Sprintf("%s-%d%s", c.scene, c.n, workersSuffix) }

func ofWorkers(name string) bool { return strings.HasSuffix(name, workersSuffix) }

// measure returns how many times as fast as one worker two are, by turns. In the third turn two worlds of one worker each are stepped at the same
// time: what that gains is what the second CPU is worth.
func (c *workerRatio) measure(p patience, report func(turn int)) ([]profile.Ratio, error) {
	if n := runtime.GOMAXPROCS(0); n < 2 {
		return nil, fmt.Errorf("%w: one CPU", errNotRun)
	}
	var w stagesWorlds
	w.both = make([]stepper, 2)
	for i, to := range append(pointers(w.worlds[:]), pointers(w.both)...) {
		workers := 1
		if i == 1 {
			workers = 2
		}
		var err error
		if *to, err = stepperOf(scenes.New(c.scene, c.n, 1, physics.Config{Level: native.Auto, Workers: workers})); err != nil {
			return nil, err
		}
	}
	ping := linePing()
	var ns [3][]int64
	p.least, p.most, p.warmup = p.least/turn, p.most/turn, p.warmup/turn
	err := p.rounds(len(ns), func(i, round int) error {
		report(round)
		var both int64
		if i == len(w.worlds) {
			from := time.Now()
			if err := w.stepBoth(turn); err != nil {
				return err
			}
			both = int64(time.Since(from)) / turn
		}
		for range turn {
			took := both
			if i < len(w.worlds) {
				var err error
				if took, err = w.worlds[i].once(); err != nil {
					return err
				}
			}
			if round >= 0 {
				ns[i] = append(ns[i], took)
			}
		}
		return nil
	})
	if err == nil {
		err = w.sameResults()
	}
	if err != nil {
		return nil, err
	}
	if ping := max(ping, linePing()); c.limit > 0 && ping > farPing {
		return nil, fmt.Errorf("%w: a line of the caches takes %.0f ns from one CPU to the other and back at this time", errNotRun, ping)
	}
	if limit := 2 * medianRatio("", ns[0], ns[2]).Median; limit < c.limit {
		return nil, fmt.Errorf("%w: the second CPU is worth %.2f at this time, less than %g", errNotRun, limit, c.limit)
	}
	return []profile.Ratio{medianRatio(c.name(), ns[0], ns[1])}, nil
}
