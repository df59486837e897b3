package physics_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

const (
	randomBodies     = 64 // the capacity
	randomSlots      = 24
	randomHeapBodies = 5000    // more bodies, as work for several workers
	heaped           = 1 << 16 // seeds of such worlds
)

// randomWorld is a world with random calls of all kinds, which follow from a seed and a
// stream of bytes: two worlds in the same state with the same draws get the same calls.
type randomWorld struct {
	*physics.World
	t        testing.TB
	rng      rand.PCG
	ops      []byte // selects the calls, until it is used up
	strict   bool   // check that a refused call has changed nothing
	entities physics.Transforms
	bodies   []physics.Body // live and stale
	shapes   []physics.Shape
	chains   []physics.Chain
	joints   []physics.Joint
	seed     uint64
}

func randomConfig(seed uint64) physics.Config {
	c := physics.Config{Capacity: randomBodies, Gravity: [2]float32{0, -10}, Plane: physics.Plane(seed / 2 % 2)}
	c.DisableSleep, c.DisableContinuous = seed%8 == 5, seed%8 == 7
	c.SubSteps = int(seed % 3)
	if seed >= heaped {
		c.Capacity += randomHeapBodies
	}
	if seed%5 == 3 {
		c.Slots, c.ContactHertz, c.JointHertz, c.JointDamping, c.PushSpeed, c.FrictionMix = randomSlots, 20, 100, 1, 1e6, 3
	}
	return c
}

func newRandomWorld(t testing.TB, c physics.Config, seed uint64, ops []byte) *randomWorld {
	t.Helper()
	w := &randomWorld{World: newWorld(t, c), t: t, rng: *rand.NewPCG(seed, 5), ops: ops, seed: seed}
	f := func() []float32 { return make([]float32, randomSlots) }
	w.entities = physics.Transforms{X: f(), Y: f(), Z: f(), QX: f(), QY: f(), QZ: f(), QW: f()}
	tub := body(t, w.World, physics.StaticBody, 0, 0)
	for _, side := range [][2][2]float32{{{-12, 0}, {12, 0}}, {{-12, 20}, {-12, 0}}, {{12, 0}, {12, 20}}} {
		must[physics.Shape](t)(w.CreateCapsule(tub, plain, physics.Capsule{P1: side[0], P2: side[1], Radius: 0.3}))
	}
	for range 10 + w.pick(20) {
		w.create()
	}
	if seed >= heaped {
		w.heap()
	}
	return w
}

// heap adds many bodies to the left of the tub, and some on top of it.
func (w *randomWorld) heap() {
	floor := body(w.t, w.World, physics.StaticBody, -60, -1)
	box(w.t, w.World, floor, 45, 0.5)
	for i := range randomHeapBodies - 1 {
		b := body(w.t, w.World, physics.DynamicBody, float32(i%100)*0.99-106, float32(i/100)*0.99)
		if w.one(2) {
			circle(w.t, w.World, b, plain, 0.5)
		} else {
			box(w.t, w.World, b, 0.5, 0.5)
		}
	}
}

// as makes w continue with the draws of from.
func (w *randomWorld) as(from *randomWorld) {
	w.rng, w.ops = from.rng, from.ops
	w.bodies, w.shapes = append(w.bodies[:0], from.bodies...), append(w.shapes[:0], from.shapes...)
	w.chains, w.joints = append(w.chains[:0], from.chains...), append(w.joints[:0], from.joints...)
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

func (w *randomWorld) vector(size float32) [2]float32 {
	return [2]float32{w.float(-size, size), w.float(-size, size)}
}

var garbage = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e30, -1e30, 0x1p63, 0x1p62, -1e18, 1e12, 1e6, -3e5,
	1e-40, -1e-45, float32(math.Copysign(0, -1)), 0, 1e-30, math.MaxFloat32,
}

// any returns a number, and sometimes garbage; in some worlds more often.
func (w *randomWorld) any(low, high float32) float32 {
	if w.one(30 << (2 * (w.seed % 3))) {
		return garbage[w.pick(len(garbage))]
	}
	return w.float(low, high)
}

func (w *randomWorld) anyVector(size float32) [2]float32 {
	return [2]float32{w.any(-size, size), w.any(-size, size)}
}

// body returns a body, rarely a destroyed one.
func (w *randomWorld) body() physics.Body {
	if len(w.bodies) > 0 && w.one(25) {
		return w.bodies[w.pick(len(w.bodies))]
	}
	i := w.pick(w.Rows())
	if w.one(2) {
		i %= randomBodies
	}
	if i == 0 && w.calm() {
		i = w.Rows() - 1
	}
	b, _ := w.BodyAt(i)
	return b
}

func (w *randomWorld) shape() physics.Shape {
	if len(w.shapes) == 0 {
		return physics.Shape{}
	}
	return w.shapes[w.pick(len(w.shapes))]
}

