package inspector

import (
	"sync"
	"sync/atomic"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// live is the subject whose Sim the program steps.
type live struct {
	*hub
	sim     *evertick.Sim
	monitor *evertick.Monitor
	remove  func()    // the hooks; on the goroutine of the Sim
	fixed   status    // what never changes
	metrics sync.Pool // *evertick.Metrics

	betweenAt atomic.Int64 // 1 more than when the host last called Between; 0: never

	frame loop.Frame // the last; guarded by hub.mu
	trace traceLog
}

func newLive(sim *evertick.Sim) *live {
	l := &live{hub: newHub(), sim: sim, monitor: sim.Monitor(), frame: sim.Frame()}
	l.fixed.describe(sim)
	l.metrics.New = func() any { return new(evertick.Metrics) }
	l.failure = func() error {
		if l.betweenCalled() {
			return nil
		}
		return l.simFailure()
	}
	l.between(sim, sim.Loop().Paused())
	l.remove = sim.AddHooks(evertick.Hooks{
		AfterTick: func(t *evertick.Tick) error {
			switch {
			case l.removed():
			case t.Again():
				l.again(sim)
			default:
				l.tick(sim)
			}
			return nil
		},
		AfterFrame: l.afterFrame,
	})
	return l
}

func (l *live) afterFrame(f loop.Frame) {
	if l.removed() {
		return
	}
	l.mu.Lock()
	l.frame = f
	l.mu.Unlock()
	l.between(l.sim, f.Paused || f.Menu || f.Gated || l.sim.Loop().Paused())
}

// removed removes the hooks after close.
func (l *live) removed() bool {
	select {
	case <-l.closing:
		l.remove()
		return true
	default:
		return false
	}
}

// betweenCalled reports whether the host makes safe points by Between, so that even a Sim that has failed
// has some.
func (l *live) betweenCalled() bool {
	at := l.betweenAt.Load()
	return at != 0 && l.now()-at < int64(stallAfter)
}

// simFailure returns the error that ended the Sim. A step that runs is none.
func (l *live) simFailure() error {
	m := l.metrics.Get().(*evertick.Metrics)
	defer l.metrics.Put(m)
	l.monitor.Read(m)
	return m.Err
}

func (l *live) name() string { return "live" }

func (l *live) report(s *status) {
	l.fixed.copyFixed(s)
	l.hub.report(s)
	l.mu.Lock()
	f := l.frame
	l.mu.Unlock()
	s.Frame = frameStatus{DroppedTotal: f.DroppedTotal, BacklogNs: f.LagNs,
		Overrun: overrun{f.Overrun.System, f.Overrun.Ns}}
	if age := l.age(); age > failureCheck || l.betweenCalled() {
		if err := l.simFailure(); err != nil {
			s.State, s.Error = "failed", err.Error()
		} else if age > stallAfter && s.State != "paused" {
			s.State = "stalled"
		}
	}
}
