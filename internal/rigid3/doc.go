// Package rigid3 has the stages of a step of rigid bodies in space, as functions over plain slices. Its vocabulary is that of package
// rigid, which has those in the plane. All numbers are float32, and each product that feeds a sum is rounded by itself, so that results
// are the same on every machine.
package rigid3
