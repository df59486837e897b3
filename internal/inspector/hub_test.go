package inspector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

// Ten requests that wait for the same safe point with one key run once and share the bytes; another
// key, and a request after the safe point, run again.
func TestRequestsWithOneKeyShareOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 8}, 1)
		in := newInspector(t, sim, Config{})
		runs := map[string]int{}
		var bodies [11][]byte
		var wg sync.WaitGroup
		ask := func(i int, key string) {
			wg.Go(func() {
				body, stale, err := in.live.do(t.Context(), key, func(sim *evertick.Sim, dst []byte) ([]byte, error) {
					runs[key]++
					return fmt.Appendf(dst, "%s at %d", key, sim.Ticks()), nil
				})
				if err != nil || stale {
					t.Errorf("%s: %v, stale %v", key, err, stale)
				}
				bodies[i] = body
			})
		}
		for i := range 8 {
			ask(i, "same")
		}
		ask(8, "other")
		ask(9, "")
		ask(10, "")
		synctest.Wait()
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if runs["same"] != 1 || runs["other"] != 1 || runs[""] != 2 {
			t.Errorf("runs: %v", runs)
		}
		for _, b := range bodies[:8] {
			if string(b) != "same at 1" || &b[0] != &bodies[0][0] {
				t.Errorf("body is %q", b)
			}
		}
		ask(0, "same")
		synctest.Wait()
		in.Between()
		wg.Wait()
		if runs["same"] != 2 {
			t.Errorf("%d runs after another safe point", runs["same"])
		}
	})
}

// Nobody makes safe points: a request gets 503 after a second, and its task never runs.
func TestARequestWithoutASafePointGetsStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 8}, 1)
		in := newInspector(t, sim, Config{})
		time.Sleep(200 * time.Millisecond)
		from := time.Now()
		a := in.Answer(t.Context(), request(t, "world"))
		if took := time.Since(from); took < stallAfter || took > stallAfter+failureCheck {
			t.Errorf("it took %v", took)
		}
		if a.Status != 503 || !strings.Contains(string(a.Body), `"stalled":true,"age_ms":1200`) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if st := decode[status](t, in.Answer(t.Context(), request(t, "status"))); st.State != "stalled" || st.AgeMs != 1200 {
			t.Errorf("status is %+v", st)
		}
		if n := len(in.live.waiting[0].lines); n != 0 || len(in.live.byKey) != 0 {
			t.Errorf("%d requests still wait", n)
		}
		if a := in.Answer(t.Context(), request(t, "frame")); a.Status != 204 || a.Body != nil {
			t.Errorf("frame: %d %s", a.Status, a.Body)
		}
		in.Between()
		if st := decode[status](t, in.Answer(t.Context(), request(t, "status"))); st.State != "running" {
			t.Errorf("state after a safe point is %s", st.State)
		}
	})
}

// A request whose page has gone no longer waits, unless another page waits for the same.
func TestAnAbandonedRequestDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInspector(t, newSim(t, evertick.Config{Capacity: 8}, 1), Config{})
		runs := 0
		f := func(_ *evertick.Sim, dst []byte) ([]byte, error) { runs++; return dst, nil }
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, _, err := in.live.do(ctx, "k", f); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
		in.Between()
		if runs != 0 {
			t.Errorf("%d runs", runs)
		}
	})
}

func TestCloseEndsRequestsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 8}, 1)
		in := newInspector(t, sim, Config{})
		var wg sync.WaitGroup
		for _, path := range []string{"world", "frame", "frame?by=position.x"} {
			wg.Go(func() {
				if a := in.Answer(t.Context(), request(t, path)); a.Status != 503 {
					t.Errorf("%s: %d %s", path, a.Status, a.Body)
				}
			})
		}
		synctest.Wait()
		if err := errors.Join(in.Close(), in.Close()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		for _, path := range []string{"world", "frame"} {
			if a := in.Answer(t.Context(), request(t, path)); a.Status != 503 {
				t.Errorf("%s after Close: %d", path, a.Status)
			}
		}
		if err := sim.StepN(2); err != nil {
			t.Fatal(err)
		}
		if in.live.ticks.len != 0 {
			t.Error("a hook has recorded a tick after Close")
		}
	})
}

