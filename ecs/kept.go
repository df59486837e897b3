package ecs

import (
	"slices"

	"github.com/evertick/evertick/internal/fault"
)

// A kept column came with a snapshot, or from another world, and the program has not
// added it. It is state like any other, in the hash and in later snapshots. As there
// is no handle to it, only a reset and a new state write to it. It holds the rows
// below HighWater and some in which to grow, not all: what a snapshot says of its
// columns must not cost more than in proportion to its length.

// keep adds such a column.
func (w *World) keep(im *columnImage) *column {
	c := &column{name: im.name, kind: im.kind, count: im.count, mark: &mark{world: w}, kept: true}
	w.addColumn(c)
	w.kept = append(w.kept, c)
	return c
}

// hold makes room for that many rows.
func (c *column) hold(rows, capacity int) {
	size := c.size()
	have := len(c.mem) / size
	if have >= rows {
		return
	}
	grown := make([]byte, size*min(capacity, max(rows, 2*have)))
	copy(grown, c.mem)
	c.mem = grown
}

// raise moves HighWater up, before the new rows are reset.
func (w *World) raise(high int) {
	w.high = high
	for _, c := range w.kept {
		c.hold(high, w.Cap())
	}
}

// adopt makes a kept column one that the program knows.
func (w *World) adopt(c *column, who string, k kind, count int) error {
	if !c.holds(k, count) {
		return fault.Field(ErrUnsupported, who+" type of the kept column "+c.name, c.typeName())
	}
	mem := w.fullRows(c)
	copy(mem, c.rows(0, w.high))
	c.mem = mem
	w.lanes.leave(c)
	w.kept = slices.DeleteFunc(w.kept, func(k *column) bool { return k == c })
	c.kept = false
	w.lanes.add(c)
	return nil
}

// dropKept drops the kept columns that the state to come lacks.
func (w *World) dropKept() {
	gone := func(c *column) bool { return c.kept && c.given == nil }
	if !slices.ContainsFunc(w.kept, gone) {
		return
	}
	for _, list := range []*[]*column{&w.columns, &w.byName, &w.lanes.wide, &w.kept} {
		*list = slices.DeleteFunc(*list, gone)
	}
}

func (l *lanes) leave(c *column) {
	l.wide = slices.DeleteFunc(l.wide, func(k *column) bool { return k == c })
}
