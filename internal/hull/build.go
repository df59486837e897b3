package hull

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/vec"
)

const (
	// MinVertices and MaxVertices bound the number of vertices of a polyhedron.
	MinVertices = 4
	MaxVertices = 255
)

var (
	// ErrFlat: the points do not span a space, within the tolerance: they are in a plane, on a line, or in one place.
	ErrFlat = errors.New("hull: flat")
	// ErrRange: a number of vertices that is out of range, or a coordinate that is not finite.
	ErrRange = errors.New("hull: out of range")
)

// Polyhedron is a convex polyhedron.
type Polyhedron struct {
	// Vertices ascend by x, then y, then z.
	Vertices [][3]float32

	// Faces are the vertices of each face, counter-clockwise seen from outside, from the lowest on. They ascend.
	Faces [][]uint8

	// Tolerance is the distance in metres within which points count as one plane: 3·2^-23 of the sum of the greatest
	// coordinates, which is their rounding error, or 2^-20 of the greatest extent, if that is more.
	Tolerance float32

	// Outside is the greatest distance in metres of a point from the polyhedron: at most Tolerance, unless there are more
	// vertices than were allowed.
	Outside float32
}

// Build returns the convex hull of points with at most so many vertices. Where it needs more, it takes the points that are
// farthest outside of what it has, one after the other, and Outside says what is missing. Its time is at most proportional to the
// number of points, times that of faces.
func Build(points [][3]float32, vertices int) (*Polyhedron, error) {
	if vertices < MinVertices || vertices > MaxVertices {
		return nil, ErrRange
	}
	b, err := newBuilder(points)
	if err != nil {
		return nil, err
	}
	if err := b.simplex(); err != nil {
		return nil, err
	}
	for {
		if err := b.wrap(); err != nil {
			return nil, err
		}
		if b.findOutside(); len(b.outside) == 0 || len(b.corners) >= vertices {
			return b.finish(), nil
		}
		// Points that are outside of different faces change each other's distance little, so some are added at once.
		for _, o := range b.outside[:min(len(b.outside), max(1, (vertices-len(b.corners))/8))] {
			b.corners = append(b.corners, o.point)
		}
	}
}

// builder builds a hull.
type builder struct {
	points    [][3]float32 // ascending, each once
	cells     []point
	metres    [][3]float64 // the cells, relative to the first point
	grid      grid
	tolerance float64
	rest      []int // points that may be outside
	corners   []int // the vertices so far
	faces     [][]int
	outside   []outsider // by face: the farthest point
}

// outsider is a point outside of a face.
type outsider struct {
	point    int
	distance float64
}

func newBuilder(points [][3]float32) (*builder, error) {
	b := &builder{points: slices.Clone(points)}
	if len(points) == 0 {
		return nil, ErrFlat
	}
	lo, hi := points[0], points[0]
	for i := range b.points {
		for k := range lo {
			v := b.points[i][k]
			switch {
			case v-v != 0:
				return nil, ErrRange
			case v == 0:
				v = 0 // not negative
			}
			b.points[i][k], lo[k], hi[k] = v, min(lo[k], v), max(hi[k], v)
		}
	}
	slices.SortFunc(b.points, func(p, q [3]float32) int { return slices.Compare(p[:], q[:]) })
	b.points = slices.Compact(b.points)
	extent, sum := 0.0, 0.0
	for k := range lo {
		extent = max(extent, float64(hi[k])-float64(lo[k]))
		sum += max(math.Abs(float64(lo[k])), math.Abs(float64(hi[k])))
	}
	b.tolerance = max(extent*0x1p-20, 3*sum*0x1p-23)
	b.grid = newGrid(lo, hi)
	b.cells = make([]point, len(b.points))
	b.rest = make([]int, len(b.points))
	b.metres = make([][3]float64, len(b.points))
	for i := range b.points {
		b.cells[i], b.rest[i] = b.grid.point(b.points[i]), i
		for k, v := range b.cells[i].sub(b.cells[0]) {
			b.metres[i][k] = float64(v) * b.grid.cell[k]
		}
	}
	return b, nil
}

