package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

const degree = math.Pi / 180

// alongZ and alongY turn the x axis of a frame to z and to y.
var (
	alongZ = turn(vector{0, 1, 0}, -math.Pi/2)
	alongY = turn(vector{0, 0, 1}, math.Pi/2)
)

// hingedArm is a box of 1 kg whose centre is 1 m off a hinge about z, at an angle in degrees.
func hingedArm(t testing.TB, start float64, def physics3.RevoluteJointDef) (*physics3.World, physics3.Body, physics3.Joint) {
	t.Helper()
	w := weightlessWorld(t, physics3.Config{})
	hook, d := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), dynamicAt(float32(math.Cos(start*degree)), float32(math.Sin(start*degree)), 0)
	d.Rotation, d.AngularDamping = turn(vector{0, 0, 1}, start*degree), 3
	heavy := plain
	heavy.Density = 1 / (8 * 0.5 * 0.1 * 0.1)
	arm := addBoxOf(t, w, d, vec{0.5, 0.1, 0.1}, heavy)
	def.JointDef = rotatedFrames(commonDef(hook, arm, vec{}, vec{-1, 0, 0}), alongZ)
	return w, arm, joined(t, w, &def)
}

// Case 52: hinges with limits of every kind stop at the limit towards which they are pushed, and count turns.
func TestCase52HingeRanges(t *testing.T) {
	for _, limits := range [][2]float64{{-45, 45}, {-170, -10}, {0, 270}, {-350, 0}, {45, 315}, {135, 225}, {-700, 20}} {
		for _, start := range []float64{limits[0], (limits[0] + limits[1]) / 2} {
			for _, sign := range []float64{-1, 1} {
				for _, motor := range []bool{true, false} {
					def := physics3.RevoluteJointDef{EnableLimit: true, LowerAngle: float32(limits[0] * degree), UpperAngle: float32(limits[1] * degree)}
					what := fmt.Sprintf("limits %v, from %v°, way %v, motor %v: the angle", limits, start, sign, motor)
					from := start
					if def.EnableMotor = motor; motor {
						def.MotorSpeed, def.MaxMotorTorque = float32(5*sign), 1000
					}
					to := limits[0]
					if sign > 0 {
						to = limits[1]
					}
					if limits[0] == -700 && start == -700 {
						continue // a new joint cannot know of turns before it
					}
					w, arm, j := hingedArm(t, from, def)
					seconds := 4
					if !motor { // a push of 0.1 N·m, at first with a kick that brings it most of the way
						no(t, w.SetVelocity(arm, vec{}, vec{}))
						kick := 3 * (to - from) * degree * 0.95
						at := positionOf(t, w, arm)
						no(t, w.SetVelocity(arm, vec{float32(-at[1] * kick), float32(at[0] * kick), 0}, vec{0, 0, float32(kick)}))
						seconds = 9
					}
					for range 60 * seconds {
						if !motor {
							no(t, w.ApplyTorque(arm, vec{0, 0, float32(0.1 * sign)}))
						}
						steps(t, w, 1)
					}
					s := stateOf(t, w, j)
					near(t, what, float64(s.Angle)/degree, to, 2)
					near(t, what+" speed", float64(s.AngularVelocity[0]), 0, 0.02)
					if s.AngularSeparation > 2*degree || s.Separation > 1e-3 {
						t.Errorf("%s: separated by %v m, %v rad", what, s.Separation, s.AngularSeparation)
					}
				}
			}
		}
	}
}

// Case 53: a motor turns evenly through full turns, and the angle counts them.
func TestCase53MotorThroughTurns(t *testing.T) {
	w, _, j := hingedArm(t, 0, physics3.RevoluteJointDef{EnableMotor: true, MotorSpeed: 2, MaxMotorTorque: 1e4})
	for tick := range 1200 {
		steps(t, w, 1)
		if s := stateOf(t, w, j); tick > 0 && s.AngularVelocity[0] < 1.9 {
			t.Fatalf("tick %d: %v rad/s", tick, s.AngularVelocity[0])
		}
	}
	near(t, "the angle", float64(stateOf(t, w, j).Angle), 40, 0.4)
}

