package physics_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

// stageTimes are the times of a stage that workers share, in nanoseconds.
type stageTimes struct {
	before   float64   // since the stage before, by the leader
	chunks   []float64 // in their order
	coloured float64   // of them, one after the other
}

// recording has the stages of a step, and what the leader does after the last one.
type recording struct {
	stages []stageTimes
	after  float64
}

// record records a step.
func record(w *physics.World, step func() error) (r recording, err error) {
	last := pace.Now()
	lap := func() float64 {
		now := pace.Now()
		d := now - last
		last = now
		return float64(d)
	}
	cost := lap() // of a lap
	for range 100 {
		cost = min(cost, lap())
	}
	inColour := time.Duration(0)
	w.Record(func(chunks int) {
		if chunks > 0 {
			r.stages = append(r.stages, stageTimes{before: max(0, lap()-cost)})
			return
		}
		s := &r.stages[len(r.stages)-1]
		s.chunks = append(s.chunks, max(0, lap()-cost))
	}, func(begins bool) {
		if begins {
			inColour = pace.Now()
		} else if n := len(r.stages); n > 0 {
			r.stages[n-1].coloured += float64(pace.Now() - inColour)
		}
	})
	lap()
	err = step()
	r.after = lap()
	w.Record(nil, nil)
	return r, err
}

// keepLeast keeps the shorter of the times of two recordings of the same step.
func (r *recording) keepLeast(o *recording) {
	r.after = min(r.after, o.after)
	for i := range r.stages {
		a, b := &r.stages[i], &o.stages[i]
		a.before, a.coloured = min(a.before, b.before), min(a.coloured, b.coloured)
		for k := range a.chunks {
			a.chunks[k] = min(a.chunks[k], b.chunks[k])
		}
	}
}

// barrier and start are what a stage costs with several workers, and starting a worker, in nanoseconds. A chunk costs as much
// on any worker, although its data may be in the cache of another.
const barrier, start = 400, 4000

// predict returns how long the step takes with so many workers, and of that the time in which the leader works alone.
// Whichever worker is free takes the next chunk. Chunks get their colours one after the other.
func (r *recording) predict(workers int) (total, serial float64) {
	serial = r.after + float64(workers-1)*start
	for i := range r.stages {
		s := &r.stages[i]
		serial += s.before
		free := make([]float64, workers)
		for _, d := range s.chunks {
			k := slices.Index(free, slices.Min(free))
			free[k] += d
		}
		total += max(slices.Max(free), s.coloured)
		if workers > 1 {
			total += barrier
		}
	}
	return total + serial, serial
}

// BenchmarkPredictedWorkers predicts from one recorded step how much faster more workers are than one, which runs
// whole stages: ×2, ×4 and so on. A time is the shortest of many repetitions, so the figures depend little on what else
// the machine does. serial-% is the share of one worker's time in which only the leader works; barriers is the
// number of shared stages.
func BenchmarkPredictedWorkers(b *testing.B) {
	for _, c := range []struct {
		scene    string
		n, ticks int
	}{{"arena", 16384, 60}, {"pyramids", 400, 20}, {"pyramid", 100, 60}, {"heap", 5000, 300}} {
		b.Run(c.scene, func(b *testing.B) {
			w, step := sceneWorld(b, c.scene, c.n)
			for range c.ticks {
				if err := step(); err != nil {
					b.Fatal(err)
				}
			}
			at, err := w.Snapshot(nil)
			if err != nil {
				b.Fatal(err)
			}
			var least recording
			alone := time.Duration(1 << 62)
			pace.Always = false
			defer func() { pace.Always = true }()
			for b.Loop() {
				for k := range 2 {
					if err := w.Restore(at); err != nil {
						b.Fatal(err)
					}
					if err := w.Step(dt); err != nil { // fills what Restore has emptied
						b.Fatal(err)
					}
					if k == 0 {
						began := pace.Now()
						if err := w.Step(dt); err != nil {
							b.Fatal(err)
						}
						alone = min(alone, pace.Now()-began)
						continue
					}
					r, err := record(w, func() error { return w.Step(dt) })
					if err != nil {
						b.Fatal(err)
					}
					if least.stages == nil {
						least = r
					}
					least.keepLeast(&r)
				}
			}
			for _, workers := range []int{1, 2, 4, 8, 16} {
				total, serial := least.predict(workers)
				b.ReportMetric(float64(alone)/total, fmt.Sprintf("×%d", workers))
				if workers == 1 {
					b.ReportMetric(100*serial/float64(alone), "serial-%")
				}
			}
			b.ReportMetric(float64(alone)/1e3, "µs-alone")
			b.ReportMetric(float64(len(least.stages)), "barriers")
			b.ReportMetric(0, "ns/op")
			if testing.Verbose() {
				least.print(b)
			}
		})
	}
}

// print lists the stages: the time before each, its chunks, their sum and the longest.
func (r *recording) print(b *testing.B) {
	for i, s := range r.stages {
		sum := 0.
		for _, d := range s.chunks {
			sum += d
		}
		b.Logf("stage %3d: %7.1f µs before, %3d chunks, sum %7.1f, longest %6.1f, coloured %6.1f", i, s.before/1e3, len(s.chunks), sum/1e3, slices.Max(s.chunks)/1e3, s.coloured/1e3)
	}
	b.Logf("after: %.1f µs", r.after/1e3)
}

func sceneWorld(b *testing.B, scene string, n int) (w *physics.World, step func() error) {
	if scene != "heap" {
		s, err := scenes.New(scene, n, 1, physics.Config{Workers: 2})
		if err != nil {
			b.Fatal(err)
		}
		return s.World, s.Step
	}
	w = newWorld(b, physics.Config{Capacity: n + 1, Gravity: [2]float32{0, -10}, Workers: 2, DisableSleep: true})
	basin(b, w)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		d := physics.DefaultBodyDef()
		d.Type = physics.DynamicBody
		d.Position = [2]float32{float32(i%50)*1.15 - 28 + rng.Float32()*0.1, 0.6 + float32(i/50)*1.1}
		body, err := w.CreateBody(d)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.CreatePolygon(body, plain, physics.Box(0.3+0.2*rng.Float32(), 0.3+0.2*rng.Float32())); err != nil {
			b.Fatal(err)
		}
	}
	return w, func() error { return w.Step(dt) }
}

func basin(b *testing.B, w *physics.World) {
	ground, err := w.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range []physics.Segment{
		{P1: [2]float32{-30, 0}, P2: [2]float32{30, 0}},
		{P1: [2]float32{-30, 0}, P2: [2]float32{-30, 200}},
		{P1: [2]float32{30, 0}, P2: [2]float32{30, 200}},
	} {
		if _, err := w.CreateSegment(ground, plain, s); err != nil {
			b.Fatal(err)
		}
	}
}
