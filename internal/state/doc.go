// Package state has two tables that an engine fills in: of what the state of a world consists, and of what the events of a
// step consist. One entry of a table is all that a new kind of state, or of event, needs: snapshots, copies and hashes
// visit the entries in their order.
//
//   - A [Parts] has for each kind of state how to encode it, how to check what was encoded, how to make that the state,
//     how to copy it from another world, and how to hash it. Restoring is all or nothing: first all parts are checked,
//     which fills an image and changes nothing, and then all are replaced, which cannot fail.
//   - A [Lists] has the lists of events, each of which is a slice.
package state
