package replica

import (
	"encoding/binary"
	"slices"

	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/internal/wire"
)

const checkEvery = 64 // messages

// appliedInput is what a message says about the inputs of its session: the highest sequence number that
// a tick has applied, and the µs between its arrival and the beginning of that tick.
type appliedInput struct {
	seq, residenceUs uint64
	present          bool
}

// scratch is memory that append uses.
type scratch struct {
	merged   netcode.Merged
	marks    []uint8 // by slot, from markDepartures to clearDepartures
	stays    []stay
	sample   []stay
	diffs    [][]int32 // by group: the differences of each of stays
	some     []int32   // those of the included ones
	enter    []uint32  // slots that come into view
	write    []uint32  // and those that are refreshed
	owned    []uint32  // of those that come into view
	nearest  []uint64  // others, with their distance in the high half
	urgent   []uint64  // places of stays, with their priority
	included []uint32  // places of stays
	places   []uint32
	mask     []byte
	bits     []byte
	samples  []sample
	crc      []byte
	all      uint32 // checksum of all entities
	allOf    uint64 // the capture of which it is
}

// append appends the message of a viewer for the newest capture: a Keyframe if it has no useful base, else an
// Update. It appends nothing if the viewer was sent a message for this capture, or if the next Keyframe is to
// wait. Afterwards call sent or refused.
func (s *source) append(dst []byte, v *viewer, applied appliedInput) []byte {
	v.refused()
	if s.captures == 0 || len(v.flight) > 0 && v.flight[len(v.flight)-1].capture == s.captures {
		return dst
	}
	base := v.base
	if base != nil && !s.useful(base.capture) {
		base = nil
	}
	if base == nil && s.captures < v.wait {
		return dst
	}
	f := v.newSentState()
	f.capture, f.tick, f.key = s.captures, s.state(s.captures).tick, base == nil
	v.next = f
	e := messageWriter{source: s, v: v, f: f, base: base, start: len(dst)}
	e.header(dst, applied)
	e.write()
	e.dst[e.flags] |= e.set
	return e.dst
}

// messageWriter writes one message.
type messageWriter struct {
	*source
	v     *viewer
	f     *sentState // what the client has afterwards
	base  *sentState // nil: nothing
	d     *delta     // from the base
	dst   []byte
	start int  // of the message in dst
	flags int  // index of the flags in dst
	set   byte // flags for what is after the header
	still bool // there is no prediction
	guess bool // differences are those to the prediction
}

// header begins the message.
func (e *messageWriter) header(dst []byte, applied appliedInput) {
	e.d = e.delta(0)
	if e.base != nil {
		e.d = e.delta(e.base.capture)
		dst = binary.AppendUvarint(append(dst, kindUpdate), e.f.tick)
		dst = binary.AppendUvarint(dst, e.f.tick-e.base.tick)
	} else {
		dst = binary.AppendUvarint(append(dst, kindKeyframe), e.f.tick)
	}
	e.flags = len(dst)
	now, before := e.state(e.captures), [3]float64{}
	if e.base != nil {
		before = e.state(e.base.capture).origin
	}
	dst = binary.AppendUvarint(append(dst, 0), now.at)
	if applied.present {
		dst[e.flags] |= flagApplied
		dst = wire.AppendUvarints(dst, applied.seq, applied.residenceUs)
	}
	if now.origin != before {
		dst[e.flags] |= flagOrigin
		dst = appendOrigin(dst, &now.origin)
	}
	e.dst = dst
}

// view returns the entities that the viewer sees.
func (e *messageWriter) view() []uint32 {
	if e.v.all {
		return e.present.slots
	}
	return e.v.seen
}

// known returns the list of the base.
func (e *messageWriter) known() []uint32 {
	switch {
	case e.base == nil:
		return nil
	case e.base.all:
		return e.knownAll(e.d)
	}
	return e.base.list
}

// write writes what is after the header: all that has changed or, if that is more than the budget, what is most important.
func (e *messageWriter) write() {
	body := len(e.dst)
	if e.v.all && (e.base == nil || e.base.all) {
		e.writeShared()
		if e.finish(); e.fits() {
			return
		}
		e.rewind(body)
	}
	e.findStays()
	if e.budget == 0 || e.estimate() <= e.budget {
		e.chooseAll()
		if e.writeChosen(); e.fits() {
			return
		}
	}
	e.limit(body)
}

func (e *messageWriter) fits() bool { return e.budget == 0 || len(e.dst)-e.start <= e.budget }

// writeShared writes a body for clients that see all entities, and have seen all. It is made once for all of them.
func (e *messageWriter) writeShared() {
	b, velocities := &e.d.bodies[0], e.base != nil && e.base.previous != 0 && e.base.previous+1 == e.base.capture
	if velocities {
		b = &e.d.bodies[1]
	}
	if !b.made {
		head := e.dst
		e.dst, e.still = b.bytes[:0], !velocities
		e.findStays()
		e.chooseAll()
		e.writeBody()
		b.made, b.set, b.bytes = true, e.set, e.dst
		e.dst, e.still = head, false
	}
	e.dst, e.set = append(e.dst, b.bytes...), b.set
	e.f.all, e.f.previous = true, e.d.base
}

// chooseAll chooses all that has changed.
func (e *messageWriter) chooseAll() {
	w := &e.work
	w.enter = append(w.enter[:0], w.merged.Enters...)
	for i := range w.stays {
		w.stays[i].chosen = w.stays[i].changed
	}
}

// writeChosen writes what was chosen, and stores what the client has afterwards.
func (e *messageWriter) writeChosen() {
	e.writeBody()
	e.keep()
	e.finish()
}

