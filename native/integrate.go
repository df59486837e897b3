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
		integrateGo(pos, vel, dt, nil)
		return
	}
	integrateC(level, pos, vel, dt, nil)
}

// Integrate computes, with the product rounded before the sum,
//
//	for i := range pos { pos[i] += vel[i] * dt }
//
// It is also what is known as axpy, y += a * x.
func (o *Ops) Integrate(pos, vel []float32, dt float32) error {
	checkRows("native: Ops.Integrate: pos and vel differ in length", len(pos), vel)
	o.set(pos, vel)
	o.scalars[0] = dt
	return o.run(len(pos), integrateRows)
}

func integrateRows(o *Ops, level Level, live []uint64, lo, hi int) {
	pos, vel, dt := o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0]
	if level == Go {
		integrateGo(pos, vel, dt, live)
	} else {
		integrateC(level, pos, vel, dt, live)
	}
}

func integrateGo(pos, vel []float32, dt float32, live []uint64) {
	vel = vel[:len(pos)]
	for i := range pos {
		if named(live, i) {
			pos[i] += float32(vel[i] * dt)
		}
	}
}
