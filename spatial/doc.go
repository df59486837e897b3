// Package spatial answers fixed-radius neighbour queries over a set of points,
// a whole batch per call.
//
// # Model
//
// An Index is a uniform grid in compressed sparse rows: points sorted by cell
// (z, y, x), and within a cell by slot. Build replaces the points; it is cheap
// enough to be called every tick. Radius answers a batch of Queries into a
// Result, one row of slots per query.
//
//	ix, err := spatial.New(spatial.Config{CellSize: 15})
//	err = ix.Build(x, y, z, slots)
//	err = ix.Radius(&spatial.Queries{X: qx, Y: qy, Z: qz, Radius: r}, &result)
//	for _, slot := range result.Row(0) { … }
//
// # Guarantees
//
// A point is within when (dx*dx + dy*dy) + dz*dz <= r*r in float32, every
// operation rounded on its own. The grid only finds candidates: it never
// changes the answer, whatever the cell size, the bounds, outliers or the
// radius. Rows have a total order. RadiusOracle is the specification in plain
// Go, and Radius gives the same bytes on every level, with any number of
// workers, with cgo or without. After warm-up neither Build nor Radius
// allocates.
//
// A radius that takes in everything costs one pass over all points, not over
// empty cells, and the grid has at most two cells a point, however far apart
// the points lie.
//
// # Concurrency
//
// Build needs the index for itself. Between builds any number of goroutines may
// query it, each with a Result of its own.
package spatial
