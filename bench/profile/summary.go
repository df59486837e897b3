package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evertick/evertick/internal/fault"
)

// summarySchema names the format of summary.json. The number after the slash increases when a
// reader of the earlier format would misread it, but not for additional fields.
const summarySchema = "evertick.profile/1"

// Summary is the content of summary.json: all of a report except the steps. Times are in
// nanoseconds, shares between 0 and 1; seeds are strings of decimal digits, since not every reader
// of JSON keeps 64 bits.
type Summary struct {
	Schema string `json:"schema"`

	Scene   string      `json:"scene"`
	Params  []Param     `json:"params,omitempty"`
	Env     Environment `json:"environment"`
	Level   string      `json:"level"`
	Workers int         `json:"workers"`
	Seed    uint64      `json:"seed,string"`
	Started string      `json:"started,omitempty"`
	Command string      `json:"command,omitempty"`

	BudgetNs int64   `json:"budget_ns"`
	RateHz   float64 `json:"rate_hz"`
	Warmup   int     `json:"warmup"`
	Steps    int     `json:"steps"`
	Dropped  uint64  `json:"dropped"`

	StepNs     Quantiles  `json:"step_ns"`
	OverBudget int        `json:"over_budget"`
	LatenessNs *Quantiles `json:"lateness_ns,omitempty"` // none without a schedule
	Late       int        `json:"late"`                  // steps that began more than a step late

	SlowSteps   int          `json:"slow_steps"` // the slowest 5 %
	SlowMeanNs  float64      `json:"slow_mean_ns"`
	RestMeanNs  float64      `json:"rest_mean_ns"`
	Phases      []phaseRow   `json:"phases,omitempty"`
	Counters    []counterRow `json:"counters,omitempty"`
	Collections collections  `json:"collections"`
	Findings    []finding    `json:"findings,omitempty"`
	Sentence    string       `json:"sentence,omitempty"`
	Worst       []worst      `json:"worst,omitempty"`
	Stability   stability    `json:"stability"`

	Parity    *Parity   `json:"parity,omitempty"`
	Hash      string    `json:"hash,omitempty"`
	Allocs    float64   `json:"allocs_per_step"`
	Bytes     float64   `json:"bytes_per_step"`
	Overhead  float64   `json:"overhead"`
	Hardware  *Hardware `json:"hardware,omitempty"`
	Noise     *Noise    `json:"noise,omitempty"`
	Ladder    []Rung    `json:"ladder,omitempty"`
	Ways      []Way     `json:"ways,omitempty"`
	Rivals    []Ratio   `json:"rivals,omitempty"`
	Baseline  *Baseline `json:"baseline,omitempty"` // without its steps
	Warnings  []string  `json:"warnings,omitempty"`
	Unwatched []string  `json:"unwatched,omitempty"`
}

// summary returns all of the report except the steps. It shares memory with the report.
func (rep *Report) summary() *Summary {
	run := rep.Run
	s := &Summary{
		Schema: summarySchema, Scene: run.Scene, Params: run.Params, Env: run.Env, Level: run.Level, Workers: run.Workers,
		Seed: run.Seed, Started: run.Started, Command: run.Command,
		BudgetNs: run.BudgetNs, RateHz: run.RateHz, Warmup: run.Warmup, Steps: run.Steps.Len(), Dropped: run.Dropped,
		StepNs: rep.Step, OverBudget: rep.Over, Late: rep.Late,
		SlowSteps: len(rep.Slow), SlowMeanNs: rep.SlowMeanNs, RestMeanNs: rep.RestMeanNs, Phases: rep.Phases, Counters: rep.Counters,
		Collections: rep.Collections, Findings: rep.Findings, Sentence: rep.Sentence, Worst: rep.Worst, Stability: rep.Stability,
		Parity: run.Parity, Hash: run.Hash, Allocs: run.Allocs, Bytes: run.Bytes, Overhead: run.Overhead, Hardware: run.Hardware, Noise: run.Noise,
		Ladder: run.Ladder, Ways: run.Ways, Rivals: run.Rivals, Baseline: run.Baseline, Warnings: run.Warnings, Unwatched: run.Unwatched,
	}
	if rep.Scheduled {
		s.LatenessNs = &rep.Lateness
	}
	return s
}

// Run returns the run of the summary without its steps: see ReadDir.
func (s *Summary) Run() *Run {
	return &Run{
		Scene: s.Scene, Params: s.Params, Env: s.Env, Level: s.Level, Workers: s.Workers, Seed: s.Seed, Started: s.Started, Command: s.Command,
		BudgetNs: s.BudgetNs, RateHz: s.RateHz, Warmup: s.Warmup, Dropped: s.Dropped,
		Parity: s.Parity, Hash: s.Hash, Allocs: s.Allocs, Bytes: s.Bytes, Overhead: s.Overhead, Hardware: s.Hardware, Noise: s.Noise,
		Ladder: s.Ladder, Ways: s.Ways, Rivals: s.Rivals, Baseline: s.Baseline, Warnings: s.Warnings, Unwatched: s.Unwatched,
	}
}

