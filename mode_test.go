package evertick_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

const menu, playing, birth = 0, 1, 2 // modes of the tests

func addSystem(t testing.TB, s *evertick.Sim, sys evertick.System) {
	t.Helper()
	if err := s.AddSystem(sys); err != nil {
		t.Fatal(err)
	}
}

func setMode(t testing.TB, s *evertick.Sim, mode uint8) {
	t.Helper()
	if err := s.SetMode(mode); err != nil {
		t.Fatal(err)
	}
}

// obeyInputs makes each input set the mode that its Kind says.
func obeyInputs(t testing.TB, s *evertick.Sim) {
	add(t, s, evertick.BeforePhysics, "obey", func(tick *evertick.Tick) error {
		for _, in := range tick.Inputs() {
			if err := s.SetMode(uint8(in.Kind)); err != nil {
				return err
			}
		}
		return nil
	})
}

// pushMode makes a mode follow tick n: the tick takes the input, and the next one runs in the mode.
func pushMode(t testing.TB, s *evertick.Sim, n uint64, mode uint32) {
	t.Helper()
	if err := s.Push(evertick.Input{Tick: n, Seq: n, Kind: mode}); err != nil {
		t.Fatal(err)
	}
}

// A tick runs wholly in the mode that was set last before it began.
func TestModeGatesSystems(t *testing.T) {
	s := newSim(t, small())
	var ran []string
	see := func(name string) func(*evertick.Tick) error {
		return func(tick *evertick.Tick) error {
			ran = append(ran, fmt.Sprint(name, s.Mode()))
			if tick.N == 1 && name == "always" {
				setMode(t, s, birth)
				setMode(t, s, playing) // the last call decides
			}
			return nil
		}
	}
	for _, sys := range []evertick.System{
		{Name: "always", Run: see("always")},
		{Name: "camera", Stage: evertick.AfterCommands, Modes: 1<<menu | 1<<birth, Run: see("camera")},
		{Name: "ai", Stage: evertick.AfterIndex, Modes: 1 << playing, Run: see("ai")},
		{Name: "high", Stage: evertick.AfterPhysics, Modes: 1 << 63, Run: see("high")},
	} {
		addSystem(t, s, sys)
	}
	s.AddHooks(evertick.Hooks{
		BeforeTick: func(*evertick.Tick) error { ran = append(ran, fmt.Sprint("(", s.Mode())); return nil },
		AfterTick:  func(*evertick.Tick) error { ran = append(ran, fmt.Sprint(s.Mode(), ")")); return nil },
	})
	step(t, s, 2)
	if s.Mode() != playing {
		t.Errorf("mode %d between ticks, want that of the next tick", s.Mode())
	}
	step(t, s, 1)
	setMode(t, s, birth)
	step(t, s, 1)
	setMode(t, s, 63)
	step(t, s, 1)
	want := []string{
		"(0", "always0", "camera0", "0)", "(0", "always0", "camera0", "0)", "(1", "always1", "ai1", "1)",
		"(2", "always2", "camera2", "2)", "(63", "always63", "high63", "63)",
	}
	if !slices.Equal(ran, want) {
		t.Errorf("ran %q\nwant %q", ran, want)
	}
	for _, bad := range []uint8{64, 255} {
		wantError(t, s.SetMode(bad), evertick.ErrRange, "evertick: SetMode: mode", fmt.Sprint(bad))
	}
	if s.Mode() != 63 {
		t.Errorf("a mode that was refused made it %d", s.Mode())
	}
}

// A phase that is left out has no time, no count and no hooks, alone or in a group.
func TestPhasesThatAreLeftOut(t *testing.T) {
	for _, workers := range []int{1, 3} {
		clock := manualClock()
		busy := func(*evertick.Tick) error { clock.Add(7); return nil }
		c := evertick.Config{Capacity: 64, Workers: workers, Clock: clock, PhysicsModes: 1 << playing}
		s := newSim(t, c)
		column(t, s, "hp")
		column(t, s, "mp")
		addSystem(t, s, evertick.System{Name: "alone", Modes: 1 << playing, Run: busy})
		for _, sys := range []evertick.System{
			system("a", reads("hp")), system("b", writes("mp"), in(playing)), system("c", reads("hp"), in(playing, birth)),
			system("d", after("a", "b", "c"), in(birth)),
		} {
			sys.Run = busy
			addSystem(t, s, sys)
		}
		if got := planText(t, s); got != "alone a|b|c d" && got != "a|b|c d" {
			t.Fatalf("plan %q", got)
		}
		var called []string
		s.AddHooks(evertick.Hooks{BeforeSystem: func(_ *evertick.Tick, name string) { called = append(called, name) }})
		for mode, want := range [...]string{
			menu:    "[a spatial.build commands state.hash]",
			playing: "[alone a b c physics.step physics.sync spatial.build commands state.hash]",
			birth:   "[c d a spatial.build commands state.hash]",
		} {
			called = called[:0]
			setMode(t, s, uint8(mode))
			step(t, s, 2)
			timings, _ := s.Timings()
			for _, p := range timings {
				runs, ours := slices.Contains(called, p.Phase), len(p.Phase) < 6
				if !runs && p.Ns != 0 || runs && ours && p.Ns == 0 {
					t.Errorf("mode %d: %s took %d ns, called: %t", mode, p.Phase, p.Ns, runs)
				}
			}
			slices.Sort(called)
			wanted := sortedWords(want, want)
			if !slices.Equal(called, wanted) {
				t.Errorf("mode %d: hooks of %v, want %v", mode, called, wanted)
			}
		}
		phases, whole := s.Stats()
		for _, p := range phases {
			want := map[string]uint64{"alone": 2, "b": 2, "physics.step": 2, "physics.sync": 2, "c": 4, "d": 2}[p.Phase]
			if want == 0 {
				want = 6
			}
			if p.Count != want || whole.Count != 6 {
				t.Errorf("%s ran in %d of %d steps, want %d", p.Phase, p.Count, whole.Count, want)
			}
		}
	}
}

