package replica

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/wire"
)

var update = flag.Bool("update", false, "write testdata/vectors.json")

const vectorsFile = "testdata/vectors.json"

// vectors is the file. docs/replica-wire.md describes it.
type vectors struct {
	Sequences []vectorSequence
	Rotations []vectorRotation
	Messages  []vectorMessage
}

// vectorRotation is a rotation of length 1, its lanes as a Quat, and the value of these.
type vectorRotation struct {
	Bits     uint8
	Rotation [4]float32
	Lanes    [4]int32
	Value    [4]float32
}

type vectorSequence struct {
	Name    string
	Welcome string
	Frames  []vectorFrame
	Refused []vectorRefused
	Values  map[string][][]any // of the last state, by name, a list for each component
}

type vectorFrame struct {
	Base  int // index of the message that led to the base, -1: a Keyframe
	Frame string
	State vectorState
}

type vectorState struct {
	Tick, At       uint64
	Origin         [3]float64
	Slots          []uint32
	IDs            []string
	Lanes          [][]int32
	Own            []uint32
	Owned          [][]int32
	Jumped         []uint32
	Entered        []uint32
	Left           []vectorLeft
	Applied        string `json:",omitempty"`
	ResidenceMicro string `json:",omitempty"`
}

type vectorLeft struct {
	ID   string
	Slot uint32
	Dead bool
}

type vectorRefused struct {
	Why   string
	Base  int
	Frame string
}

type vectorMessage struct {
	Name   string
	Frame  string
	Fields map[string]any
}

func (s *naiveState) vector(schema *Schema) vectorState {
	v := vectorState{Tick: s.tick, At: s.at, Origin: s.metres(), Slots: []uint32{}, IDs: []string{}, Own: []uint32{}, Jumped: []uint32{}, Entered: []uint32{}, Left: []vectorLeft{}}
	lay := newLayout(*schema)
	v.Lanes, v.Owned = make([][]int32, lay.lanes), make([][]int32, lay.owned)
	for _, lanes := range [][][]int32{v.Lanes, v.Owned} {
		for l := range lanes {
			lanes[l] = []int32{}
		}
	}
	for i, e := range s.list {
		v.Slots, v.IDs = append(v.Slots, e.slot), append(v.IDs, strconv.FormatUint(e.id, 10))
		for l, x := range e.lanes {
			v.Lanes[l] = append(v.Lanes[l], x)
		}
		if e.jumped {
			v.Jumped = append(v.Jumped, uint32(i))
		}
		if e.own {
			v.Own = append(v.Own, uint32(i))
			for l, x := range e.owned {
				v.Owned[l] = append(v.Owned[l], x)
			}
		}
	}
	for _, i := range s.entered {
		v.Entered = append(v.Entered, uint32(i))
	}
	for _, l := range s.left {
		v.Left = append(v.Left, vectorLeft{strconv.FormatUint(uint64(l.ID), 10), l.Slot, l.Dead})
	}
	return v
}

// makeVectors computes the file.
func makeVectors(t *testing.T, seen map[string]int) (v vectors) {
	for i, schema := range testSchemas {
		messages, most := 10, 9
		if i == 0 {
			messages, most = 16, 24 // longer bitmaps, and several bytes
		}
		s := newSequence(&schema.Schema, uint64(200+i), most, messages, seen)
		seq := vectorSequence{Name: schema.name, Values: map[string][][]any{}}
		w := testWelcome(schema.Schema)
		seq.Welcome = hex.EncodeToString(w.append(nil))
		for k, message := range s.messages {
			state := s.states[k].vector(&schema.Schema)
			if message[0] == kindKeyframe || message[0] == kindUpdate {
				h := headerOf(message)
				if h.flags&flagApplied != 0 {
					state.Applied, state.ResidenceMicro = strconv.FormatUint(h.applied, 10), strconv.FormatUint(h.residence, 10)
				}
			}
			seq.Frames = append(seq.Frames, vectorFrame{s.bases[k], hex.EncodeToString(message), state})
		}
		seq.refuse(s)
		last := s.decode(t)[messages-1]
		for _, g := range schema.Groups {
			for _, f := range g.Fields {
				seq.Values[f.Name] = jsonValues(t, last, f)
			}
		}
		v.Sequences = append(v.Sequences, seq)
	}
	for _, bits := range []uint8{2, 10, defaultQuatBits, 16} {
		for _, q := range rotationCases(rand.New(rand.NewPCG(9, 9)), 8) {
			lanes := quatLanes(bits, [][4]float32{q})
			value := Field{Bits: bits}.quat(lanes, 0)
			v.Rotations = append(v.Rotations, vectorRotation{bits, q, [4]int32{lanes[0][0], lanes[1][0], lanes[2][0], lanes[3][0]}, value})
		}
	}
	v.Messages = testMessages()
	return v
}

