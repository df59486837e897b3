// Package space gives entities bodies in three dimensions: it joins an evertick.Sim and a physics3.World. A Sim has bodies in a plane, which are those of
// Sim.Physics, or bodies in space, or both, or none; an entity has at most one body.
//
//	sim, err := evertick.New(evertick.Config{})
//	...
//	bodies, err := space.Attach(sim, physics3.Config{Gravity: [3]float32{0, -9.81, 0}})
//	...
//	def := physics3.DefaultBodyDef()
//	def.Type, def.Position = physics3.DynamicBody, [3]float32{0, 10, 0}
//	b, err := bodies.Create(id, def)
//	...
//	_, err = bodies.World().CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}})
//	...
//	err = sim.Step()
//
// # A tick
//
// Two phases follow "physics.sync". "physics3.step" puts bodies to where systems have written position or rotation of their entities since the last tick, as
// physics3.World.Pull does, and moves them; "physics3.sync" writes their transforms to the columns Position and Rotation. So systems of BeforePhysics apply
// forces, and those of AfterPhysics read World().Events(). Both phases run in the modes of evertick.Config.PhysicsModes; in a tick of another mode bodies rest,
// and events are empty. Scale is the program's: no body reads it.
//
// # State
//
// Snapshots, histories, hashes and differences of the Sim cover the bodies, so logs, replays, forks and rollback do as well. The hash names their columns with
// "physics3." before them. A Sim that restores such a snapshot has a space, too, with the same rules. A Sim without a space has neither phases nor bytes of it,
// and programs that do not import this package neither build nor link the engine.
//
// Sim.Interpolate draws bodies between two ticks on the shorter arc, and those that were put elsewhere at their new place. Despawning an entity destroys its
// body at once. Where Sim.Reorder moves rows, bodies follow. Bodies made by World().CreateBody belong to no entity, such as the ground.
package space