func (w *randomWorld) joint() physics.Joint {
	if len(w.joints) == 0 {
		return physics.Joint{}
	}
	return w.joints[w.pick(len(w.joints))]
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

func (w *randomWorld) bodyDef() physics.BodyDef {
	d := physics.DefaultBodyDef()
	d.Type = physics.DynamicBody
	switch w.pick(12) {
	case 0:
		d.Type = physics.StaticBody
	case 1, 2:
		d.Type = physics.KinematicBody
	}
	d.Position, d.Angle = [2]float32{w.any(-10, 10), w.any(0, 12)}, w.any(-4, 4)
	if d.Type == physics.DynamicBody && w.one(2) || d.Type == physics.KinematicBody && !w.calm() {
		d.LinearVelocity, d.AngularVelocity = w.anyVector(4), w.any(-3, 3)
	}
	d.LinearDamping, d.AngularDamping = w.any(0, 3), w.any(0, 3)
	d.FixedRotation, d.LockX, d.LockY = w.one(9), w.one(15), w.one(15)
	d.DisableSleep, d.Bullet = w.one(12), w.one(6)
	if w.one(2) {
		d.SleepThreshold = w.any(0, 2)
	}
	if d.Bullet && w.one(2) {
		d.LinearVelocity = w.vector(300)
	}
	if w.calm() {
		d.AngularDamping, d.DisableSleep, d.SleepThreshold = 4, false, w.float(0.2, 2)
	}
	if d.HasSlot = w.one(3); d.HasSlot {
		d.Slot = uint32(w.pick(randomSlots))
	}
	if d.Asleep, d.Disabled = w.one(5), w.one(15); d.Asleep || d.Disabled {
		d.LinearVelocity, d.AngularVelocity = [2]float32{}, 0
	}
	return d
}

// span returns one of a few storeys, which touch; sometimes the whole axis, or garbage.
func (w *randomWorld) span() physics.Span {
	if w.one(4) {
		return physics.Span{}
	}
	least := w.any(0, 3)
	if least >= 0 && least < 3 {
		least = float32(int(least))
	}
	return physics.Span{Min: least, Max: least + float32(w.pick(2))}
}

func (w *randomWorld) shapeDef() physics.ShapeDef {
	d := physics.DefaultShapeDef()
	d.Density, d.Friction, d.Restitution = w.any(0, 3), w.any(0, 1), w.any(0, 0.9)
	d.RollingResistance, d.Sensor = w.any(0, 0.2), w.one(10)
	if !w.calm() && w.one(6) {
		d.TangentSpeed = w.any(-2, 2)
	}
	if w.one(10) {
		d.OneWay = w.anyVector(1)
	}
	if w.one(4) {
		d.Span = w.span()
	}
	if w.one(3) {
		d.UserMaterial = uint64(w.pick(3))
	}
	if w.one(6) {
		d.Filter = physics.Filter{Category: 1 << w.pick(3), Mask: uint64(w.pick(8)), Group: int32(w.pick(5)) - 2}
	}
	return d
}

// shaper holds the methods that World and Commands share.
type shaper struct {
	circle  func(physics.Body, physics.ShapeDef, physics.Circle) error
	capsule func(physics.Body, physics.ShapeDef, physics.Capsule) error
	polygon func(physics.Body, physics.ShapeDef, physics.Polygon) error
	segment func(physics.Body, physics.ShapeDef, physics.Segment) error
}

func (w *randomWorld) direct() shaper {
	kept := func(s physics.Shape, err error) error {
		if err == nil {
			keep(w, &w.shapes, s)
		}
		return err
	}
	return shaper{
		func(b physics.Body, d physics.ShapeDef, c physics.Circle) error { return kept(w.CreateCircle(b, d, c)) },
		func(b physics.Body, d physics.ShapeDef, c physics.Capsule) error {
			return kept(w.CreateCapsule(b, d, c))
		},
		func(b physics.Body, d physics.ShapeDef, p physics.Polygon) error {
			return kept(w.CreatePolygon(b, d, p))
		},
		func(b physics.Body, d physics.ShapeDef, s physics.Segment) error {
			return kept(w.CreateSegment(b, d, s))
		},
	}
}

func recorder(c *physics.Commands) shaper {
	return shaper{
		func(b physics.Body, d physics.ShapeDef, s physics.Circle) error { c.CreateCircle(b, d, s); return nil },
		func(b physics.Body, d physics.ShapeDef, s physics.Capsule) error {
			c.CreateCapsule(b, d, s)
			return nil
		},
		func(b physics.Body, d physics.ShapeDef, s physics.Polygon) error {
			c.CreatePolygon(b, d, s)
			return nil
		},
		func(b physics.Body, d physics.ShapeDef, s physics.Segment) error {
			c.CreateSegment(b, d, s)
			return nil
		},
	}
}

func (w *randomWorld) addShape(b physics.Body, to shaper) error {
	d, p, r := w.shapeDef(), w.vector(0.6), w.any(0.1, 0.6)
	switch w.pick(5) {
	case 0:
		return to.circle(b, d, physics.Circle{Center: p, Radius: r})
	case 1:
		return to.capsule(b, d, physics.Capsule{P1: p, P2: [2]float32{p[0] + r, p[1]}, Radius: r})
	case 2:
		return to.segment(b, d, physics.Segment{P1: p, P2: w.anyVector(2)})
	case 3:
		return to.polygon(b, d, physics.Box(r, w.any(0.1, 1)))
	}
	polygon := physics.Polygon{Count: 3 + w.pick(6), Radius: w.any(0, 0.1)}
	for i := range polygon.Count {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(polygon.Count))
		polygon.Vertices[i] = [2]float32{p[0] + float32(r*float32(cos)), p[1] + float32(r*float32(sin))}
	}
	return to.polygon(b, d, polygon)
}

