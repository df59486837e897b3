package replica

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

var testSchema = Schema{
	Groups: []Group{
		{Predicted: true, Fields: []Field{
			{Name: "position.x", Codec: KindQuantised, Kind: columns.Float32, Components: 1, Bits: 25, Step: 1.0 / 256},
			{Name: "rotation", Codec: KindQuat, Kind: columns.Float32, Components: 4, Bits: 10},
		}},
		{Fields: []Field{{Codec: KindTags, Kind: columns.Uint32, Components: 1, Bits: 32}}},
		{Owner: true, Fields: []Field{{Name: "gold", Codec: KindExact, Kind: columns.Uint64, Components: 1, Bits: 32}}},
	},
	Tags: []string{"red", ""},
}

// exchange is a message of one of the small kinds, with its parser: it returns the message that what was
// parsed makes again.
type exchange struct {
	name    string
	message []byte
	parse   func(message []byte) (again []byte, err error)
}

func exchanges() []exchange {
	hello := &Hello{Mode: Simulate, SimVersion: 3, Schema: 1 << 60, Credentials: []byte("user"), Token: []byte("token"), Held: 1 << 40}
	answer := &welcome{session: 9, resumed: true, token: []byte("token"), received: 7, tick: 1 << 33, rateNum: 60_000, rateDen: 1001, every: 3,
		seed: math.MaxUint64, simVersion: 2, scenario: "arena", schema: testSchema}
	parseHello := func(f []byte) ([]byte, error) {
		h, err := parseHello(f)
		return h.append(nil), err
	}
	parseIn := func(f []byte) ([]byte, error) {
		list, err := parseIntents(make([]intent, 2), f)
		return appendIntents(nil, list), err
	}
	parseLooks := func(f []byte) ([]byte, error) {
		l, err := parseLook(f)
		return l.append(nil), err
	}
	ticks := func(kind byte) func(f []byte) ([]byte, error) {
		return func(f []byte) ([]byte, error) {
			tick, err := parseTick(f, kind)
			return appendTick(nil, kind, tick), err
		}
	}
	return []exchange{
		{"Hello", hello.append(nil), parseHello},
		{"empty Hello", (&Hello{}).append(nil), parseHello},
		{"Welcome", answer.append(nil), func(f []byte) ([]byte, error) {
			w, err := parseWelcome(f)
			return w.append(nil), err
		}},
		{"Input", appendIntents(nil, []intent{{seq: 1}, {seq: math.MaxInt64, tick: math.MaxInt64, kind: math.MaxUint32, data: []byte("data")}}), parseIn},
		{"Ack", appendTick(nil, kindAck, 300), ticks(kindAck)},
		{"Resync", appendTick(nil, kindResync, 0), ticks(kindResync)},
		{"Look at an entity", (&look{follow: 77}).append(nil), parseLooks},
		{"Look at a point", (&look{x: -1, y: math.MaxFloat32, z: 0.5}).append(nil), parseLooks},
		{"Look at a point far from the first origin", (&look{x: -1, origin: [3]float64{1024, -1 << 62, 1 << 62}}).append(nil), parseLooks},
		{"Ping", appendPing(nil, 1<<63), func(f []byte) ([]byte, error) {
			t0, err := parsePing(f)
			return appendPing(nil, t0), err
		}},
		{"Pong", appendPong(nil, 1, 2, 3), func(f []byte) ([]byte, error) {
			t, err := parsePong(f)
			return appendPong(nil, t[0], t[1], t[2]), err
		}},
		{"Error", appendError(nil, Replaced, "ünder"), func(f []byte) ([]byte, error) {
			err := parseError(f)
			code := codeOf(err, 0)
			if code == 0 {
				return nil, err
			}
			_, text, _ := strings.Cut(err.Error(), ": \"")
			return appendError(nil, code, strings.TrimSuffix(text, `"`)), nil
		}},
	}
}

