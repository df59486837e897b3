package ecs

import (
	"encoding/binary"
	"unsafe"

	"github.com/evertick/evertick/internal/fault"
)

// Commands is a command buffer: a list of changes that are recorded now and made later,
// all at once, by World.Apply. It is how systems spawn and despawn while they iterate,
// and how several goroutines change one world with one result: each records into a list
// of its own. Make one with World.NewCommands and reuse it.
//
// Recording reads nothing of the world: Apply looks up the entity when the command takes
// effect, and skips the command if the entity no longer exists. An id may be one that
// Spawn of the same list returned. Other ids from 2^63 on, which no world issues and
// ParseID refuses, panic.
//
// Only one goroutine at a time may use a list. Recording into one may run at the same
// time as anything that only reads the world.
type Commands struct {
	world  *World
	number uint16 // of the list: see provisional

	recorded  commandBuffer
	running   commandBuffer // what Apply works on, and its memory afterwards
	rounds    uint16        // how often the list was emptied
	lastApply uint64        // by which Apply of the world

	// The spawns of the round that was applied last: their number, the provisional
	// id of the first, and the true one. Both kinds are consecutive.
	spawned                          int
	spawnedProvisional, spawnedFirst ID

	named   []command       // what Snapshot works on
	pending pendingCommands // what Prepare leaves for Commit

	// Where the last Append moved the spawns of this list: the other list, and the
	// provisional id that the first of them has there.
	appendedTo    *Commands
	appendedFirst ID
}

// commandBuffer is what is recorded from one Apply to the next. Values are in the order
// of their commands, so that commands need no offsets.
type commandBuffer struct {
	commands []command
	values   []byte
	spawns   int
	blobs    int // bytes of blobs
}

type command struct {
	id     ID
	target uint16 // tag, blobs or first column, in order of registration
	kind   commandKind
	width  uint8 // columns written
}

type commandKind uint8

const (
	spawnCommand commandKind = iota
	despawnCommand
	setCommand
	unsetCommand
	writeCommand
	setBlobCommand // its value is the length as a little-endian uint32, and the bytes
	unsetBlobCommand
)

// A provisional id is this bit, 16 bits of the list, 15 of the round and 32 that
// count the spawns of the round. No world ever counts that far: see maxID.
const provisional ID = 1 << 63

// NewCommands returns an empty list for this world.
func (w *World) NewCommands() *Commands {
	w.lists++
	return &Commands{world: w, number: w.lists}
}

// Len returns the number of commands recorded.
func (c *Commands) Len() int { return len(c.recorded.commands) }

// Reset forgets the commands recorded.
func (c *Commands) Reset() {
	c.recorded.clear()
	c.rounds++
}

func (b *commandBuffer) clear() {
	b.commands, b.values, b.spawns, b.blobs = b.commands[:0], b.values[:0], 0, 0
}

// Append moves what other has recorded to the end of c, as if it had been recorded in c,
// and leaves other empty. Once c was applied, other resolves the ids that its Spawn
// returned, until other is appended or applied again. Append panics on a list of another
// world, and on c itself.
func (c *Commands) Append(other *Commands) {
	if c.world == nil || other == nil || other.world != c.world || other == c {
		panic("ecs: Commands.Append of a list of another world, or of itself")
	}
	from, to := &other.recorded, &c.recorded
	first := c.firstProvisional() + ID(to.spawns)
	for _, o := range from.commands {
		if o.id >= provisional {
			o.id = first + (o.id - other.firstProvisional())
		}
		to.commands = append(to.commands, o)
	}
	to.values = append(to.values, from.values...)
	to.spawns += from.spawns
	to.blobs += from.blobs
	other.spawned, other.spawnedProvisional = from.spawns, other.firstProvisional()
	other.appendedTo, other.appendedFirst = c, first
	other.Reset()
}

// Spawn records the creation of an entity and returns a provisional id for it, valid in
// the commands that follow in this list, and nowhere else: it resolves in no world
// and must not be stored. Resolve returns the true id once the entity exists.
func (c *Commands) Spawn() ID {
	id := c.firstProvisional() + ID(c.recorded.spawns)
	c.add(command{kind: spawnCommand})
	c.recorded.spawns++
	return id
}

// Despawn records the end of an entity.
func (c *Commands) Despawn(id ID) { c.add(command{kind: despawnCommand, id: c.checkID(id)}) }

// Set records that an entity gets a tag. It panics on a tag of another world.
func (c *Commands) Set(t Tag, id ID) { c.tag(setCommand, t, id) }

// Unset records that an entity loses a tag. It panics as Set does.
func (c *Commands) Unset(t Tag, id ID) { c.tag(unsetCommand, t, id) }

func (c *Commands) tag(kind commandKind, t Tag, id ID) {
	if t.set == nil || t.set.world != c.world {
		panic("ecs: Commands with a tag of another world")
	}
	c.add(command{kind: kind, target: t.set.index, id: c.checkID(id)})
}

