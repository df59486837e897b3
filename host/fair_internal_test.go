package host

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
)

// Helpers take part in all that tests compute.
func init() { pace.Always = true }

const period = int64(1_000_000_000 / 60)

// newModel returns a Host with one worker, which the test drives by hand, under a clock that only ticks and sleeps move.
func newModel(t *testing.T) (*Host, *workerClock, *loop.ManualClock) {
	t.Helper()
	clock := &loop.ManualClock{Jump: true}
	h, clocks, err := newHost(Config{Workers: 1, Budget: 1e9, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return h, &clocks[0], clock
}

// addCostly adds a world whose ticks take what cost returns.
func addCostly(t *testing.T, h *Host, name string, weight int, cfg loop.Config, cost func(uint64) int64) *world {
	t.Helper()
	sim, err := costly(h.clock.(*loop.ManualClock), cfg, cost).New(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Add(World{Name: name, Sim: sim, Weight: weight, EstimateNs: 1}); err != nil {
		t.Fatal(err)
	}
	return h.byName[name]
}

// Worlds that are always due have time in proportion to their weights, within the bound of start-time fair queueing, at
// every moment: for random numbers of worlds, weights and costs.
func TestFairShares(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	r := rand.New(rand.NewPCG(paritytest.Seed(), 1))
	rounds := 30
	if os.Getenv("EVERTICK_LONG") != "" {
		rounds = 200
	}
	for range rounds {
		h, worker, _ := newModel(t)
		type share struct {
			*world
			time, longest int64
		}
		shares := map[*world]*share{}
		for i := range 2 + r.IntN(7) {
			// Each tick takes longer than there is time for it, and none is dropped.
			cfg := loop.Config{MaxSteps: 1 + r.IntN(3), Policy: loop.CatchUp}
			most := period * int64(1+r.IntN(4))
			w := addCostly(t, h, fmt.Sprint(i), 1+r.IntN(10), cfg, func(uint64) int64 { return period + r.Int64N(most) })
			shares[w] = &share{world: w}
		}
		h.clock.(*loop.ManualClock).Add(2 * period) // all are due
		for range 500 {
			w := h.next(worker)
			begin := worker.now()
			h.turn(w, worker)
			s, took := shares[w], worker.now()-begin
			s.time, s.longest = s.time+took, max(s.longest, took)
			for _, a := range shares {
				for _, b := range shares {
					va, vb := float64(a.Weight), float64(b.Weight)
					gap, bound := float64(a.time)/va-float64(b.time)/vb, float64(a.longest)/va+float64(b.longest)/vb
					if gap > bound+1 {
						t.Fatalf("weights %v and %v have %d and %d ns: apart by %v, more than %v", va, vb, a.time, b.time, gap, bound)
					}
				}
			}
		}
		total, weights := int64(0), 0
		for _, s := range shares {
			total, weights = total+s.time, weights+s.Weight
		}
		for _, s := range shares {
			want := float64(total) * float64(s.Weight) / float64(weights)
			if got := float64(s.time); got < want-float64(20*period)*float64(s.Weight) || got > want+float64(20*period)*float64(s.Weight) {
				t.Errorf("weight %d of %d has %v of %d ns, want about %v", s.Weight, weights, got, total, want)
			}
		}
	}
}

// A world that is within its share never waits for more than one turn of each other, and drops no tick, whatever the
// others do; the others drop theirs.
func TestNoWorldStarves(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	r := rand.New(rand.NewPCG(paritytest.Seed(), 2))
	rounds := 15
	if os.Getenv("EVERTICK_LONG") != "" {
		rounds = 100
	}
	for range rounds {
		h, worker, _ := newModel(t)
		light := addCostly(t, h, "light", 1, loop.Config{}, func(uint64) int64 { return 1000 })
		var bound, longest int64
		for i := range 1 + r.IntN(6) {
			most := period / 10 * int64(1+r.IntN(10)) // for any two turns of each, the cap of the light one is enough
			bound += most
			longest = max(longest, most)
			addCostly(t, h, fmt.Sprint(i), 1+r.IntN(10), loop.Config{MaxSteps: 1, RateNum: 100 + r.Int64N(900)}, func(uint64) int64 { return most/2 + r.Int64N(most/2) })
		}
		waited := int64(0)
		for range 3000 {
			w := h.next(worker)
			if w == light {
				waited = max(waited, worker.now()-w.due)
			}
			h.turn(w, worker)
		}
		if waited > bound {
			t.Errorf("the light world has waited for %d ns, the longest turns of the others add up to %d", waited, bound)
		}
		if light.Ticks == 0 || bound < 4*period && light.Dropped > 0 {
			t.Errorf("the light world has run %d ticks and dropped %d", light.Ticks, light.Dropped)
		}
	}
}

// One world that takes three times its time is slow alone.
func TestSlowWorldIsSlowAlone(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	h, worker, _ := newModel(t)
	slow := addCostly(t, h, "slow", 1, loop.Config{MaxSteps: 1}, func(uint64) int64 { return 3 * period })
	var quick []*world
	for i := range 20 {
		quick = append(quick, addCostly(t, h, fmt.Sprint(i), 1, loop.Config{MaxSteps: 20}, func(uint64) int64 { return period / 100 }))
	}
	for range 5000 {
		h.turn(h.next(worker), worker)
	}
	if slow.Dropped == 0 || slow.Ticks == 0 {
		t.Errorf("the slow world has run %d ticks and dropped %d", slow.Ticks, slow.Dropped)
	}
	for _, w := range quick {
		if w.Dropped > 0 || w.Ticks+20 < quick[0].Ticks || w.Ticks < slow.Ticks {
			t.Errorf("world %s has run %d ticks and dropped %d; the slow one has run %d", w.Name, w.Ticks, w.Dropped, slow.Ticks)
		}
	}
}

// While there is time for everything, each tick runs, and at its time: no two worlds are due at once here.
func TestEnoughTime(t *testing.T) {
	h, worker, clock := newModel(t)
	var worlds []*world
	for i := range 10 {
		worlds = append(worlds, addCostly(t, h, fmt.Sprint(i), 1, loop.Config{}, func(uint64) int64 { return period / 20 }))
		clock.Add(period / 10)
	}
	for range 1000 {
		h.turn(h.next(worker), worker)
	}
	for _, w := range worlds {
		if c := h.read(&w.counts); c.Ticks < 99 || c.Dropped > 0 || c.LateTicks > 0 || c.Late.P95 > period/10 {
			t.Errorf("world %s: %+v", w.Name, c)
		}
	}
}

// A paused world costs next to nothing, and goes on when it is due again.
func TestPausedWorld(t *testing.T) {
	h, worker, clock := newModel(t)
	w := addCostly(t, h, "w", 1, loop.Config{}, func(uint64) int64 { return 1 })
	w.Sim.Loop().SetPaused(true)
	for range 100 {
		h.turn(h.next(worker), worker)
	}
	if now := clock.Now(); w.Ticks != 0 || now < 99*period/2 {
		t.Errorf("%d ticks in a pause of %d ns", w.Ticks, now)
	}
	w.Sim.Loop().SetPaused(false)
	for range 100 {
		h.turn(h.next(worker), worker)
	}
	if w.Ticks < 90 {
		t.Errorf("%d ticks after the pause", w.Ticks)
	}
}

// Turns allocate nothing.
func TestTurnsAllocateNothing(t *testing.T) {
	h, worker, _ := newModel(t)
	for i := range 5 {
		addCostly(t, h, fmt.Sprint(i), 1, loop.Config{}, func(uint64) int64 { return period / 4 })
	}
	turn := func() { h.turn(h.next(worker), worker) }
	for range 100 {
		turn()
	}
	if n := testing.AllocsPerRun(1000, turn); n != 0 {
		t.Errorf("%v allocations in a turn", n)
	}
	var s Stats
	h.Stats(&s)
	if n := testing.AllocsPerRun(10, func() { h.Stats(&s) }); n != 0 {
		t.Errorf("%v allocations in Stats", n)
	}
}
