package proof

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// mostLines bounds the lines of one kind in Diff.
const mostLines = 12

// Diff says in which columns, of which entities and bodies, two photos of the same tick
// differ: numbers in decimal and in hexadecimal bits. It returns no lines if they are equal.
func Diff(a, b *Photo) ([]string, error) {
	if a.Tick != b.Tick || a.Seed != b.Seed {
		return []string{fmt.Sprintf("photos of tick %d of seed %d and of tick %d of seed %d", a.Tick, a.Seed, b.Tick, b.Seed)}, nil
	}
	var d differ
	if a.Error != b.Error {
		d.say("the tick fails with %q and %q", a.Error, b.Error)
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
	x, err := a.scene(&a.After)
	if err != nil {
		return d.lines, err
	}
	y, err := b.scene(&b.After)
	if err != nil {
		return d.lines, err
	}
	if first, found := ecs.Diff(x.Sim.World, y.Sim.World); found {
		d.say("entities: %v", first)
	}
	d.bodies(x.Sim, y.Sim)
	return d.lines, nil
}

type differ struct{ lines []string }

func (d *differ) say(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// columns says which hashes differ.
func (d *differ) columns(what string, a, b []ecs.ColumnHash) {
	said := 0
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a) || i >= len(b) || a[i].Name != b[i].Name:
			d.say("%s %d: the lists part here: %s and %s", what, i, nameAt(a, i), nameAt(b, i))
			return
		case a[i].Hash == b[i].Hash:
			continue
		}
		if said++; said > mostLines {
			d.say("%s: … and more", what)
			return
		}
		d.say("%s %s: hash %016x and %016x", what, a[i].Name, a[i].Hash, b[i].Hash)
	}
}

func nameAt(list []ecs.ColumnHash, i int) string {
	if i < len(list) {
		return list[i].Name
	}
	return "nothing"
}

// trace names the first system after which the states differ, or the two systems between
// which they start to differ.
func (d *differ) trace(a, b []Moment) {
	at := "the start of the tick"
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			at = "after " + a[i].System
			continue
		}
		if a[i].System != b[i].System {
			d.say("system %s runs in one, %s in the other", a[i].System, b[i].System)
			return
		}
		var parts []string
		if a[i].World != b[i].World {
			parts = append(parts, "entities")
		}
		if a[i].Physics != b[i].Physics {
			parts = append(parts, "bodies")
		}
		if a[i].After {
			d.say("made by %s: %s", strings.Join(group(a[i:]), " or "), strings.Join(parts, ", "))
		} else {
			d.say("made %s and before %s: %s", at, a[i].System, strings.Join(parts, ", "))
		}
		return
	}
	d.say("made after the last system")
}

// group names the systems that are done at the first moment: several if they ran side by
// side.
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
			d.say("stage of the solver that differs first: %s", a[i].Name)
			return
		}
	}
}

// bodies says of every column of the bodies the first row that differs.
func (d *differ) bodies(a, b *evertick.Sim) {
	if a.Physics.Rows() != b.Physics.Rows() {
		d.say("bodies: %d and %d rows", a.Physics.Rows(), b.Physics.Rows())
	}
	x, y := reflect.ValueOf(a.Physics.Columns()), reflect.ValueOf(b.Physics.Columns())
	rows := min(a.Physics.Rows(), b.Physics.Rows())
	for i := range x.NumField() {
		field := x.Type().Field(i)
		if !field.IsExported() || field.Type.Kind() != reflect.Slice {
			continue
		}
		for row := range rows {
			u, v := x.Field(i).Index(row), y.Field(i).Index(row)
			if text, other := number(u), number(v); text != other {
				d.say("bodies: value of body.%s, body %d%s: %s and %s", field.Name, row, owner(a, row), text, other)
				break
			}
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

// number returns a value in decimal and its bits in hexadecimal. All NaNs give the same text.
func number(v reflect.Value) string {
	if !v.CanFloat() {
		return fmt.Sprintf("%d (%#x)", v.Uint(), v.Uint())
	}
	f := float32(v.Float())
	if f != f {
		return "NaN"
	}
	return fmt.Sprintf("%v (%#08x)", f, math.Float32bits(f))
}
