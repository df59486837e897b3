package profile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// maxTraceEvents bounds a trace to about 30 MB, which viewers in a browser open easily.
const maxTraceEvents = 1 << 18

// Rows of the trace, which the format calls threads. Parallel phases are in rows from traceBeside
// on.
const (
	traceSteps = iota + 1
	traceFrames
	traceCollector
	traceBeside
)

// writeTrace writes the steps in the Trace Event Format, the JSON that chrome://tracing, Perfetto
// and Tracy open: a complete event (X) for every step and within it one for each phase that took
// time, an instant event named frame (i) where the step began and one named gc at the end of a step
// in which garbage collections ended, and counters (C) of the run and of the lateness. Times are
// microseconds since the first step was due.
//
// A run records how long its phases took but not when they began. The trace puts them one after the
// other from the start of the step, in the order in which they run, and the unaccounted time last.
// Parallel phases that do not fit into their step are in rows of their own, each ending with the
// step. An event never extends beyond the one around it, as the format requires.
//
// A trace has a quarter of a million events at most. Of a longer run it has as many consecutive
// steps around the slowest as fit; otherData holds their numbers.
func (run *Run) writeTrace(w io.Writer) error {
	x := &tracer{w: bufio.NewWriter(w), run: run, phases: quotedAll(run.Steps.Phases), counters: quotedAll(run.Steps.Counters)}
	from, to := run.traced()
	x.head(from, to)
	base, free := x.base(from, to), int64(0)
	for i := from; i < to; i++ {
		start := max(at(run.Steps.StartNs, i)-base, free)
		x.step(i, start)
		free = start + max(0, run.Steps.Ns[i])
	}
	fmt.Fprint(x.w, "\n]}\n")
	return x.w.Flush() // returns the first error of writing
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

// tracer writes events by package fmt: encoding/json would take seconds.
type tracer struct {
	w        *bufio.Writer
	run      *Run
	phases   []string // their names in JSON
	counters []string
}

// quoted returns a string as JSON.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("profile: a string has no JSON") // it always has: bytes that are not UTF-8 are replaced
	}
	return string(text)
}

func quotedAll(names []string) (all []string) {
	for _, name := range names {
		all = append(all, quoted(name))
	}
	return all
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
	fmt.Fprintf(x.w, `{"displayTimeUnit":"ms","otherData":{"steps":%d,"first":%d,"written":%d,"scene":%s,"level":%s,"cpu":%s,"go":%s,"started":%s,"hash":%s},"traceEvents":[`+"\n",
		run.Steps.Len(), from, to-from, quoted(run.Scene), quoted(run.Level), quoted(run.Env.CPU), quoted(run.Env.Go), quoted(run.Started), quoted(run.Hash))
	fmt.Fprintf(x.w, `{"ph":"M","pid":1,"tid":0,"ts":0,"name":"process_name","args":{"name":%s}}`, quoted("evertick "+run.Scene))
	rows := []string{"steps", "frames", "garbage collector"}
	for i := range x.rowsBeside(from, to) {
		rows = append(rows, "beside "+strconv.Itoa(i+1))
	}
	for i, row := range rows {
		const event = ",\n" + `{"ph":"M","pid":1,"tid":%d,"ts":0,"name":`
		fmt.Fprintf(x.w, event+`"thread_name","args":{"name":%s}}`, traceSteps+i, quoted(row))
		fmt.Fprintf(x.w, event+`"thread_sort_index","args":{"sort_index":%[1]d}}`, traceSteps+i)
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

// event writes an event; format and values are its other fields.
func (x *tracer) event(phase byte, name string, tid int, ns int64, format string, values ...any) {
	fmt.Fprintf(x.w, ",\n"+`{"ph":"%c","pid":1,"tid":%d,"ts":%v,"name":%s`, phase, tid, micros(ns), name)
	fmt.Fprintf(x.w, format+"}", values...)
}

// micros are nanoseconds that are written as microseconds, exactly.
type micros int64

func (ns micros) String() string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	// The smallest integer has no opposite, but is right as an unsigned one.
	return fmt.Sprintf("%s%d.%03d", sign, uint64(ns)/1000, uint64(ns)%1000)
}

// step writes the events of one step.
func (x *tracer) step(i int, start int64) {
	s := &x.run.Steps
	took, tick := max(0, s.Ns[i]), at(s.Tick, i)
	x.event('X', `"step"`, traceSteps, start, `,"dur":%v,"args":{"tick":%d,"step":%d}`, micros(took), tick, i)
	x.event('i', `"frame"`, traceFrames, start, `,"s":"t","args":{"tick":%d}`, tick)
	x.phasesOf(i, start, took)
	for j, values := range s.Counts {
		x.event('C', name(x.counters, j), traceSteps, start, `,"args":{"value":%d}`, at(values, i))
	}
	if x.run.RateHz > 0 {
		x.event('C', `"late, µs"`, traceSteps, start, `,"args":{"value":%v}`, micros(s.late(i)))
	}
	if gcs := at(s.GCs, i); gcs > 0 {
		x.event('i', `"gc"`, traceCollector, start+took, `,"s":"t","args":{"collections":%d,"pause_us":%v,"assist_us":%v}`,
			gcs, micros(at(s.GCPauseNs, i)), micros(at(s.GCAssistNs, i)))
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
		x.span(`"`+unaccounted+`"`, traceSteps, cursor, rest, rest)
	}
}

// span writes a complete event, with the time that it took as an argument if that is longer.
func (x *tracer) span(name string, tid int, start, shown, took int64) {
	if took == shown {
		x.event('X', name, tid, start, `,"dur":%v`, micros(shown))
	} else {
		x.event('X', name, tid, start, `,"dur":%v,"args":{"took_us":%v}`, micros(shown), micros(took))
	}
}
