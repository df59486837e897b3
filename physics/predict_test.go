package physics_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/internal/team"
	"github.com/evertick/evertick/physics"
)

// stageTimes are the times of a stage that workers share, in nanoseconds.
type stageTimes struct {
	before   float64   // since the stage before, by the leader
	chunks   []float64 // in their order; nil: steps of regions
	coloured float64   // of them, one after the other
	steps    *stepTimes
}

// stepTimes are the times of steps of regions, by step, then by region.
type stepTimes struct {
	parts   int
	linked  []uint64
	borders []team.Border
	border  []float64 // of the border, or 0
	rest    []float64
}

// recording has the stages of a step, and what the leader does after the last one.
type recording struct {
	stages []stageTimes
	after  float64
}

// sameStages reports whether two recordings have the same stages with the same chunks and steps.
func (r *recording) sameStages(o *recording) bool {
	return slices.EqualFunc(r.stages, o.stages, func(a, b stageTimes) bool {
		return len(a.chunks) == len(b.chunks) && (a.steps == nil) == (b.steps == nil) &&
			(a.steps == nil || len(a.steps.rest) == len(b.steps.rest) && slices.Equal(a.steps.linked, b.steps.linked) && slices.Equal(a.steps.borders, b.steps.borders))
	})
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
	w.Record(&physics.Recorder{Stage: func(chunks int) {
		if chunks > 0 {
			r.stages = append(r.stages, stageTimes{before: max(0, lap()-cost)})
			return
		}
		s := &r.stages[len(r.stages)-1]
		s.chunks = append(s.chunks, max(0, lap()-cost))
	}, Coloured: func(begins bool) {
		if begins {
			inColour = pace.Now()
		} else if n := len(r.stages); n > 0 {
			r.stages[n-1].coloured += float64(pace.Now() - inColour)
		}
	}, Step: func(s *team.Steps, parts, steps, part, step int, border bool) {
		took := max(0, lap()-cost)
		switch {
		case part < 0:
			r.stages = append(r.stages, stageTimes{before: took, steps: &stepTimes{
				parts: parts, linked: slices.Clone(s.Linked[:parts]), borders: slices.Clone(s.Borders),
				border: make([]float64, parts*steps), rest: make([]float64, parts*steps),
			}})
			lap()
		case border:
			r.stages[len(r.stages)-1].steps.border[step*parts+part] += took
		default:
			r.stages[len(r.stages)-1].steps.rest[step*parts+part] += took
		}
	}})
	lap()
	err = step()
	r.after = lap()
	w.Record(nil)
	return r, err
}

// keepLeast keeps the shorter of the times of two recordings of the same step.
func (r *recording) keepLeast(tb testing.TB, o *recording) {
	if !r.sameStages(o) {
		tb.Fatal("two recordings of the same step have different stages")
	}
	r.after = min(r.after, o.after)
	for i := range r.stages {
		a, b := &r.stages[i], &o.stages[i]
		a.before, a.coloured = min(a.before, b.before), min(a.coloured, b.coloured)
		least := func(a, b []float64) {
			for k := range a {
				a[k] = min(a[k], b[k])
			}
		}
		least(a.chunks, b.chunks)
		if a.steps != nil {
			least(a.steps.border, b.steps.border)
			least(a.steps.rest, b.steps.rest)
		}
	}
}

// barrier is what a stage costs with several workers, and hop what a worker waits longer for a region of another one than that is at work, in nanoseconds.
// Several workers work longer than one by inflation, since data go from one cache to another: the median that bench -stages measured.
const (
	barrier, hop = 400, 100
	inflation    = 1.1
)

// prediction is how long a step takes, in nanoseconds, and of that how long only the leader works and how long regions wait for each other, as a mean of
// the workers.
type prediction struct{ total, serial, waits float64 }

// predict returns how long the step takes with as many workers as it was cut for. Whichever worker is free takes the next chunk. Chunks get their colours one
// after the other.
func (r *recording) predict(workers int) (p prediction) {
	p.serial = r.after
	for i := range r.stages {
		s := &r.stages[i]
		p.serial += s.before
		p.total += barrier
		if s.steps != nil {
			took, waits := s.steps.schedule()
			p.total, p.waits = p.total+took, p.waits+waits
			continue
		}
		free := make([]float64, workers)
		for _, d := range s.chunks {
			k := slices.Index(free, slices.Min(free))
			free[k] += d * inflation
		}
		p.total += max(slices.Max(free), s.coloured*inflation)
	}
	p.total += p.serial
	return p
}

