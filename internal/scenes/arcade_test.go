package scenes_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// plainTimer is a simtest.Timer with the methods of a Timer. The program that owns it decides when it
// drains.
type plainTimer struct{ t simtest.Timer }

func (p *plainTimer) Start()           { p.t.Running = true }
func (p *plainTimer) Stop()            { p.t.Running = false }
func (p *plainTimer) Left() uint64     { return uint64(p.t.Left) }
func (p *plainTimer) Overtime() uint64 { return uint64(p.t.Overtime) }
func (p *plainTimer) Expired() bool    { return p.t.Expired }
func (p *plainTimer) Set(n uint64)     { p.t.Left, p.t.Overtime, p.t.Armed = int(n), 0, true }
func (p *plainTimer) Add(n int64)      { p.t.Left, p.t.Armed = max(p.t.Left+int(n), 0), p.t.Armed || n > 0 }

// drainIf drains the timer in the ticks in which on is true.
func (p *plainTimer) drainIf(on bool) {
	p.t.Expired = false
	if on {
		p.t.Tick(0)
	}
}

// handLoop is the game as one function that a loop calls, with a world, bodies and an index that it
// assembles by hand.
type handLoop struct {
	arcade
	bodies               *ecs.Binding[physics.Body]
	phase, next          uint8
	ticks                uint64
	mission, birth, slow plainTimer
	slots                []ecs.Slot
	rested               int // ticks without physics
}

const arcadeCapacity, arcadeSeed = 128, 77

func newHandLoop(t *testing.T) *handLoop {
	g := &handLoop{}
	var errs [4]error
	g.world, errs[0] = ecs.New(ecs.Config{Capacity: arcadeCapacity})
	g.physics, errs[1] = physics.New(physics.Config{Capacity: arcadeCapacity, Slots: arcadeCapacity})
	g.index, errs[2] = spatial.New(spatial.Config{})
	g.bodies = ecs.NewBinding(g.world, func(_ ecs.ID, b physics.Body) { errs[0] = g.physics.DestroyBody(b) })
	g.seed = arcadeSeed
	g.embody = func(id ecs.ID, def physics.BodyDef) (physics.Body, error) {
		def.HasSlot = true
		def.Slot, _ = g.world.Slot(id)
		b, err := g.physics.CreateBody(def)
		return b, errors.Join(err, g.bodies.Bind(id, b))
	}
	g.bodyOf = g.bodies.Get
	g.mode = func() uint8 { return g.phase }
	g.setMode = func(mode uint8) error { g.next = mode; return nil }
	g.despawn = func(id ecs.ID) { g.world.Despawn(id) }
	g.arcade.mission, g.arcade.birth, g.arcade.slow = &g.mission, &g.birth, &g.slow
	errs[3] = g.open()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return g
}

// stepSimulation runs the eight steps of a tick. A phase that is entered begins with the next tick.
func (g *handLoop) stepSimulation(dt float32, inputs []evertick.Input) error {
	g.phase = g.next
	inPlay, moving := g.phase == playing, g.phase == playing || g.phase == birth
	var errs []error
	try := func(err error) { errs = append(errs, err) }

	// 1. Input.
	try(g.input(inputs))

	// 2. Modifiers and effects on time.
	g.slow.drainIf(inPlay)
	g.modify()

	// 3. The mission timer, in simulated time, only while playing.
	g.mission.drainIf(inPlay)
	g.birth.drainIf(g.phase == birth)

	// 4. The player and the weapons, and what enemies intend.
	if inPlay {
		try(g.pilot())
		try(g.intend(g.ticks))
		try(g.push())
	}

	// 5. Physics, only while playing and in births.
	var touches []physics.Touch
	if moving {
		p, r := &g.world.Position, &g.world.Rotation
		columns := physics.Transforms{X: p.X, Y: p.Y, Z: p.Z, QX: r.X, QY: r.Y, QZ: r.Z, QW: r.W}
		try(g.physics.Pull(columns))
		try(g.physics.Step(dt))
		try(g.physics.Sync(columns))
		touches = g.physics.Events().Begin
	} else {
		g.rested++
	}

	// 6. What follows from it: damage and pick-ups.
	g.touch(touches)
	p := &g.world.Position
	g.slots = g.world.LiveSlots(g.slots[:0])
	try(g.index.Build(p.X, p.Y, p.Z, g.slots))
	if inPlay {
		try(g.pickUp())
	}

	// 7. Spawns and despawns.
	if moving {
		try(g.populate(g.ticks))
	}
	g.retire()

	// 8. The camera follows; what leaves the field warps.
	g.follow()
	g.turn()
	if moving {
		g.warp()
	}
	g.ticks++
	return errors.Join(errs...)
}

