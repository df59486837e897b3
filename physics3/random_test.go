package physics3_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

const (
	randomBodies = 64 // the capacity
	randomSlots  = 24
	tub          = 2.2 // half the width of the ground
)

// randomWorld is a world with random calls of all kinds, which follow from a seed and a stream of bytes: two worlds in the same state with the
// same draws get the same calls.
type randomWorld struct {
	*physics3.World
	t        testing.TB
	rng      rand.PCG
	ops      []byte // selects the calls, until it is used up
	strict   bool   // check that a refused call has changed nothing
	entities physics3.Transforms
	bodies   []physics3.Body // live and stale
	shapes   []physics3.Shape
	joints   []physics3.Joint
	seed     uint64
}

func randomConfig(seed uint64) physics3.Config {
	c := physics3.Config{Capacity: randomBodies, Gravity: vec{0, -10, 0}, DisableSleep: seed%8 == 5, SubSteps: int(seed % 3)}
	c.StageHashes = seed%4 == 2
	if seed%7 == 4 {
		c.FrictionMix, c.RestitutionMix = physics3.MixAverage, physics3.MixMin
	}
	if seed%5 == 3 {
		c.Slots, c.ContactHertz, c.PushSpeed, c.JointHertz, c.JointDamping = randomSlots, 20, 1e6, 100, 1
	}
	return c
}

func newRandomWorld(t testing.TB, c physics3.Config, seed uint64, ops []byte) *randomWorld {
	t.Helper()
	w := &randomWorld{World: emptyWorld(t, c), t: t, rng: *rand.NewPCG(seed, 5), ops: ops, seed: seed}
	f := func() []float32 { return make([]float32, randomSlots) }
	w.entities = physics3.Transforms{X: f(), Y: f(), Z: f(), QX: f(), QY: f(), QZ: f(), QW: f()}
	ground := bodyAt(t, w.World, physics3.StaticBody, 0, 0, 0)
	for _, b := range []physics3.Box{
		{Half: vec{tub, 0.5, tub}, Center: vec{0, -0.5, 0}},
		{Half: vec{0.5, 3, tub}, Center: vec{tub + 0.5, 3, 0}}, {Half: vec{0.5, 3, tub}, Center: vec{-tub - 0.5, 3, 0}},
		{Half: vec{tub, 3, 0.5}, Center: vec{0, 3, tub + 0.5}}, {Half: vec{tub, 3, 0.5}, Center: vec{0, 3, -tub - 0.5}},
	} {
		if floor := b.Center[0] == 0 && b.Center[2] == 0; floor && seed%3 == 1 {
			must[physics3.Shape](t)(w.CreateMesh(ground, plain, bumpy, physics3.Placement{}))
			continue
		} else if floor && seed%6 == 2 {
			must[physics3.Shape](t)(w.CreateTerrain(ground, plain, dunes(t, false), physics3.Placement{Position: vec{-8, 0, -12}}))
			continue
		}
		must[physics3.Shape](t)(w.CreateBox(ground, plain, b))
	}
	for range 30 + w.pick(20) {
		_ = w.create()
	}
	for range w.pick(30) {
		_ = w.join()
	}
	return w
}

// bumpy is a ground of triangles with several materials, and sheet is a square with two sides.
var (
	bumpy = newMesh(bumpyDef())
	sheet = newMesh(physics3.MeshDef{
		Vertices: []vec{{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0.3, 1}}, Triangles: [][3]uint32{{0, 1, 2}, {0, 2, 3}}, TwoSided: true,
	})
)

func bumpyDef() physics3.MeshDef {
	d := gridMesh(9, 2*tub+0.4, func(x, z float32) float32 { return 0.2 * float32(math.Sin(float64(3*x+z))*math.Cos(float64(2*z))) })
	d.Materials = []physics3.SurfaceMaterial{{Friction: 0.6}, {Friction: 0.1, Restitution: 0.5}, {Friction: 1, RollingResistance: 0.1, TwistResistance: 0.1}}
	for i := range d.Triangles {
		d.MaterialOf, d.User = append(d.MaterialOf, uint32(i%3)), append(d.User, uint32(i))
	}
	return d
}

