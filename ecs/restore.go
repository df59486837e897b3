package ecs

import (
	"fmt"
	"math/bits"
	"unicode/utf8"
	"unsafe"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/native"
)

// Restore replaces the state by the one in a snapshot, which may come from a world of another
// capacity. Handles to tags and columns stay valid; tags and columns are matched by name.
// Tags that the world lacks are registered. Tags that the snapshot lacks are emptied. The
// same holds for names of blobs. Columns that the snapshot lacks get their initial value
// and version 0. Columns that the world lacks are kept: they are in the hash and in later
// snapshots, and zero in a row that is newly used. They stay until AddColumn adds them to
// the program, or until a Restore of a snapshot without them drops them. They hold no more
// rows than have been used; a row that is used later takes the same memory as in the world
// that saved them.
//
// Data that is truncated, altered or contradicts itself is ErrCorrupt. Data of another
// format version, or with a column that the world has in another type, is ErrUnsupported.
// More rows, columns, tags or names of blobs than fit are ErrCapacity. The world is then
// unchanged, and Restore has used memory only in proportion to len(data): at worst one page
// of the id table for each id, if the ids lie far apart.
func (w *World) Restore(data []byte) error {
	if err := w.Prepare(data); err != nil {
		return err
	}
	w.Commit()
	return nil
}

// Prepare does the part of Restore that can fail, with the same errors, and changes
// nothing. Commit does the rest, or Discard forgets it. Use them to restore a world
// together with other things, all or none. Between Prepare and Commit the bytes of data
// must not change, and nothing may be registered. Prepare and Commit allocate nothing once
// a state as large was restored.
func (w *World) Prepare(data []byte) error {
	w.mustBeUnlocked()
	w.Discard()
	im := &w.pending
	err := im.decode(w, data)
	if err == nil {
		err = im.fit(w)
	}
	if err != nil {
		im.forget()
		im.table = idTable{} // forged ids may have made it large
		return err
	}
	im.prepared = true
	return nil
}

// Commit replaces the state by the one that was prepared, by Prepare or PrepareCopy. It panics if
// there is none.
func (w *World) Commit() {
	w.mustBeUnlocked()
	im := &w.pending
	if !im.prepared {
		panic("ecs: Commit without Prepare")
	}
	if im.src != nil {
		w.table.copyFrom(&im.src.table)
	} else {
		w.table, im.table = im.table, w.table
		w.table.trim()
	}
	defer im.forget()
	w.replaceState(im)
}

// Discard forgets what was prepared, if anything.
func (w *World) Discard() {
	if w.pending.prepared {
		w.forgetPending()
		w.pending.forget()
	}
}

// PreparedSlot is Slot in the state that was prepared, not in the present state.
func (w *World) PreparedSlot(id ID) (Slot, bool) {
	if !w.pending.prepared {
		return 0, false
	}
	if src := w.pending.src; src != nil {
		return src.table.slot(id)
	}
	return w.pending.table.slot(id)
}

func (im *pendingState) decode(w *World, data []byte) error {
	im.source, im.littleEndian = "ecs: snapshot", true
	d, err := frame.NewDecoder(data, "ecs: snapshot: ", snapshotMagic, snapshotVersion, blobsVersion)
	if err != nil {
		return err
	}
	columns, tags, blobs, err := im.header(&d, w.Cap())
	if err != nil {
		return err
	}
	if err := im.identity(&d); err != nil {
		return err
	}
	for range columns {
		if err := im.column(w, &d); err != nil {
			return err
		}
	}
	for range tags {
		if err := im.tag(w, &d); err != nil {
			return err
		}
	}
	for range blobs {
		if err := im.decodeBlobs(w, &d); err != nil {
			return err
		}
	}
	return d.Done()
}

