package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/vec"
)

// Mass is the mass of a shape, or of a body: kilograms, the centre of mass in metres, and the inertia about that centre in kg·m²: xx,
// yy, zz, xy, xz, yz, of which the last three are -∫xy and so on.
type Mass struct {
	Mass    float64
	Centre  [3]float64
	Inertia [6]float64
}

// Times returns the mass of the same shape in another density.
func (m *Mass) Times(density float64) Mass {
	out := Mass{m.Mass * density, m.Centre, m.Inertia}
	for k := range out.Inertia {
		out.Inertia[k] *= density
	}
	return out
}

// SphereMass is the mass of a ball of density 1.
func SphereMass(centre [3]float64, radius float64) Mass {
	m := float64(4. / 3 * math.Pi * float64(float64(radius*radius)*radius))
	i := float64(0.4*m) * float64(radius*radius)
	return Mass{m, centre, [6]float64{i, i, i}}
}

// CapsuleMass is the mass of a capsule of density 1 between two points: a cylinder and two half balls. With the mass b of both half
// balls and half the length h, these have the moment b(2r²/5 + h² + 3hr/4) across the axis.
func CapsuleMass(p, q [3]float64, radius float64) Mass {
	d := vec.Sub(q, p)
	length, square := vec.Length(d), float64(radius*radius)
	h := length / 2
	cylinder := float64(math.Pi * float64(square*length))
	ball := float64(4. / 3 * math.Pi * float64(square*radius))
	along := float64(float64(cylinder*square)/2) + float64(0.4*float64(ball*square))
	across := float64(cylinder*(float64(square/4)+float64(float64(length*length)/12))) + float64(ball*(float64(0.4*square)+float64(h*h)+float64(0.75*float64(h*radius))))
	axis := [3]float64{}
	if length > 0 {
		axis = vec.Scale(d, 1/length)
	}
	// across·1 + (along - across)·axis·axisᵀ
	m := Mass{cylinder + ball, vec.Scale(vec.Add(p, q), 0.5), [6]float64{across, across, across}}
	for k, ij := range pairs {
		m.Inertia[k] += float64((along - across) * float64(axis[ij[0]]*axis[ij[1]]))
	}
	return m
}

// BoxMass is the mass of a box of density 1 around the origin.
func BoxMass(half [3]float64) Mass {
	m := 8 * float64(float64(half[0]*half[1])*half[2])
	x, y, z := float64(half[0]*half[0]), float64(half[1]*half[1]), float64(half[2]*half[2])
	return Mass{Mass: m, Inertia: [6]float64{float64(m*(y+z)) / 3, float64(m*(x+z)) / 3, float64(m*(x+y)) / 3}}
}