func sortedWords(lists ...string) (words []string) {
	for _, list := range lists {
		for w := range bytes.FieldsSeq([]byte(list)) {
			words = append(words, string(bytes.Trim(w, "[]")))
		}
	}
	slices.Sort(words)
	return words
}

// In a group a system keeps its list of commands in every mode, so that it can resolve what it has
// spawned in the tick before.
func TestModesOfAGroup(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s := newSim(t, evertick.Config{Capacity: 64, Workers: workers})
		column(t, s, "hp")
		column(t, s, "mp")
		var born, resolved ecs.ID
		a := system("a", writes("hp"))
		a.Run = func(tick *evertick.Tick) error {
			if born != 0 {
				resolved = tick.Commands().Resolve(born)
			}
			born = tick.Commands().Spawn()
			return tick.Commands().SetPosition(born, float32(tick.N), 0, 0)
		}
		b := system("b", writes("mp"), in(playing))
		b.Run = func(tick *evertick.Tick) error { tick.Commands().Spawn(); return nil }
		addSystem(t, s, a)
		addSystem(t, s, b)
		if got := planText(t, s); got != "a|b" {
			t.Fatal(got)
		}
		next := ecs.ID(1) // of the first spawn of a in a tick
		for i, mode := range []uint8{playing, menu, playing, playing, menu, menu} {
			last := next
			if setMode(t, s, mode); mode == playing {
				next++
			}
			next++
			step(t, s, 1)
			if i == 0 {
				continue
			}
			want := last - 1
			if prev := []uint8{playing, menu, playing, playing, menu, menu}[i-1]; prev == playing {
				want--
			}
			if resolved != want || s.World.Position.X[slotOf(t, s, want)] != float32(i-1) {
				t.Errorf("%d workers, tick %d: the last spawn is %s, want %s", workers, i, resolved, want)
			}
		}
		if s.World.Len() != int(next)-1 {
			t.Errorf("%d entities, want %d", s.World.Len(), next-1)
		}
	}
}

// Systems of random stages and modes, under random changes of the mode: those run that should, in the
// order of the plan.
func TestAnyModes(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(outer, evertick.Config{Capacity: 8, PhysicsModes: rapid.Uint64Range(0, 15).Draw(t, "physics")})
		masks := map[string]uint64{"physics.step": s.Config().PhysicsModes, "physics.sync": s.Config().PhysicsModes}
		var ran []string
		var next []uint8 // modes that systems set, by tick
		for i := range rapid.IntRange(1, 8).Draw(t, "systems") {
			name := fmt.Sprint("s", i)
			sys := evertick.System{Name: name, Stage: evertick.Stage(rapid.IntRange(0, 3).Draw(t, "stage")), Modes: rapid.Uint64Range(0, 15).Draw(t, "modes")}
			sets := rapid.IntRange(-4, 3).Draw(t, "sets")
			sys.Run = func(tick *evertick.Tick) error {
				if sets < 0 {
					return nil
				}
				next = append(next, uint8(sets))
				return s.SetMode(uint8(sets))
			}
			masks[name] = sys.Modes
			addSystem(outer, s, sys)
		}
		s.AddHooks(evertick.Hooks{AfterSystem: func(_ *evertick.Tick, name string) { ran = append(ran, name) }})
		mode := uint8(0)
		for range 12 {
			if rapid.Bool().Draw(t, "from outside") {
				mode = uint8(rapid.IntRange(0, 3).Draw(t, "mode"))
				setMode(outer, s, mode)
			}
			var want []string
			timings, _ := s.Timings()
			for _, p := range timings {
				if m := masks[p.Phase]; m == 0 || m>>mode&1 != 0 {
					want = append(want, p.Phase)
				}
			}
			ran, next = ran[:0], next[:0]
			step(outer, s, 1)
			if !slices.Equal(ran, want) {
				t.Fatalf("mode %d: ran %v, want %v", mode, ran, want)
			}
			if len(next) > 0 {
				mode = next[len(next)-1]
			}
			if s.Mode() != mode {
				t.Fatalf("mode %d, want %d", s.Mode(), mode)
			}
		}
	})
}

// modal is a Sim whose bodies move in mode playing only, among others that fall on a ground.
func modal(t testing.TB, c evertick.Config) (s *evertick.Sim, id ecs.ID, b physics.Body) {
	t.Helper()
	c.Capacity, c.PhysicsModes = 64, 1<<playing
	c.Physics.Gravity = [2]float32{0, -10}
	s = newSim(t, c)
	obeyInputs(t, s)
	ground, err := s.Physics.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Physics.CreatePolygon(ground, physics.DefaultShapeDef(), physics.Box(50, 0.5)); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		id = spawn(t, s)
		def := physics.DefaultBodyDef()
		def.Type, def.Position = physics.DynamicBody, [2]float32{float32(3 * i), 1.05}
		if b, err = s.CreateBody(id, def); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}); err != nil {
			t.Fatal(err)
		}
	}
	return s, id, b
}

