package modules_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/loop/modules"
)

const tickNs = 16_666_667 // a nanosecond more than a 60th of a second, at most

// fake is a module that does what its functions say, if there are any, and notes
// each call.
type fake struct {
	name       string
	log        *[]string
	start      func(*modules.StartContext) error
	update     func(*modules.UpdateContext) error
	coordinate func(*modules.RenderContext, *modules.StepToken) error
	render     func(*modules.RenderContext, float64) error
	stop       func() error
}

func (f *fake) note(format string, args ...any) {
	if f.log != nil {
		*f.log = append(*f.log, f.name+" "+fmt.Sprintf(format, args...))
	}
}

func (f *fake) Start(c *modules.StartContext) error {
	f.note("start")
	if f.start != nil {
		return f.start(c)
	}
	return nil
}

func (f *fake) Update(c *modules.UpdateContext, dt float32) error {
	f.note("update %d", c.Tick())
	if dt != c.Dt() || dt != float32(1)/60 {
		return fmt.Errorf("dt = %v and %v", dt, c.Dt())
	}
	if f.update != nil {
		return f.update(c)
	}
	return nil
}

func (f *fake) Coordinate(c *modules.RenderContext, t *modules.StepToken) error {
	f.note("coordinate")
	if f.coordinate != nil {
		return f.coordinate(c, t)
	}
	return nil
}

func (f *fake) Render(c *modules.RenderContext, alpha float64) error {
	f.note("render %d %.2f", c.Frame().Tick, alpha)
	if f.render != nil {
		return f.render(c, alpha)
	}
	return nil
}

func (f *fake) Stop() error {
	f.note("stop")
	if f.stop != nil {
		return f.stop()
	}
	return nil
}

// engine returns an engine with these modules, which log into the result.
func engine(t testing.TB, c modules.Config, list ...*fake) (*modules.Engine, *[]string) {
	t.Helper()
	e, err := modules.New(c)
	if err != nil {
		t.Fatal(err)
	}
	log := new([]string)
	for _, m := range list {
		m.log = log
		if err := e.Add(m.name, m); err != nil {
			t.Fatal(err)
		}
	}
	return e, log
}

func started(t testing.TB, c modules.Config, list ...*fake) (*modules.Engine, *[]string) {
	t.Helper()
	e, log := engine(t, c, list...)
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	*log = nil
	return e, log
}

func advance(t testing.TB, e *modules.Engine, elapsedNs int64) loop.Frame {
	t.Helper()
	f, err := e.Advance(elapsedNs)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func expect(t testing.TB, log *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*log, want) {
		t.Errorf("calls\n got %s\nwant %s", strings.Join(*log, ", "), strings.Join(want, ", "))
	}
	*log = nil
}

func TestLife(t *testing.T) {
	e, log := engine(t, modules.Config{}, &fake{name: "a"}, &fake{name: "b"})
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	expect(t, log, "a start", "b start")
	advance(t, e, 25_000_000)
	expect(t, log, "a update 0", "b update 0", "a render 1 0.50", "b render 1 0.50")
	advance(t, e, 0)
	expect(t, log, "a render 1 0.50", "b render 1 0.50")
	if f := advance(t, e, 25_000_000); f.Tick != 3 || f.Steps != 2 || e.Tick() != 3 || e.Frame() != f {
		t.Errorf("%+v", f)
	}
	expect(t, log, "a update 1", "b update 1", "a update 2", "b update 2", "a render 3 0.00", "b render 3 0.00")
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	expect(t, log, "b stop", "a stop")
	if err := e.Stop(); err != nil || len(*log) > 0 {
		t.Errorf("a second Stop: %v, %v", err, *log)
	}
}

