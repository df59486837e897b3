package rigid_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// linked is a heap without contacts, for joints.
func linked() *heap {
	s := newHeap()
	s.pairs = [][2]uint32{}
	return s
}

// tie adds a joint of two bodies at one place of the world, as they are now, with the axis +X of A.
func (s *heap) tie(kind rigid.JointKind, a, b int, x, y float32) *rigid.Joint {
	s.Joints = append(s.Joints, rigid.Joint{
		Kind: kind, A: uint32(a), B: uint32(b), AnchorA: s.local(a, x, y), AnchorB: s.local(b, x, y), Axis: rigid.Vec{X: 1},
		ReferenceAngle: s.Angle[b] - s.Angle[a],
	})
	return &s.Joints[len(s.Joints)-1]
}

// local is a place of the world in the axes of a body.
func (s *heap) local(i int, x, y float32) rigid.Vec {
	p := vec{float64(x - s.Poses.X[i]), float64(y - s.Poses.Y[i])}
	return p.turned(float64(s.Poses.Cos[i]), -float64(s.Poses.Sin[i])).vec32()
}

// place is a place of a body in the world.
func (s *heap) place(i uint32, at rigid.Vec) vec {
	p := vec{float64(at.X), float64(at.Y)}.turned(float64(s.Poses.Cos[i]), float64(s.Poses.Sin[i]))
	return p.plus(vec{float64(s.Poses.X[i]), float64(s.Poses.Y[i])})
}

// gap is anchor B from anchor A.
func (s *heap) gap(j *rigid.Joint) vec { return s.place(j.B, j.AnchorB).minus(s.place(j.A, j.AnchorA)) }

func closeTo(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %g, want %g within %g", what, got, want, tolerance)
	}
}

// period is the time from one upward zero of f to the n-th that follows, by n.
func (s *heap) period(t *testing.T, n int, f func() float64) float64 {
	t.Helper()
	var first, crossed float64
	last := f()
	for step, count := 1, -1; step < 6000; step++ {
		s.advance(native.Auto)
		now := f()
		if last < 0 && now >= 0 {
			crossed = (float64(step) - now/(now-last)) * dt
			if count++; count == 0 {
				first = crossed
			}
			if count == n {
				return (crossed - first) / float64(n)
			}
		}
		last = now
	}
	t.Fatal("does not swing")
	return 0
}

// A pendulum of mass m and inertia I, r from its pivot, swings in 2π·sqrt((I + m·r²)/(m·g·r)) if it
// swings by little, and by the complete elliptic integral K(sin(a/2)) over π/2 longer from a.
func TestPendulumPeriod(t *testing.T) {
	for _, kind := range []rigid.JointKind{rigid.JointPoint, rigid.JointDistance} {
		for _, angle := range []float64{0.05, 1, 2} {
			s := linked()
			s.box(1, 1, 0, 0, 0)
			x, y := 2*math.Sin(angle), -2*math.Cos(angle)
			bob := s.box(0.3, 0.3, float32(x), float32(y), 1)
			s.turn(bob, float32(angle))
			j := s.tie(kind, 0, bob, 0, 0)
			inertia := 0.06 // of a square of half 0.3: 0.3²·2/3
			if kind == rigid.JointDistance {
				j.AnchorB, j.Parts, j.Linear.Target = rigid.Vec{}, rigid.PartSpring, 2
				inertia = 0
			}
			want := 2 * math.Pi * math.Sqrt((inertia+4)/(10*2)) / agm(1, math.Cos(angle/2))
			got := s.period(t, 5, func() float64 { return float64(s.Poses.X[bob]) })
			closeTo(t, "period", got, want, 0.01*want)
		}
	}
}

func agm(a, b float64) float64 {
	for range 10 {
		a, b = (a+b)/2, math.Sqrt(a*b)
	}
	return a
}