func eventCount(s *evertick.Sim) int {
	e := s.Physics.Events()
	return len(e.Begin) + len(e.End) + len(e.Hit) + len(e.Moved) + len(e.Slept) + len(e.Woke)
}

// Where the physics does not run, bodies and entities rest, the index is built all the same, and the
// events of the last step are gone.
func TestPhysicsModes(t *testing.T) {
	s, id, b := modal(t, evertick.Config{Previous: true})
	slot := slotOf(t, s, id)
	var before, after []int
	add(t, s, evertick.BeforePhysics, "before", func(*evertick.Tick) error { before = append(before, eventCount(s)); return nil })
	add(t, s, evertick.AfterPhysics, "after", func(*evertick.Tick) error { after = append(after, eventCount(s)); return nil })
	setMode(t, s, playing)
	for touched := false; !touched; touched = len(s.Physics.Events().Begin) > 0 {
		step(t, s, 1)
	}
	x, y := s.World.Position.X[slot], s.World.Position.Y[slot]
	velocity, _, _ := s.Physics.Velocity(b)
	hash := slices.Clone(s.ColumnHashes())

	before, after = nil, nil
	setMode(t, s, menu)
	id2 := spawn(t, s)
	step(t, s, 3)
	if before[0] == 0 || after[0] != 0 || before[1]+after[1]+before[2]+after[2] != 0 {
		t.Errorf("events before physics.step %v and after it %v, want those of the last step once, then none", before, after)
	}
	if now, _, _ := s.Physics.Velocity(b); s.World.Position.X[slot] != x || s.World.Position.Y[slot] != y || now != velocity {
		t.Errorf("moved from (%g, %g) to (%g, %g)", x, y, s.World.Position.X[slot], s.World.Position.Y[slot])
	}
	for _, was := range hash {
		for _, now := range s.ColumnHashes() {
			if was.Name == now.Name && strings.HasPrefix(was.Name, "body.") && was.Name != "body.Owner" && was.Hash != now.Hash {
				t.Errorf("column %s has changed", now.Name)
			}
		}
	}
	wantIndexed(t, s, 0, 1, 2, slotOf(t, s, id2)) // built in each tick
	drawn := ecs.NewTransforms(64)
	if err := s.Interpolate(drawn); err != nil || drawn.Position.X[slot] != x || drawn.Position.Y[slot] != y {
		t.Errorf("drawn at (%g, %g), %v; rests at (%g, %g)", drawn.Position.X[slot], drawn.Position.Y[slot], err, x, y)
	}

	// A body that is put to sleep in a mode without physics is an event until the place of the next step.
	if err := s.Physics.SetAwake(b, false); err != nil || len(s.Physics.Events().Slept) != 1 {
		t.Errorf("%d fell asleep, %v", len(s.Physics.Events().Slept), err)
	}
	step(t, s, 1)
	if eventCount(s) != 0 {
		t.Errorf("%d events in a tick without a step", eventCount(s))
	}
}

// What is done to bodies and their entities while the physics is left out happens in its next step.
func TestChangesWhilePhysicsRests(t *testing.T) {
	s, id, b := modal(t, evertick.Config{Previous: true})
	slot := slotOf(t, s, id)
	setMode(t, s, playing)
	step(t, s, 3)
	setMode(t, s, menu)
	step(t, s, 1)

	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(s.World.SetPosition(id, 20, 30, 0)) // which the index shows at once
	step(t, s, 1)
	check(s.World.SetPosition(id, 40, 50, 0)) // the last value counts
	newcomer := spawn(t, s)
	def := physics.DefaultBodyDef()
	def.Type, def.Position = physics.KinematicBody, [2]float32{-9, 9}
	def.LinearVelocity = [2]float32{60, 0}
	_, err := s.CreateBody(newcomer, def)
	check(err)
	first, _ := s.Body(1)
	check(s.Physics.SetTransform(first, [2]float32{-30, 20}, 0))
	check(s.Physics.ApplyForceToCenter(b, [2]float32{60, 0}))
	step(t, s, 1)
	check(s.Physics.ApplyForceToCenter(b, [2]float32{60, 0}))
	step(t, s, 1)
	if at, _ := s.Physics.Position(b); at[0] > 10 || s.World.Position.X[slotOf(t, s, newcomer)] != 0 || s.World.Position.X[0] < -1 {
		t.Errorf("the body is at %v, the new one's entity at %g, the first at %g, although nothing steps",
			at, s.World.Position.X[slotOf(t, s, newcomer)], s.World.Position.X[0])
	}

	setMode(t, s, playing)
	step(t, s, 1)
	m, err := s.Physics.MassData(b)
	check(err)
	v, _, err := s.Physics.Velocity(b)
	check(err)
	if want := 120 * s.Dt() / m.Mass; s.World.Position.X[slot] < 40 || v[0] < want*0.99 || v[0] > want*1.01 {
		t.Errorf("teleported to %g, velocity %g of two forces, want %g", s.World.Position.X[slot], v[0], want)
	}
	if x := s.World.Position.X[slotOf(t, s, newcomer)]; x != -8 {
		t.Errorf("the new body is at %g after its first step, want -8", x)
	}
	drawn := ecs.NewTransforms(64)
	check(s.Interpolate(drawn))
	if drawn.Position.X[0] != s.World.Position.X[0] || s.World.Position.X[0] > -29 {
		t.Errorf("drawn on its way, at %g, after a teleport to %g", drawn.Position.X[0], s.World.Position.X[0])
	}
}

