package replica

import (
	"encoding/binary"
	"slices"

	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/native"
)

const checkEvery = 64 // frames

// appliedInput is what a frame says about the inputs of its session: the highest sequence number that
// a tick has applied, and the µs between its arrival and the beginning of that tick.
type appliedInput struct {
	seq, residenceUs uint64
	present          bool
}

// scratch is memory that append uses.
type scratch struct {
	merged   native.Merged
	gathered native.Gathered
	places   []uint32
	samples  []sample
	row      [mostLanes]int32
	diffs    []int32
	crc      []byte
	all      uint32 // checksum of all entities
	allOf    uint64 // the capture of which it is
	choice   choice
}

// append appends the frame of a viewer for the newest capture: a Keyframe if it has no useful base, else an
// Update. It appends nothing if the viewer was sent a frame for this capture, or if the next Keyframe is to
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
	f := v.newFrame()
	f.capture, f.tick, f.key = s.captures, s.state(s.captures).tick, base == nil
	v.next = f
	e := frameWriter{source: s, v: v, f: f, base: base, start: len(dst)}
	e.header(dst, applied)
	body := len(e.dst)
	if base == nil || len(base.since) == 0 {
		e.full()
		e.finish()
		if s.budget == 0 || len(e.dst)-e.start <= s.budget {
			return e.dst
		}
	}
	e.limit(body)
	return e.dst
}

// frameWriter writes one frame.
type frameWriter struct {
	*source
	v     *viewer
	f     *frame // what the client has afterwards
	base  *frame // nil: nothing
	d     *delta // from the base
	dst   []byte
	start int // of the frame in dst
	flags int // index of the flags in dst
}

// header begins the frame.
func (e *frameWriter) header(dst []byte, applied appliedInput) {
	e.d = e.delta(0)
	if e.base != nil {
		e.d = e.delta(e.base.capture)
		dst = binary.AppendUvarint(append(dst, kindUpdate), e.f.tick)
		dst = binary.AppendUvarint(dst, e.f.tick-e.base.tick)
	} else {
		dst = binary.AppendUvarint(append(dst, kindKeyframe), e.f.tick)
	}
	e.flags = len(dst)
	dst = binary.AppendUvarint(append(dst, 0), e.state(e.captures).at)
	if applied.present {
		dst[e.flags] |= flagApplied
		dst = wire.AppendUvarints(dst, applied.seq, applied.residenceUs)
	}
	e.dst = dst
}

// view returns the entities that the viewer sees.
func (e *frameWriter) view() []uint32 {
	if e.v.all {
		return e.present.slots
	}
	return e.v.seen
}

// known returns the list of the base.
func (e *frameWriter) known() []uint32 {
	switch {
	case e.base == nil:
		return nil
	case e.base.all:
		return e.knownAll(e.d)
	}
	return e.base.list
}

// full writes a body with all that has changed. The client has all values of the base. Bodies for
// clients that see all entities, and have seen all, are made once.
func (e *frameWriter) full() {
	predicted := e.predicts()
	if shared := e.v.all && (e.base == nil || e.base.all); !shared {
		var jumped bool
		e.merge()
		e.dst, jumped = e.appendBody(e.dst, predicted, e.keep())
		e.setFlags(predicted, jumped)
		return
	}
	b := &e.d.bodies[0]
	if predicted {
		b = &e.d.bodies[1]
	}
	if !b.made {
		e.merge()
		b.bytes, b.jumped = e.appendBody(b.bytes[:0], predicted, e.present.slots)
		b.made = true
	}
	e.dst = append(e.dst, b.bytes...)
	e.setFlags(predicted, b.jumped)
	e.f.all, e.f.previous = true, e.d.base
}

// merge finds which entities of the base stay or leave, and which come into view.
func (e *frameWriter) merge() {
	m, known, view := &e.work.merged, e.known(), e.view()
	m.Reserve(len(known), len(view))
	if e.base == nil {
		m.Stays, m.Leaves, m.Enters = m.Stays[:0], m.Leaves[:0], append(m.Enters[:0], view...)
	} else {
		native.Merge(e.level, known, view, e.d.gone, m)
	}
	if e.viewConfig.Leave > e.viewConfig.Enter {
		m.Enters = slices.DeleteFunc(m.Enters, func(slot uint32) bool { return e.beyond(e.v, slot) })
	}
}

