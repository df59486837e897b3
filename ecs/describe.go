package ecs

import (
	"strconv"

	"github.com/evertick/evertick/native"
)

// Description lists the contents of a world and the memory that they take, in bytes. It
// does not count what aligns columns, a page of 4096 bytes for each at most, nor the
// memory of Commands, Bindings and Queries, nor what Reorder keeps.
type Description struct {
	Entities   int // alive
	Capacity   int
	HighWater  int
	Version    uint64
	LastTouch  uint64
	Generation uint64

	Tags    []TagDescription    // in order of registration
	Columns []ColumnDescription // in order of registration, built-in ones first
	Blobs   []BlobsDescription  // in order of registration

	IDBytes       int // ids by slot
	Pages         int // of the table that maps ids to slots
	SparePages    int // empty ones, kept for the next ids
	TableBytes    int // pages of both kinds, and their directory
	MaskBytes     int // sets of slots
	PreviousBytes int // transforms of the tick before: see Config.Previous
	TotalBytes    int // all of it, tags, columns and blobs included
}

// TagDescription describes a tag.
type TagDescription struct {
	Name  string
	Count int // entities that have it
	Bytes int
}

// ColumnDescription describes a column.
type ColumnDescription struct {
	Name    string
	Type    string // of a row, as in "[4]float32"
	Version uint64
	Kept    bool // from a snapshot, and not added by the program: see World.Restore
	Bytes   int
}

// BlobsDescription describes the Blobs of one name.
type BlobsDescription struct {
	Name    string
	Column  string // in ColumnHashes, where it is missing while Count is 0
	Version uint64
	Count   int // entities that have one
	Data    int // bytes of all of them
	Bytes   int
}

// pageAlloc is the size class in which Go allocates a page of the id table.
const pageAlloc = 4864

// Describe returns the contents of the world and the memory that they take.
func (w *World) Describe() Description {
	d := Description{
		Entities: w.count, Capacity: w.Cap(), HighWater: w.high,
		Version: w.Version(), LastTouch: w.touches, Generation: w.generation,
		IDBytes: 8 * len(w.ids),
		Pages:   w.table.pages, SparePages: len(w.table.spare),
		TableBytes: pageAlloc*(w.table.pages+len(w.table.spare)) + 8*len(w.table.dir),
		MaskBytes:  8 * (len(w.despawning.words) + len(w.jumped)),
	}
	for _, l := range w.live.levels {
		d.MaskBytes += 8 * len(l)
	}
	if w.previous != nil {
		d.PreviousBytes = 40 * w.Cap()
	}
	d.TotalBytes = d.IDBytes + d.TableBytes + d.MaskBytes + d.PreviousBytes
	for _, t := range w.tags {
		d.Tags = append(d.Tags, TagDescription{t.name, native.CountRows(t.bits), 8 * len(t.bits)})
		d.TotalBytes += 8 * len(t.bits)
	}
	for _, c := range w.columns {
		d.Columns = append(d.Columns, ColumnDescription{c.name, c.typeName(), c.version.number, c.kept, len(c.mem)})
		d.TotalBytes += len(c.mem)
	}
	for _, b := range w.blobs {
		bytes := b.memory()
		d.Blobs = append(d.Blobs, BlobsDescription{b.name, b.column, b.version.number, b.count, b.bytes, bytes})
		d.TotalBytes += bytes
	}
	return d
}

// String is the description as tables.
func (d Description) String() string {
	columns := [][]string{{"column", "type", "version", "bytes"}}
	for _, c := range d.Columns {
		name := displayName(c.Name)
		if c.Kept {
			name += " (kept)"
		}
		columns = append(columns, []string{name, c.Type, decimal(c.Version), decimal(c.Bytes)})
	}
	tags := [][]string{{"tag", "entities", "bytes"}}
	for _, t := range d.Tags {
		tags = append(tags, []string{displayName(t.Name), decimal(t.Count), decimal(t.Bytes)})
	}
	blobs := ""
	if len(d.Blobs) > 0 {
		rows := [][]string{{"blobs", "version", "entities", "data", "bytes"}}
		for _, b := range d.Blobs {
			rows = append(rows, []string{displayName(b.Name), decimal(b.Version), decimal(b.Count), decimal(b.Data), decimal(b.Bytes)})
		}
		blobs = tableOf(rows) + "\n"
	}
	return tableOf([][]string{
		{"entities", decimal(d.Entities)},
		{"capacity", decimal(d.Capacity)},
		{"high water", decimal(d.HighWater)},
		{"version", decimal(d.Version)},
		{"last touch", decimal(d.LastTouch)},
		{"generation", decimal(d.Generation)},
	}) + "\n" + tableOf(columns) + "\n" + tableOf(tags) + "\n" + blobs + tableOf([][]string{
		{"bytes", ""},
		{"ids by slot", decimal(d.IDBytes)},
		{"id table, " + decimal(d.Pages) + " pages, " + decimal(d.SparePages) + " spare", decimal(d.TableBytes)},
		{"sets of slots", decimal(d.MaskBytes)},
		{"transforms before", decimal(d.PreviousBytes)},
		{"total", decimal(d.TotalBytes)},
	})
}

func decimal[T int | uint64](n T) string { return strconv.FormatUint(uint64(n), 10) }
