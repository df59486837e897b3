package host

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
)

func TestAdmit(t *testing.T) {
	const ms = 1_000_000
	hz60 := func(p95 int64) demand { return demand{p95, 60, 1, 1} }
	for name, c := range map[string]struct {
		budget   float64
		admitted []demand
		d        demand
		fits     bool
	}{
		"alone":                    {0.8, nil, hz60(13 * ms), true},
		"alone, too much":          {0.8, nil, hz60(14 * ms), false},
		"fills exactly":            {0.75, []demand{{5 * ms, 50, 1, 1}}, demand{10 * ms, 50, 1, 1}, true},
		"one more":                 {0.75, []demand{{5 * ms, 50, 1, 1}, {10 * ms, 50, 1, 1}}, demand{1, 1, 1, 1}, false},
		"rates count":              {0.8, []demand{{10 * ms, 10, 1, 1}}, demand{70 * ms, 10, 1, 1}, true},
		"a rate below 1":           {0.8, nil, demand{1000 * ms, 1, 2, 1}, true},
		"no pause between ticks":   {4, nil, hz60(17 * ms), false},
		"workers of the Sim count": {0.8, nil, demand{10 * ms, 60, 1, 2}, false},
		"their time does not":      {4, nil, demand{10 * ms, 60, 1, 6}, true},
		"overcommitted already":    {0.1, []demand{hz60(10 * ms)}, hz60(1), false},
	} {
		before := len(c.admitted)
		err := admit(c.budget, c.admitted, c.d)
		if (err == nil) != c.fits || err != nil && !errors.Is(err, fault.ErrCapacity) || len(c.admitted) != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := admit(0.8, []demand{hz60(10 * ms)}, hz60(5*ms))
	for _, number := range []string{"5ms", "60/1", "0.300", "1 worlds", "0.600", "0.800"} {
		if !strings.Contains(err.Error(), number) {
			t.Errorf("no %q in %q", number, err)
		}
	}
}

// costly is a scenario whose ticks take the time that cost returns, by the clock.
func costly(clock *loop.ManualClock, cfg loop.Config, cost func(tick uint64) int64) replay.Scenario {
	return replay.Scenario{Name: "costly", New: func(seed uint64) (*evertick.Sim, error) {
		sim, err := evertick.New(evertick.Config{Capacity: 1, Seed: seed, Untimed: true, Loop: cfg})
		if err != nil {
			return nil, err
		}
		_, err = sim.World.Spawn()
		if err != nil {
			return nil, err
		}
		return sim, sim.Add(evertick.BeforePhysics, "work", func(t *evertick.Tick) error {
			r := t.Rand(0, 0)
			sim.World.Position.X[0] += r.Range(-1, 1)
			clock.Add(cost(t.N))
			return nil
		})
	}}
}

// Add admits as many worlds as the trial says, changes no Sim by it, and counts what was measured later.
func TestAdmissionByMeasurement(t *testing.T) {
	clock := &loop.ManualClock{Jump: true}
	cost := int64(1_000_000)
	sc := costly(clock, loop.Config{}, func(uint64) int64 { return cost })
	h, clocks, err := newHost(Config{Workers: 1, Budget: 0.5, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	names := "abcdefghi"
	for _, name := range names[:8] { // 0.06 cores each, but for the error of the histogram
		sim, err := sc.New(1)
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.StepN(3); err != nil {
			t.Fatal(err)
		}
		if err := sim.Push(evertick.Input{Tick: 1 << 40, Data: []byte("later")}); err != nil {
			t.Fatal(err)
		}
		before, _ := sim.Snapshot(nil)
		if err := h.Add(World{Name: string(name), Sim: sim, Scenario: sc}); err != nil {
			t.Fatal(err)
		}
		if after, err := sim.Snapshot(nil); err != nil || !bytes.Equal(before, after) || sim.Ticks() != 3 {
			t.Fatalf("the trial has changed the Sim: tick %d, %v", sim.Ticks(), err)
		}
	}
	ninth := World{Name: "i", Scenario: sc}
	if err := h.Add(ninth); !errors.Is(err, fault.ErrCapacity) || !strings.Contains(err.Error(), `"i"`) {
		t.Fatalf("the ninth world: %v", err)
	}
	var s Stats
	if h.Stats(&s); len(s.Worlds) != 8 || s.Used < 0.47 || s.Used > 0.5 || s.Refused != 1 {
		t.Fatalf("%+v", s)
	}
	cost = 100_000
	if err := h.Add(ninth); err != nil { // its trial takes a tenth
		t.Fatal(err)
	}
	if h.Stats(&s); s.Used > 0.5 {
		t.Errorf("used %v", s.Used)
	}
	run := func() {
		for range 9 * 2 * windowTicks {
			h.turn(h.next(&clocks[0]), &clocks[0])
		}
	}
	if run(); true {
		if h.Stats(&s); s.Used > 0.06 { // the ticks are as quick by now
			t.Errorf("used %v after quicker ticks", s.Used)
		}
	}
	cost = 3_000_000
	run()
	cost = 1
	if h.Stats(&s); s.Used < 1.5 {
		t.Errorf("used %v after slower ticks", s.Used)
	}
	if err := h.Add(World{Name: "j", Scenario: sc}); !errors.Is(err, fault.ErrCapacity) {
		t.Errorf("a world beside some that have become slow: %v", err)
	}
}

// Without room in the budget, a world is still estimated as the slowest that runs of its scenario.
func TestEstimateOfAScenario(t *testing.T) {
	clock := &loop.ManualClock{Jump: true}
	cost := int64(2_000_000)
	sc := costly(clock, loop.Config{}, func(uint64) int64 { return cost })
	h, clocks, err := newHost(Config{Workers: 1, Budget: 10, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Add(World{Name: "a", Scenario: sc}); err != nil {
		t.Fatal(err)
	}
	for range 2 * windowTicks {
		h.turn(h.next(&clocks[0]), &clocks[0])
	}
	cost = 1000
	if err := errors.Join(h.Add(World{Name: "b", Scenario: sc}), h.Add(World{Name: "c", Scenario: sc, EstimateNs: 500})); err != nil {
		t.Fatal(err)
	}
	if b, c := h.byName["b"].p95Ns, h.byName["c"].p95Ns; b != h.byName["a"].p95Ns || b < 1_900_000 || c != 500 {
		t.Errorf("estimates %d and %d ns", b, c)
	}
}
