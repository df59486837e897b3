// Package svg writes pictures of physics worlds as SVG 1.1, for documents and for tests
// that fail.
//
//	err := svg.Write(file, world, svg.Options{Draw: physics.DrawOptions{Contacts: true}})
//
// The second axis of the plane points up. A picture has no background, and its
// colours are visible on a light and on a dark page. Equal drawings give equal
// bytes, on every machine.
package svg