func TestFramesRoundTrip(t *testing.T) {
	for _, e := range exchanges() {
		again, err := e.parse(e.message)
		if err != nil || !bytes.Equal(again, e.message) {
			t.Errorf("%s: %v, and %q is not %q", e.name, err, again, e.message)
		}
		parsed, err := parseWelcome(e.message)
		if e.name == "Welcome" {
			check(t, err)
			if !reflect.DeepEqual(parsed.schema, testSchema) {
				t.Errorf("schema %+v", parsed.schema)
			}
		}
	}
}

// Every truncation is refused. A message with another bit is refused, or is the one encoding of something
// else.
func TestFramesRefuse(t *testing.T) {
	for _, e := range exchanges() {
		for n := range e.message {
			if _, err := e.parse(e.message[:n]); !errors.Is(err, fault.ErrCorrupt) {
				t.Errorf("%s: %d bytes: %v", e.name, n, err)
			}
		}
		if _, err := e.parse(append(slices.Clip(e.message), 0)); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%s: a byte too many: %v", e.name, err)
		}
		for i := range e.message {
			for bit := range 8 {
				f := bytes.Clone(e.message)
				f[i] ^= 1 << bit
				again, err := e.parse(f)
				if err == nil && !bytes.Equal(again, f) && e.name != "Error" { // its text was quoted
					t.Errorf("%s: bit %d of byte %d: %q was parsed as %q", e.name, bit, i, f, again)
				}
				if err != nil && !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrUnsupported) {
					t.Errorf("%s: bit %d of byte %d: %v", e.name, bit, i, err)
				}
			}
		}
	}
}

func TestHelloRefuses(t *testing.T) {
	message := (&Hello{Credentials: []byte("secret"), Token: []byte("token")}).append(nil)
	other := bytes.Clone(message)
	other[5] = Version + 1
	for _, f := range [][]byte{other, message[:len(message)-1]} {
		if h, err := parseHello(f); err == nil || !reflect.DeepEqual(h, Hello{}) {
			t.Errorf("%q: %+v, %v", f, h, err)
		}
	}
	if _, err := parseHello(other); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("another version: %v", err)
	}
}

