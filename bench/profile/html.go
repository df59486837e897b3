package profile

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
)

var (
	//go:embed assets/report.html
	htmlTemplate string
	//go:embed assets/report.css
	htmlStyle string
	//go:embed assets/report.js
	htmlScript string

	htmlPages = template.Must(template.New("report").Parse(htmlTemplate))
)

// WriteHTML writes the report as one page that needs no network: style, script and figures are
// within. The script draws the charts; verdict, tables and environment can be read without
// it. The page is below 400 kB however long the run is, for up to about forty phases and counters:
// places in the charts of a long run stand for several steps each and show the slowest.
//
// Names are those of the run and may be anything. The page lets no other script run than its
// own, by its hash, and no request leave.
func (rep *Report) WriteHTML(w io.Writer) error {
	page, err := rep.page()
	if err != nil {
		return err
	}
	return htmlPages.Execute(w, page)
}

// htmlPage is what the template prints.
type htmlPage struct {
	Scene    string
	Params   []Param
	Verdict  htmlVerdict
	Cards    []htmlCard
	Sentence string
	Warnings []string
	Steps    int
	Bucket   int
	Unit     string

	Phases       []htmlPhaseRow
	SlowSteps    string
	Causes       bool
	BaselineName string
	Baseline     *htmlBaseline
	Ladder       []htmlRung
	LadderUnit   string
	Rivals       []htmlRung
	Worst        []htmlWorst
	Scheduled    bool
	Counters     []string
	Hardware     []htmlCount
	Facts        []htmlFact

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

type htmlPhaseRow struct {
	Name                string
	Look                string // classes of the style
	P50, P95            string
	All, Slow           string
	AllWidth, SlowWidth float64
	Difference          string
}

type htmlRung struct {
	Name, Step, Ratio, Interval string
	Width, From, Span           float64 // percent of the widest
	Same                        bool
}

type htmlBaseline struct {
	Name, Note string
	Rows       []htmlChange
}

type htmlChange struct{ Name, Was, Is, Change, Interval, Verdict, Class string }

type htmlWorst struct {
	Step                    int
	Tick                    uint64
	Ns, Times, Late, Beyond string
	Look                    string
	Collector               string
	Counts                  []Param
}

type htmlCount struct {
	Name                                                      string
	Total                                                     bool
	Instructions, Cycles, PerCycle, CacheMisses, BranchMisses string
}

type htmlFact struct {
	Name, Value string
	Mono        bool
}

// page says all in words.
func (rep *Report) page() (*htmlPage, error) {
	run, unit := rep.Run, unitOf(rep.Step.P50.Ns)
	data := rep.data()
	text, err := json.Marshal(data) // it writes < as \u003c: nothing in it ends the element
	if err != nil {
		return nil, err
	}
	p := &htmlPage{
		Scene: run.Scene, Params: run.Params, Sentence: rep.Sentence, Steps: run.Steps.Len(), Bucket: data.Bucket, Unit: unit.Name,
		SlowSteps: plural(len(rep.Slow), "step"), Causes: len(data.Causes) > 0, BaselineName: data.WasBy, Scheduled: rep.Scheduled,
		Policy: htmlPolicy(), Style: template.CSS(htmlStyle), Script: template.JS(htmlScript), Data: template.JS(text),
	}
	if p.Scene == "" {
		p.Scene = "simulation"
	}
	p.Verdict = rep.htmlVerdict()
	p.Cards = rep.htmlCards()
	p.Warnings = append(append(p.Warnings, run.Warnings...), rep.Stability.Advice...)
	p.Phases = rep.htmlPhases(unit)
	p.Baseline = run.htmlBaseline(unit)
	p.Ladder, p.LadderUnit = run.htmlLadder()
	p.Rivals = run.htmlRivals()
	p.Worst, p.Counters = rep.htmlWorst(unit)
	p.Hardware = run.htmlHardware()
	p.Facts = rep.htmlFacts()
	return p, nil
}

// htmlPolicy allows the page its own script and nothing else.
func htmlPolicy() string {
	sum := sha256.Sum256([]byte(htmlScript))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
}

// bare prints a time in the unit, with group separators.
func (u htmlUnit) bare(ns float64) string {
	text := strconv.FormatFloat(math.Abs(ns)/float64(u.Ns), 'f', u.Digits, 64)
	whole, rest, _ := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
		whole = grouped(n)
	}
	if rest != "" {
		whole += "." + rest
	}
	if ns < 0 && strings.Trim(whole, "0.,") != "" {
		whole = "−" + whole
	}
	return whole
}

