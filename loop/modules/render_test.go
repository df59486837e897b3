package modules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/loop/modules"
)

// scores is a module, or a service, with state.
type scores struct {
	fake
	red, blue uint64
}

func (s *scores) AppendColumnHashes(dst []modules.ColumnHash) []modules.ColumnHash {
	return append(dst, modules.ColumnHash{Name: "red", Hash: s.red}, modules.ColumnHash{Name: "blue", Hash: s.blue})
}

// TestCheckRender: a Render that changes the state of a module or service is named, with the column.
func TestCheckRender(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(game, service *scores)
		says  string // "": nothing
	}{
		{"nothing", func(*scores, *scores) {}, ""},
		{"a module", func(game, _ *scores) { game.red += 100 }, `tick 1: render of "hud": wrote red of module "game", but may only read`},
		{"a service", func(_, table *scores) { table.blue++ }, `tick 1: render of "hud": wrote blue of service *modules_test.scores "table", but may only read`},
	} {
		for _, check := range []bool{false, true} {
			game, table := &scores{fake: fake{name: "game"}}, new(scores)
			game.update = func(*modules.UpdateContext) error { game.blue++; table.red++; return nil }
			frames := 0
			hud := &fake{name: "hud", render: func(*modules.RenderContext, float64) error {
				if frames++; frames == 2 {
					c.write(game, table)
				}
				return nil
			}}
			e, _ := engine(t, modules.Config{CheckRender: check})
			for _, m := range []struct {
				name   string
				module modules.Module
			}{{"game", game}, {"hud", hud}, {"last", &fake{name: "last"}}} {
				if err := e.Add(m.name, m.module); err != nil {
					t.Fatal(err)
				}
			}
			if err := modules.Provide(e.Services(), "table", table); err != nil {
				t.Fatal(err)
			}
			if err := e.Start(); err != nil {
				t.Fatal(err)
			}
			advance(t, e, tickNs)
			_, err := e.Advance(1000)
			if c.says == "" || !check {
				if err != nil {
					t.Errorf("%s, check %t: %v", c.name, check, err)
				}
				continue
			}
			var of *modules.Error
			if !errors.As(err, &of) || of.Module != "hud" || of.Op != modules.OpRender || !errors.Is(err, modules.ErrRange) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", c.name, err, c.says)
			}
			advance(t, e, tickNs) // as after any error of rendering
		}
	}
}

// TestCheckRenderNeedsAHasher: a check that could find nothing is refused.
func TestCheckRenderNeedsAHasher(t *testing.T) {
	stopped := false
	e, _ := engine(t, modules.Config{CheckRender: true}, &fake{name: "a", stop: func() error { stopped = true; return nil }})
	if err := modules.Provide(e.Presentation(), "", new(scores)); err != nil { // not for updates
		t.Fatal(err)
	}
	if err := e.Start(); !errors.Is(err, modules.ErrUnsupported) || !strings.Contains(err.Error(), "Config.CheckRender") || !stopped {
		t.Errorf("%v, stopped: %t", err, stopped)
	}
	if _, err := e.Advance(tickNs); !errors.Is(err, modules.ErrNotRunning) {
		t.Error(err)
	}
}

// TestCheckRenderOfRun: Run returns the error, and a service that a module provides in Start is checked, too.
func TestCheckRenderOfRun(t *testing.T) {
	table := new(scores)
	wild := &fake{name: "wild", start: func(c *modules.StartContext) error { return modules.Provide(c.Services(), "", table) },
		render: func(*modules.RenderContext, float64) error { table.red++; return nil }}
	e, _ := engine(t, modules.Config{CheckRender: true, Clock: &modules.FakeTime{Jump: true}}, wild)
	if err := e.Run(t.Context()); !errors.Is(err, modules.ErrRange) || !strings.Contains(err.Error(), `render of "wild": wrote red of service *modules_test.scores,`) {
		t.Error(err)
	}
}

// TestCheckRenderOfToken: what the holder of the step token runs is not rendering.
func TestCheckRenderOfToken(t *testing.T) {
	game := &scores{fake: fake{name: "game"}}
	game.update = func(*modules.UpdateContext) error { game.red++; return nil }
	var token *modules.StepToken
	game.start = func(c *modules.StartContext) (err error) { token, err = c.TakeStep(); return err }
	game.coordinate = func(_ *modules.RenderContext, own *modules.StepToken) error { return own.Step() }
	e, _ := engine(t, modules.Config{CheckRender: true})
	if err := e.Add("game", game); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		advance(t, e, tickNs)
	}
	if game.red != 3 || token == nil {
		t.Errorf("%d ticks", game.red)
	}
}

// Without CheckRender a frame allocates nothing, although there are Hashers.
func TestFramesWithHashersAllocateNothing(t *testing.T) {
	e, err := modules.New(modules.Config{Loop: loop.Modules()})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Add("game", still{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(50, func() { advance(t, e, tickNs) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// still is a module that does nothing.
type still struct{}

func (still) Update(*modules.UpdateContext, float32) error { return nil }
func (still) Render(*modules.RenderContext, float64) error { return nil }
func (still) AppendColumnHashes(dst []modules.ColumnHash) []modules.ColumnHash {
	panic("not asked for")
}
