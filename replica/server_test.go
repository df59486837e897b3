package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// recorder is a connection that keeps what it takes.
type recorder struct {
	unordered bool
	address   string

	mu       sync.Mutex
	full     bool // it takes nothing
	closed   int
	messages [][]byte
	onSend   func(message []byte) // called without the lock
}

func (r *recorder) Send(message []byte) bool {
	r.mu.Lock()
	full, onSend := r.full || r.closed > 0, r.onSend
	if !full {
		r.messages = append(r.messages, bytes.Clone(message))
	}
	r.mu.Unlock()
	if !full && onSend != nil {
		onSend(message)
	}
	return !full
}

func (r *recorder) Ordered() bool { return !r.unordered }

func (r *recorder) Address() string { return r.address }

func (r *recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed++
}

func (r *recorder) setFull(full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full = full
}

// take returns the messages since the last call.
func (r *recorder) take() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	messages := r.messages
	r.messages = nil
	return messages
}

// kinds returns the kinds of messages.
func kinds(messages [][]byte) string {
	var s []byte
	for _, f := range messages {
		s = append(s, "?HWKUSIPE"[f[0]])
	}
	return string(s)
}

// world is a Sim with a Server and a clock that moves by hand.
type world struct {
	t     testing.TB
	sim   *evertick.Sim
	clock *loop.ManualClock
	*Server
	applied []evertick.Input // by all ticks
	quiet   bool             // the Data of applied are not kept
	owner   *ecs.Column[uint32]
}

// newWorld returns a world of n entities with the column "owner".
func newWorld(t testing.TB, n int, c Config, inputs evertick.InputConfig) *world {
	t.Helper()
	w := newSim(t, n, inputs)
	w.serve(c)
	return w
}

func newSim(t testing.TB, n int, inputs evertick.InputConfig) *world {
	t.Helper()
	w := &world{t: t, clock: new(loop.ManualClock)}
	sim, err := evertick.New(evertick.Config{Capacity: max(n, 64), Clock: w.clock, Inputs: inputs})
	check(t, err)
	w.sim = sim
	w.owner, err = ecs.AddColumn[uint32](sim.World, "owner")
	check(t, err)
	for i := range n {
		id, err := sim.World.Spawn()
		check(t, err)
		check(t, sim.World.SetPosition(id, float32(i), 0, 0))
	}
	sim.AddHooks(evertick.Hooks{BeforeTick: func(tick *evertick.Tick) error {
		for _, in := range tick.Inputs() {
			if !w.quiet {
				in.Data = bytes.Clone(in.Data)
			}
			w.applied = append(w.applied, in)
		}
		return nil
	}})
	return w
}

// serve gives the world a Server that sends within Step.
func (w *world) serve(c Config) {
	w.t.Helper()
	c.Inline = true
	s, err := New(w.sim, c)
	check(w.t, err)
	w.Server = s
	w.t.Cleanup(func() { check(w.t, s.Close()) })
}

func (w *world) step(n int) {
	w.t.Helper()
	for range n {
		check(w.t, w.sim.Step())
	}
}

// took returns the inputs that ticks have applied since the last call.
func (w *world) took() []evertick.Input {
	list := w.applied
	w.applied = nil
	return list
}

// peer is a client that only keeps what it gets.
type peer struct {
	*Session
	conn    *recorder
	welcome welcome
}

func (w *world) join(h Hello) (*peer, error) { return w.joinBy(new(recorder), h) }

func (w *world) joinBy(r *recorder, h Hello) (*peer, error) {
	w.t.Helper()
	c, err := w.Join(context.Background(), r, h.append(nil))
	if err != nil {
		return &peer{conn: r}, err
	}
	p := &peer{Session: c, conn: r}
	messages := r.take()
	if len(messages) == 0 {
		w.t.Fatal("no Welcome")
	}
	p.welcome, err = parseWelcome(messages[0])
	check(w.t, err)
	if p.welcome.session != c.ID() {
		w.t.Errorf("the Welcome is for session %d, and the session is %d", p.welcome.session, c.ID())
	}
	return p, nil
}

func (w *world) mustJoin(h Hello) *peer {
	w.t.Helper()
	p, err := w.join(h)
	check(w.t, err)
	return p
}

