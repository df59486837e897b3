package native

import "math"

// Edge returns about where cell j of an axis begins.
func (g *Grid) Edge(axis int, j int32) float32 { return g.edge(axis, j) }

// KNNWork returns the rows and blocks of points that the pure-Go KNN looks at, query by
// query.
func KNNWork(g *Grid, p *Points, q *NearestQueries) []int {
	var s nearestSearch
	s.begin(g, p, q)
	var work []int
	for i := range q.X {
		s.centre, s.radius = [3]float32{q.X[i], q.Y[i], q.Z[i]}, math.MaxFloat32
		s.exclude, s.mask, s.n = NoSlot, math.MaxUint32, 0
		s.find()
		work = append(work, s.work)
	}
	return work
}
