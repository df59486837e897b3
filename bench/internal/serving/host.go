package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/host"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

const hostScene = "host"

func init() {
	command.Register(command.Scene{
		Name: hostScene, Family: command.Simulations,
		Help:  "capstones at -hz in one process, as many as -workers cores hold: worlds, late ticks, CPU",
		Flags: []string{"n", "hz", "ticks", "warmup", "seed", "level", "workers", "csv"},
		Check: checks((*options).checkHost),
		Run:   runs((*options).runHost),
	})
}

// mostWorlds bounds -n of the scene.
const mostWorlds = 100_000

// checkHost fills in the flags of the scene, and checks them.
func (o *options) checkHost(given map[string]bool) (err error) {
	if o.N, err = command.Single("n", o.Ns, mostWorlds); err != nil {
		return err
	}
	switch {
	case o.N < 1 || o.N > mostWorlds:
		return fmt.Errorf("%w: -n %d: 1 to %d worlds", command.ErrUsage, o.N, mostWorlds)
	case o.hz < 1 || o.hz > mostHz:
		return fmt.Errorf("%w: -hz %d: 1 to %d", command.ErrUsage, o.hz, mostHz)
	}
	return o.CheckSteps(given, 12*o.hz, 2*o.hz)
}

func (o *options) runHost(level native.Level, stdout, stderr io.Writer) error {
	level, err := native.Resolve(level)
	if err != nil {
		return err
	}
	r := o.NewReport(level.String())
	h := &hostRun{options: o, progress: command.NewProgress(stderr)}
	r.WriteText = h.write
	return o.Publish(stdout, r, func() error {
		err := h.measure(level)
		h.progress.Clear()
		r.Facts, r.Figures = h.facts(), h.figures()
		return err
	})
}

// hostRun fills a Host with worlds, and measures it.
type hostRun struct {
	*options
	progress *command.Progress
	refusal  error // of the world that did not fit; nil: -n was reached
	took     time.Duration
	cpu      time.Duration
	allocs   uint64
	stats    host.Stats
}

// measure fills the Host, and counts what happens in -ticks of real time. The process has no more CPUs than workers, so that
// the garbage collector has none of its own either.
func (h *hostRun) measure(level native.Level) (err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(h.Workers))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	all, err := host.New(host.Config{Workers: h.Workers})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	if err := h.fill(ctx, all, level); err != nil {
		return err
	}
	if err := h.pass(ctx, h.Warmup); err != nil {
		return err
	}
	command.Collect()
	all.ResetStats()
	start, cpu, memory := time.Now(), h.processTime(), command.Allocated()
	if err := h.pass(ctx, h.Ticks-h.Warmup); err != nil {
		return err
	}
	all.Stats(&h.stats)
	h.took, h.cpu, h.allocs = time.Since(start), h.processTime()-cpu, command.Allocated().Since(memory).Allocs
	for _, w := range h.stats.Worlds {
		err = errors.Join(err, w.Err)
	}
	return err
}

func (h *hostRun) processTime() time.Duration {
	t, _ := command.ProcessTime()
	return t
}

// A trial has the caches of the CPU to itself, which many worlds share. So after firstWorlds, and whenever there are half as
// many more, the worlds run for settleTicks: then Add counts what they take beside each other.
const (
	firstWorlds = 8
	settleTicks = 300 // more than those of which a Host takes p95
)

// fill adds worlds until one does not fit.
func (h *hostRun) fill(ctx context.Context, all *host.Host, level native.Level) error {
	pace := loop.Config{RateNum: int64(h.hz), RateDen: 1, MaxSteps: 1, Policy: loop.Keep}
	sc, err := loggedScene("capstone", evertick.Config{Level: level, Loop: pace})
	if err != nil {
		return err
	}
	settle := firstWorlds
	for i := range h.N {
		if i == settle {
			if err := h.pass(ctx, settleTicks); err != nil {
				return err
			}
			settle += settle / 2
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		h.progress.Show("%s: %d worlds", h.Scene, i)
		err := all.Add(host.World{Name: fmt.Sprint(sc.Name, " ", i+1), Scenario: sc, Seed: h.Seed + uint64(i)})
		if errors.Is(err, fault.ErrCapacity) {
			h.refusal = err
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// pass lets the time of some ticks pass.
func (h *hostRun) pass(ctx context.Context, ticks int) error {
	h.progress.Show("%s: %d ticks", h.Scene, ticks)
	return new(loop.SystemClock).Sleep(ctx, int64(ticks)*int64(time.Second)/int64(h.hz))
}

// facts are the single figures of the report.
func (h *hostRun) facts() map[string]any {
	s := &h.stats
	f := map[string]any{
		"worlds": len(s.Worlds), "hz": h.hz, "budget_cores": s.Budget, "admitted_cores": s.Used, "full": h.refusal != nil,
		"ticks": s.Ticks, "late_ticks": s.LateTicks, "dropped_ticks": s.Dropped,
		"busy_cores": float64(s.BusyNs) / float64(max(1, h.took)), "cpu_cores": float64(h.cpu) / float64(max(1, h.took)),
	}
	if s.Ticks > 0 {
		f["allocs_per_tick"] = float64(h.allocs) / float64(s.Ticks)
	}
	return f
}

// figures is the table of -csv.
func (h *hostRun) figures() command.Table {
	t := command.Table{Columns: []command.Column{{Name: "name"}, {Name: "p50_ns"}, {Name: "p95_ns"}, {Name: "p99_ns"}, {Name: "max_ns"}}}
	for _, row := range h.times() {
		t.Add(row.name, row.P50, row.P95, row.P99, row.Max)
	}
	return t
}

type hostTimes struct {
	name string
	host.Times
}

func (h *hostRun) times() []hostTimes {
	return []hostTimes{{"tick", h.stats.Step}, {"late by", h.stats.Late}}
}

// write writes the report for people.
func (h *hostRun) write(w io.Writer) {
	s, f := &h.stats, h.facts()
	fmt.Fprintf(w, "%s capstones at %d Hz on %d worker(s), %.1f for each", command.Count(len(s.Worlds)), h.hz, h.Workers, float64(len(s.Worlds))/float64(h.Workers))
	if h.refusal == nil {
		fmt.Fprint(w, "; -n allows no more")
	}
	fmt.Fprintf(w, "\n\nadmitted  p95 × rate of %.2f cores; the budget is %.2f\n", s.Used, s.Budget)
	fmt.Fprintf(w, "used      %.2f cores in ticks, %.2f CPU of the process\n", f["busy_cores"], f["cpu_cores"])
	fmt.Fprintf(w, "ticks     %s, %s of them late, %s dropped\n\n", command.Whole(float64(s.Ticks)), command.Whole(float64(s.LateTicks)), command.Whole(float64(s.Dropped)))
	t := command.TextTable("ms", "p50", "p95", "p99", "max")
	millis := func(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e6) }
	for _, row := range h.times() {
		t.Add(row.name, millis(row.P50), millis(row.P95), millis(row.P99), millis(row.Max))
	}
	t.WriteText(w)
	fmt.Fprintln(w, "A tick is late if it began when the next one was due already, or was dropped.")
}
