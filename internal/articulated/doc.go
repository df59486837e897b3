// Package articulated solves the joints of light bodies between heavy ones directly. An iterative solver passes a load from joint to joint, and
// each light body yields by far more than what it carries, so a chain with a heavy end would need as many iterations as the end is heavier than a
// link. A Forest finds such joints, as trees, and solves the rows of each tree at once, in a time proportional to the number of its joints,
// whatever the masses are.
//
// It knows no dimension: a body has a velocity of 3 or 6 numbers, a joint up to as many rows. All is float64, in one order that follows from
// the numbers of the bodies, so the result is the same everywhere.
package articulated
