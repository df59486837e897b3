package ecs

import (
	"unsafe"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
)

// pendingState is a state that is about to replace the state of a world: a snapshot that was
// checked, or another world. Its slices refer to the memory of the source.
type pendingState struct {
	source       string // in errors
	littleEndian bool   // the byte order of ids, bits and rows; else native

	rows, live int
	touches    uint64
	ids        []byte
	mask       []uint64 // of the slots that are live
	own        []uint64 // room for mask
	table      idTable  // of a snapshot
	src        *World   // the other world; nil: a snapshot
	prepared   bool     // it fits
	columns    []pendingColumn
	tags       []pendingTag
	blobs      []pendingBlobs
}

type pendingColumn struct {
	name    string
	kind    Kind
	count   int
	version uint64
	rows    []byte
	known   bool // the world has a column of this name and type
}

type pendingTag struct {
	name string
	bits []byte
}

// maxTouches bounds what a snapshot may claim, so that counting on never overflows.
const maxTouches = 1 << 62

// Clone returns a new world in the same state: of the same Config, with the
// same columns and tags, to which FindColumn and Tag return handles. It copies no observers
// and no bindings, and Generation starts at zero.
func (w *World) Clone() *World {
	c, err := New(Config{Capacity: w.Cap(), Previous: w.previous != nil})
	if err != nil {
		panic("ecs: Clone of a World that New did not make")
	}
	for _, col := range w.registered[len(c.registered):] {
		c.register(col.name, col.kind, col.count) // fits, as it did in w
	}
	for _, b := range w.blobs {
		c.addBlobs(b.name)
	}
	if err := c.CopyFrom(w); err != nil {
		panic("ecs: Clone does not fit")
	}
	return c
}

// CopyFrom replaces the state by the state of src, as Restore does from a snapshot, without an
// encoding: ids and all that decides the next ones, tags, blobs, columns and versions. The worlds
// may differ in capacity and in what is registered: tags, blobs and columns are matched by name, as in
// Restore. Handles, observers, bindings and queries of w stay; handles bound to entities that are
// gone are released. It allocates nothing once w has had a state as large, with columns of all
// these names.
//
// More rows in use, columns, tags or names of blobs than fit are ErrCapacity, a column that both
// have in different types is ErrUnsupported; w is unchanged then. A copy from w itself
// does nothing.
func (w *World) CopyFrom(src *World) error {
	if w == src {
		return nil
	}
	if err := w.PrepareCopy(src); err != nil {
		return err
	}
	w.Commit()
	return nil
}

// PrepareCopy does the part of CopyFrom that can fail, with the same errors, and changes nothing.
// Commit then does the rest, as it does after Prepare. Neither world may change before Commit or
// Discard, and src must be another world than w.
func (w *World) PrepareCopy(src *World) error {
	if w == src {
		panic("ecs: PrepareCopy from the world itself")
	}
	w.mustBeUnlocked()
	w.Discard()
	im := &w.pending
	im.view(src)
	if err := im.fit(w); err != nil {
		im.forget()
		return err
	}
	im.prepared = true
	return nil
}

// view makes im refer to the state of a world.
func (im *pendingState) view(src *World) {
	im.source, im.src = "ecs: CopyFrom", src
	im.rows, im.live, im.touches = src.high, src.count, src.touches
	im.ids = bytesOf(src.ids[:src.high])
	im.mask = src.live.levels[0]
	for _, c := range src.columns {
		im.columns = append(im.columns, pendingColumn{name: c.name, kind: c.kind, count: c.count,
			version: c.version.number, rows: c.rows(0, src.high)})
	}
	for _, t := range src.tags {
		im.tags = append(im.tags, pendingTag{t.name, bytesOf(t.bits[:words(src.high)])})
	}
	for _, b := range src.blobsByName { // as in a snapshot
		if b.saved() {
			im.blobs = append(im.blobs, pendingBlobs{name: b.name, version: b.version.number, from: b})
		}
	}
}

// forget drops the references to the source, and keeps its own memory.
func (im *pendingState) forget() {
	clear(im.columns)
	clear(im.tags)
	clear(im.blobs)
	*im = pendingState{columns: im.columns[:0], tags: im.tags[:0], blobs: im.blobs[:0], own: im.own, table: im.table}
}

