package profile

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// The charts of the page are drawn from JSON. Columns of numbers are varints in base64: two bytes
// for most of the times.

// maxDataBytes bounds the columns, and packedBytes is the average size of a number in them: a
// little more than two bytes, times four thirds in base64.
const (
	maxDataBytes = 250_000
	packedBytes  = 2.85
)

// htmlData is read by report.js.
type htmlData struct {
	Unit   unit  `json:"unit"`
	Steps  int   `json:"steps"`
	Bucket int   `json:"bucket"` // steps that share a place, which shows the slowest of them
	Budget int64 `json:"budget"` // ns; 0: none
	P50    int64 `json:"p50"`
	P95    int64 `json:"p95"`
	Max    int64 `json:"max"`

	Tick   packed       `json:"tick"`
	Ns     packed       `json:"ns"`
	Mean   *packed      `json:"mean,omitempty"`  // of the steps of a place, if it has several
	Over   *packed      `json:"over,omitempty"`  // steps of a place that exceeded the budget
	Phases []htmlPhase  `json:"phases"`          // the last is Unaccounted
	Causes []htmlCause  `json:"causes"`          // that the time of a step may depend on
	Curve  [][2]float64 `json:"curve"`           // log10(1/(1-q)), ns
	Was    [][2]float64 `json:"was,omitempty"`   // the same of the baseline
	WasBy  string       `json:"wasBy,omitempty"` // its name
}

// htmlPhase is a phase. Mean is of the steps of a place.
type htmlPhase struct {
	Name string  `json:"name"`
	Look string  `json:"look"` // classes of the style
	All  float64 `json:"all"`  // mean ns over all steps
	Ns   packed  `json:"ns"`
	Mean *packed `json:"mean,omitempty"`
}

// htmlCause is a column for the scatter chart.
type htmlCause struct {
	Name   string  `json:"name"`
	Time   bool    `json:"time"` // nanoseconds
	Rank   float64 `json:"rank"` // Spearman's correlation with the step
	Values packed  `json:"values"`
}

// packed is a column: numbers divided by Unit, as varints; with Delta they are differences,
// zigzag-coded.
type packed struct {
	Data  string  `json:"d"`
	Unit  float64 `json:"u"`
	Delta bool    `json:"z,omitempty"`
}

// pack rounds to the unit.
func pack(values []int64, unit int64) packed {
	const most = 1 << 52 // a number of JavaScript holds it exactly, and a difference as well
	delta := unit == 1 && ascends(values)
	for _, v := range values {
		delta = delta || v < 0
	}
	var data []byte
	was := int64(0)
	for _, v := range values {
		v = min(max(v, -most), most)
		v = int64(math.Round(float64(v) / float64(unit)))
		if delta {
			v, was = v-was, v
			data = binary.AppendVarint(data, v)
		} else {
			data = binary.AppendUvarint(data, uint64(v))
		}
	}
	return packed{Data: base64.StdEncoding.EncodeToString(data), Unit: float64(unit), Delta: delta}
}

func ascends(values []int64) bool {
	for i := 1; i < len(values); i++ {
		if values[i] < values[i-1] {
			return false
		}
	}
	return true
}

// packTimes rounds to a thousandth of the median or finer.
func packTimes(values []int64) packed { return pack(values, quantum(values)) }

// packCounts is exact while numbers are small.
func packCounts(values []int64) packed {
	for _, v := range values {
		if v >= 1<<21 || v <= -1<<21 {
			return pack(values, quantum(values))
		}
	}
	return pack(values, 1)
}

// quantum returns the largest power of ten that is at most 1/500 of the median of the values, zeros
// left out.
func quantum(values []int64) int64 {
	var sizes []int64
	for _, v := range values {
		if v != 0 && v != math.MinInt64 {
			sizes = append(sizes, max(v, -v))
		}
	}
	unit := int64(1)
	if len(sizes) > 0 {
		for median := nearestRank(sortedCopy(sizes), 0.5); median/(unit*10) >= 500; {
			unit *= 10
		}
	}
	return unit
}

// data returns the data of the charts. Runs of many steps are thinned out.
func (rep *Report) data() *htmlData {
	run, s := rep.Run, &rep.Run.Steps
	p := places(s.Len(), 6+len(s.PhaseNs)+len(s.Counts))
	if p.bucket > 1 {
		p = places(s.Len(), 8+2*len(s.PhaseNs)+len(s.Counts))
	}
	p.slowest(s.Ns)
	d := &htmlData{
		Unit: unitOf(rep.Step.P50.Ns), Steps: s.Len(), Bucket: p.bucket, Budget: run.BudgetNs,
		P50: rep.Step.P50.Ns, P95: rep.Step.P95.Ns, Max: rep.Step.Max,
		Tick: pack(p.pick(s.ticks()), 1), Ns: pack(p.pick(s.Ns), 1),
		Phases: []htmlPhase{}, Causes: rep.causes(p), Curve: percentileCurve(sortedCopy(s.Ns)),
	}
	if p.bucket > 1 {
		d.Mean, d.Over = new(packed), new(packed)
		*d.Mean, *d.Over = packTimes(p.mean(s.Ns)), packCounts(p.above(s.Ns, run.BudgetNs))
	}
	looks := rep.looks()
	for i, row := range rep.Phases {
		ns := s.column(i)
		phase := htmlPhase{Name: row.Name, Look: looks[i], All: math.Round(row.MeanNs), Ns: packTimes(p.pick(ns))}
		if p.bucket > 1 {
			mean := packTimes(p.mean(ns))
			phase.Mean = &mean
		}
		d.Phases = append(d.Phases, phase)
	}
	if b := run.Baseline; b != nil && b.SameHost && len(b.StepNs) > 0 {
		d.Was, d.WasBy = percentileCurve(b.StepNs), b.Name
	}
	return d
}

