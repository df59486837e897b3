package replica

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
)

// rig is a Sim with columns of every kind, a source, and clients that decode what it sends.
type rig struct {
	t      testing.TB
	r      *rand.Rand
	sim    *evertick.Sim
	w      *ecs.World
	s      *source
	c      Config
	schema Schema
	hp     *ecs.Column[int32]
	big    *ecs.Column[uint64]
	pair   *ecs.Column[[2]float32]
	owner  *ecs.Column[uint16]
	teams  *ecs.Column[uint32]
	weight *ecs.Column[float32]
	secret *ecs.Column[int8]
	red    ecs.Tag
	global ecs.Tag
	ids    []ecs.ID
	tick   uint64
	glide  bool                      // entities move at constant velocities
	truth  []map[uint32]strictEntity // by tick
	jumps  [][]uint64                // by tick: World.Jumped
	origin [3]int64                  // of the newest capture, in units of 1,024 m
	shifts int
	seats  []*seat
}

// seat is a client and the server's end of it.
type seat struct {
	v        *viewer
	c        *strict
	before   []strictEntity    // its list before the last message
	fresh    map[ecs.ID]uint64 // the tick of the values that an entity has
	view     map[ecs.ID]bool   // what it sees, by brute force
	left     map[ecs.ID]uint64 // the tick at which an entity left the view last
	lost     float64           // share of messages that a connection without order loses
	busy     float64           // share of messages that the connection refuses
	messages int
	bytes    int
	partial  int
	guessed  int // predicted messages
	last     []byte
}

func newRig(t testing.TB, seed uint64, c Config) *rig {
	sim, err := evertick.New(evertick.Config{Capacity: 1000, Previous: true})
	if err != nil {
		t.Fatal(err)
	}
	return newRigOn(t, seed, c, sim)
}

func newRigOn(t testing.TB, seed uint64, c Config, sim *evertick.Sim) *rig {
	g := &rig{t: t, r: rand.New(rand.NewPCG(seed, 1)), sim: sim, w: sim.World, c: c, truth: []map[uint32]strictEntity{nil}}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var errs [9]error
	g.hp, errs[0] = ecs.AddColumn[int32](g.w, "hp")
	g.big, errs[1] = ecs.AddColumn[uint64](g.w, "big")
	g.pair, errs[2] = ecs.AddArrayColumn[[2]float32](g.w, "pair")
	g.owner, errs[3] = ecs.AddColumn[uint16](g.w, "owner")
	g.teams, errs[4] = ecs.AddColumn[uint32](g.w, "teams")
	g.weight, errs[5] = ecs.AddColumn[float32](g.w, "weight")
	g.secret, errs[6] = ecs.AddColumn[int8](g.w, "secret")
	g.red, errs[7] = g.w.Tag("red")
	g.global, errs[8] = g.w.Tag("global")
	for _, err := range errs {
		must(err)
	}
	var err error
	g.s, err = newSource(sim, &g.c)
	must(err)
	g.schema = g.s.schema()
	return g
}

// everything is a Config with each feature.
func everything() Config {
	return Config{
		Columns: []Column{{Name: "position", Codec: Quantised{}}, {Name: "rotation", Codec: Quat{}}, {Name: "scale", Codec: Quantised{Bits: 16}},
			{Name: "hp"}, {Name: "big"}, {Name: "pair", Codec: Quantised{Step: 0.5, Bits: 12}}, {Name: "secret", To: Owner}, {Name: "big", To: Owner}},
		Tags: []string{"red"}, Owner: "owner",
		View: ViewConfig{Enter: 20, Leave: 25, Category: "teams", Global: "global", Weight: "weight"},
	}
}

func (g *rig) join(session uint32, ordered bool) *seat {
	seat := &seat{v: newViewer(session, ordered), c: &strict{schema: g.schema, keep: 33}, fresh: make(map[ecs.ID]uint64), left: make(map[ecs.ID]uint64)}
	if ordered {
		seat.c.keep = 1
	}
	g.seats = append(g.seats, seat)
	return seat
}

