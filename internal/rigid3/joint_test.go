package rigid3

import (
	"fmt"
	"math"
	"testing"
)

// jointScene is a world of joined bodies without contacts.
type jointScene struct{ scene }

func newJointScene() *jointScene { return &jointScene{*newScene()} }

// join adds a joint at a place, in the axes of the world turned by a rotation.
func (s *jointScene) join(a, b int, at Vec, frame Quat, locked uint32) *Joint {
	pa, pb := &s.Bodies.Poses[a], &s.Bodies.Poses[b]
	s.Joints = append(s.Joints, Joint{
		A: uint32(a), B: uint32(b), Locked: locked,
		AnchorA: pa.Q.Unrotate(at.Sub(pa.P)), AnchorB: pb.Q.Unrotate(at.Sub(pb.P)),
		FrameA: pa.Q.Inverse().Mul(frame), FrameB: pb.Q.Inverse().Mul(frame),
	})
	return &s.Joints[len(s.Joints)-1]
}

func (s *jointScene) ground() int { return s.Add(box(1, 1, 1), 0, material, *at(0, -100, 0)) }

func (s *jointScene) run(seconds float64) { s.runThen(seconds, func() {}) }

func (s *jointScene) runThen(seconds float64, then func()) {
	for range int(math.Round(seconds * 60)) {
		s.Step(dt)
		then()
	}
}

// gap is the distance of the anchors of a joint.
func (s *jointScene) gap(j *Joint) float64 {
	a, b := &s.Bodies.Poses[j.A], &s.Bodies.Poses[j.B]
	return float64(b.Transform(j.AnchorB).Sub(a.Transform(j.AnchorA)).length())
}

// aboutZ turns the x axis to the z axis, y to x, and z to y.
var aboutZ = Quat{-.5, -.5, -.5, .5}

const (
	lockedHinge  = lockedPoint | 1<<SwingY | 1<<SwingZ
	lockedSlider = lockedAngles | 1<<LinearY | 1<<LinearZ
	lockedAll    = lockedPoint | lockedAngles
)

// A physical pendulum has the period 2π·√(I/(m·g·l)).
func TestPendulum(t *testing.T) {
	for _, locked := range []uint32{lockedPoint, lockedHinge} {
		s := newJointScene()
		ground := s.ground()
		const l, tilt = 1., 0.05
		b := s.Add(box(.1, .5, .2), 3, material, *at(float32(l*math.Sin(tilt)), float32(-l*math.Cos(tilt)), 0))
		s.Bodies.Poses[b].Q = Quat{0, 0, float32(math.Sin(tilt / 2)), float32(math.Cos(tilt / 2))}
		s.join(ground, b, Vec{}, aboutZ, locked)
		i := 3.*(0.2*0.2+1)/12 + 3*l*l
		want := 2 * math.Pi * math.Sqrt(i/(3*9.81*l))
		last, crossings, first, end := float32(1), 0, 0., 0.
		time := 0.
		s.runThen(20, func() {
			time += dt
			if x := s.Bodies.Poses[b].P.X; last < 0 && x >= 0 {
				at := time - dt*float64(x/(x-last))
				if crossings == 0 {
					first = at
				}
				end = at
				crossings++
			}
			last = s.Bodies.Poses[b].P.X
		})
		if got := (end - first) / float64(crossings-1); math.Abs(got-want) > .01*want {
			t.Errorf("rows %b: a period of %.4f s, want %.4f", locked, got, want)
		}
		if g := s.gap(&s.Joints[0]); g > 1e-3 {
			t.Errorf("rows %b: a gap of %g m", locked, g)
		}
	}
}

func degrees(a float64) float32 { return float32(a * math.Pi / 180) }

// A hinge stops at its limits, whatever their range and wherever the motion begins.
func TestHingeLimits(t *testing.T) {
	for _, limits := range [][2]float64{{-45, 45}, {-170, -10}, {0, 270}, {-350, 0}, {45, 315}, {135, 225}, {-700, 800}, {10, math.Inf(1)}, {math.Inf(-1), -20}} {
		for _, motor := range []float32{5, -5} {
			for _, weak := range []bool{false, true} {
				if weak && limits[0] < -360 {
					continue // it would take too long
				}
				start := limits[0]
				if math.IsInf(start, 0) {
					start = limits[1]
				}
				s := newJointScene()
				s.Gravity = Vec{}
				ground := s.ground()
				b := s.Add(box(.5, .1, .1), 1, material, *at(1, 0, 0))
				s.Bodies.AngularDamping[b] = 3
				j := s.join(ground, b, Vec{}, aboutZ, lockedHinge)
				// The frame of A is turned back, so that the joint begins at the angle.
				half := -start / 2 * math.Pi / 180
				j.FrameA = j.FrameA.Mul(Quat{X: float32(math.Sin(half)), W: float32(math.Cos(half))})
				axis := &j.Axes[Twist]
				axis.Parts, axis.Lower, axis.Upper = PartLimits, degrees(limits[0]), degrees(limits[1])
				j.Kept.Known, j.Kept.Twist = 1, degrees(start)
				if weak {
					setVec(&s.Bodies.Torque, b, Vec{0, 0, .1 * motor})
				} else {
					axis.Parts |= PartMotor
					axis.MotorSpeed, axis.MaxMotorForce = motor, 1000
				}
				want := limits[1]
				if motor < 0 {
					want = limits[0]
				}
				s.run(10)
				got := float64(j.Kept.Twist) * 180 / math.Pi
				if math.IsInf(want, 0) {
					if math.Abs(got) < 100 {
						t.Errorf("limits %v, motor %v, weak %v: stopped at %.2f", limits, motor, weak, got)
					}
					continue
				}
				if math.Abs(got-want) > .5 {
					t.Errorf("limits %v, motor %v, weak %v: at %.2f degrees", limits, motor, weak, got)
				}
				if g := s.gap(j); g > 1e-3 {
					t.Errorf("limits %v, motor %v, weak %v: a gap of %g m", limits, motor, weak, g)
				}
			}
		}
	}
}

