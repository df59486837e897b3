package replica

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

// The model test runs a Sim in which everything changes, and clients whose connections do everything
// that connections do. After each message that a client has applied, its state is compared with the truth:
// with what the columns of the Sim held after that tick, quantised by plain code, of the entities that a
// search of all entities finds in its view.

// truth is what a Sim held after a tick.
type truth struct {
	at   uint64        // µs, which never go back, as ticks do
	list []truthEntity // ascending by slot
}

type truthEntity struct {
	slot     uint32
	id       ecs.ID
	x, y, z  float32
	owner    uint32
	category uint32
	global   bool
	jumped   bool // since the tick before
	lanes    []int32
	owned    []int32
}

func (u *truth) alive(id ecs.ID) bool {
	return slices.ContainsFunc(u.list, func(e truthEntity) bool { return e.id == id })
}

// model is the server and all clients.
type model struct {
	*rand.Rand
	t       testing.TB
	seed    uint64
	sim     *evertick.Sim
	server  *Server
	config  Config
	shape   Schema
	clock   *loop.ManualClock
	clients []*modelClient
	truths  map[uint64]*truth // by time
	saved   []byte            // a snapshot
	savedAt uint64
	rewinds bool   // the Sim sometimes goes back
	gone    uint64 // time of the last tick before it went back last
	slotOf  map[ecs.ID]uint32
	moved   uint64     // time at which entities were found in other slots last
	quiet   bool       // nothing changes
	log     *followLog // if not nil, messages go there, some with a flipped bit, and nothing is compared with the truth
	seen    map[string]int
	applied map[uint32][]uint64 // numbers of the inputs of each session, in the order of their ticks

	aim    *ecs.Column[float32]
	health *ecs.Column[int16]
	big    *ecs.Column[uint64]
	energy *ecs.Column[float32]
	owner  *ecs.Column[uint32]
	team   *ecs.Column[uint32]
	weight *ecs.Column[float32]
	tags   []ecs.Tag
	global ecs.Tag
}

// modelClient is a client, its connection, and what it must have.
type modelClient struct {
	*model
	client   *Client
	pipe     *Pipe
	session  *Session // nil: the server has no connection
	ordered  bool
	waiting  int // steps since Connect without a Welcome
	stall    int // steps
	mask     uint32
	centre   centre
	number   uint32 // of the session
	x, y, z  float32
	placed   bool
	views    map[uint64]modelView // by time
	seesAt   uint64               // time of the newest of them
	away     bool                 // it has connected since then
	left     map[ecs.ID][]modelLeft
	held     map[uint64]heldState // by tick
	messages uint64
	broken   uint64 // messages with a wrong Check
	ended    uint64 // Error messages
	longest  uint64 // µs for which an entity waited for its values
	fewest   int    // entities with new values in a message that is Partial
}

// modelView is what decides about a view, at the tick of a message.
type modelView struct {
	session uint32
	mask    uint32
	x, y, z float32
	placed  bool
	sees    map[ecs.ID]bool
}

// modelLeft is when an entity left a view.
type modelLeft struct {
	at   uint64
	dead bool
}

// heldState is what a client has after a message.
type heldState struct {
	at   uint64
	list []heldEntity
}

// heldEntity is an entity that the client has, with the time of its values.
type heldEntity struct {
	slot  uint32
	id    ecs.ID
	since uint64
	lanes []int32
}

// newModel returns the model of a number: some numbers have a budget, a radius, owners and so on.
func newModel(t testing.TB, seed uint64, number int, seen map[string]int) *model {
	t.Helper()
	m := &model{Rand: rand.New(rand.NewPCG(seed, uint64(number))), t: t, seed: seed, clock: new(loop.ManualClock), seen: seen,
		truths: map[uint64]*truth{}, applied: map[uint32][]uint64{}}
	m.rewinds = m.IntN(2) == 0
	capacity := 20 + 60*m.IntN(2)
	sim, err := evertick.New(evertick.Config{Capacity: capacity, Previous: true, Seed: seed, Clock: m.clock})
	m.must(err)
	m.sim = sim
	m.aim = modelColumn[float32](m, "aim")
	m.health = modelColumn[int16](m, "health")
	m.big = modelColumn[uint64](m, "big")
	m.energy = modelColumn[float32](m, "energy")
	m.owner = modelColumn[uint32](m, "owner")
	m.team = modelColumn[uint32](m, "team")
	m.weight = modelColumn[float32](m, "weight")
	m.must(sim.Add(evertick.AfterPhysics, "act", m.act))
	sim.AddHooks(evertick.Hooks{AfterTick: m.spoil}) // before that of the server

	pick := func(bit int, name string) bool {
		if number>>bit&1 != 0 {
			seen[name]++
			return true
		}
		return false
	}
	c := &m.config
	c.Inline = true
	c.Authorize = grants(Grant{Mask: 0xff})
	c.Limits = Limits{FramesPerSecond: 10_000, BytesPerSecond: 1 << 24, Resume: time.Hour}
	if pick(0, "radius") {
		c.View.Enter, c.View.Leave = 30, 30+10*float32(m.IntN(2))
	}
	if pick(1, "budget") {
		c.Budget = 256 + m.IntN(300)
	}
	if pick(2, "columns") {
		c.Columns = []Column{{"position", Quantised{Step: 1.0 / 64, Bits: 16}, Everyone}, {Rotation, Planar{}, Everyone}, {"aim", Angle{Bits: 12}, Everyone},
			{"health", nil, Everyone}, {"big", Exact{}, Everyone}, {"energy", Quantised{Step: 0.5, Bits: 8}, Owner}}
		c.Tags = []string{"red", "blue"}
	}
	c.Owner = "owner"
	if pick(3, "categories") {
		c.View.Category = "team"
	}
	if pick(4, "every") {
		c.Every = 2 + m.IntN(3)
	}
	if pick(5, "small ring") {
		c.Ring = 2 + m.IntN(6)
	}
	if m.IntN(2) == 0 {
		c.View.Weight = "weight"
	}
	c.View.Global = "beacon"
	m.server, err = New(sim, *c)
	m.must(err)
	t.Cleanup(func() { _ = m.server.Close() })
	m.shape = m.server.Schema()
	for _, name := range m.shape.Tags {
		tag, err := sim.World.Tag(name)
		m.must(err)
		m.tags = append(m.tags, tag)
	}
	m.global, err = sim.World.Tag("beacon")
	m.must(err)
	for i := range 4 {
		m.clients = append(m.clients, m.newClient(i%2 == 0))
	}
	return m
}