func (u htmlUnit) with(ns float64) string { return u.bare(ns) + " " + u.Name }

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return grouped(int64(n)) + " " + word
}

func (rep *Report) htmlVerdict() htmlVerdict {
	run, n := rep.Run, rep.Run.Steps.Len()
	switch budget := duration(float64(run.BudgetNs)); {
	case run.Parity != nil && !run.Parity.OK:
		return htmlVerdict{"bad", "✗ Parity failed", "The kernels do not compute what they should: " + run.Parity.Err}
	case n == 0:
		return htmlVerdict{"warn", "Nothing measured", "The run has no steps."}
	case run.BudgetNs <= 0:
		return htmlVerdict{"soft", "No budget", "A step may take as long as it does."}
	case rep.Step.P95.Ns > run.BudgetNs:
		return htmlVerdict{"bad", "✗ Over budget", fmt.Sprintf("p95 is %s of %s; %s over it",
			percentOf(float64(rep.Step.P95.Ns)/float64(run.BudgetNs)), budget, plural(rep.Over, "step"))}
	case rep.behind():
		return htmlVerdict{"warn", "! Within budget, but late", fmt.Sprintf("p95 is %s of %s, but %s",
			percentOf(float64(rep.Step.P95.Ns)/float64(run.BudgetNs)), budget, rep.lateWords())}
	case rep.Over > 0:
		return htmlVerdict{"good", "✓ p95 within budget", fmt.Sprintf("p95 is %s of %s; %s over it",
			percentOf(float64(rep.Step.P95.Ns)/float64(run.BudgetNs)), budget, plural(rep.Over, "step"))}
	default:
		return htmlVerdict{"good", "✓ Within budget", fmt.Sprintf("p95 is %s of %s; no step over it",
			percentOf(float64(rep.Step.P95.Ns)/float64(run.BudgetNs)), budget)}
	}
}

// lateWords says how many steps began more than a step's time late, and how many never did.
func (rep *Report) lateWords() string {
	var parts []string
	if rep.Late > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s began more than a tick late", count(rep.Late), plural(rep.Run.Steps.Len(), "step")))
	}
	if n := rep.Run.Dropped; n > 0 {
		parts = append(parts, plural(int(min(n, math.MaxInt32)), "step")+" of the schedule never ran")
	}
	return strings.Join(parts, ", and ")
}

// percentOf prints a share.
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

// minus sets the sign as it is printed, and none before zero.
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

func (rep *Report) htmlCards() []htmlCard {
	run := rep.Run
	var cards []htmlCard
	if run.Steps.Len() > 0 {
		q := rep.Step
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
		if len(rep.Worst) > 0 {
			worst.Beside = fmt.Sprintf("tick %d", rep.Worst[0].Tick)
		}
		cards = append(cards, worst, rep.latenessCard())
	}
	if p := run.Parity; p != nil {
		card := htmlCard{Label: "parity", Value: "ok", Class: "good", Beside: run.Hash, Mono: true}
		if !p.OK {
			card.Value, card.Class = "failed", "bad"
		} else if p.Cases > 0 {
			card.Unit = plural(p.Cases, "case")
		}
		cards = append(cards, card)
	} else if run.Hash != "" {
		cards = append(cards, htmlCard{Label: "parity", Value: "not checked", Class: "soft", Beside: run.Hash, Mono: true})
	}
	return append(cards, htmlCard{Label: "memory", Value: figure(run.Allocs), Unit: "allocations a step", Beside: figure(run.Bytes) + " bytes a step"})
}

// latenessCard tells how late steps began or, without a schedule, what the collector did.
func (rep *Report) latenessCard() htmlCard {
	if !rep.Scheduled {
		c := rep.Collections
		return htmlCard{Label: "collector", Value: grouped(int64(c.SlowSteps + c.RestSteps)), Unit: "steps",
			Beside: fmt.Sprintf("with a collection, %d of them slow", c.SlowSteps)}
	}
	u := unitOf(rep.Lateness.P95.Ns)
	beside := "at most " + duration(float64(rep.Lateness.Max)) + "; " + plural(int(min(rep.Run.Dropped, math.MaxInt32)), "step") + " dropped"
	return htmlCard{Label: "lateness, p95", Value: u.bare(float64(rep.Lateness.P95.Ns)), Unit: u.Name, Beside: beside}
}