// The default is the preset Modules: at most 5 updates a frame, the rest dropped.
func TestAtMostFiveUpdatesAFrame(t *testing.T) {
	e, log := started(t, modules.Config{}, &fake{name: "a"})
	if f := advance(t, e, 150_000_000); f.Steps != 5 || f.Dropped != 4 || len(*log) != 6 || !f.CapHit {
		t.Errorf("%+v, %v", f, *log)
	}
	e, log = started(t, modules.Config{Loop: loop.Config{MaxSteps: 2, Policy: loop.Keep}}, &fake{name: "a"})
	if f := advance(t, e, 100_000_000); f.Steps != 2 || f.Backlog != 4 || len(*log) != 3 {
		t.Errorf("%+v, %v", f, *log)
	}
}

// bare has no Start, Stop or Coordinate.
type bare struct{ updates, renders int }

func (b *bare) Update(*modules.UpdateContext, float32) error { b.updates++; return nil }
func (b *bare) Render(*modules.RenderContext, float64) error { b.renders++; return nil }

func TestBareModule(t *testing.T) {
	e, _ := engine(t, modules.Config{})
	var b bare
	if err := e.Add("bare", &b); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	advance(t, e, 2*tickNs)
	if err := e.Stop(); err != nil || b != (bare{2, 1}) {
		t.Errorf("%v, %+v", err, b)
	}
}

func TestMisuse(t *testing.T) {
	e, _ := engine(t, modules.Config{}, &fake{name: "a"})
	for want, err := range map[string]error{
		`modules: Add: name = "": out of range`:  e.Add("", &fake{}),
		`modules: Add: name = "a": out of range`: e.Add("a", &fake{}),
	} {
		if !errors.Is(err, modules.ErrRange) || err.Error() != want {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
	if _, err := e.Advance(1); !errors.Is(err, modules.ErrNotRunning) {
		t.Errorf("Advance before Start: %v", err)
	}
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	if err := e.Add("b", &fake{}); !errors.Is(err, modules.ErrStarted) {
		t.Errorf("Add after Start: %v", err)
	}
	if err := e.Start(); !errors.Is(err, modules.ErrStarted) {
		t.Errorf("Start again: %v", err)
	}
	if err := e.Stop(); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"Start": e.Start(), "Run": e.Run(t.Context())} {
		if !errors.Is(err, modules.ErrStarted) && !errors.Is(err, modules.ErrNotRunning) {
			t.Errorf("%s after Stop: %v", name, err)
		}
	}
	if _, err := e.Advance(1); !errors.Is(err, modules.ErrNotRunning) {
		t.Errorf("Advance after Stop: %v", err)
	}
	if _, err := modules.New(modules.Config{Loop: loop.Config{MaxSteps: -1}}); !errors.Is(err, modules.ErrRange) {
		t.Errorf("New: %v", err)
	}
	defer func() {
		if got := recover(); got != "modules: Add: nil module" {
			t.Errorf("panic %v", got)
		}
	}()
	_ = e.Add("nil", nil)
}

// A module must not drive its engine.
func TestReentry(t *testing.T) {
	var e *modules.Engine
	advanced := func() error { _, err := e.Advance(1); return err }
	for _, m := range []*fake{
		{start: func(*modules.StartContext) error { return advanced() }},
		{update: func(*modules.UpdateContext) error { return advanced() }},
		{render: func(*modules.RenderContext, float64) error { return e.Stop() }},
		{stop: func() error { return e.Stop() }},
	} {
		m.name = "nosy"
		e, _ = engine(t, modules.Config{}, m)
		err := e.Start()
		if err == nil {
			_, err = e.Advance(tickNs)
		}
		err = errors.Join(err, e.Stop())
		if err == nil || !strings.Contains(err.Error(), "called from a module") {
			t.Errorf("err = %v", err)
		}
	}
}

func TestStartFailureStopsThoseBefore(t *testing.T) {
	e, log := engine(t, modules.Config{},
		&fake{name: "a", stop: func() error { return io.ErrClosedPipe }},
		&fake{name: "b"},
		&fake{name: "c", start: func(*modules.StartContext) error { return io.ErrUnexpectedEOF }},
		&fake{name: "d"})
	err := e.Start()
	want := "modules: tick 0: start of \"c\": unexpected EOF\nmodules: tick 0: stop of \"a\": io: read/write on closed pipe"
	if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, io.ErrClosedPipe) || err.Error() != want {
		t.Errorf("err = %v", err)
	}
	expect(t, log, "a start", "b start", "c start", "b stop", "a stop")
	if _, err := e.Advance(1); !errors.Is(err, modules.ErrNotRunning) {
		t.Errorf("Advance: %v", err)
	}
}