// resume comes back with the token of the Welcome of another connection.
func (w *world) resume(p *peer, held uint64) *peer {
	w.t.Helper()
	return w.mustJoin(Hello{Token: p.welcome.token, Held: held})
}

func (p *peer) input(seq, tick uint64, kind uint32, data string) error {
	return p.Receive(appendIntents(nil, []intent{{seq: seq, tick: tick, kind: kind, data: []byte(data)}}))
}

// lastError returns the Code of the last message, an Error.
func (p *peer) lastError(t testing.TB) Code {
	t.Helper()
	messages := p.conn.take()
	if len(messages) == 0 {
		t.Fatal("no Error frame")
	}
	return codeOf(parseError(messages[len(messages)-1]), 0)
}

func (w *world) stats() *Stats {
	st := new(Stats)
	w.Stats(st)
	return st
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// lifecycle are the inputs of Joined and Left in a list, as in "+1 -1".
func lifecycle(list []evertick.Input) string {
	var s []string
	for _, in := range list {
		switch in.Kind {
		case 100:
			s = append(s, fmt.Sprintf("+%d", in.Source))
		case 101:
			s = append(s, fmt.Sprintf("-%d", in.Source))
		}
	}
	return fmt.Sprint(s)
}

var notices = Config{Joined: 100, Left: 101}

// grants returns an Authorize that gives every client the same Grant.
func grants(g Grant) func(context.Context, Hello) (Grant, error) {
	return func(context.Context, Hello) (Grant, error) { return g, nil }
}

func TestLifeCycle(t *testing.T) {
	c := notices
	c.Scenario, c.Every = "arena", 2
	c.Authorize = func(_ context.Context, h Hello) (Grant, error) { return Grant{Data: h.Credentials}, nil }
	w := newWorld(t, 3, c, evertick.InputConfig{})
	w.step(4)
	p := w.mustJoin(Hello{Credentials: []byte("ann")})
	expect(t, "session", p.ID(), 1)
	got := p.welcome
	if got.tick != 4 || got.every != 2 || got.rateNum != 60 || got.rateDen != 1 || got.scenario != "arena" ||
		got.simVersion != evertick.SimVersion || got.resumed || got.received != 0 || got.schema.Hash() != w.hash {
		t.Errorf("Welcome: %+v", got)
	}
	w.step(4)
	expect(t, "frames of two send ticks", kinds(p.conn.take()), "KU")
	joined := w.took()
	expect(t, "inputs", lifecycle(joined), "[+1]")
	expect(t, "data of Joined", string(joined[0].Data), "ann")
	expect(t, "second session", w.mustJoin(Hello{}).ID(), 2)
	p.Close(Closing)
	expect(t, "Error", p.lastError(t), Closing)
	expect(t, "closed", p.conn.closed, 1)
	p.Close(Closing)
	p.Disconnected()
	expect(t, "closed", p.conn.closed, 1)
	w.step(2)
	expect(t, "inputs", lifecycle(w.took()), "[+2 -1]")
	if err := p.input(1, 0, 1, ""); !errors.Is(err, Closing) {
		t.Errorf("an input after the end: %v", err)
	}
	if again := w.resume(p, 0); again.welcome.resumed || again.ID() != 3 {
		t.Errorf("a session that has ended was resumed: %+v", again.welcome)
	}
	st := w.stats()
	if st.Joined != 3 || st.Ended != 1 || st.Connected != 2 || st.Waiting != 0 || st.Keyframes.Join != 2 {
		t.Errorf("stats: %d joined, %d ended, %d connected, %d waiting, %+v", st.Joined, st.Ended, st.Connected, st.Waiting, st.Keyframes)
	}
}

func TestJoinRefuses(t *testing.T) {
	denied := errors.New("no such user")
	w := newWorld(t, 1, Config{
		Limits: Limits{Sessions: 2},
		Authorize: func(_ context.Context, h Hello) (Grant, error) {
			switch string(h.Credentials) {
			case "denied":
				return Grant{}, denied
			case "fast":
				return Grant{}, fmt.Errorf("ban: %w", TooFast)
			}
			return Grant{}, nil
		},
	}, evertick.InputConfig{})
	hello := func(h Hello) []byte { return h.append(nil) }
	version := hello(Hello{})
	version[5] = 1
	for _, c := range []struct {
		name    string
		message []byte
		want    Code
	}{
		{"nothing", nil, BadFrame},
		{"a Ping", appendPing(nil, 1), BadFrame},
		{"a mode that does not exist", hello(Hello{Mode: 2}), BadFrame},
		{"a byte too many", append(hello(Hello{}), 0), BadFrame},
		{"version 1", version, WrongVersion},
		{"another schema", hello(Hello{Schema: 1}), WrongVersion},
		{"a mode that is not granted", hello(Hello{Mode: Simulate, SimVersion: evertick.SimVersion}), Unauthorized},
		{"another simulation", hello(Hello{Mode: Simulate, SimVersion: evertick.SimVersion + 1}), WrongVersion},
		{"denied", hello(Hello{Credentials: []byte("denied")}), Unauthorized},
		{"a code of the host", hello(Hello{Credentials: []byte("fast")}), TooFast},
		{"long credentials", hello(Hello{Credentials: make([]byte, mostCredentials+1)}), BadFrame},
		{"a long token", hello(Hello{Token: make([]byte, mostToken+1)}), BadFrame},
	} {
		p := &peer{conn: new(recorder)}
		_, err := w.Join(context.Background(), p.conn, c.message)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		messages := p.conn.take()
		if len(messages) != 1 || !errors.Is(parseError(messages[0]), c.want) {
			t.Errorf("%s: frames %q", c.name, messages)
		}
		if c.name == "denied" && (!errors.Is(err, denied) || bytes.Contains(messages[0], []byte("user"))) {
			t.Errorf("the host gets %v, the client %q", err, messages[0])
		}
	}
	w.mustJoin(Hello{Schema: w.hash})
	full := &recorder{full: true}
	if _, err := w.Join(context.Background(), full, hello(Hello{})); !errors.Is(err, TooSlow) {
		t.Errorf("a connection that takes no Welcome: %v", err)
	}
	w.mustJoin(Hello{})
	if _, err := w.join(Hello{}); !errors.Is(err, TooMany) {
		t.Errorf("a third session: %v", err)
	}
	expect(t, "refused", w.stats().Refused, 14)
}

// What a client may do is what the Grant of its last Join says, whatever that of an earlier one was, and a zero Grant allows nothing. The seed
// is for those alone that may simulate, and do.
func TestGrant(t *testing.T) {
	w := newSim(t, 1, evertick.InputConfig{})
	var grant Grant
	w.serve(Config{Authorize: func(context.Context, Hello) (Grant, error) { return grant, nil }})
	hello := Hello{SimVersion: evertick.SimVersion}
	for i := range 64 {
		old := hello.Token
		grant = Grant{Mask: uint32(i / 4), Free: i&1 != 0, Simulate: i&2 != 0}
		hello.Mode = Mode(i / 4 % 2)
		p, err := w.join(hello)
		if hello.Mode == Simulate && !grant.Simulate {
			if !errors.Is(err, Unauthorized) {
				t.Fatalf("mode %d with %+v: error %v", hello.Mode, grant, err)
			}
			continue
		}
		check(t, err)
		seed := uint64(0)
		if hello.Mode == Simulate {
			seed = w.sim.Seed()
		}
		expect(t, "resumed", p.welcome.resumed, old != nil)
		expect(t, "seed", p.welcome.seed, seed)
		ses := p.session
		expect(t, "mask", ses.mask, grant.Mask)
		expect(t, "a view of the client's own choice", ses.centre.point, ses.centre.point && grant.Free)
		check(t, p.Receive((&look{x: float32(i)}).append(nil)))
		expect(t, "a view that it asks for", ses.centre.point && ses.centre.x == float32(i), grant.Free)
		w.clock.Add(1e9)
		hello.Token = p.welcome.token
	}
}

func TestResume(t *testing.T) {
	c := notices
	c.Authorize = grants(Grant{Mask: 9})
	w := newWorld(t, 3, c, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	w.step(3)
	check(t, p.input(7, 0, 1, "x"))
	p.SetMask(5)
	expect(t, "frames", kinds(p.conn.take()), "KUU")
	p.Disconnected()
	w.step(2)
	if err := p.input(8, 0, 1, ""); !errors.Is(err, errLost) {
		t.Errorf("an input on a lost connection: %v", err)
	}
	expect(t, "frames of a lost connection", kinds(p.conn.take()), "")

	held := w.resume(p, 3)
	if !held.welcome.resumed || held.ID() != 1 || held.welcome.received != 7 || held.session.mask != 9 {
		t.Errorf("Welcome: %+v", held.welcome)
	}
	w.step(1)
	expect(t, "frames after a resume with a state in the ring", kinds(held.conn.take()), "U")
	held.Disconnected() // it has sent nothing, so the Welcome may have been lost
	held = w.resume(p, 3)
	if !held.welcome.resumed {
		t.Errorf("a token does not work although the newer one may have been lost: %+v", held.welcome)
	}
	check(t, held.Receive(appendPing(nil, 1)))
	held.Disconnected()

	if replay := w.resume(p, 3); replay.welcome.resumed || replay.ID() != 2 {
		t.Errorf("an old token has resumed a session: %+v", replay.welcome)
	}
	again := w.resume(held, 6)
	if !again.welcome.resumed {
		t.Errorf("Welcome: %+v", again.welcome)
	}
	w.step(20)
	again.Disconnected()
	lost := w.resume(again, 6)
	if !lost.welcome.resumed || lost.ID() != 1 {
		t.Errorf("Welcome: %+v", lost.welcome)
	}
	w.step(2)
	expect(t, "frames after a resume with a state that the server has forgotten", kinds(lost.conn.take()), "KU")
	expect(t, "inputs", lifecycle(w.took()), "[+1 +2]")
	st := w.stats()
	expect(t, "resumed", st.Resumed, 4)
	expect(t, "causes", st.Keyframes, KeyframeCauses{Join: 2, Resume: 1})
}

// A client that comes back within the Send of its Welcome has a token already.
func TestResumeWithinTheWelcome(t *testing.T) {
	w := newWorld(t, 1, Config{}, evertick.InputConfig{})
	first := new(recorder)
	var second *peer
	first.onSend = func(message []byte) {
		if second == nil {
			welcome, err := parseWelcome(message)
			check(t, err)
			second = w.mustJoin(Hello{Token: welcome.token})
		}
	}
	if _, err := w.Join(t.Context(), first, (&Hello{}).append(nil)); !errors.Is(err, Replaced) {
		t.Errorf("the first connection: %v", err)
	}
	w.step(1)
	expect(t, "frames", kinds(second.conn.take()), "K")
	expect(t, "connected", w.stats().Connected, 1)
}

// A session whose client does not take the Welcome waits for another try.
func TestResumeWithAFullConnection(t *testing.T) {
	w := newWorld(t, 1, notices, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	p.Disconnected()
	if _, err := w.joinBy(&recorder{full: true}, Hello{Token: p.welcome.token}); !errors.Is(err, TooSlow) {
		t.Errorf("a full connection: %v", err)
	}
	if back := w.resume(p, 0); !back.welcome.resumed {
		t.Errorf("Welcome: %+v", back.welcome)
	}
	w.clock.Add(int64(defaultResume) * 2)
	w.step(2)
	expect(t, "inputs", lifecycle(w.took()), "[+1]")
}

// A Conn that panics leaves no session.
func TestResumeAfterAPanic(t *testing.T) {
	w := newWorld(t, 1, notices, evertick.InputConfig{})
	join := func(h Hello) {
		defer func() { recover() }()
		w.Join(t.Context(), &recorder{onSend: func([]byte) { panic("broken") }}, h.append(nil))
	}
	join(Hello{})
	w.step(1)
	p := w.mustJoin(Hello{})
	join(Hello{Token: p.welcome.token})
	w.step(1)
	expect(t, "inputs", lifecycle(w.took()), "[+1 -1 +2]")
	p = w.resume(p, 0)
	expect(t, "session", p.ID(), 2)
	join(Hello{Token: p.welcome.token})
	w.clock.Add(31e9)
	w.step(2)
	expect(t, "inputs", lifecycle(w.took()), "[-2]")
	expect(t, "sessions", w.stats().Waiting+w.stats().Connected, 0)
}

func TestForgedTokens(t *testing.T) {
	w := newWorld(t, 1, Config{}, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	p.Disconnected()
	for i := range p.welcome.token {
		for bit := range 8 {
			forged := bytes.Clone(p.welcome.token)
			forged[i] ^= 1 << bit
			c := w.mustJoin(Hello{Token: forged})
			if c.welcome.resumed || c.ID() == 1 {
				t.Fatalf("byte %d, bit %d: a forged token has resumed session %d", i, bit, c.ID())
			}
			c.Close(Closing)
		}
	}
	for n := range p.welcome.token {
		if c := w.mustJoin(Hello{Token: p.welcome.token[:n]}); c.welcome.resumed {
			t.Fatalf("%d bytes of a token have resumed a session", n)
		}
	}
	if !w.resume(p, 0).welcome.resumed {
		t.Error("the token itself has not")
	}
}

func TestResumeReplacesAnOpenConnection(t *testing.T) {
	w := newWorld(t, 1, notices, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	w.step(1)
	p.conn.take()
	q := w.resume(p, 1)
	expect(t, "Error", p.lastError(t), Replaced)
	expect(t, "closed", p.conn.closed, 1)
	if err := p.input(1, 0, 1, ""); !errors.Is(err, Replaced) {
		t.Errorf("an input on the old connection: %v", err)
	}
	p.Disconnected()
	w.clock.Add(int64(time.Hour))
	w.step(2)
	expect(t, "frames", kinds(q.conn.take()), "UU")
	expect(t, "frames of the old connection", kinds(p.conn.take()), "")
	expect(t, "inputs", lifecycle(w.took()), "[+1]")
	if st := w.stats(); !q.Stats().Connected || st.Connected != 1 || st.Waiting != 0 {
		t.Errorf("%d sessions are connected, %d wait", st.Connected, st.Waiting)
	}
}

func TestSessionsExpire(t *testing.T) {
	c := notices
	c.Limits = Limits{Sessions: 2, Resume: 5 * time.Second}
	w := newWorld(t, 1, c, evertick.InputConfig{})
	p, q := w.mustJoin(Hello{}), w.mustJoin(Hello{})
	check(t, p.input(1, 200, 1, ""))
	p.Disconnected()
	w.clock.Add(5e9 - 1)
	w.step(1)
	if _, err := w.join(Hello{}); !errors.Is(err, TooMany) {
		t.Errorf("a session that waits does not count: %v", err)
	}
	w.took()
	w.clock.Add(1)
	w.step(200)
	if list := w.took(); len(list) != 2 || list[0].Kind != 1 || lifecycle(list) != "[-1]" {
		t.Errorf("Left does not come after the last input: %+v", list)
	}
	if late := w.resume(p, 0); late.welcome.resumed || late.ID() != 3 {
		t.Errorf("Welcome: %+v", late.welcome)
	}
	q.Disconnected()
	w.clock.Add(5e9)
	if r := w.mustJoin(Hello{}); r.ID() != 4 { // no tick has run: Join finds that a session has expired
		t.Errorf("session %d", r.ID())
	}
	w.step(1)
	expect(t, "inputs", lifecycle(w.took()), "[+3 +4 -2]")
}

// After a tick finds nothing to do, the next session that begins to wait still ends in time.
func TestSessionsExpireInATick(t *testing.T) {
	w := newWorld(t, 1, notices, evertick.InputConfig{})
	w.clock.Add(100e9)
	w.step(1)
	p, q := w.mustJoin(Hello{}), w.mustJoin(Hello{})
	w.step(1)
	p.Disconnected()
	w.clock.Add(10e9)
	q.Disconnected()
	for range 3 {
		w.clock.Add(10e9)
		w.step(2)
	}
	ends := w.took()
	expect(t, "inputs", lifecycle(ends), "[+1 +2 -1 -2]")
	expect(t, "the first end", ends[2].Tick, 5)
	expect(t, "the second", ends[3].Tick, 7)
}

// Thousands of sessions whose time is over at once end in several ticks.
func TestManySessionsExpire(t *testing.T) {
	const n = 1000
	w := newWorld(t, 1, notices, evertick.InputConfig{})
	for range n {
		w.mustJoin(Hello{}).Disconnected()
	}
	w.step(1)
	w.took()
	w.clock.Add(31e9)
	left := 0
	for range n/mostSwept + 2 {
		w.step(1)
		list := w.took()
		if left += len(list); len(list) > mostSwept {
			t.Errorf("%d sessions ended in a tick", len(list))
		}
	}
	expect(t, "sessions ended", left, n)
	expect(t, "sessions that wait", w.stats().Waiting, 0)
}

// A Restore to the beginning does not make Left wait for the ticks that the inputs before it were for.
func TestLeftAfterARestore(t *testing.T) {
	c := notices
	c.Limits.Lead = 20
	w := newWorld(t, 1, c, evertick.InputConfig{Capacity: 4})
	state, err := w.sim.Snapshot(nil)
	check(t, err)
	p, q := w.mustJoin(Hello{}), w.mustJoin(Hello{})
	w.step(500)
	check(t, p.input(1, 510, 1, ""))
	check(t, q.input(1, 510, 1, ""))
	check(t, w.sim.Push(evertick.Input{Source: 77, Tick: 600}))
	check(t, w.sim.Push(evertick.Input{Source: 78, Tick: 600}))
	q.Close(Closing) // there is no room for its Left
	check(t, w.sim.Restore(state))
	w.step(1)
	p.Close(Closing)
	w.took()
	w.step(25)
	if got := lifecycle(w.took()); got != "[-1 -2]" {
		t.Errorf("%s after %d ticks", got, w.sim.Ticks())
	}
}

func TestSessionsEndAtOnceWithoutResume(t *testing.T) {
	c := notices
	c.Limits.Resume = -1
	w := newWorld(t, 1, c, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	p.Disconnected()
	w.step(1)
	expect(t, "inputs", lifecycle(w.took()), "[+1 -1]")
	if w.resume(p, 0).welcome.resumed {
		t.Error("resumed")
	}
}

func TestRestart(t *testing.T) {
	c := notices
	c.Owner, c.Secret, c.Limits.Resume = "owner", []byte("0123456789abcdef"), 10*time.Second
	w := newWorld(t, 3, c, evertick.InputConfig{})
	var peers []*peer
	for i := range 3 {
		peers = append(peers, w.mustJoin(Hello{}))
		w.owner.Values()[i] = uint32(i + 1)
	}
	w.step(1)
	state, err := w.sim.Snapshot(nil)
	check(t, err)
	check(t, w.Close())
	for _, p := range peers {
		expect(t, "Error", p.lastError(t), Closing)
	}

	next := newSim(t, 0, evertick.InputConfig{})
	check(t, next.sim.Restore(state))
	next.serve(c)
	if p := next.mustJoin(Hello{}); p.ID() != lostNumbers+4 || p.welcome.resumed {
		t.Errorf("a new session after a restart has number %d", p.ID())
	}
	back := next.mustJoin(Hello{Token: peers[1].welcome.token, Held: 1})
	if back.ID() != 2 || !back.welcome.resumed {
		t.Errorf("Welcome after a restart: %+v", back.welcome)
	}
	next.step(1)
	expect(t, "frames", kinds(back.conn.take()), "K")
	expect(t, "inputs", lifecycle(next.took()), "[+65540]")
	if again := next.mustJoin(Hello{Token: peers[1].welcome.token}); !again.welcome.resumed || again.ID() != 2 {
		t.Error("a token of the server before does not work although the newer one may have been lost")
	} else {
		check(t, again.Receive(appendPing(nil, 1)))
		back = again
	}
	if again := next.mustJoin(Hello{Token: peers[1].welcome.token}); again.welcome.resumed {
		t.Error("a token of the server before was used twice")
	}
	if next.resume(back, 0).ID() != 2 {
		t.Error("the new token does not work")
	}
	next.clock.Add(10e9 + 1)
	if late := next.mustJoin(Hello{Token: peers[2].welcome.token}); late.welcome.resumed {
		t.Error("a token of the server before works until the next tick")
	}
	next.step(2)
	expect(t, "inputs", lifecycle(next.took()), "[+65541 +65542 -1 -3]")
	if late := next.mustJoin(Hello{Token: peers[2].welcome.token}); late.welcome.resumed {
		t.Error("a token of the server before has no end")
	}

	other := newSim(t, 0, evertick.InputConfig{})
	check(t, other.sim.Restore(state))
	c.Secret = nil
	other.serve(c)
	if p := other.mustJoin(Hello{Token: peers[0].welcome.token}); p.welcome.resumed || p.ID() != lostNumbers+4 {
		t.Errorf("a server with another Secret: %+v", p.welcome)
	}
}

// A Server of a Sim that has not begun honours no tokens of earlier ones: their sessions are not in this run.
func TestRestartOfTheWorld(t *testing.T) {
	c := notices
	c.Secret = []byte("0123456789abcdef")
	for _, c.Owner = range []string{"", "owner"} {
		old := newWorld(t, 1, c, evertick.InputConfig{}).mustJoin(Hello{})
		next := newWorld(t, 1, c, evertick.InputConfig{})
		if p := next.mustJoin(Hello{Token: old.welcome.token}); p.welcome.resumed {
			t.Error("resumed")
		}
		next.clock.Add(31e9)
		next.step(2)
		expect(t, "inputs", lifecycle(next.took()), "[+1]")
	}
}

// The number of a session whose Joined waits in the restored Sim is not another one's, and its client comes back.
func TestRestartWithJoinedWaiting(t *testing.T) {
	c := notices
	c.Owner, c.Secret = "owner", []byte("0123456789abcdef")
	for _, back := range []bool{true, false} {
		w := newWorld(t, 2, c, evertick.InputConfig{})
		w.step(1)
		old := []*peer{w.mustJoin(Hello{}), w.mustJoin(Hello{})}
		state, err := w.sim.Snapshot(nil)
		check(t, err)
		next := newSim(t, 0, evertick.InputConfig{})
		check(t, next.sim.Restore(state))
		next.serve(c)
		expect(t, "a new session", next.mustJoin(Hello{}).ID(), lostNumbers+2)
		left := " -1 -2]"
		if back {
			p := next.mustJoin(Hello{Token: old[0].welcome.token})
			if p.ID() != 1 || !p.welcome.resumed {
				t.Errorf("Welcome: %+v", p.welcome)
			}
			left = " -2]"
		}
		next.step(1)
		copy(next.owner.Values(), []uint32{1, 2}) // as a game does when they have joined
		next.clock.Add(31e9)
		next.step(2)
		expect(t, "inputs", lifecycle(next.took()), "[+1 +2 +65538"+left)
	}
}

// A client that resumes its session again and again gets as few Keyframes as one that asks for them.
func TestResumeFlood(t *testing.T) {
	w := newWorld(t, 10, Config{}, evertick.InputConfig{})
	p := w.mustJoin(Hello{})
	for range 600 {
		w.clock.Add(int64(time.Second) / 60)
		if next, err := w.join(Hello{Token: p.welcome.token}); err == nil {
			p = next
		} else if !errors.Is(err, TooFast) {
			t.Fatal(err)
		}
		w.step(1)
	}
	if n := w.stats().Keyframe.Frames; n > (10+2)*resyncsPerSecond+1 || n < 10*resyncsPerSecond {
		t.Errorf("%d Keyframes in 10 s", n)
	}
}

// While the Sim has no room for Left, and does not run, sessions that come and go need no memory without bound.
func TestLeftNeedsRoom(t *testing.T) {
	w := newWorld(t, 1, Config{Left: 101, Limits: Limits{Sessions: 20, Resume: -1}}, evertick.InputConfig{Capacity: 16})
	for range 100 {
		if p, err := w.join(Hello{}); err == nil {
			p.Disconnected()
		} else if !errors.Is(err, TooMany) {
			t.Fatal(err)
		}
	}
	expect(t, "inputs that wait for room", len(w.leaving), 20)
	w.step(10)
	expect(t, "Left", len(w.took()), 36)
	w.mustJoin(Hello{})
}

// Without owners, a Server learns the numbers of the one before from the tokens.
func TestNumbersAfterARestartWithoutOwners(t *testing.T) {
	c := Config{Secret: []byte("0123456789abcdef")}
	w := newWorld(t, 1, c, evertick.InputConfig{})
	var tokens [][]byte
	for range 5 {
		tokens = append(tokens, w.mustJoin(Hello{}).welcome.token)
	}
	next := newSim(t, 1, evertick.InputConfig{})
	next.step(1)
	next.serve(c)
	var got []uint32
	for _, token := range [][]byte{nil, tokens[0], tokens[3], nil, tokens[1], tokens[4]} {
		got = append(got, next.mustJoin(Hello{Token: token}).ID())
	}
	// The first new number is well above the tick, 1, so that those of the tokens are free.
	if want := []uint32{lostNumbers + 2, 1, 4, lostNumbers + 3, 2, 5}; !slices.Equal(got, want) {
		t.Errorf("sessions %v, want %v", got, want)
	}
}

func TestNumbersFitTheOwnerColumn(t *testing.T) {
	w := newSim(t, 1, evertick.InputConfig{})
	small, err := ecs.AddColumn[uint8](w.sim.World, "small")
	check(t, err)
	small.Values()[0] = 254
	w.serve(Config{Owner: "small"})
	expect(t, "session", w.mustJoin(Hello{}).ID(), 255)
	if _, err := w.join(Hello{}); !errors.Is(err, TooMany) {
		t.Errorf("a session that the column cannot hold: %v", err)
	}
}

func TestJoinedNeedsRoom(t *testing.T) {
	c := notices
	w := newWorld(t, 1, c, evertick.InputConfig{Capacity: 1})
	p := w.mustJoin(Hello{}) // its Joined fills the queue
	if _, err := w.join(Hello{}); !errors.Is(err, TooMany) || !errors.Is(err, loop.ErrFull) {
		t.Errorf("no room for Joined: %v", err)
	}
	p.Close(Closing) // no room for Left: it waits
	w.step(3)
	expect(t, "inputs", lifecycle(w.took()), "[+1 -1]")
}

func TestConfigRefuses(t *testing.T) {
	nan := float32(math.NaN())
	w := newSim(t, 1, evertick.InputConfig{})
	c := Config{
		Slow: 2, SlowTicks: -1, Joined: 5, Left: 5, Secret: []byte("short"), Scenario: "\xff", Every: -1, Owner: "nobody",
		Ring: 1, Budget: 5, View: ViewConfig{Enter: 3, Leave: 2, Weight: "none"},
		Limits: Limits{Sessions: -1, FrameBytes: -2, FramesPerSecond: -3, BytesPerSecond: -4, Resume: 1 << 62},
		Tags:   []string{"new"},
	}
	_, err := New(w.sim, c)
	for _, field := range []string{"Slow", "SlowTicks", "Left", "Secret", "Scenario", "Every", "Ring", "Budget", "View.Leave", "View.Weight", "Owner", "Limits.Sessions",
		"Limits.FrameBytes", "Limits.FramesPerSecond", "Limits.BytesPerSecond", "Limits.Resume"} {
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte("Config."+field)) {
			t.Errorf("no fault of %s in %v", field, err)
		}
	}
	if n := strings.Count(err.Error(), "Config.Every"); n != 1 {
		t.Errorf("a fault is there %d times: %v", n, err)
	}
	for _, bad := range []Config{{Every: 1 << 17}, {View: ViewConfig{Leave: 1}}, {View: ViewConfig{Enter: -1}}, {View: ViewConfig{Enter: nan}}} {
		if err := bad.Validate(); !errors.Is(err, fault.ErrRange) && !errors.Is(err, fault.ErrNotFinite) {
			t.Errorf("%+v: %v", bad.View, err)
		}
	}
	expect(t, "tags", len(w.sim.World.Describe().Tags), 0)
	check(t, Config{}.Validate())
}

func TestClose(t *testing.T) {
	w := newSim(t, 1, evertick.InputConfig{})
	s, err := New(w.sim, notices)
	check(t, err)
	w.Server = s
	p := w.mustJoin(Hello{})
	check(t, s.Close())
	check(t, s.Close())
	expect(t, "Error", p.lastError(t), Closing)
	expect(t, "closed", p.conn.closed, 1)
	if _, err := w.join(Hello{}); !errors.Is(err, Closing) {
		t.Errorf("Join: %v", err)
	}
	if err := p.input(1, 0, 1, ""); !errors.Is(err, Closing) {
		t.Errorf("Receive: %v", err)
	}
	p.Disconnected()
	w.step(2)
	expect(t, "inputs", lifecycle(w.took()), "[+1]")
	expect(t, "connected", w.stats().Connected, 0)
}
