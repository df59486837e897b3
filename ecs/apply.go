package ecs

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// Applied tells what became of the commands of an Apply: how many of each kind found
// their entity, and took effect even where they changed nothing, such as a tag given
// again; and how many did not find it.
type Applied struct {
	Spawned, Despawned, Tagged, Untagged, Written int

	Stale int
}

// Apply makes the changes of the lists, one list after the other in the order given,
// and their commands in the order in which they were recorded: each as if called
// directly, observers included. A command whose entity is not there (any more) is
// skipped. Then the lists are empty, and the columns that were written have a new
// Version, one for the whole Apply.
//
// If the world were to overflow at one of the spawns, with the room counted that
// earlier despawns have made, it is ErrCapacity naming the list and the command:
// nothing is changed then, and the lists keep what they have.
//
// What observers record meanwhile, in whichever list, is for the next Apply. A panic
// in an observer leaves the commands behind it undone and forgotten.
//
// It panics while a query iterates, and on a list that is of another world or
// given twice.
func (w *World) Apply(lists ...*Commands) (Applied, error) {
	w.mustBeStill()
	w.checkLists(lists)
	if err := w.checkRoom(lists); err != nil {
		return Applied{}, err
	}
	for _, c := range lists {
		c.running, c.recorded = c.recorded, c.running
		c.born, c.bornAs, c.taker = 0, c.firstProvisional(), nil
		c.Reset()
	}
	var a applying
	defer func() { // also when an observer panics
		a.written.each(func(i int) { w.lanes.known[i].mark.touch() })
	}()
	for _, c := range lists {
		a.run(c)
	}
	return a.done, nil
}

func (w *World) checkLists(lists []*Commands) {
	w.applies++
	for _, c := range lists {
		if c == nil || c.world != w {
			panic("ecs: Apply of Commands of another world")
		}
		if c.applied == w.applies {
			panic("ecs: Apply of one list twice")
		}
		c.applied = w.applies
	}
}

// checkRoom is ErrCapacity if a spawn will find no free slot.
func (w *World) checkRoom(lists []*Commands) error {
	free, spawns := w.Cap()-w.count, 0
	for _, c := range lists {
		spawns += c.recorded.spawns
	}
	if spawns <= free {
		return nil
	}
	r := rehearsal{w: w, next: ID(w.table.next)}
	defer w.leaving.clear()
	w.unborn = resized(w.unborn, words(spawns))
	for i, c := range lists {
		first := r.next
		for j, o := range c.recorded.commands {
			switch {
			case o.kind == spawnCommand && free == 0:
				return fault.Element(ErrCapacity, fmt.Sprintf("ecs: Apply lists[%d]: command", i), j, "Spawn")
			case o.kind == spawnCommand:
				free--
				r.next++
			case o.kind == despawnCommand && r.despawn(o.id.since(first)):
				free++
			}
		}
	}
	return nil
}

// rehearsal follows who comes and goes, without changing the world: those alive who
// go are in leaving, those who come and go in unborn, counted from the next id.
type rehearsal struct {
	w    *World
	next ID
}

// despawn reports whether a Despawn would find its entity.
func (r *rehearsal) despawn(id ID) bool {
	w := r.w
	if slot, ok := w.table.slot(id); ok {
		return w.leaving.add(int(slot>>6), 1<<(slot&63))
	}
	if id < ID(w.table.next) || id >= r.next {
		return false
	}
	i := id - ID(w.table.next)
	word, bit := &w.unborn[i>>6], uint64(1)<<(i&63)
	came := *word&bit == 0
	*word |= bit
	return came
}

// since returns the id that a provisional one becomes in a list whose first spawn
// has the id first. Ids are consecutive, and nobody else spawns meanwhile.
func (id ID) since(first ID) ID {
	if id < provisional {
		return id
	}
	return first + ID(uint32(id))
}

// applying is the state of an Apply.
type applying struct {
	done    Applied
	written columnSet
}

func (a *applying) run(c *Commands) {
	w, values := c.world, c.running.values
	c.firstBorn = ID(w.table.next)
	for _, o := range c.running.commands {
		id, found, count := o.id.since(c.firstBorn), true, &a.done.Spawned
		switch o.kind {
		case spawnCommand:
			if _, err := w.Spawn(); err != nil {
				panic("ecs: Apply: room was miscounted")
			}
			c.born++
		case despawnCommand:
			found, count = w.Despawn(id), &a.done.Despawned
		case setCommand:
			found, count = Tag{w.tags[o.target]}.Set(id), &a.done.Tagged
		case unsetCommand:
			found, count = Tag{w.tags[o.target]}.Unset(id), &a.done.Untagged
		case writeCommand:
			values, found = a.write(w, o, id, values)
			count = &a.done.Written
		}
		if !found {
			count = &a.done.Stale
		}
		*count++
	}
}

// write writes the front of values to the row of an entity, and returns the rest.
func (a *applying) write(w *World, o command, id ID, values []byte) (rest []byte, found bool) {
	slot, found := w.Slot(id)
	if found {
		a.written.add(int(o.target))
	}
	for _, c := range w.lanes.known[o.target : o.target+uint16(o.width)] {
		size := c.size()
		if found {
			copyRow(c.mem[int(slot)*size:][:size], values)
		}
		values = values[size:]
	}
	return values, found
}

// copyRow copies the front of src to dst: by one move where rows have the size of nearly
// all, which the compiler has to be told.
func copyRow(dst, src []byte) {
	switch len(dst) {
	case 4:
		*(*[4]byte)(dst) = [4]byte(src)
	case 8:
		*(*[8]byte)(dst) = [8]byte(src)
	default:
		copy(dst, src)
	}
}

// columnSet is a set of columns in order of registration.
type columnSet [maxColumns / 64]uint64

func (s *columnSet) add(i int) { s[i>>6] |= 1 << (i & 63) }

func (s *columnSet) each(f func(int)) {
	for i, m := range s {
		eachBit(i, m, func(slot Slot) { f(int(slot)) })
	}
}

// resized returns n words of zero, in the memory of s if they fit.
func resized(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n)
	}
	s = s[:n]
	clear(s)
	return s
}
