package replica

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

// shifting is a world in space whose origin follows what moves, and a client.
type shifting struct {
	t       *testing.T
	r       *rand.Rand
	clock   *loop.ManualClock
	sim     *evertick.Sim
	bodies  *space.Bodies
	server  *Server
	client  *Client
	conn    *recorder
	session *Session
	truth   map[uint64]map[ecs.ID][3]float64 // by tick: where entities are, with the origin
	origin  map[uint64][3]float64
}

const shiftingRate = 60.0

func newShifting(t *testing.T, ordered bool, c Config) *shifting {
	t.Helper()
	w := &shifting{t: t, r: rand.New(rand.NewPCG(paritytest.Seed(), 21)), clock: new(loop.ManualClock), truth: map[uint64]map[ecs.ID][3]float64{}, origin: map[uint64][3]float64{}}
	w.sim, w.bodies = newFlight(t, w.clock, 40)
	c.Inline = true
	var err error
	w.server, err = New(w.sim, c)
	check(t, err)
	t.Cleanup(func() { _ = w.server.Close() })
	w.client, err = NewClient(ClientConfig{Ordered: ordered, Clock: w.clock, Send: w.receive})
	check(t, err)
	w.connect(ordered)
	return w
}

// newFlight returns a Sim of n bodies that fly away, whose origin follows the first of them by multiples of 1,024 m along all axes.
func newFlight(t *testing.T, clock loop.Clock, n int) (*evertick.Sim, *space.Bodies) {
	t.Helper()
	sim, err := evertick.New(evertick.Config{Capacity: 64, Clock: clock, Seed: 1})
	check(t, err)
	bodies, err := space.Attach(sim, physics3.Config{MaxSpeed: 1e6})
	check(t, err)
	ids := make([]ecs.ID, n)
	check(t, sim.World.SpawnN(ids))
	for i, id := range ids {
		def := physics3.DefaultBodyDef()
		def.Type, def.Position = physics3.DynamicBody, [3]float32{float32(i), float32(i % 5), -float32(i)}
		def.LinearVelocity, def.AngularVelocity = [3]float32{1100 * shiftingRate / 8, -300 * shiftingRate / 8, 600 * shiftingRate / 8}, [3]float32{1, 2, float32(i)}
		body, err := bodies.Create(id, def)
		check(t, err)
		_, err = bodies.World().CreateSphere(body, physics3.DefaultShapeDef(), physics3.Sphere{Radius: 0.1})
		check(t, err)
	}
	first, _ := sim.World.Slot(ids[0])
	check(t, sim.Add(evertick.AfterPhysics, "origin", func(*evertick.Tick) error {
		p, by := &sim.World.Position, [3]float32{}
		for k, v := range [3]float32{p.X[first], p.Y[first], p.Z[first]} {
			if v > 1024 || v < -1024 {
				by[k] = v - float32(math.Mod(float64(v), physics3.OriginUnit))
			}
		}
		if by == [3]float32{} {
			return nil
		}
		return bodies.ShiftOrigin(by)
	}))
	return sim, bodies
}

// receive is the server's end.
func (w *shifting) receive(message []byte) bool {
	if message[0] == kindHello {
		var err error
		w.session, err = w.server.Join(w.t.Context(), w.conn, message)
		check(w.t, err)
		return true
	}
	if w.session != nil {
		check(w.t, w.session.Receive(message))
	}
	return true
}

func (w *shifting) connect(ordered bool) {
	w.conn = &recorder{unordered: !ordered}
	check(w.t, w.client.Connect())
	for _, m := range w.conn.take() {
		check(w.t, w.client.Receive(m))
	}
}

