package serving

import (
	"fmt"
	"io"
	"time"

	"github.com/evertick/evertick/bench/internal/command"
)

// clientsReport is the object "clients" of the JSON. Times are nanoseconds. Where nothing else is said, they
// are of the clients that read at full speed.
type clientsReport struct {
	Count          int               `json:"count"`
	Entities       int               `json:"entities"`
	Visible        float64           `json:"visible"`             // mean, in the updates of the clients that decode
	BytesPerEntity float64           `json:"bytes_per_entity"`    // all bytes of these updates, by the entities in them
	InputToApplied command.Quantiles `json:"input_to_applied_ns"` // arrival in the server to start of the tick that applied it
	TickToReceipt  command.Quantiles `json:"tick_to_receipt_ns"`  // end of the tick to receipt of the update in the client
	Total          command.Quantiles `json:"total_ns"`            // A sends an input to B receives the update that shows it
	ServerCPU      int64             `json:"server_cpu_ns_per_tick"`
	TicksLate      uint64            `json:"ticks_late"` // began when the next was due, or were dropped

	Hz                   int               `json:"hz"`
	Ticks                uint64            `json:"ticks"`
	SlowClients          int               `json:"slow_clients"`
	Decoding             int               `json:"decoding_clients"`
	Lead                 bool              `json:"lead"`
	Cores                float64           `json:"server_cores"`                  // CPU time of the server by the time that passed
	KernelCPU            int64             `json:"server_kernel_cpu_ns_per_tick"` // of the CPU time: in the system, for sockets
	SentCPU              int64             `json:"server_cpu_ns_per_tick_with_updates"`
	Allocs               float64           `json:"server_allocs_per_tick"`
	Frames               uint64            `json:"frames"`
	Keyframes            uint64            `json:"keyframes"`
	Skipped              uint64            `json:"skipped"`       // updates that a connection did not take
	Behind               uint64            `json:"skipped_ticks"` // without updates, as those of the tick before were still being sent
	BytesPerClientSecond float64           `json:"bytes_per_client_second"`
	InputFloor           command.Quantiles `json:"input_floor_ns"` // of inputs that arrive at any time between two ticks
	Acts                 uint64            `json:"acts_seen"`      // of which total_ns was computed
	SlowFrames           uint64            `json:"slow_frames"`    // that slow clients received meanwhile
	SlowReceipt          command.Quantiles `json:"slow_tick_to_receipt_ns"`

	Phases []clientsPhase `json:"phases"`
}

// clientsPhase is a part of the server's work: the mean time that passed in it, in a tick.
type clientsPhase struct {
	Name      string `json:"name"`
	NsPerTick int64  `json:"ns_per_tick"`
}

// evaluate fills in the report.
func (h *clientsHost) evaluate() {
	a, b := &h.marks[0], &h.marks[1]
	r, fast, slow := &h.report, &h.Fast, &h.Slow
	ticks := b.tick - a.tick
	window := time.Duration(b.at - a.at)
	period := int64(time.Second) / int64(h.hz)
	*r = clientsReport{
		Count: h.clients, Entities: h.N, InputToApplied: fast.Applied, TickToReceipt: fast.Receipt, Total: h.Total, TicksLate: b.late - a.late,
		Hz: h.hz, Ticks: ticks, SlowClients: slow.Clients, Decoding: min(h.decode, fast.Clients), Lead: h.lead,
		ServerCPU: int64(b.cpu-a.cpu) / int64(ticks), Cores: float64(b.cpu-a.cpu) / float64(window),
		KernelCPU: int64(b.sys-a.sys) / int64(ticks),
		Allocs:    float64(b.memory.Since(a.memory).Allocs) / float64(ticks),
		Frames:    fast.Frames, Keyframes: fast.Keyframes,
		InputFloor: command.Quantiles{P50: period * 50 / 100, P95: period * 95 / 100, P99: period * 99 / 100, Max: period},
		Skipped:    b.stats.NotTaken - a.stats.NotTaken,
		Behind:     b.stats.Skipped - a.stats.Skipped,
		Acts:       h.Totals,
		SlowFrames: slow.Frames, SlowReceipt: slow.Receipt,
	}
	r.SentCPU = int64(b.cpu-a.cpu) / max(1, int64(ticks)-int64(r.Behind))
	seconds := float64(h.window.To-h.window.From) / float64(h.hz)
	if fast.Clients > 0 {
		r.BytesPerClientSecond = float64(fast.Bytes) / seconds / float64(fast.Clients)
	}
	if h.Updates > 0 && h.joinResult.Entities > 0 {
		r.Visible = float64(h.joinResult.Entities) / float64(h.Updates)
		r.BytesPerEntity = float64(h.joinResult.Bytes) / float64(h.joinResult.Entities)
	}
	each := func(name string, total int64) {
		r.Phases = append(r.Phases, clientsPhase{name, total / int64(ticks)})
	}
	each("simulate", b.simulated-a.simulated)
	each("capture", b.stats.Capture.Total-a.stats.Capture.Total)
	each("views and differences", b.stats.Views.Total-a.stats.Views.Total)
	each("encode", b.stats.Encode.Total-a.stats.Encode.Total)
	each("send", b.stats.Send.Total-a.stats.Send.Total)
}

