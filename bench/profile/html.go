package profile

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/evertick/evertick/internal/page/base"
)

var (
	//go:embed assets/report.html
	htmlTemplate string
	//go:embed assets/report.css
	reportStyle string
	//go:embed assets/report.js
	reportScript string

	htmlStyle, htmlScript = base.Style(reportStyle), base.Script(reportScript)

	htmlPages = template.Must(template.New("report").Parse(htmlTemplate))
)

// htmlScriptSum is the SHA-256 of htmlScript in base64. A test has the right one.
const htmlScriptSum = "8ibDuKDNGR3Q/OqwYAzZoP9kwIYuMeyUta6d85w03p0="

// writeHTML writes the report as one page that needs no network: it contains style, script and
// figures. The script draws the charts; verdict, tables and environment are readable without it.
// The page is below 400 kB for runs of any length with up to about forty phases and counters: in a
// long run each place in the charts shows the slowest of several steps.
//
// Names may contain anything. The policy of the page allows its own script, by its hash, and no
// request.
func (rep *Report) writeHTML(w io.Writer) error {
	data := rep.data()
	text, err := json.Marshal(data) // it writes < as \u003c, so that no text ends the element
	if err != nil {
		return err
	}
	return htmlPages.Execute(w, &htmlPage{
		Report: rep, Unit: unitOf(rep.Step.P50.Ns), Charts: data, Looks: rep.looks(),
		Policy: base.Policy(htmlScriptSum), Style: htmlStyle, Script: htmlScript, Data: template.JS(text),
	})
}

// htmlPage is the data of the template, whose methods format it.
type htmlPage struct {
	*Report
	Unit   unit
	Charts *htmlData
	Looks  []string // classes of the style, by phase

	Policy string
	Style  template.CSS
	Script template.JS
	Data   template.JS
}

type htmlVerdict struct{ Class, Word, Why string }

type htmlCard struct {
	Label, Value, Unit, Beside, Class string
	Mono                              bool // Beside
}

type htmlRung struct {
	Name, Ratio, Interval string
	Width, From, Span     float64 // percent of the widest
}

type htmlFact struct {
	Name, Value string
	Mono        bool
}

func (p *htmlPage) HardwareRows() []hardwareRow { return p.Run.hardwareRows() }

func (*htmlPage) Plural(n int, word string) string { return plural(n, word) }

// Time formats a time in the unit of the page.
func (p *htmlPage) Time(ns int64) string { return p.Unit.bare(float64(ns)) }

func (*htmlPage) Percent(share float64) string { return percentOf(share) }

// Points formats a difference of shares.
func (*htmlPage) Points(difference float64) string {
	return minus(fmt.Sprintf("%+.1f pts", 100*difference))
}

// Less returns a - b.
func (*htmlPage) Less(a, b float64) float64 { return a - b }

// Width returns a share in percent of a bar.
func (*htmlPage) Width(share float64) float64 { return width(share) }

// Change formats a ratio as a change in per cent.
func (*htmlPage) Change(ratio float64) string {
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return "—"
	}
	return minus(fmt.Sprintf("%+.1f %%", 100*(ratio-1)))
}

func (p *htmlPage) Verdict() htmlVerdict {
	run := p.Run
	p95 := fmt.Sprintf("p95 is %s of %s", percentOf(share(float64(p.Step.P95.Ns), float64(run.BudgetNs))), duration(float64(run.BudgetNs)))
	over := p95 + "; " + plural(p.Over, "step") + " over it"
	switch {
	case run.Parity != nil && !run.Parity.OK:
		return htmlVerdict{"bad", "✗ Parity failed", "The kernels compute wrong results: " + run.Parity.Err}
	case run.Steps.Len() == 0:
		return htmlVerdict{"warn", "Nothing measured", "The run has no steps."}
	case run.BudgetNs <= 0:
		return htmlVerdict{"soft", "No budget", "The duration of a step is not limited."}
	case p.Step.P95.Ns > run.BudgetNs:
		return htmlVerdict{"bad", "✗ Over budget", over}
	case p.behind():
		return htmlVerdict{"warn", "! Within budget, but late", p95 + ", but " + p.lateWords()}
	case p.Over > 0:
		return htmlVerdict{"good", "✓ p95 within budget", over}
	}
	return htmlVerdict{"good", "✓ Within budget", p95 + "; no step over it"}
}