func TestStopStopsAll(t *testing.T) {
	e, log := started(t, modules.Config{},
		&fake{name: "a", stop: func() error { return io.EOF }},
		&fake{name: "b", stop: func() error { panic("stuck") }},
		&fake{name: "c"})
	err := e.Stop()
	if !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), `stop of "b": panic: stuck`) {
		t.Errorf("err = %v", err)
	}
	expect(t, log, "c stop", "b stop", "a stop")
}

// failAt fails, or panics, in tick n.
func failAt(n uint64, err error, panics bool) func(*modules.UpdateContext) error {
	return func(c *modules.UpdateContext) error {
		if c.Tick() < n {
			return nil
		}
		if panics {
			panic(err)
		}
		return err
	}
}

func TestUpdateFailureEndsTheRun(t *testing.T) {
	for _, panics := range []bool{false, true} {
		e, log := started(t, modules.Config{}, &fake{name: "a"}, &fake{name: "b", update: failAt(1, io.EOF, panics)}, &fake{name: "c"})
		_, err := e.Advance(3 * tickNs)
		expect(t, log, "a update 0", "b update 0", "c update 0", "a update 1", "b update 1")
		want := `modules: tick 1: update of "b": EOF`
		if panics {
			want = `modules: tick 1: update of "b": panic: EOF`
		}
		var failure *modules.Error
		if !errors.As(err, &failure) || !errors.Is(err, io.EOF) || err.Error() != want ||
			failure.Module != "b" || failure.Tick != 1 || failure.Op != modules.OpUpdate {
			t.Errorf("err = %v, want %s", err, want)
		}
		var p *loop.PanicError
		if errors.As(err, &p) != panics || panics && (p.Value != io.EOF || p.System != "b" || p.Tick != 1 || !strings.Contains(string(p.Stack), "failAt")) {
			t.Errorf("%+v", p)
		}
		if _, again := e.Advance(3 * tickNs); again != err || len(*log) > 0 || e.Tick() != 1 {
			t.Errorf("then %v, %v, tick %d", again, *log, e.Tick())
		}
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
		expect(t, log, "c stop", "b stop", "a stop")
	}
}

func TestRenderFailureEndsTheFrame(t *testing.T) {
	fail := true
	e, log := started(t, modules.Config{}, &fake{name: "a"},
		&fake{name: "b", render: func(*modules.RenderContext, float64) error {
			if fail {
				panic("no surface")
			}
			return nil
		}}, &fake{name: "c"})
	f, err := e.Advance(tickNs)
	if err == nil || err.Error() != `modules: tick 1: render of "b": panic: no surface` || f.Tick != 1 {
		t.Errorf("%v, %+v", err, f)
	}
	expect(t, log, "a update 0", "b update 0", "c update 0", "a render 1 0.00", "b render 1 0.00")
	fail = false
	if f := advance(t, e, tickNs); f.Tick != 2 {
		t.Errorf("%+v", f)
	}
}

