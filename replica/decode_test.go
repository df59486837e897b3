package replica

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/wire"
)

// testSchemas have all codecs, kinds and forms of groups.
var testSchemas = []struct {
	name string
	Schema
}{
	{"position and rotation", Schema{Groups: []Group{
		{Predicted: true, Fields: []Field{quantised("position.x", 25, 1.0/256), quantised("position.y", 25, 1.0/256), quantised("position.z", 25, 1.0/256)}},
		{Predicted: true, Fields: []Field{quantised("spin", 7, 1), {Rotation, KindQuat, columns.Float32, 4, 10, 0}}},
	}}},
	{"all codecs", Schema{Groups: []Group{
		{Predicted: true, Fields: []Field{quantised("x", 2, 0.1), quantised("y", 16, 3), {"angle", KindAngle, columns.Float32, 1, 2, 0}, {"aim", KindAngle, columns.Float32, 2, 16, 0}}},
		{Fields: []Field{{Rotation, KindPlanar, columns.Float32, 4, 11, 0}}},
		{Predicted: true, Fields: []Field{exact("i8", columns.Int8, 3), exact("u8", columns.Uint8, 1), exact("i16", columns.Int16, 1), exact("u16", columns.Uint16, 2)}},
		{Fields: []Field{exact("i32", columns.Int32, 1), exact("u32", columns.Uint32, 1), exact("i64", columns.Int64, 1), exact("u64", columns.Uint64, 1), exact("f32", columns.Float32, 1)}},
		{Fields: []Field{exact("f64", columns.Float64, 2), {"", KindTags, columns.Uint32, 1, 32, 0}}},
		{Owner: true, Fields: []Field{quantised("energy", 12, 0.5), exact("ammo", columns.Uint16, 1)}},
		{Owner: true, Fields: []Field{exact("secret", columns.Uint64, 1)}},
	}, Tags: []string{"alive", "frozen", "été"}}},
	{"planar", Schema{Groups: []Group{
		{Predicted: true, Fields: []Field{quantised("position.x", 20, 0.01), quantised("position.y", 20, 0.01)}},
		{Fields: []Field{{Rotation, KindPlanar, columns.Float32, 4, 10, 0}}},
	}}},
	{"positions of owners", Schema{Groups: []Group{
		{Predicted: true, Fields: []Field{quantised("position.z", 13, 0.7), exact("position.x", columns.Float32, 1)}},
		{Predicted: true, Fields: []Field{{Rotation, KindQuat, columns.Float32, 4, 16, 0}}},
		{Owner: true, Fields: []Field{quantised("position.y", 25, 1e-30)}},
	}}},
	{"tags", Schema{Groups: []Group{{Fields: []Field{{Rotation, KindQuat, columns.Float32, 4, 12, 0}}}, {Fields: []Field{{"", KindTags, columns.Uint32, 1, 32, 0}}}}, Tags: []string{"a"}}},
	{"owner only", Schema{Groups: []Group{{Owner: true, Fields: []Field{exact("gold", columns.Int32, 1)}}}}},
	{"nothing", Schema{}},
}

func quantised(name string, bits uint8, step float32) Field {
	return Field{name, KindQuantised, columns.Float32, 1, bits, step}
}

func exact(name string, kind ecs.Kind, components uint8) Field {
	return Field{name, KindExact, kind, components, uint8(min(8*kind.Size(), 32)), 0}
}

// The schemas of the tests are those that a Welcome can hold.
func TestSchemasOfTests(t *testing.T) {
	for _, s := range testSchemas {
		r := wire.NewReader(s.append(nil))
		if got := readSchema(&r); r.Err() != nil || got.Hash() != s.Hash() {
			t.Errorf("%s: %v", s.name, r.Err())
		}
	}
}

// apply decodes one message from base into dst, as a Client does.
func (d *decoder) apply(message []byte, base, dst *State) error {
	r := wire.NewReader(message)
	h := readHeader(&r)
	if r.Err() != nil {
		return r.Err()
	}
	if err := d.decode(&r, &h, base, dst); err != nil {
		return messageFault(&h, err)
	}
	if !d.sum {
		return errors.New("the check differs")
	}
	return nil
}

// sequence is messages of a naive encoder with the states that they lead to. Each has one of the last
// states as its base, -1: a Keyframe.
type sequence struct {
	schema   *Schema
	messages [][]byte
	bases    []int
	states   []*naiveState
	seen     map[string]int
}

