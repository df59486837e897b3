package publish_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"weak"

	"pgregory.net/rapid"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

var errSystem = errors.New("the system gave up")

func newPublisher(t testing.TB, s *evertick.Sim, c evertick.PublishConfig) *evertick.Publisher {
	t.Helper()
	p, err := s.Publish(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// walkers is a Sim in which entity n moves n metres a tick, and counts the ticks in a column.
type walkers struct {
	*evertick.Sim
	age    *ecs.Column[uint16]
	velvet *ecs.Column[[2]float64]
	tagged ecs.Tag
}

func newWalkers(t testing.TB, c evertick.Config) *walkers {
	t.Helper()
	w := &walkers{Sim: simtest.New(t, c)}
	var err [4]error
	w.age, err[0] = ecs.AddColumn[uint16](w.World, "age")
	w.velvet, err[1] = ecs.AddArrayColumn[[2]float64](w.World, "velvet")
	w.tagged, err[2] = w.World.Tag("tagged")
	err[3] = w.Add(evertick.BeforePhysics, "walk", func(tick *evertick.Tick) error {
		for slot := range w.World.Query() {
			id, _ := w.World.ID(slot)
			w.World.Position.X[slot] += float32(id)
			w.World.Rotation.Z[slot] = float32(tick.N%10) / 10
			w.World.Scale.Y[slot] = float32(tick.N)
			w.age.Values()[slot]++
			w.velvet.Values()[slot][1] = float64(tick.N)
		}
		return nil
	})
	if err := errors.Join(err[:]...); err != nil {
		t.Fatal(err)
	}
	return w
}

// published is what a view must hold, without the rows of no entity.
type published struct {
	tick          uint64
	ids           []ecs.ID
	live, tagged  []uint64
	now, previous [10][]float32
	age           []uint16
	velvet        [][2]float64
}

func transformsOf(t *ecs.Transforms) [10][]float32 {
	p, r, s := &t.Position, &t.Rotation, &t.Scale
	return [...][]float32{p.X, p.Y, p.Z, r.X, r.Y, r.Z, r.W, s.X, s.Y, s.Z}
}

// copyOf is not nil, also for no rows.
func copyOf[T any](rows []T) []T { return append([]T{}, rows...) }

// expect returns what a publication at this moment has to hold.
func (w *walkers) expect() (p published) {
	p.tick = w.Ticks()
	high := w.World.HighWater()
	words := (high + 63) / 64
	p.live = copyOf(w.World.LiveMask()[:words])
	p.tagged = copyOf(w.tagged.Mask()[:words])
	p.ids = []ecs.ID{}
	now := transformsOf(&ecs.Transforms{Position: w.World.Position, Rotation: w.World.Rotation, Scale: w.World.Scale})
	previous := now
	if w.World.Previous() != nil {
		previous = transformsOf(w.World.Previous())
	}
	for slot := range ecs.Slot(high) {
		id, ok := w.World.ID(slot)
		p.ids = append(p.ids, id)
		if !ok {
			continue
		}
		for i := range now {
			p.now[i] = append(p.now[i], now[i][slot])
			if j := w.World.Jumped(); j == nil || j[slot/64]>>(slot%64)&1 != 0 {
				p.previous[i] = append(p.previous[i], now[i][slot])
			} else {
				p.previous[i] = append(p.previous[i], previous[i][slot])
			}
		}
		p.age = append(p.age, w.age.Values()[slot])
		p.velvet = append(p.velvet, w.velvet.Values()[slot])
	}
	return p
}

// read returns what a view of all transforms, both columns and the tag holds.
func (w *walkers) read(v *evertick.View) (p published) {
	p.tick, p.ids = v.Tick, copyOf(v.IDs)
	p.live, p.tagged = copyOf(v.Live), copyOf(v.Tag(w.tagged))
	now, previous := transformsOf(&v.Now), transformsOf(&v.Previous)
	age, ok1 := evertick.ColumnOf[uint16](v, "age")
	velvet, ok2 := evertick.ColumnOf[[2]float64](v, "velvet")
	if !ok1 || !ok2 || len(v.IDs) != v.Rows || len(age) != v.Rows || len(velvet) != v.Rows {
		panic(fmt.Sprintf("%t %t, %d rows, %d of age", ok1, ok2, v.Rows, len(age)))
	}
	for row, id := range v.IDs {
		if id == 0 {
			continue
		}
		for i := range now {
			p.now[i] = append(p.now[i], now[i][row])
			p.previous[i] = append(p.previous[i], previous[i][row])
		}
		p.age = append(p.age, age[row])
		p.velvet = append(p.velvet, velvet[row])
	}
	return p
}

func all(w *walkers) evertick.PublishConfig {
	return evertick.PublishConfig{Columns: []string{"age", "velvet"}, Tags: []ecs.Tag{w.tagged}}
}

// TestPublish compares views, in random runs, with the Sim as it was at the end of the frame. The
// reader takes a view at random moments, and the view does not change until the reader takes the next.
func TestPublish(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		clock := simtest.ManualClock()
		c := evertick.Config{Capacity: 200, Previous: rapid.IntRange(0, 5).Draw(t, "previous") > 0, Clock: clock}
		c.Loop.RateNum = 50
		c.History.Keep = 3
		w := newWalkers(outer, c)
		p, err := w.Publish(all(w))
		if err != nil {
			t.Fatal(err)
		}
		var latest, held published
		var view *evertick.View
		var ids []ecs.ID
		var saved []byte
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		change := map[string]func(*rapid.T){
			"spawn": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 2, 60}).Draw(t, "n") {
					if id, err := w.World.Spawn(); err == nil {
						ids = append(ids, id)
						must(w.World.SetPosition(id, float32(id), 1, 2))
					}
				}
			},
			"despawn": func(t *rapid.T) {
				if len(ids) > 0 {
					w.World.Despawn(rapid.SampledFrom(ids).Draw(t, "id"))
				}
			},
			"jump": func(t *rapid.T) {
				if len(ids) > 0 {
					if id := rapid.SampledFrom(ids).Draw(t, "id"); w.World.Jump(id) {
						must(w.World.SetPosition(id, -1000, 0, 0))
						w.tagged.Set(id)
					}
				}
			},
			"write": func(t *rapid.T) { w.World.Position.Y[0]++ },
		}
		insideRun := map[string]bool{}
		must(w.Add(evertick.AfterIndex, "random changes", func(*evertick.Tick) error {
			for _, name := range []string{"spawn", "despawn", "jump"} {
				if insideRun[name] {
					change[name](t)
				}
			}
			if insideRun["slow"] { // the next frame has several ticks
				clock.Add(50e6)
			}
			return nil
		}))
		acquire := func() {
			if view != nil {
				if now := w.read(view); !reflect.DeepEqual(now, held) {
					t.Fatalf("the view that the reader holds changed\nfrom %+v\n  to %+v", held, now)
				}
			}
			view = p.Acquire()
			if held = w.read(view); view.Seq > 0 && !reflect.DeepEqual(held, latest) {
				t.Fatalf("view %d is\n     %+v\nwant %+v", view.Seq, held, latest)
			}
		}
		actions := map[string]func(*rapid.T){
			"acquire": func(*rapid.T) { acquire() },
			"advance": func(t *rapid.T) {
				_, err := w.Advance(rapid.SampledFrom([]int64{0, 7e6, 20e6, 20e6, 60e6}).Draw(t, "ns"))
				must(err)
				latest = w.expect()
			},
			"step": func(*rapid.T) { must(w.Step()) },
			"publish": func(*rapid.T) {
				must(p.Publish())
				latest = w.expect()
			},
			"run": func(t *rapid.T) {
				for _, name := range []string{"spawn", "despawn", "jump", "slow"} {
					insideRun[name] = rapid.IntRange(0, 3).Draw(t, name) == 0
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				frames := rapid.IntRange(1, 6).Draw(t, "frames")
				if err := w.RunFrames(ctx, func(loop.Frame) {
					latest = w.expect()
					if rapid.Bool().Draw(t, "acquire") {
						acquire()
					}
					w.Loop().SetPaused(rapid.IntRange(0, 3).Draw(t, "pause") == 0)
					switch rapid.IntRange(0, 9).Draw(t, "jump in time") {
					case 0:
						_ = w.StepBack(1)
					case 1:
						if saved != nil {
							must(w.Restore(saved))
						}
					}
					if frames--; frames == 0 {
						cancel()
					}
				}); err != context.Canceled {
					t.Fatal(err)
				}
				if w.Ticks() != latest.tick { // the last call went to another tick
					latest = w.expect()
				}
				w.Loop().SetPaused(false)
				insideRun = map[string]bool{}
			},
			"save": func(t *rapid.T) {
				saved, err = w.Snapshot(saved[:0])
				must(err)
			},
			"restore": func(t *rapid.T) {
				if saved != nil {
					must(w.Restore(saved))
				}
			},
			"back": func(t *rapid.T) {
				if w.Ticks() > 0 {
					_ = w.StepBack(1)
				}
			},
		}
		for name, f := range change {
			actions[name] = f
		}
		t.Repeat(actions)
		acquire()
	})
}

