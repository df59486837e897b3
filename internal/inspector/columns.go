package inspector

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/internal/statehash"
)

// bodyPrefix precedes the names of the columns of bodies, as in hashes.
const bodyPrefix = "body."

// columnCopy is a column as it was at a safe point.
type columnCopy struct {
	name, owner string
	view        ecs.ColumnView // for its type
	version     uint64
	mem         []byte // all rows, in the byte order of the machine
}

// columnsCopy holds all columns. To copy them takes the Sim less time than to compute their statistics.
type columnsCopy struct {
	tick    uint64
	live    [2][]uint64 // the rows of entities, and of bodies
	columns []columnCopy
	hashed  []hashedPart // what has no numbers

	once sync.Once
	body []byte // the answer
}

// hashedPart is a part of the state without columns.
type hashedPart struct {
	name, owner string
	version     uint64
	hash        uint64
	hasHash     bool
}

// copyColumns copies the columns of a Sim.
func copyColumns(sim *evertick.Sim) *columnsCopy {
	w, p := sim.World, sim.Physics
	c := &columnsCopy{tick: sim.Ticks(), live: [...][]uint64{slices.Clone(liveSlots(w)), liveBodies(sim)}}
	for _, v := range w.Columns() {
		c.add("", "world", v)
	}
	for _, v := range p.BodyColumns() {
		c.add(bodyPrefix, "bodies", v)
	}
	c.hashed = hashedParts(sim)
	return c
}

func (c *columnsCopy) add(prefix, owner string, v ecs.ColumnView) {
	c.columns = append(c.columns, columnCopy{prefix + v.Name(), owner, v, v.Version(), slices.Clone(columns.Memory(&v))})
}

// liveBodies returns the rows of live bodies as a bitmap.
func liveBodies(sim *evertick.Sim) []uint64 {
	alive := sim.Physics.Columns().Alive[:sim.Physics.Rows()]
	mask := make([]uint64, (len(alive)+63)/64)
	for i, b := range alive {
		mask[i>>6] |= uint64(b) << (i & 63)
	}
	return mask
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
	views := sim.Physics.BodyColumns()
	// The parts after those of the world have names that a column of the world may have, too: the last one counts.
	first, owner := named(bodyPrefix+views[0].Name()), "bodies"
	for i := first + len(views); i < len(hashes); i++ {
		add(i, owner)
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

// columns answers GET columns. The Sim only makes a copy, which all that ask at the same safe point share, and they
// compute the statistics once.
func (in *Inspector) columns(ctx context.Context, _ *Request, s subject) Answer {
	last := &s.records().columns
	_, stale, err := s.do(ctx, "columns", func(sim *evertick.Sim, dst []byte) ([]byte, error) {
		last.Store(copyColumns(sim))
		return dst, nil
	})
	if err != nil {
		return errorAnswer(err)
	}
	c := last.Load() // at least as new as the safe point
	c.once.Do(func() {
		c.body = c.answer()
		c.columns = nil // only its memory is large
	})
	return jsonBody(c.body, stale)
}

// answer computes the statistics.
func (c *columnsCopy) answer() []byte {
	out := struct {
		Tick    uint64        `json:"tick"`
		Columns []columnStats `json:"columns"`
	}{c.tick, []columnStats{}}
	for i := range c.columns {
		out.Columns = c.columns[i].appendStats(out.Columns, c.live[:])
	}
	for _, p := range c.hashed {
		s := columnStats{Name: p.name, Owner: p.owner, Version: p.version}
		if p.hasHash {
			s.Hash = HashText(p.hash)
		}
		out.Columns = append(out.Columns, s)
	}
	return encode(&out)
}

// appendStats appends the statistics of each component of a column.
func (c *columnCopy) appendStats(dst []columnStats, live [][]uint64) []columnStats {
	rows := live[0]
	if c.owner == "bodies" {
		rows = live[1]
	}
	k, n := c.view.Kind(), c.view.Components()
	hash := HashText(statehash.Bytes(c.mem, k.Size(), k.IsFloat()))
	for i := range n {
		s := columnStats{Name: c.name, Component: i, Owner: c.owner, Kind: k.String(), Version: c.version, Hash: hash}
		m := measure(k, c.mem, n, i, rows)
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
	least, greatest int // indices of numbers; of equal ones that of the lowest row
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