// After a World.Restore the bodies that were left are destroyed, also where the physics does not run.
func TestStaleBodiesWhilePhysicsRests(t *testing.T) {
	s, _, _ := modal(t, evertick.Config{})
	if err := s.World.Restore(s.World.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
	step(t, s, 1)
	if s.Physics.Len() != 1 { // the ground
		t.Errorf("%d bodies", s.Physics.Len())
	}
}

// With another engine, too, bodies rest where the physics is left out.
func TestPhysicsModesOfAnotherEngine(t *testing.T) {
	c := small()
	c.Physics.Engine, c.PhysicsModes = &fakeEngine{}, 1<<playing
	s := newSim(t, c)
	movingBody(t, s, spawn(t, s), 60)
	step(t, s, 3)
	setMode(t, s, playing)
	step(t, s, 2)
	if x := s.World.Position.X[0]; x != 2 {
		t.Errorf("the entity is at %g after two ticks of a metre", x)
	}
}

func hasColumn(s *evertick.Sim, name string) bool {
	return slices.ContainsFunc(s.ColumnHashes(), func(c ecs.ColumnHash) bool { return c.Name == name })
}

// The mode is in the state only where it is not 0: a Sim that never sets it has the hash and the
// snapshot that it would have without modes.
func TestModeIsState(t *testing.T) {
	s, _, _ := modal(t, evertick.Config{})
	plain, _, _ := modal(t, evertick.Config{})
	step(t, s, 2)
	step(t, plain, 2)
	pushMode(t, s, 2, playing)
	step(t, s, 1) // its own mode is still 0; the mode that it leaves is in its hash
	step(t, plain, 1)
	if !hasColumn(s, "mode") || hasColumn(plain, "mode") || s.Hash() == plain.Hash() {
		t.Error("the column mode is not that of the mode")
	}
	if d, found := evertick.Diff(s, plain); !found || d.Column != "mode" || d.A != "1 (0x1)" || d.B != "0 (0x0)" {
		t.Errorf("Diff says %v, %t", d, found)
	}
	data, zero := snapshot(t, s), snapshot(t, plain)
	restore(t, plain, data)
	if plain.Mode() != playing || plain.Hash() != s.Hash() || !bytes.Equal(snapshot(t, plain), data) {
		t.Errorf("restored mode %d", plain.Mode())
	}
	step(t, s, 20)
	step(t, plain, 20)
	if s.Hash() != plain.Hash() {
		t.Error("the restored run differs")
	}
	pushMode(t, s, s.Ticks(), menu)
	step(t, s, 1)
	if hasColumn(s, "mode") {
		t.Error("mode 0 has a column")
	}
	restore(t, s, zero)
	if s.Mode() != menu || !bytes.Equal(snapshot(t, s), zero) {
		t.Errorf("restored mode %d", s.Mode())
	}
	for _, mode := range []uint8{menu, playing} {
		if err := s.SetMode(mode); err != nil {
			t.Fatal(err)
		}
		if err := plain.CopyFrom(s); err != nil || plain.Mode() != mode {
			t.Errorf("copied mode %d, want %d, %v", plain.Mode(), mode, err)
		}
	}
	restore(t, s, zero)

	frames := frametest.Split(data)
	for _, bad := range []byte{0, 64, 255} {
		header := bytes.Clone(frames[0])
		header[len(header)-1] = bad
		forged := frametest.Forge(simMagic, simVersion, append([][]byte{header}, frames[1:]...))
		wantError(t, s.Restore(forged), evertick.ErrCorrupt, "mode", fmt.Sprint(bad))
	}
	if !bytes.Equal(snapshot(t, s), zero) {
		t.Error("a Restore that failed has changed the Sim")
	}
}

// Going back and forth, and running recorded inputs again, give the same modes and hashes.
func TestModesAgain(t *testing.T) {
	const ticks = 200
	s, _, _ := modal(t, evertick.Config{History: evertick.HistoryConfig{Keep: 20, Every: 16}})
	fed, _, _ := modal(t, evertick.Config{})
	var hashes []uint64
	var modes []uint8
	for n := range uint64(ticks) {
		if n%7 == 3 {
			pushMode(t, s, n, uint32(n/7%3))
		}
		step(t, s, 1)
		hashes, modes = append(hashes, s.Hash()), append(modes, s.Mode())
	}
	for mode := range uint8(3) {
		if !slices.Contains(modes, mode) {
			t.Fatalf("no tick in mode %d", mode)
		}
	}
	for _, n := range []uint64{1, 30, 77, 1} {
		if err := s.StepBack(n); err != nil {
			t.Fatal(err)
		}
		at := s.Ticks() - 1
		if s.Hash() != hashes[at] || s.Mode() != modes[at] {
			t.Errorf("tick %d again: mode %d, want %d, or another hash", at, s.Mode(), modes[at])
		}
	}
	if err := s.Forward(109); err != nil || s.Ticks() != ticks || s.Hash() != hashes[ticks-1] {
		t.Errorf("forward to %d, %v", s.Ticks(), err)
	}
	fed.SetInputs(func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		if tick%7 == 3 {
			dst = append(dst, evertick.Input{Tick: tick, Kind: uint32(tick / 7 % 3)})
		}
		return dst, nil
	})
	for n := range ticks {
		if step(t, fed, 1); fed.Hash() != hashes[n] {
			t.Fatalf("tick %d of the recording has another hash", n)
		}
	}
}