func TestPublishEmptyWorld(t *testing.T) {
	w := newWalkers(t, evertick.Config{Capacity: 10, Previous: true})
	p := newPublisher(t, w.Sim, all(w))
	for range 3 {
		v := p.Acquire()
		if v.Rows != 0 || len(v.IDs) != 0 || len(v.Now.Scale.Z) != 0 || v.Interpolate(0.5, ecs.NewTransforms(0)) != nil {
			t.Errorf("%+v", v)
		}
		if age, ok := evertick.ColumnOf[uint16](v, "age"); !ok || len(age) != 0 {
			t.Errorf("%v %v", age, ok)
		}
		if _, err := w.Advance(20e6); err != nil {
			t.Fatal(err)
		}
	}
	if v := p.Acquire(); v.Seq != 3 || v.Tick != 3 || v.Frame != w.Frame() {
		t.Errorf("%+v", v)
	}
}

func TestPublishErrors(t *testing.T) {
	w, other := newWalkers(t, simtest.Small()), newWalkers(t, simtest.Small())
	unknown, err := other.World.Tag("unknown")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		c    evertick.PublishConfig
		text string
	}{
		{evertick.PublishConfig{Transforms: []string{"position.x", "age"}}, `Transforms[1] = age`},
		{evertick.PublishConfig{Transforms: []string{"scale.x", "scale.x"}}, `Transforms[1] = scale.x`},
		{evertick.PublishConfig{Columns: []string{"age", "agee"}}, `Columns[1] = agee`},
		{evertick.PublishConfig{Columns: []string{"position.x"}}, `Columns[0] = position.x`},
		{evertick.PublishConfig{Tags: []ecs.Tag{w.tagged, unknown}}, `Tags[1] = unknown`},
		{evertick.PublishConfig{Tags: []ecs.Tag{other.tagged}}, `Tags[0] = tagged`},
	} {
		p, err := w.Publish(tc.c)
		simtest.WantError(t, err, evertick.ErrRange, "evertick: Publish: "+tc.text)
		if p != nil {
			t.Error("a Publisher beside an error")
		}
	}
	if len(w.World.Describe().Tags) != 1 {
		t.Error("an error added a tag")
	}
}

