package replica

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

const (
	guestJoined = 100
	guestLeft   = 101
	guestMove   = 1 // an input with its own number as Data
)

// walkers is a scenario in which each session owns an entity from its Joined to its Left, and each of its inputs moves that.
// A few others move by themselves.
var walkers = replay.Scenario{Name: "walkers", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 1024, Seed: seed, Untimed: true, Inputs: evertick.InputConfig{Capacity: 1 << 16}})
	if err != nil {
		return nil, err
	}
	w := &walking{sim: sim}
	if err := sim.Register(&w.walkingColumns); err != nil {
		return nil, err
	}
	return sim, errors.Join(sim.World.SpawnN(make([]ecs.ID, 16)), sim.Add(evertick.BeforePhysics, "walk", w.walk))
}}

type walking struct {
	sim *evertick.Sim
	walkingColumns
}

type walkingColumns struct {
	Owner *ecs.Column[uint32]
	Moves *ecs.Column[uint32] // inputs that were applied to the entity
}

func (w *walking) walk(t *evertick.Tick) error {
	world := w.sim.World
	for _, in := range t.Inputs() {
		mine := slices.DeleteFunc(world.LiveSlots(nil), func(slot uint32) bool { return w.Owner.Values()[slot] != in.Source })
		switch {
		case in.Kind == guestJoined && len(mine) == 0:
			_, slot, err := world.SpawnSlot()
			if err != nil {
				return err
			}
			w.Owner.Values()[slot] = in.Source
		case in.Kind == guestLeft && len(mine) == 1:
			id, _ := world.ID(mine[0])
			world.Despawn(id)
		case in.Kind == guestMove && len(mine) == 1:
			w.Moves.Values()[mine[0]]++
			world.Position.X[mine[0]]++
		}
	}
	for slot := range uint32(16) {
		r := t.Rand(ecs.ID(slot+1), 0)
		world.Position.Y[slot] += float32(r.IntN(3)) - 1
	}
	world.Position.Touch()
	return nil
}

// guestConfig is that of a Server of walkers.
func guestConfig() Config {
	return Config{
		Columns: []Column{{Name: "position", Codec: Quantised{}}, {Name: "moves"}, {Name: "owner"}, {Name: "moves", To: Owner}},
		Owner:   "owner", Joined: guestJoined, Left: guestLeft, Secret: []byte("that of all servers"), Inline: true, Authorize: grants(Grant{Simulate: true}),
		Limits: Limits{FramesPerSecond: 1e6, BytesPerSecond: 1 << 28, Resume: time.Hour},
	}
}

// guest is a client that is connected to a Server by calls. A transport that is not ordered loses some messages.
type guest struct {
	t testing.TB
	*rand.Rand
	client  *Client
	sim     *Simulator // in mode Simulate
	ordered bool
	lossy   bool // messages are lost
	session *Session
	conn    *recorder
	hello   []byte
	applied uint64 // greatest number of an input that a message has reported as applied
	at      uint64 // tick of that message
	errs    int    // errors of Receive that only a client which simulates gets
}

func newGuest(t testing.TB, r *rand.Rand, mode Mode, ordered bool, seed uint64) *guest {
	t.Helper()
	g := &guest{t: t, Rand: r, ordered: ordered, lossy: !ordered}
	c := ClientConfig{Ordered: ordered, Mode: mode, Send: g.send}
	if mode == Simulate {
		sim, err := walkers.New(seed)
		check(t, err)
		g.sim, err = NewSimulator(sim, SimulatorConfig{})
		check(t, err)
		c.Simulator = g.sim
	}
	var err error
	g.client, err = NewClient(c)
	check(t, err)
	return g
}

func (g *guest) send(message []byte) bool {
	if g.session == nil {
		g.hello = bytes.Clone(message)
		return true
	}
	if g.lossy && g.IntN(10) == 0 {
		return true
	}
	return g.session.Receive(message) == nil
}