// reshape gives a shape another geometry.
func (w *randomWorld) reshape(s physics.Shape, to reshaper) error {
	p, r := w.vector(0.6), w.any(0.1, 0.9)
	switch w.pick(4) {
	case 0:
		return to.SetCircle(s, physics.Circle{Center: p, Radius: r})
	case 1:
		return to.SetCapsule(s, physics.Capsule{P1: p, P2: [2]float32{p[0] + r, p[1]}, Radius: r})
	case 2:
		return to.SetSegment(s, physics.Segment{P1: p, P2: w.anyVector(2)})
	}
	box := physics.Box(r, w.any(0.1, 1))
	box.Radius = w.any(0, 0.1)
	return to.SetPolygon(s, box)
}

// reshaper holds the methods of World that Commands have, too.
type reshaper interface {
	SetCircle(physics.Shape, physics.Circle) error
	SetCapsule(physics.Shape, physics.Capsule) error
	SetSegment(physics.Shape, physics.Segment) error
	SetPolygon(physics.Shape, physics.Polygon) error
}

// recordedShape makes a list a reshaper.
type recordedShape struct{ *physics.Commands }

func (r recordedShape) SetCircle(s physics.Shape, c physics.Circle) error {
	r.Commands.SetCircle(s, c)
	return nil
}

func (r recordedShape) SetCapsule(s physics.Shape, c physics.Capsule) error {
	r.Commands.SetCapsule(s, c)
	return nil
}

func (r recordedShape) SetSegment(s physics.Shape, c physics.Segment) error {
	r.Commands.SetSegment(s, c)
	return nil
}

func (r recordedShape) SetPolygon(s physics.Shape, c physics.Polygon) error {
	r.Commands.SetPolygon(s, c)
	return nil
}

func (w *randomWorld) create() error {
	b, err := w.CreateBody(w.bodyDef())
	if err != nil {
		return err
	}
	keep(w, &w.bodies, b)
	for range w.pick(30) + 1 {
		if w.addShape(b, w.direct()) == nil && w.one(2) {
			break
		}
	}
	return nil
}

func (w *randomWorld) chain() error {
	d := physics.ChainDef{Shape: w.shapeDef(), Loop: w.one(3)}
	d.Shape.Sensor, d.Shape.OneWay = w.one(20), [2]float32{}
	at := w.vector(6)
	for i := range 3 + w.pick(8) {
		d.Points = append(d.Points, [2]float32{at[0] - float32(i)*w.float(0.5, 2), at[1] + w.any(-1, 1)})
	}
	if n := len(d.Points); w.one(2) {
		d.Materials = make([]physics.SurfaceMaterial, n-3)
		for i := range d.Materials {
			d.Materials[i] = physics.SurfaceMaterial{Friction: w.any(0, 1), UserMaterial: uint64(w.pick(3))}
		}
	}
	c, err := w.CreateChain(w.body(), d)
	if err == nil {
		keep(w, &w.chains, c)
		keep(w, &w.shapes, must[[]physics.Shape](w.t)(w.AppendChainShapes(nil, c))[0])
	}
	return err
}

func (w *randomWorld) jointDef(a, b physics.Body) physics.JointDef {
	d := common(a, b)
	d.FrameA, d.FrameB = at(w.any(-1, 1), w.any(-1, 1), w.any(-3, 3)), at(w.any(-1, 1), w.any(-1, 1), w.any(-3, 3))
	d.CollideConnected = w.one(2)
	if w.one(4) {
		d.BreakForce, d.BreakTorque = w.any(0, 300), w.any(0, 100)
	}
	if w.one(3) {
		d.ForceThreshold, d.TorqueThreshold = w.any(0, 60), w.any(0, 20)
	}
	if w.one(3) {
		d.ConstraintHertz, d.ConstraintDamping = w.any(0, 70), w.any(0, 6)
	}
	return d
}

func (w *randomWorld) tie() error {
	if w.calm() && !w.one(4) {
		return nil
	}
	j, err := jointMakers[w.pick(len(jointMakers))].create(w.World, w.jointDef(w.body(), w.body()))
	if err == nil {
		keep(w, &w.joints, j)
	}
	return err
}

// drive makes a joint that drives a body at a velocity, or a spring with a range of force.
func (w *randomWorld) drive() error {
	if w.calm() {
		return nil
	}
	d := w.jointDef(w.body(), w.body())
	var j physics.Joint
	var err error
	if w.one(2) {
		j, err = w.CreateMotorJoint(physics.MotorJointDef{JointDef: d, LinearVelocity: w.anyVector(3), MaxVelocityForce: w.any(0, 40)})
	} else {
		j, err = w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, Length: w.any(0, 3), EnableSpring: true, Hertz: w.any(0, 9),
			LowerSpringForce: w.any(-20, 0), UpperSpringForce: w.any(0, 9)})
	}
	if err == nil {
		keep(w, &w.joints, j)
	}
	return err
}

func (w *randomWorld) materialPair() physics.MaterialPair {
	return physics.MaterialPair{A: uint64(w.pick(3)), B: uint64(w.pick(3)), Friction: w.any(0, 2), Restitution: w.any(0, 1)}
}

