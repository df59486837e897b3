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
		integrateC(level, pos, vel, dt)
	}
}

// SetScratch replaces the scratch of a sort by slot. marks fits slots below
// limit exactly, as MarksLen says, and is zero.
func (r *Rows) SetScratch(limit int, marks []uint64, dist2OfSlot []float32) {
	r.marks, r.markWords, r.dist2OfSlot = marks, (limit+63)/64, dist2OfSlot
}

// Marks returns the bitmap of the sort by slot and its summaries.
func (r *Rows) Marks() []uint64 { return r.marks }

// MarksLen returns the length of the marks for slots below limit.
func MarksLen(limit int) int {
	words := (limit + 63) / 64
	mid := (words + 63) / 64
	return words + mid + (mid+63)/64
}