// After a failure, and until a Restore and a tick, pages get what was read last.
func TestAFailedSimShowsWhatWasReadLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 8}, 3)
		fail := false
		if err := sim.Add(evertick.BeforePhysics, "faulty", func(*evertick.Tick) error {
			if fail {
				return errors.New("broken wheel")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		in := newInspector(t, sim, Config{})
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		snapshot, err := sim.Snapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		decode[worldAnswer](t, get(t, in, "world"))
		seen := decodeFrame(t, get(t, in, "frame"))
		fail = true
		if err := sim.Step(); err == nil {
			t.Fatal("the step did not fail")
		}
		time.Sleep(time.Second)
		st := decode[status](t, in.Answer(t.Context(), request(t, "status")))
		if st.State != "failed" || !strings.Contains(st.Error, "broken wheel") || st.Tick != 1 {
			t.Errorf("status is %+v", st)
		}
		a := in.Answer(t.Context(), request(t, "world"))
		if w := decode[struct {
			Stale bool
			Tick  uint64
		}](t, a); !w.Stale || w.Tick != 1 {
			t.Errorf("world is %s", a.Body)
		}
		if f := decodeFrame(t, in.Answer(t.Context(), request(t, "frame"))); f.Seq != seen.Seq {
			t.Errorf("frame is %+v", f.pictureHead)
		}
		sim.World.Position.X[2] = 77 // what the failed tick has left
		if f := decodeFrame(t, get(t, in, "frame?by=position.x")); f.f32["x"][2] != 77 {
			t.Errorf("Between shows %v", f.f32)
		}
		if st := decode[status](t, in.Answer(t.Context(), request(t, "status"))); st.State != "failed" {
			t.Errorf("state after Between is %s", st.State)
		}
		time.Sleep(stallAfter)
		never := func(_ *evertick.Sim, dst []byte) ([]byte, error) { return dst, nil }
		if a := ask(t.Context(), in.live, "never asked before", never); a.Status != 503 || !strings.Contains(string(a.Body), "broken wheel") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		fail = false
		if err := errors.Join(sim.Restore(snapshot), sim.Step()); err != nil {
			t.Fatal(err)
		}
		if st := decode[status](t, in.Answer(t.Context(), request(t, "status"))); st.State != "running" || st.Tick != 2 {
			t.Errorf("status after Restore is %+v", st)
		}
	})
}

// A request that already waits when the Sim fails does not wait for the whole second.
func TestARequestThatWaitsNoticesAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 8}, 3)
		enter, leave := make(chan bool), make(chan bool)
		if err := sim.Add(evertick.BeforePhysics, "faulty", func(*evertick.Tick) error {
			<-enter
			<-leave
			return errors.New("broken wheel")
		}); err != nil {
			t.Fatal(err)
		}
		in := newInspector(t, sim, Config{})
		go func() { _ = sim.Step() }()
		enter <- true
		from := time.Now()
		time.AfterFunc(200*time.Millisecond, func() { leave <- true })
		a := in.Answer(t.Context(), request(t, "world"))
		if took := time.Since(from); a.Status != 503 || !strings.Contains(string(a.Body), "broken wheel") || took > 400*time.Millisecond {
			t.Errorf("%d %s after %v", a.Status, a.Body, took)
		}
	})
}

// A panic in a task is an error of the request, not of the Sim.
func TestAPanicInATaskDoesNotEndTheSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 8}, 1)
		in := newInspector(t, sim, Config{})
		var wg sync.WaitGroup
		wg.Go(func() {
			a := ask(t.Context(), in.live, "k", func(*evertick.Sim, []byte) ([]byte, error) { panic("oops") })
			if a.Status != 500 || !strings.Contains(string(a.Body), "oops") {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
		synctest.Wait()
		if err := sim.Step(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}

// A Sim that has frames while time is paused answers, says so, and has no new frames.
func TestAPausedSimAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 8}, 3)
		in := newInspector(t, sim, Config{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		sim.Loop().RunThenPause(5)
		go func() { done <- sim.Run(ctx) }()
		time.Sleep(3 * time.Second)
		st := decode[status](t, in.Answer(ctx, request(t, "status")))
		if st.State != "paused" || st.Tick != 5 || st.AgeMs > 20 {
			t.Errorf("status is %+v", st)
		}
		decode[worldAnswer](t, in.Answer(ctx, request(t, "world")))
		f := decodeFrame(t, in.Answer(ctx, request(t, "frame")))
		if f.State != "paused" || f.Tick != 5 {
			t.Errorf("frame is %+v", f.pictureHead)
		}
		if a := in.Answer(ctx, request(t, fmt.Sprint("frame?after=", f.Seq))); a.Status != 204 {
			t.Errorf("a second frame: %d", a.Status)
		}
		g := decodeFrame(t, in.Answer(ctx, request(t, "frame?by=position.x")))
		if g.Seq != f.Seq || len(g.f32["by"]) != 3 {
			t.Errorf("frame with other options is %+v", g)
		}
		if h := decodeFrame(t, in.Answer(ctx, request(t, "frame?after=1000000"))); h.Seq != f.Seq {
			t.Errorf("a page of another run got %+v", h.pictureHead)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// However fast the Sim runs and many pages ask, it makes 60 frames in a second at most, and pages with the
// same options share their bytes.
func TestFramesAreSharedAndLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, evertick.Config{Capacity: 8, Loop: loop.Config{RateNum: 1000}}, 3)
		in := newInspector(t, sim, Config{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		bySeq := map[uint64]*byte{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				var seq uint64
				for ctx.Err() == nil {
					a := in.Answer(ctx, request(t, fmt.Sprint("frame?after=", seq)))
					if a.Status != 200 {
						continue
					}
					f := decodeFrame(t, a)
					if f.Seq <= seq {
						t.Errorf("frame %d after %d", f.Seq, seq)
					}
					seq = f.Seq
					mu.Lock()
					if first := bySeq[seq]; first == nil {
						bySeq[seq] = &a.Body[0]
					} else if first != &a.Body[0] {
						t.Errorf("frame %d was encoded twice", seq)
					}
					mu.Unlock()
				}
			})
		}
		if err := sim.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		wg.Wait()
		if n := len(bySeq); n < 50 || n > 61 {
			t.Errorf("%d frames in a second", n)
		}
	})
}

