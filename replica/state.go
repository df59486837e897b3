package replica

import (
	"math"
	"reflect"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
)

// State is what a client knows of a world after a message: the entities in its view, in ascending order
// of their slots. The place of an entity is its index in Slots and IDs. A State does not change, but its
// memory is used again for a later one: see Client.State. Any number of goroutines may read it.
type State struct {
	*layout
	tick, at  uint64
	origin    [3]float64
	slots     []uint32
	ids       []ecs.ID
	lanes     [][]int32 // of the public groups, each parallel to slots
	added     [][]int32 // what the last message added to each lane of a predicted group; nil for the others
	own       []uint32  // places
	owned     [][]int32 // lanes of the owner groups, each parallel to own
	jumped    []uint32
	entered   []uint32
	left      []Left
	refreshed []uint64 // bitmap over the places: all lanes were replaced
}

// Left is an entity that is in the view no more.
type Left struct {
	ID   ecs.ID
	Slot uint32
	Dead bool // false: it only left the view
}

// layout says where the lanes of a schema are in a State.
type layout struct {
	Schema
	public, owner []span
	lanes, owned  int // numbers of lanes of the public and of the owner groups
	bits          int // of all lanes of the public groups
	ownedBits     int

	shifted, ownedShifted []shiftedLane // of public and of owner lanes
}

// span is a group: count lanes from first on.
type span struct {
	first, count int
	bits         [mostLanes]uint8
	predicted    bool
	quats        []quatSpan // with a prediction
}

func newLayout(s Schema) *layout {
	l := &layout{Schema: s}
	for _, g := range s.Groups {
		list, lanes, bits, shifted := &l.public, &l.lanes, &l.bits, &l.shifted
		if g.Owner {
			list, lanes, bits, shifted = &l.owner, &l.owned, &l.ownedBits, &l.ownedShifted
		}
		*shifted = shiftedLanes(*shifted, &g, *lanes)
		sp := span{first: *lanes, count: g.laneCount(), bits: g.laneBits(), predicted: g.Predicted && !g.Owner, quats: quatSpans(&g)}
		*list = append(*list, sp)
		*lanes += sp.count
		for _, b := range sp.bits {
			*bits += int(b)
		}
	}
	return l
}

// newState returns an empty state, of tick 0.
func (l *layout) newState() *State {
	s := &State{layout: l, lanes: make([][]int32, l.lanes), added: make([][]int32, l.lanes), owned: make([][]int32, l.owned)}
	for _, g := range l.public {
		for i := g.first; g.predicted && i < g.first+g.count; i++ {
			s.added[i] = []int32{}
		}
	}
	return s
}

// clear makes s empty.
func (s *State) clear() {
	s.tick, s.at, s.origin = 0, 0, [3]float64{}
	s.resize(0)
	s.resizeOwn(0)
	s.jumped, s.entered, s.left = s.jumped[:0], s.entered[:0], s.left[:0]
}

// resize gives s room for n entities. Their lanes may hold anything.
func (s *State) resize(n int) {
	s.slots, s.ids = sized(s.slots, n), sized(s.ids, n)
	for i := range s.lanes {
		s.lanes[i] = sized(s.lanes[i], n)
		if s.added[i] != nil {
			s.added[i] = sized(s.added[i], n)
		}
	}
	s.refreshed = sized(s.refreshed, (n+63)/64)
	clear(s.refreshed)
}

func (s *State) resizeOwn(n int) {
	s.own = sized(s.own, n)
	for i := range s.owned {
		s.owned[i] = sized(s.owned[i], n)
	}
}

// Tick returns the number of ticks that the Sim of the server had completed. 0: there is no state yet.
func (s *State) Tick() uint64 { return s.tick }

// At returns the time at which the tick ended, in µs since the server began.
func (s *State) At() uint64 { return s.at }

// Slots returns the slots of the entities on the server, ascending. It is a view: only read it.
func (s *State) Slots() []uint32 { return s.slots }

// IDs returns the ids of the entities. It is a view: only read it.
func (s *State) IDs() []ecs.ID { return s.ids }

// Own returns the places of the entities that the session owns, ascending. It is a view: only read it.
func (s *State) Own() []uint32 { return s.own }

// Jumped returns the places of the entities that teleported since the state that the last message changed,
// ascending. It is a view: only read it.
func (s *State) Jumped() []uint32 { return s.jumped }

// Entered returns the places of the entities that came into the view with the last message, ascending. A
// client on a transport that loses messages finds here all that have come since the base of the message,
// which may be older than the state before. It is a view: only read it.
func (s *State) Entered() []uint32 { return s.entered }

// Left returns the entities that left the view with the last message, in ascending order of their slots;
// the base is as in Entered. After a Keyframe it is empty, although all other entities have left. It is
// a view: only read it.
func (s *State) Left() []Left { return s.left }