// SetPosition records the position of an entity, in metres. It is ErrNotFinite, and
// nothing is recorded, if a value is NaN or infinite.
func (c *Commands) SetPosition(id ID, x, y, z float32) error {
	return c.setFloats("ecs: Commands.SetPosition", positionColumn, id, x, y, z)
}

// SetScale records the scale factors of an entity, with the error of SetPosition.
func (c *Commands) SetScale(id ID, x, y, z float32) error {
	return c.setFloats("ecs: Commands.SetScale", scaleColumn, id, x, y, z)
}

// SetRotation records the rotation of an entity, with the error of SetPosition. The
// quaternion is stored as given, not normalised.
func (c *Commands) SetRotation(id ID, x, y, z, w float32) error {
	return c.setFloats("ecs: Commands.SetRotation", rotationColumn, id, x, y, z, w)
}

func (c *Commands) setFloats(field string, column uint16, id ID, v ...float32) error {
	if err := checkFinite(field, v); err != nil {
		return err
	}
	c.write(column, len(v), id, bytesOf(v))
	return nil
}

// Write records the value of an entity in a user column: any value, NaN too, as with
// writing to Values. A Sim fails at the end of a tick that leaves a NaN. It panics on a column of another world.
func Write[T any](c *Commands, column *Column[T], id ID, v T) {
	if column == nil || column.column == nil || column.column.version.world != c.world {
		panic("ecs: Commands with a column of another world")
	}
	c.write(column.column.index, 1, id, unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)))
}

// SetBlob records a blob of an entity, and copies data. It is ErrCapacity, and nothing is recorded,
// if data is more than 16 MiB. It panics on Blobs of another world.
func (c *Commands) SetBlob(b *Blobs, id ID, data []byte) error {
	if len(data) > maxBlob {
		return fault.Field(ErrCapacity, "ecs: Commands.SetBlob len(data)", len(data))
	}
	c.blob(setBlobCommand, b, id)
	r := &c.recorded
	r.values = append(binary.LittleEndian.AppendUint32(r.values, uint32(len(data))), data...)
	r.blobs += len(data)
	return nil
}

// UnsetBlob records that an entity loses its blob. It panics as SetBlob does.
func (c *Commands) UnsetBlob(b *Blobs, id ID) { c.blob(unsetBlobCommand, b, id) }

func (c *Commands) blob(kind commandKind, b *Blobs, id ID) {
	if b == nil || b.world != c.world {
		panic("ecs: Commands with Blobs of another world")
	}
	c.add(command{kind: kind, target: b.index, id: c.checkID(id)})
}

// cutBlob splits values after the bytes of a blob. It reports false if they do not hold one.
func cutBlob(values []byte) (data, rest []byte, ok bool) {
	if len(values) < 4 {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint32(values)
	values = values[4:]
	if n > maxBlob || uint64(n) > uint64(len(values)) {
		return nil, nil, false
	}
	return values[:n], values[n:], true
}

// write records values for the row of an entity in width columns from the given one on,
// in native byte order.
func (c *Commands) write(column uint16, width int, id ID, values []byte) {
	c.add(command{kind: writeCommand, target: column, width: uint8(width), id: c.checkID(id)})
	c.recorded.values = append(c.recorded.values, values...)
}

func (c *Commands) add(o command) {
	if c.world == nil {
		panic("ecs: use of Commands that NewCommands did not make")
	}
	c.recorded.commands = append(c.recorded.commands, o)
}

// checkID returns id if a command may refer to it, and panics otherwise.
func (c *Commands) checkID(id ID) ID {
	if id >= provisional && id-c.firstProvisional() >= ID(c.recorded.spawns) {
		panic("ecs: Commands with a provisional id of another list, or of one applied before")
	}
	return id
}

// firstProvisional returns the id of the first Spawn in the round that is recorded.
func (c *Commands) firstProvisional() ID {
	return provisional | ID(c.number)<<47 | ID(c.rounds&0x7fff)<<32
}

// Spawned returns the id of the entity that the i-th Spawn, from 0, of the list
// created when it was applied last.
func (c *Commands) Spawned(i int) ID {
	if uint(i) >= uint(c.spawned) {
		panic("ecs: Commands.Spawned: index out of range")
	}
	if c.appendedTo != nil {
		return c.appendedTo.Resolve(c.appendedFirst + ID(i))
	}
	return c.spawnedFirst + ID(i)
}

// Resolve returns the true id of an entity with a provisional id: valid from
// Apply until the list is applied again, whatever is recorded meanwhile. It returns
// other ids as they are.
func (c *Commands) Resolve(id ID) ID {
	if id < provisional {
		return id
	}
	i := id - c.spawnedProvisional
	if i >= ID(c.spawned) {
		panic("ecs: Commands.Resolve: not of this list as it was applied last")
	}
	return c.Spawned(int(i))
}