func (w *randomWorld) explosion() physics.ExplosionDef {
	return physics.ExplosionDef{
		Position: w.anyVector(8), Radius: w.any(0, 3), Falloff: w.any(0, 4), ImpulsePerLength: w.any(-3, 10), Mask: ^uint64(0), Span: w.span(),
	}
}

// garble writes random values to the columns that a program may write to.
func (w *randomWorld) garble() error {
	b := w.body()
	if !w.Valid(b) {
		return nil
	}
	c, i := w.Columns(), b.Index()
	columns := [][]float32{
		c.X, c.Y, c.ForceX, c.ForceY, c.Torque, c.LinearDamping, c.AngularDamping, c.GravityScale, c.VX, c.VY, c.W, c.Angle, c.Cos, c.Sin,
	}
	k := w.pick(len(columns))
	v := w.float(-5, 5)
	if w.one(4) {
		v = garbage[w.pick(len(garbage))]
	}
	switch {
	case k >= 8 && k < 11 && c.Type[i] == physics.StaticBody:
	case k < 11:
		columns[k][i] = v
	case w.one(2):
		c.Angle[i], c.Cos[i], c.Sin[i] = math.Pi/2, 0, 1
	default:
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
		v := w.float(-8, 8)
		if w.one(8) {
			v = garbage[w.pick(len(garbage))]
		}
		columns[w.pick(7)][w.pick(randomSlots)] = v
	}
	err := w.Pull(w.entities)
	if err != nil {
		w.synced()
	}
	return err
}

// synced calls Sync, which makes the entities valid again.
func (w *randomWorld) synced() {
	if err := w.Sync(w.entities); err != nil {
		w.t.Fatal(err)
	}
}

// record fills a list with commands.
func (w *randomWorld) record(c *physics.Commands) {
	var unborn []physics.Body
	for range 1 + w.pick(6) {
		b, other := w.body(), w.body()
		if len(unborn) > 0 && w.one(2) {
			b = unborn[w.pick(len(unborn))]
		}
		switch w.pick(24) {
		case 0, 1:
			unborn = append(unborn, c.CreateBody(w.bodyDef()))
		case 2, 3:
			_ = w.addShape(b, recorder(c))
		case 4:
			c.DestroyBody(b)
		case 5:
			c.DestroyShape(w.shape())
		case 6:
			c.SetVelocity(b, w.anyVector(6), w.any(-4, 4))
		case 7:
			c.SetTransform(b, w.anyVector(9), w.any(-4, 4))
		case 8:
			c.ApplyLinearImpulse(b, w.anyVector(6), w.anyVector(9))
		case 9:
			c.ApplyForce(b, w.anyVector(60), w.anyVector(9))
		case 10:
			c.ApplyTorque(b, w.any(-9, 9))
		case 11:
			c.Disable(b)
		case 12:
			c.Enable(b)
		case 13:
			jointMakers[w.pick(len(jointMakers))].record(c, w.jointDef(b, other))
		case 14:
			c.DestroyJoint(w.joint())
		case 15:
			c.IgnorePair(b, other)
		case 16:
			c.UnignorePair(b, other)
		case 17:
			c.Explode(w.explosion())
		case 18:
			def := w.jointDef(b, other)
			c.SetJointDef(w.joint(), &def)
		case 19:
			_ = w.reshape(w.shape(), recordedShape{c})
		case 20:
			c.SetSpan(b, w.span())
		case 21:
			c.ShiftOrigin([2]float32{0, 2 * physics.OriginUnit})
			c.ShiftOrigin([2]float32{0, -2 * physics.OriginUnit})
		case 22:
			if w.one(2) {
				c.EnableSleeping(w.one(2) || w.calm())
			} else {
				c.EnableContinuous(w.one(2))
			}
		case 23:
			if p := w.materialPair(); w.one(3) {
				c.RemoveMaterialPair(p.A, p.B)
			} else {
				c.SetMaterialPair(p)
			}
		}
	}
}

