package rigid3

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// kindsOfJoints configure a joint that locks its point.
var kindsOfJoints = map[string]func(j *Joint){
	"spherical": func(j *Joint) {},
	"cone":      func(j *Joint) { j.Axes[Cone] = JointAxis{Parts: PartLimits, Upper: .3} },
	"revolute": func(j *Joint) {
		j.Locked, j.Axes[Twist] = lockedHinge, JointAxis{Parts: PartLimits, Lower: -.5, Upper: .5}
	},
	"prismatic": func(j *Joint) {
		j.Locked, j.Axes[LinearX] = lockedSlider, JointAxis{Parts: PartLimits | PartSpring, Hertz: 2, Damping: .1, Lower: -.2, Upper: .2}
	},
	"weld": func(j *Joint) { j.Locked = lockedAll },
	"soft weld": func(j *Joint) {
		j.Locked, j.Soft = lockedAll, SoftAngular|SoftLinear
		j.Linear, j.Angular = Drive{Hertz: 5, Damping: .5, MaxForce: 50}, Drive{Hertz: 3, Damping: .3, MaxForce: 9}
	},
	"distance": func(j *Joint) {
		j.AnchorB.X += .2
		j.Locked, j.Axes[Length] = 0, JointAxis{Parts: PartLimits, Lower: .1, Upper: .3}
	},
	"wheel": func(j *Joint) {
		j.Locked = 1<<LinearX | 1<<LinearZ | 1<<SwingY | 1<<SwingZ
		j.Axes[LinearY], j.Axes[Twist] = JointAxis{Parts: PartSpring, Hertz: 4, Damping: .7}, JointAxis{Parts: PartMotor, MotorSpeed: 9, MaxMotorForce: 2}
	},
	"odd rows": func(j *Joint) { j.Locked = 1<<LinearY | 1<<Twist },
}

