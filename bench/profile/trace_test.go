package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"pgregory.net/rapid"
)

// traceEvent is an event with the fields that the format gives the kinds that are written.
type traceEvent struct {
	Phase string                     `json:"ph"`
	Pid   *int                       `json:"pid"`
	Tid   *int                       `json:"tid"`
	Ts    *json.Number               `json:"ts"`
	Dur   *json.Number               `json:"dur"`
	Name  *string                    `json:"name"`
	Scope string                     `json:"s"`
	Args  map[string]json.RawMessage `json:"args"`
}

type traceFile struct {
	Unit   string                     `json:"displayTimeUnit"`
	Other  map[string]json.RawMessage `json:"otherData"`
	Events []traceEvent               `json:"traceEvents"`
}

// nanos is a time of the format in nanoseconds: microseconds with three decimals.
func nanos(t *testing.T, n *json.Number) int64 {
	t.Helper()
	us, err := n.Float64()
	if err != nil {
		t.Fatalf("time %q: %v", *n, err)
	}
	return int64(math.Round(us * 1000))
}

// parseTrace reads a trace and checks it against the description of the format: the fields
// that each kind of event has to have, times that are not negative, and complete events of a
// row that nest or follow one another, those around before those within.
func parseTrace(t *testing.T, data []byte) *traceFile {
	t.Helper()
	var f traceFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		t.Fatal(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		t.Fatalf("after the trace: %v", err)
	}
	if f.Unit != "ms" {
		t.Fatalf("displayTimeUnit %q", f.Unit)
	}
	named := map[int]bool{}
	open := map[int][]int64{} // by row: when the events end within which the next may be
	for i, e := range f.Events {
		at := func(what string) { t.Helper(); t.Fatalf("event %d, %+v: %s", i, e, what) }
		if e.Pid == nil || e.Tid == nil || e.Ts == nil || e.Name == nil {
			at("no pid, tid, ts or name")
		}
		ts := nanos(t, e.Ts)
		if ts < 0 {
			at("before the trace")
		}
		if (e.Dur != nil) != (e.Phase == "X") || (e.Scope != "") != (e.Phase == "i") {
			at("a field of another kind of event")
		}
		switch e.Phase {
		case "M":
			if *e.Name == "thread_name" {
				named[*e.Tid] = true
			}
			if len(e.Args) != 1 {
				at("an unexpected event")
			}
		case "X":
			end, stack := ts+nanos(t, e.Dur), open[*e.Tid]
			for len(stack) > 0 && stack[len(stack)-1] <= ts {
				stack = stack[:len(stack)-1]
			}
			if end < ts || len(stack) > 0 && end > stack[len(stack)-1] {
				at("it overlaps the one around it")
			}
			open[*e.Tid] = append(stack, end)
		case "i":
			if e.Scope != "t" { // viewers show no arguments of other scopes
				at("scope")
			}
		case "C":
			if len(e.Args) == 0 {
				at("a counter without a series")
			}
			for _, v := range e.Args {
				if _, err := json.Number(v).Float64(); err != nil {
					at("a counter that is no number")
				}
			}
		default:
			at("unknown kind")
		}
		if e.Phase != "M" && !named[*e.Tid] {
			at("in a row without a name")
		}
	}
	return &f
}

func traceOf(t *testing.T, run *Run) *traceFile {
	t.Helper()
	var b bytes.Buffer
	if err := run.writeTrace(&b); err != nil {
		t.Fatal(err)
	}
	return parseTrace(t, b.Bytes())
}

