package replica

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/wire"
)

// strict is a client that was written from docs/replica-wire.md for these tests: plain, and as strict
// as the page allows. Faults panic.
type strict struct {
	schema Schema
	states []strictState // the last ones, newest last
	keep   int
	checks int
	last   frameFacts
}

type strictState struct {
	tick, at uint64
	origin   [3]int64
	list     []strictEntity
	own      []uint32
}

type strictEntity struct {
	slot   uint32
	id     ecs.ID
	lanes  []int32 // of all groups
	v      []int32 // what the last message added to them; nil: the entity entered with it
	jumped bool
}

// frameFacts are what a test may want to know of a message.
type frameFacts struct {
	kind                      byte
	flags                     byte
	age                       uint64
	leaves, dead              int
	entered, included, jumped []uint32
	applied                   [2]uint64
	modes                     []byte
}

func (c *strict) state() *strictState { return &c.states[len(c.states)-1] }

type strictBits struct {
	data []byte
	at   int
}

func (b *strictBits) get(width int) (v uint32) {
	for i := range width {
		v |= uint32(b.data[b.at>>3]>>(b.at&7)&1) << i
		b.at++
	}
	return v
}

func readBits(r *wire.Reader, bits int) *strictBits {
	b := &strictBits{data: r.Bytes((bits + 7) / 8)}
	if bits%8 != 0 && r.Err() == nil && b.data[bits/8]>>(bits%8) != 0 {
		panic("bits after the end are not 0")
	}
	return b
}

func strictPlaces(r *wire.Reader, below int) (list []uint32) {
	next := uint64(0)
	for range r.Count(readUint(r), below, 1) {
		next += r.Canonical(0, 1<<32)
		if next >= uint64(below) {
			panic("place out of range")
		}
		list = append(list, uint32(next))
		next++
	}
	return list
}

// total returns the lanes of all groups and the bits of an owner's or public full record.
func (c *strict) total(owner bool) (first, lanes, bits int) {
	first = -1
	n := 0
	for _, g := range c.schema.Groups {
		if g.Owner == owner {
			if first < 0 {
				first = n
			}
			lanes += g.laneCount()
			for _, b := range g.laneBits() {
				bits += int(b)
			}
		}
		n += g.laneCount()
	}
	return max(first, 0), lanes, bits
}

func (c *strict) readRecord(b *strictBits, owner bool, e *strictEntity) {
	first, _, _ := c.total(owner)
	for _, g := range c.schema.Groups {
		if g.Owner != owner {
			continue
		}
		all := g.laneBits()
		for lane := range g.laneCount() {
			e.lanes[first] = sx(all[lane], int32(b.get(int(all[lane]))))
			first++
		}
	}
}

func (c *strict) receive(message []byte) {
	r := wire.NewReader(message)
	f := frameFacts{kind: r.U8()}
	tick := readUint(&r)
	var base strictState
	if f.kind == kindUpdate {
		f.age = r.Canonical(1, tick)
		i := slices.IndexFunc(c.states, func(s strictState) bool { return s.tick == tick-f.age })
		if i < 0 {
			panic(fmt.Sprintf("tick %d: no state of age %d", tick, f.age))
		}
		base = c.states[i]
	} else if f.kind != kindKeyframe {
		panic("kind")
	}
	f.flags = r.U8()
	at := readUint(&r)
	if f.flags&flagApplied != 0 {
		f.applied = [2]uint64{readUint(&r), readUint(&r)}
	}
	origin := base.origin
	if f.flags&flagOrigin != 0 {
		for k := range origin {
			origin[k] = r.Varint()
		}
		if origin == base.origin {
			panic("the same origin again")
		}
	}
	base.list = c.shifted(base.list, base.origin, origin)
	list := c.readList(&r, &f, base.list)
	var stays []*strictEntity
	for i := range list {
		if !slices.Contains(f.entered, list[i].slot) {
			stays = append(stays, &list[i])
		}
	}
	included := stays
	if f.flags&flagPartial != 0 {
		b := readBits(&r, len(stays))
		included = nil
		for _, e := range stays {
			if b.get(1) != 0 {
				included = append(included, e)
			}
		}
	}
	for _, e := range included {
		f.included = append(f.included, e.slot)
	}
	lane := 0
	for _, g := range c.schema.Groups {
		if !g.Owner {
			c.readGroup(&r, &f, g, lane, included, f.flags&flagPredicted != 0 && g.Predicted)
		}
		lane += g.laneCount()
	}
	for i := range list {
		list[i].jumped = false
	}
	if f.flags&flagJumped != 0 {
		for _, place := range strictPlaces(&r, len(list)) {
			list[place].jumped = true
			f.jumped = append(f.jumped, list[place].slot)
		}
		if len(f.jumped) == 0 {
			panic("Jumped of none")
		}
	}
	own := c.readOwn(&r, &f, list, base.own)
	if f.flags&flagCheck != 0 {
		c.checks++
		if want, got := c.checksum(list), r.U32(); want != got {
			panic(fmt.Sprintf("tick %d: checksum %#x, want %#x", tick, got, want))
		}
	}
	if err := r.Done(); err != nil {
		panic(err)
	}
	velocities(base.list, list, f.entered)
	c.last = f
	c.states = append(c.states, strictState{tick, at, origin, list, own})
	c.states = c.states[max(0, len(c.states)-c.keep):]
}

