package ecs

import (
	"iter"
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

// Binding attaches objects outside the world to entities, one to each: bodies, meshes or
// sockets, by a handle of any type. It releases the handle of an entity that is
// despawned, so that the next entity in the slot never gets it.
//
// A release happens after all observers of a despawn were called, while the row is still
// there. For a batch of entities, all observers are called first; then the Bindings
// release their handles, in the order in which they were made, each by ascending slots.
// After a Restore or CopyFrom, a handle stays if its entity is alive, in whichever slot. All
// others are released, in the order of the slots that they had, when the world is already that
// of the snapshot. Reorder releases none. Handles are in no snapshot and no hash; Blobs are.
//
// Within a release, spawning, despawning and binding panic. A handle is unbound before
// its release, so each is released once. If a release panics in a despawn, the entities
// stay, with what is still bound; in a Restore or CopyFrom, the other releases happen
// before the panic continues.
//
// A Binding takes memory for each row of the world from the first Bind on. The rules of
// the world for concurrent use hold for it: see Concurrency.
type Binding[H comparable] struct {
	world   *World
	release func(id ID, handle H)
	handles []H
	owners  []ID     // 0: nothing is bound
	bound   []uint64 // slots with an owner
	count   int

	moved []H             // scratch of follow: handles by their old slots
	from  []ID            // scratch of follow: owners by their old slots
	gone  []goneHandle[H] // those that releaseGone releases
	next  int             // in gone: the next one to release
}

// goneHandle is a handle of an entity that is gone.
type goneHandle[H comparable] struct {
	id     ID
	handle H
}

// releaser is a Binding of any type.
type releaser interface {
	releaseSlots(i int, mask uint64)
	follow()
	releaseGone()
}

// NewBinding returns an empty Binding that calls release for each handle when its
// entity is gone. release may be nil.
func NewBinding[H comparable](w *World, release func(id ID, handle H)) *Binding[H] {
	b := &Binding[H]{world: w, release: release}
	w.bindings = append(w.bindings, b)
	return b
}

// Bind binds a handle to an entity. If the entity has another handle, Bind releases that
// one first. It is ErrStale if there is no such entity.
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
		b.releaseSlots(int(slot>>6), 1<<(slot&63))
	}
	b.owners[slot], b.handles[slot] = id, handle
	b.bound[slot>>6] |= 1 << (slot & 63)
	if b.count++; b.count == 1 {
		w.despawnWatchers++
	}
	return nil
}

