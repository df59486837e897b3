package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
)

// budgetNs is the time that a step may take at 60 Hz.
const budgetNs = 1_000_000_000 / 60

// report is what -json prints.
type report struct {
	Scene       string              `json:"scene"`
	Seed        uint64              `json:"seed"`
	SimVersion  int                 `json:"sim_version"`
	Environment profile.Environment `json:"environment"`
	Level       string              `json:"level"`
	Workers     int                 `json:"workers"`
	Entities    int                 `json:"entities"`
	Agents      int                 `json:"agents"`
	Bodies      int                 `json:"bodies"`
	Ticks       int                 `json:"ticks"`
	Warmup      int                 `json:"warmup"`

	BudgetNs   int64     `json:"budget_ns"`
	StepNs     quantiles `json:"step_ns"`
	OverBudget int       `json:"over_budget"` // steps
	Phases     []row     `json:"phases"`      // the last is what no phase accounts for

	AllocsPerStep float64 `json:"allocs_per_step"`
	BytesPerStep  float64 `json:"bytes_per_step"`
	QueriesPerSt  float64 `json:"queries_per_step"`
	HitsPerQuery  float64 `json:"hits_per_query"`

	Hash              string `json:"hash"`
	HashWithoutBodies string `json:"hash_without_bodies"`

	Compare *comparison `json:"compare,omitempty"`
}

// row of the phase table.
type row struct {
	Name string `json:"name"`
	quantiles
	Share float64 `json:"share"` // of the time of all steps
}

func newReport(o options, s *scene, r *recorder) report {
	n := float64(len(r.steps))
	rep := report{
		Scene: o.scene, Seed: o.seed, SimVersion: evertick.SimVersion,
		Environment: profile.ThisEnvironment(), Level: s.sim.Level().String(), Workers: o.workers,
		Entities: s.entities, Agents: s.agents, Bodies: s.bodies, Ticks: o.ticks, Warmup: o.warmup,
		BudgetNs: budgetNs, StepNs: quantilesOf(r.steps),
		AllocsPerStep: float64(r.allocs) / n, BytesPerStep: float64(r.bytes) / n,
		QueriesPerSt: float64(s.asks) / n, HitsPerQuery: float64(s.hits) / float64(max(s.asks, 1)),
		Hash:              fmt.Sprintf("%016x", s.sim.Hash()),
		HashWithoutBodies: fmt.Sprintf("%016x", s.bodilessHash()),
	}
	for _, ns := range r.steps {
		if ns > rep.BudgetNs {
			rep.OverBudget++
		}
	}
	total := float64(sum(r.steps))
	addRow := func(name string, ns []int64) {
		rep.Phases = append(rep.Phases, row{name, quantilesOf(ns), float64(sum(ns)) / total})
	}
	for i, name := range r.names {
		addRow(name, r.phases[i])
	}
	addRow("(unaccounted)", r.unaccounted())
	return rep
}

// deliver prints a report as one JSON object, if that was asked for, or as text.
func (o *options) deliver(w io.Writer, rep interface{ writeText(io.Writer) error }) error {
	if !o.json {
		return rep.writeText(w)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rep)
}

func (r *report) writeText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ticks, %d of them warm-up · seed %d · %d agents and %d bodies among %d entities\n\n",
		r.Ticks, r.Warmup, r.Seed, r.Agents, r.Bodies, r.Entities)
	fmt.Fprintf(&b, "step   p50 %s   p95 %s   p99 %s   max %s µs   of a budget of %s µs: p95 is %.1f %%; over it %d of %d\n\n",
		micros(r.StepNs.P50), micros(r.StepNs.P95), micros(r.StepNs.P99), micros(r.StepNs.Max), micros(r.BudgetNs),
		100*float64(r.StepNs.P95)/float64(r.BudgetNs), r.OverBudget, r.Ticks-r.Warmup)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "phase, µs\tp50\tp95\tp99\tmax\tshare\t")
	for _, p := range r.Phases {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.1f %%\t\n", p.Name,
			micros(p.P50), micros(p.P95), micros(p.P99), micros(p.Max), 100*p.Share)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nqueries  %.0f a step, %.1f hits each\n", r.QueriesPerSt, r.HitsPerQuery)
	fmt.Fprintf(&b, "memory   %.1f allocations, %.0f bytes a step\n", r.AllocsPerStep, r.BytesPerStep)
	fmt.Fprintf(&b, "hash     %s   without bodies %s\n", r.Hash, r.HashWithoutBodies)
	if r.Compare != nil {
		r.Compare.writeText(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// micros prints nanoseconds as microseconds.
func micros(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e3) }