// A pendulum keeps its length and loses little of its energy.
func TestRodKeepsItsLength(t *testing.T) {
	for _, kind := range []rigid.JointKind{rigid.JointPoint, rigid.JointDistance} {
		s := linked()
		s.box(1, 1, 0, 0, 0)
		bob := s.disc(0.1, 2, 0, 1)
		j := s.tie(kind, 0, bob, 0, 0)
		if kind == rigid.JointDistance {
			j.AnchorB, j.Parts, j.Linear.Target = rigid.Vec{}, rigid.PartSpring, 2
		}
		worst, highest := 0.0, -2.0
		for step := range 600 {
			s.advance(native.Auto)
			length := math.Hypot(float64(s.Poses.X[bob]), float64(s.Poses.Y[bob]))
			worst = max(worst, math.Abs(length-2))
			if step > 400 {
				highest = max(highest, float64(s.Poses.Y[bob]))
			}
		}
		if worst > 0.002 || highest > 0.01 || highest < -0.1 {
			t.Errorf("kind %d: length is off by up to %g, and it swings up to %g in the end", kind, worst, highest)
		}
	}
}

// A spring of f Hz swings in 1/f, and rests where it carries the weight.
func TestSpringFrequency(t *testing.T) {
	for _, kind := range []rigid.JointKind{rigid.JointDistance, rigid.JointPoint, rigid.JointWheel, rigid.JointPrismatic} {
		s := linked()
		s.Gravity = rigid.Vec{}
		s.box(1, 1, 0, 0, 0)
		bob := s.disc(0.5, 3.2, 0, 1)
		j := s.tie(kind, 0, bob, 3.2, 0)
		j.Parts, j.Linear = rigid.PartSpring, rigid.JointAxis{Target: 3, Hertz: 1.5}
		j.AnchorA = rigid.Vec{}
		if kind == rigid.JointPoint {
			j.AnchorA.X = 3
		}
		got := s.period(t, 4, func() float64 { return float64(s.Poses.X[bob]) - 3 })
		closeTo(t, "period", got, 1/1.5, 0.02)
	}
	s := linked()
	s.Gravity = rigid.Vec{}
	s.box(1, 1, 0, 0, 0)
	wheel := s.disc(0.5, 0, 0, 1)
	j := s.tie(rigid.JointPoint, 0, wheel, 0, 0)
	j.Parts, j.Angular = rigid.PartAngularSpring, rigid.JointAxis{Target: 0.5, Hertz: 1.5}
	closeTo(t, "period of turning", s.period(t, 4, func() float64 { return float64(s.Angle[wheel]) - 0.5 }), 1/1.5, 0.02)
}

// A spring that carries a weight is stretched by g/(2πf)².
func TestSpringUnderWeight(t *testing.T) {
	s := linked()
	s.box(1, 1, 0, 0, 0)
	bob := s.disc(0.5, 0, -2, 1)
	j := s.tie(rigid.JointDistance, 0, bob, 0, -2)
	j.AnchorA = rigid.Vec{}
	j.Parts, j.Linear = rigid.PartSpring, rigid.JointAxis{Target: 2, Hertz: 1, Damping: 0.7}
	s.run(t, 600)
	closeTo(t, "stretched", -float64(s.Poses.Y[bob])-2, 10/math.Pow(2*math.Pi, 2), 1e-3)
	force, torque := s.Joints[0].Reaction(&s.Poses, s.SubStepRate(dt))
	closeTo(t, "force", float64(force.Y), 10/float64(s.Bodies.InvMass[bob]), 0.01)
	closeTo(t, "force across", float64(force.X), 0, 1e-3)
	closeTo(t, "torque", float64(torque), 0, 0)
}

