package ecs

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

// Restore replaces the state by that of a snapshot, which may come from a world
// of another capacity. Handles to tags and columns stay valid and go by name:
// tags that the world lacks are registered, those that the snapshot lacks are
// emptied, columns that the snapshot lacks get their initial value.
//
// Data that is truncated, altered or contradicts itself is ErrCorrupt; of
// another format version, or with a column that the world lacks or has in
// another type, ErrUnsupported; more rows or tags than fit, ErrCapacity. The
// world is then unchanged, and no more memory has been used than in proportion
// to len(data): at worst, for ids that lie far apart, a page of the id table
// for each.
func (w *World) Restore(data []byte) error {
	w.mustBeStill()
	im, err := w.decode(data)
	if err != nil {
		return err
	}
	w.commit(im)
	return nil
}

// image is a snapshot, checked, that still lies in the caller's memory.
type image struct {
	capacity, rows, live int
	columnCount          int
	tagCount             int

	ids     []byte
	table   idTable
	columns []columnImage
	tags    []tagImage
}

type columnImage struct {
	column *column
	rows   []byte
}

type tagImage struct {
	name string
	bits []byte
}

func (w *World) decode(data []byte) (*image, error) {
	d := decoder{data: data}
	im := &image{}
	if err := d.preamble(); err != nil {
		return nil, err
	}
	if err := im.header(&d, w.Cap()); err != nil {
		return nil, err
	}
	if err := im.identity(&d); err != nil {
		return nil, err
	}
	for range im.columnCount {
		if err := im.column(&d, w); err != nil {
			return nil, err
		}
	}
	for range im.tagCount {
		if err := im.tag(&d); err != nil {
			return nil, err
		}
	}
	if d.at != len(data) {
		return nil, corrupt("length", len(data))
	}
	return im, im.checkTags(w)
}

func (im *image) header(d *decoder, capacity int) error {
	b, err := d.frame("header")
	if err != nil {
		return err
	}
	if len(b) != headerBytes {
		return corrupt("length of the header", len(b))
	}
	u32 := func(i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }
	im.capacity, im.rows, im.live, im.columnCount, im.tagCount = u32(0), u32(1), u32(2), u32(3), u32(4)
	next := binary.LittleEndian.Uint64(b[20:])
	switch {
	case im.capacity < 1 || im.capacity > maxCapacity:
		return corrupt("capacity", im.capacity)
	case im.rows < 0 || im.rows > im.capacity:
		return corrupt("rows", im.rows)
	case im.live < 0 || im.live > im.rows:
		return corrupt("live", im.live)
	case im.columnCount < 0 || im.columnCount > maxColumns:
		return corrupt("columns", im.columnCount)
	case im.tagCount < 0 || im.tagCount > MaxTags:
		return corrupt("tags", im.tagCount)
	case next > maxID || next <= uint64(im.rows): // each row was used by an id of its own
		return corrupt("next id", next)
	case im.rows > capacity:
		return fault.Field(ErrCapacity, "ecs: snapshot: rows", im.rows)
	}
	im.table = newIDTable()
	im.table.next = next
	return nil
}

func (im *image) identity(d *decoder) (err error) {
	if im.ids, err = d.frame("ids"); err != nil {
		return err
	}
	if len(im.ids) != 8*im.rows {
		return corrupt("length of the ids", len(im.ids))
	}
	live := 0
	for slot := range im.rows {
		id := ID(im.word(im.ids, slot))
		if id == 0 {
			continue
		}
		if uint64(id) >= im.table.next || !im.table.insert(id, Slot(slot)) {
			return fault.Element(ErrCorrupt, "ecs: snapshot: ids", slot, id)
		}
		live++
	}
	if live != im.live {
		return corrupt("live", im.live)
	}
	im.table.sort()
	return nil
}

func (im *image) column(d *decoder, w *World) error {
	b, err := d.frame("column")
	if err != nil {
		return err
	}
	name, b, ok := cutName(b)
	if !ok || len(b) == 0 {
		return corrupt("name of a column", fmt.Sprintf("%.40q", name))
	}
	k, rows := kind(b[0]), b[1:]
	if k.size() == 0 || len(rows) != k.size()*im.rows {
		return corrupt("length of column "+name, len(rows))
	}
	for _, c := range im.columns {
		if c.column.name == name {
			return corrupt("repeated column", name)
		}
	}
	i, ok := search(w.byName, name)
	if !ok {
		return fault.Field(ErrUnsupported, "ecs: snapshot: column", name)
	}
	if w.byName[i].kind != k {
		return fault.Field(ErrUnsupported, "ecs: snapshot: type of column "+name, k)
	}
	im.columns = append(im.columns, columnImage{w.byName[i], rows})
	return nil
}

