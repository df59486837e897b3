package replica

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// discs is a Sim of n discs of 1 m that fill a fifth of a walled square. They move at up to 4 m/s along each axis,
// turn, and bounce.
func discs(t testing.TB, n int) (*evertick.Sim, float32) {
	sim, err := evertick.New(evertick.Config{Capacity: n + 4})
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	edge := float32(math.Sqrt(float64(n) * math.Pi / 4 * 5))
	sim.Physics.SetGravity([2]float32{})
	shape := physics.DefaultShapeDef()
	shape.Restitution, shape.Friction = 1, 0.3
	wall, err := sim.Physics.CreateBody(physics.DefaultBodyDef())
	check(err)
	for _, at := range [][4]float32{{0, 0, edge, 0}, {edge, 0, edge, edge}, {edge, edge, 0, edge}, {0, edge, 0, 0}} {
		_, err = sim.Physics.CreateSegment(wall, shape, physics.Segment{P1: [2]float32{at[0], at[1]}, P2: [2]float32{at[2], at[3]}})
		check(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	across := int(math.Ceil(math.Sqrt(float64(n))))
	for i := range n {
		id, err := sim.World.Spawn()
		check(err)
		def := physics.DefaultBodyDef()
		def.Type, def.Angle = physics.DynamicBody, 6*r.Float32()-3
		def.Position = [2]float32{(float32(i%across) + 0.5) * edge / float32(across), (float32(i/across) + 0.5) * edge / float32(across)}
		def.LinearVelocity, def.AngularVelocity = [2]float32{8*r.Float32() - 4, 8*r.Float32() - 4}, 4*r.Float32()-2
		b, err := sim.CreateBody(id, def)
		check(err)
		_, err = sim.Physics.CreateCircle(b, shape, physics.Circle{Radius: 0.5})
		check(err)
	}
	return sim, edge
}

// TestBytesOfDiscs: the bytes that an entity takes in an update, with all headers, leaves and enters.
func TestBytesOfDiscs(t *testing.T) {
	for _, c := range []struct {
		every   int
		ordered bool
		most    float64
	}{{1, false, 3.3}, {2, false, 3.3}, {1, true, 2}, {2, true, 2}} {
		n, ticks := 2000, 300
		if !full() {
			n, ticks = 500, 120
		}
		sim, edge := discs(t, n)
		s, err := newSource(sim, &Config{
			Columns: []Column{{Name: "position.x", Codec: Quantised{}}, {Name: "position.y", Codec: Quantised{}}, {Name: Rotation, Codec: Planar{Bits: 10}}},
			View:    ViewConfig{Enter: 11, Leave: 12},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 1))
		var viewers []*viewer
		for i := range 40 {
			v := newViewer(uint32(i), c.ordered)
			v.centre = centre{point: true, x: edge * r.Float32(), y: edge * r.Float32()}
			viewers = append(viewers, v)
		}
		var message []byte
		bytes, entities, predicted, messages := 0, 0, 0, 0
		for tick := uint64(1); int(tick) < ticks; tick++ {
			if err := sim.Step(); err != nil {
				t.Fatal(err)
			}
			if s.observe(); int(tick)%c.every != 0 {
				continue
			}
			s.capture(tick, tick*16667)
			if err := s.begin(viewers); err != nil {
				t.Fatal(err)
			}
			for _, v := range viewers {
				message = s.append(message[:0], v, appliedInput{seq: tick, residenceUs: 5000, present: true})
				v.sent()
				v.acked(tick)
				if message[0] == kindUpdate {
					bytes += len(message)
					entities += len(v.base.list)
					messages++
					predicted += int(flagsOf(message) & flagPredicted)
				}
			}
			s.end()
		}
		each := float64(bytes) / float64(entities)
		t.Logf("every %d ticks, ordered %v: %.2f bytes of each of %.0f entities, %.0f bytes a frame, %d of %d predicted", c.every, c.ordered, each,
			float64(entities)/float64(messages), float64(bytes)/float64(messages), predicted, messages)
		if each > c.most || c.ordered != (predicted > messages/2) {
			t.Errorf("%.2f bytes, want at most %v; %d of %d frames are predicted", each, c.most, predicted, messages)
		}
	}
}

// flagsOf returns the flags of an Update.
func flagsOf(message []byte) byte {
	r := messageReader(message, kindUpdate)
	readUint(&r)
	readUint(&r)
	return r.U8()
}

// TestDiscsMove makes sure that what TestBytesOfDiscs measures moves.
func TestDiscsMove(t *testing.T) {
	sim, _ := discs(t, 100)
	at := sim.World.Position.X[0]
	before := append([]float32(nil), sim.World.Position.X[:100]...)
	for range 30 {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	moved := 0
	for i, x := range before {
		if math.Abs(float64(x-sim.World.Position.X[i])) > 0.1 {
			moved++
		}
	}
	if _, ok := sim.World.ID(ecs.Slot(99)); !ok || moved < 80 {
		t.Errorf("%d of 100 discs have moved, the first from %v", moved, at)
	}
}