// as makes w continue with the draws of from.
func (w *randomWorld) as(from *randomWorld) {
	w.rng, w.ops = from.rng, from.ops
	w.bodies, w.shapes = append(w.bodies[:0], from.bodies...), append(w.shapes[:0], from.shapes...)
	w.joints = append(w.joints[:0], from.joints...)
	to, other := w.columnsOfEntities(), from.columnsOfEntities()
	for i := range to {
		copy(to[i], other[i])
	}
}

func (w *randomWorld) columnsOfEntities() [7][]float32 {
	e := &w.entities
	return [...][]float32{e.X, e.Y, e.Z, e.QX, e.QY, e.QZ, e.QW}
}

func (w *randomWorld) pick(n int) int { return int(w.rng.Uint64() % uint64(n)) }

func (w *randomWorld) one(in int) bool { return w.pick(in) == 0 }

func (w *randomWorld) float(low, high float32) float32 {
	return low + float32(float32(w.rng.Uint64()>>40)/(1<<24)*(high-low))
}

var garbage = []float32{
	nan, inf, -inf, 1e30, -1e30, 0x1p63, 0x1p62, -1e18, 1e12, 1e6, -3e5, 1e-40, -1e-45, float32(math.Copysign(0, -1)), 0, 1e-30, math.MaxFloat32,
}

// any returns a number, and sometimes garbage; in some worlds more often.
func (w *randomWorld) any(low, high float32) float32 {
	if w.one(40 << (2 * (w.seed % 3))) {
		return garbage[w.pick(len(garbage))]
	}
	return w.float(low, high)
}

func (w *randomWorld) vector(size float32) vec {
	return vec{w.any(-size, size), w.any(-size, size), w.any(-size, size)}
}

func (w *randomWorld) place() vec { return vec{w.any(-tub, tub), w.any(0, 4), w.any(-tub, tub)} }

func (w *randomWorld) rotation() quat {
	return quat{w.any(-1, 1), w.any(-1, 1), w.any(-1, 1), w.any(-1, 1)}
}

// body returns a body, rarely a destroyed one.
func (w *randomWorld) body() physics3.Body {
	if len(w.bodies) > 0 && w.one(25) {
		return w.bodies[w.pick(len(w.bodies))]
	}
	i := w.pick(w.Rows())
	if i == 0 && w.calm() {
		i = w.Rows() - 1
	}
	b, _ := w.BodyAt(i)
	return b
}

func (w *randomWorld) shape() physics3.Shape {
	if len(w.shapes) == 0 {
		return physics3.Shape{}
	}
	return w.shapes[w.pick(len(w.shapes))]
}

// keep adds to a list of bounded length.
func keep[T any](w *randomWorld, list *[]T, v T) {
	if len(*list) < 96 {
		*list = append(*list, v)
		return
	}
	(*list)[w.pick(96)] = v
}

// calm is a world in which most bodies fall asleep.
func (w *randomWorld) calm() bool { return w.seed/2%4 != 0 }

func (w *randomWorld) bodyDef() physics3.BodyDef {
	d := physics3.DefaultBodyDef()
	d.Type = physics3.DynamicBody
	switch w.pick(12) {
	case 0:
		d.Type = physics3.StaticBody
	case 1, 2:
		d.Type = physics3.KinematicBody
	}
	d.Position, d.Rotation = w.place(), w.rotation()
	if d.Type == physics3.DynamicBody && w.one(2) || d.Type == physics3.KinematicBody && !w.calm() {
		d.LinearVelocity, d.AngularVelocity = w.vector(4), w.vector(3)
	}
	d.LinearDamping, d.AngularDamping = w.any(0, 3), w.any(0, 3)
	d.FixedRotation, d.LockX, d.LockY, d.LockZ = w.one(9), w.one(15), w.one(15), w.one(15)
	d.LockRotationX, d.LockRotationY, d.LockRotationZ = w.one(15), w.one(15), w.one(15)
	d.DisableSleep, d.Bullet = w.one(12), w.one(6)
	if w.one(2) {
		d.SleepThreshold = w.any(0, 2)
	}
	if w.calm() {
		d.AngularDamping, d.DisableSleep, d.SleepThreshold = 4, false, w.float(0.5, 3)
	}
	if d.HasSlot = w.one(3); d.HasSlot {
		d.Slot = uint32(w.pick(randomSlots))
	}
	if d.Asleep, d.Disabled = w.one(5), w.one(15); d.Asleep || d.Disabled {
		d.LinearVelocity, d.AngularVelocity = vec{}, vec{}
	}
	return d
}

