package worlds_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/loop/train"
	"github.com/evertick/evertick/loop/train/worlds"
)

// BenchmarkStep measures steps of worlds per second: of each world, with one worker and with two.
func BenchmarkStep(b *testing.B) {
	counts := map[string]int{"cartpole": 262144, "tag": 1024, "tag-raster": 1024, "pushbox": 1024}
	for _, name := range worlds.Names() {
		for workers := 1; workers <= 2; workers++ {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				benchmark(b, name, counts[name], workers)
			})
		}
	}
}

func benchmark(b *testing.B, name string, n, workers int) {
	def, err := worlds.ByName(name)
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
	b.ReportAllocs()
	for b.Loop() {
		if err := batch.Step(buf); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