// Many pages ask for everything while the Sim steps, pauses, spawns, despawns, restores and fails. With
// -race this finds what is read on the wrong goroutine.
func TestManyPagesWhileTheSimDoesEverything(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 256}, 20)
	tag, err := sim.World.Tag("red")
	if err != nil {
		t.Fatal(err)
	}
	fail := false
	if err := sim.Add(evertick.AfterIndex, "churn", func(tick *evertick.Tick) error {
		w := tick.Sim.World
		if fail {
			return errors.New("broken wheel")
		}
		for id := range w.IDs() {
			if r := tick.Rand(id, 0); r.IntN(50) == 0 {
				tick.Commands().Despawn(id)
			} else if r.IntN(10) == 0 {
				tag.Set(id)
			}
		}
		for w.Len()+tick.Commands().Len() < 60 {
			tick.Commands().Spawn()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	in := newInspector(t, sim, Config{Control: true})
	var stop atomic.Bool
	var wg sync.WaitGroup
	var answered atomic.Int64
	for i := range 8 {
		wg.Go(func() {
			paths := []string{"status", "frame?after=0", "world", "hashes", "steps?after=3", "frame?tag=red&contacts=1",
				"frame?by=none", "frame?by=position.x&boxes=1&shapes=0", "nonsense"}
			for n := i; !stop.Load(); n++ {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+n%20)*time.Millisecond)
				if in.Answer(ctx, request(t, paths[n%len(paths)])).Status == 200 {
					answered.Add(1)
				}
				cancel()
			}
		})
	}
	snapshot, err := sim.Snapshot(nil)
	for end := time.Now().Add(time.Second); err == nil && time.Now().Before(end); {
		sim.Loop().SetPaused(sim.Ticks()%7 == 0 && !sim.Loop().Paused())
		if _, err = sim.Advance(int64(time.Second) / 60); err != nil {
			break
		}
		switch sim.Ticks() % 50 {
		case 10:
			fail = true
			if err := sim.Step(); err == nil {
				t.Error("no failure")
			}
			fail = false
			err = errors.Join(sim.Restore(snapshot), sim.StepN(11))
		case 30:
			_, err = sim.World.Spawn()
			err = errors.Join(err, sim.Step())
			snapshot, _ = sim.Snapshot(snapshot[:0])
		}
		time.Sleep(100 * time.Microsecond)
	}
	stop.Store(true)
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if answered.Load() == 0 {
		t.Error("no request was answered")
	}
}

// The hashes of a run do not depend on an Inspector, nor on pages that ask.
func TestLookingChangesNoHash(t *testing.T) {
	run := func(look bool) (hashes []uint64) {
		sim := newSim(t, evertick.Config{Capacity: 64, CheckRender: look}, 20)
		if err := sim.Add(evertick.BeforePhysics, "move", func(tick *evertick.Tick) error {
			id, err := tick.Sim.World.Spawn()
			if err != nil {
				return nil
			}
			r := tick.Rand(id, 1)
			return tick.Sim.World.SetPosition(id, r.Float32(), r.Float32(), 0)
		}); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(context.Background())
		if look {
			in := newInspector(t, sim, Config{})
			for range 3 {
				wg.Go(func() {
					for ctx.Err() == nil {
						in.Answer(ctx, request(t, "frame?contacts=1&by=position.x"))
						in.Answer(ctx, request(t, "frame?tag=none"))
						in.Answer(ctx, request(t, "world"))
					}
				})
			}
		}
		for range 100 {
			if _, err := sim.Advance(int64(time.Second) / 60); err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, sim.Hash())
			time.Sleep(100 * time.Microsecond)
		}
		cancel()
		wg.Wait()
		return hashes
	}
	plain, seen := run(false), run(true)
	for i := range plain {
		if plain[i] != seen[i] {
			t.Fatalf("frame %d: hash %x, and %x with pages", i, plain[i], seen[i])
		}
	}
}

