package replica

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// numbersOf returns the sequence numbers of inputs.
func numbersOf(list []evertick.Input) string {
	var s []string
	for _, in := range list {
		s = append(s, fmt.Sprint(in.Seq))
	}
	return strings.Join(s, " ")
}

func TestInputs(t *testing.T) {
	w := newWorld(t, 1, Config{Limits: Limits{Lead: 10}}, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	w.step(5)
	send := func(list ...intent) {
		t.Helper()
		check(t, p.Receive(appendIntents(nil, list)))
	}
	data := []byte("abc")
	send(intent{seq: 2, kind: 7, data: data}, intent{seq: 3, tick: 6})
	data[0] = 'x'                                                           // the message is not kept
	send(intent{seq: 1}, intent{seq: 2, kind: 8}, intent{seq: 4, tick: 15}) // 1 comes late, 2 again
	send(intent{seq: 5, tick: 16}, intent{seq: 6, tick: math.MaxInt64})     // beyond Lead
	send(intent{seq: 7, tick: 4})                                           // late
	w.step(1)
	first := w.took()
	expect(t, "tick 5", numbersOf(first), "1 2 7")
	if in := first[1]; in.Source != 1 || in.Kind != 7 || string(in.Data) != "abc" || in.At != 0 || in.Fraction != 0 {
		t.Errorf("input %+v", in)
	}
	w.step(1)
	expect(t, "tick 6", numbersOf(w.took()), "3")
	w.step(10)
	expect(t, "tick 15", numbersOf(w.took()), "4")
	send(intent{seq: 5}, intent{seq: 7}) // 5 was refused, so it is no repetition
	send(intent{seq: 200})
	send(intent{seq: 136}, intent{seq: 137})
	w.step(1)
	expect(t, "the rest", numbersOf(w.took()), "5 137 200")
	// The window ends above 136. Of the numbers up to there 6 was too early, 8 to 135 were not sent, and 136 came when it was out of the window.
	want := IntentStats{Pushed: 8, Duplicate: 3, Early: 2, Late: 1, Lost: 130}
	expect(t, "stats", w.stats().Intents, want)
	expect(t, "stats of the session", p.Stats().Intents, want)
	expect(t, "greatest", p.Stats().Sequence, 200)
}

// The window is that of a set of all numbers that have arrived, except that it takes those more than
// 63 below the greatest for ones that have.
func TestWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var w window
		seen, greatest := map[uint64]bool{}, uint64(0)
		for range 500 {
			seq := max(1, greatest-min(greatest, 70)+r.Uint64N(90))
			if r.IntN(100) == 0 {
				seq += r.Uint64N(1000)
			}
			want := seen[seq] || seq <= greatest && greatest-seq >= 64
			if got := w.has(seq); got != want {
				t.Fatalf("after %d: has(%d) = %v", greatest, seq, got)
			}
			if !want {
				w.add(seq)
				seen[seq] = true
				greatest = max(greatest, seq)
			}
		}
		expect(t, "greatest", w.greatest, greatest)
	}
}

func TestOnlyTheServerPushesJoinedAndLeft(t *testing.T) {
	for _, kind := range []uint32{notices.Joined, notices.Left} {
		w := newWorld(t, 1, notices, evertick.InputConfig{})
		p := w.mustJoin(Hello{})
		err := p.Receive(appendIntents(nil, []intent{{seq: 1, kind: 1}, {seq: 2, kind: kind}}))
		if !errors.Is(err, BadFrame) {
			t.Errorf("kind %d: %v", kind, err)
		}
		w.step(1)
		expect(t, "inputs", lifecycle(w.took()), "[+1]")
	}
}