func (rep *Report) htmlPhases(u htmlUnit) []htmlPhaseRow {
	looks := rep.looks()
	var rows []htmlPhaseRow
	for i, p := range rep.Phases {
		rows = append(rows, htmlPhaseRow{
			Name: p.Name, Look: looks[i], P50: u.bare(float64(p.P50)), P95: u.bare(float64(p.P95)),
			All: percentOf(p.Share), Slow: percentOf(p.SlowShare), AllWidth: width(p.Share), SlowWidth: width(p.SlowShare),
			Difference: minus(fmt.Sprintf("%+.1f pts", 100*(p.SlowShare-p.Share))),
		})
	}
	return rows
}

// width is a share as percent of a bar.
func width(share float64) float64 {
	if !(share > 0) {
		return 0
	}
	return math.Round(1e4*min(share, 1)) / 100
}

// ratio prints how many times, and the interval.
func ratio(r Ratio) (times, interval string) {
	return figure(r.Median) + "×", "[" + figure(r.Low) + " " + figure(r.High) + "]"
}

// rung fills in what all rows of ratios have.
func rung(name string, r Ratio, widest float64) htmlRung {
	h := htmlRung{Name: name, Width: width(r.Median / widest), From: width(r.Low / widest)}
	h.Span = math.Round(100*max(0, width(r.High/widest)-h.From)) / 100
	h.Ratio, h.Interval = ratio(r)
	return h
}

func (run *Run) htmlLadder() (rungs []htmlRung, unit string) {
	if len(run.Ladder) == 0 {
		return nil, ""
	}
	u, widest := unitOf(run.Ladder[0].StepNs), 0.0
	for _, r := range run.Ladder {
		widest = max(widest, r.Speedup.High, r.Speedup.Median)
	}
	for _, r := range run.Ladder {
		h := rung(r.Level, r.Speedup, widest)
		h.Step, h.Same = u.bare(float64(r.StepNs)), r.Hash == run.Ladder[0].Hash
		rungs = append(rungs, h)
	}
	return rungs, u.Name
}

func (run *Run) htmlRivals() (rivals []htmlRung) {
	widest := 1.0
	for _, r := range run.Rivals {
		widest = max(widest, r.High, r.Median)
	}
	for _, r := range run.Rivals {
		rivals = append(rivals, rung(r.Name, r, widest))
	}
	if len(rivals) > 0 {
		one := Ratio{Median: 1, Low: 1, High: 1}
		rivals = append([]htmlRung{rung("evertick", one, widest)}, rivals...)
	}
	return rivals
}

func (run *Run) htmlBaseline(u htmlUnit) *htmlBaseline {
	b := run.Baseline
	if b == nil {
		return nil
	}
	h := &htmlBaseline{Name: b.Name, Note: "A run of " + b.Started + " on " + b.Env.CPU + ", " + b.Env.Go + "."}
	if !b.SameHost {
		h.Note += " It was measured on another machine or with other kernels, so its times are not compared."
		return h
	}
	for _, q := range []struct {
		name string
		Change
	}{{"p50", b.P50}, {"p95", b.P95}} {
		row := htmlChange{Name: q.name, Was: u.bare(float64(q.Was)), Is: u.bare(float64(q.Is)), Verdict: "no change seen", Class: "soft"}
		row.Change = change(q.Ratio.Median)
		row.Interval = "[" + change(q.Ratio.Low) + ", " + change(q.Ratio.High) + "]"
		if q.Significant && q.Ratio.Median > 1 {
			row.Verdict, row.Class = "slower", "bad"
		} else if q.Significant {
			row.Verdict, row.Class = "faster", "good"
		}
		h.Rows = append(h.Rows, row)
	}
	return h
}

// change prints a ratio as what it adds.
func change(ratio float64) string {
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return "—"
	}
	return minus(fmt.Sprintf("%+.1f %%", 100*(ratio-1)))
}