// Case 54: joints whose frames are turned by quarters hold their bodies as they are, whatever the signs of the quaternions.
func TestCase54FramesInQuarterTurns(t *testing.T) {
	for k := range 8 {
		back, to := turn(vector{0, 1, 0}, -float64(k)*math.Pi/2), turn(vector{0, 1, 0}, float64(k)*math.Pi/2)
		for _, kind := range []physics3.JointKind{physics3.PrismaticJoint, physics3.WeldJoint, physics3.RevoluteJoint, physics3.SphericalJoint, physics3.WheelJoint, physics3.GenericJoint, physics3.MotorJoint} {
			w := weightlessWorld(t, physics3.Config{})
			a := addBoxOf(t, w, dynamicAt(0, 0, 0), vec{0.2, 0.3, 0.4}, plain)
			d := dynamicAt(1, 0, 0)
			d.Rotation = to
			b := addBoxOf(t, w, d, vec{0.2, 0.3, 0.4}, plain)
			common := commonDef(a, b, vec{1, 0, 0}, vec{})
			common.FrameB.Rotation = back
			var def physics3.AnyJointDef
			switch kind {
			case physics3.PrismaticJoint:
				def = &physics3.PrismaticJointDef{JointDef: common}
			case physics3.WeldJoint:
				def = &physics3.WeldJointDef{JointDef: common}
			case physics3.RevoluteJoint:
				def = &physics3.RevoluteJointDef{JointDef: common, EnableLimit: true}
			case physics3.SphericalJoint:
				def = &physics3.SphericalJointDef{JointDef: common, EnableConeLimit: true, EnableTwistLimit: true, EnableSwingLimit: true}
			case physics3.WheelJoint:
				def = &physics3.WheelJointDef{JointDef: common, EnableSpring: true, Hertz: 2, EnableSteering: true, SteeringHertz: 5}
			case physics3.GenericJoint:
				g := &physics3.GenericJointDef{JointDef: common}
				for i := range g.Axes {
					g.Axes[i].Motion = physics3.AxisMotion(1 + i%2)
				}
				def = g
			case physics3.MotorJoint:
				m := physics3.DefaultMotorJointDef()
				m.JointDef = common
				def = &m
			}
			j := joined(t, w, def)
			for range 60 {
				no(t, w.Step(0.016))
			}
			what := fmt.Sprintf("%v, %d quarters", kind, k)
			near(t, what+": a", length(positionOf(t, w, a)), 0, 1e-4)
			near(t, what+": b", length(minus(positionOf(t, w, b), vector{1, 0, 0})), 0, 1e-4)
			near(t, what+": rotation of a", angleOf(rotationOf(t, w, a)), 0, 1e-3)
			if s := stateOf(t, w, j); s.Separation > 1e-4 || s.AngularSeparation > 1e-3 || math.Abs(float64(s.Angle)) > 1e-3 || s.Cone > 1e-3 {
				t.Errorf("%s: %+v", what, s)
			}
		}
	}
}

