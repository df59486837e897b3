package articulated

import "math"

// Most is the greatest number of rows of a joint, and of numbers of a velocity.
const Most = 6

// Vector is a velocity, an impulse, or a number for each row of a joint.
type Vector [Most]float64

// Matrix has rows of Vectors.
type Matrix [Most]Vector

// Body is a dynamic body in a solution.
type Body struct {
	Response Matrix // the inverse of its mass matrix: what an impulse does to its velocity. Solve changes it
	Impulse  Vector // set by Solve: of all joints of the tree

	change Vector // of its velocity, so far
}

// Joint is the rows of a Link in a solution. The speed of a row is the product of A with the velocity of body A plus that of B with the velocity of
// body B. An impulse along it exerts A times itself on body A, and B times itself on body B.
type Joint struct {
	Rows    int
	A, B    Matrix
	Excess  Vector    // of each row: its speed, less the wanted one
	Yield   Vector    // > 0: how much further a row may miss the wanted speed for each unit of its impulse
	Impulse Vector    // set by Solve
	Row     [Most]int // of the solver that owns the joint: which of its rows each one is

	gain Matrix // what the impulse of the parent's later joints changes of the impulse: a row for each row
}

// Solution holds the bodies and the joints of all trees in the order of Forest.Bodies and Forest.Links.
type Solution struct {
	Bodies []Body
	Joints []Joint
}

// Solve finds the impulses of all joints of a tree after which each row has its wanted speed, less Yield times its impulse, where velocities
// have so many numbers. From the leaves up, each joint is solved as if the parent had no other joints but those before it; the response and the
// velocity of the parent then take this joint into account. From the root down, each impulse then follows from the impulses of the joints that
// came after it. A joint whose numbers are not finite has no impulse.
func (s *Solution) Solve(f *Forest, t *Tree, numbers int) {
	bodies, links, joints := s.Bodies[t.Body:t.EndBody], f.Links[t.Link:t.EndLink], s.Joints[t.Link:t.EndLink]
	for i := range bodies {
		bodies[i].Impulse, bodies[i].change = Vector{}, Vector{}
	}
	for i := range links {
		j := &joints[i]
		parent, child := j.ends(&links[i], bodies)
		j.climb(parent, child, &links[i], numbers)
	}
	for i := len(links) - 1; i >= 0; i-- {
		j := &joints[i]
		parent, child := j.ends(&links[i], bodies)
		j.descend(parent, child, &links[i], numbers)
	}
}

// ends are the parent and the child, or nil for one that is not dynamic.
func (j *Joint) ends(l *Link, bodies []Body) (parent, child *Body) {
	parent, child = &bodies[max(l.A, 0)], &bodies[max(l.B, 0)]
	if !l.childB {
		parent, child = child, parent
	}
	if l.A == Ground || l.B == Ground {
		return parent, nil
	}
	return parent, child
}

func (j *Joint) matrices(l *Link) (parent, child *Matrix) {
	if l.childB {
		return &j.A, &j.B
	}
	return &j.B, &j.A
}

func (j *Joint) climb(parent, child *Body, l *Link, numbers int) {
	onParent, onChild := j.matrices(l)
	n := j.Rows
	var matrix, effect Matrix // effect: by row, what its impulse does to the parent
	wanted := j.Excess
	for k := range n {
		effect[k] = parent.Response.times(&onParent[k], numbers)
		for o := range k + 1 {
			matrix[k][o] = effect[k].dot(&onParent[o], numbers)
		}
		wanted[k] += onParent[k].dot(&parent.change, numbers)
		if child != nil {
			e := child.Response.times(&onChild[k], numbers)
			for o := range k + 1 {
				matrix[k][o] += e.dot(&onChild[o], numbers)
			}
			wanted[k] += onChild[k].dot(&child.change, numbers)
		}
		matrix[k][k] += j.Yield[k]
	}
	inverse := factor(&matrix, n)
	solve(&matrix, &inverse, &wanted, n)
	if !finite(&wanted, n) {
		j.Rows = 0
		return
	}
	for k := range n {
		j.Impulse[k] = -wanted[k]
	}
	for c := range numbers {
		var column Vector
		for k := range n {
			column[k] = effect[k][c]
		}
		solve(&matrix, &inverse, &column, n)
		for k := range n {
			j.gain[k][c] = column[k]
		}
	}
	for k := range n {
		for c := range numbers {
			parent.change[c] += float64(effect[k][c] * j.Impulse[k])
			for d := range c + 1 {
				parent.Response[c][d] -= float64(effect[k][c] * j.gain[k][d])
			}
		}
	}
	for c := range numbers {
		for d := range c {
			parent.Response[d][c] = parent.Response[c][d]
		}
	}
}

func (j *Joint) descend(parent, child *Body, l *Link, numbers int) {
	onParent, onChild := j.matrices(l)
	later := parent.Impulse
	for k := range j.Rows {
		j.Impulse[k] -= j.gain[k].dot(&later, numbers)
		for c := range numbers {
			parent.Impulse[c] += float64(onParent[k][c] * j.Impulse[k])
		}
		if child != nil {
			for c := range numbers {
				child.Impulse[c] += float64(onChild[k][c] * j.Impulse[k])
			}
		}
	}
}

func (m *Matrix) times(v *Vector, numbers int) (product Vector) {
	for c := range numbers {
		product[c] = m[c].dot(v, numbers)
	}
	return product
}

func (v *Vector) dot(o *Vector, numbers int) (sum float64) {
	for c := range numbers {
		sum += float64(v[c] * o[c])
	}
	return sum
}

// factor replaces the lower triangle of a matrix by L of L·D·Lᵀ, and returns D⁻¹.
func factor(m *Matrix, n int) (inverse Vector) {
	for k := range n {
		left := m[k][k]
		for o := range k {
			u := m[k][o]
			for q := range o {
				u -= float64(m[o][q] * m[k][q])
			}
			m[k][o] = u // of L·D, until the row is complete
		}
		for o := range k {
			u := m[k][o]
			m[k][o] = float64(u * inverse[o])
			left -= float64(m[k][o] * u)
		}
		if left > 0 {
			inverse[k] = 1 / left
		}
	}
	return inverse
}

// solve replaces v by the solution of L·D·Lᵀ·x = v.
func solve(m *Matrix, inverse, v *Vector, n int) {
	for k := range n {
		for o := range k {
			v[k] -= float64(m[k][o] * v[o])
		}
	}
	for k := n - 1; k >= 0; k-- {
		v[k] = float64(v[k] * inverse[k])
		for o := k + 1; o < n; o++ {
			v[k] -= float64(m[o][k] * v[o])
		}
	}
}

func finite(v *Vector, n int) bool {
	for _, x := range v[:n] {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}
