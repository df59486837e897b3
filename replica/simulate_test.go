package replica

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

// duel is a game with some of everything that has to be equal on all machines: bodies that inputs push,
// entities that inputs spawn and despawn, random numbers, commands that wait for the next tick, a column, and a state outside
// the world.
type duel struct {
	sim   *evertick.Sim
	ids   []ecs.ID // of players, by source - 1; the rest are of nobody
	score *ecs.Column[uint32]
	sum   duelSum
	wrong func(*evertick.Tick) // does what the server does not
}

type duelSum uint64

func (s *duelSum) AppendState(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(*s))
}

func (s *duelSum) RestoreState(src []byte) error {
	if len(src) != 8 {
		return errors.New("not a sum")
	}
	*s = duelSum(binary.LittleEndian.Uint64(src))
	return nil
}

const (
	duelSeed         = 7
	duelPush  uint32 = 1
	duelSpawn uint32 = 2
)

func newDuel(t testing.TB, seed uint64, entities int) *duel {
	t.Helper()
	return newTimedDuel(t, seed, entities, nil)
}

func newTimedDuel(t testing.TB, seed uint64, entities int, clock loop.Clock) *duel {
	t.Helper()
	sim, err := evertick.New(evertick.Config{Capacity: 4*entities + 64, Seed: seed, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	d := &duel{sim: sim}
	if d.score, err = ecs.AddColumn[uint32](sim.World, "score"); err != nil {
		t.Fatal(err)
	}
	for i := range entities {
		id, err := sim.World.Spawn()
		if err == nil && i < 32 { // more are plain entities, so that a large world is not slow
			err = d.body(id, i)
		}
		if err != nil {
			t.Fatal(err)
		}
		d.ids = append(d.ids, id)
	}
	if err := errors.Join(sim.AddState("sum", &d.sum),
		sim.Add(evertick.BeforePhysics, "obey", d.obey),
		sim.Add(evertick.AfterIndex, "age", d.age),
		sim.Add(evertick.AfterCommands, "late", d.late)); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *duel) body(id ecs.ID, i int) error {
	def := physics.DefaultBodyDef()
	def.Type, def.Position = physics.DynamicBody, [2]float32{float32(i) * 1.1, float32(i%3) * 1.1}
	b, err := d.sim.CreateBody(id, def)
	if err != nil {
		return err
	}
	_, err = d.sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5})
	return err
}

func (d *duel) obey(t *evertick.Tick) error {
	for i := range t.Inputs() {
		in := &t.Inputs()[i]
		d.sum = 31*d.sum + duelSum(in.Seq+uint64(in.Source)<<32+in.Tick)
		switch {
		case in.Kind == duelPush && len(in.Data) == 2 && in.Source > 0 && int(in.Source) <= len(d.ids):
			if b, ok := d.sim.Body(d.ids[in.Source-1]); ok {
				v := [2]float32{float32(int8(in.Data[0])) / 16, float32(int8(in.Data[1])) / 16}
				if err := d.sim.Physics.SetVelocity(b, v, 0); err != nil {
					return err
				}
			}
		case in.Kind == duelSpawn:
			t.Commands().Spawn()
		}
	}
	if d.wrong != nil {
		d.wrong(t)
	}
	return nil
}

// age ends entities at random, and counts.
func (d *duel) age(t *evertick.Tick) error {
	w := d.sim.World
	for slot := range w.Query() {
		id, _ := w.ID(slot)
		d.score.Values()[slot]++
		if r := t.Rand(id, 1); int(slot) >= len(d.ids) && r.Uint64n(50) == 0 {
			t.Commands().Despawn(id)
		}
	}
	d.score.Touch()
	return nil
}

// late records a command that is in snapshots and not in hashes.
func (d *duel) late(t *evertick.Tick) error {
	if t.N%7 == 0 {
		t.Commands().Spawn()
	}
	return nil
}

// input returns the input of a player for a tick, if it has one.
func duelInput(player uint32, tick uint64) (evertick.Input, bool) {
	r := loop.NewRand(99, tick, uint64(player), 0)
	in := evertick.Input{Tick: tick, Source: player, Seq: tick + 1, Kind: duelPush, Data: []byte{byte(r.Uint64n(256)), byte(r.Uint64n(256))}}
	switch r.Uint64n(6) {
	case 0, 1:
		return in, false
	case 2:
		in.Kind, in.Data = duelSpawn, nil
	case 3:
		in.Tick = 0 // as soon as possible
	case 4:
		in.Tick -= min(in.Tick, r.Uint64n(4)) // late
		in.At, in.Fraction = 1+r.Uint64n(1000), uint32(r.Uint64n(1<<32))
	}
	return in, true
}

// authority is a server for simulating clients, without the rest of a Server.
type authority struct {
	*duel
	stream  inputStream
	players int
	hashes  []uint64 // after each tick
	early   uint64   // by how many ticks inputs come before their tick
}

func newAuthority(t testing.TB, entities, players int) *authority {
	a := &authority{duel: newDuel(t, duelSeed, entities), players: players}
	a.sim.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error {
		a.stream.capture(t, t.N*16667)
		return nil
	}})
	return a
}

