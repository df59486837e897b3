package replica

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/wire"
)

// The flags of a Keyframe or Update.
const (
	flagPredicted = 1 << iota
	flagPartial
	flagApplied
	flagJumped
	flagOwn
	flagCheck
	flagOrigin
	allFlags = 1<<iota - 1
)

// The mode of a group.
const (
	modeNone = iota
	modeEach
	modeBitmap
	modeWide = 4 // a bit
)

const (
	mostSlots  = 1 << 24
	mostMicros = 1<<53 - 1 // exact in a float64, and an int64 in ns
)

// header is the beginning of a Keyframe or Update.
type header struct {
	keyframe  bool
	tick, age uint64 // age 0: a Keyframe
	flags     uint8
	at        uint64
	applied   uint64
	residence uint64 // µs
	origin    [3]float64
}

// readHeader reads the fields up to the leaves.
func readHeader(r *wire.Reader) (h header) {
	kind := r.U8()
	h.keyframe = kind == kindKeyframe
	if r.Err() == nil && !h.keyframe && kind != kindUpdate {
		r.Fail("kind of frame", kind)
	}
	h.tick = r.Canonical(1, 1<<63-1)
	forbidden := uint8(math.MaxUint8 &^ allFlags)
	if h.keyframe {
		forbidden |= flagPredicted | flagPartial
	} else if h.age = r.Canonical(1, math.MaxUint64); h.age >= h.tick {
		r.Fail("age", h.age)
	}
	if h.flags = r.U8(); h.flags&forbidden != 0 {
		r.Fail("flags", h.flags)
	}
	h.at = r.Canonical(0, mostMicros)
	if h.flags&flagApplied != 0 {
		h.applied, h.residence = readUint(r), readUint(r)
	}
	if h.flags&flagOrigin != 0 {
		h.origin = readOrigin(r)
	}
	return h
}

// decoder applies Keyframes and Updates. The zero value is ready; its memory is used again.
type decoder struct {
	lay    *layout
	base   *State
	dst    *State
	leaves []uint32 // places of the base, ascending
	enters []enter  // ascending
	from   []int32  // for each place of dst: that in the base, or -1
	stays  []uint32 // places of dst
	some   []uint32 // those of them which are included
	turns  []turn   // predicted rotations of a group, quat after quat
	ends   []int    // of each quat in turns
	check  []byte
	sum    bool // the Check was right, or there was none
}

type enter struct {
	slot  uint32
	id    ecs.ID
	place uint32 // in dst
}

// decode reads what follows the header, and makes dst the state that the message leads to from base. After
// a fault dst holds anything. base and dst have the layout of the schema, and are not the same. A message
// whose Check differs from the checksum of dst is no fault: then d.sum is false.
func (d *decoder) decode(r *wire.Reader, h *header, base, dst *State) error {
	d.lay, d.base, d.dst, d.sum = base.layout, base, dst, true
	dst.tick, dst.at, dst.origin = h.tick, h.at, base.origin
	if h.flags&flagOrigin != 0 {
		dst.origin = h.origin
	}
	d.leaves, dst.left = d.leaves[:0], dst.left[:0]
	if !h.keyframe {
		d.readLeaves(r)
	}
	d.readEnters(r)
	if r.Err() == nil {
		d.merge(r)
	}
	if r.Err() == nil {
		d.readLanes(r, h)
	}
	dst.jumped = dst.jumped[:0]
	if h.flags&flagJumped != 0 {
		dst.jumped = readPlaces(r, dst.jumped, len(dst.slots), 0)
	}
	if r.Err() == nil {
		d.readOwn(r, h.flags&flagOwn != 0)
	}
	if h.flags&flagCheck != 0 {
		if sum := r.U32(); r.Err() == nil {
			d.sum = sum == d.crc()
		}
	}
	return r.Done()
}

// readPlaces reads a count and as many places below n, each of which is followed by at least more bytes
// in the message, and appends them to dst.
func readPlaces(r *wire.Reader, dst []uint32, n, more int) []uint32 {
	next := uint64(0)
	for range r.Count(readUint(r), n, 1+more) {
		dst = append(dst, uint32(readGap(r, &next, n)))
	}
	return dst
}

// readGap reads the next of ascending places below n. next is the least that it may be.
func readGap(r *wire.Reader, next *uint64, n int) uint64 {
	if *next >= uint64(n) {
		r.Fail("place", *next)
		return 0
	}
	place := *next + r.Canonical(0, uint64(n)-1-*next)
	*next = place + 1
	return place
}

