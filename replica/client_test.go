package replica

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// bench is a client whose messages are kept, and a clock that stands still.
type bench struct {
	*Client
	t     testing.TB
	clock *loop.ManualClock
	sent  [][]byte
	full  bool // the connection takes nothing
}

func newBench(t testing.TB, c ClientConfig) *bench {
	t.Helper()
	b := &bench{t: t, clock: new(loop.ManualClock)}
	c.Clock = b.clock
	c.Send = func(message []byte) bool {
		if b.full {
			return false
		}
		b.sent = append(b.sent, bytes.Clone(message))
		return true
	}
	var err error
	if b.Client, err = NewClient(c); err != nil {
		t.Fatal(err)
	}
	return b
}

// take returns the messages that were sent since the last call, of a kind.
func (b *bench) take(kind byte) (messages [][]byte) {
	for _, f := range b.sent {
		if f[0] == kind {
			messages = append(messages, f)
		}
	}
	b.sent = nil
	return messages
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// join connects, and answers with a Welcome.
func (b *bench) join(w welcome) {
	b.t.Helper()
	b.must(b.Connect())
	b.must(b.Receive(w.append(nil)))
}

func plainWelcome(s Schema) welcome {
	return welcome{session: 3, token: []byte("token"), rateNum: 60, rateDen: 1, every: 1, schema: s}
}

func (b *bench) stats() ClientStats {
	var s ClientStats
	b.Stats(&s)
	return s
}

// A client on a transport that loses, repeats and reorders messages has, after each message that it applies,
// the state of the encoder.
func TestClientUnordered(t *testing.T) {
	for round := range 30 {
		seed := paritytest.Seed() + uint64(round)
		r := rand.New(rand.NewPCG(seed, 23))
		schema := &testSchemas[round%len(testSchemas)].Schema
		n := &naiveEncoder{Rand: r, schema: schema, seen: map[string]int{}}
		world := newNaiveWorld(r, schema, 30)
		b := newBench(t, ClientConfig{})
		b.join(plainWelcome(*schema))
		states := map[uint64]*naiveState{}
		var acked, last *naiveState
		var air [][]byte
		for range 150 {
			truth := world.advance()
			var message []byte
			if r.IntN(30) == 0 {
				acked = nil
			}
			message, last = n.encode(acked, last, truth)
			states[last.tick] = last
			if r.IntN(4) > 0 {
				air = append(air, message)
			}
			for len(air) > 0 && r.IntN(4) > 0 {
				i := r.IntN(len(air))
				before := b.State().Tick()
				if err := b.Receive(air[i]); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if now := b.State().Tick(); now != before {
					if diff := states[now].differs(b.State()); diff != "" {
						t.Fatalf("seed %d, tick %d: %s", seed, now, diff)
					}
				}
				if r.IntN(3) > 0 {
					air = slices.Delete(air, i, i+1)
				}
			}
			for _, f := range b.take(kindAck) {
				if tick, err := parseTick(f, kindAck); err != nil {
					t.Fatal(err)
				} else if r.IntN(4) > 0 && (acked == nil || tick > acked.tick) {
					acked = states[tick]
				}
			}
			if len(air) > 20 {
				air = air[10:]
			}
		}
		if s := b.stats(); s.Frames < 20 || s.Keyframes == 0 || s.Keyframes == s.Frames || s.Old == 0 || s.Refused+s.Mismatch > 0 {
			t.Errorf("seed %d: %+v", seed, s)
		}
	}
}

// ordered returns a client with the first messages of a sequence of deltas, and the sequence.
func orderedSequence(t testing.TB, schema *Schema, messages int) (*bench, *naiveEncoder, *naiveWorld, *naiveState) {
	t.Helper()
	r := rand.New(rand.NewPCG(paritytest.Seed(), 29))
	n := &naiveEncoder{Rand: r, schema: schema, seen: map[string]int{}}
	world := newNaiveWorld(r, schema, 20)
	b := newBench(t, ClientConfig{Ordered: true})
	b.join(plainWelcome(*schema))
	var last *naiveState
	for range messages {
		var message []byte
		message, last = n.encode(last, last, world.advance())
		b.must(b.Receive(message))
		if diff := last.differs(b.State()); diff != "" {
			t.Fatal(diff)
		}
	}
	return b, n, world, last
}

// A message whose Check differs is not applied: the client asks for a Keyframe, and ignores what follows.
func TestClientMismatch(t *testing.T) {
	b, n, world, last := orderedSequence(t, &testSchemas[0].Schema, 5)
	b.take(0)
	before := b.State().text()
	var message []byte
	var after *naiveState
	for message == nil || headerOf(message).flags&flagCheck == 0 {
		message, after = n.encode(last, last, world.advance())
	}
	message[len(message)-1] ^= 1
	b.full = true
	b.must(b.Receive(message))
	b.full = false
	for range 2*resyncMessages + 1 {
		var next []byte
		next, after = n.encode(after, after, world.advance())
		b.must(b.Receive(next))
	}
	if b.State().text() != before {
		t.Error("the state changes")
	}
	resyncs := b.take(kindResync)
	if s := b.stats(); s.Mismatch != 1 || s.Resyncs != 3 || len(resyncs) != 3 || s.Baseless != 2*resyncMessages+1 {
		t.Errorf("%d Resyncs, %+v", len(resyncs), s)
	}
	key, after := n.encode(nil, after, world.advance())
	b.must(b.Receive(key))
	if diff := after.differs(b.State()); diff != "" {
		t.Error(diff)
	}
}

// A message that is cut short or altered changes nothing if it is refused.
func TestClientKeepsItsState(t *testing.T) {
	for i := range testSchemas {
		b, n, world, last := orderedSequence(t, &testSchemas[i].Schema, 4)
		message, after := n.encode(last, last, world.advance())
		before := b.State().text()
		for cut := range message {
			if err := b.Receive(message[:cut]); !errors.Is(err, fault.ErrCorrupt) {
				t.Fatalf("%d of %d bytes: %v", cut, len(message), err)
			}
		}
		for k := 1; k < len(message); k++ { // in a copy of the client, so that it may take the message
			bad := bytes.Clone(message)
			bad[k] ^= 1 << (k % 8)
			if err := b.Receive(bad); err == nil && b.State().text() != before {
				break // a legal message
			}
			if b.State().text() != before {
				t.Fatal("the state changes")
			}
		}
		if b.State().text() == before {
			b.must(b.Receive(message))
			if diff := after.differs(b.State()); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// Each message of the server that is cut short or altered is refused or harmless.
func TestClientOtherFrames(t *testing.T) {
	for _, m := range testMessages() {
		message := decodeHex(t, m.Frame)
		try := func(f []byte) error {
			b := newBench(t, ClientConfig{})
			if m.Name != "Welcome" {
				b.join(plainWelcome(testSchemas[0].Schema))
				b.must(b.Ping())
			} else {
				b.must(b.Connect())
			}
			return b.Receive(f)
		}
		err, code := try(message), Code(0)
		switch m.Name {
		case "Welcome", "Pong":
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		case "Error":
			if !errors.As(err, &code) || code != TooSlow {
				t.Errorf("Error: %v", err)
			}
		default:
			if !errors.Is(err, fault.ErrCorrupt) {
				t.Errorf("%s, which clients send: %v", m.Name, err)
			}
		}
		for cut := range message {
			if err := try(message[:cut]); !errors.Is(err, fault.ErrCorrupt) {
				t.Errorf("%s: %d bytes: %v", m.Name, cut, err)
			}
		}
		for bit := range 8 * len(message) {
			bad := bytes.Clone(message)
			bad[bit/8] ^= 1 << (bit % 8)
			_ = try(bad) // must not panic
		}
	}
	b := newBench(t, ClientConfig{})
	b.join(plainWelcome(Schema{}))
	for _, kind := range []byte{kindSnapshot, kindInputs} {
		if err := b.Receive([]byte{kind, 0}); !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("kind %d: %v", kind, err)
		}
	}
}

func FuzzClient(f *testing.F) {
	for _, m := range testMessages() {
		f.Add(decodeHex(f, m.Frame), []byte{})
	}
	s := newSequence(&testSchemas[1].Schema, 9, 10, 6, map[string]int{})
	for _, message := range s.messages[1:] {
		f.Add(s.messages[0], message)
	}
	w := plainWelcome(testSchemas[1].Schema)
	f.Fuzz(func(t *testing.T, one, two []byte) {
		for _, ordered := range []bool{false, true} {
			b := newBench(t, ClientConfig{Ordered: ordered})
			b.must(b.Connect())
			_ = b.Receive(w.append(nil))
			for _, message := range [][]byte{one, two} {
				before := b.State().text()
				if err := b.Receive(message); err != nil && b.State().text() != before && !bytes.HasPrefix(message, []byte{kindWelcome}) {
					t.Fatalf("%v, and the state changes", err)
				}
				if fault := b.State().fault(); fault != "" {
					t.Fatal(fault)
				}
				b.Playback().Advance()
				for _, f := range b.State().Groups {
					for _, f := range f.Fields {
						_, _ = b.Playback().Append(nil, f.Name, 0)
					}
				}
			}
		}
	})
}

// A client with another schema sends an Error message, and a session that is not resumed begins anew.
func TestClientWelcome(t *testing.T) {
	s := &testSchemas[0].Schema
	b := newBench(t, ClientConfig{Schema: s.Hash() + 1, Ordered: true})
	b.must(b.Connect())
	w := plainWelcome(*s)
	if err := b.Receive(w.append(nil)); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("another schema: %v", err)
	}
	if messages := b.take(kindError); len(messages) != 1 {
		t.Errorf("%d Error frames", len(messages))
	} else if code := Code(0); !errors.As(parseError(messages[0]), &code) || code != WrongVersion {
		t.Error(parseError(messages[0]))
	}
	if _, ok := b.Welcome(); ok {
		t.Error("the client has joined")
	}

	b, n, world, last := orderedSequence(t, s, 3)
	held := b.State().text()
	hello := func() Hello {
		t.Helper()
		b.take(0)
		b.must(b.Connect())
		h, err := parseHello(b.take(kindHello)[0])
		b.must(err)
		return h
	}
	if h := hello(); h.Held != last.tick || string(h.Token) != "token" {
		t.Errorf("%+v", h)
	}
	message, after := n.encode(last, last, world.advance())
	b.must(b.Receive(message))
	if b.State().text() != held || b.stats().Early != 1 {
		t.Error("a frame before the Welcome is not ignored")
	}
	w.resumed, w.tick, w.token = true, last.tick+1, []byte("another")
	b.must(b.Receive(w.append(nil)))
	b.must(b.Receive(message))
	if diff := after.differs(b.State()); diff != "" {
		t.Error(diff)
	}
	w.resumed = false
	b.must(b.Receive(w.append(nil))) // the second on this connection
	if b.State().Tick() != after.tick {
		t.Error("a second Welcome is not ignored")
	}
	if h := hello(); string(h.Token) != "another" {
		t.Errorf("%+v", h)
	}
	b.must(b.Receive(w.append(nil)))
	if b.State().Tick() != 0 || len(b.State().Slots()) != 0 {
		t.Error("a new session has the old state")
	}
	message, after = n.encode(nil, nil, world.advance())
	b.must(b.Receive(message))
	if diff := after.differs(b.State()); diff != "" {
		t.Error(diff)
	}
}

// After warm-up messages, inputs, Pings and drawing allocate nothing.
func TestClientAllocs(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		r := rand.New(rand.NewPCG(1, 2))
		schema := &testSchemas[1].Schema
		n := &naiveEncoder{Rand: r, schema: schema, seen: map[string]int{}}
		world := newNaiveWorld(r, schema, 100)
		for slot := uint32(0); len(world.now.list) < 100; slot++ { // so that later lists are not longer
			world.spawn(slot)
		}
		var last *naiveState
		var messages [][]byte
		for range 300 {
			message := []byte(nil)
			message, last = n.encode(last, last, world.advance())
			messages = append(messages, message)
		}
		clock := new(loop.ManualClock)
		c, err := NewClient(ClientConfig{Clock: clock, Ordered: ordered, Send: func([]byte) bool { return true }})
		if err != nil {
			t.Fatal(err)
		}
		w := plainWelcome(*schema)
		pong, column := appendPong(nil, 0, 1, 2), []float32(nil)
		if err := errors.Join(c.Connect(), c.Receive(w.append(nil))); err != nil {
			t.Fatal(err)
		}
		data, k := []byte("data"), 0
		step := func() {
			clock.Add(16e6)
			_, err1 := c.Input(1, data, 0)
			err2, err3 := c.Ping(), c.Receive(pong)
			err4 := c.Receive(messages[k])
			k++
			c.Playback().Advance()
			column, _ = c.Playback().Append(column[:0], "x", 0)
			column, _ = AppendValues(column[:0], c.State(), "x", 0)
			if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
				t.Fatal(err1, err2, err3, err4)
			}
			if k%50 == 0 {
				c.queue.drop(len(c.queue.list))
			}
		}
		for range 200 {
			step()
		}
		if n := testing.AllocsPerRun(90, step); n != 0 {
			t.Errorf("ordered %t: %g allocations", ordered, n)
		}
	}
}

