package rigid_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// tiny draws a number of any exponent, down to the smallest denormal number, or zero.
func tiny(rng *rand.Rand) float32 {
	return float32(math.Ldexp(1+rng.Float64(), -151+rng.IntN(160)))
}

// Impulses, velocities and limits of any size, also such that their sums are denormal, leave all bodies and impulses
// finite on each level: each quotient has a divisor whose reciprocal is finite.
func TestTinySumsStayFinite(t *testing.T) {
	run := paritytest.Start(t, "TinySums")
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for range rounds {
		s := newHeap()
		s.Gravity = rigid.Vec{}
		s.box(10, 1, 0, -1, 0)
		for i := range 4 {
			half := 0.4 + 0.1*float32(i%2)
			b := s.box(half, 0.5, 0, 0.5+0.998*float32(i), 1)
			s.Materials.RollingResistance[b] = float32(run.Rand.IntN(2)) * tiny(run.Rand)
			if run.Rand.IntN(2) == 0 {
				s.Bodies.InvInertia[b] = 0
			}
		}
		j := s.tie(rigid.JointPoint, 1, 3, 0, 1)
		j.Parts, j.Linear = rigid.PartSpring, rigid.JointAxis{Hertz: tiny(run.Rand), Damping: tiny(run.Rand), MaxSpringForce: tiny(run.Rand)}
		if run.Rand.IntN(2) == 0 {
			j.Parts = rigid.PartFriction
		}
		for range 4 {
			s.collide()
			for i := range s.Contacts {
				for k := range s.Contacts[i].Points {
					s.Contacts[i].Points[k].Normal, s.Contacts[i].Points[k].Tangent = tiny(run.Rand), tiny(run.Rand)
				}
			}
			s.Joints[0].PointImpulse = rigid.Vec{X: tiny(run.Rand), Y: -tiny(run.Rand)}
			for i := range s.Bodies.VX {
				if s.Bodies.InvMass[i] > 0 {
					s.Bodies.VX[i], s.Bodies.VY[i], s.Bodies.W[i] = tiny(run.Rand), -tiny(run.Rand), tiny(run.Rand)
				}
			}
			for _, level := range native.Levels() {
				run.Case(level)
				c := cloned(&s.System)
				c.Step(level, dt)
				for i := range c.Bodies.VX {
					if sum := c.Bodies.VX[i] + c.Bodies.VY[i] + c.Bodies.W[i] + c.Poses.X[i] + c.Poses.Y[i] + c.Angle[i]; sum-sum != 0 {
						t.Fatalf("level %v: body %d moves at %g, %g, %g", level, i, c.Bodies.VX[i], c.Bodies.VY[i], c.Bodies.W[i])
					}
				}
				for _, contact := range c.Contacts {
					for _, p := range contact.Points {
						if sum := p.Normal + p.Tangent; sum-sum != 0 {
							t.Fatalf("level %v: the impulses of a contact are %g, %g", level, p.Normal, p.Tangent)
						}
					}
				}
				if p := c.Joints[0].PointImpulse; p.X+p.Y-(p.X+p.Y) != 0 {
					t.Fatalf("level %v: the impulse of the joint is %v", level, p)
				}
			}
			s.Step(native.Go, dt)
		}
	}
}
