package replica

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/netcode"
)

const (
	mostBudget = 1 << 26 // the most bytes to which a message is limited
	// keepFor is the number of send ticks by which others must have waited longer than an entity that was in the last message. Its changes are
	// short once it was in two messages, since then they are predicted: so the changes of more entities fit, and in the end of all.
	keepFor = 4
)

// limit chooses what is sent within the budget. First come leaves, then the entities that the session owns. Then entities
// come into view, the nearest first; they take at most three quarters of the rest while others wait. Last are the changes of
// entities in view, the highest priority first. In each send tick in which an entity waits, its priority grows by its weight
// times a factor that falls from 1 at the centre of the view to a fifth at Leave; entities of the last message count as if they had waited
// keepFor longer, where changes are predicted. Each entity is sent as a whole.
//
// Leaves, owned entities, the bitmap of a Partial message, one entity that comes into view and the changes of one are sent
// even beyond the budget. No entity comes into view while there are two for each byte of the budget, so the bitmap takes
// at most a quarter of it.
func (e *messageWriter) limit(body int) {
	e.order()
	budget := min(e.budget, mostBudget)
	allowed, fitting := budget, 0
	for range 6 {
		over := e.try(body, allowed) - budget
		if over <= 0 {
			if fitting = allowed; -over <= budget/16 || e.complete() {
				return
			}
		} else if fitting > 0 {
			break
		}
		allowed -= over // what was estimated too low or too high, owner groups and the checksum
	}
	if fitting > 0 && fitting != allowed {
		e.try(body, fitting)
	}
}

// try writes what is chosen within so many bytes, by what each entity is estimated to cost, and returns the bytes of the message.
func (e *messageWriter) try(body, allowed int) int {
	e.rewind(body)
	e.choose(allowed)
	e.writeChosen()
	return len(e.dst) - e.start
}

// complete reports whether all that has changed is chosen.
func (e *messageWriter) complete() bool {
	w := &e.work
	unchosen := func(st stay) bool { return st.changed && !st.chosen }
	return len(w.enter) == len(w.merged.Enters) && !slices.ContainsFunc(w.stays, unchosen)
}

// rewind removes the body.
func (e *messageWriter) rewind(body int) {
	f := e.f
	e.dst, e.set = e.dst[:body], 0
	f.list, f.since, f.before, f.waited = f.list[:0], f.since[:0], f.before[:0], f.waited[:0]
	f.all, f.previous = false, 0
}

// estimate computes what each stay costs, and returns the bytes of a message with all that has changed.
func (e *messageWriter) estimate() int {
	w := &e.work
	enter := e.enterBits()
	for i := range w.stays {
		st := &w.stays[i]
		if st.cost = 0; st.stale {
			st.cost = enter
		}
	}
	for g, group := range e.public {
		shape := netcode.DeltaLanes{Lanes: group.lanes, Bits: group.bits}
		w.shape(&shape, w.diffs[g])
		for i := range w.stays {
			w.stays[i].cost += cost(w.diffs[g][i*group.lanes:][:group.lanes], &shape)
		}
	}
	bits := len(w.merged.Enters) * enter
	for i := range w.stays {
		bits += w.stays[i].cost
	}
	return len(e.dst) - e.start + bits/8
}

// cost returns the bits that differences take, with one in the bitmap of the group.
func cost(diffs []int32, shape *netcode.DeltaLanes) int {
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

// enterBits returns the most bits that an entity takes that comes into view, or is refreshed.
func (e *messageWriter) enterBits() (n int) {
	slot, id := uint32(0), uint64(0)
	most := func(s uint32) { slot, id = max(slot, s), max(id, uint64(e.present.ids[s])) }
	for _, s := range e.work.merged.Enters {
		most(s)
	}
	for i := range e.work.stays {
		if st := &e.work.stays[i]; st.stale {
			most(st.slot)
		}
	}
	var b [2 * binary.MaxVarintLen64]byte
	n = 8 * len(binary.AppendVarint(binary.AppendUvarint(b[:0], uint64(slot)), int64(id)))
	for _, g := range e.public {
		for _, b := range g.bits {
			n += int(b)
		}
	}
	return n
}

// importance returns what the priority of an entity grows by in a tick. A weight that is negative or NaN counts as 0, and an
// infinite one as the largest number.
func (e *messageWriter) importance(slot uint32) float32 {
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

// order sorts those that come into view, the nearest first, and the stays that have changed, the highest priority first; of equal
// ones those in the lowest slots. Owned entities are in neither list.
func (e *messageWriter) order() {
	w, own, predicted := &e.work, e.v.own, e.v.ordered && len(e.public) > 0 && e.public[0].Predicted
	w.nearest, w.urgent, w.owned = w.nearest[:0], w.urgent[:0], w.owned[:0]
	for _, slot := range w.merged.Enters {
		for ; len(own) > 0 && own[0] < slot; own = own[1:] {
		}
		if len(own) > 0 && own[0] == slot {
			w.owned = append(w.owned, slot)
		} else {
			w.nearest = append(w.nearest, uint64(math.Float32bits(e.distance2(e.v, slot)))<<32|uint64(slot))
		}
	}
	for i := range w.stays {
		st := &w.stays[i]
		if !st.changed {
			st.waited = 0
			continue
		}
		importance, priority := e.importance(st.slot), float32(0)
		st.waited += float32(importance * float32(e.f.tick-e.base.tick))
		if priority = st.waited; predicted && st.since == e.base.capture && st.before != st.since {
			priority += float32(keepFor * float32(importance*float32(e.every)))
		}
		if !st.own {
			w.urgent = append(w.urgent, uint64(^math.Float32bits(priority))<<32|uint64(i))
		}
	}
	slices.Sort(w.nearest)
	slices.Sort(w.urgent)
}

// choose decides what is sent within so many bytes.
func (e *messageWriter) choose(allowed int) {
	w := &e.work
	head := len(e.dst)
	e.dst = appendLeaves(e.dst, w.merged.Leaves)
	bits := 8 * (allowed - (len(e.dst) - e.start) - 4 - (len(w.stays)+7)/8)
	e.dst = e.dst[:head]
	for _, g := range e.public {
		bits -= 8 * (4 + g.lanes)
	}
	for i := range w.stays {
		st := &w.stays[i]
		if st.chosen = st.own && st.changed; st.chosen {
			bits -= st.cost
		}
	}
	bits = e.chooseEnters(bits)
	for i, key := range w.urgent {
		st := &w.stays[uint32(key)]
		if bits -= st.cost; bits < 0 && i > 0 {
			return
		}
		st.chosen = true
	}
}

// chooseEnters chooses those that come into view within so many bits, and returns how many are left.
func (e *messageWriter) chooseEnters(bits int) int {
	w := &e.work
	each := e.enterBits()
	w.enter = append(w.enter[:0], w.owned...)
	bits -= each * len(w.owned)
	room := bits
	if len(w.stays) > 0 {
		room = room / 4 * 3
	}
	n := max(0, min(len(w.nearest), room/each))
	if len(w.owned) == 0 {
		n = max(n, min(len(w.nearest), 1))
	}
	n = min(n, max(0, 2*min(e.budget, mostBudget)-len(w.stays)-len(w.enter)))
	for _, key := range w.nearest[:n] {
		w.enter = append(w.enter, uint32(key))
	}
	slices.Sort(w.enter)
	return bits - n*each
}
