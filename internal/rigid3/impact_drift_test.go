package rigid3

import (
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// What drift and the faces of an obstacle exclude is true at many times of the step: a slow core moves by no more than half of its extent as seen from the
// obstacle, and an obstacle with a face that the core passes does not stop the shape.
func TestDriftExcludesNoImpact(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 11))
	w := Continuous{Hulls: &testHulls}
	var mem ImpactMemory
	hits, slow, early, passed := 0, 0, 0, 0
	for round := range paritytest.Rounds(20000) {
		shape, other := randomShape(rng), randomShape(rng)
		m, by := randomMotion(rng, true), randomMotion(rng, rng.IntN(4) > 0)
		if rng.IntN(4) == 0 { // turn together, about the centre of the obstacle
			together := m.carriedBy(&by, 0)
			together.by = together.by.addTimes(vec64{within(rng, -1, 1), within(rng, -1, 1), within(rng, -1, 1)}, 0.05)
			together.setEnd()
			m = together
		}
		mem.shape.set(&shape, &testHulls)
		mem.path.set(&mem.shape, &m)
		var d drift
		d.set(&m, &by)
		if d.isSlow(mem.path.far, float64(mem.shape.extent)) {
			slow++
			if far := farthestMove(&mem.shape, &m, &by); far > 0.5*float64(mem.shape.extent)+1e-5 {
				t.Fatalf("round %d: the core of %v moves by %g, extent %g (seed %d)", round, shape, far, mem.shape.extent, paritytest.Seed())
			}
		}
		st := State{D: m.by.narrow(), Q: m.turn()}
		drives := by.driver()
		if st.isSlowAgainst(&drives, m.from.narrow(), m.from.Add(m.by).narrow(), 1, float64(mem.shape.extent), float64(shape.CoreExtent(&testHulls))) {
			early++
			if far := farthestMove(&mem.shape, &m, &by); far > 0.5*float64(mem.shape.extent)+1e-5 {
				t.Fatalf("round %d: without its motion: the core of %v moves by %g, extent %g (seed %d)", round, shape, far, mem.shape.extent, paritytest.Seed())
			}
		}
		obstacle, whole := other.convex(&testHulls, &mem.obstacle), other.polytope(&testHulls, &mem.obstacle)
		var frame pose64
		frame.setWide(by.from, by.rotation, &other.Pose)
		passes := mem.path.passesFaces(&d, &frame, whole.Planes, float64(other.Radius))
		q := impactQuery{motion: &m, time: 1}
		w.coreImpact(&q, &mem, &obstacle, &by, 0, 1, nil)
		switch {
		case q.time < 1 && passes:
			t.Fatalf("round %d: the shape %v stops at %g, although it passes a face of %v (seed %d)", round, shape, q.time, other, paritytest.Seed())
		case q.time < 1:
			hits++
		case passes:
			passed++
		}
	}
	if hits == 0 || slow == 0 || early == 0 || early > slow || passed == 0 {
		t.Errorf("%d hits, %d slow, %d of them early, %d pass a face", hits, slow, early, passed)
	}
}

// farthestMove returns by how much a corner of the first core moves from its first place, as seen from an obstacle.
func farthestMove(s *sweptShape, m, by *motion) float64 {
	core := s.core(&testHulls, firstCore)
	unit := Pose{Q: Identity}
	far := 0.
	for _, v := range core.points {
		var first vec64
		for k := range 33 {
			var frame pose64
			at := float64(k) / 32
			p, q := by.at(at)
			frame.setWide(p, q, &unit)
			place := frame.unrotate(m.poseAt(at, core.pose, v).Sub(frame.p))
			if k == 0 {
				first = place
			}
			far = max(far, place.Sub(first).length())
		}
	}
	return far
}