// joinedPairs are free pairs of bodies with a joint of a kind, all in the same place.
func joinedPairs(n int, rng *rand.Rand, configure func(j *Joint)) *jointScene {
	s := newJointScene()
	s.Gravity = Vec{}
	var v, w [2]Vec
	for k := range 2 {
		v[k] = Vec{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
		w[k] = Vec{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
	}
	for range n {
		a := s.Add(box(.5, .2, .3), 2, material, *at(0, 0, 0))
		b := s.Add(box(.2, .4, .3), 3, material, *at(1, 0, 0))
		for k, body := range []int{a, b} {
			setVec(&s.Bodies.V, body, v[k])
			setVec(&s.Bodies.W, body, w[k])
		}
		configure(s.join(a, b, Vec{.5, .1, .1}, Quat{.1, .2, .3, .8}.Normalize(), lockedPoint))
	}
	return s
}

// A joint does not depend on how many others there are.
func TestJointsInAnyNumber(t *testing.T) {
	seed := paritytest.Seed()
	for name, configure := range kindsOfJoints {
		want := joinedPairs(1, rand.New(rand.NewPCG(seed, 1)), configure)
		want.run(.5)
		for _, n := range []int{2, 7, 8, 9, 15, 16, 17, 33, 64, 129} {
			s := joinedPairs(n, rand.New(rand.NewPCG(seed, 1)), configure)
			s.run(.5)
			for k := range n {
				for i := range 2 {
					if got := s.Bodies.Poses[2*k+i]; got != want.Bodies.Poses[i] {
						t.Fatalf("%s: body %d of pair %d of %d is at %v, alone at %v", name, i, k, n, got, want.Bodies.Poses[i])
					}
				}
			}
		}
	}
}

// momentum returns the linear momentum, and the angular one about the origin.
func (s *jointScene) momentum() (linear, angular vec64) {
	b := &s.Bodies
	for i, inv := range b.InvMass {
		if !(inv > 0) {
			continue
		}
		q, in := b.Poses[i].Q.Mul(b.Principal[i]), vecAt(&b.InvInertia, i)
		w := q.Unrotate(vecAt(&b.W, i))
		own := q.Rotate(Vec{w.X / in.X, w.Y / in.Y, w.Z / in.Z}).wide64()
		p := vecAt(&b.V, i).wide64().Times(1 / float64(inv))
		linear = linear.Add(p)
		angular = angular.Add(own).Add(b.Poses[i].P.wide64().Cross(p))
	}
	return linear, angular
}

// A free pair keeps its momentum. It keeps its angular momentum but for the inertia that a step holds while the bodies turn.
func TestJoinedPairKeepsMomentum(t *testing.T) {
	for name, configure := range kindsOfJoints {
		worst := 0.
		for seed := range uint64(10) {
			s := joinedPairs(1, rand.New(rand.NewPCG(7, seed)), configure)
			p, l := s.momentum()
			s.run(2)
			p2, l2 := s.momentum()
			if d := p2.Sub(p).length(); d > 1e-4*(1+p.length()) {
				t.Errorf("%s: the momentum changes by %g of %g", name, d, p.length())
			}
			worst = max(worst, l2.Sub(l).length()/(1+l.length()))
		}
		if worst > .08 {
			t.Errorf("%s: the angular momentum changes by a part of %.4f", name, worst)
		}
	}
}

// A limb does not turn beyond its limits, in whatever direction it is pushed.
func TestSphericalLimits(t *testing.T) {
	for heading := 0; heading < 360; heading += 30 {
		for _, kind := range []string{"cone", "swing", "twist"} {
			s := newJointScene()
			s.Gravity = Vec{}
			ground := s.ground()
			b := s.Add(box(.5, .1, .2), 2, material, *at(.5, 0, 0))
			s.Bodies.AngularDamping[b] = 1
			j := s.join(ground, b, Vec{}, Identity, lockedPoint)
			sin, cos := math.Sincos(float64(heading) * math.Pi / 180)
			torque := Vec{0, float32(3 * cos), float32(3 * sin)}
			switch kind {
			case "cone":
				j.Axes[Cone] = JointAxis{Parts: PartLimits, Upper: degrees(35)}
			case "swing":
				j.Axes[SwingY] = JointAxis{Parts: PartLimits, Lower: degrees(-20), Upper: degrees(40)}
				j.Axes[SwingZ] = JointAxis{Parts: PartLimits, Lower: degrees(-60), Upper: degrees(10)}
			case "twist":
				j.Axes[Twist] = JointAxis{Parts: PartLimits, Lower: degrees(-30), Upper: degrees(70)}
				torque = Vec{3 * float32(1-2*(heading/30%2)), 0, 0}
			}
			setVec(&s.Bodies.Torque, b, torque)
			touched := false
			s.runThen(5, func() {
				c := j.Coordinates(&s.Bodies.Poses[j.A], &s.Bodies.Poses[j.B])
				for at := range c {
					if a := &j.Axes[at]; a.Parts != 0 && (c[at] > a.Upper+degrees(.5) || at != Cone && c[at] < a.Lower-degrees(.5)) {
						t.Fatalf("%s, heading %d: coordinate %d is %.2f degrees", kind, heading, at, c[at]*180/math.Pi)
					}
					if a := &j.Axes[at]; a.Parts != 0 && (c[at] > a.Upper-degrees(1) || c[at] < a.Lower+degrees(1)) {
						touched = true
					}
				}
			})
			if !touched {
				t.Errorf("%s, heading %d: no limit was reached", kind, heading)
			}
			if g := s.gap(j); g > 1e-3 {
				t.Errorf("%s, heading %d: a gap of %g m", kind, heading, g)
			}
		}
	}
}

// Geometry without directions makes no NaN: anchors in the centres, a length of zero, a swing by half a turn.
func TestDegenerateJoints(t *testing.T) {
	for name, configure := range kindsOfJoints {
		for kind := range 4 {
			s := joinedPairs(3, rand.New(rand.NewPCG(paritytest.Seed(), 3)), configure)
			for k := range s.Joints {
				j := &s.Joints[k]
				switch kind {
				case 0:
					j.AnchorA, j.AnchorB = Vec{}, Vec{}
				case 1:
					s.Bodies.Poses[j.B].P = s.Bodies.Poses[j.A].P
					j.AnchorA, j.AnchorB = Vec{}, Vec{}
				case 2:
					j.FrameA, j.FrameB = Identity, Quat{0, 1, 0, 0}
				case 3:
					j.FrameA, j.FrameB, j.Target = Quat{}, Quat{}, Quat{}
				}
			}
			s.run(1)
			for i := range s.States {
				p, v := s.Bodies.Poses[i].P, vecAt(&s.Bodies.V, i)
				if !(p.length() < 1e4 && v.length() <= 400) {
					t.Errorf("%s, case %d: body %d is at %v and moves at %v", name, kind, i, p, v)
				}
			}
		}
	}
}

// A motor has the force or torque that it may have, and reaches its speed.
func TestJointMotors(t *testing.T) {
	s := newJointScene()
	s.Gravity = Vec{}
	ground := s.ground()
	hinged, slides, driven := s.Add(box(.5, .1, .1), 3, material, *at(1, 0, 0)), s.Add(box(.2, .2, .2), 4, material, *at(5, 0, 0)), s.Add(ball(.5), 2, material, *at(9, 0, 0))
	j := s.join(ground, hinged, Vec{}, aboutZ, lockedHinge)
	j.Axes[Twist] = JointAxis{Parts: PartMotor, MotorSpeed: 100, MaxMotorForce: 6}
	j = s.join(ground, slides, Vec{5, 0, 0}, Identity, lockedSlider)
	j.Axes[LinearX] = JointAxis{Parts: PartMotor, MotorSpeed: 1.5, MaxMotorForce: 8}
	j = s.join(ground, driven, Vec{9, 0, 0}, Identity, lockedAll)
	j.Soft, j.Linear, j.Angular = SoftLinear|SoftAngular, Drive{MaxForce: 4, Velocity: Vec{0, 50, 0}}, Drive{MaxForce: .6, Velocity: Vec{90, 0, 0}}
	s.run(.5)
	inertia := 3*(.04+1)/12 + 3.
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > .01*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("speed of the hinge", float64(s.Bodies.W[2][hinged]), 6*.5/inertia)
	near("speed of the slider", float64(s.Bodies.V[0][slides]), 1)
	near("speed of what is driven", float64(s.Bodies.V[1][driven]), 1)
	near("its rotation", float64(s.Bodies.W[0][driven]), .6*.5/(.4*2*.25))
	force, torque := j.Reaction(240)
	near("its force", float64(force.length()), 4)
	near("its torque", float64(torque.length()), .6)
	s.run(1)
	near("the slider has its speed", float64(s.Bodies.V[0][slides]), 1.5)
}

// A beam of welded boxes holds a load at its end.
func TestWeldedBeam(t *testing.T) {
	s := newJointScene()
	last := s.ground()
	for k := range 6 {
		b := s.Add(box(.5, .2, .2), 1, material, *at(float32(k)+.5, 0, 0))
		s.join(last, b, Vec{float32(k), 0, 0}, Identity, lockedAll)
		last = b
	}
	s.run(5)
	if y := s.Bodies.Poses[last].P.Y; y < -.3 || vecAt(&s.Bodies.V, last).length() > .05 {
		t.Errorf("the end hangs at %v and moves at %v", y, vecAt(&s.Bodies.V, last))
	}
	force, torque := s.Joints[0].Reaction(240)
	if want := 6 * 9.81; math.Abs(float64(force.Y)-want) > .01*want || math.Abs(float64(torque.Z)-3*want) > .1*3*want {
		t.Errorf("a force of %v, a torque of %v", force, torque)
	}
}

// A wheel that steers turns about its suspension while it spins about its axle.
func TestWheelSteers(t *testing.T) {
	s := newJointScene()
	s.Gravity = Vec{}
	ground := s.ground()
	b := s.Add(ball(.4), 10, material, *at(0, 0, 0))
	j := s.join(ground, b, Vec{}, Identity, 1<<LinearX|1<<LinearZ|1<<SwingZ)
	j.Axes[LinearY] = JointAxis{Parts: PartSpring, Hertz: 4, Damping: .7}
	j.Axes[Twist] = JointAxis{Parts: PartMotor, MotorSpeed: 20, MaxMotorForce: 100}
	j.Axes[SwingY] = JointAxis{Parts: PartSpring, Hertz: 5, Damping: 1, Target: .6}
	s.run(2)
	c := j.Coordinates(&s.Bodies.Poses[j.A], &s.Bodies.Poses[j.B])
	speeds := j.Speeds(&s.Bodies.Poses[j.A], &s.Bodies.Poses[j.B], Motion{}, Motion{vecAt(&s.Bodies.V, b), vecAt(&s.Bodies.W, b)})
	if math.Abs(float64(c[SwingY])-.6) > .01 || math.Abs(float64(c[SwingZ])) > .01 || math.Abs(float64(speeds[Twist])-20) > .1 || c[Twist] < 35 {
		t.Errorf("coordinates %v, speeds %v", c, speeds)
	}
}