// A hinge that a motor turns counts its turns.
func TestHingeMotor(t *testing.T) {
	s := newJointScene()
	ground := s.ground()
	b := s.Add(box(.5, .1, .1), 1, material, *at(1, 0, 0))
	j := s.join(ground, b, Vec{}, aboutZ, lockedHinge)
	j.Axes[Twist] = JointAxis{Parts: PartMotor, MotorSpeed: 2, MaxMotorForce: 1e6}
	least := float32(9)
	s.runThen(20, func() { least = min(least, s.Bodies.W[2][b]) })
	if math.Abs(float64(j.Kept.Twist)-40) > .4 || least < 1.9 {
		t.Errorf("turned by %v rad, at least %v rad/s", j.Kept.Twist, least)
	}
}

// A spring sags by g/(2πf)², and swings f times a second.
func TestJointSprings(t *testing.T) {
	for _, hertz := range []float64{1, 2, 5} {
		for _, mass := range []float64{1, 100} {
			for kind := range 3 {
				for _, damping := range []float64{0, .3} {
					s := newJointScene()
					ground := s.ground()
					b := s.Add(box(.2, .2, .2), mass, material, *at(0, -2, 0))
					spring := JointAxis{Parts: PartSpring, Hertz: float32(hertz), Damping: float32(damping)}
					j := s.join(ground, b, Vec{0, -2, 0}, aboutZ, lockedSlider)
					c := LinearX
					switch kind {
					case 0: // a slider whose x axis points up
						j.FrameA, j.FrameB = Quat{0, 0, math.Sqrt2 / 2, math.Sqrt2 / 2}, Quat{0, 0, math.Sqrt2 / 2, math.Sqrt2 / 2}
						j.Axes[c] = spring
					case 1:
						j.AnchorA, j.Locked, c = j.AnchorA.Add(Vec{0, 2, 0}), 0, Length
						spring.Target = 2
						j.Axes[c] = spring
					case 2:
						j.Locked, j.Soft = lockedPoint, SoftLinear
						j.Linear = Drive{Hertz: float32(hertz), Damping: float32(damping)}
					}
					sum, n, crossings, last, first, end, time := 0., 0, 0, 0., 0., 0., 0.
					sag := 9.81 / (4 * math.Pi * math.Pi * hertz * hertz)
					s.runThen(12, func() {
						time += dt
						y := -2 - float64(s.Bodies.Poses[b].P.Y)
						if damping == 0 || time > 8 {
							sum += y
							n++
						}
						if last < sag && y >= sag {
							at := time - dt*(y-sag)/(y-last)
							if crossings == 0 {
								first = at
							}
							end = at
							crossings++
						}
						last = y
					})
					name := fmt.Sprintf("kind %d, %v Hz, damping %v, %v kg", kind, hertz, damping, mass)
					if got := sum / float64(n); damping > 0 && math.Abs(got-sag) > .01*sag {
						t.Errorf("%s: sags by %.5f m, want %.5f", name, got, sag)
					}
					if got := float64(crossings-1) / (end - first); damping == 0 && math.Abs(got-hertz) > .03*hertz {
						t.Errorf("%s: swings at %.4f Hz", name, got)
					}
				}
			}
		}
	}
}

// A chain with a heavy end hangs without gaps, and stays together as it swings.
func TestChainWithHeavyEnd(t *testing.T) {
	for _, c := range []struct{ heavy, hanging, released float64 }{{1, .025, .03}, {100, .026, .06}, {1000, .3, 3.6}} {
		for _, released := range []bool{false, true} {
			s := heavyChain(c.heavy, released)
			worst, bound := 0., c.hanging
			s.runThen(20, func() { worst = max(worst, s.largestGap()) })
			if released {
				bound = c.released
			}
			if worst > bound {
				t.Errorf("%v kg, released %v: a gap of %.4f m", c.heavy, released, worst)
			}
		}
	}
}

func (s *jointScene) largestGap() (gap float64) {
	for k := range s.Joints {
		gap = max(gap, s.gap(&s.Joints[k]))
	}
	return gap
}

// heavyChain is a chain of ten links of 1 kg, half a metre each, and a body at its end. Released, it begins level.
func heavyChain(heavy float64, released bool) *jointScene {
	s := newJointScene()
	body := s.ground()
	place := func(x float32) Pose {
		if released {
			return Pose{P: Vec{x, 0, 0}, Q: Identity}
		}
		return Pose{P: Vec{0, -x, 0}, Q: Quat{0, 0, -math.Sqrt2 / 2, math.Sqrt2 / 2}}
	}
	for k := range 10 {
		b := s.Add(box(.25, .05, .05), 1, material, place(.25+.5*float32(k)))
		s.join(body, b, place(.5*float32(k)).P, Identity, lockedPoint)
		body = b
	}
	b := s.Add(box(.3, .3, .3), heavy, material, place(5))
	s.join(body, b, place(5).P, Identity, lockedPoint)
	return s
}