func (g *rig) spawn(n int) {
	for range n {
		id, slot, err := g.w.SpawnSlot()
		if err != nil {
			return
		}
		g.ids = append(g.ids, id)
		g.w.SetPosition(id, 60*g.r.Float32()-30, 60*g.r.Float32()-30, 0)
		g.hp.Values()[slot] = g.r.Int32()
		g.weight.Values()[slot] = g.r.Float32() * 3
		g.teams.Values()[slot] = g.r.Uint32()
		if g.r.IntN(4) == 0 {
			g.owner.Values()[slot] = uint16(g.r.IntN(5))
		}
	}
}

// change makes random changes of every kind, few or many.
func (g *rig) change() {
	r := g.r
	for range r.IntN(4) {
		if n := len(g.ids); n > 0 && r.IntN(2) == 0 {
			i := r.IntN(n)
			g.w.Despawn(g.ids[i])
			g.ids = slices.Delete(g.ids, i, i+1)
		} else {
			g.spawn(1)
		}
	}
	moves := r.IntN(3)
	if g.glide {
		g.drift()
		return
	}
	for _, id := range g.ids {
		slot, _ := g.w.Slot(id)
		if moves == 0 && r.IntN(30) != 0 {
			continue
		}
		x, y := g.w.Position.X[slot], g.w.Position.Y[slot]
		d := float32(1)
		if r.IntN(40) == 0 {
			d = 30
			g.w.Jump(id)
		}
		g.w.SetPosition(id, x+d*(r.Float32()-0.5), y+d*(r.Float32()-0.5), r.Float32())
		if r.IntN(3) == 0 {
			g.w.SetRotation(id, r.Float32()-0.5, r.Float32()-0.5, r.Float32()-0.5, r.Float32()-0.5)
		}
		if r.IntN(20) == 0 {
			g.hp.Values()[slot] = r.Int32N(1000) - 500
			g.hp.Touch()
			g.big.Values()[slot] = r.Uint64() >> r.IntN(64)
			g.big.Touch()
			g.secret.Values()[slot] = int8(r.Int32())
			g.secret.Touch()
			g.pair.Values()[slot] = [2]float32{r.Float32() * 100, -r.Float32()}
			g.pair.Touch()
		}
		switch r.IntN(100) {
		case 0:
			g.red.Set(id)
		case 1:
			g.red.Unset(id)
		case 2:
			g.owner.Values()[slot] = uint16(r.IntN(5))
			g.owner.Touch()
		case 3:
			g.teams.Values()[slot] = r.Uint32() & r.Uint32()
			g.teams.Touch()
		case 4:
			if r.IntN(10) == 0 {
				g.global.Set(id)
			}
		case 5:
			if r.IntN(8) == 0 {
				g.w.Position.X[slot] = float32(math.NaN())
				g.w.Position.Touch()
			}
		}
	}
}

// drift moves all entities at velocities of their own.
func (g *rig) drift() {
	for _, id := range g.ids {
		slot, _ := g.w.Slot(id)
		vx, vy := 0.01*float32(id%17)-0.08, 0.01*float32(id%23)-0.11
		g.w.SetPosition(id, g.w.Position.X[slot]+vx, g.w.Position.Y[slot]+vy, 0)
		if id%3 > 0 { // they turn about an axis each
			q, half := &g.w.Rotation, 0.004*float64(id%29)
			sin, cos := float32(math.Sin(half)), float32(math.Cos(half))
			x, y, z, w := q.X[slot], q.Y[slot], q.Z[slot], q.W[slot]
			if id%2 == 0 {
				x, y, z, w = x*cos+w*sin, y*cos+z*sin, z*cos-y*sin, w*cos-x*sin
			} else {
				x, y, z, w = x*cos-z*sin, y*cos+w*sin, z*cos+x*sin, w*cos-y*sin
			}
			g.w.SetRotation(id, x, y, z, w)
		}
	}
}

// step lets a tick pass, and captures it if send is set.
func (g *rig) step(send bool) {
	for i, x := range g.w.Position.X { // with which a Sim does not step
		if x != x {
			g.w.Position.X[i] = 0
			g.w.Position.Touch()
		}
	}
	if err := g.sim.Step(); err != nil {
		g.t.Fatal(err)
	}
	g.change()
	if g.r.IntN(15) == 0 {
		g.shift()
	}
	g.observe()
	if send {
		g.capture()
	}
}