// commanded applies one to three lists.
func (w *randomWorld) commanded() error {
	var lists []*physics.Commands
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
	{"shape", func(w *randomWorld) error { return w.addShape(w.body(), w.direct()) }},
	{"chain", (*randomWorld).chain},
	{"tie", (*randomWorld).tie},
	{"tie again", (*randomWorld).tie},
	{"garble", (*randomWorld).garble},
	{"strew", (*randomWorld).strew},
	{"commands", (*randomWorld).commanded},
	{"more commands", (*randomWorld).commanded},
	{"destroy body", func(w *randomWorld) error { return w.DestroyBody(w.body()) }},
	{"destroy shape", func(w *randomWorld) error { return w.DestroyShape(w.shape()) }},
	{"destroy joint", func(w *randomWorld) error { return w.DestroyJoint(w.joint()) }},
	{"destroy chain", func(w *randomWorld) error {
		if len(w.chains) == 0 || !w.one(3) {
			return nil
		}
		return w.DestroyChain(w.chains[w.pick(len(w.chains))])
	}},
	{"impulse", func(w *randomWorld) error { return w.ApplyLinearImpulse(w.body(), w.anyVector(5), w.anyVector(9)) }},
	{"turn", func(w *randomWorld) error { return w.ApplyAngularImpulse(w.body(), w.any(-3, 3)) }},
	{"force", func(w *randomWorld) error { return w.ApplyForce(w.body(), w.anyVector(50), w.anyVector(9)) }},
	{"torque", func(w *randomWorld) error { return w.ApplyTorque(w.body(), w.any(-9, 9)) }},
	{"velocity", func(w *randomWorld) error { return w.SetVelocity(w.body(), w.anyVector(9), w.any(-6, 6)) }},
	{"teleport", func(w *randomWorld) error { return w.SetTransform(w.body(), w.anyVector(9), w.any(-4, 4)) }},
	{"target", func(w *randomWorld) error {
		return w.SetTargetTransform(w.body(), w.anyVector(9), w.any(-4, 4), w.any(0.01, 0.1))
	}},
	{"type", func(w *randomWorld) error { return w.SetType(w.body(), physics.BodyType(w.pick(3))) }},
	{"mass", func(w *randomWorld) error {
		return w.SetMassData(w.body(), physics.MassData{Mass: w.any(0.1, 5), Inertia: w.any(0, 5), Center: w.anyVector(1)})
	}},
	{"own mass", func(w *randomWorld) error { return w.ResetMassData(w.body()) }},
	{"locks", func(w *randomWorld) error {
		return w.SetMotionLocks(w.body(), physics.MotionLocks{X: w.one(3), Y: w.one(3), Rotation: w.one(3)})
	}},
	{"sleep of a body", func(w *randomWorld) error { return w.EnableSleep(w.body(), w.one(2)) }},
	{"bullet", func(w *randomWorld) error { return w.SetBullet(w.body(), w.one(2)) }},
	{"material", func(w *randomWorld) error { return w.SetShapeDef(w.shape(), w.shapeDef()) }},
	{"geometry", func(w *randomWorld) error { return w.reshape(w.shape(), w) }},
	{"gravity", func(w *randomWorld) error {
		if w.calm() || !w.one(4) {
			return w.SetGravity([2]float32{0, -10})
		}
		return w.SetGravity(w.anyVector(10))
	}},
	{"tuning", func(w *randomWorld) error {
		if !w.one(3) {
			return w.SetTuning(physics.Tuning{})
		}
		return w.SetTuning(physics.Tuning{ContactHertz: w.any(0, 60), ContactDamping: w.any(0, 20), PushSpeed: w.any(0, 5),
			RestitutionThreshold: w.any(0, 2), MaxSpeed: w.any(0, 500), HitSpeed: w.any(0, 2)})
	}},
	{"sleeping", func(w *randomWorld) error { return w.EnableSleeping(w.one(2) || w.calm() && !w.one(4)) }},
	{"continuous", func(w *randomWorld) error { return w.EnableContinuous(w.one(2)) }},
	{"workers", func(w *randomWorld) error { return w.SetWorkers(w.pick(5)) }},
	{"material pair", func(w *randomWorld) error { return w.SetMaterialPair(w.materialPair()) }},
	{"no material pair", func(w *randomWorld) error { return w.RemoveMaterialPair(uint64(w.pick(3)), uint64(w.pick(3))) }},
	{"chain material", func(w *randomWorld) error {
		if len(w.chains) == 0 {
			return nil
		}
		return w.SetChainMaterial(w.chains[w.pick(len(w.chains))], w.pick(8), physics.SurfaceMaterial{Friction: w.any(0, 1),
			Restitution: w.any(0, 1), UserMaterial: uint64(w.pick(3))})
	}},
	{"ignore", func(w *randomWorld) error { return w.IgnorePair(w.body(), w.body()) }},
	{"heed", func(w *randomWorld) error { return w.UnignorePair(w.body(), w.body()) }},
	{"span", func(w *randomWorld) error { return w.SetSpan(w.body(), w.span()) }},
	{"explode", func(w *randomWorld) error { return w.Explode(w.explosion()) }},
	{"wind", func(w *randomWorld) error {
		return w.ApplyWind(physics.WindDef{
			Wind: w.anyVector(10), Drag: w.any(0, 2), Lift: w.any(0, 1), MaxSpeed: w.any(0, 20), Mask: ^uint64(0), Wake: w.one(2), Span: w.span(),
		})
	}},
	{"disable", func(w *randomWorld) error { return w.Disable(w.body()) }},
	{"enable", func(w *randomWorld) error { return w.Enable(w.body()) }},
	{"awake", func(w *randomWorld) error { return w.SetAwake(w.body(), w.one(3)) }},
	{"asleep", func(w *randomWorld) error { return w.SetAwake(w.body(), false) }},
	{"threshold", func(w *randomWorld) error { return w.SetSleepThreshold(w.body(), w.any(0, 1)) }},
	{"motor", func(w *randomWorld) error { return w.SetMotorSpeed(w.joint(), w.any(-5, 5)) }},
	{"mouse", func(w *randomWorld) error { return w.SetMouseTarget(w.joint(), w.anyVector(8)) }},
	{"redefine", func(w *randomWorld) error {
		j := w.joint()
		a, b, err := w.JointBodies(j)
		if err != nil {
			return err
		}
		kind, _ := w.JointKind(j)
		for _, m := range jointMakers {
			if m.kind == kind {
				return m.set(w.World, j, w.jointDef(a, b))
			}
		}
		return nil
	}},
	{"drive", (*randomWorld).drive},
	{"tune", func(w *randomWorld) error {
		def := w.jointDef(w.body(), w.body())
		return w.SetJointDef(w.joint(), &def)
	}},
	{"shift", func(w *randomWorld) error {
		offset := [2]float32{float32(w.Origin()[0]), float32(w.Origin()[1])} // back
		if offset == [2]float32{} && w.one(4) {
			return w.ShiftOrigin([2]float32{w.any(-2, 2), w.any(-2, 2)}) // refused
		} else if offset == [2]float32{} {
			offset = [2]float32{float32(w.pick(3)-1) * physics.OriginUnit, -64 * physics.OriginUnit}
		}
		return w.ShiftOrigin([2]float32{-offset[0], -offset[1]})
	}},
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
	case n < 55:
		return 0
	}
	return w.pick(3)
}