// step lets a tick pass and returns its messages.
func (w *shifting) step() [][]byte {
	check(w.t, w.sim.Step())
	w.clock.Add(int64(time.Second / 60))
	o, all := w.sim.Origin(), map[ecs.ID][3]float64{}
	if o != w.bodies.World().Origin() {
		w.t.Fatalf("the origin is %v, of the bodies %v", o, w.bodies.World().Origin())
	}
	for slot := range w.sim.World.Query() {
		id, _ := w.sim.World.ID(slot)
		p := &w.sim.World.Position
		all[id] = [3]float64{o[0] + float64(p.X[slot]), o[1] + float64(p.Y[slot]), o[2] + float64(p.Z[slot])}
	}
	w.truth[w.sim.Ticks()], w.origin[w.sim.Ticks()] = all, o
	return w.conn.take()
}

// check compares the newest state of the client with the world of its tick.
func (w *shifting) check(within float64) {
	w.t.Helper()
	s := w.client.State()
	if s.Origin() != w.origin[s.Tick()] {
		w.t.Fatalf("tick %d: the origin is %v, want %v", s.Tick(), s.Origin(), w.origin[s.Tick()])
	}
	for k, name := range []string{"position.x", "position.y", "position.z"} {
		values, err := AppendValues([]float32(nil), s, name, 0)
		check(w.t, err)
		for i, id := range s.IDs() {
			if got, want := s.Origin()[k]+float64(values[i]), w.truth[s.Tick()][id][k]; math.Abs(got-want) > within {
				w.t.Fatalf("tick %d: %s of %v is %g, want %g", s.Tick(), name, id, got, want)
			}
		}
	}
	if len(s.IDs()) == 0 {
		w.t.Fatalf("tick %d: no entities", s.Tick())
	}
}

// The world is the same for a client before and after a shift, frame by frame, and a shift costs no more than its own numbers.
func TestShiftedOriginReachesClients(t *testing.T) {
	for name, c := range map[string]Config{"steps of 1/256": {}, "steps of 0.01": {Columns: []Column{{Name: "position", Codec: Quantised{Step: 0.01}}, {Name: Rotation, Codec: Quat{}}}},
		"exact": {Columns: []Column{{Name: "position"}}}, "budget": {Budget: 256}} {
		t.Run(name, func(t *testing.T) {
			w := newShifting(t, true, c)
			shifts, ordinary, atShift, n := 0, 0, 0, 0
			for range 120 {
				before := w.client.State().Origin()
				for _, m := range w.step() {
					check(t, w.client.Receive(m))
					switch {
					case w.client.State().Origin() != before && m[0] == kindUpdate:
						shifts++
						atShift += len(m)
					case w.client.State().Tick() > 3:
						ordinary += len(m)
						n++
					}
				}
				if c.Budget == 0 {
					w.check(0.011)
				} else if w.client.State().Origin() != w.origin[w.client.State().Tick()] {
					t.Fatal("another origin")
				}
			}
			st := w.stats()
			if st.Mismatch != 0 || st.Baseless != 0 || w.client.State().Tick() != w.sim.Ticks() {
				t.Errorf("%+v at tick %d of %d", st, w.client.State().Tick(), w.sim.Ticks())
			}
			if name == "exact" {
				if st.Keyframes < 10 {
					t.Errorf("%d Keyframes: values that a client keeps have another origin", st.Keyframes)
				}
				return
			}
			if st.Keyframes != 1 || shifts < 10 {
				t.Errorf("%d Keyframes, %d shifts", st.Keyframes, shifts)
			}
			if c.Columns == nil && c.Budget == 0 && atShift/shifts > ordinary/n+20 {
				t.Errorf("%d bytes with a shift, %d without", atShift/shifts, ordinary/n)
			}
		})
	}
}

func (w *shifting) stats() (s ClientStats) {
	w.client.Stats(&s)
	return s
}

