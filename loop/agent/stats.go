package agent

// Stats are counts since the Sim was at tick 0. They are part of its state, and a replay
// repeats them.
type Stats struct {
	Due       uint64 // turns of agents
	Perceived uint64 // perceptions built
	Issued    uint64 // decisions asked for, of providers and of Config.Fallback
	Fallbacks uint64 // of these, of Config.Fallback
	Accepted  uint64 // decisions
	Applied   uint64 // actions
	Rejected  uint64 // decisions, and actions
	Expired   uint64 // decisions
	Cancelled uint64 // decisions, and actions

	ShedBusy  uint64 // turns given away since the last decision was on its way,
	ShedLimit uint64 // since a limit was reached,
	ShedQueue uint64 // or since too many actions waited
	Coalesced uint64 // of these turns, those that began a wait (see Coalesce)
	Deferred  uint64 // times that a due action had to wait for the next tick
	QueueHigh uint64 // most actions that ever waited

	Reasons [reasonEnd]uint64 // records by reason; those with none are not counted
}

const plainStats = 15

// fields lists the counts.
func (s *Stats) fields() [plainStats]*uint64 {
	return [...]*uint64{&s.Due, &s.Perceived, &s.Issued, &s.Fallbacks, &s.Accepted, &s.Applied, &s.Rejected, &s.Expired, &s.Cancelled,
		&s.ShedBusy, &s.ShedLimit, &s.ShedQueue, &s.Coalesced, &s.Deferred, &s.QueueHigh}
}

// Stats returns the counts.
func (a *Agents) Stats() Stats { return a.stats }

// Reason returns how many records had a reason.
func (s *Stats) Reason(r Reason) uint64 {
	if r >= reasonEnd {
		return 0
	}
	return s.Reasons[r]
}

// count counts a record.
func (a *Agents) count(r *Record) {
	s := &a.stats
	switch r.Type {
	case Issued:
		s.Issued++
	case Accepted:
		s.Accepted++
	case Applied:
		s.Applied += uint64(r.Actions)
	case Rejected:
		s.Rejected++
	case Expired:
		s.Expired++
	case Cancelled:
		s.Cancelled++
	}
	if r.Reason != NoReason {
		s.Reasons[r.Reason]++
	}
}
