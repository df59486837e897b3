package ecs

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Dump writes a table for people to read, of the entities that satisfy every term, all with no
// terms, in ascending order of slots: id, slot, tags, every column, in order of registration,
// and the first 40 bytes of each blob, quoted. Rows of several numbers are in brackets, floats
// in the shortest form that identifies their value. It returns the first error of out. The
// memory that it needs depends on columns and tags, not on the number of entities. A tag of
// another world panics.
func (w *World) Dump(out io.Writer, terms ...Term) error {
	t := &textTable{out: bufio.NewWriter(out)}
	w.dumpRows(t, terms) // measures
	t.writes = true
	w.dumpRows(t, terms)
	return t.out.Flush()
}

func (w *World) dumpRows(t *textTable, terms []Term) {
	t.text("id")
	t.text("slot")
	t.text("tags")
	for _, c := range w.columns {
		t.text(displayName(c.name))
	}
	for _, b := range w.blobs {
		t.text(displayName(b.name))
	}
	t.endRow()
	for slot := range w.Query(terms...) {
		t.cell = w.ids[slot].append(t.cell)
		t.endCell()
		t.cell = strconv.AppendUint(t.cell, uint64(slot), 10)
		t.endCell()
		t.cell = w.appendTags(t.cell, slot)
		t.endCell()
		for _, c := range w.columns {
			t.cell = c.appendRow(t.cell, int(slot))
			t.endCell()
		}
		for _, b := range w.blobs {
			t.cell = b.appendText(t.cell, slot)
			t.endCell()
		}
		if !t.endRow() {
			return
		}
	}
}

func (w *World) appendTags(dst []byte, slot Slot) []byte {
	none := len(dst)
	for _, t := range w.tagsByName {
		if !t.has(slot) {
			continue
		}
		if len(dst) > none {
			dst = append(dst, ',')
		}
		dst = append(dst, displayName(t.name)...)
	}
	if len(dst) == none {
		return append(dst, '-')
	}
	return dst
}

func (c *column) appendRow(dst []byte, slot int) []byte {
	rows := c.rows(slot, slot+1)
	if c.count == 1 {
		return c.kind.AppendText(dst, rows, 0)
	}
	dst = append(dst, '[')
	for i := range c.count {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = c.kind.AppendText(dst, rows, i)
	}
	return append(dst, ']')
}

// dumpedBytes is how much of a blob a table shows.
const dumpedBytes = 40

// appendText appends the blob of a slot as a quoted string, and "…" where it is cut; "-" if there
// is none.
func (b *Blobs) appendText(dst []byte, slot Slot) []byte {
	data, ok := b.At(slot)
	if !ok {
		return append(dst, '-')
	}
	dst = strconv.AppendQuote(dst, string(data[:min(len(data), dumpedBytes)]))
	if len(data) > dumpedBytes {
		dst = append(dst, "…"...)
	}
	return dst
}

// displayName returns a name as it is if it cannot be misread in a table or a list, and
// quotes any other.
func displayName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r == ',' || r == '"' || !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// table aligns its first column to the left, the others to the right. The
// caller passes all cells twice: the first pass measures them, the second writes them.
type textTable struct {
	out    *bufio.Writer
	writes bool // not measures
	widths []int
	column int // of the next cell
	cell   []byte
}

func (t *textTable) text(s string) {
	t.cell = append(t.cell, s...)
	t.endCell()
}

// endCell ends the cell whose text is in t.cell.
func (t *textTable) endCell() {
	width := utf8.RuneCount(t.cell)
	switch i := t.column; {
	case !t.writes && i == len(t.widths):
		t.widths = append(t.widths, width)
	case !t.writes:
		t.widths[i] = max(t.widths[i], width)
	case i == 0:
		t.out.Write(t.cell)
		t.pad(t.widths[0] - width)
	default:
		t.pad(t.widths[i] - width + 2)
		t.out.Write(t.cell)
	}
	t.cell = t.cell[:0]
	t.column++
}

// endRow ends a row, and reports false after an error of out.
func (t *textTable) endRow() bool {
	t.column = 0
	if !t.writes {
		return true
	}
	return t.out.WriteByte('\n') == nil
}

func (t *textTable) pad(n int) {
	for range n {
		t.out.WriteByte(' ')
	}
}

// tableOf returns rows, all of one length, as a table.
func tableOf(rows [][]string) string {
	var b bytes.Buffer
	t := &textTable{out: bufio.NewWriter(&b)}
	for _, t.writes = range []bool{false, true} {
		for _, row := range rows {
			for _, cell := range row {
				t.text(cell)
			}
			t.endRow()
		}
	}
	t.out.Flush()
	return b.String()
}
