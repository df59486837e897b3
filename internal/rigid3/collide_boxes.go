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
		p.p = f.transform(face.place(p.p))
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

// clipBox clips the face of a box other that is most opposed to a face of a box ref to the sides of that, and keeps the points that are at most
// margin in front of it. r and t are the axes and the centre of other in the axes of ref. If none is left, since the faces are beside each
// other, it is the corner of other that is deepest, whose separation is s, and clipped is false. The points are on other, X and Y along the
// axes of the face, Z outwards.
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
	h0, number := other[in], 1<<in
	if float32(sign*n[in]) > 0 {
		h0, number = -h0, 0
	}
	h1, h2 := other[in1], other[in2]
	// A corner is at centre ± first ± second.
	var centre, first, second Vec
	centre = Vec{t[u] + float32(h0*r[u][in]), t[v] + float32(h0*r[v][in]), float32(sign * (t[out] + float32(h0*r[out][in])))}
	first = Vec{float32(h1 * r[u][in1]), float32(h1 * r[v][in1]), float32(sign * float32(h1*r[out][in1]))}
	second = Vec{float32(h2 * r[u][in2]), float32(h2 * r[v][in2]), float32(sign * float32(h2*r[out][in2]))}
	bit1, bit2 := 1<<in1, 1<<in2
	low, high := centre.sub(first), centre.add(first)
	polygon, spare := &k.polygons[0], &k.polygons[1]
	polygon[0] = corner{contactPoint{p: low.sub(second), id: featureID(kind, 0, number)}, 0}
	polygon[1] = corner{contactPoint{p: high.sub(second), id: featureID(kind, 0, number|bit1)}, 1}
	polygon[2] = corner{contactPoint{p: high.add(second), id: featureID(kind, 0, number|bit1|bit2)}, 2}
	polygon[3] = corner{contactPoint{p: low.add(second), id: featureID(kind, 0, number|bit2)}, 3}
	for i := range 4 { // the number of the edge: the face of other, and the place
		polygon[i].edge += int32(4 * (2*in + number>>in))
	}
	count := 4
	for side := range 4 {
		limit, normal := ref[u], Vec{1, 0, 0}
		if side >= 2 {
			limit, normal = ref[v], Vec{0, 1, 0}
		}
		if side&1 == 0 {
			normal = normal.neg()
		}
		count = clipSide(polygon[:count], spare, normal, limit, kind, 4*(2*out+int(face.side()))+side)
		polygon, spare = spare, polygon
	}
	points = k.points[:0]
	for i := range polygon[:count] {
		p := polygon[i].contactPoint
		if p.separation = p.p.Z - ref[out]; p.separation <= margin {
			points = append(points, p)
		}
	}
	if len(points) > 0 {
		return reduce(points, Vec{0, 0, 1}), true
	}
	// The corner that is farthest against the normal.
	h, number := *other, 7
	for k := range h {
		if float32(sign*n[k]) > 0 {
			h[k], number = -h[k], number&^(1<<k)
		}
	}
	row := func(k int) float32 {
		return t[k] + ((float32(h[0]*r[k][0]) + float32(h[1]*r[k][1])) + float32(h[2]*r[k][2]))
	}
	return append(points, contactPoint{Vec{row(u), row(v), float32(sign * row(out))}, s, featureID(kind, 0, number)}), false
}

func (f boxFace) side() int {
	if f.positive {
		return 1
	}
	return 0
}

func (a Vec) array() [3]float32 { return [3]float32{a.X, a.Y, a.Z} }

func vecOf(a [3]float32) Vec { return Vec{a[0], a[1], a[2]} }

func (m *Mat) rows() [3][3]float32 { return [3][3]float32{m.X.array(), m.Y.array(), m.Z.array()} }
