package replica

import "github.com/evertick/evertick/internal/netcode"

// fewSamples is the number of entities by which a message is predicted or not.
const fewSamples = 32

// stay is an entity that stays in a view.
type stay struct {
	slot    uint32
	since   uint64 // the capture whose values the client has
	before  uint64 // that of the values that it had before; since, if the last message has added nothing
	waited  float32
	cost    int  // bits
	changed bool // the client has other values than the newest capture
	stale   bool // since is too long ago: the entity is sent like one that comes into view
	own     bool
	chosen  bool // its values are in the message
	jumped  bool // it teleported since then, or was out of view
}

// findStays merges the list of the base with the view, and finds out what the client has of each entity that stays.
//
// What is outside of a view must not show in a message. So a leaving entity has died only if it died in the view, and one that was out
// of it meanwhile counts as teleported, whatever happened to it there.
func (e *messageWriter) findStays() {
	w := &e.work
	m, b, known, view := &w.merged, e.base, e.known(), e.view()
	m.Reserve(len(known), len(view))
	w.stays = w.stays[:0]
	if b == nil {
		m.Stays, m.Leaves, m.Enters = m.Stays[:0], m.Leaves[:0], append(m.Enters[:0], view...)
		return
	}
	netcode.Merge(e.level, known, view, e.d.gone, m)
	left := e.markDepartures()
	for i, l := range m.Leaves {
		if mark := left[known[l&slotBits]&slotBits]; mark == markLeft {
			m.Leaves[i] = l &^ netcode.Gone
		} else if mark == markDied {
			m.Leaves[i] = l | netcode.Gone
		}
	}
	e.guess = !e.still && e.v.ordered && len(e.public) > 0 && e.public[0].Predicted
	place, own := 0, e.v.own
	for _, entry := range m.Stays {
		st := stay{slot: entry & slotBits, since: b.capture, before: b.previous}
		if entry&netcode.Young != 0 {
			st.before = st.since
		}
		if len(b.since) > 0 {
			for ; known[place]&slotBits != st.slot; place++ {
			}
			st.since, st.waited, st.before = e.absolute(b.since[place]), b.waited[place], 0
			if len(b.before) > 0 {
				st.before = e.absolute(b.before[place])
			}
		}
		for ; len(own) > 0 && own[0] < st.slot; own = own[1:] {
		}
		st.own = len(own) > 0 && own[0] == st.slot
		st.stale = !e.useful(st.since)
		st.changed = st.stale
		e.guess = e.guess && (st.stale || st.before == st.since || e.useful(st.before))
		st.jumped = left[st.slot] != 0 || e.present.lastJump > st.since && e.present.jumped[st.slot] > st.since
		w.stays = append(w.stays, st)
	}
	e.clearDepartures()
	e.guess = e.guess && e.shorter()
	e.compare()
}

// Marks of slots whose entity has left the view since the base.
const (
	markLeft = 1 + iota
	markDied
)

// markDepartures returns a mark for each slot. If several entities have left it, the mark is of the first, which was in the list of the
// base.
func (e *messageWriter) markDepartures() []uint8 {
	w := &e.work
	w.marks = sized(w.marks, e.present.rows)
	list := e.v.departed
	for i := len(list) - 1; i >= 0 && list[i].capture > e.base.capture; i-- {
		if w.marks[list[i].slot] = markLeft; list[i].dead {
			w.marks[list[i].slot] = markDied
		}
	}
	return w.marks
}

func (e *messageWriter) clearDepartures() {
	for i := range e.v.departed {
		e.work.marks[e.v.departed[i].slot] = 0
	}
}

// shorter reports whether a sample of the entities takes fewer bits with the prediction.
func (e *messageWriter) shorter() bool {
	w := &e.work
	w.sample = w.sample[:0]
	for i, n := 0, min(len(w.stays), fewSamples); i < n; i++ {
		if st := w.stays[i*len(w.stays)/n]; !st.stale && st.before != st.since {
			w.sample = append(w.sample, st)
		}
	}
	bits := 0
	for _, guess := range [...]bool{true, false} {
		w.some = e.differences(w.some, 0, w.sample, guess)
		for _, v := range w.some {
			bits += int(bitsOf(v))
		}
		bits = -bits
	}
	return bits < 0
}

// compare computes the differences of all stays.
func (e *messageWriter) compare() {
	w := &e.work
	for g := range e.public {
		w.diffs[g] = e.differences(w.diffs[g], g, w.stays, e.guess && e.groups[g].Predicted)
	}
}

// differences returns the differences of all lanes of a public group, one entity after another. With guess they are
// those to the prediction: that a lane changes as it did in the last message, and a rotation turns as it did.
func (e *messageWriter) differences(dst []int32, g int, stays []stay, guess bool) []int32 {
	group := e.groups[g]
	dst = sized(dst, len(stays)*group.lanes)
	plain := e.recordsOf(e.d, g, false)
	guessed := plain
	if guess = guess && len(stays) > 0; guess && e.useful(e.d.base-1) {
		guessed = e.recordsOf(e.d, g, true)
	}
	for i := range stays {
		st, row := &stays[i], dst[i*group.lanes:][:group.lanes]
		predicted := guess && st.before != st.since
		from := plain
		if predicted {
			from = guessed
			if guessed != plain && len(group.quats) > 0 && st.since == e.d.base && st.before+1 == e.d.base {
				e.turnRecord(guessed, g, e.d.base, st.slot, row)
			}
		}
		word, bit := st.slot>>6, uint64(1)<<(st.slot&63)
		switch {
		case st.stale:
			clear(row)
		case st.since != e.d.base || predicted && (guessed == plain || st.before+1 != e.d.base) || from.Wide[word]&bit != 0:
			e.difference(row, group, g, st, predicted)
		case from.Changed[word]&bit == 0:
			clear(row)
			st.changed = st.changed || plain.Changed[word]&bit != 0
		default:
			record := from.Records[st.slot]
			for lane := range row {
				width := group.record.Width[lane]
				row[lane] = sx(width, int32(record))
				record >>= width
			}
			st.changed = st.changed || plain.Changed[word]&bit != 0
		}
	}
	return dst
}

