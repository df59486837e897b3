package inspector

import (
	"context"
	"math/bits"
	"slices"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/internal/statehash"
)

// columnCopy is a column as it was at a safe point.
type columnCopy struct {
	name, owner string
	tick        uint64
	view        ecs.ColumnView // for its type
	version     uint64
	mem         []byte   // all rows, in the byte order of the machine
	live        []uint64 // the rows of entities, or of bodies
}

// columnsCopy holds all columns. To copy them takes the Sim less time than to compute their statistics. Where they are more than the
// budget of a safe point, it takes several: each column is as it was at its tick.
type columnsCopy struct {
	arena
	of      stateVersion // of which only world and copy matter: other ones have other columns
	all     int          // columns
	tick    uint64       // of live, and in the end of the last column
	live    [][]uint64   // the rows of entities, and of the bodies of each solver
	columns []columnCopy
	hashed  []hashedPart // what has no numbers
}

// columnOf is a column of a Sim, and what it has to do with entities or bodies.
type columnOf struct {
	prefix, owner string
	rows          int // the index in columnsCopy.live
	view          ecs.ColumnView
}

func columnsOf(sim *evertick.Sim) (all []columnOf) {
	for _, v := range sim.World.Columns() {
		all = append(all, columnOf{"", "world", 0, v})
	}
	for i, b := range bodiesOf(sim) {
		for _, v := range b.view.Columns() {
			all = append(all, columnOf{b.prefix, "bodies", 1 + i, v})
		}
	}
	return all
}

// copy copies the columns that are still missing, as far as the budget allows, and at least one.
func (c *columnsCopy) copy(p *point) (func() ([]byte, error), error) {
	sim := p.sim
	all := columnsOf(sim)
	if p.release == nil && c.of.world == nil {
		p.hub.hold()
		p.release = func() { c.release(); p.hub.unhold() }
	}
	if c.of.world != sim.World || c.of.copy != sim.World.Generation() || c.all != len(all) { // begin, or begin anew
		c.of, c.all = stateVersion{world: sim.World, copy: sim.World.Generation()}, len(all)
		c.columns = c.columns[:0]
	}
	before := c.bytes
	c.tick, c.live = sim.Ticks(), [][]uint64{slices.Clone(liveSlots(sim.World))}
	for _, b := range bodiesOf(sim) {
		c.live = append(c.live, b.live())
	}
	for _, next := range all[len(c.columns):] {
		if p.more = c.bytes > before && !p.left(); p.more {
			return nil, nil
		}
		v := next.view
		from := columns.Memory(&v)
		mem := c.memory(len(from))
		copy(mem, from)
		c.columns = append(c.columns, columnCopy{next.prefix + v.Name(), next.owner, c.tick, v, v.Version(), mem, c.live[next.rows]})
		p.cost += int64(len(mem))
	}
	c.hashed = hashedParts(sim)
	return func() ([]byte, error) { return c.answer(), nil }, nil
}

// hashedPart is a part of the state without columns.
type hashedPart struct {
	name, owner string
	version     uint64
	hash        uint64
	hasHash     bool
}

// hashedParts lists what the hash covers besides columns and numbers of ticks, with the hashes of the last tick: the
// identity of entities, blobs, what the physics keeps, states and timers, and the mode.
func hashedParts(sim *evertick.Sim) (parts []hashedPart) {
	hashes := sim.ColumnHashes()
	named := func(name string) int {
		for i := len(hashes) - 1; i >= 0; i-- {
			if hashes[i].Name == name {
				return i
			}
		}
		return -1
	}
	add := func(i int, owner string) {
		parts = append(parts, hashedPart{hashes[i].Name, owner, 0, hashes[i].Hash, true})
	}
	add(named("identity"), "world")
	for _, b := range sim.World.Describe().Blobs {
		part := hashedPart{name: b.Column, owner: "blobs", version: b.Version}
		if i := named(b.Column); i >= 0 {
			part.hash, part.hasHash = hashes[i].Hash, true
		}
		parts = append(parts, part)
	}
	own := bodiesOf(sim)
	views := own[0].view.Columns()
	// The parts after the world's have names that a column of the world may have, too: the last one counts.
	first, owner := named(bodyPrefix+views[0].Name()), "bodies"
	shown := map[string]bool{} // columns of other solvers
	for _, b := range own[1:] {
		for _, c := range b.view.Columns() {
			shown[b.prefix+c.Name()] = true
		}
	}
	for i := first + len(views); i < len(hashes); i++ {
		switch name := hashes[i].Name; {
		case shown[name]:
		case slices.ContainsFunc(sim.Solvers, func(v *evertick.Solver) bool { return strings.HasPrefix(name, v.Name+".") }):
			add(i, "bodies")
		default:
			add(i, owner)
		}
		if hashes[i].Name == bodyPrefix+"Owner" {
			owner = "state"
		}
	}
	return parts
}