func modelColumn[T ecs.Number](m *model, name string) *ecs.Column[T] {
	m.t.Helper()
	c, err := ecs.AddColumn[T](m.sim.World, name)
	m.must(err)
	return c
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatalf("seed %d: %v", m.seed, err)
	}
}

func (m *model) newClient(ordered bool) *modelClient {
	mc := &modelClient{model: m, ordered: ordered, views: map[uint64]modelView{}, left: map[ecs.ID][]modelLeft{}, held: map[uint64]heldState{}, fewest: math.MaxInt}
	var err error
	mc.client, err = NewClient(ClientConfig{Ordered: ordered, Clock: m.clock, Schema: m.shape.Hash(), Send: func(message []byte) bool { return mc.pipe.ToServer(message) }})
	m.must(err)
	mc.connect()
	return mc
}

// connect ends the connection, if there is one, and begins another.
func (mc *modelClient) connect() {
	if mc.session != nil {
		mc.session.Disconnected()
		mc.session = nil
	}
	c := PipeConfig{Ordered: mc.ordered, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, Seed: mc.Uint64(), QueueBytes: 2000 + mc.IntN(20000),
		DelayNs: mc.Int64N(60e6), JitterNs: mc.Int64N(40e6)}
	if mc.IntN(3) == 0 {
		c.DelayNs, c.JitterNs = 0, 0
	}
	var err error
	mc.pipe, err = NewPipe(c)
	mc.must(err)
	mc.pipe.Deliver(mc.clock.Now(), nil, nil)
	mc.stall, mc.waiting, mc.away = 0, 0, true
	if mc.log != nil {
		mc.log.connect(slices.Index(mc.clients, mc), mc.ordered)
	}
	mc.must(mc.client.Connect())
}

// act moves things within a tick.
func (m *model) act(t *evertick.Tick) error {
	for _, in := range t.Inputs() {
		m.applied[in.Source] = append(m.applied[in.Source], in.Seq)
	}
	if m.quiet {
		return nil
	}
	w := m.sim.World
	m.heal()
	if m.IntN(25) == 0 {
		order := w.LiveSlots(nil)
		if m.IntN(2) == 0 {
			m.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		m.must(w.Reorder(order))
		m.seen["reorder"]++
	}
	for slot := range m.slots() {
		p := &w.Position
		switch m.IntN(40) {
		case 0:
			p.X[slot], p.Y[slot] = m.coordinate(), m.coordinate()
			w.JumpAt(slot)
			m.seen["teleport"]++
		case 1:
			w.JumpAt(slot)
		default:
			p.X[slot] += slot2speed(slot)
			p.Y[slot] += m.Float32() - 0.5
		}
	}
	w.Position.Touch()
	return nil
}

// spoil writes numbers that are not finite, where the Sim no longer finds them in this tick.
func (m *model) spoil(*evertick.Tick) error {
	if m.quiet {
		return nil
	}
	for slot := range m.slots() {
		if m.IntN(60) == 0 {
			column := [...][]float32{m.sim.World.Position.X, m.energy.Values(), m.aim.Values()}[m.IntN(3)]
			column[slot] = [...]float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[m.IntN(3)]
			m.seen["NaN"]++
		}
	}
	m.sim.World.Position.Touch()
	m.energy.Touch()
	m.aim.Touch()
	return nil
}

func slot2speed(slot uint32) float32 { return float32(int(slot%7)-3) * 0.4 }

// coordinate returns a position, sometimes far away.
func (m *model) coordinate() float32 {
	if m.IntN(40) == 0 {
		return (m.Float32() - 0.5) * 1e6
	}
	return (m.Float32() - 0.5) * 120
}

func (m *model) slots() func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		for _, slot := range m.sim.World.LiveSlots(nil) {
			if !yield(slot) {
				return
			}
		}
	}
}