// refuse adds messages that a decoder refuses.
func (seq *vectorSequence) refuse(s *sequence) {
	k := len(s.messages) - 1
	message := s.messages[k]
	_, n := binary.Uvarint(message[1:])
	long := slices.Insert(slices.Clone(message), 1+n, 0)
	long[n] |= 0x80
	for _, r := range []struct {
		why     string
		message []byte
	}{
		{"a byte is missing", message[:len(message)-1]},
		{"a byte is left over", append(slices.Clone(message), 0)},
		{"the tick is not in the shortest form", long},
	} {
		seq.Refused = append(seq.Refused, vectorRefused{r.why, s.bases[k], hex.EncodeToString(r.message)})
	}
}

// jsonValues returns the values of a column: numbers, null for floats that are not finite, and text for
// integers of 64 bits.
func jsonValues(t *testing.T, s *State, f Field) (all [][]any) {
	t.Helper()
	for c := range f.values() {
		list := []any{}
		switch f.Kind {
		case columns.Int8:
			list = appendJSON[int8](t, s, f, c)
		case columns.Int16:
			list = appendJSON[int16](t, s, f, c)
		case columns.Int32:
			list = appendJSON[int32](t, s, f, c)
		case columns.Int64:
			list = appendJSON[int64](t, s, f, c)
		case columns.Uint8:
			list = appendJSON[uint8](t, s, f, c)
		case columns.Uint16:
			list = appendJSON[uint16](t, s, f, c)
		case columns.Uint32:
			list = appendJSON[uint32](t, s, f, c)
		case columns.Uint64:
			list = appendJSON[uint64](t, s, f, c)
		case columns.Float32:
			list = appendJSON[float32](t, s, f, c)
		case columns.Float64:
			list = appendJSON[float64](t, s, f, c)
		}
		all = append(all, list)
	}
	return all
}

func appendJSON[T ecs.Number](t *testing.T, s *State, f Field, component int) []any {
	t.Helper()
	values, err := AppendValues([]T(nil), s, f.Name, component)
	if err != nil {
		t.Fatal(err)
	}
	list := []any{}
	for _, v := range values {
		switch {
		case f.Kind.IsFloat() && (math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)):
			list = append(list, nil)
		case f.Kind.IsFloat() || f.Kind.Size() < 8:
			list = append(list, v)
		default:
			list = append(list, fmt.Sprint(v))
		}
	}
	return list
}

func decodeHex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// headerOf returns the header of a message that is right.
func headerOf(message []byte) header {
	r := wire.NewReader(message)
	return readHeader(&r)
}

func testWelcome(s Schema) welcome {
	return welcome{session: 7, resumed: true, token: []byte{1, 2, 255}, received: 300, tick: 1 << 40, rateNum: 60, rateDen: 1, every: 2,
		seed: 1<<63 + 5, simVersion: 2, scenario: "été", schema: s}
}

// testMessages are all other messages of a viewer.
func testMessages() []vectorMessage {
	w := testWelcome(testSchemas[2].Schema)
	big := uint64(1)<<63 + 3
	return []vectorMessage{
		{"Hello", hex.EncodeToString((&Hello{Mode: View, SimVersion: 2, Schema: big, Credentials: []byte("me"), Token: []byte{9, 0}, Held: 129}).append(nil)),
			map[string]any{"mode": 0, "simVersion": 2, "schema": fmt.Sprint(big), "credentials": "6d65", "token": "0900", "held": "129"}},
		{"Welcome", hex.EncodeToString(w.append(nil)),
			map[string]any{"session": 7, "resumed": true, "token": "0102ff", "received": "300", "tick": fmt.Sprint(uint64(1) << 40), "rate": []int{60, 1}, "every": 2,
				"seed": fmt.Sprint(w.seed), "simVersion": 2, "scenario": "été", "schemaHash": fmt.Sprint(w.schema.Hash())}},
		{"Input", hex.EncodeToString(appendIntents(nil, []intent{{seq: 1, kind: 5}, {seq: 300, tick: 1 << 40, kind: 1<<32 - 1, data: []byte{0, 255}}})),
			map[string]any{"inputs": []map[string]any{{"seq": "1", "tick": "0", "kind": 5, "data": ""}, {"seq": "300", "tick": fmt.Sprint(uint64(1) << 40), "kind": uint32(1<<32 - 1), "data": "00ff"}}}},
		{"Ack", hex.EncodeToString(appendTick(nil, kindAck, 16384)), map[string]any{"tick": "16384"}},
		{"Look", hex.EncodeToString((&look{follow: big}).append(nil)), map[string]any{"follow": fmt.Sprint(big)}},
		{"Look", hex.EncodeToString((&look{x: 1.5, y: -2, z: 0.25, origin: [3]float64{0, -2048, 1 << 40}}).append(nil)), map[string]any{"point": []float32{1.5, -2, 0.25}, "origin": []float64{0, -2048, 1 << 40}}},
		{"Ping", hex.EncodeToString(appendPing(nil, big)), map[string]any{"t0": fmt.Sprint(big)}},
		{"Pong", hex.EncodeToString(appendPong(nil, 1, 1<<40, big)), map[string]any{"t0": "1", "t1": fmt.Sprint(uint64(1) << 40), "t2": fmt.Sprint(big)}},
		{"Resync", hex.EncodeToString(appendTick(nil, kindResync, 127)), map[string]any{"tick": "127"}},
		{"Error", hex.EncodeToString(appendError(nil, TooSlow, "too slow")), map[string]any{"code": 6, "text": "too slow"}},
	}
}

