package replica

import (
	"math"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// viewer is what the server keeps of a client that gets the state of what it sees: what the client has
// in each of the last frames, and where its view is.
type viewer struct {
	session uint32
	ordered bool   // frames of the connection arrive in order
	mask    uint32 // categories that it sees, 0: all
	centre  centre

	x, y, z float32 // the centre as it was last
	placed  bool    // x, y, z have been set
	slot    uint32  // of centre.follow, if it is found
	// The entity that was searched for, and the generation of the World in which it was.
	sought     ecs.ID
	generation uint64

	base   *frame   // one of flight, which the next frame changes; nil: none
	next   *frame   // made by append, until sent or refused
	flight []*frame // the last frames that were sent, oldest first
	free   []*frame
	frames uint64 // sent on this connection
	check  uint64 // number of frames after which the next has a checksum
	wait   uint64 // no Keyframe before this capture, on a connection that is not ordered

	// From begin to end.
	all  bool     // it sees all entities
	seen []uint32 // slots of what it sees otherwise; those beyond Enter only if the client has them
	own  []uint32 // slots of the entities that the session owns
}

// centre is where the view of a client is: at the entity follow; if that is 0, at a point; and if
// there is none, as in the zero centre, at the first entity that the session owns. A view stays where
// it is when the entity has died, or its position is not finite. A client that asks for a view may only
// follow what its session owns: while it does not own the entity, owned makes it the zero centre.
type centre struct {
	follow  ecs.ID
	owned   bool
	point   bool
	x, y, z float32
}

// frame is the state that a client has after a frame.
type frame struct {
	capture  uint64
	tick     uint64
	key      bool   // of a Keyframe
	checked  bool   // the frame has a checksum
	previous uint64 // the capture of its base, if client and server agree about the velocities of all entities; else 0

	// The client has all entities of the capture, or those of a list. An entry of the list is a slot
	// with native.Young if the entity came into view with this frame.
	all  bool
	list []uint32
	own  []uint32 // slots of the owned entities

	// After a frame with the flag Partial, of each entity in the list: the capture whose values the
	// client has, modulo 2^32, and the priority with which it waits for newer ones. Empty if the client has
	// the values of this capture.
	since  []uint32
	waited []float32
}

const (
	slotBits      = native.Young - 1 // of an entry of a list
	mostFlight    = 32               // frames that a client keeps: see docs/replica-wire.md
	orderedFlight = 8                // frames from which a session can be resumed, where all arrive
	keyframePause = 8                // captures between two Keyframes, until one is acknowledged
)

// newViewer returns a viewer whose first frame is a Keyframe.
func newViewer(session uint32, ordered bool) *viewer {
	return &viewer{session: session, ordered: ordered}
}

// sent makes the frame that append has made one that the client has, or may have.
func (v *viewer) sent() {
	f := v.next
	if f == nil {
		return
	}
	v.next = nil
	v.frames++
	if f.checked {
		v.check = v.frames - 1 + checkEvery
	}
	if f.key && !v.ordered {
		v.wait = f.capture + keyframePause
	}
	most := mostFlight
	if v.ordered {
		v.base = f
		most = orderedFlight
	}
	v.flight = append(v.flight, f)
	if len(v.flight) > most {
		v.drop(1)
	}
}

// drop forgets the n oldest frames in flight. If the base is one of them there is none.
func (v *viewer) drop(n int) {
	for _, f := range v.flight[:n] {
		if f == v.base {
			v.base = nil
		}
		v.free = append(v.free, f)
	}
	v.flight = v.flight[:copy(v.flight, v.flight[n:])]
}

// refused forgets the frame that append has made. Nothing has changed for the client.
func (v *viewer) refused() {
	if v.next != nil {
		v.free = append(v.free, v.next)
		v.next = nil
	}
}

// acked notes that the client has got the frame of a tick: on a connection that is not ordered it is
// the base of the next frames. It returns false if the viewer does not know the frame any more.
func (v *viewer) acked(tick uint64) bool {
	i := slices.IndexFunc(v.flight, func(f *frame) bool { return f.tick == tick })
	if i >= 0 && !v.ordered {
		v.base = v.flight[i]
		v.drop(i)
	}
	return i >= 0
}

// reset makes the next frame a Keyframe.
func (v *viewer) reset() {
	v.refused()
	v.drop(len(v.flight))
	v.frames, v.check, v.wait = 0, 0, 0
}

// resume makes the state that a client holds after the frame of a tick the base for a new connection, and
// returns true. If the viewer does not know that frame any more the next one is a Keyframe.
func (v *viewer) resume(held uint64, ordered bool) bool {
	v.refused()
	v.ordered = ordered
	i := slices.IndexFunc(v.flight, func(f *frame) bool { return f.tick == held })
	if i < 0 {
		v.reset()
		return false
	}
	v.frames, v.check, v.wait = 0, 0, 0
	v.base = v.flight[i]
	v.base.previous = 0 // the client has no velocities
	v.free = append(v.free, v.flight[i+1:]...)
	v.flight = v.flight[:i+1]
	return true
}

// bytes returns the memory that the viewer takes.
func (v *viewer) bytes() (n int) {
	n = 4 * cap(v.own)
	for _, list := range [...][]*frame{v.flight, v.free, {v.next}} {
		for _, f := range list {
			if f != nil {
				n += 128 + 4*(cap(f.list)+cap(f.own)+cap(f.since)+cap(f.waited))
			}
		}
	}
	return n
}

// newFrame returns a frame without contents.
func (v *viewer) newFrame() *frame {
	n := len(v.free)
	if n == 0 {
		return new(frame)
	}
	f := v.free[n-1]
	v.free = v.free[:n-1]
	*f = frame{list: f.list[:0], own: f.own[:0], since: f.since[:0], waited: f.waited[:0]}
	return f
}

// views are the entities that all viewers see, from begin to end.
type views struct {
	index   *spatial.Index
	queries spatial.Queries
	result  spatial.Result
	asked   []*viewer // of each query
	lists   []uint32  // views that are not all entities, one after the other
	global  []uint32
	near    []uint32 // scratch
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
	w.asked, w.lists, w.global = w.asked[:0], w.lists[:0], w.global[:0]
	if s.global != nil {
		for _, slot := range s.present.slots {
			if has(s.present.global, slot) {
				w.global = append(w.global, slot)
			}
		}
	}
	for _, v := range viewers {
		v.own = s.owned(v.own[:0], v.session)
		v.all = s.view.Enter == 0 && (v.mask == 0 || s.columns.category == nil)
		s.place(v)
	}
	if s.view.Enter > 0 {
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
	if s.view.Enter == 0 {
		return
	}
	c, p := &v.centre, &s.present
	if c.follow == 0 && c.point {
		v.x, v.y, v.z, v.placed = c.x, c.y, c.z, true
		return
	}
	slot, ok := s.followed(v)
	if !ok && (c.follow == 0 || c.owned) && len(v.own) > 0 {
		slot, ok = v.own[0], true
	}
	if ok && fault.Finite(p.x[slot]) && fault.Finite(p.y[slot]) && fault.Finite(p.z[slot]) {
		v.x, v.y, v.z, v.placed = p.x[slot], p.y[slot], p.z[slot], true
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
	if int(v.slot) < len(p.ids) && p.ids[v.slot] == id {
		return v.slot, true
	}
	if v.sought == id && v.generation == p.world.generation {
		return 0, false
	}
	v.sought, v.generation = id, p.world.generation
	i := slices.Index(p.ids, id)
	v.slot = uint32(max(i, 0))
	return v.slot, i >= 0
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
			q.X, q.Y, q.Z, q.Radius = append(q.X, v.x), append(q.Y, v.y), append(q.Z, v.z), append(q.Radius, s.view.Leave)
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

// list makes the view of v of the entities near it, those that it owns and those that all see. near is
// ascending.
func (s *source) list(v *viewer, near []uint32) {
	w := &s.views
	category := v.mask != 0 && s.columns.category != nil
	if v.seen = near; !category && len(v.own) == 0 && len(w.global) == 0 {
		return
	}
	if category {
		w.near = w.near[:0]
		for _, slot := range near {
			if s.present.category[slot]&v.mask != 0 {
				w.near = append(w.near, slot)
			}
		}
		near = w.near
	}
	w.extra = appendUnion(w.extra[:0], v.own, w.global)
	first := len(w.lists)
	w.lists = appendUnion(w.lists, near, w.extra)
	v.seen = w.lists[first:]
}

// beyond reports whether an entity is not near enough to come into the view of v. It may be in the view, which reaches
// to Leave.
func (s *source) beyond(v *viewer, slot uint32) bool {
	_, own := slices.BinarySearch(v.own, slot)
	return !own && s.distance2(v, slot) > s.view.Enter*s.view.Enter && !(s.global != nil && has(s.present.global, slot))
}

// distance2 returns the square of the distance of an entity from the centre of a view, in m², 0 if views have no
// limit, and the largest number for a position that is not finite.
func (s *source) distance2(v *viewer, slot uint32) float32 {
	if s.view.Enter == 0 {
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
