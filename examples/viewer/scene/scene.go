// Package scene is what the viewer shows: a pyramid of boxes, and balls that are shot at it.
// It does not use windows, so that tests, servers and trainers can run it too.
package scene

import (
	"encoding/binary"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// Width and Height of the part of the plane that is shown, in metres; its
// lower left corner is (0, 0).
const Width, Height = 48, 27

const (
	floor = 1   // height of the ground
	rows  = 14  // of the pyramid
	speed = 45  // of a ball, in m/s
	shoot = 1   // Input.Kind of Shot
	room  = 400 // entities at once: the oldest ball makes room for the next
)

// Scene is a Sim, and the columns with the looks of its entities.
type Scene struct {
	Sim *evertick.Sim `ecs:"-"`
	// Half holds half of both sides of a box, or twice the radius of a ball, in metres.
	Half *ecs.Column[[2]float32]
	// Ball is the tag of balls.
	Ball ecs.Tag
}

// New builds the scene at tick 0.
func New() (*Scene, error) {
	sim, err := evertick.New(evertick.Config{
		Capacity: room,
		Previous: true,                                                            // to draw between two ticks
		Physics:  physics.Config{Gravity: [2]float32{0, -10}, Capacity: room + 1}, // and the ground
	})
	if err != nil {
		return nil, err
	}
	s := &Scene{Sim: sim}
	sim.Register(s)
	sim.Add(evertick.BeforePhysics, "shoot", s.shoot)
	if err := sim.Check(); err != nil {
		return nil, err
	}
	ground, err := sim.Physics.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		return nil, err
	}
	edge := physics.Segment{P1: [2]float32{-1000, floor}, P2: [2]float32{1000, floor}}
	if _, err := sim.Physics.CreateSegment(ground, physics.DefaultShapeDef(), edge); err != nil {
		return nil, err
	}
	for row := range rows {
		for i := range rows - row {
			x := 24 + float32(i) + 0.5*float32(row)
			if err := s.add(x, floor+0.5+float32(row), [2]float32{}, false); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// Shot returns the input that shoots a ball from the left edge towards a point, as soon as
// possible. seq numbers the shots.
func Shot(x, y float32, seq uint64) evertick.Input {
	data := binary.LittleEndian.AppendUint32(nil, math.Float32bits(x))
	data = binary.LittleEndian.AppendUint32(data, math.Float32bits(y))
	return evertick.Input{Kind: shoot, Seq: seq, Data: data}
}

// shoot shoots a ball for each input of a tick.
func (s *Scene) shoot(t *evertick.Tick) error {
	for _, in := range t.Inputs() {
		if in.Kind != shoot || len(in.Data) != 8 {
			continue
		}
		dx := math.Float32frombits(binary.LittleEndian.Uint32(in.Data))
		dy := math.Float32frombits(binary.LittleEndian.Uint32(in.Data[4:])) - 8
		far := float32(math.Sqrt(float64(float32(dx*dx) + float32(dy*dy))))
		if !(far > 0.01 && far < 1000) { // also false for NaN
			continue
		}
		if s.Sim.World.Len() == room {
			for id := range s.Sim.World.IDs() { // by age
				if s.Ball.Has(id) {
					s.Sim.World.Despawn(id)
					break
				}
			}
		}
		if err := s.add(0, 8, [2]float32{dx / far * speed, dy / far * speed}, true); err != nil {
			return err
		}
	}
	return nil
}

// add makes an entity and its body.
func (s *Scene) add(x, y float32, velocity [2]float32, ball bool) error {
	id, slot, err := s.Sim.World.SpawnSlot()
	if err != nil {
		return err
	}
	def := physics.DefaultBodyDef()
	def.Type, def.Position, def.LinearVelocity, def.Bullet = physics.DynamicBody, [2]float32{x, y}, velocity, ball
	body, err := s.Sim.CreateBody(id, def)
	if err != nil {
		return err
	}
	shape := physics.DefaultShapeDef()
	if ball {
		s.Ball.Set(id)
		s.Half.Values()[slot] = [2]float32{0.6, 0.6}
		shape.Density = 15 // boxes have 1
		_, err = s.Sim.Physics.CreateCircle(body, shape, physics.Circle{Radius: 0.6})
	} else {
		s.Half.Values()[slot] = [2]float32{0.5, 0.5}
		_, err = s.Sim.Physics.CreatePolygon(body, shape, physics.Box(0.5, 0.5))
	}
	s.Half.Touch()
	return err
}