// host changes the world between two ticks.
func (m *model) host() {
	w := m.sim.World
	for range m.IntN(3) {
		if slots := w.LiveSlots(nil); len(slots) > 0 && m.IntN(3) == 0 {
			slot := slots[m.IntN(len(slots))]
			id, _ := w.ID(slot)
			w.Despawn(id)
			if m.IntN(2) == 0 {
				if again, err := w.Spawn(); err == nil {
					m.fill(again)
					if h, _ := w.Handle(again); h.Slot == slot {
						m.seen["slot used at once"]++
					}
				}
			}
		}
		if id, err := w.Spawn(); err == nil {
			m.fill(id)
		}
	}
	if w.Len() == w.Cap() {
		for range w.Cap() / 3 {
			slots := w.LiveSlots(nil)
			id, _ := w.ID(slots[m.IntN(len(slots))])
			w.Despawn(id)
		}
	}
	if m.IntN(4) == 0 { // in some ticks nothing else changes
		return
	}
	for slot := range m.slots() {
		switch m.IntN(12) {
		case 0:
			m.aim.Values()[slot] = (m.Float32() - 0.5) * 20
		case 1:
			m.health.Values()[slot] += int16(m.IntN(5) - 2)
		case 2:
			m.big.Values()[slot] = m.Uint64() >> m.IntN(64)
		case 3:
			m.energy.Values()[slot] += m.Float32() - 0.5
		case 4:
			m.setOwner(slot)
		case 5:
			m.team.Values()[slot] = 1 << m.IntN(4)
		case 6:
			m.turn(slot)
		case 7:
			if id, _ := w.ID(slot); len(m.tags) > 0 {
				if tag := m.tags[m.IntN(len(m.tags))]; tag.Has(id) {
					tag.Unset(id)
				} else {
					tag.Set(id)
				}
			}
		case 8:
			if id, _ := w.ID(slot); m.global.Has(id) {
				m.global.Unset(id)
			} else if m.IntN(4) == 0 {
				m.global.Set(id)
			}
		case 9:
			m.weight.Values()[slot] = m.Float32() * 4
		}
	}
	m.aim.Touch()
	m.health.Touch()
	m.big.Touch()
	m.energy.Touch()
	m.owner.Touch()
	m.team.Touch()
	m.weight.Touch()
	w.Rotation.Touch()
}

// fill gives a new entity its values.
func (m *model) fill(id ecs.ID) {
	h, _ := m.sim.World.Handle(id)
	slot, p := h.Slot, &m.sim.World.Position
	p.X[slot], p.Y[slot], p.Z[slot] = m.coordinate(), m.coordinate(), 0
	m.team.Values()[slot] = 1 << m.IntN(4)
	m.weight.Values()[slot] = 1
	m.big.Values()[slot] = m.Uint64()
	m.turn(slot)
	if m.IntN(3) == 0 {
		m.setOwner(slot)
	}
}

func (m *model) turn(slot uint32) {
	half := m.Float64() * 2 * math.Pi
	q := &m.sim.World.Rotation
	q.X[slot], q.Y[slot], q.Z[slot], q.W[slot] = 0, 0, float32(math.Sin(half)), float32(math.Cos(half))
}

func (m *model) setOwner(slot uint32) {
	v := uint32(0)
	if mc := m.clients[m.IntN(len(m.clients))]; m.IntN(3) > 0 {
		v = mc.number
	}
	m.owner.Values()[slot] = v
}

// take records the truth of the tick that has just ended.
func (m *model) take() *truth {
	w := m.sim.World
	u := &truth{at: uint64(m.clock.Now()) / 1000}
	jumped := w.Jumped()
	for slot := range m.slots() {
		id, _ := w.ID(slot)
		e := truthEntity{slot: slot, id: id, x: w.Position.X[slot], y: w.Position.Y[slot], z: w.Position.Z[slot],
			owner: m.owner.Values()[slot], category: m.team.Values()[slot], global: m.global.Has(id), jumped: jumped[slot>>6]>>(slot&63)&1 != 0}
		for _, g := range m.shape.Groups {
			for _, f := range g.Fields {
				if lanes := m.quantised(f, slot, id); g.Owner {
					e.owned = append(e.owned, lanes...)
				} else {
					e.lanes = append(e.lanes, lanes...)
				}
			}
		}
		u.list = append(u.list, e)
	}
	return u
}