// columns returns the hashes that a Sim would have of the same state, without those of timers and mode.
func (g *handLoop) columns() []ecs.ColumnHash {
	hashes := []ecs.ColumnHash{{Name: "seed", Hash: g.seed}, {Name: "ticks", Hash: g.ticks}}
	hashes = g.world.AppendColumnHashes(hashes)
	for _, c := range g.physics.AppendColumnHashes(nil) {
		hashes = append(hashes, ecs.ColumnHash{Name: "body." + c.Name, Hash: c.Hash})
	}
	owners := uint64(0)
	if g.bodies.Len() > 0 {
		owners = statehash.Rows(g.bodies.Owners()[:g.world.HighWater()])
	}
	return append(hashes, ecs.ColumnHash{Name: "body.Owner", Hash: owners},
		ecs.ColumnHash{Name: "state.game", Hash: statehash.Bytes(g.AppendState(nil), 1, false)})
}

// simGame is the game as systems of a Sim.
type simGame struct {
	*evertick.Sim
	arcade
	rested int
}

const menu, playing, birth = 0, 1, 2 // modes

const anyPlay = 1<<playing | 1<<birth

func newSimGame(t *testing.T, c evertick.Config) *simGame {
	c.Capacity, c.Seed, c.PhysicsModes = arcadeCapacity, arcadeSeed, anyPlay
	g := &simGame{Sim: simtest.New(t, c)}
	s := g.Sim
	g.world, g.physics, g.index, g.seed = s.World, s.Physics, s.Index, c.Seed
	g.embody, g.bodyOf, g.mode, g.setMode = s.CreateBody, s.Body, s.Mode, s.SetMode
	var errs [3]error
	g.mission, errs[0] = s.AddTimer("mission", 1<<playing)
	g.birth, errs[1] = s.AddTimer("birth", 1<<birth)
	g.slow, errs[2] = s.AddTimer("slow", 1<<playing)
	if err := errors.Join(errors.Join(errs[:]...), g.open(), s.AddState("game", &g.arcadeState)); err != nil {
		t.Fatal(err)
	}
	call := func(rule func()) func(*evertick.Tick) error {
		return func(*evertick.Tick) error { rule(); return nil }
	}
	try := func(rule func() error) func(*evertick.Tick) error {
		return func(*evertick.Tick) error { return rule() }
	}
	for _, sys := range []evertick.System{
		{Name: "input", Run: func(t *evertick.Tick) error { return g.input(t.Inputs()) }},
		{Name: "modify", Run: call(g.modify), Reads: []string{"ship", "state.slow"}, Writes: []string{"heat"}},
		{Name: "intend", Modes: 1 << playing, Run: func(t *evertick.Tick) error { return g.intend(t.N) },
			Reads: []string{"enemy", "position", "index", "state.game"}, Writes: []string{"steer.x", "steer.y"}},
		{Name: "pilot", Modes: 1 << playing, Run: try(g.pilot)},
		{Name: "push", Modes: 1 << playing, Run: try(g.push)},

		{Name: "touch", Stage: evertick.AfterPhysics, Run: call(func() { g.touch(g.physics.Events().Begin) })},

		{Name: "pick up", Stage: evertick.AfterIndex, Modes: 1 << playing, Run: try(g.pickUp)},
		{Name: "populate", Stage: evertick.AfterIndex, Modes: anyPlay, Run: func(t *evertick.Tick) error { return g.populate(t.N) }},
		{Name: "retire", Stage: evertick.AfterIndex, Run: func(t *evertick.Tick) error {
			g.despawn = t.Commands().Despawn
			g.retire()
			return nil
		}},

		{Name: "follow", Stage: evertick.AfterCommands, Run: call(g.follow), Reads: []string{"position"}, Writes: []string{"state.game"}},
		{Name: "turn", Stage: evertick.AfterCommands, Run: call(g.turn), Reads: []string{"pickup"}, Writes: []string{"spin"}},
		{Name: "warp", Stage: evertick.AfterCommands, Modes: anyPlay, Run: call(g.warp)},
	} {
		if err := s.AddSystem(sys); err != nil {
			t.Fatal(err)
		}
	}
	s.AddHooks(evertick.Hooks{AfterSystem: func(_ *evertick.Tick, name string) {
		if name == "physics.step" {
			g.rested--
		}
	}, BeforeTick: func(*evertick.Tick) error { g.rested++; return nil }})
	return g
}

// arcadeInputs draws the inputs of each tick: a player who starts games, pauses now and then, and
// rarely gives up.
func arcadeInputs(seed uint64, ticks int) [][]evertick.Input {
	r := rand.New(rand.NewPCG(seed, 0))
	all := make([][]evertick.Input, ticks)
	for n := range all {
		add := func(kind uint32, data ...byte) {
			seq := uint64(len(all[n]))
			all[n] = append(all[n], evertick.Input{Tick: uint64(n), Seq: uint64(n)<<8 | seq, Kind: kind, Data: data})
		}
		if r.IntN(6) == 0 {
			add(inputKeys, byte(r.IntN(32))|byte(r.IntN(2))<<4)
		}
		for kind, oneIn := range [inputKinds]int{inputStart: 25, inputPause: 90, inputQuit: 1200} {
			if oneIn > 0 && r.IntN(oneIn) == 0 {
				add(uint32(kind))
			}
		}
	}
	return all
}