func (w *randomWorld) shapeDef() physics3.ShapeDef {
	d := plain
	d.Density, d.Friction, d.Restitution = w.any(0, 3), w.any(0, 1), w.any(0, 0.9)
	d.RollingResistance, d.TwistResistance, d.Sensor = w.any(0, 0.2), w.any(0, 0.2), w.one(10)
	if !w.calm() && w.one(6) {
		d.TangentVelocity = w.vector(2)
	}
	if w.one(3) {
		d.UserMaterial = uint64(w.pick(3))
	}
	if w.one(6) {
		d.Filter = physics3.Filter{Category: 1 << w.pick(3), Mask: uint64(w.pick(8)), Group: int32(w.pick(5)) - 2}
	}
	return d
}

// addShape creates a shape, or records that in a list.
func (w *randomWorld) addShape(b physics3.Body, c *physics3.Commands) error {
	d, p, r, kind := w.shapeDef(), w.vector(0.4), w.any(0.1, 0.6), w.pick(10)/2
	ball, capsule := physics3.Sphere{Center: p, Radius: r}, physics3.Capsule{P1: p, P2: w.vector(0.7), Radius: r}
	block := physics3.Box{Half: vec{r, w.any(0.1, 0.8), w.any(0.1, 0.8)}, Center: p, Rotation: w.rotation()}
	if w.one(4) {
		block.Radius = w.any(0, 0.1)
	}
	h, at := []*physics3.Hull{tetrahedron, prism, cube}[w.pick(3)], physics3.Placement{Position: p}
	if w.one(2) {
		h, at.Rotation = w.hull(), w.rotation()
	}
	m, small := []*physics3.Mesh{pitch, sheet}[w.pick(2)], kind == 4 && w.one(2)
	if c != nil {
		[...]func(){
			func() { c.CreateSphere(b, d, ball) }, func() { c.CreateCapsule(b, d, capsule) },
			func() { c.CreateBox(b, d, block) }, func() { c.CreateHull(b, d, h, at) }, func() {
				if small {
					c.CreateHeightField(b, d, mound, at)
				} else {
					c.CreateMesh(b, d, m, at)
				}
			},
		}[kind]()
		return nil
	}
	s, err := [...]func() (physics3.Shape, error){
		func() (physics3.Shape, error) { return w.CreateSphere(b, d, ball) },
		func() (physics3.Shape, error) { return w.CreateCapsule(b, d, capsule) },
		func() (physics3.Shape, error) { return w.CreateBox(b, d, block) },
		func() (physics3.Shape, error) { return w.CreateHull(b, d, h, at) },
		func() (physics3.Shape, error) {
			if small {
				return w.CreateHeightField(b, d, mound, at)
			}
			return w.CreateMesh(b, d, m, at)
		},
	}[kind]()
	if err == nil {
		keep(w, &w.shapes, s)
	}
	return err
}

// hull returns a new hull, or nil if its points make none.
func (w *randomWorld) hull() *physics3.Hull {
	points := make([]vec, 4+w.pick(6))
	for i := range points {
		points[i] = w.vector(0.6)
	}
	h, _ := physics3.NewHull(points, physics3.HullOptions{Radius: w.any(0, 0.05)})
	return h
}

func (w *randomWorld) create() error {
	b, err := w.CreateBody(w.bodyDef())
	if err != nil {
		return err
	}
	keep(w, &w.bodies, b)
	for range w.pick(30) + 1 {
		if w.addShape(b, nil) == nil && w.one(2) {
			break
		}
	}
	return nil
}