func (im *pendingState) header(d *frame.Decoder, fits int) (columns, tags, blobs int, err error) {
	b, err := d.Next("header")
	if err != nil {
		return 0, 0, 0, err
	}
	if rest := len(b) - headerBytes; rest != 0 && d.Version == snapshotVersion || rest != 4 && d.Version == blobsVersion {
		return 0, 0, 0, corrupt("length of the header", len(b))
	}
	r := wire.NewReader(b)
	capacity := int(r.U32())
	im.rows, im.live, columns, tags = int(r.U32()), int(r.U32()), int(r.U32()), int(r.U32())
	next := r.U64()
	im.touches = r.U64()
	if d.Version == blobsVersion {
		blobs = int(r.U32())
	}
	switch {
	case capacity < 1 || capacity > maxCapacity:
		err = corrupt("capacity", capacity)
	case im.rows < 0 || im.rows > capacity:
		err = corrupt("rows", im.rows)
	case im.live < 0 || im.live > im.rows:
		err = corrupt("live", im.live)
	case columns < 0 || columns > maxColumns:
		err = corrupt("columns", columns)
	case tags < 0 || tags > MaxTags:
		err = corrupt("tags", tags)
	case blobs < 0 || blobs > MaxBlobs:
		err = corrupt("names of blobs", blobs)
	case next > maxID || next <= uint64(im.rows): // each row was used by an id of its own
		err = corrupt("next id", next)
	case im.touches > maxTouches:
		err = corrupt("touches", im.touches)
	case im.rows > fits:
		err = im.tooMany("rows", im.rows)
	}
	im.table.reset(next)
	return columns, tags, blobs, err
}

func (im *pendingState) identity(d *frame.Decoder) (err error) {
	if im.ids, err = d.Next("ids"); err != nil {
		return err
	}
	if len(im.ids) != 8*im.rows {
		return corrupt("length of the ids", len(im.ids))
	}
	im.own = zeroed(im.own, words(im.rows))
	im.mask = im.own
	for slot := range im.rows {
		id := ID(wire.U64At(im.ids, slot))
		if id == 0 {
			continue
		}
		if uint64(id) >= im.table.next || !im.table.insert(id, Slot(slot)) {
			return fault.Element(ErrCorrupt, "ecs: snapshot: ids", slot, id)
		}
		im.mask[slot>>6] |= 1 << (slot & 63)
	}
	if native.CountRows(im.mask) != im.live {
		return corrupt("live", im.live)
	}
	im.table.sort()
	return nil
}

func (im *pendingState) column(w *World, d *frame.Decoder) error {
	b, err := d.Next("column")
	if err != nil {
		return err
	}
	r := wire.NewReader(b)
	label := r.Name()
	name := nameOf(w.byName, label)
	c := pendingColumn{name: name, kind: Kind(r.U8()), count: int(r.U16()), version: r.U64(), rows: r.Rest()}
	if r.Err() != nil || !validLabel(label) || name == identity {
		return corrupt("name of a column", fmt.Sprintf("%.40q", name))
	}
	if c.kind.Size() == 0 || c.count < 1 || c.count > maxCount {
		return corrupt("type of column "+name, typeName(c.kind, c.count))
	}
	if c.version > im.touches {
		return corrupt("version of column "+name, c.version)
	}
	if uint64(len(c.rows)) != uint64(c.kind.Size()*c.count)*uint64(im.rows) {
		return corrupt("length of column "+name, len(c.rows))
	}
	for i := range im.columns {
		if im.columns[i].name == name {
			return corrupt("repeated column", name)
		}
	}
	im.columns = append(im.columns, c)
	return nil
}

func (im *pendingState) tag(w *World, d *frame.Decoder) error {
	b, err := d.Next("tag")
	if err != nil {
		return err
	}
	r := wire.NewReader(b)
	label, set := r.Name(), r.Rest()
	name := nameOf(w.tagsByName, label)
	if !validLabel(label) {
		return corrupt("name of a tag", fmt.Sprintf("%.40q", name))
	}
	if len(set) != 8*len(im.mask) {
		return corrupt("length of tag "+name, len(set))
	}
	for _, t := range im.tags {
		if t.name == name {
			return corrupt("repeated tag", name)
		}
	}
	for i, live := range im.mask {
		if m := wire.U64At(set, i) &^ live; m != 0 {
			return corrupt("free slot with tag "+name, i<<6|bits.TrailingZeros64(m))
		}
	}
	im.tags = append(im.tags, pendingTag{name, set})
	return nil
}

func corrupt(what string, value any) error {
	return fault.Field(ErrCorrupt, "ecs: snapshot: "+what, value)
}

// validLabel reports whether a column, tag or blobs can have the name.
func validLabel(name []byte) bool { return len(name) > 0 && utf8.Valid(name) }

// nameOf returns a name as a string, without an allocation if a member of list has it.
func nameOf[N named](list []N, name []byte) string {
	if i, ok := search(list, unsafe.String(unsafe.SliceData(name), len(name))); ok {
		return list[i].label()
	}
	return string(name)
}
