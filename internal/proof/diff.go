package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	views "github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/physics"
)

// mostLines is the maximum number of lines of Diff about one kind of difference.
const mostLines = 12

// Diff lists the columns, entities and bodies in which two photos of the same tick
// differ, with numbers in decimal and as hexadecimal bits. It returns no lines if they are equal.
// extend is the Config.Extend of both.
func Diff(a, b *Photo, extend func(*evertick.Sim) error) ([]string, error) {
	if a.Tick != b.Tick || a.Seed != b.Seed {
		return []string{fmt.Sprintf("photos of tick %d of seed %d and of tick %d of seed %d", a.Tick, a.Seed, b.Tick, b.Seed)}, nil
	}
	var d differ
	if a.Error != b.Error {
		d.add("the tick fails with %q and %q", a.Error, b.Error)
	}
	d.columns("before the tick: column", a.Before.Columns, b.Before.Columns)
	if len(d.lines) == 0 && !slices.Equal(a.After.Columns, b.After.Columns) {
		d.trace(a.Trace, b.Trace)
		d.firstStage(a.After.Stages, b.After.Stages)
	}
	d.columns("after the tick: column", a.After.Columns, b.After.Columns)
	if len(d.lines) == 0 || a.Error != "" || b.Error != "" {
		return d.lines, nil
	}
	x, err := a.scene(&a.After, extend)
	if err != nil {
		return d.lines, err
	}
	y, err := b.scene(&b.After, extend)
	if err != nil {
		return d.lines, err
	}
	if first, found := ecs.Diff(x.Sim.World, y.Sim.World); found {
		d.add("entities: %v", first)
	}
	d.bodies(x.Sim, y.Sim)
	if first, found := evertick.Diff(x.Sim, y.Sim); found && strings.HasPrefix(first.Column, "physics3.") {
		d.add("bodies in space: %v", first)
	}
	return d.lines, nil
}

type differ struct{ lines []string }

func (d *differ) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// columns adds the hashes that differ.
func (d *differ) columns(what string, a, b []ecs.ColumnHash) {
	said := 0
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a) || i >= len(b) || a[i].Name != b[i].Name:
			d.add("%s %d: the lists differ from here on: %s and %s", what, i, nameAt(a, i), nameAt(b, i))
			return
		case a[i].Hash == b[i].Hash:
			continue
		}
		if said++; said > mostLines {
			d.add("%s: … and more", what)
			return
		}
		d.add("%s %s: hash %016x and %016x", what, a[i].Name, a[i].Hash, b[i].Hash)
	}
}

func nameAt(list []ecs.ColumnHash, i int) string {
	if i < len(list) {
		return list[i].Name
	}
	return "nothing"
}

// trace adds the first system after which the states differ, or the two between
// which they begin to differ.
func (d *differ) trace(a, b []Moment) {
	at := "the start of the tick"
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			at = "after " + a[i].System
			continue
		}
		if a[i].System != b[i].System {
			d.add("system %s runs in one, %s in the other", a[i].System, b[i].System)
			return
		}
		var parts []string
		if a[i].World != b[i].World {
			parts = append(parts, "entities")
		}
		if a[i].Physics != b[i].Physics {
			parts = append(parts, "bodies")
		}
		if a[i].Attached != b[i].Attached {
			parts = append(parts, "bodies in space")
		}
		if a[i].After {
			d.add("made by %s: %s", strings.Join(group(a[i:]), " or "), strings.Join(parts, ", "))
		} else {
			d.add("made %s and before %s: %s", at, a[i].System, strings.Join(parts, ", "))
		}
		return
	}
	d.add("made after the last system")
}

// group names the systems that end at the first moment: several if they ran in parallel.
func group(moments []Moment) (names []string) {
	for _, m := range moments {
		if !m.After {
			break
		}
		names = append(names, m.System)
	}
	return names
}

func (d *differ) firstStage(a, b []ecs.ColumnHash) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			d.add("stage of the solver that differs first: %s", a[i].Name)
			return
		}
	}
}

// bodies adds the first row that differs in each column of the bodies.
func (d *differ) bodies(a, b *evertick.Sim) {
	if a.Physics.Rows() != b.Physics.Rows() {
		d.add("bodies: %d and %d rows", a.Physics.Rows(), b.Physics.Rows())
	}
	others := b.Physics.BodyColumns()
	for i, c := range a.Physics.BodyColumns() {
		if row, j, found := views.FirstDifference(c, others[i]); found {
			d.add("bodies: value of body.%s, body %d%s: %s and %s", c.Name(), row, owner(a, int(row)),
				views.Text(c.Value(row, j)), views.Text(others[i].Value(row, j)))
		}
	}
}

// owner names the entity that a body moves, if there is one.
func owner(s *evertick.Sim, row int) string {
	slot := s.Physics.Columns().Slot[row]
	if slot == physics.NoSlot {
		return " (no entity)"
	}
	if id, ok := s.World.ID(slot); ok {
		return fmt.Sprintf(" of slot %d (%v)", slot, id)
	}
	return fmt.Sprintf(" of slot %d (free)", slot)
}
