package twin

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
)

const (
	driftJoin = 1 + iota
	driftPush // Data: int8, the speed along x
	driftLeave
)

// drift is a scenario in which each session has an entity that its inputs move. Others drift at random.
var drift = replay.Scenario{Name: "drift", New: func(seed uint64) (*evertick.Sim, error) { return newDrift(seed, nil, nil) }}

// newDrift returns a Sim of drift. wrong, if not nil, is called in each tick.
func newDrift(seed uint64, clock loop.Clock, wrong func(t *evertick.Tick)) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 64, Seed: seed, Clock: clock})
	if err != nil {
		return nil, err
	}
	owner, _ := ecs.AddColumn[uint32](sim.World, "owner")
	speed, _ := ecs.AddColumn[int32](sim.World, "speed")
	sim.Add(evertick.BeforePhysics, "drift", func(t *evertick.Tick) error {
		own := func(source uint32) (ecs.Slot, bool) {
			for slot := range sim.World.Query() {
				if owner.Values()[slot] == source {
					return slot, true
				}
			}
			return 0, false
		}
		for _, in := range t.Inputs() {
			slot, there := own(in.Source)
			switch {
			case in.Kind == driftJoin && !there && string(in.Data) != "watch":
				_, slot, err := sim.World.SpawnSlot()
				if err != nil {
					return err
				}
				owner.Values()[slot] = in.Source
			case in.Kind == driftPush && there && len(in.Data) == 1:
				speed.Values()[slot] = int32(int8(in.Data[0]))
			}
		}
		for slot := range sim.World.Query() {
			r := t.Rand(0, uint32(slot))
			sim.World.Position.X[slot] += float32(speed.Values()[slot])
			sim.World.Position.Y[slot] += r.Range(-1, 1)
		}
		sim.World.Position.Touch()
		speed.Touch()
		owner.Touch()
		if wrong != nil {
			wrong(t)
		}
		return nil
	})
	for range 8 {
		if _, err := sim.World.Spawn(); err != nil {
			return nil, err
		}
	}
	return sim, sim.Check()
}

// rig is a server and a twin in one goroutine. Frames take no time, unless delay holds them back.
type rig struct {
	t       *testing.T
	sim     *evertick.Sim
	server  *replica.Server // nil: none listens
	m       *machine
	conns   []*conn
	dialled int
	clock   *loop.ManualClock
	delay   int                         // ticks that a message takes, each way
	hello   func(message []byte) []byte // changes a Hello; nil: nothing
}

// conn is a connection in memory: of the twin it is the socket, of the server the replica.Conn.
type conn struct {
	rig     *rig
	to      receiver
	session *replica.Session
	up      []late
	down    []late
	closed  bool
}

type late struct {
	due     int // ticks that must pass
	message []byte
}

func newRig(t *testing.T, c Config) *rig {
	t.Helper()
	r := &rig{t: t, clock: new(loop.ManualClock)}
	c.Scenario = replay.Scenario{Name: drift.Name, New: r.build}
	m, err := newMachine(c, r.dial, r.clock)
	if err != nil {
		t.Fatal(err)
	}
	r.m = m
	return r
}

// build builds a Sim of drift with the clock of the rig.
func (r *rig) build(seed uint64) (*evertick.Sim, error) { return newDrift(seed, r.clock, nil) }

// serve begins a server of a Sim.
func (r *rig) serve(sim *evertick.Sim, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	r.sim = sim
	if r.server, err = replica.New(sim, replica.Config{
		Inline: true, Owner: "owner", Joined: driftJoin, Left: driftLeave, Scenario: drift.Name, Secret: []byte("that of all servers of the test"),
		Authorize: func(_ context.Context, h replica.Hello) (replica.Grant, error) {
			return replica.Grant{Data: h.Credentials, Simulate: true}, nil
		},
	}); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(r.kill)
}

// kill ends the server without a word.
func (r *rig) kill() {
	if r.server == nil {
		return
	}
	for _, c := range r.conns {
		if !c.closed {
			c.closed = true
			c.to.closed("reset")
		}
	}
	_ = r.server.Close()
	r.server, r.conns = nil, nil
}

// dial is the dialer of the twin.
func (r *rig) dial(_ string, to receiver) socket {
	r.dialled++
	c := &conn{rig: r, to: to}
	if r.server == nil {
		c.closed = true
		to.closed("no server")
		return c
	}
	r.conns = append(r.conns, c)
	to.opened()
	return c
}

// send takes a message of the twin.
func (c *conn) send(message []byte) bool {
	if !c.closed {
		c.up = append(c.up, late{c.rig.delay, bytes.Clone(message)})
	}
	return !c.closed
}

// Send takes a message of the server.
func (c *conn) Send(message []byte) bool {
	if !c.closed {
		c.down = append(c.down, late{c.rig.delay, bytes.Clone(message)})
	}
	return !c.closed
}

func (c *conn) Ordered() bool { return true }
func (c *conn) Close()        {}

func (c *conn) close() {
	c.closed = true
	if c.session != nil {
		c.session.Disconnected()
	}
}

// deliver passes on what is due. pass says that a tick has passed.
func (c *conn) deliver(pass bool) {
	due := func(list *[]late) (out [][]byte) {
		for i := range *list {
			if pass {
				(*list)[i].due--
			}
		}
		for len(*list) > 0 && (*list)[0].due <= 0 {
			out = append(out, (*list)[0].message)
			*list = (*list)[1:]
		}
		return out
	}
	for _, message := range due(&c.up) {
		if c.session != nil {
			_ = c.session.Receive(message)
			continue
		}
		if c.rig.hello != nil {
			message = c.rig.hello(message)
		}
		c.session, _ = c.rig.server.Join(context.Background(), c, message) // after an error there is an Error message
	}
	for _, message := range due(&c.down) {
		c.to.message(message)
	}
}

// settle lets the twin and the server do all that is due now.
func (r *rig) settle(pass bool) {
	for range 4 {
		for _, f := range r.m.inbox.take() {
			f()
		}
		for _, c := range r.conns {
			if !c.closed {
				c.deliver(pass)
			}
		}
		pass = false
	}
	r.m.poll(r.m.now())
}

// run runs so many ticks of the server, and what follows from them.
func (r *rig) run(ticks int) {
	r.t.Helper()
	for range ticks {
		if r.server != nil {
			if err := r.sim.Step(); err != nil {
				r.t.Fatal(err)
			}
		}
		for i := range 4 { // as often as the twin looks at the time
			r.clock.Add(int64(time.Second) / 240)
			r.settle(i == 0)
		}
	}
}

// connect joins, and waits for the first ticks.
func (r *rig) connect(play bool) {
	r.t.Helper()
	if err := r.m.link.connect("ws://test", play); err != nil {
		r.t.Fatal(err)
	}
	r.settle(false)
	r.run(3 + 4*r.delay)
	if got := r.m.report(); got.State != joined {
		r.t.Fatalf("%+v", got)
	}
}
