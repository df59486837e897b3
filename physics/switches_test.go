package physics_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// Turning sleep off wakes all bodies, and none falls asleep until it is on again.
func TestEnableSleeping(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	b.asleep()
	asleep := b.w.AwakeCount() == 0
	before := b.w.Hash()
	b.no(b.w.EnableSleeping(true)) // it is on
	if !asleep || b.w.Hash() != before || !b.w.SleepingEnabled() {
		t.Fatal("no effect is expected while sleep is on")
	}
	b.no(b.w.EnableSleeping(false))
	if n := b.w.AwakeCount(); n != 6 || b.w.SleepingEnabled() || b.w.Hash() == before {
		t.Errorf("%d of 6 are awake", n)
	}
	b.steps(1)
	if woke := b.w.Events().Woke; len(woke) != 6 || !slices.IsSorted(woke) || len(b.w.Events().Begin) > 0 {
		t.Errorf("woke: %v, began to touch: %v", woke, b.w.Events().Begin)
	}
	b.no(b.w.SetAwake(b.stacks[0][0], false))
	d := physics.DefaultBodyDef()
	d.Type, d.Position, d.Asleep = physics.DynamicBody, [2]float32{50, 0}, true
	extra := must[physics.Body](t)(b.w.CreateBody(d))
	b.seconds(3)
	if n := b.w.AwakeCount(); n != 7 {
		t.Errorf("%d of 7 are awake after three seconds without sleep", n)
	}
	b.no(b.w.DestroyBody(extra))
	b.no(b.w.EnableSleeping(true))
	b.steps(int(60*physics.SleepTime) - 2)
	if n := b.w.AwakeCount(); n != 6 {
		t.Errorf("%d of 6 are awake before they have been at rest for long enough", n)
	}
	b.asleep()
}

// A world that was created without sleep keeps the thresholds of its bodies for when it is turned on, also in copies.
func TestSleepCanBeTurnedOnLater(t *testing.T) {
	c := physics.Config{DisableSleep: true, Gravity: [2]float32{0, -10}, Capacity: 64}
	r := fixture{t, newWorld(t, c)}
	r.floor(plain)
	sleepy := func(d *physics.BodyDef) { d.DisableSleep, d.SleepThreshold = false, 2 }
	spinner := r.dynamic(0, 0.5, sleepy, moving(0, 0, 0))
	r.circle(spinner, plain, 0.5)
	drifter := r.dynamic(30, 0.5, sleepy)
	r.circle(drifter, material(0, 0), 0.5)
	r.no(r.w.SetVelocity(drifter, [2]float32{1.5, 0}, 0))
	fast := r.dynamic(60, 0.5, func(d *physics.BodyDef) { d.DisableSleep = false })
	r.circle(fast, material(0, 0), 0.5)
	r.no(r.w.SetVelocity(fast, [2]float32{1.5, 0}, 0))
	r.no(r.w.SetSleepThreshold(spinner, 1))
	r.seconds(2)
	restored := newWorld(t, physics.Config{Capacity: 64})
	restore(t, restored, snapshot(t, r.w))
	copied := newWorld(t, physics.Config{Capacity: 64})
	r.no(copied.CopyFrom(r.w))
	for _, w := range []*physics.World{restored, copied, r.w} {
		sameState(t, "before", r.w, w)
		if w.SleepingEnabled() || !w.Config().DisableSleep {
			t.Error("the switch was not copied")
		}
	}
	r.w.Columns().Y[0] = -1.25 // a program moves the floor just before
	restored.Columns().Y[0], copied.Columns().Y[0] = -1.25, -1.25
	for _, w := range []*physics.World{restored, copied, r.w} {
		r.no(w.EnableSleeping(true))
	}
	again := newWorld(t, c)
	restore(t, again, snapshot(t, r.w))
	for range 120 {
		for i, w := range []*physics.World{r.w, restored, copied, again} {
			r.no(w.Step(dt))
			sameState(t, "copy "+string('0'+rune(i)), r.w, w)
		}
	}
	if r.w.Awake(spinner) || r.w.Awake(drifter) || !r.w.Awake(fast) {
		t.Errorf("awake: %t, %t, %t", r.w.Awake(spinner), r.w.Awake(drifter), r.w.Awake(fast))
	}
	if _, y := r.at(spinner); y > 0.3 || y < 0.2 {
		t.Errorf("the body is at %.3f, above a floor that was moved down", y)
	}
}

