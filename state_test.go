package evertick_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// AfterTick may save the Sim: the snapshot equals one that is taken after the step,
// and the run from it is the same.
func TestSnapshotInAfterTick(t *testing.T) {
	s := newTown(t, 2, func() {})
	var saved [][]byte
	s.AddHooks(evertick.Hooks{AfterTick: func(*evertick.Tick) error {
		data, err := s.Snapshot(nil)
		saved = append(saved, data)
		return err
	}})
	var hashes []uint64
	for range 8 {
		step(t, s.Sim, 1)
		hashes = append(hashes, s.Hash())
		after, err := s.Snapshot(nil)
		if err != nil || !slices.Equal(after, saved[len(saved)-1]) {
			t.Fatalf("tick %d: another snapshot after the step, %v", s.Ticks(), err)
		}
	}
	again := newTown(t, 1, func() {})
	if err := again.Restore(saved[2]); err != nil {
		t.Fatal(err)
	}
	for i, want := range hashes[3:] {
		if step(t, again.Sim, 1); again.Hash() != want {
			t.Errorf("%d ticks after the snapshot: another hash", i+1)
		}
	}
}

// A State that panics ends the Sim, until a Restore.
func TestRestoreWithAStateThatPanics(t *testing.T) {
	s := newSim(t, small())
	st := new(panickingState)
	if err := s.AddState("st", st); err != nil {
		t.Fatal(err)
	}
	data := snapshot(t, s)
	st.broken = true
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = s.Restore(data)
	}()
	if s.Step() == nil {
		t.Error("the Sim goes on")
	}
	st.broken = false
	restore(t, s, data)
	step(t, s, 1)
}

type panickingState struct{ broken bool }

func (*panickingState) AppendState(dst []byte) []byte { return dst }

func (p *panickingState) RestoreState([]byte) error {
	if p.broken {
		panic("state")
	}
	return nil
}

// parkTicks is long enough for a rope to break, boxes to sleep and be woken.
const parkTicks = 110

// recorded is a run of a park: its hash after each tick, and a snapshot before each.
type recorded struct {
	hashes []uint64 // after k ticks
	parts  [][]ecs.ColumnHash
	snaps  [][]byte
}

func record(t testing.TB, p *park, ticks int) *recorded {
	t.Helper()
	r := &recorded{hashes: []uint64{p.sim.Hash()}, parts: [][]ecs.ColumnHash{nil}, snaps: [][]byte{snapshot(t, p.sim)}}
	for range ticks {
		r.hashes = append(r.hashes, p.next(t))
		r.parts = append(r.parts, slices.Clone(p.sim.ColumnHashes()))
		r.snaps = append(r.snaps, snapshot(t, p.sim))
	}
	return r
}

// follow runs a park from tick k to the end and compares.
func (r *recorded) follow(t testing.TB, p *park, k int) {
	t.Helper()
	if p.sim.Ticks() != uint64(k) || p.sim.Hash() != r.hashes[k] {
		t.Fatalf("restored to tick %d: at %d with hash %x, want %x", k, p.sim.Ticks(), p.sim.Hash(), r.hashes[k])
	}
	for i := k + 1; i < len(r.hashes); i++ {
		if p.next(t) != r.hashes[i] {
			for j, c := range p.sim.ColumnHashes() {
				if j >= len(r.parts[i]) || c != r.parts[i][j] {
					t.Fatalf("restored to tick %d, run to %d: column %s differs", k, i, c.Name)
				}
			}
			t.Fatalf("restored to tick %d, run to %d: other columns", k, i)
		}
	}
}

// The scene keeps everything busy that a snapshot has to hold.
func TestParkIsBusy(t *testing.T) {
	p := newPark(t, parkConfig())
	slept, woke, broke := 0, 0, 0
	bodies := map[int]bool{}
	add(t, p.sim, evertick.AfterIndex, "watch", func(*evertick.Tick) error {
		e := p.sim.Physics.Events()
		slept, woke, broke = slept+len(e.Slept), woke+len(e.Woke), broke+len(e.Broken)
		bodies[p.sim.Physics.Len()] = true
		return nil
	})
	for range parkTicks {
		p.next(t)
	}
	if slept == 0 || woke == 0 || broke == 0 || len(bodies) < 3 || p.bequests == 0 || p.sawInputs < 40 || p.count != parkTicks {
		t.Errorf("%d slept, %d woke, %d joints broke, %d numbers of bodies, %d bequests, %d inputs", slept, woke, broke, len(bodies), p.bequests, p.sawInputs)
	}
}