// garble writes random values to the columns that a program may write to.
func (w *randomWorld) garble() error {
	b := w.body()
	if !w.Valid(b) {
		return nil
	}
	c, i := w.Columns(), b.Index()
	columns := [][]float32{
		c.X, c.Y, c.Z, c.QX, c.QY, c.QZ, c.QW, c.ForceX, c.ForceY, c.ForceZ, c.TorqueX, c.TorqueY, c.TorqueZ,
		c.LinearDamping, c.AngularDamping, c.GravityScale, c.VX, c.VY, c.VZ, c.WX, c.WY, c.WZ,
	}
	k, v := w.pick(len(columns)), w.float(-5, 5)
	if w.one(4) {
		v = garbage[w.pick(len(garbage))]
	}
	if k < 16 || c.Type[i] != physics3.StaticBody {
		columns[k][i] = v
	}
	return nil
}

// strew writes to the entities, and calls Pull.
func (w *randomWorld) strew() error {
	if w.one(2) {
		return w.Sync(w.entities)
	}
	columns := w.columnsOfEntities()
	for range w.pick(4) {
		v := w.float(-5, 5)
		if w.one(8) {
			v = garbage[w.pick(len(garbage))]
		}
		columns[w.pick(7)][w.pick(randomSlots)] = v
	}
	err := w.Pull(w.entities)
	if err != nil {
		no(w.t, w.Sync(w.entities)) // which makes the entities valid again
	}
	return err
}

// record fills a list with commands.
func (w *randomWorld) record(c *physics3.Commands) {
	var unborn []physics3.Body
	for range 1 + w.pick(6) {
		b, other := w.body(), w.body()
		if len(unborn) > 0 && w.one(2) {
			b = unborn[w.pick(len(unborn))]
		}
		switch w.pick(20) {
		case 0, 1:
			unborn = append(unborn, c.CreateBody(w.bodyDef()))
		case 2, 3:
			_ = w.addShape(b, c)
		case 4:
			c.DestroyBody(b)
		case 5:
			c.DestroyShape(w.shape())
		case 6:
			c.SetVelocity(b, w.vector(6), w.vector(4))
		case 7:
			c.SetTransform(b, w.place(), w.rotation())
		case 8:
			c.ApplyLinearImpulse(b, w.vector(6), w.place())
		case 9:
			c.ApplyForce(b, w.vector(60), w.place())
		case 10:
			c.ApplyTorque(b, w.vector(9))
		case 11:
			c.Disable(b)
		case 12:
			c.Enable(b)
		case 13:
			c.IgnorePair(b, other)
		case 14:
			c.UnignorePair(b, other)
		case 15:
			c.ShiftOrigin(vec{0, 2 * physics3.OriginUnit, 0})
			c.ShiftOrigin(vec{0, -2 * physics3.OriginUnit, 0})
		case 16:
			c.EnableSleeping(w.one(2) || w.calm())
		case 17:
			c.CreateJoint(w.jointDef(w.anyKind(), b, other))
		case 18:
			c.DestroyJoint(w.joint())
		case 19:
			c.SetJointDef(w.joint(), w.jointDef(0, b, other))
		}
	}
}

// commanded applies one to three lists.
func (w *randomWorld) commanded() error {
	var lists []*physics3.Commands
	for range 1 + w.pick(3) {
		c := w.NewCommands()
		w.record(c)
		lists = append(lists, c)
	}
	return w.Apply(lists...)
}