// Commands that are recorded after the phase of commands wait for that of the next tick, also in a
// snapshot.
func TestCommandsOfTheLastStage(t *testing.T) {
	build := func() *evertick.Sim {
		s := newSim(t, small())
		add(t, s, evertick.AfterCommands, "follow", func(tick *evertick.Tick) error {
			if tick.N == 0 {
				id := tick.Commands().Spawn()
				return tick.Commands().SetPosition(id, 3, 0, 0)
			}
			return nil
		})
		return s
	}
	s := build()
	step(t, s, 1)
	if s.World.Len() != 0 || s.Commands().Len() == 0 {
		t.Errorf("%d entities, %d commands wait", s.World.Len(), s.Commands().Len())
	}
	other := build()
	restore(t, other, snapshot(t, s))
	step(t, s, 1)
	step(t, other, 1)
	if s.World.Len() != 1 || s.World.Position.X[0] != 3 || s.Hash() != other.Hash() {
		t.Errorf("%d entities, the first at %g, equal hashes: %t", s.World.Len(), s.World.Position.X[0], s.Hash() == other.Hash())
	}
}

// What each stage sees, and what its changes reach.
func TestWhatStagesSee(t *testing.T) {
	s := newSim(t, small())
	id := spawn(t, s)
	b := movingBody(t, s, id, 60) // a metre a tick
	var spawned [4]ecs.ID
	indexed := map[evertick.Stage]int{}
	for i, stage := range stages {
		add(t, s, stage, fmt.Sprint("stage ", stage), func(tick *evertick.Tick) error {
			if tick.N != 1 {
				return nil
			}
			indexed[stage] = s.Index.Len()
			want := float32(2)
			if stage == evertick.BeforePhysics {
				want = 1
			}
			if x := s.World.Position.X[0]; x != want {
				t.Errorf("stage %d: the body's entity is at %g, want %g", stage, x, want)
			}
			if stage == evertick.AfterCommands && s.World.Len() != 1+3+3 {
				t.Errorf("%d entities after the commands", s.World.Len())
			}
			tick.Commands().Spawn()
			spawned[i] = spawn(t, s)
			return nil
		})
	}
	step(t, s, 2)
	if indexed[0] != 1 || indexed[1] != 1 || indexed[2] != 3 || indexed[3] != 3 {
		t.Errorf("points in the index, by stage: %v", indexed)
	}
	wantIndexed(t, s, 0, 1, 2)
	if s.Commands().Len() != 1 { // that of the last stage
		t.Errorf("%d commands wait", s.Commands().Len())
	}

	// A value that is written after the physics is in the index of the tick, and moves the body in the next.
	add(t, s, evertick.AfterPhysics, "teleport", func(tick *evertick.Tick) error {
		if tick.N == 2 {
			return s.World.SetPosition(id, 100, 0, 0)
		}
		return nil
	})
	step(t, s, 1)
	if at, _ := s.Physics.Position(b); at[0] != 3 || s.Index.Len() != 8 {
		t.Errorf("body at %v, %d points", at, s.Index.Len())
	}
	var found spatial.Result
	there := spatial.Queries{X: []float32{100}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{0.5}}
	if err := s.Index.Radius(&there, &found); err != nil || !slices.Equal(found.Slots, []ecs.Slot{0}) {
		t.Errorf("the index has slots %v where the entity was put after the physics, %v", found.Slots, err)
	}
	step(t, s, 1)
	if at, _ := s.Physics.Position(b); at[0] != 101 {
		t.Errorf("body at %v, want 101", at)
	}
}

func TestModesAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	s, _, _ := modal(t, evertick.Config{Workers: 2})
	timer, err := s.AddTimer("wave", 1<<playing)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		column(t, s, fmt.Sprint("c", i))
		addSystem(t, s, system(fmt.Sprint("s", i), writes(fmt.Sprint("c", i)), in(i)))
	}
	add(t, s, evertick.AfterCommands, "turn", func(tick *evertick.Tick) error {
		timer.Add(3)
		timer.Start()
		return s.SetMode(uint8(tick.N % 3))
	})
	step(t, s, 30)
	if n := testing.AllocsPerRun(100, func() { step(t, s, 3) }); n != 0 {
		t.Errorf("%g allocations in three ticks", n)
	}
}

func addTimer(t testing.TB, s *evertick.Sim, name string, modes uint64) *evertick.Timer {
	t.Helper()
	timer, err := s.AddTimer(name, modes)
	if err != nil {
		t.Fatal(err)
	}
	return timer
}

