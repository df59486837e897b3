package replica

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/spatial"
)

// views are the entities that all viewers see, from begin to end.
type views struct {
	index   *spatial.Index
	queries spatial.Queries
	result  spatial.Result
	asked   []*viewer // of each query
	global  []uint32
	merged  netcode.Merged
	none    []uint64 // a bitmap without a bit
	list    []uint32 // scratch
	near    []uint32
	extra   []uint32
}

// begin finds what each viewer sees and owns in the newest capture. It waits for a capture that is
// running. If it returns an error, which is spatial.ErrFloatEnv, there is no end to call.
func (s *source) begin(viewers []*viewer) error {
	s.mutex.Lock()
	s.deltas.used = 0
	if err := s.findViews(viewers); err != nil {
		s.mutex.Unlock()
		return err
	}
	return nil
}

// end allows the next capture.
func (s *source) end() { s.mutex.Unlock() }

func (s *source) findViews(viewers []*viewer) error {
	if s.captures == 0 {
		return nil
	}
	w := &s.views
	w.asked, w.global = w.asked[:0], w.global[:0]
	if s.global != nil {
		for _, slot := range s.present.slots {
			if has(s.present.global, slot) {
				w.global = append(w.global, slot)
			}
		}
	}
	for _, v := range viewers {
		v.own = s.owned(v.own[:0], v.session)
		v.all = s.viewConfig.Enter == 0 && s.columns.category == nil
		s.place(v)
	}
	if s.viewConfig.Enter > 0 {
		return s.query(viewers)
	}
	for _, v := range viewers {
		if !v.all {
			s.list(v, s.present.slots)
		}
	}
	return nil
}

func has(bitmap []uint64, slot uint32) bool { return bitmap[slot>>6]>>(slot&63)&1 != 0 }

// owned appends the slots of the entities that a session owns.
func (s *source) owned(dst []uint32, session uint32) []uint32 {
	list := s.present.owned
	i, _ := slices.BinarySearch(list, uint64(session)<<32)
	for ; session != 0 && i < len(list) && uint32(list[i]>>32) == session; i++ {
		dst = append(dst, uint32(list[i]))
	}
	return dst
}

// place moves the centre of a view to where it is now.
func (s *source) place(v *viewer) {
	if s.viewConfig.Enter == 0 {
		return
	}
	c, p := &v.centre, &s.present
	if v.origin != p.origin {
		v.x, v.y, v.z = moved(v.x, v.y, v.z, &v.origin, &p.origin)
		v.origin = p.origin
	}
	if c.follow == 0 && c.point {
		v.moveTo(moved(c.x, c.y, c.z, &c.origin, &p.origin))
		return
	}
	slot, ok := s.followed(v)
	if !ok && (c.follow == 0 || c.owned) && len(v.own) > 0 {
		slot, ok = v.own[0], true
	}
	if ok {
		v.moveTo(p.x[slot], p.y[slot], p.z[slot])
	}
}

// moveTo moves the centre of the view to a point, if that is finite.
func (v *viewer) moveTo(x, y, z float32) {
	if fault.Finite(x) && fault.Finite(y) && fault.Finite(z) {
		v.x, v.y, v.z, v.placed = x, y, z, true
	}
}

// followed returns the slot of the entity that a viewer follows. It searches for an entity once: ids are not
// used again.
func (s *source) followed(v *viewer) (uint32, bool) {
	id, p := v.centre.follow, &s.present
	if id == 0 || id > p.newest {
		return 0, false
	}
	if v.centre.owned {
		i := slices.IndexFunc(v.own, func(slot uint32) bool { return p.ids[slot] == id })
		if i < 0 {
			return 0, false
		}
		return v.own[i], true
	}
	if uint(v.slot) < uint(len(p.ids)) && p.ids[v.slot] == id {
		return v.slot, !(v.centre.asked && s.hides(v, v.slot))
	}
	if v.sought == id && v.generation == p.world.generation {
		return 0, false
	}
	v.sought, v.generation = id, p.world.generation
	i := slices.Index(p.ids, id)
	v.slot = uint32(max(i, 0))
	return v.slot, i >= 0 && !(v.centre.asked && s.hides(v, v.slot))
}

// hides reports whether the entity in a slot is in no category that a viewer sees.
func (s *source) hides(v *viewer, slot uint32) bool {
	return s.columns.category != nil && s.present.category[slot]&v.mask == 0
}