// randomOps lists all operations.
var randomOps = []struct {
	name string
	do   func(w *randomWorld) error
}{
	{"create", (*randomWorld).create},
	{"shape", func(w *randomWorld) error { return w.addShape(w.body(), nil) }},
	{"garble", (*randomWorld).garble},
	{"strew", (*randomWorld).strew},
	{"commands", (*randomWorld).commanded},
	{"more commands", (*randomWorld).commanded},
	{"destroy body", func(w *randomWorld) error { return w.DestroyBody(w.body()) }},
	{"destroy shape", func(w *randomWorld) error { return w.DestroyShape(w.shape()) }},
	{"impulse", func(w *randomWorld) error { return w.ApplyLinearImpulse(w.body(), w.vector(5), w.place()) }},
	{"turn", func(w *randomWorld) error { return w.ApplyAngularImpulse(w.body(), w.vector(2)) }},
	{"force", func(w *randomWorld) error { return w.ApplyForce(w.body(), w.vector(50), w.place()) }},
	{"torque", func(w *randomWorld) error { return w.ApplyTorque(w.body(), w.vector(9)) }},
	{"velocity", func(w *randomWorld) error { return w.SetVelocity(w.body(), w.vector(9), w.vector(6)) }},
	{"teleport", func(w *randomWorld) error { return w.SetTransform(w.body(), w.place(), w.rotation()) }},
	{"target", func(w *randomWorld) error {
		return w.SetTargetTransform(w.body(), w.place(), w.rotation(), w.any(0.01, 0.1))
	}},
	{"type", func(w *randomWorld) error { return w.SetType(w.body(), physics3.BodyType(w.pick(3))) }},
	{"mass", func(w *randomWorld) error {
		a, b, c := w.any(0.1, 2), w.any(0.1, 2), w.float(-0.1, 0.1)
		m := physics3.MassData{Mass: w.any(0.1, 5), Inertia: [6]float32{a, b, (a + b) / 2, c, c / 2, -c}, Center: w.vector(0.5)}
		if w.one(4) {
			m.Inertia = [6]float32{}
		}
		return w.SetMassData(w.body(), m)
	}},
	{"own mass", func(w *randomWorld) error { return w.ResetMassData(w.body()) }},
	{"locks", func(w *randomWorld) error {
		return w.SetMotionLocks(w.body(), physics3.MotionLocks{X: w.one(3), Z: w.one(3), RotationX: w.one(3), RotationY: w.one(3), Rotation: w.one(3)})
	}},
	{"sleep of a body", func(w *randomWorld) error { return w.EnableSleep(w.body(), w.one(2)) }},
	{"bullet", func(w *randomWorld) error { return w.SetBullet(w.body(), w.one(2)) }},
	{"material", func(w *randomWorld) error { return w.SetShapeDef(w.shape(), w.shapeDef()) }},
	{"gravity", func(w *randomWorld) error {
		if w.calm() || !w.one(4) {
			return w.SetGravity(vec{0, -10, 0})
		}
		return w.SetGravity(w.vector(10))
	}},
	{"tuning", func(w *randomWorld) error {
		if !w.one(3) {
			return w.SetTuning(physics3.Tuning{})
		}
		return w.SetTuning(physics3.Tuning{ContactHertz: w.any(0, 60), ContactDamping: w.any(0, 20), PushSpeed: w.any(0, 5),
			RestitutionThreshold: w.any(0, 2), MaxSpeed: w.any(0, 500), HitSpeed: w.any(0, 2)})
	}},
	{"sleeping", func(w *randomWorld) error { return w.EnableSleeping(w.one(2) || w.calm() && !w.one(4)) }},
	{"continuous", func(w *randomWorld) error { return w.EnableContinuous(!w.one(4)) }},
	{"explosion", func(w *randomWorld) error {
		return w.Explode(physics3.ExplosionDef{Position: w.place(), Radius: w.any(0, 3), Falloff: w.any(0, 3), ImpulsePerArea: w.any(-1, 2), Mask: w.rng.Uint64()})
	}},
	{"wind", func(w *randomWorld) error {
		d := physics3.WindDef{Wind: w.vector(5), Drag: w.any(0, 0.5), Lift: w.any(0, 0.5), MaxSpeed: w.any(0, 20), Mask: w.rng.Uint64(), Wake: w.one(3)}
		if w.one(2) {
			return w.ApplyWindTo(w.body(), d)
		}
		return w.ApplyWind(d)
	}},
	{"water", func(w *randomWorld) error {
		d := physics3.BuoyancyDef{Normal: w.vector(1), Offset: w.any(-1, 2), Density: w.any(0, 2), Velocity: w.vector(1), LinearDrag: w.any(0, 3),
			AngularDrag: w.any(0, 3), Mask: w.rng.Uint64(), Wake: w.one(3)}
		if w.one(2) {
			return w.ApplyBuoyancyTo(w.body(), d)
		}
		return w.ApplyBuoyancy(d)
	}},
	{"workers", func(w *randomWorld) error { return w.SetWorkers(w.pick(5)) }},
	{"ignore", func(w *randomWorld) error { return w.IgnorePair(w.body(), w.body()) }},
	{"heed", func(w *randomWorld) error { return w.UnignorePair(w.body(), w.body()) }},
	{"disable", func(w *randomWorld) error { return w.Disable(w.body()) }},
	{"enable", func(w *randomWorld) error { return w.Enable(w.body()) }},
	{"awake", func(w *randomWorld) error { return w.SetAwake(w.body(), w.one(3)) }},
	{"asleep", func(w *randomWorld) error { return w.SetAwake(w.body(), false) }},
	{"threshold", func(w *randomWorld) error { return w.SetSleepThreshold(w.body(), w.any(0, 1)) }},
	{"shift", func(w *randomWorld) error {
		o := w.Origin()
		if o == [3]float64{} && w.one(4) {
			return w.ShiftOrigin(w.vector(2)) // refused
		} else if o == [3]float64{} {
			return w.ShiftOrigin(vec{float32(w.pick(3)-1) * physics3.OriginUnit, -64 * physics3.OriginUnit, physics3.OriginUnit})
		}
		return w.ShiftOrigin(vec{-float32(o[0]), -float32(o[1]), -float32(o[2])}) // back
	}},
	{"slots", func(w *randomWorld) error {
		to := make([]uint32, randomSlots)
		for i := range to {
			to[i] = uint32(i)
		}
		a, b := w.pick(randomSlots), w.pick(randomSlots)
		to[a], to[b] = to[b], to[a]
		return w.MoveSlots(to)
	}},
	{"join", (*randomWorld).join},
	{"join more", (*randomWorld).join},
	{"redefine a joint", (*randomWorld).redefine},
	{"destroy joint", func(w *randomWorld) error { return w.DestroyJoint(w.joint()) }},
	{"peace", func(w *randomWorld) error { return nil }},
}

