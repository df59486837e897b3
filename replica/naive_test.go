package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/evertick/evertick/ecs"
)

// The naive encoder is written from docs/replica-wire.md alone, as plainly as possible. It draws every
// choice that the page leaves to a server, so that a decoder meets each legal form.

// naiveEntity is an entity of a naiveState.
type naiveEntity struct {
	slot   uint32
	id     uint64
	lanes  []int32 // of the public groups
	added  []int32 // what the last message added to them
	own    bool
	owned  []int32 // lanes of the owner groups, if own
	jumped bool
}

// naiveState is a state, in ascending order of the slots.
type naiveState struct {
	tick, at uint64
	origin   [3]int64 // in units of 1,024 m
	list     []naiveEntity
	partial  bool // a message with Partial leads to it
	entered  []int
	left     []Left
}

func (s *naiveState) clone() *naiveState {
	c := *s
	c.list, c.entered, c.left = slices.Clone(s.list), nil, nil
	for i := range c.list {
		e := &c.list[i]
		e.lanes, e.added, e.owned = slices.Clone(e.lanes), slices.Clone(e.added), slices.Clone(e.owned)
	}
	return &c
}

func (s *naiveState) find(slot uint32) (int, bool) {
	return slices.BinarySearchFunc(s.list, slot, func(e naiveEntity, slot uint32) int { return int(e.slot) - int(slot) })
}

// naiveLanes returns the bits of the lanes of each group.
func naiveLanes(s *Schema, owner bool) (groups [][]uint8, predicted []bool) {
	for _, g := range s.Groups {
		if g.Owner == owner {
			b := g.laneBits()
			groups, predicted = append(groups, slices.Clone(b[:g.laneCount()])), append(predicted, g.Predicted)
		}
	}
	return groups, predicted
}

// naiveBits is a bit stream, a bool for each bit.
type naiveBits []bool

func (b *naiveBits) put(v int32, width uint8) {
	for i := range width {
		*b = append(*b, v>>i&1 != 0)
	}
}

