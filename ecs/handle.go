package ecs

// Handle is an ID together with its slot, for loops that look at the same
// entities again and again: checking it is one comparison. It is good as long as
// the entity lives. The zero Handle is never valid.
type Handle struct {
	Slot Slot
	Gen  ID // whose slot it was: as ids are not reused, no later generation is the same
}

// Handle returns the handle of an entity, and false if there is no such entity.
func (w *World) Handle(id ID) (Handle, bool) {
	slot, ok := w.table.slot(id)
	if !ok {
		return Handle{}, false
	}
	return Handle{slot, id}, true
}

// Valid reports whether the entity of a handle is alive, and so still in the
// handle's slot. It is false for any handle that this world did not issue, unless
// it issued the same.
func (w *World) Valid(h Handle) bool {
	return int(h.Slot) < len(w.ids) && w.ids[h.Slot] == h.Gen && h.Gen != 0
}
