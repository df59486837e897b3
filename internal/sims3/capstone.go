// Package sims3 adds simulations with bodies in space to those of package scenes. It is a package of its own, so that programs and tests of the plane do
// not build the engine for space.
package sims3

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

func init() {
	scenes.RegisterAgents(scenes.SimDefinition{
		Name: "capstone3", Params: scenes.Capstone(), InSpace: true,
		Help: "the capstone with its 256 bodies in space: balls and boxes that lie on a floor, roll and tumble",
	}, newMovers)
}

// movers are balls and boxes on a floor.
type movers struct {
	bodies *space.Bodies
	all    []physics3.Body
}

func newMovers(sim *evertick.Sim) (scenes.Movers, error) {
	b, err := space.Attach(sim, physics3.Config{
		Gravity:      [3]float32{0, -10, 0},
		DisableSleep: true, // all bodies take part in what is measured
	})
	return &movers{bodies: b}, err
}

// Enclose makes a floor and four walls, too high for boxes that tumble.
func (m *movers) Enclose(half float32) error {
	const thick, height = 1, 20
	w, shape := m.bodies.World(), physics3.DefaultShapeDef()
	ground, err := w.CreateBody(physics3.DefaultBodyDef())
	for _, b := range []physics3.Box{
		{Half: [3]float32{half, thick, half}, Center: [3]float32{0, -thick, 0}},
		{Half: [3]float32{thick, height, half}, Center: [3]float32{-half - thick, 0, 0}},
		{Half: [3]float32{thick, height, half}, Center: [3]float32{half + thick, 0, 0}},
		{Half: [3]float32{half, height, thick}, Center: [3]float32{0, 0, -half - thick}},
		{Half: [3]float32{half, height, thick}, Center: [3]float32{0, 0, half + thick}},
	} {
		if err == nil {
			_, err = w.CreateBox(ground, shape, b)
		}
	}
	return err
}

func (m *movers) Create(id ecs.ID, at [3]float32) error {
	def := physics3.DefaultBodyDef()
	def.Type, def.Position = physics3.DynamicBody, at
	def.LinearDamping, def.AngularDamping = 0.2, 0.2
	b, err := m.bodies.Create(id, def)
	if err != nil {
		return err
	}
	m.all = append(m.all, b)
	w, shape := m.bodies.World(), physics3.DefaultShapeDef()
	if len(m.all)%2 == 1 {
		_, err = w.CreateSphere(b, shape, physics3.Sphere{Radius: 0.5})
	} else {
		_, err = w.CreateBox(b, shape, physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}})
	}
	return err
}

// Push pushes above the centre, so that boxes tumble.
func (m *movers) Push(body int, impulse [2]float32) error {
	w := m.bodies.World()
	at, err := w.Position(m.all[body])
	if err != nil {
		return err
	}
	at[1] += 0.3
	return w.ApplyLinearImpulse(m.all[body], [3]float32{impulse[0], 0, impulse[1]}, at)
}