// act runs the operation that the next byte selects.
func (w *randomWorld) act() string {
	w.t.Helper()
	k := w.pick(len(randomOps))
	if len(w.ops) > 0 {
		k, w.ops = int(w.ops[0])%len(randomOps), w.ops[1:]
	}
	var before uint64
	if w.strict {
		before = w.Hash()
	}
	err := randomOps[k].do(w)
	if w.strict && err != nil && w.Hash() != before {
		w.t.Fatalf("seed %d: %s was refused and has changed the world: %v", w.seed, randomOps[k].name, err)
	}
	return randomOps[k].name
}

// acts returns the number of operations in a tick: mostly few or none, so that bodies fall asleep.
func (w *randomWorld) acts(tick int) int {
	switch n := tick % 80; {
	case n < 12:
		return w.pick(6)
	case n < 50:
		return 0
	}
	return w.pick(3)
}

// gather brings back bodies that have left the ground.
func (w *randomWorld) gather() {
	w.t.Helper()
	c := w.Columns()
	for i := range w.Rows() {
		inside := c.Y[i] > -1 && c.Y[i] < 9 && max(c.X[i], -c.X[i], c.Z[i], -c.Z[i]) < tub+1
		if b, ok := w.BodyAt(i); ok && !inside {
			no(w.t, w.SetTransform(b, vec{w.float(-2, 2), w.float(1, 5), w.float(-2, 2)}, unit))
		}
	}
}

// duration returns the length of a step, which is rarely unusual or invalid.
func (w *randomWorld) duration() float32 {
	if w.calm() || !w.one(12) {
		return dt
	}
	return [...]float32{1. / 30, 1. / 240, 0.2, 1e-6, 1000, 0, -1, nan, 1e9}[w.pick(9)]
}

func (w *randomWorld) step() {
	w.t.Helper()
	if !w.one(5) {
		w.gather()
	}
	for {
		var lists []*physics3.Commands
		if w.one(10) {
			c := w.NewCommands()
			w.record(c)
			lists = append(lists, c)
		}
		before := w.Hash()
		if w.Step(w.duration(), lists...) == nil {
			return
		}
		if w.strict && w.Hash() != before {
			w.t.Fatalf("seed %d: a step was refused and has changed the world", w.seed)
		}
	}
}

