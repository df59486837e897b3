package serving

import (
	"fmt"
	"io"
	"sort"

	"github.com/evertick/evertick/bench/internal/command"
)

// relaysReport is the object "relays" of the JSON.
type relaysReport struct {
	Relays    int     `json:"relays"`
	Viewers   int     `json:"viewers"` // of each
	Entities  int     `json:"entities"`
	Players   int     `json:"players"`
	Visible   float64 `json:"visible"` // mean, in the updates of the viewers that decode
	Hz        int     `json:"hz"`
	Ticks     uint64  `json:"ticks"`
	MasterCPU int64   `json:"master_cpu_ns_per_tick"`
	Late      uint64  `json:"master_ticks_late"` // began when the next was due, or were dropped; since the start
	// Reached is the rate of the master in the window. InTime says that the master kept its rate, and that no relay lacked more than
	// lateTicks at p95.
	Reached float64      `json:"reached_hz"`
	InTime  bool         `json:"in_time"`
	Each    []relayShare `json:"each"`

	window joinWindow
}

// relayShare is what the report says of a relay. Times are nanoseconds.
type relayShare struct {
	FollowCPU int64             `json:"follow_cpu_ns_per_tick"` // reading the log, the Sim, its hash
	ServeCPU  int64             `json:"serve_cpu_ns_per_tick"`  // all else
	Cores     float64           `json:"cores"`
	Behind    command.Quantiles `json:"ticks_behind"` // at the end of each tick of the master; 1 is the least
	Age       command.Quantiles `json:"age_ns"`       // end of a tick in the master to its end in the relay
	Receipt   command.Quantiles `json:"tick_to_receipt_ns"`
	LogRate   float64           `json:"log_bytes_per_second"`
	ViewRate  float64           `json:"viewer_bytes_per_second"` // of all of its viewers
	PerViewer float64           `json:"bytes_per_viewer_second"`
	Compared  uint64            `json:"hashes_compared"`
	Expected  uint64            `json:"frames_expected"`
	Missed    uint64            `json:"frames_missed"` // of the viewers at full speed
	NoUpdates uint64            `json:"skipped_ticks"` // without updates: the ones of the tick before were still being sent
}

// lateTicks is the greatest number of ticks of the master that a relay in time may lack at p95.
const lateTicks = 2

// evaluate fills in the report. A relay whose hashes differ from those of the log has ended with an error.
func (h *relaysHost) evaluate() error {
	r := &h.report
	w := r.window
	if w.To == 0 || uint64(len(h.ended)) < w.To {
		return fmt.Errorf("the master has run %d ticks, and the window ends with tick %d", len(h.ended), w.To)
	}
	ticks := w.To - w.From
	seconds := float64(h.ended[w.To-1]-h.ended[w.From-1]) / 1e9
	r.Relays, r.Viewers, r.Entities, r.Players, r.Hz, r.Ticks = h.relays, h.clients, h.N, h.players, h.hz, ticks
	r.MasterCPU = int64(h.cpu[w.To-1]-h.cpu[w.From-1]) / int64(ticks)
	r.Late, r.Reached = h.late, float64(ticks)/seconds
	r.InTime = r.Reached > 0.99*float64(h.hz)
	for i := range h.results {
		share := h.share(&h.results[i], w, seconds)
		r.InTime = r.InTime && share.Behind.P95 <= lateTicks
		r.Visible += h.results[i].Clients.Visible / float64(h.relays)
		r.Each = append(r.Each, share)
	}
	return nil
}

// share evaluates what a relay has measured.
func (h *relaysHost) share(of *relayResult, w joinWindow, seconds float64) relayShare {
	c := &of.Clients
	var age, behind []int64
	for tick := w.From; tick <= w.To; tick++ {
		at := h.ended[tick-1]
		done := sort.Search(len(of.Ended), func(i int) bool { return of.Ended[i] > at })
		age, behind = append(age, of.Ended[tick-1]-at), append(behind, int64(tick)-int64(done))
	}
	return relayShare{
		FollowCPU: of.Follow / int64(c.Ticks), ServeCPU: max(0, c.ServerCPU-of.Follow/int64(c.Ticks)), Cores: c.Cores,
		Behind: command.QuantilesOf(behind), Age: command.QuantilesOf(age), Receipt: c.TickToReceipt,
		LogRate: float64(of.Read) / seconds, ViewRate: float64(of.Bytes) / seconds, PerViewer: c.BytesPerClientSecond,
		Compared: of.Compared, Expected: of.Expected, Missed: of.Expected - min(c.Frames, of.Expected), NoUpdates: c.Behind,
	}
}

