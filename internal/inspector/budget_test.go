package inspector

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/bodyview"
)

// heavy returns query n of a viewer: all kinds that read much.
func heavy(viewer, n int) string {
	names := []string{"hp", "speed", "position.x", "position.y", "position.z", "rotation.x", "rotation.w"}
	name := func(i int) string { return names[(viewer+n+i)%len(names)] }
	switch (viewer + n) % 8 {
	case 0:
		return "columns"
	case 1:
		return fmt.Sprintf("pick?x=%d&y=%d&r=1000", viewer, n)
	case 2, 3:
		return fmt.Sprintf("frame?by=%s", name(0))
	case 4:
		return fmt.Sprintf("entity?slot=%d", viewer)
	}
	q := fmt.Sprintf("entities?count=500&offset=%d&sort=%s", 100*viewer, name(0))
	for i := range 4 {
		q += fmt.Sprintf("&columns=%s&where=%s>%d.5e-4", name(i), name(i+1), n)
	}
	return q
}

// Looking does not disturb the Sim: while 64 viewers ask for all that costs most of 100,000 entities, each again as soon as it has
// an answer and rested for a while, what is read between two ticks stays within the budget, and each viewer gets its answers. Bytes are
// counted and the clock is a fake one, so that the speed of the machine does not matter.
func TestSixtyFourViewersHaveABudget(t *testing.T) {
	viewers, entities, ticks := 64, 100_000, 15
	if long {
		ticks = 40
	}
	sim := crowd(t)
	synctest.Test(t, func(t *testing.T) {
		in := newInspector(t, sim, Config{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		answered := make([]int, viewers)
		for v := range viewers {
			wg.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					r := request(t, heavy(v, n))
					r.Client = fmt.Sprint(v)
					switch a := in.Answer(ctx, r); {
					case a.Status == 200:
						answered[v]++
					case a.Status != 204 && ctx.Err() == nil:
						t.Errorf("%s: %d %.200s", heavy(v, n), a.Status, a.Body)
					}
					time.Sleep(50 * time.Millisecond)
				}
			})
		}
		largest := uint64(entities*(5*4+8) + 1<<16) // of a piece of work: five columns of float32, ids, and masks
		most, all := uint64(0), uint64(0)
		for range ticks {
			synctest.Wait() // all that can ask have asked
			before := in.live.inspected
			in.live.tick(sim)
			read := in.live.inspected - before
			if most, all = max(most, read), all+read; read > copyBurst+largest {
				t.Errorf("between two ticks %d bytes were read, above %d", read, copyBurst+largest)
			}
			time.Sleep(time.Second / 60)
		}
		cancel()
		wg.Wait()
		t.Logf("%d entities: at most %d bytes between two ticks, %d on the average; answers %d to %d", entities, most, all/uint64(ticks), slices.Min(answered), slices.Max(answered))
		if budget := uint64(copyBurst*(ticks+1)) + largest; all > budget {
			t.Errorf("%d bytes in %d ticks, above %d", all, ticks, budget)
		}
		if slices.Min(answered) == 0 {
			t.Errorf("answers by viewer: %v", answered)
		}
		if all < uint64(copyBurst) {
			t.Error("the test shows nothing")
		}
	})
}

// A request whose answer takes long, and the copies that wait for it, delay no tick, nor requests that read little; copies do not
// pile up.
func TestNoTickWaitsForAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 64}, 20)
		in := newInspector(t, sim, Config{})
		hold := make(chan bool)
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				body, _, err := in.live.doCopy(withClient(t.Context(), fmt.Sprint(i%3)), fmt.Sprint(i), func(p *point) (func() ([]byte, error), error) {
					c := p.copy()
					return func() ([]byte, error) { <-hold; return fmt.Append(nil, c.tick), nil }, nil
				})
				if err != nil || string(body) == "" {
					t.Errorf("%q, %v", body, err)
				}
			})
			synctest.Wait()
			if err := sim.Step(); err != nil {
				t.Fatal(err)
			}
			if in.live.copies > maxCopies {
				t.Errorf("%d copies", in.live.copies)
			}
		}
		wg.Go(func() {
			if a := in.Answer(t.Context(), request(t, "entity?slot=3")); a.Status != 200 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			close(hold)
		})
		synctest.Wait()
		for range 10 {
			if err := sim.Step(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		wg.Wait()
		if in.live.copies != 0 || in.live.reading {
			t.Errorf("%d copies are kept, the reader runs: %v", in.live.copies, in.live.reading)
		}
	})
}

