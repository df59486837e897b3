// Package svg writes pictures of physics worlds as SVG 1.1, for documents and for tests
// that fail.
//
//	err := svg.Write(file, world, svg.Options{Draw: physics.DrawOptions{Contacts: true}})
//
// The second axis of the plane points up. A picture has no ground of its own, and its
// colours can be told from a light one and from a dark one. Equal drawings give equal
// bytes, on every machine.
package svg