// A subset of the transforms is published beside initial values of the others.
func TestPublishSubset(t *testing.T) {
	w := newWalkers(t, evertick.Config{Capacity: 100, Previous: true})
	p := newPublisher(t, w.Sim, evertick.PublishConfig{Transforms: []string{"rotation.z", "position.x"}, Columns: []string{"scale.y"}})
	simtest.Spawn(t, w.Sim)
	for range 80 {
		simtest.Spawn(t, w.Sim)
	}
	for range 2 {
		if _, err := w.Advance(17e6); err != nil {
			t.Fatal(err)
		}
	}
	v := p.Acquire()
	y, ok := evertick.ColumnOf[float32](v, "scale.y")
	if !ok || y[80] != 1 || v.Now.Position.X[80] != 162 || v.Previous.Position.X[80] != 81 || v.Now.Rotation.Z[3] != 0.1 || v.Previous.Rotation.Z[3] != 0 {
		t.Errorf("%v %+v %+v", y, v.Now, v.Previous)
	}
	for i, column := range transformsOf(&v.Now) {
		if i == 0 || i == 5 {
			continue
		}
		want := []float32{0, 0, 0, 0, 0, 0, 1, 1, 1, 1}[i]
		if len(column) != 81 || column[80] != want || !slices.Equal(column, transformsOf(&v.Previous)[i]) {
			t.Errorf("column %d: %v", i, column)
		}
	}
	for name, ok := range map[string]bool{"position.x": has[float32](v, "position.x"), "rotation.z": has[float32](v, "rotation.z"),
		"not position.x as float64": !has[float64](v, "position.x"), "not as an array": !has[[1]string](v, "scale.y") && !has[[2]float32](v, "scale.y"),
		"not position.y": !has[float32](v, "position.y"), "not age": !has[uint16](v, "age")} {
		if !ok {
			t.Error(name)
		}
	}
	if v.Tag(w.tagged) != nil {
		t.Error("a tag that is not published")
	}
}