// Each case uses the timer before the first tick and in the stage AfterIndex of some ticks. All systems
// of a tick see the same, up to that use.
func TestTimer(t *testing.T) {
	for _, c := range []struct {
		name  string
		modes uint64
		start func(timer *evertick.Timer)
		at    map[uint64]func(s *evertick.Sim, timer *evertick.Timer) // in a tick, after it was seen
		want  []string
	}{
		{"never used", 0, func(*evertick.Timer) {}, nil, []string{"0", "0", "0"}},
		{"drains, expires once, overtime", 0, func(timer *evertick.Timer) { timer.Set(3); timer.Start() }, nil,
			[]string{"2", "1", "0E", "0+1", "0+2"}},
		{"stopped", 0, func(timer *evertick.Timer) { timer.Set(3) }, nil, []string{"3", "3", "3"}},
		{"set to 0", 0, func(timer *evertick.Timer) { timer.Set(0); timer.Start() }, nil, []string{"0E", "0+1"}},
		{"stopwatch", 0, func(timer *evertick.Timer) { timer.Start() }, nil, []string{"0+1", "0+2", "0+3"}},
		{"stop and start", 0, func(timer *evertick.Timer) { timer.Set(4); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){
				1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Stop() },
				3: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Start() }},
			[]string{"3", "2", "2", "2", "1", "0E", "0+1"}},
		{"stopped in overtime", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Stop() }},
			[]string{"0E", "0+1", "0+1"}},
		{"set in tick n expires in n+3", 0, func(timer *evertick.Timer) { timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Set(3) }},
			[]string{"0+1", "0+2", "2", "1", "0E", "0+1"}},
		{"more time", 0, func(timer *evertick.Timer) { timer.Set(2); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){0: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(2) }},
			[]string{"1", "2", "1", "0E"}},
		{"more time in overtime", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(2) }},
			[]string{"0E", "0+1", "1+1", "0+1E", "0+2"}},
		{"more time when it expires", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){0: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(1) }},
			[]string{"0E", "0E", "0+1"}},
		{"all time taken away", 0, func(timer *evertick.Timer) { timer.Set(9); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(-20) }},
			[]string{"8", "7", "0E", "0+1"}},
		{"time taken from none", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){1: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Add(-1); timer.Add(0) }},
			[]string{"0E", "0+1", "0+2"}},
		{"set again", 0, func(timer *evertick.Timer) { timer.Set(1); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){2: func(_ *evertick.Sim, timer *evertick.Timer) { timer.Set(2) }},
			[]string{"0E", "0+1", "0+2", "1", "0E", "0+1"}},
		{"drains in its modes only", 1<<playing | 1<<birth, func(timer *evertick.Timer) { timer.Set(3); timer.Start() },
			map[uint64]func(*evertick.Sim, *evertick.Timer){
				1: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(playing) },
				3: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(menu) },
				4: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(birth) },
				5: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(menu) },
				7: func(s *evertick.Sim, _ *evertick.Timer) { s.SetMode(playing) }},
			[]string{"3", "3", "2", "1", "1", "0E", "0", "0", "0+1"}},
	} {
		s := newSim(t, small())
		timer := addTimer(t, s, "mission", c.modes)
		c.start(timer)
		var seen []string
		for _, stage := range stages {
			add(t, s, stage, fmt.Sprint("see ", stage), func(tick *evertick.Tick) error {
				if stage == evertick.BeforePhysics {
					seen = append(seen, simtest.TimerText(timer))
				} else if f := c.at[tick.N]; f == nil && simtest.TimerText(timer) != seen[tick.N] {
					t.Errorf("%s, tick %d: %s in stage %d, was %s", c.name, tick.N, simtest.TimerText(timer), stage, seen[tick.N])
				}
				if f := c.at[tick.N]; f != nil && stage == evertick.AfterIndex {
					f(s, timer)
				}
				return nil
			})
		}
		step(t, s, len(c.want))
		if !slices.Equal(seen, c.want) {
			t.Errorf("%s: %q, want %q", c.name, seen, c.want)
		}
	}
}