// intents returns the inputs in the Input messages that were sent.
func (b *bench) intents() (all [][]intent) {
	for _, f := range b.take(kindInput) {
		list, err := parseIntents(nil, f)
		b.must(err)
		all = append(all, list)
	}
	return all
}

func seqs(messages [][]intent) string {
	text := ""
	for _, f := range messages {
		text += "|"
		for _, in := range f {
			text += fmt.Sprint(in.seq, " ")
		}
	}
	return text
}

// empty returns a message without entities, which says which input was applied; 0: none.
func emptyMessage(tick, applied, residence uint64) []byte {
	f := wire.AppendUvarints([]byte{kindKeyframe}, tick)
	if f = append(f, 0); applied > 0 {
		f[len(f)-1] = flagApplied
	}
	if f = wire.AppendUvarints(f, tick*1000); applied > 0 {
		f = wire.AppendUvarints(f, applied, residence)
	}
	return append(f, 0)
}

// Inputs are sent until they have arrived, also over a later connection.
func TestClientInputs(t *testing.T) {
	w := plainWelcome(Schema{})
	b := newBench(t, ClientConfig{Ordered: true})
	if _, err := b.Input(1, nil, 0); !errors.Is(err, ErrNoSession) {
		t.Errorf("before the Welcome: %v", err)
	}
	b.join(w)
	expect := func(what, want string) {
		t.Helper()
		if got := seqs(b.intents()); got != want {
			t.Errorf("%s: inputs %s, want %s", what, got, want)
		}
	}
	send := func(n int) {
		t.Helper()
		for range n {
			_, err := b.Input(7, []byte("x"), 0)
			b.must(err)
		}
	}
	send(2)
	expect("ordered", "|1 |2 ")
	b.full = true
	send(2)
	b.full = false
	expect("a full connection", "")
	b.must(b.Receive(emptyMessage(5, 1, 0)))
	expect("when it takes frames again", "|3 4 ")
	if b.Waiting() != 3 {
		t.Errorf("%d wait", b.Waiting())
	}
	w.resumed, w.received = true, 2
	b.join(w)
	expect("after a resume", "|3 4 ")
	b.must(b.Connect())
	send(1)
	expect("before the Welcome", "")
	w.received = 4
	b.must(b.Receive(w.append(nil)))
	expect("after another resume", "|5 ")
	w.resumed, w.received = false, 0
	b.join(w)
	if seq, err := b.Input(7, nil, 0); seq != 1 || err != nil || b.Waiting() != 1 {
		t.Errorf("a new session: number %d, %v, %d wait", seq, err, b.Waiting())
	}

	b = newBench(t, ClientConfig{})
	b.join(plainWelcome(Schema{}))
	send(3)
	expect("unordered", "|1 |1 2 |1 2 3 ")
	b.must(b.Receive(emptyMessage(5, 2, 0)))
	send(1)
	expect("unordered, after 2", "|3 4 ")
	for range idleMessages {
		b.must(b.Receive(emptyMessage(b.State().Tick()+1, 0, 0)))
	}
	expect("unordered, after some frames", "|3 4 ")
	send(100)
	if messages := b.intents(); len(messages) != 100 || len(messages[99]) != mostInputs {
		t.Errorf("%d frames", len(messages))
	}
	_, err := b.Input(1, make([]byte, mostInputBytes), 0)
	b.must(err)
	send(1)
	if messages := b.intents(); len(messages) != 2 || len(messages[1]) != 1 {
		t.Errorf("a large input is repeated: %s", seqs(messages))
	}

	for b.Waiting() < mostWaiting {
		send(1)
	}
	if _, err := b.Input(1, nil, 0); !errors.Is(err, fault.ErrCapacity) {
		t.Errorf("too many: %v", err)
	}
	b.queue.drop(1)
	if _, err := b.Input(1, make([]byte, mostInputBytes+1), 0); !errors.Is(err, fault.ErrCapacity) {
		t.Errorf("too long: %v", err)
	}
	if _, err := b.Input(1, nil, 1<<63); !errors.Is(err, fault.ErrRange) {
		t.Errorf("tick: %v", err)
	}
	other := plainWelcome(Schema{})
	other.token = []byte("of another session")
	b.join(other)
	if b.Waiting() != 0 {
		t.Errorf("%d inputs of a session that is gone", b.Waiting())
	}
}

