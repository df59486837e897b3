package evertick_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/zeebo/xxh3"
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

func snapshot(t testing.TB, s *evertick.Sim) []byte {
	t.Helper()
	b, err := s.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func restore(t testing.TB, s *evertick.Sim, data []byte) {
	t.Helper()
	if err := s.Restore(data); err != nil {
		t.Fatal(err)
	}
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
	const want = 0x7b8daff5e2aa868d
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
