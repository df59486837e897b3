package profile

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// WriteText writes the report for a terminal. No line is wider than Text.Width. Parts that were not
// measured are left out; control characters in names appear as question marks.
func (rep *Report) WriteText(w io.Writer, t Text) error {
	p := &page{width: max(t.Width, leastWidth), color: t.Color}
	if t.Width == 0 {
		p.width = textWidth
	}
	rep.writeHead(p)
	if rep.Run.Steps.Len() > 0 {
		rep.writeQuantiles(p)
		rep.writePhases(p)
		rep.writeSentence(p)
		rep.writeBars(p)
		rep.writeCounters(p)
	}
	rep.writeHardware(p)
	rep.writeWays(p)
	rep.writeLadder(p)
	rep.writeBaseline(p)
	rep.writeNotes(p)
	rep.writeEnd(p)
	_, err := io.WriteString(w, p.String())
	return err
}

func (rep *Report) writeHead(p *page) {
	run, env := rep.Run, &rep.Run.Env
	head := []string{"evertick profile"}
	if run.Scene != "" {
		head = append(head, "scene "+clean(run.Scene))
	}
	for _, param := range run.Params {
		head = append(head, clean(param.Name+" "+param.Value))
	}
	p.items(bold, 2, head...)
	seed := ""
	if run.Seed != 0 {
		seed = fmt.Sprint("seed ", run.Seed)
	}
	p.items(plain, 2, clean(env.CPU), some(env.CPUs, "CPU"), clean(join(env.OS, "/", env.Arch)), clean(env.Go), rep.kernels(),
		some(run.Workers, "worker"), seed)
	rep.writeParity(p)
	steps := []string{count(run.Steps.Len()) + " steps" + rep.worth()}
	if run.Warmup > 0 {
		steps = append(steps, "warm-up "+count(run.Warmup))
	}
	if run.BudgetNs > 0 {
		steps = append(steps, "budget "+budgetOf(run))
	}
	if rep.Scheduled {
		steps = append(steps, "schedule "+figure(run.RateHz)+" Hz")
	}
	p.items(plain, 2, steps...)
}

// budgetOf has one digit more than duration: 16.67 ms.
func budgetOf(run *Run) string {
	u := unitFor(float64(run.BudgetNs))
	return fmt.Sprintf("%.4g", float64(run.BudgetNs)/float64(u.Ns)) + " " + u.Name
}

func join(a, separator, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator + b
}

func (rep *Report) kernels() string {
	run, env := rep.Run, &rep.Run.Env
	if run.Level == "" {
		return ""
	}
	text := "level " + run.Level
	if n := len(env.Levels); n > 0 && env.Levels[n-1] != run.Level {
		text += " (best " + env.Levels[n-1] + ")"
	}
	switch {
	case env.Compiler != "":
		text += ", " + env.Compiler
	case env.Go != "" && !env.Cgo:
		text += ", no cgo"
	}
	return clean(text)
}

func (rep *Report) writeParity(p *page) {
	hash := ""
	if rep.Run.Hash != "" {
		hash = "state hash " + clean(rep.Run.Hash)
	}
	defer p.items(plain, 2, hash, clean(rep.Run.Started))
	par := rep.Run.Parity
	switch {
	case par == nil:
	case !par.OK:
		p.items(red, 2, "parity FAILED", some(par.Cases, "case"), fmt.Sprintf("seed %x", par.Seed))
		p.prose(red, "  ", clean(par.Err))
	default:
		p.items(green, 2, "parity ok", some(par.Cases, "case"), clean(strings.Join(par.Levels, ", ")), fmt.Sprintf("seed %x", par.Seed))
	}
}

func (rep *Report) writeQuantiles(p *page) {
	p.line()
	p.line(styled(dim, left("", 14)+right("p50", 10)+right("p95", 10)+"   "+left("95 % interval", 21)+right("p99", 10)+right("max", 10)))
	rep.writeQuantileRow(p, "step", &rep.Step)
	if rep.Scheduled {
		rep.writeQuantileRow(p, "lateness", &rep.Lateness)
	}
	n := rep.Run.Steps.Len()
	if rep.Run.BudgetNs > 0 {
		verdict := fmt.Sprintf("p95 takes %s %% of the budget, %s of %s steps are over it", figure(100*share(float64(rep.Step.P95.Ns), float64(rep.Run.BudgetNs))), count(rep.Over), count(n))
		style := green
		if rep.Step.P95.Ns > rep.Run.BudgetNs {
			style = red
		} else if rep.Over > 0 || rep.behind() {
			style = yellow
		}
		p.items(style, 2, verdict)
	}
	if rep.Scheduled {
		style := plain
		if rep.behind() {
			style = yellow
		}
		p.items(style, 2, count(rep.Late)+" began more than a step late", fmt.Sprint("dropped ", rep.Run.Dropped))
	}
}

