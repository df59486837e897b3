// Command modules shows how a program of named parts drives package loop: each part is updated once a tick and rendered
// once a frame, and one of them takes over the ticks for a while.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/evertick/evertick/loop"
)

func main() {
	if err := run(os.Stdout, new(loop.SystemClock)); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
		os.Exit(1)
	}
}

// run runs 12 ticks: the loop grants the first four, lockstep the next four.
func run(out io.Writer, clock loop.Clock) error {
	wind := new(Wind)
	lockstep := &Lockstep{from: 4, to: 8}
	engine, err := NewEngine(2026, wind, &Mill{wind: wind, out: out}, lockstep, &End{after: 12})
	if err != nil {
		return err
	}
	lockstep.engine = engine
	return engine.Run(context.Background(), clock)
}

// Wind blows in gusts.
type Wind struct{ speed float32 }

func (w *Wind) Update(t Tick) error {
	gust := t.Rand(0)
	w.speed = gust.Range(1, 2)
	return nil
}

func (*Wind) Render(loop.Frame) error { return nil }

// Mill turns with the wind, which is updated before it.
type Mill struct {
	wind          *Wind
	angle, before float32
	out           io.Writer
}

func (m *Mill) Update(t Tick) error {
	m.before = m.angle
	m.angle += float32(m.wind.speed * t.Dt) // converted, so that no machine fuses product and sum
	return nil
}

func (m *Mill) Render(f loop.Frame) error {
	drawn := m.before + float32((m.angle-m.before)*float32(f.Alpha))
	_, err := fmt.Fprintf(m.out, "%3d ms: %d steps, tick %2d, the mill is at %.3f\n", f.WallNs/1e6, f.Steps, f.Tick, drawn)
	return err
}

// Lockstep takes the step token before tick from, runs a tick when the orders for it have come, here in every second
// frame, and gives the token back before tick to.
type Lockstep struct {
	engine   *Engine
	from, to uint64
	frames   int
}

func (*Lockstep) Update(Tick) error { return nil }

func (l *Lockstep) Render(f loop.Frame) error {
	if f.Tick != l.from || l.engine.token != nil {
		return nil
	}
	_, err := l.engine.TakeStep(l)
	return err
}

func (l *Lockstep) Coordinate(f loop.Frame, t *StepToken) error {
	if f.Tick == l.to {
		t.Release()
		return nil
	}
	if l.frames++; l.frames%2 == 1 {
		return nil // nothing has come
	}
	return t.Step()
}

// End ends the run after a number of ticks.
type End struct{ after uint64 }

func (e *End) Update(t Tick) error {
	if t.N+1 == e.after {
		return loop.ErrStop
	}
	return nil
}

func (*End) Render(loop.Frame) error { return nil }