// schedule returns when the last region has done all steps if each has a worker of its own, and how long a worker waits, the mean. A step begins as
// team.Border says.
func (s *stepTimes) schedule() (took, waits float64) {
	steps := len(s.rest) / s.parts
	at := make([]float64, s.parts)     // when a region has done what it has done
	shared := make([]float64, s.parts) // when it had done its last step as a whole, or its last border
	whole := make([]float64, s.parts)  // when it had done its last step as a whole
	for step := range steps {
		begins := slices.Clone(at)
		for p := range s.parts {
			for q := range s.parts {
				if q == p || s.linked[p]>>q&1 == 0 {
					continue
				}
				after := at[q]
				switch s.kind(step, p) {
				case team.SomeBorder:
					after = shared[q]
				case team.NoBorder:
					after = whole[q]
				}
				if after += hop; after > begins[p] {
					begins[p] = after
				}
			}
			waits += begins[p] - at[p]
		}
		for p := range s.parts {
			k := step*s.parts + p
			at[p] = begins[p] + (s.border[k]+s.rest[k])*inflation
			switch s.kind(step, p) {
			case team.SomeBorder:
				shared[p] = begins[p] + s.border[k]*inflation
			case team.WholeStep:
				shared[p], whole[p] = at[p], at[p]
			}
		}
	}
	return slices.Max(at), waits / float64(s.parts)
}

func (s *stepTimes) kind(step, part int) team.Border {
	if len(s.borders) == 0 {
		return team.WholeStep
	}
	return s.borders[step*s.parts+part]
}

// predicted are the scenes of BenchmarkPredictedWorkers, and the ticks after which a step is recorded.
var predicted = []struct {
	scene    string
	n, ticks int
}{{"arena", 16384, 60}, {"pyramids", 400, 20}, {"pyramid", 100, 60}, {"heap", 5000, 300}}

// recordLeast records the fourth step of copies of a world, cut for so many workers, and measures that step without a recorder. It keeps the shortest times. The
// steps before it wake helpers, and fill what a copy lacks.
func recordLeast(tb testing.TB, from *physics.World, workers int, more func() bool) (least recording, measured time.Duration) {
	measured = 1 << 62
	for k := 0; k < 4 || more(); k++ {
		w := newWorld(tb, physics.Config{Capacity: from.Cap(), Workers: workers})
		if err := w.CopyFrom(from); err != nil {
			tb.Fatal(err)
		}
		if k%2 != 0 {
			w.Record(&physics.Recorder{Stage: func(int) {}, Step: func(*team.Steps, int, int, int, int, bool) {}, Coloured: func(bool) {}})
		}
		steps(tb, w, 3) // cut as the fourth one
		if k%2 == 0 {
			began := pace.Now()
			steps(tb, w, 1)
			measured = min(measured, pace.Now()-began)
			continue
		}
		r, err := record(w, func() error { return w.Step(dt) })
		if err != nil {
			tb.Fatal(err)
		}
		if least.stages == nil {
			least = r
		}
		least.keepLeast(tb, &r)
	}
	return least, measured
}

