// Package rigid holds the stages of a step of 2D rigid bodies as functions over plain slices: bounds, broad
// phase, contact manifolds, matching with the contacts of the last step, graph colouring, the solver of
// contacts and joints, continuous collision and islands. It also has queries in a tree: ray casts, shape casts,
// overlaps and distances. Each function has a plain Go form, which is its specification. Those that dominate
// the time have kernels on the levels of package native that compute the same bits.
//
// A body is a number, the index into poses and states. A shape is a number too, and belongs to a body. The
// frame of a body has its centre of mass as origin: shapes are relative to it, and poses are its poses. Units
// are metres, kilograms, seconds and radians; angles are counter-clockwise.
//
// Most programs use package physics, which manages handles, mass, sleep, events and snapshots.
package rigid