// simplex finds four vertices: the first point, and those farthest from it, from the line of both, and from the plane of
// these three.
func (b *builder) simplex() error {
	b.corners = append(b.corners[:0], 0)
	far, u := b.farthest(func(d [3]float64) [3]float64 { return d })
	if far < 0 {
		return ErrFlat
	}
	b.corners = append(b.corners, far)
	far, n := b.farthest(func(d [3]float64) [3]float64 { return vec.Cross(u, d) })
	if far < 0 {
		return ErrFlat
	}
	b.corners = append(b.corners, far)
	far, _ = b.farthest(func(d [3]float64) [3]float64 { return [3]float64{vec.Dot(n, d)} })
	if far < 0 {
		return ErrFlat
	}
	b.corners = append(b.corners, far)
	return nil
}

// farthest returns the point whose offset from the first point has the longest image, and the unit vector of that; -1 if none is
// longer than twice the tolerance.
func (b *builder) farthest(image func(d [3]float64) [3]float64) (far int, unit [3]float64) {
	far, longest := -1, 2*b.tolerance
	for i := range b.points {
		v := image(b.metres[i])
		if l := vec.Length(v); l > longest {
			far, longest, unit = i, l, vec.Scale(v, 1/l)
		}
	}
	return far, unit
}

// wrap finds the faces of the corners, and keeps the corners that have faces.
func (b *builder) wrap() error {
	slices.Sort(b.corners)
	b.corners = slices.Compact(b.corners)
	ps := make([]point, len(b.corners))
	for i, c := range b.corners {
		ps[i] = b.cells[c]
	}
	faces, err := wrap(ps)
	if err != nil {
		return err
	}
	used := make([]bool, len(b.corners))
	for _, f := range faces {
		for k, i := range f {
			used[i] = true
			f[k] = b.corners[i]
		}
	}
	kept := b.corners[:0]
	for i, c := range b.corners {
		if used[i] {
			kept = append(kept, c)
		}
	}
	b.corners, b.faces = kept, faces
	return nil
}

// findOutside lists for each face the farthest point outside of it, beyond the tolerance, farthest first. It forgets points
// that are inside.
func (b *builder) findOutside() {
	planes := make([]plane, len(b.faces))
	b.outside = b.outside[:0]
	for f, face := range b.faces {
		planes[f], _ = b.planeOf(face)
		b.outside = append(b.outside, outsider{-1, b.tolerance})
	}
	kept := b.rest[:0]
	for _, i := range b.rest {
		at, most := -1, b.tolerance
		for f := range planes {
			if d := planes[f].distance(&b.metres[i]); d > most {
				at, most = f, d
			}
		}
		if at < 0 {
			continue
		}
		kept = append(kept, i)
		if most > b.outside[at].distance {
			b.outside[at] = outsider{i, most}
		}
	}
	b.rest = kept
	b.outside = slices.DeleteFunc(b.outside, func(o outsider) bool { return o.point < 0 })
	slices.SortFunc(b.outside, func(o, p outsider) int {
		return cmp.Or(cmp.Compare(p.distance, o.distance), cmp.Compare(o.point, p.point))
	})
}

// finish returns the polyhedron of the faces.
func (b *builder) finish() *Polyhedron {
	p := &Polyhedron{Tolerance: float32(b.tolerance)}
	if len(b.outside) > 0 {
		p.Outside = float32(b.outside[0].distance)
	}
	p.setFaces(b.points, b.joinFaces())
	return p
}

// setFaces sets vertices and faces from faces of points.
func (p *Polyhedron) setFaces(points [][3]float32, faces [][]int) {
	number := map[int]uint8{}
	var used []int
	for _, f := range faces {
		for _, i := range f {
			if _, ok := number[i]; !ok {
				number[i] = 0
				used = append(used, i)
			}
		}
	}
	slices.Sort(used)
	for n, i := range used {
		number[i] = uint8(n)
		p.Vertices = append(p.Vertices, points[i])
	}
	for _, f := range faces {
		loop := make([]uint8, len(f))
		first := slices.Index(f, slices.Min(f))
		for k := range f {
			loop[k] = number[f[(first+k)%len(f)]]
		}
		p.Faces = append(p.Faces, loop)
	}
	slices.SortFunc(p.Faces, slices.Compare)
}