// lateWords describes how many steps began more than a period late, and how many never ran.
func (rep *Report) lateWords() string {
	var parts []string
	if rep.Late > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s began more than a tick late", count(rep.Late), plural(rep.Run.Steps.Len(), "step")))
	}
	if n := rep.Run.Dropped; n > 0 {
		parts = append(parts, plural(n, "step")+" of the schedule never ran")
	}
	return strings.Join(parts, ", and ")
}

// percentOf formats a share.
func percentOf(share float64) string {
	switch p := 100 * share; {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return "—"
	case math.Abs(p) < 9.95:
		return minus(fmt.Sprintf("%.1f %%", p))
	default:
		return minus(fmt.Sprintf("%.0f %%", p))
	}
}

// minus formats the sign, with none before zero.
func minus(text string) string {
	rest := strings.TrimLeft(text, "+-")
	switch {
	case strings.Trim(rest, "0. %pts") == "":
		return rest
	case text[0] == '-':
		return "−" + rest
	default:
		return text
	}
}

func (p *htmlPage) Cards() []htmlCard {
	run := p.Run
	var cards []htmlCard
	if run.Steps.Len() > 0 {
		q := p.Step
		quantile := func(name string, v Quantile) htmlCard {
			u := unitOf(v.Ns)
			beside := "[" + u.bare(float64(v.Low)) + " " + u.bare(float64(v.High)) + "]"
			if v.Open {
				beside += ", of too few steps"
			}
			return htmlCard{Label: name, Value: u.bare(float64(v.Ns)), Unit: u.Name, Beside: beside}
		}
		cards = append(cards, quantile("p50", q.P50), quantile("p95", q.P95), quantile("p99", q.P99))
		u := unitOf(q.Max)
		worst := htmlCard{Label: "slowest", Value: u.bare(float64(q.Max)), Unit: u.Name}
		if len(p.Worst) > 0 {
			worst.Beside = fmt.Sprintf("tick %d", p.Worst[0].Tick)
		}
		cards = append(cards, worst, p.latenessCard())
	}
	if parity := run.Parity; parity != nil {
		card := htmlCard{Label: "parity", Value: "ok", Class: "good", Beside: run.Hash, Mono: true}
		if !parity.OK {
			card.Value, card.Class = "failed", "bad"
		} else if parity.Cases > 0 {
			card.Unit = plural(parity.Cases, "case")
		}
		cards = append(cards, card)
	} else if run.Hash != "" {
		cards = append(cards, htmlCard{Label: "parity", Value: "not checked", Class: "soft", Beside: run.Hash, Mono: true})
	}
	return append(cards, htmlCard{Label: "memory", Value: figure(run.Allocs), Unit: "allocations a step", Beside: figure(run.Bytes) + " bytes a step"})
}

// latenessCard shows how late steps began or, without a schedule, what the collector did.
func (rep *Report) latenessCard() htmlCard {
	if !rep.Scheduled {
		c := rep.Collections
		return htmlCard{Label: "collector", Value: grouped(int64(c.SlowSteps + c.RestSteps)), Unit: "steps",
			Beside: fmt.Sprintf("with a collection, %d of them slow", c.SlowSteps)}
	}
	u := unitOf(rep.Lateness.P95.Ns)
	beside := "at most " + duration(float64(rep.Lateness.Max)) + "; " + plural(rep.Run.Dropped, "step") + " dropped"
	return htmlCard{Label: "lateness, p95", Value: u.bare(float64(rep.Lateness.P95.Ns)), Unit: u.Name, Beside: beside}
}

func width(share float64) float64 {
	if !(share > 0) {
		return 0
	}
	return math.Round(1e4*min(share, 1)) / 100
}

func rungs(ratios []Ratio) (rows []htmlRung) {
	widest := 0.0
	for _, r := range ratios {
		widest = max(widest, r.High, r.Median)
	}
	for _, r := range ratios {
		row := htmlRung{
			Name: r.Name, Ratio: figure(r.Median) + "×", Interval: "[" + figure(r.Low) + " " + figure(r.High) + "]",
			Width: width(r.Median / widest), From: width(r.Low / widest),
		}
		row.Span = math.Round(100*max(0, width(r.High/widest)-row.From)) / 100
		rows = append(rows, row)
	}
	return rows
}

func (p *htmlPage) Ladder() []htmlRung {
	var ratios []Ratio
	for _, r := range p.Run.Ladder {
		ratio := r.Speedup
		ratio.Name = r.Level
		ratios = append(ratios, ratio)
	}
	return rungs(ratios)
}

