package ecs

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// The state of a list is, all little-endian:
//
//	uint16 list, round; uint32 spawns recorded, spawns applied last; uint64 the provisional
//		and the true id of the first of those; uint32 names, commands; uint64 bytes of values
//	for each name: uint8 0 for a tag, 1 for a column, 2 for blobs; the name
//	for each command: uint8 kind, uint8 columns written, uint16 name, uint64 id
//	the values of what is written, in the order of the commands
const (
	commandBytes  = 1 + 1 + 2 + 8
	provisionalOf = provisional | 0xffff<<47 // the bits that identify a list
)

// pendingCommands is the state of a list that Prepare has checked.
type pendingCommands struct {
	prepared                         bool
	round                            uint16
	spawned                          int
	spawnedProvisional, spawnedFirst ID
	recorded                         commandBuffer
	targets                          []target
}

// target is the registered column, the tag or the blobs of a command.
type target struct {
	kind   targetKind
	name   string
	column *column // nil unless it is one
}

type targetKind uint8

const (
	tagTarget targetKind = iota
	columnTarget
	blobsTarget
)

// target returns what a command changes; a spawn or despawn has none.
func (k commandKind) target() targetKind {
	switch k {
	case writeCommand:
		return columnTarget
	case setBlobCommand, unsetBlobCommand:
		return blobsTarget
	}
	return tagTarget
}

// Snapshot appends to dst what is recorded, and what Spawned and Resolve return of the last Apply:
// all that decides what the list will do. It stores tags and columns by name. Use it to save a
// world together with commands that wait. To allocate nothing, pass the previous result truncated
// to [:0].
func (c *Commands) Snapshot(dst []byte) []byte {
	r := &c.recorded
	c.named = c.named[:0]
	for _, o := range r.commands {
		if o.kind >= setCommand {
			c.nameIndex(o)
		}
	}
	le := binary.LittleEndian
	dst = le.AppendUint16(dst, c.number)
	dst = le.AppendUint16(dst, c.rounds)
	dst = wire.AppendU32s(dst, uint32(r.spawns), uint32(c.spawned))
	dst = wire.AppendU64s(dst, uint64(c.spawnedProvisional), uint64(c.spawnedFirst))
	dst = wire.AppendU32s(dst, uint32(len(c.named)), uint32(len(r.commands)))
	dst = le.AppendUint64(dst, uint64(len(r.values)))
	for _, o := range c.named {
		dst = append(dst, byte(o.kind.target()))
		dst = wire.AppendName(dst, c.nameOf(o))
	}
	for _, o := range r.commands {
		at := 0
		if o.kind >= setCommand {
			at = c.nameIndex(o)
		}
		dst = append(dst, byte(o.kind), o.width)
		dst = le.AppendUint16(dst, uint16(at))
		dst = le.AppendUint64(dst, uint64(o.id))
	}
	begin := len(dst)
	dst = append(dst, r.values...)
	c.toLittleEndian(dst[begin:], r.commands)
	return dst
}

// nameIndex returns the index in named of the tag or column of a command, and adds it.
func (c *Commands) nameIndex(o command) int {
	switch o.kind {
	case unsetCommand:
		o.kind = setCommand
	case unsetBlobCommand:
		o.kind = setBlobCommand
	}
	key := command{kind: o.kind, target: o.target}
	if i := slices.Index(c.named, key); i >= 0 {
		return i
	}
	c.named = append(c.named, key)
	return len(c.named) - 1
}

func (c *Commands) nameOf(o command) string {
	switch o.kind.target() {
	case columnTarget:
		return c.world.registered[o.target].name
	case blobsTarget:
		return c.world.blobs[o.target].name
	}
	return c.world.tags[o.target].name
}

// toLittleEndian converts values to little-endian order, or back.
func (c *Commands) toLittleEndian(values []byte, commands []command) {
	for _, o := range commands {
		switch o.kind {
		case setBlobCommand:
			_, values, _ = cutBlob(values)
		case writeCommand:
			for _, col := range c.world.registered[o.target : o.target+uint16(o.width)] {
				statehash.Little(values[:col.size()], col.kind.Size())
				values = values[col.size():]
			}
		}
	}
}