// WriteSummary writes the summary as one JSON object. It returns ErrNotFinite, and writes nothing, if a number is not finite.
func (rep *Report) WriteSummary(w io.Writer) error {
	var errs []error
	rep.Run.numbers(func(field string, value float64) {
		if !fault.Finite(value) { // JSON has no such numbers
			errs = append(errs, fault.Field(fault.ErrNotFinite, "profile: Run."+field, value))
		}
	})
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	text, err := json.MarshalIndent(rep.summary(), "", "  ")
	if err != nil {
		return fmt.Errorf("profile: summary: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// maxSummaryBytes is more than a hundred times the size for many phases.
const maxSummaryBytes = 16 << 20

// ReadSummary reads the format of WriteSummary, at most 16 MiB. Other input, and impossible values,
// are ErrCorrupt, and the error names line or field; another schema is evertick.ErrUnsupported. It ignores
// unknown fields.
func ReadSummary(r io.Reader) (*Summary, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSummaryBytes+1))
	if err != nil {
		return nil, fmt.Errorf("profile: summary: %w", err)
	}
	if len(text) > maxSummaryBytes {
		return nil, fmt.Errorf("profile: summary: more than %d bytes: %w", maxSummaryBytes, fault.ErrCorrupt)
	}
	var head struct {
		Schema string `json:"schema"`
		Seed   string `json:"seed"`
		Parity struct {
			Seed string `json:"seed"`
		} `json:"parity"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, inSummary(text, err)
	}
	if head.Schema != summarySchema {
		name, _, ok := strings.Cut(head.Schema, "/")
		if want, _, _ := strings.Cut(summarySchema, "/"); !ok || name != want {
			return nil, fault.Field(fault.ErrCorrupt, "profile: summary: schema", shown(head.Schema))
		}
		return nil, fault.Field(fault.ErrUnsupported, "profile: summary: schema", shown(head.Schema)+", not "+summarySchema)
	}
	for _, seed := range []Param{{"seed", head.Seed}, {"parity.seed", head.Parity.Seed}} {
		if _, err := strconv.ParseUint(seed.Value, 10, 64); err != nil && seed.Value != "" { // encoding/json would not say which
			return nil, fault.Field(fault.ErrCorrupt, "profile: summary: "+seed.Name, shown(seed.Value))
		}
	}
	s := &Summary{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, inSummary(text, err)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, fault.ErrCorrupt)
	}
	return s, nil
}

// inSummary adds the line to an error of encoding/json.
func inSummary(text []byte, err error) error {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
		if kind.Field != "" {
			err = fmt.Errorf("field %s: %w", kind.Field, err)
		}
	}
	if offset < 0 {
		return fmt.Errorf("profile: summary: %w: %w", err, fault.ErrCorrupt)
	}
	line := 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
	return fmt.Errorf("profile: summary: line %d: %w: %w", line, err, fault.ErrCorrupt)
}

// Validate reports every field with an impossible value: evertick.ErrRange.
func (s *Summary) Validate() error {
	var errs []error
	check := func(ok bool, field string, value any) {
		if !ok {
			errs = append(errs, fault.Field(fault.ErrRange, "profile: summary: "+field, value))
		}
	}
	quantiles := func(field string, q *Quantiles, least int64) {
		for _, one := range []struct {
			name string
			Quantile
		}{{"p50", q.P50}, {"p95", q.P95}, {"p99", q.P99}} {
			check(least <= one.Low && one.Low <= one.Ns && one.Ns <= one.High && one.High <= q.Max, field+"."+one.name, fmt.Sprint(one.Quantile))
		}
		check(q.P50.Ns <= q.P95.Ns && q.P95.Ns <= q.P99.Ns, field, "quantiles that do not ascend")
		check(q.Worth >= 0, field+".worth", q.Worth)
	}
	check(s.BudgetNs >= 0, "budget_ns", s.BudgetNs)
	check(s.RateHz >= 0, "rate_hz", s.RateHz)
	check(s.Warmup >= 0, "warmup", s.Warmup)
	check(s.Workers >= 0, "workers", s.Workers)
	check(s.Steps >= 0, "steps", s.Steps)
	check(s.OverBudget >= 0 && s.OverBudget <= s.Steps, "over_budget", s.OverBudget)
	check(s.Late >= 0 && s.Late <= s.Steps, "late", s.Late)
	check(s.SlowSteps >= 0 && s.SlowSteps <= s.Steps, "slow_steps", s.SlowSteps)
	quantiles("step_ns", &s.StepNs, 0)
	if s.LatenessNs != nil {
		quantiles("lateness_ns", s.LatenessNs, math.MinInt64)
	}
	for i, w := range s.Worst {
		check(w.Step >= 0 && w.Step < s.Steps && w.Ns >= 0, fmt.Sprintf("worst[%d]", i), w)
	}
	for i, w := range s.Ways {
		check(w.Steps >= 0 && w.P50Ns >= 0, fmt.Sprintf("ways[%d]", i), w.Name)
	}
	s.Run().ratios(func(field string, r Ratio) {
		check(r.Low >= 0 && r.Low <= r.Median && r.Median <= r.High, field, fmt.Sprint(r))
	})
	check(!slices.ContainsFunc(s.Params, func(p Param) bool { return p.Name == "" }), "params", "one without a name")
	return errors.Join(errs...)
}
