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
)

// SimPage opens a page that looks into a simulation; nil: this command has none. It is in package bench/internal/pages, so
// that the profiler does not link net/http. The address is that of a TCP port; logf says where the page is.
var SimPage func(ctx context.Context, sim *evertick.Sim, name, addr string, logf func(string, ...any)) (io.Closer, error)

// UsualAddr is any free port of this machine.
const UsualAddr = "127.0.0.1:0"

// Interruptible returns a context that the interrupt of a terminal ends.
func Interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// PrintTo prints lines, such as the address of a page.
func PrintTo(w io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
}

// View runs a scene in real time, at 60 Hz, with a page that looks into it, until ctx is done.
func (o *Options) View(ctx context.Context, s *Scene, level native.Level, stdout io.Writer) error {
	sim, err := s.sim(o, level)
	if err != nil {
		return err
	}
	server, err := SimPage(ctx, sim, s.Name, o.addr, PrintTo(stdout))
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
func (o *Options) newSim(level native.Level) (*evertick.Sim, error) {
	s, err := newSimulation(o.Scene, o.params, o.simConfig(level))
	if err != nil || s.push == nil {
		return s.Sim, err
	}
	s.AddHooks(evertick.Hooks{AfterTick: func(*evertick.Tick) error { return s.push() }})
	return s.Sim, s.push()
}

// newSimOfBodies builds a Sim of a scene of bodies alone.
func (o *Options) newSimOfBodies(level native.Level) (*evertick.Sim, error) {
	c := o.simConfig(level)
	c.Physics.DisableSleep, c.Physics.DisableContinuous = !o.sleep, !o.continuous
	return scenes.NewSim(o.Scene, o.N, c)
}