// column returns the column of a phase or, after the last of them, the unaccounted time.
func (s *Steps) column(phase int) []int64 {
	if phase < len(s.PhaseNs) {
		return s.PhaseNs[phase]
	}
	rest := make([]int64, s.Len())
	for i := range rest {
		rest[i] = s.unaccounted(i)
	}
	return rest
}

func (s *Steps) ticks() []int64 {
	ticks := make([]int64, s.Len())
	for i := range ticks {
		ticks[i] = int64(i)
		if s.Tick != nil {
			ticks[i] = int64(min(s.Tick[i], math.MaxInt64))
		}
	}
	return ticks
}

func (rep *Report) causes(p *place) []htmlCause {
	run, s := rep.Run, &rep.Run.Steps
	causes := []htmlCause{}
	var times []float64
	add := func(name string, column []int64, time bool) {
		if len(column) == 0 || ascends(column) && column[0] == column[len(column)-1] {
			return
		}
		if times == nil {
			times = ranks(s.Ns)
		}
		values := packCounts
		if time {
			values = packTimes
		}
		causes = append(causes, htmlCause{Name: name, Time: time, Rank: correlation(ranks(column), times), Values: values(p.pick(column))})
	}
	for i, name := range s.Counters {
		add(name, s.Counts[i], false)
	}
	add("collections that ended", s.GCs, false)
	add("pauses of the collector", s.GCPauseNs, true)
	add("assists to the collector", s.GCAssistNs, true)
	if run.RateHz > 0 {
		add("lateness of the step", s.latenessNs(), true)
	}
	return causes
}

// percentileCurve samples the quantiles by the nearest rank, along x = log10(1/(1-q)). Where the
// curve is level it keeps only the ends. It reaches half a step beyond the last, so that it
// includes the longest step.
func percentileCurve(sorted []int64) [][2]float64 {
	const points = 400
	curve := [][2]float64{}
	if len(sorted) == 0 {
		return curve
	}
	last := math.Log10(2 * float64(len(sorted)))
	for i := range points + 1 {
		x := last * float64(i) / points
		v := float64(nearestRank(sorted, -math.Expm1(-x*math.Ln10)))
		x = math.Round(x*1e4) / 1e4
		if n := len(curve); n > 1 && curve[n-1][1] == v && curve[n-2][1] == v {
			curve[n-1][0] = x
			continue
		}
		curve = append(curve, [2]float64{x, v})
	}
	return curve
}

// place maps steps to places in the charts, a bucket of steps to each.
type place struct {
	steps, bucket int
	slow          []int // the slowest step of each
}

// places chooses the smallest bucket for which the columns fit into the page.
func places(steps, columns int) *place {
	room := max(200, int(maxDataBytes/(packedBytes*float64(columns))))
	return &place{steps: steps, bucket: max(1, (steps+room-1)/room)}
}

func (p *place) slowest(ns []int64) {
	for from := 0; from < p.steps; from += p.bucket {
		slow := from
		for i := from; i < min(from+p.bucket, p.steps); i++ {
			if ns[i] > ns[slow] {
				slow = i
			}
		}
		p.slow = append(p.slow, slow)
	}
}

// pick returns the value of the slowest step of each place; 0 for a missing column.
func (p *place) pick(column []int64) []int64 {
	values := make([]int64, len(p.slow))
	for k, i := range p.slow {
		values[k] = at(column, i)
	}
	return values
}

func (p *place) mean(column []int64) []int64 {
	values := make([]int64, 0, len(p.slow))
	for from := 0; from < p.steps; from += p.bucket {
		to := min(from+p.bucket, p.steps)
		sum := 0.0
		for _, v := range column[from:to] {
			sum += float64(v)
		}
		values = append(values, int64(math.Round(sum/float64(to-from))))
	}
	return values
}

// above counts the steps of each place that took longer than the limit; 0 without a limit.
func (p *place) above(column []int64, limit int64) []int64 {
	values := make([]int64, len(p.slow))
	for i, v := range column {
		if limit > 0 && v > limit {
			values[i/p.bucket]++
		}
	}
	return values
}

const (
	// paletteSize is the number of colours for phases, from 1; colour 0 is for all others, and
	// paletteSize+1 for the unaccounted time.
	paletteSize = 8
	// textures is the number of fillings, of which the first is plain: phases of the same colour
	// differ by stripes or dots.
	textures = 5
)

// looks returns the classes of each phase, a colour and a texture. The phases that take the most
// time of the slow steps get plain colours, the next ones the next texture, and so on, each group
// in the order in which its phases run. Phases beyond paletteSize*textures look the same.
func (rep *Report) looks() []string {
	looks := make([]string, len(rep.Phases))
	if len(looks) == 0 {
		return looks
	}
	last := len(looks) - 1
	order := make([]int, last) // the rank of each phase by what it takes, from 0
	byTime := make([]int, last)
	for i := range byTime {
		byTime[i] = i
	}
	slices.SortStableFunc(byTime, func(a, b int) int { return cmp.Compare(rep.Phases[b].SlowMeanNs, rep.Phases[a].SlowMeanNs) })
	for rank, i := range byTime {
		order[i] = rank
	}
	next := [textures]int{}
	for i, rank := range order {
		texture := rank / paletteSize
		if texture >= textures {
			looks[i] = "c0"
			continue
		}
		next[texture]++
		looks[i] = fmt.Sprintf("c%d", next[texture])
		if texture > 0 {
			looks[i] += fmt.Sprintf(" t%d", texture)
		}
	}
	looks[last] = fmt.Sprintf("c%d", paletteSize+1)
	return looks
}
