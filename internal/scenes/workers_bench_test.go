package scenes_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

// Helpers take part in all that tests compute.
func init() { pace.Always = true }

// BenchmarkWorkers steps worlds of one scene by turns: one with one worker, one with two, and two with one worker each at
// the same time. The last shows the limit, which is what the second CPU is worth at that time. Of the swarm it also logs
// the phases; bench -scale -workers 2 reports which of them stay serial.
func BenchmarkWorkers(b *testing.B) {
	pace.Always = false
	defer func() { pace.Always = true }()
	for _, c := range []struct {
		scene string
		n     int
	}{{"arena", 16384}, {"pyramids", 400}, {"pyramid", 100}, {"heap", 5000}, {"swarm", 100_000}} {
		b.Run(c.scene, func(b *testing.B) {
			var worlds [4]func() error
			var sims [4]*evertick.Sim
			for i, workers := range []int{1, 2, 1, 1} {
				worlds[i], sims[i] = stepsOf(b, c.scene, c.n, workers)
				stepAll(b, 60, worlds[i])
			}
			for _, sim := range sims {
				if sim != nil {
					sim.ResetStats()
				}
			}
			turns := [][]func() error{worlds[:1], worlds[1:2], worlds[2:]}
			var took [3][]float64
			for b.Loop() {
				for i, turn := range turns {
					const round = 8
					start := time.Now()
					stepAll(b, round, turn...)
					took[i] = append(took[i], time.Since(start).Seconds()*1e6/round)
				}
			}
			for _, t := range took {
				slices.Sort(t)
			}
			p50 := len(took[0]) / 2
			one, two, both := took[0][p50], took[1][p50], took[2][p50]
			b.ReportMetric(one, "µs-one")
			b.ReportMetric(two, "µs-two")
			b.ReportMetric(one/two, "×gain")
			b.ReportMetric(2*one/both, "×limit")
			if sims[0] != nil {
				logPhases(b, sims[0], sims[1])
			}
		})
	}
}

// logPhases logs the medians of the phases of a Sim with one worker and of one with two.
func logPhases(b *testing.B, first, second *evertick.Sim) {
	one, _ := first.Stats()
	two, _ := second.Stats()
	for i, p := range one {
		b.Logf("%-14s %9.1f µs %9.1f µs  ×%.2f", p.Phase, float64(p.P50)/1e3, float64(two[i].P50)/1e3, float64(p.P50)/float64(max(two[i].P50, 1)))
	}
}

// stepAll steps worlds at the same time.
func stepAll(b *testing.B, steps int, worlds ...func() error) {
	var done sync.WaitGroup
	run := func(step func() error) {
		for range steps {
			if err := step(); err != nil {
				b.Error(err)
				return
			}
		}
	}
	for _, step := range worlds[1:] {
		done.Go(func() { run(step) })
	}
	run(worlds[0])
	done.Wait()
}

// stepsOf returns the function that steps a scene, and its Sim if it has one.
func stepsOf(b *testing.B, scene string, n, workers int) (func() error, *evertick.Sim) {
	switch scene {
	case "heap":
		w, err := heap(n, workers)
		if err != nil {
			b.Fatal(err)
		}
		return func() error { return w.Step(scenes.Dt) }, nil
	case "swarm":
		s := newSwarm(b, n, 16384, workers)
		return s.Step, s.Sim
	}
	s, err := scenes.New(scene, n, 1, physics.Config{Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	return s.Step, nil
}

// newSwarm returns a swarm with bodies, of which each boid has 30 neighbours.
func newSwarm(b *testing.B, n, bodies, workers int) *scenes.Sim {
	d, _ := scenes.FindSim("swarm")
	p := d.Params
	p.Entities, p.Bodies, p.Radius = n, bodies, 2.03
	s, err := d.New(p, evertick.Config{Seed: 1, Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	return s
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