// Frames that are lost, late and out of order across shifts leave no state in other coordinates than it says.
func TestShiftedOriginUnordered(t *testing.T) {
	w := newShifting(t, false, Config{})
	var late [][]byte
	for range 300 {
		for _, m := range w.step() {
			switch w.r.IntN(4) {
			case 0: // lost
			case 1:
				late = append(late, m)
			default:
				check(t, w.client.Receive(m))
			}
			for len(late) > 0 && w.r.IntN(3) == 0 {
				i := w.r.IntN(len(late))
				check(t, w.client.Receive(late[i]))
				late = slices.Delete(late, i, i+1)
			}
			if w.client.State().Tick() > 0 {
				w.check(0.011)
			}
		}
	}
	st := w.stats()
	if st.Mismatch != 0 || st.Old < 10 || st.Frames < 100 || st.Keyframes > 20 {
		t.Errorf("%+v", st)
	}
}

// A client that comes back after shifts gets the difference to what it holds.
func TestShiftedOriginResumes(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		w := newShifting(t, ordered, Config{})
		shifts := 0
		for range 20 {
			for range 10 {
				for _, m := range w.step() {
					check(t, w.client.Receive(m))
				}
			}
			w.check(0.011)
			before := w.client.State().Origin()
			w.session.Disconnected()
			for range 1 + w.r.IntN(12) {
				w.step()
			}
			w.connect(ordered)
			for _, m := range w.step() {
				check(t, w.client.Receive(m))
			}
			w.check(0.011)
			if w.client.State().Origin() != before {
				shifts++
			}
		}
		if st := w.stats(); st.Mismatch != 0 || st.Keyframes > 3 || shifts < 5 {
			t.Errorf("ordered %v: %+v, %d shifts while the client was away", ordered, st, shifts)
		}
	}
}

// What is drawn moves evenly across a shift.
func TestPlaybackAcrossShift(t *testing.T) {
	w := newShifting(t, true, Config{})
	p := w.client.Playback()
	var last float64
	var lastAt int64
	drawn := 0
	const extra = 4 * time.Millisecond
	for tick := range 120 {
		for _, m := range w.step() {
			check(t, w.client.Receive(m))
		}
		for range 3 {
			w.clock.Add(int64(extra))
			if !p.Advance() || tick < 20 {
				continue
			}
			x, err := p.Append(nil, "position.x", 0)
			check(t, err)
			at := p.State().Origin()[0] + float64(x[0])
			want := float64(p.drawn-lastAt) / float64(time.Second/60+3*extra) * 1100 / 8 // metres a tick
			if drawn++; drawn > 1 && math.Abs(at-last-want) > 0.1 {
				t.Fatalf("tick %d: %g m after %g m, want %g m more", tick, at, last, want)
			}
			last, lastAt = at, p.drawn
		}
	}
	if drawn < 290 {
		t.Errorf("drawn %d times", drawn)
	}
}

// A view at a point stays at its place in the world, whichever origin the client had when it asked, and also one that followed an entity that is gone.
func TestViewAcrossShift(t *testing.T) {
	sim, err := evertick.New(evertick.Config{Capacity: 64, Clock: new(loop.ManualClock)})
	check(t, err)
	ids := make([]ecs.ID, 30)
	check(t, sim.World.SpawnN(ids))
	for i, id := range ids {
		check(t, sim.World.SetPosition(id, 10*float32(i), 0, 0))
	}
	c := Config{Inline: true, View: ViewConfig{Enter: 12}, Authorize: grants(Grant{Free: true})}
	server, err := New(sim, c)
	check(t, err)
	defer server.Close()
	conn := &recorder{}
	session, err := server.Join(t.Context(), conn, (&Hello{}).append(nil))
	check(t, err)
	client := &strict{keep: 1}
	tick := func() (seen []ecs.ID) {
		check(t, sim.Step())
		for _, m := range conn.take() {
			switch m[0] {
			case kindWelcome:
				w, err := parseWelcome(m)
				check(t, err)
				client.schema = w.schema
			default:
				client.receive(m)
			}
		}
		for _, e := range client.state().list {
			seen = append(seen, e.id)
		}
		return seen
	}
	expect := func(what string, got []ecs.ID, want ...int) {
		t.Helper()
		var list []ecs.ID
		for _, i := range want {
			list = append(list, ids[i])
		}
		if !slices.Equal(got, list) {
			t.Errorf("%s: %v is in view, want %v", what, got, list)
		}
	}
	check(t, session.Receive((&look{x: 100}).append(nil)))
	expect("at a point", tick(), 9, 10, 11)
	check(t, sim.ShiftOrigin([2]float32{1024, 0}))
	expect("after a shift", tick(), 9, 10, 11)
	check(t, session.Receive((&look{x: 110}).append(nil)))
	expect("of a client that does not know of it", tick(), 10, 11, 12)
	check(t, session.Receive((&look{x: 120 - 1024, origin: [3]float64{1024}}).append(nil)))
	expect("of a client that does", tick(), 11, 12, 13)
	session.LookAt(130-1024, 0, 0)
	expect("of the host", tick(), 12, 13, 14)
	session.Follow(ids[20])
	expect("at an entity", tick(), 19, 20, 21)
	sim.World.Despawn(ids[20])
	check(t, sim.ShiftOrigin([2]float32{-5120, 0}))
	expect("where it was", tick(), 19, 21)
	check(t, session.Receive((&look{x: 1, origin: [3]float64{1 << 62, -1 << 62}}).append(nil)))
	if got := tick(); len(got) != 0 {
		t.Errorf("far away: %v is in view", got)
	}
}