// A world whose sleep is turned off moves as one that never had any.
func TestWithoutSleepIsTheSameHow(t *testing.T) {
	never, off := newCrowd(t, physics.Config{Capacity: 200, DisableSleep: true}, 60, 3), newCrowd(t, physics.Config{Capacity: 200}, 60, 3)
	if err := off.EnableSleeping(false); err != nil {
		t.Fatal(err)
	}
	for step := range 240 {
		never.run(1)
		off.run(1)
		y := off.AppendColumnHashes(nil)
		for _, x := range never.AppendColumnHashes(nil) {
			if !slices.Contains(y, x) {
				t.Fatalf("step %d: %s differs", step, x.Name)
			}
		}
	}
}

// A switch belongs to the state: a world of another configuration takes it over, with an equal hash, and goes on alike.
func TestSwitchesAreState(t *testing.T) {
	configs := []physics.Config{{}, {DisableSleep: true}, {DisableContinuous: true}, {DisableSleep: true, DisableContinuous: true}}
	for i, c := range configs {
		for k := range 4 {
			b := newBedroom(t, c)
			r := b.fixture
			b.seconds(1.5)
			initial := r.w.Hash()
			sleep, continuous := k&1 != 0, k&2 != 0
			r.no(r.w.EnableSleeping(sleep))
			r.no(r.w.EnableContinuous(continuous))
			if sleep == c.DisableSleep && r.w.Hash() == initial {
				t.Errorf("%d, %d: the hash ignores the switches", i, k)
			}
			data := snapshot(t, r.w)
			for n, other := range configs {
				other.Gravity, other.Capacity = [2]float32{0, -10}, 256
				w := newBedroom(t, other).w
				for range 90 {
					r.no(w.Step(dt))
				}
				if n%2 == 0 {
					restore(t, w, data)
				} else {
					r.no(w.CopyFrom(r.w))
				}
				sameState(t, "at first", r.w, w)
				if w.SleepingEnabled() != sleep || w.ContinuousEnabled() != continuous {
					t.Errorf("%d, %d, %d: other switches", i, k, n)
				}
				twin := must[*physics.World](t)(r.w.Clone())
				for range 60 {
					r.no(errors.Join(w.Step(dt), twin.Step(dt)))
				}
				sameState(t, "later", twin, w)
			}
		}
	}
}

// Without continuous collision a fast body passes a thin wall.
func TestEnableContinuous(t *testing.T) {
	r := newFixture(t, 0)
	r.box(r.body(physics.StaticBody, 0, 0), plain, 0.05, 2)
	ball := r.dynamic(-2.5, 0, moving(300, 0, 0))
	r.circle(ball, plain, 0.1)
	shoot := func(on bool) float64 {
		r.no(errors.Join(r.w.EnableContinuous(on), r.w.SetTransform(ball, [2]float32{-2.5, 0}, 0),
			r.w.SetVelocity(ball, [2]float32{300, 0}, 0)))
		r.steps(1)
		x, _ := r.at(ball)
		return x
	}
	if x := shoot(true); x > -0.1 {
		t.Errorf("it is at %.2f, beyond the wall", x)
	}
	if x := shoot(false); x < 2 {
		t.Errorf("it is at %.2f, and not beyond the wall", x)
	}
	if x := shoot(true); x > -0.1 || !r.w.ContinuousEnabled() {
		t.Errorf("it is at %.2f, beyond the wall", x)
	}
}