// A BeforeTick hook sees the timer as the last tick has left it.
func TestTimerBeforeTick(t *testing.T) {
	s := newSim(t, small())
	timer := addTimer(t, s, "mission", 0)
	timer.Set(2)
	timer.Start()
	var seen []string
	s.AddHooks(evertick.Hooks{BeforeTick: func(*evertick.Tick) error { seen = append(seen, simtest.TimerText(timer)); return nil }})
	step(t, s, 3)
	if want := []string{"2", "1", "0E"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
	if !timer.Running() {
		t.Error("stopped by itself")
	}
}

func TestTimerLimits(t *testing.T) {
	s := newSim(t, small())
	timer := addTimer(t, s, "mission", 0)
	timer.Set(math.MaxUint64 - 1)
	timer.Add(math.MaxInt64)
	if timer.Left() != math.MaxUint64 {
		t.Errorf("%d left", timer.Left())
	}
	timer.Add(math.MinInt64)
	if timer.Left() != 1<<63-1 {
		t.Errorf("%d left", timer.Left())
	}
	timer.Add(math.MinInt64)
	if timer.Left() != 0 {
		t.Errorf("%d left", timer.Left())
	}

	// Overtime ends at the greatest number. No run is so long, so a forged snapshot says it.
	timer.Start()
	step(t, s, 1)
	state := func(left, overtime uint64, flags byte) []byte {
		b := binary.LittleEndian.AppendUint64([]byte("\x07mission"), left)
		return append(binary.LittleEndian.AppendUint64(b, overtime), flags)
	}
	frames := frametest.Split(snapshot(t, s))
	forge := func(last []byte) []byte {
		return frametest.Forge(simMagic, simVersion, append(slices.Clone(frames[:len(frames)-1]), last))
	}
	if want := state(0, 0, 1|4); !bytes.Equal(frames[len(frames)-1], want) {
		t.Fatalf("state %x, want %x", frames[len(frames)-1], want)
	}
	restore(t, s, forge(state(0, math.MaxUint64-1, 1)))
	step(t, s, 3)
	if timer.Overtime() != math.MaxUint64 {
		t.Errorf("overtime %d", timer.Overtime())
	}
	before := snapshot(t, s)
	for _, bad := range [][]byte{
		state(0, 0, 8), state(0, 0, 255), state(1, 0, 1), // unknown flags; time left that never ends
		state(0, 0, 1)[:24], append(state(0, 0, 1), 0), []byte("\x07mission"),
	} {
		wantError(t, s.Restore(forge(bad)), evertick.ErrCorrupt, `state "mission"`, "timer")
	}
	if !bytes.Equal(snapshot(t, s), before) {
		t.Error("a Restore that failed has changed the Sim")
	}
}

func TestAddTimerErrors(t *testing.T) {
	s := newSim(t, small())
	addTimer(t, s, "wave", 0)
	if err := s.AddState("kept", new(keptNumber)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "wave", "kept", "\xff"} {
		timer, err := s.AddTimer(name, 0)
		wantError(t, err, evertick.ErrRange, "evertick: AddTimer: name")
		if timer != nil {
			t.Errorf("%q: a timer in spite of the error", name)
		}
	}
	wantError(t, s.AddState("wave", new(keptNumber)), evertick.ErrRange, "evertick: AddState: name")
	other := newSim(t, small())
	addTimer(t, other, "waves", 0)
	if err := other.AddState("kept", new(keptNumber)); err != nil {
		t.Fatal(err)
	}
	wantError(t, other.Restore(snapshot(t, s)), evertick.ErrUnsupported, "wave")
	wantError(t, newSim(t, small()).Restore(snapshot(t, s)), evertick.ErrUnsupported, "states = 2")
}

// Timers are columns of the hash by their names, which Reads and Writes use; Diff names them.
func TestTimersAreState(t *testing.T) {
	build := func() (*evertick.Sim, *evertick.Timer) {
		s := newSim(t, evertick.Config{Capacity: 64, CheckAccess: true})
		timer := addTimer(t, s, "mission", 0)
		addTimer(t, s, "wave", 0)
		addSystem(t, s, system("late", reads("state.mission"), writes("state.wave")))
		return s, timer
	}
	a, timer := build()
	b, _ := build()
	timer.Set(10)
	timer.Start()
	step(t, a, 1)
	step(t, b, 1)
	if d, found := evertick.Diff(a, b); !found || d.Column != "state.mission" {
		t.Errorf("Diff says %v, %t", d, found)
	}
	plain := newSim(t, small())
	step(t, plain, 1)
	if !hasColumn(a, "state.mission") || !hasColumn(a, "state.wave") || len(a.ColumnHashes()) != len(plain.ColumnHashes())+2 {
		t.Error("not a column for each timer")
	}
	thief := system("thief", writes("state.wave"), after("late"))
	thief.Run = func(*evertick.Tick) error { timer.Add(1); return nil }
	addSystem(t, a, thief)
	wantError(t, a.Step(), evertick.ErrRange, "thief: wrote state.mission,")
}

// Timers that are used at random do what the model does, through snapshots, StepBack and a run of the
// same operations on another Sim.
func TestTimersAgainstModel(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c"}
		build := func() (*evertick.Sim, []*evertick.Timer) {
			s := newSim(outer, evertick.Config{Capacity: 1, History: evertick.HistoryConfig{Keep: 9, Every: 3}})
			obeyInputs(outer, s)
			var timers []*evertick.Timer
			for i, name := range names {
				timers = append(timers, addTimer(outer, s, name, []uint64{0, 1 << playing, 1<<menu | 1<<birth}[i]))
			}
			add(outer, s, evertick.AfterPhysics, "use", func(tick *evertick.Tick) error {
				for _, in := range tick.Inputs() {
					if len(in.Data) == 3 {
						timer, n := timers[in.Data[0]], int64(int8(in.Data[2]))
						[...]func(){timer.Start, timer.Stop, func() { timer.Set(uint64(max(n, -n))) }, func() { timer.Add(n) }}[in.Data[1]]()
					}
				}
				return nil
			})
			return s, timers
		}
		s, timers := build()
		model := []simtest.Timer{{}, {Modes: 1 << playing}, {Modes: 1<<menu | 1<<birth}}
		history := [][]simtest.Timer{slices.Clone(model)}
		mode := uint8(0)
		check := func(want []simtest.Timer) {
			for i, m := range want {
				if got := timers[i]; got.Left() != uint64(m.Left) || got.Overtime() != uint64(m.Overtime) || got.Expired() != m.Expired || got.Running() != m.Running {
					t.Fatalf("tick %d, timer %s: %s, running %t; want %+v", s.Ticks(), names[i], simtest.TimerText(got), got.Running(), m)
				}
			}
		}
		for range 40 {
			in := evertick.Input{Tick: s.Ticks(), Seq: s.Ticks(), Kind: uint32(rapid.IntRange(0, 2).Draw(t, "mode"))}
			for i := range model {
				model[i].Tick(mode)
			}
			mode = uint8(in.Kind)
			if rapid.Bool().Draw(t, "use") {
				i, op, n := rapid.IntRange(0, 2).Draw(t, "timer"), rapid.IntRange(0, 3).Draw(t, "operation"), rapid.IntRange(-6, 6).Draw(t, "ticks")
				in.Data = []byte{byte(i), byte(op), byte(int8(n))}
				m := &model[i]
				switch op {
				case 0:
					m.Running = true
				case 1:
					m.Running = false
				case 2:
					m.Left, m.Overtime, m.Armed = max(n, -n), 0, true
				default:
					m.Left = max(m.Left+n, 0)
					m.Armed = m.Armed || n > 0
				}
			}
			if err := s.Push(in); err != nil {
				t.Fatal(err)
			}
			step(outer, s, 1)
			check(model)
			history = append(history, slices.Clone(model))
		}
		back := uint64(rapid.IntRange(0, 20).Draw(t, "back"))
		hash := s.Hash()
		if err := s.StepBack(back); err != nil {
			t.Fatal(err)
		}
		check(history[s.Ticks()])
		other, otherTimers := build()
		restore(outer, other, snapshot(outer, s))
		for i := range timers {
			if simtest.TimerText(otherTimers[i]) != simtest.TimerText(timers[i]) {
				t.Fatalf("restored timer %s is %s, want %s", names[i], simtest.TimerText(otherTimers[i]), simtest.TimerText(timers[i]))
			}
		}
		if err := s.Forward(back); err != nil || s.Hash() != hash {
			t.Fatalf("forward again: %v", err)
		}
		check(model)
	})
}