// randomRun is one way to compute the world; all ways must agree.
type randomRun struct {
	name  string
	w     *randomWorld
	again func(r *randomRun, tick int) // replaces the world by another one in the same state
}

// inRestored continues in a new world every 17 ticks.
func inRestored(r *randomRun, tick int) {
	if tick%17 != 3 {
		return
	}
	t, old, what := r.w.t, r.w.World, fmt.Sprintf("seed %d, tick %d, restored", r.w.seed, tick)
	data := snapshot(t, old)
	w := emptyWorld(t, old.Config())
	if err := w.Restore(data); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !bytes.Equal(snapshot(t, w), data) {
		t.Errorf("%s: another snapshot", what)
	}
	sameState(t, what, old, w)
	r.w.World = w
}

// inCopies continues in a copy every 13 ticks.
func inCopies() func(r *randomRun, tick int) {
	var spare *physics3.World
	return func(r *randomRun, tick int) {
		if tick%13 != 5 {
			return
		}
		t, old := r.w.t, r.w.World
		if spare == nil {
			spare = must[*physics3.World](t)(old.Clone())
		} else {
			no(t, spare.CopyFrom(old))
		}
		sameState(t, fmt.Sprintf("seed %d, tick %d, copied", r.w.seed, tick), old, spare)
		r.w.World, spare = spare, old
	}
}

// rewound moves one world forward and back.
func rewound(r *randomRun, tick int) {
	if tick%11 != 7 {
		return
	}
	t, w := r.w.t, r.w
	data := snapshot(t, w.World)
	kept := *w
	kept.bodies, kept.shapes = slices.Clone(w.bodies), slices.Clone(w.shapes)
	kept.joints = slices.Clone(w.joints)
	kept.entities = cloneEntities(&w.entities)
	for range 5 {
		for range 3 {
			w.act()
		}
		w.step()
	}
	no(t, w.Restore(data))
	w.as(&kept)
}

func randomRuns(t testing.TB, seed uint64, ops []byte) (runs []*randomRun) {
	c := randomConfig(seed)
	add := func(name string, level native.Level, workers int, again func(*randomRun, int)) {
		c.Level, c.Workers = level, workers
		runs = append(runs, &randomRun{fmt.Sprintf("%s, %v with %d workers", name, level, workers), newRandomWorld(t, c, seed, ops), again})
	}
	for i, level := range native.Levels() {
		add("plain", level, 1+i%2, nil)
		add("plain", level, 3+(i+int(seed))%2, nil)
	}
	for i, level := range native.Levels() {
		add("groups", level, 1+i%3, nil)
		runs[len(runs)-1].w.SetGroupBytes(3000 + 2500*int(seed%7))
	}
	add("restored", native.Auto, 2, inRestored)
	add("copied", native.Auto, 1, inCopies())
	add("rewound", native.Auto, 1, rewound)
	return runs
}

// runRandom runs all ways, and compares them.
func runRandom(t testing.TB, seed uint64, ops []byte, ticks int) {
	t.Helper()
	runs := randomRuns(t, seed, ops)
	base := runs[0].w
	base.strict = true
	for tick := range ticks {
		done := ""
		for _, r := range runs {
			if r.again != nil {
				r.again(r, tick)
			}
			names := ""
			for k := range r.w.acts(tick) {
				if r.again != nil && k == 1 {
					r.again(r, tick+1)
				}
				names += r.w.act() + ", "
			}
			if r.w == base {
				done = names
				continue
			}
			if names != done {
				t.Fatalf("seed %d, tick %d: %s does %s and not %s", seed, tick, r.name, names, done)
			}
			sameState(t, fmt.Sprintf("seed %d, tick %d, before the step (%s): %s", seed, tick, done, r.name), base.World, r.w.World)
		}
		for _, r := range runs {
			r.w.step()
			if r.w != base {
				r.compare(base, fmt.Sprintf("seed %d, tick %d (%s): %s", seed, tick, done, r.name), tick%8 == 0)
			}
		}
		sound(t, fmt.Sprintf("seed %d, tick %d (%s)", seed, tick, done), base.World)
		if t.Failed() {
			t.FailNow()
		}
	}
}

