package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
)

// usualAddr is any free port of this machine.
const usualAddr = "127.0.0.1:0"

// interruptible returns a context that the interrupt of a terminal ends.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// printTo prints lines, such as the address of a page.
func printTo(w io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
}

// view runs a scene in real time, at 60 Hz, with a page that looks into it, until ctx is done.
func (o *options) view(ctx context.Context, s *scene, level native.Level, stdout io.Writer) error {
	sim, err := s.sim(o, level)
	if err != nil {
		return err
	}
	server, err := inspect.Serve(ctx, sim, o.addr, inspect.Config{Name: s.name, Control: true, Logf: printTo(stdout)})
	if err != nil {
		return err
	}
	err = sim.Run(ctx)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, server.Close())
}

// newSim builds a simulation. What its step does before each tick becomes a hook, as the Sim runs itself.
func (o *options) newSim(level native.Level) (*evertick.Sim, error) {
	s, err := newSimulation(o.scene, o.params, o.simConfig(level))
	if err != nil || s.push == nil {
		return s.Sim, err
	}
	s.AddHooks(evertick.Hooks{AfterTick: func(*evertick.Tick) error { return s.push() }})
	return s.Sim, s.push()
}

// newSimOfBodies builds a Sim of a scene of bodies alone.
func (o *options) newSimOfBodies(level native.Level) (*evertick.Sim, error) {
	c := o.simConfig(level)
	c.Physics.DisableSleep, c.Physics.DisableContinuous = !o.sleep, !o.continuous
	return scenes.NewSim(o.scene, o.n, c)
}

func (o *logOptions) viewUntilInterrupt() error {
	ctx, stop := interruptible()
	defer stop()
	return o.view(ctx)
}

// view opens one log, or two to compare, in a page, until ctx is done.
func (o *logOptions) view(ctx context.Context) error {
	sc, err := o.scenarioOf(o.dirs[0])
	if err != nil {
		return err
	}
	c := inspect.Config{Logf: printTo(o.stdout)}
	if len(o.dirs) > 1 {
		c.Other = o.dirs[1]
	}
	server, err := inspect.ServeLog(ctx, o.dirs[0], sc, o.addr, c)
	if err != nil {
		return err
	}
	<-ctx.Done()
	return server.Close()
}
