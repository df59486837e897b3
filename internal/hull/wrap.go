package hull

import (
	"errors"
	"slices"
)

// errWrap would be a fault of this package: exact decisions cannot contradict each other.
var errWrap = errors.New("hull: the faces do not close")

// wrap returns the faces of the convex hull of points that span a space, each as the numbers of its corners,
// counter-clockwise seen from outside, without those on an edge. It is gift wrapping: from each edge of a face that it has found it
// turns a plane until it meets the next face, which has all points of that plane.
func wrap(ps []point) ([][]int, error) {
	first, err := firstFace(ps)
	if err != nil {
		return nil, err
	}
	faces, known := [][]int{first}, map[[2]int]bool{}
	for i := 0; i < len(faces); i++ {
		if len(faces) > 2*len(ps) {
			return nil, errWrap
		}
		face := faces[i]
		for k, u := range face {
			known[[2]int{u, face[(k+1)%len(face)]}] = true
		}
		for k, u := range face {
			v := face[(k+1)%len(face)]
			if known[[2]int{v, u}] {
				continue
			}
			next := faceOf(ps, v, u)
			if !hasEdge(next, v, u) {
				return nil, errWrap
			}
			for k, a := range next {
				known[[2]int{a, next[(k+1)%len(next)]}] = true
			}
			faces = append(faces, next)
		}
	}
	return faces, nil
}

func hasEdge(face []int, u, v int) bool {
	for k, a := range face {
		if a == u && face[(k+1)%len(face)] == v {
			return true
		}
	}
	return false
}

// firstFace finds a face at the point that comes first in the order x, y, z. A plane that contains this point and the
// direction of z, and that has all points on one side, contains a face or an edge.
func firstFace(ps []point) ([]int, error) {
	first := 0
	for i := range ps {
		if ps[i].less(ps[first]) {
			first = i
		}
	}
	u, z := ps[first], point{0, 0, 1}
	n := turn(ps, u, z)
	if n == (point{}) {
		return nil, errWrap
	}
	on := onPlane(ps, u, n)
	a, b := on[0], on[0]
	for _, i := range on {
		if ps[i].less(ps[a]) {
			a = i
		}
		if ps[b].less(ps[i]) {
			b = i
		}
	}
	edge := ps[b].sub(ps[a])
	for _, i := range on {
		if edge.cross(ps[i].sub(ps[a])) != (point{}) {
			return polygon(ps, on, n), nil
		}
	}
	face := faceOf(ps, a, b)
	if !hasEdge(face, a, b) {
		return nil, errWrap
	}
	return face, nil
}

// faceOf returns the face to the left of the edge from u to v of the hull, seen from outside.
func faceOf(ps []point, u, v int) []int {
	n := turn(ps, ps[u], ps[v].sub(ps[u]))
	return polygon(ps, onPlane(ps, ps[u], n), n)
}

// turn turns a plane around the line through u with direction d until no point is in front of it, and returns its normal. The line
// touches the hull, so that all points are within half a turn around it, and one pass over them finds the plane.
func turn(ps []point, u, d point) (n point) {
	for i := range ps {
		if to := ps[i].sub(u); n == (point{}) || n.sideOf(to) > 0 {
			n = d.cross(to)
		}
	}
	return n
}

// onPlane returns the points of the plane through u with normal n.
func onPlane(ps []point, u, n point) (on []int) {
	for i := range ps {
		if n.sideOf(ps[i].sub(u)) == 0 {
			on = append(on, i)
		}
	}
	return on
}

// polygon returns the corners of the convex hull of points in a plane, counter-clockwise around n: Andrew's monotone chain, in the
// projection along the longest axis of n.
func polygon(ps []point, on []int, n point) []int {
	k := 0
	for i := range n {
		if magnitude(n[i]) > magnitude(n[k]) {
			k = i
		}
	}
	x, y := (k+1)%3, (k+2)%3
	if n[k] < 0 {
		x, y = y, x
	}
	slices.SortFunc(on, func(a, b int) int {
		if d := ps[a][x] - ps[b][x]; d != 0 {
			return int(d)
		}
		return int(ps[a][y] - ps[b][y])
	})
	corners := make([]int, 0, len(on)+1)
	chain := func(points []int) {
		from := len(corners)
		for _, i := range points {
			for len(corners) >= from+2 {
				a, b := ps[corners[len(corners)-2]], ps[corners[len(corners)-1]]
				if (b[x]-a[x])*(ps[i][y]-b[y])-(b[y]-a[y])*(ps[i][x]-b[x]) > 0 {
					break
				}
				corners = corners[:len(corners)-1]
			}
			corners = append(corners, i)
		}
		corners = corners[:len(corners)-1] // the other chain begins with it
	}
	chain(on)
	slices.Reverse(on)
	chain(on)
	return corners
}

func magnitude(v int64) int64 { return max(v, -v) }