func TestRenderContext(t *testing.T) {
	clock := new(modules.FakeTime)
	clock.Set(77)
	calls := 0
	e, _ := started(t, modules.Config{Clock: clock}, &fake{name: "a", render: func(c *modules.RenderContext, alpha float64) error {
		calls++
		f := c.Frame()
		if f.WallNs != 300e6 || f.UINs != 250e6 || f.ElapsedNs != 300e6 || f.Alpha != alpha || c.Clock().Now() != 77 {
			t.Errorf("%+v, alpha %v", f, alpha)
		}
		if c.SimTime().Compare(mustTime(t, 5)) != 0 {
			t.Errorf("simulated time %v", c.SimTime())
		}
		return nil
	}})
	advance(t, e, 300e6)
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

func mustTime(t testing.TB, tick uint64) loop.SimTime {
	t.Helper()
	st, err := loop.NewSimTime(tick, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// The Loop's own controls work through the engine.
func TestLoopControls(t *testing.T) {
	e, log := started(t, modules.Config{}, &fake{name: "a"})
	e.Loop().SetPaused(true)
	if f := advance(t, e, 50e6); f.Steps != 0 || !f.Paused || f.UINs != 50e6 {
		t.Errorf("%+v", f)
	}
	expect(t, log, "a render 0 0.00")
	e.Loop().SetPaused(false)
	if err := e.Loop().SetScale(loop.Speed, "test", 2, loop.Forever); err != nil {
		t.Fatal(err)
	}
	if f := advance(t, e, 25e6); f.Steps != 3 {
		t.Errorf("%+v", f)
	}
}

func TestRun(t *testing.T) {
	clock := &modules.FakeTime{Jump: true}
	e, log := engine(t, modules.Config{Clock: clock}, &fake{name: "a", update: failAt(3, io.EOF, false)}, &fake{name: "b"})
	err := e.Run(t.Context())
	if !errors.Is(err, io.EOF) || err.Error() != `modules: tick 3: update of "a": EOF` {
		t.Errorf("err = %v", err)
	}
	if clock.Now() != 66_666_667 || (*log)[0] != "a start" || (*log)[len(*log)-1] != "a stop" || len(*log) != 2+4*3+1+2 {
		t.Errorf("at %d: %v", clock.Now(), *log)
	}
}

func TestRunEndsWhenRenderingFails(t *testing.T) {
	e, _ := engine(t, modules.Config{Clock: &modules.FakeTime{Jump: true}}, &fake{name: "a",
		render: func(c *modules.RenderContext, _ float64) error {
			if c.Frame().Tick == 3 {
				return io.EOF
			}
			return nil
		},
		stop: func() error { return io.ErrClosedPipe },
	})
	err := e.Run(t.Context())
	if !errors.Is(err, io.EOF) || !errors.Is(err, io.ErrClosedPipe) || errors.Is(err, context.Canceled) || e.Tick() != 3 {
		t.Errorf("%v after tick %d", err, e.Tick())
	}
}

// A module ends Run after its tick, which all other modules complete.
func TestUpdateStops(t *testing.T) {
	for _, wrapped := range []error{loop.ErrStop, fmt.Errorf("won: %w", loop.ErrStop)} {
		e, log := engine(t, modules.Config{Clock: &modules.FakeTime{Jump: true}}, &fake{name: "a", update: failAt(1, wrapped, false)}, &fake{name: "b"})
		if err := e.Run(t.Context()); err != nil || e.Tick() != 2 {
			t.Errorf("%v after tick %d", err, e.Tick())
		}
		expect(t, log, "a start", "b start", "a update 0", "b update 0", "a render 1 0.00", "b render 1 0.00",
			"a update 1", "b update 1", "b stop", "a stop")
	}
	// A panic with loop.ErrStop is a panic.
	e, _ := engine(t, modules.Config{Clock: &modules.FakeTime{Jump: true}}, &fake{name: "a", update: failAt(1, loop.ErrStop, true)})
	var p *loop.PanicError
	if err := e.Run(t.Context()); !errors.As(err, &p) || e.Tick() != 1 {
		t.Errorf("%v after tick %d", err, e.Tick())
	}
}

func TestRenderStops(t *testing.T) {
	closed := &fake{name: "window", render: func(c *modules.RenderContext, _ float64) error {
		if c.Frame().Tick == 2 {
			return loop.ErrStop
		}
		return nil
	}}
	e, log := engine(t, modules.Config{Clock: &modules.FakeTime{Jump: true}}, closed, &fake{name: "b"})
	if err := e.Run(t.Context()); err != nil || e.Tick() != 2 {
		t.Errorf("%v after tick %d", err, e.Tick())
	}
	if got := *log; len(got) < 3 || !slices.Equal(got[len(got)-3:], []string{"b render 2 0.00", "b stop", "window stop"}) {
		t.Errorf("%v", got)
	}
}

// An error that follows in the same frame is not lost.
func TestRenderFailsAfterStop(t *testing.T) {
	e, _ := engine(t, modules.Config{Clock: &modules.FakeTime{Jump: true}},
		&fake{name: "a", render: func(*modules.RenderContext, float64) error { return loop.ErrStop }},
		&fake{name: "b", render: func(*modules.RenderContext, float64) error { return io.EOF }})
	if err := e.Run(t.Context()); !errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// The host that calls Advance gets loop.ErrStop, and may go on: no tick is lost or run
// twice.
func TestAdvanceAfterStop(t *testing.T) {
	var update, render error
	e, log := started(t, modules.Config{},
		&fake{name: "a",
			update: func(*modules.UpdateContext) error { return update },
			render: func(*modules.RenderContext, float64) error { return render }},
		&fake{name: "b"})
	update = loop.ErrStop
	if f, err := e.Advance(50e6); err != loop.ErrStop || f != (loop.Frame{}) || e.Tick() != 1 {
		t.Errorf("%v, %+v", err, f)
	}
	expect(t, log, "a update 0", "b update 0")
	update, render = nil, loop.ErrStop
	if f, err := e.Advance(0); err != loop.ErrStop || f.Tick != 3 || f.Steps != 2 || f != e.Frame() {
		t.Errorf("%v, %+v", err, f)
	}
	expect(t, log, "a update 1", "b update 1", "a update 2", "b update 2", "a render 3 0.00", "b render 3 0.00")
	render = nil
	if f := advance(t, e, 0); f.Tick != 3 || f.Steps != 0 {
		t.Errorf("%+v", f)
	}
}

// The real clock, in a bubble where time is exact and takes no time.
func TestRunInRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Nanosecond)
		defer cancel()
		e, log := engine(t, modules.Config{}, &fake{name: "a"})
		if err := e.Run(ctx); err != context.DeadlineExceeded && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v", err)
		}
		if e.Tick() != 600 || (*log)[len(*log)-1] != "a stop" {
			t.Errorf("%d ticks", e.Tick())
		}
	})
}

