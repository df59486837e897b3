package physics3

import "github.com/evertick/evertick/internal/forces"

func init() {
	forces.Space = func(world any) forces.Source {
		s := world.(*World).solver
		return forces.Source{Kept: &s.kept, Rate: s.subStepRate, Extent: s.extent}
	}
}

// keepForces keeps the forces of this step, which its end clears, where a tool looks at them.
func (s *solver) keepForces() {
	if s.kept.Wanted() {
		c := s.cols
		n := len(s.bodies.Generation)
		s.kept.Keep(s.bodies.Generation, &[6][]float32{c.ForceX[:n], c.ForceY[:n], c.ForceZ[:n], c.TorqueX[:n], c.TorqueY[:n], c.TorqueZ[:n]})
	}
}
