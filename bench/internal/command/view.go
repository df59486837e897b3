package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/replay"
)

// Pages open pages that look into a simulation, and into one log or two. They are in package bench/internal/pages, so that
// the profiler does not link net/http. An address is that of a TCP port; logf says where the page is.
type Pages struct {
	Sim func(ctx context.Context, sim *evertick.Sim, name, addr string, logf func(string, ...any)) (io.Closer, error)
	Log func(ctx context.Context, dir, other string, sc replay.Scenario, addr string, logf func(string, ...any)) (io.Closer, error)
}

var pages *Pages // nil: this command has none

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
	server, err := pages.Sim(ctx, sim, s.name, o.addr, printTo(stdout))
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
	if pages == nil {
		return fmt.Errorf("%w: replay view: this command has no pages; go run ./bench/serve has", errUsage)
	}
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
	other := ""
	if len(o.dirs) > 1 {
		other = o.dirs[1]
	}
	server, err := pages.Log(ctx, o.dirs[0], other, sc, o.addr, printTo(o.stdout))
	if err != nil {
		return err
	}
	<-ctx.Done()
	return server.Close()
}
