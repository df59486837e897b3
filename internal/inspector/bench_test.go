package inspector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

// BenchmarkIdleTick is a tick of a nearly empty Sim, without an Inspector, and with one that nobody asks; hook is
// what the Inspector adds.
func BenchmarkIdleTick(b *testing.B) {
	for _, look := range []bool{false, true} {
		b.Run(fmt.Sprintf("inspector=%v", look), func(b *testing.B) {
			sim := newSim(b, evertick.Config{Capacity: 64}, 20)
			if look {
				newInspector(b, sim, Config{})
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := sim.Step(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("hook", func(b *testing.B) {
		sim := newSim(b, evertick.Config{Capacity: 64}, 20)
		in := newInspector(b, sim, Config{})
		b.ReportAllocs()
		for b.Loop() {
			in.live.tick(sim)
		}
	})
}

// BenchmarkFrame measures the two parts of a frame of 100,000 entities: capture runs on the goroutine of the
// Sim, encode on that of the request. In slots=gaps every third slot is free; in shapes=circles each entity has a body.
func BenchmarkFrame(b *testing.B) {
	const n = 100_000
	for _, c := range []struct{ slots, by, shapes string }{
		{"dense", "", ""}, {"gaps", "", ""}, {"dense", "position.z", ""}, {"dense", "tag:red", ""}, {"dense", "", "circles"},
	} {
		sim := benchSim(b, n, c.slots == "gaps", c.shapes != "")
		v := &view{options: pictureOptions{by: c.by}}
		if name, ok := strings.CutPrefix(c.by, "tag:"); ok {
			v.options = pictureOptions{tag: name}
		}
		name := fmt.Sprintf("slots=%s/by=%s/shapes=%s", c.slots, c.by, c.shapes)
		live := float64(sim.World.Len())
		report := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/live, "ns/entity")
		}
		var taken capture
		b.Run("capture/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := taken.take(sim, v); err != nil {
					b.Fatal(err)
				}
			}
			report(b)
		})
		b.Run("encode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				taken.encode(pictureHead{}, true)
			}
			report(b)
		})
	}
}

func benchSim(b *testing.B, n int, gaps, bodies bool) *evertick.Sim {
	sim := newSim(b, evertick.Config{Capacity: n}, n)
	if _, err := sim.World.Tag("red"); err != nil {
		b.Fatal(err)
	}
	for slot := uint32(0); gaps && int(slot) < n; slot += 3 {
		id, _ := sim.World.ID(slot)
		sim.World.Despawn(id)
	}
	for id := range sim.World.IDs() {
		if !bodies {
			break
		}
		def := physics.DefaultBodyDef()
		def.Position = [2]float32{float32(id % 300), float32(id / 300)}
		body, err := sim.CreateBody(id, def)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := sim.Physics.CreateCircle(body, physics.DefaultShapeDef(), physics.Circle{Radius: 0.4}); err != nil {
			b.Fatal(err)
		}
	}
	return sim
}

// BenchmarkFrameInSpace measures the same of 16,384 boxes, of which a tenth rests on the one below, and the bytes of a frame.
func BenchmarkFrameInSpace(b *testing.B) {
	const n = 16_384
	sim := newSim(b, evertick.Config{Capacity: n}, n)
	bodies := must(space.Attach(sim, physics3.Config{Gravity: [3]float32{0, -10, 0}}))
	for id := range sim.World.IDs() {
		def := physics3.DefaultBodyDef()
		def.Type, def.Position = physics3.DynamicBody, [3]float32{float32(id % 128 * 2), float32(id % 10), float32(id / 128 * 2)}
		if body, err := bodies.Create(id, def); err != nil {
			b.Fatal(err)
		} else {
			must(bodies.World().CreateBox(body, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}}))
		}
	}
	var taken capture
	for _, c := range []struct {
		name string
		o    pictureOptions
	}{{"shapes", pictureOptions{space: true}}, {"by", pictureOptions{space: true, by: "position.y"}}} {
		v := &view{options: c.o}
		report := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/body")
		}
		b.Run("capture/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := taken.take(sim, v); err != nil {
					b.Fatal(err)
				}
			}
			report(b)
		})
		b.Run("encode/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				size = len(taken.encode(pictureHead{}, true))
			}
			report(b)
			b.ReportMetric(float64(size), "bytes/frame")
		})
	}
}
