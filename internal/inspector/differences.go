package inspector

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/physics"
)

// difference is one value in which two Sims differ. Numbers are in the shortest form that identifies them.
type difference struct {
	Column    string  `json:"column"`
	Entity    string  `json:"entity,omitempty"`
	Slot      *uint32 `json:"slot,omitempty"` // of the entity
	Row       *uint32 `json:"row,omitempty"`  // of the body
	Component int     `json:"component"`
	A         string  `json:"a"`
	B         string  `json:"b"`
}

// none is the value of what only the other Sim has.
const none = "none"

// differ lists differences, the first limit of them.
type differ struct {
	a, b     *evertick.Sim
	limit    int
	total    int
	list     []difference
	identity bool   // entities or tags differ
	pause    func() // called now and then
}

// differences lists the differences of two Sims of one scenario, in the order of evertick.Diff: ticks, seed and
// mode; entities by slot; tags, columns and blobs by name and then slot; columns of bodies, by row; and the
// hashes of all that has no columns. An entity or a body that only one Sim has is one difference: its
// values are not listed. It returns the first limit of them, and how many there are.
func differences(a, b *evertick.Sim, limit int, pause func()) ([]difference, int) {
	d := &differ{a: a, b: b, limit: limit, list: []difference{}, pause: pause}
	d.number("ticks", a.Ticks(), b.Ticks())
	d.number("seed", a.Seed(), b.Seed())
	d.number("mode", uint64(a.Mode()), uint64(b.Mode()))
	before := d.total
	d.entities()
	d.tags()
	d.identity = d.total > before
	d.columns()
	d.blobs()
	d.bodies()
	d.hashes()
	return d.list, d.total
}

func (d *differ) add(x difference) {
	d.total++
	if len(d.list) < d.limit {
		d.list = append(d.list, x)
	}
}

func (d *differ) number(column string, a, b uint64) {
	if a != b {
		d.add(difference{Column: column, A: strconv.FormatUint(a, 10), B: strconv.FormatUint(b, 10)})
	}
}

// entityIn returns the entity in a slot, 0 if the slot is free in w.
func entityIn(w *ecs.World, slot ecs.Slot) ecs.ID {
	id, _ := w.ID(slot)
	return id
}

func idText(id ecs.ID) string {
	if id == 0 {
		return none
	}
	return id.String()
}

// entities adds the slots that do not hold the same entity in both.
func (d *differ) entities() {
	a, b := d.a.World, d.b.World
	for slot := range ecs.Slot(max(a.HighWater(), b.HighWater())) {
		if x, y := entityIn(a, slot), entityIn(b, slot); x != y {
			d.add(difference{Column: "id", Entity: max(x, y).String(), Slot: &slot, A: idText(x), B: idText(y)})
		}
	}
	d.pause()
}

// at fills in the entity in a slot. It reports false if the slot holds different entities.
func (d *differ) at(x *difference, slot ecs.Slot) bool {
	id := entityIn(d.a.World, slot)
	if id != entityIn(d.b.World, slot) {
		return false
	}
	if x.Slot = &slot; id != 0 {
		x.Entity = id.String()
	}
	return true
}