func TestWelcomeRefuses(t *testing.T) {
	good := welcome{session: 1, rateNum: 60, rateDen: 1, every: 1}
	_, err := parseWelcome(good.append(nil))
	check(t, err)
	for name, change := range map[string]func(*welcome){
		"session 0":         func(w *welcome) { w.session = 0 },
		"a rate of 0":       func(w *welcome) { w.rateNum = 0 },
		"a rate by 0":       func(w *welcome) { w.rateDen = 0 },
		"a rate too high":   func(w *welcome) { w.rateNum = mostRate + 1 },
		"no updates":        func(w *welcome) { w.every = 0 },
		"too few updates":   func(w *welcome) { w.every = mostEvery + 1 },
		"a long scenario":   func(w *welcome) { w.scenario = strings.Repeat("x", mostName+1) },
		"a scenario in ???": func(w *welcome) { w.scenario = "\xff" },
		"a long token":      func(w *welcome) { w.token = make([]byte, mostToken+1) },
	} {
		w := good
		change(&w)
		if got, err := parseWelcome(w.append(nil)); !errors.Is(err, fault.ErrCorrupt) || !reflect.DeepEqual(got, welcome{}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	exact := Field{Name: "a", Codec: KindExact, Kind: columns.Uint8, Components: 1, Bits: 8}
	with := func(change func(*Field)) Schema {
		f := exact
		change(&f)
		return Schema{Groups: []Group{{Fields: []Field{f}}}}
	}
	read := func(s Schema) (Schema, error) {
		r := wire.NewReader(s.append(nil))
		got := readSchema(&r)
		return got, r.Err()
	}
	good := with(func(*Field) {})
	if got, err := read(good); err != nil || !reflect.DeepEqual(got, good) || got.Hash() != good.Hash() {
		t.Fatalf("%+v: %v", got, err)
	}
	nine := Group{Fields: slices.Repeat([]Field{exact}, mostLanes)}
	nine.Fields[0].Components = 2
	for name, s := range map[string]Schema{
		"a name that is missing":           with(func(f *Field) { f.Name = "" }),
		"a name that is too long":          with(func(f *Field) { f.Name = strings.Repeat("x", mostName+1) }),
		"a codec that does not exist":      with(func(f *Field) { f.Codec = 7 }),
		"no codec":                         with(func(f *Field) { f.Codec = 0 }),
		"a kind that does not exist":       with(func(f *Field) { f.Kind = 11 }),
		"no components":                    with(func(f *Field) { f.Components = 0 }),
		"nine components":                  with(func(f *Field) { f.Components = 9 }),
		"a step of Exact":                  with(func(f *Field) { f.Step = 1 }),
		"a step of -0":                     with(func(f *Field) { f.Step = float32(math.Copysign(0, -1)) }),
		"bits of Exact":                    with(func(f *Field) { f.Bits = 7 }),
		"Quantised of integers":            with(func(f *Field) { f.Codec, f.Step = KindQuantised, 1 }),
		"Quantised without a step":         with(func(f *Field) { f.Codec, f.Kind = KindQuantised, columns.Float32 }),
		"tags with a name":                 with(func(f *Field) { f.Codec, f.Kind, f.Bits = KindTags, columns.Uint32, 32 }),
		"Quat of another column":           with(func(f *Field) { f.Codec, f.Kind, f.Components = KindQuat, columns.Float32, 4 }),
		"an empty group":                   {Groups: []Group{{}}},
		"nine lanes":                       {Groups: []Group{nine}},
		"a public group after an owner's":  {Groups: []Group{{Owner: true, Fields: []Field{exact}}, {Fields: []Field{exact}}}},
		"an owner group that is predicted": {Groups: []Group{{Owner: true, Predicted: true, Fields: []Field{exact}}}},
		"33 tags":                          {Tags: make([]string, 33)},
		"a tag in ???":                     {Tags: []string{"\xff"}},
	} {
		if got, err := read(s); !errors.Is(err, fault.ErrCorrupt) || !reflect.DeepEqual(got, Schema{}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorText(t *testing.T) {
	for _, text := range []string{"", strings.Repeat("ü", 200), "x" + strings.Repeat("ü", 200), "\xff\xfe"} {
		err := parseError(appendError(nil, TooFast, text))
		if !errors.Is(err, TooFast) || errors.Is(err, fault.ErrCorrupt) || !utf8.ValidString(err.Error()) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, message := range [][]byte{{kindError, 0, 0}, {kindError, 1, 1, 0xff}, {kindError, 1}, {kindPing, 1, 0}} {
		if err := parseError(message); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%q: %v", message, err)
		}
	}
	for code := range Code(12) {
		if code.Error() == "" || code > 0 && !errors.Is(parseError(appendError(nil, code, "")), code) {
			t.Errorf("code %d", code)
		}
	}
}

// fuzzExchange fuzzes a parser: what it accepts has one encoding.
func fuzzExchange(f *testing.F, names ...string) {
	var parse func([]byte) ([]byte, error)
	for _, e := range exchanges() {
		if slices.Contains(names, e.name) {
			f.Add(e.message)
			parse = e.parse
		}
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		if again, err := parse(message); err == nil && !bytes.Equal(again, message) {
			t.Errorf("%q was parsed as %q", message, again)
		}
	})
}

func FuzzParseHello(f *testing.F)   { fuzzExchange(f, "Hello", "empty Hello") }
func FuzzParseWelcome(f *testing.F) { fuzzExchange(f, "Welcome") }
func FuzzParseIntents(f *testing.F) { fuzzExchange(f, "Input") }
func FuzzParseLook(f *testing.F)    { fuzzExchange(f, "Look at an entity", "Look at a point") }

func FuzzReadSchema(f *testing.F) {
	f.Add(testSchema.append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.NewReader(data)
		s := readSchema(&r)
		if r.Err() != nil {
			return
		}
		if !bytes.Equal(s.append(nil), data) {
			t.Errorf("%q was read as %+v", data, s)
		}
		for _, g := range s.Groups {
			g.laneBits()
		}
	})
}