// run(restore(k)..n) is run(0..n), for every k, in the Sim that was saved and in another.
func TestRestoreAtEveryTick(t *testing.T) {
	p := newPark(t, parkConfig())
	r := record(t, p, parkTicks)
	other := parkConfig()
	other.Workers, other.Physics.Capacity, other.Capacity = 2, 300, 320
	other.Physics.Slots = 256
	other.Seed = 5 // it is that of the snapshot
	stride := 1
	if testing.Short() {
		stride = 17
	}
	for k := 0; k < len(r.snaps); k += stride {
		restore(t, p.sim, r.snaps[k])
		if again := snapshot(t, p.sim); !bytes.Equal(again, r.snaps[k]) {
			t.Fatalf("tick %d: the snapshot of what was restored differs", k)
		}
		r.follow(t, p, k)
		if k%7 == 0 {
			q := newPark(t, other)
			restore(t, q.sim, r.snaps[k])
			r.follow(t, q, k)
		}
	}
}

// A snapshot has the same bytes on every machine, so any machine can restore it. It changes with
// the state hash, and with the format. Inputs without a stamp have the bytes that they had before
// there were stamps.
func TestGoldenSnapshot(t *testing.T) {
	p := newPark(t, parkConfig())
	p.unstamped = true
	r := record(t, p, 40)
	const want = 0x3d9e428277715247
	if got := xxh3.Hash(r.snaps[40]); got != want {
		t.Errorf("a snapshot of %d bytes with hash %#x, want %#x", len(r.snaps[40]), got, uint64(want))
	}
}

// Without a system's state the run differs: so the test above can fail.
func TestStateThatIsForgotten(t *testing.T) {
	p := newPark(t, parkConfig())
	r := record(t, p, 30)
	restore(t, p.sim, r.snaps[10])
	p.count++
	for i := 11; i <= 30; i++ {
		if p.next(t) != r.hashes[i] {
			return
		}
	}
	t.Error("a state that was changed changes nothing")
}

// A step that has failed, by an error or a panic, leaves half a tick behind. A Restore
// or a copy repairs the Sim.
func TestRestoreHeals(t *testing.T) {
	for _, how := range []string{"error", "panic in a query", "panic in an observer", "physics"} {
		p := newPark(t, parkConfig())
		r := record(t, p, 40)
		restore(t, p.sim, r.snaps[12])
		fail := true
		stop := p.sim.World.OnDespawn(func(ecs.ID, ecs.Slot) {
			if fail && how == "panic in an observer" {
				panic("test")
			}
		})
		add(t, p.sim, evertick.AfterIndex, "fail", func(tick *evertick.Tick) error {
			if !fail || tick.N < 20 {
				return nil
			}
			p.sim.World.Despawn(2)
			switch how {
			case "error":
				return errState
			case "panic in a query":
				for range p.sim.World.Query() {
					panic("test")
				}
			case "physics":
				p.sim.Physics.Columns().X[2] = nan
			}
			return nil
		})
		func() {
			defer func() { recover() }()
			for range 15 {
				p.drive(t)
				if p.sim.Step() != nil {
					return
				}
			}
		}()
		if how == "physics" {
			p.sim.World.Position.X[1] = nan
		}
		if err := p.sim.Step(); err == nil {
			t.Fatalf("%s: the Sim has not failed", how)
		}
		if how != "physics" {
			if _, err := p.sim.Snapshot(nil); err == nil {
				t.Errorf("%s: a Sim that has failed was saved", how)
			}
		}
		fail = false
		stop()
		q := newPark(t, parkConfig())
		if err := q.sim.CopyFrom(p.sim); err == nil && how != "physics" {
			t.Errorf("%s: a Sim that has failed was copied", how)
		}
		restore(t, q.sim, r.snaps[9])
		if how == "error" {
			copyFrom(t, p.sim, q.sim)
		} else {
			restore(t, p.sim, r.snaps[9])
		}
		r.follow(t, p, 9)
	}
}

