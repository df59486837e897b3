package replica

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/evertick/evertick/native"
)

// mostBudget is the most bytes to which a frame is limited: an int32 holds their bits.
const mostBudget = 1 << 26

// choice is what a frame contains if not all fits, or if the client does not have all values of the
// base.
type choice struct {
	stays    []stay
	diffs    [][]int32 // by public group: the differences of each of stays
	shape    []native.DeltaLanes
	keys     []uint64
	enter    []uint32 // slots that come into view
	write    []uint32 // and those that are refreshed
	included []uint32 // places in stays of those whose groups are sent
	bits     int      // that are left
}

// stay is an entity that stays in a view.
type stay struct {
	slot    uint32
	since   uint64 // the capture whose values the client has
	cost    int    // bits
	waited  float32
	changed bool // the client has other values than those of the newest capture
	stale   bool // since is too long ago: the entity is sent like one that comes into view
	own     bool
	chosen  bool
}

// limit writes the frame from the body on within the budget. First come leaves, then the entities that the
// session owns. Then entities come into view, the nearest first; they take at most three quarters of the rest
// while others wait. Last are the changes of entities in view, the highest priority first. In each send tick
// in which an entity waits, its priority grows by its weight times a factor that falls from 1 at the centre of
// the view to a fifth at Leave. Each entity is sent as a whole.
//
// Leaves, owned entities, the bitmap of a Partial frame, one entity that comes into view and the changes of one
// are sent even beyond the budget. No entity comes into view while there are two for each byte of the budget, so
// the bitmap takes at most a quarter of it.
func (e *frameWriter) limit(body int) {
	e.dst = e.dst[:body]
	e.prepare()
	allowed := min(e.budget, mostBudget)
	for range 4 {
		e.dst = e.dst[:body]
		e.dst[e.flags] &= flagApplied
		e.f.list, e.f.since, e.f.waited = e.f.list[:0], e.f.since[:0], e.f.waited[:0]
		e.f.all, e.f.previous = false, 0
		e.choose(allowed)
		e.writeChosen()
		e.finish()
		over := len(e.dst) - e.start - e.budget
		if over <= 0 {
			return
		}
		allowed -= over // what was estimated too low, owner groups and the checksum
	}
}

// prepare finds what has changed for each entity of the view.
func (e *frameWriter) prepare() {
	c, m, known := &e.work.choice, &e.work.merged, e.known()
	e.merge()
	c.stays = c.stays[:0]
	place, own := 0, e.v.own
	for _, entry := range m.Stays {
		st := stay{slot: entry & slotBits}
		for ; known[place]&slotBits != st.slot; place++ {
		}
		if st.since = e.base.capture; len(e.base.since) > 0 {
			st.since, st.waited = e.absolute(e.base.since[place]), e.base.waited[place]
		}
		for ; len(own) > 0 && own[0] < st.slot; own = own[1:] {
		}
		st.own = len(own) > 0 && own[0] == st.slot
		st.stale = !e.useful(st.since)
		st.changed = st.stale
		c.stays = append(c.stays, st)
	}
	e.compare()
	for i := range c.stays {
		if st := &c.stays[i]; st.changed {
			st.waited += float32(e.importance(st.slot) * float32(e.captures-e.base.capture))
		} else {
			st.waited = 0
		}
	}
}

// compare computes the differences of all stays, and what they cost.
func (e *frameWriter) compare() {
	c, w := &e.work.choice, &e.work
	if len(c.diffs) < len(e.public) {
		c.diffs, c.shape = make([][]int32, len(e.public)), make([]native.DeltaLanes, len(e.public))
	}
	full := 0
	for g, group := range e.public {
		w.samples = w.samples[:0]
		diffs := sized(c.diffs[g], len(c.stays)*group.lanes)
		for i := range c.stays {
			st, row := &c.stays[i], diffs[i*group.lanes:][:group.lanes]
			clear(row)
			if st.stale {
				continue
			}
			copy(row, e.difference(group, e.at(g, e.captures), e.at(g, st.since), -1, st.slot, &w.row)[:])
			if changed := slices.ContainsFunc(row, func(v int32) bool { return v != 0 }); changed {
				st.changed = true
				if len(w.samples) < mostSamples {
					w.addSample(row)
				}
			}
		}
		c.diffs[g] = diffs
		c.shape[g] = native.DeltaLanes{Lanes: group.lanes, Bits: group.bits}
		w.chooseWidths(&c.shape[g])
		for i := range c.stays {
			c.stays[i].cost += cost(diffs[i*group.lanes:][:group.lanes], &c.shape[g])
		}
		for _, b := range group.bits {
			full += int(b)
		}
	}
	for i := range c.stays {
		if st := &c.stays[i]; st.stale {
			st.cost = e.enterBits() + full
		}
	}
}

