// Package handle numbers the objects of a world: bodies, shapes, joints. A handle to an object is its number, which is a row
// of columns, and a generation, which counts the objects that have had this number. An engine wraps the two in a type of
// its own for each kind of object.
//
//   - [Pool] allocates numbers and generations.
//   - [Lists] holds the items of each owner, such as the [Shapes] of a body; each of the [Joints] has two bodies. [Pairs] are
//     pairs of bodies, such as those that pass through each other. [Sparse] has values that only few objects have.
//   - [Slots] and [SlotSet] have the rows of entities that bodies drive.
//   - A list of commands hands out provisional handles, to objects that it will create when it is applied. [Recording]
//     makes them, [DryRun] finds out which handles are valid at each point of a list before anything changes, and
//     [Created] returns the handles for which they stand.
//
// All of it is state or follows from state, so nothing depends on the order in which numbers became free, or on maps.
package handle
