package rig_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick/internal/badinput"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

// Each number of each definition is checked, and nothing is made where one is bad.
func TestEveryArgumentIsChecked(t *testing.T) {
	w := newWorld(t, 0)
	ground, _ := w.BodyAt(0)
	gone, err := w.CreateBody(physics3.DefaultBodyDef())
	check(t, err)
	check(t, w.DestroyBody(gone))
	vehicles := rig.NewVehicles(w)
	_, chassis := newCar(t, w, vehicles, [3]float32{0, 0.7, 0})
	doll := newHuman(t, w, [3]float32{5, 0, 0}, nil)

	shape := physics3.DefaultShapeDef()
	human := rig.RagdollDef{Bones: rig.Human(1.8)[:4], Position: [3]float32{0, 9, 0}, Rotation: [4]float32{0, 0, 0, 1}, LinearVelocity: [3]float32{1, 2, 3}, Mass: 75, Shape: shape, Friction: 1}
	human.Bones[1].Hinge = true
	chain := rig.ChainDef{From: [3]float32{0, 9, 0}, To: [3]float32{1, 9, 0}, Links: 3, Radius: 0.1, BodyB: ground, Shape: shape, MaxBend: 1, BendHertz: 5, BendDamping: 1}
	bridge := rig.BridgeDef{From: [3]float32{0, 9, 0}, To: [3]float32{1, 9, 0}, Planks: 3, Width: 1, Thickness: 0.1, BodyB: ground, Shape: shape, Friction: 1, BreakForce: 1e6}
	car := rig.VehicleDef{Chassis: chassis, Forward: [3]float32{0, 0, 1}, Up: [3]float32{0, 1, 0}, MaxSpeed: 10, Wheels: []rig.WheelDef{rig.DefaultWheelDef(), rig.DefaultWheelDef()},
		Differentials: []rig.Differential{{A: 0, B: 1}}}
	pose, muscles, dt := make([][4]float32, len(doll.Bodies)), rig.Muscles{Hertz: 4, Damping: 1, MaxTorque: 10}, float32(1./60)
	made := w.Len()
	data := vehicles.AppendState(nil)
	before, err := w.Snapshot(nil)
	check(t, err)
	failed := func(err error) error { // also of what is not a part of the world
		if err != nil && (w.Len() != made || vehicles.Len() != 1) {
			t.Errorf("%d bodies more, %d vehicles: %v", w.Len()-made, vehicles.Len(), err)
		}
		return err
	}
	badinput.Test(t, badinput.Scene{
		Hash:    w.Hash,
		Restore: func() error { return errors.Join(w.Restore(before), vehicles.SetState(data)) },
		Use:     func() error { return errors.Join(vehicles.Step(1./60), w.Step(1./60)) },
		Stale:   []any{gone},
	}, []badinput.Attempt{
		badinput.Of("NewRagdoll", func() error { _, err := rig.NewRagdoll(w, human); return failed(err) }, "Position", &human.Position, "Rotation", &human.Rotation,
			"LinearVelocity", &human.LinearVelocity, "Mass", &human.Mass, "Friction", &human.Friction, "Friction", &human.Shape.Friction, "P1", &human.Bones[0].P1, "P2", &human.Bones[0].P2,
			"Radius", &human.Bones[0].Radius, "", &human.Bones[1], "", &human.Bones[3]), // the joint of the root, and the density of shapes, are ignored
		badinput.Of("NewChain", func() error { _, err := rig.NewChain(w, chain); return failed(err) }, "", &chain),
		badinput.Of("NewBridge", func() error { _, err := rig.NewBridge(w, bridge); return failed(err) }, "", &bridge),
		badinput.Of("Follow", func() error { return failed(doll.Follow(w, pose, muscles)) }, "rotations", &pose, "", &muscles),
		badinput.Of("Vehicles.Add", func() error {
			v := rig.NewVehicles(w)
			_, err := v.Add(car)
			return err
		}, "", &car),
		badinput.Of("Vehicles.Step", func() error { return failed(vehicles.Step(dt)) }, "dt", &dt, "", &vehicles.Controls[0]),
	})
}