// writeBody writes from the leaves to the entities that teleported.
func (e *messageWriter) writeBody() {
	w := &e.work
	if e.base != nil {
		e.dst = appendLeaves(e.dst, w.merged.Leaves)
	}
	w.write = append(w.write[:0], w.enter...)
	partial := false
	for i := range w.stays {
		st := &w.stays[i]
		partial = partial || st.changed && !st.chosen
		if st.stale && st.chosen {
			w.write = append(w.write, st.slot)
		}
	}
	slices.Sort(w.write)
	e.dst = e.appendEnters(e.dst, w.write)
	if e.base != nil {
		e.writeStays(partial)
		e.writeJumps()
	}
}

// finish writes what is after the body.
func (e *messageWriter) finish() {
	e.appendOwn()
	if e.f.checked = e.v.messages >= e.v.check && !e.forgotten(); e.f.checked {
		e.set |= flagCheck
		e.dst = binary.LittleEndian.AppendUint32(e.dst, e.checksum())
	}
}

// appendLeaves appends places in the list of the base, with netcode.Gone on those of dead entities.
func appendLeaves(dst []byte, leaves []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(leaves)))
	next := uint32(0)
	for _, l := range leaves {
		place := l & slotBits
		dst = binary.AppendUvarint(dst, uint64(place-next)<<1|uint64(l>>31))
		next = place + 1
	}
	return dst
}

// appendPlaces appends the number of places, and these.
func appendPlaces(dst []byte, places []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(places)))
	next := uint32(0)
	for _, p := range places {
		dst = binary.AppendUvarint(dst, uint64(p-next))
		next = p + 1
	}
	return dst
}

// appendEnters appends slots, ids and all public lanes.
func (s *source) appendEnters(dst []byte, slots []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(slots)))
	next, before := uint32(0), uint64(0)
	for _, slot := range slots {
		id := uint64(s.present.ids[slot])
		dst = binary.AppendUvarint(dst, uint64(slot-next))
		dst = binary.AppendVarint(dst, int64(id-before))
		next, before = slot+1, id
	}
	return s.appendRecords(dst, s.public, 0, slots)
}

// appendRecords appends all lanes of groups, of which the first is number first, for a list of
// slots.
func (s *source) appendRecords(dst []byte, groups []*group, first int, slots []uint32) []byte {
	stride := s.present.stride
	w := bitWriter{dst: dst}
	for _, slot := range slots {
		for i, g := range groups {
			row := s.at(first+i, s.captures) + int(slot)
			for lane := range g.lanes {
				w.put(uint32(g.arena[row+lane*stride]), uint(g.bits[lane]))
			}
		}
	}
	return w.done()
}

// appendOwn appends which entities the session owns, if that has changed, or else the changes of their
// owner groups.
func (e *messageWriter) appendOwn() {
	own := e.v.own
	e.f.own = append(e.f.own[:0], own...)
	if e.base == nil && len(own) == 0 {
		return
	}
	if e.base == nil || e.ownChanged() {
		e.set |= flagOwn
		list := e.f.list
		if e.f.all {
			list = e.present.slots
		}
		places := e.work.places[:0]
		for _, slot := range own {
			place, _ := slices.BinarySearchFunc(list, slot, func(a, b uint32) int { return int(a&slotBits) - int(b) })
			places = append(places, uint32(place))
		}
		e.work.places = places
		e.dst = appendPlaces(e.dst, places)
		e.dst = e.appendRecords(e.dst, e.owners, len(e.public), own)
		return
	}
	if len(own) == 0 {
		return
	}
	w := &e.work
	for i, g := range e.owners {
		w.some = sized(w.some, len(own)*g.lanes)
		for k, slot := range own {
			e.difference(w.some[k*g.lanes:][:g.lanes], g, len(e.public)+i, &stay{slot: slot, since: e.base.capture}, false)
		}
		e.dst = w.appendGroup(e.dst, g, w.some)
	}
}

// ownChanged reports whether the session owns other entities than at the base.
func (e *messageWriter) ownChanged() bool {
	for _, slot := range e.v.own {
		if e.present.changed[slot] > e.base.capture {
			return true
		}
	}
	return !slices.Equal(e.v.own, e.base.own)
}

// forgotten reports whether the client has values that the source does not have any more.
func (e *messageWriter) forgotten() bool {
	return slices.ContainsFunc(e.f.since, func(n uint32) bool {
		capture := e.absolute(n)
		return capture != e.captures && !e.useful(capture)
	})
}

// checksum returns the checksum of what the client has after the message.
func (e *messageWriter) checksum() uint32 {
	if !e.f.all {
		return e.checkList(e.f.list, e.f.since)
	}
	if e.work.allOf != e.captures {
		e.work.all, e.work.allOf = e.checkList(e.present.slots, nil), e.captures
	}
	return e.work.all
}

// checkList returns the checksum of a list. since is empty if the client has all values of the newest
// capture.
func (s *source) checkList(list, since []uint32) uint32 {
	crc := uint32(0)
	b := s.work.crc[:0]
	for i, entry := range list {
		slot := entry & slotBits
		capture := s.captures
		if len(since) > 0 {
			capture = s.absolute(since[i])
		}
		b = wire.AppendU32s(b, slot)
		b = wire.AppendU64s(b, uint64(s.present.ids[slot]))
		for g, group := range s.public {
			row := s.at(g, capture) + int(slot)
			for lane := range group.lanes {
				b = wire.AppendU32s(b, uint32(group.arena[row+lane*s.present.stride]))
			}
		}
		if len(b) > 4096 || i == len(list)-1 {
			crc = wire.CRC(crc, b)
			b = b[:0]
		}
	}
	s.work.crc = b
	return crc
}

// absolute returns the number of a capture of which it has the low 32 bits, the newest or one before.
func (s *source) absolute(n uint32) uint64 { return s.captures - uint64(uint32(s.captures)-n) }