// Limits hold under weight, and on impact.
func TestLimits(t *testing.T) {
	for _, kind := range []rigid.JointKind{rigid.JointDistance, rigid.JointPrismatic, rigid.JointWheel} {
		for _, down := range []float32{-1, 1} {
			s := linked()
			s.Gravity = rigid.Vec{X: -10 * down}
			s.box(1, 1, 0, 0, 0)
			bob := s.disc(0.5, 2, 0, 1)
			j := s.tie(kind, 0, bob, 2, 0)
			j.AnchorA = rigid.Vec{}
			j.Parts, j.Linear = rigid.PartLimits, rigid.JointAxis{Lower: 1, Upper: 3.5}
			lowest, highest := 9.0, 0.0
			for range 300 {
				s.advance(native.Auto)
				lowest, highest = min(lowest, float64(s.Poses.X[bob])), max(highest, float64(s.Poses.X[bob]))
			}
			want := 1.0
			if down < 0 {
				want = 3.5
			}
			closeTo(t, "rests", float64(s.Poses.X[bob]), want, 0.002)
			if lowest < 1-0.005 || highest > 3.5+0.005 {
				t.Errorf("kind %d: between %g and %g", kind, lowest, highest)
			}
			force, _ := s.Joints[0].Reaction(&s.Poses, s.SubStepRate(dt))
			closeTo(t, "force", float64(force.X), float64(10*down/s.Bodies.InvMass[bob]), 0.01)
		}
	}
}

func TestTurnLimits(t *testing.T) {
	for _, w := range []float32{-20, 20, -3, 3} {
		s := linked()
		s.Gravity = rigid.Vec{}
		s.box(1, 1, 0, 0, 0)
		arm := s.box(1, 0.1, 1, 0, 1)
		j := s.tie(rigid.JointPoint, 0, arm, 0, 0)
		j.Parts, j.Angular = rigid.PartAngularLimits, rigid.JointAxis{Lower: -2.5, Upper: 1}
		s.Bodies.W[arm] = w
		s.Bodies.VY[arm] = w
		lowest, highest := 0.0, 0.0
		for range 120 {
			s.Bodies.Torque[arm] = 5 * w
			s.advance(native.Auto)
			lowest, highest = min(lowest, float64(s.Angle[arm])), max(highest, float64(s.Angle[arm]))
		}
		if lowest < -2.5-0.03 || highest > 1+0.03 {
			t.Errorf("at %g rad/s: between %g and %g", w, lowest, highest)
		}
		_, torque := s.Joints[0].Reaction(&s.Poses, s.SubStepRate(dt))
		closeTo(t, "torque", float64(torque), float64(-5*w), math.Abs(0.1*float64(w)))
	}
}

// A motor reaches its speed, with the acceleration that its torque or force gives.
func TestMotors(t *testing.T) {
	s := linked()
	s.Gravity = rigid.Vec{}
	s.box(1, 1, 0, 0, 0)
	wheel := s.disc(0.5, 0, 0, 1)
	j := s.tie(rigid.JointPoint, 0, wheel, 0, 0)
	inertia := 1 / s.Bodies.InvInertia[wheel]
	j.Parts, j.Angular = rigid.PartAngularMotor, rigid.JointAxis{MotorSpeed: 4, MaxMotorForce: 2 * inertia}
	s.run(t, 60)
	closeTo(t, "speed after a second of 2 rad/s²", float64(s.Bodies.W[wheel]), 2, 0.01)
	_, torque := s.Joints[0].Reaction(&s.Poses, s.SubStepRate(dt))
	closeTo(t, "torque", float64(torque), float64(2*inertia), 1e-4)
	s.run(t, 120)
	closeTo(t, "speed", float64(s.Bodies.W[wheel]), 4, 1e-5)

	for _, kind := range []rigid.JointKind{rigid.JointPrismatic, rigid.JointWheel, rigid.JointDistance} {
		s := linked()
		s.Gravity = rigid.Vec{}
		s.box(1, 1, 0, 0, 0)
		sled := s.disc(0.5, 1, 0, 1)
		j := s.tie(kind, 0, sled, 1, 0)
		j.AnchorA = rigid.Vec{}
		mass := 1 / s.Bodies.InvMass[sled]
		j.Parts, j.Linear = rigid.PartMotor, rigid.JointAxis{MotorSpeed: 4, MaxMotorForce: 2 * mass}
		s.run(t, 60)
		closeTo(t, "speed after a second of 2 m/s²", float64(s.Bodies.VX[sled]), 2, 0.01)
		s.run(t, 120)
		closeTo(t, "speed", float64(s.Bodies.VX[sled]), 4, 1e-5)
	}
}

