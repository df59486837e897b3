package rigid3

// boxPair is two boxes with the pose of B as seen from A.
type boxPair struct {
	a, b [3]float32    // half extents
	r    [3][3]float32 // column j is axis j of B in the axes of A
	t    [3]float32    // the centre of B
	tB   [3]float32    // the same in the axes of B
}

// boxFace is a face of a box: the axis, and whether it is on the positive side.
type boxFace struct {
	axis     int
	positive bool
}

// collideBoxes is collideHulls for two boxes, of which the separation along an axis needs no search.
func collideBoxes(halfA, halfB Vec, f *frame, margin float32, k *clipping) (normal Vec, out []contactPoint) {
	tB := f.r.MulTransposed(f.p)
	w := boxPair{a: halfA.array(), b: halfB.array(), r: f.r.rows(), t: f.p.array(), tB: tB.array()}
	faceA, sA := w.bestFaceA()
	if sA > margin {
		return Vec{}, nil
	}
	faceB, sB := w.bestFaceB()
	if sB > margin {
		return Vec{}, nil
	}
	var clipped bool
	if sB > sA+referenceTolerance {
		normal, out, clipped = w.clipFaceB(faceB, f, sB, margin, k)
	} else {
		normal, out, clipped = w.clipFaceA(faceA, sA, margin, k)
	}
	if clipped && nearest(out) >= -edgeTolerance {
		return normal, out
	}
	i, j, sE := w.bestEdges()
	if sE > margin {
		return Vec{}, nil
	}
	if sE > maxFloat(maxFloat(sA, sB), nearest(out))+edgeTolerance {
		return w.edgeContact(i, j, sE, k)
	}
	return normal, out
}

// bestFaceA returns the face of A with the greatest separation from B, the first of equals.
func (w *boxPair) bestFaceA() (face boxFace, separation float32) {
	separation = -maxFinite
	for i := range 3 {
		r := &w.r[i]
		reach := (float32(abs(r[0])*w.b[0]) + float32(abs(r[1])*w.b[1])) + float32(abs(r[2])*w.b[2])
		if s := abs(w.t[i]) - (w.a[i] + reach); s > separation {
			face, separation = boxFace{i, w.t[i] > 0}, s
		}
	}
	return face, separation
}

func (w *boxPair) bestFaceB() (face boxFace, separation float32) {
	separation = -maxFinite
	for j := range 3 {
		reach := (float32(abs(w.r[0][j])*w.a[0]) + float32(abs(w.r[1][j])*w.a[1])) + float32(abs(w.r[2][j])*w.a[2])
		if s := abs(w.tB[j]) - (w.b[j] + reach); s > separation {
			face, separation = boxFace{j, w.tB[j] < 0}, s
		}
	}
	return face, separation
}

// next and last are the two other axes.
var (
	next = [3]int{1, 2, 0}
	last = [3]int{2, 0, 1}
)

// bestEdges returns the axes of A and of B whose cross product separates the boxes most. The vector e × b, with the axes e = i of A and
// b = j of B, is (-b[i2], b[i1]) along the two other axes of A.
func (w *boxPair) bestEdges() (axisA, axisB int, separation float32) {
	separation = -maxFinite
	for i := range 3 {
		i1, i2 := next[i], last[i]
		for j := range 3 {
			x, y := w.r[i1][j], w.r[i2][j]
			square := float32(x*x) + float32(y*y)
			if !(square > parallelSquare) {
				continue
			}
			distance := float32(w.t[i2]*x) - float32(w.t[i1]*y)
			reachA := float32(w.a[i1]*abs(y)) + float32(w.a[i2]*abs(x))
			reachB := float32(w.b[next[j]]*abs(w.r[i][last[j]])) + float32(w.b[last[j]]*abs(w.r[i][next[j]]))
			if s := (abs(distance) - (reachA + reachB)) / sqrt(square); s > separation {
				axisA, axisB, separation = i, j, s
			}
		}
	}
	return axisA, axisB, separation
}

