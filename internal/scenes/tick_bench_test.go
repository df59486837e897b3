package scenes_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics"
)

// BenchmarkTick compares systems: docs/wasm.md has its figures. p10-ns is the time that the fastest
// tenth of the ticks stay below, which depends little on what else the machine does.
func BenchmarkTick(b *testing.B) {
	for _, n := range []int{256, 1024, 4096} {
		b.Run(fmt.Sprintf("scene=arena/bodies=%d", n), func(b *testing.B) {
			s, err := scenes.New("arena", n, 1, physics.Config{})
			if err != nil {
				b.Fatal(err)
			}
			measureTicks(b, s.Step)
		})
	}
	b.Run("scene=capstone", func(b *testing.B) {
		d, _ := scenes.FindSim("capstone")
		s, err := d.New(d.Params, evertick.Config{})
		if err != nil {
			b.Fatal(err)
		}
		measureTicks(b, s.Step)
	})
}

func measureTicks(b *testing.B, step func() error) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := step(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/10]), "p10-ns")
}