// Unbind removes the handle of an entity without releasing it, and returns it. It
// reports false if there is none.
func (b *Binding[H]) Unbind(id ID) (H, bool) {
	h, ok := b.Get(id)
	if ok {
		slot, _ := b.world.Slot(id)
		b.remove(slot)
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
	if uint(slot) >= uint(len(b.owners)) || b.owners[slot] == 0 {
		var none H
		return none, false
	}
	return b.handles[slot], true
}

// Len returns the number of handles bound.
func (b *Binding[H]) Len() int { return b.count }

// Owners returns by slot the entities to which handles are bound, 0 for none; it is
// nil before the first Bind. It is the memory of the Binding itself: only read it.
func (b *Binding[H]) Owners() []ID { return b.owners }

// All yields the entities that have handles, with their handles, in ascending order of
// slots. The body may bind and unbind: All visits a handle if it is bound when the
// iteration reaches its slot. A Restore or Reorder in the body ends the iteration.
func (b *Binding[H]) All() iter.Seq2[ID, H] {
	return func(yield func(ID, H) bool) {
		generation := b.world.generation
		for i := range b.bound {
			for ahead := full; b.bound[i]&ahead != 0; {
				bit := bits.TrailingZeros64(b.bound[i] & ahead)
				slot := i<<6 | bit
				if !yield(b.owners[slot], b.handles[slot]) || b.world.generation != generation {
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
		b.releaseSlots(i, full)
	}
}

// UnbindAll removes all handles without releasing them.
func (b *Binding[H]) UnbindAll() {
	for i := range b.bound {
		for b.bound[i] != 0 {
			b.remove(Slot(i<<6 | bits.TrailingZeros64(b.bound[i])))
		}
	}
}

// remove unbinds the handle in a slot and returns it.
func (b *Binding[H]) remove(slot Slot) (ID, H) {
	var none H
	id, h := b.owners[slot], b.handles[slot]
	b.owners[slot], b.handles[slot] = 0, none
	b.bound[slot>>6] &^= 1 << (slot & 63)
	if b.count--; b.count == 0 {
		b.world.despawnWatchers--
	}
	return id, h
}

// releaseSlots releases the handles in the slots of a mask in word i.
func (b *Binding[H]) releaseSlots(i int, mask uint64) {
	if b.count == 0 || b.bound[i]&mask == 0 {
		return
	}
	w := b.world
	defer w.endRelease(w.beginRelease())
	for b.bound[i]&mask != 0 {
		id, h := b.remove(Slot(i<<6 | bits.TrailingZeros64(b.bound[i]&mask)))
		if b.release != nil {
			b.release(id, h)
		}
	}
}

// beginRelease forbids what a release must not do, until endRelease, which takes the result.
func (w *World) beginRelease() (before bool) {
	w.lock()
	before, w.releasing = w.releasing, true // a release may ReleaseAll of another Binding
	return before
}

func (w *World) endRelease(before bool) {
	w.releasing = before
	w.unlock()
}

// follow moves the handles to the slots where their entities are now. It unbinds the handles of entities that are gone, and
// leaves them to releaseGone.
func (b *Binding[H]) follow() {
	if b.inPlace() {
		return
	}
	if b.moved == nil {
		b.moved, b.from = make([]H, len(b.handles)), make([]ID, len(b.owners))
	}
	copy(b.moved, b.handles)
	copy(b.from, b.owners)
	clear(b.handles)
	clear(b.owners)
	clear(b.bound)
	for was, id := range b.from {
		if id == 0 {
			continue
		}
		if slot, alive := b.world.Slot(id); alive {
			b.owners[slot], b.handles[slot] = id, b.moved[was]
			b.bound[slot>>6] |= 1 << (slot & 63)
			continue
		}
		b.gone = append(b.gone, goneHandle[H]{id, b.moved[was]})
		if b.count--; b.count == 0 {
			b.world.despawnWatchers--
		}
	}
	clear(b.moved) // handles may hold pointers
}

// inPlace reports whether each handle is in the slot of its entity.
func (b *Binding[H]) inPlace() bool {
	for i := range b.bound {
		for m := b.bound[i]; m != 0; m &= m - 1 {
			if slot := i<<6 | bits.TrailingZeros64(m); b.world.ids[slot] != b.owners[slot] {
				return false
			}
		}
	}
	return true
}

// releaseGone releases the handles that follow has left.
func (b *Binding[H]) releaseGone() {
	if len(b.gone) == 0 {
		return
	}
	defer b.world.endRelease(b.world.beginRelease())
	for b.next < len(b.gone) {
		g := b.gone[b.next]
		b.next++
		if b.release != nil {
			b.release(g.id, g.handle)
		}
	}
	clear(b.gone) // handles may hold pointers
	b.gone, b.next = b.gone[:0], 0
}

// releaseStaleBindings makes the bindings release the handles of entities that are gone, after
// a snapshot or another world has replaced the state. If one release panics, the others still
// happen: no handle may stay for the next entity of its slot.
func (w *World) releaseStaleBindings() {
	done := false
	defer func() {
		if !done {
			w.releaseStaleBindings()
		}
	}()
	for _, b := range w.bindings {
		b.follow()
	}
	for _, b := range w.bindings {
		b.releaseGone()
	}
	done = true
}
