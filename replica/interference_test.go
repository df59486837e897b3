package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
)

// Two servers run worlds that differ in all that one client may not see: entities out of its view, columns that are not for it, what others
// own, other clients and their Grants. The client must get the same bytes from both.
//
// An entity that the client sees has the same id and slot in both: that is its name. So the worlds spawn entities alike, until none is
// spawned any more that the client ever sees.

// half is one of the two worlds.
type half struct {
	own    *rand.Rand // draws the state that the client may not see
	others *rand.Rand // draws what other clients see
	sim    *evertick.Sim
	clock  *loop.ManualClock
	server *Server
	hp     *ecs.Column[int32]
	secret *ecs.Column[int16]
	unsent *ecs.Column[int32]
	owner  *ecs.Column[uint32]
	teams  *ecs.Column[uint32]
	weight *ecs.Column[float32]
	red    ecs.Tag
	conn   *recorder
	client *Session
	token  []byte
	got    [][]byte // by the client
	peers  []*Session
	extras []ecs.ID // that only this world has
}

// twins are both worlds.
type twins struct {
	*rand.Rand // draws what is alike
	t          *testing.T
	seed       uint64
	config     Config
	ordered    bool
	mode       Mode
	radius     bool
	halves     [2]*half
	ids        []ecs.ID
	seen       []bool // by entity: the client may see it now
	dead       []bool // in one world at least
	held       uint64
	cases      map[string]int
}

const (
	clientTeam = 1 // the category that the client sees
	hiddenTeam = 2
)

func newTwins(t *testing.T, seed uint64, number int, cases map[string]int) *twins {
	w := &twins{Rand: rand.New(rand.NewPCG(seed, 51)), t: t, seed: seed, cases: cases, ordered: number&1 != 0, radius: number&4 != 0}
	c := &w.config
	*c = Config{Inline: true, Owner: "owner", Secret: []byte("0123456789abcdef"), Joined: 100, Left: 101, Tags: []string{"red"},
		Columns: []Column{{Name: "position", Codec: Quantised{}}, {Name: Rotation, Codec: Quat{}}, {Name: "hp"}, {Name: "secret", To: Owner}},
		View:    ViewConfig{Category: "teams", Weight: "weight"}, Limits: Limits{FramesPerSecond: 1e6}}
	if number&2 != 0 {
		c.Budget = 256 + w.IntN(60)
	}
	if w.radius {
		c.View.Enter, c.View.Leave = 40, 50
	}
	if number&8 != 0 {
		c.Every = 2
	}
	if number&16 != 0 && w.ordered {
		w.mode = Simulate
	}
	for i := range w.halves {
		w.halves[i] = w.newHalf(uint64(i))
	}
	for range 60 {
		w.spawn()
	}
	return w
}

func (w *twins) newHalf(number uint64) *half {
	h := &half{own: rand.New(rand.NewPCG(w.seed, 60+number)), others: rand.New(rand.NewPCG(w.seed, 70+number)), clock: new(loop.ManualClock)}
	if w.mode == Simulate { // such a client may see all state
		h.own = rand.New(rand.NewPCG(w.seed, 60))
	}
	var err error
	h.sim, err = evertick.New(evertick.Config{Capacity: 400, Previous: true, Seed: 5, Clock: h.clock})
	check(w.t, err)
	var errs [7]error
	h.hp, errs[0] = ecs.AddColumn[int32](h.sim.World, "hp")
	h.secret, errs[1] = ecs.AddColumn[int16](h.sim.World, "secret")
	h.unsent, errs[2] = ecs.AddColumn[int32](h.sim.World, "unsent")
	h.owner, errs[3] = ecs.AddColumn[uint32](h.sim.World, "owner")
	h.teams, errs[4] = ecs.AddColumn[uint32](h.sim.World, "teams")
	h.weight, errs[5] = ecs.AddColumn[float32](h.sim.World, "weight")
	h.red, errs[6] = h.sim.World.Tag("red")
	check(w.t, errors.Join(errs[:]...))
	c := w.config
	c.Authorize = func(_ context.Context, hello Hello) (Grant, error) {
		if len(hello.Credentials) > 0 { // another client
			return Grant{Mask: h.others.Uint32(), Free: h.others.IntN(2) == 0, Data: []byte{byte(h.own.Uint32())}}, nil
		}
		return Grant{Mask: clientTeam, Free: true, Simulate: w.mode == Simulate}, nil
	}
	h.server, err = New(h.sim, c)
	check(w.t, err)
	h.server.signer.server = 7
	w.t.Cleanup(func() { check(w.t, h.server.Close()) })
	return h
}

