package physics

import "github.com/evertick/evertick/internal/forces"

func init() {
	forces.Plane = func(world any) forces.Source {
		s := world.(*World).solver
		return forces.Source{Kept: &s.kept, Rate: s.subStepRate}
	}
}

// keepForces keeps the forces of this step, which its end clears, where a tool looks at them.
func (s *solver) keepForces() {
	if s.kept.Wanted() {
		c := s.cols
		n := len(s.bodies.Generation)
		s.kept.Keep(s.bodies.Generation, &[6][]float32{0: c.ForceX[:n], 1: c.ForceY[:n], 5: c.Torque[:n]})
	}
}
