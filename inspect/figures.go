package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/inspector"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replica"
)

// sources are what the figures come from. Each may be read while the Sim runs.
type sources struct {
	sim     *evertick.Sim     // nil: only a log
	monitor *evertick.Monitor // of the Sim
	replica *replica.Server   // nil: none
}

// family is a figure, or several that differ by labels.
type family struct {
	name    string   // without "evertick_"
	kind    string   // counter, gauge or summary
	help    string   // one line
	labels  []string // names; of a summary the last one is quantile
	samples []sample
	seen    map[string]bool // suffixes and labels of the samples
}

type sample struct {
	suffix string   // "_sum" or "_count" of a summary: a sample without the last label
	labels []string // values
	value  float64
}

// set appends a sample, unless there is one with these labels: texts that are no UTF-8 may become equal.
func (f *family) set(value float64, labels ...string) { f.add("", value, labels) }

func (f *family) add(suffix string, value float64, labels []string) {
	labels = slices.Clone(labels)
	for i, l := range labels {
		labels[i] = strings.ToValidUTF8(l, "\uFFFD")
	}
	key := suffix + "\x00" + strings.Join(labels, "\x00")
	if f.seen[key] {
		return
	}
	f.seen[key] = true
	f.samples = append(f.samples, sample{suffix, labels, value})
}

// figures collects families in the order in which they are shown.
type figures []*family

func (f *figures) family(kind, name, help string, labels ...string) *family {
	fam := &family{name: name, kind: kind, help: help, labels: labels, seen: map[string]bool{}}
	*f = append(*f, fam)
	return fam
}

func (f *figures) gauge(name, help string, value float64) { f.family("gauge", name, help).set(value) }
func (f *figures) counter(name, help string, value uint64) {
	f.family("counter", name, help).set(float64(value))
}

// seconds converts a time in ns.
func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// quantiles are the labels of a summary of times; 1 is the greatest time.
var quantiles = [4]string{"0.5", "0.95", "0.99", "1"}

// times sets the samples of a summary from times in ns: the quantiles are NaN if nothing was timed.
func (f *family) times(p evertick.PhaseStats, labels ...string) {
	for i, ns := range [...]int64{p.P50, p.P95, p.P99, p.Max} {
		value := seconds(ns)
		if p.Count == 0 {
			value = math.NaN()
		}
		f.set(value, append(slices.Clone(labels), quantiles[i])...)
	}
	f.add("_sum", seconds(p.Sum), labels)
	f.add("_count", float64(p.Count), labels)
}

func statsOf(h *loop.Histogram) evertick.PhaseStats {
	return evertick.PhaseStats{Count: h.Count(), Sum: h.Sum(), P50: h.Quantile(0.5), P95: h.Quantile(0.95), P99: h.Quantile(0.99), Max: h.Max()}
}

// status is what the figures use of the answer to "status".
type status struct {
	Name            string  `json:"name"`
	SimVersion      any     `json:"sim_version"`
	Go              string  `json:"go"`
	Level           string  `json:"level"`
	Workers         float64 `json:"workers"`
	State           string  `json:"state"`
	Tick            float64 `json:"tick"`
	Capacity        float64 `json:"capacity"`
	AgeMs           float64 `json:"age_ms"`
	InspectionNs    float64 `json:"inspection_ns"`
	InspectionBytes uint64  `json:"inspection_bytes"`
}

// states are those that a status may have.
var states = []string{"running", "paused", "stalled", "failed", "ended", "seeking", "playing"}

// figures reads all figures. It waits for no tick.
func (h *Handler) figures(ctx context.Context) figures {
	var f figures
	var st status
	a := h.in.Answer(ctx, &inspector.Request{Method: http.MethodGet, Path: "status"})
	if a.Status == http.StatusOK {
		if err := json.Unmarshal(a.Body, &st); err != nil {
			panic("inspect: the status of the Inspector is no JSON")
		}
		f.ofStatus(&st)
	}
	if h.sources.monitor != nil {
		f.ofSim(h.sources.sim, h.sources.monitor)
	}
	if h.sources.replica != nil {
		f.ofReplica(h.sources.replica)
	}
	f.ofGo()
	return f
}