// A beam of welded boxes that sticks out of a wall bends by what the softness of joints gives.
func TestWeldedBeam(t *testing.T) {
	s := linked()
	s.box(1, 1, -1, 0, 0)
	for i := range 8 {
		box := s.box(0.5, 0.25, 0.5+float32(i), 0, 1)
		s.tie(rigid.JointWeld, i, box, float32(i), 0)
	}
	s.run(t, 900)
	sag, angle := s.Poses.Y[8], s.Angle[8]
	if sag < -0.7 || sag > -0.6 || angle < -0.15 || angle > -0.1 {
		t.Errorf("the end is at %g and turned by %g", sag, angle)
	}
	// The wall holds 8 boxes of 0.5 kg, whose centre is 4 m away.
	force, torque := s.Joints[0].Reaction(&s.Poses, s.SubStepRate(dt))
	closeTo(t, "force", float64(force.Y), 8*0.5*10, 1)
	closeTo(t, "torque", float64(torque), 8*0.5*10*4, 4)
}

// A soft weld is a spring of the angle, and of the point.
func TestSoftWeld(t *testing.T) {
	s := linked()
	s.box(1, 1, 0, 0, 0)
	arm := s.box(1, 0.1, 1, 0, 1)
	j := s.tie(rigid.JointPoint, 0, arm, 0, 0)
	j.Parts, j.Angular = rigid.PartAngularSpring, rigid.JointAxis{Hertz: 3, Damping: 1}
	s.run(t, 300)
	if a := s.Angle[arm]; a > -0.01 || a < -0.5 {
		t.Errorf("a soft weld is turned by %g", a)
	}
	closeTo(t, "gap", s.gap(&s.Joints[0]).length(), 0, 1e-3)

	s = linked()
	s.box(1, 1, 0, 0, 0)
	arm = s.box(1, 0.1, 1, 0, 1)
	j = s.tie(rigid.JointPoint, 0, arm, 0, 0)
	j.Parts, j.Linear = rigid.PartSpring|rigid.PartAngularSpring, rigid.JointAxis{Hertz: 2, Damping: 1}
	s.run(t, 300)
	closeTo(t, "turned", float64(s.Angle[arm]), 0, 2e-3)
	closeTo(t, "gap", s.gap(&s.Joints[0]).y, -10/math.Pow(4*math.Pi, 2), 1e-3)
}

// A box on a sloping rail slides along it and nowhere else.
func TestPrismaticSlides(t *testing.T) {
	s := linked()
	s.turn(s.box(1, 1, 0, 0, 0), -0.5)
	box := s.box(0.5, 0.5, 0, 0, 1)
	j := s.tie(rigid.JointPrismatic, 0, box, 0.5, 0.5) // off the centre: weight turns it
	j.AnchorA = s.local(0, 0.5, 0.5)
	s.run(t, 60)
	along := 0.5 * 10 * math.Sin(0.5)
	closeTo(t, "x", float64(s.Poses.X[box]), along*math.Cos(0.5), 0.03)
	closeTo(t, "y", float64(s.Poses.Y[box]), -along*math.Sin(0.5), 0.02)
	closeTo(t, "angle", float64(s.Angle[box]), 0, 2e-3)
	gap := s.gap(&s.Joints[0])
	closeTo(t, "across", gap.x*math.Sin(0.5)+gap.y*math.Cos(0.5), 0, 1e-3)
}

