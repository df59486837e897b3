package modules_test

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick/loop/modules"
)

// Mill turns with the wind, which it finds among the services.
type Mill struct{ angle, before float32 }

func (m *Mill) Update(c *modules.UpdateContext, dt float32) error {
	wind, ok := modules.Find[*Wind](c.Services(), "")
	if !ok {
		return fmt.Errorf("no wind")
	}
	m.before = m.angle
	m.angle += float32(wind.speed * dt)
	return nil
}

func (m *Mill) Render(c *modules.RenderContext, alpha float64) error {
	angle := m.before + float32((m.angle-m.before)*float32(alpha))
	fmt.Printf("tick %d, wall %d ms: %.2f\n", c.Frame().Tick, c.Frame().WallNs/1e6, angle)
	return nil
}

// Wind is a module and a service: it offers itself when it is started.
type Wind struct{ speed float32 }

func (w *Wind) Start(c *modules.StartContext) error {
	return modules.Provide(c.Services(), "", w)
}

func (w *Wind) Update(c *modules.UpdateContext, _ float32) error {
	gust := c.Rand(0, 0)
	w.speed = gust.Range(1, 2)
	return nil
}

func (w *Wind) Render(*modules.RenderContext, float64) error { return nil }

// A host with frames of its own passes their durations.
func Example() {
	engine, err := modules.New(modules.Config{Seed: 2026})
	if err != nil {
		panic(err)
	}
	for _, m := range []struct {
		name   string
		module modules.Module
	}{{"wind", &Wind{}}, {"mill", &Mill{}}} {
		if err := engine.Add(m.name, m.module); err != nil {
			panic(err)
		}
	}
	if err := engine.Start(); err != nil {
		panic(err)
	}
	for _, elapsedNs := range []int64{40_000_000, 5_000_000, 60_000_000} {
		if _, err := engine.Advance(elapsedNs); err != nil {
			panic(err)
		}
	}
	if err := engine.Stop(); err != nil {
		panic(err)
	}
	// Output:
	// tick 2, wall 40 ms: 0.04
	// tick 2, wall 45 ms: 0.05
	// tick 6, wall 105 ms: 0.15
}

// Lockstep runs a tick when the orders for it have come, here in every second
// frame.
type Lockstep struct{ frames int }

func (l *Lockstep) Start(c *modules.StartContext) error {
	_, err := c.TakeStep()
	return err
}

func (l *Lockstep) Coordinate(_ *modules.RenderContext, t *modules.StepToken) error {
	if l.frames++; l.frames%2 == 0 {
		return t.Step()
	}
	return nil
}

func (l *Lockstep) Update(*modules.UpdateContext, float32) error { return nil }

func (l *Lockstep) Render(c *modules.RenderContext, _ float64) error {
	fmt.Printf("tick %d at %v\n", c.Frame().Tick, c.SimTime().Duration())
	return nil
}

func ExampleStepToken() {
	engine, err := modules.New(modules.Config{})
	if err != nil {
		panic(err)
	}
	if err := engine.Add("lockstep", &Lockstep{}); err != nil {
		panic(err)
	}
	if err := engine.Start(); err != nil {
		panic(err)
	}
	for range 4 {
		if _, err := engine.Advance(100_000_000); err != nil {
			panic(err)
		}
	}
	// Output:
	// tick 0 at 0s
	// tick 1 at 16.666666ms
	// tick 1 at 16.666666ms
	// tick 2 at 33.333333ms
}

// Score is a module whose state CheckRender watches.
type Score struct{ points uint64 }

func (s *Score) Update(*modules.UpdateContext, float32) error { return nil }

func (s *Score) Render(*modules.RenderContext, float64) error { return nil }

func (s *Score) AppendColumnHashes(dst []modules.ColumnHash) []modules.ColumnHash {
	return append(dst, modules.ColumnHash{Name: "points", Hash: s.points})
}

// Cheer is a module that should only draw.
type Cheer struct{ score *Score }

func (c *Cheer) Update(*modules.UpdateContext, float32) error { return nil }

func (c *Cheer) Render(*modules.RenderContext, float64) error {
	c.score.points += 100
	return nil
}

// A Render that changes the state is found.
func ExampleHasher() {
	engine, err := modules.New(modules.Config{CheckRender: true})
	if err != nil {
		panic(err)
	}
	score := new(Score)
	if err := errors.Join(engine.Add("score", score), engine.Add("cheer", &Cheer{score}), engine.Start()); err != nil {
		panic(err)
	}
	_, err = engine.Advance(40_000_000)
	fmt.Println(err)
	// Output: modules: tick 2: render of "cheer": wrote points of module "score", but may only read: out of range
}