// Case 55: a motor of speed 0 holds a load whose centre is off the axis, and a weak one lets it slip as its force says.
func TestCase55SpeedZeroHolds(t *testing.T) {
	const g = 9.81
	load := func(w *physics3.World, x, y float32) physics3.Body {
		ten := plain
		ten.Density = 10 / (8 * 0.25 * 0.25 * 0.25)
		return addBoxOf(t, w, dynamicAt(x, y, 0), vec{0.25, 0.25, 0.25}, ten)
	}
	for _, force := range []float32{1e6, 50, 90} {
		w := weightlessWorld(t, physics3.Config{Gravity: vec{0, -g, 0}})
		rail, box := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), load(w, 1, 0)
		j := joined(t, w, &physics3.PrismaticJointDef{JointDef: rotatedFrames(commonDef(rail, box, vec{}, vec{-1, 0, 0}), alongY), EnableMotor: true, MaxMotorForce: force})
		steps(t, w, 60)
		before := stateOf(t, w, j)
		if force < 98 {
			near(t, "the speed after a second", float64(before.LinearVelocity[0]), -(98.1-float64(force))/10, 0.01*g)
			near(t, "the force", float64(before.MotorForce), float64(force), 0.1)
			continue
		}
		near(t, "the force", float64(before.MotorForce), 98.1, 0.1)
		steps(t, w, 600)
		near(t, "the drift of a slider", float64(stateOf(t, w, j).Translation[0]-before.Translation[0]), 0, 1e-3)
	}
	w := weightlessWorld(t, physics3.Config{Gravity: vec{0, -g, 0}})
	hook, box := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), load(w, 1, 0)
	j := joined(t, w, &physics3.RevoluteJointDef{JointDef: rotatedFrames(commonDef(hook, box, vec{}, vec{-1, 0, 0}), alongZ), EnableMotor: true, MaxMotorTorque: 1e6})
	steps(t, w, 60)
	before := stateOf(t, w, j)
	near(t, "the torque", float64(before.MotorForce), 98.1, 0.5)
	steps(t, w, 600)
	near(t, "the drift of a hinge in degrees", float64(stateOf(t, w, j).Angle-before.Angle)/degree, 0, 0.1)
}

// Case 56: springs sag by g/(2πf)², and swing f times a second, whatever the mass.
func TestCase56Springs(t *testing.T) {
	const g = 9.81
	for _, kind := range []string{"slider", "distance", "generic"} {
		for _, hertz := range []float64{1, 2, 5} {
			for _, ratio := range []float32{0, 0.3, 1} {
				for _, mass := range []float32{1, 10, 100} {
					what := fmt.Sprintf("%s of %v Hz, ratio %v, %v kg", kind, hertz, ratio, mass)
					w := weightlessWorld(t, physics3.Config{Gravity: vec{0, -g, 0}, DisableSleep: true})
					hook := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
					sag := g / math.Pow(2*math.Pi*hertz, 2)
					start := float32(0)
					if ratio == 0 {
						start = float32(sag) // so that it swings by that about the place where it rests
					}
					heavy := plain
					heavy.Density = mass
					box := addBoxOf(t, w, dynamicAt(0, -1-start+float32(sag)*boolean(ratio == 0), 0), vec{0.5, 0.5, 0.5}, heavy)
					common := commonDef(hook, box, vec{0, -1, 0}, vec{})
					switch kind {
					case "slider":
						joined(t, w, &physics3.PrismaticJointDef{JointDef: rotatedFrames(common, alongY), EnableSpring: true, Hertz: float32(hertz), Damping: ratio})
					case "distance":
						common.FrameA.Point = vec{0, 1, 0}
						joined(t, w, &physics3.DistanceJointDef{JointDef: common, Length: 2, EnableSpring: true, Hertz: float32(hertz), Damping: ratio})
					case "generic":
						d := &physics3.GenericJointDef{JointDef: common}
						d.Axes[1] = physics3.JointAxis{Hertz: float32(hertz), Damping: ratio}
						joined(t, w, d)
					}
					if ratio > 0 {
						steps(t, w, int(60*8/hertz)+60)
						near(t, what+": the sag", -1-positionOf(t, w, box)[1], sag, 0.01*sag)
						continue
					}
					var ups []float64
					last := 0.
					for tick := range int(60 * 6 / hertz) {
						steps(t, w, 1)
						y := positionOf(t, w, box)[1] + 1 + sag
						if last < 0 && y >= 0 {
							ups = append(ups, (float64(tick)-y/(y-last))/60)
						}
						last = y
					}
					if len(ups) < 3 {
						t.Fatalf("%s: %d swings", what, len(ups))
					}
					near(t, what+": the period", (ups[len(ups)-1]-ups[0])/float64(len(ups)-1), 1/hertz, 0.03/hertz)
				}
			}
		}
	}
	// A spring of frequency 0 does nothing.
	w := weightlessWorld(t, physics3.Config{Gravity: vec{0, -g, 0}})
	hook, box := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), addBoxOf(t, w, dynamicAt(0, -1, 0), vec{0.5, 0.5, 0.5}, plain)
	joined(t, w, &physics3.PrismaticJointDef{JointDef: rotatedFrames(commonDef(hook, box, vec{0, -1, 0}, vec{}), alongY), EnableSpring: true, Damping: 1})
	steps(t, w, 60)
	near(t, "the speed of what falls", -positionOf(t, w, box)[1]-1, g/2, 0.05*g)
}

