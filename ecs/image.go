package ecs

import "github.com/evertick/evertick/internal/fault"

// image is a state that is about to replace that of a world: a snapshot that was
// checked, or another world. The bytes lie where they came from.
type image struct {
	who    string // in errors
	little bool   // the bytes are little-endian, not in the order of the machine

	rows, live int
	touches    uint64
	ids        []byte
	mask       []uint64 // of the slots that are live
	own        []uint64 // room for mask
	table      idTable  // of a snapshot
	prepared   bool     // a snapshot that fits
	columns    []columnImage
	tags       []tagImage
}

type columnImage struct {
	name    string
	kind    kind
	count   int
	version uint64
	rows    []byte
	known   bool // to the world, that is, not new
}

type tagImage struct {
	name string
	bits []byte
}

// maxTouches bounds what a snapshot may claim, so that counting on never overflows.
const maxTouches = 1 << 62

func (im *image) tooMany(what string, n int) error {
	return fault.Field(ErrCapacity, im.who+": "+what, n)
}

// fit checks that the image fits a world, and if so tells the columns of the world
// what they will get.
func (im *image) fit(w *World) error {
	err := im.check(w)
	if err != nil {
		w.expectNothing()
	}
	return err
}

func (w *World) expectNothing() {
	for _, c := range w.columns {
		c.given = nil
	}
}

func (im *image) check(w *World) error {
	if im.rows > w.Cap() {
		return im.tooMany("rows", im.rows)
	}
	if err := im.checkColumns(w); err != nil {
		return err
	}
	n := len(w.tags)
	for _, t := range im.tags {
		if _, ok := search(w.tagsByName, t.name); !ok {
			n++
		}
	}
	if n > MaxTags {
		return im.tooMany("tags", n)
	}
	return nil
}

func (im *image) checkColumns(w *World) error {
	n := len(w.lanes.known)
	for i := range im.columns {
		ci := &im.columns[i]
		ci.known = false
		at, ok := search(w.byName, ci.name)
		if !ok || w.byName[at].kept {
			n++
			if w.tooLong(ci.kind, ci.count) {
				return im.tooMany("rows of column "+ci.name+", at full capacity", w.Cap())
			}
		}
		if !ok {
			continue
		}
		c := w.byName[at]
		if ci.known = c.holds(ci.kind, ci.count); ci.known {
			c.given = ci
		} else if !c.kept {
			return fault.Field(ErrUnsupported, im.who+": type of column "+ci.name, typeName(ci.kind, ci.count))
		}
	}
	if n > maxColumns {
		return im.tooMany("columns", n)
	}
	for i, c := range w.columns[1:] {
		before := w.columns[i]
		if c.mark == before.mark && c.given != nil && before.given != nil && c.given.version != before.given.version {
			return corrupt("version of column "+c.name, c.given.version)
		}
	}
	return nil
}

// become replaces the state, but for the id table. It cannot fail: the image fits.
func (w *World) become(im *image) {
	before := w.high
	w.count, w.high, w.touches = im.live, im.rows, im.touches

	clear(w.ids[im.rows:max(im.rows, before)])
	im.copy(bytesOf(w.ids), im.ids, 8)
	w.live.clear(before)
	for i := range words(im.rows) {
		w.live.add(i, im.mask[i])
	}
	w.becomeColumns(im, before)
	for _, t := range w.tags {
		clear(t.bits[:words(before)])
	}
	for _, t := range im.tags {
		im.copy(bytesOf(w.tagNamed(t.name).bits), t.bits, 8)
	}
	w.replaced()
}

func (w *World) becomeColumns(im *image, before int) {
	w.dropKept()
	for i := range im.columns {
		if ci := &im.columns[i]; !ci.known {
			w.keep(ci).given = ci
		}
	}
	for _, c := range w.columns {
		c.mark.version = 0
	}
	for _, c := range w.columns {
		if c.given == nil {
			c.reset(0, max(im.rows, before))
			continue
		}
		if c.kept {
			c.hold(im.rows, w.Cap())
		} else {
			c.reset(im.rows, before)
		}
		c.mark.version = c.given.version
		im.copy(c.mem, c.given.rows, c.kind.size())
		c.given = nil
	}
}

// copy copies numbers of size bytes each.
func (im *image) copy(dst, src []byte, size int) {
	if im.little {
		copyLittle(dst, src, size)
	} else {
		copy(dst, src)
	}
}

func (w *World) tagNamed(name string) *tagSet {
	if i, ok := search(w.tagsByName, name); ok {
		return w.tagsByName[i]
	}
	return w.addTag(name)
}
