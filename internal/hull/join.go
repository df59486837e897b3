package hull

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/vec"
)

// joinFaces joins faces that are in one plane within the tolerance. Rounding parts such faces: the corners of a face of a box that
// is turned are not in a plane. Where joined faces do not make a polyhedron, the faces stay as they are.
func (b *builder) joinFaces() [][]int {
	j := joiner{b: b, next: map[[2]int]int{}, group: make([]int, len(b.faces))}
	for f, face := range b.faces {
		for k, u := range face {
			j.next[[2]int{u, face[(k+1)%len(face)]}] = f
		}
		j.group[f] = -1
	}
	if joined := j.join(); isPolyhedron(joined) {
		return joined
	}
	return b.faces
}

// joiner joins faces into groups.
type joiner struct {
	b     *builder
	next  map[[2]int]int // the face to the left of each edge
	group []int          // by face; -1: none yet
}

// plane has the points p with normal·p = offset; the normal has length one.
type plane struct {
	normal [3]float64
	offset float64
}

// distance returns how far a point is in front of the plane.
func (p *plane) distance(q *[3]float64) float64 {
	n := &p.normal
	return (float64(float64(n[0]*q[0])+float64(n[1]*q[1])) + float64(n[2]*q[2])) - p.offset
}

// planeOf returns the plane of a polygon through the mean of its corners, and its area: Newell's formula. A polygon whose corners
// are in a plane of the grid is exact up to the last rounding.
func (b *builder) planeOf(face []int) (p plane, area float64) {
	n, mean := [3]float64{}, [3]float64{}
	origin := b.metres[face[0]]
	for k := 1; k+1 < len(face); k++ {
		n = vec.Add(n, vec.Cross(vec.Sub(b.metres[face[k]], origin), vec.Sub(b.metres[face[k+1]], origin)))
	}
	for _, i := range face {
		mean = vec.Add(mean, b.metres[i])
	}
	l := vec.Length(n)
	p.normal = vec.Scale(n, 1/l)
	p.offset = vec.Dot(p.normal, vec.Scale(mean, 1/float64(len(face))))
	return p, l / 2
}

func (j *joiner) join() (joined [][]int) {
	type seed struct {
		face int
		area float64
		plane
	}
	seeds := make([]seed, len(j.b.faces))
	for f, face := range j.b.faces {
		seeds[f].face = f
		seeds[f].plane, seeds[f].area = j.b.planeOf(face)
	}
	slices.SortStableFunc(seeds, func(a, c seed) int { return cmp.Compare(c.area, a.area) })
	for _, s := range seeds {
		if j.group[s.face] >= 0 {
			continue
		}
		j.group[s.face] = s.face
		loop := j.b.faces[s.face]
		for k := 0; k < len(loop); {
			f := j.next[[2]int{loop[(k+1)%len(loop)], loop[k]}]
			if j.group[f] < 0 && j.isOn(j.b.faces[f], s.plane) {
				if larger, ok := j.add(f, s.face); ok {
					loop, k = larger, 0
					continue
				}
			}
			k++
		}
		joined = append(joined, loop)
	}
	return dropStraight(joined)
}

// isOn reports whether a face is in a plane within the tolerance.
func (j *joiner) isOn(face []int, p plane) bool {
	for _, i := range face {
		if d := p.distance(&j.b.metres[i]); d > j.b.tolerance || d < -j.b.tolerance {
			return false
		}
	}
	return true
}

// add adds a face to a group, and returns the border of that. It fails if the border would not be one loop that visits each
// point once.
func (j *joiner) add(face, group int) (loop []int, ok bool) {
	j.group[face] = group
	after := map[int]int{}
	first := -1
	for f, g := range j.group {
		if g != group {
			continue
		}
		corners := j.b.faces[f]
		for k, u := range corners {
			v := corners[(k+1)%len(corners)]
			if j.group[j.next[[2]int{v, u}]] == group {
				continue
			}
			if _, twice := after[u]; twice {
				j.group[face] = -1
				return nil, false
			}
			after[u] = v
			if first < 0 {
				first = u
			}
		}
	}
	for u := first; len(loop) < len(after); {
		loop = append(loop, u)
		v, known := after[u]
		if u = v; !known || u == first {
			break
		}
	}
	if len(loop) != len(after) || len(loop) < 3 {
		j.group[face] = -1
		return nil, false
	}
	return loop, true
}

// dropStraight removes the points that only two faces have: they are on an edge.
func dropStraight(faces [][]int) [][]int {
	count := map[int]int{}
	for _, f := range faces {
		for _, i := range f {
			count[i]++
		}
	}
	for k := range faces {
		faces[k] = slices.DeleteFunc(slices.Clone(faces[k]), func(i int) bool { return count[i] < 3 })
	}
	return faces
}

// isPolyhedron reports whether faces close, two of them share at most one edge, and V - E + F = 2.
func isPolyhedron(faces [][]int) bool {
	edges, pairs, vertices := map[[2]int]int{}, map[[2]int]bool{}, map[int]bool{}
	for f, face := range faces {
		if len(face) < 3 {
			return false
		}
		for k, u := range face {
			e := [2]int{u, face[(k+1)%len(face)]}
			if _, twice := edges[e]; twice || e[0] == e[1] {
				return false
			}
			edges[e], vertices[u] = f, true
		}
	}
	for e, f := range edges { // order-free: each edge is checked by itself
		g, ok := edges[[2]int{e[1], e[0]}]
		if pair := [2]int{f, g}; !ok || f == g || pairs[pair] {
			return false
		} else {
			pairs[pair] = true
		}
	}
	return len(vertices)-len(edges)/2+len(faces) == 2
}