func boolean(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// heavyChain hangs ten links of 1 kg and a load from a hook, along a direction.
func heavyChain(t testing.TB, c physics3.Config, along vec, load float32) (w *physics3.World, bodies []physics3.Body, joints []physics3.Joint) {
	t.Helper()
	const link, half, radius = 0.5, 0.2, 0.05
	c.Gravity = vec{0, -9.81, 0}
	w = weightlessWorld(t, c)
	last, at := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), vec{}
	scaled := func(f float32) vec { return vec{along[0] * f, along[1] * f, along[2] * f} }
	steel := plain
	steel.Density = float32(1 / (math.Pi*radius*radius*2*half + 4./3*math.Pi*radius*radius*radius))
	for i := range 10 {
		b := bodyOf(t, w, dynamicAt(scaled((float32(i) + 0.5) * link)[0], scaled((float32(i) + 0.5) * link)[1], 0))
		must[physics3.Shape](t)(w.CreateCapsule(b, steel, physics3.Capsule{P1: scaled(-half), P2: scaled(half), Radius: radius}))
		bodies, joints = append(bodies, b), append(joints, joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(last, b, at, scaled(-link/2))}))
		last, at = b, scaled(link/2)
	}
	end := scaled(10*link + 0.5)
	heavy := plain
	heavy.Density = load / (4. / 3 * math.Pi * 0.125)
	b := addSphereOf(t, w, dynamicAt(end[0], end[1], end[2]), 0.5, heavy)
	return w, append(bodies, b), append(joints, joined(t, w, &physics3.SphericalJointDef{JointDef: commonDef(last, b, at, scaled(-0.5))}))
}

// Case 57: a chain of ten links bears a hundred times the mass of a link.
func TestCase57ChainWithAHeavyEnd(t *testing.T) {
	w, _, joints := heavyChain(t, physics3.Config{}, vec{0, -1, 0}, 100)
	steps(t, w, 600)
	for i, j := range joints {
		near(t, fmt.Sprintf("hanging: the error of joint %d", i), float64(stateOf(t, w, j).Length), 0, 1e-3)
	}
	if w.AwakeCount() != 0 {
		t.Errorf("hanging: %d awake after 10 s", w.AwakeCount())
	}
	releaseChain(t, physics3.Config{}, 1.005)
}

// releaseChain lets the chain fall from its side, and bounds its length and its energy.
func releaseChain(t *testing.T, c physics3.Config, most float64) {
	t.Helper()
	c.DisableSleep = true
	w, bodies, joints := heavyChain(t, c, vec{1, 0, 0}, 100)
	energy := func() (sum float64) {
		for _, b := range bodies {
			v, a := velocityOf(t, w, b)
			m := must[physics3.MassData](t)(w.MassData(b))
			sum += float64(m.Mass)*(dot(v, v)/2+9.81*positionOf(t, w, b)[1]) + float64(m.Inertia[0])*dot(a, a)/2
		}
		return sum
	}
	seconds := 20
	if testing.Short() {
		seconds = 8
	}
	high, stretched, worst := math.Inf(-1), 0., 0.
	for range 60 * seconds {
		steps(t, w, 1)
		high = max(high, energy())
		stretched = max(stretched, length(positionOf(t, w, bodies[10])))
		for _, j := range joints {
			worst = max(worst, float64(stateOf(t, w, j).Length))
		}
	}
	checkAllFinite(t, w)
	t.Logf("released: %.1f J more than at first, %.3f m of 5.5 m long, a joint open by %.1f mm", high, stretched, 1000*worst)
	if high > 10 || stretched > 5.5*most {
		t.Errorf("released: energy %v J, %v m", high, stretched)
	}
}
