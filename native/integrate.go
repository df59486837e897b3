package native

// integrateBreakEven is the number of elements from which a kernel call, about
// 30 ns, is cheaper than the Go loop, about a third of a nanosecond an element.
const integrateBreakEven = 96

// Integrate computes, with the product rounded before the sum,
//
//	for i := range pos { pos[i] += vel[i] * dt }
//
// pos and vel have the same length and do not overlap; NaN and infinities go
// through as IEEE 754 says. It panics on unequal lengths and on a level that
// Resolve refuses.
func Integrate(level Level, pos, vel []float32, dt float32) {
	if len(pos) != len(vel) {
		panic("native: Integrate: pos and vel differ in length")
	}
	if level = must(level); level == Go || len(pos) < integrateBreakEven {
		integrateGo(pos, vel, dt)
		return
	}
	integrateC(level, pos, vel, dt)
}

func integrateGo(pos, vel []float32, dt float32) {
	vel = vel[:len(pos)]
	for i := range pos {
		pos[i] += float32(vel[i] * dt)
	}
}
