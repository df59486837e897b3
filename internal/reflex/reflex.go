// Package reflex lists the agents whose turn it is in a tick, and where they are: what the reflexes of package agent and
// the scenes have in common.
package reflex

import (
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// Turns let the entities of a tag act by turns.
type Turns struct {
	Members ecs.Tag
	PerTick int // entities whose turn it is in a tick; 0: all

	Agents  []ecs.Slot      // those whose turn it is, in the order of their slots from the first on
	Centres spatial.Queries // their positions, and their slots in Exclude

	all []ecs.Slot
}

// Next finds the agents of a tick.
func (t *Turns) Next(w *ecs.World, tick uint64) {
	t.choose(w, tick)
	q, pos := &t.Centres, &w.Position
	q.Exclude = t.Agents
	q.X, q.Y, q.Z = Gather(q.X, pos.X, t.Agents), Gather(q.Y, pos.Y, t.Agents), Gather(q.Z, pos.Z, t.Agents)
}

func (t *Turns) choose(w *ecs.World, tick uint64) {
	t.all = native.RowsOf(t.all, t.Members.Mask()[:(w.HighWater()+63)/64])
	n := len(t.all)
	if t.PerTick == 0 || t.PerTick >= n {
		t.Agents = append(t.Agents[:0], t.all...)
		return
	}
	first := int(tick % uint64(n) * uint64(t.PerTick) % uint64(n))
	last := first + t.PerTick
	t.Agents = append(t.Agents[:0], t.all[first:min(last, n)]...)
	t.Agents = append(t.Agents, t.all[:max(0, last-n)]...)
}

// Gather returns the values of some slots, in the memory of dst if it has room.
func Gather(dst, column []float32, slots []ecs.Slot) []float32 {
	dst = Resize(dst, len(slots))
	for i, slot := range slots {
		dst[i] = column[slot]
	}
	return dst
}

// Resize returns a slice of n elements, in the memory of s if it has room.
func Resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