// A snapshot that does not fit is refused, and changes nothing.
func TestRestoreRefuses(t *testing.T) {
	saved := newPark(t, parkConfig())
	r := record(t, saved, 12)
	data := r.snaps[12]
	type change struct {
		name   string
		config func(*evertick.Config)
		make   func(*park)
		kind   error
		says   string
	}
	for _, c := range []change{
		{"rate", func(c *evertick.Config) { c.Loop.RateNum, c.Loop.RateDen = 50, 1 }, nil, evertick.ErrUnsupported, "Config.Loop"},
		{"capacity", func(c *evertick.Config) { c.Capacity = 8 }, nil, evertick.ErrCapacity, "rows"},
		{"bodies", func(c *evertick.Config) { c.Physics.Capacity = 8 }, nil, evertick.ErrCapacity, "rows"},
		{"rules", func(c *evertick.Config) { c.Physics.SubSteps = 2 }, nil, evertick.ErrUnsupported, "SubSteps"},
		{"inputs", func(c *evertick.Config) { c.Inputs.Capacity = 1 }, nil, evertick.ErrCapacity, "Capacity"},
		{"states", nil, func(p *park) { _ = p.sim.AddState("more", new(parkState)) }, evertick.ErrUnsupported, "states"},
		{"column", func(c *evertick.Config) {}, nil, evertick.ErrUnsupported, "heat"},
	} {
		cfg := parkConfig()
		if c.config != nil {
			c.config(&cfg)
		}
		s := newSim(t, cfg)
		if c.name == "column" {
			if _, err := ecs.AddColumn[int64](s.World, "heat"); err != nil {
				t.Fatal(err)
			}
		}
		keep := &parkState{count: 77}
		if err := s.AddState("park", keep); err != nil {
			t.Fatal(err)
		}
		if c.make != nil {
			c.make(&park{sim: s})
		}
		if c.name != "column" {
			column(t, s, "heat")
		}
		spawn(t, s)
		if err := s.Push(evertick.Input{Tick: 4, Data: []byte("kept")}); err != nil {
			t.Fatal(err)
		}
		step(t, s, 2)
		before := snapshot(t, s)
		for _, err := range []error{s.Restore(data), s.CopyFrom(saved.sim)} {
			wantError(t, err, c.kind, c.says)
			if after := snapshot(t, s); !bytes.Equal(before, after) {
				t.Errorf("%s: the Sim was changed", c.name)
			}
		}
		step(t, s, 4)
	}
}

// If a State refuses, Restore rolls back those before it.
func TestRestoreRefusedByAState(t *testing.T) {
	s := newSim(t, small())
	first, second := &parkState{count: 1}, &parkState{count: 2}
	if err := errors.Join(s.AddState("b", second), s.AddState("a", first)); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.AddState("a", first), evertick.ErrRange, "name = a")
	wantError(t, s.AddState("", first), evertick.ErrRange, "name")
	data := snapshot(t, s)
	first.count, second.count = 10, 20
	other := newSim(t, small())
	if err := errors.Join(other.AddState("a", first), other.AddState("b", refusingState{})); err != nil {
		t.Fatal(err)
	}
	wantError(t, other.Restore(data), errState, `state "b"`)
	wantError(t, other.CopyFrom(s), errState, `state "b"`)
	if first.count != 10 {
		t.Errorf("the first state has %d, want 10 as before", first.count)
	}
	restore(t, s, data)
	if first.count != 1 || second.count != 2 {
		t.Errorf("states have %d and %d", first.count, second.count)
	}
}

type refusingState struct{}

func (refusingState) AppendState(dst []byte) []byte { return dst }

func (refusingState) RestoreState([]byte) error { return errState }

// Every changed byte and every truncation of a snapshot is noticed.
func TestRestoreCorrupt(t *testing.T) {
	p := newPark(t, parkConfig())
	r := record(t, p, 10)
	data := r.snaps[10]
	stride := 1
	if testing.Short() {
		stride = 97
	}
	for i := 0; i < len(data); i += stride {
		bad := slices.Clone(data)
		bad[i] ^= 1 << (i % 8)
		if err := p.sim.Restore(bad); !errors.Is(err, evertick.ErrCorrupt) && !errors.Is(err, evertick.ErrUnsupported) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if i%97 == 0 {
			if err := p.sim.Restore(data[:i]); !errors.Is(err, evertick.ErrCorrupt) {
				t.Fatalf("cut to %d bytes: %v", i, err)
			}
		}
	}
	wantError(t, p.sim.Restore(append(slices.Clone(data), 0)), evertick.ErrCorrupt, "length")
	if p.sim.Hash() != r.hashes[10] {
		t.Error("the Sim was changed")
	}
	r.follow(t, p, 10)
}

func TestSnapshotOfAnotherEngine(t *testing.T) {
	c := small()
	c.Physics.Engine = new(fakeEngine)
	s := newSim(t, c)
	out, err := s.Snapshot([]byte("x"))
	wantError(t, err, evertick.ErrUnsupported, "Config.Engine")
	if string(out) != "x" {
		t.Errorf("dst became %q", out)
	}
	for _, err := range []error{newSim(t, small()).CopyFrom(s), s.CopyFrom(newSim(t, small()))} {
		wantError(t, err, evertick.ErrUnsupported, "Config.Engine")
	}
}

