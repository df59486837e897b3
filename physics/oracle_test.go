package physics

import "github.com/evertick/evertick/native/rigid"

// RaysByForce returns the shapes that rays meet first, as rigid.RayClosestOracle says of the world as it is.
func RaysByForce(w *World, q *Rays) ([]Shape, error) {
	t, err := w.beginRays(q, new(RayHits))
	if err != nil {
		return nil, err
	}
	rays := t.prepare(0, 0, len(q.X))
	hits := make([]rigid.RayHit, len(rays))
	rigid.CastRaysClosestOracle(w.solver.scene(), rays, hits)
	shapes := make([]Shape, len(hits))
	for i, h := range hits {
		shapes[i] = w.solver.handle(h.Shape)
	}
	return shapes, nil
}
