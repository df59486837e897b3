package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// recorder keeps the durations of every measured step, in nanoseconds, in
// memory that is set aside beforehand.
type recorder struct {
	names  []string
	steps  []int64
	phases [][]int64 // by phase, then step

	allocs, bytes uint64
}

func newRecorder(s *scene, steps int) *recorder {
	timings, _ := s.sim.Timings()
	r := &recorder{steps: make([]int64, 0, steps)}
	for _, t := range timings {
		r.names = append(r.names, t.Phase)
		r.phases = append(r.phases, make([]int64, 0, steps))
	}
	return r
}

// measure runs the scene for ticks steps and records those after the warm-up.
// Each of the functions is called after every step, outside the measurement.
func measure(s *scene, ticks, warmup int, each ...func() error) (*recorder, error) {
	r := newRecorder(s, ticks-warmup)
	var before memory
	for i := range ticks {
		if i == warmup {
			runtime.GC() // what the warm-up left is not the steps' fault
			s.hits, s.asks = 0, 0
			before = allocated()
		}
		start := time.Now()
		if err := s.step(); err != nil {
			return nil, err
		}
		if i >= warmup {
			r.add(s, int64(time.Since(start)))
		}
		for _, f := range each {
			if err := before.except(f); err != nil {
				return nil, fmt.Errorf("after tick %d: %w", i, err)
			}
		}
	}
	after := allocated()
	r.allocs, r.bytes = after.allocs-before.allocs, after.bytes-before.bytes
	return r, nil
}

// memory is what the process had allocated at a moment.
type memory struct{ allocs, bytes uint64 }

func allocated() memory {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return memory{stats.Mallocs, stats.TotalAlloc}
}

// except calls f and moves the moment on by what f allocates.
func (m *memory) except(f func() error) error {
	start := allocated()
	err := f()
	end := allocated()
	m.allocs += end.allocs - start.allocs
	m.bytes += end.bytes - start.bytes
	return err
}

func (r *recorder) add(s *scene, step int64) {
	timings, _ := s.sim.Timings()
	r.steps = append(r.steps, step)
	for i, t := range timings {
		r.phases[i] = append(r.phases[i], t.Ns)
	}
}

// unaccounted returns for each step what no phase accounts for.
func (r *recorder) unaccounted() []int64 {
	rest := slices.Clone(r.steps)
	for _, phase := range r.phases {
		for i, ns := range phase {
			rest[i] -= ns
		}
	}
	return rest
}