// spawn makes an entity in both worlds.
func (w *twins) spawn() {
	for i, h := range w.halves {
		id, slot, err := h.sim.World.SpawnSlot()
		check(w.t, err)
		if i == 0 {
			w.ids, w.seen, w.dead = append(w.ids, id), append(w.seen, false), append(w.dead, false)
		} else if id != w.ids[len(w.ids)-1] {
			w.t.Fatalf("seed %d, tick %d: the worlds name entities differently: %d and %d", w.seed, h.sim.Ticks(), id, w.ids[len(w.ids)-1])
		}
		h.weight.Values()[slot] = 1
	}
	w.show(len(w.ids)-1, w.IntN(2) == 0)
}

// show puts an entity into the view of the client, or out of it.
func (w *twins) show(i int, seen bool) {
	w.seen[i] = seen
	x, y, hp, turn, owned := w.Float32()*30, w.Float32()*30, w.Int32N(500), w.Float32(), w.IntN(4) == 0
	for _, h := range w.halves {
		slot, alive := h.sim.World.Slot(w.ids[i])
		if !alive {
			continue
		}
		if !seen {
			h.hide(slot, w.radius)
			continue
		}
		h.put(slot, x, y, hp, turn)
		h.teams.Values()[slot], h.weight.Values()[slot] = clientTeam, 1
		h.owner.Values()[slot] = 0
		if owned && h.client != nil {
			h.owner.Values()[slot] = h.client.ID()
		}
		h.secret.Values()[slot] = int16(hp)
		h.red.Unset(w.ids[i])
	}
}

func (h *half) put(slot uint32, x, y float32, hp int32, turn float32) {
	p, q := &h.sim.World.Position, &h.sim.World.Rotation
	p.X[slot], p.Y[slot] = x, y
	q.Z[slot], q.W[slot] = float32(math.Sin(float64(turn))), float32(math.Cos(float64(turn)))
	h.hp.Values()[slot] = hp
}

// hide gives an entity values that only this world has, where the client does not see it.
func (h *half) hide(slot uint32, radius bool) {
	r := h.own
	scale := []float32{1, 100, 1e5}[r.IntN(3)]
	x, y := scale*r.Float32(), scale*r.Float32()
	h.teams.Values()[slot] = hiddenTeam
	if radius && r.IntN(2) == 0 {
		h.teams.Values()[slot], h.weight.Values()[slot] = clientTeam, 1
		x += 200
	}
	h.put(slot, x, y, r.Int32(), 7*r.Float32())
	h.owner.Values()[slot] = 1000 * uint32(r.IntN(2))
	h.weight.Values()[slot] = r.Float32() * 9
	h.secret.Values()[slot] = int16(r.Int32())
	h.unsent.Values()[slot] = r.Int32()
	if id, _ := h.sim.World.ID(slot); r.IntN(2) == 0 {
		h.red.Set(id)
	} else {
		h.red.Unset(id)
	}
	if r.IntN(3) == 0 {
		h.sim.World.JumpAt(slot)
	}
}

