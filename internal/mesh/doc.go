// Package mesh cooks triangles for collision: it joins equal vertices, finds which triangles share an edge and how they meet there, and builds
// a tree of boxes. It also makes such triangles of height fields, and of tiles of them, without storing any.
//
// The result is a function of the set of triangles: their order, and the numbers of the vertices, change only Triangle.Number. Decisions compare
// float32 coordinates or float64 products of them, each of which is rounded by itself, so that the result has the same bits everywhere.
package mesh
