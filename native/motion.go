package native

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
// It says the bits of Integrate of each axis, in this order, and IntegrateQuat.
func (o *Ops) Move(m *Motion, dt float32) error {
	checkRows("native: Ops.Move: columns differ in length", len(m.Pos.X), m.Pos.Y, m.Pos.Z, m.Vel.X, m.Vel.Y, m.Vel.Z,
		m.Acc.X, m.Acc.Y, m.Acc.Z, m.Rot.X, m.Rot.Y, m.Rot.Z, m.Rot.W, m.Ang.X, m.Ang.Y, m.Ang.Z)
	o.set(m.Pos.X, m.Pos.Y, m.Pos.Z, m.Vel.X, m.Vel.Y, m.Vel.Z, m.Acc.X, m.Acc.Y, m.Acc.Z,
		m.Rot.X, m.Rot.Y, m.Rot.Z, m.Rot.W, m.Ang.X, m.Ang.Y, m.Ang.Z)
	o.scalars[0] = dt
	return o.do(len(m.Pos.X), move)
}

func moveRows(o *Ops, lo, hi int) {
	dt := o.scalars[0]
	for axis := range 3 {
		pos, vel, acc := o.columns[axis][lo:hi], o.columns[3+axis][lo:hi], o.columns[6+axis][lo:hi]
		integrateGo(vel, acc, dt)
		integrateGo(pos, vel, dt)
	}
	integrateQuatGo(o.quat(9, lo, hi), o.vec3(13, lo, hi), dt)
}