// behind reports whether the run missed its schedule: a step began more than a period late, or was
// dropped. Quick steps do not make up for that.
func (rep *Report) behind() bool { return rep.Late > 0 || rep.Run.Dropped > 0 }

// worth describes how few independent steps the run is worth, if steps are similar to their
// neighbours.
func (rep *Report) worth() string {
	if rep.Step.Worth > 0.9*float64(rep.Run.Steps.Len()) {
		return ""
	}
	return fmt.Sprintf(" (worth %s independent ones)", figure(math.Floor(rep.Step.Worth)))
}

func (rep *Report) writeQuantileRow(p *page, name string, q *Quantiles) {
	u := unitFor(max(float64(q.P95.Ns), float64(q.Max)/1e4)) // so that the longest step keeps its digits
	in := func(ns int64) string { return u.in(float64(ns)) }
	high := in(q.P95.High)
	if q.P95.Open {
		high = "open"
	}
	style := plain
	if name == "step" {
		style = bold
	}
	p.line(span(left(name, 10)+left(u.Name, 4)+right(in(q.P50.Ns), 10)), styled(style, right(in(q.P95.Ns), 10)),
		span("   "+left(in(q.P95.Low)+" … "+high, 21)+right(in(q.P99.Ns), 10)+right(in(q.Max), 10)))
}

// writePhases writes the table of phases, with their shares of all steps and of the slow ones.
func (rep *Report) writePhases(p *page) {
	if len(rep.Phases) == 0 {
		return
	}
	most := 0.0
	name := p.width - 56
	u := unitFor(0)
	for _, row := range rep.Phases {
		most = max(most, row.SlowShare)
		if next := unitFor(float64(row.P95)); next.Ns > u.Ns {
			u = next
		}
	}
	p.line()
	p.line(styled(dim, left("phase, "+u.Name, name)+right("p50", 9)+right("p95", 9)+right("share", 8)+right("in slowest 5%", 14)))
	for _, row := range rep.Phases {
		diff := row.SlowShare - row.Share
		style := plain
		switch {
		case diff >= 0.05:
			style = red
		case row.Name == unaccounted:
			style = dim
		}
		p.line(styled(style, left(clean(row.Name), name)),
			span(right(u.in(float64(row.P50)), 9)+right(u.in(float64(row.P95)), 9)+right(percent(row.Share), 8)+right(percent(row.SlowShare), 7)),
			styled(style, right(signed(100*diff), 7)), span(" "), styled(cyan, meter(share(row.SlowShare, most), p.width-name-41)))
	}
}