func (rep *Report) htmlWorst(u htmlUnit) (rows []htmlWorst, counters []string) {
	const most = 3 // counters that a row has room for
	run, s := rep.Run, &rep.Run.Steps
	looks := map[string]string{"": "c0"}
	for i, look := range rep.looks() {
		looks[rep.Phases[i].Name] = look
	}
	for i := range min(most, len(s.Counters)) {
		counters = append(counters, s.Counters[i])
	}
	for _, w := range rep.Worst {
		row := htmlWorst{Step: w.Step, Tick: w.Tick, Ns: u.bare(float64(w.Ns)), Late: u.bare(float64(w.LateNs)), Look: looks[w.Phase]}
		if s.Tick == nil {
			row.Tick = uint64(w.Step)
		}
		row.Times = "—"
		if rep.Step.P50.Ns > 0 {
			row.Times = figure(float64(w.Ns)/float64(rep.Step.P50.Ns)) + "×"
		}
		if w.Phase != "" {
			row.Beyond = w.Phase + " " + plus(w.BeyondNs, u)
		}
		if w.GCs > 0 || w.GCPauseNs > 0 || w.GCAssistNs > 0 {
			row.Collector = plural(int(min(w.GCs, math.MaxInt32)), "collection") +
				", pause " + duration(float64(w.GCPauseNs)) + ", assist " + duration(float64(w.GCAssistNs))
		}
		for i, name := range counters {
			row.Counts = append(row.Counts, Param{name, grouped(run.Steps.Counts[i][w.Step])})
		}
		rows = append(rows, row)
	}
	return rows, counters
}

func plus(ns int64, u htmlUnit) string {
	sign := ""
	if ns > 0 {
		sign = "+"
	}
	return sign + u.with(float64(ns))
}

func (run *Run) htmlHardware() (rows []htmlCount) {
	h := run.Hardware
	if h == nil {
		return nil
	}
	count := func(v float64) string {
		if v < 0 || math.IsNaN(v) {
			return "—"
		}
		return figure(v)
	}
	add := func(name string, c Count, total bool) {
		row := htmlCount{Name: name, Total: total, Instructions: count(c.Instructions), Cycles: count(c.Cycles), PerCycle: "—",
			CacheMisses: count(c.CacheMisses), BranchMisses: count(c.BranchMisses)}
		if c.Cycles > 0 && c.Instructions >= 0 {
			row.PerCycle = fmt.Sprintf("%.2f", c.Instructions/c.Cycles)
		}
		rows = append(rows, row)
	}
	for i, c := range h.Phases {
		name := strconv.Itoa(i)
		if i < len(run.Steps.Phases) {
			name = run.Steps.Phases[i]
		}
		add(name, c, false)
	}
	add("the whole step", h.Total, true)
	return rows
}

func (rep *Report) htmlFacts() []htmlFact {
	run, e := rep.Run, &rep.Run.Env
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
		add("schedule", "none: a step begins when the one before it has ended")
	}
	if p := run.Parity; p != nil {
		add("parity", fmt.Sprintf("%s on %s against the oracle, seed %d", plural(p.Cases, "case"), strings.Join(p.Levels, ", "), p.Seed))
	}
	add("meanwhile", run.Noise.words())
	add("recording", percentOf(run.Overhead)+" of the time of the steps")
	add("begun", run.Started)
	for _, why := range run.Unwatched {
		add("not measured", why)
	}
	if run.Command != "" {
		facts = append(facts, htmlFact{"again with", run.Command, true})
	}
	return facts
}

// words tell what the machine did meanwhile, as far as it is known.
func (n *Noise) words() string {
	if n == nil {
		return ""
	}
	var parts []string
	if n.Switches >= 0 {
		parts = append(parts, "the thread was taken off its CPU "+plural(int(min(n.Switches, math.MaxInt32)), "time"))
	}
	if n.StealNs > 0 {
		parts = append(parts, duration(float64(n.StealNs))+" of the CPUs went to other guests")
	}
	if n.Faults > 0 {
		parts = append(parts, plural(int(min(n.Faults, math.MaxInt32)), "page")+" were read from disk")
	}
	if n.Load >= 0 {
		parts = append(parts, "load "+figure(n.Load))
	}
	if n.Governor != "" {
		parts = append(parts, "governor "+n.Governor)
	}
	if n.Pinned >= 0 {
		parts = append(parts, fmt.Sprintf("pinned to CPU %d", n.Pinned))
	}
	return strings.Join(parts, "; ")
}