func (im *pendingState) tooMany(what string, n int) error {
	return fault.Field(ErrCapacity, im.source+": "+what, n)
}

// fit checks that the state fits a world, and if so sets the pending columns of the world.
func (im *pendingState) fit(w *World) error {
	err := im.check(w)
	if err != nil {
		w.forgetPending()
	}
	return err
}

func (w *World) forgetPending() {
	for _, c := range w.columns {
		c.pending = nil
	}
}

func (im *pendingState) check(w *World) error {
	if im.rows > w.Cap() {
		return im.tooMany("rows", im.rows)
	}
	if err := im.checkColumns(w); err != nil {
		return err
	}
	n := len(w.tags)
	for _, t := range im.tags {
		if find(w.tagsByName, t.name) == nil {
			n++
		}
	}
	if n > MaxTags {
		return im.tooMany("tags", n)
	}
	n = len(w.blobs)
	for i := range im.blobs {
		if find(w.blobsByName, im.blobs[i].name) == nil {
			n++
		}
	}
	if n > MaxBlobs {
		return im.tooMany("names of blobs", n)
	}
	return nil
}

func (im *pendingState) checkColumns(w *World) error {
	n := len(w.registered)
	for i := range im.columns {
		p := &im.columns[i]
		p.known = false
		c := find(w.byName, p.name)
		if c == nil || c.kept {
			n++
			if w.tooLong(p.kind, p.count) {
				return im.tooMany("rows of column "+p.name+", at full capacity", w.Cap())
			}
		}
		if c == nil {
			continue
		}
		if p.known = c.holds(p.kind, p.count); p.known {
			c.pending = p
		} else if !c.kept {
			return fault.Field(ErrUnsupported, im.source+": type of column "+p.name, typeName(p.kind, p.count))
		}
	}
	if n > maxColumns {
		return im.tooMany("columns", n)
	}
	for i, c := range w.columns[1:] {
		before := w.columns[i]
		if c.version == before.version && c.pending != nil && before.pending != nil && c.pending.version != before.pending.version {
			return corrupt("version of column "+c.name, c.pending.version)
		}
	}
	return nil
}

// replaceState replaces all but the id table. It cannot fail: fit has checked the state.
func (w *World) replaceState(im *pendingState) {
	before := w.high
	w.count, w.high, w.touches = im.live, im.rows, im.touches

	clear(w.ids[im.rows:max(im.rows, before)])
	im.copy(bytesOf(w.ids), im.ids, 8)
	w.live.clear(before)
	for i := range words(im.rows) {
		w.live.add(i, im.mask[i])
	}
	w.replaceColumns(im, before)
	for _, t := range w.tags {
		clear(t.bits[:words(before)])
	}
	for _, t := range im.tags {
		im.copy(bytesOf(w.tagNamed(t.name).bits), t.bits, 8)
	}
	w.replaceBlobs(im)
	w.changes++
	w.generation++
	w.jumpAll()
	w.releaseStaleBindings()
}

func (w *World) replaceColumns(im *pendingState, before int) {
	w.dropKept()
	for i := range im.columns {
		if p := &im.columns[i]; !p.known {
			w.addKept(p).pending = p
		}
	}
	for _, c := range w.columns {
		c.version.number = 0
	}
	for _, c := range w.columns {
		if c.pending == nil {
			c.reset(0, max(im.rows, before))
			continue
		}
		if c.kept {
			c.reserve(im.rows, w.Cap())
		} else {
			c.reset(im.rows, before)
		}
		c.version.number = c.pending.version
		im.copy(c.mem, c.pending.rows, c.kind.Size())
		c.pending = nil
	}
}

// copy copies numbers of size bytes each.
func (im *pendingState) copy(dst, src []byte, size int) {
	n := copy(dst, src)
	if im.littleEndian {
		statehash.Little(dst[:n], size)
	}
}

// bytesOf returns values as bytes in native order.
func bytesOf[T ~uint64 | float32](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(T(0))))
}