// The trace contains the columns of the run.
func TestTraceHoldsTheRun(t *testing.T) {
	run := furnish(synthetic(planted{seed: 7, steps: 500, cause: byCollections}))
	s := &run.Steps
	f := traceOf(t, run)
	var steps, frames, gcs int
	phases := map[string]int64{}
	counters := map[string]int{}
	for _, e := range f.Events {
		switch ts := nanos(t, e.Ts); e.Phase {
		case "X":
			if *e.Name != "step" {
				phases[*e.Name] += nanos(t, e.Dur)
				continue
			}
			if ts != s.StartNs[steps]-s.DueNs[0] || nanos(t, e.Dur) != s.Ns[steps] || string(e.Args["tick"]) != fmt.Sprint(s.Tick[steps]) {
				t.Fatalf("step %d: %+v", steps, e)
			}
			steps++
		case "i":
			if *e.Name == "gc" {
				gcs++
			} else if *e.Name == "frame" {
				frames++
			}
		case "C":
			counters[*e.Name]++
		}
	}
	if steps != 500 || frames != 500 || gcs != int(sumOf(s.GCs)) || gcs == 0 {
		t.Errorf("%d steps, %d frames, %d collections", steps, frames, gcs)
	}
	rest := sumOf(s.Ns)
	for i, name := range s.Phases {
		if rest -= sumOf(s.PhaseNs[i]); phases[name] != sumOf(s.PhaseNs[i]) {
			t.Errorf("%s: %d ns, want %d", name, phases[name], sumOf(s.PhaseNs[i]))
		}
	}
	if phases["(unaccounted)"] != rest {
		t.Errorf("unaccounted: %d ns, want %d", phases["(unaccounted)"], rest)
	}
	for _, name := range append([]string{"late, µs"}, s.Counters...) {
		if counters[name] != 500 {
			t.Errorf("counter %s: %d values", name, counters[name])
		}
	}
}

func sumOf(values []int64) (sum int64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// A trace is well-formed whatever the names and however the phases overlap.
func TestTraceOfAnyRun(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var b bytes.Buffer
		run := anyRun(rt)
		if err := run.writeTrace(&b); err != nil {
			rt.Fatal(err)
		}
		f := parseTrace(t, b.Bytes())
		steps := 0
		for _, e := range f.Events {
			if e.Phase == "i" && *e.Name == "frame" {
				steps++
			}
		}
		if steps != run.Steps.Len() {
			rt.Fatalf("%d frames of %d steps", steps, run.Steps.Len())
		}
	})
}

// anyRun draws a run whose phases may have run side by side and whose columns may be missing.
func anyRun(rt *rapid.T) *Run {
	n := rapid.IntRange(0, 40).Draw(rt, "steps")
	column := func(name string, least, most int64) []int64 {
		return rapid.SliceOfN(rapid.Int64Range(least, most), n, n).Draw(rt, name)
	}
	run := &Run{Scene: rapid.String().Draw(rt, "scene"), RateHz: float64(rapid.IntRange(0, 1).Draw(rt, "rate"))}
	s := &run.Steps
	s.Ns = column("ns", 0, 5_000)
	if rapid.Bool().Draw(rt, "starts") {
		s.StartNs, s.DueNs = column("start", -100, 100_000), column("due", -100, 100_000)
	}
	if rapid.Bool().Draw(rt, "collections") {
		s.GCs, s.GCPauseNs, s.GCAssistNs = column("gcs", 0, 2), column("pause", 0, 900), column("assist", 0, 900)
	}
	for i := range rapid.IntRange(0, 4).Draw(rt, "phases") {
		s.Phases = append(s.Phases, rapid.String().Draw(rt, "phase"))
		s.PhaseNs = append(s.PhaseNs, column(fmt.Sprint("phase ", i), 0, 4_000))
	}
	for i := range rapid.IntRange(0, 2).Draw(rt, "counters") {
		s.Counters = append(s.Counters, rapid.String().Draw(rt, "counter"))
		s.Counts = append(s.Counts, column(fmt.Sprint("counter ", i), -5, math.MaxInt64))
	}
	return run
}

