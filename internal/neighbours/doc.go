// Package neighbours has the kernels of package spatial: the index of points, queries over it, sums over the neighbours that
// these find, and streams of points past queries. Each is a function over plain slices. Its Go form is the specification;
// on the other levels the same bits come from C, in csrc/neighbours. What package native says of levels, workers and
// misuse holds here too.
package neighbours
