package modules_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/loop/modules"
)

// taker is a fake that takes the token when it is started.
func taker(name string, token **modules.StepToken) *fake {
	return &fake{name: name, start: func(c *modules.StartContext) (err error) {
		*token, err = c.TakeStep()
		return err
	}}
}

func TestSecondTakerIsRefused(t *testing.T) {
	var token *modules.StepToken
	var contexts []*modules.StartContext
	keep := func(c *modules.StartContext) error { contexts = append(contexts, c); return nil }
	e, _ := started(t, modules.Config{}, taker("server", &token), &fake{name: "client", start: keep}, &fake{name: "third", start: keep})
	for _, c := range contexts {
		got, err := c.TakeStep()
		if got != nil || !errors.Is(err, modules.ErrStepTaken) || err.Error() != `modules: TakeStep: step token is taken by "server"` {
			t.Errorf("%s: %v, %v", c.Name(), got, err)
		}
	}
	token.Release()
	second, err := contexts[0].TakeStep()
	if err != nil || second == token {
		t.Fatalf("%v, %v", second, err)
	}
	if again, err := contexts[0].TakeStep(); again != second || err != nil {
		t.Errorf("the holder again: %v, %v", again, err)
	}
	if err := token.Step(); !errors.Is(err, modules.ErrStale) || err.Error() != `modules: StepToken of "server": stale` {
		t.Errorf("Step of a released token: %v", err)
	}
	if err := token.SetAlpha(0.5); !errors.Is(err, modules.ErrStale) {
		t.Errorf("SetAlpha of a released token: %v", err)
	}
	token.Release() // of somebody else by now: nothing
	if _, err := contexts[1].TakeStep(); !errors.Is(err, modules.ErrStepTaken) || !strings.Contains(err.Error(), `"client"`) {
		t.Errorf("err = %v", err)
	}
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	second.Release()
	if _, err := contexts[1].TakeStep(); !errors.Is(err, modules.ErrNotRunning) {
		t.Errorf("after Stop: %v", err)
	}
}