// quantised returns the lanes of a field.
func (m *model) quantised(f Field, slot uint32, id ecs.ID) (lanes []int32) {
	q := &m.sim.World.Rotation
	switch f.Codec {
	case KindTags:
		for i, tag := range m.tags {
			if tag.Has(id) {
				lanes = append(lanes, 1<<i)
			}
		}
		sum := int32(0)
		for _, bit := range lanes {
			sum |= bit
		}
		return []int32{sum}
	case KindPlanar:
		lanes = make([]int32, 1)
		netcode.QuantisePlanar(native.Go, lanes, q.Z[slot:slot+1], q.W[slot:slot+1], int(f.Bits))
		return lanes
	case KindQuat:
		var l [4][1]int32
		netcode.QuantiseQuat(native.Go, netcode.QuatLanes{Index: l[0][:], A: l[1][:], B: l[2][:], C: l[3][:]},
			native.Quat{X: q.X[slot : slot+1], Y: q.Y[slot : slot+1], Z: q.Z[slot : slot+1], W: q.W[slot : slot+1]}, int(f.Bits))
		return []int32{l[0][0], l[1][0], l[2][0], l[3][0]}
	}
	column, ok := m.sim.World.ColumnNamed(f.Name)
	if !ok {
		m.t.Fatalf("no column %s", f.Name)
	}
	for i := range int(f.Components) {
		switch v := column.Value(slot, i).(type) {
		case float32:
			lanes = append(lanes, plainCode(f, v))
		case int16:
			lanes = append(lanes, int32(v))
		case uint64:
			lanes = append(lanes, int32(uint32(v)), int32(uint32(v>>32)))
		default:
			m.t.Fatalf("column %s", f.Name)
		}
	}
	return lanes
}

// plainCode is the nearest code of a float, ties to even.
func plainCode(f Field, v float32) int32 {
	if f.Codec == KindAngle {
		turns := v * float32(1/(2*math.Pi))
		turns -= float32(math.RoundToEven(float64(turns)))
		return naiveSx(f.Bits, int64(math.RoundToEven(float64(turns*float32(int(1)<<f.Bits)))))
	}
	limit := float64(int(1)<<(f.Bits-1) - 1)
	steps := float64(v * (1 / f.Step))
	if math.IsNaN(steps) {
		return int32(-limit) - 1
	}
	return int32(math.RoundToEven(max(-limit, min(limit, steps))))
}

// step is one tick and what arrives after it.
func (m *model) step() {
	if !m.quiet {
		m.host()
		m.goBack()
	}
	m.clock.Add(16_666_667)
	m.must(m.sim.Step())
	u := m.take()
	m.truths[u.at] = u
	m.findMoves(u)
	for _, mc := range m.clients {
		mc.note(u)
	}
	for _, mc := range m.clients {
		mc.deliver()
	}
}

// goBack sometimes restores the Sim as it was.
func (m *model) goBack() {
	var err error
	switch back := m.sim.Ticks() - m.savedAt; {
	case !m.rewinds:
	case m.saved == nil && m.IntN(100) == 0:
		m.heal()
		m.saved, err = m.sim.Snapshot(nil)
		m.savedAt = m.sim.Ticks()
	case m.saved != nil && back > 40 && m.IntN(60) == 0:
		err = m.sim.Restore(m.saved)
		m.saved, m.gone = nil, uint64(m.clock.Now())/1000
		m.seen["Restore"]++
	}
	m.must(err)
}

// note keeps what decides about the view at a tick: the server has made a message of it.
func (mc *modelClient) note(u *truth) {
	if mc.session == nil || mc.session.session.current != mc.session || mc.sim.Ticks()%uint64(max(mc.config.Every, 1)) != 0 {
		return
	}
	own, follow := -1, -1
	for i, e := range u.list {
		if e.owner == mc.number && own < 0 {
			own = i
		}
		if e.id == mc.centre.follow && (!mc.centre.owned || e.owner == mc.number) {
			follow = i
		}
	}
	place := func(x, y, z float32) {
		if finite := x-x == 0 && y-y == 0 && z-z == 0; finite {
			mc.x, mc.y, mc.z, mc.placed = x, y, z, true
		}
	}
	switch c := mc.centre; {
	case c.follow == 0 && c.point:
		place(c.x, c.y, c.z)
	case c.follow != 0 && follow >= 0:
		place(u.list[follow].x, u.list[follow].y, u.list[follow].z)
	case (c.follow == 0 || c.owned) && own >= 0:
		place(u.list[own].x, u.list[own].y, u.list[own].z)
	}
	view := modelView{mc.number, mc.mask, mc.x, mc.y, mc.z, mc.placed, map[ecs.ID]bool{}}
	before := mc.views[mc.seesAt].sees
	if mc.seesAt <= mc.gone || mc.away && mc.seesAt < mc.moved {
		before = nil
	}
	for i := range u.list {
		if e := &u.list[i]; mc.sees(e, &view, before[e.id]) {
			view.sees[e.id] = true
		}
	}
	for id := range before {
		if !view.sees[id] {
			mc.left[id] = append(mc.left[id], modelLeft{u.at, !u.alive(id)})
		}
	}
	mc.views[u.at], mc.seesAt, mc.away = view, u.at, false
}

// sees reports whether an entity is in a view, of which it was before or not.
func (mc *modelClient) sees(e *truthEntity, view *modelView, before bool) bool {
	v, d2 := &mc.config.View, distance2(e, view)
	switch {
	case e.owner == view.session:
	case e.global:
		mc.seen["global"]++
	case v.Category != "" && e.category&view.mask == 0:
		mc.seen["masked"]++
		return false
	case v.Enter == 0:
	case !view.placed || !(d2 <= max(v.Leave, v.Enter)*max(v.Leave, v.Enter)):
		return false
	case d2 > v.Enter*v.Enter:
		mc.seen[fmt.Sprintf("between Enter and Leave: %t", before)]++
		return before
	}
	return true
}

