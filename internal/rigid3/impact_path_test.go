package rigid3

import (
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/paritytest"
)

// No triangle that the path of a core misses stops the shape, by the time of an earlier obstacle, and most of those that do not stop it are missed.
func TestCorePathMissesNoImpact(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	w := Continuous{Hulls: &testHulls}
	var mem ImpactMemory
	hits, missed, passed := 0, 0, 0
	for round := range paritytest.Rounds(20000) {
		shape, m := randomShape(rng), randomMotion(rng, true)
		mem.shape.set(&shape, &testHulls)
		mem.path.set(&mem.shape, &m)
		by, surface := randomMotion(rng, false), Pose{Q: Identity}
		if rng.IntN(2) == 0 {
			surface = Pose{Vec{float32(within(rng, -1, 1)), float32(within(rng, -1, 1)), float32(within(rng, -1, 1))}, randomQuat(rng)}
		}
		var frame pose64
		centre, rotation := by.at(0)
		frame.setWide(centre, rotation, &surface)
		mem.path.enter(&frame, mem.shape.middle(&testHulls))
		for k := range mem.triangle {
			// Near the path, so that it often hits.
			at := m.from.addTimes(m.by, rng.Float64()).addTimes(vec64{within(rng, -1, 1), within(rng, -1, 1), within(rng, -1, 1)}, 1.5)
			mem.triangle[k] = frame.unrotate(at.Sub(frame.p)).narrow()
		}
		face := convexCore{mem.triangle[:], false, 0, &surface}
		twoSided := rng.IntN(2) == 0
		front := frontOf(&face, twoSided)
		before := 1.
		if rng.IntN(2) == 0 {
			before = rng.Float64()
		}
		misses := mem.path.misses(&face, &front, before)
		var around mesh.Box
		var corners [3][3]float32
		for k, v := range mem.triangle {
			p := [3]float32{v.X, v.Y, v.Z}
			corners[k] = p
			for axis, c := range p {
				if k == 0 {
					around.Min[axis], around.Max[axis] = c, c
				}
				around.Min[axis], around.Max[axis] = min(around.Min[axis], c), max(around.Max[axis], c)
			}
		}
		box, ok := mem.path.box(face.radius)
		misses = misses || mem.path.passes(&corners, face.radius, twoSided) || !ok || !box.Overlaps(&around)
		q := impactQuery{motion: &m, time: before}
		w.coreImpact(&q, &mem, &face, &by, 0, 1, &front)
		switch {
		case q.time < before && misses:
			t.Fatalf("round %d: a missed triangle stops the shape %v at %g", round, shape, q.time)
		case q.time < before:
			hits++
		case misses:
			missed++
		default:
			passed++
		}
	}
	if hits == 0 || missed < passed {
		t.Errorf("%d hits, %d triangles missed, %d passed all the same", hits, missed, passed)
	}
}
