package ecs

// Clone returns a world of its own in the same state: of the same Config, with the
// same columns and tags, of which FindColumn and Tag give the handles. Observers and
// bindings stay behind, and Generation begins anew.
func (w *World) Clone() *World {
	c, err := New(Config{Capacity: w.Cap(), Previous: w.previous != nil})
	if err != nil {
		panic("ecs: Clone of a World that New did not make")
	}
	for _, col := range w.lanes.known[len(c.lanes.known):] {
		c.register("ecs: Clone", col.name, col.kind, col.count) // fits, as it did in w
	}
	if err := c.CopyFrom(w); err != nil {
		panic("ecs: Clone does not fit")
	}
	return c
}

// CopyFrom replaces the state by that of src, as Restore does by that of a snapshot,
// without going through bytes: ids and all that decides the next ones, tags, columns and
// their versions. The worlds may differ in capacity and in what is registered:
// tags and columns go by name, as in Restore. Handles, observers, bindings and queries
// of w stay; what is bound to entities that are gone is released. It allocates nothing
// once w has had a state as large, and columns of all these names.
//
// More rows in use, columns or tags than fit are ErrCapacity, a column that both
// have in different types is ErrUnsupported; w is unchanged then. A copy from w itself
// does nothing.
func (w *World) CopyFrom(src *World) error {
	if w == src {
		return nil
	}
	w.mustBeStill()
	w.Discard()
	im := &w.incoming
	im.view(src)
	defer im.forget()
	if err := im.fit(w); err != nil {
		return err
	}
	w.table.copyFrom(&src.table)
	w.become(im)
	return nil
}

// view makes im the state of a world, as it lies there.
func (im *image) view(src *World) {
	im.who = "ecs: CopyFrom"
	im.rows, im.live, im.touches = src.high, src.count, src.touches
	im.ids = bytesOf(src.ids[:src.high])
	im.mask = src.live.levels[0]
	for _, c := range src.columns {
		im.columns = append(im.columns, columnImage{name: c.name, kind: c.kind, count: c.count,
			version: c.mark.version, rows: c.rows(0, src.high)})
	}
	for _, t := range src.tags {
		im.tags = append(im.tags, tagImage{t.name, bytesOf(t.bits[:words(src.high)])})
	}
}

// forget lets go of the memory of others, and keeps its own.
func (im *image) forget() {
	clear(im.columns)
	clear(im.tags)
	*im = image{columns: im.columns[:0], tags: im.tags[:0], own: im.own, table: im.table}
}