func (d *decoder) readLeaves(r *wire.Reader) {
	n, next := uint64(len(d.base.slots)), uint64(0)
	for range r.Count(readUint(r), int(n), 1) {
		if next >= n {
			r.Fail("place", next)
			return
		}
		v := r.Canonical(0, 2*(n-next)-1)
		place := next + v/2
		next = place + 1
		d.leaves = append(d.leaves, uint32(place))
		d.dst.left = append(d.dst.left, Left{ID: d.base.ids[place], Slot: d.base.slots[place], Dead: v&1 != 0})
	}
}

func (d *decoder) readEnters(r *wire.Reader) {
	d.enters = d.enters[:0]
	next, id := uint64(0), uint64(0)
	for range r.Count(readUint(r), mostSlots, 2) {
		slot := readGap(r, &next, mostSlots)
		id += uint64(readSigned(r, math.MaxUint64))
		d.enters = append(d.enters, enter{slot: uint32(slot), id: ecs.ID(id)})
	}
}

// readSigned reads an sv whose uv is at most most.
func readSigned(r *wire.Reader, most uint64) int64 {
	u := r.Canonical(0, most)
	return int64(u>>1) ^ -int64(u&1)
}

// merge makes the list of dst: the list of the base, less the leaves, and the enters. It reads the lanes of
// the enters, and copies the lanes of the stays.
func (d *decoder) merge(r *wire.Reader) {
	base, dst := d.base, d.dst
	records := newBits(r, len(d.enters), d.lay.bits)
	if r.Err() != nil {
		return
	}
	most := len(base.slots) - len(d.leaves) + len(d.enters)
	dst.resize(most)
	d.from, d.stays, dst.entered = sized(d.from, most), d.stays[:0], dst.entered[:0]
	n, entered, left := 0, 0, 0
	for place := 0; place < len(base.slots) || entered < len(d.enters); n++ {
		switch {
		case left < len(d.leaves) && place == int(d.leaves[left]):
			left++
			place++
			n--
		case entered == len(d.enters) || place < len(base.slots) && base.slots[place] < d.enters[entered].slot:
			dst.slots[n], dst.ids[n], d.from[n] = base.slots[place], base.ids[place], int32(place)
			d.stays = append(d.stays, uint32(n))
			place++
		default:
			e := &d.enters[entered]
			e.place = uint32(n)
			dst.slots[n], dst.ids[n], d.from[n] = e.slot, e.id, -1
			if place < len(base.slots) && base.slots[place] == e.slot {
				if base.ids[place] != e.id {
					r.Fail("id of a refresh", e.id)
					return
				}
				d.from[n] = int32(place)
				dst.refreshed[n>>6] |= 1 << (n & 63)
				place++
			} else {
				dst.entered = append(dst.entered, uint32(n))
			}
			entered++
		}
	}
	dst.truncate(n)
	d.from = d.from[:n]
	d.copyStays()
	for i := range d.enters {
		readRecord(&records, d.lay.public, dst.lanes, int(d.enters[i].place))
	}
	records.end(r)
}

// truncate leaves the first n entities.
func (s *State) truncate(n int) {
	s.slots, s.ids = s.slots[:n], s.ids[:n]
	for i := range s.lanes {
		s.lanes[i] = s.lanes[i][:n]
		if s.added[i] != nil {
			s.added[i] = s.added[i][:n]
		}
	}
	s.refreshed = s.refreshed[:(n+63)/64]
}

func (d *decoder) copyStays() {
	for l, to := range d.dst.lanes {
		from := d.base.lanes[l]
		for _, i := range d.stays {
			to[i] = from[d.from[i]]
		}
	}
	if d.dst.origin == d.base.origin {
		return
	}
	for i := range d.lay.shifted {
		l := &d.lay.shifted[i]
		lane, by := d.dst.lanes[l.lane], l.by(&d.base.origin, &d.dst.origin)
		for _, k := range d.stays {
			lane[k] = sx(l.bits, lane[k]-by)
		}
	}
}

// readRecord reads all lanes of one entity, in full.
func readRecord(b *bitReader, groups []span, lanes [][]int32, place int) {
	for g := range groups {
		sp := &groups[g]
		for i := range sp.count {
			lanes[sp.first+i][place] = b.signed(sp.bits[i])
		}
	}
}