// Snapshot, Restore and CopyFrom are for between ticks; an AfterTick hook may save and be copied.
func TestSnapshotWithinAStep(t *testing.T) {
	p, other := newPark(t, parkConfig()), newPark(t, parkConfig())
	var saved []byte
	p.sim.AddHooks(evertick.Hooks{AfterTick: func(tick *evertick.Tick) error {
		var err error
		if tick.N == 5 {
			saved, err = p.sim.Snapshot(saved[:0])
			copyFrom(t, other.sim, p.sim)
		}
		return err
	}})
	panics := 0
	add(t, p.sim, evertick.AfterIndex, "save", func(*evertick.Tick) error {
		for _, f := range []func(){
			func() { _, _ = p.sim.Snapshot(nil) }, func() { _ = p.sim.Restore(nil) },
			func() { _ = p.sim.CopyFrom(other.sim) }, func() { _ = other.sim.CopyFrom(p.sim) },
		} {
			func() {
				defer func() {
					if recover() != nil {
						panics++
					}
				}()
				f()
			}()
		}
		return nil
	})
	r := record(t, p, 10)
	if panics != 40 {
		t.Errorf("%d panics, want 40", panics)
	}
	if !bytes.Equal(saved, r.snaps[6]) || !bytes.Equal(snapshot(t, other.sim), saved) {
		t.Error("the hook has saved something else")
	}
}