// A viewer that asks for much at once delays another one by one request of its own, whether that asks for something else, or for
// what comes last of the first.
func TestViewersTakeTurns(t *testing.T) {
	for _, kind := range []string{"reads", "copies"} {
		for _, key := range []string{"mine", "flood 49"} {
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, evertick.Config{Capacity: 8}, 1)
				in := newInspector(t, sim, Config{})
				var order []string
				var mu sync.Mutex
				var wg sync.WaitGroup
				ask := func(client, key string) {
					note := func() { mu.Lock(); order = append(order, key); mu.Unlock() }
					wg.Go(func() {
						ctx, err := withClient(t.Context(), client), error(nil)
						if kind == "reads" {
							_, _, err = in.live.do(ctx, key, func(_ *evertick.Sim, dst []byte) ([]byte, error) { note(); return dst, nil })
						} else {
							_, _, err = in.live.doCopy(ctx, key, func(*point) (func() ([]byte, error), error) {
								return func() ([]byte, error) { note(); return nil, nil }, nil
							})
						}
						if err != nil {
							t.Error(err)
						}
					})
					synctest.Wait()
				}
				for i := range 50 {
					ask("flooder", fmt.Sprint("flood ", i))
				}
				ask("owner", key)
				in.Between()
				wg.Wait()
				if at := slices.Index(order, key); at != 1 || len(order) < 50 {
					t.Errorf("%s, %s: came as number %d of %d", kind, key, at, len(order))
				}
			})
		}
	}
}

// Requests that wait for their turn too long get 503, not "stalled", while safe points come.
func TestARequestWithoutATurnGetsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 8}, 1)
		in := newInspector(t, sim, Config{})
		done := make(chan Answer)
		in.live.credit = -copyRate * 9 // as after a very large copy
		in.live.creditAt = in.live.now()
		go func() { done <- in.Answer(t.Context(), request(t, "world")) }()
		from := time.Now()
		for range 85 {
			time.Sleep(100 * time.Millisecond)
			in.Between()
			select {
			case a := <-done:
				if took := time.Since(from); a.Status != 503 || !strings.Contains(string(a.Body), "too much is asked") || took < busyAfter || took > busyAfter+2*failureCheck {
					t.Errorf("%d %s after %v", a.Status, a.Body, took)
				}
				time.Sleep(2 * time.Second)
				if a := get(t, in, "world"); a.Status != 200 {
					t.Errorf("later: %d %s", a.Status, a.Body)
				}
				return
			default:
			}
		}
		t.Error("no answer")
	})
}

// Answers come from copies: what happens to the Sim after the safe point does not change them.
func TestAnswersComeFromCopies(t *testing.T) {
	r := seeded(t)
	z := newZoo(t, r, 200)
	h := newHub()
	for _, query := range []string{"columns", "pick?x=1&y=1&r=100", "pick?x=1&y=1",
		"entities?columns=hp&columns=big&columns=position.x&sort=hp&descending=1&tag=red&where=small>0&count=500",
		"entities?columns=vel[1]&without=by&count=100&offset=10", "entities?descending=1", "entities?sort=exact&where=hp is nan"} {
		req := request(t, strings.ReplaceAll(query, " ", "%20"))
		copied := func() func() ([]byte, error) {
			var c copying
			switch req.Path {
			case "columns":
				c = new(columnsCopy).copy
			case "pick":
				q := must(parsePickQuery(req.Query))
				c = q.copy
			default:
				e := must(parseEntitiesQuery(req.Query))
				c = e.copy
			}
			return must(c(&point{sim: z.sim, hub: h}))
		}
		now, later := copied(), copied()
		want := string(must(now()))
		for _, id := range z.ids {
			s, _ := z.sim.World.Slot(id)
			z.hp.Values()[s] += 7
			z.big.Values()[s]++
			z.small.Values()[s] = -z.small.Values()[s]
			z.exact.Values()[s] = 1
			z.vel.Values()[s] = [3]float32{}
			z.sim.World.Position.X[s] = -z.sim.World.Position.X[s]
			z.red.Set(id)
			z.by.Unset(id)
		}
		for range 5 {
			z.sim.World.Despawn(z.ids[0])
			z.ids = z.ids[1:]
		}
		must(z.sim.World.Spawn())
		if got := string(must(later())); got != want {
			t.Errorf("%s: after changes of the Sim:\n%.300s\nwant\n%.300s", query, got, want)
		}
		if len(want) < 10 {
			t.Errorf("%s: %s", query, want)
		}
	}
}