// connect makes a new connection to a Server, and takes its Welcome.
func (g *guest) connect(s *Server) Welcome {
	g.t.Helper()
	g.leave()
	check(g.t, g.client.Connect())
	g.conn = &recorder{unordered: !g.ordered}
	session, err := s.Join(context.Background(), g.conn, g.hello)
	check(g.t, err)
	g.session = session
	check(g.t, g.client.Receive(g.conn.take()[0]))
	w, _ := g.client.Welcome()
	expect(g.t, "session of the Welcome", w.Session, session.ID())
	return w
}

// leave ends the connection; messages that wait are lost.
func (g *guest) leave() {
	if g.session != nil {
		g.session.Disconnected()
		g.session = nil
	}
}

// deliver passes the messages that wait to the client.
func (g *guest) deliver() {
	g.t.Helper()
	if g.session == nil {
		return
	}
	for _, message := range g.conn.take() {
		if g.lossy && g.IntN(10) == 0 {
			continue
		}
		before := g.client.Waiting()
		err := g.client.Receive(message)
		if g.sim != nil && (errors.Is(err, ErrDiverged) || errors.Is(err, fault.ErrRange)) {
			g.errs++
			continue
		}
		check(g.t, err)
		if n := g.client.Waiting(); n < before {
			g.applied, g.at = g.client.queue.next-1-uint64(n), g.client.State().Tick()
			if g.sim != nil {
				g.at = g.sim.Sim().Ticks()
			}
		}
	}
}

// move sends an input, whose number it returns.
func (g *guest) move() uint64 {
	g.t.Helper()
	seq, err := g.client.Input(guestMove, binary.LittleEndian.AppendUint64(nil, g.client.queue.next), 0)
	check(g.t, err)
	return seq
}

// compare compares the state of the client with the Sim, if it is of the same tick, and reports whether it is.
func (g *guest) compare(sim *evertick.Sim) bool {
	g.t.Helper()
	if g.sim != nil {
		own := g.sim.Sim()
		if g.sim.waits() || own.Ticks() != sim.Ticks() {
			return false
		}
		expect(g.t, "hash of a client that simulates", own.Hash(), sim.Hash())
		return true
	}
	state := g.client.State()
	if state.Tick() != sim.Ticks() {
		return false
	}
	slots := sim.World.LiveSlots(nil)
	if !slices.Equal(state.Slots(), slots) {
		g.t.Fatalf("tick %d: the client has slots %v, the Sim %v", sim.Ticks(), state.Slots(), slots)
	}
	owner, _ := sim.World.ColumnNamed("owner")
	moves, _ := sim.World.ColumnNamed("moves")
	x, err := AppendValues[float32](nil, state, "position.x", 0)
	check(g.t, err)
	y, err := AppendValues[float32](nil, state, "position.y", 0)
	check(g.t, err)
	n, err := AppendValues[uint32](nil, state, "moves", 0)
	check(g.t, err)
	var own []uint32
	w, _ := g.client.Welcome()
	for i, slot := range slots {
		id, _ := sim.World.ID(slot)
		if state.IDs()[i] != id || x[i] != sim.World.Position.X[slot] || y[i] != sim.World.Position.Y[slot] || n[i] != uint32(moves.Float64(slot, 0)) {
			g.t.Fatalf("tick %d: the client has id %d at %v, %v after %d moves in slot %d, which differs", sim.Ticks(), state.IDs()[i], x[i], y[i], n[i], slot)
		}
		if uint32(owner.Float64(slot, 0)) == w.Session {
			own = append(own, uint32(i))
		}
	}
	if !slices.Equal(state.Own(), own) {
		g.t.Fatalf("tick %d: session %d owns the places %v, want %v", sim.Ticks(), w.Session, state.Own(), own)
	}
	return true
}

// stepped runs the next tick of a Player, for which it waits.
func stepped(t testing.TB, p *replay.Player) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Microsecond) {
		err := p.Step()
		if err == nil {
			return
		}
		if (err != io.EOF && !errors.Is(err, worldlog.ErrTorn)) || time.Now().After(end) {
			t.Fatal(err)
		}
		check(t, p.Refresh())
	}
}
