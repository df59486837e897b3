package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// sizable is a scene whose cost can be told against its size.
type sizable struct {
	unit        string // what the size counts
	first, most int    // sizes to begin with, and to end with
	// open builds the scene and returns what runs a step of it.
	open func(n int) (step func() error, err error)
}

// cost of a step at a size.
type cost struct {
	N     int   `json:"n"`
	Steps int   `json:"steps"` // that were measured
	P50   int64 `json:"p50_ns"`
	P95   int64 `json:"p95_ns"`
}

// scaleSearch looks for the largest size that keeps a budget.
type scaleSearch struct {
	budgetNs    int64
	first, most int
	measure     func(n int) (cost, error)
}

// halvings of the interval, on a logarithmic scale, in which the largest size lies: what is left
// is a factor of 2^(1/8), since the interval is one doubling.
const halvings = 3

// run doubles the size until p95 is over the budget, then halves the last interval. It returns
// what was measured, by size, and the largest size that is known to keep the budget: 0 if
// the first does not.
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
// logarithms of median steps. With 95 % confidence the exponent lies between Low and High, if errors
// of the logarithms are normal; they are 0 of fewer than three sizes.
type power struct {
	Exponent float64 `json:"exponent"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	From     int     `json:"from"` // the sizes that it is of
	To       int     `json:"to"`
}

// fitted is how far below the largest size the fit begins: what every step pays whatever its
// size would flatten it.
const fitted = 16

func fitPower(costs []cost) (p power, ok bool) {
	var x, y []float64
	for _, c := range costs {
		if c.N*fitted >= costs[len(costs)-1].N && c.P50 > 0 {
			if len(x) == 0 {
				p.From = c.N
			}
			p.To = c.N
			x, y = append(x, math.Log(float64(c.N))), append(y, math.Log(float64(c.P50)))
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

// studentT95 is the quantile 0.975 of Student's t distribution, by degrees of freedom: 95 % of it
// lie between its negative and itself. Beyond 20 the one of 20, which is on the safe side.
func studentT95(free int) float64 {
	table := [...]float64{
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
	}
	return table[min(free, len(table))-1]
}

// scalePatience is how long a size is measured.
type scalePatience struct {
	warmup, least, most int // steps
	time                time.Duration
}

var (
	longScale  = scalePatience{warmup: 10, least: 60, most: 600, time: 300 * time.Millisecond}
	quickScale = scalePatience{warmup: 2, least: 8, most: 40, time: 5 * time.Millisecond}
)

// cost measures a scene at a size.
func (p scalePatience) cost(s *sizable, n int, report func(step int)) (cost, error) {
	step, err := s.open(n)
	if err != nil {
		return cost{}, err
	}
	var ns []int64
	start := time.Now()
	for i := -p.warmup; i < p.least || i < p.most && time.Since(start) < p.time; i++ {
		report(i)
		from := time.Now()
		if err := step(); err != nil {
			return cost{}, fmt.Errorf("-n %d: %w", n, err)
		}
		if i >= 0 {
			ns = append(ns, int64(time.Since(from)))
		}
	}
	q := quantilesOf(ns)
	return cost{N: n, Steps: len(ns), P50: q.P50, P95: q.P95}, nil
}

// scaleReport is what -json prints of -scale.
type scaleReport struct {
	Scene       string              `json:"scene"`
	Unit        string              `json:"unit"`
	Seed        uint64              `json:"seed"`
	Environment profile.Environment `json:"environment"`
	Level       string              `json:"level"`
	Workers     int                 `json:"workers"`
	BudgetNs    int64               `json:"budget_ns"`
	Costs       []cost              `json:"costs"`
	Fits        int                 `json:"fits"` // the largest size whose p95 keeps the budget; 0: none
	All         bool                `json:"all"`  // that is the largest that the scene takes
	Power       *power              `json:"power,omitempty"`
}

// checkScale returns an error for flags that -scale has no use for.
func (o *options) checkScale(given map[string]bool) error {
	for _, name := range append([]string{"ticks", "warmup", "n", "hashes", "compare", "sleep", "continuous"}, profileFlags...) {
		if given[name] {
			return fmt.Errorf("%w: -%s: not with -scale", errUsage, name)
		}
	}
	if !slices.Contains(sizableScenes, o.scene) {
		return fmt.Errorf("%w: -scale: not for the scene %s; for %s", errUsage, o.scene, strings.Join(sizableScenes, ", "))
	}
	if o.scene != queriesScene {
		return nil
	}
	if len(o.qs) > 1 || len(o.rs) > 1 {
		return fmt.Errorf("%w: -scale: one -q and one -r", errUsage)
	}
	limits := options{ns: sizes{1}, qs: o.qs, rs: o.rs}
	return limits.gridDefaults()
}

// sizableScenes are those of -scale.
var sizableScenes = []string{"swarm", "clusters", "churn", "arena", "tumbler", "pyramid", queriesScene}

// runScale measures a scene at one size after the other.
func (o *options) runScale(level native.Level, p params, stdout, stderr io.Writer) error {
	return o.table(stdout, "", func() (tabled, error) { return o.measureScale(level, p, stderr) })
}

func (o *options) measureScale(level native.Level, p params, stderr io.Writer) (rep *scaleReport, err error) {
	s := o.sizable(level, p)
	patience := longScale
	if o.quick {
		patience = quickScale
	}
	progress := newProgress(stderr)
	defer progress.clear()
	search := scaleSearch{budgetNs: o.budgetNs(), first: s.first, most: s.most, measure: func(n int) (cost, error) {
		return patience.cost(s, n, func(step int) { progress.show("%s -n %d: step %d", o.scene, n, step) })
	}}
	rep = &scaleReport{
		Scene: o.scene, Unit: s.unit, Seed: o.seed, Environment: profile.ThisEnvironment(), Level: level.String(), Workers: o.workers,
		BudgetNs: search.budgetNs,
	}
	if rep.Costs, rep.Fits, err = search.run(); err != nil {
		return nil, err
	}
	rep.All = rep.Fits == s.most
	if p, ok := fitPower(rep.Costs); ok {
		rep.Power = &p
	}
	return rep, nil
}

// sizable returns the scene of -scene, for sizes.
func (o *options) sizable(level native.Level, p params) *sizable {
	switch {
	case isCrowd(o.scene):
		return &sizable{unit: "entities", first: 64, most: p.most, open: func(n int) (func() error, error) {
			p := p
			p.entities = n
			s, err := newScene(p, evertick.Config{Seed: o.seed, Level: level, Workers: o.workers})
			if err != nil {
				return nil, err
			}
			return s.step, nil
		}}
	case o.isBodies():
		kind, _ := scenes.KindOf(o.scene)
		unit := map[string]string{"arena": "bodies", "tumbler": "boxes", "pyramid": "rows"}[o.scene]
		return &sizable{unit: unit, first: 8, most: kind.MaxN(), open: func(n int) (func() error, error) {
			s, err := scenes.New(o.scene, n, o.seed, physics.Config{Level: level, Workers: o.workers})
			if err != nil {
				return nil, err
			}
			return s.Step, nil
		}}
	}
	queries, radius := fewQueries, float32(0)
	if len(o.qs) > 0 {
		queries = o.qs[0]
	}
	if len(o.rs) > 0 {
		radius = float32(o.rs[0])
	}
	return &sizable{unit: "points", first: 64, most: 1 << 21, open: func(n int) (func() error, error) {
		t := &trial{method: byRadius, points: n, queries: queries, k: meanNeighbours, radius: radius, level: level, workers: 1, order: spatial.Grid}
		t.cloud = newCloud(o.seed, n)
		if err := t.open(); err != nil {
			return nil, err
		}
		return func() error { t.renew(); _, err := t.answer(); return err }, nil
	}}
}

func (r *scaleReport) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"scene", "level", "workers", "n", "steps", "p50_ns", "p95_ns"})
	for _, k := range r.Costs {
		_ = c.Write([]string{
			r.Scene, r.Level, strconv.Itoa(r.Workers), strconv.Itoa(k.N), strconv.Itoa(k.Steps),
			strconv.FormatInt(k.P50, 10), strconv.FormatInt(k.P95, 10),
		})
	}
	c.Flush()
	return c.Error()
}

func (r *scaleReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "evertick bench · %s against its size · level %s · %d worker(s) · seed %d\n%s\n\n", r.Scene, r.Level, r.Workers, r.Seed, r.Environment)
	fmt.Fprintf(&b, "%12s %8s %12s %12s %12s\n", r.Unit, "steps", "p50, µs", "p95, µs", "ns each")
	for _, c := range r.Costs {
		over := ""
		if c.P95 > r.BudgetNs {
			over = "  over the budget"
		}
		fmt.Fprintf(&b, "%12s %8d %12s %12s %12.1f%s\n", thousands(c.N), c.Steps, micros(c.P50), micros(c.P95), float64(c.P50)/float64(c.N), over)
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", r.plot(), r.verdict())
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict says in words what the scene costs.
func (r *scaleReport) verdict() (text string) {
	if p := r.Power; p != nil {
		text = fmt.Sprintf("From %s to %s %s the median step grows with\ntheir number to the power %.2f", thousands(p.From), thousands(p.To), r.Unit, p.Exponent)
		if p.High > p.Low {
			text += fmt.Sprintf(" [%.2f–%.2f]", p.Low, p.High)
		}
		text += ".\n"
	}
	what := fmt.Sprintf("fit %s on this machine: p95 within %s µs", rateName(r.BudgetNs), micros(r.BudgetNs))
	switch {
	case r.Fits == 0:
		return text + fmt.Sprintf("Not even %s %s %s.", thousands(r.Costs[0].N), r.Unit, what)
	case r.All:
		return text + fmt.Sprintf("%s %s, the most that the scene takes, %s.", thousands(r.Fits), r.Unit, what)
	}
	return text + fmt.Sprintf("About %s %s %s.", thousands(twoDigits(r.Fits)), r.Unit, what)
}

// rateName tells a budget as a rate where it is one.
func rateName(budgetNs int64) string {
	for _, hz := range []int64{20, 30, 50, 60, 100, 120, 144, 240, 1000} {
		if budgetNs == 1_000_000_000/hz {
			return fmt.Sprintf("%d Hz", hz)
		}
	}
	return "the budget"
}

// twoDigits rounds down to two significant digits: more would pretend.
func twoDigits(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}

// thousands writes a number with a comma between each three digits.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func (r *scaleReport) plot() *plot {
	median, late := curve{mark: '+', name: "p50"}, curve{mark: 'o', name: "p95"}
	limit := curve{mark: '-', name: "budget"}
	for _, c := range r.Costs {
		x := float64(c.N)
		median.x, median.y = append(median.x, x), append(median.y, float64(c.P50)/1e3)
		late.x, late.y = append(late.x, x), append(late.y, float64(c.P95)/1e3)
		limit.x, limit.y = append(limit.x, x), append(limit.y, float64(r.BudgetNs)/1e3)
	}
	return &plot{
		title: "step, µs, against " + r.Unit, curves: []curve{median, late, limit},
		label: func(x float64) string { return strconv.Itoa(int(x)) },
	}
}