// percent and signed take six columns at most.
func percent(share float64) string {
	if math.Abs(share) >= 9.995 {
		return figure(math.Round(100*share)) + "%"
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}

func signed(v float64) string {
	if math.Abs(v) >= 999.5 {
		return figure(math.Round(v))
	}
	return fmt.Sprintf("%+.1f", math.Round(10*v)/10+0) // a zero without a minus
}

func (rep *Report) writeSentence(p *page) {
	if rep.Sentence == "" {
		return
	}
	p.line()
	p.prose(bold, "", clean(rep.Sentence))
	if rep.Far == 0 { // otherwise the sentence has named it
		p.prose(plain, "", clean("The slowest is step "+rep.describeWorst())+".")
	}
}

const barRows = 6

func (rep *Report) writeBars(p *page) {
	const margin = 10
	bars := rep.bars(p.width - margin)
	budget := float64(rep.Run.BudgetNs)
	top := float64(rep.Step.Max)
	if top == 0 {
		return
	}
	if budget > top && budget <= 2*top {
		top = budget
	}
	u := unitFor(top)
	limit := -1 // row in which the budget lies, from below
	if budget > 0 && budget <= top {
		limit = min(barRows-1, int(budget/top*barRows))
	}
	p.line()
	for row := barRows - 1; row >= 0; row-- {
		label := ""
		if row == barRows-1 || row == barRows/2-1 {
			label = u.in(top * float64(row+1) / barRows)
			if row == barRows-1 {
				label += " " + u.Name
			}
		}
		pieces := []piece{styled(dim, right(label, margin-1)+"┤")}
		for _, b := range bars {
			pieces = append(pieces, barCell(b, float64(b.MaxNs)/top*barRows-float64(row), row == limit))
		}
		p.line(pieces...)
	}
	last := "step " + count(rep.Run.Steps.Len()-1)
	axis := left("", margin) + "0" + right(last, max(len(last)+1, len(bars)-1))
	p.line(styled(dim, axis))
	notes := []string{"a column is a step"}
	if n := rep.Run.Steps.Len(); n > len(bars) {
		notes[0] = "a column is the slowest of " + figure(float64(n)/float64(len(bars))) + " steps"
	}
	switch {
	case limit >= 0:
		notes = append(notes, "╌ the budget")
	case budget > 0:
		notes = append(notes, fmt.Sprintf("the budget is %s times the tallest", figure(budget/float64(rep.Step.Max))))
	}
	p.prose(dim, left("", margin), strings.Join(notes, " · "))
}

// barCell draws a bar in a row, of which it fills the given part.
func barCell(b bar, fill float64, limit bool) piece {
	style := cyan
	if b.Over > 0 {
		style = red
	}
	switch eighths := int(math.Ceil(8 * fill)); {
	case eighths >= 8:
		return styled(style, "█")
	case eighths > 0:
		return styled(style, string([]rune(" ▁▂▃▄▅▆▇")[eighths]))
	case limit:
		return styled(yellow, "╌")
	}
	return span(" ")
}

func (rep *Report) writeCounters(p *page) {
	var notes []string
	if c := &rep.Collections; rep.Run.Steps.GCs != nil {
		notes = append(notes, fmt.Sprintf("collections ended in %d slow steps and %d others", c.SlowSteps, c.RestSteps))
	}
	if rep.Run.Allocs != 0 || rep.Run.Bytes != 0 {
		notes = append(notes, fmt.Sprintf("%s allocations, %s bytes per step", figure(rep.Run.Allocs), figure(rep.Run.Bytes)))
	}
	if len(rep.Counters) == 0 && len(notes) == 0 {
		return
	}
	p.line()
	name := p.width - 56
	if len(rep.Counters) > 0 {
		p.line(styled(dim, left("counted, per step", name)+right("p50", 10)+right("max", 10)+right("slow mean", 12)+right("others", 10)+right("with time", 13)))
	}
	for _, row := range rep.Counters {
		p.line(span(left(clean(row.Name), name) + right(figure(float64(row.P50)), 10) + right(figure(float64(row.Max)), 10) +
			right(figure(row.SlowMean), 12) + right(figure(row.RestMean), 10) + right(fmt.Sprintf("%+.2f", math.Round(100*row.Correlation)/100+0), 13)))
	}
	p.items(plain, 2, notes...)
}

func (rep *Report) writeHardware(p *page) {
	rows := rep.Run.hardwareRows()
	if len(rows) == 0 {
		return
	}
	name := p.width - 56
	p.line()
	p.line(styled(dim, left("CPU, per step", name)+right("instructions", 13)+right("cycles", 9)+right("per cycle", 10)+right("cache miss", 12)+right("branch miss", 12)))
	for _, row := range rows {
		p.line(span(left(clean(row.Name), name) + right(row.Instructions, 13) + right(row.Cycles, 9) + right(row.PerCycle, 10) +
			right(row.CacheMisses, 12) + right(row.BranchMisses, 12)))
	}
}

// writeWays writes a line for each way, and how many times as long each phase takes in it as in the
// first.
func (rep *Report) writeWays(p *page) {
	ways := rep.Run.Ways
	if len(ways) < 2 {
		return
	}
	p.line()
	p.line(styled(dim, left("by turns", 20)+right("steps", 7)+right("p50", 11)+right("p95", 11)+right("times", 7)+"   "+left("95 % interval", 18)))
	for i, w := range ways {
		within := interval(w.Times)
		if i == 0 {
			within = ""
		}
		p.line(span(left(clean(w.Name), 20)+right(count(w.Steps), 7)+right(duration(float64(w.P50Ns)), 11)+right(duration(float64(w.P95Ns)), 11)),
			styled(bold, right(figure(w.Times.Median), 7)), span("   "+left(within, 18)))
	}
	p.line()
	const name, column = 17, 7
	shown := min(len(ways), (p.width-name)/column)
	head := left("times, by phase", name)
	for _, w := range ways[:shown] {
		head += right(cut(clean(short(w.Name)), column-1), column)
	}
	p.line(styled(dim, head))
	for j, phase := range append(append([]string(nil), rep.Run.Steps.Phases...), unaccounted) {
		line := left(clean(phase), name)
		for i, w := range ways[:shown] {
			text := "-"
			switch first := float64(at(ways[0].PhaseNs, j)); {
			case i == 0:
				text = duration(first)
			case first > 0:
				text = figure(float64(at(w.PhaseNs, j)) / first)
			}
			line += right(text, column)
		}
		p.line(span(line))
	}
}

// short returns the last word of a name: of "paced, state read" it is "read".
func short(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }

func (rep *Report) writeLadder(p *page) {
	run := rep.Run
	if len(run.Ladder) > 0 {
		p.line()
		p.line(styled(dim, left("level", 16)+right("step p50", 12)+right("times as fast", 16)+"   "+left("95 % interval", 18)))
		best, same := 0.0, true
		for _, rung := range run.Ladder {
			best = max(best, rung.Speedup.Median)
			same = same && rung.Hash == run.Ladder[0].Hash
		}
		for i, rung := range run.Ladder {
			interval := interval(rung.Speedup)
			if i == 0 {
				interval = ""
			}
			p.line(span(left(clean(rung.Level), 16)+right(duration(float64(rung.StepNs)), 12)+right(figure(rung.Speedup.Median), 16)+"   "+left(interval, 18)),
				styled(cyan, meter(share(rung.Speedup.Median, best), p.width-65)))
		}
		if same {
			p.items(green, 2, "by turns in this run, and the same state hash on every level")
		} else {
			p.items(red, 2, "the state hashes of the levels DIFFER")
		}
	}
	for i, r := range run.Rivals {
		if i == 0 {
			p.line()
		}
		p.prose(plain, "", fmt.Sprintf("%s takes %s times as long as ours, %s with 95 %% confidence, by turns in this run.", clean(r.Name), figure(r.Median), interval(r)))
	}
}

func interval(r Ratio) string { return figure(r.Low) + " … " + figure(r.High) }

func (rep *Report) writeBaseline(p *page) {
	b := rep.Run.Baseline
	if b == nil {
		return
	}
	p.line()
	p.items(plain, 2, "compared with "+clean(b.Name), clean(b.Started))
	if !b.SameHost {
		p.prose(yellow, "  ", clean("The baseline ran on another machine or build ("+join(b.Env.CPU, ", ", join(b.Env.OS+"/"+b.Env.Arch, ", ", b.Env.Go))+"): only ratios are compared, not times."))
		return
	}
	for _, c := range []struct {
		name string
		*Change
	}{{"p50", &b.P50}, {"p95", &b.P95}} {
		text, style := c.Change.text()
		p.prose(style, "  "+c.name+"  ", text)
	}
}

// text describes a change: only a significant one is slower or faster.
func (c *Change) text() (string, style) {
	from, to := durations(float64(c.Was), float64(c.Is))
	more := func(ratio float64) string { return signed(100 * (ratio - 1)) }
	text := fmt.Sprintf("%s → %s, %s %% [%s %s]", from, to, more(c.Ratio.Median), more(c.Ratio.Low), more(c.Ratio.High))
	switch {
	case !c.Significant:
		return text + ": ~ no significant change", plain
	case c.Ratio.Median > 1:
		return text + ": significantly slower", red
	default:
		return text + ": significantly faster", green
	}
}

func (rep *Report) writeNotes(p *page) {
	run := rep.Run
	notes := 0
	note := func(style style, head, text string) {
		if notes == 0 {
			p.line()
		}
		notes++
		p.prose(style, head, clean(text))
	}
	for _, advice := range rep.Stability.Advice {
		note(yellow, "noisy  ", advice)
	}
	for _, warning := range run.Warnings {
		note(yellow, "warn   ", warning)
	}
	for _, reason := range run.Unwatched {
		note(dim, "absent ", reason)
	}
	if words := run.Noise.words(); len(words) > 0 {
		note(dim, "while  ", strings.Join(words, " · "))
	}
	if run.Overhead > 0 {
		style := dim
		if run.Overhead > 0.01 {
			style = yellow
		}
		note(style, "cost   ", fmt.Sprintf("recording took %s %% of the steps' time", figure(100*run.Overhead)))
	}
}

func (rep *Report) writeEnd(p *page) {
	for i, file := range rep.Files {
		head := "       "
		if i == 0 {
			p.line()
			head = "wrote  "
		}
		p.prose(plain, head, clean(file))
	}
	if rep.Next != "" {
		if len(rep.Files) == 0 {
			p.line()
		}
		p.command("next   ", clean(rep.Next))
	}
}