// hostFrame is what a host does in a frame, before it passes the elapsed time to its loop.
type hostFrame struct {
	elapsedNs int64
	scale     float64 // of time, if not 0
	freezeNs  int64
}

func arcadeFrames(seed uint64, n int) []hostFrame {
	r := rand.New(rand.NewPCG(seed, 1))
	frames := make([]hostFrame, n)
	for i := range frames {
		f := &frames[i]
		f.elapsedNs = 4_000_000 + r.Int64N(30_000_000)
		switch r.IntN(60) {
		case 0:
			f.scale = []float64{0.25, 0.5, 1, 1, 2}[r.IntN(5)]
		case 1:
			f.freezeNs = r.Int64N(90_000_000)
		case 2:
			f.elapsedNs = 150_000_000 + r.Int64N(100_000_000) // sometimes a stall
		}
	}
	return frames
}

func (f *hostFrame) apply(t *testing.T, l *loop.Loop) {
	var errs [2]error
	if f.scale != 0 {
		errs[0] = l.SetScale(loop.Dilation, "host", f.scale, loop.Forever)
	}
	if f.freezeNs != 0 {
		errs[1] = l.Freeze(f.freezeNs)
	}
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
}

// arcadeTick is what the game by hand has at the end of a tick.
type arcadeTick struct {
	columns []ecs.ColumnHash
	index   uint64
	next    uint8
	timers  [3]simtest.Timer
}

// runByHand runs the frames through a loop that calls stepSimulation.
func runByHand(t *testing.T, frames []hostFrame, inputs [][]evertick.Input) (g *handLoop, ticks []arcadeTick, steps []int) {
	t.Helper()
	g = newHandLoop(t)
	l, err := loop.New(loop.Arcade())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		f.apply(t, l)
		frame := l.Advance(f.elapsedNs)
		steps = append(steps, frame.Steps)
		for range frame.Steps {
			if err := g.stepSimulation(l.Dt(), inputs[g.ticks]); err != nil {
				t.Fatalf("tick %d: %v", g.ticks, err)
			}
			ticks = append(ticks, arcadeTick{g.columns(), indexHash(g.index), g.next, [...]simtest.Timer{g.mission.t, g.birth.t, g.slow.t}})
		}
	}
	return g, ticks, steps
}

func indexHash(ix *spatial.Index) uint64 { return statehash.Bytes(ix.Snapshot(nil), 1, false) }

// compare makes a Sim compare each tick, also those that run again, with the game by hand.
func (g *simGame) compare(t *testing.T, what string, want []arcadeTick) {
	g.AddHooks(evertick.Hooks{AfterTick: func(tick *evertick.Tick) error {
		w := &want[tick.N]
		var got []ecs.ColumnHash
		for _, c := range g.ColumnHashes() {
			switch c.Name {
			case "mode", "state.mission", "state.birth", "state.slow":
			default:
				got = append(got, c)
			}
		}
		if !slices.Equal(got, w.columns) {
			for i := range min(len(got), len(w.columns)) {
				if got[i] != w.columns[i] {
					return fmt.Errorf("%s: tick %d: column %s differs from %s of the game by hand", what, tick.N, got[i].Name, w.columns[i].Name)
				}
			}
			return fmt.Errorf("%s: tick %d: %d columns, want %d", what, tick.N, len(got), len(w.columns))
		}
		if indexHash(g.index) != w.index {
			return fmt.Errorf("%s: tick %d: the index differs", what, tick.N)
		}
		for i, timer := range [...]countdown{g.mission, g.birth, g.slow} {
			m := &w.timers[i]
			if timer.Left() != uint64(m.Left) || timer.Overtime() != uint64(m.Overtime) || timer.Expired() != m.Expired {
				return fmt.Errorf("%s: tick %d: timer %d is %s, want %+v", what, tick.N, i, simtest.TimerText(timer.(*evertick.Timer)), m)
			}
		}
		return nil
	}})
}

// stepTo runs a Sim to a tick without a loop.
func (g *simGame) stepTo(t *testing.T, end int, inputs [][]evertick.Input, modes []arcadeTick) {
	t.Helper()
	for n := int(g.Ticks()); n < end; n++ {
		for _, in := range inputs[n] {
			if err := g.Push(in); err != nil {
				t.Fatal(err)
			}
		}
		simtest.Step(t, g.Sim, 1)
		if g.Mode() != modes[n].next {
			t.Fatalf("after tick %d: mode %d, want %d", n, g.Mode(), modes[n].next)
		}
	}
}

