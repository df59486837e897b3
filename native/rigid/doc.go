// Package rigid holds the stages of a step of 2D rigid bodies as functions over
// plain slices: bounds, broad phase, contact manifolds, matching with the contacts
// of the step before, colouring, the solver of contacts and joints, the sweeps of
// fast bodies, and islands; and queries: rays, and shapes that are cast or probed, in
// a tree. Each stage has a plain Go form, which is its specification; those that take
// time have kernels on the levels of package native that compute the same bits.
//
// A body is a number, the index into poses and states; a shape is a number too, and
// belongs to a body. The frame of a body has its centre of mass as origin: shapes are
// given relative to it, and poses are poses of it. Units are metres, kilograms,
// seconds and radians; angles are counter-clockwise.
//
// Most programs use package physics, which keeps the books: handles, mass, sleep,
// events, snapshots.
package rigid
