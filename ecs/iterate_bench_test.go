package ecs

import (
	"fmt"
	"testing"
)

// BenchmarkIterate computes pos += vel*dt in each of the ways to visit entities: all of 16,384, and one in ten by
// a tag. stride is the same loop without a query.
func BenchmarkIterate(b *testing.B) {
	w, _, marked := benchWorld(b)
	pos, vel := w.Position.X, w.Position.Y
	const dt = float32(1) / 64
	var slots []Slot
	for _, terms := range [][]Term{nil, {With(marked)}} {
		q := w.NewQuery(terms...)
		n := q.Count()
		stride := w.Cap() / n
		for _, way := range []struct {
			name string
			run  func()
		}{
			{"World.Query", func() {
				for s := range w.Query(terms...) {
					pos[s] += float32(vel[s] * dt)
				}
			}},
			{"Query.All", func() {
				for s := range q.All() {
					pos[s] += float32(vel[s] * dt)
				}
			}},
			{"Query.Slots", func() {
				slots = q.Slots(slots)
				for _, s := range slots {
					pos[s] += float32(vel[s] * dt)
				}
			}},
			{"World.Runs", func() {
				for lo, hi := range w.Runs(terms...) {
					x, v := pos[lo:hi], vel[lo:hi]
					for i := range x {
						x[i] += float32(v[i] * dt)
					}
				}
			}},
			{"Query.Runs", func() {
				for lo, hi := range q.Runs() {
					x, v := pos[lo:hi], vel[lo:hi]
					for i := range x {
						x[i] += float32(v[i] * dt)
					}
				}
			}},
			{"Query.Runs,indexed", func() {
				for lo, hi := range q.Runs() {
					for s := lo; s < hi; s++ {
						pos[s] += float32(vel[s] * dt)
					}
				}
			}},
			{"stride", func() {
				for s := 0; s < len(pos); s += stride {
					pos[s] += float32(vel[s] * dt)
				}
			}},
		} {
			b.Run(fmt.Sprintf("matches=%d/way=%s", n, way.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					way.run()
				}
				perEntity(b, n)
			})
		}
	}
}