// The time between arrival and tick is reported for the last input that a tick has applied.
func TestResidence(t *testing.T) {
	arrivals, err := loop.NewArrivals(loop.ArrivalsConfig{})
	check(t, err)
	w := newWorld(t, 1, Config{}, evertick.InputConfig{Arrivals: arrivals})
	p := w.mustJoin(Hello{})
	check(t, p.input(1, 0, 1, ""))
	w.clock.Add(3_000_000)
	check(t, p.input(2, 0, 1, ""))
	check(t, p.input(3, 2, 1, ""))
	w.clock.Add(500_000)
	w.step(1)
	st := p.Stats()
	if st.Applied != 2 || st.ResidenceUs != 500 || st.Arrivals.Pushed != 3 || st.Arrivals.Source != 1 {
		t.Errorf("applied %d after %d µs, %d arrivals", st.Applied, st.ResidenceUs, st.Arrivals.Pushed)
	}
	h := w.stats().InputToApplied
	if h.Count() != 2 || h.Min() != 500_000 || h.Max() != 3_500_000 {
		t.Errorf("%d inputs, from %d to %d ns", h.Count(), h.Min(), h.Max())
	}
	messages := p.conn.take()
	if h := headerOf(messages[len(messages)-1]); h.applied != 2 || h.residence != 500 {
		t.Errorf("the frame says %d after %d µs", h.applied, h.residence)
	}
	w.step(1)
	if h := headerOf(p.conn.take()[0]); h.flags&flagApplied != 0 {
		t.Error("the frame says again what an ordered connection has said before")
	}
	w.step(1)
	expect(t, "applied", p.Stats().Applied, 3)
	check(t, p.input(4, 10, 1, ""))
	for seq := range uint64(64) { // the last one takes the place of the time at which 4 arrived
		check(t, p.input(5+seq, 0, 1, ""))
	}
	w.step(10)
	h = w.stats().InputToApplied
	expect(t, "inputs whose arrival is known", h.Count(), 3+64)
}