// change changes both worlds between two ticks. spawning says whether entities are still made that the client sees; away, whether it is.
func (w *twins) change(spawning, away bool) {
	if spawning && !away && w.IntN(3) == 0 {
		w.spawn()
	}
	captured := (w.halves[0].sim.Ticks()+1)%uint64(max(w.config.Every, 1)) == 0 // an entity is in a view until a capture has found it elsewhere
	for i := range w.ids {
		switch n := w.IntN(60); {
		case w.dead[i] && w.seen[i]:
		case n == 0 && !away && captured && (w.seen[i] || !w.dead[i]): // the view of a client that is away is what it was
			w.show(i, !w.seen[i])
			w.cases[fmt.Sprintf("seen %t", w.seen[i])]++
		case n == 1 && w.seen[i] && w.IntN(3) == 0:
			for _, h := range w.halves {
				h.sim.World.Despawn(w.ids[i])
			}
			w.seen[i], w.dead[i] = false, true
			w.cases["a death in view"]++
		case w.seen[i]:
			w.moveSeen(i, n)
		default:
			w.moveHidden(i, spawning)
		}
	}
	for _, h := range w.halves {
		h.private(spawning)
	}
}

// moveSeen changes an entity that the client sees in both worlds alike, but for what is not for it.
func (w *twins) moveSeen(i, n int) {
	dx, dy, turn, hp := w.Float32()*0.3, w.Float32()*0.3, w.Float32(), w.Int32N(1000)
	for _, h := range w.halves {
		slot, _ := h.sim.World.Slot(w.ids[i])
		p := &h.sim.World.Position
		switch {
		case n < 6:
			h.put(slot, 30*dx, 30*dy, hp, turn)
			h.sim.World.JumpAt(slot)
		case n < 12:
			h.hp.Values()[slot] = hp
		case n < 40:
			p.X[slot], p.Y[slot] = p.X[slot]+0.05*float32(i%7)-0.15, p.Y[slot]+0.02
			if p.X[slot] < 0 || p.X[slot] > 30 || p.Y[slot] > 30 {
				p.X[slot], p.Y[slot] = 15, 0
			}
		}
		if mine := h.client != nil && h.owner.Values()[slot] == h.client.ID(); !mine {
			h.owner.Values()[slot] = 1000 * uint32(h.own.IntN(2))
			h.secret.Values()[slot] = int16(h.own.Int32())
		}
		h.unsent.Values()[slot] = h.own.Int32()
	}
}

// moveHidden changes an entity that the client does not see.
func (w *twins) moveHidden(i int, spawning bool) {
	for _, h := range w.halves {
		slot, alive := h.sim.World.Slot(w.ids[i])
		if !alive || h.own.IntN(3) == 0 {
			continue
		}
		if h.hide(slot, w.radius); !spawning && h.own.IntN(200) == 0 {
			h.sim.World.Despawn(w.ids[i])
			w.dead[i] = true
			w.cases["a death out of view"]++
		}
	}
}

// private changes what only this world has.
func (h *half) private(spawning bool) {
	r := h.own
	if !spawning && r.IntN(4) == 0 {
		if id, slot, err := h.sim.World.SpawnSlot(); err == nil {
			h.hide(slot, false)
			h.extras = append(h.extras, id)
		}
	}
	for k, id := range h.extras {
		if slot, alive := h.sim.World.Slot(id); alive && r.IntN(2) == 0 {
			if h.hide(slot, false); r.IntN(100) == 0 {
				h.sim.World.Despawn(h.extras[k])
			}
		}
	}
	for _, s := range h.peers {
		switch r := h.others; r.IntN(20) {
		case 0:
			s.SetMask(r.Uint32())
		case 1:
			s.LookAt(100*r.Float32(), 100*r.Float32(), 0)
		}
	}
	w := h.sim.World
	w.Position.Touch()
	w.Rotation.Touch()
	h.hp.Touch()
	h.secret.Touch()
	h.unsent.Touch()
	h.owner.Touch()
	h.teams.Touch()
	h.weight.Touch()
}

// join lets the client begin or resume its session in both worlds, and other clients join as each world has them.
func (w *twins) join() {
	for _, h := range w.halves {
		hello := Hello{Mode: w.mode, SimVersion: evertick.SimVersion, Token: h.token, Held: w.held}
		h.conn = &recorder{unordered: !w.ordered}
		var err error
		h.client, err = h.server.Join(context.Background(), h.conn, hello.append(nil))
		check(w.t, err)
		h.client.LookAt(15, 15, 0)
	}
	w.take()
	welcome, err := parseWelcome(w.halves[0].got[len(w.halves[0].got)-1])
	check(w.t, err)
	for _, h := range w.halves {
		h.token = welcome.token
	}
}

