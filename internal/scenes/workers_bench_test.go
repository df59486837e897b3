package scenes_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

// Helpers take part in all that tests compute.
func init() { pace.Always = true }

// BenchmarkWorkers steps two worlds of one scene by turns, one with one worker and one with two.
func BenchmarkWorkers(b *testing.B) {
	pace.Always = false
	defer func() { pace.Always = true }()
	for _, c := range []struct {
		scene string
		n     int
	}{{"arena", 16384}, {"pyramids", 400}, {"pyramid", 100}, {"heap", 5000}} {
		b.Run(c.scene, func(b *testing.B) {
			var steps [2]func() error
			for i := range steps {
				steps[i] = stepsOf(b, c.scene, c.n, 1+i)
			}
			for range 60 {
				for _, step := range steps {
					if err := step(); err != nil {
						b.Fatal(err)
					}
				}
			}
			var took [2][]time.Duration
			for b.Loop() {
				for i, step := range steps {
					const round = 8
					start := time.Now()
					for range round {
						if err := step(); err != nil {
							b.Fatal(err)
						}
					}
					took[i] = append(took[i], time.Since(start)/round)
				}
			}
			var p50, sum [2]float64
			for i, t := range took {
				for _, d := range t {
					sum[i] += float64(d)
				}
				slices.Sort(t)
				p50[i] = float64(t[len(t)/2])
			}
			b.ReportMetric(p50[0]/1e3, "µs-one")
			b.ReportMetric(p50[1]/1e3, "µs-two")
			b.ReportMetric(p50[0]/p50[1], "×p50")
			b.ReportMetric(sum[0]/sum[1], "×mean")
		})
	}
}

func stepsOf(b *testing.B, scene string, n, workers int) func() error {
	if scene == "heap" {
		w, err := heap(n, workers)
		if err != nil {
			b.Fatal(err)
		}
		return func() error { return w.Step(scenes.Dt) }
	}
	s, err := scenes.New(scene, n, 1, physics.Config{Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	return s.Step
}

// heap returns n boxes that fall into a basin.
func heap(n, workers int) (*physics.World, error) {
	w, err := physics.New(physics.Config{Capacity: n + 1, Gravity: [2]float32{0, -10}, Workers: workers, DisableSleep: true})
	if err != nil {
		return nil, err
	}
	ground, err := w.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		return nil, err
	}
	for _, s := range []physics.Segment{
		{P1: [2]float32{-30, 0}, P2: [2]float32{30, 0}},
		{P1: [2]float32{-30, 0}, P2: [2]float32{-30, 200}},
		{P1: [2]float32{30, 0}, P2: [2]float32{30, 200}},
	} {
		if _, err := w.CreateSegment(ground, physics.DefaultShapeDef(), s); err != nil {
			return nil, err
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		d := physics.DefaultBodyDef()
		d.Type = physics.DynamicBody
		d.Position = [2]float32{float32(i%50)*1.15 - 28 + rng.Float32()*0.1, 0.6 + float32(i/50)*1.1}
		body, err := w.CreateBody(d)
		if err != nil {
			return nil, err
		}
		if _, err := w.CreatePolygon(body, physics.DefaultShapeDef(), physics.Box(0.3+0.2*rng.Float32(), 0.3+0.2*rng.Float32())); err != nil {
			return nil, err
		}
	}
	return w, nil
}
