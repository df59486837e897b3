package evertick

import (
	"fmt"
	"math"
	"reflect"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// Difference is where two simulations a and b differ first.
type Difference struct {
	// Column is what differs, as ColumnHashes names it, or "entities", with World, for
	// what an ecs.Difference describes.
	Column string
	// World is set if it is the worlds that differ.
	World ecs.Difference
	// Row is the row of a body, -1 if it is none or not known. ID is the entity that
	// this body moves, or that lives where the worlds differ; 0 if there is none.
	Row int
	ID  ecs.ID
	// A and B are what a and b have there: numbers in decimal and hexadecimal.
	A, B string
}

// String says it in one line.
func (d Difference) String() string {
	switch {
	case d.Column == "entities":
		return "entities: " + d.World.String()
	case d.Row < 0:
		return fmt.Sprintf("%s: %s and %s", d.Column, d.A, d.B)
	case d.ID == 0:
		return fmt.Sprintf("%s of body %d: %s and %s", d.Column, d.Row, d.A, d.B)
	}
	return fmt.Sprintf("%s of body %d, that of %v: %s and %s", d.Column, d.Row, d.ID, d.A, d.B)
}

// Diff returns the first difference of two simulations, and false if there is none that
// Hash would tell. The order is: ticks and seed, the worlds as ecs.Diff compares them, the
// columns of bodies, and then the hashes of what has no columns to look into: shapes,
// joints, the states of AddState. Hashes are those of the last tick; what was written
// since is seen in the columns only.
func Diff(a, b *Sim) (Difference, bool) {
	if a.n != b.n {
		return differenceOf("ticks", a.n, b.n), true
	}
	if a.seed != b.seed {
		return differenceOf("seed", a.seed, b.seed), true
	}
	if d, found := ecs.Diff(a.World, b.World); found {
		return Difference{Column: "entities", World: d, Row: -1, ID: d.ID}, true
	}
	if d, found := diffBodies(a, b); found {
		return d, true
	}
	return diffHashes(a.hashes, b.hashes)
}

func differenceOf(column string, a, b uint64) Difference {
	return Difference{Column: column, Row: -1, A: fmt.Sprintf("%d (%#x)", a, a), B: fmt.Sprintf("%d (%#x)", b, b)}
}

// diffBodies compares the columns of bodies, by reflection: whoever asks for a
// difference has time.
func diffBodies(a, b *Sim) (Difference, bool) {
	if rows := a.Physics.Rows(); rows != b.Physics.Rows() {
		return differenceOf("body rows", uint64(rows), uint64(b.Physics.Rows())), true
	}
	x, y := reflect.ValueOf(a.Physics.Columns()), reflect.ValueOf(b.Physics.Columns())
	for i := range x.NumField() {
		field := x.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		for row := range a.Physics.Rows() {
			u, v := numberText(x.Field(i).Index(row)), numberText(y.Field(i).Index(row))
			if u != v {
				return Difference{Column: "body." + field.Name, Row: row, ID: a.ownerOf(row), A: u, B: v}, true
			}
		}
	}
	return Difference{}, false
}

// ownerOf returns the entity that the body in a row moves, or 0.
func (s *Sim) ownerOf(row int) ecs.ID {
	slot := s.Physics.Columns().Slot[row]
	if slot == physics.NoSlot {
		return 0
	}
	id, _ := s.World.ID(slot)
	return id
}

// numberText is a value in decimal and its bits in hexadecimal; one NaN is as good as
// another.
func numberText(v reflect.Value) string {
	if !v.CanFloat() {
		return fmt.Sprintf("%d (%#x)", v.Uint(), v.Uint())
	}
	f := float32(v.Float())
	if f != f {
		return "NaN"
	}
	return fmt.Sprintf("%v (%#08x)", f, math.Float32bits(f))
}

func diffHashes(a, b []ecs.ColumnHash) (Difference, bool) {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return Difference{Column: b[i].Name, Row: -1, A: "nothing", B: "a column"}, true
		case i >= len(b) || a[i].Name != b[i].Name:
			return Difference{Column: a[i].Name, Row: -1, A: "a column", B: "nothing"}, true
		case a[i].Hash != b[i].Hash:
			return Difference{Column: a[i].Name, Row: -1, A: fmt.Sprintf("hash %016x", a[i].Hash), B: fmt.Sprintf("hash %016x", b[i].Hash)}, true
		}
	}
	return Difference{}, false
}