// Restore replaces what is recorded, and what Spawned and Resolve return, by what Snapshot
// has saved of a list of this world or of one like it. Ids that Spawn returned in
// the round that was saved are valid again.
//
// Data that is truncated or contradicts itself is ErrCorrupt; with a column that the
// program has not added, or not in this type, or a tag or blobs that do not exist, ErrUnsupported.
// The list is then unchanged. The data has no checksum of its own.
func (c *Commands) Restore(data []byte) error {
	if err := c.Prepare(data); err != nil {
		return err
	}
	c.Commit()
	return nil
}

// Prepare does the part of Restore that can fail, and changes nothing; Commit does the
// rest. Tags and blobs may belong to a state that the world has prepared, which must be committed
// first.
func (c *Commands) Prepare(data []byte) error {
	if c.world == nil {
		panic("ecs: use of Commands that NewCommands did not make")
	}
	im := &c.pending
	im.prepared = false
	if err := c.decode(im, data); err != nil {
		return err
	}
	im.prepared = true
	return nil
}

func (c *Commands) decode(im *pendingCommands, data []byte) error {
	r := wire.NewReader(data)
	r.U16() // the list, which may have another number here
	im.round = r.U16()
	spawns, born := r.U32(), r.U32()
	im.spawned, im.recorded.spawns = int(born), int(spawns)
	im.spawnedProvisional, im.spawnedFirst = c.relabel(ID(r.U64())), ID(r.U64())
	names, commands, values := r.U32(), r.U32(), r.U64()
	if r.Err() != nil {
		return corruptList("length", len(data))
	}
	if im.spawnedFirst >= provisional || im.spawnedFirst+ID(born) > maxID || im.spawnedProvisional != 0 && im.spawnedProvisional < provisional {
		return corruptList("first id", im.spawnedFirst)
	}
	if names > maxColumns+MaxTags+MaxBlobs || uint64(names) > uint64(r.Len()) {
		return corruptList("names", names)
	}
	im.targets = im.targets[:0]
	for range names {
		if err := c.decodeName(im, &r); err != nil {
			return err
		}
	}
	if left := uint64(r.Len()); uint64(commandBytes)*uint64(commands) > left || values != left-commandBytes*uint64(commands) {
		return corruptList("length of commands and values", left)
	}
	return c.decodeCommands(im, &r, int(commands))
}

// relabel returns a provisional id with the number of this list.
func (c *Commands) relabel(id ID) ID {
	if id < provisional {
		return id
	}
	return id&^provisionalOf | provisional | ID(c.number)<<47
}

func (c *Commands) decodeName(im *pendingCommands, r *wire.Reader) error {
	left := r.Len()
	kind := targetKind(r.U8())
	if r.Err() != nil || kind > blobsTarget {
		return corruptList("kind of a name", left)
	}
	label := r.Name()
	if !validLabel(label) {
		return corruptList("name", fmt.Sprintf("%.40q", label))
	}
	w := c.world
	if kind != columnTarget {
		what, find := "tag", w.findTag
		if kind == blobsTarget {
			what, find = "blobs", w.findBlobs
		}
		name, known := find(label)
		if !known {
			return fault.Field(ErrUnsupported, "ecs: commands: "+what, name)
		}
		im.targets = append(im.targets, target{kind: kind, name: name})
		return nil
	}
	name := nameOf(w.byName, label)
	i, found := search(w.byName, name)
	if !found || w.byName[i].kept {
		return fault.Field(ErrUnsupported, "ecs: commands: column", name)
	}
	im.targets = append(im.targets, target{kind: columnTarget, column: w.byName[i]})
	return nil
}

// findTag finds a tag that exists, or will exist when the prepared state is committed.
func (w *World) findTag(label []byte) (name string, known bool) {
	name = nameOf(w.tagsByName, label)
	if _, known = search(w.tagsByName, name); known || !w.pending.prepared {
		return name, known
	}
	return name, slices.ContainsFunc(w.pending.tags, func(t pendingTag) bool { return t.name == name })
}