// A wheel under a cart springs, turns freely, and stays below it.
func TestWheelSuspension(t *testing.T) {
	s := linked()
	cart := s.box(1, 0.25, 0, 0, 0)
	s.turn(cart, 0.3)
	at := vec{0, -1}.turned(math.Cos(0.3), math.Sin(0.3))
	wheel := s.disc(0.4, float32(at.x), float32(at.y), 1)
	j := s.tie(rigid.JointWheel, cart, wheel, float32(at.x), float32(at.y))
	j.Axis = rigid.Vec{Y: 1}
	j.Parts = rigid.PartSpring | rigid.PartAngularMotor | rigid.PartLimits
	j.Linear = rigid.JointAxis{Hertz: 4, Damping: 0.7, Lower: -0.3, Upper: 0.3}
	j.Angular = rigid.JointAxis{MotorSpeed: -10, MaxMotorForce: 100}
	s.run(t, 240)
	gap := s.gap(&s.Joints[0]).turned(math.Cos(0.3), -math.Sin(0.3))
	closeTo(t, "across", gap.x, 0, 1e-3)
	closeTo(t, "along", gap.y, -10*math.Cos(0.3)/math.Pow(8*math.Pi, 2), 1e-3)
	closeTo(t, "turns", float64(s.Bodies.W[wheel]), -10, 1e-3)
}

// A body is drawn to a target with no more than the force.
func TestTarget(t *testing.T) {
	s := linked()
	ground := s.box(1, 1, 5, 5, 0)
	box := s.box(0.5, 0.5, 0, 0, 1)
	j := s.tie(rigid.JointPoint, ground, box, 0.5, 0.5)
	j.AnchorA = s.local(ground, 3, 4)
	j.Parts, j.Linear = rigid.PartSpring, rigid.JointAxis{Hertz: 5, Damping: 0.7, MaxSpringForce: 15}
	j.Parts |= rigid.PartAngularMotor // friction
	j.Angular.MaxMotorForce = 4
	for range 600 {
		before := vec{float64(s.Bodies.VX[box]), float64(s.Bodies.VY[box])}
		s.advance(native.Auto)
		after := vec{float64(s.Bodies.VX[box]), float64(s.Bodies.VY[box])}
		if a := after.minus(before).minus(vec{0, -10 * dt}).length() / dt; a > 15.1 {
			t.Fatalf("pulled by %g N", a)
		}
	}
	gap := s.gap(&s.Joints[0])
	closeTo(t, "gap", gap.length(), 10/math.Pow(10*math.Pi, 2), 2e-3)
	force, _ := s.Joints[0].Reaction(&s.Poses, s.SubStepRate(dt))
	closeTo(t, "force", float64(force.Y), 10, 0.05)
}

// A motor joint drives a body to a pose; less force than its weight lets it sink.
func TestMotorJoint(t *testing.T) {
	for _, force := range []float32{9, 40} {
		s := linked()
		s.box(1, 1, 0, 0, 0)
		box := s.box(0.5, 0.5, 0, 0, 1)
		j := s.tie(rigid.JointPoint, 0, box, 0, 0)
		j.AnchorA, j.ReferenceAngle = rigid.Vec{X: 1, Y: 2}, 1
		j.Parts = rigid.PartSpring | rigid.PartAngularSpring
		j.Linear = rigid.JointAxis{Hertz: 6, Damping: 1, MaxSpringForce: force}
		j.Angular = rigid.JointAxis{Hertz: 6, Damping: 1, MaxSpringForce: 5}
		s.run(t, 240)
		if force < 10 {
			if s.Poses.Y[box] > -1 {
				t.Errorf("with %g N a box of 10 N is at %g", force, s.Poses.Y[box])
			}
			continue
		}
		closeTo(t, "x", float64(s.Poses.X[box]), 1, 1e-3)
		closeTo(t, "y", float64(s.Poses.Y[box]), 2-10/math.Pow(12*math.Pi, 2), 1e-3)
		closeTo(t, "angle", float64(s.Angle[box]), 1, 1e-3)
	}
}