// edgeContact returns the point of two edges along the axes i of A and j of B: where they are closest, on the edge of B.
func (w *boxPair) edgeContact(i, j int, separation float32, k *clipping) (Vec, []contactPoint) {
	i1, i2, j1, j2 := next[i], last[i], next[j], last[j]
	x, y := w.r[i1][j], w.r[i2][j]
	l := sqrt(float32(x*x) + float32(y*y))
	if float32(w.t[i2]*x)-float32(w.t[i1]*y) < 0 {
		l = -l // out of A
	}
	var n, p, u, q, v [3]float32
	n[i1], n[i2] = -y/l, x/l
	edgeA, edgeB := 4*i, 4*j
	p[i], u[i] = -w.a[i], w.a[i]+w.a[i]
	p[i1], p[i2] = -w.a[i1], -w.a[i2]
	if n[i1] > 0 {
		p[i1], edgeA = w.a[i1], edgeA+1
	}
	if n[i2] > 0 {
		p[i2], edgeA = w.a[i2], edgeA+2
	}
	// The edge of B is the one that is farthest against n, which has the components r[i][j2]/l and -r[i][j1]/l along its other axes.
	h1, h2 := w.b[j1], w.b[j2]
	if w.r[i][j2]/l > 0 {
		h1, edgeB = -h1, edgeB+1
	}
	if -w.r[i][j1]/l > 0 {
		h2, edgeB = -h2, edgeB+2
	}
	for k := range 3 {
		along := float32(w.b[j] * w.r[k][j])
		q[k] = (w.t[k] + (float32(h1*w.r[k][j1]) + float32(h2*w.r[k][j2]))) - along
		v[k] = along + along
	}
	from, direction := vecOf(q), vecOf(v)
	_, at := closestOnSegments(vecOf(p), vecOf(u), from, direction)
	point := contactPoint{from.addTimes(direction, at), separation, featureID(edgeFeature, edgeA, edgeB)}
	return vecOf(n), append(k.points[:0], point)
}

// clipFaceA returns the points of a face of A, whose separation from B is s.
func (w *boxPair) clipFaceA(face boxFace, s, margin float32, k *clipping) (normal Vec, points []contactPoint, clipped bool) {
	points, clipped = k.clipBox(&w.a, &w.b, &w.r, &w.t, face, s, margin, faceOfA)
	for i := range points {
		points[i].p = face.place(points[i].p)
	}
	return face.place(Vec{0, 0, 1}), points, clipped
}

// clipFaceB returns the points of a face of B, in the axes of A, on the surface of B.
func (w *boxPair) clipFaceB(face boxFace, f *frame, s, margin float32, k *clipping) (normal Vec, points []contactPoint, clipped bool) {
	r, t := w.r, [3]float32{-w.tB[0], -w.tB[1], -w.tB[2]}
	r[0][1], r[0][2], r[1][2], r[1][0], r[2][0], r[2][1] = r[1][0], r[2][0], r[2][1], r[0][1], r[0][2], r[1][2]
	points, clipped = k.clipBox(&w.b, &w.a, &r, &t, face, s, margin, faceOfB)
	for i := range points {
		p := &points[i]
		p.p.Z = w.b[face.axis] // from the surface of A to that of B
		p.p = f.Transform(face.place(p.p))
	}
	return f.r.Mul(face.place(Vec{0, 0, 1})).neg(), points, clipped
}

// place returns a vector in the axes of a box, of which X and Y are along the two axes after that of the face, and Z outwards.
func (f boxFace) place(v Vec) Vec {
	z := v.Z
	if !f.positive {
		z = -z
	}
	switch f.axis {
	case 0:
		return Vec{z, v.X, v.Y}
	case 1:
		return Vec{v.Y, z, v.X}
	}
	return Vec{v.X, v.Y, z}
}

// clipBox intersects the face of a box other that is most opposed to a face of a box ref with the sides of that, and keeps at most four of
// the points that are at most margin in front of it. r and t are the axes and the centre of other in the axes of ref. If none is left, since
// the faces are beside each other, it is the corner of other that is deepest, whose separation is s, and clipped is false. The points are
// on other, X and Y along the axes of the face, Z outwards.
func (k *clipping) clipBox(ref, other *[3]float32, r *[3][3]float32, t *[3]float32, face boxFace, s, margin float32, kind int) (points []contactPoint, clipped bool) {
	sign := float32(-1)
	if face.positive {
		sign = 1
	}
	out := face.axis
	u, v := next[out], last[out]
	// The incident face is that of the axis which is most along the normal.
	n := r[out]
	in := 0
	if abs(n[1]) > abs(n[0]) {
		in = 1
	}
	if abs(n[2]) > abs(n[in]) {
		in = 2
	}
	in1, in2 := next[in], last[in]
	h, number := other[in], 1
	if float32(sign*n[in]) > 0 {
		h, number = -h, 0
	}
	axis := func(k int, h float32) Vec {
		return Vec{float32(h * r[u][k]), float32(h * r[v][k]), float32(sign * float32(h*r[out][k]))}
	}
	q := quad{axis(in, h).Add(Vec{t[u], t[v], float32(sign * t[out])}), axis(in1, other[in1]), axis(in2, other[in2])}
	base := featureID(kind, 0, 64*(2*in+number)+512*face.number())
	if points = q.intersect(ref[u], ref[v], ref[out], margin, base, k.points[:0]); len(points) > 0 {
		return pickFour(points, Vec{0, 0, 1}), true
	}
	// The corner that is farthest against the normal.
	corner, number := *other, 7
	for k := range corner {
		if float32(sign*n[k]) > 0 {
			corner[k], number = -corner[k], number&^(1<<k)
		}
	}
	at := axis(0, corner[0]).Add(axis(1, corner[1])).Add(axis(2, corner[2])).Add(Vec{t[u], t[v], float32(sign * t[out])})
	return append(points, contactPoint{at, s, featureID(kind, 1, number)}), false
}

