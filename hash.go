package evertick

import (
	"fmt"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/physics"
)

// Hash returns the hash of the state after the last step: ecs.Fold of ColumnHashes. It covers all
// that this module keeps between ticks. It does not cover what a physics engine caches, nor the
// forces, commands and inputs that wait for the next step. Of what systems keep outside the world
// it covers what AddState added. See Config.HashOnDemand.
func (s *Sim) Hash() uint64 {
	s.hashIfDue()
	return s.hash
}

// hashIfDue hashes the state if the last step has left that to this call.
func (s *Sim) hashIfDue() {
	if !s.hashDue {
		return
	}
	if s.stepping && !s.inAfterTick {
		panic("evertick: Hash or ColumnHashes within a tick of a Sim with Config.HashOnDemand")
	}
	s.hashState(s.ticks)
	s.hashDue = false
}

// ColumnHashes returns the hashes that make up Hash: seed, ticks, then the columns of the world,
// those of the bodies, those of AddState and AddTimer, and the mode if it is not 0. Where two runs
// differ, the first pair that differs names the column. The slice is the Sim's own and valid until
// the next step.
func (s *Sim) ColumnHashes() []ecs.ColumnHash {
	s.hashIfDue()
	return s.hashes
}

// hashTick hashes the state at the end of the tick. It also looks for NaN, so that the error names
// the tick in which a system wrote one.
func (s *Sim) hashTick(*Tick) error {
	if s.config.HashOnDemand {
		s.hashDue = true
		return s.nanError()
	}
	s.nextHashes = s.appendHashes(s.nextHashes[:0], s.ticks+1)
	if s.hashedNaN() { // perhaps in a row without an entity
		if err := s.nanError(); err != nil {
			return err
		}
	}
	s.hashes, s.nextHashes = s.nextHashes, s.hashes
	s.hash = ecs.Fold(s.hashes)
	return nil
}

// nanError returns an error if a live entity has a NaN.
func (s *Sim) nanError() error {
	if column, id, found := s.World.FirstNaN(); found {
		return fault.Field(ErrNotFinite, fmt.Sprintf("column %s of %s", column, id), "NaN")
	}
	return nil
}

// hashedNaN reports whether the columns of the world had a NaN when they were hashed.
func (s *Sim) hashedNaN() bool {
	views := s.World.Columns()
	for i := range views {
		if columns.HadNaN(&views[i]) {
			return true
		}
	}
	return false
}

func (s *Sim) hashState(ticks uint64) {
	s.hashes = s.appendHashes(s.hashes[:0], ticks)
	s.hash = ecs.Fold(s.hashes)
}

// AppendColumnHashes appends the hashes of the present state to dst, in the form of ColumnHashes,
// which returns those of the last step. The two differ if the state was changed since that step. So a
// host that draws between calls of Advance can compare the hashes before and after. Pass the previous
// result cut to [:0] to allocate nothing.
func (s *Sim) AppendColumnHashes(dst []ecs.ColumnHash) []ecs.ColumnHash {
	return s.appendHashes(dst, s.ticks)
}

func (s *Sim) appendHashes(dst []ecs.ColumnHash, ticks uint64) []ecs.ColumnHash {
	dst = append(dst, ecs.ColumnHash{Name: "seed", Hash: s.seed}, ecs.ColumnHash{Name: "ticks", Hash: ticks})
	dst = s.appendNonWorldHashes(s.World.AppendColumnHashes(dst))
	if s.mode != 0 {
		dst = append(dst, ecs.ColumnHash{Name: "mode", Hash: uint64(s.mode)})
	}
	return dst
}

// appendNonWorldHashes appends the hashes of what is not in the World: bodies, their owners, and the
// states of AddState.
func (s *Sim) appendNonWorldHashes(dst []ecs.ColumnHash) []ecs.ColumnHash {
	first := len(dst)
	dst = s.Physics.AppendColumnHashes(dst)
	for i := range dst[first:] {
		c := &dst[first+i]
		c.Name = s.bodyColumn(i, c.Name)
	}
	dst = append(dst, ecs.ColumnHash{Name: bodyPrefix + "Owner", Hash: s.ownerHash()})
	for i := range s.states {
		n := &s.states[i]
		s.stateBytes = n.state.AppendState(s.stateBytes[:0])
		dst = append(dst, ecs.ColumnHash{Name: n.column, Hash: statehash.Bytes(s.stateBytes, 1, false)})
	}
	return dst
}

// bodyPrefix is the prefix of hashes of bodies.
const bodyPrefix = "body."

// bodyColumn returns the name of column i of the physics with its prefix. Names can change from
// tick to tick, since some columns exist only while they hold something.
func (s *Sim) bodyColumn(i int, name string) string {
	if i == len(s.bodyColumns) {
		s.bodyColumns = append(s.bodyColumns, bodyPrefix+name)
	} else if s.bodyColumns[i][len(bodyPrefix):] != name {
		s.bodyColumns[i] = bodyPrefix + name
	}
	return s.bodyColumns[i]
}

// Difference is the first place in which two simulations a and b differ.
type Difference struct {
	// Column names what differs, as ColumnHashes does. It is "entities" if World describes the
	// difference.
	Column string
	// World is set if the worlds differ.
	World ecs.Difference
	// Row is the row of a body, -1 if there is none or it is not known. ID is the entity that this
	// body moves, or the entity in which the worlds differ; 0 if there is none.
	Row int
	ID  ecs.ID
	// A and B are the values in a and b: numbers in decimal and hexadecimal.
	A, B string
}

// String describes the difference in one line.
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

// Diff returns the first difference of two simulations, and false if there is none that Hash would
// show. It compares, in this order: ticks, seed and mode; the worlds, as ecs.Diff does; the columns of
// bodies; and then the hashes of everything that has no columns: shapes, joints, the states of
// AddState. Hashes are those of the last tick; what was written since then shows only in the
// columns.
func Diff(a, b *Sim) (Difference, bool) {
	if a.ticks != b.ticks {
		return countDifference("ticks", a.ticks, b.ticks), true
	}
	if a.seed != b.seed {
		return countDifference("seed", a.seed, b.seed), true
	}
	if a.mode != b.mode {
		return countDifference("mode", uint64(a.mode), uint64(b.mode)), true
	}
	if d, found := ecs.Diff(a.World, b.World); found {
		return Difference{Column: "entities", World: d, Row: -1, ID: d.ID}, true
	}
	if d, found := diffBodies(a, b); found {
		return d, true
	}
	return diffHashes(a.ColumnHashes(), b.ColumnHashes())
}

func countDifference(column string, a, b uint64) Difference {
	return Difference{Column: column, Row: -1, A: fmt.Sprintf("%d (%#x)", a, a), B: fmt.Sprintf("%d (%#x)", b, b)}
}

// diffBodies compares the columns of bodies.
func diffBodies(a, b *Sim) (Difference, bool) {
	if rows := a.Physics.Rows(); rows != b.Physics.Rows() {
		return countDifference("body rows", uint64(rows), uint64(b.Physics.Rows())), true
	}
	others := b.Physics.BodyColumns()
	for i, c := range a.Physics.BodyColumns() {
		if row, j, found := columns.FirstDifference(c, others[i]); found {
			return Difference{Column: "body." + c.Name(), Row: int(row), ID: a.ownerOf(int(row)),
				A: columns.Text(c.Value(row, j)), B: columns.Text(others[i].Value(row, j))}, true
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
