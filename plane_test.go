package evertick_test

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
)

// tilted is a rotation out of either plane.
var tilted = [4]float32{0.70710677, 0, 0, 0.70710677}

// A rotation out of the plane of the bodies is refused by name whichever way it comes, and a height is kept.
func TestRuleOfThePlane(t *testing.T) {
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		c := small()
		c.Physics.Plane = plane
		s := newSim(t, c)
		id, other := spawn(t, s), spawn(t, s)
		at := plane.Join([2]float32{1, 2}, 50)
		if err := s.World.SetPosition(id, at[0], at[1], at[2]); err != nil {
			t.Fatal(err)
		}
		if err := s.World.SetRotation(id, tilted[0], tilted[1], tilted[2], tilted[3]); err != nil {
			t.Fatal(err)
		}
		_, err := s.CreateBody(id, physics.DefaultBodyDef())
		wantError(t, err, evertick.ErrRange, "CreateBody", "Rotation of ent_1", "plane "+plane.String())
		if _, has := s.Body(id); has || s.Physics.Len() != 0 {
			t.Errorf("%v: the refused body is there", plane)
		}
		q := plane.Rotation(0.5)
		if err := s.World.SetRotation(id, q[0], q[1], q[2], q[3]); err != nil {
			t.Fatal(err)
		}
		def := physics.DefaultBodyDef()
		def.Type, def.Position, def.Angle = physics.DynamicBody, [2]float32{1, 2}, 0.5
		b, err := s.CreateBody(id, def)
		if err != nil {
			t.Fatal(err)
		}
		step(t, s, 2)
		i := slotOf(t, s, id)
		p := &s.World.Position
		if _, third := plane.Split([3]float32{p.X[i], p.Y[i], p.Z[i]}); third != 50 {
			t.Errorf("%v: height %v, not 50", plane, third)
		}
		// An entity without a body may have any rotation.
		if err := s.World.SetRotation(other, tilted[0], tilted[1], tilted[2], tilted[3]); err != nil {
			t.Fatal(err)
		}
		step(t, s, 1)
		if a, err := s.Physics.Angle(b); err != nil || a < 0.499 || a > 0.501 {
			t.Errorf("%v: angle %v, %v", plane, a, err)
		}
	}
}

// The columns, SetRotation and the commands of a tick all end in the same refusal, by the step after.
func TestTiltIsRefusedByTheStep(t *testing.T) {
	for name, tilt := range map[string]func(s *evertick.Sim) error{
		"columns": func(s *evertick.Sim) error {
			r := &s.World.Rotation
			r.X[0], r.Y[0], r.Z[0], r.W[0] = tilted[0], tilted[1], tilted[2], tilted[3]
			r.Touch()
			return nil
		},
		"SetRotation": func(s *evertick.Sim) error {
			return s.World.SetRotation(1, tilted[0], tilted[1], tilted[2], tilted[3])
		},
		"commands": func(s *evertick.Sim) error {
			once := false
			return s.Add(evertick.BeforePhysics, "tilt", func(t *evertick.Tick) error {
				if once {
					return nil
				}
				once = true
				return t.Commands().SetRotation(1, tilted[0], tilted[1], tilted[2], tilted[3])
			})
		},
	} {
		s := newSim(t, small())
		id := spawn(t, s)
		b := movingBody(t, s, id, 1)
		if name == "commands" {
			if err := tilt(s); err != nil {
				t.Fatal(err)
			}
		}
		step(t, s, 1)
		if name != "commands" {
			if err := tilt(s); err != nil {
				t.Fatal(err)
			}
		}
		before, err := s.Physics.Position(b)
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, s.Step(), evertick.ErrRange, "Pull", "Transforms.QX[0]", "plane XY")
		if at, err := s.Physics.Position(b); err != nil || at != before {
			t.Errorf("%s: the body moved to %v: %v", name, at, err)
		}
	}
}
