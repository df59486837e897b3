package ecs

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// Applied counts the commands of an Apply. Each kind counts the commands that found their entity,
// even if they changed nothing, such as setting a tag that the entity already had; blobs count as
// Written. Stale counts the commands that did not find it.
type Applied struct {
	Spawned, Despawned, Tagged, Untagged, Written int

	Stale int
}

// Apply makes the changes of the lists, one list after the other in the order given, and their
// commands in the order in which they were recorded: each as if called directly, observers
// included. It skips a command whose entity does not exist or no longer exists. Then the lists are
// empty, and each column and all Blobs that were written have a new Version, one for the whole Apply.
//
// If the world would overflow at one of the spawns, after the despawns before it have
// made room, Apply returns ErrCapacity naming the list and the command, changes nothing
// and leaves the lists as they are. It does the same, naming the blobs, if the bytes of
// all recorded blobs and of the present blobs of one name exceed 1 GiB together.
//
// Apply does not run what observers record meanwhile, in any list: the next Apply does. If an
// observer panics, the commands after it are lost.
//
// It panics while a query iterates, and on a list that is of another world or given twice.
func (w *World) Apply(lists ...*Commands) (Applied, error) {
	w.mustBeUnlocked()
	w.checkLists(lists)
	if err := w.checkRoom(lists); err != nil {
		return Applied{}, err
	}
	for _, c := range lists {
		c.running, c.recorded = c.recorded, c.running
		c.spawned, c.spawnedProvisional, c.appendedTo = 0, c.firstProvisional(), nil
		c.Reset()
	}
	var done Applied
	defer func() { // also when an observer panics
		for _, c := range w.registered {
			c.version.touchIf(&c.version.written)
		}
		for _, b := range w.blobsByName {
			b.version.touchIf(&b.version.written)
		}
	}()
	for _, c := range lists {
		c.run(&done)
	}
	return done, nil
}

func (w *World) checkLists(lists []*Commands) {
	w.applies++
	for _, c := range lists {
		if c == nil || c.world != w {
			panic("ecs: Apply of Commands of another world")
		}
		if c.lastApply == w.applies {
			panic("ecs: Apply of one list twice")
		}
		c.lastApply = w.applies
	}
}

// checkRoom returns ErrCapacity if a spawn will find no free slot, or blobs could be too large.
func (w *World) checkRoom(lists []*Commands) error {
	free, spawns, blobs := w.Cap()-w.count, 0, 0
	for _, c := range lists {
		spawns += c.recorded.spawns
		blobs += c.recorded.blobs
	}
	if blobs > 0 {
		for _, b := range w.blobs {
			if n := b.bytes + blobs; n > maxBlobBytes {
				return fault.Field(ErrCapacity, "ecs: Apply bytes of blobs "+b.name, n)
			}
		}
	}
	if spawns <= free {
		return nil
	}
	defer w.despawning.clear()
	w.cancelled = zeroed(w.cancelled, words(spawns))
	next := ID(w.table.next)
	for i, c := range lists {
		first := next
		for j, o := range c.recorded.commands {
			switch {
			case o.kind == spawnCommand && free == 0:
				return fault.Element(ErrCapacity, fmt.Sprintf("ecs: Apply lists[%d]: command", i), j, "Spawn")
			case o.kind == spawnCommand:
				free--
				next++
			case o.kind == despawnCommand && w.wouldDespawn(o.id.resolve(first), next):
				free++
			}
		}
	}
	return nil
}

// wouldDespawn reports whether a Despawn would find its entity after the commands before it. It
// adds a live entity to World.despawning. An entity that an earlier Spawn would create has an id
// below next; wouldDespawn marks it in World.cancelled, by its distance from the next id of the
// world.
func (w *World) wouldDespawn(id, next ID) bool {
	if slot, ok := w.table.slot(id); ok {
		return w.despawning.add(int(slot>>6), 1<<(slot&63))
	}
	if id < ID(w.table.next) || id >= next {
		return false
	}
	i := id - ID(w.table.next)
	word, bit := &w.cancelled[i>>6], uint64(1)<<(i&63)
	alive := *word&bit == 0
	*word |= bit
	return alive
}

// resolve returns the true id of a provisional one, in a list whose first spawn has the
// id first. Ids are consecutive, since nothing else spawns meanwhile.
func (id ID) resolve(first ID) ID {
	if id < provisional {
		return id
	}
	return first + ID(uint32(id))
}

// run applies the list that is running.
func (c *Commands) run(done *Applied) {
	w, values := c.world, c.running.values
	c.spawnedFirst = ID(w.table.next)
	for _, o := range c.running.commands {
		id, found, count := o.id.resolve(c.spawnedFirst), true, &done.Spawned
		switch o.kind {
		case spawnCommand:
			if _, err := w.Spawn(); err != nil {
				panic("ecs: Apply: room was miscounted")
			}
			c.spawned++
		case despawnCommand:
			found, count = w.Despawn(id), &done.Despawned
		case setCommand:
			found, count = Tag{w.tags[o.target]}.Set(id), &done.Tagged
		case unsetCommand:
			found, count = Tag{w.tags[o.target]}.Unset(id), &done.Untagged
		case writeCommand:
			values, found = w.write(o, id, values)
			count = &done.Written
		default:
			values, found = w.writeBlob(o, id, values)
			count = &done.Written
		}
		if !found {
			count = &done.Stale
		}
		*count++
	}
}

// write writes the first of values to the row of an entity, and returns the rest.
func (w *World) write(o command, id ID, values []byte) (rest []byte, found bool) {
	slot, found := w.Slot(id)
	columns := w.registered[o.target : o.target+uint16(o.width)]
	if found {
		columns[0].version.written = true
	}
	for _, c := range columns {
		size := c.size()
		if found {
			copyRow(c.mem[int(slot)*size:][:size], values)
		}
		values = values[size:]
	}
	return values, found
}

// writeBlob sets or removes the blob of an entity, and returns the values after it.
func (w *World) writeBlob(o command, id ID, values []byte) (rest []byte, found bool) {
	b := w.blobs[o.target]
	slot, found := w.Slot(id)
	if o.kind == setBlobCommand {
		data, rest, _ := cutBlob(values)
		if found {
			b.put(slot, data)
			b.version.written = true
		}
		return rest, found
	}
	if found && b.find(slot) != nil {
		b.remove(slot)
		b.version.written = true
	}
	return values, found
}

// copyRow copies the front of src to dst. Rows of the two most frequent sizes take one
// move each, since their size is a constant here.
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
