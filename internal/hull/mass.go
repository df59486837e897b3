package hull

import "github.com/evertick/evertick/internal/vec"

// Mass returns the volume in m³, its centre in metres, and the inertia at density 1 about that centre in kg·m²: xx, yy, zz, xy,
// xz, yz, where the last three are -∫xy and so on. They are sums over the tetrahedra between a vertex and the triangles of
// the faces. A tetrahedron of volume V with the corners p has ∫x = V/4·Σpx and ∫xy = V/20·(Σ(px·py) + Σpx·Σpy).
func (p *Polyhedron) Mass() (volume float64, centre [3]float64, inertia [6]float64) {
	origin := vec.Wide(p.Vertices[0])
	var first [3]float64  // ∫x
	var second [6]float64 // ∫xx, yy, zz, xy, xz, yz
	for _, f := range p.Faces {
		a := vec.Sub(vec.Wide(p.Vertices[f[0]]), origin)
		for k := 1; k+1 < len(f); k++ {
			b, c := vec.Sub(vec.Wide(p.Vertices[f[k]]), origin), vec.Sub(vec.Wide(p.Vertices[f[k+1]]), origin)
			v := vec.Dot(a, vec.Cross(b, c)) / 6
			volume += v
			first = vec.Add(first, vec.Scale(vec.Add(vec.Add(a, b), c), v/4))
			for m, axes := range momentAxes {
				second[m] += float64(v * moment(a, b, c, axes[0], axes[1]))
			}
		}
	}
	centre = vec.Scale(first, 1/volume)
	for m, axes := range momentAxes { // about the centre
		second[m] -= float64(float64(volume*centre[axes[0]]) * centre[axes[1]])
	}
	inertia = [6]float64{second[1] + second[2], second[0] + second[2], second[0] + second[1], -second[3], -second[4], -second[5]}
	return volume, vec.Add(centre, origin), inertia
}

// momentAxes are the axes of the second moments, in the order of an inertia.
var momentAxes = [6][2]int{{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}

// moment is the mean of the product of two coordinates over the tetrahedron of 0, a, b, c.
func moment(a, b, c [3]float64, i, j int) float64 {
	sum := vec.Add(vec.Add(a, b), c)
	sums := float64(sum[i] * sum[j])
	own := float64(float64(a[i]*a[j])+float64(b[i]*b[j])) + float64(c[i]*c[j])
	return (own + sums) / 20
}