// readLanes changes the lanes of the included stays.
func (d *decoder) readLanes(r *wire.Reader, h *header) {
	included := d.stays
	if h.flags&flagPartial != 0 {
		set := readBitmap(r, len(d.stays))
		if r.Err() != nil {
			return
		}
		d.some = d.some[:0]
		for i, place := range d.stays {
			if set[i>>3]>>(i&7)&1 != 0 {
				d.some = append(d.some, place)
			}
		}
		included = d.some
	}
	for g := range d.lay.public {
		sp := &d.lay.public[g]
		guess := h.flags&flagPredicted != 0 && sp.predicted
		if guess {
			d.predict(sp, included)
		}
		if len(included) > 0 {
			readGroup(r, sp, d.dst.lanes[sp.first:], included)
		}
		if guess {
			d.finishTurns(sp)
		}
		if sp.predicted {
			d.keepAdded(sp)
		}
	}
}

// predict adds to each lane of a group what the message before has added, and lets rotations turn.
func (d *decoder) predict(sp *span, included []uint32) {
	d.predictTurns(sp, included)
	for l := sp.first; l < sp.first+sp.count; l++ {
		if sp.turns(l - sp.first) {
			continue
		}
		to, added, b := d.dst.lanes[l], d.base.added[l], sp.bits[l-sp.first]
		for _, i := range included {
			to[i] = sx(b, to[i]+added[d.from[i]])
		}
	}
}

// keepAdded notes what the message has added to each lane of a group.
func (d *decoder) keepAdded(sp *span) {
	for l := sp.first; l < sp.first+sp.count; l++ {
		to, now, was, b := d.dst.added[l], d.dst.lanes[l], d.base.lanes[l], sp.bits[l-sp.first]
		clear(to)
		for _, i := range d.stays {
			to[i] = sx(b, now[i]-was[d.from[i]])
		}
	}
	if d.dst.origin == d.base.origin {
		return
	}
	for i := range d.lay.shifted {
		l := &d.lay.shifted[i]
		if l.lane < sp.first || l.lane >= sp.first+sp.count {
			continue
		}
		added, by := d.dst.added[l.lane], l.by(&d.base.origin, &d.dst.origin)
		for _, k := range d.stays {
			added[k] = sx(l.bits, added[k]+by)
		}
	}
}

// readGroup reads a group, and adds the differences to the lanes at the places, of which there is at
// least one. In the modulus of a lane the order of additions does not matter.
func readGroup(r *wire.Reader, sp *span, lanes [][]int32, places []uint32) {
	mode := r.U8()
	if mode > modeBitmap|modeWide || mode&3 == 3 {
		r.Fail("mode of a group", mode)
	}
	if r.Err() != nil {
		return
	}
	var set []byte // of the entities with a record; nil: none, or all
	if mode&3 != modeNone {
		var widths [mostLanes]uint8
		total := 0
		for i := range sp.count {
			if widths[i] = r.U8(); widths[i] > sp.bits[i] {
				r.Fail("width", widths[i])
			}
			total += int(widths[i])
		}
		if total > 32 {
			r.Fail("sum of widths", total)
		}
		n := len(places)
		if mode&3 == modeBitmap {
			set = readBitmap(r, n)
			n = count(set)
		}
		records := newBits(r, n, total)
		if r.Err() != nil {
			return
		}
		for k, i := range places {
			if set == nil || set[k>>3]>>(k&7)&1 != 0 {
				records.add(sp, &widths, lanes, i)
			}
		}
		records.end(r)
	}
	if mode&modeWide != 0 {
		readWide(r, sp, lanes, places, set, mode&3 == modeEach)
	}
}

// add reads a record, and adds its differences to the lanes of place i.
func (b *bitReader) add(sp *span, widths *[mostLanes]uint8, lanes [][]int32, i uint32) {
	for l := range sp.count {
		if w := widths[l]; w > 0 {
			lane := lanes[l]
			lane[i] = sx(sp.bits[l], lane[i]+b.signed(w))
		}
	}
}

// readWide reads the wide part of a group. set has the entities with a record, or all have one.
func readWide(r *wire.Reader, sp *span, lanes [][]int32, places []uint32, set []byte, all bool) {
	next := uint64(0)
	for range r.Count(readUint(r), len(places), 2) {
		k := readGap(r, &next, len(places))
		mask := r.U8()
		if mask>>sp.count != 0 {
			r.Fail("lanes of a wide part", mask)
		}
		if all || set != nil && set[k>>3]>>(k&7)&1 != 0 {
			r.Fail("place of a wide part", k)
		}
		if r.Err() != nil {
			return
		}
		for l := range sp.count {
			if mask>>l&1 != 0 {
				lane := lanes[l]
				lane[places[k]] = sx(sp.bits[l], lane[places[k]]+int32(readSigned(r, math.MaxUint32)))
			}
		}
	}
}

