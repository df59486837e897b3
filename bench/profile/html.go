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

// WriteHTML writes the report as one page that needs no network: it contains style, script and
// figures. The script draws the charts; verdict, tables and environment are readable without it. The
// page is below 400 kB for runs of any length with up to about forty phases and counters: places in
// the charts of a long run stand for several steps each and show the slowest.
//
// Names may contain anything. The policy of the page allows its own script, by its hash, and no
// request.
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
	Hardware     []hardwareRow
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

type htmlFact struct {
	Name, Value string
	Mono        bool
}

// page returns the contents of the page.
func (rep *Report) page() (*htmlPage, error) {
	run, unit := rep.Run, unitOf(rep.Step.P50.Ns)
	data := rep.data()
	text, err := json.Marshal(data) // it writes < as \u003c, so that no text ends the element
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
	p.Hardware = run.hardwareRows()
	p.Facts = rep.htmlFacts()
	return p, nil
}

// htmlPolicy allows the script of the page and nothing else.
func htmlPolicy() string {
	sum := sha256.Sum256([]byte(htmlScript))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
}

func (rep *Report) htmlVerdict() htmlVerdict {
	run := rep.Run
	p95 := fmt.Sprintf("p95 is %s of %s", percentOf(share(float64(rep.Step.P95.Ns), float64(run.BudgetNs))), duration(float64(run.BudgetNs)))
	over := p95 + "; " + plural(rep.Over, "step") + " over it"
	switch {
	case run.Parity != nil && !run.Parity.OK:
		return htmlVerdict{"bad", "✗ Parity failed", "The kernels compute wrong results: " + run.Parity.Err}
	case run.Steps.Len() == 0:
		return htmlVerdict{"warn", "Nothing measured", "The run has no steps."}
	case run.BudgetNs <= 0:
		return htmlVerdict{"soft", "No budget", "The duration of a step is not limited."}
	case rep.Step.P95.Ns > run.BudgetNs:
		return htmlVerdict{"bad", "✗ Over budget", over}
	case rep.behind():
		return htmlVerdict{"warn", "! Within budget, but late", p95 + ", but " + rep.lateWords()}
	case rep.Over > 0:
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

func (rep *Report) htmlPhases(u unit) []htmlPhaseRow {
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

// width returns a share in percent of a bar.
func width(share float64) float64 {
	if !(share > 0) {
		return 0
	}
	return math.Round(1e4*min(share, 1)) / 100
}

// ratio formats a ratio and its interval.
func ratio(r Ratio) (times, interval string) {
	return figure(r.Median) + "×", "[" + figure(r.Low) + " " + figure(r.High) + "]"
}

// rung returns a row of a ratio.
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

func (run *Run) htmlBaseline(u unit) *htmlBaseline {
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
		row := htmlChange{Name: q.name, Was: u.bare(float64(q.Was)), Is: u.bare(float64(q.Is)), Verdict: "no significant change", Class: "soft"}
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

// change formats a ratio as a change in per cent.
func change(ratio float64) string {
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return "—"
	}
	return minus(fmt.Sprintf("%+.1f %%", 100*(ratio-1)))
}

func (rep *Report) htmlWorst(u unit) (rows []htmlWorst, counters []string) {
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
			row.Collector = plural(w.GCs, "collection") +
				", pause " + duration(float64(w.GCPauseNs)) + ", assist " + duration(float64(w.GCAssistNs))
		}
		for i, name := range counters {
			row.Counts = append(row.Counts, Param{name, grouped(run.Steps.Counts[i][w.Step])})
		}
		rows = append(rows, row)
	}
	return rows, counters
}

func plus(ns int64, u unit) string {
	sign := ""
	if ns > 0 {
		sign = "+"
	}
	return sign + u.bare(float64(ns)) + " " + u.Name
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
