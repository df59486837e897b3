package replica

import (
	"math/bits"

	"github.com/evertick/evertick/internal/netcode"
)

// delta is what has changed between a capture and the newest one, for all viewers whose clients have that capture.
type delta struct {
	base   uint64   // 0: nothing, for Keyframes
	gone   []uint64 // bitmap of slots whose entity has died
	known  []uint32 // all entities at the base, with netcode.Young on those that entered with it
	listed bool     // known is made
	bodies [2]body  // for clients that see all entities; the second has the velocities since the capture before

	records [2][]records // by group: of all entities; the second are differences to the prediction from the capture before
}

// records are differences of all entities in the widths of group.record, which are the same for all clients: what they are chosen from must
// not show. A message packs the values of its entities anew, in widths that suit them.
type records struct {
	made   bool
	turned []uint64 // bitmap of slots whose records have the rotation: see turnRecord
	netcode.Source
}

// body is the public part of a message.
type body struct {
	made  bool
	set   byte // flags
	bytes []byte
}

// deltas are those of the running send tick.
type deltas struct {
	list []*delta
	used int
}

// delta returns the delta from a capture; 0: from nothing, for Keyframes.
func (s *source) delta(base uint64) *delta {
	l := &s.deltas
	for _, d := range l.list[:l.used] {
		if d.base == base {
			return d
		}
	}
	if l.used == len(l.list) {
		l.list = append(l.list, new(delta))
	}
	d := l.list[l.used]
	l.used++
	d.base, d.listed = base, false
	d.bodies[0].made, d.bodies[1].made = false, false
	for i := range d.records {
		d.records[i] = sized(d.records[i], len(s.public))
		for g := range d.records[i] {
			d.records[i][g].made = false
		}
	}
	if base != 0 {
		s.findGone(d)
	}
	return d
}

// recordsOf returns the records of a public group since a capture that is useful; with guess so is the one before.
func (s *source) recordsOf(d *delta, g int, guess bool) *records {
	group, p, i, previous := s.groups[g], &s.present, 0, -1
	if guess {
		i, previous = 1, s.at(g, d.base-1)
	}
	r := &d.records[i][g]
	if !r.made {
		r.made = true
		r.Records = sized(r.Records, p.high)
		r.Changed, r.Wide = sized(r.Changed, (p.high+63)/64), sized(r.Wide, (p.high+63)/64)
		netcode.Delta(s.level, group.arena, p.stride, s.at(g, s.captures), s.at(g, d.base), previous, &group.record, r.Records, r.Changed, r.Wide)
		if guess && len(group.quats) > 0 {
			r.turned = sized(r.turned, len(r.Changed))
			clear(r.turned)
		}
	}
	return r
}

// findGone fills the bitmap of entities that are gone.
func (s *source) findGone(d *delta) {
	p := &s.present
	d.gone = sized(d.gone, p.rows/64)
	clear(d.gone)
	if p.lastChange <= d.base {
		return
	}
	for slot, n := range p.changed {
		if n > d.base {
			d.gone[slot>>6] |= 1 << (slot & 63)
		}
	}
}

// knownAll returns all entities of the base, as the list of a client that sees all.
func (s *source) knownAll(d *delta) []uint32 {
	if d.listed {
		return d.known
	}
	d.listed = true
	d.known = sized(d.known, s.present.rows)[:0]
	for i, word := range s.state(d.base).live {
		for ; word != 0; word &= word - 1 {
			slot := uint32(i<<6 | bits.TrailingZeros64(word))
			if s.present.changed[slot] == d.base {
				slot |= netcode.Young
			}
			d.known = append(d.known, slot)
		}
	}
	return d.known
}