func (a *authority) step(t testing.TB) {
	t.Helper()
	for p := range a.players {
		in, ok := duelInput(uint32(p+1), a.sim.Ticks())
		if a.early > 0 {
			in, ok = duelInput(uint32(p+1), a.sim.Ticks()+a.early)
		}
		if ok {
			if err := a.sim.Push(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := a.sim.Step(); err != nil {
		t.Fatal(err)
	}
	a.hashes = append(a.hashes, a.sim.Hash())
}

// lane is a connection of a test: a queue of at most room messages; 0: none is taken.
type lane struct {
	messages [][]byte
	room     int
}

func (l *lane) Send(message []byte) bool {
	if len(l.messages) >= l.room {
		return false
	}
	l.messages = append(l.messages, slices.Clone(message))
	return true
}
func (l *lane) Ordered() bool { return true }
func (l *lane) Close()        {}

// deliver passes the first n messages to a client.
func (l *lane) deliver(t testing.TB, s *Simulator, n int) {
	t.Helper()
	n = min(n, len(l.messages))
	for _, f := range l.messages[:n] {
		if err := s.receive(f); err != nil {
			t.Fatal(err)
		}
	}
	l.messages = slices.Delete(l.messages, 0, n)
}

func newSimulator(t testing.TB, d *duel, c SimulatorConfig) *Simulator {
	t.Helper()
	s, err := NewSimulator(d.sim, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A tick of the stream and of the Simulator allocates nothing after warm-up.
func TestSimulateAllocs(t *testing.T) {
	d, twin := newDuel(t, duelSeed, 8), newDuel(t, duelSeed, 8)
	var stream inputStream
	d.sim.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error { stream.capture(t, 0); return nil }})
	s := newSimulator(t, twin, SimulatorConfig{})
	c := direct{s: s, t: t}
	var f follower
	stream.join(&f, 0)
	data := []byte{3, 4}
	tick := func() {
		if err := d.sim.Push(evertick.Input{Tick: d.sim.Ticks(), Source: 1, Seq: d.sim.Ticks(), Kind: duelPush, Data: data}); err != nil {
			t.Fatal(err)
		}
		if err := d.sim.Step(); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.send(&f, &c); err != nil {
			t.Fatal(err)
		}
	}
	for range 3000 { // both halves of the log, and all slots of the worlds
		tick()
	}
	if n := testing.AllocsPerRun(300, tick); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
	if s.held() != d.sim.Ticks() {
		t.Error(s.held())
	}
}

// direct is a connection without a queue.
type direct struct {
	s *Simulator
	t testing.TB
}

func (c *direct) Send(message []byte) bool {
	if err := c.s.receive(message); err != nil {
		c.t.Fatal(err)
	}
	return true
}
func (c *direct) Ordered() bool { return true }
func (c *direct) Close()        {}

// Without a follower nothing is kept.
func TestInputStreamIdle(t *testing.T) {
	a := newAuthority(t, 4, 1)
	var f follower
	c := lane{room: 1}
	a.step(t)
	a.stream.join(&f, 0)
	a.step(t)
	a.stream.send(&f, &c)
	a.stream.leave()
	a.step(t)
	if l := &a.stream.log; l.next != 0 || l.halves[0].messages != nil || l.halves[1].messages != nil || a.stream.snapshot != nil {
		t.Error("frames are kept")
	}
}

// Many that need a Snapshot share one, and nobody gets another one soon.
func TestInputStreamSharesSnapshots(t *testing.T) {
	a := newAuthority(t, 4, 1)
	var followers [20]follower
	taken := map[uint64]bool{}
	snapshots := 0
	for tick := range 2 * snapshotAge {
		a.step(t)
		for i := range followers {
			f := &followers[i]
			if tick == i {
				a.stream.join(f, 0)
			}
			if tick < i {
				continue
			}
			a.stream.resync(f, 0) // an attacker, which asks in each tick
			c := lane{room: 1000}
			n, err := a.stream.send(f, &c)
			if err != nil {
				t.Fatal(err)
			}
			if n.snapshots > 0 {
				at, _, _, err := parseSnapshot(c.messages[0])
				if err != nil {
					t.Fatal(err)
				}
				taken[at] = true
			}
			snapshots += n.snapshots
		}
	}
	if len(taken) > 3 || snapshots < 20 || snapshots > 3*20 {
		t.Errorf("%d Snapshots of %d ticks", snapshots, len(taken))
	}
}

// The log returns what was added, whatever the sizes of the messages, and stays within its bounds.
func TestFrameLog(t *testing.T) {
	var l messageLog
	messages := map[uint64]string{}
	large := 0
	for i := range uint64(20000) {
		r := loop.NewRand(3, i, 0, 0)
		if r.Uint64n(2000) == 0 {
			l.reset(l.next + 1 + r.Uint64n(5))
			clear(messages)
		}
		size := 20 + r.Uint64n(400)
		if r.Uint64n(500) == 0 {
			size, large = (1+r.Uint64n(4))*logBytes/4, large+1
		}
		message := make([]byte, size)
		binary.LittleEndian.PutUint64(message, i)
		messages[l.next] = string(message)
		l.add(message)
		for range 4 {
			if tick := l.begin() + r.Uint64n(l.next-l.begin()); string(l.message(tick)) != messages[tick] {
				t.Fatalf("frame of tick %d of %d to %d", tick, l.begin(), l.next)
			}
		}
		if string(l.message(l.next-1)) != string(message) || !l.reaches(l.begin()) || !l.reaches(l.next) || l.reaches(l.next+1) {
			t.Fatal("the last frame is missing")
		}
		for _, h := range l.halves {
			if len(h.messages) > logBytes/2 && len(h.ends) != 1 {
				t.Fatalf("%d bytes in %d frames", len(h.messages), len(h.ends))
			}
		}
	}
	if large == 0 {
		t.Error("no large frame")
	}
}

func TestCheckSimulate(t *testing.T) {
	for _, c := range []struct {
		h       Hello
		ordered bool
		ok      bool
	}{
		{Hello{}, false, true},
		{Hello{Mode: Simulate, SimVersion: evertick.SimVersion}, true, true},
		{Hello{Mode: Simulate, SimVersion: evertick.SimVersion}, false, false},
		{Hello{Mode: Simulate}, true, false},
	} {
		err := checkSimulate(&c.h, c.ordered)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, WrongVersion) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
