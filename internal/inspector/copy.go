package inspector

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/stagger"
)

// stateCopy is what requests of one safe point need of a state. Each part is copied when the first of them needs it.
type stateCopy struct {
	arena
	sim     *evertick.Sim // to copy from; nil after the safe point
	tick    uint64
	live    []uint64   // slots of entities
	ids     []ecs.ID   // by slot; 0 for free slots
	bodies  [][]uint32 // by solver and row of bodies: the slot of the entity that it moves
	hasRows bool       // ids and bodies are copied
	tags    map[string][]uint64
	columns map[string][]byte // up to the last slot in use

	users int // requests that read it, and the safe point itself; guarded by hub.mu
}

func newStateCopy(sim *evertick.Sim) *stateCopy {
	c := &stateCopy{sim: sim, tick: sim.Ticks(), tags: map[string][]uint64{}, columns: map[string][]byte{}, users: 1}
	c.live = slices.Clone(liveSlots(sim.World))
	c.bytes = 8 * len(c.live)
	return c
}

// arena is memory for copies. Released, it serves others.
type arena struct {
	bytes int // that were copied
	used  []*buffer
}

type buffer struct{ words []uint64 }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// memory returns n bytes, aligned for every kind of number.
func (a *arena) memory(n int) []byte {
	b := buffers.Get().(*buffer)
	a.used = append(a.used, b)
	a.bytes += n
	if need := (n + 7) / 8; cap(b.words) < need {
		b.words = make([]uint64, need)
	} else {
		b.words = b.words[:need]
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b.words))), 8*len(b.words))[:n]
}

func (a *arena) release() {
	for _, b := range a.used {
		buffers.Put(b)
	}
	a.used = nil
}

// component is a number of each row of a column.
type component struct {
	kind columns.Kind
	n, i int    // it is number i of the n numbers of a row
	mem  []byte // in the byte order of the machine
}

// at returns the index of the number of a slot.
func (c *component) at(slot int) int { return slot*c.n + c.i }

// component copies a column.
func (c *stateCopy) component(v ecs.ColumnView, i int) component {
	mem, known := c.columns[v.Name()]
	if !known {
		from := columns.Memory(&v)[:c.sim.World.HighWater()*v.RowBytes()]
		mem = c.memory(len(from))
		copy(mem, from)
		c.columns[v.Name()] = mem
	}
	return component{v.Kind(), v.Components(), i, mem}
}

// number copies the column of a number.
func (c *stateCopy) number(name numberName) (component, error) {
	v, i, err := name.find(c.sim.World)
	if err != nil {
		return component{}, err
	}
	return c.component(v, i), nil
}

// tag copies the slots with a tag.
func (c *stateCopy) tag(name string) ([]uint64, error) {
	if mask, known := c.tags[name]; known {
		return mask, nil
	}
	t, err := findTag(c.sim.World, name)
	if err != nil {
		return nil, err
	}
	c.tags[name] = slices.Clone(t.Mask()[:len(c.live)])
	c.bytes += 8 * len(c.live)
	return c.tags[name], nil
}

// copyRows copies what a row shows of an entity besides its columns.
func (c *stateCopy) copyRows() {
	if c.hasRows {
		return
	}
	c.hasRows = true
	w := c.sim.World
	high := w.HighWater()
	c.ids = stagger.View[ecs.ID](c.memory(8 * high))
	for slot := range c.ids {
		c.ids[slot], _ = w.ID(ecs.Slot(slot))
	}
	for _, b := range bodiesOf(c.sim) {
		from := b.view.Slots()
		if !b.owned(w, from) {
			continue
		}
		to := stagger.View[uint32](c.memory(4 * len(from)))
		copy(to, from)
		c.bodies = append(c.bodies, to)
	}
}

// withBody returns which of the slots hold entities with a body.
func (c *stateCopy) withBody(slots []ecs.Slot) map[ecs.Slot]bool {
	shown := make(map[ecs.Slot]bool, len(slots))
	for _, slot := range slots {
		shown[slot] = false
	}
	for _, rows := range c.bodies {
		for _, slot := range rows {
			if _, ok := shown[slot]; ok {
				shown[slot] = true
			}
		}
	}
	return shown
}

// count returns the number of slots in a mask.
func count(mask []uint64) (n int) {
	for _, word := range mask {
		n += bits.OnesCount64(word)
	}
	return n
}
