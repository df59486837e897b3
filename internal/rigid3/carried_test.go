package rigid3

import "testing"

// The separations that an iteration without bias leaves are those that the next one with bias would compute.
func TestCarriedSeparations(t *testing.T) {
	s := newScene()
	s.floor(material)
	for k := range 12 {
		shape := []*Shape{box(.5, .5, .5), ball(.4), upright(.3, .3)}[k%3]
		b := s.Add(shape, 10, material, Pose{Vec{float32(k % 3), .7 + float32(k/3)*1.1, .1 * float32(k)}, Quat{.1, float32(k), .2, 3}.Normalize()})
		setVec(&s.Bodies.W, b, Vec{1, 2, float32(k) / 4})
	}
	compared, turned := 0, 0
	for range 60 {
		s.collide()
		s.deal(dt)
		bodies, blocks := len(s.States), len(s.Blocks)
		s.PrepareBodies(0, bodies)
		s.PrepareContacts(0, blocks)
		for sub := range s.System.step.subSteps {
			s.IntegrateVelocities(sub, 0, bodies)
			if sub == 0 {
				s.WarmStart(0, blocks)
			}
			s.SolveContacts(0, blocks)
			s.IntegratePositions(0, bodies)
			s.RelaxContacts(0, blocks)
			s.ApplyRestitution(0, blocks)
			for i := range s.Blocks {
				fresh := s.Blocks[i]
				for lane := range int(fresh.Contacts) {
					var p pair
					fresh.load(lane, s.States, &p)
					fresh.updateSeparations(lane, &p)
					for k := range fresh.PointsEach {
						compared++
						if p.a.Q != Identity || p.b.Q != Identity {
							turned++
						}
						if carried := s.Blocks[i].Points[k].Separation[lane]; carried != fresh.Points[k].Separation[lane] {
							t.Fatalf("%g was carried, want %g", carried, fresh.Points[k].Separation[lane])
						}
					}
				}
			}
		}
		s.StoreImpulses(0, blocks)
		s.FinalizeBodies(0, bodies)
	}
	if compared < 1000 || turned < 1000 {
		t.Errorf("%d compared, %d of bodies that turn", compared, turned)
	}
}