// A world that was restored by itself has lost its bodies, and a snapshot of the Sim has none.
func TestSnapshotAfterARestoreOfTheWorld(t *testing.T) {
	s := newSim(t, small())
	id := spawn(t, s)
	movingBody(t, s, id, 1)
	step(t, s, 1)
	if err := s.World.Restore(s.World.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
	other, copied := newSim(t, small()), newSim(t, small())
	copyFrom(t, copied, s)
	restore(t, other, snapshot(t, s))
	for _, s := range []*evertick.Sim{other, copied} {
		if _, has := s.Body(id); has || s.Physics.Len() != 0 {
			t.Error("there is a body")
		}
	}
}

func TestSnapshotAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	p, q := newPark(t, parkConfig()), newPark(t, parkConfig())
	for range 30 {
		p.next(t)
	}
	var data []byte
	round := func() {
		var err error
		if data, err = p.sim.Snapshot(data[:0]); err != nil {
			t.Fatal(err)
		}
		if err = errors.Join(p.sim.Restore(data), q.sim.CopyFrom(p.sim)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// A Sim that is reset again and again to a snapshot from before its columns were added
// allocates nothing for that.
func TestRestoreOfLessAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := newSim(t, small())
	blank, err := s.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := ecs.AddColumn[float32](s.World, name); err != nil {
			t.Fatal(err)
		}
	}
	round := func() {
		if err := errors.Join(s.Restore(blank), s.Step(), s.Step()); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// Sims with 1, 2 and 7 workers that are restored from one snapshot, or copied, stay equal to
// its source.
func TestRestoredSimsStayEqual(t *testing.T) {
	ticks := 500
	if testing.Short() {
		ticks = 100
	}
	for i, scene := range [...]func(workers int) *evertick.Sim{
		func(workers int) *evertick.Sim {
			c := parkConfig()
			c.Workers = workers
			return newPark(t, c).sim
		},
		func(workers int) *evertick.Sim { return newTown(t, workers, func() {}).Sim },
	} {
		first := scene(1)
		step(t, first, 50)
		data := snapshot(t, first)
		var others []*evertick.Sim
		for _, workers := range []int{1, 2, 7} {
			s, copied := scene(workers), scene(workers)
			step(t, s, 13) // of which nothing may remain
			restore(t, s, data)
			step(t, copied, 7)
			copyFrom(t, copied, first)
			others = append(others, s, copied)
		}
		start := first.Hash()
		for range ticks {
			step(t, first, 1)
			for k, s := range others {
				if step(t, s, 1); s.Hash() != first.Hash() {
					t.Fatalf("scene %d: Sim %d differs at tick %d", i, k, first.Ticks())
				}
			}
		}
		if first.Hash() == start {
			t.Errorf("scene %d: nothing happens", i)
		}
	}
}

// park is a scene that keeps everything busy that a snapshot has to hold: a chain as ground,
// boxes that fall asleep on it and are woken, joints, some of which
// break, bodies that come and go with their entities, commands and observers that answer with
// commands, an index that is queried before it is rebuilt, after its points have moved,
// inputs that wait, and systems with state of their own.
type park struct {
	sim        *evertick.Sim
	near       ecs.Tag
	young      ecs.Tag
	heat       []float32
	seen       spatial.Result
	queries    spatial.Queries
	hub        physics.Body
	bequests   int
	parkState       // what is kept outside the world
	quiet      bool // drive leaves commands alone
	unstamped  bool // drive pushes inputs without At and Fraction
	forged     bool // what the systems keep may be anything
	breakAfter uint64
	broken     error
	sawInputs  int
}

// parkState is what the systems of a park keep.
type parkState struct {
	count  uint64
	queued []ecs.ID // to get a body in the next tick
	sum    uint64   // sum over all inputs
	last   ecs.ID   // provisional id of the last spawn recorded
}

func (p *parkState) AppendState(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, p.count)
	dst = le.AppendUint64(dst, p.sum)
	dst = le.AppendUint64(dst, uint64(p.last))
	for _, id := range p.queued {
		dst = le.AppendUint64(dst, uint64(id))
	}
	return dst
}

var errState = errors.New("not a state")

func (p *parkState) RestoreState(src []byte) error {
	if len(src) < 24 || len(src)%8 != 0 {
		return errState
	}
	le := binary.LittleEndian
	p.count, p.sum, p.last = le.Uint64(src), le.Uint64(src[8:]), ecs.ID(le.Uint64(src[16:]))
	p.queued = p.queued[:0]
	for src = src[24:]; len(src) > 0; src = src[8:] {
		p.queued = append(p.queued, ecs.ID(le.Uint64(src)))
	}
	return nil
}

func parkConfig() evertick.Config {
	return evertick.Config{
		Capacity: 256, Seed: 11, Previous: true,
		Physics: physics.Config{Gravity: [2]float32{0, -10}},
		Spatial: spatial.Config{CellSize: 2},
	}
}

func newPark(t testing.TB, c evertick.Config) *park {
	t.Helper()
	p := &park{sim: newSim(t, c)}
	s := p.sim
	p.heat = column(t, s, "heat")
	var errs [3]error
	p.near, errs[0] = s.World.Tag("near")
	p.young, errs[1] = s.World.Tag("young")
	errs[2] = s.AddState("park", &p.parkState)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	s.World.OnDespawn(func(id ecs.ID, slot ecs.Slot) {
		if p.young.Has(id) { // a young entity leaves something at its despawn, in the same tick
			heir := s.Commands().Spawn()
			_ = s.Commands().SetPosition(heir, s.World.Position.X[slot], 9, 0)
			p.bequests++
		}
	})
	for _, sys := range []struct {
		stage evertick.Stage
		name  string
		run   func(*evertick.Tick) error
	}{
		{evertick.BeforePhysics, "embody", p.embody},
		{evertick.BeforePhysics, "feel", p.feel},
		{evertick.BeforePhysics, "obey", p.obey},
		{evertick.AfterIndex, "drift", p.drift},
		{evertick.AfterIndex, "breed", p.breed},
		{evertick.AfterIndex, "break", p.breakOff},
	} {
		add(t, s, sys.stage, sys.name, sys.run)
	}
	p.build(t)
	return p
}

func (p *park) build(t testing.TB) {
	t.Helper()
	w := p.sim.Physics
	ground, err := w.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		t.Fatal(err)
	}
	p.hub = ground
	chain := physics.ChainDef{Shape: physics.DefaultShapeDef(), Points: [][2]float32{{40, 30}, {30, 0}, {10, -1}, {-10, -1}, {-30, 0}, {-40, 30}}}
	if _, err := w.CreateChain(ground, chain); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		if _, err := p.body(spawn(t, p.sim), float32(float32(i%4)*1.1)-8, float32(i/4)-0.5, false); err != nil {
			t.Fatal(err)
		}
	}
	last := ground
	for i := range 5 { // a rope, which carries more and more
		b, err := p.disc(spawn(t, p.sim), 8+float32(i)*1.5, 12)
		if err != nil {
			t.Fatal(err)
		}
		def := physics.DefaultRevoluteJointDef()
		def.BodyA, def.BodyB = last, b
		def.FrameA.Point, def.FrameB.Point = [2]float32{0.75, 0}, [2]float32{-0.75, 0}
		if last == ground {
			def.FrameA.Point = [2]float32{7.25, 12}
		}
		def.BreakForce = 40
		if _, err := w.CreateRevoluteJoint(def); err != nil {
			t.Fatal(err)
		}
		last = b
	}
}

func (p *park) disc(id ecs.ID, x, y float32) (physics.Body, error) { return p.body(id, x, y, true) }