// names returns the names in both lists, sorted, each once.
func names[T any](a, b []T, name func(T) string) []string {
	var all []string
	for _, v := range slices.Concat(a, b) {
		all = append(all, name(v))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (d *differ) tags() {
	a, b := d.a.World, d.b.World
	for _, name := range names(a.Describe().Tags, b.Describe().Tags, func(t ecs.TagDescription) string { return t.Name }) {
		x, errA := a.Tag(name)
		y, errB := b.Tag(name)
		if errA != nil || errB != nil {
			continue // more tags than a world can have: the hashes show it
		}
		for slot := range ecs.Slot(max(a.HighWater(), b.HighWater())) {
			has, other := hasBit(x.Mask(), slot), hasBit(y.Mask(), slot)
			if t := (difference{Column: "tag:" + name, A: strconv.FormatBool(has), B: strconv.FormatBool(other)}); has != other && d.at(&t, slot) {
				d.add(t)
			}
		}
		d.pause()
	}
}

func hasBit(mask []uint64, slot ecs.Slot) bool {
	return uint(slot>>6) < uint(len(mask)) && mask[slot>>6]>>(slot&63)&1 != 0
}

func (d *differ) columns() {
	a, b := d.a.World, d.b.World
	for _, name := range names(a.Columns(), b.Columns(), ecs.ColumnView.Name) {
		x, inA := a.ColumnNamed(name)
		y, inB := b.ColumnNamed(name)
		if inA != inB || x.Kind() != y.Kind() || x.Components() != y.Components() {
			d.add(difference{Column: name, A: typeText(x, inA), B: typeText(y, inB)})
			continue
		}
		for row, i := range columns.Differences(x, y) {
			if v := (difference{Column: name, Component: i}); d.at(&v, row) {
				v.A, v.B = numberText(x, row, i), numberText(y, row, i)
				d.add(v)
			}
		}
		d.pause()
	}
}

// typeText returns the type of a row.
func typeText(v ecs.ColumnView, exists bool) string {
	switch {
	case !exists:
		return none
	case v.Components() == 1:
		return v.Kind().String()
	}
	return fmt.Sprintf("[%d]%v", v.Components(), v.Kind())
}

func numberText(v columns.View, row uint32, i int) string {
	return string(v.Kind().AppendText(nil, columns.Memory(&v), int(row)*v.Components()+i))
}

func (d *differ) blobs() {
	a, b := d.a.World, d.b.World
	for _, name := range names(a.Describe().Blobs, b.Describe().Blobs, func(t ecs.BlobsDescription) string { return t.Name }) {
		x, errA := a.Blobs(name)
		y, errB := b.Blobs(name)
		if errA != nil || errB != nil {
			continue // as for tags
		}
		for slot := range ecs.Slot(max(a.HighWater(), b.HighWater())) {
			p, inA := x.At(slot)
			q, inB := y.At(slot)
			v := difference{Column: "blob." + name}
			if (inA != inB || !bytes.Equal(p, q)) && d.at(&v, slot) {
				v.A, v.B = blobText(p, inA), blobText(q, inB)
				d.add(v)
			}
		}
		d.pause()
	}
}

// blobText returns the length and the hash of a blob.
func blobText(data []byte, exists bool) string {
	if !exists {
		return none
	}
	return fmt.Sprintf("%d bytes, hash %s", len(data), HashText(statehash.Bytes(data, 1, false)))
}

// bodies adds the differences of bodies, by solvers. What only one Sim has of a solver is among the hashes.
func (d *differ) bodies() {
	others := bodiesOf(d.b)
	for _, a := range bodiesOf(d.a) {
		if i := slices.IndexFunc(others, a.comparable); i >= 0 {
			d.bodiesOf(a, others[i])
		}
	}
}

func (d *differ) bodiesOf(a, b bodies) {
	live := func(of bodies, row int) bool { rows := of.view.Alive(); return row < len(rows) && rows[row] != 0 }
	for row := range max(len(a.view.Alive()), len(b.view.Alive())) {
		if x, y := live(a, row), live(b, row); x != y {
			d.addBody(difference{Column: strings.TrimSuffix(a.prefix, "."), A: bodyText(x), B: bodyText(y)}, uint32(row), a, b)
		}
	}
	others := b.view.Columns()
	for c, x := range a.view.Columns() {
		y := others[c]
		for row, i := range columns.Differences(x, y) {
			if live(a, int(row)) == live(b, int(row)) {
				d.addBody(difference{Column: a.prefix + x.Name(), Component: i, A: numberText(x, row, i), B: numberText(y, row, i)}, row, a, b)
			}
		}
		d.pause()
	}
}

func bodyText(exists bool) string {
	if exists {
		return "a body"
	}
	return none
}

// addBody adds a difference of a body, with the entity that it moves.
func (d *differ) addBody(x difference, row uint32, a, b bodies) {
	x.Row = &row
	for i, slots := range [...][]uint32{a.view.Slots(), b.view.Slots()} {
		if int(row) >= len(slots) {
			continue
		}
		if slot := slots[row]; slot != physics.NoSlot {
			x.Entity, x.Slot = idText(entityIn([...]*ecs.World{d.a.World, d.b.World}[i], slot)), &slot
			break
		}
	}
	d.add(x)
}

// hashes adds what differs and has no columns: shapes, contacts, joints, timers, the states of AddState.
func (d *differ) hashes() {
	listed := d.listed()
	a, b := d.a.AppendColumnHashes(nil), d.b.AppendColumnHashes(nil)
	for _, h := range a {
		if other := hashText(b, h.Name); !listed[h.Name] && other != hashText(a, h.Name) {
			d.add(difference{Column: h.Name, A: hashText(a, h.Name), B: other})
		}
	}
	for _, h := range b {
		if !listed[h.Name] && hashText(a, h.Name) == none {
			d.add(difference{Column: h.Name, A: none, B: hashText(b, h.Name)})
		}
	}
}

func hashText(list []ecs.ColumnHash, name string) string {
	i := slices.IndexFunc(list, func(h ecs.ColumnHash) bool { return h.Name == name })
	if i < 0 {
		return none
	}
	return "hash " + HashText(list[i].Hash)
}

// listed returns the names of hashes whose differences have been listed value by value. The hash "identity" is one
// of them if entities or tags differ; if not, only the next id differs.
func (d *differ) listed() map[string]bool {
	m := map[string]bool{"ticks": true, "seed": true, "mode": true}
	for _, w := range [...]*ecs.World{d.a.World, d.b.World} {
		for _, c := range w.Columns() {
			m[c.Name()] = true
		}
		for _, b := range w.Describe().Blobs {
			m[b.Column] = true
		}
	}
	for _, b := range bodiesOf(d.a) {
		if !slices.ContainsFunc(bodiesOf(d.b), b.comparable) {
			continue
		}
		for _, c := range b.view.Columns() {
			m[b.prefix+c.Name()] = true
		}
	}
	m["identity"] = d.identity
	return m
}
