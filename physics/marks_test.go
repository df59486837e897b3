package physics

import (
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
)

// Every contact with a base has its mark after a step, whatever has changed the list of contacts before: without one it
// would not be recycled.
func TestContactsWithBasesAreMarked(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := must[*World](t)(New(Config{Capacity: 400, Gravity: [2]float32{0, -10}}))
	ground := must[Body](t)(w.CreateBody(DefaultBodyDef()))
	must[Shape](t)(w.CreateSegment(ground, DefaultShapeDef(), Segment{P1: [2]float32{-20, 0}, P2: [2]float32{20, 0}}))
	var bodies []Body
	add := func() {
		d := DefaultBodyDef()
		d.Type, d.Position = DynamicBody, [2]float32{rng.Float32()*16 - 8, 0.5 + rng.Float32()*12}
		b := must[Body](t)(w.CreateBody(d))
		def := DefaultShapeDef()
		def.Sensor = rng.IntN(12) == 0
		if rng.IntN(20) == 0 {
			def.OneWay = [2]float32{0, 1}
		}
		if rng.IntN(4) == 0 {
			must[Shape](t)(w.CreateCircle(b, def, Circle{Radius: 0.4}))
		} else {
			must[Shape](t)(w.CreatePolygon(b, def, Box(0.5, 0.4)))
		}
		bodies = append(bodies, b)
	}
	for range 120 {
		add()
	}
	marked, asleep := 0, 0
	for step := range 600 {
		b := bodies[rng.IntN(len(bodies))]
		var err error
		if step%200 < 100 {
			switch rng.IntN(16) {
			case 0:
				err = w.Disable(b)
			case 1:
				err = w.Enable(b)
			case 2:
				err = w.SetAwake(b, rng.IntN(2) == 0)
			case 3:
				err = w.SetTransform(b, [2]float32{rng.Float32()*16 - 8, 6}, 0)
			case 4:
				err = w.SetType(b, []BodyType{DynamicBody, KinematicBody}[rng.IntN(2)])
			case 5:
				var data []byte
				if data, err = w.Snapshot(nil); err == nil {
					err = w.Restore(data)
				}
			case 6:
				var twin *World
				if twin, err = w.Clone(); err == nil {
					err = w.CopyFrom(twin)
				}
			case 7:
				add()
			case 8:
				w.DestroyBody(bodies[0])
				bodies = bodies[1:]
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Step(1.0 / 60); err != nil {
			t.Fatal(err)
		}
		s := w.solver
		asleep += s.sleep.Count
		if !s.pairsKnown {
			continue // the next step marks all
		}
		for i := range s.contacts {
			if s.contacts[i].Flags&rigid.FlagBase == 0 {
				continue
			}
			if marked++; s.baseMarks[i] != 1 {
				t.Fatalf("step %d: contact %d of %d is not marked", step, i, len(s.contacts))
			}
		}
	}
	if marked < 1000 || asleep == 0 {
		t.Errorf("%d contacts with bases, %d bodies slept", marked, asleep)
	}
}
