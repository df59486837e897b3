package loop

// rehearsal decides when there is time to rehearse between the end of a sleep and its target. The
// zero value has seen none.
type rehearsal struct {
	longest int64 // how long one takes, by the longest of late, ns; 0: not known
}

// rehearsalGuess is what the first is taken to last, in nanoseconds.
const rehearsalGuess = 300_000

func (r *rehearsal) estimate() int64 {
	if r.longest == 0 {
		return rehearsalGuess
	}
	return r.longest + r.longest/16
}

// leadTime returns how long before the target a sleep should end: early enough for a rehearsal after nine in ten
// sleeps, as late as these end, or after three in four if the budget of the margin does not pay for nine in ten.
// It is 0 if it does not pay for these either: for rehearsing, and for spinning where the sleep ends sooner.
func (r *rehearsal) leadTime(m *margin) int64 {
	for _, part := range [...]int{10, 4} {
		lead := r.estimate() + marginReserve
		if m.sleeps > 0 {
			lead += m.sorted[m.rank(1, part)]
		}
		if m.cost(max(lead, m.need)) <= m.allowance(0) {
			return lead
		}
	}
	r.decay()
	return 0
}

// fits reports whether there is time in what is left.
func (r *rehearsal) fits(left int64) bool {
	if left >= r.estimate() {
		return true
	}
	r.decay()
	return false
}

// observe takes in how long one lasted.
func (r *rehearsal) observe(ns int64) { r.longest = max(1, ns, r.longest-r.longest/16) }

// decay makes sure that one that was interrupted is not the last.
func (r *rehearsal) decay() {
	if r.longest > 0 {
		r.longest = max(1, r.longest-r.longest/64)
	}
}
