package profile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/loop"
)

// crowd is a Sim of n entities that five systems push about: with the phases of the core as
// many as those of the capstone scene.
func crowd(b *testing.B, n int) *evertick.Sim {
	b.Helper()
	sim, err := evertick.New(evertick.Config{Capacity: max(n, 64)})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		id, err := sim.World.Spawn()
		if err != nil {
			b.Fatal(err)
		}
		r := loop.NewRand(1, 0, uint64(i), 0)
		if err := sim.World.SetPosition(id, r.Range(-100, 100), 0, r.Range(-100, 100)); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range []string{"act", "move", "stir", "perceive", "steer"} {
		if err := sim.Add(evertick.AfterIndex, name, func(*evertick.Tick) error {
			x := sim.World.Position.X
			for i := range x {
				x[i] = -x[i]
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	return sim
}

// BenchmarkAttach runs the same steps with and without a Recorder, by turns: it reports the time
// that recording adds to a step, and the share that the Recorder itself reports. That share is
// largest for steps without entities.
func BenchmarkAttach(b *testing.B) {
	for _, n := range []int{0, 2000} {
		b.Run(fmt.Sprintf("entities=%d", n), func(b *testing.B) {
			plain, watched := crowd(b, n), crowd(b, n)
			r, err := profile.Attach(watched, profile.Config{})
			if err != nil {
				b.Fatal(err)
			}
			const turn = 10 // short, so that few are disturbed
			timed := func(sim *evertick.Sim) float64 {
				start := time.Now()
				if err := sim.StepN(turn); err != nil {
					b.Fatal(err)
				}
				return float64(time.Since(start)) / turn
			}
			timed(plain)
			timed(watched)
			var without, with, added []float64
			for i := 0; b.Loop(); i++ {
				var p, w float64
				if i%2 == 0 {
					p, w = timed(plain), timed(watched)
				} else {
					w, p = timed(watched), timed(plain)
				}
				without, with, added = append(without, p), append(with, w), append(added, w-p)
			}
			b.ReportMetric(median(without), "ns/step")
			b.ReportMetric(median(with), "ns/step-recorded")
			b.ReportMetric(median(added), "ns-added")
			b.ReportMetric(100*median(added)/median(without), "%-added")
			b.ReportMetric(100*r.Run().Overhead, "%-reported")
		})
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
