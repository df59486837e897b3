package ecs

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/evertick/evertick/internal/columns"
)

// Difference is the first place in which two worlds a and b differ.
type Difference struct {
	// Part is what differs: "next id", "high water" (World.HighWater), "id" (the entity in
	// a slot), "tag" (whether the entity has it), "column" (whether it exists, or its type),
	// "value" (in a row of a column) or "blob".
	Part string
	Name string // of the tag, column or blobs
	Slot Slot
	ID   ID // of the entity in the slot: in a, or in b if the slot is free in a; 0 if it is free in both
	// Element is the index of the number in a row of an array column, or of the first byte in
	// which blobs differ.
	Element int
	// A and B are the values in a and b: an ID, a number of slots, a bool for a tag, the
	// type of a column as a string or nil where there is none, the number itself, or the bytes
	// of a blob as a string or nil where there is none.
	A, B any
}

// Diff returns the first difference of two worlds. It returns false if there is none,
// which is the case if and only if their hashes are equal. The order is: next id,
// HighWater, ids by slot, tags by name and then slot, and in the same way columns and then blobs.
// What the hash leaves out is no difference: capacity, order of registration, versions,
// tags and names of blobs that no entity has, the payload of a NaN; -0 and +0 differ. A
// column of another type is a difference if its bytes differ.
func Diff(a, b *World) (Difference, bool) {
	for _, diff := range [...]func(a, b *World) (Difference, bool){diffAllocator, diffIDs, diffTags, diffColumns, diffBlobs} {
		if d, found := diff(a, b); found {
			return d, true
		}
	}
	return Difference{}, false
}

func diffAllocator(a, b *World) (Difference, bool) {
	switch {
	case a.table.next != b.table.next:
		return Difference{Part: "next id", A: ID(a.table.next), B: ID(b.table.next)}, true
	case a.high != b.high:
		return Difference{Part: "high water", A: a.high, B: b.high}, true
	}
	return Difference{}, false
}

func diffIDs(a, b *World) (Difference, bool) {
	for s, id := range a.ids[:a.high] {
		if id != b.ids[s] {
			return at(a, b, Difference{Part: "id", A: id, B: b.ids[s]}, s), true
		}
	}
	return Difference{}, false
}

// at adds a slot and its entity to a difference.
func at(a, b *World, d Difference, slot int) Difference {
	d.Slot = Slot(slot)
	d.ID = cmp.Or(a.ids[slot], b.ids[slot])
	return d
}

func diffTags(a, b *World) (Difference, bool) {
	for _, name := range allNames(a.tagsByName, b.tagsByName) {
		s, t := find(a.tagsByName, name), find(b.tagsByName, name)
		for i := range words(a.high) {
			var x, y uint64
			if s != nil {
				x = s.bits[i]
			}
			if t != nil {
				y = t.bits[i]
			}
			if x != y {
				bit := bits.TrailingZeros64(x ^ y)
				has := x>>bit&1 != 0
				return at(a, b, Difference{Part: "tag", Name: name, A: has, B: !has}, i<<6|bit), true
			}
		}
	}
	return Difference{}, false
}

func diffColumns(a, b *World) (Difference, bool) {
	for _, name := range allNames(a.byName, b.byName) {
		s, t := find(a.byName, name), find(b.byName, name)
		d, found := Difference{Part: "column", Name: name, A: typeOrNil(s), B: typeOrNil(t)}, true
		switch {
		case s == nil || t == nil:
		case !s.holds(t.kind, t.count):
			found = columns.Hash(&s.view) != columns.Hash(&t.view)
		default:
			d, found = diffRows(a, b, s, t)
		}
		if found {
			return d, true
		}
	}
	return Difference{}, false
}

func diffRows(a, b *World, s, t *column) (Difference, bool) {
	row, i, found := columns.FirstDifference(s.view, t.view)
	if !found {
		return Difference{}, false
	}
	d := Difference{Part: "value", Name: s.name, Element: i, A: s.view.Value(row, i), B: t.view.Value(row, i)}
	return at(a, b, d, int(row)), true
}

func diffBlobs(a, b *World) (Difference, bool) {
	for _, name := range allNames(a.blobsByName, b.blobsByName) {
		s, t := find(a.blobsByName, name), find(b.blobsByName, name)
		for slot := range a.high {
			x, inA := s.orNil(Slot(slot))
			y, inB := t.orNil(Slot(slot))
			if inA == inB && bytes.Equal(x, y) {
				continue
			}
			d := Difference{Part: "blob", Name: name}
			if inA {
				d.A = string(x)
			}
			if inB {
				d.B = string(y)
			}
			for inA && inB && d.Element < min(len(x), len(y)) && x[d.Element] == y[d.Element] {
				d.Element++
			}
			return at(a, b, d, slot), true
		}
	}
	return Difference{}, false
}

// orNil is At for Blobs that may be nil.
func (b *Blobs) orNil(slot Slot) ([]byte, bool) {
	if b == nil {
		return nil, false
	}
	return b.At(slot)
}

func typeOrNil(c *column) any {
	if c == nil {
		return nil
	}
	return c.typeName()
}

// String names the place of the difference and both values, numbers in decimal and in
// hexadecimal bits: "value of position.x, slot 3 (ent_4): 1 (0x3f800000) and 2
// (0x40000000)".
func (d Difference) String() string {
	s := d.Part
	if d.Part == "" {
		return "no difference"
	}
	if d.Name != "" {
		s += " of " + displayName(d.Name)
	}
	switch d.Part {
	case "id", "tag", "value", "blob":
		s += fmt.Sprintf(", slot %d", d.Slot)
		if d.ID == 0 {
			s += " (free)"
		} else if d.Part != "id" {
			s += fmt.Sprintf(" (%v)", d.ID)
		}
	}
	if d.Part == "blob" {
		if d.A != nil && d.B != nil {
			s += fmt.Sprintf(", byte %d", d.Element)
		}
		return s + ": " + excerpt(d.A, d.Element) + " and " + excerpt(d.B, d.Element)
	}
	if d.Element != 0 {
		s += fmt.Sprintf(", element %d", d.Element)
	}
	return s + ": " + formatValue(d.A) + " and " + formatValue(d.B)
}

// excerpt returns the part of a blob around a byte, quoted, with "…" where it is cut.
func excerpt(blob any, at int) string {
	const before, after = 12, 28
	s, ok := blob.(string)
	if !ok {
		return "none"
	}
	from, to := max(at-before, 0), min(at+after, len(s))
	text := strconv.Quote(s[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(s) {
		text += "…"
	}
	return text
}

// formatValue returns a value of a Difference as text.
func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case ID:
		if v == 0 {
			return "no entity"
		}
		return v.String()
	}
	return columns.Text(v)
}