func has[T any](v *evertick.View, name string) bool {
	_, ok := evertick.ColumnOf[T](v, name)
	return ok
}

// View.Interpolate computes what Sim.Interpolate does.
func TestViewInterpolates(t *testing.T) {
	for _, level := range native.Levels() {
		c := evertick.Config{Capacity: 300, Previous: true, Level: level}
		w := newWalkers(t, c)
		p := newPublisher(t, w.Sim, evertick.PublishConfig{})
		for range 200 {
			simtest.Spawn(t, w.Sim)
		}
		for _, ns := range []int64{20e6, 30e6, 5e6} {
			if _, err := w.Advance(ns); err != nil {
				t.Fatal(err)
			}
			w.World.Jump(ecs.ID(7))
			want, got := ecs.NewTransforms(300), ecs.NewTransforms(300)
			if err := w.Interpolate(want); err != nil {
				t.Fatal(err)
			}
			if err := p.Publish(); err != nil {
				t.Fatal(err)
			}
			v := p.Acquire()
			if err := v.Interpolate(v.Frame.Alpha32(), got); err != nil {
				t.Fatal(err)
			}
			for i, column := range transformsOf(got) {
				if !slices.Equal(column, transformsOf(want)[i]) {
					t.Errorf("level %v, column %d: %v, want %v", level, i, column[:10], transformsOf(want)[i][:10])
				}
			}
			simtest.WantError(t, v.Interpolate(float32(math.NaN()), got), evertick.ErrNotFinite)
		}
	}
}

func TestViewAlpha(t *testing.T) {
	clock := simtest.ManualClock()
	c := simtest.Small()
	c.Clock, c.Previous, c.Loop.RateNum = clock, true, 50
	s := simtest.New(t, c)
	p := newPublisher(t, s, evertick.PublishConfig{})
	check := func(what string, at int64, want float32) {
		t.Helper()
		if got := p.Acquire().Alpha(at); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("%s: alpha = %v, want %v", what, got, want)
		}
	}
	advance := func(at int64, ns int64) {
		t.Helper()
		clock.Set(at)
		if _, err := s.Advance(ns); err != nil {
			t.Fatal(err)
		}
	}
	simtest.Add(t, s, evertick.BeforePhysics, "takes 3 ms", func(*evertick.Tick) error { clock.Add(3e6); return nil })
	advance(1e9, 25e6)
	check("at the frame", 1e9, 0.25)
	check("when it is published", p.Now(), 0.4)
	check("later", 1e9+10e6, 0.75)
	check("beyond the next tick", 1e9+16e6, 1)
	check("before the frame", 1e9-10e6, 0)
	advance(1e9+10e6, 10e6)
	check("a frame without a tick", 1e9+12e6, 0.85)
	if err := s.Loop().SetScale(loop.Dilation, "test", 0.5, 0); err != nil {
		t.Fatal(err)
	}
	advance(1e9+20e6, 0)
	check("half the pace", 1e9+24e6, 0.85)
	s.Loop().SetPaused(true)
	advance(1e9+30e6, 0)
	check("paused", 1e9+90e6, 0.75)
	simtest.Step(t, s, 1)
	clock.Set(2e9)
	if err := p.Publish(); err != nil {
		t.Fatal(err)
	}
	check("after a Step of the host", 2e9+5e6, 0.25)
}

