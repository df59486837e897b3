package native

// Layout is the order of the elements of a matrix in memory.
type Layout uint8

const (
	ColumnMajor Layout = iota // column by column, as in OpenGL and three.js
	RowMajor                  // row by row
)

// Compose writes the matrices that transform the local coordinates of row i to world coordinates, for renderers, to
// out[16*i : 16*i+16]: first scaled, then rotated, then moved. With the position p, the quaternion x, y, z, w and the
// scale s, the matrix is
//
//	(1-(yy+zz))*s.x  (xy-wz)*s.y      (xz+wy)*s.z      p.x
//	(xy+wz)*s.x      (1-(xx+zz))*s.y  (yz-wx)*s.z      p.y
//	(xz-wy)*s.x      (yz+wx)*s.y      (1-(xx+yy))*s.z  p.z
//	0                0                0                1
//
// where xy stands for x*(y+y), wz for w*(z+z), and so on, and each operation is rounded.
// The translation is the last column in either layout: out[16*i+12] and the next two if
// ColumnMajor, out[16*i+3], [16*i+7] and [16*i+11] if RowMajor.
//
// The quaternion should have length 1; the matrix is then a rotation: K. Shoemake, "Animating rotation with
// quaternion curves", SIGGRAPH 1985. Of another quaternion it is what the formula gives. Compose panics on another layout.
func (o *Ops) Compose(out []float32, layout Layout, pos Vec3, rot Quat, scale Vec3) error {
	rows := len(pos.X)
	checkRows("native: Ops.Compose: columns differ in length", rows, pos.Y, pos.Z, rot.X, rot.Y, rot.Z, rot.W, scale.X, scale.Y, scale.Z)
	switch {
	case len(out) != 16*rows:
		panic("native: Ops.Compose: out has not 16 elements for each row")
	case layout > RowMajor:
		panic("native: Ops.Compose: unknown layout")
	}
	o.set(pos.X, pos.Y, pos.Z, rot.X, rot.Y, rot.Z, rot.W, scale.X, scale.Y, scale.Z, out)
	return o.do(rows, &composing[layout])
}

var composing = [...]rowOp{
	ColumnMajor: {func(o *Ops, lo, hi int) { composeGo(o, lo, hi, false) }, composeByColumnKernel, 4},
	RowMajor:    {func(o *Ops, lo, hi int) { composeGo(o, lo, hi, true) }, composeByRowKernel, 4},
}

func composeGo(o *Ops, lo, hi int, byRow bool) {
	pos, rot, scale, out := o.vec3(0, lo, hi), o.quat(3, lo, hi), o.vec3(7, lo, hi), o.columns[10][16*lo:16*hi]
	px, py, pz := pos.X, pos.Y[:len(pos.X)], pos.Z[:len(pos.X)]
	qx, qy, qz, qw := rot.X[:len(px)], rot.Y[:len(px)], rot.Z[:len(px)], rot.W[:len(px)]
	kx, ky, kz := scale.X[:len(px)], scale.Y[:len(px)], scale.Z[:len(px)]
	for i := range px {
		x, y, z, w := qx[i], qy[i], qz[i], qw[i]
		x2, y2, z2 := x+x, y+y, z+z
		xx, yy, zz := float32(x*x2), float32(y*y2), float32(z*z2)
		xy, xz, yz := float32(x*y2), float32(x*z2), float32(y*z2)
		wx, wy, wz := float32(w*x2), float32(w*y2), float32(w*z2)
		sx, sy, sz := kx[i], ky[i], kz[i]
		m := (*[16]float32)(out[16*i : 16*i+16])
		m[0], m[5], m[10], m[15] = (1-(yy+zz))*sx, (1-(xx+zz))*sy, (1-(xx+yy))*sz, 1
		if byRow {
			m[1], m[2], m[3] = (xy-wz)*sy, (xz+wy)*sz, px[i]
			m[4], m[6], m[7] = (xy+wz)*sx, (yz-wx)*sz, py[i]
			m[8], m[9], m[11] = (xz-wy)*sx, (yz+wx)*sy, pz[i]
			m[12], m[13], m[14] = 0, 0, 0
		} else {
			m[1], m[2], m[3] = (xy+wz)*sx, (xz-wy)*sx, 0
			m[4], m[6], m[7] = (xy-wz)*sy, (yz+wx)*sy, 0
			m[8], m[9], m[11] = (xz+wy)*sz, (yz-wx)*sz, 0
			m[12], m[13], m[14] = px[i], py[i], pz[i]
		}
	}
}