// query asks the index for all views.
func (s *source) query(viewers []*viewer) error {
	w, p := &s.views, &s.present
	if p.moved {
		if err := w.index.Build(p.x[:p.high], p.y[:p.high], p.z[:p.high], p.finite); err != nil {
			return err
		}
		p.moved = false
	}
	q := &w.queries
	q.SkipDist2 = true
	q.X, q.Y, q.Z, q.Radius = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0]
	for _, v := range viewers {
		if v.placed {
			w.asked = append(w.asked, v)
			q.X, q.Y, q.Z, q.Radius = append(q.X, v.x), append(q.Y, v.y), append(q.Z, v.z), append(q.Radius, s.viewConfig.Leave)
		} else {
			s.list(v, nil)
		}
	}
	if err := w.index.Radius(q, &w.result); err != nil {
		return err
	}
	for i, v := range w.asked {
		s.list(v, w.result.Row(i))
	}
	return nil
}

// list finds the view of v: the entities near it, those that it owns and those that all see. near is ascending.
func (s *source) list(v *viewer, near []uint32) {
	w := &s.views
	if s.columns.category != nil {
		w.near = w.near[:0]
		for _, slot := range near {
			if !s.hides(v, slot) {
				w.near = append(w.near, slot)
			}
		}
		near = w.near
	}
	if len(v.own) > 0 || len(w.global) > 0 {
		w.extra = appendUnion(w.extra[:0], v.own, w.global)
		w.list = appendUnion(w.list[:0], near, w.extra)
		near = w.list
	}
	s.decide(v, near)
}

// decide makes those of a list the view of v that were in it before, or may come into it. So one view follows from the one before, whatever
// messages the client has got. While the client is away, its view is what it was.
func (s *source) decide(v *viewer, list []uint32) {
	m := &s.views.merged
	known, gone := s.seenBefore(v)
	m.Reserve(len(known), len(list))
	netcode.Merge(s.level, known, list, gone, m)
	for _, l := range m.Leaves {
		v.departed = append(v.departed, departure{known[l&slotBits], l&netcode.Gone != 0, s.captures})
	}
	if s.viewConfig.Leave > s.viewConfig.Enter {
		m.Enters = slices.DeleteFunc(m.Enters, func(slot uint32) bool { return s.beyond(v, slot) })
	}
	v.seen = appendUnion(v.seen[:0], m.Stays, m.Enters)
	v.seenAt, v.away = s.captures, false
}

// seenBefore returns the view of v before the newest capture, and a bitmap of slots whose entities have died since. It forgets what
// left the view before the messages in flight.
func (s *source) seenBefore(v *viewer) (seen []uint32, gone []uint64) {
	p := &s.present
	moved := p.lastMove > v.seenAt
	if v.seenAt < s.restored || moved && (v.away || p.lastMove < s.captures || v.seenAt+1 < s.captures) {
		v.seen, v.departed = v.seen[:0], v.departed[:0]
	}
	old := slices.IndexFunc(v.departed, func(d departure) bool { return len(v.flight) > 0 && d.capture > v.flight[0].capture })
	if old < 0 {
		old = len(v.departed)
	}
	v.departed = append(v.departed[:0], v.departed[old:]...)
	gone = s.delta(v.seenAt).gone
	if !moved {
		return v.seen, gone
	}
	kept := v.seen[:0]
	for _, slot := range v.seen {
		i, found := slices.BinarySearchFunc(p.moves, slot, func(m move, slot uint32) int { return int(m.from) - int(slot) })
		switch {
		case found:
			kept = append(kept, p.moves[i].to)
		case has(gone, slot):
			v.departed = append(v.departed, departure{slot, true, s.captures})
		default:
			kept = append(kept, slot)
		}
	}
	slices.Sort(kept)
	v.seen = kept
	s.views.none = sized(s.views.none, p.rows/64)
	return kept, s.views.none
}

// beyond reports whether an entity is too far away to come into the view of v. One that is in the view already may
// be up to Leave away.
func (s *source) beyond(v *viewer, slot uint32) bool {
	_, own := slices.BinarySearch(v.own, slot)
	return !own && s.distance2(v, slot) > s.viewConfig.Enter*s.viewConfig.Enter && !(s.global != nil && has(s.present.global, slot))
}

// distance2 returns the square of the distance of an entity from the centre of a view, in m², 0 if views have no
// limit, and the largest number for a position that is not finite.
func (s *source) distance2(v *viewer, slot uint32) float32 {
	if s.viewConfig.Enter == 0 {
		return 0
	}
	p := &s.present
	dx, dy, dz := p.x[slot]-v.x, p.y[slot]-v.y, p.z[slot]-v.z
	d := float32(dx*dx) + float32(dy*dy) + float32(dz*dz)
	if !(d <= math.MaxFloat32) {
		return math.MaxFloat32
	}
	return d
}

// appendUnion appends the numbers that are in one of two ascending lists or in both.
func appendUnion(dst, a, b []uint32) []uint32 {
	for len(a) > 0 && len(b) > 0 {
		next := min(a[0], b[0])
		dst = append(dst, next)
		if a[0] == next {
			a = a[1:]
		}
		if b[0] == next {
			b = b[1:]
		}
	}
	return append(append(dst, a...), b...)
}
