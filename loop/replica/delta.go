package replica

import (
	"math/bits"

	"github.com/evertick/evertick/native"
)

// delta is what has changed between a capture and the newest one. It is made once for all viewers
// whose clients have that capture.
type delta struct {
	base    uint64 // 0: nothing, for Keyframes
	gone    []uint64
	jumped  []uint64
	jumps   bool // jumped is not empty
	groups  []groupDelta
	guessed [2]groupDelta // of the predicted group, in one shape: to the prediction; of entities without a velocity
	worth   bool          // the prediction makes records shorter
	decided bool          // worth has been computed
	known   []uint32      // all entities at the base, with native.Young on those that entered with it
	listed  bool          // known is made
	bodies  [2]body       // for clients that see all entities; the second is predicted
}

// body is the public part of a frame.
type body struct {
	made, jumped bool
	bytes        []byte
}

// groupDelta is the records of a group.
type groupDelta struct {
	made  bool
	any   bool // something has changed
	shape native.DeltaLanes
	width uint
	native.Source
}

// deltas are those of the running send tick.
type deltas struct {
	list []*delta
	used int
}

// delta returns the delta from a capture that is useful; 0: from nothing, for Keyframes.
func (s *source) delta(base uint64) *delta {
	l := &s.deltas
	for _, d := range l.list[:l.used] {
		if d.base == base {
			return d
		}
	}
	if l.used == len(l.list) {
		l.list = append(l.list, &delta{groups: make([]groupDelta, len(s.public))})
	}
	d := l.list[l.used]
	l.used++
	d.base, d.decided, d.listed, d.jumps = base, false, false, false
	for i := range d.groups {
		d.groups[i].made = false
	}
	d.guessed[0].made, d.guessed[1].made = false, false
	d.bodies[0].made, d.bodies[1].made = false, false
	if base != 0 {
		s.findGone(d)
	}
	return d
}

// findGone fills the bitmaps of entities that are gone, and of those that teleported.
func (s *source) findGone(d *delta) {
	p := &s.present
	words := p.rows / 64
	d.gone, d.jumped = sized(d.gone, words), sized(d.jumped, words)
	clear(d.gone)
	clear(d.jumped)
	if p.lastChange > d.base {
		for slot, n := range p.changed {
			if n > d.base {
				d.gone[slot>>6] |= 1 << (slot & 63)
			}
		}
	}
	if p.lastJump > d.base {
		for slot, n := range p.jumped {
			if n > d.base {
				d.jumped[slot>>6] |= 1 << (slot & 63)
			}
		}
		live := s.state(s.captures).live
		for i := range d.jumped {
			d.jumped[i] &= live[i] &^ d.gone[i]
			d.jumps = d.jumps || d.jumped[i] != 0
		}
	}
}

// knownAll returns all entities of the base, as the list of a client that sees all.
func (s *source) knownAll(d *delta) []uint32 {
	if d.base == 0 {
		return nil
	}
	if d.listed {
		return d.known
	}
	d.listed = true
	d.known = sized(d.known, s.present.rows)[:0]
	for i, word := range s.state(d.base).live {
		for ; word != 0; word &= word - 1 {
			slot := uint32(i<<6 | bits.TrailingZeros64(word))
			if s.present.changed[slot] == d.base {
				slot |= native.Young
			}
			d.known = append(d.known, slot)
		}
	}
	return d.known
}

// plain returns the records of a public group.
func (s *source) plain(d *delta, g int) *groupDelta {
	out := &d.groups[g]
	if !out.made {
		s.findWidths(g, d.base, 0, &out.shape)
		s.makeRecords(out, g, d.base, 0)
	}
	return out
}

// predicted returns the records of group 0: for entities that came into view with the base, the differences to
// the base; for the others, the differences to the prediction.
func (s *source) predicted(d *delta) (young, others *groupDelta) {
	others, young = &d.guessed[0], &d.guessed[1]
	if !others.made {
		s.findWidths(0, d.base, d.base-1, &others.shape)
		s.makeRecords(others, 0, d.base, d.base-1)
		young.shape = others.shape
		s.makeRecords(young, 0, d.base, 0)
	}
	return young, others
}

// predictable reports whether the records of group 0 are shorter with the prediction.
func (s *source) predictable(d *delta) bool {
	if !d.decided {
		var shape native.DeltaLanes
		d.decided = true
		d.worth = s.findWidths(0, d.base, d.base-1, &shape) < s.findWidths(0, d.base, 0, &shape)
	}
	return d.worth
}

// makeRecords fills out in the shape that it has. The capture previous is 0 without a prediction.
func (s *source) makeRecords(out *groupDelta, g int, base, previous uint64) {
	p := &s.present
	out.made, out.any, out.width = true, false, 0
	for _, w := range out.shape.Width {
		out.width += uint(w)
	}
	now, from, before := s.at(g, s.captures), s.at(g, base), -1
	if previous != 0 {
		before = s.at(g, previous)
	}
	out.Records = sized(out.Records, p.high)
	out.Changed, out.Wide = sized(out.Changed, (p.high+63)/64), sized(out.Wide, (p.high+63)/64)
	if now == from && (before < 0 || before == from) {
		clear(out.Changed)
		return
	}
	native.Delta(s.level, s.groups[g].arena, p.stride, now, from, before, &out.shape, out.Records, out.Changed, out.Wide)
	live := s.state(s.captures).live
	for i, word := range out.Changed {
		out.any = out.any || word&live[i] != 0
	}
}

// mostSamples is the number of differences from which widths are chosen.
const mostSamples = 256

// findWidths chooses the widths of the records of a group from a sample of entities, and returns the
// bits that the sample takes with them.
func (s *source) findWidths(g int, base, previous uint64, shape *native.DeltaLanes) int {
	group, p, w := s.groups[g], &s.present, &s.work
	*shape = native.DeltaLanes{Lanes: group.lanes, Bits: group.bits}
	now, from, before := s.at(g, s.captures), s.at(g, base), -1
	if previous != 0 {
		before = s.at(g, previous)
	}
	w.samples = w.samples[:0]
	if now == from && (before < 0 || before == from) {
		return 0
	}
	for i, n := 0, min(len(p.slots), mostSamples); i < n; i++ {
		slot := p.slots[i*len(p.slots)/n]
		if p.changed[slot] <= base {
			w.addSample(s.difference(group, now, from, before, slot, &w.row)[:group.lanes])
		}
	}
	return w.chooseWidths(shape)
}

// difference returns the differences of all lanes of an entity.
func (s *source) difference(g *group, now, base, previous int, slot uint32, d *[mostLanes]int32) *[mostLanes]int32 {
	for lane := range g.lanes {
		row := lane*s.present.stride + int(slot)
		v := g.arena[now+row] - g.arena[base+row]
		if previous >= 0 {
			v -= g.arena[base+row] - g.arena[previous+row]
		}
		d[lane] = sx(g.bits[lane], v)
	}
	return d
}
