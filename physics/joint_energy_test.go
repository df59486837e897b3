package physics_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// springy creates a joint of each kind that has a spring, with the same frequency and damping ratio in all of its springs.
var springy = map[string]func(r fixture, d physics.JointDef, hertz, damping, bound float32) physics.Joint{
	"weld": func(r fixture, d physics.JointDef, hertz, damping, _ float32) physics.Joint {
		return r.join(r.w.CreateWeldJoint(physics.WeldJointDef{JointDef: d,
			LinearHertz: hertz, LinearDamping: damping, AngularHertz: hertz, AngularDamping: damping}))
	},
	"weld, points": func(r fixture, d physics.JointDef, hertz, damping, _ float32) physics.Joint {
		return r.join(r.w.CreateWeldJoint(physics.WeldJointDef{JointDef: d, LinearHertz: hertz, LinearDamping: damping}))
	},
	"weld, axes": func(r fixture, d physics.JointDef, hertz, damping, _ float32) physics.Joint {
		return r.join(r.w.CreateWeldJoint(physics.WeldJointDef{JointDef: d, AngularHertz: hertz, AngularDamping: damping}))
	},
	"revolute": func(r fixture, d physics.JointDef, hertz, damping, _ float32) physics.Joint {
		return r.join(r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: d, EnableSpring: true, Hertz: hertz, Damping: damping}))
	},
	"prismatic": func(r fixture, d physics.JointDef, hertz, damping, _ float32) physics.Joint {
		return r.join(r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: d, EnableSpring: true, Hertz: hertz, Damping: damping}))
	},
	"wheel": func(r fixture, d physics.JointDef, hertz, damping, _ float32) physics.Joint {
		return r.join(r.w.CreateWheelJoint(physics.WheelJointDef{JointDef: d, EnableSpring: true, Hertz: hertz, Damping: damping}))
	},
	"motor": func(r fixture, d physics.JointDef, hertz, damping, bound float32) physics.Joint {
		return r.join(r.w.CreateMotorJoint(physics.MotorJointDef{JointDef: d, LinearHertz: hertz, LinearDamping: damping, MaxSpringForce: bound,
			AngularHertz: hertz, AngularDamping: damping, MaxSpringTorque: bound}))
	},
	"motor, axes": func(r fixture, d physics.JointDef, hertz, damping, bound float32) physics.Joint {
		return r.join(r.w.CreateMotorJoint(physics.MotorJointDef{JointDef: d, AngularHertz: hertz, AngularDamping: damping, MaxSpringTorque: bound}))
	},
	"distance": func(r fixture, d physics.JointDef, hertz, damping, _ float32) physics.Joint {
		d.FrameA.Point[0]++ // a length of 1 m
		return r.join(r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, Length: 1, EnableSpring: true, Hertz: hertz, Damping: damping}))
	},
	"mouse": func(r fixture, d physics.JointDef, hertz, damping, bound float32) physics.Joint {
		j := r.join(r.w.CreateMouseJoint(physics.MouseJointDef{JointDef: d, Hertz: hertz, Damping: damping, MaxForce: bound}))
		_, at, err := r.w.JointPoints(j)
		r.no(err)
		r.no(r.w.SetMouseTarget(j, at))
		return j
	},
}

// Springs of any frequency only lose energy: bodies of any form, on a joint at any place of theirs, that begin at its target
// with some velocity never have more kinetic energy than that. Of distance and wheel joints the stiffness follows the effective
// mass, which changes with the directions of the bodies; so a slow spring without damping may have a bit more for a while. So
// may one whose force has a bound, which acts in about the right direction only.
func TestSpringsNeverGainEnergy(t *testing.T) {
	run := paritytest.Start(t, "energy of springs")
	for _, name := range slices.Sorted(maps.Keys(springy)) {
		create := springy[name]
		for range paritytest.Sample(100) {
			r := fixture{t, newWorld(t, physics.Config{})}
			between := func(lo, hi float64) float32 { return float32(lo + (hi-lo)*run.Float64()) }
			body := func(kind physics.BodyType, x float32) physics.Body {
				b := r.body(kind, x, 0, turned(float64(between(-3, 3))))
				if kind == physics.DynamicBody {
					r.no(r.w.SetVelocity(b, [2]float32{between(-1, 1), between(-1, 1)}, between(-1, 1)))
				}
				r.box(b, plain, between(0.05, 0.6), between(0.05, 0.6))
				return b
			}
			kind := physics.DynamicBody
			if name == "mouse" || run.IntN(2) == 0 { // a target in the world does not move with A
				kind = physics.StaticBody
			}
			a, b := body(kind, 0), body(physics.DynamicBody, between(-1, 1))
			// The frames are at one place of the world, with one direction.
			x, y, axis := float64(between(-1, 1)), float64(between(-1, 1)), r.angle(a)+float64(between(-3, 3))
			frame := func(b physics.Body) physics.JointFrame {
				bx, by := r.at(b)
				sin, cos := math.Sincos(r.angle(b))
				return at(float32(cos*(x-bx)+sin*(y-by)), float32(cos*(y-by)-sin*(x-bx)), float32(axis-r.angle(b)))
			}
			hertz, damping := float32(math.Pow(10, 7*run.Float64()-1)), between(0, 1.5)
			if run.IntN(3) == 0 {
				damping = 0
			}
			bound := float32(1e9)
			if run.IntN(3) == 0 {
				bound = float32(math.Pow(10, 4*run.Float64()-1))
			}
			d := physics.JointDef{BodyA: a, BodyB: b, FrameA: frame(a), FrameB: frame(b)}
			create(r, d, hertz, damping, bound)
			begin, most := r.total().energy, 1.1
			if name == "distance" || name == "wheel" || bound < 1e9 {
				most = 1.5
			}
			for n := range 120 {
				r.steps(1)
				if e := r.total().energy; !(e <= most*begin) {
					t.Errorf("%s of %g Hz, damping %g, bound %g, A %v: energy %g after %d steps, %g at first; %+v", name, hertz, damping, bound, kind, e, n+1, begin, d)
					break
				}
			}
		}
	}
}
