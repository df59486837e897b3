package evertick_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/spatial"
)

// town is a Sim whose systems run in groups: some write their own columns, some perceive, and
// all of them record spawns, despawns and tags.
type town struct {
	*evertick.Sim
	hp, mp *ecs.Column[float32]
	foe    ecs.Tag
	near   [2]spatial.Result
	query  [2]spatial.Queries
	linger func() // called by each system, somewhere in its middle
	side   atomic.Int32
	most   atomic.Int32 // systems that ran at once
}

func newTown(t testing.TB, workers int, linger func()) *town {
	return newTownOf(t, evertick.Config{Workers: workers}, linger)
}

func newTownOf(t testing.TB, c evertick.Config, linger func()) *town {
	c.Capacity, c.Seed, c.Spatial.CellSize = 256, 9, 4
	w := &town{Sim: newSim(t, c), linger: linger}
	w.hp, _ = ecs.AddColumn[float32](w.World, "hp")
	w.mp, _ = ecs.AddColumn[float32](w.World, "mp")
	w.foe, _ = w.World.Tag("foe")
	for i := range 120 {
		id := spawn(t, w.Sim)
		if err := w.World.SetPosition(id, float32(i%12), 0, float32(i/12)); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			w.foe.Set(id)
		}
	}
	for _, sys := range []evertick.System{
		{Name: "walk", Stage: evertick.BeforePhysics, Writes: []string{"position"}, Run: w.walk},
		{Name: "heal", Stage: evertick.BeforePhysics, Reads: []string{"foe"}, Writes: []string{"hp"}, Run: w.heal},
		{Name: "think", Stage: evertick.BeforePhysics, Writes: []string{"mp"}, Run: w.think},
		{Name: "count", Stage: evertick.BeforePhysics, Run: nothing},
		{Name: "breed", Stage: evertick.AfterIndex, Reads: []string{"index", "position", "hp"}, Run: w.breed},
		{Name: "hunt", Stage: evertick.AfterIndex, Reads: []string{"index", "position", "foe"}, Writes: []string{"mp"}, Run: w.hunt},
		{Name: "age", Stage: evertick.AfterIndex, Writes: []string{"hp"}, Run: w.age},
	} {
		if err := w.AddSystem(sys); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// enter is called at the start of each system.
func (w *town) enter() {
	n := w.side.Add(1)
	for {
		most := w.most.Load()
		if n <= most || w.most.CompareAndSwap(most, n) {
			break
		}
	}
	w.linger()
}

func (w *town) walk(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	x := w.World.Position.X
	for slot := range w.World.Query() {
		r := t.Rand(ecs.ID(slot), 1)
		x[slot] += float32(r.Range(-1, 1) * t.Dt)
	}
	w.World.Position.Touch()
	return nil
}

func (w *town) heal(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	hp := w.hp.Values()
	for slot := range w.World.Query(ecs.Without(w.foe)) {
		hp[slot] += 2
		if id, _ := w.World.ID(slot); hp[slot] > 60 {
			t.Commands().Set(w.foe, id)
		}
	}
	w.hp.Touch()
	return nil
}

func (w *town) think(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	mp := w.mp.Values()
	for slot := range w.World.Query() {
		r := t.Rand(ecs.ID(slot), 2)
		mp[slot] += r.Range(0, 1)
	}
	w.mp.Touch()
	return nil
}

func (w *town) look(i int) error {
	q, p := &w.query[i], &w.World.Position
	q.X, q.Y, q.Z, q.Radius = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0]
	for slot := range w.World.Query() {
		q.X, q.Y, q.Z, q.Radius = append(q.X, p.X[slot]), append(q.Y, p.Y[slot]), append(q.Z, p.Z[slot]), append(q.Radius, 2)
	}
	return w.Index.Radius(q, &w.near[i])
}

