package worlds_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/train"
)

// BenchmarkStep measures steps of worlds per second: of each world, with one worker and with two.
func BenchmarkStep(b *testing.B) {
	pace.Always = false
	defer func() { pace.Always = true }()
	counts := map[string]int{"cartpole": 262144, "tag": 1024, "tag-raster": 1024, "pushbox": 1024}
	for _, name := range names() {
		for workers := 1; workers <= 2; workers++ {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				benchmark(b, name, counts[name], workers)
			})
		}
	}
}

// BenchmarkWorkers steps two batches of 4,096 carts by turns, one with one worker and one with two. × is how many times
// as fast two are.
func BenchmarkWorkers(b *testing.B) {
	pace.Always = false
	defer func() { pace.Always = true }()
	var steps [2]func()
	var took [2]time.Duration
	for i := range steps {
		steps[i], _ = stepper(b, "cartpole", 4096, 1+i)
	}
	for b.Loop() {
		for i, step := range steps {
			start := time.Now()
			for range 16 {
				step()
			}
			took[i] += time.Since(start)
		}
	}
	b.ReportMetric(float64(took[0].Microseconds())/float64(16*b.N), "µs-one")
	b.ReportMetric(float64(took[0])/float64(took[1]), "×")
}

// BenchmarkSmall measures steps of batches of the size that learners use, with new random actions in each step.
func BenchmarkSmall(b *testing.B) {
	pace.Always = false
	defer func() { pace.Always = true }()
	for _, c := range []struct {
		name       string
		n, workers int
	}{
		{"cartpole", 1024, 1}, {"cartpole", 4096, 1}, {"cartpole", 4096, 2}, {"cartpole", 16384, 1}, {"cartpole", 16384, 2},
		{"tag", 64, 1}, {"tag", 64, 2}, {"tag-raster", 64, 1}, {"pushbox", 64, 1}, {"pushbox", 64, 2},
		{"ballpole", 64, 1}, {"ballpole", 64, 2}, {"arm", 64, 1},
	} {
		b.Run(fmt.Sprintf("%s/worlds=%d/workers=%d", c.name, c.n, c.workers), func(b *testing.B) {
			step, bufs := stepper(b, c.name, c.n, c.workers)
			def, _ := definition(c.name)
			var sets [16]train.Buffers
			for i := range sets {
				sets[i].Choices, sets[i].Actions = slices.Clone(bufs.Choices), slices.Clone(bufs.Actions)
				policy(def, &sets[i], i)
			}
			s := 0
			b.ReportAllocs()
			for b.Loop() {
				bufs.Choices, bufs.Actions = sets[s%16].Choices, sets[s%16].Actions
				step()
				s++
			}
			b.ReportMetric(float64(c.n)*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

func benchmark(b *testing.B, name string, n, workers int) {
	step, _ := stepper(b, name, n, workers)
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// stepper returns a function that steps a new batch, and its buffers.
func stepper(b *testing.B, name string, n, workers int) (func(), *train.Buffers) {
	def, err := definition(name)
	if err != nil {
		b.Fatal(err)
	}
	batch, err := train.New(def, train.Config{Worlds: n, Seed: 1, Workers: workers, Autoreset: train.SameStep})
	if err != nil {
		b.Fatal(err)
	}
	buf := batch.NewBuffers()
	if err := batch.Reset(train.Options{}, buf); err != nil {
		b.Fatal(err)
	}
	policy(def, buf, 0)
	return func() {
		if err := batch.Step(buf); err != nil {
			b.Fatal(err)
		}
	}, buf
}