// A message reports the inputs that were applied before its state, although a later tick has begun.
func TestAppliedBelongsToTheState(t *testing.T) {
	w := newWorld(t, 1, Config{Every: 3}, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	q, err := w.joinBy(&recorder{unordered: true}, Hello{})
	check(t, err)
	for seq := range uint64(9) {
		check(t, p.input(seq+1, 0, 1, ""))
		check(t, q.input(seq+1, 0, 1, ""))
		w.step(1)
	}
	for _, peer := range []*peer{p, q} {
		for i, message := range peer.conn.take() {
			if h := headerOf(message); h.tick != h.applied {
				t.Errorf("frame %d of session %d: tick %d, applied %d", i, peer.ID(), h.tick, h.applied)
			}
		}
	}
}

// Inputs of a recording, and those of ticks that run again, are not those of a client.
func TestInputsOfOtherRunsDoNotCount(t *testing.T) {
	sim, err := evertick.New(evertick.Config{History: evertick.HistoryConfig{Keep: 100}})
	check(t, err)
	s, err := New(sim, Config{Inline: true})
	check(t, err)
	defer s.Close()
	w := &world{t: t, sim: sim, Server: s}
	p := w.mustJoin(Hello{})
	check(t, p.input(1, 0, 1, ""))
	check(t, p.input(2, 3, 1, ""))
	w.step(5)
	check(t, sim.StepBack(4))
	check(t, sim.Forward(4))
	sim.SetInputs(func(_ uint64, dst []evertick.Input) ([]evertick.Input, error) {
		return append(dst, evertick.Input{Source: p.ID(), Seq: 9}), nil
	})
	w.step(1)
	expect(t, "applied", p.Stats().Applied, 2)
	h := w.stats().InputToApplied
	expect(t, "inputs", h.Count(), 2)
}

func TestFloodEndsAConnectionAndHurtsNoOther(t *testing.T) {
	w := newWorld(t, 1, Config{Limits: Limits{FramesPerSecond: 1000, BytesPerSecond: 1 << 20}}, evertick.InputConfig{Capacity: 100})
	flood, good := w.mustJoin(Hello{}), w.mustJoin(Hello{})
	seq := uint64(0)
	for tick := range 60 {
		for range 20 {
			seq++
			check(t, flood.input(seq, 0, 1, "flood"))
		}
		if tick%2 == 0 { // the queue is as full as it gets
			for range 100 {
				list := make([]intent, 2)
				for i := range list {
					seq++
					list[i] = intent{seq: seq, tick: w.sim.Ticks() + 100, kind: 1}
				}
				if tick < 10 {
					check(t, flood.Receive(appendIntents(nil, list)))
				}
			}
		}
		check(t, good.input(uint64(tick+1), 0, 1, "good"))
		w.step(1)
		w.clock.Add(16_666_667)
	}
	f, g := flood.Stats().Intents, good.Stats().Intents
	if f.Refused == 0 || g.Refused != 0 || g.Pushed != 60 {
		t.Errorf("flood: %+v, good: %+v", f, g)
	}
	expect(t, "applied", good.Stats().Applied, 60)

	var err error
	messages := 0
	for ; err == nil && messages < 10_000; messages++ {
		err = flood.input(1, 0, 1, "")
	}
	if !errors.Is(err, TooFast) || messages > 2001 {
		t.Errorf("%v after %d frames at once", err, messages)
	}
	expect(t, "Error", flood.lastError(t), TooFast)
	if err := flood.input(1, 0, 1, ""); !errors.Is(err, TooFast) {
		t.Errorf("afterwards: %v", err)
	}
	w.clock.Add(int64(time.Second))
	check(t, w.resume(flood, 0).input(1, 0, 1, "")) // the limit is that of the session, not of the connection
	check(t, good.input(61, 0, 1, ""))
	expect(t, "ended for it", w.stats().Fast, 1)
}

func TestBucket(t *testing.T) {
	b := bucket{perSecond: 10}
	take := func(now int64, n int, want bool) {
		t.Helper()
		if got := b.take(now, n); got != want {
			t.Errorf("at %d: %d units: %v", now, n, got)
		}
	}
	take(0, 20, true)
	take(0, 1, false)
	take(1e8-1, 1, false)
	take(1e8, 1, true)
	take(1e8, 1, false)
	take(1e10, 21, false)
	take(1e10, 20, true)
	take(0, 1, false) // time that goes back gives nothing
	b = bucket{perSecond: 1}
	take(0, mostMessageBytes, false)
	b = bucket{perSecond: mostPerSecond}
	take(0, mostMessageBytes, true)
}

func TestNonsenseEndsTheConnection(t *testing.T) {
	hello := Hello{}
	for _, c := range []struct {
		name    string
		message []byte
		want    Code
	}{
		{"nothing", []byte{}, BadFrame},
		{"nil", nil, BadFrame},
		{"a kind that does not exist", []byte{99}, BadFrame},
		{"a second Hello", hello.append(nil), BadFrame},
		{"a Welcome", []byte{kindWelcome}, BadFrame},
		{"an Update", []byte{kindUpdate, 1, 1, 0, 0}, BadFrame},
		{"a Pong", appendPong(nil, 1, 2, 3), BadFrame},
		{"no inputs", []byte{kindInput, 0}, BadFrame},
		{"65 inputs", appendIntents(nil, make([]intent, 65)), BadFrame},
		{"sequence number 0", appendIntents(nil, []intent{{}}), BadFrame},
		{"descending sequence numbers", appendIntents(nil, []intent{{seq: 2}, {seq: 1}}), BadFrame},
		{"a sequence number of 2^63", appendIntents(nil, []intent{{seq: 1 << 63}}), BadFrame},
		{"a Ping with a byte too many", append(appendPing(nil, 1), 0), BadFrame},
		{"a Look at NaN", (&look{x: float32(math.NaN())}).append(nil), BadFrame},
		{"a Look at no entity", []byte{kindLook, 0, 0, 0, 0, 0, 0, 0, 0, 0}, BadFrame},
		{"an Ack of a long varint", []byte{kindAck, 0x81, 0}, BadFrame},
		{"a frame that is too long", make([]byte, 4097), BadFrame},
		{"the farewell of a client", appendError(nil, Closing, "bye"), BadFrame},
	} {
		w := newWorld(t, 1, Config{Limits: Limits{FrameBytes: 4096}}, evertick.InputConfig{})
		p := w.mustJoin(Hello{})
		err := p.Receive(c.message)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		expect(t, c.name+": Error", p.lastError(t), c.want)
		if again := p.Receive(appendPing(nil, 1)); !errors.Is(again, c.want) {
			t.Errorf("%s: afterwards %v", c.name, again)
		}
		p.Disconnected()
		if back := w.resume(p, 0); !back.welcome.resumed {
			t.Errorf("%s: the session has ended", c.name)
		}
	}
}

func TestPing(t *testing.T) {
	w := newWorld(t, 1, Config{}, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	w.clock.Add(1234)
	check(t, p.Receive(appendPing(nil, 77)))
	pong, err := parsePong(p.conn.take()[0])
	check(t, err)
	expect(t, "Pong", pong, [3]uint64{77, 1234, 1234})
	p.conn.setFull(true)
	check(t, p.Receive(appendPing(nil, 78))) // it is lost, and nothing else
	check(t, p.input(1, 0, 1, ""))
	ping := appendPing(nil, 1)
	if n := testing.AllocsPerRun(100, func() { _ = p.Receive(ping) }); n > 0 {
		t.Errorf("%v allocations for a Ping", n)
	}
}

func TestLook(t *testing.T) {
	const n = 100
	id := func(slot int) ecs.ID { return ecs.ID(slot + 1) }
	for _, free := range []bool{false, true} {
		w := newSim(t, n, evertick.InputConfig{})
		w.owner.Values()[20], w.owner.Values()[30] = 1, 1
		w.serve(Config{Owner: "owner", View: ViewConfig{Enter: 1.5}, Authorize: grants(Grant{Free: free}), Limits: Limits{FramesPerSecond: 1e6}})
		p := w.mustJoin(Hello{})
		if p.ID() == 1 {
			t.Fatal("the owners in the world were not seen")
		}
		for i, v := range w.owner.Values()[:n] {
			if v == 1 {
				w.owner.Values()[i] = p.ID()
			}
		}
		w.owner.Touch()
		client := newMirror(t, p.welcome.schema)
		sees := func(what string, want ...uint32) {
			t.Helper()
			w.step(1)
			for _, message := range p.conn.take() {
				client.apply(message)
			}
			if got := client.state.Slots(); !slices.Equal(got, want) {
				t.Errorf("free %v: %s: sees %v, want %v", free, what, got, want)
			}
		}
		sees("the first entity that it owns", 19, 20, 21, 30)
		check(t, p.Receive((&look{follow: uint64(id(30))}).append(nil)))
		sees("another one", 20, 29, 30, 31)
		check(t, p.Receive((&look{follow: uint64(id(50))}).append(nil)))
		sees("one of nobody", 19, 20, 21, 30)
		check(t, p.Receive((&look{follow: 1 << 40}).append(nil)))
		sees("one that does not exist", 19, 20, 21, 30)
		check(t, p.Receive((&look{follow: uint64(id(30))}).append(nil)))
		sees("its own again", 20, 29, 30, 31)
		w.owner.Values()[30] = 0
		w.owner.Touch()
		sees("one that it owns no more", 19, 20, 21)
		check(t, p.Receive((&look{x: 70}).append(nil)))
		if free {
			sees("a point", 20, 69, 70, 71)
		} else {
			sees("a point that is not allowed", 19, 20, 21)
		}
		p.Follow(id(50))
		sees("what the host wants", 20, 49, 50, 51)
		p.LookAt(10, 0, 0)
		sees("where the host wants", 9, 10, 11, 20)
		p.LookAt(float32(math.Inf(1)), 0, 0)
		sees("no finite point", 9, 10, 11, 20)
		p.Follow(0)
		sees("the default", 19, 20, 21)
	}
}

// mirror applies the messages of an ordered connection.
type mirror struct {
	t     testing.TB
	d     decoder
	state *State
}

func newMirror(t testing.TB, s Schema) *mirror {
	lay := newLayout(s)
	return &mirror{t: t, d: decoder{lay: lay}, state: lay.newState()}
}

func (m *mirror) apply(message []byte) {
	m.t.Helper()
	r := wire.NewReader(message)
	h := readHeader(&r)
	next := m.d.lay.newState()
	check(m.t, m.d.decode(&r, &h, m.state, next))
	m.state = next
}

func TestMaskAndResync(t *testing.T) {
	w := newSim(t, 4, evertick.InputConfig{})
	category, err := ecs.AddColumn[uint32](w.sim.World, "category")
	check(t, err)
	copy(category.Values(), []uint32{1, 2, 4, 3})
	w.serve(Config{View: ViewConfig{Category: "category"}, Authorize: grants(Grant{Mask: 7})})
	p := w.mustJoin(Hello{})
	client := newMirror(t, p.welcome.schema)
	sees := func(kind string, want ...uint32) {
		t.Helper()
		w.step(1)
		messages := p.conn.take()
		expect(t, "kinds", kinds(messages), kind)
		for _, f := range messages {
			client.apply(f)
		}
		if got := client.state.Slots(); !slices.Equal(got, want) {
			t.Errorf("sees %v, want %v", got, want)
		}
	}
	sees("K", 0, 1, 2, 3)
	p.SetMask(2)
	sees("U", 1, 3)
	check(t, p.input(1, 0, 1, ""))
	sees("U", 1, 3)
	check(t, p.Receive(appendTick(nil, kindResync, 2)))
	w.step(1)
	messages := p.conn.take()
	if h := headerOf(messages[0]); len(messages) != 1 || !h.keyframe || h.applied != 1 { // the client has ignored the message that said it
		t.Errorf("after a Resync: %q, applied %d", kinds(messages), h.applied)
	}
	client.apply(messages[0])
	sees("U", 1, 3)
	expect(t, "causes", w.stats().Keyframes, KeyframeCauses{Join: 1, Resync: 1})
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = p.Receive(appendTick(nil, kindResync, 0))
	}
	if !errors.Is(err, TooFast) || n > 2*resyncsPerSecond+1 {
		t.Errorf("%d Resync frames at once: %v", n, err)
	}
}

func TestAck(t *testing.T) {
	w := newWorld(t, 3, Config{}, evertick.InputConfig{})
	p, err := w.joinBy(&recorder{unordered: true}, Hello{})
	check(t, err)
	w.step(1)
	expect(t, "first frame", kinds(p.conn.take()), "K")
	check(t, p.Receive(appendTick(nil, kindAck, 1)))
	check(t, p.Receive(appendTick(nil, kindAck, 1<<40))) // of no state: it does not count
	check(t, p.input(1, 0, 1, ""))
	for tick := uint64(2); tick < 30; tick++ {
		w.step(1)
		messages := p.conn.take()
		expect(t, "frame", kinds(messages), "U")
		base := max(1, tick/3)
		if h := headerOf(messages[0]); h.tick != tick || h.tick-h.age != base {
			t.Errorf("Update of tick %d to %d, want that to %d", h.tick-h.age, h.tick, base)
		} else if h.applied != 1 { // any of them may be lost
			t.Errorf("the frame of tick %d says that input %d was applied", h.tick, h.applied)
		}
		check(t, p.Receive(appendTick(nil, kindAck, max(1, (tick+1)/3))))
		check(t, p.Receive(appendTick(nil, kindAck, 1))) // an old one arrives late
	}
}

// Whatever a client sends, the server neither panics nor changes anything for another client.
func FuzzReceive(f *testing.F) {
	hello := Hello{Credentials: []byte("x")}
	f.Add(appendIntents(nil, []intent{{seq: 1, tick: 2, kind: 3, data: []byte("data")}, {seq: 9}}))
	f.Add(appendTick(nil, kindAck, 1))
	f.Add(appendTick(nil, kindResync, 1))
	f.Add(appendPing(nil, 1))
	f.Add((&look{follow: 1}).append(nil))
	f.Add((&look{x: 1}).append(nil))
	f.Add(appendError(nil, TooSlow, "x"))
	f.Add(hello.append(nil))
	f.Fuzz(func(t *testing.T, message []byte) {
		c := notices
		c.Owner, c.View, c.Authorize = "owner", ViewConfig{Enter: 5}, grants(Grant{Free: true})
		w := newWorld(t, 3, c, evertick.InputConfig{})
		other := w.mustJoin(Hello{})
		w.step(1)
		other.conn.take()
		p, err := w.joinBy(new(recorder), Hello{})
		check(t, err)
		err = p.Receive(message)
		if err != nil && codeOf(err, 0) == 0 {
			t.Errorf("an error without a Code: %v", err)
		}
		_, _ = w.Join(t.Context(), new(recorder), message)
		w.step(2)
		expect(t, "frames of another client", kinds(other.conn.take()), "UU")
	})
}
