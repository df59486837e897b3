package loop

// margin decides how long before its target a sleep should end, so that it seldom ends after the target and the
// spinning in between keeps to a budget. It learns from how late sleeps ended: its answers depend on its inputs
// alone. Its time is bounded, and it does not allocate.
//
// # The rule
//
// It keeps by how much the last 128 sleeps ended late, in order. If the next sleep is like one of them, a margin
// of m spins for max(0, m - late). The mean of that over the 128 is the cost of m. The cost rises with m, so
// there is a greatest m that the budget affords. The margin should cover all but one in 64 of the sleeps seen,
// with a reserve. If the budget does not afford that, the margin covers the greatest part of them that the
// budget affords. If that part is less than 95 in 100, but the whole budget makes 95 in 100 end no more than
// lateGoal late, the margin is what the budget affords. So a machine that is late by 2 µs most often and by 560
// µs once in twenty gets a margin of some 570 µs. On a machine that is late by 5 ms as often, no CPU time is
// wasted on spinning.
//
// A token bucket limits the spinning: the budget fills it with time, up to what half a second
// brings, and spinning empties it. A margin is never longer than the tokens allow, whatever the sleeps
// do: that bounds the share of a CPU over any time longer than a few seconds.
//
// The zero value has seen no sleep.
type margin struct {
	late   [marginSleeps]int64 // by which the last sleeps ended too late, in ns, the oldest at next once it is full
	sorted [marginSleeps]int64 // the same, ascending
	sleeps int                 // in these
	next   int

	budget   int64 // thousandths of a CPU; 0: defaultSpinBudget
	interval int64 // mean time from the end of a wait to the end of the next, ns; 0: not known
	last     int64 // when the last wait ended
	waited   bool  // once
	tokens   int64 // ns that may be spun: a token bucket
	need     int64 // the margin, if the tokens suffice for it
}

const (
	marginSleeps = 128
	// marginFew sleeps are too few to learn from.
	marginFew = 16
	// marginReserve is by how much the margin exceeds the lateness seen, in nanoseconds: the time from the end
	// of the system's sleep to the reading of the clock. If the budget affords it, the reserve is larger by a
	// quarter of that lateness, up to marginSlack, since the next sleep may end later than any before.
	marginReserve = 5_000
	marginSlack   = 50_000
	// lateGoal is how late 95 in 100 sleeps may end, in nanoseconds, for a budget that affords no
	// more.
	lateGoal = 20_000
	// defaultSpinBudget is 4 % of a CPU: 0.67 ms of each frame at 60 Hz.
	defaultSpinBudget = 40
	maxSpinBudget     = 1000

	tokenTime   = 500_000_000 // the tokens of this time fill the bucket
	maxInterval = 100_000_000 // ns between waits that add tokens, at most: pauses save nothing up
	maxLate     = 1_000_000_000
)

func (m *margin) thousandths() int64 {
	if m.budget == 0 {
		return defaultSpinBudget
	}
	return max(1, min(m.budget, maxSpinBudget))
}

// allowance is what a wait may spin on average, in nanoseconds.
func (m *margin) allowance(left int64) int64 {
	interval := m.interval
	if interval == 0 {
		interval = min(max(left, 0), maxInterval)
	}
	return interval * m.thousandths() / 1000
}

// lead returns how long before the end of a wait that has left nanoseconds to go a sleep should end. If it is as
// long as the wait, do not sleep. It is not shorter than least, if the tokens suffice for that.
func (m *margin) lead(left, least int64) int64 {
	need := max(m.need, least)
	if m.sleeps < marginFew { // half of a shorter wait, since without sleeps it could not learn
		need = max(least, min(m.allowance(left), left/2))
	}
	pays := m.tokens
	if !m.waited {
		pays = m.allowance(left)
	}
	return max(0, min(need, pays))
}

// observe records that a sleep ended late by ns; one that ended early counts as on time.
func (m *margin) observe(ns int64) {
	ns = max(0, min(ns, maxLate))
	if m.sleeps == marginSleeps {
		m.remove(m.late[m.next])
	}
	m.late[m.next] = ns
	m.next = (m.next + 1) % marginSleeps
	i := m.sleeps
	for ; i > 0 && m.sorted[i-1] > ns; i-- {
		m.sorted[i] = m.sorted[i-1]
	}
	m.sorted[i] = ns
	m.sleeps++
	m.update()
}

