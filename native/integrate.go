package native

// Integrate computes, with the product rounded before the sum,
//
//	for i := range pos { pos[i] += vel[i] * dt }
//
// pos and vel have the same length and do not overlap; NaN and infinities go
// through as IEEE 754 says. It panics on unequal lengths and on a level that
// Resolve refuses. It is Ops.Integrate for all rows and without workers.
func Integrate(level Level, pos, vel []float32, dt float32) {
	if len(pos) != len(vel) {
		panic("native: Integrate: pos and vel differ in length")
	}
	if level = must(level); level == Go || len(pos) < opBreakEven {
		integrateGo(pos, vel, dt)
		return
	}
	integrateC(level, pos, vel, dt, nil)
}

var integrate = rowOp{worth: opBreakEven,
	plain: func(o *Ops, lo, hi int) { integrateGo(o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0]) },
	kernel: func(o *Ops, level Level, live []uint64, lo, hi int) {
		integrateC(level, o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0], live)
	},
}

// Integrate computes, with the product rounded before the sum,
//
//	for i := range pos { pos[i] += vel[i] * dt }
func (o *Ops) Integrate(pos, vel []float32, dt float32) error {
	checkRows("native: Ops.Integrate: pos and vel differ in length", len(pos), vel)
	o.set(pos, vel)
	o.scalars[0] = dt
	return o.do(len(pos), &integrate)
}

// Axpy computes y[i] += a * x[i]. It is Integrate by the name that it has in linear
// algebra.
func (o *Ops) Axpy(y []float32, a float32, x []float32) error {
	checkRows("native: Ops.Axpy: x and y differ in length", len(y), x)
	return o.Integrate(y, x, a)
}

func integrateGo(pos, vel []float32, dt float32) {
	vel = vel[:len(pos)]
	i := 0
	for ; i+4 <= len(pos); i += 4 {
		p, v := (*[4]float32)(pos[i:i+4]), (*[4]float32)(vel[i:i+4])
		p[0] += float32(v[0] * dt)
		p[1] += float32(v[1] * dt)
		p[2] += float32(v[2] * dt)
		p[3] += float32(v[3] * dt)
	}
	for ; i < len(pos); i++ {
		pos[i] += float32(vel[i] * dt)
	}
}

// Motion is the rigid motion of bodies, in sixteen columns of one length that do not
// overlap.
type Motion struct {
	Pos Vec3 // metres
	Vel Vec3 // metres per second
	Acc Vec3 // metres per second squared
	Rot Quat
	Ang Vec3 // angular velocity, radians per second about the axes of the world
}

var move = rowOp{moveRows, moveKernel, 8}

// Move moves bodies by dt seconds with the semi-implicit Euler method, in one pass over
// the columns:
//
//	vel += acc * dt
//	pos += vel * dt
//	rot, as IntegrateQuat turns it by ang
//
// It gives the same bits as Integrate of each axis, in this order, and IntegrateQuat.
func (o *Ops) Move(m *Motion, dt float32) error {
	checkRows("native: Ops.Move: columns differ in length", len(m.Pos.X), m.Pos.Y, m.Pos.Z, m.Vel.X, m.Vel.Y, m.Vel.Z,
		m.Acc.X, m.Acc.Y, m.Acc.Z, m.Rot.X, m.Rot.Y, m.Rot.Z, m.Rot.W, m.Ang.X, m.Ang.Y, m.Ang.Z)
	o.set(m.Pos.X, m.Pos.Y, m.Pos.Z, m.Vel.X, m.Vel.Y, m.Vel.Z, m.Acc.X, m.Acc.Y, m.Acc.Z,
		m.Rot.X, m.Rot.Y, m.Rot.Z, m.Rot.W, m.Ang.X, m.Ang.Y, m.Ang.Z)
	o.scalars[0] = dt
	return o.do(len(m.Pos.X), &move)
}

// moveRun is the number of rows that moveRows finishes before it begins the next ones: they stay in the first cache.
const moveRun = 256

func moveRows(o *Ops, lo, hi int) {
	dt := o.scalars[0]
	for ; lo < hi; lo += moveRun {
		end := min(lo+moveRun, hi)
		for axis := range 3 {
			pos, vel, acc := o.columns[axis][lo:end], o.columns[3+axis][lo:end], o.columns[6+axis][lo:end]
			integrateGo(vel, acc, dt)
			integrateGo(pos, vel, dt)
		}
		integrateQuatGo(o.quat(9, lo, end), o.vec3(13, lo, end), dt)
	}
}