// findMoves finds out whether entities have got other slots since the last send tick.
func (m *model) findMoves(u *truth) {
	connected := func(mc *modelClient) bool { return mc.session != nil && mc.session.session.current == mc.session }
	if m.sim.Ticks()%uint64(max(m.config.Every, 1)) != 0 || !slices.ContainsFunc(m.clients, connected) {
		return
	}
	now := map[ecs.ID]uint32{}
	for _, e := range u.list {
		if slot, ok := m.slotOf[e.id]; ok && slot != e.slot {
			m.moved = u.at
		}
		now[e.id] = e.slot
	}
	m.slotOf = now
}

// deliver passes on what has arrived, and does something to the connection.
func (mc *modelClient) deliver() {
	alive := mc.pipe.Deliver(mc.clock.Now(), mc.toClient, mc.toServer)
	if !mc.client.live {
		mc.waiting++
	}
	mc.stall--
	switch r := mc.IntN(400); {
	case !alive:
		mc.seen["closed by the server"]++
		mc.connect()
	case mc.waiting > 30:
		mc.seen["no Welcome"]++
		mc.connect()
	case r < 3:
		mc.seen["reconnect"]++
		mc.pipe.Cut()
		mc.connect()
	case r < 6:
		mc.seen["stall"]++
		mc.pipe.Stall(true)
		mc.stall = mc.IntN(60)
	case mc.stall <= 0:
		mc.pipe.Stall(false)
	}
	if mc.session != nil && mc.client.live {
		mc.wish()
	}
}

// wish changes the view, or sends something.
func (mc *modelClient) wish() {
	ids := slices.Collect(mc.sim.World.IDs())
	switch r := mc.IntN(200); {
	case r < 3:
		mc.mask = uint32(mc.IntN(16))
		mc.session.SetMask(mc.mask)
	case r < 5:
		mc.centre = centre{point: true, x: 60 * (mc.Float32() - 0.5), y: 60 * (mc.Float32() - 0.5)}
		mc.session.LookAt(mc.centre.x, mc.centre.y, 0)
	case r < 7 && len(ids) > 0:
		mc.centre = centre{follow: ids[mc.IntN(len(ids))]}
		mc.session.Follow(mc.centre.follow)
	case r < 8:
		mc.centre = centre{}
		mc.session.Follow(0)
	case r < 10 && len(ids) > 0:
		_ = mc.client.Follow(ids[mc.IntN(len(ids))])
	case r < 20:
		_ = mc.client.Ping()
	case r < 60:
		tick := uint64(0)
		if mc.IntN(2) == 0 {
			tick, _ = mc.client.Aim()
		}
		if _, err := mc.client.Input(5, []byte{1, 2}, tick); err == nil {
			mc.seen["input"]++
		}
	}
}

// toServer takes a message of the client.
func (mc *modelClient) toServer(message []byte) {
	if mc.session == nil {
		if message[0] != kindHello {
			return
		}
		s, err := mc.server.Join(context.Background(), mc.pipe, message)
		if err != nil {
			return // no room for the Welcome: the client tries again
		}
		mc.mask = 0xff // that of the Grant, also after a SetMask
		if mc.session = s; s.ID() != mc.number {
			mc.number, mc.centre, mc.placed, mc.seesAt = s.ID(), centre{}, false, 0
			mc.seen["new session"]++
		} else {
			mc.seen["resumed"]++
		}
		return
	}
	if message[0] == kindHello {
		return // again
	}
	l, look := parseLook(message)
	switch err := mc.session.Receive(message); {
	case errors.Is(err, Closing) && !mc.ordered && mc.rewinds:
	case err != nil:
		mc.t.Fatalf("seed %d: the server refuses a frame of kind %d: %v", mc.seed, message[0], err)
	case look == nil:
		mc.centre = centre{follow: ecs.ID(l.follow), owned: true}
		mc.seen["Look"]++
	}
}

// toClient passes a message to the client, and compares the state with the truth if it was applied.
func (mc *modelClient) toClient(message []byte) {
	if mc.log != nil {
		mc.follow(message)
		return
	}
	before := mc.client.State().text()
	if k := message[0]; (k == kindKeyframe || k == kindUpdate) && !mc.quiet && mc.IntN(20) == 0 && headerOf(message).flags&flagCheck != 0 {
		var s ClientStats
		message[len(message)-1] ^= 1
		mc.client.Stats(&s)
		mc.broken -= s.Mismatch
		defer func() {
			mc.client.Stats(&s)
			mc.broken += s.Mismatch
		}()
	}
	if err := mc.client.Receive(message); errors.Is(err, Closing) && !mc.ordered && mc.rewinds {
		mc.ended++
		mc.seen["ended by a Restore"]++
		return
	} else if err != nil {
		mc.t.Fatalf("seed %d: the client refuses a frame of kind %d: %v", mc.seed, message[0], err)
	}
	var s ClientStats
	if mc.client.Stats(&s); s.Frames == mc.messages {
		if message[0] != kindWelcome && mc.client.State().text() != before {
			mc.t.Fatalf("seed %d: a frame that is ignored changes the state", mc.seed)
		}
		return
	}
	mc.messages = s.Frames
	h := headerOf(message)
	mc.flags(&h)
	if fault := mc.compare(&h, mc.config.Budget); fault != "" {
		mc.t.Fatalf("seed %d, ordered %t, budget %d, tick %d, base %d: %s", mc.seed, mc.ordered, mc.config.Budget, h.tick, h.tick-h.age, fault)
	}
}

