package native

// SelfCheck is the check that a level must pass before it is offered.
var SelfCheck = selfCheck

// IntegrateKernel runs a level's kernel itself, whatever the length: Integrate
// leaves short slices to Go.
func IntegrateKernel(level Level, pos, vel []float32, dt float32) {
	switch {
	case level == Go:
		integrateGo(pos, vel, dt)
	case len(pos) > 0:
		integrateC(level, pos, vel, dt, nil)
	}
}

// WithKernels makes an Ops call kernels whatever the number of rows: it leaves few
// rows to Go.
func WithKernels(o Ops) Ops {
	o.kernels = true
	return o
}

// OpChunk is the number of rows that a worker takes at a time.
const OpChunk = opChunk