// The Sim that confirms a prediction gets the origin of the server, unless it has it.
func TestPredictorAcrossShift(t *testing.T) {
	inSpace, _ := newFlight(t, new(loop.ManualClock), 1)
	plane, err := evertick.New(evertick.Config{}) // whose Origin does not show the third axis
	check(t, err)
	id, err := plane.World.Spawn()
	check(t, err)
	check(t, plane.World.SetPosition(id, 5, 6, 7))
	for axes, sim := range map[int]*evertick.Sim{3: inSpace, 2: plane} {
		p, at := &Predictor{config: PredictorConfig{Confirmed: sim}}, [3]float64{}
		for i, to := range [][3]float64{{1024, 0, 2048}, {1024, 0, 2048}, {-1 << 40, 1024, -1024}, {1<<40 + 1024, 0, 0}, {}} {
			p.prediction.stale = false
			check(t, p.shift(to))
			if moves := to != at; p.prediction.stale != moves {
				t.Errorf("%d axes, shift %d: the prediction begins anew: %v", axes, i, p.prediction.stale)
			}
			at = to
			if o := sim.Origin(); !slices.Equal(o[:axes], to[:axes]) {
				t.Errorf("%d axes: the origin is %v, want %v", axes, o, to)
			}
		}
	}
	if z := plane.World.Position.Z[0]; z != 7 {
		t.Errorf("z is %g after all", z)
	}
}

// A client that simulates has the shifts of the server's systems, and gets a Snapshot after one that the host made between two ticks.
func TestSimulatorAcrossShift(t *testing.T) {
	clock := new(loop.ManualClock)
	master, bodies := newFlight(t, clock, 20)
	server, err := New(master, Config{Inline: true, Authorize: grants(Grant{Simulate: true})})
	check(t, err)
	defer server.Close()
	twin, _ := newFlight(t, clock, 20)
	simulator, err := NewSimulator(twin, SimulatorConfig{})
	check(t, err)
	conn := &recorder{}
	var session *Session
	client, err := NewClient(ClientConfig{Ordered: true, Clock: clock, Mode: Simulate, Simulator: simulator, Send: func(m []byte) bool {
		if m[0] == kindHello {
			session, err = server.Join(t.Context(), conn, m)
			check(t, err)
			return true
		}
		check(t, session.Receive(m))
		return true
	}})
	check(t, err)
	check(t, client.Connect())
	diverged := 0
	tick := func() {
		check(t, master.Step())
		clock.Add(int64(time.Second / 60))
		for _, m := range conn.take() {
			if err := client.Receive(m); errors.Is(err, ErrDiverged) {
				diverged++
			} else {
				check(t, err)
			}
		}
	}
	for i := range 100 {
		if i == 50 {
			check(t, bodies.ShiftOrigin([3]float32{0, 2048, 0}))
		}
		tick()
		if i > 60 && (twin.Origin() != master.Origin() || twin.Hash() != master.Hash()) {
			d, _ := evertick.Diff(twin, master)
			t.Fatalf("tick %d: the origin is %v, want %v; %v", i, twin.Origin(), master.Origin(), d)
		}
	}
	if diverged > 1 || master.Origin() == [3]float64{} {
		t.Errorf("diverged %d times at %v", diverged, master.Origin())
	}
}