// A game whose tick is one function of eight steps in a fixed order, and the same game as systems in
// stages, with modes and timers, have equal columns at every tick: frame by frame with slow motion and
// freezes, on one worker and on four, after a Restore, and when ticks run again.
func TestArcadeInEightSteps(t *testing.T) {
	seeds, frameCount := []uint64{1, 2, 3}, 4000
	if testing.Short() {
		seeds, frameCount = seeds[:1], 3000
	}
	for _, seed := range seeds {
		frames := arcadeFrames(seed, frameCount)
		inputs := arcadeInputs(seed, 4*frameCount)
		hand, want, steps := runByHand(t, frames, inputs)
		wantCases(t, seed, hand, want, steps)

		for _, workers := range []int{1, 4} {
			g := newSimGame(t, evertick.Config{Workers: workers, Loop: loop.Arcade()})
			g.compare(t, fmt.Sprintf("seed %d, %d workers", seed, workers), want)
			g.SetInputs(func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
				return append(dst, inputs[tick]...), nil
			})
			for i, f := range frames {
				f.apply(t, g.Loop())
				if frame, err := g.Advance(f.elapsedNs); err != nil || frame.Steps != steps[i] {
					t.Fatalf("frame %d: %d steps, want %d, %v", i, frame.Steps, steps[i], err)
				}
			}
			if int(g.Ticks()) != len(want) || g.met != hand.met || g.rested != hand.rested {
				t.Errorf("seed %d, %d workers: %d ticks, %+v, physics rested in %d; want %d, %+v, %d",
					seed, workers, g.Ticks(), g.met, g.rested, len(want), hand.met, hand.rested)
			}
		}
		rewindArcade(t, seed, inputs, want)
	}
}

// rewindArcade runs the game on one worker with steps back in the middle, saves it in every mode, and
// continues each of these on another Sim with four workers.
func rewindArcade(t *testing.T, seed uint64, inputs [][]evertick.Input, want []arcadeTick) {
	t.Helper()
	end := min(len(want), 2000)
	g := newSimGame(t, evertick.Config{Workers: 1, History: evertick.HistoryConfig{Keep: 8, Every: 50}})
	g.compare(t, fmt.Sprintf("seed %d, with steps back", seed), want)
	r := rand.New(rand.NewPCG(seed, 2))
	saved := map[uint8][]byte{}
	for n := 1; n <= end; n++ {
		g.stepTo(t, n, inputs, want)
		if _, ok := saved[g.Mode()]; !ok && n > 200 || r.IntN(200) == 0 {
			saved[g.Mode()] = simtest.Snapshot(t, g.Sim)
		}
		if r.IntN(100) != 0 {
			continue
		}
		back := r.Uint64N(min(g.Ticks()-g.OldestTick(), 300) + 1)
		if err := g.StepBack(back); err != nil {
			t.Fatal(err)
		}
		if forward := r.Uint64N(back + 1); g.Forward(forward) != nil {
			t.Fatalf("forward %d of %d failed", forward, back)
		}
		n = int(g.Ticks()) // and the rest again, with the inputs pushed anew
	}
	if len(saved) != 4 {
		t.Fatalf("seed %d: saved in %d modes, want 4", seed, len(saved))
	}
	other := newSimGame(t, evertick.Config{Workers: 4})
	other.compare(t, fmt.Sprintf("seed %d, restored", seed), want)
	for _, mode := range []uint8{menu, playing, birth, paused} {
		simtest.Restore(t, other.Sim, saved[mode])
		if other.Mode() != mode {
			t.Errorf("restored mode %d, want %d", other.Mode(), mode)
		}
		other.stepTo(t, min(int(other.Ticks())+400, len(want)), inputs, want)
	}
}

// wantCases checks that a run has met the cases for which it is there.
func wantCases(t *testing.T, seed uint64, g *handLoop, ticks []arcadeTick, steps []int) {
	t.Helper()
	if m := g.met; m.games < 2 || m.births <= m.games || m.deaths == 0 || m.expired == 0 || m.overtime < 30 || m.shot == 0 ||
		m.crashed == 0 || m.picked < 2 || m.slowed == 0 || m.warped == 0 || g.rested < 100 {
		t.Errorf("seed %d: the run of %d ticks is too uneventful: %+v, physics rested in %d", seed, len(ticks), m, g.rested)
	}
	var modes [4]int
	for i := range ticks {
		modes[ticks[i].next]++
	}
	if slices.Min(modes[:]) < 20 || !slices.Contains(steps, 0) || slices.Max(steps) < 4 {
		t.Errorf("seed %d: ticks by mode %v, at most %d steps a frame", seed, modes, slices.Max(steps))
	}
}