// quiet is a module that reads everything and keeps nothing.
type quiet struct{ sum float64 }

func (q *quiet) Update(c *modules.UpdateContext, dt float32) error {
	r := c.Rand(7, 1)
	spread, _ := modules.Find[*float64](c.Services(), "spread")
	q.sum += c.Time().Seconds() + *spread + r.Normal()
	return nil
}

func (q *quiet) Render(c *modules.RenderContext, alpha float64) error {
	q.sum += alpha + float64(c.Frame().WallNs) + c.SimTime().Seconds()
	return nil
}

func (q *quiet) Coordinate(_ *modules.RenderContext, t *modules.StepToken) error { return t.Step() }

type starter struct {
	quiet
	token *modules.StepToken
}

func (s *starter) Start(c *modules.StartContext) (err error) {
	s.token, err = c.TakeStep()
	return err
}

func TestFramesDoNotAllocate(t *testing.T) {
	e, _ := engine(t, modules.Config{})
	var s starter
	for i := range 3 {
		if err := e.Add(fmt.Sprint("quiet ", i), new(quiet)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Add("starter", &s); err != nil {
		t.Fatal(err)
	}
	if err := modules.Provide(e.Services(), "spread", new(float64)); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	for _, release := range []bool{false, true} {
		if release {
			s.token.Release()
		}
		before := e.Tick()
		n := testing.AllocsPerRun(100, func() { advance(t, e, 2*tickNs) })
		if n != 0 || e.Tick() < before+100 {
			t.Errorf("released %v: %v allocations a frame, %d ticks", release, n, e.Tick()-before)
		}
	}
}
