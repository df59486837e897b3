package profile

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
)

// maxTraceEvents bounds a trace to about 30 MB, which viewers in a browser open easily.
const maxTraceEvents = 1 << 18

// Rows of the trace, which the format calls threads. Parallel phases are in rows from traceBeside on.
const (
	traceSteps = iota + 1
	traceFrames
	traceCollector
	traceBeside
)

// WriteTrace writes the steps in the Trace Event Format, the JSON that chrome://tracing,
// Perfetto and Tracy open: a complete event (X) for every step and within it one for each phase that
// took time, an instant event named frame (i) where the step began and one named gc at the end of a
// step in which garbage collections ended, and counters (C) of the run and of the lateness. Times are
// microseconds since the first step was due.
//
// A run records how long its phases took but not when they began. The trace puts them one after the
// other from the start of the step, in the order in which they run, and the unaccounted time last.
// Parallel phases that do not fit into their step are in rows of their own, each ending with the step.
// An event never extends beyond the one around it, as the format requires.
//
// A trace has a quarter of a million events at most. Of a longer run it has as many consecutive steps
// around the slowest as fit; otherData holds their numbers.
func (run *Run) WriteTrace(w io.Writer) error {
	x := &tracer{w: bufio.NewWriter(w), run: run}
	x.quoteNames()
	from, to := run.traced()
	x.head(from, to)
	base, free := x.base(from, to), int64(0)
	for i := from; i < to; i++ {
		start := max(at(run.Steps.StartNs, i)-base, free)
		x.step(i, start)
		free = start + max(0, run.Steps.Ns[i])
	}
	x.text("\n]}\n")
	if x.err == nil {
		x.err = x.w.Flush()
	}
	return x.err
}

// at returns a value of a column, zero if the column was not measured.
func at[T any](column []T, i int) (v T) {
	if i < len(column) {
		v = column[i]
	}
	return v
}

// traced returns the steps that fit into a trace: all, or those around the slowest.
func (run *Run) traced() (from, to int) {
	s := &run.Steps
	each := 5 + len(s.PhaseNs) + len(s.Counts)                            // with frame, rest, lateness and collection
	n, room := s.Len(), max(1, (maxTraceEvents-16-2*len(s.PhaseNs))/each) // besides the events that name rows
	if n <= room {
		return 0, n
	}
	worst := 0
	for i, ns := range s.Ns {
		if ns > s.Ns[worst] {
			worst = i
		}
	}
	from = min(max(0, worst-room/2), n-room)
	return from, from + room
}

// tracer writes events. Numbers are printed by hand: encoding/json would take seconds.
type tracer struct {
	w        *bufio.Writer
	run      *Run
	phases   []string // their names in JSON
	counters []string
	line     []byte
	err      error // the first of writing
}

func (x *tracer) quoteNames() {
	for _, name := range x.run.Steps.Phases {
		x.phases = append(x.phases, quoted(name))
	}
	for _, name := range x.run.Steps.Counters {
		x.counters = append(x.counters, quoted(name))
	}
}

// quoted returns a string as JSON.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("profile: a string has no JSON") // it always has: bytes that are not UTF-8 are replaced
	}
	return string(text)
}

// name returns the name of a column, or its number in a run without names.
func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return `"` + strconv.Itoa(i) + `"`
}

// base returns the time at which the trace begins.
func (x *tracer) base(from, to int) int64 {
	s := &x.run.Steps
	if from == to {
		return 0
	}
	return min(at(s.StartNs, from), at(s.DueNs, from))
}

func (x *tracer) head(from, to int) {
	run := x.run
	x.text(`{"displayTimeUnit":"ms","otherData":{"steps":` + strconv.Itoa(run.Steps.Len()) +
		`,"first":` + strconv.Itoa(from) + `,"written":` + strconv.Itoa(to-from) +
		`,"scene":` + quoted(run.Scene) + `,"level":` + quoted(run.Level) + `,"cpu":` + quoted(run.Env.CPU) +
		`,"go":` + quoted(run.Env.Go) + `,"started":` + quoted(run.Started) + `,"hash":` + quoted(run.Hash) +
		`},"traceEvents":[` + "\n")
	x.text(`{"ph":"M","pid":1,"tid":0,"ts":0,"name":"process_name","args":{"name":` + quoted("evertick "+run.Scene) + `}}`)
	rows := []string{"steps", "frames", "garbage collector"}
	for i := range x.rowsBeside(from, to) {
		rows = append(rows, "beside "+strconv.Itoa(i+1))
	}
	for i, row := range rows {
		tid := strconv.Itoa(traceSteps + i)
		x.text(",\n" + `{"ph":"M","pid":1,"tid":` + tid + `,"ts":0,"name":"thread_name","args":{"name":` + quoted(row) + `}}`)
		x.text(",\n" + `{"ph":"M","pid":1,"tid":` + tid + `,"ts":0,"name":"thread_sort_index","args":{"sort_index":` + tid + `}}`)
	}
}