// pairs are the axes of the numbers of an inertia.
var pairs = [6][2]int{{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}

// matrix returns an inertia as a matrix.
func matrix(i [6]float64) [3][3]float64 {
	return [3][3]float64{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}
}

// Placed returns the mass of a shape that is rotated by q, then moved.
func (m *Mass) Placed(position [3]float64, q [4]float64) Mass {
	r := rotation(q)
	out := Mass{Mass: m.Mass, Centre: position}
	for k := range r {
		out.Centre[k] += vec.Dot(r[k], m.Centre)
	}
	i := matrix(m.Inertia)
	for k, ij := range pairs { // r·i·rᵀ
		row := [3]float64{}
		for n := range row {
			row[n] = vec.Dot(i[n], r[ij[1]])
		}
		out.Inertia[k] = vec.Dot(r[ij[0]], row)
	}
	return out
}

// rotation returns a quaternion x, y, z, w as a matrix.
func rotation(q [4]float64) [3][3]float64 {
	x, y, z, w := q[0], q[1], q[2], q[3]
	p := func(a, b float64) float64 { return 2 * float64(a*b) }
	return [3][3]float64{
		{1 - (p(y, y) + p(z, z)), p(x, y) - p(w, z), p(x, z) + p(w, y)},
		{p(x, y) + p(w, z), 1 - (p(x, x) + p(z, z)), p(y, z) - p(w, x)},
		{p(x, z) - p(w, y), p(y, z) + p(w, x), 1 - (p(x, x) + p(y, y))},
	}
}

// Sum returns the mass of all parts. The inertia of each is moved to the common centre d away: by m(d·d - dᵢ²) on the diagonal, and
// -m·dᵢ·dⱼ beside it. Without mass the centre is the origin.
func Sum(parts []Mass) (sum Mass) {
	first := [3]float64{}
	for i := range parts {
		sum.Mass += parts[i].Mass
		first = vec.Add(first, vec.Scale(parts[i].Centre, parts[i].Mass))
	}
	if !(sum.Mass > 0) {
		return Mass{}
	}
	for k := range first {
		sum.Centre[k] = float64(first[k] / sum.Mass)
	}
	if len(parts) == 1 {
		sum.Centre = parts[0].Centre
	}
	for i := range parts {
		p := &parts[i]
		d := vec.Sub(p.Centre, sum.Centre)
		square := vec.Dot(d, d)
		for k, ij := range pairs {
			moved := -float64(d[ij[0]] * d[ij[1]])
			if k < 3 {
				moved += square
			}
			sum.Inertia[k] += p.Inertia[k] + float64(p.Mass*moved)
		}
	}
	return sum
}

// Principal returns the moments about the principal axes, and the rotation from these axes to those of the body: Jacobi's method, with
// a fixed number of sweeps. Products of inertia that are rounding errors count as zero, so that the axes of a box are its own.
func (m *Mass) Principal() (moments [3]float64, axes [4]float64) {
	a := matrix(m.Inertia)
	v := [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} // its columns are the axes
	negligible := (a[0][0] + a[1][1] + a[2][2]) * 0x1p-24
	for range 8 {
		for _, ij := range pairs[3:] {
			i, j := ij[0], ij[1]
			if math.Abs(a[i][j]) <= negligible {
				a[i][j], a[j][i] = 0, 0
				continue
			}
			negligible = 0 // from now on the products shrink with each rotation
			theta := float64((a[j][j] - a[i][i]) / (2 * a[i][j]))
			t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
			if theta < 0 {
				t = -t
			}
			c := 1 / math.Sqrt(float64(t*t)+1)
			s := float64(t * c)
			k := 3 - i - j
			ii, jj := a[i][i]-float64(t*a[i][j]), a[j][j]+float64(t*a[i][j])
			ik, jk := float64(c*a[i][k])-float64(s*a[j][k]), float64(s*a[i][k])+float64(c*a[j][k])
			a[i][i], a[j][j], a[i][j], a[j][i] = ii, jj, 0, 0
			a[i][k], a[k][i], a[j][k], a[k][j] = ik, ik, jk, jk
			for n := range v {
				x, y := v[n][i], v[n][j]
				v[n][i], v[n][j] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
			}
		}
	}
	return [3]float64{a[0][0], a[1][1], a[2][2]}, quaternion(v)
}

// quaternion returns a rotation matrix as x, y, z, w, with w ≥ 0.
func quaternion(r [3][3]float64) (q [4]float64) {
	trace := r[0][0] + r[1][1] + r[2][2]
	if trace >= 0 {
		w := math.Sqrt(1+trace) / 2
		f := 0.25 / w
		return [4]float64{(r[2][1] - r[1][2]) * f, (r[0][2] - r[2][0]) * f, (r[1][0] - r[0][1]) * f, w}
	}
	i := 0
	for k := range r {
		if r[k][k] > r[i][i] {
			i = k
		}
	}
	j, k := (i+1)%3, (i+2)%3
	l := math.Sqrt(1+r[i][i]-r[j][j]-r[k][k]) / 2
	f := 0.25 / l
	q[i], q[j], q[k], q[3] = l, (r[i][j]+r[j][i])*f, (r[i][k]+r[k][i])*f, (r[k][j]-r[j][k])*f
	if q[3] < 0 {
		for n := range q {
			q[n] = -q[n]
		}
	}
	return q
}