// Columns that are more than the budget of a safe point are copied at several ones, each as it was at its tick, also if columns come
// or the state is restored meanwhile.
func TestColumnsOverSeveralTicks(t *testing.T) {
	const n, columns = 50_000, 40
	for _, disturb := range []string{"", "column", "restore"} {
		sim := must(evertick.New(evertick.Config{Capacity: n}))
		var all []*ecs.Column[float32]
		for i := range columns {
			all = append(all, must(ecs.AddColumn[float32](sim.World, fmt.Sprintf("c%02d", i))))
		}
		if err := sim.World.SpawnN(make([]ecs.ID, n)); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			in := newInspector(t, sim, Config{})
			done := make(chan Answer, 1)
			snapshot := must(sim.Snapshot(nil))
			go func() { done <- in.Answer(t.Context(), request(t, "columns")) }()
			points := 0
			for ; len(done) == 0 && points < 100; points++ {
				for _, c := range all {
					for slot := range c.Values() {
						c.Values()[slot] = float32(sim.Ticks() + 1)
					}
				}
				id, _ := sim.World.ID(ecs.Slot(points))
				sim.World.Despawn(id)
				if points == 2 && disturb == "column" {
					must(ecs.AddColumn[float32](sim.World, "late"))
				}
				if points == 2 && disturb == "restore" {
					if err := sim.Restore(snapshot); err != nil {
						t.Fatal(err)
					}
					continue // the values of the snapshot are those of another tick
				}
				if err := sim.Step(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second / 60)
				synctest.Wait()
			}
			a := decode[struct {
				Tick    uint64
				Columns []struct {
					Name, Owner string
					Tick        uint64
					Count       int
					Min, Max    json.Number
				}
			}](t, <-done)
			ticks := map[uint64]int{}
			for _, c := range a.Columns {
				ticks[c.Tick]++
				if strings.HasPrefix(c.Name, "c") && c.Owner == "world" && (c.Min.String() != fmt.Sprint(c.Tick) || c.Max != c.Min) {
					t.Errorf("%s: %s at tick %d is from %s to %s", disturb, c.Name, c.Tick, c.Min, c.Max)
				}
			}
			if len(ticks) < 2 || points > 20 {
				t.Errorf("%s: the columns are of the ticks %v, at %d safe points", disturb, ticks, points)
			}
			if in.live.copies != 0 {
				t.Errorf("%s: %d copies are kept", disturb, in.live.copies)
			}
		})
	}
}

// fakeEvents is a view that has events alone.
type fakeEvents struct {
	bodyview.View
	list []bodyview.Event
}

func (v fakeEvents) EventCount() int            { return len(v.list) }
func (v fakeEvents) Event(i int) bodyview.Event { return v.list[i] }

// Of more events than the log holds in one tick it keeps the last ones of all solvers, and counts the others.
func TestMoreEventsThanTheLogHolds(t *testing.T) {
	r := seeded(t)
	for range some(20) {
		l := &eventLog{clock: func() int64 { return 1 }}
		var all []string
		for range 3 {
			var tick []bodies
			for _, solver := range []string{"", "other"} {
				var e []bodyview.Event
				for kind := range bodyview.Kinds {
					for range pickOf(r, 0, 0, 1, r.IntN(2000), r.IntN(5000)) {
						e = append(e, bodyview.Event{Kind: uint8(kind), Dims: 2})
						all = append(all, solver+" "+bodyview.Kinds[kind])
					}
				}
				tick = append(tick, bodies{name: solver, view: fakeEvents{list: e}})
			}
			l.add(1, tick)
		}
		v := l.after(0)
		want := all[max(0, len(all)-recordedEvents):]
		if v.Seq != uint64(len(all)) || v.Lost != uint64(len(all)-len(want)) || len(v.List) != len(want) {
			t.Fatalf("%d events: seq %d, lost %d, %d kept", len(all), v.Seq, v.Lost, len(v.List))
		}
		for i, e := range v.List {
			if got := e.Solver + " " + e.Kind; got != want[i] {
				t.Fatalf("event %d of %d is %s, want %s", i, len(want), got, want[i])
			}
		}
	}
}