// rowsBeside counts the rows for parallel phases.
func (x *tracer) rowsBeside(from, to int) (rows int) {
	for i := from; i < to; i++ {
		beside, free := 0, x.run.Steps.Ns[i]
		for _, ns := range x.run.Steps.PhaseNs {
			if took := min(at(ns, i), x.run.Steps.Ns[i]); took > free {
				beside++
			} else if took > 0 {
				free -= took
			}
		}
		rows = max(rows, beside)
	}
	return rows
}

// step writes the events of one step.
func (x *tracer) step(i int, start int64) {
	s := &x.run.Steps
	took := max(0, s.Ns[i])
	x.open('X', `"step"`, traceSteps, start)
	x.field(`,"dur":`).micros(took).field(`,"args":{"tick":`)
	x.line = strconv.AppendUint(x.line, at(s.Tick, i), 10)
	x.field(`,"step":`).int(int64(i)).close("}}")

	x.open('i', `"frame"`, traceFrames, start)
	x.field(`,"s":"t","args":{"tick":`)
	x.line = strconv.AppendUint(x.line, at(s.Tick, i), 10)
	x.close("}}")

	x.phasesOf(i, start, took)
	x.counts(i, start)
	if gcs := at(s.GCs, i); gcs > 0 {
		x.open('i', `"gc"`, traceCollector, start+took)
		x.field(`,"s":"t","args":{"collections":`).int(gcs).field(`,"pause_us":`).micros(at(s.GCPauseNs, i))
		x.field(`,"assist_us":`).micros(at(s.GCAssistNs, i)).close("}}")
	}
}

// phasesOf writes the phases of a step.
func (x *tracer) phasesOf(i int, start, step int64) {
	cursor, beside := start, 0
	for j, ns := range x.run.Steps.PhaseNs {
		took := at(ns, i)
		if took <= 0 {
			continue
		}
		shown := min(took, step)
		if cursor+shown <= start+step {
			x.span(name(x.phases, j), traceSteps, cursor, shown, took)
			cursor += shown
			continue
		}
		x.span(name(x.phases, j), traceBeside+beside, start+step-shown, shown, took)
		beside++
	}
	if rest := start + step - cursor; rest > 0 && len(x.run.Steps.PhaseNs) > 0 {
		x.span(`"(unaccounted)"`, traceSteps, cursor, rest, rest)
	}
}

// span writes a complete event, with the time that it took as an argument if that is longer.
func (x *tracer) span(name string, tid int, start, shown, took int64) {
	x.open('X', name, tid, start)
	x.field(`,"dur":`).micros(shown)
	if took != shown {
		x.field(`,"args":{"took_us":`).micros(took).field("}")
	}
	x.close("}")
}

func (x *tracer) counts(i int, start int64) {
	s := &x.run.Steps
	for j, values := range s.Counts {
		x.open('C', name(x.counters, j), traceSteps, start)
		x.field(`,"args":{"value":`).int(at(values, i)).close("}}")
	}
	if x.run.RateHz > 0 {
		x.open('C', `"late, µs"`, traceSteps, start)
		x.field(`,"args":{"value":`).micros(at(s.StartNs, i) - at(s.DueNs, i)).close("}}")
	}
}

// open begins an event.
func (x *tracer) open(phase byte, name string, tid int, ts int64) {
	x.line = append(x.line[:0], ",\n{\"ph\":\""...)
	x.line = append(append(x.line, phase), `","pid":1,"tid":`...)
	x.int(int64(tid)).field(`,"ts":`).micros(ts).field(`,"name":`).field(name)
}

func (x *tracer) field(text string) *tracer {
	x.line = append(x.line, text...)
	return x
}

func (x *tracer) int(v int64) *tracer {
	x.line = strconv.AppendInt(x.line, v, 10)
	return x
}

// micros writes nanoseconds as microseconds, exactly.
func (x *tracer) micros(ns int64) *tracer {
	if ns < 0 {
		x.line, ns = append(x.line, '-'), -ns
	}
	us, rest := uint64(ns)/1000, uint64(ns)%1000 // also of the smallest integer, which has no opposite
	x.line = strconv.AppendUint(x.line, us, 10)
	x.line = append(x.line, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
	return x
}

func (x *tracer) close(text string) {
	x.line = append(x.line, text...)
	if x.err == nil {
		_, x.err = x.w.Write(x.line)
	}
}

func (x *tracer) text(s string) {
	if x.err == nil {
		_, x.err = x.w.WriteString(s)
	}
}