// Where a frame ends early, its complete ticks are published. A tick that fails is not.
func TestPublishAtTheEnd(t *testing.T) {
	for _, run := range []bool{false, true} {
		clock := simtest.ManualClock()
		c := evertick.Config{Capacity: 10, Clock: clock, Previous: true}
		w := newWalkers(t, c)
		slot := simtest.SlotOf(t, w.Sim, simtest.Spawn(t, w.Sim))
		p := newPublisher(t, w.Sim, all(w))
		var end error = loop.ErrStop
		simtest.Add(t, w.Sim, evertick.AfterIndex, "end", func(tick *evertick.Tick) error {
			switch tick.N {
			case 2:
				return end
			case 3:
				return errSystem
			}
			return nil
		})
		advance := func() error {
			if run {
				return w.Run(t.Context())
			}
			_, err := w.Advance(80e6)
			return err
		}
		if err := advance(); err != nil && !errors.Is(err, loop.ErrStop) {
			t.Fatal(err)
		}
		if v := p.Acquire(); v.Tick != 3 || v.Now.Position.X[slot] != 3 || v.Previous.Position.X[slot] != 2 {
			t.Errorf("run %t: after ErrStop tick %d is published: %+v", run, v.Tick, v.Now.Position)
		}
		simtest.WantError(t, advance(), errSystem)
		seq := p.Acquire().Seq
		if v := p.Acquire(); v.Tick != 3 || v.Now.Position.X[slot] != 3 {
			t.Errorf("run %t: the failed tick is published: %+v", run, v)
		}
		simtest.WantError(t, p.Publish(), errSystem)
		simtest.WantError(t, advance(), errSystem)
		if p.Acquire().Seq != seq {
			t.Errorf("run %t: a failed Sim publishes", run)
		}
	}
}

// A Publisher that is made within a step publishes from the end of that frame on, and one that is
// closed, never again.
func TestPublishBeginsAndEnds(t *testing.T) {
	s := simtest.New(t, simtest.Small())
	var first, second *evertick.Publisher
	first = newPublisher(t, s, evertick.PublishConfig{})
	simtest.Add(t, s, evertick.BeforePhysics, "publish", func(tick *evertick.Tick) error {
		if tick.N == 1 {
			second = newPublisher(t, s, evertick.PublishConfig{})
		}
		if err := first.Publish(); err == nil {
			t.Error("Publish within a step")
		}
		return nil
	})
	frame := func() {
		if _, err := s.Advance(20e6); err != nil {
			t.Fatal(err)
		}
	}
	frame()
	frame()
	if v, u := first.Acquire(), second.Acquire(); v.Seq != 2 || u.Seq != 1 || u.Tick != 2 {
		t.Errorf("%d, %d, tick %d", v.Seq, u.Seq, u.Tick)
	}
	first.Close()
	frame()
	if err := first.Publish(); err != nil {
		t.Error(err)
	}
	if v, u := first.Acquire(), second.Acquire(); v.Seq != 2 || v.Tick != 2 || u.Seq != 2 || u.Tick != 3 {
		t.Errorf("%d at tick %d, %d at tick %d", v.Seq, v.Tick, u.Seq, u.Tick)
	}
	second.Close()
	frame()
}

// A host that only steps has no frames: what it has closed is gone when it publishes anew.
func TestPublishAfterClose(t *testing.T) {
	s := simtest.New(t, simtest.Small())
	closed := func() weak.Pointer[evertick.Publisher] { // so that no variable holds p afterwards
		p := newPublisher(t, s, evertick.PublishConfig{})
		p.Close()
		return weak.Make(p)
	}()
	newPublisher(t, s, evertick.PublishConfig{})
	runtime.GC()
	if closed.Value() != nil {
		t.Error("the Sim keeps a Publisher that was closed")
	}
	runtime.KeepAlive(s)
}

