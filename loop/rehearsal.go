package loop

// rehearsal decides when there is time to rehearse between the end of a sleep and its target. The
// zero value has seen none.
type rehearsal struct {
	ahead int64 // how long one takes, by the longest of late, ns; 0: not known
}

// rehearsalGuess is what the first is taken to last, in nanoseconds.
const rehearsalGuess = 300_000

func (r *rehearsal) lasts() int64 {
	if r.ahead == 0 {
		return rehearsalGuess
	}
	return r.ahead + r.ahead/8
}

// wants returns how long before the target a sleep should end for a rehearsal, if spinning and rehearsing may take
// allowance nanoseconds in the mean; 0 if that does not suffice.
func (r *rehearsal) wants(allowance int64) int64 {
	if lead := r.lasts() + marginReserve; lead <= allowance*9/10 {
		return lead
	}
	r.skipped()
	return 0
}

// fits reports whether there is time in what is left.
func (r *rehearsal) fits(left int64) bool {
	if left >= r.lasts() {
		return true
	}
	r.skipped()
	return false
}

// took takes in how long one lasted.
func (r *rehearsal) took(ns int64) { r.ahead = max(1, ns, r.ahead-r.ahead/16) }

// skipped makes sure that one that was interrupted is not the last.
func (r *rehearsal) skipped() {
	if r.ahead > 0 {
		r.ahead = max(1, r.ahead-r.ahead/64)
	}
}