// Dragging stops a body as friction does.
func TestDrag(t *testing.T) {
	s := linked()
	s.Gravity = rigid.Vec{}
	s.box(1, 1, 0, 0, 0)
	box := s.box(0.5, 0.5, 0, 0, 1)
	j := s.tie(rigid.JointPoint, 0, box, 0, 0)
	j.Parts, j.Linear = rigid.PartFriction, rigid.JointAxis{MaxSpringForce: 2}
	s.Bodies.VX[box] = 3
	s.run(t, 60)
	closeTo(t, "speed after a second of -2 m/s²", float64(s.Bodies.VX[box]), 1, 0.01)
	s.run(t, 60)
	closeTo(t, "speed", float64(s.Bodies.VX[box]), 0, 1e-5)
	closeTo(t, "way", float64(s.Poses.X[box]), 9./4, 0.02)
}

// Joints between bodies that nothing else holds keep the momentum.
func TestJointsConserveMomentum(t *testing.T) {
	s := linked()
	s.Gravity = rigid.Vec{}
	for i := range 30 {
		box := s.box(0.4, 0.3, float32(i%6), float32(i/6), 1+float32(i%3))
		s.turn(box, float32(i))
		s.Bodies.VX[box], s.Bodies.VY[box], s.Bodies.W[box] = float32(i%5)-2, float32(i%7)-3, float32(i%3)-1
		if i == 0 {
			continue
		}
		j := s.tie(rigid.JointKind(1+i%5), i-1-i%2*(i/2), box, float32(i%6)-0.5, float32(i/6))
		j.Parts = rigid.JointParts(i * 7 % 128)
		if 1+i%5 == int(rigid.JointPoint) || 1+i%5 == int(rigid.JointWeld) {
			j.Parts &^= rigid.PartSpring | rigid.PartFriction // pushes two places
		}
		j.Linear = rigid.JointAxis{Target: 0.2, Hertz: float32(i % 4), Damping: 0.3, MotorSpeed: 1, MaxMotorForce: 3, Lower: -0.2, Upper: 0.6}
		j.Angular = rigid.JointAxis{Target: 0.5, Hertz: float32(i % 3), Damping: 0.3, MotorSpeed: 1, MaxMotorForce: 3, Lower: -0.2, Upper: 1}
	}
	x, y, angular := s.momentum()
	s.run(t, 300)
	x1, y1, angular1 := s.momentum()
	// As in TestMomentumIsConserved; points are pushed at two anchors, which are not quite in one
	// place.
	if math.Abs(x1-x) > 2e-3 || math.Abs(y1-y) > 2e-3 || math.Abs(angular1-angular) > 0.1*math.Abs(angular) {
		t.Errorf("momentum was %g, %g, %g and is %g, %g, %g", x, y, angular, x1, y1, angular1)
	}
}

// A chain holds a ball that weighs a hundred times as much as each link.
func TestChainHoldsHeavyBall(t *testing.T) {
	s := linked()
	s.box(1, 1, 0, 1, 0)
	for i := range 10 {
		link := s.box(0.05, 0.25, 0, -0.25-0.5*float32(i), 20)
		s.tie(rigid.JointPoint, i, link, 0, -0.5*float32(i))
	}
	ball := s.disc(1, 0, -6, 1)
	s.Bodies.InvMass[ball], s.Bodies.InvInertia[ball] = 0.01, 0.02
	s.tie(rigid.JointPoint, 10, ball, 0, -5)
	s.Bodies.VX[ball] = 3
	worst := 0.0
	for range 900 {
		s.advance(native.Auto)
		for i := range s.Joints {
			worst = max(worst, s.gap(&s.Joints[i]).length())
		}
	}
	if worst > 0.04 {
		t.Errorf("anchors part by %g", worst)
	}
	force, _ := s.Joints[0].Reaction(&s.Poses, s.SubStepRate(dt))
	if force.Y < 900 || force.Y > 1300 {
		t.Errorf("the topmost joint pulls its link by %g N", force.Y)
	}
}