// A system makes the first Publisher: the time of its first view is that of the running frame.
func TestPublishFromWithinATick(t *testing.T) {
	for _, untimed := range [...]bool{false, true} {
		clock := simtest.ManualClock()
		clock.Add(5e9)
		s := simtest.New(t, evertick.Config{Capacity: 4, Clock: clock, Untimed: untimed})
		var p *evertick.Publisher
		simtest.Add(t, s, evertick.AfterPhysics, "publish", func(*evertick.Tick) error {
			p = newPublisher(t, s, evertick.PublishConfig{})
			return nil
		})
		if _, err := s.Advance(25_000_000); err != nil {
			t.Fatal(err)
		}
		if v := p.Acquire(); v.Seq != 1 || v.AtNs != 5e9 || v.Alpha(p.Now()) != 0.5 {
			t.Errorf("untimed %t: view %d at %d ns, alpha %g", untimed, v.Seq, v.AtNs, v.Alpha(p.Now()))
		}
	}
}

// A function of RunFrames that spawns breaks its rules, but the views stay whole.
func TestPublishWhatAFrameHasSpawned(t *testing.T) {
	s := simtest.New(t, evertick.Config{Capacity: 400, Previous: true, Clock: simtest.ManualClock()})
	p := newPublisher(t, s, evertick.PublishConfig{})
	s.Loop().SetPaused(true) // so that no tick follows
	ctx, cancel := context.WithCancel(t.Context())
	frames := 0
	err := s.RunFrames(ctx, func(loop.Frame) {
		if frames++; frames == 2 {
			cancel()
			return
		}
		if err := s.World.SpawnN(make([]ecs.ID, 300)); err != nil {
			t.Error(err)
		}
		s.World.Position.X[299] = 7
	})
	if v := p.Acquire(); err != context.Canceled || v.Rows != 300 || v.Now.Position.X[299] != 7 || v.Previous.Scale.Z[299] != 1 {
		t.Errorf("%d rows, %v", v.Rows, err)
	}
}

// The columns that only a snapshot brought can be published, and are zero when a Restore has dropped
// them.
func TestPublishKeptColumn(t *testing.T) {
	w := newWalkers(t, simtest.Small())
	simtest.Spawn(t, w.Sim)
	simtest.Step(t, w.Sim, 3)
	data := w.World.Snapshot(nil)
	s := simtest.New(t, simtest.Small())
	empty := s.World.Snapshot(nil)
	if err := s.World.Restore(data); err != nil {
		t.Fatal(err)
	}
	p := newPublisher(t, s, evertick.PublishConfig{Columns: []string{"age"}})
	check := func(want uint16) {
		t.Helper()
		if err := p.Publish(); err != nil {
			t.Fatal(err)
		}
		if age, ok := evertick.ColumnOf[uint16](p.Acquire(), "age"); !ok || age[0] != want {
			t.Errorf("%v, want %d", age, want)
		}
	}
	check(3)
	if err := s.World.Restore(empty); err != nil {
		t.Fatal(err)
	}
	simtest.Spawn(t, s)
	check(0)
}

func TestPublishAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w := newWalkers(t, evertick.Config{Capacity: 300, Previous: true, Clock: simtest.ManualClock()})
	ids := make([]ecs.ID, 100)
	if err := w.World.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	p := newPublisher(t, w.Sim, all(w))
	out := ecs.NewTransforms(300)
	frame := func() {
		if _, err := w.Advance(20e6); err != nil {
			t.Fatal(err)
		}
		w.World.Despawn(ids[0])
		copy(ids, ids[1:])
		ids[99], _ = w.World.Spawn()
		v := p.Acquire()
		if err := v.Interpolate(v.Alpha(p.Now()), out); err != nil {
			t.Fatal(err)
		}
		if !has[[2]float64](v, "velvet") || v.Tag(w.tagged) == nil {
			t.Fatal("not published")
		}
	}
	for range 20 {
		frame()
	}
	if n := testing.AllocsPerRun(100, frame); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// A reader on a goroutine of its own never sees half of a frame, and never an older one.