// cost returns the bits that differences take, with one in the bitmap of the group.
func cost(diffs []int32, shape *native.DeltaLanes) int {
	sum, changed := 0, false
	for lane, v := range diffs {
		if changed = changed || v != 0; bitsOf(v) > shape.Width[lane] {
			return 1 + wideBits(diffs)
		}
		sum += int(shape.Width[lane])
	}
	if !changed {
		return 1
	}
	return 1 + sum
}

// enterBits returns the most bits of slot and id of an entity that comes into view.
func (e *frameWriter) enterBits() int {
	var b [2 * binary.MaxVarintLen64]byte
	return 8 * len(binary.AppendVarint(binary.AppendUvarint(b[:0], uint64(e.present.rows)), int64(e.present.newest)))
}

// importance returns what the priority of an entity grows by in a send tick. A weight that is negative
// or NaN counts as 0, and an infinite one as the largest number.
func (e *frameWriter) importance(slot uint32) float32 {
	weight := float32(1)
	if e.columns.weight != nil {
		if weight = min(e.present.weight[slot], math.MaxFloat32); !(weight > 0) {
			return 0
		}
	}
	if leave := e.viewConfig.Leave; leave > 0 {
		weight /= 1 + min(4*(e.distance2(e.v, slot)/(leave*leave)), 15)
	}
	return weight
}

// choose decides what is sent within so many bytes.
func (e *frameWriter) choose(allowed int) {
	c := &e.work.choice
	head := len(e.dst)
	e.dst = appendLeaves(e.dst, e.work.merged.Leaves)
	c.bits = 8 * (allowed - (len(e.dst) - e.start) - 4 - (len(c.stays)+7)/8)
	e.dst = e.dst[:head]
	for _, g := range e.public {
		c.bits -= 8 * (4 + g.lanes)
	}
	c.enter = c.enter[:0]
	for i := range c.stays {
		st := &c.stays[i]
		if st.chosen = st.own && st.changed; st.chosen {
			c.bits -= st.cost
		}
	}
	e.chooseEnters()
	e.chooseStays()
}

// chooseEnters chooses those that come into view: the owned ones, then the nearest.
func (e *frameWriter) chooseEnters() {
	c, enters := &e.work.choice, e.work.merged.Enters
	each := e.enterBits()
	for _, g := range e.public {
		for _, b := range g.bits {
			each += int(b)
		}
	}
	c.keys = c.keys[:0]
	own := e.v.own
	for _, slot := range enters {
		for ; len(own) > 0 && own[0] < slot; own = own[1:] {
		}
		if len(own) > 0 && own[0] == slot {
			c.enter = append(c.enter, slot)
			c.bits -= each
			continue
		}
		c.keys = append(c.keys, uint64(math.Float32bits(e.distance2(e.v, slot)))<<32|uint64(slot))
	}
	slices.Sort(c.keys)
	room := c.bits
	if len(c.stays) > 0 {
		room = room / 4 * 3
	}
	n := max(0, min(len(c.keys), room/each))
	if len(c.enter) == 0 {
		n = max(n, min(len(c.keys), 1))
	}
	n = min(n, max(0, 2*min(e.budget, mostBudget)-len(c.stays)-len(c.enter)))
	for _, key := range c.keys[:n] {
		c.enter = append(c.enter, uint32(key))
	}
	c.bits -= n * each
	slices.Sort(c.enter)
}

