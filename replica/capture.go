package replica

import (
	"math/bits"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
)

// present is what is kept of the newest capture alone. Slices by slot have room for rows slots.
type present struct {
	rows, stride int // room for slots, a multiple of 64; distance of lanes
	high         int // World.HighWater
	world        stamp
	origin       [3]float64
	ids          []ecs.ID // by slot, 0: free
	newest       ecs.ID   // highest id
	changed      []uint64 // by slot: number of the capture that found another entity there, or none
	jumped       []uint64 // by slot: number of the capture before which something there teleported
	moves        []move   // entities that the newest capture found in other slots, by the slots they had
	lastMove     uint64   // the newest capture with moves
	lastChange   uint64   // highest in changed
	lastJump     uint64   // highest in jumped

	slots    []uint32 // of all entities, ascending
	finite   []uint32 // of those with finite positions; only if views have a radius
	moved    bool     // finite has changed since the index was built
	x, y, z  []float32
	category []uint32
	owned    []uint64 // session<<32 | slot of each entity that has an owner, ascending
	weight   []float32
	global   []uint64
	floats   []float32 // scratch
}

// move is an entity that has got another slot.
type move struct{ from, to uint32 }

// stamp says which entities a World has.
type stamp struct{ version, generation uint64 }

// observe keeps what a later capture could not see any more: which entities have teleported. Call it
// after every tick.
func (s *source) observe() {
	jumped := s.world.Jumped()
	if len(s.teleports) < len(jumped) {
		s.teleports = make([]uint64, len(jumped))
	}
	for i, word := range jumped {
		s.teleports[i] |= word
	}
}

// capture copies the state after tick ticks, which ended at µs after the server began. It returns
// false and copies nothing between begin and end. A tick that does not follow the one before, because
// the Sim was restored, ends the use of all earlier captures.
//
// Values that are not finite become what their codec says. An entity whose position is not finite is
// in no view by distance.
func (s *source) capture(tick, at uint64) bool {
	if !s.mutex.TryLock() {
		return false
	}
	defer s.mutex.Unlock()
	p, w := &s.present, s.world
	before := s.state(s.captures)
	s.captures++
	if s.captures == 1 || tick <= before.tick {
		s.oldest, s.restored = s.captures, s.captures
	}
	p.high = w.HighWater()
	s.grow()
	stamp := stamp{w.Version(), w.Generation()}
	structure := s.captures == 1 || stamp != p.world
	p.world = stamp
	if structure {
		s.captureEntities()
	}
	s.captureJumps()
	if to := s.origin(); to != p.origin {
		s.shift(to)
	}
	now := s.state(s.captures)
	now.tick, now.at, now.origin = tick, at, p.origin
	now.live = sized(now.live, p.rows/64)
	copy(now.live, w.LiveMask()[:(p.high+63)/64])
	clear(now.live[(p.high+63)/64:])
	for i, g := range s.groups {
		s.captureGroup(g)
		now.buffers[i] = g.buffer
	}
	s.captureSpecial(structure)
	return true
}

// state returns what is kept of capture n.
func (s *source) state(n uint64) *state { return &s.states[n%uint64(s.ring)] }

// useful reports whether a message can be a change of capture n. Its age counts in ticks: without clients there are no captures, and
// whether there are others must not show.
func (s *source) useful(n uint64) bool {
	return n != 0 && n >= s.oldest && n < s.captures && s.captures-n < uint64(s.ring) &&
		s.state(s.captures).tick-s.state(n).tick < uint64(s.ring)*s.every
}

// at returns the index in g.arena of the group's lanes in capture n.
func (s *source) at(g int, n uint64) int {
	return s.state(n).buffers[g] * s.groups[g].lanes * s.present.stride
}

// sized returns a slice of n elements, with those of s that fit, which is not nil. It allocates with
// spare room.
func sized[T any](s []T, n int) []T {
	if s != nil && n <= cap(s) {
		return s[:n]
	}
	return append(make([]T, 0, n+n/4), s...)[:n]
}