func (mc *modelClient) flags(h *header) {
	for bit, name := range [...]string{"predicted", "partial", "applied", "jumped", "own", "check"} {
		if h.flags>>bit&1 != 0 {
			mc.seen[name]++
		}
	}
	if h.keyframe {
		mc.seen["Keyframe"]++
	} else if mc.seen["Update"]++; h.age > uint64(max(mc.config.Every, 1)) {
		mc.seen["Update over several"]++
	}
}

// compare returns what is wrong with the state after a message, or "".
func (mc *modelClient) compare(h *header, budget int) string {
	s := mc.client.State()
	u, ok := mc.truths[h.at]
	view, noted := mc.views[h.at]
	if !ok || !noted {
		return "a frame of a tick that is not known"
	}
	var base []heldEntity
	var baseAt uint64
	if !h.keyframe {
		base, baseAt = mc.held[h.tick-h.age].list, mc.held[h.tick-h.age].at
	}
	if fault := mc.compareList(s, u, view, base, budget); fault != "" {
		return fault
	}
	held := make([]heldEntity, len(s.slots))
	own, fresh := 0, 0
	for place, slot := range s.slots {
		i, _ := slices.BinarySearchFunc(u.list, slot, func(e truthEntity, slot uint32) int { return int(e.slot) - int(slot) })
		e := &u.list[i]
		lanes := make([]int32, len(s.lanes))
		for l := range lanes {
			lanes[l] = s.lanes[l][place]
		}
		now := &held[place]
		*now = heldEntity{slot, s.ids[place], h.at, lanes}
		was := findHeld(base, slot, e.id)
		if !slices.Equal(lanes, e.lanes) {
			if budget == 0 || was == nil || !slices.Equal(lanes, was.lanes) {
				return fmt.Sprintf("entity %d in slot %d has lanes %d, want %d", e.id, slot, lanes, e.lanes)
			}
			now.since = was.since
			mc.longest = max(mc.longest, h.at-now.since)
			mc.seen["old values"]++
		}
		if was != nil && now.since == h.at {
			fresh++
			flagged := slices.Contains(s.jumped, uint32(place))
			jumped := mc.jumped(e.id, was.since, h.at) || slices.ContainsFunc(mc.left[e.id], func(l modelLeft) bool { return l.at > baseAt && l.at <= h.at })
			if jumped && !flagged && budget > 0 && was.since < baseAt && slices.Equal(lanes, was.lanes) {
				now.since = was.since // old values, which happen to be right again
			} else if jumped && !flagged || flagged && !jumped && budget == 0 {
				return fmt.Sprintf("entity %d in slot %d: jumped %t, want %t", e.id, slot, flagged, jumped)
			}
		}
		if e.owner != view.session {
			continue
		}
		if own >= len(s.own) || s.own[own] != uint32(place) {
			return fmt.Sprintf("owned places %d, which lack %d", s.own, place)
		}
		for l, v := range e.owned {
			if s.owned[l][own] != v {
				return fmt.Sprintf("entity %d in slot %d: owner lane %d is %d, want %d", e.id, slot, l, s.owned[l][own], v)
			}
		}
		own++
	}
	if own != len(s.own) {
		return fmt.Sprintf("owned places %d, %d of which are right", s.own, own)
	}
	if fault := mc.compareChanges(s, base, baseAt); fault != "" {
		return fault
	}
	if h.flags&flagPartial != 0 {
		mc.fewest = min(mc.fewest, fresh)
	}
	mc.held[h.tick] = heldState{h.at, held}
	return ""
}

// compareList compares the entities with those that a search of all finds.
func (mc *modelClient) compareList(s *State, u *truth, view modelView, base []heldEntity, budget int) string {
	place := 0
	for _, e := range u.list {
		in, must := view.sees[e.id], e.owner == view.session
		if budget > 0 && findHeld(base, e.slot, e.id) == nil && !must {
			has := place < len(s.slots) && s.slots[place] == e.slot
			if in && !has {
				mc.seen["enters later"]++
			}
			in = in && has // it may have to wait
		}
		if has := place < len(s.slots) && s.slots[place] == e.slot && s.ids[place] == e.id; has != in {
			return fmt.Sprintf("entity %d in slot %d at a distance of %g: in the view %t, want %t", e.id, e.slot, math.Sqrt(float64(distance2(&e, &view))), has, in)
		} else if has {
			place++
		}
	}
	if place != len(s.slots) {
		return fmt.Sprintf("%d entities, want %d", len(s.slots), place)
	}
	return ""
}