func (e *frameWriter) setFlags(predicted, jumped bool) {
	if predicted {
		e.dst[e.flags] |= flagPredicted
	}
	if jumped {
		e.dst[e.flags] |= flagJumped
	}
}

// predicts reports whether the frame is predicted: the client computes velocities from the change in the
// frame before this one. So that frame must be the base, and as far from its own base as this one.
func (e *frameWriter) predicts() bool {
	b := e.base
	return b != nil && e.v.ordered && b.previous != 0 && b.previous+1 == b.capture && b.capture+1 == e.captures &&
		e.useful(b.previous) && len(e.public) > 0 && e.public[0].Predicted && e.predictable(e.d)
}

// keep stores which entities the client has after a full body, and returns them.
func (e *frameWriter) keep() []uint32 {
	f, m := e.f, &e.work.merged
	if e.v.all {
		f.all = true // without previous: the entities that came into view are not those that were born
		return e.present.slots
	}
	enters := m.Enters
	for _, entry := range m.Stays {
		slot := entry & slotBits
		for ; len(enters) > 0 && enters[0] < slot; enters = enters[1:] {
			f.list = append(f.list, enters[0]|native.Young)
		}
		f.list = append(f.list, slot)
	}
	for _, slot := range enters {
		f.list = append(f.list, slot|native.Young)
	}
	f.previous = e.d.base
	return f.list
}

// finish writes what is after the body.
func (e *frameWriter) finish() {
	e.appendOwn()
	if e.f.checked = e.v.frames >= e.v.check && !e.forgotten(); e.f.checked {
		e.dst[e.flags] |= flagCheck
		e.dst = binary.LittleEndian.AppendUint32(e.dst, e.checksum())
	}
}

// appendBody appends a full body of what was merged, from the leaves to the entities of the new list that
// teleported, and reports whether there are any of these.
func (e *frameWriter) appendBody(dst []byte, predicted bool, list []uint32) (out []byte, jumped bool) {
	m := &e.work.merged
	if e.base == nil {
		return e.appendEnters(dst, m.Enters), false
	}
	dst = appendLeaves(dst, m.Leaves)
	dst = e.appendEnters(dst, m.Enters)
	if len(m.Stays) > 0 {
		for g := range e.public {
			dst = e.appendGroup(dst, g, e.d, predicted)
		}
	}
	if !e.d.jumps {
		return dst, false
	}
	places := e.work.places[:0]
	for i, entry := range list {
		if has(e.d.jumped, entry&slotBits) {
			places = append(places, uint32(i))
		}
	}
	e.work.places = places
	if len(places) == 0 {
		return dst, false
	}
	return appendPlaces(dst, places), true
}

// appendLeaves appends places in the list of the base, with native.Gone on those of dead entities.
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
func (e *frameWriter) appendOwn() {
	own := e.v.own
	e.f.own = append(e.f.own[:0], own...)
	if e.base == nil && len(own) == 0 {
		return
	}
	if e.base == nil || e.ownChanged() {
		e.dst[e.flags] |= flagOwn
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
	for i, g := range e.owners {
		n := len(e.public) + i
		now, base := e.at(n, e.captures), e.at(n, e.base.capture)
		w := &e.work
		w.diffs = w.diffs[:0]
		for _, slot := range own {
			w.diffs = append(w.diffs, e.difference(g, now, base, -1, slot, &w.row)[:g.lanes]...)
		}
		e.dst = w.appendDiffs(e.dst, g, w.diffs)
	}
}

// ownChanged reports whether the session owns other entities than at the base.
func (e *frameWriter) ownChanged() bool {
	for _, slot := range e.v.own {
		if e.present.changed[slot] > e.base.capture {
			return true
		}
	}
	return !slices.Equal(e.v.own, e.base.own)
}

// forgotten reports whether the client has values that the source does not have any more.
func (e *frameWriter) forgotten() bool {
	return slices.ContainsFunc(e.f.since, func(n uint32) bool {
		capture := e.absolute(n)
		return capture != e.captures && !e.useful(capture)
	})
}

// checksum returns the checksum of what the client has after the frame.
func (e *frameWriter) checksum() uint32 {
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