func (p *htmlPage) Rivals() []htmlRung {
	if len(p.Run.Rivals) == 0 {
		return nil
	}
	return rungs(append([]Ratio{{Name: "evertick", Median: 1, Low: 1, High: 1}}, p.Run.Rivals...))
}

// htmlChange is a row of the comparison with the baseline.
type htmlChange struct {
	Name string
	Change
	Class, Words string
}

func (p *htmlPage) Changes() (rows []htmlChange) {
	b := p.Run.Baseline
	for _, row := range []htmlChange{{Name: "p50", Change: b.P50}, {Name: "p95", Change: b.P95}} {
		switch row.Class, row.Words = "soft", "no significant change"; {
		case row.Significant && row.Ratio.Median > 1:
			row.Class, row.Words = "bad", "slower"
		case row.Significant:
			row.Class, row.Words = "good", "faster"
		}
		rows = append(rows, row)
	}
	return rows
}

// CounterNames returns the names of the counters that a row of the slowest steps has room for.
func (p *htmlPage) CounterNames() []string {
	return p.Run.Steps.Counters[:min(3, len(p.Run.Steps.Counters))]
}

// CountOf returns counter i of a step.
func (p *htmlPage) CountOf(i, step int) string { return grouped(p.Run.Steps.Counts[i][step]) }

// TickOf returns the tick of a step, or its index in a run without ticks.
func (p *htmlPage) TickOf(w worst) uint64 {
	if p.Run.Steps.Tick == nil {
		return uint64(w.Step)
	}
	return w.Tick
}

// Times returns how many times as long as the median a step took.
func (p *htmlPage) Times(ns int64) string {
	if p.Step.P50.Ns <= 0 {
		return "—"
	}
	return figure(float64(ns)/float64(p.Step.P50.Ns)) + "×"
}

// LookOf returns the classes of a phase.
func (p *htmlPage) LookOf(phase string) string {
	i := slices.IndexFunc(p.Phases, func(row phaseRow) bool { return row.Name == phase })
	if i < 0 {
		return "c0"
	}
	return p.Looks[i]
}

// Beyond describes the phase that exceeded its median the most.
func (p *htmlPage) Beyond(w worst) string {
	if w.Phase == "" {
		return ""
	}
	sign := ""
	if w.BeyondNs > 0 {
		sign = "+"
	}
	return w.Phase + " " + sign + p.Time(w.BeyondNs) + " " + p.Unit.Name
}

// Collector describes what the garbage collector did in a step.
func (*htmlPage) Collector(w worst) string {
	if w.GCs <= 0 && w.GCPauseNs <= 0 && w.GCAssistNs <= 0 {
		return ""
	}
	return plural(w.GCs, "collection") + ", pause " + duration(float64(w.GCPauseNs)) + ", assist " + duration(float64(w.GCAssistNs))
}

func (p *htmlPage) Facts() []htmlFact {
	run, e := p.Run, &p.Run.Env
	var facts []htmlFact
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, htmlFact{Name: name, Value: value})
		}
	}
	add("processor", fmt.Sprintf("%s, %d in use", e.CPU, e.CPUs))
	add("system", e.OS+"/"+e.Arch+", "+e.Go)
	add("kernels", e.Kernels)
	add("this run", fmt.Sprintf("level %s, %s, seed %d", run.Level, plural(run.Workers, "worker"), run.Seed))
	add("steps", plural(run.Steps.Len(), "step")+" measured after "+plural(run.Warmup, "step")+" of warm-up")
	if run.BudgetNs > 0 {
		add("budget", duration(float64(run.BudgetNs)))
	}
	if run.RateHz > 0 {
		add("schedule", figure(run.RateHz)+" Hz")
	} else {
		add("schedule", "none: each step begins when the one before it has ended")
	}
	if p := run.Parity; p != nil {
		add("parity", fmt.Sprintf("%s on %s against the oracle, seed %d", plural(p.Cases, "case"), strings.Join(p.Levels, ", "), p.Seed))
	}
	add("meanwhile", strings.Join(run.Noise.words(), "; "))
	add("recording", percentOf(run.Overhead)+" of the time of the steps")
	add("started", run.Started)
	for _, why := range run.Unwatched {
		add("not measured", why)
	}
	if run.Command != "" {
		facts = append(facts, htmlFact{"again with", run.Command, true})
	}
	return facts
}
