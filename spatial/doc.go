// Package spatial answers neighbour queries over a set of points, a whole batch
// per call: what is within a radius, nearest, in a box, or hit by a ray.
//
// # Model
//
// An Index is a uniform grid: a counting sort of the points by cell (z, y, x), and within a
// cell by slot, the row of a point in the caller's columns. Cells have one size where most
// of the points are. Where a few lie far from the rest, such as a body that fell through a
// floor, the cells outside grow with the distance, so that few cells reach them. Where they
// are in several clusters, such as towns far from each other, each axis is divided into pieces,
// so that cells are small in all clusters and few between them. Build
// replaces the points, and is cheap enough to be called every tick. Lengths are in metres,
// squared distances in square metres. A world of two dimensions needs no z: where it is
// nil, in Build and in queries, it is zero everywhere, and the grid has one layer. Nil
// slots are all rows of the columns; empty slots are none.
//
//	ix, err := spatial.New(spatial.Config{CellSize: 15})
//	err = ix.Build(x, y, z, nil)
//	err = ix.Radius(&spatial.Queries{X: qx, Y: qy, Z: qz, Radius: r}, &result)
//	for _, slot := range result.Row(0) { … }
//
// # Queries
//
//   - Radius, and Count where numbers are enough: the points around each centre.
//   - RadiusOnce: Radius for one batch over points, without Build.
//   - RadiusSelf and Pairs: every point is a centre, all with one radius.
//   - Sum and SumSelf: sums, means, smallest and largest values over the points around each
//     centre, of columns or of differences to the centre, weighted by distance; no rows.
//   - KNN and Nearest: the first K points, or the first, by distance.
//   - Overlap: the points in axis-aligned boxes.
//   - RayClosest and RayAll: the spheres, points with a radius each, that rays hit.
//
// A Result or a RayHits has the rows in compressed sparse form (CSR). Reuse it: it
// keeps its memory, and each call replaces its contents. It does not refer to the
// index, and stays valid after the next Build.
//
// # Engines
//
// Sizes and estimated costs alone decide which engine does the work. The choice never
// changes the results, and needs no setting.
//
//   - Any query: Radius, Count, KNN, Overlap and the rays walk over the rows of
//     cells that they can reach; KNN widens a ball until it contains K points. A row
//     along x is one run of points.
//   - Sweep: where Radius, Count, Overlap or KNN would reach so many rows of cells
//     that walking over them, empty or not, costs more than testing all points from
//     the first row to the last, they test these. A row counts as sixteen points.
//   - Self queries: RadiusSelf and Pairs gather the points near some ten or fifteen
//     neighbouring centres once and test each centre against them; where these are
//     more than 4,096, each centre walks over its rows alone.
//   - Sums: a worker finds the rows of 64 centres, in scratch that stays in its cache, and adds
//     records, in which the values of one point are together. SumSelf, and Sum with many queries,
//     first make the records of all points; Sum with few queries makes those of the neighbours that
//     it finds.
//   - Streaming: RadiusOnce sorts its queries into cells and reads every point once,
//     testing it against the queries of its cell. It estimates the cost from the number
//     of points and queries and, on up to 64 points, how many are near a query and how
//     many queries each meets; if building and querying an index is estimated to cost
//     less, it builds. It also builds for rows in order Grid, and where there are too
//     many hits to keep.
//   - All pairs: where queries and points are few (up to about 30,000 pairs),
//     RadiusOnce tests each point with each query and needs no cells.
//
// # Guarantees
//
// A point is within a radius when (dx*dx + dy*dy) + dz*dz <= r*r in float32, every
// operation rounded on its own. The grid only finds candidates: it never changes
// which points are found, whatever the cell size, the bounds, outliers or the
// radius. Only the order Grid depends on the cells, and with it the rounding of sums.
//
// Rows have a total order. Each kind of query has an oracle, its specification in
// plain Go, and returns the same bytes on every level, with any number of
// workers, with cgo or without. The oracle of RadiusOnce is RadiusOracle after
// Build and SetCategories, the oracle of Nearest the first of a sort by distance and slot.
//
// NaN and infinities are refused, as coordinates and as limits: for no limit use
// math.MaxFloat32. Invalid values are errors, returned before anything is written; slices
// of the wrong length are mistakes of the program, and panic. Later errors, too many
// results and ErrFloatEnv, leave a result empty; after ErrFloatEnv the contents of the
// slices passed to Count and RayClosest are undefined.
//
// The grid has at most two cells a point, plus one, however far apart the points
// are. After warm-up, with results reused, only the oracles and errors allocate.
//
// # Filters
//
// Exclude has one slot for each query; the point in that slot is left out. Mask has for each query
// a set of 32 categories: a point counts if it is in one of them, as set by SetCategories. Live has
// one bit for each slot, the same for all queries of a batch: a point counts if its bit is 1. A
// filter that is nil leaves out nothing; a mask of 0 leaves out all. In self queries the masks are a
// column, by the slot of the centre, and there is no Exclude.
//
// Build removes the categories. Without categories a point is in all of them: call SetCategories
// after every Build. A Gate does that itself.
//
// # Concurrency
//
// During Build and SetCategories nothing else may use the index. At other times any number of
// goroutines may query it, each with a result of its own. A copy of a Result, RayHits or
// NearestResult shares its memory, and so does not count as a result of its own. RadiusOnce reads
// only the Config, and may run even during a Build. What a query reads must not be written
// meanwhile.
package spatial