func TestPublishedReadsAreNotTorn(t *testing.T) {
	if runtime.GOARCH == "wasm" {
		t.Skip("not run: on one thread no read meets a write")
	}
	reads := 10_000_000
	if testing.Short() {
		reads = 300_000
	}
	const rows = 64
	s := simtest.New(t, evertick.Config{Capacity: rows, Previous: true, Clock: simtest.ManualClock(), Untimed: true})
	stamp, err := ecs.AddColumn[uint64](s.World, "stamp")
	if err != nil {
		t.Fatal(err)
	}
	owner, err := ecs.AddColumn[uint64](s.World, "owner")
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]ecs.ID, rows)
	if err := s.World.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	value := func(tick uint64) float32 { return float32(tick % (1 << 24)) }
	simtest.Add(t, s, evertick.BeforePhysics, "stamp", func(tick *evertick.Tick) error {
		w := s.World
		w.Despawn(ids[tick.N%rows])
		ids[tick.N%rows], _ = w.Spawn()
		for i := range rows {
			w.Position.X[i], w.Rotation.W[i], w.Scale.Z[i] = value(tick.N+1), value(tick.N+1), value(tick.N+1)
			id, _ := w.ID(ecs.Slot(i))
			stamp.Values()[i], owner.Values()[i] = tick.N+1, uint64(id)
		}
		return nil
	})
	p := newPublisher(t, s, evertick.PublishConfig{Columns: []string{"stamp", "owner"}})
	ctx, cancel := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for ctx.Err() == nil {
			frames := 0
			run, end := context.WithCancel(ctx)
			_ = s.RunFrames(run, func(loop.Frame) {
				if frames++; frames == 100 {
					end()
				}
			})
			end()
			for range 50 { // of 0 to 2 ticks
				if _, err := s.Advance(int64(frames%5) * 8_300_000); err != nil {
					t.Error(err)
					return
				}
				frames++
			}
		}
	})
	defer writer.Wait()
	defer cancel()
	views, jumps, again := 0, 0, 0
	var last uint64
	var stamps, owners []uint64
	for i := 0; i < reads || views < 1000; i++ {
		v := p.Acquire()
		if v.Seq < last || v.Seq > 0 && v.Rows != rows {
			t.Fatalf("view %d of %d rows after %d", v.Seq, v.Rows, last)
		}
		if again++; v.Seq > last {
			views++
			stamps, _ = evertick.ColumnOf[uint64](v, "stamp")
			owners, _ = evertick.ColumnOf[uint64](v, "owner")
			again = 0
		}
		if last = v.Seq; again > 1000 { // the writer may need this CPU
			time.Sleep(time.Microsecond)
			again = 0
		}
		if v.Tick == 0 {
			continue
		}
		for _, row := range [...]int{i % rows, (i * 7) % rows, int(v.Tick-1) % rows} {
			now, before := value(v.Tick), value(v.Tick-1)
			if v.Previous.Position.X[row] == now {
				before = now // the entity was spawned in this tick
				jumps++
			}
			if v.Now.Position.X[row] != now || v.Now.Rotation.W[row] != now || v.Now.Scale.Z[row] != now || stamps[row] != v.Tick ||
				v.Tick > 1 && (v.Previous.Position.X[row] != before || v.Previous.Rotation.W[row] != before || v.Previous.Scale.Z[row] != before) ||
				v.IDs[row] != ecs.ID(owners[row]) {
				t.Fatalf("torn at tick %d, row %d: now %v %v %v, previous %v %v %v, stamp %d, id %v, owner %v", v.Tick, row,
					v.Now.Position.X[row], v.Now.Rotation.W[row], v.Now.Scale.Z[row],
					v.Previous.Position.X[row], v.Previous.Rotation.W[row], v.Previous.Scale.Z[row], stamps[row], v.IDs[row], owners[row])
			}
		}
	}
	if jumps == 0 {
		t.Error("no entity was spawned")
	}
	t.Logf("%d reads of %d views, of %d publications", reads, views, last)
}