// ofStatus adds what the Inspector knows, of a live Sim or of a log.
func (f *figures) ofStatus(st *status) {
	f.family("gauge", "info", "What runs. The value is 1.", "name", "sim_version", "level", "go").
		set(1, st.Name, fmt.Sprint(st.SimVersion), st.Level, st.Go)
	state := f.family("gauge", "state", "1 for the state that the Sim is in, 0 for the others.", "state")
	for _, s := range states {
		state.set(bit(s == st.State), s)
	}
	f.gauge("tick", "Ticks that have run. A restore sets it back.", st.Tick)
	f.gauge("workers", "Goroutines that a step uses.", st.Workers)
	f.gauge("entity_capacity", "Entities that there is room for.", st.Capacity)
	f.gauge("last_look_age_seconds", "Time since the Sim could last be looked at, which is between ticks.", st.AgeMs/1e3)
	f.gauge("inspection_seconds", "Mean time that inspection took of the last ticks and frames.", st.InspectionNs/1e9)
	f.counter("inspection_bytes_total", "Bytes that inspection has copied between ticks; other work counts as the bytes that could be copied in its time.", st.InspectionBytes)
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// ofSim adds the figures of the Monitor.
func (f *figures) ofSim(sim *evertick.Sim, monitor *evertick.Monitor) {
	var m evertick.Metrics
	monitor.Read(&m)
	f.gauge("entities", "Entities that are alive.", float64(m.Entities))
	f.gauge("bodies", "Bodies that are alive.", float64(m.Bodies))
	f.gauge("bodies_awake", "Bodies that the next step will move.", float64(m.Awake))
	f.gauge("contacts", "Pairs of shapes that touch or nearly do.", float64(m.Contacts))
	f.gauge("failed", "1 if a step has failed, so that every later one returns its error.", bit(m.Err != nil))
	f.gauge("budget_seconds", "Time that a step may take.", seconds(sim.Config().BudgetNs))
	f.counter("steps_dropped_total", "Steps that were given up because they were late.", m.Frame.DroppedTotal)
	f.gauge("backlog_steps", "Whole steps that are kept for later frames.", float64(m.Frame.Backlog))
	f.gauge("lag_seconds", "Simulated time that is owed; negative while a step has run early.", seconds(m.Frame.LagNs))
	f.gauge("overrun_seconds", "Time by which the steps of the last frame exceeded the budget.", seconds(m.Frame.Overrun.Ns))
	f.ofSteps(&m)
	f.ofInputs(&m.Inputs)
}

func (f *figures) ofSteps(m *evertick.Metrics) {
	f.counter("steps_total", "Steps that were timed.", m.Step.Count)
	f.gauge("step_last_seconds", "Time of the last step.", seconds(m.StepNs))
	f.family("summary", "step_seconds", "Times of steps; quantile 1 is the greatest.", "quantile").times(m.Step)
	times := f.family("summary", "phase_seconds", "Times of phases; quantile 1 is the greatest.", "phase", "quantile")
	runs := f.family("counter", "phase_runs_total", "Times that a phase ran.", "phase")
	for i := range m.Phases {
		p := &m.Phases[i]
		times.times(*p, p.Phase)
		runs.set(float64(p.Count), p.Phase)
	}
	last := f.family("gauge", "phase_last_seconds", "Time of a phase in the last step.", "phase")
	for _, p := range m.Timings {
		last.set(seconds(p.Ns), p.Phase)
	}
}

func (f *figures) ofInputs(in *evertick.InputStats) {
	outcomes := f.family("counter", "inputs_total", "Inputs by what became of them when they came.", "outcome")
	outcomes.set(float64(in.Pushed), "accepted")
	outcomes.set(float64(in.Full-in.Share), "full")
	outcomes.set(float64(in.Share), "share")
	outcomes.set(float64(in.Duplicate), "duplicate")
	outcomes.set(float64(in.Ignored), "ignored")
	f.counter("inputs_late_total", "Inputs that were applied at a tick after their own.", in.Late)
	f.gauge("inputs_waiting", "Inputs that wait for their tick.", float64(in.Waiting))
	f.gauge("inputs_waiting_bytes", "Bytes of the data of inputs that wait.", float64(in.WaitingBytes))
	f.gauge("inputs_waiting_max", "The most inputs that ever waited at once.", float64(in.HighWater))
}

// ofReplica adds the counts of the server for clients.
func (f *figures) ofReplica(server *replica.Server) {
	var st replica.Stats
	server.Stats(&st)
	sessions := f.family("gauge", "replica_sessions", "Sessions with and without a connection.", "state")
	sessions.set(float64(st.Connected), "connected")
	sessions.set(float64(st.Waiting), "waiting")
	events := f.family("counter", "replica_events_total", "What happened to sessions, connections and send ticks.", "event")
	for _, e := range []struct {
		name  string
		count uint64
	}{
		{"joined", st.Joined}, {"resumed", st.Resumed}, {"refused", st.Refused}, {"ended", st.Ended},
		{"slow", st.Slow}, {"bad", st.Bad}, {"fast", st.Fast},
		{"update", st.Updates}, {"skipped", st.Skipped}, {"late", st.Late}, {"fault", st.Faults}, {"not_taken", st.NotTaken},
	} {
		events.set(float64(e.count), e.name)
	}
	f.ofTraffic(&st)
	spans := f.family("summary", "replica_seconds", "Times of send ticks, and two latencies; quantile 1 is the greatest.", "span", "quantile")
	for _, s := range []struct {
		name  string
		times *loop.Histogram
	}{
		{"capture", &st.Capture.Times}, {"views", &st.Views.Times}, {"encode", &st.Encode.Times}, {"send", &st.Send.Times},
		{"input_to_applied", &st.InputToApplied}, {"tick_to_sent", &st.TickToSent},
	} {
		spans.times(statsOf(s.times), s.name)
	}
}

func (f *figures) ofTraffic(st *replica.Stats) {
	frames := f.family("counter", "replica_frames_total", "Frames by kind.", "kind")
	bytes := f.family("counter", "replica_bytes_total", "Bytes of frames by kind, without what the transport adds.", "kind")
	for _, t := range []struct {
		kind string
		replica.Traffic
	}{
		{"received", st.Received}, {"keyframe", st.Keyframe}, {"update", st.Update}, {"snapshot", st.Snapshot}, {"inputs", st.Inputs},
	} {
		frames.set(float64(t.Frames), t.kind)
		bytes.set(float64(t.Bytes), t.kind)
	}
}

// ofGo adds figures of the process. Reading them stops no goroutine.
func (f *figures) ofGo() {
	read := []metrics.Sample{
		{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(read)
	f.gauge("go_goroutines", "Goroutines of the process.", float64(read[0].Value.Uint64()))
	f.gauge("go_heap_bytes", "Bytes of objects on the heap.", float64(read[1].Value.Uint64()))
	f.gauge("go_memory_bytes", "Bytes that the Go runtime has mapped.", float64(read[2].Value.Uint64()))
	f.counter("go_gc_cycles_total", "Collections of garbage that have ended.", read[3].Value.Uint64())
}

var (
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// appendText appends the families in the text format of Prometheus, version 0.0.4.
func (f figures) appendText(dst []byte) []byte {
	for _, fam := range f {
		dst = fmt.Appendf(dst, "# HELP evertick_%s %s\n# TYPE evertick_%s %s\n", fam.name, escapeHelp.Replace(fam.help), fam.name, fam.kind)
		for _, s := range fam.samples {
			dst = append(append(append(dst, "evertick_"...), fam.name...), s.suffix...)
			between := byte('{')
			for i, l := range s.labels {
				dst = fmt.Appendf(append(dst, between), `%s="%s"`, fam.labels[i], escapeLabel.Replace(l))
				between = ','
			}
			if len(s.labels) > 0 {
				dst = append(dst, '}')
			}
			dst = append(strconv.AppendFloat(append(dst, ' '), s.value, 'g', -1, 64), '\n')
		}
	}
	return dst
}

// tree returns the families by name, with one more level for each label.
func (f figures) tree() map[string]any {
	root := map[string]any{}
	for _, fam := range f {
		for _, s := range fam.samples {
			at, key := root, fam.name+s.suffix
			for _, l := range s.labels {
				below, ok := at[key].(map[string]any)
				if !ok {
					below = map[string]any{}
					at[key] = below
				}
				at, key = below, l
			}
			at[key] = number(s.value)
		}
	}
	return root
}

// number returns a value that JSON has, or its name.
func number(v float64) any {
	if !fault.Finite(v) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return v
}
