package evertick_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/native/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
	"pgregory.net/rapid"
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