// body gives an entity a body, a disc or a box.
func (p *park) body(id ecs.ID, x, y float32, disc bool) (physics.Body, error) {
	def := physics.DefaultBodyDef()
	def.Type, def.Position = physics.DynamicBody, [2]float32{x, y}
	b, err := p.sim.CreateBody(id, def)
	if err != nil {
		return b, err
	}
	if disc {
		_, err = p.sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5})
	} else {
		_, err = p.sim.Physics.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(0.5, 0.5))
	}
	return b, err
}

// embody gives bodies to the entities that were spawned in the tick before, of which one is known only by
// its provisional id.
func (p *park) embody(t *evertick.Tick) error {
	for _, id := range p.queued {
		slot, ok := p.sim.World.Slot(id)
		if _, has := p.sim.Body(id); !ok || has {
			continue
		}
		if _, err := p.disc(id, p.sim.World.Position.X[slot], 6); err != nil && !errors.Is(err, evertick.ErrCapacity) {
			return err
		}
	}
	p.queued = p.queued[:0]
	if p.last != 0 && !p.forged {
		id := t.Commands().Resolve(p.last)
		if slot, ok := p.sim.World.Slot(id); ok {
			p.heat[slot] += 1
		}
		p.last = 0
	}
	return nil
}

// feel queries the index, and the physics, of the tick before.
func (p *park) feel(t *evertick.Tick) error {
	for i, touch := range p.sim.Physics.Events().Begin {
		p.heat[i%8] += float32(touch.A.Index()+touch.B.Index()) / 256
	}
	q, pos := &p.queries, &p.sim.World.Position
	q.X, q.Y, q.Z, q.Radius = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0]
	for slot := range ecs.Slot(8) {
		q.X, q.Y, q.Z = append(q.X, pos.X[slot]), append(q.Y, pos.Y[slot]), append(q.Z, pos.Z[slot])
		q.Radius = append(q.Radius, 2)
	}
	if err := p.sim.Index.Radius(q, &p.seen); err != nil {
		return err
	}
	for slot := range ecs.Slot(8) {
		p.heat[slot] += float32(len(p.seen.Row(int(slot)))) / 64
		for _, d := range p.seen.Dist2Row(int(slot)) {
			p.heat[slot] += d / 1024
		}
	}
	return nil
}

// obey applies inputs: each pushes a body and leaves a command.
func (p *park) obey(t *evertick.Tick) error {
	for _, in := range t.Inputs() {
		p.sawInputs++
		p.sum += in.Seq + uint64(in.Kind) + uint64(len(in.Data)) + in.At + uint64(in.Fraction)
		for _, c := range in.Data {
			p.sum = p.sum*31 + uint64(c)
		}
		id, ok := p.sim.World.ID(ecs.Slot(12 + in.Kind%5))
		if !ok {
			continue
		}
		if b, has := p.sim.Body(id); has {
			if err := p.sim.Physics.ApplyLinearImpulseToCenter(b, [2]float32{float32(in.Seq%5) - 2, 3}); err != nil {
				return err
			}
		}
		t.Commands().Set(p.near, id)
	}
	return nil
}

// drift moves the entities without a body, after the index was built.
func (p *park) drift(t *evertick.Tick) error {
	p.count++
	for slot := range p.sim.World.Query(ecs.Without(p.near)) {
		id, _ := p.sim.World.ID(slot)
		if _, has := p.sim.Body(id); !has {
			r := t.Rand(id, 1)
			p.sim.World.Position.X[slot] += r.Range(-0.1, 0.1)
		}
	}
	return nil
}

// breed spawns and despawns entities.
func (p *park) breed(t *evertick.Tick) error {
	c := t.Commands()
	if p.count%3 == 0 {
		id := c.Spawn()
		if p.count%5 != 0 { // else observers may answer, and the list is applied again
			p.last = id
		}
		c.Set(p.young, id)
		if err := c.SetPosition(id, float32(p.count%7), 5, 0); err != nil {
			return err
		}
	}
	if p.count%5 == 0 {
		for slot := range p.sim.World.Query(ecs.With(p.young)) {
			if id, _ := p.sim.World.ID(slot); uint64(slot)%3 == p.count%3 {
				p.queued = append(p.queued, id)
			} else if uint64(id)%4 == 0 {
				c.Despawn(id)
			}
		}
	}
	if p.count%45 == 0 {
		if id, ok := p.sim.World.ID(ecs.Slot(p.count / 45)); ok { // one of the boxes at rest goes
			c.Despawn(id)
		}
	}
	return nil
}