// grow makes room for p.high slots.
func (s *source) grow() {
	p := &s.present
	if p.high <= p.rows && p.rows > 0 {
		return
	}
	rows := (min(max(p.high+p.high/4, 64), s.world.Cap()) + 63) &^ 63
	stride := rows + 16
	if rows >= 1024 {
		stride = stagger.Stride(4*rows) / 4 // lanes that do not compete for the same sets of the cache
	}
	for _, g := range s.groups {
		arena := make([]int32, s.ring*g.lanes*stride)
		for lane := range s.ring * g.lanes {
			if p.stride > 0 {
				copy(arena[lane*stride:], g.arena[lane*p.stride:][:p.rows])
			}
		}
		g.arena = arena
	}
	p.rows, p.stride = rows, stride
	p.ids, p.changed, p.jumped = longer(p.ids, rows), longer(p.changed, rows), longer(p.jumped, rows)
	p.category = longer(p.category, rows)
	for _, column := range [...]*[]float32{&p.x, &p.y, &p.z, &p.weight} {
		*column = longer(*column, rows)
	}
	p.global = longer(p.global, rows/64)
	for i := range s.states {
		s.states[i].live = longer(s.states[i].live, rows/64)
	}
}

// longer returns a slice of n elements that begins with s.
func longer[T any](s []T, n int) []T { return append(make([]T, 0, n), s...)[:n] }

// captureEntities compares the ids of all slots with the capture before. If an entity has moved to another slot
// (see ecs.World.Reorder), it ends the use of all earlier captures: their changes are known by slot alone, so a difference
// to one of them would report the entity as dead.
func (s *source) captureEntities() {
	p := &s.present
	p.newest, p.moves = 0, p.moves[:0]
	for slot := range p.ids {
		id, _ := s.world.ID(uint32(slot))
		if slot >= p.high {
			id = 0
		}
		if was := p.ids[slot]; id != was {
			if to, alive := s.world.Slot(was); alive {
				s.oldest, p.lastMove = s.captures, s.captures
				p.moves = append(p.moves, move{uint32(slot), to})
			}
			p.ids[slot], p.changed[slot], p.lastChange = id, s.captures, s.captures
		}
		p.newest = max(p.newest, id)
	}
	p.slots = s.world.LiveSlots(sized(p.slots, s.world.Len()))
}

func (s *source) captureJumps() {
	for i, word := range s.teleports {
		for ; word != 0; word &= word - 1 {
			if slot := i<<6 | bits.TrailingZeros64(word); slot < s.present.rows {
				s.present.jumped[slot], s.present.lastJump = s.captures, s.captures
			}
		}
	}
	clear(s.teleports)
}

// captureGroup fills the next buffer of a group, and uses it if a value has changed. It does not rely on
// versions: a program that writes a column without Touch would see its world stand still.
func (s *source) captureGroup(g *group) {
	before := g.buffer
	g.buffer = (g.buffer + 1) % s.ring
	if g.tags {
		s.fillTags(s.lane(g, g.buffer, 0))
	}
	for _, f := range g.fields {
		s.quantise(g, f)
	}
	for lane := range g.lanes {
		if !slices.Equal(s.lane(g, before, lane), s.lane(g, g.buffer, lane)) {
			return
		}
	}
	g.buffer = before
}

// lane returns a lane of a buffer.
func (s *source) lane(g *group, buffer, lane int) []int32 {
	return g.arena[(buffer*g.lanes+lane)*s.present.stride:][:s.present.high]
}

// fillTags fills the lane of tags.
func (s *source) fillTags(lane []int32) {
	clear(lane)
	for i, t := range s.tags {
		for w, word := range t.Mask()[:(len(lane)+63)/64] {
			for ; word != 0; word &= word - 1 {
				lane[w<<6|bits.TrailingZeros64(word)] |= 1 << i
			}
		}
	}
}

// quantise fills the lanes of a field in the newest buffer of its group.
func (s *source) quantise(g *group, f *field) {
	lane := func(i int) []int32 { return s.lane(g, g.buffer, f.lane+i) }
	switch f.Codec {
	case KindExact:
		s.quantiseExact(f, lane)
	case KindQuantised:
		for i := range int(f.Components) {
			netcode.Quantise(s.level, lane(i), s.component(&f.columns[0], i), 1/f.Step, int(f.Bits))
		}
	case KindAngle:
		for i := range int(f.Components) {
			netcode.QuantiseAngle(s.level, lane(i), s.component(&f.columns[0], i), int(f.Bits))
		}
	case KindPlanar:
		s.quantisePlanar(f, lane(0))
	case KindQuat:
		n := s.present.high
		netcode.QuantiseQuat(s.level, netcode.QuatLanes{Index: lane(0), A: lane(1), B: lane(2), C: lane(3)},
			native.Quat{X: s.floats(f, 0)[:n], Y: s.floats(f, 1)[:n], Z: s.floats(f, 2)[:n], W: s.floats(f, 3)[:n]}, int(f.Bits))
	}
}

