package physics_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// BenchmarkStep is a step of the scenes that go run ./bench compares, once they have begun
// to move.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		scene string
		n     int
	}{
		{"arena", 256}, {"arena", 1024}, {"arena", 4096}, {"arena", 16384},
		{"tumbler", 2000}, {"pyramid", 100}, {"pyramids", 400},
	} {
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("scene=%s/n=%d/level=%v", c.scene, c.n, level), func(b *testing.B) {
				s, err := scenes.New(c.scene, c.n, 1, physics.Config{Level: level})
				if err != nil {
					b.Fatal(err)
				}
				step := func() {
					if err := s.Step(); err != nil {
						b.Fatal(err)
					}
				}
				for range 30 {
					step()
				}
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
			})
		}
	}
}

// BenchmarkSync writes the transforms of all bodies and looks
// for those that were moved, of which there are none.
func BenchmarkSync(b *testing.B) {
	for _, n := range []int{256, 16384} {
		for _, level := range native.Levels() {
			w, err := physics.New(physics.Config{Capacity: n, Level: level})
			if err != nil {
				b.Fatal(err)
			}
			def := physics.DefaultBodyDef()
			def.HasSlot = true
			for i := range n {
				def.Slot, def.Angle = uint32(i), float32(i%7)-3
				if _, err := w.CreateBody(def); err != nil {
					b.Fatal(err)
				}
			}
			lines := 0
			column := func() []float32 { // staggered, as those of package ecs
				lines += 16
				return make([]float32, n+1024)[lines:][:n]
			}
			t := physics.Transforms{X: column(), Y: column(), Z: column(), QX: column(), QY: column(), QZ: column(), QW: column()}
			for _, c := range []struct {
				name string
				do   func(physics.Transforms) error
			}{{"Sync", w.Sync}, {"Pull", w.Pull}} {
				b.Run(fmt.Sprintf("%s/n=%d/level=%v", c.name, n, level), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if err := c.do(t); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// Bullets that fly at a wall and at plates, against the same without continuous collision.
func BenchmarkBullets(b *testing.B) {
	for _, off := range []bool{true, false} {
		b.Run(fmt.Sprintf("bullets=1000/off=%t", off), func(b *testing.B) {
			r := fixture{b, newWorld(b, physics.Config{Capacity: 4096, DisableContinuous: off})}
			walls := r.body(physics.StaticBody, 0, 0)
			for i := range 400 {
				r.segment(walls, plain, 50, float32(i), 50, float32(i+1))
			}
			for i := range 1000 {
				x := r.dynamic(0, float32(i)*0.4, moving(200, 0, 0), func(d *physics.BodyDef) { d.Bullet = true })
				r.circle(x, plain, 0.05)
				r.box(r.dynamic(30, float32(i)*0.4), plain, 0.01, 0.15)
			}
			start := snapshot(b, r.w)
			for b.Loop() {
				b.StopTimer()
				restore(b, r.w, start)
				b.StartTimer()
				r.steps(8)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(8*b.N), "us/step")
		})
	}
}

// BenchmarkSleep is a step of 16,384 boxes in stacks of four that are at rest, awake and
// asleep, and of 128 others that do not sleep, alone and beside those.
func BenchmarkSleep(b *testing.B) {
	for _, c := range []struct {
		name            string
		boxes, restless int
		asleep          bool
	}{
		{"awake", 16384, 0, false}, {"asleep", 16384, 0, true}, {"128", 0, 128, true}, {"128+asleep", 16384, 128, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := stacks(b, c.boxes, c.restless, !c.asleep)
			for range 120 {
				if err := w.Step(dt); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Step(dt); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(w.AwakeCount()), "awake")
		})
	}
}

// stacks is a world of boxes in stacks of four, and of circles that do not sleep.
func stacks(t testing.TB, boxes, circles int, disableSleep bool) *physics.World {
	r := fixture{t, newWorld(t, physics.Config{Gravity: [2]float32{0, -10}, Capacity: 20000, DisableSleep: disableSleep})}
	r.box(r.body(physics.StaticBody, 0, -1), plain, 1e5, 1)
	for i := range boxes {
		r.box(r.dynamic(float32(i/4)*1.5, 0.5+float32(i%4), sleepy), plain, 0.5, 0.5)
	}
	for i := range circles {
		r.circle(r.dynamic(-5-float32(i)*1.5, 0.5), plain, 0.5)
	}
	return r.w
}