func (im *image) tag(d *decoder) error {
	b, err := d.frame("tag")
	if err != nil {
		return err
	}
	name, words64, ok := cutName(b)
	if !ok {
		return corrupt("name of a tag", fmt.Sprintf("%.40q", name))
	}
	if len(words64) != 8*words(im.rows) {
		return corrupt("length of tag "+name, len(words64))
	}
	for _, t := range im.tags {
		if t.name == name {
			return corrupt("repeated tag", name)
		}
	}
	for i := range words(im.rows) {
		for m := im.word(words64, i); m != 0; m &= m - 1 {
			slot := i<<6 + bits.TrailingZeros64(m)
			if slot >= im.rows || im.word(im.ids, slot) == 0 {
				return corrupt("free slot with tag "+name, slot)
			}
		}
	}
	im.tags = append(im.tags, tagImage{name, words64})
	return nil
}

// checkTags counts the tags that the world would have.
func (im *image) checkTags(w *World) error {
	n := len(w.tags)
	for _, t := range im.tags {
		if _, ok := search(w.tagsByName, t.name); !ok {
			n++
		}
	}
	if n > MaxTags {
		return fault.Field(ErrCapacity, "ecs: snapshot: tags", n)
	}
	return nil
}

// word returns the i-th uint64 of b.
func (im *image) word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }

// commit cannot fail: decode has checked everything.
func (w *World) commit(im *image) {
	high := max(w.high, im.rows)
	w.table = im.table
	w.count, w.high = im.live, im.rows
	w.edits++
	w.generation++
	w.jumpAll()

	clear(w.ids)
	copyLittle(bytesOf(w.ids[:im.rows]), im.ids, 8)
	w.live.clear()
	for i := range words(im.rows) {
		w.live.add(i, w.idMask(i))
	}

	w.lanes.reset(0, high)
	for _, c := range im.columns {
		copyLittle(c.column.mem, c.rows, c.column.kind.size())
	}

	for _, t := range w.tags {
		clear(t.bits)
	}
	for _, t := range im.tags {
		set := w.tagNamed(t.name)
		copyLittle(bytesOf(set.bits), t.bits, 8)
	}
	w.releaseGone()
}

// idMask returns which of slots 64i to 64i+63 have an id.
func (w *World) idMask(i int) uint64 {
	var m uint64
	for b, id := range w.ids[i<<6 : min(i<<6+64, len(w.ids))] {
		if id != 0 {
			m |= 1 << b
		}
	}
	return m
}

func (w *World) tagNamed(name string) *tagSet {
	if i, ok := search(w.tagsByName, name); ok {
		return w.tagsByName[i]
	}
	return w.addTag(name)
}

func corrupt(what string, value any) error {
	return fault.Field(ErrCorrupt, "ecs: snapshot: "+what, value)
}

// decoder walks over the frames of a snapshot.
type decoder struct {
	data    []byte
	at      int
	checked int // where the part begins that crc does not cover
	crc     uint32
}

func (d *decoder) preamble() error {
	if len(d.data) < preambleBytes {
		return corrupt("length", len(d.data))
	}
	if string(d.data[:len(snapshotMagic)]) != snapshotMagic {
		return corrupt("magic", fmt.Sprintf("%q", d.data[:len(snapshotMagic)]))
	}
	if v := binary.LittleEndian.Uint32(d.data[len(snapshotMagic):]); v != snapshotVersion {
		return fault.Field(ErrUnsupported, "ecs: snapshot: version", v)
	}
	d.at = preambleBytes
	return nil
}

// frame returns the content of the next frame.
func (d *decoder) frame(what string) ([]byte, error) {
	rest := d.data[d.at:]
	if len(rest) < frameBytes {
		return nil, corrupt("length at the "+what, len(d.data))
	}
	n := binary.LittleEndian.Uint32(rest)
	if uint64(n) > uint64(len(rest)-frameBytes) {
		return nil, corrupt("length of the "+what, n)
	}
	end := 4 + int(n)
	d.crc = crc32.Update(d.crc, castagnoli, d.data[d.checked:d.at+end])
	if got := binary.LittleEndian.Uint32(rest[end:]); got != d.crc {
		return nil, corrupt("checksum of the "+what, fmt.Sprintf("%#08x", got))
	}
	d.checked = d.at + end
	d.at = d.checked + 4
	return rest[4:end:end], nil
}

// cutName splits a name from the front of b.
func cutName(b []byte) (name string, rest []byte, ok bool) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return "", nil, false
	}
	n := 1 + int(b[0])
	name = string(b[1:n])
	return name, b[n:], validName(name)
}