// span is a time from an input to its effect.
type span struct {
	name string
	command.Quantiles
}

func (r *clientsReport) spans() []span {
	all := []span{
		{"input → applied", r.InputToApplied},
		{"its floor", r.InputFloor},
		{"tick → receipt", r.TickToReceipt},
		{"A acts → B sees", r.Total},
	}
	if r.SlowClients > 0 {
		all = append(all, span{"tick → receipt, slow clients", r.SlowReceipt})
	}
	return all
}

// figures is the table of -csv: the spans and the phases.
func (r *clientsReport) figures() command.Table {
	t := command.Table{Columns: []command.Column{{Name: "name"}, {Name: "mean_ns"}, {Name: "p50_ns"}, {Name: "p95_ns"}, {Name: "p99_ns"}, {Name: "max_ns"}}}
	for _, s := range r.spans() {
		t.Add(s.name, nil, s.P50, s.P95, s.P99, s.Max)
	}
	for _, p := range r.Phases {
		t.Add(p.Name, p.NsPerTick, nil, nil, nil, nil)
	}
	return t
}

// write writes the report for people.
func (h *clientsHost) write(w io.Writer) {
	r := &h.report
	fmt.Fprintf(w, "%s clients, %s of them slow, of %s walkers, %.1f in view · %d Hz, %d ticks",
		command.Count(r.Count), command.Count(r.SlowClients), command.Count(r.Entities), r.Visible, r.Hz, r.Ticks)
	if r.Lead {
		fmt.Fprint(w, " · inputs with a lead")
	}
	fmt.Fprintf(w, "\n\nserver   %.3f ms CPU a tick, %.3f of it in the system; %.3f cores; %.1f allocations a tick\n", float64(r.ServerCPU)/1e6, float64(r.KernelCPU)/1e6, r.Cores, r.Allocs)
	fmt.Fprintf(w, "ticks    %d late", r.TicksLate)
	if r.Behind > 0 {
		fmt.Fprintf(w, "; %d without updates, as those of the tick before were still being sent: %.3f ms CPU a tick with updates", r.Behind, float64(r.SentCPU)/1e6)
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "bytes    %.2f an entity and update, %s a client and second\n", r.BytesPerEntity, command.Whole(r.BytesPerClientSecond))
	fmt.Fprintf(w, "frames   %s to clients at full speed, %s of them keyframes; %s to slow ones · %s updates skipped\n\n",
		command.Whole(float64(r.Frames)), command.Whole(float64(r.Keyframes)), command.Whole(float64(r.SlowFrames)), command.Whole(float64(r.Skipped)))
	spans, millis := command.TextTable("ms", "p50", "p95", "p99", "max"), func(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e6) }
	for _, s := range r.spans() {
		spans.Add(s.name, millis(s.P50), millis(s.P95), millis(s.P99), millis(s.Max))
	}
	spans.WriteText(w)
	phases := command.TextTable("part of a tick", "mean ms")
	for _, p := range r.Phases {
		phases.Add(p.Name, millis(p.NsPerTick))
	}
	phases.WriteText(w)
	fmt.Fprintf(w, "The floor is that of inputs that arrive at any time between two ticks. %s of the clients decode their updates, and\n", command.Count(r.Decoding))
	fmt.Fprintf(w, "see each other act (%s times); the others count what they receive. The clients are a process of their own on this\n", command.Whole(float64(r.Acts)))
	fmt.Fprintln(w, "machine: their CPU time is not in the figures, but they take CPUs from the server.")
}