// While the token is held frames pass and no tick runs but those of the token;
// afterwards the engine goes on with the next tick.
func TestOnlyTheTokenSteps(t *testing.T) {
	var token *modules.StepToken
	e, log := engine(t, modules.Config{}, taker("lead", &token), &fake{name: "b"})
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	*log = nil
	f := advance(t, e, 10*tickNs)
	if f.Steps != 0 || f.Tick != 0 || f.WallNs != 10*tickNs || f.UINs != 10*tickNs || f.Paused || f.Dropped != 0 {
		t.Errorf("%+v", f)
	}
	expect(t, log, "lead coordinate", "lead render 0 0.00", "b render 0 0.00")
	for range 3 {
		if err := token.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := token.SetAlpha(0.25); err != nil || token.Tick() != 3 || e.Tick() != 3 {
		t.Errorf("%v, tick %d, %d", err, token.Tick(), e.Tick())
	}
	*log = nil
	if f = advance(t, e, 5); f.Steps != 3 || f.Tick != 3 || f.FirstTick() != 0 || f.Alpha != 0.25 || f.SimNs != 50e6 {
		t.Errorf("%+v", f)
	}
	expect(t, log, "lead coordinate", "lead render 3 0.25", "b render 3 0.25")
	token.Release()
	if f = advance(t, e, 2*tickNs); f.Steps != 2 || f.Tick != 5 || e.Tick() != 5 {
		t.Errorf("%+v", f)
	}
	expect(t, log, "lead update 3", "b update 3", "lead update 4", "b update 4", "lead render 5 0.00", "b render 5 0.00")
}

func TestCoordinateSteps(t *testing.T) {
	var token *modules.StepToken
	lead := taker("lead", &token)
	wall := uint64(0)
	lead.coordinate = func(c *modules.RenderContext, given *modules.StepToken) error {
		wall += 1000
		if f := c.Frame(); given != token || f.WallNs != wall || f.Steps != 0 || f.Tick != given.Tick() {
			t.Errorf("%+v", f)
		}
		if given.Tick() == 4 {
			given.Release()
			return nil
		}
		return errors.Join(given.Step(), given.Step())
	}
	e, log := started(t, modules.Config{}, &fake{name: "first"}, lead)
	for range 2 {
		advance(t, e, 1000)
	}
	expect(t, log,
		"lead coordinate", "first update 0", "lead update 0", "first update 1", "lead update 1", "first render 2 0.00", "lead render 2 0.00",
		"lead coordinate", "first update 2", "lead update 2", "first update 3", "lead update 3", "first render 4 0.00", "lead render 4 0.00")
	if f := advance(t, e, 1000); f.Steps != 0 || f.Tick != 4 {
		t.Errorf("%+v", f)
	}
	expect(t, log, "lead coordinate", "first render 4 0.00", "lead render 4 0.00")
	if f := advance(t, e, tickNs); f.Steps != 1 || f.Tick != 5 {
		t.Errorf("%+v", f)
	}
}

func TestTokenErrors(t *testing.T) {
	var token *modules.StepToken
	lead := taker("lead", &token)
	var answer error
	lead.coordinate = func(_ *modules.RenderContext, token *modules.StepToken) error { return answer }
	e, log := started(t, modules.Config{}, lead, &fake{name: "b", update: failAt(2, io.EOF, true)})
	for _, bad := range []struct {
		alpha float64
		is    error
	}{{math.NaN(), modules.ErrNotFinite}, {math.Inf(1), modules.ErrNotFinite}, {1, modules.ErrRange}, {-1, modules.ErrRange}} {
		if err := token.SetAlpha(bad.alpha); !errors.Is(err, bad.is) {
			t.Errorf("SetAlpha(%v): %v", bad.alpha, err)
		}
	}
	answer = io.ErrNoProgress
	if _, err := e.Advance(1); !errors.Is(err, answer) || err.Error() != `modules: tick 0: coordinate of "lead": `+answer.Error() {
		t.Errorf("err = %v", err)
	}
	lead.coordinate = func(_ *modules.RenderContext, token *modules.StepToken) error {
		_ = token.Step() // the engine knows all the same
		return nil
	}
	*log = nil
	advance(t, e, 1)
	advance(t, e, 1)
	_, err := e.Advance(1)
	if !errors.Is(err, io.EOF) || err.Error() != `modules: tick 2: update of "b": panic: EOF` {
		t.Errorf("err = %v", err)
	}
	if again := token.Step(); again != err {
		t.Errorf("Step after a failure: %v", again)
	}
	if _, again := e.Advance(1); again != err {
		t.Errorf("Advance after a failure: %v", again)
	}
}

// A tick of the token ends Run as any other, even if the holder ignores the
// error; and so does the holder itself.
func TestTokenStops(t *testing.T) {
	for _, swallow := range []bool{false, true} {
		var token *modules.StepToken
		lead := taker("lead", &token)
		lead.coordinate = func(_ *modules.RenderContext, token *modules.StepToken) error {
			if err := token.Step(); !swallow {
				return err
			}
			return nil
		}
		e, log := engine(t, modules.Config{Clock: &modules.FakeTime{Jump: true}}, lead, &fake{name: "b", update: failAt(1, loop.ErrStop, false)})
		if err := e.Run(t.Context()); err != nil || e.Tick() != 2 {
			t.Errorf("%v after tick %d", err, e.Tick())
		}
		if got := *log; got[len(got)-3] != "b render 2 0.00" {
			t.Errorf("%v", got)
		}
	}
	var token *modules.StepToken
	lead := taker("lead", &token)
	lead.coordinate = func(*modules.RenderContext, *modules.StepToken) error { return loop.ErrStop }
	e, _ := engine(t, modules.Config{Clock: &modules.FakeTime{Jump: true}}, lead)
	if err := e.Run(t.Context()); err != nil || e.Frame().WallNs == 0 {
		t.Errorf("%v", err)
	}
}

func TestTokenMisuse(t *testing.T) {
	var token *modules.StepToken
	var context *modules.StartContext
	step := func() error { return token.Step() }
	for name, m := range map[string]*fake{
		"Start":  {start: func(c *modules.StartContext) (err error) { token, err = c.TakeStep(); return errors.Join(err, step()) }},
		"Update": {update: func(*modules.UpdateContext) error { return step() }},
		"Render": {render: func(*modules.RenderContext, float64) error { return step() }},
		"Stop":   {stop: func() error { return step() }},
		"TakeStep": {update: func(*modules.UpdateContext) error {
			_, err := context.TakeStep()
			return err
		}},
	} {
		m.name = "nosy"
		if m.start == nil {
			m.start = func(c *modules.StartContext) (err error) {
				context = c
				token, err = c.TakeStep()
				return err
			}
		}
		e, _ := engine(t, modules.Config{}, m)
		err := e.Start()
		if err == nil {
			err = token.Step()
		}
		if err == nil {
			_, err = e.Advance(1)
		}
		err = errors.Join(err, e.Stop())
		want := "modules: StepToken.Step called from Start, Update, Render or Stop"
		if name == "TakeStep" {
			want = "modules: TakeStep called from Update"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

// The token keeps the Loop paused. Resuming it is refused once, and harmless.
func TestLoopLetGoWhileTokenIsHeld(t *testing.T) {
	var token *modules.StepToken
	e, log := started(t, modules.Config{}, taker("lead", &token))
	e.Loop().SetPaused(false)
	if _, err := e.Advance(tickNs); !errors.Is(err, modules.ErrStepTaken) || !strings.Contains(err.Error(), `taken by "lead"`) {
		t.Errorf("err = %v", err)
	}
	expect(t, log)
	if f := advance(t, e, 0); f.Tick != 0 {
		t.Errorf("%+v", f)
	}
}

func TestReleaseLeavesThePauseAsItWas(t *testing.T) {
	var context *modules.StartContext
	e, _ := started(t, modules.Config{}, &fake{name: "a", start: func(c *modules.StartContext) error { context = c; return nil }})
	advance(t, e, 5e6) // what has accumulated is not the token's
	for _, paused := range []bool{true, false} {
		e.Loop().SetPaused(paused)
		token, err := context.TakeStep()
		if err != nil {
			t.Fatal(err)
		}
		if f := advance(t, e, tickNs); f.Paused != paused || !e.Loop().Paused() || f.Alpha != 0 || f.AlphaNum != 0 {
			t.Errorf("%+v", f)
		}
		token.Release()
		if e.Loop().Paused() != paused {
			t.Errorf("paused: %v", e.Loop().Paused())
		}
		if f := advance(t, e, 0); f.AlphaNum != 300e6 {
			t.Errorf("%+v", f)
		}
	}
}