// shifted returns a list in the coordinates of another origin.
func (c *strict) shifted(list []strictEntity, from, to [3]int64) []strictEntity {
	if from == to {
		return list
	}
	list = slices.Clone(list)
	by := append(naiveBy(&c.schema, false, from, to), naiveBy(&c.schema, true, from, to)...)
	var bits []uint8
	for _, g := range c.schema.Groups {
		b := g.laneBits()
		bits = append(bits, b[:g.laneCount()]...)
	}
	for i := range list {
		list[i].lanes = slices.Clone(list[i].lanes)
		for l := range list[i].lanes {
			list[i].lanes[l] = naiveSx(bits[l], int64(list[i].lanes[l])-by[l])
		}
	}
	return list
}

func (c *strict) readList(r *wire.Reader, f *frameFacts, from []strictEntity) (list []strictEntity) {
	left := make(map[int]bool)
	if f.kind == kindUpdate {
		next := 0
		for range r.Count(readUint(r), len(from), 1) {
			v := readUint(r)
			next += int(v >> 1)
			if next >= len(from) {
				panic("leave out of range")
			}
			left[next] = true
			f.leaves++
			f.dead += int(v & 1)
			next++
		}
	}
	_, lanes, _ := c.total(false)
	_, more, _ := c.total(true)
	for i, e := range from {
		if !left[i] {
			e.lanes = slices.Clone(e.lanes)
			list = append(list, e)
		}
	}
	next, id := uint32(0), uint64(0)
	var entered []strictEntity
	for range r.Count(readUint(r), 1<<24, 2) {
		slot := next + uint32(r.Canonical(0, 1<<24))
		next = slot + 1
		id += uint64(r.Varint())
		entered = append(entered, strictEntity{slot: slot, id: ecs.ID(id), lanes: make([]int32, lanes+more)})
		f.entered = append(f.entered, slot)
	}
	_, _, bits := c.total(false)
	b := readBits(r, bits*len(entered))
	for i := range entered {
		e := &entered[i]
		c.readRecord(b, false, e)
		at, found := slices.BinarySearchFunc(list, e.slot, func(a strictEntity, slot uint32) int { return int(a.slot) - int(slot) })
		if !found {
			list = slices.Insert(list, at, *e)
			continue
		}
		if list[at].id != e.id {
			panic("refresh of another entity")
		}
		copy(e.lanes[lanes:], list[at].lanes[lanes:])
		list[at] = *e
	}
	return list
}