// findBlobs finds Blobs that exist, or will exist when the prepared state is committed.
func (w *World) findBlobs(label []byte) (name string, known bool) {
	name = nameOf(w.blobsByName, label)
	if _, known = search(w.blobsByName, name); known || !w.pending.prepared {
		return name, known
	}
	return name, slices.ContainsFunc(w.pending.blobs, func(p pendingBlobs) bool { return p.name == name })
}

// decodeCommands reads n commands, and their values.
func (c *Commands) decodeCommands(im *pendingCommands, in *wire.Reader, n int) error {
	r := &im.recorded
	r.commands, r.blobs = r.commands[:0], 0
	spawned := 0
	for i := range n {
		o := command{kind: commandKind(in.U8()), width: in.U8()}
		at := int(in.U16())
		o.id = ID(in.U64())
		if wrong := c.checkCommand(im, &o, at, spawned); wrong != "" {
			return fault.Element(ErrCorrupt, "ecs: commands: "+wrong+" of command", i, o.kind)
		}
		o.id = c.relabel(o.id)
		if o.kind == spawnCommand {
			spawned++
		}
		if o.kind >= setCommand && o.kind != writeCommand {
			o.target = uint16(at) // until Commit, when the tag or the blobs exist
		}
		r.commands = append(r.commands, o)
	}
	if spawned != r.spawns {
		return corruptList("spawns", r.spawns)
	}
	values := in.Rest()
	if !c.checkValues(r, values) {
		return corruptList("length of the values", len(values))
	}
	r.values = append(r.values[:0], values...)
	c.toLittleEndian(r.values, r.commands)
	return nil
}

// checkValues reports whether values fit the commands, and counts the bytes of blobs.
func (c *Commands) checkValues(r *commandBuffer, values []byte) bool {
	for _, o := range r.commands {
		switch o.kind {
		case setBlobCommand:
			data, rest, ok := cutBlob(values)
			if !ok {
				return false
			}
			values = rest
			r.blobs += len(data)
		case writeCommand:
			for _, col := range c.world.registered[o.target : o.target+uint16(o.width)] {
				if len(values) < col.size() {
					return false
				}
				values = values[col.size():]
			}
		}
	}
	return len(values) == 0
}

// checkCommand sets the column that a command writes to. It returns the name of the part
// that is wrong, or "".
func (c *Commands) checkCommand(im *pendingCommands, o *command, at, spawned int) string {
	if o.kind > unsetBlobCommand {
		return "kind"
	}
	if o.id >= provisional && (uint16(o.id>>32)&0x7fff != im.round&0x7fff || uint64(uint32(o.id)) >= uint64(spawned)) {
		return "id"
	}
	if o.kind < setCommand {
		return ""
	}
	if at >= len(im.targets) || o.kind.target() != im.targets[at].kind {
		return "name"
	}
	if o.kind != writeCommand {
		return ""
	}
	o.target = im.targets[at].column.index
	first := int(o.target)
	switch {
	case o.width == 1:
		return ""
	case o.width == 3 && (first == positionColumn || first == scaleColumn), o.width == 4 && first == rotationColumn:
		return ""
	}
	return "width"
}

// Commit makes the change that Prepare has checked.
func (c *Commands) Commit() {
	im := &c.pending
	if !im.prepared {
		panic("ecs: Commands.Commit without Prepare")
	}
	im.prepared = false
	for i := range im.recorded.commands {
		switch o := &im.recorded.commands[i]; o.kind {
		case setCommand, unsetCommand:
			o.target = c.world.tagNamed(im.targets[o.target].name).index
		case setBlobCommand, unsetBlobCommand:
			o.target = c.world.blobsNamed(im.targets[o.target].name).index
		}
	}
	c.recorded, im.recorded = im.recorded, c.recorded
	c.running.clear()
	c.rounds, c.spawned, c.spawnedProvisional, c.spawnedFirst = im.round, im.spawned, im.spawnedProvisional, im.spawnedFirst
}

func corruptList(what string, value any) error {
	return fault.Field(ErrCorrupt, "ecs: commands: "+what, value)
}
