// Package hull builds convex polyhedra from points: [Build] finds vertices and faces, and [Polyhedron.Mass] volume, centre and
// inertia. Results are the same on every machine, and for any order of the points.
//
// Points are rounded to a grid of 2^29 cells along each axis of their box, and all decisions about them are exact, in integers. So
// the builder has no special cases that rounding could make contradict each other: it never fails for points that span a
// space, and it ends. Faces are then joined where rounding alone keeps them apart.
package hull
