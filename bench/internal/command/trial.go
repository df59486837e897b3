package command

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/evertick/evertick/native"
)

// trial is one way to do a piece of work, with the samples of its rounds. A query and an operation
// embed it.
type trial struct {
	experiment string
	level      native.Level
	workers    int
	goal       *goal
	baselines  []baseline
	samples    map[string][]float64 // by quantity, one of each round
	quantities map[string]spread    // of the samples, and of the ratios to the baselines
}

// sample is the result of one round, by quantity. The end of the name of a quantity is its unit.
type sample map[string]float64

// goal is the time that a trial should not exceed, and the time of the best other program, from its
// fastest to its slowest setting. Those times were measured separately; the programs are not run
// here.
type goal struct {
	time              float64
	peer              string
	peerLow, peerHigh float64
}

// String formats the peer.
func (g *goal) String() string {
	switch {
	case g == nil || g.peer == "":
		return "–"
	case g.peerLow == g.peerHigh:
		return g.peer + " " + short(g.peerLow)
	}
	return fmt.Sprintf("%s %s–%s", g.peer, short(g.peerLow), short(g.peerHigh))
}

// cell returns the goal for a table.
func (g *goal) cell() any {
	if g == nil {
		return nil
	}
	return short(g.time)
}

// baseline is a trial with which another one is compared, in these quantities.
type baseline struct {
	name       string
	trial      *trial
	quantities []string
}

// ratioName names the ratio to a baseline: how many times as long the baseline took, or, for a
// bandwidth, how many times that of the baseline was reached.
func ratioName(quantity, baseline string) string {
	return strings.TrimSuffix(quantity, "_us") + "_ratio_to_" + baseline
}

func (t *trial) common() *trial { return t }

func (t *trial) add(s sample) {
	if t.samples == nil {
		t.samples = map[string][]float64{}
	}
	for name, v := range s {
		t.samples[name] = append(t.samples[name], v)
	}
}

// evaluate computes the quantities from the samples.
func (t *trial) evaluate() {
	t.quantities = map[string]spread{}
	for name, values := range t.samples {
		t.quantities[name] = spreadOf(values)
	}
	for _, b := range t.baselines {
		for _, name := range b.quantities {
			over, under := b.trial.samples[name], t.samples[name]
			if name == gbPerS { // more is better
				over, under = under, over
			}
			if len(over) > 0 && len(under) > 0 {
				t.quantities[ratioName(name, b.name)] = ratioOf(over, under)
			}
		}
	}
}

// rounds returns how many samples there are of each quantity.
func (t *trial) rounds() int {
	for _, values := range t.samples {
		return len(values) // order-free: all have the same length
	}
	return 0
}

// median returns the median of a quantity as a cell; nil if the trial does not have it.
func (t *trial) median(quantity string) any {
	if s, ok := t.quantities[quantity]; ok {
		return s.Median
	}
	return nil
}

// ratio returns a ratio with its spread as a cell; nil if the trial does not have it.
func (t *trial) ratio(quantity string) any {
	s, ok := t.quantities[quantity]
	if !ok {
		return nil
	}
	return interval(s.Median, s.P05, s.P95)
}

// contestant is a *query or an *operation.
type contestant interface {
	fmt.Stringer
	common() *trial
	turn() (sample, error)
	labels() []any // its cells in the table of figures between experiment and rounds
	close()        // releases everything but the samples
}

type experiment[T contestant] struct {
	name   string
	trials []T
	open   func(progress *Progress) error // prepares the trials and checks what they compute
}

// patience limits the number of rounds of an experiment.
type patience struct {
	warmup, least, most int
	time                time.Duration // no further round begins after it
}

// rounds calls turn for each of n contestants in every round. Rounds below 0 are the warm-up. The
// contestant that begins changes from round to round.
func (p patience) rounds(n int, turn func(i, round int) error) error {
	start := time.Now()
	for round := -p.warmup; round < p.least || round < p.most && time.Since(start) < p.time; round++ {
		for i := range n {
			if err := turn((i+round+p.warmup)%n, round); err != nil {
				return err
			}
		}
	}
	return nil
}

// run opens the trials, times them in rounds and evaluates their samples.
func (e *experiment[T]) run(p patience, progress *Progress) error {
	progress.Show("%s", e.name)
	if err := e.open(progress); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	runtime.GC()
	start := time.Now()
	err := p.rounds(len(e.trials), func(i, round int) error {
		progress.Show("%s: round %d, %.0f s", e.name, round, time.Since(start).Seconds())
		s, err := e.trials[i].turn()
		if err != nil {
			return fmt.Errorf("%s: %v: %w", e.name, e.trials[i], err)
		}
		if round >= 0 {
			e.trials[i].common().add(s)
		}
		return nil
	})
	e.open = nil
	for _, t := range e.trials {
		t.close()
		t.common().experiment = e.name
		t.common().evaluate()
	}
	return err
}

func runAll[T contestant](experiments []*experiment[T], p patience, progress *Progress) (all []T, err error) {
	for _, e := range experiments {
		if err := e.run(p, progress); err != nil {
			return nil, err
		}
		all = append(all, e.trials...)
	}
	return all, nil
}

// of returns the trials of an experiment.
func of[T contestant](trials []T, experiment string) (found []T) {
	for _, t := range trials {
		if t.common().experiment == experiment {
			found = append(found, t)
		}
	}
	return found
}

// tableOf returns a row for each quantity of each trial. The goal and the peer are on the row of
// one quantity.
func tableOf[T contestant](trials []T, labels []string, goalOf string) (t Table) {
	names := slices.Concat([]string{"experiment"}, labels, []string{"rounds", "quantity", "median", "p05", "p95", "goal", "peer", "peer_low", "peer_high"})
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	for _, c := range trials {
		own := c.common()
		for _, quantity := range slices.Sorted(maps.Keys(own.quantities)) {
			s := own.quantities[quantity]
			row := slices.Concat([]any{own.experiment}, c.labels(), []any{own.rounds(), quantity, s.Median, s.P05, s.P95, nil, nil, nil, nil})
			if g := own.goal; g != nil && quantity == goalOf {
				row[len(row)-4] = g.time
				if g.peer != "" {
					copy(row[len(row)-3:], []any{g.peer, g.peerLow, g.peerHigh})
				}
			}
			t.Add(row...)
		}
	}
	return t
}