// columnStats is the answer for one component of a column, or for a part without numbers.
type columnStats struct {
	Name      string `json:"name"`
	Component int    `json:"component"`
	Owner     string `json:"owner"`
	Tick      uint64 `json:"tick"`
	Kind      string `json:"kind,omitempty"`
	Count     int    `json:"count"`
	Min       value  `json:"min"`
	Max       value  `json:"max"`
	Mean      value  `json:"mean"`
	NaN       int    `json:"nan"`
	Inf       int    `json:"inf"`
	Version   uint64 `json:"version"`
	Hash      string `json:"hash,omitempty"`
}

// columns answers GET columns. The Sim only makes a copy, which all that ask at the same safe point share.
func (in *Inspector) columns(ctx context.Context, _ *Request, s subject) Answer {
	return askCopy(ctx, s, "columns", new(columnsCopy).copy)
}

// answer computes the statistics.
func (c *columnsCopy) answer() []byte {
	out := struct {
		Tick    uint64        `json:"tick"`
		Columns []columnStats `json:"columns"`
	}{c.tick, []columnStats{}}
	for i := range c.columns {
		out.Columns = c.columns[i].appendStats(out.Columns)
	}
	for _, p := range c.hashed {
		s := columnStats{Name: p.name, Owner: p.owner, Tick: c.tick, Version: p.version}
		if p.hasHash {
			s.Hash = HashText(p.hash)
		}
		out.Columns = append(out.Columns, s)
	}
	return encode(&out)
}

// appendStats appends the statistics of each component of a column.
func (c *columnCopy) appendStats(dst []columnStats) []columnStats {
	k, n := c.view.Kind(), c.view.Components()
	hash := HashText(statehash.Bytes(c.mem, k.Size(), k.IsFloat()))
	for i := range n {
		s := columnStats{Name: c.name, Component: i, Owner: c.owner, Tick: c.tick, Kind: k.String(), Version: c.version, Hash: hash}
		m := measure(k, c.mem, n, i, c.live)
		s.Count, s.NaN, s.Inf = m.count, m.nan, m.inf
		if finite := m.count - m.nan - m.inf; finite > 0 {
			s.Min, s.Max = numberAt(k, c.mem, m.least), numberAt(k, c.mem, m.greatest)
			s.Mean = double(m.sum / float64(finite))
		}
		dst = append(dst, s)
	}
	return dst
}

// measures are the statistics of numbers. NaN and infinities count only for nan and inf.
type measures struct {
	count, nan, inf int
	least, greatest int // indices of numbers; of equal ones, the index of the lowest row
	sum             float64
}

// measure measures component i of the n components of each live row.
func measure(k columns.Kind, mem []byte, n, i int, live []uint64) measures {
	switch k {
	case ecs.KindInt8:
		return measureOf[int8](mem, n, i, live)
	case ecs.KindInt16:
		return measureOf[int16](mem, n, i, live)
	case ecs.KindInt32:
		return measureOf[int32](mem, n, i, live)
	case ecs.KindInt64:
		return measureOf[int64](mem, n, i, live)
	case ecs.KindUint8:
		return measureOf[uint8](mem, n, i, live)
	case ecs.KindUint16:
		return measureOf[uint16](mem, n, i, live)
	case ecs.KindUint32:
		return measureOf[uint32](mem, n, i, live)
	case ecs.KindUint64:
		return measureOf[uint64](mem, n, i, live)
	case ecs.KindFloat32:
		return measureOf[float32](mem, n, i, live)
	}
	return measureOf[float64](mem, n, i, live)
}

func measureOf[T statehash.Number](mem []byte, n, i int, live []uint64) (m measures) {
	values := stagger.View[T](mem)
	var least, greatest T
	first := true
	for at, word := range live {
		m.count += bits.OnesCount64(word)
		for ; word != 0; word &= word - 1 {
			j := (at<<6+bits.TrailingZeros64(word))*n + i
			v := values[j]
			if v-v != 0 { // infinite or NaN
				if v != v {
					m.nan++
				} else {
					m.inf++
				}
				continue
			}
			m.sum += float64(v)
			if first || v < least {
				least, m.least = v, j
			}
			if first || v > greatest {
				greatest, m.greatest = v, j
			}
			first = false
		}
	}
	return m
}

// liveSlots returns the live slots as a bitmap, which belongs to the world.
func liveSlots(w *ecs.World) []uint64 { return w.LiveMask()[:(w.HighWater()+63)/64] }