// quad is the points centre + x·first + y·second, with x and y from -1 to 1.
type quad struct{ centre, first, second Vec }

// intersect returns where the quad, seen along Z, meets the rectangle |X| ≤ rx, |Y| ≤ ry, if that is at most margin above z: the corners of
// the quad that are inside of the rectangle, the points where its edges enter and leave it, and the corners of the rectangle that are
// inside of the quad. Some may be equal. The number of a point is added to base.
func (q *quad) intersect(rx, ry, z, margin float32, base uint32, points []contactPoint) []contactPoint {
	low, high := q.centre.Sub(q.first), q.centre.Add(q.first)
	corners := [4]Vec{low.Sub(q.second), high.Sub(q.second), low.Add(q.second), high.Add(q.second)}
	add := func(p Vec, number uint32) {
		if s := p.Z - z; s <= margin {
			points = append(points, contactPoint{p, s, base + number})
		}
	}
	inside := 0
	for i, p := range corners {
		if abs(p.X) <= rx && abs(p.Y) <= ry {
			add(p, uint32(i))
			inside++
		}
	}
	if inside == 4 {
		return points
	}
	for i, d := range [2]Vec{q.first.Add(q.first), q.second.Add(q.second)} {
		inverseX, inverseY := inverseOf(d.X), inverseOf(d.Y)
		for k := range 2 { // the edges from corner 0, and that from corner 2 or 1
			from := corners[k*(2-i)]
			inX, outX := enter(from.X, d.X, inverseX, rx)
			inY, outY := enter(from.Y, d.Y, inverseY, ry)
			begin, end := maxFloat(maxFloat(inX, inY), 0), minFloat(minFloat(outX, outY), 1)
			if !(begin < end) {
				continue
			}
			number := uint32(8 + 8*(2*i+k)) // the edge, and the side of the rectangle: see enter
			if begin > 0 {
				add(from.addTimes(d, begin), number+side(inY > inX, d, true))
			}
			if end < 1 {
				add(from.addTimes(d, end), number+side(outY < outX, d, false))
			}
		}
	}
	f, g := q.first, q.second
	scale := 1 / (float32(f.X*g.Y) - float32(f.Y*g.X))
	for i := range 4 {
		cornerX, cornerY := rx, ry
		if i&1 == 0 {
			cornerX = -rx
		}
		if i&2 == 0 {
			cornerY = -ry
		}
		x, y := cornerX-q.centre.X, cornerY-q.centre.Y
		a, b := float32((float32(x*g.Y)-float32(y*g.X))*scale), float32((float32(f.X*y)-float32(f.Y*x))*scale)
		if abs(a) <= insideQuad && abs(b) <= insideQuad {
			add(Vec{cornerX, cornerY, q.centre.Z + (float32(a*f.Z) + float32(b*g.Z))}, uint32(4+i))
		}
	}
	return points
}

// insideQuad is a little more than one, so that a corner of the rectangle on an edge of the quad is not lost by rounding.
const insideQuad = 1 + 1e-5

// inverseOf is 1/d, or 0 for a coordinate of an edge that is at a right angle to the axis.
func inverseOf(d float32) float32 {
	if abs(d) > minSlope {
		return 1 / d
	}
	return 0
}

// minSlope is a length in metres that counts as zero.
const minSlope = 1e-10

// enter returns where a coordinate p + t·d is between -r and r. An edge at a right angle to the axis is always inside, or never.
func enter(p, d, inverse, r float32) (in, out float32) {
	if inverse == 0 {
		if abs(p) <= r {
			return -maxFinite, maxFinite
		}
		return maxFinite, -maxFinite
	}
	if d < 0 {
		r = -r
	}
	return float32((-r - p) * inverse), float32((r - p) * inverse)
}

// side is the number of the side of the rectangle at which an edge along d enters or leaves it, across X or Y.
func side(y bool, d Vec, enters bool) uint32 {
	number, along := uint32(0), d.X
	if y {
		number, along = 2, d.Y
	}
	if (along < 0) != enters {
		return number
	}
	return number + 1
}

func (f boxFace) number() int {
	if f.positive {
		return 2*f.axis + 1
	}
	return 2 * f.axis
}

func (a Vec) array() [3]float32 { return [3]float32{a.X, a.Y, a.Z} }

func vecOf(a [3]float32) Vec { return Vec{a[0], a[1], a[2]} }

func (m *Mat) rows() [3][3]float32 { return [3][3]float32{m.X.array(), m.Y.array(), m.Z.array()} }
