// Package broad finds which of many shapes are near each other. [Phase] finds all pairs of boxes that overlap, from step to
// step, and [Grid] the boxes that overlap one.
//
// Boxes have two axes, by which they are sorted, and an interval along a third one, which the kernels test together with them. An
// engine of two dimensions may leave the intervals out. For one of three, [ThirdAxis] chooses which axis is the third.
package broad
