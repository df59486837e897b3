package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// bodiesReport is what -json prints of a scene of bodies.
type bodiesReport struct {
	Scene       string              `json:"scene"`
	N           int                 `json:"n"`
	Seed        uint64              `json:"seed"`
	Environment profile.Environment `json:"environment"`
	Level       string              `json:"level"`
	Workers     int                 `json:"workers"`
	Bodies      int                 `json:"bodies"` // that are dynamic
	Shapes      int                 `json:"shapes"`
	Joints      int                 `json:"joints"`
	Sleep       bool                `json:"sleep"`
	Continuous  bool                `json:"continuous"`
	Touching    int                 `json:"touching"` // pairs of shapes, at the end
	Ticks       int                 `json:"ticks"`
	Warmup      int                 `json:"warmup"`

	Clock  string    `json:"clock"` // of the steps
	StepNs quantiles `json:"step_ns"`
	Stages []row     `json:"stages"` // of the step, by the wall clock

	AllocsPerStep float64 `json:"allocs_per_step"`
	BytesPerStep  float64 `json:"bytes_per_step"`

	Hash    string      `json:"hash"`
	Compare *comparison `json:"compare,omitempty"`
}

// comparison is with another engine that took turns with ours in the same scene.
type comparison struct {
	Name      string  `json:"name"`
	Ratio     float64 `json:"ratio"`      // theirs to ours, of the medians
	RatioLow  float64 `json:"ratio_low"`  // of an interval of 95 % confidence
	RatioHigh float64 `json:"ratio_high"` // likewise
	OursNs    int64   `json:"ours_ns"`    // median step
	TheirsNs  int64   `json:"theirs_ns"`

	OursP95Ns   int64 `json:"ours_p95_ns"`
	TheirsP95Ns int64 `json:"theirs_p95_ns"`

	Peer      string  `json:"peer,omitempty"`       // measured apart
	PeerRatio float64 `json:"peer_ratio,omitempty"` // of theirs to the peer
	Goal      float64 `json:"goal,omitempty"`       // for Ratio
}

func newBodiesReport(o *options, level native.Level, ours, theirs *contender) *bodiesReport {
	n := float64(len(ours.steps))
	w := ours.scene.World
	rep := &bodiesReport{
		Scene: o.scene, N: o.n, Seed: o.seed, Environment: profile.ThisEnvironment(), Level: level.String(), Workers: o.workers,
		Bodies: len(ours.scene.Bodies), Shapes: w.ShapeCount(),
		Joints: ours.scene.Joints, Sleep: o.sleep, Continuous: o.continuous, Touching: ours.touching, Ticks: o.ticks, Warmup: o.warmup,
		StepNs:        quantilesOf(ours.steps),
		AllocsPerStep: float64(ours.memory.allocs) / n, BytesPerStep: float64(ours.memory.bytes) / n,
		Hash: fmt.Sprintf("%016x", w.Hash()),
	}
	rep.Clock, _ = o.chooseClock()
	total := 0.
	for _, ns := range ours.stageNs {
		total += float64(sum(ns))
	}
	for i, name := range ours.stages {
		rep.Stages = append(rep.Stages, row{name, quantilesOf(ours.stageNs[i]), float64(sum(ours.stageNs[i])) / total})
	}
	if theirs != nil {
		rep.Compare = newComparison(o, ours.steps, theirs.steps)
	}
	return rep
}

func newComparison(o *options, ours, theirs []int64) *comparison {
	mine, others := quantilesOf(ours), quantilesOf(theirs)
	c := &comparison{Name: o.compare, OursNs: mine.P50, TheirsNs: others.P50, OursP95Ns: mine.P95, TheirsP95Ns: others.P95}
	c.Ratio, c.RatioLow, c.RatioHigh = medianRatio(theirs, ours, o.seed)
	if p := publishedFor(o.scene, o.n); p != nil && o.compare == compareBox2D {
		c.Peer, c.PeerRatio, c.Goal = "Box2D v3, AVX2", p.v3, p.goal
	}
	return c
}

func (r *bodiesReport) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ticks, %d of them warm-up · seed %d · %d bodies, %d shapes, %d pairs of them touch%s\n\n",
		r.Ticks, r.Warmup, r.Seed, r.Bodies, r.Shapes, r.Touching, r.besides())
	fmt.Fprintf(&b, "step   p50 %s   p95 %s   p99 %s   max %s µs   (%s)\n\n",
		micros(r.StepNs.P50), micros(r.StepNs.P95), micros(r.StepNs.P99), micros(r.StepNs.Max), r.Clock)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "stage, µs\tp50\tp95\tp99\tmax\tshare\t")
	for _, p := range r.Stages {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.1f %%\t\n", p.Name,
			micros(p.P50), micros(p.P95), micros(p.P99), micros(p.Max), 100*p.Share)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nmemory   %.1f allocations, %.0f bytes a step\n", r.AllocsPerStep, r.BytesPerStep)
	fmt.Fprintf(&b, "hash     %s\n", r.Hash)
	if c := r.Compare; c != nil {
		c.writeText(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// besides names what not every scene has.
func (r *bodiesReport) besides() (text string) {
	if r.Joints > 0 {
		text += fmt.Sprintf(" · %d joints", r.Joints)
	}
	if r.Sleep {
		text += " · sleep"
	}
	if r.Continuous {
		text += " · continuous"
	}
	return text
}

func (c *comparison) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "compare  %s takes %s µs, ours %s (medians of steps by turns): %.2f times as long [%.2f–%.2f]\n",
		c.Name, micros(c.TheirsNs), micros(c.OursNs), c.Ratio, c.RatioLow, c.RatioHigh)
	fmt.Fprintf(b, "         p95 %s and %s µs: %.2f times\n", micros(c.TheirsP95Ns), micros(c.OursP95Ns),
		float64(c.TheirsP95Ns)/float64(c.OursP95Ns))
	if c.Goal != 0 {
		fmt.Fprintf(b, "         %s, measured apart, is %g on this scale; the goal is %g\n", c.Peer, c.PeerRatio, c.Goal)
	}
}