// shift moves the origin, by up to 3 km or, rarely, so far that positions saturate, and back.
func (g *rig) shift() {
	offset := [2]float32{1024 * float32(g.r.IntN(7)-3), 1024 * float32(g.r.IntN(7)-3)}
	if o := g.sim.Origin(); math.Abs(o[0]) > 8000 || math.Abs(o[1]) > 8000 {
		offset = [2]float32{float32(-o[0]), float32(-o[1])}
	} else if g.r.IntN(8) == 0 {
		offset[0] = 1 << 17
	}
	if err := g.sim.ShiftOrigin(offset); err != nil {
		g.t.Fatal(err)
	}
	g.shifts++
}

// observe ends a tick.
func (g *rig) observe() {
	g.s.observe()
	g.tick++
	g.truth = append(g.truth, nil)
	for len(g.jumps) <= int(g.tick) {
		g.jumps = append(g.jumps, nil)
	}
	g.jumps[g.tick] = slices.Clone(g.w.Jumped())
}

func (g *rig) capture() {
	if !g.s.capture(g.tick, 1000*g.tick) {
		g.t.Fatal("capture refused")
	}
	all := make(map[uint32]strictEntity)
	for _, slot := range g.s.present.slots {
		id, _ := g.w.ID(slot)
		e := strictEntity{slot: slot, id: id}
		for i, group := range g.s.groups {
			for lane := range group.lanes {
				e.lanes = append(e.lanes, group.arena[g.s.at(i, g.s.captures)+lane*g.s.present.stride+int(slot)])
			}
		}
		all[slot] = e
	}
	g.truth[g.tick] = all
	var origin [3]int64
	for k, v := range g.sim.Origin() {
		origin[k] = int64(v / 1024)
	}
	if origin != g.origin { // a client has moved the values of earlier ticks
		c := strict{schema: g.schema}
		for _, u := range g.truth[:g.tick] {
			for slot, e := range u {
				u[slot] = c.shifted([]strictEntity{e}, g.origin, origin)[0]
			}
		}
		g.origin = origin
	}
}

// send sends the newest capture to all seats, and checks what they have then.
func (g *rig) send() {
	var viewers []*viewer
	for _, seat := range g.seats {
		viewers = append(viewers, seat.v)
	}
	if err := g.s.begin(viewers); err != nil {
		g.t.Fatal(err)
	}
	defer g.s.end()
	for _, seat := range g.seats {
		g.look(seat)
	}
	for i, seat := range g.seats {
		message := g.s.append(seat.last[:0], seat.v, appliedInput{seq: g.tick, residenceUs: 7, present: i%2 == 0})
		seat.last = message
		if len(message) == 0 {
			continue
		}
		if g.r.Float64() < seat.busy {
			seat.v.refused()
			continue
		}
		seat.v.sent()
		if g.r.Float64() < seat.lost {
			continue
		}
		seat.receive(g, message)
	}
}

// look finds what a client sees: that follows from what it saw, not from what it was sent.
func (g *rig) look(seat *seat) {
	view := make(map[ecs.ID]bool)
	for _, slot := range g.s.present.slots {
		id, _ := g.w.ID(slot)
		if g.owned(seat.v, slot) || g.c.View.Global != "" && g.global.Has(id) || g.near(seat.v, slot, seat.view[id]) {
			view[id] = true
		}
	}
	for id := range seat.view {
		if !view[id] {
			seat.left[id] = g.tick
		}
	}
	seat.view = view
}

func (g *rig) owned(v *viewer, slot uint32) bool {
	return g.c.Owner != "" && v.session != 0 && uint32(g.owner.Values()[slot]) == v.session
}

