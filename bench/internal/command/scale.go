package command

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/evertick/evertick/native"
)

// cost of a step at a size, in nanoseconds.
type cost struct {
	N, Steps int // steps that were measured
	P50, P95 int64
	Phases   []phaseCost // nil: the scene has none
}

// scaleSearch looks for the largest size that keeps a budget.
type scaleSearch struct {
	budgetNs    int64
	first, most int
	measure     func(n int) (cost, error)
}

// halvings is how often the interval in which the largest size lies is halved, on a logarithmic
// scale. They leave a factor of 2^(1/8), since the interval is one doubling.
const halvings = 3

// run doubles the size until p95 is over the budget, then halves the last interval. It returns the
// costs, by size, and the largest size that keeps the budget: 0 if the first does not.
func (s *scaleSearch) run() (costs []cost, fits int, err error) {
	try := func(n int) (ok bool) {
		var c cost
		if c, err = s.measure(n); err == nil {
			costs = append(costs, c)
		}
		return err == nil && c.P95 <= s.budgetNs
	}
	over := 0 // the smallest that does not fit
	for n := s.first; over == 0; n = min(2*n, s.most) {
		if !try(n) {
			over = n
		} else if fits = n; n == s.most {
			return costs, fits, nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
	for range halvings {
		n := int(math.Round(math.Sqrt(float64(fits) * float64(over))))
		if n <= fits || n >= over {
			break
		}
		if try(n) {
			fits = n
		} else {
			over = n
		}
		if err != nil {
			return nil, 0, err
		}
	}
	slices.SortFunc(costs, func(a, b cost) int { return a.N - b.N })
	return costs, fits, nil
}

// power is a fit of cost = c * n^Exponent: the straight line of least squares through the
// logarithms of median steps. With 95 % confidence the exponent lies between Low and High, if
// errors of the logarithms are normal; they are 0 for fewer than three sizes.
type power struct {
	Exponent float64 `json:"exponent"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	From     int     `json:"from"` // the sizes of the fit
	To       int     `json:"to"`
}

// String returns the exponent with its interval, if there is one.
func (p *power) String() string {
	if p.High <= p.Low {
		return fmt.Sprintf("%.2f", p.Exponent)
	}
	return fmt.Sprintf("%.2f [%.2f–%.2f]", p.Exponent, p.Low, p.High)
}

// fitted is how far below the largest size the fit begins: at small sizes the constant cost of a
// step would flatten it.
const fitted = 16

func fitPower(costs []cost) (p power, ok bool) {
	return fitPowerOf(costs, func(c *cost) int64 { return c.P50 })
}

// fitPowerOf fits the part of the cost that ns returns.
func fitPowerOf(costs []cost, ns func(c *cost) int64) (p power, ok bool) {
	var x, y []float64
	for i := range costs {
		c := &costs[i]
		if ns := ns(c); c.N*fitted >= costs[len(costs)-1].N && ns > 0 {
			if len(x) == 0 {
				p.From = c.N
			}
			p.To = c.N
			x, y = append(x, math.Log(float64(c.N))), append(y, math.Log(float64(ns)))
		}
	}
	if len(x) < 2 {
		return p, false
	}
	meanX, meanY := mean(x), mean(y)
	var sxx, sxy float64
	for i := range x {
		sxx += float64((x[i] - meanX) * (x[i] - meanX))
		sxy += float64((x[i] - meanX) * (y[i] - meanY))
	}
	p.Exponent = sxy / sxx
	if free := len(x) - 2; free > 0 {
		var rest float64
		for i := range x {
			d := y[i] - meanY - float64(p.Exponent*(x[i]-meanX))
			rest += float64(d * d)
		}
		off := float64(studentT95(free) * math.Sqrt(rest/float64(free)/sxx))
		p.Low, p.High = p.Exponent-off, p.Exponent+off
	}
	return p, true
}

func mean(v []float64) float64 {
	total := 0.
	for _, x := range v {
		total += x
	}
	return total / float64(len(v))
}

// studentT95 returns the quantile 0.975 of Student's t distribution, by degrees of freedom: 95 % of
// it lie between its negative and itself. Above 20 it is that of 20, which is on the safe side.
func studentT95(free int) float64 {
	table := [...]float64{
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
	}
	return table[min(free, len(table))-1]
}

var (
	longScale  = patience{warmup: 10, least: 60, most: 600, time: 300 * time.Millisecond}
	quickScale = patience{warmup: 2, least: 8, most: 40, time: 5 * time.Millisecond}
)

// costOf measures the steps of a scene at a size.
func costOf(s stepper, n int, p patience, report func(step int)) (cost, error) {
	var steps stepTimes
	err := p.rounds(1, func(_, i int) error {
		report(i)
		if err := steps.add(&s, i >= 0); err != nil {
			return fmt.Errorf("-n %d: %w", n, err)
		}
		return nil
	})
	return steps.cost(n), err
}

type scaleReport struct {
	*report
	unit     string
	budgetNs int64
	costs    []cost
	fits     int    // the largest size whose p95 keeps the budget; 0: none
	all      bool   // that is the largest size of the scene
	power    *power // nil: too few sizes
	phases   []scaledPhase
	turns    *workerTurns // nil: one worker
}

func (o *Options) runScale(s *sizeRange, level native.Level, stdout, stderr io.Writer) error {
	if o.Scene == "queries" {
		if len(o.qs) > 1 || len(o.rs) > 1 {
			return fmt.Errorf("%w: -scale: one -q and one -r", ErrUsage)
		}
		limits := Options{Ns: sizes{1}, qs: o.qs, rs: o.rs}
		if err := limits.gridDefaults(); err != nil {
			return err
		}
	}
	r := &scaleReport{report: o.NewReport(level.String()), unit: s.unit, budgetNs: o.budgetNs()}
	r.WriteText = r.write
	return o.Publish(stdout, r.report, func() error { return r.measure(o, s, level, stderr) })
}

func (r *scaleReport) measure(o *Options, s *sizeRange, level native.Level, stderr io.Writer) (err error) {
	p := longScale
	if o.quick {
		p = quickScale
	}
	progress := NewProgress(stderr)
	defer progress.Clear()
	search := scaleSearch{budgetNs: r.budgetNs, first: s.first, most: s.most, measure: func(n int) (cost, error) {
		sim, err := s.open(o, n, level)
		if err != nil {
			return cost{}, err
		}
		return costOf(sim, n, p, func(step int) { progress.Show("%s -n %d: step %d", o.Scene, n, step) })
	}}
	if r.costs, r.fits, err = search.run(); err != nil {
		return err
	}
	r.all = r.fits == s.most
	if p, ok := fitPower(r.costs); ok {
		r.power = &p
	}
	r.phases = scaledPhases(r.costs, r.shown())
	if o.Workers > 1 {
		if r.turns, err = o.takeWorkerTurns(s, r.shown().N, level, p, progress); err != nil {
			return err
		}
	}
	r.fill()
	return nil
}

// shown returns the cost at the largest size that keeps the budget or, if none does, at the smallest.
func (r *scaleReport) shown() *cost {
	return &r.costs[max(0, slices.IndexFunc(r.costs, func(c cost) bool { return c.N == r.fits }))]
}

func (r *scaleReport) fill() {
	r.Facts = map[string]any{"unit": r.unit, "budget_ns": r.budgetNs, "fits": r.fits, "all": r.all, "power": r.power}
	if len(r.phases) > 0 {
		r.Facts["phases"] = r.phases
	}
	if r.turns != nil {
		r.Facts["workers"] = r.turns
	}
	inMicros := func(ns any) string { return micros(ns.(int64)) }
	r.Figures = Table{Columns: []Column{
		{Name: "scene"}, {Name: "level"}, {Name: "workers"}, {Name: "n", head: r.unit}, {Name: "steps", head: "steps"},
		{Name: "p50_ns", head: "p50, µs", format: inMicros}, {Name: "p95_ns", head: "p95, µs", format: inMicros},
		{head: "ns each"}, {head: "budget"},
	}}
	for _, c := range r.costs {
		verdict := "kept"
		if c.P95 > r.budgetNs {
			verdict = "exceeded"
		}
		r.Figures.Add(r.Scene, r.Level, r.Workers, c.N, c.Steps, c.P50, c.P95, float64(c.P50)/float64(c.N), verdict)
	}
}

func (r *scaleReport) write(w io.Writer) {
	r.Figures.WriteText(w)
	fmt.Fprintf(w, "%s\n", r.plot())
	r.writePhases(w)
	fmt.Fprintln(w, r.verdict())
	if r.turns != nil {
		r.turns.write(w)
	}
}

// verdict describes the cost of the scene.
func (r *scaleReport) verdict() (text string) {
	if p := r.power; p != nil {
		text = fmt.Sprintf("From %s to %s %s the median step grows with\ntheir number to the power %v.\n", Count(p.From), Count(p.To), r.unit, p)
	}
	what := fmt.Sprintf("fit %s on this machine: p95 within %s µs", rateName(r.budgetNs), micros(r.budgetNs))
	switch {
	case r.fits == 0:
		return text + fmt.Sprintf("Not even %s %s %s.", Count(r.costs[0].N), r.unit, what)
	case r.all:
		return text + fmt.Sprintf("%s %s, the most that the scene takes, %s.", Count(r.fits), r.unit, what)
	}
	return text + fmt.Sprintf("About %s %s %s.", Count(twoDigits(r.fits)), r.unit, what)
}

// rateName names a budget by its rate, where it has one.
func rateName(budgetNs int64) string {
	for _, hz := range []int64{20, 30, 50, 60, 100, 120, 144, 240, 1000} {
		if budgetNs == 1_000_000_000/hz {
			return fmt.Sprintf("%d Hz", hz)
		}
	}
	return "the budget"
}

// twoDigits rounds down to two significant digits: more would pretend precision.
func twoDigits(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}

func (r *scaleReport) plot() *plot {
	median, late := curve{mark: '+', name: "p50"}, curve{mark: 'o', name: "p95"}
	limit := curve{mark: '-', name: "budget"}
	for _, c := range r.costs {
		x := float64(c.N)
		median.x, median.y = append(median.x, x), append(median.y, float64(c.P50)/1e3)
		late.x, late.y = append(late.x, x), append(late.y, float64(c.P95)/1e3)
		limit.x, limit.y = append(limit.x, x), append(limit.y, float64(r.budgetNs)/1e3)
	}
	return &plot{
		title: "step, µs, against " + r.unit, curves: []curve{median, late, limit},
		label: func(x float64) string { return strconv.Itoa(int(x)) },
	}
}