// Place returns the place of the entity in a slot, if the slot is in the view.
func (s *State) Place(slot uint32) (int, bool) { return slices.BinarySearch(s.slots, slot) }

// Has reports whether the entity at a place has a tag. It is false for a tag that is not in the Schema.
func (s *State) Has(place int, tag string) bool {
	bit := slices.Index(s.Tags, tag)
	f, ok := s.find("")
	return ok && bit >= 0 && !f.owner && s.lanes[f.lane][place]>>bit&1 != 0
}

// found is a field in a layout.
type found struct {
	Field
	owner bool
	lane  int // the first
}

func (l *layout) find(name string) (found, bool) {
	lane, owned := 0, 0
	for _, g := range l.Groups {
		at := &lane
		if g.Owner {
			at = &owned
		}
		for _, f := range g.Fields {
			if f.Name == name {
				return found{f, g.Owner, *at}, true
			}
			*at += f.laneCount()
		}
	}
	return found{}, false
}

// AppendValues appends one component of a column that the server sends, of all entities of a State, in
// their order. If only owners get the column, it appends the values of the entities in State.Own. name
// is that of Field.Name; the name "" stands for the tags, a uint32 for each entity, bit i for tag i of
// the Schema.
//
// T is float32 for the codecs Quantised, Angle, Planar and Quat, and has the kind of the column for
// Exact. Planar has one component, the angle in [-π, π) radians about the normal of the plane; Quat has
// the components x, y, z, w, in one of the two signs that mean the same rotation.
//
// An unknown name or component is evertick.ErrRange, another type evertick.ErrUnsupported; then it returns dst.
func AppendValues[T ecs.Number](dst []T, s *State, name string, component int) ([]T, error) {
	f, ok := s.find(name)
	if !ok {
		return dst, fault.Field(fault.ErrRange, "replica: AppendValues: name", name)
	}
	if n := f.values(); component < 0 || component >= n {
		return dst, fault.Field(fault.ErrRange, "replica: AppendValues: component of "+name, component)
	}
	if kind := columns.KindOf(reflect.TypeFor[T]()); kind != f.Kind {
		return dst, fault.Field(fault.ErrUnsupported, "replica: AppendValues: type for "+name, kind)
	}
	lanes := s.lanes
	if f.owner {
		lanes = s.owned
	}
	lanes = lanes[f.lane:][:f.laneCount()]
	dst = slices.Grow(dst, len(lanes[0]))
	if f.Codec != KindExact && f.Codec != KindTags {
		for i := range lanes[0] {
			dst = append(dst, T(f.float(lanes, component, i)))
		}
		return dst, nil
	}
	return appendExact(dst, f, lanes, component), nil
}

// values returns the number of components of which AppendValues returns values.
func (f Field) values() int {
	if f.Codec == KindPlanar {
		return 1
	}
	return int(f.Components)
}

func appendExact[T ecs.Number](dst []T, f found, lanes [][]int32, component int) []T {
	switch {
	case f.Kind == columns.Float32:
		for _, v := range lanes[component] {
			dst = append(dst, T(math.Float32frombits(uint32(v))))
		}
	case f.Kind.Size() < 8:
		for _, v := range lanes[component] {
			dst = append(dst, T(v)) // keeps the low bits
		}
	default:
		high := lanes[2*component+1]
		for i, low := range lanes[2*component] {
			v := uint64(uint32(low)) | uint64(uint32(high[i]))<<32
			if f.Kind.IsFloat() {
				dst = append(dst, T(math.Float64frombits(v)))
			} else {
				dst = append(dst, T(v))
			}
		}
	}
	return dst
}

// float returns a component of the value at a place.
func (f Field) float(lanes [][]int32, component, i int) float32 {
	switch f.Codec {
	case KindQuantised:
		code := lanes[component][i]
		if code == -1<<(f.Bits-1) {
			return float32(math.NaN())
		}
		return float32(code) * f.Step // exact before the product: at most 24 bits
	case KindQuat:
		q := f.quat(lanes, i)
		return q[component]
	}
	return float32(float64(lanes[component][i]) * (2 * math.Pi / float64(uint32(1)<<f.Bits)))
}

// quat returns the rotation of a Quat.
func (f Field) quat(lanes [][]int32, i int) (q [4]float32) {
	most := math.Sqrt2 * float64(int32(1)<<(f.Bits-1)-1)
	out, lane, rest := lanes[0][i]&3, 1, 1.0
	for c := range q {
		if c == int(out) {
			continue
		}
		v := float64(lanes[lane][i]) / most
		q[c] = float32(v)
		rest -= float64(v * v)
		lane++
	}
	q[out] = float32(math.Sqrt(max(rest, 0)))
	return q
}

// sx extends the sign of a number of so many bits: see docs/replica-wire.md.
func sx(bits uint8, v int32) int32 { return v << (32 - bits) >> (32 - bits) }