func newSequence(schema *Schema, seed uint64, most, messages int, seen map[string]int) *sequence {
	r := rand.New(rand.NewPCG(seed, 17))
	n := &naiveEncoder{Rand: r, schema: schema, seen: seen}
	w := newNaiveWorld(r, schema, most)
	s := &sequence{schema: schema, seen: seen}
	for k := range messages {
		truth := w.advance()
		from := k - 1
		if r.IntN(20) == 0 {
			from = -1
		} else if k > 0 && r.IntN(4) == 0 {
			from = max(0, k-1-r.IntN(6))
		}
		var base, last *naiveState
		if from >= 0 {
			base, last = s.states[from], s.states[k-1]
		}
		message, after := n.encode(base, last, truth)
		s.messages, s.bases, s.states = append(s.messages, message), append(s.bases, from), append(s.states, after)
	}
	return s
}

// A decoder computes the states of the naive encoder, whatever legal form the messages have.
func TestDecodeEqualsNaive(t *testing.T) {
	rounds := casesOf(25, 400)
	seen := map[string]int{}
	for round := range rounds {
		for _, schema := range testSchemas {
			seed := paritytest.Seed() + uint64(round)
			s := newSequence(&schema.Schema, seed, 1+round%70, 20, seen)
			lay := newLayout(schema.Schema)
			var d decoder
			var states []*State
			for k, message := range s.messages {
				base, dst := lay.newState(), lay.newState()
				if s.bases[k] >= 0 {
					base = states[s.bases[k]]
				}
				before := base.text()
				if err := d.apply(message, base, dst); err != nil {
					t.Fatalf("%s, seed %d, frame %d: %v", schema.name, seed, k, err)
				}
				if diff := s.states[k].differs(dst); diff != "" {
					t.Fatalf("%s, seed %d, frame %d: %s", schema.name, seed, k, diff)
				}
				if base.text() != before {
					t.Fatalf("%s, seed %d, frame %d: the base changes", schema.name, seed, k)
				}
				states = append(states, dst)
			}
		}
	}
	requireForms(t, seen)
}

// requireForms fails unless messages of each form were seen.
func requireForms(t *testing.T, seen map[string]int) {
	t.Helper()
	for _, form := range []string{"kind 3", "kind 4", "predicted", "predicted after partial", "partial", "applied", "jumped", "own", "check", "own again", "refresh", "enter", "leave",
		"slot used again", "mode 0", "mode 1", "mode 2", "mode 0, nothing changed", "mode 0 and wide", "mode 1 and wide", "mode 2 and wide", "owner group",
		"wide, another number of the same residue", "jumped, none", "origin", "origin again"} {
		if seen[form] == 0 {
			t.Errorf("no frame has: %s", form)
		}
	}
}

// samples returns a short sequence for each schema.
func samples(t testing.TB) (all []*sequence) {
	for i := range testSchemas {
		all = append(all, newSequence(&testSchemas[i].Schema, 5, 12, 8, map[string]int{}))
	}
	return all
}

// states decodes a sequence.
func (s *sequence) decode(t testing.TB) (states []*State) {
	t.Helper()
	lay := newLayout(*s.schema)
	var d decoder
	for k, message := range s.messages {
		base, dst := lay.newState(), lay.newState()
		if s.bases[k] >= 0 {
			base = states[s.bases[k]]
		}
		if err := d.apply(message, base, dst); err != nil {
			t.Fatal(err)
		}
		states = append(states, dst)
	}
	return states
}

// A message that was cut short, or has more bytes, is refused.
func TestDecodeRefusesCutFrames(t *testing.T) {
	for i, s := range samples(t) {
		states := s.decode(t)
		var d decoder
		for k, message := range s.messages {
			base, dst := newLayout(*s.schema).newState(), newLayout(*s.schema).newState()
			if s.bases[k] >= 0 {
				base = states[s.bases[k]]
			}
			before := base.text()
			for n := range message {
				if err := d.apply(message[:n], base, dst); !errors.Is(err, fault.ErrCorrupt) {
					t.Fatalf("%s, frame %d: %d of %d bytes: %v", testSchemas[i].name, k, n, len(message), err)
				}
			}
			if err := d.apply(append(slices.Clone(message), 0), base, dst); !errors.Is(err, fault.ErrCorrupt) {
				t.Fatalf("%s, frame %d: a byte more: %v", testSchemas[i].name, k, err)
			}
			if base.text() != before {
				t.Fatal("the base changes")
			}
		}
	}
}

