package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// BenchmarkStepOnTriangles drops bodies of four kinds on 20,000 uneven triangles, and measures steps in which they fall, and at rest.
func BenchmarkStepOnTriangles(b *testing.B) {
	m := newMesh(gridMesh(100, 100, func(x, z float32) float32 { return float32(math.Sin(float64(x)/2) * math.Cos(float64(z)/3)) }))
	for _, level := range []native.Level{native.Go, native.Auto} {
		for _, ticks := range []int{30, 240} {
			b.Run(fmt.Sprintf("level=%v/after=%d", level, ticks), func(b *testing.B) {
				w, _ := meshWorld(b, physics3.Config{Capacity: 2000, Level: level, DisableSleep: true}, plain, m)
				for i := range 441 {
					for k, body := range bodiesOfAllKinds(b, w, plain, 0, 0) {
						no(b, w.SetTransform(body, vec{float32(i%21)*4 - 40 + float32(k%2)*1.5, 2.5, float32(i/21)*4 - 40 + float32(k/2)*1.5}, unit))
					}
				}
				steps(b, w, ticks)
				if w.OmittedContacts() > 0 {
					b.Errorf("%d contacts are left out", w.OmittedContacts())
				}
				for b.Loop() {
					no(b, w.Step(1./60))
				}
				b.ReportMetric(float64(w.ContactCount()), "contacts")
			})
		}
	}
}