func TestClientLook(t *testing.T) {
	b := newBench(t, ClientConfig{})
	if err := b.Follow(3); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
	b.join(plainWelcome(Schema{}))
	b.must(errors.Join(b.Follow(3), b.LookAt(1, 2, 3)))
	if messages := b.take(kindLook); len(messages) != 2 {
		t.Errorf("%d frames", len(messages))
	} else if l, err := parseLook(messages[0]); err != nil || l.follow != 3 {
		t.Error(l, err)
	}
	inf := float32(math.Inf(1))
	if err := b.LookAt(0, inf, 0); err == nil {
		t.Error("an infinite point")
	}
	if err := b.Follow(0); !errors.Is(err, fault.ErrRange) {
		t.Error(err)
	}
	b.full = true
	if err := errors.Join(b.Follow(1)); !errors.Is(err, fault.ErrCapacity) {
		t.Error(err)
	}
}

// The Ping of the least round trip decides, and the estimates follow from it.
func TestClientClock(t *testing.T) {
	b := newBench(t, ClientConfig{Ordered: true})
	b.clock.Set(5e9)
	w := plainWelcome(Schema{})
	w.tick = 1000
	b.join(w)
	const offset = 300e9 // of the server
	b.clock.Add(1e9)
	if tick := b.ServerTick(); tick != 1060 {
		t.Errorf("a second after the Welcome it is tick %d", tick)
	}
	ping := func(out, back int64) {
		t.Helper()
		sent := b.clock.Now()
		b.must(b.Ping())
		t0, err := parsePing(b.take(kindPing)[0])
		if err != nil || int64(t0) != sent {
			t.Fatal(t0, err)
		}
		b.clock.Add(out + 1e6 + back)
		pong := appendPong(nil, t0, uint64(sent+out+offset), uint64(sent+out+offset+1e6))
		b.must(b.Receive(pong))
		b.must(b.Receive(pong)) // twice
	}
	if _, _, ok := b.Offset(); ok {
		t.Error("an offset before the first Ping")
	}
	ping(50e6, 10e6)
	if o, trip, ok := b.Offset(); !ok || o != offset+20e6 || trip != 60e6 {
		t.Error(o, trip, ok)
	}
	ping(2e6, 2e6)
	ping(90e6, 0)
	if o, trip, _ := b.Offset(); o != offset || trip != 4e6 {
		t.Error(o, trip)
	}
	if lead := b.queue.lead.now(&b.sync); math.Abs(lead-(leadMargin+0.12)) > 1e-9 { // 2 ms
		t.Errorf("lead %v", lead)
	}
	at := (b.clock.Now() + offset) / 1000
	b.clock.Add(7e6)
	f := wire.AppendUvarints(append(wire.AppendUvarints([]byte{kindKeyframe}, 2000), 0), uint64(at), 0)
	b.must(b.Receive(f))
	s := b.stats()
	if s.Latency.Count() != 1 || s.Latency.Max() < 7e6 || s.Latency.Max() > 7e6+1000 {
		t.Errorf("latency %d", s.Latency.Max())
	}
	b.clock.Add(93e6 + 1e6)
	if tick := b.ServerTick(); tick != 2006 {
		t.Errorf("101 ms after tick 2000 it is tick %d", tick)
	}
	for range pings {
		ping(30e6, 0)
	}
	if _, trip, _ := b.Offset(); trip != 30e6 {
		t.Errorf("the least round trip of the last %d is %d", pings, trip)
	}
	b.must(b.Receive(appendPong(nil, 12345, 1, 2)))
	if _, trip, _ := b.Offset(); trip != 30e6 {
		t.Error("a Pong without a Ping counts")
	}
}

func TestClientConfigValidate(t *testing.T) {
	send := func([]byte) bool { return true }
	for _, c := range []ClientConfig{{}, {Send: send, Mode: 2}, {Send: send, States: 1}, {Send: send, States: 33}, {Send: send, Token: make([]byte, 257)},
		{Send: send, Credentials: make([]byte, 4097)}} {
		if _, err := NewClient(c); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A host may read a Welcome before it has a client.
func TestParseWelcome(t *testing.T) {
	w := plainWelcome(Schema{})
	w.seed, w.scenario = 77, "duel"
	message := w.append(nil)
	got, ok, err := ParseWelcome(message)
	if !ok || err != nil || got.Seed != 77 || got.Scenario != "duel" || got.Session != 3 {
		t.Error(got, ok, err)
	}
	for _, other := range [][]byte{nil, {kindPong}} {
		if _, ok, err := ParseWelcome(other); ok || err != nil {
			t.Errorf("%v: %t, %v", other, ok, err)
		}
	}
	if _, ok, err := ParseWelcome(message[:len(message)-1]); ok || !errors.Is(err, fault.ErrCorrupt) {
		t.Error(ok, err)
	}
}
