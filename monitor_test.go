package evertick_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
)

// checkMetrics compares what the Monitor reads with what the Sim itself returns.
func checkMetrics(t *testing.T, s *evertick.Sim) {
	t.Helper()
	var got evertick.Metrics
	s.Monitor().Read(&got)
	want := evertick.Metrics{Ticks: s.Ticks(), Frame: s.Frame(), Level: s.Level(), Err: got.Err, Inputs: s.InputStats(),
		Entities: s.World.Len(), Bodies: s.Physics.Len(), Contacts: s.Physics.ContactCount()}
	want.Timings, want.StepNs = s.Timings()
	want.Phases, want.Step = s.Stats()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("the Monitor reads\n%+v, want\n%+v", got, want)
	}
}

// TestMonitor: the figures are those of the Sim after each step and frame.
func TestMonitor(t *testing.T) {
	clock := manualClock()
	c := parkConfig()
	c.Clock = clock
	s := newPark(t, c).sim
	checkMetrics(t, s)
	var fails error
	add(t, s, evertick.AfterIndex, "slow", func(tick *evertick.Tick) error {
		clock.Add(int64(tick.N%10) * 1000)
		return fails
	})
	for i := range 30 {
		step(t, s, 1)
		if i%3 == 0 {
			if _, err := s.Advance(40e6); err != nil {
				t.Fatal(err)
			}
		}
		checkMetrics(t, s)
	}
	add(t, s, evertick.AfterIndex, "late", nothing)
	step(t, s, 1)
	checkMetrics(t, s)
	s.ResetStats()
	var m evertick.Metrics
	s.Monitor().Read(&m)
	if m.Step.Count != 0 || m.Err != nil || m.Ticks != s.Ticks() {
		t.Errorf("after ResetStats: %+v", m)
	}
	fails = errors.New("broken")
	err := s.Step()
	s.Monitor().Read(&m)
	if !errors.Is(m.Err, fails) || m.Err != err {
		t.Errorf("after a failed step: %v, want %v", m.Err, err)
	}
	checkMetrics(t, s)
}

func TestMonitorOfUntimed(t *testing.T) {
	c := small()
	c.Untimed = true
	s := newSim(t, c)
	s.Monitor()
	step(t, s, 3)
	checkMetrics(t, s)
}

// TestMonitorFromGoroutines: goroutines read everything that they may while the Sim runs, spawns, adds
// systems and resets its stats. The race detector looks on.
func TestMonitorFromGoroutines(t *testing.T) {
	c := small()
	c.Clock, c.Workers = manualClock(), 2
	s := newSim(t, c)
	monitor := s.Monitor()
	done := make(chan struct{})
	var readers sync.WaitGroup
	var started sync.WaitGroup
	for range 2 {
		started.Add(1)
		readers.Go(func() {
			var m evertick.Metrics
			var last uint64
			for first := true; ; first = false {
				monitor.Read(&m)
				if m.Ticks < last || m.Entities > 64 || len(m.Phases) != len(m.Timings) || m.Level != s.Level() || m.Ticks > 0 && m.Step.P50 > m.Step.Max {
					t.Errorf("after tick %d: %+v", last, m)
				}
				last = m.Ticks
				if s.InputStats().Pushed > 0 || native.Info().Level.String() == "" || s.Config().Capacity != 64 {
					t.Error("InputStats, Info or Config")
				}
				if first {
					started.Done()
				}
				select {
				case <-done:
					return
				default:
					runtime.Gosched() // on one thread the Sim would never step
				}
			}
		})
	}
	started.Wait()
	for i := range 300 {
		if i%10 == 0 {
			movingBody(t, s, spawn(t, s), 1)
		}
		if i == 100 {
			add(t, s, evertick.AfterIndex, "late", nothing)
		}
		if i%50 == 0 {
			s.ResetStats()
		}
		if _, err := s.Advance(17e6); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	readers.Wait()
	checkMetrics(t, s)
}

func TestMonitorAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented code allocates")
	}
	s := newSim(t, small())
	var m evertick.Metrics
	monitor := s.Monitor()
	step(t, s, 3)
	monitor.Read(&m)
	if n := testing.AllocsPerRun(50, func() {
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
		monitor.Read(&m)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if m.Ticks != s.Ticks() || m.Frame != (loop.Frame{}) {
		t.Errorf("%+v", m)
	}
}

// BenchmarkMonitor is the cost of a step with a Monitor and without, empty or with systems that do
// nothing, and of Read.
func BenchmarkMonitor(b *testing.B) {
	for _, systems := range []int{0, 100} {
		for _, with := range []string{"no", "yes"} {
			s := newSim(b, small())
			for i := range systems {
				add(b, s, evertick.AfterIndex, strconv.Itoa(i), func(*evertick.Tick) error { return nil })
			}
			if with == "yes" {
				s.Monitor()
			}
			b.Run(fmt.Sprintf("step/systems=%d/monitor=%s", systems, with), func(b *testing.B) {
				for b.Loop() {
					if err := s.Step(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("read", func(b *testing.B) {
		s := newSim(b, small())
		monitor := s.Monitor()
		step(b, s, 100)
		var m evertick.Metrics
		for b.Loop() {
			monitor.Read(&m)
		}
	})
}