func (seat *seat) receive(g *rig, message []byte) {
	defer func() {
		if p := recover(); p != nil {
			g.t.Fatalf("tick %d, session %d: %v", g.tick, seat.v.session, p)
		}
	}()
	var base []strictEntity
	seat.c.receive(message)
	f := &seat.c.last
	if n := len(seat.c.states); f.kind == kindUpdate {
		for _, s := range seat.c.states[:n-1] {
			if s.tick == g.tick-f.age {
				base = s.list
			}
		}
		if base == nil && seat.v.ordered {
			base = seat.before
		}
	}
	seat.messages++
	seat.bytes += len(message)
	if f.flags&flagPartial != 0 {
		seat.partial++
	}
	if f.flags&flagPredicted != 0 {
		seat.guessed++
	}
	g.check(seat, base)
	seat.before = seat.c.state().list
	if !seat.v.ordered && !seat.v.acked(g.tick) {
		g.t.Fatalf("tick %d: an acknowledged frame is not known", g.tick)
	}
}

// check compares the state of a client with the truth: the entities that it is to see, by brute force,
// and their lanes. An entity that was deferred has all lanes of one earlier tick.
func (g *rig) check(seat *seat, base []strictEntity) {
	g.t.Helper()
	v, state := seat.v, seat.c.state()
	where := fmt.Sprintf("tick %d, session %d", g.tick, v.session)
	var own []uint32
	listed := 0
	for _, slot := range g.s.present.slots {
		id, _ := g.w.ID(slot)
		at, has := slices.BinarySearchFunc(state.list, slot, func(a strictEntity, slot uint32) int { return int(a.slot) - int(slot) })
		had := slices.ContainsFunc(base, func(e strictEntity) bool { return e.slot == slot && e.id == id })
		owned := g.owned(v, slot)
		if owned {
			own = append(own, slot)
		}
		if want := seat.view[id]; want != has && (g.c.Budget == 0 || has || had || owned) {
			g.t.Fatalf("%s: slot %d in view: %v, want %v", where, slot, has, want)
		}
		if !has {
			continue
		}
		listed++
		e := &state.list[at]
		if e.id != id {
			g.t.Fatalf("%s: slot %d is %v, want %v", where, slot, e.id, id)
		}
		g.checkLanes(seat, e, owned)
		from := g.tick - seat.c.last.age
		if jumped := seat.c.last.kind == kindUpdate && had && (g.jumped(slot, from) || seat.left[id] > from); e.jumped != jumped && g.c.Budget == 0 {
			g.t.Fatalf("%s: slot %d teleported: %v, want %v", where, slot, e.jumped, jumped)
		}
	}
	if f := &seat.c.last; f.applied != [2]uint64{} && f.applied != [2]uint64{g.tick, 7} || state.at != 1000*g.tick || state.tick != g.tick {
		g.t.Fatalf("%s: applied %v, at %d", where, f.applied, state.at)
	}
	if listed != len(state.list) {
		g.t.Fatalf("%s: %d entities, of which %d live", where, len(state.list), listed)
	}
	if !slices.Equal(own, state.own) {
		g.t.Fatalf("%s: owns %v, want %v", where, state.own, own)
	}
}

// jumped reports whether the entity in a slot teleported after a tick.
func (g *rig) jumped(slot uint32, after uint64) bool {
	for _, bitmap := range g.jumps[min(int(after)+1, len(g.jumps)):] {
		if int(slot>>6) < len(bitmap) && has(bitmap, slot) {
			return true
		}
	}
	return false
}

func (g *rig) near(v *viewer, slot uint32, had bool) bool {
	if g.c.View.Category != "" && g.teams.Values()[slot]&v.mask == 0 {
		return false
	}
	if g.c.View.Enter == 0 {
		return true
	}
	p := g.w.Position
	dx, dy, dz := p.X[slot]-v.x, p.Y[slot]-v.y, p.Z[slot]-v.z
	d := float32(dx*dx) + float32(dy*dy) + float32(dz*dz)
	view := g.s.viewConfig
	return v.placed && (d <= view.Enter*view.Enter || had && d <= view.Leave*view.Leave)
}