func (b naiveBits) bytes() []byte {
	out := make([]byte, (len(b)+7)/8)
	for i, bit := range b {
		if bit {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

func naiveUv(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

func naiveSv(dst []byte, v int64) []byte {
	if v >= 0 {
		return naiveUv(dst, uint64(v)*2)
	}
	return naiveUv(dst, uint64(-v)*2-1)
}

// naivePlaces appends places without their count.
func naivePlaces(dst []byte, places []int) []byte {
	for i, p := range places {
		if i > 0 {
			p -= places[i-1] + 1
		}
		dst = naiveUv(dst, uint64(p))
	}
	return dst
}

// naiveSx is sx of the page, in 64 bits.
func naiveSx(b uint8, v int64) int32 {
	size := int64(1) << b
	v = ((v % size) + size) % size
	if v >= size/2 {
		v -= size
	}
	return int32(v)
}

// fits reports whether v is a number of so many bits in two's complement.
func fits(v int64, width uint8) bool {
	if width == 0 {
		return v == 0
	}
	return v >= -(int64(1)<<(width-1)) && v < int64(1)<<(width-1)
}

// naiveBy returns what a shift from one origin to another subtracts from the codes of each lane: 0 but for Quantised positions.
func naiveBy(s *Schema, owner bool, from, to [3]int64) (all []int64) {
	steps := func(units int64, step float32) int64 {
		f := math.Floor(float64(units)*1024/float64(step) + 0.5)
		if math.IsInf(f, 0) {
			return 0
		}
		n, _ := big.NewFloat(f).Int(nil)
		return n.Mod(n, big.NewInt(1<<32)).Int64()
	}
	for _, g := range s.Groups {
		if g.Owner != owner {
			continue
		}
		for _, f := range g.Fields {
			for range f.laneCount() {
				by := int64(0)
				for axis, name := range []string{"position.x", "position.y", "position.z"} {
					if f.Name == name && f.Codec == KindQuantised && f.Components == 1 {
						by = steps(to[axis], f.Step) - steps(from[axis], f.Step)
					}
				}
				all = append(all, by)
			}
		}
	}
	return all
}

// naiveNumbers returns the four numbers of a rotation: the codes, and what is left out.
func naiveNumbers(bits uint8, lanes []int32) (q [4]*big.Int) {
	limit := int64(1)<<(bits-1) - 1
	rest := 2 * limit * limit
	for _, c := range lanes[1:4] {
		rest -= int64(c) * int64(c)
	}
	root := big.NewInt(0) // ⌊√rest + 1/2⌋ = ⌊(√(4·rest) + 1) / 2⌋
	if rest > 0 {
		root.Sqrt(big.NewInt(4 * rest))
		root.Rsh(root.Add(root, big.NewInt(1)), 1)
	}
	next := 1
	for k := range q {
		if k == int(lanes[0]&3) {
			q[k] = root
			continue
		}
		q[k] = big.NewInt(int64(lanes[next]))
		next++
	}
	return q
}

// naiveTurn returns the prediction of a rotation after the lanes q, to which the last message has added v; or nil if that is nothing.
func naiveTurn(bits uint8, q, v []int32) (r []int64, index int) {
	if v[0] == 0 && v[1] == 0 && v[2] == 0 && v[3] == 0 {
		return nil, 0
	}
	before := make([]int32, 4)
	for k := range before {
		width := bits
		if k == 0 {
			width = 2
		}
		before[k] = naiveSx(width, int64(q[k])-int64(v[k]))
	}
	a, b := naiveNumbers(bits, before), naiveNumbers(bits, q)
	dot, square := new(big.Int), new(big.Int)
	for k := range a {
		dot.Add(dot, new(big.Int).Mul(a[k], b[k]))
		square.Add(square, new(big.Int).Mul(b[k], b[k]))
	}
	negative := dot.Sign() < 0
	dot.Abs(dot)
	for k := range a {
		up := new(big.Int).Mul(dot, b[k]) // ⌊2·dot·b/square + 1/2⌋ = ⌊(4·dot·b + square) / (2·square)⌋
		up.Add(up.Lsh(up, 2), square)
		down := new(big.Int).Lsh(square, 1)
		floor := new(big.Int).Div(up, down) // Euclidean: the floor, as down > 0
		if negative {
			floor.Add(floor, a[k])
		} else {
			floor.Sub(floor, a[k])
		}
		r = append(r, floor.Int64())
	}
	size := func(v int64) int64 { return max(v, -v) }
	index = int(q[0] & 3)
	for k, v := range r {
		if size(v) > size(r[index]) {
			index = k
		}
	}
	return r, index
}

// naiveCodes returns the codes of a rotation that leaves out a component.
func naiveCodes(r []int64, index int) (codes []int64) {
	for k, v := range r {
		if r[index] < 0 {
			v = -v
		}
		if k != index {
			codes = append(codes, v)
		}
	}
	return codes
}

// naiveGuesses returns the values of a group's lanes, before the differences, with the prediction. index returns the index of the rotation after the message, which the
// decoder knows after the first lane of it.
func naiveGuesses(g *Group, q, v []int32, index func(lane int, guess int32) int32) []int64 {
	all := make([]int64, len(q))
	for l := range q {
		all[l] = int64(q[l]) + int64(v[l])
	}
	first := 0
	for _, f := range g.Fields {
		if f.Codec == KindQuat {
			if r, guess := naiveTurn(f.Bits, q[first:first+4], v[first:first+4]); r != nil {
				all[first] = int64(guess)
				copy(all[first+1:], naiveCodes(r, int(index(first, int32(guess))&3)))
			}
		}
		first += f.laneCount()
	}
	return all
}

// naiveEncoder makes messages. seen counts the forms that it has used.
type naiveEncoder struct {
	*rand.Rand
	schema *Schema
	seen   map[string]int
}

func (n *naiveEncoder) use(form string, percent int) bool {
	if n.IntN(100) < percent {
		n.seen[form]++
		return true
	}
	return false
}

// encode returns a message that leads from base, nil for a Keyframe, to truth, and the state after it: that
// of truth, except that entities which are left out of a partial message are as they were. last is the
// state after the message before.
func (n *naiveEncoder) encode(base, last, truth *naiveState) ([]byte, *naiveState) {
	after := truth.clone()
	kind, flags := byte(kindUpdate), byte(0)
	if base == nil {
		kind, base = kindKeyframe, &naiveState{}
	}
	update := kind == kindUpdate
	n.seen[fmt.Sprintf("kind %d", kind)]++
	if update && base == last && n.use("predicted", 60) {
		flags |= 1
		if base.partial {
			n.seen["predicted after partial"]++
		}
	}
	after.partial = update && n.use("partial", 30)
	partial := after.partial
	if partial {
		flags |= 2
	}
	applied := n.use("applied", 50)
	if applied {
		flags |= 4
	}
	var jumped []int
	for i, e := range after.list {
		if e.jumped {
			jumped = append(jumped, i)
		}
	}
	if len(jumped) > 0 || n.use("jumped, none", 5) {
		n.seen["jumped"]++
		flags |= 8
	}
	ownSame, owns := true, 0
	for i, e := range after.list {
		at, ok := base.find(e.slot)
		was := ok && base.list[at].id == e.id && base.list[at].own
		ownSame = ownSame && was == e.own
		if after.list[i].own {
			owns++
		}
	}
	own := !ownSame || n.use("own again", 10)
	if own {
		n.seen["own"]++
		flags |= 16
	}
	check := n.use("check", 50)
	if check {
		flags |= 32
	}
	if base.origin != after.origin || n.use("origin again", 15) {
		n.seen["origin"]++
		flags |= 64
	}

	f := naiveUv([]byte{kind}, truth.tick)
	if update {
		f = naiveUv(f, truth.tick-base.tick)
	}
	f = naiveUv(append(f, flags), truth.at)
	if applied {
		f = naiveUv(naiveUv(f, n.Uint64()>>n.IntN(64)), n.Uint64()>>n.IntN(64))
	}
	for _, v := range after.origin {
		if flags&64 != 0 {
			f = naiveSv(f, v)
		}
	}
	if update {
		f = n.leaves(f, base, after)
	}
	groups, predicted := naiveLanes(n.schema, false)
	ownerGroups, _ := naiveLanes(n.schema, true)
	by, ownerBy := naiveBy(n.schema, false, base.origin, after.origin), naiveBy(n.schema, true, base.origin, after.origin)
	publicBits := slices.Concat(groups...)

	// enters and refreshes
	var enters, stays []int
	for i := range after.list {
		e := &after.list[i]
		e.added = make([]int32, len(e.lanes))
		at, ok := base.find(e.slot)
		stay := ok && base.list[at].id == e.id
		switch {
		case stay && !n.use("refresh", 10):
			stays = append(stays, i)
			continue
		case !stay:
			after.entered = append(after.entered, i)
			n.seen["enter"]++
		}
		enters = append(enters, i)
	}
	f = naiveUv(f, uint64(len(enters)))
	var slot int64 = -1
	id := uint64(0)
	var records naiveBits
	for _, i := range enters {
		e := &after.list[i]
		f = naiveUv(f, uint64(int64(e.slot)-slot-1))
		f = naiveSv(f, int64(e.id-id))
		slot, id = int64(e.slot), e.id
		lane := 0
		for _, g := range groups {
			for _, b := range g {
				records.put(e.lanes[lane], b)
				lane++
			}
		}
	}
	f = append(f, records.bytes()...)

	// stays
	var included []int
	var set naiveBits
	for _, i := range stays {
		in := !partial || n.IntN(2) == 0
		set = append(set, in)
		if in {
			included = append(included, i)
		} else {
			at, _ := base.find(after.list[i].slot)
			for l, q := range base.list[at].lanes {
				after.list[i].lanes[l] = naiveSx(publicBits[l], int64(q)-by[l])
			}
		}
	}
	if partial {
		f = append(f, set.bytes()...)
	}
	first := 0
	var public []*Group
	for g := range n.schema.Groups {
		if !n.schema.Groups[g].Owner {
			public = append(public, &n.schema.Groups[g])
		}
	}
	for g, widths := range groups {
		diffs := make([][]int64, len(included))
		for k, i := range included {
			e := &after.list[i]
			at, _ := base.find(e.slot)
			was := &base.list[at]
			diffs[k] = make([]int64, len(widths))
			q := make([]int32, len(widths))
			for l, b := range widths {
				q[l] = naiveSx(b, int64(was.lanes[first+l])-by[first+l])
			}
			var guesses []int64
			if flags&1 != 0 && predicted[g] {
				guesses = naiveGuesses(public[g], q, was.added[first:first+len(widths)], func(lane int, _ int32) int32 { return e.lanes[first+lane] })
			}
			for l, b := range widths {
				from := int64(q[l])
				if guesses != nil {
					from = guesses[l]
				}
				diffs[k][l] = int64(naiveSx(b, int64(e.lanes[first+l])-from))
				e.added[first+l] = naiveSx(b, int64(e.lanes[first+l])-int64(was.lanes[first+l])+by[first+l])
			}
		}
		f = n.group(f, widths, diffs)
		first += len(widths)
	}

	if flags&8 != 0 {
		f = naivePlaces(naiveUv(f, uint64(len(jumped))), jumped)
	}
	if own {
		var places []int
		var records naiveBits
		for i := range after.list {
			if e := &after.list[i]; e.own {
				places = append(places, i)
				lane := 0
				for _, g := range ownerGroups {
					for _, b := range g {
						records.put(e.owned[lane], b)
						lane++
					}
				}
			}
		}
		f = naivePlaces(naiveUv(f, uint64(len(places))), places)
		f = append(f, records.bytes()...)
	} else if owns > 0 {
		first := 0
		for _, widths := range ownerGroups {
			var diffs [][]int64
			for i := range after.list {
				if e := &after.list[i]; e.own {
					at, _ := base.find(e.slot)
					d := make([]int64, len(widths))
					for l, b := range widths {
						d[l] = int64(naiveSx(b, int64(e.owned[first+l])-int64(base.list[at].owned[first+l])+ownerBy[first+l]))
					}
					diffs = append(diffs, d)
				}
			}
			n.seen["owner group"]++
			f = n.group(f, widths, diffs)
			first += len(widths)
		}
	}
	if check {
		f = binary.LittleEndian.AppendUint32(f, after.crc())
	}
	return f, after
}

// leaves appends the leaves, and notes them in after.
func (n *naiveEncoder) leaves(f []byte, base, after *naiveState) []byte {
	var list []byte
	next := 0
	for i, e := range base.list {
		if at, ok := after.find(e.slot); ok && after.list[at].id == e.id {
			continue
		}
		l := Left{ID: ecs.ID(e.id), Slot: e.slot, Dead: n.IntN(2) == 0}
		dead := uint64(0)
		if l.Dead {
			dead = 1
		}
		list = naiveUv(list, 2*uint64(i-next)+dead)
		next = i + 1
		after.left = append(after.left, l)
		n.seen["leave"]++
		if _, again := after.find(e.slot); again {
			n.seen["slot used again"]++
		}
	}
	return append(naiveUv(f, uint64(len(after.left))), list...)
}

// group appends a group with the differences of each included entity, in a form drawn at random.
func (n *naiveEncoder) group(f []byte, bits []uint8, diffs [][]int64) []byte {
	if len(diffs) == 0 {
		return f
	}
	// Random widths, of sum at most 32, one time of two as large as the largest difference if possible.
	widths := make([]uint8, len(bits))
	total := 0
	for _, l := range n.Perm(len(bits)) {
		w := uint8(n.IntN(int(bits[l]) + 1))
		if n.IntN(2) == 0 {
			for w = 0; slices.ContainsFunc(diffs, func(d []int64) bool { return !fits(d[l], w) }); w++ {
			}
		}
		widths[l] = uint8(min(int(w), 32-total))
		total += int(widths[l])
	}
	fit := make([]bool, len(diffs))
	zero := make([]bool, len(diffs))
	for k, d := range diffs {
		fit[k], zero[k] = true, true
		for l := range d {
			fit[k] = fit[k] && fits(d[l], widths[l])
			zero[k] = zero[k] && d[l] == 0
		}
	}
	allFit, allZero := !slices.Contains(fit, false), !slices.Contains(zero, false)
	record, wide := make([]bool, len(diffs)), make([]bool, len(diffs))
	mode := byte(n.IntN(3))
	if mode == 1 && !allFit {
		mode = 2
	}
	for k := range diffs {
		switch {
		case mode == 1:
			record[k] = true
		case zero[k] && n.IntN(4) > 0:
		case mode == 2 && fit[k] && n.IntN(8) > 0:
			record[k] = true
		default:
			wide[k] = !zero[k] || n.IntN(4) == 0
		}
	}
	n.seen[fmt.Sprintf("mode %d", mode)]++
	if mode == 0 && allZero {
		n.seen["mode 0, nothing changed"]++
	}
	if slices.Contains(wide, true) || n.IntN(8) == 0 {
		n.seen[fmt.Sprintf("mode %d and wide", mode)]++
		mode |= 4
	}
	f = append(f, mode)
	if mode&3 != 0 {
		f = append(f, widths...)
		var set, records naiveBits
		for k, d := range diffs {
			set = append(set, record[k])
			for l, w := range widths {
				if record[k] {
					records.put(int32(d[l]), w)
				}
			}
		}
		if mode&3 == 2 {
			f = append(f, set.bytes()...)
		}
		f = append(f, records.bytes()...)
	}
	if mode&4 != 0 {
		f = n.wide(f, bits, diffs, wide)
	}
	return f
}

// wide appends the wide part of a group.
func (n *naiveEncoder) wide(f []byte, bits []uint8, diffs [][]int64, wide []bool) []byte {
	count, next := 0, 0
	var parts []byte
	for k, d := range diffs {
		if !wide[k] {
			continue
		}
		count++
		parts = naiveUv(parts, uint64(k-next))
		next = k + 1
		mask := byte(0)
		var values []byte
		for l, v := range d {
			if v == 0 && n.IntN(4) > 0 {
				continue
			}
			mask |= 1 << l
			if n.use("wide, another number of the same residue", 20) {
				size := int64(1) << bits[l]
				lowest, highest := -((v - math.MinInt32) / size), (math.MaxInt32-v)/size
				v += size * [...]int64{lowest, highest, lowest + n.Int64N(highest-lowest+1)}[n.IntN(3)]
			}
			values = naiveSv(values, v)
		}
		parts = append(append(parts, mask), values...)
	}
	return append(naiveUv(f, uint64(count)), parts...)
}

// metres returns the origin in metres.
func (s *naiveState) metres() (o [3]float64) {
	for k, v := range s.origin {
		o[k] = 1024 * float64(v)
	}
	return o
}

// crc is the Check.
func (s *naiveState) crc() uint32 {
	var b []byte
	for _, e := range s.list {
		b = binary.LittleEndian.AppendUint32(b, e.slot)
		b = binary.LittleEndian.AppendUint64(b, e.id)
		for _, v := range e.lanes {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
}

// differs returns what differs between a state of a client and a naive one, or "".
func (s *naiveState) differs(got *State) string {
	var slots, own, jumped, entered []uint32
	var ids []ecs.ID
	for i, e := range s.list {
		slots, ids = append(slots, e.slot), append(ids, ecs.ID(e.id))
		if e.own {
			own = append(own, uint32(i))
		}
		if e.jumped {
			jumped = append(jumped, uint32(i))
		}
	}
	for _, i := range s.entered {
		entered = append(entered, uint32(i))
	}
	switch {
	case got.Tick() != s.tick || got.At() != s.at:
		return fmt.Sprintf("tick %d at %d, want %d at %d", got.Tick(), got.At(), s.tick, s.at)
	case got.Origin() != s.metres():
		return fmt.Sprintf("origin %v, want %v", got.Origin(), s.metres())
	case !slices.Equal(got.Slots(), slots):
		return fmt.Sprintf("slots %d, want %d", got.Slots(), slots)
	case !slices.Equal(got.IDs(), ids):
		return fmt.Sprintf("ids %d, want %d", got.IDs(), ids)
	case !slices.Equal(got.Own(), own):
		return fmt.Sprintf("own %d, want %d", got.Own(), own)
	case !slices.Equal(got.Jumped(), jumped):
		return fmt.Sprintf("jumped %d, want %d", got.Jumped(), jumped)
	case !slices.Equal(got.Entered(), entered):
		return fmt.Sprintf("entered %d, want %d", got.Entered(), entered)
	case !slices.Equal(got.Left(), s.left):
		return fmt.Sprintf("left %v, want %v", got.Left(), s.left)
	}
	for i, e := range s.list {
		for l, v := range e.lanes {
			if got.lanes[l][i] != v {
				return fmt.Sprintf("place %d: lane %d = %d, want %d", i, l, got.lanes[l][i], v)
			}
			if a := got.added[l]; a != nil && a[i] != e.added[l] {
				return fmt.Sprintf("place %d: lane %d has added %d, want %d", i, l, a[i], e.added[l])
			}
		}
	}
	for k, i := range own {
		for l, v := range s.list[i].owned {
			if got.owned[l][k] != v {
				return fmt.Sprintf("place %d: owner lane %d = %d, want %d", i, l, got.owned[l][k], v)
			}
		}
	}
	return ""
}

// text returns all of a state that a client can see, so that any change of it shows.
func (s *State) text() string {
	var b bytes.Buffer
	fmt.Fprintln(&b, s.tick, s.at, s.origin, s.slots, s.ids, s.lanes, s.added, s.own, s.owned, s.jumped, s.entered, s.left)
	return b.String()
}

// naiveWorld draws truths: a list that changes at random.
type naiveWorld struct {
	*rand.Rand
	schema *Schema
	now    *naiveState
	nextID uint64
	most   int // entities
}

func newNaiveWorld(r *rand.Rand, s *Schema, most int) *naiveWorld {
	w := &naiveWorld{Rand: r, schema: s, now: &naiveState{tick: 1 + r.Uint64N(300)}, nextID: 1 + r.Uint64N(1<<40), most: most}
	for range r.IntN(most) + 1 {
		w.spawn(r.Uint32N(uint32(3 * most)))
	}
	return w
}

func (w *naiveWorld) spawn(slot uint32) {
	at, ok := w.now.find(slot)
	if ok || len(w.now.list) >= w.most {
		return
	}
	e := naiveEntity{slot: slot, id: w.nextID, own: w.IntN(4) == 0}
	w.nextID += 1 + w.Uint64N(3)
	if w.IntN(50) == 0 {
		e.id = w.Uint64() // far from all others
	}
	e.lanes, e.owned = w.random(false), w.random(true)
	w.now.list = slices.Insert(w.now.list, at, e)
}

// random returns lanes with any values.
func (w *naiveWorld) random(owner bool) (lanes []int32) {
	groups, _ := naiveLanes(w.schema, owner)
	for _, g := range groups {
		for _, b := range g {
			lanes = append(lanes, naiveSx(b, int64(w.Uint64())>>w.IntN(64)))
		}
	}
	return lanes
}

// advance changes the truth and its tick.
func (w *naiveWorld) advance() *naiveState {
	s := w.now
	step := 1 + w.Uint64N(3)
	s.tick, s.at = s.tick+step, s.at+step*16667+w.Uint64N(500)
	if w.IntN(8) == 0 {
		w.shift()
	}
	gone := w.IntN(4) * w.IntN(2)
	var free []uint32
	for range gone {
		if len(s.list) > 0 {
			i := w.IntN(len(s.list))
			free = append(free, s.list[i].slot)
			s.list = slices.Delete(s.list, i, i+1)
		}
	}
	for _, slot := range free {
		if w.IntN(2) == 0 {
			w.spawn(slot)
		}
	}
	for range w.IntN(3) {
		w.spawn(w.Uint32N(uint32(3 * w.most)))
	}
	if w.IntN(100) == 0 {
		w.spawn(mostSlots - 1)
	}
	quiet := w.IntN(5) == 0
	for i := range s.list {
		e := &s.list[i]
		if e.jumped = w.IntN(20) == 0; quiet {
			e.jumped = false
			continue
		}
		w.change(e.lanes, false)
		w.change(e.owned, true)
		if w.IntN(20) == 0 {
			e.own = !e.own
		}
	}
	return s.clone()
}

// shift moves the origin, and what stands still with it; sometimes very far.
func (w *naiveWorld) shift() {
	from, to := w.now.origin, w.now.origin
	for k := range to {
		switch w.IntN(8) {
		case 0:
			to[k] = w.Int64N(2<<52+1) - 1<<52
		case 1:
			to[k] = 0
		default:
			to[k] = max(-1<<52, min(to[k]+w.Int64N(7)-3, 1<<52))
		}
	}
	w.now.origin = to
	for i := range w.now.list {
		e := &w.now.list[i]
		for _, part := range []struct {
			owner bool
			lanes []int32
		}{{false, e.lanes}, {true, e.owned}} {
			groups, _ := naiveLanes(w.schema, part.owner)
			bits := slices.Concat(groups...)
			for l, by := range naiveBy(w.schema, part.owner, from, to) {
				part.lanes[l] = naiveSx(bits[l], int64(part.lanes[l])-by)
			}
		}
	}
}

// reorder permutes the slots of the entities.
func (w *naiveWorld) reorder() {
	list := w.now.list
	w.Shuffle(len(list), func(i, j int) { list[i].slot, list[j].slot = list[j].slot, list[i].slot })
	slices.SortFunc(list, func(a, b naiveEntity) int { return int(a.slot) - int(b.slot) })
}

// change changes some lanes, mostly by little.
func (w *naiveWorld) change(lanes []int32, owner bool) {
	groups, _ := naiveLanes(w.schema, owner)
	lane := 0
	for _, g := range groups {
		still := w.IntN(3) == 0
		for _, b := range g {
			if !still {
				by := w.Int64N(9) - 4
				if w.IntN(20) == 0 {
					by = int64(w.Uint64()) >> w.IntN(64)
				}
				lanes[lane] = naiveSx(b, int64(lanes[lane])+by%(1<<32))
			}
			lane++
		}
	}
}
