package ecs

// Commands is a list of changes that are recorded now and made later, all at once,
// by World.Apply. It is how systems spawn and despawn while they iterate, and how
// several goroutines change one world with one result: each records into a list of
// its own. Make one with World.NewCommands and use it again and again.
//
// Recording reads nothing of the world: whether an entity is there is asked when the
// command takes effect, and one whose entity is gone by then is skipped. An id may be
// that of Spawn of the same list. Other ids from 2^63 on, which no world issues and
// ParseID refuses, panic.
//
// A list is for one goroutine at a time. Recording into one may go on beside
// everything that only reads the world.
type Commands struct {
	world  *World
	number uint16 // of the list: see provisional

	recorded round
	running  round // what Apply works on, and its memory afterwards
	rounds   uint16
	applied  uint64 // by which Apply of the world

	// The spawns of the round that was applied last: their number, the provisional
	// id of the first, and the true one. Both kinds are consecutive.
	born              int
	bornAs, firstBorn ID

	named    []command // what Snapshot works on
	incoming listImage // what Prepare has left for Commit

	// Where the spawns went that Append has taken from this list last: the provisional
	// id of the first of them over there.
	taker   *Commands
	takenAs ID
}

// round is what is recorded from one Apply to the next. Values stand in the order of
// their commands, so that these need not say where.
type round struct {
	commands []command
	values   []byte
	spawns   int
}

type command struct {
	id     ID
	target uint16 // tag or first column, in order of registration
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
)

// A provisional id is this bit, 16 bits of the list, 15 of the round and 32 that
// count the spawns of the round. No world ever counts that far: see maxID.
const provisional ID = 1 << 63

// The first of the built-in columns that are written together.
const (
	positionColumn = 0
	rotationColumn = 3
	scaleColumn    = 7
)

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

func (r *round) clear() {
	r.commands, r.values, r.spawns = r.commands[:0], r.values[:0], 0
}

// Spawn records the creation of an entity and returns an id that stands for it in
// the commands that follow in this list, and nowhere else: it resolves in no world
// and must not be stored. Resolve tells the true one once it is there.
func (c *Commands) Spawn() ID {
	id := c.firstProvisional() + ID(c.recorded.spawns)
	c.add(command{kind: spawnCommand})
	c.recorded.spawns++
	return id
}

// Despawn records the end of an entity.
func (c *Commands) Despawn(id ID) { c.add(command{kind: despawnCommand, id: c.own(id)}) }

// Set records that an entity is given a tag. It panics on a tag of another world.
func (c *Commands) Set(t Tag, id ID) { c.tag(setCommand, t, id) }

// Unset records that a tag is taken from an entity. It panics as Set does.
func (c *Commands) Unset(t Tag, id ID) { c.tag(unsetCommand, t, id) }

func (c *Commands) tag(kind commandKind, t Tag, id ID) {
	if t.set == nil || t.set.world != c.world {
		panic("ecs: Commands with a tag of another world")
	}
	c.add(command{kind: kind, target: t.set.index, id: c.own(id)})
}

// SetPosition records where an entity is, in metres. It is ErrNotFinite, and nothing
// is recorded, if a value is NaN or infinite.
func (c *Commands) SetPosition(id ID, x, y, z float32) error {
	return c.setVec3("ecs: Commands.SetPosition", positionColumn, id, [3]float32{x, y, z})
}

// SetScale records the scale factors of an entity, with the error of SetPosition.
func (c *Commands) SetScale(id ID, x, y, z float32) error {
	return c.setVec3("ecs: Commands.SetScale", scaleColumn, id, [3]float32{x, y, z})
}

func (c *Commands) setVec3(field string, column uint16, id ID, v [3]float32) error {
	if err := checkFinite(field, v[:]); err != nil {
		return err
	}
	record(c, column, 3, id, v)
	return nil
}

// SetRotation records the rotation of an entity, with the error of SetPosition. The
// quaternion is stored as given, not normalised.
func (c *Commands) SetRotation(id ID, x, y, z, w float32) error {
	v := [4]float32{x, y, z, w}
	if err := checkFinite("ecs: Commands.SetRotation", v[:]); err != nil {
		return err
	}
	record(c, rotationColumn, 4, id, v)
	return nil
}

// Write records the value of an entity in a user column: any value, NaN too, as with
// writing to Values. It panics on a column of another world.
func Write[T any](c *Commands, column *Column[T], id ID, v T) {
	if column == nil || column.column == nil || column.column.mark.world != c.world {
		panic("ecs: Commands with a column of another world")
	}
	record(c, column.column.index, 1, id, v)
}

// record records a value for the rows of an entity in so many columns.
func record[T any](c *Commands, column uint16, width uint8, id ID, v T) {
	c.add(command{kind: writeCommand, target: column, width: width, id: c.own(id)})
	c.recorded.values = append(c.recorded.values, bytesOfOne(&v)...)
}

func (c *Commands) add(o command) {
	if c.world == nil {
		panic("ecs: use of Commands that NewCommands did not make")
	}
	c.recorded.commands = append(c.recorded.commands, o)
}

// own returns id if a command may be about it.
func (c *Commands) own(id ID) ID {
	if id >= provisional && id-c.firstProvisional() >= ID(c.recorded.spawns) {
		panic("ecs: Commands with a provisional id of another list, or of one applied before")
	}
	return id
}

// firstProvisional returns the id of the first Spawn in the round that is recorded.
func (c *Commands) firstProvisional() ID {
	return provisional | ID(c.number)<<47 | ID(c.rounds&0x7fff)<<32
}

// Spawned returns the id of the entity that the i-th Spawn, from 0, of the list as it
// was applied last has created.
func (c *Commands) Spawned(i int) ID {
	if uint(i) >= uint(c.born) {
		panic("ecs: Commands.Spawned: index out of range")
	}
	if c.taker != nil {
		return c.taker.Resolve(c.takenAs + ID(i))
	}
	return c.firstBorn + ID(i)
}

// Resolve returns the id of the entity that a provisional id has become: good from
// Apply until the list is applied again, whatever is recorded meanwhile. Other ids are
// returned as they are.
func (c *Commands) Resolve(id ID) ID {
	if id < provisional {
		return id
	}
	i := id - c.bornAs
	if i >= ID(c.born) {
		panic("ecs: Commands.Resolve: not of this list as it was applied last")
	}
	if c.taker != nil {
		return c.taker.Resolve(c.takenAs + i)
	}
	return c.firstBorn + i
}