// difference computes the differences of one entity.
func (s *source) difference(row []int32, group *group, g int, st *stay, predicted bool) {
	now, from, before := s.at(g, s.captures), s.at(g, st.since), 0
	if predicted {
		before = s.at(g, st.before)
	}
	at, any := int(st.slot), int32(0)
	for lane := range row {
		was := group.arena[from+at]
		v := sx(group.bits[lane], group.arena[now+at]-was)
		any |= v
		if predicted {
			v = sx(group.bits[lane], v-(was-group.arena[before+at]))
		}
		row[lane] = v
		at += s.present.stride
	}
	for _, q := range group.quats {
		if slot := int(st.slot); predicted {
			q.difference(row, s.quatAt(group, q, before, slot), s.quatAt(group, q, from, slot), s.quatAt(group, q, now, slot))
		}
	}
	st.changed = st.changed || any != 0
}

// writeStays writes the bitmap of those included, if not all are, and their groups.
func (e *messageWriter) writeStays(partial bool) {
	w := &e.work
	mask := sized(w.mask, (len(w.stays)+7)/8)
	clear(mask)
	included, n := w.included[:0], 0
	for i := range w.stays {
		st := &w.stays[i]
		if st.stale && st.chosen {
			continue
		}
		if !partial || st.chosen {
			included = append(included, uint32(i))
			mask[n>>3] |= 1 << (n & 7)
		}
		n++
	}
	w.mask, w.included = mask, included
	if partial {
		e.set |= flagPartial
		e.dst = append(e.dst, mask[:(n+7)/8]...)
	}
	if len(included) == 0 {
		return
	}
	if e.guess {
		e.set |= flagPredicted
	}
	for g, group := range e.public {
		diffs := w.diffs[g]
		if len(included) < len(w.stays) {
			diffs = w.some[:0]
			for _, i := range included {
				diffs = append(diffs, w.diffs[g][int(i)*group.lanes:][:group.lanes]...)
			}
			w.some = diffs
		}
		e.dst = w.appendGroup(e.dst, group, diffs)
	}
}

// keep stores the list that the client has after the message, and of which captures its values are. An entity that has not
// changed has the values of the newest.
func (e *messageWriter) keep() {
	f, w := e.f, &e.work
	complete, even := e.complete(), true
	for i := range w.stays {
		even = even && w.stays[i].since == e.base.capture
	}
	switch {
	case e.v.all && complete:
		f.all = true // without previous: the entities that came into view are not those that were born
		return
	case complete && even:
		f.previous = e.d.base
		e.keepWhole()
		return
	}
	enters := w.enter
	add := func(slot uint32, since, before uint64, waited float32) {
		f.list, f.since, f.before, f.waited = append(f.list, slot), append(f.since, uint32(since)), append(f.before, uint32(before)), append(f.waited, waited)
	}
	for i := range w.stays {
		st := &w.stays[i]
		for ; len(enters) > 0 && enters[0] < st.slot; enters = enters[1:] {
			add(enters[0], e.captures, e.captures, 0)
		}
		switch {
		case st.changed && !st.chosen:
			add(st.slot, st.since, st.since, st.waited)
		case st.changed && !st.stale:
			add(st.slot, e.captures, st.since, 0)
		default:
			add(st.slot, e.captures, e.captures, 0)
		}
	}
	for _, slot := range enters {
		add(slot, e.captures, e.captures, 0)
	}
}

// keepWhole stores the list of a client that has all values of the newest capture, and had all of the base.
func (e *messageWriter) keepWhole() {
	f, enters := e.f, e.work.enter
	for _, entry := range e.work.merged.Stays {
		slot := entry & slotBits
		for ; len(enters) > 0 && enters[0] < slot; enters = enters[1:] {
			f.list = append(f.list, enters[0]|netcode.Young)
		}
		f.list = append(f.list, slot)
	}
	for _, slot := range enters {
		f.list = append(f.list, slot|netcode.Young)
	}
}

// writeJumps writes which of the entities that have new values teleported since those they had.
func (e *messageWriter) writeJumps() {
	w, places, enter := &e.work, e.work.places[:0], 0
	for i := range w.stays {
		st := &w.stays[i]
		if !st.jumped || st.changed && !st.chosen {
			continue
		}
		for enter < len(w.enter) && w.enter[enter] < st.slot {
			enter++
		}
		places = append(places, uint32(i+enter))
	}
	if w.places = places; len(places) > 0 {
		e.set |= flagJumped
		e.dst = appendPlaces(e.dst, places)
	}
}