// A message in which a bit is wrong is refused, or leads to a state that is whole.
func TestDecodeSurvivesBitFlips(t *testing.T) {
	refused, accepted := 0, 0
	for i, s := range samples(t) {
		states := s.decode(t)
		var d decoder
		for k, message := range s.messages {
			base, dst := newLayout(*s.schema).newState(), newLayout(*s.schema).newState()
			if s.bases[k] >= 0 {
				base = states[s.bases[k]]
			}
			before := base.text()
			for bit := range 8 * len(message) {
				message[bit/8] ^= 1 << (bit % 8)
				if err := d.apply(message, base, dst); err != nil {
					refused++
				} else if accepted++; dst.fault() != "" {
					t.Fatalf("%s, frame %d, bit %d: %s", testSchemas[i].name, k, bit, dst.fault())
				}
				message[bit/8] ^= 1 << (bit % 8)
			}
			if base.text() != before {
				t.Fatal("the base changes")
			}
		}
	}
	if refused < 1000 || accepted < 1000 {
		t.Errorf("%d frames refused, %d accepted", refused, accepted)
	}
}

// fault returns what no state may have, or "".
func (s *State) fault() string {
	ascending := func(list []uint32, below int) bool {
		for i, v := range list {
			if int(v) >= below || i > 0 && list[i-1] >= v {
				return false
			}
		}
		return true
	}
	n := len(s.slots)
	if !ascending(s.slots, mostSlots) || len(s.ids) != n {
		return fmt.Sprintf("slots %d of ids %d", s.slots, s.ids)
	}
	if !ascending(s.own, n) || !ascending(s.jumped, n) || !ascending(s.entered, n) {
		return fmt.Sprintf("of %d places: own %d, jumped %d, entered %d", n, s.own, s.jumped, s.entered)
	}
	for _, part := range []struct {
		groups []span
		lanes  [][]int32
		n      int
	}{{s.public, s.lanes, n}, {s.owner, s.owned, len(s.own)}} {
		for _, g := range part.groups {
			for l := range g.count {
				lane := part.lanes[g.first+l]
				if len(lane) != part.n {
					return fmt.Sprintf("%d values of %d", len(lane), part.n)
				}
				for _, v := range lane {
					if v != sx(g.bits[l], v) {
						return fmt.Sprintf("%d in a lane of %d bits", v, g.bits[l])
					}
				}
			}
		}
	}
	return ""
}

// No message makes a decoder panic, allocate much more than the message has, or change the base; a message that
// is accepted leads to a state that is whole, and to the same again.
func FuzzDecode(f *testing.F) {
	all := samples(f)
	states := make([][]*State, len(all))
	for i, s := range all {
		states[i] = s.decode(f)
		for k, message := range s.messages {
			f.Add(byte(i), byte(s.bases[k]), message)
		}
	}
	f.Fuzz(func(t *testing.T, schema, at byte, message []byte) {
		i := int(schema) % len(all)
		lay := newLayout(*all[i].schema)
		base := lay.newState()
		if k := int(at); k < len(states[i]) {
			base = states[i][k]
		}
		if len(message) > 0 && message[0] == kindKeyframe {
			base = lay.newState()
		}
		before := base.text()
		var d decoder
		dst, again := lay.newState(), lay.newState()
		err := d.apply(message, base, dst)
		if base.text() != before {
			t.Fatal("the base changes")
		}
		if most := len(base.slots) + len(message); cap(dst.slots) > 2*most+64 {
			t.Fatalf("room for %d entities after %d bytes", cap(dst.slots), len(message))
		}
		if err != nil {
			return
		}
		if fault := dst.fault(); fault != "" {
			t.Fatal(fault)
		}
		if err := d.apply(bytes.Clone(message), base, again); err != nil || again.text() != dst.text() {
			t.Fatalf("another state the second time, %v", err)
		}
	})
}

// Decoding allocates nothing after warm-up.
func TestDecodeAllocs(t *testing.T) {
	s := newSequence(&testSchemas[1].Schema, 3, 200, 12, map[string]int{})
	lay := newLayout(*s.schema)
	var d decoder
	states := make([]*State, len(s.messages))
	for i := range states {
		states[i] = lay.newState()
	}
	empty := lay.newState()
	run := func() {
		for k, message := range s.messages {
			base := empty
			if s.bases[k] >= 0 {
				base = states[s.bases[k]]
			}
			if err := d.apply(message, base, states[k]); err != nil {
				t.Fatal(err)
			}
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%g allocations in %d frames", n, len(s.messages))
	}
}