func TestTicksIn(t *testing.T) {
	for _, c := range []struct {
		num, den int64
		d        time.Duration
		want     uint64
	}{
		{60, 1, 0, 0},
		{60, 1, -time.Hour, 0},
		{60, 1, time.Second, 60},
		{60, 1, 90 * time.Second, 5400},
		{60, 1, time.Second / 60, 1}, // 16.666666 ms
		{60, 1, 16_666_667, 1},
		{60, 1, 8_333_333, 0}, // just under half a tick
		{60, 1, 8_333_334, 1},
		{50, 1, 10 * time.Millisecond, 1}, // exactly half a tick
		{50, 1, 30 * time.Millisecond, 2},
		{60000, 1001, 1001 * time.Second, 60000},
		{60000, 1001, time.Second, 60}, // 59.94
		{1, 100_000_000, math.MaxInt64, 92},
		{1_000_000, 1, math.MaxInt64, 9223372036854776},
	} {
		s := newSim(t, evertick.Config{Capacity: 1, Loop: loop.Config{RateNum: c.num, RateDen: c.den}})
		if got := s.TicksIn(c.d); got != c.want {
			t.Errorf("%v at %d/%d: %d ticks, want %d", c.d, c.num, c.den, got, c.want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		num, den := rapid.Int64Range(1, 1_000_000).Draw(rt, "num"), rapid.Int64Range(1, 100_000_000).Draw(rt, "den")
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(rt, "d"))
		s := newSim(t, evertick.Config{Capacity: 1, Loop: loop.Config{RateNum: num, RateDen: den}})
		// floor(d × num/(den × 1e9) + 1/2)
		x := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(num)), new(big.Int).Mul(big.NewInt(den), big.NewInt(1e9)))
		x.Add(x, big.NewRat(1, 2))
		want := new(big.Int).Div(x.Num(), x.Denom()).Uint64()
		if got := s.TicksIn(d); got != want {
			rt.Fatalf("%v at %d/%d: %d ticks, want %d", d, num, den, got, want)
		}
		if at := s.Loop().TimeAt(want).Duration(); at != math.MaxInt64 && s.TicksIn(at) != want {
			rt.Fatalf("%d ticks last %v, which are %d ticks", want, at, s.TicksIn(at))
		}
	})
}

// For any bytes as the header and as the state of a timer, Restore refuses them and leaves the Sim as it
// was, or makes it a state that it saves with the same bytes and that can be stepped.
func FuzzRestoreModes(f *testing.F) {
	s, _, _ := modal(f, evertick.Config{})
	timer := addTimer(f, s, "mission", 1<<playing)
	timer.Set(2)
	timer.Start()
	pushMode(f, s, 1, playing)
	var frames [][]byte
	for range 8 { // in which the mode changes, and the timer expires
		step(f, s, 1)
		frames = frametest.Split(snapshot(f, s))
		f.Add(frames[0], frames[len(frames)-1])
	}
	f.Fuzz(func(t *testing.T, header, state []byte) {
		base := snapshot(t, s)
		list := slices.Clone(frames)
		list[0], list[len(list)-1] = header, state
		forged := frametest.Forge(simMagic, simVersion, list)
		if err := s.Restore(forged); err != nil {
			wantDocumented(t, err)
			if !bytes.Equal(snapshot(t, s), base) {
				t.Fatalf("a Restore that failed has changed the Sim: %v", err)
			}
			return
		}
		if again := snapshot(t, s); !bytes.Equal(again, forged) {
			t.Fatalf("saved %x, restored from %x", again, forged)
		}
		step(t, s, 1)
		restore(t, s, base)
	})
}