func (g *rig) checkLanes(seat *seat, e *strictEntity, owned bool) {
	g.t.Helper()
	_, public, _ := seat.c.total(false)
	want := g.truth[g.tick][e.slot]
	if owned && !slices.Equal(e.lanes, want.lanes) {
		g.t.Fatalf("tick %d, session %d, slot %d: owned lanes %v, want %v", g.tick, seat.v.session, e.slot, e.lanes, want.lanes)
	}
	if slices.Equal(e.lanes[:public], want.lanes[:public]) {
		seat.fresh[e.id] = g.tick
		return
	}
	if g.c.Budget > 0 {
		for tick := g.tick - 1; tick > 0 && tick >= seat.fresh[e.id]; tick-- {
			if old, ok := g.truth[tick][e.slot]; ok && old.id == e.id && slices.Equal(e.lanes[:public], old.lanes[:public]) {
				return
			}
		}
	}
	g.t.Fatalf("tick %d, session %d, slot %d: lanes %v, want %v", g.tick, seat.v.session, e.slot, e.lanes[:public], want.lanes[:public])
}

// TestFrames: clients of every kind have, after each message, exactly what they are to see, whatever
// changes and whatever is lost or refused.
func TestFrames(t *testing.T) {
	all := everything()
	all.View = ViewConfig{}
	plain := Config{}
	tight := everything()
	tight.Budget = 600
	small := everything()
	small.Budget, small.Ring = 400, 4
	allTight := Config{Columns: everything().Columns[:5], Budget: 500}
	for name, c := range map[string]Config{
		"everything": everything(), "all": all, "plain": plain, "budget": tight, "small ring": small, "all in a budget": allTight,
		"glide": everything(), "glide plain": plain} { // order-free: each is a test of its own
		t.Run(name, func(t *testing.T) {
			ticks := casesOf(60, 600)
			g := newRig(t, paritytest.Seed(), c)
			g.glide = strings.HasPrefix(name, "glide")
			g.spawn(150)
			for i := range 8 {
				seat := g.join(uint32(i%5), i < 5)
				seat.v.mask = []uint32{0, 0xffffffff, 1 << 3, 0xff}[i%4]
				seat.busy = []float64{0, 0, 0.2, 0, 0.9}[i%5]
				if i >= 5 {
					seat.lost = []float64{0, 0.3, 0.8}[i-5]
				}
				seat.v.centre = centre{point: i%2 == 0, x: float32(i), y: 3}
			}
			for tick := range ticks {
				send := tick%50 < 40 || g.r.IntN(3) == 0
				g.step(send)
				if send && g.r.IntN(20) != 0 {
					g.send()
				}
				g.disturb()
			}
			guessed, partial, checks := 0, 0, 0
			for _, seat := range g.seats {
				guessed += seat.guessed
				partial += seat.partial
				t.Logf("session %d: %d frames, %d partial, %d bytes, %d checks", seat.v.session, seat.messages, seat.partial, seat.bytes, seat.c.checks)
				checks += seat.c.checks
			}
			if g.shifts == 0 {
				t.Error("the origin stays where it is")
			}
			if g.glide && guessed < ticks/2 || c.Budget > 0 && partial < ticks/8 || checks < 5 {
				t.Errorf("%d predicted frames, %d partial ones, %d checksums", guessed, partial, checks)
			}
		})
	}
}

// disturb moves centres, changes masks, and reconnects now and then.
func (g *rig) disturb() {
	seat := g.seats[g.r.IntN(len(g.seats))]
	switch g.r.IntN(60) {
	case 0:
		seat.v.mask = g.r.Uint32() & g.r.Uint32()
	case 1:
		seat.v.mask = 0xffffffff
	case 2:
		seat.v.centre = centre{point: true, x: 40*g.r.Float32() - 20, y: 40*g.r.Float32() - 20}
	case 3:
		seat.v.centre = centre{follow: g.ids[g.r.IntN(len(g.ids))]}
	case 4:
		seat.v.reset()
		seat.c.states, seat.before = nil, nil
	case 5:
		if n := len(seat.c.states); n > 0 {
			held := seat.c.states[g.r.IntN(n)]
			seat.c.states = append(seat.c.states[:0], held)
			seat.before = held.list
			for i := range seat.before {
				seat.before[i].v = nil
			}
			if !seat.v.resume(held.tick, seat.v.ordered) {
				seat.c.states, seat.before = nil, nil
			}
		}
	}
}