// The server's copy of an origin is that of the plane, too.
func TestOriginOfPlane(t *testing.T) {
	for plane, want := range map[physics.Plane][3]float64{physics.XY: {1024, 2048, 4096}, physics.XZ: {1024, 4096, 2048}} {
		sim, err := evertick.New(evertick.Config{Physics: physics.Config{Plane: plane}})
		check(t, err)
		check(t, sim.ShiftOrigin([2]float32{1024, 2048}, 4096))
		if got := sim.Origin(); got != want {
			t.Errorf("%v: the origin is %v, want %v", plane, got, want)
		}
	}
}

// Steps from the first origin add up, whatever the size of a step.
func TestStepsToOrigin(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 4))
	for _, step := range []float32{1. / 256, 1, 0.01, 0.7, 1e-30, math.SmallestNonzeroFloat32, math.MaxFloat32, 3e30} {
		for range 500 {
			var o [3][3]float64
			for i := range o {
				o[i][0] = float64(r.Int64N(2<<52+1)-1<<52) * 1024
				if r.IntN(2) == 0 {
					o[i][0] = float64(r.Int64N(9)-4) * 1024
				}
			}
			l := shiftedLane{axis: 0, bits: 25, step: float64(step)}
			if l.by(&o[0], &o[1])+l.by(&o[1], &o[2]) != l.by(&o[0], &o[2]) || l.by(&o[0], &o[0]) != 0 {
				t.Fatalf("step %g: %v", step, o)
			}
		}
		l := shiftedLane{axis: 1, step: float64(step)}
		if got, want := l.by(&[3]float64{0, 2048}, &[3]float64{0, -1024}), -3072/float64(step); step == 1./256 && float64(got) != want || step == 1 && got != -3072 {
			t.Errorf("step %g: %d, want %g", step, got, want)
		}
	}
}

// An origin that no float64 holds in metres is refused.
func TestReadOrigin(t *testing.T) {
	for _, o := range [][3]float64{{}, {1024, -1024, 1 << 62}, {-1 << 62, 5 << 40, 0}} {
		r := wire.NewReader(appendOrigin(nil, &o))
		if got := readOrigin(&r); r.Done() != nil || got != o {
			t.Errorf("%v, want %v: %v", got, o, r.Err())
		}
	}
	for _, units := range []int64{mostOrigin + 1, -mostOrigin - 1, math.MaxInt64, math.MinInt64} {
		message := naiveSv(naiveSv(naiveSv(nil, 1), -1), units)
		if units == math.MinInt64 {
			message = append(naiveSv(naiveSv(nil, 1), -1), 255, 255, 255, 255, 255, 255, 255, 255, 255, 1)
		}
		r := wire.NewReader(message)
		if readOrigin(&r); !errors.Is(r.Err(), fault.ErrCorrupt) {
			t.Errorf("%d: %v", units, r.Err())
		}
	}
}

// A client of another version is refused with an error that names it.
func TestOtherVersion(t *testing.T) {
	hello := (&Hello{}).append(nil)
	hello[1+len(magic)] = Version - 1
	if _, err := parseHello(hello); !errors.Is(err, fault.ErrUnsupported) || !strings.Contains(err.Error(), "Hello.version = 2") {
		t.Error(err)
	}
}