// joinOthers adds other clients, and ends some: others in each world.
func (h *half) joinOthers(t *testing.T) {
	switch r := h.own; r.IntN(30) {
	case 0:
		if len(h.peers) < 5 {
			hello := Hello{Credentials: []byte{1}}
			s, err := h.server.Join(context.Background(), &recorder{unordered: r.IntN(2) == 0}, hello.append(nil))
			check(t, err)
			h.peers = append(h.peers, s)
		}
	case 1:
		if n := len(h.peers); n > 0 {
			h.peers[n-1].Close(Closing)
			h.peers = h.peers[:n-1]
		}
	}
}

// take compares what the client has got from both.
func (w *twins) take() {
	w.t.Helper()
	var messages [2][][]byte
	for i, h := range w.halves {
		messages[i] = h.conn.take()
		h.got = messages[i]
	}
	if len(messages[0]) != len(messages[1]) {
		w.t.Fatalf("seed %d, tick %d, mode %d, ordered %t, budget %d: %d frames and %d", w.seed, w.halves[0].sim.Ticks(), w.mode, w.ordered, w.config.Budget, len(messages[0]), len(messages[1]))
	}
	for k, message := range messages[0] {
		if !bytes.Equal(message, messages[1][k]) {
			w.t.Fatalf("seed %d, tick %d, mode %d, ordered %t, budget %d: the client gets\n%x\nand\n%x", w.seed, w.halves[0].sim.Ticks(), w.mode, w.ordered, w.config.Budget,
				message, messages[1][k])
		}
		w.cases[fmt.Sprintf("kind %d", message[0])]++
		if message[0] == kindUpdate {
			flags := headerOf(message).flags
			for bit, name := range [...]string{"predicted", "partial", "applied", "jumped", "own", "check"} {
				if flags>>bit&1 != 0 {
					w.cases[name]++
				}
			}
		}
	}
}

func (w *twins) run(ticks int) {
	w.join()
	away := 0
	for tick := range ticks {
		spawning := tick < ticks/3
		w.change(spawning, away > 0)
		full := w.IntN(8) == 0
		for _, h := range w.halves {
			h.joinOthers(w.t)
		}
		for _, h := range w.halves {
			h.conn.mu.Lock()
			h.conn.full = full
			h.conn.mu.Unlock()
			h.clock.Add(16_666_667)
			check(w.t, h.sim.Step())
		}
		w.take()
		for _, message := range w.halves[0].got {
			if k := message[0]; k == kindUpdate || k == kindKeyframe {
				w.held = headerOf(message).tick
			}
		}
		acked, resync := w.held > 0 && !w.ordered && w.IntN(3) > 0, w.IntN(150) == 0
		if away--; away == 0 {
			w.join()
			w.cases["resume"]++
		}
		if away > 0 {
			continue
		}
		away = 0
		for _, h := range w.halves {
			if acked {
				check(w.t, h.client.Receive(appendTick(nil, kindAck, w.held)))
			}
			if resync {
				check(w.t, h.client.Receive(appendTick(nil, kindResync, w.held)))
			}
		}
		if w.IntN(120) == 0 {
			away = 1 + w.IntN(60)
			for _, h := range w.halves {
				h.client.Disconnected()
			}
		}
	}
}

// Whatever happens outside of a client's view changes no byte that it gets.
func TestNonInterference(t *testing.T) {
	cases := map[string]int{}
	ticks, drawn := casesOf(150, 600), casesOf(6, 64)
	for number := range 32 {
		newTwins(t, uint64(number), number, cases).run(ticks)
	}
	for _, what := range []string{"kind 3", "kind 4", "kind 5", "kind 6", "predicted", "partial", "jumped", "own", "check", "seen true", "seen false", "a death in view",
		"a death out of view", "resume"} {
		if cases[what] == 0 {
			t.Errorf("never seen: %s", what)
		}
	}
	for i := range drawn {
		newTwins(t, paritytest.Seed()+uint64(i), i, cases).run(ticks)
	}
}
