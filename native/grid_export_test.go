package native

// Edge returns about where cell j of an axis begins.
func (g *Grid) Edge(axis int, j int32) float32 { return g.edge(axis, j) }