// BenchmarkPredictedWorkers predicts from recorded steps how much faster more workers are than one: ×2, ×4 and so on. For each number of workers the step is cut
// for that number, on one worker, so the CPUs of this machine do not matter. measured-×2 is what two workers gain here, to compare with ×2. A time is the shortest of
// many repetitions, so the figures depend little on what else the machine does. Of a step of eight workers serial-%8 is the share in which only the leader works,
// and waits-%8 that in which regions wait for others, the mean.
func BenchmarkPredictedWorkers(b *testing.B) {
	for _, c := range predicted {
		b.Run(c.scene, func(b *testing.B) {
			w, step := sceneWorld(b, c.scene, c.n)
			for range c.ticks {
				if err := step(); err != nil {
					b.Fatal(err)
				}
			}
			defer func(was bool) { pace.Always = was }(pace.Always)
			pace.Always = false
			for b.Loop() { // once, since each takes a fixed time
				one := time.Duration(0)
				for _, workers := range []int{1, 2, 4, 8, 16} {
					until := pace.Now() + time.Second
					least, measured := recordLeast(b, w, workers, func() bool { return pace.Now() < until })
					if workers == 1 {
						one = measured
						continue
					}
					p := least.predict(workers)
					b.ReportMetric(float64(one)/p.total, fmt.Sprintf("×%d", workers))
					switch workers {
					case 2:
						b.ReportMetric(float64(one)/float64(measured), "measured-×2")
					case 8:
						b.ReportMetric(100*p.serial/p.total, "serial-%8")
						b.ReportMetric(100*p.waits/p.total, "waits-%8")
					}
					if testing.Verbose() {
						b.Logf("%d workers", workers)
						least.print(b)
					}
				}
				b.ReportMetric(float64(one)/1e3, "µs-alone")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// print lists the stages: the time before each, its chunks, their sum and the longest.
func (r *recording) print(b *testing.B) {
	for i, s := range r.stages {
		if s.steps != nil {
			took, waits := s.steps.schedule()
			sum, border := 0., 0.
			for k := range s.steps.rest {
				sum, border = sum+s.steps.rest[k]+s.steps.border[k], border+s.steps.border[k]
			}
			b.Logf("stage %3d: %7.1f µs before, %3d regions, sum %7.1f, of that borders %6.1f, took %6.1f, waits %6.1f", i, s.before/1e3, s.steps.parts, sum/1e3, border/1e3, took/1e3, waits/1e3)
			continue
		}
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

// A region waits for the borders of the regions that it is linked with, and no longer; a step as a whole waits for everything.
func TestSchedule(t *testing.T) {
	const a, b, c = team.SomeBorder, team.NoBorder, team.WholeStep
	for i, s := range []struct {
		of   stepTimes
		took float64
	}{
		// Two regions without links.
		{stepTimes{parts: 2, linked: []uint64{0, 0}, rest: []float64{1000, 10, 1000, 10}}, 2000 * inflation},
		// Linked steps as a whole: the slower one of each counts.
		{stepTimes{parts: 2, linked: []uint64{2, 1}, rest: []float64{1000, 0, 0, 2000}}, 3000*inflation + hop},
		// Borders come first: the second region goes on when the first has done its border, and ends before it.
		{stepTimes{
			parts: 2, linked: []uint64{2, 1}, borders: []team.Border{a, a, a, a},
			border: []float64{500, 0, 0, 1000}, rest: []float64{5000, 0, 0, 3000},
		}, 5500 * inflation},
		// A step without a border waits only for steps as a whole.
		{stepTimes{
			parts: 2, linked: []uint64{2, 1}, borders: []team.Border{c, c, a, a, b, b},
			border: []float64{0, 0, 900, 0, 0, 0}, rest: []float64{100, 200, 100, 0, 0, 7000},
		}, 200*inflation + 7000*inflation},
	} {
		if s.of.border == nil {
			s.of.border = make([]float64, len(s.of.rest))
		}
		if got, _ := s.of.schedule(); got < 0.999*s.took || got > 1.001*s.took+2*hop {
			t.Errorf("case %d: %g ns, want %g", i, got, s.took)
		}
	}
}

// A recorded step computes what others do, and has the regions of as many workers as it was cut for.
func TestRecordedStep(t *testing.T) {
	start := medley(t, false, false, false)
	steps(t, start, 3)
	next := func(workers int, recorded bool) (uint64, recording) {
		w := newWorld(t, physics.Config{Capacity: start.Cap(), Workers: workers})
		if err := w.CopyFrom(start); err != nil {
			t.Fatal(err)
		}
		steps(t, w, 1)
		var r recording
		if recorded {
			var err error
			if r, err = record(w, func() error { return w.Step(dt) }); err != nil {
				t.Fatal(err)
			}
		} else {
			steps(t, w, 1)
		}
		steps(t, w, 1)
		return w.Hash(), r
	}
	want, _ := next(1, false)
	for _, workers := range []int{2, 3} { // of 2,600 bodies
		got, r := next(workers, true)
		if got != want {
			t.Errorf("%d workers: another result", workers)
		}
		if !slices.ContainsFunc(r.stages, func(s stageTimes) bool { return s.steps != nil && s.steps.parts == workers }) {
			t.Errorf("%d workers: no regions", workers)
		}
		if p := r.predict(workers); !(p.total > p.serial && p.serial > 0) {
			t.Errorf("%d workers: %+v", workers, p)
		}
	}
}
