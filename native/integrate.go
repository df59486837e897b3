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
	return o.do(len(pos), integrate)
}

// Axpy computes y[i] += a * x[i]. It is Integrate by the name that it has in linear
// algebra.
func (o *Ops) Axpy(y []float32, a float32, x []float32) error {
	checkRows("native: Ops.Axpy: x and y differ in length", len(y), x)
	return o.Integrate(y, x, a)
}

func integrateGo(pos, vel []float32, dt float32) {
	vel = vel[:len(pos)]
	for i := range pos {
		pos[i] += float32(vel[i] * dt)
	}
}