func distance2(e *truthEntity, v *modelView) float32 {
	x, y, z := e.x-v.x, e.y-v.y, e.z-v.z
	return float32(float32(x*x)+float32(y*y)) + float32(z*z)
}

func findHeld(list []heldEntity, slot uint32, id ecs.ID) *heldEntity {
	i, ok := slices.BinarySearchFunc(list, slot, func(e heldEntity, slot uint32) int { return int(e.slot) - int(slot) })
	if !ok || list[i].id != id {
		return nil
	}
	return &list[i]
}

// jumped reports whether an entity teleported after one time, up to another.
func (m *model) jumped(id ecs.ID, from, to uint64) bool {
	for at, u := range m.truths {
		if at > from && at <= to && slices.ContainsFunc(u.list, func(e truthEntity) bool { return e.id == id && e.jumped }) {
			return true
		}
	}
	return false
}

// compareChanges compares the lists of entities that left and entered.
func (mc *modelClient) compareChanges(s *State, base []heldEntity, baseAt uint64) string {
	var left []Left
	var entered []uint32
	for _, e := range base {
		if place, ok := s.Place(e.slot); !ok || s.ids[place] != e.id {
			first := slices.IndexFunc(mc.left[e.id], func(l modelLeft) bool { return l.at > baseAt })
			if first < 0 {
				return fmt.Sprintf("entity %d in slot %d left the client, not the view", e.id, e.slot)
			}
			left = append(left, Left{e.id, e.slot, mc.left[e.id][first].dead})
			if ok {
				mc.seen["slot used by another entity"]++
			}
		}
	}
	for place, slot := range s.slots {
		if findHeld(base, slot, s.ids[place]) == nil {
			entered = append(entered, uint32(place))
		}
	}
	if !slices.Equal(s.Left(), left) || !slices.Equal(s.Entered(), entered) {
		return fmt.Sprintf("left %v, want %v; entered %d, want %d", s.Left(), left, s.Entered(), entered)
	}
	return ""
}

// finish lets all connections rest, and compares the inputs.
func (m *model) finish(steps int) {
	m.quiet = true
	m.heal()
	for range steps { // no connection ends, and nothing stalls
		m.clock.Add(16_666_667)
		m.must(m.sim.Step())
		u := m.take()
		m.truths[u.at] = u
		m.findMoves(u)
		for _, mc := range m.clients {
			mc.pipe.Stall(false)
			mc.note(u)
			alive := mc.pipe.Deliver(m.clock.Now(), mc.toClient, mc.toServer)
			if mc.waiting++; !alive || !mc.client.live && mc.waiting%30 == 0 {
				mc.connect()
			}
		}
	}
	for i, mc := range m.clients {
		var s ClientStats
		mc.client.Stats(&s)
		if s.Mismatch != mc.broken || s.Refused != mc.ended || s.Frames < 5 {
			m.t.Errorf("seed %d, client %d: %d frames, %d differ, %d refused", m.seed, i, s.Frames, s.Mismatch, s.Refused)
		}
		m.seen["frames"] += int(s.Frames)
		m.seen["frames ignored: old"] += int(s.Old)
		m.seen["frames ignored: base"] += int(s.Baseless)
		m.seen["Resync"] += int(s.Resyncs)
		if !mc.ordered && m.config.Ring > 0 {
			continue // acknowledged states may be gone from the ring, and there is a Keyframe now and then
		}
		if newest := mc.client.State().Tick(); mc.client.live && newest+20 < m.sim.Ticks() {
			m.t.Errorf("seed %d, client %d: state of tick %d at tick %d", m.seed, i, newest, m.sim.Ticks())
		}
		if fault := mc.complete(); fault != "" {
			m.t.Fatalf("seed %d, client %d, at rest: %s", m.seed, i, fault)
		}
		if n := mc.client.Waiting(); n > 0 && mc.client.live && !m.rewinds {
			m.t.Errorf("seed %d, client %d: %d inputs still wait", m.seed, i, n)
		}
	}
	for source, seqs := range m.applied {
		slices.Sort(seqs)
		for i, seq := range seqs {
			if !m.rewinds && seq != uint64(i)+1 {
				m.t.Fatalf("seed %d: inputs of session %d that were applied: %d", m.seed, source, seqs)
			}
		}
	}
}

// complete returns what is wrong with a state when nothing changes any more: not even a budget keeps
// anything from the client.
func (mc *modelClient) complete() string {
	s := mc.client.State()
	was := mc.held[s.tick]
	u, view := mc.truths[s.at], mc.views[s.at]
	if fault := mc.compareList(s, u, view, was.list, 0); fault != "" {
		return fault
	}
	for _, e := range was.list {
		if e.since != s.at {
			return fmt.Sprintf("entity %d in slot %d has old values", e.id, e.slot)
		}
	}
	return ""
}