func (w *town) breed(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	if err := w.look(0); err != nil {
		return err
	}
	if w.World.Len() < 200 && w.near[0].Len() > 0 {
		for i := range 3 {
			id := t.Commands().Spawn()
			if err := t.Commands().SetPosition(id, float32(i), 0, float32(w.near[0].Len()%13)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *town) hunt(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	if err := w.look(1); err != nil {
		return err
	}
	row := 0
	for slot := range w.World.Query() {
		w.mp.Values()[slot] += float32(len(w.near[1].Row(row)))
		if id, _ := w.World.ID(slot); (uint64(slot)+t.N)%97 == 0 {
			t.Commands().Despawn(id)
			t.Commands().Set(w.foe, t.Commands().Spawn())
		}
		row++
	}
	return nil
}

func (w *town) age(t *evertick.Tick) error {
	w.enter()
	defer w.side.Add(-1)
	for slot := range w.World.Query() {
		w.hp.Values()[slot]--
	}
	w.hp.Touch()
	return nil
}

// randomSleep returns a function that sleeps for a random while, now and then.
func randomSleep(seed uint64) func() {
	var calls atomic.Uint64
	return func() {
		r := rand.New(rand.NewPCG(seed, calls.Add(1)))
		if r.IntN(3) > 0 {
			time.Sleep(time.Duration(r.IntN(200)) * time.Microsecond)
		}
	}
}

// Hashes, snapshots (and so versions), ids and the outcome of commands are the same
// for any number of workers, and however long each system takes.
func TestWorkersChangeNothing(t *testing.T) {
	run := func(workers int, seed uint64) (hashes []uint64, image []byte, most int32) {
		w := newTown(t, workers, randomSleep(seed))
		for range 60 {
			step(t, w.Sim, 1)
			hashes = append(hashes, w.Hash())
		}
		return hashes, w.World.Snapshot(nil), w.most.Load()
	}
	want, image, most := run(1, 1)
	if most != 1 {
		t.Errorf("%d systems at once with one worker", most)
	}
	if slices.Equal(want[10:20], want[20:30]) {
		t.Error("nothing happens")
	}
	for seed, workers := range []int{1, 2, 7, 7} {
		got, snapshot, most := run(workers, uint64(seed)+2)
		if !slices.Equal(got, want) || !slices.Equal(snapshot, image) {
			t.Errorf("%d workers, seed %d: other hashes, or another snapshot", workers, seed+2)
		}
		if workers > 1 && most < 2 && runtime.GOARCH != "wasm" { // which has one thread
			t.Errorf("%d workers: no two systems ran at once", workers)
		}
	}
	// They are also the same if Add orders all systems.
	plain := newTown(t, 1, func() {})
	serial := newSim(t, evertick.Config{Capacity: 256, Workers: 2, Seed: 9, Spatial: spatial.Config{CellSize: 4}})
	w := &town{Sim: serial, linger: func() {}}
	w.hp, _ = ecs.AddColumn[float32](w.World, "hp")
	w.mp, _ = ecs.AddColumn[float32](w.World, "mp")
	w.foe, _ = w.World.Tag("foe")
	if err := w.World.CopyFrom(plain.World); err != nil {
		t.Fatal(err)
	}
	for _, sys := range []struct {
		stage evertick.Stage
		name  string
		run   func(*evertick.Tick) error
	}{
		{evertick.BeforePhysics, "walk", w.walk}, {evertick.BeforePhysics, "heal", w.heal}, {evertick.BeforePhysics, "think", w.think},
		{evertick.AfterIndex, "breed", w.breed}, {evertick.AfterIndex, "hunt", w.hunt}, {evertick.AfterIndex, "age", w.age},
	} {
		add(t, serial, sys.stage, sys.name, sys.run)
	}
	for i := range want {
		step(t, serial, 1)
		if serial.Hash() != want[i] {
			t.Fatalf("tick %d: systems in order have another hash than systems side by side", i)
		}
	}
}

func TestGroupsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, workers := range []int{1, 2} {
		w := newTown(t, workers, func() {})
		w.AddHooks(evertick.Hooks{BeforeSystem: func(*evertick.Tick, string) {}})
		step(t, w.Sim, 300)
		if n := testing.AllocsPerRun(100, func() { step(t, w.Sim, 1) }); n != 0 {
			t.Errorf("%d workers: %g allocations a step", workers, n)
		}
	}
}

// threeSystems is a Sim with three systems side by side.
func threeSystems(t testing.TB, c evertick.Config, run ...func(*evertick.Tick) error) *evertick.Sim {
	t.Helper()
	c.Capacity = 64
	s := newSim(t, c)
	for i, f := range run {
		name := fmt.Sprint("abc"[i : i+1])
		if err := s.Resource(name); err != nil {
			t.Fatal(err)
		}
		if err := s.AddSystem(evertick.System{Name: name, Stage: evertick.AfterIndex, Writes: []string{name}, Run: f}); err != nil {
			t.Fatal(err)
		}
	}
	if plan, err := s.Plan(); err != nil || !slices.ContainsFunc(plan.Groups, func(g []string) bool { return len(g) == len(run) }) {
		t.Fatalf("%v, %v", plan, err)
	}
	return s
}

// failLate is a system that fails after the others.
func failLate(f func() error) func(*evertick.Tick) error {
	return func(*evertick.Tick) error { time.Sleep(2 * time.Millisecond); return f() }
}

// Of several errors, that of the first system in order is returned, even if another system failed earlier.
func TestErrorsOfAGroup(t *testing.T) {
	errOther := errors.New("another gave up")
	for _, workers := range []int{1, 3} {
		ran := 0
		s := threeSystems(t, evertick.Config{Workers: workers}, nothing,
			failLate(func() error { return errSystem }), func(*evertick.Tick) error { return errOther })
		add(t, s, evertick.AfterIndex, "later", func(*evertick.Tick) error { ran++; return nil })
		err := s.Step()
		wantError(t, err, errSystem, "tick 0: b: the system gave up")
		if again := s.Step(); again != err || s.Ticks() != 0 || ran != 0 {
			t.Errorf("%d workers: then %v, %d ticks, %d later systems", workers, again, s.Ticks(), ran)
		}
	}
}

// A panic reaches the goroutine of Step, with the name of the system and the
// stack at its origin.
func TestPanicOfAGroup(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s := threeSystems(t, evertick.Config{Workers: workers}, nothing, failLate(panicGone), func(*evertick.Tick) error { panic("too") })
		got, ok := stepPanicking(s).(*loop.PanicError)
		if !ok || got.Tick != 0 || got.System != "b" || got.Value != "gone" || !strings.Contains(string(got.Stack), "panicGone") {
			t.Errorf("%d workers: recovered %v", workers, got)
		}
		if err := s.Step(); err == nil || !strings.Contains(err.Error(), "broken off by a panic") {
			t.Errorf("%d workers: the next step says %v", workers, err)
		}
	}
}

func panicGone() error { panic("gone") }

func TestGoexitInAGroup(t *testing.T) {
	var steps atomic.Int32
	s := threeSystems(t, evertick.Config{Workers: 3}, nothing, func(*evertick.Tick) error {
		if steps.Add(1) == 1 {
			runtime.Goexit()
		}
		return nil
	}, nothing)
	done := make(chan error, 1)
	go func() {
		err := errors.New("Step has not returned, since the goroutine was that of the system")
		defer func() { done <- err }()
		err = s.Step()
	}()
	if err := <-done; err == nil {
		t.Error("a system that ended its goroutine has not failed")
	}
}

// Hooks are called around groups on the goroutine of Step.
func TestHooksOfAGroup(t *testing.T) {
	s := threeSystems(t, evertick.Config{Workers: 3}, nothing, nothing, nothing)
	var l hookLog
	s.AddHooks(evertick.Hooks{BeforeSystem: l.hooks("x").BeforeSystem, AfterSystem: l.hooks("x").AfterSystem})
	step(t, s, 1)
	i := slices.Index(l.log, "x a")
	if want := []string{"x a", "x b", "x c", "x a done", "x b done", "x c done"}; i < 0 || !slices.Equal(l.log[i:i+6], want) {
		t.Errorf("called %q", l.log)
	}
}

// The commands of a group follow in the order of its systems, between those recorded before
// and after the group; and each system can resolve what it has spawned.
func TestCommandsOfAGroup(t *testing.T) {
	for _, workers := range []int{1, 3} {
		var born [5]ecs.ID
		var lists [5]*ecs.Commands
		spawner := func(i int) func(*evertick.Tick) error {
			return func(tick *evertick.Tick) error {
				if tick.N > 0 {
					return nil
				}
				time.Sleep(time.Duration(3-i) * time.Millisecond)
				lists[i] = tick.Commands()
				born[i] = lists[i].Spawn()
				return lists[i].SetPosition(born[i], float32(i), 0, 0)
			}
		}
		s := newSim(t, evertick.Config{Capacity: 64, Workers: workers})
		add(t, s, evertick.AfterIndex, "first", spawner(0))
		for i, name := range []string{"a", "b", "c"} {
			if err := errors.Join(s.Resource(name), s.AddSystem(evertick.System{Name: name, Stage: evertick.AfterIndex, Writes: []string{name}, Run: spawner(i + 1)})); err != nil {
				t.Fatal(err)
			}
		}
		add(t, s, evertick.AfterIndex, "last", spawner(4))
		step(t, s, 2)
		for i, id := range born {
			got := lists[i].Resolve(id)
			if slot, ok := s.World.Slot(got); got != ecs.ID(i+1) || !ok || s.World.Position.X[slot] != float32(i) {
				t.Errorf("%d workers: spawn %d is %s", workers, i, got)
			}
		}
	}
}

// A Sim that a panic in a group has ended continues after a Restore as if it had not happened.
func TestRestoreAfterAPanicOfAGroup(t *testing.T) {
	want := newTownOf(t, evertick.Config{Workers: 2}, func() {})
	step(t, want.Sim, 20)

	for _, recovers := range []bool{false, true} {
		w := newTownOf(t, evertick.Config{Workers: 2, Recover: recovers}, func() {})
		step(t, w.Sim, 9)
		saved, err := w.Snapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		for round := range int32(3) { // in which another system of the group fails
			var entered atomic.Int32
			w.linger = func() {
				if entered.Add(1) == 3+round {
					panicGone()
				}
			}
			if stepPanicking(w.Sim); w.Step() == nil {
				t.Fatal("the step did not fail")
			}
			w.linger = func() {}
			if err := w.Restore(saved); err != nil {
				t.Fatal(err)
			}
		}
		step(t, w.Sim, 11)
		if w.Hash() != want.Hash() || !slices.Equal(w.World.Snapshot(nil), want.World.Snapshot(nil)) {
			t.Errorf("Recover %t: the run differs from one without a panic", recovers)
		}
	}
}
