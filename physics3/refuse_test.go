package physics3_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/evertick/evertick/internal/badinput"
	"github.com/evertick/evertick/physics3"
)

// Each call that takes numbers or handles refuses bad ones, and changes nothing then. Those of queries are in TestBadQueries.
func TestEveryArgumentIsChecked(t *testing.T) {
	w := newWorld(t, physics3.Config{Capacity: 30, Slots: 100})
	a, b := bodyAt(t, w, physics3.DynamicBody, 0, 3, 0), bodyAt(t, w, physics3.DynamicBody, 3, 3, 0)
	kinematic, static, gone := bodyAt(t, w, physics3.KinematicBody, 9, 3, 0), bodyAt(t, w, physics3.StaticBody, 30, 0, 0), bodyAt(t, w, physics3.DynamicBody, 9, 9, 0)
	shape, goneShape := box(t, w, a, plain, 0.5, 0.5, 0.5), box(t, w, gone, plain, 1, 1, 1)
	box(t, w, b, plain, 0.5, 0.5, 0.5)
	joint := joined(t, w, &physics3.WeldJointDef{JointDef: commonDef(a, b, vec{}, vec{})})
	goneJoint := joined(t, w, &physics3.WeldJointDef{JointDef: commonDef(a, gone, vec{}, vec{})})
	no(t, w.DestroyBody(gone))

	list := func(record func(c *physics3.Commands)) error {
		c := w.NewCommands()
		record(c)
		return w.Apply(c)
	}
	v, u, q, dt := vec{1, 2, 3}, vec{3, 1, 2}, unit, float32(1)
	mass := must[physics3.MassData](t)(w.MassData(a))
	def, place, tuning := dynamicAt(5, 5, 5), physics3.Placement{Position: v, Rotation: q}, w.Tuning()
	def.SleepThreshold, def.HasSlot, def.Slot = 0.1, true, 5
	material := plain
	ball, rod, brick := physics3.Sphere{Center: v, Radius: 1}, physics3.Capsule{P1: v, P2: u, Radius: 1}, physics3.Box{Half: v, Center: u, Rotation: q, Radius: 0.1}
	field := newField(fieldDef(3, 3, [2]float32{1, 1}, level))
	terrain := newTerrain(t, physics3.TerrainTile{Field: field})
	bang := physics3.ExplosionDef{Position: v, Radius: 5, Falloff: 5, ImpulsePerArea: 1, Mask: 1}
	wind := physics3.WindDef{Wind: v, Drag: 1, Lift: 1, MaxSpeed: 10, Mask: 1}
	water := physics3.BuoyancyDef{Normal: vec{0, 1, 0}, Offset: 5, Density: 1, Velocity: v, LinearDrag: 1, AngularDrag: 1, Mask: 1}
	config, options := physics3.Config{Capacity: 4, Slots: 4, SubSteps: 4, Gravity: v}, physics3.DrawOptions{}
	points, hull := []vec{{}, {1}, {0, 1}, {0, 0, 1}}, physics3.HullOptions{MaxVertices: 8, Radius: 0.1}
	triangle := physics3.MeshDef{Vertices: points[:3], Triangles: [][3]uint32{{0, 1, 2}}, Materials: make([]physics3.SurfaceMaterial, 1), MaterialOf: make([]uint32, 1)}
	heights := physics3.HeightFieldDef{Width: 2, Depth: 2, Cell: [2]float32{1, 1}, Heights: make([]float32, 4), Materials: make([]physics3.SurfaceMaterial, 1), MaterialOf: make([]uint8, 1)}
	tiles := physics3.TerrainDef{Tiles: []physics3.TerrainTile{{Field: field}, {Field: field, X: 1}}}
	offset, workers := vec{1024}, 1

	of := badinput.Of
	all := []badinput.Attempt{
		of("New", func() error { return second(physics3.New(config)) }, "", &config),
		of("NewHull", func() error { return second(physics3.NewHull(points, hull)) }, "points", &points, "", &hull),
		of("NewMesh", func() error { _, _, err := physics3.NewMesh(triangle); return err }, "", &triangle),
		of("NewHeightField", func() error { return second(physics3.NewHeightField(heights)) }, "", &heights),
		of("NewTerrain", func() error { return second(physics3.NewTerrain(tiles)) }, "", &tiles),
		of("SphereForm", func() error { return second(physics3.SphereForm(ball)) }, "", &ball),
		of("CapsuleForm", func() error { return second(physics3.CapsuleForm(rod)) }, "", &rod),
		of("BoxForm", func() error { return second(physics3.BoxForm(brick)) }, "", &brick),
		of("HullForm", func() error { return second(physics3.HullForm(prism, place)) }, "", &place),
		of("CreateBody", func() error { return second(w.CreateBody(def)) }, "", &def),
		of("CreateSphere", func() error { return second(w.CreateSphere(a, material, ball)) }, "body", &a, "", &material, "", &ball),
		of("CreateCapsule", func() error { return second(w.CreateCapsule(a, material, rod)) }, "body", &a, "", &material, "", &rod),
		of("CreateBox", func() error { return second(w.CreateBox(a, material, brick)) }, "body", &a, "", &material, "", &brick),
		of("CreateHull", func() error { return second(w.CreateHull(a, material, prism, place)) }, "body", &a, "", &material, "", &place),
		of("CreateMesh", func() error { return second(w.CreateMesh(static, material, pitch, place)) }, "body", &static, "", &material, "", &place),
		of("CreateHeightField", func() error { return second(w.CreateHeightField(static, material, field, place)) }, "body", &static, "", &material, "", &place),
		of("CreateTerrain", func() error { return second(w.CreateTerrain(static, material, terrain, place)) }, "body", &static, "", &material, "", &place),
		of("SetShapeDef", func() error { return w.SetShapeDef(shape, material) }, "shape", &shape, "", &material),
		of("SetTransform", func() error { return w.SetTransform(a, v, q) }, "body", &a, "position", &v, "rotation", &q),
		of("SetTargetTransform", func() error { return w.SetTargetTransform(kinematic, v, q, dt) }, "body", &kinematic, "position", &v, "rotation", &q, "dt", &dt),
		of("SetVelocity", func() error { return w.SetVelocity(a, v, u) }, "body", &a, "linear", &v, "angular", &u),
		of("SetMassData", func() error { return w.SetMassData(a, mass) }, "body", &a, "", &mass),
		of("SetSleepThreshold", func() error { return w.SetSleepThreshold(a, dt) }, "body", &a, "speed", &dt),
		of("ApplyForce", func() error { return w.ApplyForce(a, v, u) }, "body", &a, "force", &v, "point", &u),
		of("ApplyForceToCenter", func() error { return w.ApplyForceToCenter(a, v) }, "body", &a, "force", &v),
		of("ApplyTorque", func() error { return w.ApplyTorque(a, v) }, "body", &a, "torque", &v),
		of("ApplyLinearImpulse", func() error { return w.ApplyLinearImpulse(a, v, u) }, "body", &a, "impulse", &v, "point", &u),
		of("ApplyLinearImpulseToCenter", func() error { return w.ApplyLinearImpulseToCenter(a, v) }, "body", &a, "impulse", &v),
		of("ApplyAngularImpulse", func() error { return w.ApplyAngularImpulse(a, v) }, "body", &a, "impulse", &v),
		of("Explode", func() error { return w.Explode(bang) }, "", &bang),
		of("ApplyWind", func() error { return w.ApplyWind(wind) }, "", &wind),
		of("ApplyWindTo", func() error { return w.ApplyWindTo(a, wind) }, "body", &a, "", &wind),
		of("ApplyBuoyancy", func() error { return w.ApplyBuoyancy(water) }, "", &water),
		of("ApplyBuoyancyTo", func() error { return w.ApplyBuoyancyTo(a, water) }, "body", &a, "", &water),
		of("SetGravity", func() error { return w.SetGravity(v) }, "gravity", &v),
		of("ShiftOrigin", func() error { return w.ShiftOrigin(offset) }, "offset", &offset),
		of("SetTuning", func() error { return w.SetTuning(tuning) }, "", &tuning),
		of("SetWorkers", func() error { return w.SetWorkers(workers) }, "workers", &workers),
		of("Step", func() error { return w.Step(dt) }, "dt", &dt),
		of("AppendDraw", func() error { return second(w.AppendDraw(nil, options)) }, "", &options),
		of("WorldPoint", func() error { return second(w.WorldPoint(a, v)) }, "body", &a, "local", &v),
		of("LocalPoint", func() error { return second(w.LocalPoint(a, v)) }, "body", &a, "point", &v),
		of("WorldVector", func() error { return second(w.WorldVector(a, v)) }, "body", &a, "local", &v),
		of("LocalVector", func() error { return second(w.LocalVector(a, v)) }, "body", &a, "vector", &v),
		of("WorldPointVelocity", func() error { return second(w.WorldPointVelocity(a, v)) }, "body", &a, "point", &v),
		of("LocalPointVelocity", func() error { return second(w.LocalPointVelocity(a, v)) }, "body", &a, "local", &v),
		of("ClosestPoint", func() error { _, _, err := w.ClosestPoint(shape, v); return err }, "shape", &shape, "point", &v),
		of("TestPoint", func() error { return second(w.TestPoint(shape, v)) }, "shape", &shape, "point", &v),
	}
	for name, call := range map[string]func() error{
		"DestroyBody": func() error { return w.DestroyBody(a) }, "Disable": func() error { return w.Disable(a) }, "Enable": func() error { return w.Enable(a) },
		"SetAwake": func() error { return w.SetAwake(a, true) }, "EnableSleep": func() error { return w.EnableSleep(a, true) }, "SetBullet": func() error { return w.SetBullet(a, true) },
		"SetType": func() error { return w.SetType(a, physics3.StaticBody) }, "SetMotionLocks": func() error { return w.SetMotionLocks(a, physics3.MotionLocks{X: true}) },
		"ResetMassData": func() error { return w.ResetMassData(a) }, "MassData": func() error { return second(w.MassData(a)) }, "MotionLocks": func() error { return second(w.MotionLocks(a)) },
		"Position": func() error { return second(w.Position(a)) }, "Rotation": func() error { return second(w.Rotation(a)) }, "Velocity": func() error { _, _, err := w.Velocity(a); return err },
		"BodyBounds": func() error { _, _, err := w.BodyBounds(a); return err }, "WorldCenter": func() error { return second(w.WorldCenter(a)) },
		"AppendShapes": func() error { return second(w.AppendShapes(nil, a)) }, "AppendJoints": func() error { return second(w.AppendJoints(nil, a)) },
		"AppendContacts": func() error { return second(w.AppendContacts(nil, a)) }, "AppendContactData": func() error { return second(w.AppendContactData(nil, a)) },
		"IgnorePair": func() error { return w.IgnorePair(a, b) }, "UnignorePair": func() error { return w.UnignorePair(b, a) }, "PairIgnored": func() error { return second(w.PairIgnored(b, a)) },
	} {
		all = append(all, of(name, call, "body", &a))
	}
	for name, call := range map[string]func() error{
		"DestroyShape": func() error { return w.DestroyShape(shape) }, "ShapeDef": func() error { return second(w.ShapeDef(shape)) }, "ShapeKind": func() error { return second(w.ShapeKind(shape)) },
		"ShapeBody": func() error { return second(w.ShapeBody(shape)) }, "ShapeBounds": func() error { _, _, err := w.ShapeBounds(shape); return err },
		"ShapeMassData": func() error { return second(w.ShapeMassData(shape)) }, "Box": func() error { return second(w.Box(shape)) },
	} {
		all = append(all, of(name, call, "shape", &shape))
	}
	for name, call := range map[string]func() error{
		"DestroyJoint": func() error { return w.DestroyJoint(joint) }, "JointState": func() error { return second(w.JointState(joint)) }, "JointKind": func() error { return second(w.JointKind(joint)) },
		"SetJointDef": func() error { return w.SetJointDef(joint, &physics3.JointDef{}) }, "JointDef": func() error { return w.JointDef(joint, &physics3.JointDef{}) },
	} {
		all = append(all, of(name, call, "joint", &joint))
	}
	for _, k := range allKinds(a, b) {
		all = append(all, of("CreateJoint of kind "+k.kind.String(), func() error { return second(w.CreateJoint(k.def)) }, "", k.def))
	}
	all = append(all, // by commands
		of("CreateBody", func() error { return list(func(c *physics3.Commands) { c.CreateBody(def) }) }, "", &def),
		of("CreateBox", func() error { return list(func(c *physics3.Commands) { c.CreateBox(a, material, brick) }) }, "body", &a, "", &material, "", &brick),
		of("CreateMesh", func() error { return list(func(c *physics3.Commands) { c.CreateMesh(static, material, pitch, place) }) }, "body", &static, "", &material, "", &place),
		of("SetVelocity", func() error { return list(func(c *physics3.Commands) { c.SetVelocity(a, v, u) }) }, "body", &a, "linear", &v, "angular", &u),
		of("Explode", func() error { return list(func(c *physics3.Commands) { c.Explode(bang) }) }, "", &bang),
		of("ShiftOrigin", func() error { return list(func(c *physics3.Commands) { c.ShiftOrigin(offset) }) }, "offset", &offset))

	data := snapshot(t, w)
	badinput.Test(t, badinput.Scene{
		Hash:    w.Hash,
		Restore: func() error { return errors.Join(w.Restore(data), w.SetWorkers(1)) },
		Use: func() error { // also where numbers overflow: what a body has then may disable it
			for range 2 {
				if err := w.Step(1. / 60); err != nil {
					return err
				}
			}
			own, err := w.Snapshot(nil)
			if err == nil {
				err = w.Restore(own)
			}
			if err != nil {
				return fmt.Errorf("its own snapshot: %w", err)
			}
			return nil
		},
		Stale: []any{physics3.Body{}, gone, physics3.BodyOfBits(^uint64(0)), physics3.BodyOfBits(a.Bits() ^ 1<<40), physics3.Shape{}, goneShape, physics3.ShapeOfBits(^uint64(0)),
			physics3.ShapeOfBits(shape.Bits() ^ 1<<40), physics3.Joint{}, goneJoint, physics3.JointOfBits(^uint64(0)), physics3.JointOfBits(joint.Bits() ^ 1<<40)},
	}, all)
}