func (m *margin) remove(ns int64) {
	i := 0
	for m.sorted[i] != ns {
		i++
	}
	copy(m.sorted[i:], m.sorted[i+1:m.sleeps])
	m.sleeps--
}

// update computes the margin.
func (m *margin) update() {
	affords := m.affords(m.allowance(0) * 9 / 10) // so that the bucket does not run empty by chance
	usual := m.rank(1, 20)
	for k := m.rank(1, 64); k >= 0; k-- {
		if k < usual && m.sorted[usual]-lateGoal <= affords {
			m.need = affords
			return
		}
		if need := m.sorted[k] + marginReserve; need <= affords {
			m.need = min(need+min(m.sorted[k]/4, marginSlack), affords)
			return
		}
	}
	m.need = affords
}

// rank is the index of the least element of sorted that all but num/den of them do not exceed.
func (m *margin) rank(num, den int) int { return m.sleeps - 1 - m.sleeps*num/den }

// affords returns the greatest margin that spins for allowance on average, in nanoseconds. Let i be the number
// of elements of sorted below the margin: together they spin for i times the margin, less their sum.
func (m *margin) affords(allowance int64) int64 {
	sum := int64(0)
	for i := int64(1); i <= int64(m.sleeps); i++ {
		sum += m.sorted[i-1]
		if most := (allowance*int64(m.sleeps) + sum) / i; int(i) == m.sleeps || most <= m.sorted[i] {
			return most
		}
	}
	return allowance
}

// cost returns for how long a margin spins on average, in nanoseconds.
func (m *margin) cost(lead int64) int64 {
	sum := int64(0)
	for _, late := range m.sorted[:m.sleeps] {
		sum += max(0, lead-late)
	}
	return sum / int64(max(1, m.sleeps))
}

// endWait records that a wait ended at time now of the clock, that it spun for spun nanoseconds, and whether it
// slept before. If it did not sleep, since the margin took the whole wait, there is nothing to measure. A single
// late sleep must not cause that forever: each such wait shrinks the margin, and after a few hundred of them it
// sleeps, and measures, again.
func (m *margin) endWait(now, spun int64, slept bool) {
	if m.waited {
		passed := max(0, min(elapsed(m.last, now), maxInterval))
		if m.interval == 0 {
			m.interval = passed
		}
		m.interval += (passed - m.interval) / 16
		m.tokens += passed*m.thousandths()/1000 - spun
	}
	m.tokens = min(m.tokens, tokenTime*m.thousandths()/1000)
	m.last, m.waited = now, true
	if !slept && spun > 0 {
		m.need -= m.need / 512
	}
}

// lateness returns the quantiles learnt, the margin, and the CPU that the goal needs.
func (m *margin) lateness() WakeLateness {
	if m.sleeps == 0 {
		return WakeLateness{}
	}
	w := WakeLateness{P50Ns: m.sorted[m.rank(1, 2)], P95Ns: m.sorted[m.rank(1, 20)], MarginNs: m.need}
	if m.interval > 0 {
		w.NeededCPU = float64(m.cost(w.P95Ns-lateGoal)) / float64(m.interval)
	}
	return w
}

// rehearsal decides whether there is time to rehearse between the end of a sleep and its target. The
// zero value has seen no rehearsal.
type rehearsal struct {
	longest int64 // how long one takes: the longest, decaying with time, ns; 0: not known
}

// rehearsalGuess is how long the first rehearsal is assumed to take, in nanoseconds.
const rehearsalGuess = 300_000

func (r *rehearsal) estimate() int64 {
	if r.longest == 0 {
		return rehearsalGuess
	}
	return r.longest + r.longest/16
}

// leadTime returns how long before the target a sleep should end. It is early enough for a rehearsal after nine
// in ten sleeps, as late as these end, or after three in four if the budget of the margin does not suffice for
// nine in ten. It is 0 if the budget does not suffice for three in four either. The budget pays for rehearsing,
// and for spinning where the sleep ends sooner.
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

// observe records how long a rehearsal took.
func (r *rehearsal) observe(ns int64) { r.longest = max(1, ns, r.longest-r.longest/16) }

// decay shortens the estimate, so that one interrupted rehearsal does not prevent all later ones.
func (r *rehearsal) decay() {
	if r.longest > 0 {
		r.longest = max(1, r.longest-r.longest/64)
	}
}