func TestSetWorkers(t *testing.T) {
	bodies, ticks := 3000, 3
	if paritytest.Instrumented {
		bodies, ticks = 1500, 1
	}
	a, b := newCrowd(t, physics.Config{Capacity: 4000}, bodies, 4), newCrowd(t, physics.Config{Capacity: 4000, Workers: 2}, bodies, 4)
	for i, n := range []int{3, 1, 2, 7} {
		if err := b.SetWorkers(n); err != nil || b.Config().Workers != n {
			t.Fatalf("%d workers: %v", n, err)
		}
		a.run(ticks)
		b.run(ticks)
		sameState(t, "round "+string('0'+rune(i)), a.World, b.World)
	}
	for _, n := range []int{0, -1, physics.MaxWorkers + 1} {
		if err := b.SetWorkers(n); !errors.Is(err, physics.ErrRange) || !strings.Contains(err.Error(), "SetWorkers: workers") || b.Config().Workers != 7 {
			t.Errorf("%d workers: %v", n, err)
		}
	}
}

func TestSwitchCommands(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	b.asleep()
	c := b.w.NewCommands()
	c.EnableSleeping(false)
	c.EnableContinuous(false)
	b.no(b.w.Step(dt, c))
	if b.w.SleepingEnabled() || b.w.ContinuousEnabled() || b.w.AwakeCount() != 6 || len(b.w.Events().Woke) != 6 {
		t.Errorf("%d are awake", b.w.AwakeCount())
	}
	c.EnableSleeping(true)
	c.EnableContinuous(true)
	b.no(b.w.Apply(c))
	if !b.w.SleepingEnabled() || !b.w.ContinuousEnabled() {
		t.Error("the switches are off")
	}
}

func TestSwitchesAllocateNothing(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	b.asleep()
	run := func() {
		b.no(b.w.EnableSleeping(false))
		b.steps(1)
		b.no(b.w.EnableSleeping(true))
		b.seconds(1)
	}
	for range 3 {
		run()
	}
	if n := testing.AllocsPerRun(5, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// frameOf returns the number of the frame with the switches; the materials follow.
func frameOf(t *testing.T, data []byte) int {
	t.Helper()
	for i, f := range frametest.Split(data) {
		if len(f) == 4 && binary.LittleEndian.Uint32(f) == 0b1111 {
			return i
		}
	}
	t.Fatal("no frame of switches")
	return 0
}

func TestRestoreRefusesForgedSwitches(t *testing.T) {
	b := newBedroom(t, physics.Config{})
	b.asleep()
	without := newBedroom(t, physics.Config{DisableSleep: true})
	without.steps(1)
	good, never := snapshot(t, b.w), snapshot(t, without.w)
	at := frameOf(t, good)
	for name, c := range map[string]struct {
		data  []byte
		forge func(l [][]byte)
		words string
	}{
		"another bit":     {good, func(l [][]byte) { l[at][0] |= 16 }, "switches"},
		"sleepers":        {good, func(l [][]byte) { l[at][0] &^= 4 }, "flags of body"},
		"longer":          {good, func(l [][]byte) { l[at] = append(l[at], 0) }, "length of the switches"},
		"no thresholds":   {never, func(l [][]byte) { l[at] = l[at][:4] }, "length of the switches"},
		"a threshold":     {never, func(l [][]byte) { copy(l[at][4:], []byte{0, 0, 0xc0, 0x7f}) }, "sleep threshold of body[0]"},
		"sleep":           {never, func(l [][]byte) { l[at][0] |= 4 }, "switches"},
		"sleep at first":  {never, func(l [][]byte) { l[at][0] |= 1 }, "switches"},
		"no sleep at all": {good, func(l [][]byte) { l[at-1] = nil }, "length of the switches"},
	} {
		into := newBedroom(t, physics.Config{}).w
		list := frametest.Split(c.data)
		c.forge(list)
		refuses(t, into, list, name, c.words)
	}
}