// heal makes all positions finite, which a tick and a snapshot need.
func (m *model) heal() {
	for slot := range m.slots() {
		for _, column := range [][]float32{m.sim.World.Position.X, m.energy.Values(), m.aim.Values()} {
			if v := column[slot]; v-v != 0 {
				column[slot] = 0
			}
		}
	}
	m.sim.World.Position.Touch()
	m.energy.Touch()
	m.aim.Touch()
}

// After each message that it applies, each client has the state of the Sim at that tick, whatever happens to the
// world, to its view and to its connection.
func TestModel(t *testing.T) {
	runs, steps, rest := casesOf(10, 64), casesOf(120, 700), casesOf(100, 300)
	seen := map[string]int{} // in runs with fixed seeds
	for i := range runs + runs/4 {
		number, seed, counts := i, 1+uint64(i), seen
		if runs < 64 {
			number = 37*i + 1
		}
		if i >= runs {
			number, seed, counts = number+int(paritytest.Seed()%64), paritytest.Seed()+uint64(i), map[string]int{}
		}
		m := newModel(t, seed, number, counts)
		for range steps {
			m.step()
		}
		m.finish(rest)
		if t.Failed() {
			return
		}
	}
	t.Log(seen)
	for _, what := range []string{"radius", "budget", "columns", "categories", "every", "small ring", "teleport", "NaN", "slot used at once",
		"slot used by another entity", "resumed", "new session", "stall", "Look", "input", "predicted", "partial", "applied", "jumped", "own", "check", "Keyframe",
		"Update", "Update over several", "global", "masked", "between Enter and Leave: true", "between Enter and Leave: false", "enters later", "old values",
		"frames ignored: old", "Resync", "Restore", "reorder"} {
		if seen[what] == 0 {
			t.Errorf("never seen: %s", what)
		}
	}
	if n := seen["reconnect"]; n < 200 && runs == 64 || n == 0 {
		t.Errorf("%d reconnects", n)
	}
}

// A client that holds the state of a tick from before a Restore does not resume from that of the same tick
// after it.
func TestResumeAfterRestore(t *testing.T) {
	m := newModel(t, 1, 0, map[string]int{})
	m.rewinds = true
	m.clients = m.clients[:1]
	mc := m.clients[0]
	step := func(n int, deliver bool) {
		t.Helper()
		for range n {
			m.host()
			m.tick(deliver)
		}
	}
	mc.connectWell()
	step(20, true)
	m.heal()
	saved, err := m.sim.Snapshot(nil)
	m.must(err)
	step(10, true)
	if mc.client.State().Tick() != 30 {
		t.Fatalf("state of tick %d", mc.client.State().Tick())
	}
	m.must(m.sim.Restore(saved))
	step(10, false) // the client does not read what it is sent
	mc.pipe.Cut()
	mc.connectWell()
	mc.pipe.Deliver(m.clock.Now(), mc.toClient, mc.toServer)
	step(5, true)
	if mc.client.State().Tick() != 35 || m.seen["resumed"] == 0 {
		t.Errorf("state of tick %d, %d resumed", mc.client.State().Tick(), m.seen["resumed"])
	}
}

// connectWell begins a connection without faults.
func (mc *modelClient) connectWell() {
	mc.connect()
	mc.pipe.config = PipeConfig{Ordered: true, QueueBytes: 1 << 20}
}

// tick runs a tick, and passes on what is sent if the connections deliver.
func (m *model) tick(deliver bool) {
	m.t.Helper()
	m.clock.Add(16_666_667)
	m.must(m.sim.Step())
	u := m.take()
	m.truths[u.at] = u
	m.findMoves(u)
	for _, mc := range m.clients {
		if mc.note(u); deliver {
			mc.pipe.Deliver(m.clock.Now(), mc.toClient, mc.toServer)
		}
	}
}

// With a budget and equal weights no entity waits much longer than the others: with n entities, and
// at least k with new values in each message, not beyond n/k messages.
func TestBudgetWait(t *testing.T) {
	m := newModel(t, 0, 6, map[string]int{})
	for seed := uint64(1); m.config.View.Weight != "" || m.sim.World.Cap() < 80; seed++ {
		m = newModel(t, seed, 6, map[string]int{})
	}
	m.clients = m.clients[:1]
	mc := m.clients[0]
	mc.connectWell()
	const n = 70
	for range n {
		id, err := m.sim.World.Spawn()
		m.must(err)
		m.fill(id)
	}
	run := func(ticks int) {
		for range ticks {
			for slot := range m.slots() {
				m.big.Values()[slot] = m.Uint64() // of which few fit
			}
			m.big.Touch()
			m.tick(true)
		}
	}
	run(100)
	mc.longest, mc.fewest = 0, math.MaxInt
	run(400)
	messages := int(mc.longest / 16_666)
	t.Logf("budget %d: at least %d of %d entities in a frame, and the longest wait is %d frames", m.config.Budget, mc.fewest, n, messages)
	if len(mc.client.State().Slots()) != n || mc.fewest < 2 || mc.fewest >= n || messages == 0 || messages > (n+mc.fewest-1)/mc.fewest {
		t.Errorf("%d entities, at least %d in a frame, and a wait of %d frames", len(mc.client.State().Slots()), mc.fewest, messages)
	}
}
