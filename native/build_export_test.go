package native

// MeasureKernel and BuildKernel run a level's kernel itself, whatever the number
// of points, of which there is one or more: Measure and Build leave few to Go.
func MeasureKernel(level Level, x, y, z []float32, slots []uint32) (lo, hi [3]float32, ok bool) {
	if level == Go {
		return measureGo(x, y, z, slots)
	}
	return measureC(level, x, y, z, slots)
}

func BuildKernel(level Level, g *Grid, x, y, z []float32, slots []uint32, p *Points, cellOf []uint32) bool {
	if level == Go {
		return buildGo(g, x, y, z, slots, p, cellOf)
	}
	return buildC(level, g, x, y, z, slots, p, cellOf)
}