// compare fails unless the world of a run is that of another one after a step.
func (r *randomRun) compare(base *randomWorld, what string, thorough bool) {
	t, w := r.w.t, r.w.World
	t.Helper()
	for i, h := range base.StageHashes() {
		if got := w.StageHashes()[i]; r.again == nil && got != h {
			t.Fatalf("%s: stage %s differs", what, h.Name)
		}
	}
	sameState(t, what, base.World, w)
	a, b := *base.Events(), *w.Events()
	if r.again == nil {
		if !bytes.Equal(base.AppendEvents(nil), w.AppendEvents(nil)) {
			t.Fatalf("%s: other events", what)
		}
	} else { // a restored world has no earlier events
		a.Woke, a.Slept, a.Disabled, b.Woke, b.Slept, b.Disabled = nil, nil, nil, nil, nil, nil
		if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
			t.Fatalf("%s: events\n%s\nwant\n%s", what, y, x)
		}
	}
	if !thorough {
		return
	}
	if part := differingFrame(snapshot(t, base.World), snapshot(t, w)); part >= 0 {
		t.Fatalf("%s: another part %d of the snapshot", what, part)
	}
	contacts, inside := readContacts(t, base.World)
	got, gotInside := readContacts(t, w)
	if !slices.Equal(got, contacts) || !slices.Equal(gotInside, inside) {
		t.Fatalf("%s: contacts\n%v\n%v\nwant\n%v\n%v", what, got, gotInside, contacts, inside)
	}
}

// differingFrame returns the first frame that two snapshots differ in, or -1.
func differingFrame(a, b []byte) int {
	x, y := frametest.Split(a), frametest.Split(b)
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || !bytes.Equal(x[i], y[i]) {
			return i
		}
	}
	return -1
}

// readContacts returns contacts and overlaps, except for total impulses, which a restored world lacks.
func readContacts(t testing.TB, w *physics3.World) (all []physics3.ContactData, inside []physics3.Shape) {
	for i := range w.Rows() {
		b, ok := w.BodyAt(i)
		if !ok {
			continue
		}
		all = must[[]physics3.ContactData](t)(w.AppendContactData(all, b))
		for _, s := range shapesOf(t, w, b) {
			if more, err := w.AppendSensorOverlaps(inside, s); err == nil {
				inside = append(more, s)
			}
		}
	}
	for i := range all {
		all[i].TotalImpulse = 0
	}
	return all, inside
}

// After any calls a world is the same on every level, with any number of workers, restored and copied; a refused call changes nothing, and no
// step leaves a value that is not finite.
func TestRandomCommands(t *testing.T) {
	seeds, ticks := uint64(8), 90
	if paritytest.Instrumented || testing.Short() {
		seeds, ticks = 2, 24
	} else if paritytest.Long() {
		seeds = 200
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runRandom(t, seed, nil, ticks) })
	}
}

// A world accepts its own snapshot after each call, refused or not, and stays as it is.
func TestOwnSnapshotAfterEachCommand(t *testing.T) {
	seeds, ticks, calls := uint64(4), 60, 0
	if testing.Short() {
		seeds = 2
	}
	for seed := paritytest.Seed() % 1e9; seeds > 0; seed, seeds = seed+1, seeds-1 {
		w := newRandomWorld(t, randomConfig(seed), seed, nil)
		other := emptyWorld(t, randomConfig(seed))
		for tick := range ticks {
			for range 1 + w.pick(4) {
				what := fmt.Sprintf("seed %d, tick %d: after %s", seed, tick, w.act())
				data := snapshot(t, w.World)
				for _, into := range []*physics3.World{other, w.World} {
					if err := into.Restore(data); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
				sameState(t, what, other, w.World)
				calls++
			}
			w.step()
		}
	}
	if calls < ticks {
		t.Errorf("%d calls", calls)
	}
}

func FuzzRandomCommands(f *testing.F) {
	f.Add(uint64(1), []byte("anything"))
	f.Add(uint64(5), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 29, 28, 27, 26, 25, 24, 23, 22})
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		runRandom(t, seed%1e9, ops[:min(len(ops), 200)], min(8+len(ops)/3, 60))
	})
}