// Parallel phases stay within their step and keep their time.
func TestTraceOfPhasesSideBySide(t *testing.T) {
	run := &Run{Steps: Steps{
		Ns: []int64{100}, Phases: []string{"a", "b", "c", "d"}, PhaseNs: [][]int64{{80}, {70}, {15}, {160}},
	}}
	got := map[string]string{}
	for _, e := range traceOf(t, run).Events {
		if e.Phase == "X" {
			got[*e.Name] = fmt.Sprintf("row %d, %d + %d %s", *e.Tid, nanos(t, e.Ts), nanos(t, e.Dur), e.Args["took_us"])
		}
	}
	for name, want := range map[string]string{
		"a": "row 1, 0 + 80 ", "b": "row 4, 30 + 70 ", "c": "row 1, 80 + 15 ", "d": "row 5, 0 + 100 0.160",
		"(unaccounted)": "row 1, 95 + 5 ",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
}

// The trace of a long run has the steps around its slowest.
func TestTraceIsBounded(t *testing.T) {
	const n = 60_000
	run := &Run{Steps: Steps{Ns: make([]int64, n), StartNs: make([]int64, n), PhaseNs: [][]int64{make([]int64, n)}, Phases: []string{"p"}}}
	for i := range n {
		run.Steps.Ns[i], run.Steps.PhaseNs[0][i], run.Steps.StartNs[i] = 900, 600, int64(i)*1_000
	}
	const room = (maxTraceEvents - 18) / 6
	for worst, want := range map[int]int{0: 0, n / 2: n/2 - room/2, n - 1: n - room} {
		run.Steps.Ns[worst] = 1_000
		if from, to := run.traced(); from != want || to != want+room {
			t.Errorf("the slowest is step %d; written would be %d to %d", worst, from, to)
		}
		run.Steps.Ns[worst] = 900
	}
	const worst = n / 2
	run.Steps.Ns[worst] = 1_000
	f := traceOf(t, run)
	if len(f.Events) > maxTraceEvents {
		t.Errorf("%d events", len(f.Events))
	}
	var first, written int
	if err := errors.Join(json.Unmarshal(f.Other["first"], &first), json.Unmarshal(f.Other["written"], &written)); err != nil {
		t.Fatal(err)
	}
	if worst < first || worst >= first+written || written != room || string(f.Other["steps"]) != "60000" {
		t.Errorf("the slowest is step %d; written are %d from %d on", worst, written, first)
	}
}

func TestTraceTimesAreExact(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.000", 1: "0.001", 999: "0.999", 1_000: "1.000", 16_666_667: "16666.667", -1_500: "-1.500",
		math.MaxInt64: "9223372036854775.807", math.MinInt64: "-9223372036854775.808",
	} {
		if got := micros(ns).String(); got != want {
			t.Errorf("%d ns: %s µs, want %s", ns, got, want)
		}
	}
}

var errFull = errors.New("disk full")

// fullAfter accepts so many bytes and no more.
type fullAfter int

func (f *fullAfter) Write(p []byte) (int, error) {
	if *f -= fullAfter(len(p)); *f < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestTraceTellsThatItCannotBeWritten(t *testing.T) {
	run := synthetic(planted{seed: 1, steps: 100})
	for _, room := range []fullAfter{0, 10, 5_000} {
		if err := run.writeTrace(&room); !errors.Is(err, errFull) {
			t.Errorf("%v", err)
		}
	}
}

func TestTraceOfHostileNames(t *testing.T) {
	run := synthetic(planted{seed: 1, steps: 2})
	hostile := "\"}]</script>\\\x00\xff\u2028 'é"
	run.Scene = hostile
	run.Steps.Phases = []string{hostile, hostile, hostile, hostile, hostile, hostile}
	run.Steps.Counters = []string{hostile}
	want := strings.ToValidUTF8(hostile, "\ufffd")
	found := 0
	for _, e := range traceOf(t, run).Events {
		if *e.Name == want {
			found++
		}
	}
	if found != 2*(6+1) {
		t.Errorf("%d events of that name", found)
	}
}

// A run that was recorded, with a schedule and systems of the user, makes a trace that holds
// to the format.
func TestTraceOfRecordedRun(t *testing.T) {
	clock := new(loop.ManualClock)
	sim, err := evertick.New(evertick.Config{Capacity: 64, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Add(evertick.AfterIndex, "think", func(*evertick.Tick) error { clock.Add(200_000); return nil }); err != nil {
		t.Fatal(err)
	}
	r, err := Attach(sim, Config{RateHz: 60})
	if err != nil {
		t.Fatal(err)
	}
	const steps = 50
	for range steps {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for _, e := range traceOf(t, r.Run()).Events {
		seen[e.Phase+" "+*e.Name]++
	}
	for _, want := range []string{"X step", "X think", "i frame", "C live", "C late, µs"} {
		if seen[want] != steps {
			t.Errorf("%d of %q, not %d: %v", seen[want], want, steps, seen)
		}
	}
}