// chooseStays chooses the entities with the highest priorities that fit, of equal ones those in the
// lowest slots, and at least one.
func (e *frameWriter) chooseStays() {
	c := &e.work.choice
	c.keys = c.keys[:0]
	for i := range c.stays {
		if st := &c.stays[i]; st.changed && !st.chosen {
			c.keys = append(c.keys, uint64(^math.Float32bits(st.waited))<<32|uint64(i))
		}
	}
	slices.Sort(c.keys)
	for i, key := range c.keys {
		st := &c.stays[uint32(key)]
		if c.bits -= st.cost; c.bits < 0 && i > 0 {
			return
		}
		st.chosen = true
	}
}

// writeChosen writes the body, and stores what the client has afterwards.
func (e *frameWriter) writeChosen() {
	c := &e.work.choice
	if e.base != nil {
		e.dst = appendLeaves(e.dst, e.work.merged.Leaves)
	}
	c.write = append(c.write[:0], c.enter...)
	partial := false
	for i := range c.stays {
		st := &c.stays[i]
		partial = partial || st.changed && !st.chosen
		if st.stale && st.chosen {
			c.write = append(c.write, st.slot)
		}
	}
	slices.Sort(c.write)
	e.dst = e.appendEnters(e.dst, c.write)
	if e.base == nil {
		e.f.list = append(e.f.list, c.enter...)
		return
	}
	e.writeStays(partial)
	e.keepChosen()
	e.writeJumps()
}

// writeStays writes the bitmap of those included, if not all are, and their groups.
func (e *frameWriter) writeStays(partial bool) {
	c, w := &e.work.choice, &e.work
	mask := sized(w.gathered.Mask, (len(c.stays)+7)/8)
	clear(mask)
	included, n := w.places[:0], 0
	for i := range c.stays {
		st := &c.stays[i]
		if st.stale && st.chosen {
			continue
		}
		if !partial || st.chosen {
			included = append(included, uint32(i))
			mask[n>>3] |= 1 << (n & 7)
		}
		n++
	}
	w.gathered.Mask, c.included = mask, append(c.included[:0], included...)
	if partial {
		e.dst[e.flags] |= flagPartial
		e.dst = append(e.dst, mask[:(n+7)/8]...)
	}
	if len(c.included) == 0 {
		return
	}
	for g, group := range e.public {
		w.diffs = w.diffs[:0]
		for _, i := range c.included {
			w.diffs = append(w.diffs, c.diffs[g][int(i)*group.lanes:][:group.lanes]...)
		}
		e.dst = w.appendDiffs(e.dst, group, w.diffs)
	}
}

// keepChosen stores the list that the client has after the frame, and of which capture the values
// are. An entity that has not changed has those of the newest.
func (e *frameWriter) keepChosen() {
	c, f := &e.work.choice, e.f
	enter, whole := c.enter, true
	add := func(slot uint32, since uint64, waited float32) {
		f.list, f.since, f.waited = append(f.list, slot), append(f.since, uint32(since)), append(f.waited, waited)
	}
	for i := range c.stays {
		st := &c.stays[i]
		for ; len(enter) > 0 && enter[0] < st.slot; enter = enter[1:] {
			add(enter[0], e.captures, 0)
		}
		if st.changed && !st.chosen {
			whole = false
			add(st.slot, st.since, st.waited)
		} else {
			add(st.slot, e.captures, 0)
		}
	}
	for _, slot := range enter {
		add(slot, e.captures, 0)
	}
	if whole {
		f.since, f.waited = f.since[:0], f.waited[:0]
	}
}

// writeJumps writes which of the entities that have new values teleported since those they had.
func (e *frameWriter) writeJumps() {
	c, p := &e.work.choice, &e.present
	places, enter := e.work.places[:0], 0
	for i := range c.stays {
		st := &c.stays[i]
		for enter < len(c.enter) && c.enter[enter] < st.slot {
			enter++
		}
		if p.jumped[st.slot] > st.since && (st.chosen || !st.changed) {
			places = append(places, uint32(i+enter))
		}
	}
	e.work.places = places
	if len(places) > 0 {
		e.dst[e.flags] |= flagJumped
		e.dst = appendPlaces(e.dst, places)
	}
}
