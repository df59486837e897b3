package proof

import (
	"math"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// The room contains, from left to right: a pit with rubble, dolls, a bridge, a stack
// that falls asleep, machines, and a cart.
const (
	planks        = 10
	stackRows     = 6
	dolls         = 5
	rubble        = 40
	ropeLinks     = 6
	categorySolid = 1
	categoryDoll  = 2
)

// props are the bodies and joints that systems use later.
type props struct {
	room, rotor, lift physics.Body
	cart              [2]physics.Joint
	piston, crane     physics.Joint
	dragged           physics.Body
	pair              [2]physics.Body // welded until the joint breaks
	stack             []ecs.ID
}

// Functions that build record their first error in s.buildErr, as a bufio.Writer does: so their code needs no
// check after every call. built returns and clears the error.
func (s *Scene) keep(err error) {
	if s.buildErr == nil {
		s.buildErr = err
	}
}

func (s *Scene) built() error {
	err := s.buildErr
	s.buildErr = nil
	return err
}

func (s *Scene) joint(j physics.Joint, err error) physics.Joint {
	s.keep(err)
	return j
}

func (s *Scene) shape(_ physics.Shape, err error) { s.keep(err) }

// buildProps makes all bodies.
func (s *Scene) buildProps() error {
	for _, build := range []func(){
		s.buildRoom, s.buildPlatforms, s.buildBridge, s.buildStack, s.buildRope, s.buildCart,
		s.buildMachines, s.buildPair, s.scatterRubble,
	} {
		build()
	}
	for i := range dolls {
		s.keep(s.buildDoll(i, float32(4*i-28), 9))
	}
	s.keep(s.placeWalkers())
	return s.built()
}

// fixedBody is a body without an entity.
func (s *Scene) fixedBody(t physics.BodyType, x, y float32) physics.Body {
	def := physics.DefaultBodyDef()
	def.Type, def.Position = t, [2]float32{x, y}
	b, err := s.Sim.Physics.CreateBody(def)
	s.keep(err)
	return b
}

// body is a dynamic body with an entity.
func (s *Scene) body(k kind, def physics.BodyDef) (ecs.ID, physics.Body) {
	def.Type = physics.DynamicBody
	id, err := s.spawn(k, def.Position[0], def.Position[1], 0)
	s.keep(err)
	s.tags.body.Set(id)
	b, err := s.Sim.CreateBody(id, def)
	s.keep(err)
	return id, b
}

// box is a dynamic body of one box.
func (s *Scene) box(x, y, hx, hy float32, shape physics.ShapeDef) (ecs.ID, physics.Body) {
	def := physics.DefaultBodyDef()
	def.Position = [2]float32{x, y}
	id, b := s.body(part, def)
	s.shape(s.Sim.Physics.CreatePolygon(b, shape, physics.Box(hx, hy)))
	return id, b
}

func (s *Scene) disc(x, y, radius float32, shape physics.ShapeDef) physics.Body {
	def := physics.DefaultBodyDef()
	def.Position, def.AngularDamping = [2]float32{x, y}, 0.2
	_, b := s.body(part, def)
	s.shape(s.Sim.Physics.CreateCircle(b, shape, physics.Circle{Radius: radius}))
	return b
}

// buildRoom makes a cave of one chain, its floor uneven except in the middle, with a belt and a
// sensor in it.
func (s *Scene) buildRoom() {
	w := s.Sim.Physics
	room := s.fixedBody(physics.StaticBody, 0, 0)
	s.props.room = room
	def := physics.ChainDef{Loop: true, Shape: physics.DefaultShapeDef()}
	def.Shape.Friction, def.Shape.RollingResistance = 0.5, 0.02
	def.Points = [][2]float32{{-roomX, roomY}, {roomX, roomY}, {roomX, 4}}
	for x := float32(roomX - 2); x > -roomX; x -= 2 {
		r := s.random(uint64(x+roomX), streamPlace)
		y := r.Range(0, 1.2)
		if x > -10 && x < 14 {
			y = 0
		}
		def.Points = append(def.Points, [2]float32{x, y})
	}
	def.Points = append(def.Points, [2]float32{-roomX, 4})
	_, err := w.CreateChain(room, def)
	s.keep(err)
	belt := physics.DefaultShapeDef()
	belt.TangentSpeed = 2
	s.shape(w.CreateCapsule(room, belt, physics.Capsule{P1: [2]float32{24, 3}, P2: [2]float32{32, 4}, Radius: 0.2}))
	sensor := physics.DefaultShapeDef()
	sensor.Sensor = true
	zone := physics.Box(6, 2)
	for i := range zone.Count {
		zone.Vertices[i][1] += 3
	}
	s.shape(w.CreatePolygon(room, sensor, zone))
}

func (s *Scene) buildPlatforms() {
	for i := range 4 {
		b := s.fixedBody(physics.StaticBody, float32(16*i-30), float32(5+2*(i%2)))
		shape := physics.DefaultShapeDef()
		shape.OneWay = [2]float32{0, 1}
		s.shape(s.Sim.Physics.CreatePolygon(b, shape, physics.Box(3, 0.15)))
	}
}

func (s *Scene) hinge(a, b physics.Body, atA, atB [2]float32, limit float32) {
	def := physics.DefaultRevoluteJointDef()
	def.BodyA, def.BodyB, def.FrameA.Point, def.FrameB.Point = a, b, atA, atB
	if limit > 0 {
		def.EnableLimit, def.LowerAngle, def.UpperAngle = true, -limit, limit
	}
	s.joint(s.Sim.Physics.CreateRevoluteJoint(def))
}

// buildBridge hangs a bridge between two hooks of the room.
func (s *Scene) buildBridge() {
	last, at := s.props.room, [2]float32{-36, 12}
	shape := physics.DefaultShapeDef()
	shape.Density = 4
	for i := range planks {
		_, b := s.box(float32(-35.5+float32(i)), 12, 0.5, 0.1, shape)
		s.hinge(last, b, at, [2]float32{-0.5, 0}, 0)
		last, at = b, [2]float32{0.5, 0}
	}
	s.hinge(last, s.props.room, at, [2]float32{-36 + planks, 12}, 0)
}

// buildStack makes a pyramid, which falls asleep unless something hits it.
func (s *Scene) buildStack() {
	for row := range stackRows {
		for i := range stackRows - row {
			x := float32(i) - float32(float32(stackRows-row-1)/2)
			id, _ := s.box(x, float32(row)+0.5, 0.5, 0.5, physics.DefaultShapeDef())
			s.props.stack = append(s.props.stack, id)
		}
	}
}

// buildRope hangs discs from the ceiling by springs with limits, and a weight from a rod.
func (s *Scene) buildRope() {
	last, at := s.props.room, [2]float32{-6, roomY}
	for i := range ropeLinks {
		b := s.disc(-6, float32(roomY-1-float32(i)), 0.25, physics.DefaultShapeDef())
		def := physics.DefaultDistanceJointDef()
		def.BodyA, def.BodyB, def.FrameA.Point, def.Length = last, b, at, 1
		def.EnableSpring, def.Hertz, def.Damping, def.MaxSpringForce = i%2 == 0, 3, 0.3, 1e5
		def.EnableLimit, def.MinLength, def.MaxLength = true, 0.6, 1.4
		s.joint(s.Sim.Physics.CreateDistanceJoint(def))
		last, at = b, [2]float32{}
	}
}

// buildCart makes a cart with wheels on springs, one of which drives.
func (s *Scene) buildCart() {
	_, chassis := s.box(20, 3, 1.2, 0.3, physics.DefaultShapeDef())
	grip := physics.DefaultShapeDef()
	grip.Friction = 1.2
	for i, x := range []float32{-0.9, 0.9} {
		wheel := s.disc(20+x, 2.4, 0.4, grip)
		def := physics.DefaultWheelJointDef()
		def.BodyA, def.BodyB, def.FrameA.Point = chassis, wheel, [2]float32{x, -0.6}
		def.Hertz, def.Damping, def.EnableMotor, def.MaxMotorTorque = 4, 0.7, i == 0, 20
		def.EnableLimit, def.LowerTranslation, def.UpperTranslation = true, -0.3, 0.3
		s.props.cart[i] = s.joint(s.Sim.Physics.CreateWheelJoint(def))
	}
}

// buildMachines makes a rotor and a lift, which are kinematic, a piston, a body that a mouse
// drags, one that a motor holds, and two that a filter keeps apart.
func (s *Scene) buildMachines() {
	w, p := s.Sim.Physics, &s.props
	p.rotor = s.fixedBody(physics.KinematicBody, 14, 12)
	for _, arm := range []physics.Polygon{physics.Box(3, 0.2), physics.Box(0.2, 3)} {
		s.shape(w.CreatePolygon(p.rotor, physics.DefaultShapeDef(), arm))
	}
	p.lift = s.fixedBody(physics.KinematicBody, 36, 6)
	s.shape(w.CreatePolygon(p.lift, physics.DefaultShapeDef(), physics.Box(2, 0.2)))
	_, head := s.box(-14, 0.6, 0.8, 0.4, physics.DefaultShapeDef())
	slide := physics.DefaultPrismaticJointDef()
	slide.BodyA, slide.BodyB, slide.FrameA.Point, slide.FrameA.Angle = p.room, head, [2]float32{-14, 0.6}, math.Pi/2
	slide.FrameB.Angle = math.Pi / 2
	slide.EnableLimit, slide.UpperTranslation, slide.EnableMotor, slide.MaxMotorForce = true, 4, true, 400
	p.piston = s.joint(w.CreatePrismaticJoint(slide))
	p.dragged = s.disc(6, 10, 0.5, physics.DefaultShapeDef())
	mouse := physics.DefaultMouseJointDef()
	mouse.BodyA, mouse.BodyB, mouse.Target, mouse.MaxForce = p.room, p.dragged, [2]float32{6, 10}, 200
	p.crane = s.joint(w.CreateMouseJoint(mouse))
	_, held := s.box(-2, 16, 0.6, 0.6, physics.DefaultShapeDef())
	motor := physics.DefaultMotorJointDef()
	motor.BodyA, motor.BodyB, motor.FrameA.Point = p.room, held, [2]float32{-2, 16}
	motor.LinearHertz, motor.AngularHertz, motor.MaxSpringForce, motor.MaxSpringTorque = 2, 1, 300, 100
	motor.AngularVelocity, motor.MaxVelocityTorque = 2, 5
	s.joint(w.CreateMotorJoint(motor))
	filter := physics.DefaultFilterJointDef()
	filter.BodyA, filter.BodyB = held, p.dragged
	s.joint(w.CreateFilterJoint(filter))
}

// buildPair makes two boxes that a weld holds together until it breaks.
func (s *Scene) buildPair() {
	for i := range s.props.pair {
		_, s.props.pair[i] = s.box(float32(8+float32(i)), 6, 0.5, 0.3, physics.DefaultShapeDef())
	}
	s.keep(s.weld())
}

// weld joins the pair as it is placed now.
func (s *Scene) weld() error {
	def := physics.DefaultWeldJointDef()
	def.BodyA, def.BodyB = s.props.pair[0], s.props.pair[1]
	def.FrameA.Point, def.FrameB.Point = [2]float32{0.5, 0}, [2]float32{-0.5, 0}
	def.AngularHertz, def.AngularDamping, def.BreakForce = 5, 0.5, 150
	_, err := s.Sim.Physics.CreateWeldJoint(def)
	return err
}

// limbs of a doll, relative to the centre of its torso, to which each is attached.
var limbs = []struct{ x, y, hx, hy, jointX, jointY float32 }{
	{0, 0, 0.2, 0.4, 0, 0},
	{0, 0.6, 0.15, 0.15, 0, 0.42},
	{-0.45, 0.25, 0.25, 0.08, -0.2, 0.25},
	{0.45, 0.25, 0.25, 0.08, 0.2, 0.25},
	{-0.1, -0.75, 0.09, 0.3, -0.1, -0.4},
	{0.1, -0.75, 0.09, 0.3, 0.1, -0.4},
}

// buildDoll makes doll i, and removes what is left of the old one.
func (s *Scene) buildDoll(i int, x, y float32) error {
	w := s.Sim.World
	s.ids = s.ids[:0]
	for slot := range w.Query(ecs.With(s.tags.doll)) {
		if id, ok := w.ID(slot); ok && s.cols.group[slot] == uint8(i+1) {
			s.ids = append(s.ids, id)
		}
	}
	s.keep(w.DespawnN(s.ids))
	shape := physics.DefaultShapeDef()
	shape.Filter = physics.Filter{Category: categoryDoll, Mask: ^uint64(0), Group: -int32(i) - 1}
	var torso physics.Body
	for k, l := range limbs {
		id, b := s.box(x+l.x, y+l.y, l.hx, l.hy, shape)
		slot, _ := w.Slot(id)
		s.cols.group[slot] = uint8(i + 1)
		s.tags.doll.Set(id)
		if k == 0 {
			torso = b
		} else {
			s.hinge(torso, b, [2]float32{l.jointX, l.jointY}, [2]float32{l.jointX - l.x, l.jointY - l.y}, 0.8)
		}
	}
	return s.built()
}

// scatterRubble drops bodies of all shapes, some of which bounce.
func (s *Scene) scatterRubble() {
	w := s.Sim.Physics
	for i := range rubble {
		r := s.random(uint64(i), streamStir)
		def := physics.DefaultBodyDef()
		def.Position, def.Angle = [2]float32{r.Range(-38, 38), r.Range(14, 22)}, r.Range(-3, 3)
		_, b := s.body(part, def)
		shape := physics.DefaultShapeDef()
		shape.Restitution, shape.Friction = r.Range(0, 0.5), r.Range(0.2, 0.8)
		size := r.Range(0.2, 0.5)
		switch i % 4 {
		case 0:
			s.shape(w.CreateCircle(b, shape, physics.Circle{Radius: size}))
		case 1:
			s.shape(w.CreateCapsule(b, shape, physics.Capsule{P1: [2]float32{-size, 0}, P2: [2]float32{size, 0}, Radius: 0.2}))
		case 2:
			s.shape(w.CreatePolygon(b, shape, physics.Box(size, 0.4)))
		default:
			p, err := physics.NewPolygon([2]float32{-size, -size}, [2]float32{size, -size}, [2]float32{1.2 * size, 0.3}, [2]float32{0, size})
			s.keep(err)
			p.Radius = 0.05
			s.shape(w.CreatePolygon(b, shape, p))
		}
	}
}