func TestTicksAllocateNothingWhileNobodyLooks(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 64}, 20)
	in := newInspector(t, sim, Config{})
	get(t, in, "frame?by=position.x") // and not while nobody looks any more
	get(t, in, "world")
	step := func() {
		if _, err := sim.Advance(int64(time.Second) / 60); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if n := testing.AllocsPerRun(200, step); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func TestTicksKeepTheLastOnesAndForgetRepeatedOnes(t *testing.T) {
	var r ticks
	for tick := uint64(1); tick <= 2*recordedTicks; tick++ {
		r.add(tick, tick*10, int64(tick))
	}
	if rows := r.after(0); len(rows) != recordedTicks || rows[0].tick != recordedTicks+1 || rows[len(rows)-1].hash != 20*recordedTicks {
		t.Fatalf("%d rows from %+v", len(rows), rows[0])
	}
	r.add(recordedTicks+100, 7, 7)
	rows := r.after(recordedTicks + 98)
	if len(rows) != 2 || rows[0].hash != 10*(recordedTicks+99) || rows[1].hash != 7 {
		t.Errorf("after going back: %+v", rows)
	}
	r.add(3, 8, 8)
	if rows := r.after(0); len(rows) != 1 || rows[0].tick != 3 {
		t.Errorf("after going back to the start: %+v", rows)
	}
}

func TestHashesAndSteps(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 8}, 1)
	in := newInspector(t, sim, Config{})
	var want []string
	for range 3 {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		want = append(want, HashText(sim.Hash()))
	}
	h := decode[struct {
		Ticks []uint64
		Own   []string
	}](t, in.Answer(t.Context(), request(t, "hashes?after=1")))
	if fmt.Sprint(h.Ticks, h.Own) != fmt.Sprint([]int{2, 3}, want[1:]) {
		t.Errorf("hashes are %+v", h)
	}
	s := decode[struct {
		Budget int64 `json:"budget_ns"`
		Ticks  []uint64
		Ns     []int64
	}](t, in.Answer(t.Context(), request(t, "steps")))
	if s.Budget != sim.Config().BudgetNs || len(s.Ticks) != 3 || len(s.Ns) != 3 || s.Ns[2] <= 0 {
		t.Errorf("steps are %+v", s)
	}
}

func TestWorldListsColumnsTagsAndSystems(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 8}, 2)
	if _, err := ecs.AddArrayColumn[[2]float32](sim.World, "vel"); err != nil {
		t.Fatal(err)
	}
	tag, err := sim.World.Tag("red")
	if err != nil {
		t.Fatal(err)
	}
	tag.Set(1)
	if _, err := sim.World.Blobs("mesh"); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.AddTimer("bomb", 0); err != nil {
		t.Fatal(err)
	}
	if err := sim.AddSystem(evertick.System{Name: "look", Stage: evertick.AfterIndex, Reads: []string{"vel"}, Writes: []string{"rand"},
		Run: func(*evertick.Tick) error { return nil }}); err != nil {
		t.Fatal(err)
	}
	in := newInspector(t, sim, Config{})
	if err := sim.Step(); err != nil {
		t.Fatal(err)
	}
	w := decode[worldAnswer](t, get(t, in, "world"))
	columns := map[string]worldColumn{}
	for _, c := range w.Columns {
		columns[c.Name] = c
	}
	for _, c := range []worldColumn{
		{"position.x", "world", "float32", 1, 4}, {"vel", "world", "float32", 2, 8}, {"body.Type", "bodies", "uint8", 1, 1},
		{"blob.mesh", "blobs", "bytes", 0, 0}, {"state.bomb", "state", "bytes", 0, 0},
	} {
		if columns[c.Name] != c {
			t.Errorf("column %+v, want %+v", columns[c.Name], c)
		}
	}
	if len(w.Tags) != 1 || w.Tags[0] != (worldTag{"red", 1}) {
		t.Errorf("tags are %+v", w.Tags)
	}
	names := ""
	for _, s := range w.Systems {
		names += fmt.Sprintf("%s %s %v %v;", s.Name, s.Stage, s.Reads, s.Writes)
	}
	if !strings.Contains(names, "spatial.build  [] [];look AfterIndex [vel] [rand];commands") {
		t.Errorf("systems are %s", names)
	}
}