// quantisePlanar computes the angle about the normal of the plane of the bodies: in XZ a rotation
// about -y.
func (s *source) quantisePlanar(f *field, dst []int32) {
	if !s.negate {
		netcode.QuantisePlanar(s.level, dst, s.floats(f, 2), s.floats(f, 3), int(f.Bits))
		return
	}
	netcode.QuantisePlanar(s.level, dst, s.floats(f, 1), s.floats(f, 3), int(f.Bits))
	for i := range dst {
		dst[i] = sx(f.Bits, -dst[i])
	}
}

// floats returns the memory of a column of one float32 a row.
func (s *source) floats(f *field, column int) []float32 {
	return stagger.View[float32](columns.Memory(&f.columns[column]))[:s.present.high]
}

// component returns one of the numbers in each row of a column of float32: its memory, or a copy if
// there are several.
func (s *source) component(c *ecs.ColumnView, i int) []float32 {
	all := stagger.View[float32](columns.Memory(c))
	p, n := &s.present, c.Components()
	p.floats = sized(p.floats, p.high)
	switch {
	case len(all) < n*p.high: // a Restore has dropped the column
		clear(p.floats)
		return p.floats
	case n == 1:
		return all[:p.high]
	}
	for row := range p.floats {
		p.floats[row] = all[row*n+i]
	}
	return p.floats
}

// quantiseExact copies the bits of a column, sign-extended.
func (s *source) quantiseExact(f *field, lane func(int) []int32) {
	c := &f.columns[0]
	mem := columns.Memory(c)
	n := int(f.Components)
	if len(mem) < s.present.high*c.RowBytes() { // a Restore has dropped the column
		for i := range f.laneCount() {
			clear(lane(i))
		}
		return
	}
	for i := range n {
		switch f.Kind.Size() {
		case 1:
			copyBits(lane(i), stagger.View[int8](mem), i, n)
		case 2:
			copyBits(lane(i), stagger.View[int16](mem), i, n)
		case 4:
			copyBits(lane(i), stagger.View[int32](mem), i, n)
		case 8:
			low, high := lane(2*i), lane(2*i+1)
			all := stagger.View[uint64](mem)
			for row := range low {
				v := all[row*n+i]
				low[row], high[row] = int32(v), int32(v>>32)
			}
		}
	}
}

func copyBits[T int8 | int16 | int32](dst []int32, src []T, i, n int) {
	for row := range dst {
		dst[row] = int32(src[row*n+i])
	}
}

// captureSpecial copies the columns that decide about views.
func (s *source) captureSpecial(structure bool) {
	p, c := &s.present, &s.columns
	if c.owner != nil {
		s.captureOwners()
	}
	if c.category != nil {
		copy(p.category[:p.high], stagger.View[uint32](columns.Memory(c.category)))
	}
	if c.weight != nil {
		copy(p.weight[:p.high], stagger.View[float32](columns.Memory(c.weight)))
	}
	if s.global != nil {
		copy(p.global, s.global.Mask()[:(p.high+63)/64])
		clear(p.global[(p.high+63)/64:])
	}
	if from := &s.world.Position; s.viewConfig.Enter > 0 && (structure || !slices.Equal(p.x[:p.high], from.X[:p.high]) ||
		!slices.Equal(p.y[:p.high], from.Y[:p.high]) || !slices.Equal(p.z[:p.high], from.Z[:p.high])) {
		s.capturePositions()
	}
}

func (s *source) captureOwners() {
	p, c := &s.present, s.columns.owner
	mem, size := columns.Memory(c), c.RowBytes()
	p.owned = p.owned[:0]
	if len(mem) < p.high*size {
		return
	}
	for _, slot := range p.slots {
		var v uint32
		switch size {
		case 1:
			v = uint32(mem[slot])
		case 2:
			v = uint32(stagger.View[uint16](mem)[slot])
		case 4:
			v = stagger.View[uint32](mem)[slot]
		}
		if v != 0 {
			p.owned = append(p.owned, uint64(v)<<32|uint64(slot))
		}
	}
	slices.Sort(p.owned)
}

func (s *source) capturePositions() {
	p, from := &s.present, &s.world.Position
	copy(p.x[:p.high], from.X)
	copy(p.y[:p.high], from.Y)
	copy(p.z[:p.high], from.Z)
	p.finite = sized(p.finite, len(p.slots))[:0]
	for _, slot := range p.slots {
		if fault.Finite(p.x[slot]) && fault.Finite(p.y[slot]) && fault.Finite(p.z[slot]) {
			p.finite = append(p.finite, slot)
		}
	}
	p.moved = true
}