// readOwn reads the entities that the session owns, or keeps the base's that have not left, and
// changes their lanes.
func (d *decoder) readOwn(r *wire.Reader, all bool) {
	dst := d.dst
	if all {
		dst.own = readPlaces(r, dst.own[:0], len(dst.slots), 0)
		records := newBits(r, len(dst.own), d.lay.ownedBits)
		if r.Err() != nil {
			return
		}
		dst.resizeOwn(len(dst.own))
		for k := range dst.own {
			readRecord(&records, d.lay.owner, dst.owned, k)
		}
		records.end(r)
		return
	}
	d.keepOwn()
	d.stays = d.stays[:0]
	for k := range dst.own {
		d.stays = append(d.stays, uint32(k))
	}
	for g := range d.lay.owner {
		if sp := &d.lay.owner[g]; len(dst.own) > 0 && r.Err() == nil {
			readGroup(r, sp, dst.owned[sp.first:], d.stays)
		}
	}
}

// keepOwn copies the owned entities of the base that are still in the list.
func (d *decoder) keepOwn() {
	base, dst := d.base, d.dst
	dst.resizeOwn(len(base.own))
	n, place := 0, 0
	for k, was := range base.own {
		for place < len(d.from) && d.from[place] < int32(was) {
			place++
		}
		if place == len(d.from) || d.from[place] != int32(was) {
			continue
		}
		dst.own[n] = uint32(place)
		for l := range dst.owned {
			dst.owned[l][n] = base.owned[l][k]
		}
		n++
	}
	dst.resizeOwn(n)
	for i := range d.lay.ownedShifted {
		l := &d.lay.ownedShifted[i]
		lane, by := dst.owned[l.lane], l.by(&base.origin, &dst.origin)
		for k := range lane {
			lane[k] = sx(l.bits, lane[k]-by)
		}
	}
}

// crc returns the checksum of dst.
func (d *decoder) crc() uint32 {
	d.check = d.check[:0]
	for i, slot := range d.dst.slots {
		d.check = binary.LittleEndian.AppendUint32(d.check, slot)
		d.check = binary.LittleEndian.AppendUint64(d.check, uint64(d.dst.ids[i]))
		for _, lane := range d.dst.lanes {
			d.check = binary.LittleEndian.AppendUint32(d.check, uint32(lane[i]))
		}
	}
	return wire.CRC(0, d.check)
}

// readBitmap reads a bitmap of n bits. It is part of the message.
func readBitmap(r *wire.Reader, n int) []byte {
	set := r.Bytes((n + 7) / 8)
	if len(set) > 0 && n&7 != 0 && set[len(set)-1]>>(n&7) != 0 {
		r.Fail("unused bits of a bitmap", set[len(set)-1])
	}
	return set
}

// count returns the number of bits that are set in a bitmap.
func count(set []byte) (n int) {
	for _, b := range set {
		n += bits.OnesCount8(b)
	}
	return n
}

// bitReader reads a bit stream.
type bitReader struct {
	data []byte
	word uint64 // the next bits, of which have are valid
	have uint8
}

// newBits takes the bit stream of n records of so many bits.
func newBits(r *wire.Reader, n, size int) bitReader {
	total := uint64(n) * uint64(size)
	return bitReader{data: r.Bytes(r.Count((total+7)/8, math.MaxInt, 1))}
}

// signed reads a number of 1 to 32 bits in two's complement. There are so many bits left.
func (b *bitReader) signed(width uint8) int32 {
	for b.have < width {
		if len(b.data) >= 4 {
			b.word |= uint64(binary.LittleEndian.Uint32(b.data)) << b.have
			b.data = b.data[4:]
			b.have += 32
			continue
		}
		b.word |= uint64(b.data[0]) << b.have
		b.data = b.data[1:]
		b.have += 8
	}
	v := int32(uint32(b.word))
	b.word >>= width
	b.have -= width
	return sx(width, v)
}

// end refuses a stream whose last byte is not filled with zeros.
func (b *bitReader) end(r *wire.Reader) {
	if b.word != 0 {
		r.Fail("unused bits of a bit stream", b.word)
	}
}

// messageFault names the message in an error.
func messageFault(h *header, err error) error {
	name := "Update"
	if h.keyframe {
		name = "Keyframe"
	}
	return fmt.Errorf("replica: %s of tick %d: %w", name, h.tick, err)
}
