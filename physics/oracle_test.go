package physics

import "github.com/evertick/evertick/internal/rigid"

// RaysByForce returns the first shapes that rays hit, by rigid.CastRaysClosestOracle.
func RaysByForce(w *World, q *Rays) ([]Shape, error) {
	t, err := w.beginRays(q, new(RayHits))
	if err != nil {
		return nil, err
	}
	rays := t.prepare(0, 0, len(q.X))
	hits := make([]rigid.RayHit, len(rays))
	rigid.CastRaysClosestOracle(w.solver.queryScene(), rays, hits)
	shapes := make([]Shape, len(hits))
	for i, h := range hits {
		shapes[i] = w.solver.handle(h.Shape)
	}
	return shapes, nil
}