// text returns the file: a line for each message.
func (v *vectors) text(t *testing.T) []byte {
	var b bytes.Buffer
	line := func(value any) {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	list := func(n int, indent string, item func(i int)) {
		b.WriteString("[")
		for i := range n {
			b.WriteString("\n" + indent)
			if item(i); i < n-1 {
				b.WriteString(",")
			}
		}
		b.WriteString("]")
	}
	b.WriteString(`{"Sequences": `)
	list(len(v.Sequences), "", func(i int) {
		s := &v.Sequences[i]
		b.WriteString(`{"Name": `)
		line(s.Name)
		b.WriteString(`, "Welcome": `)
		line(s.Welcome)
		b.WriteString(`, "Frames": `)
		list(len(s.Frames), " ", func(k int) { line(s.Frames[k]) })
		b.WriteString(`, "Refused": `)
		list(len(s.Refused), " ", func(k int) { line(s.Refused[k]) })
		b.WriteString(`, "Values": `)
		line(s.Values)
		b.WriteString("}")
	})
	b.WriteString(",\n" + `"Rotations": `)
	list(len(v.Rotations), " ", func(i int) { line(v.Rotations[i]) })
	b.WriteString(",\n" + `"Messages": `)
	list(len(v.Messages), " ", func(i int) { line(v.Messages[i]) })
	b.WriteString("}\n")
	return b.Bytes()
}

// The file of test vectors is what the naive encoder makes, and covers each form of a message.
func TestVectors(t *testing.T) {
	seen := map[string]int{}
	v := makeVectors(t, seen)
	text := v.text(t)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorsFile, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, text) {
		t.Fatalf("%s is not what the encoder makes: go test -run TestVectors ./replica -update", vectorsFile)
	}
	if len(text) > 150_000 {
		t.Errorf("%d bytes", len(text))
	}
	requireForms(t, seen)
}

// The decoder of the package reads the file as any other does.
func TestDecodeVectors(t *testing.T) {
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	for _, s := range v.Sequences {
		message := decodeHex(t, s.Welcome)
		w, err := parseWelcome(message)
		if err != nil {
			t.Fatal(s.Name, err)
		}
		lay := newLayout(w.schema)
		var states []*State
		var d decoder
		state := func(i int) *State {
			if i < 0 {
				return lay.newState()
			}
			return states[i]
		}
		for k, f := range s.Frames {
			message := decodeHex(t, f.Frame)
			dst := lay.newState()
			if err := d.apply(message, state(f.Base), dst); err != nil {
				t.Fatal(s.Name, k, err)
			}
			got, want := dst.vector(headerOf(message)), f.State
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(want)
			if !bytes.Equal(a, b) {
				t.Fatalf("%s, frame %d:\n%s, want\n%s", s.Name, k, a, b)
			}
			states = append(states, dst)
		}
		for _, f := range s.Refused {
			message := decodeHex(t, f.Frame)
			if err := d.apply(message, state(f.Base), lay.newState()); err == nil {
				t.Errorf("%s: %s, and the frame is accepted", s.Name, f.Why)
			}
		}
	}
}

// The rotations of the file have the value that it says, which is within the error of their bits.
func TestRotationVectors(t *testing.T) {
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Rotations) < 30 {
		t.Fatalf("%d rotations", len(v.Rotations))
	}
	for _, r := range v.Rotations {
		lanes := [][]int32{{r.Lanes[0]}, {r.Lanes[1]}, {r.Lanes[2]}, {r.Lanes[3]}}
		if got := (Field{Bits: r.Bits}).quat(lanes, 0); got != r.Value {
			t.Errorf("%d: %v, want %v", r.Lanes, got, r.Value)
		}
		if by := degreesBetween(r.Rotation, r.Value); r.Bits > 2 && by > quatError(r.Bits) {
			t.Errorf("%v with %d bits is off by %.3f°", r.Rotation, r.Bits, by)
		}
	}
}

func (s *State) vector(h header) vectorState {
	n := &naiveState{tick: s.tick, at: s.at, left: s.left}
	for k, v := range s.origin {
		n.origin[k] = int64(v / 1024)
	}
	for i, slot := range s.slots {
		e := naiveEntity{slot: slot, id: uint64(s.ids[i]), jumped: slices.Contains(s.jumped, uint32(i))}
		for _, lane := range s.lanes {
			e.lanes = append(e.lanes, lane[i])
		}
		if k := slices.Index(s.own, uint32(i)); k >= 0 {
			e.own = true
			for _, lane := range s.owned {
				e.owned = append(e.owned, lane[k])
			}
		}
		if slices.Contains(s.entered, uint32(i)) {
			n.entered = append(n.entered, i)
		}
		n.list = append(n.list, e)
	}
	v := n.vector(&s.Schema)
	if h.flags&flagApplied != 0 {
		v.Applied, v.ResidenceMicro = strconv.FormatUint(h.applied, 10), strconv.FormatUint(h.residence, 10)
	}
	return v
}