// breakOff fails once, half-way through a tick.
func (p *park) breakOff(t *evertick.Tick) error {
	if p.broken != nil && t.N == p.breakAfter {
		err := p.broken
		p.broken = nil
		p.sim.World.Despawn(1)
		return err
	}
	return nil
}

// drive does what the world outside does between ticks, the same in each run.
func (p *park) drive(t testing.TB) {
	t.Helper()
	n := p.sim.Ticks()
	if n%2 == 0 {
		for source := range uint32(2) {
			in := evertick.Input{Tick: n + 1 + uint64(source)*4, Source: source, Seq: n, Kind: uint32(n) + source, Data: []byte(fmt.Sprint("in", n))}
			if source == 1 && !p.unstamped {
				in.At, in.Fraction = n*1_000_000, uint32(n)<<20 // both 0 in tick 0
			}
			if err := p.sim.Push(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n%9 == 0 && !p.quiet { // a command that waits for the next tick
		c := p.sim.Commands()
		id := c.Spawn()
		c.Set(p.near, id)
		ecs.Write(c, mustColumn(t, p.sim, "heat"), id, float32(n))
		if err := c.SetRotation(id, 0, 0, 0.6, 0.8); err != nil {
			t.Fatal(err)
		}
		c.Unset(p.near, 2)
	}
}

func mustColumn(t testing.TB, s *evertick.Sim, name string) *ecs.Column[float32] {
	t.Helper()
	c, ok := ecs.FindColumn[float32](s.World, name)
	if !ok {
		t.Fatalf("no column %s", name)
	}
	return c
}

// next drives a park on by one tick and returns its hash.
func (p *park) next(t testing.TB) uint64 {
	t.Helper()
	p.drive(t)
	step(t, p.sim, 1)
	return p.sim.Hash()
}

// newLibrary is a Sim with systems that set blobs: two of different names side by side, and one by
// commands, which also despawns entities that have them.
func newLibrary(t testing.TB, c evertick.Config) *evertick.Sim {
	t.Helper()
	s := newSim(t, c)
	w := s.World
	list := make([]*ecs.Blobs, 3)
	for i, name := range []string{"mesh", "script", "rare"} {
		var err error
		if list[i], err = w.Blobs(name); err != nil {
			t.Fatal(err)
		}
	}
	mesh, script, rare := list[0], list[1], list[2]
	var text [100]byte
	for i := range text {
		text[i] = byte('a' + i%26)
	}
	set := func(b *ecs.Blobs, id ecs.ID, n uint64) error { return b.Set(id, text[:n%uint64(len(text))]) }
	for _, sys := range []evertick.System{
		{Name: "mesh", Writes: []string{"blob.mesh"}, Run: func(t *evertick.Tick) error {
			for slot := range w.Query() {
				if id, _ := w.ID(slot); uint64(id)%3 == t.N%3 {
					if err := set(mesh, id, 7*t.N+uint64(id)); err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{Name: "script", Writes: []string{"blob.script"}, Run: func(t *evertick.Tick) error {
			for slot := range w.Query() {
				id, _ := w.ID(slot)
				if t.N%5 == uint64(slot)%5 {
					script.Unset(id)
				} else if err := set(script, id, t.N*uint64(slot)); err != nil {
					return err
				}
			}
			return nil
		}},
		{Name: "churn", Stage: evertick.AfterIndex, Reads: []string{"blob.mesh"}, Run: func(t *evertick.Tick) error {
			born := t.Commands().Spawn()
			for id, data := range mesh.All() {
				if len(data) > 95 {
					t.Commands().Despawn(id)
				}
			}
			t.Commands().UnsetBlob(rare, ecs.ID(t.N/2))
			return t.Commands().SetBlob(rare, born, text[:t.N%9])
		}},
	} {
		if err := s.AddSystem(sys); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		spawn(t, s)
	}
	return s
}

// TestBlobsOfASim: systems set blobs with the same result on any number of workers, and a Sim that
// is restored, copied or stepped back continues with the same blobs.
func TestBlobsOfASim(t *testing.T) {
	const last = 60
	first := newLibrary(t, evertick.Config{Capacity: 200, Workers: 2, History: evertick.HistoryConfig{Keep: 10, Every: 7}})
	var hashes []uint64
	var snaps [][]byte
	for range last {
		snaps = append(snaps, snapshot(t, first))
		step(t, first, 1)
		hashes = append(hashes, first.Hash())
	}
	names := strings.Join(columnNames(first), " ")
	if !strings.Contains(names, "scale.z blob.mesh blob.rare blob.script body.") {
		t.Errorf("columns %s", names)
	}
	follow := func(what string, s *evertick.Sim) {
		t.Helper()
		for i := int(s.Ticks()); i < last; i++ {
			if step(t, s, 1); s.Hash() != hashes[i] {
				t.Fatalf("%s: another hash after tick %d", what, i)
			}
		}
		if d, found := evertick.Diff(first, s); found {
			t.Fatalf("%s: %v", what, d)
		}
	}
	follow("one worker, checked", newLibrary(t, evertick.Config{Capacity: 200, Workers: 1, CheckAccess: true}))
	for k := 0; k < last; k += 9 {
		s := newLibrary(t, evertick.Config{Capacity: 200})
		restore(t, s, snaps[k])
		if !bytes.Equal(snapshot(t, s), snaps[k]) {
			t.Fatalf("tick %d: another snapshot of what was restored", k)
		}
		c := newLibrary(t, evertick.Config{Capacity: 300})
		if err := c.CopyFrom(s); err != nil {
			t.Fatal(err)
		}
		follow("restored", s)
		follow("copied", c)
	}
	for _, back := range []uint64{1, 8, 25} {
		if err := first.StepBack(back); err != nil {
			t.Fatal(err)
		}
		if at := last - int(back); first.Hash() != hashes[at-1] || !bytes.Equal(snapshot(t, first), snaps[at]) {
			t.Fatalf("another state %d ticks back", back)
		}
		if err := first.Forward(back); err != nil || first.Hash() != hashes[last-1] {
			t.Fatal("another state after Forward", err)
		}
	}

	other := newLibrary(t, evertick.Config{Capacity: 200})
	follow("alone", other)
	mesh, _ := other.World.Blobs("mesh")
	id := spawn(t, other)
	spawn(t, first)
	if err := mesh.Set(id, []byte("tree.glb")); err != nil {
		t.Fatal(err)
	}
	if d, _ := evertick.Diff(first, other); !strings.HasPrefix(d.String(), "entities: blob of mesh, slot ") || !strings.HasSuffix(d.String(), `: none and "tree.glb"`) {
		t.Error(d)
	}
}

// TestBlobsOfASimAllocateNothing: neither ticks that set blobs nor copies of the Sim.
func TestBlobsOfASimAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s := newLibrary(t, evertick.Config{Capacity: 200})
	step(t, s, 50)
	saved, other := snapshot(t, s), newLibrary(t, evertick.Config{Capacity: 200})
	round := func() {
		if err := errors.Join(s.Restore(saved), other.CopyFrom(s)); err != nil {
			t.Fatal(err)
		}
		step(t, s, 20)
	}
	for range 3 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestCheckAccessOfBlobs: a change of blobs that a system has not declared is named, also if it is
// the first blob of the name, or the last.
func TestCheckAccessOfBlobs(t *testing.T) {
	for _, c := range []struct {
		name, writes, says string
		run                func(b *ecs.Blobs, a, none ecs.ID) error
	}{
		{"declared", "blob.mesh", "", func(b *ecs.Blobs, a, none ecs.ID) error { return b.Set(none, nil) }},
		{"changed", "blob.new", "wrote blob.mesh,", func(b *ecs.Blobs, a, none ecs.ID) error { return b.Set(a, []byte("b")) }},
		{"added", "blob.new", "wrote blob.mesh,", func(b *ecs.Blobs, a, none ecs.ID) error { return b.Set(none, nil) }},
		{"last", "blob.new", "wrote blob.mesh,", func(b *ecs.Blobs, a, none ecs.ID) error { b.Unset(a); return nil }},
		{"nothing", "blob.new", "", func(b *ecs.Blobs, a, none ecs.ID) error { b.Unset(none); return b.Set(a, []byte("a")) }},
		{"first", "blob.mesh", "wrote blob.new,", nil},
		{"unknown", "mesh", `Writes = "mesh", which is no column, tag, blob, state or resource`, nil},
	} {
		s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: true})
		mesh, err := s.World.Blobs("mesh")
		empty, also := s.World.Blobs("new")
		a, none := spawn(t, s), spawn(t, s)
		sys := evertick.System{Name: "culprit", Writes: []string{c.writes}, Run: func(*evertick.Tick) error {
			if c.run == nil {
				return empty.Set(a, nil)
			}
			return c.run(mesh, a, none)
		}}
		if err := errors.Join(err, also, mesh.Set(a, []byte("a")), s.AddSystem(sys)); err != nil {
			t.Fatal(err)
		}
		if err = s.Step(); c.says == "" && err != nil || c.says != "" && !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