// gather brings back bodies that have left the tub.
func (w *randomWorld) gather() {
	w.t.Helper()
	c := w.Columns()
	for i := range min(w.Rows(), randomBodies) {
		x, y := c.X[i], c.Y[i]
		if b, ok := w.BodyAt(i); ok && (y < -1 || y > 18 || x < -12 || x > 12) {
			if err := w.SetTransform(b, [2]float32{w.float(-9, 9), w.float(1, 9)}, 1); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// duration returns the length of a step, which is rarely unusual or invalid.
func (w *randomWorld) duration() float32 {
	if w.calm() || !w.one(12) {
		return dt
	}
	return [...]float32{1. / 30, 1. / 240, 0.2, 1e-6, 1000, 0, -1, float32(math.NaN()), 1e9}[w.pick(9)]
}

func (w *randomWorld) step() {
	w.t.Helper()
	if !w.one(5) {
		w.gather()
	}
	for {
		var lists []*physics.Commands
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

// restored continues in a new world every 17 ticks.
func restored(r *randomRun, tick int) {
	if tick%17 != 3 {
		return
	}
	t, old := r.w.t, r.w.World
	data := must[[]byte](t)(old.Snapshot(nil))
	w := newWorld(t, old.Config())
	if err := w.Restore(data); err != nil {
		t.Fatalf("seed %d, tick %d: %v", r.w.seed, tick, err)
	}
	if again := must[[]byte](t)(w.Snapshot(nil)); !bytes.Equal(again, data) {
		t.Errorf("seed %d, tick %d: another snapshot than it was restored from", r.w.seed, tick)
	}
	sameState(t, fmt.Sprintf("seed %d, tick %d, restored", r.w.seed, tick), old, w)
	r.w.World = w
}

// copied continues in a copy every 13 ticks.
func copied() func(r *randomRun, tick int) {
	var spare *physics.World
	return func(r *randomRun, tick int) {
		if tick%13 != 5 {
			return
		}
		t, old := r.w.t, r.w.World
		if spare == nil {
			spare = must[*physics.World](t)(old.Clone())
		} else if err := spare.CopyFrom(old); err != nil {
			t.Fatal(err)
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
	data := must[[]byte](t)(w.Snapshot(nil))
	kept := &randomWorld{entities: physics.Transforms{}}
	*kept = *w
	kept.bodies, kept.shapes = append([]physics.Body(nil), w.bodies...), append([]physics.Shape(nil), w.shapes...)
	kept.chains, kept.joints = append([]physics.Chain(nil), w.chains...), append([]physics.Joint(nil), w.joints...)
	f := func(v []float32) []float32 { return append([]float32(nil), v...) }
	e := &w.entities
	kept.entities = physics.Transforms{X: f(e.X), Y: f(e.Y), Z: f(e.Z), QX: f(e.QX), QY: f(e.QY), QZ: f(e.QZ), QW: f(e.QW)}
	for range 5 {
		for range 3 {
			w.act()
		}
		w.step()
	}
	if err := w.Restore(data); err != nil {
		t.Fatal(err)
	}
	w.as(kept)
}

func randomRuns(t testing.TB, seed uint64, ops []byte) (runs []*randomRun) {
	c := randomConfig(seed)
	add := func(name string, level native.Level, workers int, again func(*randomRun, int)) {
		c.Level, c.Workers = level, workers
		runs = append(runs, &randomRun{name, newRandomWorld(t, c, seed, ops), again})
	}
	for i, level := range native.Levels() {
		add(level.String(), level, 1, nil)
		workers := 2 + 5*int(seed%2)
		if i == 0 {
			workers = 7
		}
		add(fmt.Sprintf("%v with %d workers", level, workers), level, workers, nil)
	}
	add("restored", native.Auto, 2, restored)
	add("copied", native.Auto, 1, copied())
	add("rewound", native.Auto, 1, rewound)
	return runs
}

// runRandom runs all ways, and compares them.
func runRandom(t testing.TB, seed uint64, ops []byte, ticks int) {
	t.Helper()
	runs := randomRuns(t, seed, ops)
	base := runs[0].w
	base.strict = true
	keepPicture(t, base.World)
	for tick := range ticks {
		done := ""
		for _, r := range runs {
			if r.again != nil {
				r.again(r, tick)
			}
			n := r.w.acts(tick)
			names := ""
			for k := range n {
				if r.again != nil && k == 1 {
					r.again(r, tick+1)
				}
				names += r.w.act() + ", "
			}
			if r.w != base {
				if names != done {
					t.Fatalf("seed %d, tick %d: %s does %s and not %s", seed, tick, r.name, names, done)
				}
				sameState(t, fmt.Sprintf("seed %d, tick %d, before the step (%s): %s", seed, tick, done, r.name), base.World, r.w.World)
			} else {
				done = names
			}
		}
		for _, r := range runs {
			r.w.step()
			if r.w != base {
				sameState(t, fmt.Sprintf("seed %d, tick %d (%s): %s", seed, tick, done, r.name), base.World, r.w.World)
				sameNews(t, fmt.Sprintf("seed %d, tick %d (%s): %s", seed, tick, done, r.name), *base.Events(), *r.w.Events(), r.again != nil)
				if r.again == nil && !bytes.Equal(base.AppendEvents(nil), r.w.AppendEvents(nil)) {
					t.Fatalf("seed %d, tick %d (%s): %s: other bytes of events", seed, tick, done, r.name)
				}
			}
		}
		base.soundness(tick)
		base.rays(tick, runs)
		if t.Failed() {
			t.FailNow()
		}
	}
}

func sameNews(t testing.TB, what string, a, b physics.Events, apart bool) {
	t.Helper()
	if apart { // a restored world has no earlier events
		a.Woke, a.Slept, a.Disabled, b.Woke, b.Slept, b.Disabled = nil, nil, nil, nil, nil, nil
	}
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		t.Fatalf("%s: events\n%s\nwant\n%s", what, y, x)
	}
}

// speedLimits fails the test if a dynamic body is faster than MaxSpeed.
func speedLimits(t testing.TB, what string, w *physics.World) {
	t.Helper()
	c, limit := w.Columns(), float64(w.Tuning().MaxSpeed)
	for i := range w.Rows() {
		v := math.Hypot(float64(c.VX[i]), float64(c.VY[i]))
		if c.Type[i] == physics.DynamicBody && v > limit*(1+1e-6)+1e-18 {
			t.Errorf("%s: body %d has %g m/s, at most %g", what, i, v, limit)
		}
	}
}

// oneNaN fails the test if an event has a NaN with other bits than those of the one that is recorded.
func oneNaN(t testing.TB, what string, e *physics.Events) (nans int) {
	t.Helper()
	check := func(values ...float32) {
		for _, v := range values {
			if v == v {
				continue
			}
			if nans++; math.Float32bits(v) != 0x7fc00000 {
				t.Errorf("%s: a NaN with the bits %#x in %+v", what, math.Float32bits(v), e)
			}
		}
	}
	for _, h := range e.Hit {
		check(h.Point[0], h.Point[1], h.Normal[0], h.Normal[1], h.Speed)
	}
	for _, d := range e.Disabled {
		check(d.Value)
	}
	for _, b := range e.Broken {
		check(b.Force[0], b.Force[1], b.Torque)
	}
	for _, l := range e.JointLoads {
		check(l.Force[0], l.Force[1], l.Torque)
	}
	return nans
}

// soundness checks what must hold after any step.
func (w *randomWorld) soundness(tick int) {
	w.t.Helper()
	sound(w.t, w.World, tick)
	c := w.Columns()
	live, awake := 0, 0
	for i := range w.Rows() {
		b, ok := w.BodyAt(i)
		if ok != (c.Alive[i] == 1) || ok != w.Valid(b) {
			w.t.Errorf("seed %d, tick %d: body %d: %v", w.seed, tick, i, ok)
		}
		if !ok {
			continue
		}
		live++
		if w.Awake(b) {
			awake++
		}
		if c.Flags[i]&physics.FlagAsleep != 0 && (c.VX[i] != 0 || c.VY[i] != 0 || c.W[i] != 0) {
			w.t.Errorf("seed %d, tick %d: body %d moves in its sleep", w.seed, tick, i)
		}
	}
	if live != w.Len() || awake != w.AwakeCount() {
		w.t.Errorf("seed %d, tick %d: %d live, %d awake; Len %d, AwakeCount %d", w.seed, tick, live, awake, w.Len(), w.AwakeCount())
	}
	w.news(tick)
	oneNaN(w.t, fmt.Sprintf("seed %d, tick %d", w.seed, tick), w.Events())
	speedLimits(w.t, fmt.Sprintf("seed %d, tick %d", w.seed, tick), w.World)
}

// news checks the events of a step.
func (w *randomWorld) news(tick int) {
	w.t.Helper()
	e := w.Events()
	bad := func(what string, v any) {
		w.t.Helper()
		w.t.Errorf("seed %d, tick %d: %s: %v", w.seed, tick, what, v)
	}
	for _, touch := range e.Begin {
		if !w.ValidShape(touch.A) || !w.ValidShape(touch.B) {
			bad("begin to touch", touch)
		}
	}
	for _, hit := range e.Hit {
		if !w.ValidShape(hit.A) || !w.ValidShape(hit.B) || !(hit.Speed >= 0) {
			bad("hit", hit)
		}
	}
	for _, list := range [][]uint32{e.Moved, e.Slept, e.Woke} {
		for i, k := range list {
			if _, ok := w.BodyAt(int(k)); !ok || i > 0 && k <= list[i-1] {
				bad("moved, slept or woke", list)
			}
		}
	}
	for _, broken := range e.Broken {
		if w.ValidJoint(broken.Joint) {
			bad("broken and there", broken)
		}
	}
	for i, l := range e.JointLoads {
		if !w.ValidJoint(l.Joint) || i > 0 && l.Joint.Index() <= e.JointLoads[i-1].Joint.Index() {
			bad("loads", e.JointLoads)
		}
	}
	for i, d := range e.Disabled {
		if !w.Disabled(d.Body) || i > 0 && d.Body.Index() < e.Disabled[i-1].Body.Index() {
			bad("disabled", e.Disabled)
		}
	}
}

// rays compares the hits of rays with brute force, and between all worlds.
func (w *randomWorld) rays(tick int, runs []*randomRun) {
	w.t.Helper()
	if tick%8 != 0 {
		return
	}
	rng := rand.New(rand.NewPCG(w.seed, uint64(tick)))
	f := func() float32 { return float32(24*rng.Float64() - 12) }
	q := &physics.Rays{}
	for range 24 {
		q.X, q.Y, q.DX, q.DY = append(q.X, f()), append(q.Y, f()), append(q.DX, f()), append(q.DY, f())
	}
	q.Sensors = tick%16 == 0
	var want, all physics.RayHits
	for i, r := range runs {
		var got, row physics.RayHits
		if err := r.w.RayClosest(q, &got); err != nil {
			w.t.Fatal(err)
		}
		if err := r.w.RayAll(q, &row); err != nil {
			w.t.Fatal(err)
		}
		if i == 0 {
			want, all = got, row
		} else if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(row, all) {
			w.t.Fatalf("seed %d, tick %d: rays of %s", w.seed, tick, r.name)
		}
	}
	for i := range q.X {
		first := physics.Shape{}
		if lo := all.Offsets[i]; lo < all.Offsets[i+1] {
			first = all.Shapes[lo]
		}
		if want.Shapes[i] != first {
			w.t.Errorf("seed %d, tick %d: ray %d meets %v, first of all %v", w.seed, tick, i, want.Shapes[i], first)
		}
	}
	for _, r := range runs[1:] {
		w.sameContacts(tick, r)
	}
	brute := must[[]physics.Shape](w.t)(physics.RaysByForce(w.World, q))
	if !reflect.DeepEqual(brute, want.Shapes) {
		w.t.Errorf("seed %d, tick %d: rays meet %v, by brute force %v", w.seed, tick, want.Shapes, brute)
	}
}

// sameContacts compares the contacts and overlaps of two runs, except for total impulses, which a restored world lacks.
func (w *randomWorld) sameContacts(tick int, r *randomRun) {
	w.t.Helper()
	read := func(w *physics.World) (all []physics.ContactData, inside []physics.Shape) {
		for i := range min(w.Rows(), randomBodies) {
			b, ok := w.BodyAt(i)
			if !ok {
				continue
			}
			all = must[[]physics.ContactData](r.w.t)(w.AppendContactData(all, b))
			for _, s := range must[[]physics.Shape](r.w.t)(w.AppendShapes(nil, b)) {
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
	all, inside := read(w.World)
	got, gotInside := read(r.w.World)
	if !slices.Equal(got, all) || !slices.Equal(gotInside, inside) {
		w.t.Fatalf("seed %d, tick %d: %s: contacts\n%v\n%v\nwant\n%v\n%v", w.seed, tick, r.name, got, gotInside, all, inside)
	}
}

// After any calls a world is the same on every level, with any number of workers, restored and
// copied; a refused call changes nothing, and no step leaves a value that is not finite.
func TestRandomCommands(t *testing.T) {
	seeds, ticks := uint64(8), 96
	if paritytest.Instrumented {
		seeds, ticks = 2, 48
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runRandom(t, seed, nil, ticks) })
	}
}

// A world accepts its own snapshot after each call, refused or not, and stays as it is.
func TestOwnSnapshotAfterEachCommand(t *testing.T) {
	seeds, ticks, calls := uint64(6), 60, 0
	if testing.Short() {
		seeds = 3
	}
	first := paritytest.Seed() % heaped
	for seed := first; seed < first+seeds; seed++ {
		w := newRandomWorld(t, randomConfig(seed%heaped), seed%heaped, nil)
		for tick := range ticks {
			for range 1 + w.pick(4) {
				name := w.act()
				before := w.Hash()
				if err := w.Restore(must[[]byte](t)(w.Snapshot(nil))); err != nil {
					t.Fatalf("seed %d, tick %d: after %s: %v", seed, tick, name, err)
				}
				if w.Hash() != before {
					t.Fatalf("seed %d, tick %d: after %s: a snapshot of another world", seed, tick, name)
				}
				calls++
			}
			w.step()
		}
	}
	if calls < int(seeds)*ticks {
		t.Errorf("%d calls", calls)
	}
}

// The same holds where there is work for several workers.
func TestRandomCommandsHeap(t *testing.T) {
	if testing.Short() || paritytest.Instrumented {
		t.Skip("takes long")
	}
	runRandom(t, heaped+1, nil, 12)
}

func FuzzRandomCommands(f *testing.F) {
	f.Add(uint64(1), []byte("anything"))
	f.Add(uint64(5), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 40, 39, 38, 37, 36, 35, 34, 33, 32})
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		runRandom(t, seed%heaped, ops[:min(len(ops), 200)], min(8+len(ops)/3, 60))
	})
}