// Joints with large errors when they are made, between bodies of all sorts, pull them together and do
// not blow up.
func TestJointsFarOff(t *testing.T) {
	for kind := rigid.JointDistance; kind <= rigid.JointWheel; kind++ {
		rng := rand.New(rand.NewPCG(1, uint64(kind)))
		for round := range paritytest.Rounds(60) {
			s := linked()
			s.Gravity = rigid.Vec{}
			for i := range 4 {
				density := float32(min(1, i)) * (0.2 + 2*rng.Float32())
				body := s.box(0.1+rng.Float32(), 0.1+rng.Float32(), 10*rng.Float32(), 10*rng.Float32(), density)
				s.turn(body, 3*rng.Float32())
				if rng.IntN(3) == 0 {
					s.Bodies.InvInertia[body] = 0
				}
			}
			for i := range 3 {
				j := s.tie(kind, i, i+1, 0, 0)
				at := func() rigid.Vec { return rigid.Vec{X: 4*rng.Float32() - 2, Y: 4*rng.Float32() - 2} }
				j.AnchorA, j.AnchorB, j.ReferenceAngle, j.Axis = at(), at(), 3*rng.Float32(), rigid.Vec{Y: 1}
				j.Parts = rigid.JointParts(rng.IntN(64)) &^ (rigid.PartMotor | rigid.PartAngularMotor)
				j.Linear = rigid.JointAxis{Target: 1, Hertz: float32(rng.IntN(4)), Damping: 0.5, Lower: -1, Upper: 2}
				j.Angular = rigid.JointAxis{Hertz: float32(rng.IntN(4)), Damping: 0.5, Lower: -1, Upper: 2}
			}
			fastest := float32(0)
			for range 240 {
				s.advance(native.Auto)
				for i := range s.Bodies.VX {
					fastest = max(fastest, abs32(s.Bodies.VX[i]), abs32(s.Bodies.VY[i]), abs32(s.Bodies.W[i]))
				}
			}
			last := float32(0)
			for i := range s.Bodies.VX {
				last = max(last, abs32(s.Bodies.VX[i]), abs32(s.Bodies.VY[i]))
			}
			if !(fastest < 500) || !(last < 200) {
				t.Errorf("kind %d, round %d: %g at most, %g in the end", kind, round, fastest, last)
			}
		}
	}
}

func abs32(a float32) float32 { return float32(math.Abs(float64(a))) }

// A cloth of stiff springs without damping hangs still: what they do to each other does not drive them
// on, which takes both iterations.
func TestSpringCloth(t *testing.T) {
	const n = 8
	s := linked()
	for i := range n * n {
		density := float32(1)
		if i == 0 || i == n-1 {
			density = 0
		}
		s.disc(0.2, float32(i%n), -float32(i/n), density)
	}
	link := func(a, b int) {
		j := s.tie(rigid.JointDistance, a, b, 0, 0)
		j.AnchorA, j.AnchorB = rigid.Vec{}, rigid.Vec{}
		j.Parts, j.Linear = rigid.PartSpring, rigid.JointAxis{Target: 1, Hertz: 60}
	}
	for i := range n * n {
		if i%n < n-1 {
			link(i, i+1)
		}
		if i+n < n*n {
			link(i, i+n)
		}
	}
	for step := range 600 {
		s.advance(native.Auto)
		for i, v := range s.Bodies.VX {
			if speed := math.Hypot(float64(v), float64(s.Bodies.VY[i])); !(speed < 5) {
				t.Fatalf("step %d: body %d moves at %g m/s", step, i, speed)
			}
		}
	}
}
