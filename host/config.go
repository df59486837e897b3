package host

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
)

// ErrClosed is wrapped by the errors of Add after Drain or Close, and of Push for a world that is being taken out.
var ErrClosed = errors.New("host: it takes nothing more")

// Config of a Host. The zero value works.
type Config struct {
	// Workers is the number of goroutines that run ticks, 1 to 1024. 0: one for each CPU that Go uses.
	Workers int
	// Budget is the sum of cores up to which Add admits worlds, above 0. 0: 0.8 × Workers. The rest is for bursts, the
	// garbage collector and other programs. More than Workers overcommits: then worlds will be late.
	Budget float64
	// Pacing says how an idle worker waits for the next tick: loop.Sleep, loop.Precise or loop.Spin.
	Pacing loop.Pacing
	// Clock replaces the clocks of Pacing. All workers use it at the same time. Its Now must never go back.
	Clock loop.Clock
}

const (
	maxWorkers  = 1024
	usualBudget = 0.8 // cores for each worker
)

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	f := fault.List{Package: "host"}
	f.Range("Config.Workers", c.Workers, 0, maxWorkers)
	switch {
	case !fault.Finite(c.Budget):
		f.Add(fault.ErrNotFinite, "Config.Budget", c.Budget)
	case c.Budget < 0:
		f.Add(fault.ErrRange, "Config.Budget", c.Budget)
	}
	switch c.Pacing {
	case loop.Sleep, loop.Precise, loop.Spin:
	case loop.External, loop.Uncapped:
		f.Add(fault.ErrUnsupported, "Config.Pacing", c.Pacing)
	default:
		f.Add(fault.ErrRange, "Config.Pacing", c.Pacing)
	}
	return f.Err()
}

func (c Config) withDefaults() Config {
	c.Workers = cmp.Or(c.Workers, min(runtime.GOMAXPROCS(0), maxWorkers))
	c.Budget = cmp.Or(c.Budget, usualBudget*float64(c.Workers))
	return c
}

// World describes a world for Add: a Sim, or the Scenario that builds it.
type World struct {
	// Name identifies the world in its Host: 1 to 255 bytes.
	Name string
	// Sim is the world itself; nil: Scenario.New builds it. From Add on it belongs to the Host: until Remove or Drain
	// returns, or Ended is called, only its methods that any goroutine may call are allowed. Its rate is that of
	// Config.Loop, and so is what it does with ticks that are late.
	Sim *evertick.Sim
	// Scenario builds the Sim, and another one for the trial from which Add estimates the cost of a tick. What it builds
	// may have no effect outside, since the trial runs ticks that never happen.
	Scenario replay.Scenario
	// Seed is that of Scenario.New. With a Sim it is the Sim's own.
	Seed uint64
	// Snapshot is the state to begin with: Saved.Snapshot, which holds the inputs that wait. nil: the state of the Sim as it is.
	// With a Sim, it must be of the same tick and hash, such as a Sim that replay.Resume has made from a log: this adds the inputs
	// that wait, which no log has. It needs Scenario.New.
	Snapshot []byte
	// Recorder, if not nil, records the Sim. The Host closes it when the world leaves or ends, or the Host is closed.
	Recorder *replay.Recorder
	// Weight is the share of the world when there is more to do than workers can do, 1 to 1<<20. 0: 1.
	Weight int
	// EstimateNs is the p95 of the time that a tick will take, in nanoseconds. 0: Add finds out.
	EstimateNs int64
	// Ended, if not nil, is called once, on a goroutine of its own, if the world ends by itself: with nil after loop.ErrStop,
	// otherwise with an error that names the world. It may use Sim and Recorder, which is closed afterwards. Remove of the
	// world, Drain and Close wait until it returns, so it must not call them.
	Ended func(err error)
}

const maxWeight = 1 << 20

func (w *World) validate() error {
	f := fault.List{Package: "host"}
	if w.Name == "" || len(w.Name) > 255 {
		f.Add(fault.ErrRange, "World.Name", fmt.Sprintf("%.40q", w.Name))
	}
	f.Range("World.Weight", w.Weight, 0, maxWeight)
	if w.EstimateNs < 0 || w.EstimateNs > math.MaxInt64/maxWorkers {
		f.Add(fault.ErrRange, "World.EstimateNs", w.EstimateNs)
	}
	if w.Scenario.New == nil {
		switch {
		case w.Sim == nil:
			f.Add(fault.ErrRange, "World.Scenario.New, without a Sim", "nil")
		case w.Snapshot != nil:
			f.Add(fault.ErrRange, "World.Scenario.New, with a Snapshot", "nil")
		case w.EstimateNs == 0:
			f.Add(fault.ErrRange, "World.EstimateNs, without Scenario.New", 0)
		}
	}
	if w.Recorder != nil && w.Sim == nil {
		f.Add(fault.ErrRange, "World.Sim, with a Recorder", "nil")
	}
	return f.Err()
}
