package replica

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// race is a game whose cars have a velocity that inputs change. The server has those of all sessions, a
// client only its own.
type race struct {
	sim    *evertick.Sim
	vx, vy *ecs.Column[float32]
	fuel   *ecs.Column[uint64]
	gear   *ecs.Column[[2]int16]
	owner  *ecs.Column[uint32]
	client bool // all entities belong to the source of all inputs
	wind   func(*evertick.Tick)
}

const raceTurn uint32 = 3

func newRace(t testing.TB, client bool) *race {
	t.Helper()
	return newTimedRace(t, client, nil)
}

func newTimedRace(t testing.TB, client bool, clock loop.Clock) *race {
	t.Helper()
	sim, err := evertick.New(evertick.Config{Capacity: 64, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	g := &race{sim: sim, client: client}
	var errs [5]error
	g.vx, errs[0] = ecs.AddColumn[float32](sim.World, "vx")
	g.vy, errs[1] = ecs.AddColumn[float32](sim.World, "vy")
	g.fuel, errs[2] = ecs.AddColumn[uint64](sim.World, "fuel")
	g.gear, errs[3] = ecs.AddArrayColumn[[2]int16](sim.World, "gear")
	if !client {
		g.owner, errs[4] = ecs.AddColumn[uint32](sim.World, "owner")
	}
	if err := errors.Join(append(errs[:], sim.Add(evertick.BeforePhysics, "drive", g.drive))...); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *race) drive(t *evertick.Tick) error {
	if g.wind != nil {
		g.wind(t)
	}
	w := t.Sim.World
	for slot := range w.Query() {
		for i := range t.Inputs() {
			in := &t.Inputs()[i]
			if !g.client && g.owner.Values()[slot] != in.Source || in.Kind != raceTurn || len(in.Data) != 2 {
				continue
			}
			g.vx.Values()[slot] += float32(int8(in.Data[0])) / 7
			g.vy.Values()[slot] += float32(int8(in.Data[1])) / 7
			g.fuel.Values()[slot] += 1 << 40 * uint64(in.Data[0])
			g.gear.Values()[slot][in.Data[1]%2]--
		}
		g.vx.Values()[slot] *= 0.97
		g.vy.Values()[slot] *= 0.97
		w.Position.X[slot] += float32(g.vx.Values()[slot] * t.Dt)
		w.Position.Y[slot] += float32(g.vy.Values()[slot] * t.Dt)
	}
	w.Position.Touch()
	g.vx.Touch()
	g.vy.Touch()
	g.fuel.Touch()
	g.gear.Touch()
	return nil
}

// raceSchema has a public column that is not Exact, a public one that is, and columns for owners.
func raceSchema(t testing.TB, w *ecs.World) Schema {
	t.Helper()
	var s Schema
	for i, names := range [][]string{{"position.z"}, {"vx"}, {"position.x", "position.y", "vy"}, {"gear", "fuel"}} {
		g := Group{Owner: i >= 2}
		for _, name := range names {
			view, ok := w.ColumnNamed(name)
			if !ok {
				t.Fatal(name)
			}
			codec := Codec(Exact{})
			if i == 0 {
				codec = Quantised{}
			}
			f, err := codec.field(view)
			if err != nil {
				t.Fatal(err)
			}
			g.Fields = append(g.Fields, f)
		}
		s.Groups = append(s.Groups, g)
	}
	return s
}

// raceState is the state that a client has of all entities, of which it owns some.
func raceState(g *race, l *layout, session uint32) *State {
	s := l.newState()
	s.tick = g.sim.Ticks()
	w := g.sim.World
	for slot := range w.Query() {
		id, _ := w.ID(slot)
		if g.owner.Values()[slot] == session {
			s.own = append(s.own, uint32(len(s.ids)))
		}
		s.slots, s.ids = append(s.slots, uint32(slot)), append(s.ids, id)
	}
	for _, group := range l.Groups {
		for _, f := range group.Fields {
			view, _ := w.ColumnNamed(f.Name)
			at, _ := l.find(f.Name)
			for i, slot := range s.slots {
				lanes := s.lanes
				if at.owner {
					if !slices.Contains(s.own, uint32(i)) {
						continue
					}
					lanes = s.owned
				}
				for j, v := range lanesOf(f, view.AppendBytesAt(nil, []ecs.Slot{ecs.Slot(slot)})) {
					lanes[at.lane+j] = append(lanes[at.lane+j], v)
				}
			}
		}
	}
	return s
}

// lanesOf returns the lanes of an Exact value.
func lanesOf(f Field, bytes []byte) (lanes []int32) {
	size := min(f.Kind.Size(), 4)
	for ; len(bytes) > 0; bytes = bytes[size:] {
		word := make([]byte, 4)
		copy(word, bytes[:size])
		lanes = append(lanes, sx(uint8(8*size), int32(binary.LittleEndian.Uint32(word))))
	}
	return lanes
}

// raceTest is a server and a client with delays, in ticks.
type raceTest struct {
	*race
	t            testing.TB
	layout       *layout
	p            *Predictor
	up, down     int
	sentUp       []evertick.Input
	sentDown     []*State
	applieds     []uint64
	applied, seq uint64
	history      map[uint64][]float32 // position and velocity after each tick of the server
	car          ecs.ID
	lost         func(tick uint64) bool // whether the state of a tick is lost
}

// settles checks that the prediction is right when nothing is under way any more.
func (r *raceTest) settles() {
	r.t.Helper()
	r.up, r.down = 0, 0
	for range 40 {
		r.tick(0)
	}
	if got, want := r.predictedValues(), r.values(r.car); !slices.Equal(got, want) {
		r.t.Errorf("%v, want %v", got, want)
	}
}

func newRaceTest(t testing.TB, up, down int) *raceTest {
	r := &raceTest{race: newRace(t, false), t: t, up: up, down: down, history: map[uint64][]float32{}, lost: func(uint64) bool { return false }}
	r.layout = newLayout(raceSchema(t, r.sim.World))
	ids := make([]ecs.ID, 6)
	if err := r.sim.World.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	for i := range ids {
		r.owner.Values()[i] = uint32(i % 3)
	}
	r.own(ids[4], 9)
	r.sim.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error {
		for i := range t.Inputs() {
			if in := &t.Inputs()[i]; in.Source == 9 {
				r.applied = max(r.applied, in.Seq)
			}
		}
		return nil
	}})
	confirmed, predicted := newRace(t, true), newRace(t, true)
	var err error
	r.p, err = NewPredictor(PredictorConfig{Confirmed: confirmed.sim, Predicted: predicted.sim,
		Spawn: func(sim *evertick.Sim, _ ecs.ID) (ecs.ID, error) { return sim.World.Spawn() }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *raceTest) own(id ecs.ID, session uint32) {
	slot, _ := r.sim.World.Slot(id)
	r.owner.Values()[slot] = session
	r.car = id
}

// values returns what is compared of an entity.
func (g *race) values(id ecs.ID) []float32 {
	w := g.sim.World
	slot, ok := w.Slot(id)
	if !ok {
		return nil
	}
	return []float32{w.Position.X[slot], w.Position.Y[slot], g.vx.Values()[slot], g.vy.Values()[slot],
		float32(g.fuel.Values()[slot]), float32(g.gear.Values()[slot][0]), float32(g.gear.Values()[slot][1])}
}

// predictedValues is values of the prediction.
func (r *raceTest) predictedValues() []float32 {
	local, ok := r.p.Entity(r.car)
	if !ok {
		return nil
	}
	sim := r.p.config.Predicted
	g := race{sim: sim}
	g.vx, _ = ecs.FindColumn[float32](sim.World, "vx")
	g.vy, _ = ecs.FindColumn[float32](sim.World, "vy")
	g.fuel, _ = ecs.FindColumn[uint64](sim.World, "fuel")
	g.gear, _ = ecs.FindColumn[[2]int16](sim.World, "gear")
	return g.values(local)
}

// act sends an input for the next tick of the prediction.
func (r *raceTest) act() {
	r.t.Helper()
	r.actAt(r.p.Tick())
}

// actAt sends an input for a tick, 0: as soon as possible.
func (r *raceTest) actAt(tick uint64) {
	r.t.Helper()
	r.seq++
	in := evertick.Input{Tick: tick, Source: 9, Seq: r.seq, Kind: raceTurn, Data: []byte{byte(17 * r.seq), byte(29 * r.seq)}}
	if err := r.p.input(in.Kind, in.Data, in.Tick, in.Seq); err != nil {
		r.t.Fatal(err)
	}
	r.sentUp = append(r.sentUp, in)
}

// tick runs a tick of the server, delivers, and predicts ahead ticks.
func (r *raceTest) tick(ahead uint64) {
	t := r.t
	t.Helper()
	for len(r.sentUp) > r.up {
		if err := r.sim.Push(r.sentUp[0]); err != nil {
			t.Fatal(err)
		}
		r.sentUp = r.sentUp[1:]
	}
	if err := r.sim.Step(); err != nil {
		t.Fatal(err)
	}
	r.history[r.sim.Ticks()] = r.values(r.car)
	r.sentDown, r.applieds = append(r.sentDown, raceState(r.race, r.layout, 9)), append(r.applieds, r.applied)
	for len(r.sentDown) > r.down {
		if s := r.sentDown[0]; !r.lost(s.Tick()) {
			if err := r.p.update(s, r.applieds[0]); err != nil {
				t.Fatal(err)
			}
			if err := r.p.Predict(s.Tick() + ahead); err != nil {
				t.Fatal(err)
			}
		}
		r.sentDown, r.applieds = r.sentDown[1:], r.applieds[1:]
	}
}

func raceLoss(tick uint64) bool {
	r := loop.NewRand(4, tick, 0, 0)
	return tick > 20 && r.Uint64n(10) < 3
}

// While nobody interferes there is no correction, with latency and lost states, and what was predicted is
// what the server computes later, bit for bit.
func TestPredictorAlone(t *testing.T) {
	r := newRaceTest(t, 3, 4)
	r.lost = raceLoss
	type guess struct {
		tick   uint64
		values []float32
	}
	var guesses []guess
	for range 600 {
		r.tick(14)
		if r.p.Tick() == 0 {
			continue
		}
		if len(guesses) == 0 || guesses[len(guesses)-1].tick < r.p.Tick() {
			guesses = append(guesses, guess{r.p.Tick(), r.predictedValues()})
			r.act()
		}
	}
	checked := 0
	for _, g := range guesses {
		if want := r.history[g.tick]; want != nil {
			checked++
			if !slices.Equal(g.values, want) {
				t.Fatalf("tick %d: predicted %v, want %v", g.tick, g.values, want)
			}
		}
	}
	if st := r.p.Stats(); st.Corrections != 0 || st.Rolled != 0 || st.Updates < 300 || checked < 300 || r.seq < 300 {
		t.Errorf("%+v, %d of %d predictions checked, %d inputs", st, checked, len(guesses), r.seq)
	}
}

// Each push of the server takes one correction, and the prediction is exact again as soon as the client
// learns of it.
func TestPredictorPushed(t *testing.T) {
	r := newRaceTest(t, 3, 4)
	r.lost = func(tick uint64) bool { return raceLoss(tick) && tick%50 > 4 } // no two pushes in one update
	pushes := 0
	r.wind = func(t *evertick.Tick) {
		if t.N > 50 && t.N%50 == 0 {
			slot, _ := t.Sim.World.Slot(r.car)
			t.Sim.World.Position.X[slot] += 3
			r.vy.Values()[slot] -= 1
			pushes++
		}
	}
	guesses := map[uint64][]float32{}
	for range 630 {
		r.tick(14)
		now := r.p.Tick()
		if now == 0 {
			continue
		}
		if known := r.p.end; (now-1)/50 == (known-1)/50 || now < 52 { // no push that the client does not know of
			guesses[now] = r.predictedValues()
		}
		r.act()
	}
	checked := 0
	for tick, got := range guesses { // order-free: each is compared alone
		if want := r.history[tick]; want != nil {
			checked++
			if !slices.Equal(got, want) {
				t.Fatalf("tick %d: predicted %v, want %v", tick, got, want)
			}
		}
	}
	if st := r.p.Stats(); checked < 300 || pushes < 10 || int(st.Corrections) != pushes || st.Rolled == 0 {
		t.Errorf("%+v, %d pushes", st, pushes)
	}
	r.up, r.down, r.wind = 0, 0, nil
	at := r.p.Tick()
	for r.sim.Ticks() < at {
		r.tick(0)
	}
	if got, want := r.predictedValues(), r.values(r.car); r.p.Tick() != at || !slices.Equal(got, want) {
		t.Errorf("tick %d: %v, want %v", at, got, want)
	}
}

// Inputs that the server applies late are no correction: the prediction moves them, and comes to the
// same values.
func TestPredictorLateInputs(t *testing.T) {
	r := newRaceTest(t, 3, 4)
	late := 0
	for i := range 600 {
		if r.up = 3; i%60 < 15 && i > 60 {
			r.up = 30
			late++
		}
		r.tick(14)
		if r.p.Tick() > 0 {
			r.act()
		}
	}
	if st := r.p.Stats(); st.Corrections != 0 || st.Rolled == 0 || late == 0 {
		t.Errorf("%+v", st)
	}
	r.settles()
}

// Inputs for no tick are applied by the server before the prediction did so. That is no correction either, where each tick has
// its state.
func TestPredictorInputsForNoTick(t *testing.T) {
	r := newRaceTest(t, 3, 4)
	for i := range 600 {
		if r.tick(14); r.p.Tick() > 0 && i%3 > 0 {
			r.actAt(0)
		}
	}
	if st := r.p.Stats(); st.Corrections != 0 || st.Rolled == 0 || st.Updates < 500 {
		t.Errorf("%+v", st)
	}
	r.settles()
}

// An input for a tick that the prediction has passed, or the server too, changes the prediction at once.
func TestPredictorInputsForPassedTicks(t *testing.T) {
	r := newRaceTest(t, 3, 4)
	for range 50 {
		r.tick(14)
	}
	now := r.p.Tick()
	for _, tick := range []uint64{now - 3, r.p.end - 5} {
		before := r.predictedValues()
		r.actAt(tick)
		if err := r.p.Predict(now); err != nil {
			t.Fatal(err)
		}
		if got := r.predictedValues(); r.p.Tick() != now || slices.Equal(got, before) {
			t.Errorf("an input for tick %d: tick %d and %v as before", tick, r.p.Tick(), got)
		}
	}
	r.settles()
}

// Entities that the session gets and loses come and go in the Sims; what the host does not want to predict
// is left out; a server that goes back is followed.
func TestPredictorEntities(t *testing.T) {
	r := newRaceTest(t, 0, 0)
	unwanted := r.car
	spawn := r.p.config.Spawn
	r.p.config.Spawn = func(sim *evertick.Sim, server ecs.ID) (ecs.ID, error) {
		if server == unwanted {
			return 0, nil
		}
		return spawn(sim, server)
	}
	var corrected int
	r.p.config.Corrected = func(*evertick.Sim, ecs.ID) error { corrected++; return nil }
	ids := []ecs.ID{r.car}
	r.tick(3)
	if _, ok := r.p.Entity(unwanted); ok {
		t.Error("an entity that is not wanted")
	}
	for slot := range r.sim.World.Query() {
		id, _ := r.sim.World.ID(slot)
		if id != unwanted && len(ids) < 3 {
			r.own(id, 9)
			ids = append(ids, id)
		}
	}
	r.tick(3)
	r.tick(3)
	w := r.p.config.Predicted.World
	if w.Len() != 2 || corrected != 2 || r.p.Stats().Corrections != 0 {
		t.Errorf("%d entities, %d corrected", w.Len(), corrected)
	}
	r.own(ids[1], 0)
	r.tick(3)
	if _, ok := r.p.Entity(ids[1]); ok || w.Len() != 1 {
		t.Errorf("%d entities", w.Len())
	}
	before, err := r.sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	r.tick(3)
	r.car = ids[2]
	if err := r.sim.Restore(before); err != nil {
		t.Fatal(err)
	}
	r.tick(0)
	if got, want := r.predictedValues(), r.values(r.car); r.p.end != r.sim.Ticks() || !slices.Equal(got, want) {
		t.Errorf("after going back: tick %d, %v, want %v", r.p.end, got, want)
	}
}

// The client returns an error of Spawn or Corrected, and refuses a schema without a column to compare.
func TestPredictorErrors(t *testing.T) {
	fail := errors.New("no")
	r := newRaceTest(t, 0, 0)
	if err := r.sim.Step(); err != nil {
		t.Fatal(err)
	}
	if err := r.p.Predict(100); err != nil || r.p.Tick() != 0 {
		t.Errorf("before the first Update: %v", err)
	}
	s := raceState(r.race, r.layout, 9)
	r.p.config.Corrected = func(*evertick.Sim, ecs.ID) error { return fail }
	if err := r.p.update(s, 0); !errors.Is(err, fail) {
		t.Error(err)
	}
	schema := Schema{Groups: []Group{{Fields: []Field{{Name: "vx", Codec: KindQuantised, Kind: columns.Float32, Components: 1, Bits: 8, Step: 1}}}}}
	s = newLayout(schema).newState()
	s.tick = 99
	if err := r.p.update(s, 0); !errors.Is(err, fault.ErrUnsupported) {
		t.Error(err)
	}
	if err := r.p.config.Confirmed.Step(); !errors.Is(err, fault.ErrRange) {
		t.Errorf("stepped by hand: %v", err)
	}
	if _, err := NewPredictor(PredictorConfig{Confirmed: newRace(t, true).sim, Predicted: newRace(t, true).sim, Spawn: r.p.config.Spawn, Ahead: mostAhead + 1}); !errors.Is(err, fault.ErrRange) {
		t.Error(err)
	}
	for range mostPending {
		r.seq++
		if err := r.p.input(1, nil, 5, r.seq); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.p.input(1, nil, 5, r.seq+1); !errors.Is(err, fault.ErrCapacity) {
		t.Error(err)
	}
	if err := r.p.input(1, nil, 5, r.seq); !errors.Is(err, fault.ErrRange) {
		t.Error(err)
	}
}

// Values of every kind and shape are compared and set by bits.
func TestExactColumns(t *testing.T) {
	kinds := 0
	check := func(w *ecs.World, name string) {
		t.Helper()
		view, ok := w.ColumnNamed(name)
		if !ok {
			t.Fatal(name)
		}
		f, err := Exact{}.field(view)
		if err != nil {
			t.Fatal(err)
		}
		c := exactColumn{found: found{Field: f}, view: view, set: setterOf(w, f)}
		if c.set == nil {
			t.Fatalf("%s: no setter", name)
		}
		for seed := range uint64(50) {
			r := loop.NewRand(seed, 1, 2, 3)
			bytes := make([]byte, view.RowBytes())
			for i := range bytes {
				bytes[i] = byte(r.Uint64n(256))
			}
			var lanes [][]int32
			for _, v := range lanesOf(f, bytes) {
				lanes = append(lanes, []int32{0, v})
			}
			c.set(1, lanes, 1)
			if got := view.AppendBytesAt(nil, []ecs.Slot{1}); string(got) != string(bytes) || !c.equal(1, lanes, 1) || c.equal(0, lanes, 1) != (string(view.AppendBytesAt(nil, []ecs.Slot{0})) == string(bytes)) {
				t.Fatalf("%s: %x, want %x", name, got, bytes)
			}
			lanes[len(lanes)-1][1] ^= 1
			if c.equal(1, lanes, 1) {
				t.Fatalf("%s: a bit that differs", name)
			}
		}
		kinds++
	}
	w, err := ecs.New(ecs.Config{Capacity: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SpawnN(make([]ecs.ID, 2)); err != nil {
		t.Fatal(err)
	}
	var all struct {
		I8  *ecs.Column[int8]       `ecs:"i8"`
		I16 *ecs.Column[int16]      `ecs:"i16"`
		I32 *ecs.Column[int32]      `ecs:"i32"`
		I64 *ecs.Column[int64]      `ecs:"i64"`
		U8  *ecs.Column[uint8]      `ecs:"u8"`
		U16 *ecs.Column[uint16]     `ecs:"u16"`
		U32 *ecs.Column[uint32]     `ecs:"u32"`
		U64 *ecs.Column[uint64]     `ecs:"u64"`
		F32 *ecs.Column[float32]    `ecs:"f32"`
		F64 *ecs.Column[float64]    `ecs:"f64"`
		A2  *ecs.Column[[2]int8]    `ecs:"a2"`
		A3  *ecs.Column[[3]float32] `ecs:"a3"`
		A4  *ecs.Column[[4]uint64]  `ecs:"a4"`
		A5  *ecs.Column[[5]int16]   `ecs:"a5"`
		A6  *ecs.Column[[6]uint32]  `ecs:"a6"`
		A7  *ecs.Column[[7]uint8]   `ecs:"a7"`
		A8  *ecs.Column[[8]float32] `ecs:"a8"`
	}
	if err := w.Register(&all); err != nil {
		t.Fatal(err)
	}
	for _, v := range w.Columns() {
		check(w, v.Name())
	}
	if kinds != 10+17 {
		t.Errorf("%d columns", kinds)
	}
}

// A client that predicts allocates nothing after warm-up.
func TestPredictAllocs(t *testing.T) {
	r := newRaceTest(t, 0, 0)
	r.tick(5)
	s := raceState(r.race, r.layout, 9)
	data := []byte{1, 2}
	seq := uint64(0)
	tick := func() {
		seq++
		if err := r.p.input(raceTurn, data, r.p.Tick(), seq); err != nil {
			t.Fatal(err)
		}
		s.tick++
		s.owned[0][0] ^= 1 // a correction in each tick
		if err := r.p.update(s, seq-min(seq, 4)); err != nil {
			t.Fatal(err)
		}
		if err := r.p.Predict(s.tick + 6); err != nil {
			t.Fatal(err)
		}
	}
	for range 300 {
		tick()
	}
	if n := testing.AllocsPerRun(100, tick); n != 0 {
		t.Errorf("%v allocations a tick of a Predictor", n)
	}
	if st := r.p.Stats(); st.Corrections < 300 {
		t.Errorf("%+v", st)
	}

	l := newLeading(t, 2, 4, 0)
	c := direct{s: l.Simulator, t: t}
	simulate := func() {
		l.step(t)
		if _, err := l.stream.send(&l.follower, &c); err != nil {
			t.Fatal(err)
		}
		seq++
		if err := l.input(duelPush, data, l.Predicted().Ticks(), seq); err != nil {
			t.Fatal(err)
		}
		if err := l.Predict(l.held() + 5); err != nil {
			t.Fatal(err)
		}
	}
	server := func() { l.step(t) }
	for range 2500 {
		simulate()
	}
	l.stream.leave()
	without := testing.AllocsPerRun(100, server) // duelInput allocates
	l.stream.join(&l.follower, 0)
	for range 2500 {
		simulate()
	}
	if n := testing.AllocsPerRun(100, simulate); n > without+1 {
		t.Errorf("%v allocations a tick of a Simulator, %v of the server", n, without)
	}
}