func (c *strict) readGroup(r *wire.Reader, f *frameFacts, g Group, lane int, of []*strictEntity, predicted bool) {
	n := len(of)
	if n == 0 {
		return
	}
	mode := r.U8()
	f.modes = append(f.modes, mode)
	if mode&3 == 3 || mode > 6 {
		panic("mode")
	}
	lanes, all := g.laneCount(), g.laneBits()
	var widths []byte
	sum, records := 0, n
	if mode&3 != 0 {
		widths = r.Bytes(lanes)
		for l, w := range widths {
			if w > all[l] {
				panic("width")
			}
			sum += int(w)
		}
	}
	if sum > 32 {
		panic("sum of widths")
	}
	has := make([]bool, n)
	if mode&3 == modeBitmap {
		b := readBits(r, n)
		records = 0
		for i := range has {
			if has[i] = b.get(1) != 0; has[i] {
				records++
			}
		}
	}
	diffs := make([][mostLanes]int32, n)
	if mode&3 != 0 {
		b := readBits(r, sum*records)
		for i := range diffs {
			if mode&3 == modeEach || has[i] {
				has[i] = true
				for l, w := range widths {
					if w > 0 {
						diffs[i][l] = sx(w, int32(b.get(int(w))))
					}
				}
			}
		}
	}
	if mode&modeWide != 0 {
		next := uint64(0)
		for range r.Count(r.Canonical(1, uint64(n)), n, 3) {
			next += readUint(r)
			mask := r.U8()
			if has[next] || mask == 0 || int(mask)>>lanes != 0 {
				panic("wide part")
			}
			for l := range lanes {
				if mask>>l&1 != 0 {
					v := r.Varint()
					if int64(sx(all[l], int32(v))) != v {
						panic("wide difference")
					}
					diffs[next][l] = int32(v)
				}
			}
			next++
		}
	}
	for i, e := range of {
		q := e.lanes[lane:][:lanes]
		guesses := make([]int64, lanes)
		for l := range guesses {
			guesses[l] = int64(q[l])
		}
		if predicted {
			v := make([]int32, lanes)
			for l := range v {
				v[l] = velocity(e, lane+l, all[l])
			}
			guesses = naiveGuesses(&g, q, v, func(l int, guess int32) int32 { return guess + diffs[i][l] })
		}
		for l := range q {
			q[l] = naiveSx(all[l], guesses[l]+int64(diffs[i][l]))
		}
	}
}

// velocity returns what the last message added to a lane.
func velocity(e *strictEntity, lane int, bits uint8) int32 {
	if e.v == nil {
		return 0
	}
	return sx(bits, e.v[lane])
}

// velocities notes what the message has added to the lanes of the entities that stayed.
func velocities(from, list []strictEntity, entered []uint32) {
	for i := range list {
		e := &list[i]
		at, _ := slices.BinarySearchFunc(from, e.slot, func(a strictEntity, slot uint32) int { return int(a.slot) - int(slot) })
		if e.v = nil; !slices.Contains(entered, e.slot) {
			for lane, v := range e.lanes {
				e.v = append(e.v, v-from[at].lanes[lane])
			}
		}
	}
}

func (c *strict) readOwn(r *wire.Reader, f *frameFacts, list []strictEntity, own []uint32) []uint32 {
	find := func(slot uint32) *strictEntity {
		i, found := slices.BinarySearchFunc(list, slot, func(a strictEntity, slot uint32) int { return int(a.slot) - int(slot) })
		if !found {
			panic("an owned entity is not in the list")
		}
		return &list[i]
	}
	_, _, bits := c.total(true)
	if f.flags&flagOwn != 0 {
		own = nil
		places := strictPlaces(r, len(list))
		b := readBits(r, bits*len(places))
		for _, place := range places {
			own = append(own, list[place].slot)
			c.readRecord(b, true, &list[place])
		}
		return own
	}
	var of []*strictEntity
	for _, slot := range own {
		of = append(of, find(slot))
	}
	lane := 0
	for _, g := range c.schema.Groups {
		if g.Owner {
			c.readGroup(r, f, g, lane, of, false)
		}
		lane += g.laneCount()
	}
	return own
}

func (c *strict) checksum(list []strictEntity) uint32 {
	_, lanes, _ := c.total(false)
	var b []byte
	for _, e := range list {
		b = binary.LittleEndian.AppendUint32(b, e.slot)
		b = binary.LittleEndian.AppendUint64(b, uint64(e.id))
		for _, v := range e.lanes[:lanes] {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	return wire.CRC(0, b)
}
