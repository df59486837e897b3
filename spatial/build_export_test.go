package spatial

import "github.com/evertick/evertick/native"

// PointsOf returns the points as the last Build sorted them.
func PointsOf(ix *Index) *native.Points { return &ix.points }