// figures is the table of -csv: a row for each relay.
func (r *relaysReport) figures() command.Table {
	t := command.Table{}
	for _, name := range []string{"relay", "follow_cpu_ns", "serve_cpu_ns", "cores", "behind_p50_ticks", "behind_p95_ticks", "behind_max_ticks", "age_p50_ns", "age_p95_ns",
		"receipt_p50_ns", "receipt_p95_ns", "log_bytes_per_s", "viewer_bytes_per_s", "hashes_compared", "frames_expected", "frames_missed"} {
		t.Columns = append(t.Columns, command.Column{Name: name})
	}
	for i, s := range r.Each {
		t.Add(i, s.FollowCPU, s.ServeCPU, s.Cores, s.Behind.P50, s.Behind.P95, s.Behind.Max, s.Age.P50, s.Age.P95,
			s.Receipt.P50, s.Receipt.P95, s.LogRate, s.ViewRate, s.Compared, s.Expected, s.Missed)
	}
	return t
}

// write writes the report for people.
func (h *relaysHost) write(w io.Writer) {
	r := &h.report
	fmt.Fprintf(w, "%s relays with %s viewers each, of %s walkers, %s of them with inputs, %.1f in view · %d Hz, %d ticks\n\n",
		command.Count(r.Relays), command.Count(r.Viewers), command.Count(r.Entities), command.Count(r.Players), r.Visible, r.Hz, r.Ticks)
	if r.InTime {
		fmt.Fprintf(w, "in time  all relays at most %d ticks behind the master at p95; the master ran at %.1f Hz\n", lateTicks, r.Reached)
	} else {
		fmt.Fprintf(w, "LATE     this machine is too small for these numbers: the master ran at %.1f of %d Hz, or a relay fell behind\n", r.Reached, r.Hz)
	}
	millis := func(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e6) }
	fmt.Fprintf(w, "master   %s ms CPU a tick; %d ticks late\n\n", millis(r.MasterCPU), r.Late)
	cost := command.TextTable("relay", "follow ms", "serve ms", "cores", "log kB/s", "viewers kB/s", "B/s a viewer")
	lag := command.TextTable("relay", "behind p50", "p95", "max", "age ms p50", "p95", "receipt ms p50", "p95", "missed", "of")
	for i, s := range r.Each {
		cost.Add(fmt.Sprint(i), millis(s.FollowCPU), millis(s.ServeCPU), fmt.Sprintf("%.3f", s.Cores), fmt.Sprintf("%.1f", s.LogRate/1e3), fmt.Sprintf("%.1f", s.ViewRate/1e3), command.Whole(s.PerViewer))
		lag.Add(fmt.Sprint(i), fmt.Sprint(s.Behind.P50), fmt.Sprint(s.Behind.P95), fmt.Sprint(s.Behind.Max), millis(s.Age.P50), millis(s.Age.P95),
			millis(s.Receipt.P50), millis(s.Receipt.P95), command.Whole(float64(s.Missed)), command.Whole(float64(s.Expected)))
	}
	cost.WriteText(w)
	lag.WriteText(w)
	compared := uint64(0)
	for _, s := range r.Each {
		compared += s.Compared
	}
	fmt.Fprintf(w, "Milliseconds are CPU time a tick: to follow is to read the log, to run the Sim and to hash it; to serve is all else. Behind\n")
	fmt.Fprintf(w, "is in ticks, at the end of each tick of the master: 1 is the least. The relays have compared %s hashes with the log.\n", command.Whole(float64(compared)))
	fmt.Fprintln(w, "Viewers of a relay are a process of their own: all processes share the CPUs of this machine.")
}
