package ecs

import (
	"iter"
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

// Binding ties things outside the world to entities, one to each: bodies, meshes,
// sockets, by whatever handle. What is bound to an entity is released when it is
// despawned, so that the handle of one entity never passes for that of the next in its
// slot.
//
// A release happens when all observers of a despawn were called and the row is
// still there. A batch of entities is released when all of its observers were called:
// one Binding after the other, in the order in which they were made, each by
// ascending slots. After a Restore or CopyFrom, what is bound to an id that is in its
// slot as before stays; all else is released, by ascending slots, when the
// world is already that of the snapshot. Handles are in no snapshot and no hash.
//
// Within a release, entities must not come or go, and nothing may be bound:
// both panic. The handle is no longer bound then, so each is released once. If a release
// panics in a despawn, the entities stay, with what is still bound; in a Restore or
// CopyFrom, the other releases happen before the panic goes on.
//
// A Binding takes memory for each row of the world from the first Bind on. It is
// guarded like the world: see Concurrency.
type Binding[H comparable] struct {
	world   *World
	release func(id ID, handle H)
	handles []H
	owners  []ID     // 0: nothing is bound
	bound   []uint64 // slots with an owner
	count   int
}

// holder is a Binding of any type.
type holder interface {
	letGo(i int, mask uint64)
	letGoOfGone()
}

// NewBinding returns an empty Binding that calls release for each handle when its
// entity goes. A nil release: nobody is to be told.
func NewBinding[H comparable](w *World, release func(id ID, handle H)) *Binding[H] {
	b := &Binding[H]{world: w, release: release}
	w.bindings = append(w.bindings, b)
	return b
}

// Bind binds a handle to an entity. Another one bound to it before is released
// first. It is ErrStale if there is no such entity.
func (b *Binding[H]) Bind(id ID, handle H) error {
	w := b.world
	if w.releasing {
		panic("ecs: Bind within a release")
	}
	slot, ok := w.Slot(id)
	if !ok {
		return fault.Field(ErrStale, "ecs: Bind id", id)
	}
	if b.owners == nil {
		b.handles, b.owners, b.bound = make([]H, w.Cap()), make([]ID, w.Cap()), make([]uint64, words(w.Cap()))
	}
	if b.owners[slot] != 0 {
		if b.handles[slot] == handle {
			return nil
		}
		b.letGo(int(slot>>6), 1<<(slot&63))
	}
	b.owners[slot], b.handles[slot] = id, handle
	b.bound[slot>>6] |= 1 << (slot & 63)
	if b.count++; b.count == 1 {
		w.farewells++
	}
	return nil
}

// Unbind takes the handle of an entity back without releasing it. It reports false
// if there is none.
func (b *Binding[H]) Unbind(id ID) (H, bool) {
	h, ok := b.Get(id)
	if ok {
		slot, _ := b.world.Slot(id)
		b.take(slot)
	}
	return h, ok
}

// Get returns the handle bound to an entity, and false if there is none.
func (b *Binding[H]) Get(id ID) (H, bool) {
	slot, ok := b.world.Slot(id)
	if !ok || b.owners == nil || b.owners[slot] != id {
		var none H
		return none, false
	}
	return b.handles[slot], true
}

// At returns the handle bound to the entity in a slot, and false if there is none.
func (b *Binding[H]) At(slot Slot) (H, bool) {
	if int(slot) >= len(b.owners) || b.owners[slot] == 0 {
		var none H
		return none, false
	}
	return b.handles[slot], true
}

// Len returns the number of handles bound.
func (b *Binding[H]) Len() int { return b.count }

// Owners returns by slot the entities to which handles are bound, 0 for none; it is
// nil before the first Bind. It is the memory of the Binding itself, to be read only.
func (b *Binding[H]) Owners() []ID { return b.owners }

// All yields the entities that have handles, and these, in ascending order of
// slots. The body may bind and unbind: what is bound when its slot is reached is
// visited.
func (b *Binding[H]) All() iter.Seq2[ID, H] {
	return func(yield func(ID, H) bool) {
		for i := range b.bound {
			for ahead := full; b.bound[i]&ahead != 0; {
				bit := bits.TrailingZeros64(b.bound[i] & ahead)
				slot := i<<6 | bit
				if !yield(b.owners[slot], b.handles[slot]) {
					return
				}
				ahead = ^uint64(1) << bit
			}
		}
	}
}

// ReleaseAll releases all handles, by ascending slots.
func (b *Binding[H]) ReleaseAll() {
	for i := range b.bound {
		b.letGo(i, full)
	}
}

// UnbindAll takes all handles back without releasing them.
func (b *Binding[H]) UnbindAll() {
	for i := range b.bound {
		for b.bound[i] != 0 {
			b.take(Slot(i<<6 | bits.TrailingZeros64(b.bound[i])))
		}
	}
}

// take unbinds what is bound in a slot.
func (b *Binding[H]) take(slot Slot) (ID, H) {
	var none H
	id, h := b.owners[slot], b.handles[slot]
	b.owners[slot], b.handles[slot] = 0, none
	b.bound[slot>>6] &^= 1 << (slot & 63)
	if b.count--; b.count == 0 {
		b.world.farewells--
	}
	return id, h
}

// letGo releases what is bound in the slots of a mask in word i.
func (b *Binding[H]) letGo(i int, mask uint64) {
	if b.count == 0 || b.bound[i]&mask == 0 {
		return
	}
	w := b.world
	w.walkers.Add(1)
	before := w.releasing // a release may ReleaseAll of another Binding
	w.releasing = true
	defer func() {
		w.releasing = before
		w.walkers.Add(-1)
	}()
	for b.bound[i]&mask != 0 {
		id, h := b.take(Slot(i<<6 | bits.TrailingZeros64(b.bound[i]&mask)))
		if b.release != nil {
			b.release(id, h)
		}
	}
}

// letGoOfGone releases what is bound to entities that are not in their slots any more.
func (b *Binding[H]) letGoOfGone() {
	for i := range b.bound {
		var gone uint64
		eachBit(i, b.bound[i], func(slot Slot) {
			if b.world.ids[slot] != b.owners[slot] {
				gone |= 1 << (slot & 63)
			}
		})
		b.letGo(i, gone)
	}
}

// releaseLeaving has the bindings release what they hold in the slots of leaving.
func (w *World) releaseLeaving() {
	for _, b := range w.bindings {
		for i := w.leaving.from; i < w.leaving.to; i++ {
			b.letGo(i, w.leaving.words[i])
		}
	}
}

// releaseGone has the bindings release what they hold for entities that are not in
// their slots any more, after a snapshot or another world has taken the place of all.
//
// The state is replaced already: if one release panics the others happen all the same,
// lest a handle is found at the next entity of its slot.
func (w *World) releaseGone() {
	done := false
	defer func() {
		if !done {
			w.releaseGone()
		}
	}()
	for _, b := range w.bindings {
		b.letGoOfGone()
	}
	done = true
}
